"""The owner sorts what people noted into tags, on a page that works as a plain form, too."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.note_tags import QueueTags
from ragstone.annotation.queue.queue import Queue
from ragstone.web.parts.judgement_view import AUTHOR
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.web.conftest import HOST, SECRET

HOSTILE = "</textarea><script>alert(1)</script> ' onx=\""
PATH = "/annotate/pier/tags"


class Noted:
    """A queue of six items; of five something was noted by Ann and Ben."""

    def __init__(self, folder: Path) -> None:
        place = RunsFolder(folder)
        items = [
            (QueueItem(n, f"e{n}", {"question": f"Question {n}?"}, (ItemPart("answer"),)), n, 2)
            for n in range(6)
        ]
        form = QueueForm("pier", (AskedLabel("helpful", "answer", ("yes", "no")),))
        self.queue = Queue.make(place.labels(), form, items)
        for n in range(5):
            answers = ItemAnswers({("answer", ""): {"helpful": "no"}}, f"note of item {n}")
            self.queue.fill("Zebedee", n, answers)
        self.tags = QueueTags(place.labels(), self.queue)
        app = make_app(place, Access(frozenset({HOST}), "", SECRET))
        self.client = TestClient(app, follow_redirects=False)
        self.client.cookies.set(AUTHOR, "Max")

    def send(self, query: str = "", **fields: str) -> Any:
        return self.client.post(f"{PATH}{query}", data={"secret": SECRET, **fields})


@pytest.fixture
def noted(tmp_path: Path) -> Noted:
    return Noted(tmp_path)


def test_notes_are_shown_without_who_wrote_them(noted: Noted) -> None:
    page = noted.client.get(PATH)
    assert page.status_code == 200
    assert page.text.count("note of item") == 5
    assert "Zebedee" not in page.text


def test_a_note_is_tagged_and_the_tag_is_counted(noted: Noted) -> None:
    answer = noted.send(action="add", item="3", names="wrong date, no source")
    assert (answer.status_code, answer.headers["location"]) == (303, f"{PATH}?at=3#item-3")
    noted.send(action="add", item="1", names="Wrong date")
    page = noted.client.get(PATH).text
    assert "of 5 labelled items" in page
    assert "<b>40 %</b>" in page
    assert [(one.person, one.about) for one in noted.queue.events() if one.what == "tagged"] == [
        ("Max", "3: wrong date"), ("Max", "3: no source"), ("Max", "1: wrong date")
    ]  # fmt: skip


def test_notes_are_chosen_by_tag_and_by_having_none(noted: Noted) -> None:
    noted.tags.add(3, "wrong date")
    tagged = noted.client.get(f"{PATH}?tag=wrong+date").text
    assert [n for n in range(5) if f"note of item {n}" in tagged] == [3]
    left = noted.client.get(f"{PATH}?open=1").text
    assert [n for n in range(5) if f"note of item {n}" in left] == [0, 1, 2, 4]


def test_a_tag_is_changed_and_the_way_back_leads_to_what_is_there(noted: Noted) -> None:
    noted.tags.add(3, "date")
    noted.tags.add(4, "year")
    assert noted.send(action="rename", tag="date", to="wrong date").status_code == 303
    answer = noted.send("?tag=year", action="merge", tag="year", into="wrong date")
    assert answer.headers["location"] == PATH
    assert [(one.tag, one.n) for one in noted.tags.counts()] == [("wrong date", 2)]
    noted.send(action="remove", item="4", tag="wrong date")
    noted.send(action="drop", tag="wrong date")
    assert noted.tags.names() == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"action": "add", "item": "3", "names": " "}, "1 to 60 characters"),
        ({"action": "add", "item": "99", "names": "date"}, "99"),
        ({"action": "add", "item": "x", "names": "date"}, "is no item"),
        ({"action": "rename", "tag": "tone", "to": "DATE"}, "merge"),
        ({"action": "rename", "tag": "nothing", "to": "x"}, "nothing"),
        ({"action": "merge", "tag": "tone", "into": "tone"}, "another tag"),
        ({"action": "burn"}, "no action"),
    ],
)
def test_what_cannot_be_is_said_on_the_page(
    noted: Noted, fields: dict[str, str], said: str
) -> None:
    noted.tags.add(3, "date, tone")
    answer = noted.send(**fields)
    assert answer.status_code == 422
    assert said in answer.text
    assert "note of item 3" in answer.text
    assert noted.tags.names() == ["date", "tone"]


def test_notes_and_tags_do_nothing(noted: Noted) -> None:
    answers = ItemAnswers({("answer", ""): {"helpful": "no"}}, HOSTILE)
    noted.queue.fill("Ann", 5, answers)
    noted.tags.add(5, HOSTILE)
    for query in ("", f"?tag={quote(HOSTILE)}"):
        page = noted.client.get(f"{PATH}{query}").text
        assert "<script>alert" not in page
        assert 'onx="' not in page
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_queue_without_notes_says_how_they_are_made(tmp_path: Path) -> None:
    place = RunsFolder(tmp_path)
    form = QueueForm("pier", (AskedLabel("helpful", "answer", ("yes", "no")),))
    Queue.make(place.labels(), form, [(QueueItem(0, "e", {}, (ItemPart("answer"),)), 0, 1)])
    client = TestClient(make_app(place, Access(frozenset({HOST}), "", SECRET)))
    assert "Nobody has noted anything" in client.get(PATH).text
    assert client.get("/annotate/moon/tags").status_code == 404


@pytest.mark.parametrize("role", ["annotator", "adjudicator"])
def test_tags_are_the_owners(noted: Noted, role: Any) -> None:
    app = noted.client.app
    person = TestClient(app, follow_redirects=False)
    assert person.get(f"/a/{noted.queue.invite('Ann', role)}").status_code == 303
    assert person.get(PATH).status_code == 403
    assert (
        person.post(PATH, data={"secret": SECRET, "action": "drop", "tag": "x"}).status_code == 403
    )
