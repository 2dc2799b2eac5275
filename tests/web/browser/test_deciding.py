"""Failure tags in a real browser: by keys, and without a barrier."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from ragstone.labels.queue.database import open_labels
from ragstone.labels.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.labels.queue.queue import Queue
from ragstone.labels.queue.tags import QueueTags

from .conftest import NARROW, WIDE, Serve, Watched

Watch = Callable[..., Watched]
YES_NO = ("yes", "no")
ANSWER, FIRST = ("answer", ""), ("context", "1")
HOSTILE = "<img src=x onerror=alert(1)>" + "\u202e" + "W" * 90
FORM = QueueForm(
    "pier",
    (
        AskedLabel("helpful", "answer", YES_NO, {"yes": "It helps who asked."}),
        AskedLabel("source_cited", "answer", YES_NO),
        AskedLabel("rating.tone", "answer", ("1", "2", "3"), {"1": "rude", "3": "kind"}),
        AskedLabel("topically_relevant", "context", YES_NO),
    ),
    per_item=3,
    together=True,
)


def item(number: int) -> QueueItem:
    contexts = [
        {"name": "1", "text": "The pier is 90 m long."}, {"name": "2", "text": "Gulls. " * 400}
    ]  # fmt: skip
    shown = {"question": f"How long is pier {number}?", "answer": HOSTILE, "contexts": contexts}
    parts = (ItemPart("answer"), ItemPart("context", "1"), ItemPart("context", "2"))
    return QueueItem(number, f"e{number}", shown, parts)


def said(helpful: str, tone: str, relevant: str, note: str = "") -> ItemAnswers:
    labels = {
        ANSWER: {"helpful": helpful, "source_cited": "no", "rating.tone": tone},
        FIRST: {"topically_relevant": relevant},
        ("context", "2"): {"topically_relevant": "no"},
    }
    span = {"part": list(ANSWER), "label": "helpful", "text": "contexts/1", "start": 4, "end": 8}
    return ItemAnswers(labels, note, spans=(span,))


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    """Ann and Ben on four items: they differ on three, and discard one against a label."""
    labels = open_labels(tmp_path)
    made = Queue.make(labels, FORM, [(item(n), n, 3) for n in range(5)])
    for n in range(4):
        made.fill("Ann", n, said("yes", "1", "yes", HOSTILE if n == 1 else f"note {n}"))
    made.fill("Ben", 0, said("no", "3", "yes"))
    made.fill("Ben", 1, said("no", "1", "no", "cites a page that is not there"))
    made.fill("Ben", 2, ItemAnswers(discarded=HOSTILE))
    made.fill("Ben", 3, said("yes", "1", "yes"))
    tags = QueueTags(labels, made)
    tags.add(1, "no source, <b>bold</b>")
    tags.add(2, "no source")
    return made


def looked_at(address: str, watch: Watch, *, dark: bool) -> None:
    for wide in (WIDE, NARROW):
        one = watch(wide=wide, dark=dark)
        one.page.goto(address)
        assert one.barriers() == []
        assert one.overflow() == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_tags_have_no_barrier_and_fit(
    serve: Serve, watch: Watch, queue: Queue, tmp_path: Path, dark: bool
) -> None:
    looked_at(f"{serve(tmp_path)}/annotate/{queue.name}/tags", watch, dark=dark)


def test_notes_are_tagged_one_after_the_other_by_keys(
    serve: Serve, watch: Watch, queue: Queue, tmp_path: Path
) -> None:
    page = watch().page
    page.goto(f"{serve(tmp_path)}/annotate/{queue.name}/tags")
    first = page.get_by_label("Tags of item 0")
    first.fill("wrong date")
    first.press("Enter")
    expect(page.locator("#item-0 .token")).to_have_text(["wrong date×"])
    expect(first).to_be_focused()
    expect(first).to_have_value("")
    page.keyboard.type("too long")
    page.keyboard.press("Enter")
    expect(page.locator("#item-0 .token")).to_have_count(2)
    page.get_by_role("button", name="Take the tag too long off").press("Enter")
    expect(page.locator("#item-0 .token")).to_have_text(["wrong date×"])
    expect(first).to_be_focused()
    page.get_by_text("Change wrong date").click()
    page.get_by_label("Merge wrong date into").select_option("no source")
    page.get_by_role("button", name="Merge into it").locator("visible=true").click()
    expect(page.locator(".tagged tbody th")).to_have_text(["no source", "<b>bold</b>"])


def test_what_cannot_be_is_said_where_the_person_is(
    serve: Serve, watch: Watch, queue: Queue, tmp_path: Path
) -> None:
    one = watch()
    one.page.goto(f"{serve(tmp_path)}/annotate/{queue.name}/tags")
    one.page.get_by_text("Change no source").click()
    name = one.page.get_by_label("New name of no source")
    name.fill("<B>BOLD</B>")
    name.press("Enter")
    expect(one.page.get_by_role("alert")).to_contain_text("merge 'no source' into it")
    one.wrong = [words for words in one.wrong if "422" not in words]
