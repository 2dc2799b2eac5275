"""The page of one run: words first, then means with intervals, and where the answers went wrong."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from shutil import copytree
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

import ragstone
from ragstone import Example
from ragstone.core.files import RunEntry
from ragstone.data import Context
from ragstone.report.worst_examples import ranked
from ragstone.run import Run
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.run_list import Beat
from tests.web.conftest import client_of, settled

SYSTEMS, METRICS = 12, 40
LONG = "retriever=hybrid/" * 12


def made(folder: Path, name: str, examples: list[Example], *metrics: str) -> TestClient:
    ragstone.evaluate(examples, metrics=list(metrics), out=folder / name)
    return client_of(folder)


def example(number: int, system: str, relevant: bool = True) -> Example:
    return Example(
        f"{number}-{system}",
        f"q{number}",
        system,
        question="Where?",
        answer="Here.",
        contexts=(Context("a" if relevant else "b", "Here it is.", 1),),
        reference_contexts={"a": 1},
    )


def test_a_run_begins_with_the_sentences_of_the_terminal(client: TestClient) -> None:
    text = settled(client, "/runs/cornwall")
    assert "24 answers by 3 systems to 8 questions, 24 metrics." in text
    assert text.index("12 of 24 answers look bad to people and the local judge") < text.index(
        "Estimates</h2>"
    )


def test_each_system_has_its_mean_with_interval_and_counts(client: TestClient) -> None:
    text = settled(client, "/runs/cornwall")
    row = next(one for one in text.split("<tr") if "faithfulness" in one and "rowgroup" in one)
    assert re.search(r'class="n val">0\.\d{3}', row)
    assert re.search(r'class="ci">0\.\d{3} – 0\.\d{3}', row)
    assert "<svg" in row
    assert row.count('class="n"') == 1


def test_the_worst_answers_lead_to_their_examples(client: TestClient, runs: Path) -> None:
    section = settled(client, "/runs/cornwall").split('id="worst"')[1].split("</section>")[0]
    worst = ranked(Run.open(runs / "cornwall")).examples
    assert re.findall(r'href="/runs/cornwall/examples/([^"]+)"', section) == [
        example.example_id for example in worst
    ]
    first = unescape(re.sub("<[^>]+>", " ", section)).split(" · ")
    assert str(worst[0].question) in first[0]
    assert first[0].split()[-1] == worst[0].system
    assert first[1] == f"{worst[0].low[0].metric} {worst[0].low[0].value:.3f}"


def test_slices_of_a_system_stand_below_each_other(client: TestClient) -> None:
    text = settled(client, "/runs/cornwall?by=question_type&system=local_search")
    assert 'title="Fact Retrieval"' in text
    assert '<a href="/runs/cornwall?by=question_type&amp;system=basic_search#estimates"' in text


def turns(*sessions: str) -> list[Example]:
    """A turn for each letter: t is right, f is wrong."""
    return [
        replace(
            example(number, "a"),
            question=f"Where is it {number}?",
            slices={"session": f"s{place}"},
            answer="Here." if said == "t" else "There.",
            reference=("Here.",),
        )
        for place, said_in in enumerate(sessions)
        for number, said in enumerate(said_in, 10 * place)
    ]


def test_whole_conversations_have_their_figures(tmp_path: Path) -> None:
    client = made(tmp_path, "run", turns("tf", "ttt", "t"), "exact_match", "abstention")
    section = settled(client, "/runs/run").split('id="conversations"')[1].split("</section>")[0]
    assert "2 conversations of 2 to 3 turns. Resolved: 100%." in section
    assert "and 1 single turn" in section
    row = next(one for one in section.split("<tr") if "exact_<wbr>match" in one)
    # The worst turns are 0 and 1, the means .5 and 1.
    assert re.findall(r"<b>([\d.]+)</b>", row) == ["0.500", "0.750"]


def test_data_without_conversations_have_no_such_section(client: TestClient) -> None:
    assert "Conversations" not in settled(client, "/runs/cornwall")


def test_turns_that_nobody_judged_are_missing_in_conversations(tmp_path: Path) -> None:
    half = [
        replace(one, labels={"answer": {"helpful": 1}} if place % 2 else {})
        for place, one in enumerate(turns("tt", "tt"))
    ]
    ragstone.evaluate(half, metrics=["helpfulness"], judge="human", out=tmp_path / "run")
    text = settled(client_of(tmp_path), "/runs/run")
    section = text.split('id="conversations"')[1].split("</section>")[0]
    assert "2 missing, so 0.000 – 1.000" in section
    assert "Resolved: response needs the local judge, people&#39;s labels, or" in section
    assert "\ue000" not in section


def test_an_unknown_slice_or_system_is_no_error(client: TestClient) -> None:
    assert "local_search" in settled(client, "/runs/cornwall?by=colour&system=nobody")


def test_a_stage_leads_to_the_examples_that_failed_there(client: TestClient) -> None:
    text = settled(client, "/runs/cornwall?system=basic_search")
    assert "?system=basic_search&amp;stage=not_retrieved#examples" in text
    assert "An answer looks bad if it says nothing of the reference" in text


def test_a_class_that_nothing_fell_into_is_said(client: TestClient) -> None:
    assert re.search(
        r"\b0 (correct|partial|wrong|don&#39;t know)", settled(client, "/runs/cornwall")
    )


def test_many_systems_have_a_line_a_metric_that_opens_to_rows(tmp_path: Path) -> None:
    names = [f"{LONG}seed={number}" for number in range(SYSTEMS)]
    data = [example(n, name, relevant=n <= at) for at, name in enumerate(names) for n in range(3)]
    metrics = [f"precision(k={k})" for k in range(1, METRICS + 1)]
    client = made(tmp_path, "many", data, *metrics)
    closed = settled(client, "/runs/many")
    assert closed.count('class="line"') == METRICS
    assert "<caption" not in closed.split('id="estimates"')[1].split("</section>")[0]
    assert len(closed) < 200_000
    opened = settled(client, "/runs/many?open=precision(k=2)")
    assert opened.count("0.333") >= 1
    assert 'aria-expanded="true"' in opened


def test_long_names_are_cut_in_sentences_too(tmp_path: Path) -> None:
    names = (f"{LONG}seed=1", f"{LONG}seed=2")
    client = made(tmp_path, "long", [example(n, one) for n in range(9) for one in names], "mrr")
    text = settled(client, "/runs/long")
    said = text.split('class="lede"')[1].split("Estimates</h2>")[0]
    assert LONG not in said


def test_that_people_corrected_a_judgement_is_said(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "cornwall", tmp_path / "mended")
    run = Run.open(tmp_path / "mended")
    example = run.examples(["id"])["id"][0]
    run.correct(example, "response", {"response_type": "refuse"}, author="Ann", reason="it does")
    assert "1 judgement corrected by people" in settled(client_of(tmp_path), "/runs/mended")


HOSTILE = '<script>alert(1)</script>\u202e" onclick=x'


def test_hostile_names_are_text(tmp_path: Path) -> None:
    fields = {HOSTILE: HOSTILE}
    data = [replace(example(n, one), slices=fields) for n in range(3) for one in (HOSTILE, "b")]
    ragstone.evaluate(data, metrics=["mrr"], by=[HOSTILE], out=tmp_path / "bad <name>")
    for address in ("", f"?{urlencode({'by': HOSTILE, 'system': HOSTILE})}"):
        text = settled(client_of(tmp_path), f"/runs/bad%20%3Cname%3E{address}")
        assert "<script>alert" not in text
        assert "\u202e" not in text
        assert '" onclick' not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_data_without_systems_have_a_row_a_metric(tmp_path: Path) -> None:
    rows = [{"question": f"Where {n}?", "answer": "Here.", "reference": "Here."} for n in range(4)]
    ragstone.evaluate(rows, metrics=["rouge_l", "token_f1"], out=tmp_path / "one")
    text = settled(client_of(tmp_path), "/runs/one")
    assert text.count('class="n val">1.000') == 2


def test_missing_scores_have_their_reason_and_are_no_zero(tmp_path: Path) -> None:
    client = made(tmp_path, "gone", [example(1, "a")], 'rating(criterion="faithfulness")')
    text = settled(client, "/runs/gone")
    assert "Nothing could be scored:" in text
    assert re.search(r'<span class="gone">missing</span> <span title="1: [^"]+">1: ', text)
    assert "0.000" not in text


def test_undefined_scores_have_their_reason(tmp_path: Path) -> None:
    bare = [Example("1", "q1", "a", question="Where?", answer="Here.")]
    text = settled(made(tmp_path, "bare", bare, "precision", "rouge_l"), "/runs/bare")
    assert re.search(r'<span class="undef">undefined</span> <span title="[^"]+">1: no', text)


@pytest.fixture
def unfinished(runs: Path, tmp_path: Path) -> Path:
    copytree(runs / "cornwall", tmp_path / "going")
    folder = Folder(tmp_path / "going")
    folder.write_manifest({**folder.manifest, "finished": False})
    return folder.path


def test_a_run_under_way_shows_how_far_it_is_and_no_mean(unfinished: Path) -> None:
    beat = Beat(at=datetime.now(UTC), stage="judging", examples=6, fraction=0.25, seconds=20,
                judges=["local"])  # fmt: skip
    (unfinished / RunEntry.HEARTBEAT).write_text(beat.model_dump_json())
    text = settled(client_of(unfinished.parent), "/runs/going")
    assert "This run is under way: 25 % of the data, about 60 s to go." in text
    assert "<b>6</b> answers judged" in text
    assert 'hx-trigger="every 2s"' in text
    assert "Estimates" not in text


def test_a_run_that_stopped_says_how_to_go_on(unfinished: Path) -> None:
    text = settled(client_of(unfinished.parent), "/runs/going")
    assert "Run the same evaluate command again" in text
    assert "hx-trigger" not in text


def test_what_takes_a_while_is_asked_for_again(client: TestClient) -> None:
    address = "/runs/cornwall?by=question_type"
    settled(client, address)
    again = client.get(address, headers={"hx-request": "true", "hx-target": "p#soon"}).text
    assert 'hx-trigger="load" hx-target="#main"' in again
    assert "<main" not in again


def test_a_damaged_run_says_what_is_damaged(runs: Path, tmp_path: Path) -> None:
    copytree(runs / "cornwall", tmp_path / "bad")
    (tmp_path / "bad" / "scores" / "000000.parquet").write_bytes(b"nothing")
    answer = client_of(tmp_path).get("/runs/bad")
    assert answer.status_code == 500
    assert "scores/000000.parquet" in answer.text


@pytest.mark.parametrize("name", ["nothing", "%2e%2e%2fcornwall"])
def test_a_run_that_is_not_there_is_not_found(client: TestClient, name: str) -> None:
    assert client.get(f"/runs/{name}").status_code == 404
