"""No room but those of judgements and metrics knows a kind by a word in its code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import ragstone
from ragstone.judgements import ASKS, KINDS
from tests.project import parsed

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
        tree = parsed(file, mentions="judgements")
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


NO_KINDS = {
    "analysis/calibration/calibrate.py": ("agreement",),
    "analysis/calibration/judge_identity.py": ("citations",),
    "analysis/composite_weights/preferences.py": ("preference", "rating"),
    "cli/options.py": ("citations",),
    "analysis/comparison/comparability.py": ("criteria",),
    "data/": ("response", "claims", "statements", "support", "agreement", "criteria", "citations"),
    "guard/integrations/chat_events.py": ("response",),
    "judges/llm/claim_tasks.py": ("claims", "citations", "statements"),
    "annotation/annotator_agreement.py": ("agreement",),
    "annotation/label_export.py": ("rating",),
    "models/chat/provider_batches.py": ("response",),
    "models/chat/library_clients.py": ("response",),
    "data/documents.py": ("response", "similarity"),
    "web/monitor_pages/answer_page.py": ("claims",),
    "web/pages/": ("claims", "statements", "agreement", "criteria"),
    "report/number_format.py": ("grounding", "criteria"),
    "report/layouts/named_reports.py": ("grounding",),
    "report/pages/agreement_page.py": ("agreement",),
    "report/pages/comparison_page.py": ("rating",),
    "run/run_plan.py": ("citations",),
    "testing/hand_rows.py": ("criteria",),
}
"""Words that mean something else: a setting, a key of a result, an attribute of a package, a field
of an example, of people's files or of a model's reply, a column of another kind, a function, a
page, a family of metrics."""
ROOMS_OF_KINDS = ("judgements", "metrics")


def literals(tree: ast.AST) -> Iterator[ast.Constant]:
    """The strings of a module, those that stand alone, such as docstrings, apart."""
    alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in alone:
            yield node


def test_no_other_room_names_a_kind_by_a_word() -> None:
    words = {*KINDS, *ASKS, *(f"{kind}/" for kind in KINDS)}
    whole = re.compile(f"""["'}}]({"|".join(words)})["'{{]""")
    others = {(place, word) for place, known in NO_KINDS.items() for word in known}
    found, used = [], set()
    for path in sorted(HOUSE.rglob("*.py")):
        file = path.relative_to(HOUSE).as_posix()
        if file.startswith(ROOMS_OF_KINDS) or not whole.search(path.read_text(encoding="utf-8")):
            continue
        for node in literals(parsed(path)):
            known = {one for one in others if file.startswith(one[0]) and node.value == one[1]}
            used |= known
            if node.value in words and not known:
                found.append(f"{file}:{node.lineno} {node.value!r}")
    assert not found
    assert used == others
