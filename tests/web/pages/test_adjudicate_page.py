"""Who decides sees what divides people, and has the last word; a plain form does, too."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ragstone.annotation import read_label_table
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import FILE
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import divided_items
from ragstone.web.parts.judgement_view import AUTHOR
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.web.conftest import HOST, SECRET

YES_NO = ("yes", "no")
HOSTILE = "</textarea><script>alert(1)</script> ' onx=\""
ANSWER, FIRST, SECOND = ("answer", ""), ("context", "1"), ("context", "2")
FORM = QueueForm(
    "pier",
    (
        AskedLabel("source_cited", "answer", YES_NO),
        AskedLabel("fabricated_source", "answer", YES_NO, required=False),
        AskedLabel("topically_relevant", "context", YES_NO),
    ),
    per_item=3,
    together=True,
)
PATH = "/annotate/pier/adjudicate"


def item(number: int) -> QueueItem:
    contexts = [{"name": "1", "text": "The pier is long."}, {"name": "2", "text": "Gulls."}]
    shown = {"question": f"Question {number}?", "answer": f"Answer {number}.", "contexts": contexts}
    parts = (ItemPart("answer"), ItemPart("context", "1"), ItemPart("context", "2"))
    return QueueItem(number, f"e{number}", shown, parts)


def said(cited: str, relevant: str, note: str = "", **more: Any) -> ItemAnswers:
    labels = {
        ANSWER: {"source_cited": cited},
        FIRST: {"topically_relevant": relevant},
        SECOND: {"topically_relevant": "no"},
    }
    return ItemAnswers(labels, note, **more)


class Divided:
    """Three items that divide Ann and Ben: item 2 on two labels, 1 and 3 on one; 4 does not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = RunsFolder(folder)
        items = [(item(n), n, 3) for n in range(1, 6)]
        self.queue = Queue.make(self.place.labels(), FORM, items)
        span = {"part": list(FIRST), "label": "topically_relevant", "text": "contexts/1",
                "start": 4, "end": 8}  # fmt: skip
        for n, ann, ben in (
            (1, said("yes", "yes"), said("no", "yes")),
            (2, said("yes", "yes", "see [1]", spans=(span,)), said("no", "no", HOSTILE)),
            (3, said("yes", "yes"), said("yes", "no")),
            (4, said("yes", "yes"), said("yes", "yes")),
        ):
            self.queue.fill("Ann", n, ann)
            self.queue.fill("Ben", n, ben)
        self.app = make_app(self.place, Access(frozenset({HOST}), "", SECRET))
        self.owner = TestClient(self.app, follow_redirects=False)
        self.owner.cookies.set(AUTHOR, "Max")

    def client(self, name: str = "Cleo", role: Any = "adjudicator") -> TestClient:
        client = TestClient(self.app, follow_redirects=False)
        assert client.get(f"/a/{self.queue.invite(name, role)}").status_code == 303
        return client

    def decided(self) -> dict[tuple[str, int], ItemAnswers]:
        return {
            (one.person, one.item): one.answers
            for one in self.queue.said()
            if one.role == "adjudicator"
        }


@pytest.fixture
def pier(tmp_path: Path) -> Divided:
    return Divided(tmp_path)


def send(client: TestClient, path: str, part: str = "", **fields: str) -> Any:
    headers = {"hx-target": part} if part else {}
    return client.post(path, data={"secret": SECRET, **fields}, headers=headers)


def sheet(html: str) -> dict[str, list[str]]:
    """The fields of the sheet with what is chosen in each."""
    found: dict[str, list[str]] = {}
    for name, rest in re.findall(
        r'<input type="radio" name="(say[^"]+)" value="[^"]*"([^>]*)>', html
    ):
        found.setdefault(name, []).extend(["on"] if "checked" in rest else [])
    return found


FIRST_SHEET = {"say.0.source_cited": "no"}


def test_the_most_divided_item_comes_first(pier: Divided) -> None:
    page = pier.owner.get(PATH).text
    assert "3 items divide people, none decided." in page
    assert re.findall(r'href="/annotate/pier/adjudicate/(\d)"[^>]*>Question', page) == [
        "2",
        "1",
        "3",
    ]
    assert "Question 4?" not in page


def test_nothing_that_people_read_says_which_example_or_system_an_item_is_of(
    tmp_path: Path,
) -> None:
    place = RunsFolder(tmp_path)
    asked = (AskedLabel("support", "claim", ("supported", "absent")), FORM.asked[0])
    claims = QueueForm("claims", asked, per_item=2)
    parts = (ItemPart("claim", "1", "The pier is long."),), (ItemPart("answer"),)
    shown = {"contexts": [{"name": "1", "text": "The pier."}]}
    items = [QueueItem(n, f"pier{n}-basic_search", shown, parts[n - 1]) for n in (1, 2)]
    queue = Queue.make(place.labels(), claims, [(item, item.item, 2) for item in items])
    for person, support, cited in (("Ann", "supported", "yes"), ("Ben", "absent", "no")):
        queue.fill(person, 1, ItemAnswers({("claim", "1"): {"support": support}}))
        queue.fill(person, 2, ItemAnswers({ANSWER: {"source_cited": cited}}))
    app = make_app(place, Access(frozenset({HOST}), "", SECRET))
    for person, role, paths in (
        ("Ann", "annotator", ("", "/1", "?items=1")),
        ("Cleo", "adjudicator", ("/adjudicate", "/adjudicate/1", "/adjudicate?items=1")),
    ):
        client = TestClient(app, follow_redirects=False)
        client.get(f"/a/{queue.invite(person, role)}")  # type: ignore[arg-type]
        pages = [client.get(f"/annotate/claims{path}").text for path in paths]
        assert all("basic_search" not in page for page in pages)
        assert sum("The pier is long." in page for page in pages) >= 2


def test_items_are_chosen_by_label_and_by_whether_they_are_decided(pier: Divided) -> None:
    pier.queue.decide("Cleo", 1, ItemAnswers({ANSWER: {"source_cited": "no"}}), "a")
    asked = {
        "": ["2", "3"], "?state=decided": ["1"], "?state=all": ["2", "1", "3"],
        "?label=topically_relevant": ["2", "3"], "?label=source_cited": ["2"],
    }  # fmt: skip
    for query, items in asked.items():
        page = pier.owner.get(f"{PATH}{query}").text
        assert (
            re.findall(r'href="/annotate/pier/adjudicate/(\d)[^"]*"[^>]*>Question', page) == items
        )
    assert "3 items divide people, 1 decided." in pier.owner.get(PATH).text
    assert "Cleo" in pier.owner.get(f"{PATH}?state=decided").text


def test_people_stand_side_by_side_with_notes_and_evidence(pier: Divided) -> None:
    page = pier.owner.get(f"{PATH}/2").text
    assert re.findall(r'<th scope="col"><bdi>(\w+)</bdi>', page) == ["Ann", "Ben"]
    assert "2 labels divided" in page
    assert "see [1]" in page
    assert '<q dir="auto">pier</q>' in page
    assert "1 label on which all agree" in page


def test_the_sheet_has_what_divides_people_and_nothing_is_chosen(pier: Divided) -> None:
    page = pier.owner.get(f"{PATH}/2").text
    assert sheet(page) == {"say.0.source_cited": [], "say.1.topically_relevant": []}
    whole = pier.owner.get(f"{PATH}/2?all=1").text
    assert sheet(whole) == {
        "say.0.source_cited": [], "say.0.fabricated_source": [], "say.1.topically_relevant": [],
        "say.2.topically_relevant": [],
    }  # fmt: skip
    assert whole.count("data-required") == 2


def test_a_decision_is_kept_with_who_made_it_and_the_next_item_follows(pier: Divided) -> None:
    client = pier.client()
    fields = {"say.0.source_cited": "no", "say.1.topically_relevant": "yes", "note": "clear"}
    answer = send(client, f"{PATH}/2", action="save", **fields)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{PATH}/1")
    kept = ItemAnswers(
        {ANSWER: {"source_cited": "no"}, FIRST: {"topically_relevant": "yes"}}, "clear"
    )
    assert pier.decided() == {("Cleo", 2): kept}
    assert sheet(client.get(f"{PATH}/2").text) == {
        "say.0.source_cited": ["on"], "say.1.topically_relevant": ["on"]
    }  # fmt: skip
    table = read_label_table(pier.folder / FILE)
    assert table.adjudicators == ("Cleo",)
    decided = table.adjudicated().filter("adjudicated")
    assert decided.select("example_id", "value").rows() == [("e2", "false"), ("e2", "true")]


def test_the_next_item_comes_without_a_new_page_where_the_browser_can(pier: Divided) -> None:
    answer = send(pier.client(), f"{PATH}/1", "item", action="save", **FIRST_SHEET)
    assert answer.status_code == 200
    assert "<!doctype" not in answer.text
    assert 'data-item="3"' in answer.text
    assert 'data-saved="1" data-all="3"' in answer.text


def test_items_of_one_label_follow_each_other(pier: Divided) -> None:
    client = pier.client()
    answer = send(client, f"{PATH}/1?label=source_cited", action="save", **FIRST_SHEET)
    assert answer.headers["location"] == f"{PATH}/2?label=source_cited"
    fields = {"say.0.source_cited": "no", "say.1.topically_relevant": "yes"}
    answer = send(client, f"{PATH}/2?label=source_cited", action="save", **fields)
    assert answer.headers["location"] == f"{PATH}?label=source_cited&next=1"
    page = client.get(answer.headers["location"]).text
    assert "All decided" in page
    assert "2 items divided people, and all are decided." in page


def test_a_single_decided_item_is_spoken_of_as_one(tmp_path: Path) -> None:
    place = RunsFolder(tmp_path)
    queue = Queue.make(place.labels(), FORM, [(item(1), 1, 3)])
    queue.fill("Ann", 1, said("yes", "yes"))
    queue.fill("Ben", 1, said("no", "yes"))
    client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
    send(client, f"{PATH}/1", action="save", author="Eve", **FIRST_SHEET)
    page = client.get(f"{PATH}?next=1").text
    assert "1 item divided people, and it is decided." in page


def test_the_owner_decides_under_a_name_of_theirs(pier: Divided) -> None:
    answer = send(pier.owner, f"{PATH}/1", action="save", author=" Eve  B. ", **FIRST_SHEET)
    assert answer.status_code == 303
    assert list(pier.decided()) == [("Eve B.", 1)]
    assert 'value="Eve B."' in pier.owner.get(f"{PATH}/2").text
    pier.owner.cookies.clear()
    pier.owner.cookies.set(AUTHOR, "Max")
    send(pier.owner, f"{PATH}/1", action="save", **FIRST_SHEET)
    assert ("Max", 1) in pier.decided()
    events = [(one.person, one.what, one.about) for one in pier.queue.events()]
    assert events[-2:] == [("Eve B.", "decided", "1"), ("Max", "decided", "1")]


def test_skipping_leads_to_the_next_open_item_and_round(pier: Divided) -> None:
    client = pier.client()
    for here, following in ((2, 1), (1, 3), (3, 2)):
        answer = send(client, f"{PATH}/{here}", action="skip")
        assert answer.headers["location"] == f"{PATH}/{following}"
    assert pier.decided() == {}


def test_the_last_decision_is_taken_back_to_decide_anew(pier: Divided) -> None:
    client = pier.client()
    assert "nothing to take back" in send(client, PATH, action="undo").text
    send(client, f"{PATH}/1", action="save", **FIRST_SHEET)
    send(client, f"{PATH}/3", action="discard", why="No answer")
    answer = send(client, f"{PATH}/2", "item", action="undo")
    assert 'data-item="3"' in answer.text
    assert list(pier.decided()) == [("Cleo", 1)]
    answer = send(client, PATH, "item", action="undo")
    assert sheet(answer.text) == {"say.0.source_cited": ["on"]}
    assert pier.decided() == {}
    assert len([one for one in pier.queue.events() if one.what == "undecided"]) == 2


def test_an_item_is_discarded_with_a_reason(pier: Divided) -> None:
    client = pier.client()
    answer = send(client, f"{PATH}/1", action="discard")
    assert answer.status_code == 422
    assert "Say why nothing can be said of it." in answer.text
    assert send(client, f"{PATH}/1", action="discard", own_why="No answer").status_code == 303
    assert pier.decided() == {("Cleo", 1): ItemAnswers(discarded="No answer")}
    assert [one.item for one in divided_items(pier.queue) if one.is_open] == [2, 3]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Decide something first."),
        ({"say.0.source_cited": "no"}, "Context 1, Topically relevant"),
        ({"say.0.source_cited": "maybe", "say.1.topically_relevant": "no"}, "yes, no"),
        (
            {"say.0.source_cited": "no", "say.0.fabricated_source": "yes",
             "say.1.topically_relevant": "no"},
            "abricated source",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_decided_so_is_told_and_nothing_is_lost(
    pier: Divided, fields: dict[str, str], said: str
) -> None:
    answer = send(pier.client(), f"{PATH}/2?all=1", action="save", note="a thought", **fields)
    assert answer.status_code == 422
    assert said in unescape(answer.text)
    assert "a thought" in answer.text
    assert pier.decided() == {}


def test_an_item_on_which_all_agree_can_be_decided_otherwise(pier: Divided) -> None:
    client = pier.client()
    page = client.get(f"{PATH}/4").text
    assert "all agree" in page
    assert "data-required" not in page
    send(client, f"{PATH}/4", action="save", **FIRST_SHEET)
    assert list(pier.decided()) == [("Cleo", 4)]


def test_a_save_that_is_repeated_is_kept_once(pier: Divided) -> None:
    client = pier.client()
    for _ in range(2):
        assert send(client, f"{PATH}/1", action="save", once="x", **FIRST_SHEET).status_code == 303
    assert len([one for one in pier.queue.events() if one.what == "decided"]) == 1


def test_nobody_else_decides(pier: Divided) -> None:
    ann = pier.client("Ann", "annotator")
    for path in (PATH, f"{PATH}/2"):
        assert ann.get(path).status_code == 403
        assert send(ann, path, action="save", **FIRST_SHEET).status_code == 403
    assert pier.decided() == {}
    assert pier.client("Cleo").get("/annotate/moon/adjudicate").status_code == 403


def test_a_page_of_somebody_else_saves_nothing(pier: Divided) -> None:
    client = pier.client("Cleo")
    answer = send(client, f"{PATH}/1", action="save", person="Dora", **FIRST_SHEET)
    assert answer.status_code == 400
    assert "Dora" in answer.text
    assert pier.decided() == {}


def test_what_is_not_there_is_told(pier: Divided) -> None:
    assert pier.owner.get(f"{PATH}/99").status_code == 404
    assert pier.owner.get(f"{PATH}/5").status_code == 404
    assert pier.owner.get("/annotate/moon/adjudicate").status_code == 404
    assert send(pier.owner, f"{PATH}/1", action="burn").status_code == 400


def test_names_notes_and_texts_do_nothing(pier: Divided) -> None:
    pier.queue.fill(HOSTILE.replace("\n", ""), 2, ItemAnswers(discarded=HOSTILE))
    pages = [pier.owner.get(path).text for path in (PATH, f"{PATH}/2", f"{PATH}/2?all=1")]
    pages.append(pier.owner.get(f"{PATH}?label=%3Cscript%3Ealert(1)%3C/script%3E").text)
    for page in pages:
        assert "<script>alert" not in page
        assert 'onx="' not in page


def test_a_queue_of_one_mind_has_nothing_to_decide(tmp_path: Path) -> None:
    place = RunsFolder(tmp_path)
    Queue.make(place.labels(), FORM, [(item(1), 1, 1)])
    client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
    assert "People do not differ on any item so far." in client.get(PATH).text
    assert "Nothing to decide" in client.get(f"{PATH}?next=1").text
