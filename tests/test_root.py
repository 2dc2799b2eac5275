"""The package's root: its names are there, and a type checker knows them and no others."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import ragstone

ROOT = Path(ragstone.__file__).with_suffix(".pyi")


def mypy(snippet: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """What mypy says of a user's file; the rooms behind the root need not be read for that."""
    file = folder / "snippet.py"
    file.write_text(snippet, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--follow-imports=skip",
               f"--cache-dir={folder / 'cache'}", str(file), str(ROOT)]  # fmt: skip
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ragstone.__all__)
def test_every_name_of_the_root_is_there(name: str) -> None:
    assert getattr(ragstone, name) is not None


def test_root_lists_its_names_and_no_others() -> None:
    assert set(dir(ragstone)) == {*ragstone.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        _ = ragstone.evalute  # type: ignore[attr-defined]


def test_the_root_has_few_names() -> None:
    assert len(ragstone.__all__) <= 24


@pytest.mark.parametrize(("name", "room"), sorted(vars(ragstone)["_MOVED"].items()))
def test_a_name_that_moved_still_imports_and_says_where_it_is_now(name: str, room: str) -> None:
    with pytest.warns(
        DeprecationWarning, match=rf"ragstone\.{name} is now called ragstone\.{room}\.{name}"
    ):
        moved = getattr(ragstone, name)
    assert moved is getattr(importlib.import_module(f"ragstone.{room}"), name)


def test_a_type_checker_knows_every_name_of_the_root_and_refuses_a_misspelt_one(
    tmp_path: Path,
) -> None:
    names = [*ragstone.__all__, "__version__"]
    lines = ["import ragstone", *(f"print(ragstone.{name})" for name in [*names, "evalute"])]
    said = mypy("\n".join(lines), tmp_path).stdout.splitlines()
    assert len(said) == 2, said
    assert said[0].startswith(f'snippet.py:{len(lines)}: error: Module has no attribute "evalute"')


def test_a_run_shows_its_table_in_a_notebook_whatever_was_imported_first(tmp_path: Path) -> None:
    code = (
        "from ragstone.run.evaluate import evaluate; "
        "run = evaluate([{'question': 'q', 'answer': 'a', 'reference': 'a'}], "
        "metrics='exact_match'); "
        "print(run._repr_html_() == run.notebook(), run.notebook()[:26])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == 'True <div class="ragstone"><sty\n'


def test_a_run_and_its_page_import_nothing_that_decides_or_judges() -> None:
    """What decides takes a quarter of a second to import, what judges another tenth."""
    code = (
        "import sys, ragstone.cli.app, ragstone.run, ragstone.report; "
        "heavy = 'ragstone.analysis', 'ragstone.judges.local', 'ragstone.run.evaluate'; "
        "print(*(name for name in sys.modules if name.startswith(heavy)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_guard_is_a_room_of_its_own_at_the_root() -> None:
    code = "import ragstone; print(ragstone.guard.assess('q', '', []).issues[0].code)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "empty_answer\n"


@pytest.mark.parametrize(("old", "new"), [("forget", "erase"), ("Forgotten", "Erasure")])
def test_the_old_words_of_the_monitor_still_work_and_say_the_new_ones(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"ragstone\.monitor\.{old} is now called"):
        renamed = getattr(ragstone.monitor, old)
    assert renamed is getattr(ragstone.monitor, new)
