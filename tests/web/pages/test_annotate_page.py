"""A person labels the items of their queue on a page that works as a plain form, too."""

import json
import re
from collections.abc import Mapping
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import FILE, open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.web.conftest import HOST, SECRET

YES_NO = ("yes", "no")
CONTRADICTED, UNSUPPORTED = "contradicted_claim_present", "unsupported_claim_present"
GROUNDING = (
    AskedLabel(CONTRADICTED, "answer", YES_NO, {"yes": "some claim is contradicted"}),
    AskedLabel(UNSUPPORTED, "answer", YES_NO),
)
ANSWER = ("answer", "")
FULL = {f"say.0.{CONTRADICTED}": "no", f"say.0.{UNSUPPORTED}": "yes"}


def item(number: int) -> QueueItem:
    return QueueItem(
        number,
        f"secret-id-{number}",
        {
            "question": f"Question {number}?",
            "answer": f"Answer {number}.",
            "contexts": [
                {"name": "1", "text": "The pier is 90 m long."},
                {"name": "2", "text": "G."},
            ],
        },
        (ItemPart("answer"),),
    )


class Queued:
    """A queue, the app over it, and its people."""

    def __init__(
        self,
        folder: Path,
        asked: tuple[AskedLabel, ...] = GROUNDING,
        items: list[QueueItem] | None = None,
        wanted: int = 1,
        **form: Any,
    ) -> None:
        self.place = RunsFolder(folder)
        given = items if items is not None else [item(n) for n in (1, 2, 3)]
        self.queue = Queue.make(
            self.place.labels(),
            QueueForm("pier", asked, **form),
            ((one, float(one.item), wanted) for one in given),
        )
        self.app = make_app(self.place, Access(frozenset({HOST}), "", SECRET))

    def client(self, name: str = "Ann") -> TestClient:
        client = TestClient(self.app, follow_redirects=False)
        assert client.get(f"/a/{self.queue.invite(name)}").status_code == 303
        return client

    def said(self) -> dict[tuple[str, int], ItemAnswers]:
        return {(one.person, one.item): one.answers for one in self.queue.said()}


def send(client: TestClient, path: str, fields: Mapping[str, str], *, part: str = "") -> Any:
    return client.post(
        path, data={"secret": SECRET, **fields}, headers={"hx-target": part} if part else {}
    )


def field(html: str, name: str) -> str:
    """The value of a hidden field."""
    found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)">', html)
    assert found
    return unescape(found[1])


def questions(html: str) -> list[str]:
    return re.findall(r'data-text="question"[^>]*>([^<]*)', html)


@pytest.fixture
def pier(tmp_path: Path) -> Queued:
    return Queued(tmp_path)


def test_a_person_sees_the_item_that_is_theirs_and_holds_it(pier: Queued) -> None:
    client = pier.client()
    for _ in range(2):
        answer = client.get("/annotate/pier")
        assert answer.status_code == 200
        assert questions(answer.text) == ["Question 1?"]
    assert "<b>0</b> of 3" in answer.text
    assert "Ann" in answer.text
    assert questions(pier.client("Ben").get("/annotate/pier").text) == ["Question 2?"]


def test_a_plain_form_saves_and_leads_to_the_next_item(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    answer = send(client, "/annotate/pier/1", {**FULL, "action": "save", "note": " hm "})
    assert (answer.status_code, answer.headers["location"]) == (303, "/annotate/pier")
    assert pier.said() == {
        ("Ann", 1): ItemAnswers({ANSWER: {CONTRADICTED: "no", UNSUPPORTED: "yes"}}, "hm")
    }
    page = client.get("/annotate/pier").text
    assert questions(page) == ["Question 2?"]
    assert "<b>1</b> of 3" in page


def test_an_item_is_saved_by_its_number_in_the_form_and_the_first_may_be_0(tmp_path: Path) -> None:
    queued = Queued(tmp_path, items=[item(0), item(1)])
    client = queued.client()
    client.get("/annotate/pier")
    assert send(client, "/annotate/pier/0", {**FULL, "action": "save"}).status_code == 303
    client.get("/annotate/pier")
    answer = send(client, "/annotate/pier", {**FULL, "action": "save", "item": "1"})
    assert answer.status_code == 303
    assert list(queued.said()) == [("Ann", 0), ("Ann", 1)]
    assert send(client, "/annotate/pier", {**FULL, "action": "save"}).status_code == 404


def test_a_browser_that_replaces_the_item_gets_the_next_one_alone(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    answer = send(client, "/annotate/pier/1", {**FULL, "action": "save"}, part="item")
    assert answer.status_code == 200
    assert answer.text.lstrip().startswith('<div id="item"')
    assert "<html" not in answer.text
    assert questions(answer.text) == ["Question 2?"]
    assert 'data-saved="1"' in answer.text


def test_a_save_that_is_sent_twice_counts_once(pier: Queued) -> None:
    client = pier.client()
    page = client.get("/annotate/pier").text
    fields = {**FULL, "action": "save", "once": "a word", "seen": field(page, "seen")}
    for _ in range(2):
        answer = send(client, "/annotate/pier/1", fields, part="item")
        assert answer.status_code == 200
        assert questions(answer.text) == ["Question 2?"]
    with pier.place.labels().transaction() as run:
        assert run("SELECT count(*) FROM said") == [(1,)]


def test_what_breaks_a_hard_rule_is_not_saved_and_the_page_says_how_to_mend_it(
    pier: Queued,
) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    wrong = {f"say.0.{CONTRADICTED}": "yes", f"say.0.{UNSUPPORTED}": "no", "note": "mine"}
    for part in ("", "item"):
        answer = send(client, "/annotate/pier/1", {**wrong, "action": "save"}, part=part)
        assert answer.status_code == 422
        assert (
            "A contradicted claim is also unsupported: set “Unsupported claim present” to yes, or "
            "“Contradicted claim present” to no." in answer.text
        )
        assert answer.text.count(" checked") == 2, "what was said is still there"
        assert "mine</textarea>" in answer.text
    assert pier.said() == {}


def test_what_lacks_is_said_and_what_is_no_choice_is_refused(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    answer = send(client, "/annotate/pier/1", {"action": "save", f"say.0.{CONTRADICTED}": "maybe"})
    assert answer.status_code == 422
    assert "Contradicted claim present: say one of: yes, no" in answer.text
    assert "Unsupported claim present: nothing is said yet" in answer.text


CONTEXTS = tuple(
    AskedLabel(label, "context", YES_NO)
    for label in ("topically_relevant", "evidence_sufficient", "misleading")
)
TWO = QueueItem(
    1,
    "e",
    {"question": "How long?"},
    (ItemPart("context", "1", "It is 90 m long."), ItemPart("context", "2", "Gulls.")),
)


def test_a_soft_rule_is_asked_about_once_and_can_be_kept(tmp_path: Path) -> None:
    queued = Queued(tmp_path, CONTEXTS, [TWO])
    client = queued.client()
    client.get("/annotate/pier")
    labels = [one.label for one in CONTEXTS]
    fields = {f"say.{at}.{label}": "yes" for at in (0, 1) for label in labels} | {"action": "save"}
    answer = send(client, "/annotate/pier/1", fields)
    assert answer.status_code == 422
    assert "Context 2: A context that holds the evidence is seldom misleading, too" in answer.text
    assert "Save all the same" in answer.text
    again = send(client, "/annotate/pier/1", {**fields, "keep": field(answer.text, "keep")})
    assert again.status_code == 303
    assert queued.said()["Ann", 1].labels["context", "2"]["misleading"] == "yes"
    wrong = {**fields, "say.0.topically_relevant": "no", "keep": "1"}
    assert send(client, "/annotate/pier/1", wrong).status_code == 422, "a hard rule is never kept"


def test_an_item_is_skipped_and_comes_back(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    assert send(client, "/annotate/pier/1", {"action": "skip"}).status_code == 303
    assert questions(client.get("/annotate/pier").text) == ["Question 2?"]
    send(client, "/annotate/pier/2", {**FULL, "action": "save"})
    send(client, "/annotate/pier/3", {**FULL, "action": "save"})
    assert questions(client.get("/annotate/pier").text) == ["Question 1?"]


def test_the_last_item_is_taken_back_with_what_was_said(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    send(client, "/annotate/pier/1", {**FULL, "action": "save", "note": "first"})
    answer = send(client, "/annotate/pier/2", {"action": "undo"}, part="item")
    assert questions(answer.text) == ["Question 1?"]
    assert re.search(rf'name="say.0.{UNSUPPORTED}" value="yes" checked', answer.text)
    assert "first</textarea>" in answer.text
    assert pier.said() == {}
    assert questions(client.get("/annotate/pier").text) == ["Question 1?"], "after a reload, too"
    fields = {**FULL, "action": "save", "seen": field(answer.text, "seen")}
    assert send(client, "/annotate/pier/1", fields).status_code == 303
    assert list(pier.said()) == [("Ann", 1)]


def test_undo_without_anything_said_says_so(pier: Queued) -> None:
    answer = send(pier.client(), "/annotate/pier", {"action": "undo"})
    assert answer.status_code == 200
    assert "There is nothing to take back." in answer.text


def test_an_item_is_discarded_with_a_reason_and_not_without(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    answer = send(client, "/annotate/pier/1", {"action": "discard", "why": "other", **FULL})
    assert answer.status_code == 422
    assert "Say why nothing can be said of it." in answer.text
    fields = {"action": "discard", "why": "other", "own_why": "in Welsh", "note": "n", **FULL}
    assert send(client, "/annotate/pier/1", fields).status_code == 303
    send(client, "/annotate/pier/2", {"action": "discard", "why": "The question makes no sense"})
    assert pier.said() == {
        ("Ann", 1): ItemAnswers(note="n", discarded="in Welsh"),
        ("Ann", 2): ItemAnswers(discarded="The question makes no sense"),
    }
    assert "You discarded this item: in Welsh." in client.get("/annotate/pier/1").text


def test_who_saved_an_item_goes_back_to_it_and_changes_it(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    send(client, "/annotate/pier/1", {**FULL, "action": "save"})
    listed = client.get("/annotate/pier", headers={"hx-target": "items"}).text
    assert 'href="/annotate/pier/1"' in listed
    assert "Question 1?" in listed
    assert "saved" in listed
    assert "<html" not in listed
    assert "Question 1?" in client.get("/annotate/pier?items=1").text
    page = client.get("/annotate/pier/1").text
    fields = {**FULL, f"say.0.{UNSUPPORTED}": "no", "action": "save", "seen": field(page, "seen")}
    assert send(client, "/annotate/pier/1", fields).status_code == 303
    assert pier.said()["Ann", 1].labels[ANSWER][UNSUPPORTED] == "no"


def test_an_item_of_others_is_not_there(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    assert client.get("/annotate/pier/2").status_code == 404
    assert client.get("/annotate/pier/99").status_code == 404
    for number in (2, 99, 10**30):
        answer = send(client, f"/annotate/pier/{number}", {**FULL, "action": "save"})
        assert answer.status_code == 404
        assert "Question" not in answer.text
    assert pier.said() == {}


def test_what_another_window_saved_meanwhile_is_not_lost_unseen(pier: Queued) -> None:
    client = pier.client()
    seen = {"seen": field(client.get("/annotate/pier").text, "seen")}
    send(client, "/annotate/pier/1", {**FULL, **seen, "action": "save", "once": "1"})
    other = {**FULL, f"say.0.{UNSUPPORTED}": "no", "action": "save", "once": "2"}
    answer = send(client, "/annotate/pier/1", {**other, **seen}, part="item")
    assert answer.status_code == 409
    assert "You saved this item in another window" in answer.text
    assert "Unsupported claim present yes" in answer.text, "what was said there"
    assert re.search(rf'name="say.0.{UNSUPPORTED}" value="no" checked', answer.text)
    assert pier.said()["Ann", 1].labels[ANSWER][UNSUPPORTED] == "yes"
    again = send(client, "/annotate/pier/1", {**other, "seen": field(answer.text, "seen")})
    assert again.status_code == 303
    assert pier.said()["Ann", 1].labels[ANSWER][UNSUPPORTED] == "no"


def test_a_page_of_somebody_else_saves_nothing_as_theirs(pier: Queued) -> None:
    client = pier.client("Ben")
    client.get("/annotate/pier")
    answer = send(client, "/annotate/pier/1", {**FULL, "action": "save", "person": "Ann"})
    assert answer.status_code == 400
    assert "This page is Ann&#39;s" in answer.text
    assert pier.said() == {}


def test_the_end_has_the_figures_of_the_person_alone(pier: Queued) -> None:
    client, ben = pier.client(), pier.client("Ben")
    client.get("/annotate/pier")
    ben.get("/annotate/pier")
    send(client, "/annotate/pier/1", {**FULL, "action": "save", "note": "n"})
    send(client, "/annotate/pier/3", {"action": "discard", "own_why": "no"})
    page = client.get("/annotate/pier").text
    assert "Nothing left for now" in page
    assert "Others have 1 item at present" in page
    assert re.search(r"saved</dt><dd[^>]*>2<", page)
    assert re.search(r"of them discarded</dt><dd[^>]*>1<", page)
    assert re.search(r"with a note</dt><dd[^>]*>1<", page)
    send(ben, "/annotate/pier/2", {**FULL, "action": "save"})
    for each, count in ((client, 2), (ben, 1)):
        page = each.get("/annotate/pier").text
        assert "All done" in page
        assert re.search(rf"saved</dt><dd[^>]*>{count}<", page)
    assert "Ann" not in ben.get("/annotate/pier").text


def test_nothing_is_shown_of_systems_judges_or_others(tmp_path: Path) -> None:
    hidden = {"rival": "gpt-secret", "first": True}
    one = QueueItem(1, "mtrag<::>gpt-secret", {"answer": "Yes."}, (ItemPart("answer"),), 0.123,
                    hidden)  # fmt: skip
    queued = Queued(tmp_path, items=[one], wanted=2)
    ann, ben = queued.client("Annabel"), queued.client("Ben")
    ann.get("/annotate/pier")
    send(ann, "/annotate/pier/1", {**FULL, "action": "save", "note": "a note of Annabel's"})
    page = ben.get("/annotate/pier").text
    for word in ("secret", "mtrag", "0.123", "rival", "Annabel"):
        assert word not in page.replace('name="secret"', ""), word
    assert " checked" not in page


def test_words_that_a_label_rests_on_are_kept_and_shown_again(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    span = {
        "part": ["answer", ""],
        "label": UNSUPPORTED,
        "text": "contexts/1",
        "start": 12,
        "end": 16,
    }
    fields = {**FULL, "action": "save", "spans": json.dumps([span, span])}
    assert send(client, "/annotate/pier/1", fields).status_code == 303
    assert pier.said()["Ann", 1].spans == (span,)
    page = client.get("/annotate/pier/1").text
    assert '<q dir="auto">90 m</q>' in page
    assert json.loads(field(page, "spans")) == [span]
    wrong = json.dumps([{**span, "end": 99}])
    answer = send(client, "/annotate/pier/2", {**FULL, "action": "save", "spans": wrong})
    assert answer.status_code == 422
    assert "the marked words are not in the text" in answer.text


@pytest.mark.parametrize("spans", ["", "[", "{}", "7", "[1, null]", "[" * 100_000])
def test_spans_that_are_none_are_none(pier: Queued, spans: str) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    fields = {**FULL, "action": "save", "spans": spans}
    assert send(client, "/annotate/pier/1", fields).status_code == 303
    assert pier.said()["Ann", 1].spans == ()


def test_the_guideline_is_read_in_the_language_that_was_chosen_last(tmp_path: Path) -> None:
    texts = {"English": "# Grounding\n\n- a *claim*", "German": "# Beleg\n\n`support`: ja"}
    queued = Queued(tmp_path, guidelines=texts, instructions="Look at **numbers**.")
    client = queued.client()
    page = client.get("/annotate/pier").text
    assert "<h3>Grounding</h3>" in page
    assert "<li>a <em>claim</em></li>" in page
    assert "<strong>numbers</strong>" in page
    assert re.search(r'<aside id="guideline"[^>]* hidden>', page)
    client.get("/annotate/pier?language=German", headers={"sec-fetch-site": "cross-site"})
    assert "<h3>Grounding</h3>" in client.get("/annotate/pier").text
    client.headers["sec-fetch-site"] = "same-origin"
    german = client.get("/annotate/pier?guideline=1&language=German").text
    assert re.search(r'<aside id="guideline"[^>]*"-1">', german), "open without a script"
    assert '<div class="told" lang="de"><h3>Beleg</h3>' in german
    assert "<h3>Beleg</h3>" in client.get("/annotate/pier").text
    client.get("/annotate/pier?language=<script>")
    assert "<h3>Beleg</h3>" in client.get("/annotate/pier").text


def test_a_guideline_loads_nothing_and_leads_nowhere(tmp_path: Path) -> None:
    evil = (
        "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n![x](http://evil/x.png) "
        "[go](javascript:alert(1)) <http://evil> \u202e\n\n[a]: http://evil\n\n[a]"
    )
    page = Queued(tmp_path, guidelines={"English": evil}, instructions=evil).client()
    text = page.get("/annotate/pier").text.partition('<aside id="guideline"')[2]
    assert "<script" not in text.partition("</aside>")[0]
    assert "<img" not in text
    assert not re.search(r'(?:href|src)="(?!\?|/annotate/)', text.partition("</aside>")[0])
    assert "\u202e" not in text


EVIL = "<script>alert(1)</script> <img src=x onerror=alert(1)> {{ 99999 * 99999 }} \u202e \x1b[31m"


def test_hostile_texts_labels_and_notes_are_text(tmp_path: Path) -> None:
    asked = (
        AskedLabel(EVIL, "answer", (EVIL, "no"), {EVIL: EVIL}),
        AskedLabel(f"{EVIL} own", "answer", required=False),
    )
    shown = {
        "question": EVIL,
        "history": [{"role": EVIL, "text": EVIL}],
        "policy": EVIL,
        "answer": EVIL,
        "contexts": [{"name": EVIL, "text": EVIL}, {"name": "2", "text": EVIL}],
        "reference": [EVIL, EVIL],
        EVIL: EVIL,
    }
    one = QueueItem(1, EVIL, shown, (ItemPart("answer"), ItemPart("claim", EVIL, EVIL)))
    queued = Queued(tmp_path, asked, [one])
    client = queued.client(f"{EVIL[:50]}")
    page = client.get("/annotate/pier").text
    fields = {f"say.0.{EVIL}": EVIL, f"say.0.{EVIL} own": EVIL, "note": EVIL, "action": "save"}
    again = send(client, "/annotate/pier/1", {**fields, f"say.0.{EVIL}": "?"}).text
    assert send(client, "/annotate/pier/1", fields).status_code == 303
    after = client.get("/annotate/pier/1").text
    items = client.get("/annotate/pier?items=1").text
    for text in (page, again, after, items):
        main = text.partition("<main")[2]
        assert "<script" not in main
        assert "<img" not in main
        assert f"{99999 * 99999}" not in main
        assert not {"\u202e", "\x1b"} & set(text)
    assert queued.said()[f"{EVIL[:50]}", 1].note == EVIL.strip()


def test_a_long_text_comes_in_pieces(tmp_path: Path) -> None:
    answer = "".join(f"word{n} " for n in range(120_000))
    contexts = [{"name": str(n), "text": f"context{n} " * 4_000} for n in range(40)]
    one = QueueItem(1, "e", {"answer": answer, "contexts": contexts}, (ItemPart("answer"),))
    client = Queued(tmp_path, items=[one]).client()
    page = client.get("/annotate/pier")
    assert len(page.content) < 400_000
    seen, path = "", "/annotate/pier/1?part=answer&from=1"
    while path:
        piece = client.get(path, headers={"hx-target": "more"}).text
        assert len(piece) < 60_000
        text, _, link = piece.partition("<a ")
        seen += unescape(text)
        found = re.search(r'href="([^"]*)"', link)
        path = unescape(found[1]) if found else ""
    assert seen == answer[1:]
    late = client.get("/annotate/pier/1?part=answer&from=600000").text
    assert answer[600_000:600_040] in late, "without a script, too"
    assert "word0 " not in late


def test_white_space_is_kept_and_nothing_but_the_text_is_where_places_are_counted(
    tmp_path: Path,
) -> None:
    text = "  a\n\n\tb 𝄞\u0301\n"
    windows = "one\r\ntwo\rthree"
    shown = {"question": text, "answer": text, "contexts": [{"name": "1", "text": text}],
             "policy": windows}  # fmt: skip
    one = QueueItem(1, "e", shown, (ItemPart("answer"), ItemPart("claim", "1", text)))
    asked = (*GROUNDING, AskedLabel("support", "claim", ("supported", "absent")))
    page = Queued(tmp_path, asked, [one]).client().get("/annotate/pier").text
    for name in ("question", "answer", "contexts/1", "claims/1"):
        found = re.search(rf'data-text="{name}"[^>]*>([^<]*)<', page)
        assert found, name
        assert unescape(found[1]) == text
    assert "one \ntwo\nthree</div>" in page, "as many characters as there are"


def test_one_digit_says_a_choice_and_a_figure_says_itself(tmp_path: Path) -> None:
    asked = (
        AskedLabel("grade", "answer", ("0", "1", "2", "3")),
        AskedLabel("tone", "answer", ("curt", "kind")),
    )
    page = Queued(tmp_path, asked).client().get("/annotate/pier").text
    said = re.findall(r'<label data-digit="(\d)"><input type="radio" name="say[^"]*" value="(\w+)"',
                      page)  # fmt: skip
    assert said == [("0", "0"), ("1", "1"), ("2", "2"), ("3", "3"), ("1", "curt"), ("2", "kind")]
    assert 'data-mode="turn"' in page


def test_labels_that_are_yes_or_no_have_a_digit_each(pier: Queued) -> None:
    page = pier.client().get("/annotate/pier").text
    assert 'data-mode="cycle"' in page
    assert page.count('<kbd aria-hidden="true">1</kbd><span class="name"') == 1
    assert page.count('<kbd aria-hidden="true">2</kbd><span class="name"') == 1
    forbidden = re.search(r'data-forbidden="([^"]*)"', page)
    assert forbidden
    (rule,) = json.loads(unescape(forbidden[1]))
    assert rule["said"] == {CONTRADICTED: "yes", UNSUPPORTED: "no"}
    assert rule["blocks"] is True


def test_an_owner_is_sent_to_the_progress_and_an_adjudicator_to_what_divides(pier: Queued) -> None:
    owner = TestClient(pier.app, follow_redirects=False)
    for path in ("/annotate/pier", "/annotate/pier/1"):
        assert owner.get(path).headers["location"] == "/annotate/pier/progress"
    assert send(owner, "/annotate/pier/1", {"action": "save"}).headers["location"] == (
        "/annotate/pier/progress"
    )
    assert pier.said() == {}


def test_an_adjudicator_is_sent_to_what_divides_people(pier: Queued) -> None:
    client = TestClient(pier.app, follow_redirects=False)
    client.get(f"/a/{pier.queue.invite('Cem', 'adjudicator')}")
    assert client.get("/annotate/pier").headers["location"] == "/annotate/pier/adjudicate"


def test_who_is_still_at_an_item_holds_it(pier: Queued) -> None:
    client = pier.client()
    client.get("/annotate/pier")
    with pier.place.labels().transaction() as run:
        run("UPDATE turns SET until = 1e12")
    assert send(client, "/annotate/pier/1", {"action": "hold"}).status_code == 200
    with pier.place.labels().transaction() as run:
        ((until,),) = run("SELECT until FROM turns")
    assert until < 1e12
    assert send(client, "/annotate/pier/1", {"action": "eat"}).status_code == 400


def test_a_save_that_the_store_cannot_take_is_to_be_sent_again(
    pier: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = pier.client()
    client.get("/annotate/pier")

    monkeypatch.setattr("ragstone.core.database.PATIENCE", 0.2)
    with closing(open_labels(pier.place.folder)) as another, another.transaction():
        answer = send(client, "/annotate/pier/1", {"action": "save", "once": "a", **FULL})
        # The status at which the page keeps what was said, see annotate_server.js.
        assert answer.status_code == 503
        assert "What you saved is kept" in answer.text
        assert FILE not in answer.text
    assert send(client, "/annotate/pier/1", {"action": "save", "once": "a", **FULL}).is_redirect
    assert list(pier.said()) == [("Ann", 1)]
