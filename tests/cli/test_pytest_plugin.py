"""The plugin, in a pytest of its own."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ragstone import evaluate

OTHERS = ("cacheprovider", "randomly", "langsmith_plugin", "hypothesispytest", "anyio", "xdist")
PLAIN = (*(f"-pno:{name}" for name in OTHERS), "-rs")
RECORDS = """
GOOD = {"question": "How long?", "contexts": ["The pier is 90 metres long."],
        "answer": "The pier is 90 metres long."}
BAD = GOOD | {"answer": "The pier is 20 metres long."}
"""

Tests = Callable[[str], str]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 answers, 30 of them right."""
    rows = [
        {"question": f"Is it {at}?", "answer": "yes" if at < 30 else "no", "reference": "yes"}
        for at in range(40)
    ]
    out = tmp_path_factory.mktemp("plugin") / "run"
    return evaluate(rows, metrics="exact_match", out=out).path


@pytest.fixture
def outcome_of(tmp_path: Path, answers: Path) -> Tests:
    """What pytest prints of a file of tests; ``RUN`` in it is the run's folder."""

    def printed(tests: str) -> str:
        file = tmp_path / "test_it.py"
        file.write_text(RECORDS + tests.replace("RUN", repr(str(answers))), encoding="utf-8")
        return subprocess.run(
            [sys.executable, "-m", "pytest", *PLAIN, str(file)],
            capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60,
        ).stdout  # fmt: skip

    return printed


def test_gates_pass_fail_and_skip_and_examples_are_checked_one_by_one(outcome_of: Tests) -> None:
    printed = outcome_of("""
def test_holds(ragstone):
    assert ragstone.gate(RUN, require=["exact_match >= 0.5"]).decision == "pass"

def test_broken(ragstone):
    ragstone.gate(RUN, require=["exact_match >= 0.95"])

def test_open(ragstone):
    ragstone.gate(RUN, "exact_match >= 0.7")

def test_open_is_skipped(ragstone):
    ragstone.gate(RUN, "exact_match >= 0.7", cannot_tell="skip")

def test_evaluates(ragstone):
    run = ragstone.evaluate([GOOD] * 3, metrics="faithfulness", judge="local")
    ragstone.gate(run, "faithfulness >= 1", on="point")

def test_good_example(ragstone_example):
    ragstone_example(GOOD, "faithfulness >= 1", judge="local")

def test_bad_example(ragstone_example):
    ragstone_example(BAD, ["faithfulness >= 1"], judge="local")

def test_undefined_example(ragstone):
    ragstone.check(GOOD, "context_recall >= 0.5", judge="local")
""")
    assert "4 failed, 3 passed, 1 skipped" in printed
    broken = printed[printed.index("_ test_broken _") : printed.index("_ test_open _")]
    assert "FAIL: 1 broken" in broken
    assert re.search(r"exact_match >= 0.95 +broken", broken)
    assert "Is it 30?" in broken
    assert "Traceback" not in broken
    opened = printed[printed.index("_ test_open _") : printed.index("_ test_bad_example _")]
    assert "CANNOT TELL" in opened
    assert " needs" in opened
    bad = printed[printed.index("_ test_bad_example _") :]
    assert "claim 1 contradicted: The pier is 20 metres long." in bad
    assert "undefined everywhere (no_reference)" in bad


def test_nothing_heavy_is_imported_before_a_fixture_is_used() -> None:
    code = (
        "import sys, ragstone.cli.pytest_plugin; "
        "print([name for name in sys.modules if name.startswith('ragstone.') "
        "or name in ('numpy', 'polars', 'pydantic', 'rich')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "['ragstone.core', 'ragstone.core.lazy_package', 'ragstone.core.messages', 'ragstone.cli', "
        "'ragstone.cli.pytest_plugin']"
    )
