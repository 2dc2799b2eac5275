"""Slow results are made in turn, behind the pages, and kept as files beside the runs."""

import os
from contextlib import suppress
from pathlib import Path
from shutil import copytree, rmtree
from threading import Event, Thread

import pytest

import ragstone
from ragstone.analysis.comparison.comparison_result import Comparisons
from ragstone.analysis.summaries.run_summary import Summary, summarise
from ragstone.run import Run
from ragstone.web import background_cache, runs_folder
from ragstone.web.background_cache import (
    FOLDER,
    MOST_FILES,
    BackgroundCache,
    KeptResults,
    RequestGate,
)
from ragstone.web.runs_folder import RunsFolder


def test_the_background_waits_while_a_page_is_made() -> None:
    one, went_on = RequestGate(), Event()

    def background() -> None:
        one.wait()
        went_on.set()

    thread = Thread(target=background)
    with one.busy():
        thread.start()
        assert not went_on.wait(0.2)
    assert not went_on.wait(background_cache.STILL / 10)
    thread.join()
    assert went_on.is_set()


def test_pages_are_made_in_turn_but_none_waits_long_for_another() -> None:
    one, entered, leave = RequestGate(), [Event(), Event()], Event()

    def page(number: int) -> None:
        with one.in_turn():
            entered[number].set()
            leave.wait(60)

    threads = [Thread(target=page, args=(number,)) for number in range(2)]
    threads[0].start()
    assert entered[0].wait(60)
    threads[1].start()
    assert not entered[1].wait(background_cache.POLITE / 4)
    assert entered[1].wait(60)
    leave.set()
    for thread in threads:
        thread.join()


def test_a_page_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_cache, "POLITE", 3_600)
    one, made = RequestGate(), Event()

    def pages() -> None:
        with suppress(ZeroDivisionError), one.in_turn():
            raise ZeroDivisionError
        with one.in_turn():
            made.set()

    Thread(target=pages, daemon=True).start()
    assert made.wait(60)


def test_where_no_page_was_made_it_does_not_wait() -> None:
    RequestGate().wait()


def test_the_last_result_stands_until_the_next_one_is_there() -> None:
    later, ready = BackgroundCache(RequestGate()), Event()

    def slow() -> str:
        ready.wait(60)
        return "second"

    assert later.newest("group", 1, lambda: "first", 60) == "first"
    assert later.newest("group", 2, slow, 0) == "first"
    assert later.newest("other group", 2, slow, 0) is None
    ready.set()
    assert later.newest("group", 2, slow, 60) == "second"
    assert later.newest("other group", 2, slow, 60) == "second"


def test_a_result_that_comes_after_its_version_is_shown_all_the_same() -> None:
    later, ready, made = BackgroundCache(RequestGate()), Event(), Event()

    def slow() -> str:
        ready.wait(60)
        return "first"

    def next_one() -> str:
        made.set()
        return "second"

    assert later.newest("group", 1, slow, 0) is None
    assert later.newest("group", 2, next_one, 0) is None
    assert not made.is_set(), "one of a group at a time"
    ready.set()
    assert later.newest("group", 3, next_one, 60) in ("first", "second")
    assert later.newest("group", 4, next_one, 60) == "second"


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
    first = RunsFolder(folder).comparing("run", patience=None)

    def never(*_: object, **__: object) -> Comparisons:
        raise AssertionError("computed again")

    monkeypatch.setattr(runs_folder, "compare", never)
    assert RunsFolder(folder).comparing("run", patience=None) == first
    with pytest.raises(AssertionError, match="computed again"):
        RunsFolder(folder).comparing("run", patience=None, margin=0.05)


def test_a_run_that_was_corrected_is_summed_up_anew(folder: Path) -> None:
    place = RunsFolder(folder)
    before = place.stamp("run")
    run = Run.open(folder / "run")
    example = str(run.examples(["id"])["id"][0])
    run.correct(example, "response", {"response_type": "refuse"}, author="Ann", reason="it does")
    assert place.stamp("run") != before
    before = place.stamp("run")
    (folder / "run" / "judge_passport.json").write_text("{}", encoding="utf-8")
    assert place.stamp("run") != before


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\x00", b'{"comparisons": 3}'])
def test_a_file_that_cannot_be_read_is_made_anew(folder: Path, content: bytes) -> None:
    first = RunsFolder(folder).comparing("run", patience=None)
    for file in (folder / FOLDER).iterdir():
        file.write_bytes(content)
    assert RunsFolder(folder).comparing("run", patience=None) == first
    rmtree(folder / FOLDER)
    assert RunsFolder(folder).comparing("run", patience=None) == first


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
