"""No room but those of judgements and metrics knows a kind by a word in its code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import ragstone

HOUSE = Path(ragstone.__file__).parent
MODULES = [
    file for file in sorted(HOUSE.rglob("*.py")) if file.relative_to(HOUSE).parts[0] != "judgements"
]

ALL = {"KINDS", "ASKS", "VIEWS", "answered_by"}


def at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs where a module is imported: all but the bodies of functions."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
                if part is not None:
                    yield from ast.walk(part)
        elif not isinstance(node, ast.Lambda):
            yield from at_import(node)


def test_nothing_follows_from_all_kinds_while_it_is_imported() -> None:
    """Kinds of a user's own come later, and would not be in it."""
    found = []
    for file in MODULES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        ours = {
            name.asname or name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and "judgements" in (node.module or "")
            for name in node.names
        } & ALL
        found += [
            f"{file.relative_to(HOUSE)}:{node.lineno}"
            for node in at_import(tree)
            if isinstance(node, ast.Name) and node.id in ours
        ]
    assert not found
