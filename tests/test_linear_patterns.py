"""No regular expression that reads data takes more than linear time, whatever the data."""

import ast
import importlib
import pkgutil
import random
import re
import time
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import ragstone
from ragstone.judges.local import figures
from ragstone.judges.local.figure_words import NUMBERS_OF
from ragstone.judges.local.languages import all_languages
from tests.project import parsed

SOURCE = Path(ragstone.__file__).parent
FROM_THE_START = {"match", "fullmatch"}
ANYWHERE = {"search", "sub", "subn", "findall", "finditer", "split"}
FUNCTIONS = FROM_THE_START | ANYWHERE | {"compile"}

GIVEN_BY_THE_USER = {
    ("judges/local/figures.py", "compile"),
    ("judges/local/languages.py", "compile"),
    ("judges/rules.py", "compile"),
    ("judges/llm/claim_tasks.py", "sub"),
    ("judges/markers.py", "finditer"),
    ("guard/guard_input.py", "compile"),
    ("guard/guard_input.py", "fullmatch"),
    ("data/traces/redaction.py", "compile"),
}
"""Where the patterns of users are compiled and used: whoever writes a pattern answers for it.

Those of languages are compiled when they are heard, and tested here by name.
"""

OF_A_LANGUAGE = ("inability", "origin", "silence", "turn", "opening")

SIZE = 500
QUICK = 0.00025
"""Processor seconds for SIZE characters; a quadratic pattern needs several times as many."""

MOST = 8.0
"""Times as long for four times the text: 4 if it is linear, 16 if quadratic."""

Found = dict[str, tuple[re.Pattern[str], set[str]]]


def held(value: Any) -> Iterator[re.Pattern[str]]:
    """The patterns that a value of a module is or holds."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from held(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from held(one)


class Source:
    """What a file of the package imports, assigns, and asks of each name, and its functions."""

    def __init__(self, file: Path) -> None:
        self.modules: set[str] = set()
        self.imported: set[str] = set()
        self.assigned: set[str] = set()
        self.asked: dict[str, set[str]] = {}
        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        for node in ast.walk(parsed(file)):
            match node:
                case ast.Import():
                    self.modules.update(one.name for one in node.names)
                case ast.ImportFrom():
                    self.imported.update(one.name for one in node.names)
                case ast.Name(id=name, ctx=ast.Store()):
                    self.assigned.add(name)
                case ast.Attribute(
                    value=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name))
                ):
                    self.asked.setdefault(name, set()).add(node.attr)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.functions.append(node)


def methods(name: str, home: str, sources: dict[str, Source]) -> set[str]:
    """Those that are called on a pattern, where it has its name and where that is imported."""
    found: set[str] = set()
    for file, source in sources.items():
        if file == home or name in source.imported:
            found |= source.asked.get(name, set())
    return found & (FROM_THE_START | ANYWHERE) or {"search", "fullmatch"}


@cache
def patterns() -> Found:
    """Those that modules hold, and those written where they are used."""
    sources = {
        file.relative_to(SOURCE).as_posix(): Source(file) for file in sorted(SOURCE.rglob("*.py"))
    }
    found: Found = {}
    for module in pkgutil.walk_packages(ragstone.__path__, "ragstone."):
        if not module.name.endswith("__main__"):
            home = importlib.import_module(module.name)
            file = Path(str(home.__file__)).relative_to(SOURCE).as_posix()
            for name, value in vars(home).items():
                for number, pattern in enumerate(held(value)):
                    if isinstance(pattern.pattern, str) and name in sources[file].assigned:
                        label = f"{file} {name}{number or ''}"
                        found[label] = (pattern, methods(name, file, sources))
    for language in chain.from_iterable(all_languages().values()):
        for name in OF_A_LANGUAGE:
            found[f"{language.name} {name}"] = (getattr(language, name), {"search"})
    for code in ("", "en", *NUMBERS_OF):
        found[f"figures {code}"] = (figures._starts(code), {"search"})
    found["figures in Chinese"] = (figures._starts_in_chinese(), {"search"})
    for file, source in sources.items():
        for function in source.functions if "re" in source.modules else ():
            for node in ast.walk(function):
                if (call := called(node)) is None or (file, call[0]) in GIVEN_BY_THE_USER:
                    continue
                assert isinstance(call[1], str), (
                    f"{file}:{function.lineno}: a pattern that is made when it is used cannot be "
                    "tested here; give it a name in the module"
                )
                label = f"{file} {function.name} {call[1]!a:.20}"
                found[label] = (re.compile(call[1]), {call[0]} - {"compile"} or {"search"})
    return found


def called(node: ast.AST) -> tuple[str, object] | None:
    """The function of ``re`` that is called, and its pattern where that is written there."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        module = getattr(node.func.value, "id", "")
        if module == "re" and node.func.attr in FUNCTIONS:
            given = node.args[0]
            return node.func.attr, given.value if isinstance(given, ast.Constant) else None
    return None


def pieces(parsed: Any) -> Iterator[str]:
    """Characters and words that a pattern speaks of, one for each of its sets."""
    word = ""
    for op, value in parsed:
        name = str(op)
        if name == "LITERAL":
            word += chr(value)
            continue
        if word:
            yield word
            word = ""
        if name == "NOT_LITERAL" or name == "ANY":
            yield "a"
        elif name == "IN":
            yield from of_a_set(value)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from pieces(branch)
        elif isinstance(value, tuple):
            for part in value:
                if isinstance(part, _parser.SubPattern):
                    yield from pieces(part)
        elif isinstance(value, _parser.SubPattern):
            yield from pieces(value)
    if word:
        yield word


def of_a_set(members: Any) -> Iterator[str]:
    for op, value in members[:3]:
        name = str(op)
        if name == "NEGATE":
            yield from "a ."
        elif name == "LITERAL":
            yield chr(value)
        elif name == "RANGE":
            yield chr(value[0])
        elif name == "CATEGORY":
            yield {"DIGIT": "1", "SPACE": " ", "WORD": "a"}[str(value).rsplit("_", 1)[1]]


def attacks(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """What stands first, what is repeated, and what stands last."""
    drawn = random.Random(ascii(pattern.pattern))
    known = list(
        dict.fromkeys([*pieces(_parser.parse(pattern.pattern, pattern.flags)), *"aA1 .\n"])
    )
    single = [one for one in known if len(one) == 1]
    words = [one for one in known if len(one) > 1]
    if len(words) > 12:
        words = drawn.sample(words, 12)
    pairs = [one + other for one in single for other in known if one != other]
    triples = ["".join(drawn.choices(known, k=3)) for _ in range(20)]
    joined = [word + mark for word in words for mark in ("", " ", "a")]
    repeated = [
        *single,
        *joined,
        *(drawn.sample(pairs, 40) if len(pairs) > 40 else pairs),
        *triples,
    ]
    for pump in repeated:
        for last in ("", "\x01"):
            yield "", pump, last
    for pump in single[:8]:
        for first in [*words, *drawn.sample(single, min(4, len(single)))]:
            yield first, pump, "\x01"


def seconds(pattern: re.Pattern[str], method: str, text: str) -> float:
    start = time.thread_time()
    if method in FROM_THE_START:
        getattr(pattern, method)(text)
    else:
        for _ in pattern.finditer(text):
            pass
    return time.thread_time() - start


def slow(pattern: re.Pattern[str], method: str) -> Iterator[str]:
    """The attacks under which it takes more than linear time."""
    for first, pump, last in attacks(pattern):

        def text(size: int, first: str = first, pump: str = pump, last: str = last) -> str:
            return first + pump * (size // len(pump)) + last

        for size in (50, SIZE):
            if seconds(pattern, method, text(size)) > QUICK:
                break
        else:
            continue
        short, long = text(size), text(4 * size)
        # The quickest of several, for a busy machine makes some of them slower, and none quicker.
        for _ in range(3):
            one = min(seconds(pattern, method, short) for _ in range(3))
            if one <= QUICK or seconds(pattern, method, long) <= MOST * one:
                break
        else:
            yield f"{method}: {first!r} + {pump!r} * n + {last!r}, {size} characters in {one:.4f} s"


def test_every_pattern_takes_linear_time() -> None:
    found = {}
    tested = set()
    for name, (pattern, methods) in patterns().items():
        kinds = {"match" if method in FROM_THE_START else "search" for method in methods}
        for method in sorted(kinds | methods & {"fullmatch"}):
            if (pattern, method) in tested:
                continue
            tested.add((pattern, method))
            if attack := next(slow(pattern, method), None):
                found[name] = attack
    assert not found
