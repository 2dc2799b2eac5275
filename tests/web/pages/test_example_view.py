"""The page of an example: what is marked, what can be reached, and that no example is too large."""

import re
from pathlib import Path
from time import process_time
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

import ragstone
from ragstone.data import Context, Example, Turn
from ragstone.web.page_request import run_path
from ragstone.web.pages.example_view import _facets, example_copies
from ragstone.web.parts.highlight import (
    Span,
    answer_pieces,
    context_pieces,
    marked,
    quoted,
    together,
)
from ragstone.web.runs_folder import RunsFolder
from tests.web.conftest import client_of

LONG = 1_000_000
HOSTILE = '<script>alert("x")</script><img src=x onerror=y> & \u202e\x1b[31m '


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """Examples with long and hostile texts, and ids that are no plain words."""
    long = (HOSTILE * LONG)[:LONG]
    examples = [
        Example(
            "a/b<::>1",
            "q1",
            f"system {HOSTILE}",
            question=long,
            answer=long,
            reference=(long, '"' * LONG),
            history=tuple(Turn("user", long[:50_000]) for _ in range(3)),
            contexts=tuple(Context(f"c{rank}", long, rank, 0.5) for rank in range(1, 11)),
            slices={HOSTILE: HOSTILE},
            labels={f"{HOSTILE}{at}": '"' * 1000 for at in range(300)},
        ),
        Example("plain", "q1", "b", question="Who?", answer="Jack.", reference=("Jack.",)),
        Example(
            "many",
            "q3",
            "b",
            question="Who?",
            answer="Jack.",
            contexts=tuple(Context(f"c{rank}", long[:20_000], rank) for rank in range(1, 151)),
        ),
        Example(
            "labelled",
            "q4",
            "b",
            question="Who?",
            answer="Jack.",
            labels={"faithfulness": {"ann": 2, "ben": 0.25}, "fluency": "high"},
        ),
        Example("silent", "q2", "b", question=None, answer=None, contexts=()),
        Example("two\nlines", "q4", "b", question="Who?", answer="Jack."),
    ]
    folder = tmp_path_factory.mktemp("odd")
    ragstone.evaluate(examples, metrics=["exact_match"], out=folder / "odd")
    return client_of(folder)


def page(client: TestClient, run: str, example: str, query: str = "") -> str:
    answer = client.get(run_path(run, "examples", example) + query)
    assert answer.status_code == 200, answer.text
    return answer.text


def text_of(markup: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", markup))


def test_the_answer_has_its_claims_marked_in_place(client: TestClient) -> None:
    shown = page(client, "cornwall", "lizard-point-local_search")
    assert re.search(r'<span class="cl supported" data-k="1">', shown)


def test_an_unknown_example_is_not_found(client: TestClient) -> None:
    assert client.get("/runs/cornwall/examples/nobody").status_code == 404
    assert client.get("/runs/nothing/examples/c1").status_code == 404


def test_an_id_may_hold_slashes_and_angles(odd: TestClient) -> None:
    assert "a/b&lt;::&gt;1" in page(odd, "odd", "a/b<::>1")


def test_an_id_may_hold_a_line_break(odd: TestClient) -> None:
    assert "Jack." in page(odd, "odd", "two\nlines")


def test_no_example_makes_a_large_page_and_none_is_slow(odd: TestClient) -> None:
    page(odd, "odd", "plain")
    start = process_time()
    answer = page(odd, "odd", "a/b<::>1")
    assert process_time() - start < 2  # .3 s on an idle machine
    assert len(answer.encode()) <= 200_000


def test_hostile_text_is_inert(odd: TestClient) -> None:
    shown = page(odd, "odd", "a/b<::>1") + page(odd, "odd", "a/b<::>1", "?part=ctx-2&from=9000")
    assert "<script>alert" not in shown
    assert "<img" not in shown
    assert "\u202e" not in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("part", ["answer", "question", "ctx-3", "reference-2"])
def test_the_rest_of_a_long_text_is_one_link_away(odd: TestClient, part: str) -> None:
    path = run_path("odd", "examples", "a/b<::>1")
    whole = page(odd, "odd", "a/b<::>1")
    links = re.findall(rf'hx-get="([^"]*\?part={part}&amp;from=\d+[^"]*)"', whole)
    assert links
    assert links[0].startswith(path)
    piece = odd.get(links[0].replace("&amp;", "&"), headers={"hx-target": f"a#more-{part}"}).text
    assert "<html" not in piece
    assert len(piece.encode()) < 80_000
    assert f"?part={part}" in piece
    alone = odd.get(links[0].replace("&amp;", "&")).text
    assert "<html" in alone
    assert len(alone.encode()) < 260_000


def test_the_pieces_of_a_text_leave_nothing_out() -> None:
    text = "".join(f"word{at} " for at in range(10_000))
    read, at = "", 0
    while at < len(text):
        (piece,) = answer_pieces(text, (), at, 30_000)
        read += piece.text.unescape()
        at = piece.start
    assert read.split() == text.split()


def test_an_answer_that_is_none_is_said_to_be_none(odd: TestClient) -> None:
    shown = page(odd, "odd", "silent")
    assert "this system does not answer" in shown
    assert "none retrieved" in shown


def test_other_answers_to_the_question_stand_beside_it(odd: TestClient) -> None:
    shown = page(odd, "odd", "plain")
    assert run_path("odd", "examples", "a/b<::>1") in shown


def test_labels_of_several_people_are_written_as_words(odd: TestClient) -> None:
    shown = text_of(page(odd, "odd", "labelled"))
    assert "ann: 2, ben: 0.250" in shown
    assert "fluencyhigh" in shown


def test_what_models_were_asked_is_loaded_on_demand(client: TestClient) -> None:
    assert "No model was asked" not in page(client, "cornwall", "lizard-point-local_search")
    assert "No model was asked" in page(
        client, "cornwall", "lizard-point-local_search", "?part=calls"
    )


def test_an_example_with_many_contexts_shows_as_many_as_fit(odd: TestClient) -> None:
    whole = page(odd, "odd", "many")
    assert len(whole.encode()) <= 200_000
    shown = re.findall(r'<article class="ctx" id="ctx-(\d+)"', whole)
    assert shown[0] == "1"
    link = re.search(r'href="([^"]+)#contexts">from context (\d+) of 150<', whole)
    assert link is not None
    assert int(link[2]) == int(shown[-1]) + 1
    rest = odd.get(link[1].replace("&amp;", "&")).text
    assert f'<article class="ctx" id="ctx-{link[2]}"' in rest


def test_the_claim_of_the_address_has_the_focus(client: TestClient) -> None:
    shown = page(client, "cornwall", "lands-end-local_search", "?claim=3")
    assert re.findall(r'id="claim-(\d+)" autofocus', shown) == ["3"]


def test_of_overlapping_claims_the_worst_verdict_is_shown() -> None:
    spans = [Span(0, 10, "1", "supported"), Span(5, 15, "2", "contradicted")]
    assert marked("0123456789abcdefgh", spans, 0, 18, "cl") == (
        '<span class="cl supported" data-k="1">01234</span>'
        '<span class="cl contradicted" data-k="1 2">56789</span><sup class="k">1</sup>'
        '<span class="cl contradicted" data-k="2">abcde</span><sup class="k">2</sup>fgh'
    )


def test_numbers_in_a_row_are_written_together() -> None:
    assert together(["4", "5", "6"]) == "4–6"
    assert together(["4", "6"]) == "4,6"


def test_a_quote_is_found_where_its_white_space_or_case_differs() -> None:
    text = "Built by  Isambard\nBrunel in 1859. It still stands."
    assert [text[a:b] for a, b in quoted("by isambard brunel … stands", text)] == [
        "by  Isambard\nBrunel",
        "stands",
    ]
    assert quoted("never said", text) == []


def test_sentences_that_nothing_marks_are_folded() -> None:
    text = "First one here. Second one here. Third one here. Fourth has it. Fifth one here."
    at = text.index("Fourth")
    (piece,) = context_pieces(text, [Span(at, at + 14, "1", "supported")], {4}, most_bytes=9_999)
    assert "<summary>⋯ 2 sentences</summary>" in piece.text
    assert '<span class="quote supported" data-k="1">Fourth has it</span>' not in piece.text
    assert 'data-k="1">Fourth has it.</span><sup class="k">1</sup>' in piece.text
    assert '<span class="rel-s"> Fifth one here.</span>' in piece.text
    assert text_of(piece.text).replace("⋯ 2 sentences", "").replace(".1", ".") == text


def test_a_quote_far_behind_what_is_shown_is_shown_between_what_is_left_out() -> None:
    text = "word " * 100_000
    text = text[:300_000] + "The bridge fell." + text[300_000:]
    spans = [Span(300_000, 300_016, "1", "contradicted")]
    first, second = context_pieces(text, spans, (), most_bytes=30_000)
    assert (first.start < 10_001, first.end) == (True, 300_000)
    assert "The bridge fell." in second.text
    assert (second.start, second.end) == (300_016, len(text))


def test_the_address_of_an_example_is_percent_encoded() -> None:
    assert run_path("a b", "examples", "x/y") == f"/runs/a%20b/examples/{quote('x/y', safe='')}"


def test_other_data_of_an_example_is_written_as_people_write_it() -> None:
    example = Example("a", "a", "shop", answer="Here.", meta={"latency": 1.3999998569488525})
    assert _facets(example) == [("latency", "1.4 s")]


def test_of_many_answers_to_a_question_the_first_others_are_shown(tmp_path: Path) -> None:
    rows = [
        {"id": f"r{number}", "question": "How long?", "answer": f"{number} m.", "reference": "9 m."}
        for number in range(15)
    ]
    ragstone.evaluate(rows, metrics="token_f1", judge="rules", out=tmp_path / "run")
    shown = {
        request.names["id"]: [answer["answer"] for answer in page.shows["systems"]]
        for request, page in example_copies(RunsFolder(tmp_path), "run", ["r0", "r14"])
    }
    assert shown == {
        "r0": [f"{number} m." for number in range(1, 13)],
        "r14": [f"{number} m." for number in range(12)],
    }


def test_the_criteria_of_an_example_stand_with_their_verdicts(tmp_path: Path) -> None:
    criteria = ("Mentions the deadline", f"Names nobody {HOSTILE}", "Is short")
    labels = {"criteria": [{"met": 1}, {"met": 0}, {"met": None}]}
    example = Example(
        "1", "q", "a", question="When?", answer="31 July.", criteria=criteria, labels=labels
    )
    bare = Example("2", "q2", "a", question="Who?", answer="Harvey.")
    ragstone.evaluate([example, bare], metrics="criteria", judge="human", out=tmp_path / "run")
    client = client_of(tmp_path)
    page = client.get(run_path("run", "examples", "1")).text
    section = page.partition('<section id="criteria">')[2].partition("</section>")[0]
    rows = re.findall(r'id="criterion-(\d)".*?aria-label="([a-z ]+): correct (\S+)"', section, re.S)
    assert rows == [
        ("1", "met", "criteria#1"), ("2", "not met", "criteria#2"),
        ("3", "not judged", "criteria#3"),
    ]  # fmt: skip
    assert "1 met, 1 not met" in section
    assert "<script>" not in section
    assert "reword" not in section
    assert 'id="criteria"' not in client.get(run_path("run", "examples", "2")).text
