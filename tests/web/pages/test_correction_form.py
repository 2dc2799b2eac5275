"""Correcting a judge on the page of an example: by form, with undo, and two people at once."""

import re
import shutil
from html import unescape
from pathlib import Path
from time import sleep
from urllib.parse import parse_qs, urlencode

import polars as pl
import pytest
from starlette.testclient import TestClient

import ragstone
from ragstone.web.pages.example_view import prepare_table
from ragstone.web.parts.judgement_view import read_button
from tests.web.conftest import SECRET, client_of

EXAMPLE = "lands-end-local_search"
PATH = f"/runs/cornwall/examples/{EXAMPLE}"


@pytest.fixture
def folder(runs: Path, tmp_path: Path) -> Path:
    """A run that a test may correct."""
    shutil.copytree(runs / "cornwall", tmp_path / "cornwall")
    return tmp_path


@pytest.fixture
def mine(folder: Path) -> TestClient:
    return client_of(folder)


def button(page: str, about: str, say: str) -> str:
    """What the button sends that says this of a judgement."""
    values = [unescape(one) for one in re.findall(r'name="say" value="([^"]+)"', page)]
    (found,) = {
        one for one in values if parse_qs(one)["about"] == [about] and parse_qs(one)["say"] == [say]
    }
    return found


def press(client: TestClient, about: str, say: str, author: str = "Ann", **more: str) -> None:
    part = urlencode({"part": "over", "about": about})
    page = client.get(f"{PATH}?{part}").text
    form = {"secret": SECRET, "author": author, "say": button(page, about, say), **more}
    answer = client.post(PATH, data=form)
    assert answer.status_code == 303, answer.text


def score(folder: Path, metric: str) -> float:
    scores = ragstone.Run.open(folder / "cornwall").scores([metric])
    return float(scores.filter(example_id=EXAMPLE, metric=metric)["value"][0])


def test_a_verdict_is_corrected_and_the_score_follows(folder: Path, mine: TestClient) -> None:
    before = score(folder, "faithfulness")
    press(mine, "support/claim#1", "verdict=contradicted", **{"why support/claim#1": "It is not."})
    page = mine.get(PATH).text
    assert score(folder, "faithfulness") < before
    assert re.search(r'title="It is not\.; [^"]+">you</span>, judge: <s>supported</s>', page)
    assert '<span class="cl contradicted" data-k="1">' in page
    assert f"<s>{before:.3f}</s>" in page
    assert "last by Ann, " in page


def test_an_undo_brings_the_judge_back(folder: Path, mine: TestClient) -> None:
    before = score(folder, "faithfulness")
    press(mine, "support/claim#1", "verdict=absent")
    press(mine, "support/claim#1", "undo")
    assert score(folder, "faithfulness") == before
    assert "judge: <s>" not in mine.get(PATH).text


def test_a_claim_is_dropped_and_comes_back(folder: Path, mine: TestClient) -> None:
    claims = ragstone.Run.open(folder / "cornwall").judgements("claims")
    (text, *_) = claims.filter(example_id=EXAMPLE)["text"]
    press(mine, "claims#1", "dropped=true", **{"why claims#1": "It is none."})
    page = mine.get(PATH).text
    assert 'id="claim-1"' not in page
    assert "dropped by you" in page
    press(mine, "claims#1", "undo")
    assert text[-30:] in mine.get(PATH).text
    assert 'id="claim-1"' in mine.get(PATH).text


def test_a_claim_is_reworded_and_judged_at_once(mine: TestClient) -> None:
    words = "Lizard Point is the southernmost point of the mainland of Great Britain."
    press(mine, "claims#1", "reword", **{"text claims#1": words})
    page = mine.get(PATH).text
    row = page[page.index('id="claim-1"') :]
    assert words in row
    assert "supported" in row[: row.index("</tr>")]


def test_a_grade_of_a_context_can_be_corrected(folder: Path, mine: TestClient) -> None:
    press(mine, "relevance#1", "grade=2")
    now = ragstone.Run.open(folder / "cornwall").judgements("relevance")
    assert now.filter(example_id=EXAMPLE, rank=1)["grade"][0] == 2


def test_who_is_later_is_told_who_said_what_and_nothing_is_saved(
    folder: Path, mine: TestClient
) -> None:
    page = mine.get(PATH).text
    late = button(page, "support/claim#1", "verdict=absent")
    press(mine, "support/claim#1", "verdict=contradicted", author="Ann")
    answer = mine.post(PATH, data={"secret": SECRET, "author": "Bob", "say": late})
    assert answer.status_code == 409
    assert "Not saved: Ann said “contradicted” of support/claim#1 on" in answer.text
    assert 'id="example"' in answer.text
    said = ragstone.Run.open(folder / "cornwall").corrections()
    assert [one.author for one in said] == ["Ann"]


def test_a_write_about_another_version_is_refused(mine: TestClient) -> None:
    first = mine.get(PATH)
    press(mine, "support/claim#1", "verdict=contradicted")
    say = button(mine.get(PATH).text, "support/claim#1", "verdict=absent")
    form = {"secret": SECRET, "author": "Bob", "say": say}
    answer = mine.post(PATH, data=form, headers={"if-match": first.headers["etag"]})
    assert answer.status_code == 412
    assert "Somebody corrected this example after you opened it" in answer.text
    now = {"if-match": mine.get(PATH).headers["etag"]}
    assert mine.post(PATH, data=form, headers=now).status_code == 303


def test_the_author_is_remembered(mine: TestClient) -> None:
    press(mine, "support/claim#1", "verdict=contradicted", author="Ann Łuck")
    assert 'name="author" value="Ann Łuck"' in mine.get(PATH).text


def test_the_page_says_how_many_answers_share_a_judgement(mine: TestClient) -> None:
    sheet = mine.get(f"{PATH}?part=over&about=statements%231", headers={"hx-target": "a"}).text
    assert "2 other answers share this judgement and change with it." in sheet


def test_a_correction_is_among_those_where_a_person_says_otherwise(
    mine: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.web.pages.example_view.prepare_table", prepare_table)
    table = {"hx-target": "examples"}

    def differing() -> str:
        # A page that waits for rows or labels asks again by itself.
        while "load delay:" in (
            text := mine.get("/runs/cornwall?labels=differ", headers=table).text
        ):
            sleep(0.05)
        return text

    assert EXAMPLE not in differing()
    press(mine, "support/claim#1", "verdict=contradicted")
    assert f"{EXAMPLE}?within=labels" in differing()
    press(mine, "support/claim#1", "undo")
    assert EXAMPLE not in differing()


def test_what_cannot_be_said_is_refused_in_words(mine: TestClient) -> None:
    page = mine.get(PATH).text
    say = button(page, "support/claim#1", "verdict=absent").replace("absent", "nonsense")
    answer = mine.post(PATH, data={"secret": SECRET, "author": "Ann", "say": say})
    assert answer.status_code == 400
    assert "expected one of supported, contradicted, absent" in answer.text
    assert mine.post(PATH, data={"secret": SECRET, "author": "Ann"}).status_code == 400


def test_a_correction_needs_the_secret_of_the_page(folder: Path, mine: TestClient) -> None:
    say = button(mine.get(PATH).text, "support/claim#1", "verdict=absent")
    assert mine.post(PATH, data={"author": "Ann", "say": say}).status_code == 403
    assert ragstone.Run.open(folder / "cornwall").corrections() == ()


def test_a_button_names_the_judgement_and_what_is_said_of_it() -> None:
    pressed = read_button("seen=ab12&about=rating#clear %26 short&say=score=3")
    assert pressed == ("ab12", "rating", "clear & short", "score=3")
    assert read_button("seen=&about=response&say=undo") == (None, "response", None, "undo")


NEEDING_EVIDENCE = ("context_utilization", "citation_precision", "citation_recall")


def test_a_claim_called_supported_is_asked_on_which_contexts_it_rests(
    folder: Path, mine: TestClient
) -> None:
    def missing() -> set[str]:
        scores = ragstone.Run.open(folder / "cornwall").scores()
        return set(scores.filter(example_id=EXAMPLE, status="missing")["metric"])

    def evidence() -> list[str] | None:
        rows = ragstone.Run.open(folder / "cornwall").judgements("support")
        row = rows.filter(pl.col("origin").cast(pl.String) == "claim", example_id=EXAMPLE, index=0)
        named: list[str] | None = row["evidence"].to_list()[0]
        return named

    def chosen(digit: int) -> str:
        """What the button of this digit sends, in the sheet that is open."""
        page = mine.get(PATH, params={"about": "support/claim#1"}).text
        assert "Which contexts support it?" in page
        (say,) = re.findall(
            rf'value="([^"]+)" class="btn v" aria-label="[^"]+" data-choice="{digit}"', page
        )
        return unescape(say)

    def choose(digit: int) -> None:
        answer = mine.post(PATH, data={"secret": SECRET, "author": "Ann", "say": chosen(digit)},
                           follow_redirects=False)  # fmt: skip
        assert answer.status_code == 303
        assert "about=support" in answer.headers["location"]

    press(mine, "support/claim#1", "verdict=absent")
    assert not missing()
    assert "Which contexts" not in mine.get(PATH, params={"about": "support/claim#1"}).text
    press(mine, "support/claim#1", "verdict=supported")
    assert evidence() is None
    assert missing() <= set(NEEDING_EVIDENCE)
    choose(2)
    assert len(evidence() or ()) == 1
    assert not missing()
    choose(1)
    assert len(evidence() or ()) == 2
    choose(0)
    assert evidence() == []
    assert not missing()
