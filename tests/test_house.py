"""The layout of the house: what keeps it small enough to find a way in."""

import ast
import importlib
import re
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

import ragstone
from tests.project import parsed

ROOT = Path(ragstone.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
STUBS = sorted(ROOT.rglob("__init__.pyi"))
"""The names of packages that load them when they are first used."""


def lines(file: Path) -> int:
    return file.read_text(encoding="utf-8").count("\n")


def module(file: Path) -> str:
    name = ".".join(("ragstone", *file.relative_to(ROOT).with_suffix("").parts))
    return name.removesuffix(".__init__")


Trees = dict[Path, ast.Module]


@pytest.fixture(scope="module")
def trees() -> Trees:
    """The syntax trees of all files, which only the tests of this file keep."""
    return {file: parsed(file) for file in FILES}


def imported(file: Path, tree: ast.Module, modules: frozenset[str]) -> set[str]:
    """The modules that a file imports, inside functions and for types alone too."""
    here = module(file).split(".")
    package = here if file.name == "__init__.py" else here[:-1]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                full = f"{base}.{alias.name}"
                names.add(full if full in modules else base)
    return names & modules - {module(file)}


def test_no_circle_of_imports(trees: Trees) -> None:
    modules = frozenset(map(module, FILES))
    order = TopologicalSorter(
        {module(file): imported(file, tree, modules) for file, tree in trees.items()}
    )
    for stub in STUBS:
        package = stub.with_suffix(".py")
        order.add(module(package), *imported(package, parsed(stub), modules))
    try:
        order.prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from None


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.parent.name)
def test_a_package_loads_each_name_of_its_stub_and_no_module_takes_its_place(stub: Path) -> None:
    package = importlib.import_module(module(stub.with_suffix(".py")))
    here = stub.parent
    modules = {file.stem for file in here.glob("*.py")}
    modules |= {file.parent.name for file in here.glob("*/__init__.py")}
    assert set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        value = getattr(package, name)
        assert name not in modules or isinstance(value, ModuleType), name


def test_files_are_neither_too_many_nor_too_long() -> None:
    """There were 1,056, and 485 when they were merged; what is new has room for some more."""
    assert len(FILES) <= 520
    assert [file.name for file in FILES if lines(file) >= 600] == []
    small = [file for file in FILES if lines(file) < 40 and file.name != "__init__.py"]
    assert len(small) <= 20


def test_long_files_are_named_with_their_reason() -> None:
    page = (ROOT.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    long = {file.relative_to(ROOT).as_posix() for file in FILES if lines(file) > 500}
    assert {name for name in long if f"`{name}`" not in page} == set()


VAGUE = re.compile(
    "one|found|said|told|given|asked|place|heard|ours|theirs|there|kept|sides|stretch|standing|"
    "shown|named|wanted|made|taken|own"
)
HALF = re.compile(
    "(Of|Whether|Those|Theirs|Its|As|Which|How|What|Where|That|So|Such|Their|Who|When) "
)
"""What a docstring begins with that is half a sentence."""


def test_variables_are_called_by_what_they_hold(trees: Trees) -> None:
    loops, names = [], []
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(VAGUE.fullmatch(node.id) is not None)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            loops.append(
                isinstance(node.target, ast.Name) and bool(VAGUE.fullmatch(node.target.id))
            )
    assert sum(loops) <= len(loops) / 100
    assert sum(names) <= 130


def test_docstrings_are_whole_sentences(trees: Trees) -> None:
    with_docstring = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    nodes = (node for tree in trees.values() for node in ast.walk(tree))
    halves = [
        node.name
        for node in nodes
        if isinstance(node, with_docstring) and HALF.match(ast.get_docstring(node) or "")
    ]
    assert len(halves) <= 50, halves


def test_no_two_public_classes_share_a_name(trees: Trees) -> None:
    """Whoever reads the name of a class knows which is meant."""
    files = defaultdict(list)
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].append(str(file.relative_to(ROOT)))
    assert {name: both for name, both in files.items() if len(both) > 1} == {}


def test_a_name_stands_for_one_file() -> None:
    names = Counter(file.name for file in FILES if file.name != "__init__.py")
    assert sum(count for count in names.values() if count > 1) <= 20


def test_rooms_are_few_and_not_too_large() -> None:
    entries = {path.name for path in ROOT.iterdir() if path.suffix == ".py" or path.is_dir()}
    entries -= {"__pycache__"}
    assert len(entries) <= 18
    rooms = Counter(file.relative_to(ROOT).parts[0] for file in FILES)
    assert max(rooms.values()) <= 62
