"""Results that are computed once, as files beside the runs."""

import os
from pathlib import Path
from shutil import copytree, rmtree

import pytest

import ragstone
from ragstone.analysis.comparison.comparison_result import Comparisons
from ragstone.analysis.summaries.run_summary import Summary, summarise
from ragstone.run import Run
from ragstone.web import runs_folder
from ragstone.web.background_cache import FOLDER, MOST_FILES, KeptResults
from ragstone.web.runs_folder import RunsFolder


@pytest.fixture
def folder(runs: Path, tmp_path: Path) -> Path:
    copytree(runs / "cornwall", tmp_path / "run")
    return tmp_path


def test_a_result_is_the_same_after_it_was_kept(folder: Path) -> None:
    kept = KeptResults(folder)
    compared, summary = ragstone.compare(folder / "run"), summarise(Run.open(folder / "run"))
    kept.write("key", Comparisons, compared)
    kept.write("key", Summary, summary)
    assert KeptResults(folder).read("key", Comparisons) == compared
    assert KeptResults(folder).read("key", Summary) == summary
    assert kept.read("another key", Summary) is None


def test_what_is_kept_is_not_computed_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = RunsFolder(folder).compared("run")

    def never(*_: object, **__: object) -> Comparisons:
        raise AssertionError("computed again")

    monkeypatch.setattr(runs_folder, "compare", never)
    assert RunsFolder(folder).compared("run") == first
    with pytest.raises(AssertionError, match="computed again"):
        RunsFolder(folder).compared("run", margin=0.05)


def test_a_run_that_was_corrected_is_summed_up_anew(folder: Path) -> None:
    place = RunsFolder(folder)
    before = place.stamp("run")
    run = Run.open(folder / "run")
    example = str(run.examples(["id"])["id"][0])
    run.correct(example, "response", {"response_type": "refuse"}, author="Ann", reason="it does")
    assert place.stamp("run") != before


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\x00", b'{"comparisons": 3}'])
def test_a_file_that_cannot_be_read_is_made_anew(folder: Path, content: bytes) -> None:
    first = RunsFolder(folder).compared("run")
    for file in (folder / FOLDER).iterdir():
        file.write_bytes(content)
    assert RunsFolder(folder).compared("run") == first
    rmtree(folder / FOLDER)
    assert RunsFolder(folder).compared("run") == first


def test_where_the_folder_cannot_be_written_to_the_users_cache_is(folder: Path) -> None:
    (folder / FOLDER).write_text("a file stands in the way")
    kept = KeptResults(folder)
    summary = summarise(Run.open(folder / "run"))
    kept.write("key", Summary, summary)
    assert KeptResults(folder).read("key", Summary) == summary


def test_the_oldest_results_go_first(folder: Path) -> None:
    kept = KeptResults(folder)
    summary = summarise(Run.open(folder / "run"))
    kept.write("first", Summary, summary)
    (first,) = (folder / FOLDER).iterdir()
    os.utime(first, (0, 0))
    for at in range(MOST_FILES):
        (folder / FOLDER / f"{at}.json").write_text("{}")
    kept.write("last", Summary, summary)
    assert kept.read("first", Summary) is None
    assert kept.read("last", Summary) == summary
