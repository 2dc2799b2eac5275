"""The page of all runs."""

from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree

import pytest
from starlette.testclient import TestClient

from ragstone import evaluate
from ragstone.data import cornwall
from ragstone.run import heartbeat
from ragstone.run.heartbeat import last_beat
from ragstone.run.progress import Progress
from ragstone.web.pages.runs import A_PAGE
from ragstone.web.runs_folder import RunsFolder

from .conftest import SECRET, client_of


@pytest.fixture
def two(runs: Path, tmp_path: Path) -> TestClient:
    for name in ("before", "after"):
        copytree(runs / "cornwall", tmp_path / name)
    return client_of(tmp_path)


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    text = client_of(tmp_path).get("/").text
    assert "No run in this folder yet" in text
    assert "ragstone evaluate DATA" in text


def test_a_run_has_a_line_for_each_system(client: TestClient) -> None:
    text = client.get("/").text
    assert text.count("data-row") == 3
    assert "0.802" in text
    assert "not calibrated" in text


def test_a_pinned_run_is_what_the_others_are_compared_with(two: TestClient) -> None:
    assert "cannot tell" not in two.get("/").text
    two.post("/", data={"pin": "before", "secret": SECRET})
    text = two.get("/").text
    assert "baseline: <b><bdi>before</bdi></b>" in text
    if "comparing …" in text:  # What takes longer follows when the page asks again.
        assert 'hx-trigger="every 2s"' in text
        text = two.get("/").text
    assert "comparing …" not in text
    assert "0.000 same" in text


def test_a_tag_filters_and_can_be_removed(two: TestClient) -> None:
    two.post("/", data={"run": "after", "tag": "nightly", "secret": SECRET})
    assert two.get("/?tag=nightly").text.count("data-row") == 3
    two.post("/", data={"run": "after", "untag": "nightly", "secret": SECRET})
    assert "No run matches" in two.get("/?tag=nightly").text


def test_a_search_finds_a_run_by_its_judge(two: TestClient) -> None:
    assert two.get("/?q=local").text.count("data-row") == 6
    assert "No run matches" in two.get("/?q=gpt-5").text


def test_runs_of_one_data_set_are_drawn_one_after_the_other(two: TestClient) -> None:
    assert "over the runs of" in two.get("/").text


def test_a_damaged_run_is_named_as_damaged(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "cornwall", tmp_path / "bad")
    (tmp_path / "bad" / "run.json").write_text("{}")
    assert "damaged" in client_of(tmp_path).get("/").text


def test_many_runs_come_in_pages(runs: Path, tmp_path: Path) -> None:
    for at in range(A_PAGE + 1):
        copytree(runs / "cornwall", tmp_path / f"run{at:03}")
    client = client_of(tmp_path)
    first, second = client.get("/").text, client.get("/?page=2").text
    assert first.count('type="checkbox"') == A_PAGE
    assert "page 1 of 2" in first
    assert second.count('type="checkbox"') == 1
    assert client.get("/?page=0").text.count('type="checkbox"') == A_PAGE


def test_a_mistake_of_ours_is_a_page_too(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: RunsFolder) -> None:
        raise KeyError("secret of the house")

    monkeypatch.setattr(RunsFolder, "runs", broken)
    answer = client.get("/")
    assert answer.status_code == 500
    assert "not yours" in answer.text
    assert "secret of the house" not in answer.text


def test_a_run_that_goes_on_says_how_far_it_is_and_the_page_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "PAUSE", 0)
    seen: list[str] = []

    def look(progress: Progress) -> None:
        if progress.stage == "judging":
            seen.append(client_of(tmp_path).get("/").text)

    evaluate(cornwall(), out=tmp_path / "going", progress=look)
    assert "running" in seen[-1]
    assert "24 answers judged" in seen[-1]
    assert 'hx-trigger="every 2s"' in seen[-1]
    after = client_of(tmp_path).get("/").text
    assert "running" not in after
    assert "every 2s" not in after


def test_a_run_that_was_stopped_says_how_it_goes_on(tmp_path: Path) -> None:
    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(cornwall(), out=tmp_path / "stopped", progress=stop)
    long_ago = last_beat(tmp_path / "stopped")
    assert long_ago is not None
    file = tmp_path / "stopped" / heartbeat.FILE
    old = long_ago.model_copy(update={"at": datetime(2026, 1, 1, tzinfo=UTC)})
    file.write_text(old.model_dump_json())
    text = client_of(tmp_path).get("/").text
    assert "the same command goes on" in text
    assert "running" not in text
