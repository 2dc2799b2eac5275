"""Each page, wide and narrow, light and dark: nothing overflows and nothing is a barrier."""

from collections.abc import Callable
from pathlib import Path

import pytest

import ragstone
from ragstone.annotation.queue.form import AskedLabel, ItemAnswers, ItemPart, QueueForm, QueueItem
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.data import cornwall
from ragstone.testing import ScriptedEncoder
from ragstone.web.page_request import queue_path

from .conftest import NARROW, WIDE, Serve, Watched

PAGES = {
    "runs": "/",
    "run": "/runs/cornwall",
    "slices of a run": "/runs/cornwall?by=question_type",
    "compare": "/compare?runs=cornwall",
    "judge": "/runs/cornwall/judge",
    "nothing there": "/nowhere",
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    suites, encoder = ["graphrag", "embedding"], ScriptedEncoder()
    ragstone.evaluate(cornwall(), suites=suites, embedder=encoder, out=folder / "cornwall")
    return folder


@pytest.mark.parametrize("suite", ["graphrag", "embedding"])
def test_a_report_has_no_barrier_and_fits(
    serve: Serve, watch: Callable[..., Watched], reports: Path, suite: str
) -> None:
    looked_at(serve(reports) + f"/runs/cornwall/suites/{suite}", watch)


@pytest.mark.parametrize("path", PAGES.values(), ids=list(PAGES))
def test_a_page_has_no_barrier_and_fits(
    serve: Serve, watch: Callable[..., Watched], runs: Path, path: str
) -> None:
    looked_at(serve(runs) + path, watch)


@pytest.fixture(scope="module")
def queues(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Queues with people of every kind of name, and one with nobody."""
    folder = tmp_path_factory.mktemp("queues")
    asked = (AskedLabel("helpful", "answer", ("yes", "no")), AskedLabel("tone", "answer"))
    items = [
        (QueueItem(n, f"e{n}", {"answer": "a"}, (ItemPart("answer"),)), float(n), 2)
        for n in range(12)
    ]
    store = open_labels(folder)
    Queue.make(store, QueueForm("nobody yet", asked), items)
    queue = Queue.make(store, QueueForm("<b>סדר</b>".replace("/", "!") * 5, asked), items)
    for person, count in (("Ann", 12), ("שלום עולם", 9), ("W" * 80, 2), ("<script>x</script>", 1)):
        queue.invite(person)
        for n in range(count):
            if one := queue.next(person):
                labels = {"helpful": "yes" if n % 4 else "no", "tone": "W" * 150}
                queue.save(person, one.item, ItemAnswers({("answer", ""): labels}), str(n))
    queue.revoke("Ann")
    queue.open()
    store.close()
    return folder


QUEUES = {
    "queues": "/annotate",
    "progress": queue_path("<b>סדר<!b>" * 5, "progress"),
    "who said what": queue_path("<b>סדר<!b>" * 5, "said"),
    "the log": queue_path("<b>סדר<!b>" * 5, "progress") + "?every=1#log",
    "a queue with nobody": queue_path("nobody yet", "progress"),
    "a link that nobody has": "/a/guess",
}


@pytest.mark.parametrize("path", QUEUES.values(), ids=list(QUEUES))
def test_a_page_of_queues_has_no_barrier_and_fits(
    serve: Serve, watch: Callable[..., Watched], queues: Path, path: str
) -> None:
    looked_at(serve(queues) + path, watch)


def test_a_new_link_and_what_its_owner_does_not_reach_have_no_barrier(
    serve: Serve, watch: Callable[..., Watched], queues: Path
) -> None:
    for wide in (WIDE, NARROW):
        one = watch(wide=wide)
        one.page.goto(serve(queues) + queue_path("nobody yet", "progress"))
        one.page.fill("#person", "W" * 80)
        one.page.click("text=Make a link >> nth=0")
        link = one.page.text_content("#link code") or ""
        one.page.click("#links summary")
        assert one.barriers() == []
        assert one.overflow() == 0
        one.page.goto(link)
        one.page.goto(f"{link.partition('/a/')[0]}/annotate")
        assert one.page.text_content("h1") == "Your link does not open this page"
        assert one.barriers() == []
        assert one.overflow() == 0
        one.page.click('button:has-text("Forget the link")')
        one.page.wait_for_selector("text=This browser no longer has your link")
        one.wrong = [said for said in one.wrong if "404" not in said and "403" not in said]


def looked_at(address: str, watch: Callable[..., Watched]) -> None:
    one = watch()
    one.page.goto(address)
    one.page.wait_for_selector("#waits, #soon", state="detached")
    one.looked_at()
    one.wrong = [said for said in one.wrong if "404" not in said]


def test_the_list_of_runs_has_the_width_of_the_page(
    serve: Serve, watch: Callable[..., Watched], runs: Path
) -> None:
    page = watch().page
    page.goto(serve(runs))
    widths = "[document.querySelector('#runs'), document.querySelector('main')]"
    listed, main = page.evaluate(f"{widths}.map(one => one.offsetWidth)")
    assert listed >= main - 60
