"""How many small faults, put into a room's files one at a time, the tests notice.

    python benchmarks/mutants.py [ROOM …] [--tests FOLDER …] [--sample 300] [--seed 0] [--jobs 2]
        [--root .] [--out runs/mutants]

A room is any folder of src/ragstone, such as report or judges/local. Its tests are in the folder of
that name below tests/; --tests names further ones to look at, in place of FOLDERS.

First every test in these folders is run once, and what functions of the package it, its fixtures or
the imports call is written down. Then of each room a sample of faults (mutations.py) is drawn, the
same for a seed. Each fault gets a process of its own, in which the tests that call the changed
function run until one fails: those of the room first, then the quickest, for 20 s of processor time
at the most; where the change is outside functions, all tests, the room's first and of these those
that call any function of the file. A fault that no test notices survives. Processor time is limited
to what these tests took, four times over, and 30 s; one that runs out is a time-out, which is
neither killed nor survived.

Survivors are printed with the change. Those that mutants_equivalent.toml names change nothing that
can be seen, and it says why. Exit status 1 where over 15 % of a room's sample survive, over 2 % run
out of time, or a survivor is not named there. Results are kept in --out, so that it goes on where
it was stopped: after a change of tests, delete that folder's calls-….json there, and the lines of
ROOM.jsonl that are to be tried again. --root runs on another checkout. Linux only.
"""

import argparse
import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import io
import json
import os
import resource
import signal
import sys
import threading
import time
import tomllib
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from hypothesis import settings
from mutations import Mutant, mutants

ROOMS = ("judgements", "metrics", "stats", "annotation", "analysis")
FOLDERS = ("judgements", "metrics", "stats", "annotation", "analysis", "judges", "run")
"""Folders of tests that are run unless others are named; the rest go through whole commands."""
SPARED = ("tests/judges/llm/test_injection.py",)
SURVIVE_AT_MOST = 0.15
TIME_OUT_AT_MOST = 0.02
SPARE_SECONDS = 30
TIMES = 4
MOST_SECONDS = 20
FIRST = 40
"""Tests that are imported first where everything is imported anew; most faults need no more."""
PRELOADED = ("numpy", "polars", "pytest", "hypothesis", "scipy.stats", "statsmodels.api", "pandas",
             "sklearn.metrics", "pydantic", "typer", "rich.console", "krippendorff")  # fmt: skip
PLAIN = ("-q", "-p", "no:cacheprovider", "--assert=plain", "--hypothesis-profile=still")
STDERR = "/tmp/ragstone-mutants.log"
EQUIVALENT = Path(__file__).with_name("mutants_equivalent.toml")


@dataclass(frozen=True, slots=True)
class Test:
    """What is known of a test.

    Attributes:
        name: As pytest calls it.
        seconds: Processor time.
        calls: What it, or a fixture of its file, calls: ``file::qualified name``, files below the
            package's folder.
        at_import: What the imports of all tests call.
    """

    name: str
    seconds: float
    calls: frozenset[str]
    at_import: frozenset[str]

    @property
    def file(self) -> str:
        return self.name.split("::")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rooms", nargs="*", default=ROOMS, metavar="ROOM")
    parser.add_argument("--tests", nargs="*", default=FOLDERS, metavar="FOLDER")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/mutants"))
    given = parser.parse_args()
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    os.chdir(given.root)
    rooms = [room.strip("/") for room in given.rooms]
    drawn = {room: sample(room, given.sample, given.seed) for room in rooms}
    for room, some in drawn.items():
        if not some:
            parser.error(f"src/ragstone/{room} has no code to put faults into.")
    sys.path.insert(0, str(Path("src").resolve()))
    for name in PRELOADED:
        importlib.import_module(name)
    settings.register_profile("still", derandomize=True, database=None, deadline=None)
    tests = recorded(outermost([*given.tests, *rooms]), out, given.jobs)
    print(f"{len(tests)} tests, {sum(one.seconds for one in tests):.0f} s.", flush=True)
    named = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    trial = Trial(drawn, tests, out, given.jobs)
    files = sorted({one.file for one in tests})
    with redirect_stdout(io.StringIO()):
        pytest.main([*PLAIN, *files], [trial])
    bad = False
    for room, some in drawn.items():
        bad |= not report(room, some, trial.results[room], named.get(room, {}))
    sys.exit(bad)


def sample(room: str, size: int, seed: int) -> list[Mutant]:
    """The faults that are tried in a room."""
    package = Path("src/ragstone")
    found = [
        one
        for path in sorted((package / room).rglob("*.py"))
        for one in mutants(str(path.relative_to(package)), path.read_bytes())
    ]
    return sorted(found, key=lambda one: one.order(seed))[:size]


# ---------------------------------------------------------------- which tests call what


def outermost(names: Sequence[str]) -> list[str]:
    """Those of the names that are folders of tests, without such as lie inside of another."""
    there = {name.strip("/") for name in names if Path("tests", name).is_dir()}
    return sorted(one for one in there if not there & {str(up) for up in Path(one).parents})


def recorded(folders: Sequence[str], out: Path, jobs: int) -> list[Test]:
    """Every test of these folders that passes, with what it calls; kept in ``out``."""
    parts = [Path("tests", name) for name in folders]
    files = [out / f"calls-{in_file_name(name)}.json" for name in folders]
    todo = [
        (lambda part=part, file=file: record(part, file))
        for part, file in zip(parts, files, strict=True)
        if not file.is_file()
    ]
    for status, _ in in_processes(todo, [3600.0] * len(todo), jobs):
        if status not in (0, 1):
            raise SystemExit(f"The tests could not be recorded: status {status}, see {STDERR}.")
    recordings = [json.loads(file.read_text()) for file in files]
    at_import = frozenset(call for part in recordings for call in part["at_import"])
    found = []
    for part in recordings:
        for name, (seconds, calls) in part["tests"].items():
            found.append(Test(name, seconds, frozenset(calls), at_import))
    return found


def in_file_name(folder: str) -> str:
    """A folder's path as a part of a file's name."""
    return folder.replace("/", "-")


def record(part: Path, file: Path) -> int:
    """Run a folder's tests and write down what each calls."""
    recorder = Recorder()
    spared = [f"--ignore={name}" for name in SPARED]
    status = pytest.main([*PLAIN, *spared, str(part)], [recorder])
    calls = {
        name: sorted(recorder.of_test[name] | recorder.of_file[name.split("::")[0]])
        for name in recorder.passed
    }
    found = {
        "at_import": sorted(recorder.at_import),
        "tests": {name: (seconds, calls[name]) for name, seconds in recorder.passed.items()},
    }
    half = file.with_suffix(".half")
    half.write_text(json.dumps(found))
    half.rename(file)
    return int(status)


class Recorder:
    """A pytest plugin: the functions of the package that each test calls."""

    def __init__(self) -> None:
        self.of_test: dict[str, set[str]] = defaultdict(set)
        self.of_file: dict[str, set[str]] = defaultdict(set)
        self.passed: dict[str, float] = {}
        self.at_import: set[str] = set()
        self.into = self.at_import
        self.began = 0.0
        self.package = str(Path("src/ragstone").resolve()) + "/"
        self.known: dict[CodeType, str | None] = {}
        self._on(self.at_import)

    def trace(self, frame: FrameType, event: str, argument: Any) -> None:  # noqa: ARG002
        code = frame.f_code
        if code not in self.known:
            path = code.co_filename
            mine = path.startswith(self.package) and code.co_flags & inspect.CO_OPTIMIZED
            name = code.co_qualname.replace(".<locals>", "")
            self.known[code] = f"{path.removeprefix(self.package)}::{name}" if mine else None
        called = self.known[code]
        if called is not None:
            self.into.add(called)

    def _on(self, into: set[str]) -> None:
        self.into = into
        sys.settrace(self.trace)
        threading.settrace(self.trace)

    def pytest_collectstart(self) -> None:
        self._on(self.at_import)

    def pytest_runtest_setup(self, item: Any) -> None:
        self._on(self.of_file[item.nodeid.split("::")[0]])

    def pytest_runtest_call(self, item: Any) -> None:
        self._on(self.of_test[item.nodeid])
        self.began = time.process_time()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.outcome == "passed":
            self.passed[report.nodeid] = time.process_time() - self.began


def noticing(mutant: Mutant, tests: Sequence[Test], room: str) -> list[Test]:
    """The tests that may notice a fault, the likeliest first, for ``MOST_SECONDS`` at the most."""
    scope = f"{mutant.file}::{mutant.scope}"
    own = f"tests/{room}/"
    found = [
        one
        for one in tests
        if mutant.scope and any(call == scope or call.startswith(f"{scope}.") for call in one.calls)
    ]
    callers = {one.name for one in found}
    if not found or scope in found[0].at_import:
        of_file = f"{mutant.file}::"
        callers = {one.name for one in tests if any(call.startswith(of_file) for call in one.calls)}
        found = list(tests)
    found.sort(key=lambda one: (not one.name.startswith(own), one.name not in callers, one.seconds))
    kept: list[Test] = []
    seconds = 0.0
    for one in found:
        seconds += one.seconds
        if kept and seconds > MOST_SECONDS:
            break
        kept.append(one)
    return kept


# ---------------------------------------------------------------- one fault, one process


class Trial:
    """A pytest plugin that runs, in place of all tests once, some of them for each fault.

    The tests are collected once. A process that is forked from there gets the fault by exchanging
    the code of one function, so that nothing is imported again; where the fault stands outside
    functions, or in one that imports call, the package and the tests are imported anew.
    """

    def __init__(
        self, rooms: Mapping[str, Sequence[Mutant]], tests: Sequence[Test], out: Path, jobs: int
    ) -> None:
        self.rooms = rooms
        self.tests = tests
        self.out = out
        self.jobs = jobs
        self.results: dict[str, dict[str, str]] = {}

    def pytest_runtestloop(self, session: Any) -> bool:
        threads = [one.read_text() for one in Path("/proc/self/task").glob("*/comm")]
        if any(name.startswith("polars-") and name[7:].strip().isdigit() for name in threads):
            raise SystemExit(
                "Importing the tests ran Polars, whose threads a forked process waits for in vain: "
                "make that data within a test."
            )
        items = {item.nodeid: item for item in session.items}
        for room, drawn in self.rooms.items():
            self.results[room] = self.tried(room, drawn, items)
        return True

    def tried(self, room: str, drawn: Sequence[Mutant], items: Mapping[str, Any]) -> dict[str, str]:
        """``killed``, ``survived`` or ``time-out`` of each fault, by its key."""
        file = self.out / f"{in_file_name(room)}.jsonl"
        lines = file.read_text().splitlines() if file.is_file() else []
        results = dict(json.loads(line) for line in lines)
        todo = [one for one in drawn if one.key not in results]
        chosen = [noticing(one, self.tests, room) for one in todo]
        work = [
            (lambda mutant=mutant, some=some: with_fault(mutant, some, items))
            for mutant, some in zip(todo, chosen, strict=True)
        ]
        limits = [SPARE_SECONDS + TIMES * sum(one.seconds for one in some) for some in chosen]
        with file.open("a") as kept:
            for status, number in in_processes(work, limits, self.jobs):
                result = {None: "time-out", 0: "survived"}.get(status, "killed")
                results[todo[number].key] = result
                kept.write(json.dumps([todo[number].key, result]) + "\n")
                kept.flush()
        return results


def with_fault(mutant: Mutant, tests: Sequence[Test], items: Mapping[str, Any]) -> int:
    """0 where these tests pass although the package has a fault."""
    imported_again = not tests or f"{mutant.file}::{mutant.scope}" in tests[0].at_import
    if imported_again or not exchange(mutant):
        return anew(mutant, tests)
    chosen = [items[one.name] for one in tests if one.name in items]
    for item, following in zip(chosen, [*chosen[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if item.session.testsfailed:
            return 1
    return 0


def exchange(mutant: Mutant) -> bool:
    """Put the fault into a function that is imported already; False where it is none."""
    finder = Faulty(mutant)
    found: Any = sys.modules.get(finder.name)
    if not mutant.scope or found is None:
        return False
    code: Any = FaultyLoader(finder.name, str(finder.path), mutant).get_code(finder.name)
    for name in mutant.scope.split("."):
        if inspect.isfunction(found):
            break
        try:
            found = inspect.unwrap(inspect.getattr_static(found, name))
        except AttributeError:
            return False
        found = getattr(found, "__func__", getattr(found, "fget", getattr(found, "func", found)))
        code = next((one for one in code.co_consts if getattr(one, "co_name", "") == name), None)
        if code is None:
            return False
    if not inspect.isfunction(found) or found.__code__.co_freevars != code.co_freevars:
        return False
    found.__code__ = code
    return True


def anew(mutant: Mutant, tests: Sequence[Test]) -> int:
    """As ``with_fault``, in a package that is imported from its files again."""
    for name in list(sys.modules):
        if name.split(".")[0] in ("ragstone", "tests"):
            del sys.modules[name]
    sys.meta_path.insert(0, Faulty(mutant))
    for some in (tests[:FIRST], tests[FIRST:]):
        files = list(dict.fromkeys(one.file for one in some))
        status = files and pytest.main([*PLAIN, "-x", "--tb=no", *files], [Chosen(some)])
        if status:
            return int(status)
    return 0


class Chosen:
    """A pytest plugin: these tests alone, in this order."""

    def __init__(self, tests: Sequence[Test]) -> None:
        self.rank = {one.name: number for number, one in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted(
            (one for one in items if one.nodeid in self.rank),
            key=lambda one: self.rank[one.nodeid],
        )


class Faulty(importlib.abc.MetaPathFinder):
    """Finds one module of the package with a fault in it."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        self.path = Path("src/ragstone", mutant.file).resolve()
        parts = ["ragstone", *Path(mutant.file).with_suffix("").parts]
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def find_spec(
        self,
        fullname: str,
        path: object = None,  # noqa: ARG002
        target: object = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        package = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname,
            self.path,
            loader=FaultyLoader(fullname, str(self.path), self.mutant),
            submodule_search_locations=package,
        )


class FaultyLoader(importlib.machinery.SourceFileLoader):
    """Loads a module with a fault."""

    def __init__(self, name: str, path: str, mutant: Mutant) -> None:
        super().__init__(name, path)
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        source = self.mutant.source(Path(self.get_filename(fullname)).read_bytes())
        return compile(ast.parse(source), self.get_filename(fullname), "exec")


def in_processes(
    work: Sequence[Callable[[], int]], limits: Sequence[float], jobs: int
) -> Iterator[tuple[int | None, int]]:
    """Run each in a process of its own, some at a time.

    Yields:
        Exit status and number of each as it ends; None where it ran out of time.
    """
    waiting = iter(range(len(work)))
    running: dict[int, tuple[int, float]] = {}
    more = True
    while more or running:
        while more and len(running) < jobs:
            number = next(waiting, None)
            more = number is not None
            if number is not None:
                running[child(work[number], limits[number])] = (
                    number, time.monotonic() + 10 * limits[number]
                )  # fmt: skip
        for process, (number, until) in list(running.items()):
            ended, state = os.waitpid(process, os.WNOHANG)
            if ended:
                del running[process]
                yield (None if os.WIFSIGNALED(state) else os.WEXITSTATUS(state)), number
            elif time.monotonic() > until:
                os.killpg(process, signal.SIGKILL)
        time.sleep(0.02)


def child(task: Callable[[], int], seconds: float) -> int:
    """Start a process that ends with what the task returns; its number."""
    process = os.fork()
    if process:
        return process
    status = 70
    try:
        os.setsid()
        for number, place in enumerate((os.devnull, os.devnull, STDERR)):
            os.dup2(os.open(place, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
        whole = int(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
        status = task()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


# ---------------------------------------------------------------- what came out


def report(
    room: str, drawn: Sequence[Mutant], results: Mapping[str, str], named: Mapping[str, str]
) -> bool:
    """Print a room's results; whether they are as they should be."""
    by: dict[str, list[Mutant]] = defaultdict(list)
    for one in drawn:
        by[results[one.key]].append(one)
    survived, late = by["survived"], by["time-out"]
    counts = ", ".join(f"{len(by[name])} {name}" for name in ("killed", "survived", "time-out"))
    print(f"{room}: {len(drawn)} faults, {counts}; {len(survived) / len(drawn):.1%} survive.")
    unnamed = [one for one in survived if one.key not in named]
    for one in sorted(survived, key=lambda one: (one.file, one.start)):
        print(f"  {'equivalent' if one.key in named else 'SURVIVED  '} {one.key}")
    for one in late:
        print(f"  time-out   {one.key}")
    sys.stdout.flush()
    few = len(survived) <= SURVIVE_AT_MOST * len(drawn)
    return few and not unnamed and len(late) <= TIME_OUT_AT_MOST * len(drawn)


if __name__ == "__main__":
    main()
