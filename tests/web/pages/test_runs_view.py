"""The page of all runs."""

import json
import re
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from ragstone import evaluate
from ragstone.analysis import calibrate
from ragstone.core.errors import InputError
from ragstone.core.files import RunEntry
from ragstone.data import cornwall
from ragstone.report import charts
from ragstone.report.page import Series
from ragstone.run import Run
from ragstone.run.folder import run_list as heartbeat
from ragstone.run.folder.run_list import Progress, last_beat
from ragstone.web.example_rows import change_marks
from ragstone.web.page_request import Asked
from ragstone.web.pages.runs_view import A_PAGE, _compared, _metrics, _trends
from ragstone.web.runs_folder import RunsFolder
from tests.waiting import until
from tests.web.conftest import SECRET, client_of

DATA = SimpleNamespace(source="questions.jsonl")


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
    assert "0.865" in text
    assert "not checked against people" in text


def test_what_a_mean_lacks_stands_beside_it(tmp_path: Path) -> None:
    answers = ["It is red."] * 3 + [None]
    rows = [
        {"question": f"{n}?", "answer": text, "reference": "red"} for n, text in enumerate(answers)
    ]
    evaluate(rows, metrics=["token_f1"], out=tmp_path / "run")
    assert re.search(r"n 3</span>\s*<span[^>]*>1 missing<", client_of(tmp_path).get("/").text)


def test_a_pinned_run_is_what_the_others_are_compared_with(two: TestClient) -> None:
    assert "cannot tell" not in two.get("/").text
    two.post("/", data={"pin": "before", "secret": SECRET})
    text = two.get("/").text
    assert "baseline: <b><bdi>before</bdi></b>" in text
    if "comparing …" in text:  # What takes longer follows when the page asks again.
        assert 'hx-trigger="every 2s"' in text
        until(lambda: "comparing …" not in two.get("/").text)
    assert "0.000 same" in two.get("/").text


def side(a: str, b: str, slice: str | None = None) -> Any:
    return SimpleNamespace(a=a, b=b, metric="mrr", slice=slice)


@pytest.mark.parametrize(
    ("pinned", "asked", "with_b"),
    [
        ("run/b", (("run",), "b"), {"a": side("a", "b"), "c": side("c", "b")}),
        ("run", (("run",), "a"), {"a": side("a", "b"), "c": side("c", "b")}),
        ("old/b", (("run", "old"), None), {"a": side("run/a", "old/b")}),
        ("old", (("run", "old"), None), {"a": side("run/a", "old/b"), "b": side("run/b", "old/c")}),
    ],
)
def test_each_system_is_compared_with_the_pinned_one_over_all_answers(
    pinned: str, asked: Any, with_b: dict[str, Any]
) -> None:
    seen: list[Any] = []
    own = [side("a", "b"), side("c", "b"), side("a", "b", "topic=sea")]
    other = [side("run/a", "old/b"), side("run/b", "old/c"), side("run/a", "old/b", "topic=sea")]

    def comparing(*names: str, baseline: str | None = None, patience: None) -> Any:  # noqa: ARG001
        seen.append((names, baseline))
        return SimpleNamespace(comparisons=own if len(names) < 2 else other, notes=())

    place: Any = SimpleNamespace(comparing=comparing)
    found = _compared(place, "run", ["a", "b", "c"], pinned, inf)
    assert seen == [asked]
    assert {name: by_metric["mrr"] for name, (by_metric, _, _) in found.items() if by_metric} == (
        with_b
    )


def test_nothing_is_compared_without_a_rival_and_what_has_no_time_waits() -> None:
    nothing: Any = SimpleNamespace()
    assert _compared(nothing, "run", ["a", "b"], "", inf) == {}
    assert _compared(nothing, "run", [""], "run", inf) == {}
    assert _compared(nothing, "run", ["a", "b"], "run/b", 0)["a"][2]


def test_metrics_are_those_that_most_runs_have_or_those_that_are_asked_for() -> None:
    def having(*metrics: str) -> Any:
        return [SimpleNamespace(metric=one) for one in metrics]

    runs = [having("ndcg", "precision", "mrr", "recall"), having("ndcg", "precision"),
            having("faithfulness", "ndcg")]  # fmt: skip
    assert _metrics(Asked("/"), runs) == ["ndcg", "precision", "faithfulness"]
    asked = Asked("/", query=[("metric", "recall,mrr"), ("metric", "nonsense,recall")])
    assert _metrics(asked, runs) == ["recall", "mrr"]
    many = [having(*"abcdefgh")]
    assert _metrics(Asked("/", query=[("metric", "a,b,c,d,e,f,g,h")]), many) == [*"abcdef"]


@pytest.mark.parametrize(
    ("back", "there"),
    [("/?tag=a", "/?tag=a"), ("/", "/"), ("//evil.example", "/"), ("https://evil.example", "/")],
)
def test_a_note_leads_back_to_the_list_alone(client: TestClient, back: str, there: str) -> None:
    answer = client.post("/", data={"pin": "", "back": back, "secret": SECRET})
    assert (answer.status_code, answer.headers["location"]) == (303, there)


def test_names_are_short_and_notes_are_few(two: TestClient, tmp_path: Path) -> None:
    for name, status in (("x" * 80, 303), ("x" * 81, 400), (" ", 400)):
        form = {"run": "after", "tag": name, "secret": SECRET}
        assert two.post("/", data=form).status_code == status
    form = {"save": "one more", "query": "outcome=wrong", "secret": SECRET}
    for there, status in ((499, 303), (500, 400)):
        filters = [{"name": str(at), "query": "outcome=wrong"} for at in range(there)]
        (tmp_path / "view.json").write_text(json.dumps({"filters": filters}))
        assert two.post("/runs/after", data=form).status_code == status


def test_a_passport_alone_earns_no_badge(two: TestClient, tmp_path: Path) -> None:
    ids = Run.open(tmp_path / "after").examples(["id"])["id"].head(6)
    labels = tmp_path / "labels.csv"
    rows = [f"{name},ann,{at % 2}" for at, name in enumerate(ids)]
    labels.write_text("\n".join(["id,annotator,unsupported_claim_present", *rows]))
    calibrate(tmp_path / "after", labels).passport.write(tmp_path / "after")
    lacks = "not checked against people: 6 labels; about 60 are needed"
    assert two.get("/").text.count(lacks) == 1
    assert lacks in two.get("/runs/after").text
    (tmp_path / "after" / "judge_passport.json").write_text("{}")
    assert "judge_passport.json cannot be read" in two.get("/").text


def test_a_tag_filters_and_can_be_removed(two: TestClient) -> None:
    two.post("/", data={"run": "after", "tag": "nightly", "secret": SECRET})
    assert two.get("/?tag=nightly").text.count("data-row") == 3
    two.post("/", data={"run": "after", "untag": "nightly", "secret": SECRET})
    assert "No run matches" in two.get("/?tag=nightly").text


def test_a_search_finds_a_run_by_its_judge(two: TestClient) -> None:
    assert two.get("/?q=local").text.count("data-row") == 6
    assert "No run matches" in two.get("/?q=gpt-5").text


def test_runs_of_one_data_set_are_drawn_one_after_the_other(
    two: TestClient, client: TestClient
) -> None:
    assert "over the runs of" in two.get("/").text
    assert "over the runs of" not in client.get("/").text


def test_an_interval_that_ends_at_0_is_drawn_to_0(monkeypatch: pytest.MonkeyPatch) -> None:
    """As is one without ends: at its value."""
    drawn: list[Series] = []

    def draw(one: Series, _: int) -> str:
        drawn.append(one)
        return ""

    monkeypatch.setattr(charts, "series", draw)
    ends = [(0.4, 0.0, 0.8), (-0.4, -0.8, 0.0), (0.0, 0.0, 0.0), (0.4, None, None)]
    found: list[Any] = [
        SimpleNamespace(path=Path(f"run{at}"), form=SimpleNamespace(created=str(at), data=DATA))
        for at in range(len(ends))
    ]
    estimates: Any = {
        one.path: [
            SimpleNamespace(metric="gain", group={}, value=value, low=low, high=high, clusters=2)
        ]
        for one, (value, low, high) in zip(found, ends, strict=True)
    }
    list(_trends(found, estimates, "gain"))
    assert [(one.value, one.low, one.high) for one in drawn[0].points] == [
        *ends[:3],
        (0.4, 0.4, 0.4),
    ]


def test_a_verdict_stands_beside_how_many_answers_have_the_score(two: TestClient) -> None:
    two.post("/", data={"pin": "before", "secret": SECRET})
    for cell in two.get("/").text.split("<td>")[1:]:
        if 'class="ci"' in cell:
            assert '<span class="small quiet">n ' in cell


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
    file = tmp_path / "stopped" / RunEntry.HEARTBEAT
    old = long_ago.model_copy(update={"at": datetime(2026, 1, 1, tzinfo=UTC)})
    file.write_text(old.model_dump_json())
    text = client_of(tmp_path).get("/").text
    assert "the same command goes on" in text
    assert "running" not in text


@pytest.mark.parametrize("held", ["{", '{"pinned": "a", "tags": {}, "filters": []}'])
def test_what_was_noted_stays_where_nothing_can_be_noted(tmp_path: Path, held: str) -> None:
    """The file is damaged, or a new one cannot be written."""
    (tmp_path / "view.json").write_text(held)
    (tmp_path / "view.json.new").mkdir()
    with pytest.raises(InputError, match="nothing was noted"):
        change_marks(tmp_path, lambda marks: marks.model_copy(update={"pinned": ""}))
    assert (tmp_path / "view.json").read_text() == held
