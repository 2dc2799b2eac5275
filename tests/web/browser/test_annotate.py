"""A person labels in a real browser: by keys, without losing anything, and without a script."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.serving import served

from .conftest import NARROW, PATIENCE, WIDE, Watched

Watch = Callable[..., Watched]
YES_NO = ("yes", "no")
CONTRADICTED, UNSUPPORTED = "contradicted_claim_present", "unsupported_claim_present"
GROUNDING = (
    AskedLabel(UNSUPPORTED, "answer", YES_NO, {"yes": "some claim is absent or contradicted"}),
    AskedLabel(CONTRADICTED, "answer", YES_NO),
    AskedLabel("helpful", "answer", YES_NO, required=False),
)
RELEVANCE = tuple(
    AskedLabel(label, "context", YES_NO)
    for label in ("topically_relevant", "evidence_sufficient", "misleading")
)
ANSWER = ("answer", "")
GUIDELINES = {"English": "# Grounding\n\nJudge it.", "German": "# Beleg\n\nBeurteilen Sie es."}


def item(number: int) -> QueueItem:
    return QueueItem(
        number,
        f"e{number}",
        {
            "question": f"Question {number}?",
            "history": [{"role": "user", "text": "Hello."}],
            "answer": f"The 𝄞 pier {number} is\n  90 m long.",
            "contexts": [
                {"name": "1", "text": "The pier is 90 m long. " + "It stands in the sea. " * 90},
                {"name": "2", "text": "Gulls nest there. " * 150 + "A lighthouse is near."},
            ],
        },
        (ItemPart("answer"),),
    )


class Desks:
    """A queue, and a server for it that can be stopped and started again.

    Args:
        folder: With the store.
        asked: Of the queue.
        items: Of the queue.
        form: The rest of its form.

    Attributes:
        loses_replies: Whether the connection ends before a reply to what was sent is whole.
    """

    def __init__(
        self, folder: Path, asked: tuple[AskedLabel, ...], items: list[QueueItem], **form: Any
    ) -> None:
        self.folder = folder
        self._labels = open_labels(folder)
        given = ((one, float(one.item), 1) for one in items)
        self.queue = Queue.make(self._labels, QueueForm("pier", asked, **form), given)
        self._port = 0
        self.loses_replies = False
        self.start()

    def start(self) -> None:
        def app(host: str) -> Any:
            made = make_app(RunsFolder(self.folder), Access(frozenset({host})))

            async def answer(scope: Any, receive: Any, send: Any) -> None:
                async def pass_on(message: Any) -> None:
                    lost = self.loses_replies and message["type"] == "http.response.body"
                    if not (lost and scope["method"] == "POST"):
                        await send(message)

                await made(scope, receive, pass_on)

            return answer

        self._server = ExitStack()
        served_here = served(app, port=self._port, timeout_graceful_shutdown=1)
        host = self._server.enter_context(served_here)
        self._port = int(host.partition(":")[2])
        self.address = f"http://{host}"

    def stop(self) -> None:
        self._server.close()

    def close(self) -> None:
        self.stop()
        self._labels.close()

    def link(self, person: str = "Ann") -> str:
        return f"{self.address}/a/{self.queue.invite(person)}"

    def said(self) -> dict[int, ItemAnswers]:
        return {one.item: one.answers for one in self.queue.said()}

    def rows(self) -> int:
        """How often anything was said."""
        with self._labels.transaction() as run:
            ((count,),) = run("SELECT count(*) FROM said")
        return int(count)


Make = Callable[..., Desks]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Desks] = []

    def start(
        asked: tuple[AskedLabel, ...] = GROUNDING, items: list[QueueItem] | None = None, **form: Any
    ) -> Desks:
        made.append(Desks(tmp_path, asked, items or [item(n) for n in (1, 2, 3, 4)], **form))
        return made[-1]

    yield start
    for one in made:
        one.close()


@pytest.fixture
def desks(make: Make) -> Desks:
    return make(guidelines=GUIDELINES, instructions="Mind the **units**.")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def shows(page: Page, number: int) -> None:
    """Wait for an item that can be labelled."""
    expect(page.locator("h1.ask")).to_have_text(f"Question {number}?")
    expect(page.locator("#item.waits")).to_have_count(0)


def labelled(**values: str) -> dict[tuple[str, str], dict[str, str]]:
    names = {"unsupported": UNSUPPORTED, "contradicted": CONTRADICTED, "helpful": "helpful"}
    return {ANSWER: {names[name]: value for name, value in values.items()}}


def without_network(one: Watched) -> None:
    """Forget what a browser says of requests that were meant to fail."""
    one.wrong = [said for said in one.wrong if "Failed to load resource" not in said]


def test_digits_and_enter_label_an_item_and_the_next_one_comes(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "1", "2", "2", "Enter")
    shows(page, 2)
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="no")
    expect(page.locator("#progress .count")).to_have_text("1 of 4")
    expect(page.locator("#saved")).to_contain_text("saved")
    press(page, "1", "1", "2", "2", "3", "3", "3", "Enter")
    shows(page, 3)
    said = desks.said()[2].labels
    assert said == labelled(unsupported="no", contradicted="no"), "an optional label can stay open"


def test_enter_goes_to_what_lacks_and_says_so(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "1", "Enter")
    expect(page.locator("#faults")).to_have_text("Still to answer: Contradicted claim present.")
    expect(page.locator(".lab.now .name")).to_have_text("Contradicted claim present")
    assert desks.said() == {}
    press(page, "2", "2", "Enter")
    shows(page, 2)


def test_a_hard_rule_stops_saving_at_once_and_says_how_to_mend_it(
    desks: Desks, watch: Watch
) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    save = page.get_by_role("button", name="Save and next")
    press(page, "2")
    expect(save).to_be_enabled()
    press(page, "1", "1")
    expect(page.locator("#faults")).to_have_text(
        "A contradicted claim is also unsupported: set “Unsupported claim present” to yes, or "
        "“Contradicted claim present” to no."
    )
    expect(save).to_be_disabled()
    press(page, "Enter")
    assert desks.said() == {}
    press(page, "1")
    expect(page.locator("#faults")).to_be_empty()
    press(page, "Enter")
    shows(page, 2)
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="yes")


def test_a_soft_rule_is_asked_about_once(make: Make, watch: Watch) -> None:
    one = QueueItem(1, "e", {"question": "Question 1?"}, (ItemPart("context", "1", "90 m."),))
    desks = make(RELEVANCE, [one, QueueItem(2, "f", {"question": "Question 2?"}, one.parts)])
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "1", "2", "3")
    expect(page.locator("#faults")).to_contain_text("seldom misleading")
    press(page, "Enter")
    expect(page.get_by_role("button", name="Save all the same")).to_be_visible()
    assert desks.said() == {}
    press(page, "Enter")
    shows(page, 2)
    assert set(desks.said()[1].labels["context", "1"].values()) == {"yes"}


def test_undo_brings_the_last_item_back_as_it_was_said(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "1", "2", "t")
    page.keyboard.type("a note")
    press(page, "Enter")
    shows(page, 2)
    press(page, "z")
    shows(page, 1)
    assert desks.said() == {}
    expect(page.locator("#note")).to_have_value("a note")
    expect(page.get_by_role("group", name="Contradicted").get_by_label("yes")).to_be_checked()
    press(page, "2", "Enter")
    shows(page, 2)
    assert desks.said()[1] == ItemAnswers(labelled(unsupported="yes", contradicted="no"), "a note")


def test_an_item_is_skipped_and_another_discarded_with_a_reason(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "s")
    shows(page, 2)
    press(page, "d")
    expect(page.get_by_label("It is in a language that I do not know")).to_be_visible()
    press(page, "Enter")
    expect(page.locator("#faults")).to_contain_text("Say why")
    press(page, "2", "Enter")
    shows(page, 3)
    press(page, "d", "5")
    page.keyboard.type("in Welsh")
    press(page, "Enter")
    shows(page, 4)
    assert desks.said() == {
        2: ItemAnswers(discarded="It is in a language that I do not know"),
        3: ItemAnswers(discarded="in Welsh"),
    }


def test_no_key_labels_while_one_writes_or_holds_another_key(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "t")
    page.keyboard.type("s 1 2 z")
    press(page, "Escape")
    assert page.locator("#sheet input:checked").count() == 0
    expect(page.locator("#note")).not_to_be_focused()
    press(page, "Control+1", "Alt+2", "Meta+s")
    assert page.locator("#sheet input:checked").count() == 0
    shows(page, 1)
    press(page, "1", "2", "2", "t", "Enter")
    shows(page, 2)
    assert desks.said()[1].note == "s 1 2 z"


def test_what_was_not_saved_is_there_after_a_reload(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "1", "2", "t")
    page.keyboard.type("half a no")
    page.reload()
    shows(page, 1)
    expect(page.locator("#restored")).to_contain_text("Restored from this browser")
    expect(page.locator("#note")).to_have_value("half a no")
    assert page.locator("#sheet .lab input:checked").count() == 2
    page.get_by_role("button", name="drop it").click()
    expect(page.locator("#note")).to_have_value("")
    assert page.locator("#sheet .lab input:checked").count() == 0
    page.reload()
    shows(page, 1)
    expect(page.locator("#restored")).to_be_hidden()


def test_a_server_that_is_gone_loses_and_doubles_nothing(desks: Desks, watch: Watch) -> None:
    one = watch()
    page = one.page
    page.goto(desks.link())
    shows(page, 1)
    desks.stop()
    press(page, "1", "2", "Enter")
    expect(page.locator("#waiting")).to_contain_text("1 answer waits in this browser")
    press(page, "Enter")
    assert desks.said() == {}
    # It has another secret now.
    desks.start()
    page.locator("#waiting button").click()
    shows(page, 2)
    expect(page.locator("#waiting")).to_be_hidden()
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="yes")
    assert desks.rows() == 1
    press(page, "1", "2", "Enter")
    shows(page, 3)
    assert desks.rows() == 2
    without_network(one)


def test_a_save_whose_reply_was_lost_counts_once(desks: Desks, watch: Watch) -> None:
    one = watch()
    page = one.page
    page.goto(desks.link())
    shows(page, 1)
    desks.loses_replies = True
    press(page, "1", "2", "Enter")
    expect(page.locator("#waiting")).to_contain_text("1 answer waits")
    assert desks.rows() == 1
    desks.loses_replies = False
    page.get_by_role("button", name="Try now").click()
    shows(page, 2)
    assert desks.rows() == 1
    without_network(one)


def test_what_waits_is_sent_when_the_page_is_opened_again(desks: Desks, watch: Watch) -> None:
    one = watch()
    page = one.page
    page.goto(desks.link())
    shows(page, 1)
    page.route("**/annotate/pier/1", lambda route: route.abort())
    press(page, "1", "2", "2", "Enter")
    expect(page.locator("#waiting")).to_be_visible()
    page.goto("about:blank")
    assert desks.said() == {}
    page.unroute("**/annotate/pier/1")
    page.goto(f"{desks.address}/annotate/pier")
    shows(page, 2)
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="no")
    assert desks.rows() == 1
    without_network(one)


def test_a_browser_that_keeps_nothing_says_so_and_waits_with_the_page_open(
    desks: Desks, watch: Watch
) -> None:
    one = watch(anew=True)
    page = one.page
    full = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }"
    page.add_init_script(full)
    page.goto(desks.link())
    shows(page, 1)
    page.route("**/annotate/pier/1", lambda route: route.abort())
    press(page, "1")
    expect(page.locator("#saved")).to_have_text("this browser keeps no drafts")
    press(page, "2", "Enter")
    expect(page.locator("#waiting")).to_contain_text("1 answer waits on this page: leave it open")
    page.unroute("**/annotate/pier/1")
    press(page, "Enter")
    shows(page, 2)
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="yes")
    without_network(one)


def test_a_key_that_is_held_down_saves_nothing_more(make: Make, watch: Watch) -> None:
    desks = make((AskedLabel("helpful", "answer", YES_NO, required=False),))
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    page.keyboard.down("Enter")
    shows(page, 2)
    for _ in range(3):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    press(page, "1")
    shows(page, 2)
    assert list(desks.said()) == [1]


def test_who_forgets_the_link_in_another_window_keeps_what_was_said(
    desks: Desks, watch: Watch
) -> None:
    one = watch()
    page = one.page
    page.goto(desks.link())
    shows(page, 1)
    other = one.context.new_page()
    other.goto(f"{desks.address}/annotate/pier?items=1")
    other.get_by_role("button", name="Forget my link in this browser").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Forgotten")
    press(page, "1", "2", "Enter")
    expect(page.locator("#waiting")).to_contain_text("Your link no longer works")
    page.goto(desks.link())
    shows(page, 2)
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="yes")
    without_network(one)


def test_a_link_that_was_taken_back_keeps_what_was_said(desks: Desks, watch: Watch) -> None:
    one = watch()
    page = one.page
    page.goto(desks.link())
    shows(page, 1)
    desks.queue.revoke("Ann")
    press(page, "1", "2", "Enter")
    expect(page.locator("#waiting")).to_contain_text("Your link no longer works")
    page.goto(desks.link())
    shows(page, 2)
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="yes")
    without_network(one)


def test_two_windows_of_one_person_lose_nothing_unseen(desks: Desks, watch: Watch) -> None:
    one = watch()
    first = one.page
    first.goto(desks.link())
    shows(first, 1)
    second = one.context.new_page()
    second.goto(f"{desks.address}/annotate/pier")
    shows(second, 1)
    press(first, "1", "2", "Enter")
    shows(first, 2)
    expect(second.locator("#faults")).to_contain_text("saved in another window")
    press(second, "1", "2", "2", "Enter")
    expect(second.locator(".texts > .note")).to_contain_text("Contradicted claim present yes")
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="yes")
    press(second, "Enter")
    shows(second, 2)
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="no")
    without_network(one)


SELECT = """([name, words]) => {
  const text = document.querySelector(`[data-text="${name}"]`), node = text.firstChild;
  const at = node.data.indexOf(words), range = document.createRange();
  range.setStart(node, at); range.setEnd(node, at + words.length);
  getSelection().removeAllRanges(); getSelection().addRange(range);
}"""


def test_selected_words_are_evidence_counted_in_characters(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "1", "2")
    page.evaluate(SELECT, ["answer", " 90 m "])
    press(page, "e")
    chip = page.get_by_role("group", name="Contradicted claim present").locator(".spans li")
    expect(chip).to_contain_text("90 m")
    page.evaluate(SELECT, ["contexts/2", "lighthouse"])
    page.get_by_role("button", name="Evidence e for “Contradicted claim present”").click()
    expect(chip).to_have_count(2)
    chip.nth(1).get_by_role("button", name="Remove").click()
    expect(chip).to_have_count(1)
    page.reload()
    expect(chip).to_have_count(1)
    assert page.evaluate("[...CSS.highlights.get('evidence')].map(String)") == ["90 m"]
    press(page, "Enter")
    shows(page, 2)
    (span,) = desks.said()[1].spans
    text = item(1).shown["answer"]
    assert span == {
        "part": ["answer", ""],
        "label": CONTRADICTED,
        "text": "answer",
        "start": text.index("90"),
        "end": text.index(" long"),
    }


def test_words_are_selected_without_a_mouse(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "1", "2", "w")
    words = "getSelection().toString().trim()"
    assert page.evaluate(words) == "Hello"
    press(page, "w")
    assert page.evaluate(words) == "Question"
    press(page, "Shift+ArrowRight")
    assert page.evaluate(words) == "Question 1"
    press(page, "e", "Enter")
    shows(page, 2)
    (span,) = desks.said()[1].spans
    assert (span["text"], span["start"], span["end"]) == ("question", 0, 10)


def test_long_contexts_are_folded_and_opened_by_key_click_and_search(
    desks: Desks, watch: Watch
) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    folded = page.locator(".ctx.folded")
    expect(folded).to_have_count(2)
    page.get_by_role("button", name="Show all").first.click()
    expect(folded).to_have_count(1)
    press(page, "o")
    expect(folded).to_have_count(0)
    press(page, "o")
    expect(folded).to_have_count(2)
    press(page, "/")
    page.keyboard.insert_text("LIGHT")
    expect(page.locator("output")).to_have_text("1")
    expect(folded).to_have_count(1)
    assert page.evaluate("[...CSS.highlights.get('found')].map(String)") == ["light"]
    page.locator("#find").fill("nest\u2003there")
    press(page, "Enter", "Enter")
    expect(page.locator("output")).to_have_text("2 of 150")
    page.locator("#find").fill("(a|b")
    expect(page.locator("output")).to_have_text("not found")
    press(page, "Escape")
    press(page, "1", "2", "Enter")
    shows(page, 2)


def test_the_guideline_opens_beside_the_sheet_in_german(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    guideline = page.get_by_role("complementary", name="Guideline")
    expect(guideline).to_be_hidden()
    press(page, "1", "g")
    expect(guideline).to_contain_text("Mind the units.")
    expect(guideline).to_contain_text("Judge it.")
    page.get_by_role("link", name="German").click()
    expect(guideline).to_contain_text("Beurteilen Sie es.")
    expect(page.locator("#sheet .lab input:checked")).to_have_count(1)
    expect(guideline.locator("[lang=de]")).to_be_visible()
    press(page, "2", "2", "Enter")
    shows(page, 2)
    expect(guideline).to_contain_text("Beurteilen Sie es.")
    press(page, "g")
    expect(guideline).to_be_hidden()


def test_one_jumps_to_an_own_item_changes_it_and_comes_back(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    for number in (1, 2):
        shows(page, number)
        press(page, "1", "2", "Enter")
    shows(page, 3)
    press(page, "i")
    dialog = page.get_by_role("dialog", name="My items")
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    page.keyboard.type("1")
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    press(page, "Enter")
    shows(page, 1)
    page.wait_for_url("**/annotate/pier/1")
    press(page, "2", "Enter")
    shows(page, 3)
    page.wait_for_url("**/annotate/pier")
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="no")
    page.go_back()
    shows(page, 3)


def test_parts_are_labelled_one_after_the_other(make: Make, watch: Watch) -> None:
    parts = tuple(ItemPart("context", str(n), f"Context text {n}. " * n) for n in range(1, 41))
    shown = {"question": "Question 1?"}
    desks = make(RELEVANCE[:1], [QueueItem(1, "e", shown, parts)])
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    here = page.locator(".part.here h3")
    expect(here).to_contain_text("Context 1")
    for at in range(40):
        press(page, "1" if at % 2 else "2")
    expect(page.locator(".gist.open")).to_have_count(0)
    press(page, "Backspace", "k", "k")
    expect(here).to_contain_text("Context 37")
    expect(page.locator(".ctx.here")).to_be_in_viewport()
    press(page, "1", "Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("All done")
    said = [one["topically_relevant"] for one in desks.said()[1].labels.values()]
    assert said == ["yes" if at % 2 or at == 36 else "no" for at in range(40)]


def test_choices_ratings_and_own_words_take_one_key_each(make: Make, watch: Watch) -> None:
    asked = (
        AskedLabel("support", "answer", ("supported", "contradicted", "absent"), {"absent": "no"}),
        AskedLabel("rating.clarity", "answer", ("1", "2", "3", "4", "5")),
        AskedLabel("grade", "answer", ("0", "1", "2", "3")),
        AskedLabel("tone", "answer"),
        AskedLabel("helpful", "answer", YES_NO),
    )
    desks = make(asked)
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    press(page, "3", "4", "0")
    expect(page.get_by_role("textbox", name="Tone")).to_be_focused()
    page.keyboard.type("curt 1")
    press(page, "Enter", "2", "Enter")
    shows(page, 2)
    assert desks.said()[1].labels[ANSWER] == {
        "support": "absent",
        "rating.clarity": "4",
        "grade": "0",
        "tone": "curt 1",
        "helpful": "no",
    }
    page.get_by_text("contradicted", exact=True).click()
    expect(page.locator(".lab.now .name")).to_have_text("rating Clarity")


def test_all_is_done_without_a_script(desks: Desks, chromium: Browser) -> None:
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(desks.link())
    shows(page, 1)
    expect(page.locator("#note")).to_be_visible()
    page.get_by_role("group", name="Unsupported").get_by_text("yes", exact=True).click()
    page.get_by_role("button", name="Save and next").click()
    expect(page.locator("#faults")).to_contain_text("Contradicted claim present: nothing is said")
    page.get_by_role("group", name="Contradicted").get_by_text("no", exact=True).click()
    page.get_by_role("button", name="Save and next").click()
    shows(page, 2)
    page.get_by_role("button", name="Undo").click()
    shows(page, 1)
    page.get_by_role("button", name="Save and next").click()
    shows(page, 2)
    page.get_by_text("Discard…").click()
    page.get_by_label("The question makes no sense").check()
    page.get_by_role("button", name="Discard and next").click()
    shows(page, 3)
    page.get_by_role("button", name="Skip").click()
    shows(page, 4)
    page.get_by_role("link", name="Guideline").click()
    expect(page.get_by_role("complementary", name="Guideline")).to_be_visible()
    page.get_by_role("link", name="My items").click()
    page.get_by_role("link", name="Question 1?").click()
    shows(page, 1)
    assert desks.said()[1].labels == labelled(unsupported="yes", contradicted="no")
    assert desks.said()[2] == ItemAnswers(discarded="The question makes no sense")
    context.close()


def test_a_phone_has_the_sheet_below_and_the_button_at_hand(desks: Desks, watch: Watch) -> None:
    one = watch(wide=NARROW)
    page = one.page
    page.goto(desks.link())
    shows(page, 1)
    assert one.overflow() == 0
    save = page.get_by_role("button", name="Save and next")
    expect(save).to_be_in_viewport()
    save.click()
    expect(page.locator(".lab.now")).to_be_in_viewport()
    page.get_by_role("group", name="Unsupported").get_by_text("yes", exact=True).click()
    page.get_by_role("group", name="Contradicted").get_by_text("no", exact=True).click()
    page.evaluate(SELECT, ["answer", "pier"])
    page.get_by_role("button", name="Evidence").click()
    expect(page.locator(".spans li")).to_have_count(1)
    save.click()
    shows(page, 2)
    assert len(desks.said()[1].spans) == 1
    page.get_by_text("Discard…").click()
    page.get_by_label("The question makes no sense").check()
    page.get_by_role("button", name="Discard and next").click()
    shows(page, 3)
    assert one.overflow() == 0


EVIL = "<script>alert(1)</script> <img src=x onerror=alert(1)> {{ 7 * 7 }} \u202egnp.exe"
MIXED = (
    AskedLabel("support", "answer", ("supported", "contradicted"), {"supported": "it does"}),
    AskedLabel("rating.clarity", "answer", ("1", "2", "3", "4", "5")),
    AskedLabel(EVIL, "answer", required=False),
    AskedLabel("very_long_label_" * 12, "answer", YES_NO, {"yes": EVIL}),
)
TEXT = "Some words in a row. " * 200
EXTREME = QueueItem(
    1,
    EVIL,
    {
        "question": f"ما هي الدَول؟ {EVIL}",
        "policy": EVIL,
        "answers": [{"name": "A", "text": "W" * 3_000}, {"name": "B", "text": EVIL}],
        "answer": "word " * 200_000,
        "contexts": [{"name": str(n), "text": f"{EVIL} {TEXT}"} for n in range(12)],
        "reference": [EVIL, EVIL],
    },
    (ItemPart("answer"),),
)
LOOKS: dict[str, tuple[tuple[AskedLabel, ...], QueueItem]] = {
    "yes or no": (GROUNDING, item(1)),
    "parts": (
        RELEVANCE,
        QueueItem(
            1,
            "e",
            {"question": "Q?"},
            tuple(ItemPart("context", str(n), TEXT) for n in range(1, 13)),
        ),
    ),
    "extremes": (MIXED, EXTREME),
}


@pytest.mark.parametrize("look", LOOKS)
def test_a_desk_has_no_barrier_and_fits(make: Make, watch: Watch, look: str) -> None:
    asked, one_item = LOOKS[look]
    desks = make(asked, [one_item], guidelines=GUIDELINES, instructions=EVIL)
    link = desks.link()
    for wide in (WIDE, NARROW, 1600):
        one = watch(wide=wide)
        page = one.page
        page.goto(link)
        press(page, *(["2", "1", "1"] if asked is GROUNDING else ["1", "Enter"]))
        expect(page.locator("#faults p")).to_have_count(1)
        assert one.barriers() == []
        assert one.overflow() == 0
        press(page, "g", "d")
        expect(page.get_by_role("complementary", name="Guideline")).to_be_visible()
        assert one.barriers() == []
        assert one.overflow() == 0
        press(page, "Escape", "i")
        expect(page.get_by_role("dialog", name="My items")).to_be_visible()
        assert one.barriers() == []
        assert page.locator("main script, main img").count() == 0


def test_the_order_for_who_listens_is_question_texts_labels(desks: Desks, watch: Watch) -> None:
    page = watch().page
    page.goto(desks.link())
    shows(page, 1)
    tree = page.locator("main").aria_snapshot()
    order = ["Question 1?", "Answer", "Contexts", "Unsupported claim present", "Save and next"]
    places = [tree.index(words) for words in order]
    assert places == sorted(places)
    press(page, "1", "2", "Enter")
    shows(page, 2)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    press(page, "1")
    name = "document.activeElement.querySelector('legend').textContent"
    assert page.evaluate(name) == "Unsupported claim present"
    assert re.search(r"radio \"yes\" \[checked\]", page.locator("#sheet").aria_snapshot())
