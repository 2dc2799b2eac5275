"""Adjudication and failure tags in a real browser: by keys, and without a barrier."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.note_tags import QueueTags
from ragstone.annotation.queue.queue import Queue

from .conftest import Serve, Watched

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


@pytest.mark.parametrize(
    "path", ["tags", "adjudicate", "adjudicate/0", "adjudicate/1?all=1", "adjudicate/2"]
)
def test_a_page_has_no_barrier_and_fits(
    serve: Serve, watch: Watch, queue: Queue, tmp_path: Path, path: str
) -> None:
    one = watch()
    one.page.goto(f"{serve(tmp_path)}/annotate/{queue.name}/{path}")
    one.looked_at()


def decisions(queue: Queue) -> list[tuple[str, int, dict[str, str]]]:
    """Who decided what of which item, all parts together."""
    return [
        (
            one.person,
            one.item,
            {k: v for said in one.answers.labels.values() for k, v in said.items()},
        )
        for one in queue.said()
        if one.role == "adjudicator"
    ]


def test_what_divides_people_is_decided_by_keys(
    serve: Serve, watch: Watch, queue: Queue, tmp_path: Path
) -> None:
    page = watch().page
    page.goto(f"{serve(tmp_path)}/a/{queue.invite('Cleo', 'adjudicator')}")
    page.get_by_role("link", name="Decide the first").click()
    ask, progress = page.locator("#item h1"), page.locator("#progress .count")
    expect(ask).to_have_text("How long is pier 2?")
    expect(page.locator("#sheet .hint")).to_be_visible()
    # Ben discarded item 2, so all that Ann said of it is divided: five labels in three parts.
    for key in "12311":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(ask).to_have_text("How long is pier 0?")
    expect(progress).to_have_text("1 of 3")
    expect(page.locator("#sheet input:checked")).to_have_count(0)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#faults")).to_contain_text("Still to answer: Tone.")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    expect(ask).to_have_text("How long is pier 1?")
    page.keyboard.press("z")
    expect(ask).to_have_text("How long is pier 0?")
    expect(page.locator("#sheet input:checked")).to_have_count(2)
    expect(progress).to_have_text("1 of 3")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(ask).to_have_text("How long is pier 1?")
    page.keyboard.press("d")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(ask).to_have_text("All decided")
    helpful = {who[1]: labels.get("helpful", "") for who in decisions(queue) for labels in [who[2]]}
    assert helpful == {2: "yes", 0: "yes", 1: ""}
    assert {who for who, *_ in decisions(queue)} == {"Cleo"}


def test_the_words_that_a_label_rests_on_are_shown(
    serve: Serve, watch: Watch, queue: Queue, tmp_path: Path
) -> None:
    page = watch().page
    page.goto(f"{serve(tmp_path)}/annotate/{queue.name}/adjudicate/0")
    expect(page.locator("#sheet .hint")).to_be_visible()
    page.locator(".evi").first.click()
    shown = "[...CSS.highlights.get('theirs')].map(String)"
    assert page.evaluate(shown) == ["pier"]


def test_a_decision_survives_a_reload_as_a_draft(
    serve: Serve, watch: Watch, queue: Queue, tmp_path: Path
) -> None:
    page = watch().page
    page.goto(f"{serve(tmp_path)}/annotate/{queue.name}/adjudicate/0")
    expect(page.locator("#sheet .hint")).to_be_visible()
    page.keyboard.press("2")
    page.get_by_label("Note (optional)").fill("half a thought")
    page.reload()
    expect(page.get_by_label("Note (optional)")).to_have_value("half a thought")
    expect(page.locator("#sheet input:checked")).to_have_count(1)
    expect(page.locator("#sheet .hint")).to_be_visible()
    page.locator("[data-items]").click()
    expect(page.locator("#items li")).to_have_count(3)
    page.locator("#items a", has_text="pier 1?").click()
    expect(page.locator("#item h1")).to_have_text("How long is pier 1?")


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
