"""Small faults that can be put into a file's source, one at a time.

Not a script: mutants.py stands on it. A fault is what a tired author might write: the neighbouring
comparison, ``any`` for ``all``, the first for the last, a constant that is off by one, a column or
value by the name of its neighbour, a step or an entry that was forgotten. Left alone is what no
rule hangs on: annotations, decorators, documentation, words for people (f-strings, what is raised),
and options that only keep an order or check a join.
"""

import ast
import copy
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
SWAPPED = {
    one: other
    for pair in (
        ("any", "all"), ("min", "max"), ("first", "last"), ("is_null", "is_not_null"),
        ("head", "tail"), ("mean", "sum"), ("floor", "ceil"), ("maximum", "minimum"),
        ("minimum_", "maximum_"), ("cum_sum", "cum_count"), ("argmin", "argmax"),
        ("min_horizontal", "max_horizontal"), ("any_horizontal", "all_horizontal"),
    )
    for one, other in (pair, pair[::-1])
}  # fmt: skip
DROPPED = frozenset(
    ("fill_null", "drop_nulls", "unique", "not_", "sort", "abs", "clip", "filter", "reverse")
)
"""Methods that can be forgotten; the receiver stays."""
FORGOTTEN = frozenset(("sorted", "reversed", "abs"))
"""Functions that can be forgotten; the argument stays."""
OPTIONS = frozenset(("left", "inner", "right", "horizontal", "diagonal", "ignore"))
"""Words that say how, not what."""
SPARED_OPTIONS = frozenset(("maintain_order", "strict", "validate", "check", "schema", "doc"))


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault.

    Attributes:
        file: Path below the package's folder.
        scope: Qualified name of the innermost function; empty for the body of module or class.
        was: The source of the changed node.
        now: What stands there instead.
        start, end: Where, in bytes of the file.
        nth: Which of equal changes in this scope, from 0.
    """

    file: str
    scope: str
    was: str
    now: str
    start: int
    end: int
    nth: int = 0

    @property
    def key(self) -> str:
        """What stays the same while other lines of the file change."""
        return f"{self.file}::{self.scope}::{self.was} -> {self.now}::{self.nth}"

    def order(self, seed: int) -> str:
        """By which a sample is drawn: a hash, so that other code's changes do not move it."""
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()

    def source(self, text: bytes) -> bytes:
        """The file with the fault."""
        return text[: self.start] + f"({self.now})".encode() + text[self.end :]


def mutants(file: str, text: bytes) -> list[Mutant]:
    """All faults that can be put into a file, in order."""
    tree = ast.parse(text)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen: dict[tuple[str, str, str], int] = {}
    found = []
    for scope, node, change in _places(tree, "", _neighbours(tree)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        was, now = ast.unparse(node), ast.unparse(change)
        nth = seen[scope, was, now] = seen.get((scope, was, now), -1) + 1
        found.append(Mutant(file, scope, was, now, start, end, nth))
    return found


def _places(
    node: ast.AST, scope: str, neighbours: Mapping[str, str]
) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    for child in _followed(node):
        inner = scope
        if child in _defaults(node):
            inner = scope.rpartition(".")[0]
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{scope}.{child.name}" if scope else child.name
        if isinstance(child, ast.expr):
            for change in _changes(child, neighbours):
                yield inner, child, change
        yield from _places(child, inner, neighbours)


def _followed(node: ast.AST) -> Iterator[ast.AST]:
    """The children in which a fault can be."""
    match node:
        case ast.JoinedStr() | ast.Raise() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _defaults(node)
            yield from node.body
        case ast.ClassDef():
            yield from node.body
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return
        case ast.AnnAssign():
            if node.value:
                yield node.value
        case ast.Call():
            yield node.func
            yield from node.args
            for keyword in node.keywords:
                if keyword.arg not in SPARED_OPTIONS:
                    yield keyword.value
        case _:
            yield from ast.iter_child_nodes(node)


def _defaults(node: ast.AST) -> list[ast.expr]:
    """Values of parameters, which stand outside the function."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return []
    return [one for one in [*node.args.defaults, *node.args.kw_defaults] if one]


def _changes(node: ast.expr, neighbours: Mapping[str, str]) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield _with(node, ops=[COMPARISONS[type(op)]()])
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.BinOp() if type(node.op) in ARITHMETIC and not _of_types(node):
            yield _with(node, op=ARITHMETIC[type(node.op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=float(value)):
            yield ast.Constant(value * 1.5 + 0.1)
        case ast.IfExp():
            yield _with(node, body=node.orelse, orelse=node.body)
        case ast.Call(func=ast.Attribute(attr=name) as func) if name in SWAPPED:
            yield _with(node, func=_with(func, attr=SWAPPED[name]))
        case ast.Call(func=ast.Name(id=name) as func) if name in SWAPPED:
            yield _with(node, func=_with(func, id=SWAPPED[name]))
        case ast.Call(func=ast.Attribute(attr=name, value=receiver)) if name in DROPPED:
            yield receiver
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in FORGOTTEN:
            yield first
        case ast.Constant(value="left"):
            yield ast.Constant("inner")
        case ast.Constant(value=str(value)) if value in neighbours:
            yield ast.Constant(neighbours[value])
        case ast.Tuple(elts=[_, *_] as entries, ctx=ast.Load()) if _constant(entries):
            yield _with(node, elts=entries[:-1])
        case ast.List(elts=[_, *_] as entries, ctx=ast.Load()) if _constant(entries):
            yield _with(node, elts=entries[:-1])
        case _:
            return


def _constant(entries: list[ast.expr]) -> bool:
    return all(isinstance(one, ast.Constant) for one in entries)


def _neighbours(tree: ast.Module) -> dict[str, str]:
    """Each name in quotes of a file, and the next one in alphabetical order."""
    names = sorted(
        {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.isidentifier()
            and node.value not in OPTIONS
        }
    )
    return dict(zip(names, [*names[1:], *names[:1]], strict=True)) if len(names) > 1 else {}


def _of_types(node: ast.BinOp) -> bool:
    """A union of types, such as ``int | None``."""
    names = [getattr(side, "id", getattr(side, "value", "")) for side in (node.left, node.right)]
    return isinstance(node.op, ast.BitOr) and any(
        name is None or name in {"int", "str", "float", "bool", "list", "dict"}
        or (isinstance(name, str) and name[:1].isupper())
        for name in names
    )  # fmt: skip


def _with(node: ast.expr, **changed: object) -> ast.expr:
    other = copy.copy(node)
    for name, value in changed.items():
        setattr(other, name, value)
    return other
