"""The table of examples: filters by address, in words, remembered and saved; sorting; repeats."""

import re
import shutil
from html import unescape
from pathlib import Path
from time import sleep
from urllib.parse import parse_qsl, quote

import pytest
from starlette.testclient import TestClient

import ragstone
from ragstone.data import Example, cornwall, read
from ragstone.report.worst_examples import ranked
from ragstone.web.filters import ExampleFilter, read_range
from ragstone.web.page_request import Asked
from ragstone.web.pages.examples_view import shown_metrics
from tests.web.conftest import HOST, SECRET, client_of

RUN = "/runs/cornwall"
GIVEN = list(read(cornwall()))


def rows(client: TestClient, query: str) -> list[str]:
    """The ids in the table, in order."""
    answer = client.get(f"{RUN}?{query}")
    assert answer.status_code == 200, answer.headers
    return re.findall(r'rel="open" href="/runs/cornwall/examples/([^"?]+)', answer.text)


@pytest.fixture
def mine(runs: Path, tmp_path: Path) -> TestClient:
    """A folder that a test may write to."""
    shutil.copytree(runs / "cornwall", tmp_path / "cornwall")
    return client_of(tmp_path)


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """A question answered three times by one system, and once by another."""
    folder = tmp_path_factory.mktemp("repeated")
    answers = {"a1": "Brunel.", "a2": "Brunel.", "a3": "Stephenson.", "b": "Brunel."}
    examples = [
        Example(id, "q", id[0], question="Who?", answer=answer, reference=("Brunel.",))
        for id, answer in answers.items()
    ]
    ragstone.evaluate(examples, metrics=["exact_match"], out=folder / "repeated")
    return client_of(folder)


def test_without_a_filter_all_answers_are_shown_in_the_order_of_the_data(
    client: TestClient,
) -> None:
    assert rows(client, "page=1") == [quote(one.id) for one in GIVEN]


def test_a_range_keeps_what_lies_in_it(client: TestClient, runs: Path) -> None:
    scores = ragstone.Run.open(runs / "cornwall").scores().filter(metric="faithfulness")
    low = set(scores.filter(scores["value"] <= 0.5)["example_id"])
    assert set(rows(client, "where=faithfulness:0..0.5")) == low
    assert 0 < len(low) < len(GIVEN)


def test_ranges_hold_together_and_systems_are_alternatives(client: TestClient) -> None:
    one = set(rows(client, "where=faithfulness:0..0.5"))
    other = set(rows(client, "where=answer_coverage:0..0.5"))
    assert (
        set(rows(client, "where=faithfulness:0..0.5&where=answer_coverage:0..0.5")) == one & other
    )
    local = set(rows(client, "system=local_search"))
    basic = set(rows(client, "system=basic_search"))
    assert set(rows(client, "system=local_search&system=basic_search")) == local | basic


def test_a_slice_keeps_its_value(client: TestClient) -> None:
    values = {one.facet("question_type") for one in GIVEN}
    parts = [rows(client, f"slice=question_type:{quote(str(value))}") for value in values]
    assert sorted(id for part in parts for id in part) == sorted(rows(client, "page=1"))
    assert all(parts)


def test_words_are_looked_for_in_question_and_answer(client: TestClient) -> None:
    bridge = [f"saltash-bridge-{who}_search" for who in ("local", "basic")]
    bridge.append("saltash-bridge-llm_with_context")
    assert rows(client, "q=BRIDGE") == bridge
    # The first word is in the question, the second in one answer.
    assert rows(client, "q=saltash+telford") == bridge[2:]


def test_sorting_puts_the_lowest_first_and_a_minus_the_highest(
    client: TestClient, runs: Path
) -> None:
    scores = ragstone.Run.open(runs / "cornwall").scores().filter(metric="faithfulness")
    values = dict(scores.select("example_id", "value").iter_rows())
    up = [values[id] for id in rows(client, "sort=faithfulness")]
    there = [one for one in up if one is not None]
    assert there == sorted(there)
    assert up[len(there) :] == [None] * (len(up) - len(there))
    down = [values[id] for id in rows(client, "sort=-faithfulness")]
    assert down[: len(there)] == there[::-1]


def test_an_undefined_score_is_a_dash_with_its_reason(client: TestClient) -> None:
    shown = client.get(f"{RUN}?status=undefined").text
    assert re.search(r'<span class="undef" title="[^"]+">', shown)
    assert 'class="gone"' not in shown[shown.index('id="examples"') :]


def test_the_worst_come_first(client: TestClient, runs: Path) -> None:
    worst = [one.example_id for one in ranked(ragstone.Run.open(runs / "cornwall"))[1]]
    assert rows(client, "sort=worst")[: len(worst)] == worst


def test_active_filters_are_words_that_can_be_taken_away(client: TestClient) -> None:
    shown = client.get(f"{RUN}?where=faithfulness:0..0.5&system=local_search").text
    assert "<bdi>faithfulness ≤ 0.5</bdi>" in shown
    assert 'href="/runs/cornwall?system=local_search#examples"' in shown
    assert "<bdi>system is local_search</bdi>" in shown


def test_no_match_says_the_filters_and_offers_to_drop_the_last(client: TestClient) -> None:
    shown = client.get(f"{RUN}?system=local_search&q=zzzz").text
    assert "No answer matches: system is local_search and “zzzz” in question or answer." in shown
    assert "Drop ““zzzz” in question or answer”" in shown


def test_a_filter_that_cannot_be_read_says_what_was_expected(client: TestClient) -> None:
    assert "expected METRIC:LOW..HIGH" in client.get(f"{RUN}?where=faithfulness").text
    assert "This run has no metric nonsense" in client.get(f"{RUN}?where=nonsense:0..1").text
    assert "No example of" in client.get(f"{RUN}?slice=nonsense:1").text


def test_the_fields_of_the_form_become_conditions(client: TestClient) -> None:
    answer = client.get(f"{RUN}?m=faithfulness&low=&high=0.5&add=outcome%3Dwrong&q=")
    assert answer.status_code == 303
    assert answer.headers["location"] == (
        f"{RUN}?where=faithfulness%3A..0.5&outcome=wrong#examples"
    )


OWN_PAGE = {"sec-fetch-site": "same-origin"}


def test_a_filter_comes_back_with_the_run_until_it_is_cleared(client: TestClient) -> None:
    client.headers |= OWN_PAGE
    client.get(f"{RUN}?outcome=wrong&sort=worst")
    back = client.get(RUN)
    assert (back.status_code, back.headers["location"]) == (303, f"{RUN}?outcome=wrong&sort=worst")
    assert client.get(f"{RUN}?clear=1").headers["location"] == f"{RUN}#examples"
    assert client.get(RUN).status_code == 200


def test_a_remembered_filter_is_not_sent_to_other_runs(client: TestClient) -> None:
    cookie = client.get(f"{RUN}?outcome=wrong", headers=OWN_PAGE).headers["set-cookie"]
    assert "Path=/runs/cornwall;" in cookie
    assert "HttpOnly" in cookie


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "referer": "http://testserver:9000/"},
        {"sec-fetch-site": "none"},
        {"referer": "http://evil.example/http://testserver/"},
        {"referer": f"http://{HOST}.evil.example/"},
        {"referer": "http://["},
        {},
    ],
)
def test_a_link_elsewhere_neither_sets_nor_clears_a_filter(
    client: TestClient, elsewhere: dict[str, str]
) -> None:
    own = {"referer": f"http://{HOST}{RUN}"}
    assert "set-cookie" not in client.get(f"{RUN}?outcome=wrong", headers=elsewhere).headers
    client.get(f"{RUN}?outcome=partial", headers=own)
    for path in (f"{RUN}?outcome=wrong", f"{RUN}?clear=1"):
        client.get(path, headers=elsewhere)
        assert client.get(RUN).headers["location"] == f"{RUN}?outcome=partial"


def test_a_filter_is_saved_under_a_name_and_deleted(mine: TestClient, tmp_path: Path) -> None:
    form = {"secret": SECRET, "save": "my wrongs", "query": "?outcome=wrong"}
    assert mine.post(RUN, data=form).status_code == 303
    shown = mine.get(f"{RUN}?page=1").text
    assert 'href="/runs/cornwall?outcome=wrong#examples"' in shown
    assert "my wrongs" in shown
    assert "my wrongs" in (tmp_path / "view.json").read_text()
    mine.post(RUN, data={"secret": SECRET, "delete": "my wrongs", "query": ""})
    assert "my wrongs" not in mine.get(f"{RUN}?page=1").text


def preset(page: str, name: str) -> str:
    """Where a usual filter leads."""
    (found,) = re.findall(rf'<a class="btn bare" href="([^"]+)"[^>]*>{name}</a>', page)
    return unescape(found)


def test_usual_filters_are_one_click_away(client: TestClient) -> None:
    page = client.get(f"{RUN}?by=question_type&system=basic_search&page=2").text
    here = f"{RUN}?by=question_type"
    assert preset(page, "failed") == f"{here}&stage=bad#examples"
    assert preset(page, "missing") == f"{here}&status=missing#examples"
    assert preset(page, "judge ≠ person") == f"{here}&labels=differ#examples"
    assert preset(page, "worst") == f"{here}&sort=worst#examples"
    assert ">changed</a>" not in page, "there is nothing to compare with"
    assert 'aria-current="true">worst</a>' in client.get(f"{RUN}?sort=worst").text


def test_another_run_that_is_pinned_makes_changed_a_usual_filter(
    mine: TestClient, tmp_path: Path
) -> None:
    shutil.copytree(tmp_path / "cornwall", tmp_path / "before")
    mine.post("/", data={"secret": SECRET, "pin": "before"})
    page = mine.get(f"{RUN}?page=1").text
    assert preset(page, "changed") == f"{RUN}?changed=faithfulness#examples"
    mine.post("/", data={"secret": SECRET, "pin": "cornwall"})
    assert ">changed</a>" not in mine.get(f"{RUN}?page=1").text
    assert "No other run is pinned" in mine.get(f"{RUN}?changed=faithfulness").text


def test_a_page_has_fifty_rows_and_one_that_is_not_there_is_the_nearest(tmp_path: Path) -> None:
    examples = [
        Example(f"e{at:02}", f"q{at}", "a", question="?", answer="Yes.", reference=("Yes.",))
        for at in range(51)
    ]
    ragstone.evaluate(examples, metrics=["exact_match"], out=tmp_path / "run")
    client = client_of(tmp_path)

    def shown(page: str) -> list[str]:
        text = client.get(f"/runs/run?page={page}").text
        return re.findall(r'rel="open" href="/runs/run/examples/([^"?]+)', text)

    assert shown("1") == [f"e{at:02}" for at in range(50)]
    assert shown("2") == shown("99") == ["e50"]
    assert shown("0") == shown("-1") == shown("x") == shown("1")


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("", "faithfulness answer_coverage mrr"),
        ("metric=ndcg&sort=-precision", "ndcg precision faithfulness"),
        ("where=ndcg:0..1&sort=precision&metric=nonsense", "precision ndcg faithfulness"),
        ("where=a:..&where=b:..&where=c:..&where=d:..", "a b c d"),
        ("where=a:..&where=b:..&where=c:..&where=d:..&where=e:..&where=f:..&where=g:..",
         "a b c d e f"),
    ],
)  # fmt: skip
def test_columns_are_those_that_are_asked_for_sorted_and_filtered_by(
    query: str, columns: str
) -> None:
    metrics = ["ndcg", "answer_outcome", "precision", "mrr", "answer_coverage", "faithfulness"]
    asked = Asked("/", query=parse_qsl(query))
    assert (
        shown_metrics([*metrics, *"abcdefg"], asked, ExampleFilter.read(query)) == columns.split()
    )


def test_changed_is_against_the_pinned_run(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "cornwall", tmp_path / "cornwall")
    shutil.copytree(runs / "cornwall", tmp_path / "before")
    client = client_of(tmp_path)
    assert "No other run is pinned" in client.get(f"{RUN}?changed=faithfulness").text
    client.post("/", data={"secret": SECRET, "pin": "before/basic_search"})
    assert rows(client, "changed=faithfulness&system=basic_search") == []
    assert rows(client, "changed=faithfulness&system=local_search") != []


def test_repeats_of_a_question_are_one_row_with_spread_and_flip_rate(repeated: TestClient) -> None:
    shown = repeated.get("/runs/repeated?page=1").text
    assert shown.count('rel="open"') == 2
    assert "3 answers" in shown
    assert "0.67" in shown
    assert "0.00 – 1.00" in shown
    some = repeated.get("/runs/repeated?where=exact_match:1..1&page=1").text
    assert "2 of 3 answers" in some
    wrong = repeated.get("/runs/repeated?where=exact_match:0..0&page=1").text
    assert "1 of 3 answers" in wrong


def test_next_and_previous_walk_the_filter(client: TestClient) -> None:
    found = rows(client, "where=faithfulness:0..0.5&sort=faithfulness")
    within = quote("where=faithfulness:0..0.5&sort=faithfulness", safe="")
    shown = client.get(f"{RUN}/examples/{found[1]}?within={within}").text
    assert f"2 of {len(found)} with <b>faithfulness ≤ 0.5</b>" in shown
    before, after = (re.search(rf'rel="{way}" href="([^"]+)"', shown) for way in ("prev", "next"))
    assert before is not None
    assert f"/examples/{found[0]}?within=" in before[1]
    assert after is not None
    assert f"/examples/{found[2]}?within=" in after[1]
    assert client.get(after[1].replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("faithfulness:0..0.5", ("faithfulness", 0, 0.5)),
        ("faithfulness:..1", ("faithfulness", None, 1)),
        ('rating(criterion="a:b"):.2...5', ('rating(criterion="a:b")', 0.2, 0.5)),
    ],
)
def test_a_range_is_a_metric_and_two_ends(
    text: str, found: tuple[str, float | None, float | None]
) -> None:
    assert read_range(text) == found


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("where=mrr:0..0.5", "mrr ≤ 0.5"),
        ("where=mrr:0.2..0.5", "0.2 ≤ mrr ≤ 0.5"),
        ("where=mrr:0.5..", "mrr ≥ 0.5"),
        ("where=mrr:0..0", "mrr = 0"),
        ("status=missing", "a score is missing"),
        ("status=mrr:undefined", "mrr is undefined"),
        ("stage=bad", "the answer looks bad"),
        ("slice=topic:sea", "topic is sea"),
        ("labels=differ", "a person says otherwise than the judge"),
    ],
)
def test_a_condition_is_told_in_words(query: str, words: str) -> None:
    assert ExampleFilter.read(query).words == words


def test_a_write_needs_the_secret(mine: TestClient) -> None:
    assert mine.post(RUN, data={"save": "x"}, headers={"host": HOST}).status_code == 403


def test_while_the_rows_are_made_the_page_says_so_and_asks_again(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragstone.web.pages.examples_view.PATIENCE", -1)
    monkeypatch.setattr("ragstone.web.example_rows.ExampleRows.prepare", lambda _: sleep(1))
    text = client_of(runs).get("/runs/cornwall").text
    assert "Made ready" in text
    assert 'hx-trigger="load delay:500ms"' in text
    assert "faithfulness" in text, "the estimates are there"
