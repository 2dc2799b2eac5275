"""Writes the pages of the Python reference, from the signatures and docstrings of public names.

The packages are those of docs/public.md; their names are those of ``__all__``. A name that several
packages have is described once, in the first of them.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from textwrap import dedent, indent
from types import ModuleType
from typing import Any, TypeGuard

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises")
Function = ast.FunctionDef | ast.AsyncFunctionDef
WRAPPERS = ("property", "cached_property", "classmethod", "staticmethod")


def packages() -> list[str]:
    """Return the public packages, ``ragstone`` first."""
    text = Path(__file__).with_name("public.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith("| names in Python |"))
    _, root, *rooms = re.findall(r"`(\w+)`", row)
    return [root, *(f"{root}.{room}" for room in rooms)]


def pages() -> dict[str, str]:
    """Return the page of each public package, by the package's name."""
    described: dict[int, str] = {}
    return {name: page(import_module(name), described) for name in packages()}


def page(module: ModuleType, described: dict[int, str]) -> str:
    """Return a package's page.

    Args:
        module: The package.
        described: Where earlier pages describe an object, by its id; this page's are added.
    """
    parts = [f"# {module.__name__}", markdown(module.__doc__ or "")]
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        parts.append(f"## `{name}`")
        if isinstance(value, ModuleType) and value.__name__ in packages():
            parts.append(f"A package: [{value.__name__}]({value.__name__}.md).")
        elif isinstance(value, ModuleType):
            parts.append(markdown(value.__doc__ or ""))
            for key, member in vars(value).items():
                if key[0] != "_" and getattr(member, "__module__", "") == value.__name__:
                    parts += [f"### `{name}.{key}`", *about(key, member, f"{name}.")]
        elif not inspect.isroutine(value) and not inspect.isclass(value):
            parts.append(fenced(constant(name, value)))
        elif id(value) in described:
            parts.append(f"{summary(value)} See [`{name}`]({described[id(value)]}).")
        else:
            described[id(value)] = f"{module.__name__}.md#{anchor(name)}"
            parts += about(name, value)
    return "\n\n".join(part for part in parts if part) + "\n"


def anchor(heading: str) -> str:
    """Return the part of a link that leads to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def about(name: str, value: Any, prefix: str = "") -> Iterator[str]:
    """Yield the signature and docstring of a class or function, and a class's members."""
    meant = inspect.unwrap(value)
    tree = definitions(meant.__module__)[meant.__name__]
    if isinstance(tree, Function):
        # A wrapper has the signature of the function that it wraps.
        is_async = inspect.iscoroutinefunction(value)
        tree = (ast.AsyncFunctionDef if is_async else type(tree))(**{**vars(tree), "name": name})
        yield fenced(stub(tree))
        yield markdown(inspect.getdoc(value) or "")
        return
    assert isinstance(tree, ast.ClassDef)
    yield fenced(class_stub(tree))
    # A dataclass without a docstring has its signature instead.
    yield markdown(ast.get_docstring(tree) or "")
    yield listed("Attributes", attribute_docstrings(tree))
    for node in tree.body:
        # A method without a docstring does what its base class says.
        if is_public_method(node) and (docstring := ast.get_docstring(node)):
            yield f"### `{prefix}{name}.{node.name}`"
            yield fenced(stub(node))
            yield markdown(docstring)


@cache
def definitions(module: str) -> dict[str, ast.AST]:
    """Return the classes and functions of a module's source, by name."""
    tree = ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, Function | ast.ClassDef)}


def summary(value: Any) -> str:
    """Return the first sentence of a docstring."""
    paragraph = (inspect.getdoc(value) or "").partition("\n\n")[0]
    return markdown(re.split(r"(?<=\.)\s", paragraph)[0])


def stub(node: Function) -> str:
    """Return a function without its body."""
    wrappers = [item for item in node.decorator_list if ast.unparse(item) in WRAPPERS]
    body = [ast.Expr(ast.Constant(...))]
    return ast.unparse(type(node)(**{**vars(node), "decorator_list": wrappers, "body": body}))


def class_stub(node: ast.ClassDef) -> str:
    """Return a class with its public fields and its ``__init__`` alone."""
    head = ast.unparse(ast.ClassDef(**{**vars(node), "body": [ast.Expr(ast.Constant(...))]}))
    fields = [ast.unparse(field) for field in node.body if is_public_field(field)]
    fields += [
        stub(item)
        for item in node.body
        if isinstance(item, ast.FunctionDef) and item.name == "__init__"
    ]
    return head.removesuffix("    ...") + indent("\n".join(fields) or "...", "    ")


def is_public_method(node: ast.AST) -> TypeGuard[Function]:
    """Return whether a statement of a class defines a method that is not private."""
    return isinstance(node, Function) and not node.name.startswith("_")


def is_public_field(node: ast.AST) -> bool:
    """Return whether a statement of a class declares a field that is not private."""
    target = getattr(node, "target", None)
    return isinstance(node, ast.AnnAssign) and not ast.unparse(target or node).startswith("_")


def attribute_docstrings(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield the public fields of a class that have a string below them, with that string."""
    for field, below in zip(node.body, node.body[1:], strict=False):
        if is_public_field(field) and isinstance(below, ast.Expr):
            text = getattr(below.value, "value", None)
            if isinstance(text, str):
                yield ast.unparse(getattr(field, "target", field)), inspect.cleandoc(text)


def constant(name: str, value: Any) -> str:
    """Return a constant as it is assigned, or its type where it is longer than a few lines."""
    in_order = sorted(value, key=str) if isinstance(value, frozenset) else value
    text = f"{name} = {in_order!r}"
    is_code = len(text) < 400 and "<" not in text
    return text if is_code else f"{name}: {type(value).__name__}"


def fenced(code: str) -> str:
    """Return code as a block of Markdown."""
    return f"```py\n{code}\n```"


def markdown(docstring: str) -> str:
    """Return a docstring as Markdown: its sections as lists, its indented parts as code."""
    text = inspect.cleandoc(docstring).replace("``", "`")
    blocks = re.split(rf"^({'|'.join(SECTIONS)}):\n((?: +.*\n?|\n)*)", text, flags=re.MULTILINE)
    parts = list(paragraphs(blocks[0]))
    for title, body, rest in zip(*(iter(blocks[1:]),) * 3, strict=True):
        entries = re.split(r"\n(?=\S)", dedent(body).strip())
        parts.append(listed(title, (entry.partition(": ")[::2] for entry in entries)))
        parts += paragraphs(rest)
    return "\n\n".join(parts)


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text; indented ones and tables become blocks of code."""
    for block in re.split(r"\n\n+(?=\S)", text.strip("\n")):
        for part in re.split(r"\n\n+(?=    )", block, maxsplit=1):
            if re.match(r"    |\S+( {3,}|={5})", part):
                yield f"```{language(dedent(part))}\n{dedent(part).strip()}\n```"
            elif part:
                yield part


def language(code: str) -> str:
    """Return what a block of code is written in."""
    try:
        ast.parse(code)
    except SyntaxError:
        return "text"
    return "python"


def listed(title: str, entries: Iterable[tuple[str, ...]]) -> str:
    """Return a section of a docstring as a list, nothing where it has no entries."""
    rows = [
        f"- `{name}`: {' '.join(text.split())}" if text else f"- {' '.join(name.split())}"
        for name, text in entries
    ]
    return "\n\n".join([f"**{title}**", "\n".join(rows)]) if rows else ""
