"""Every page, wide and on a phone: nothing lies over a text, nothing is cut, first things first."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from ragstone import Run
from ragstone.analysis import annotate
from ragstone.annotation.queue.form import ItemAnswers
from ragstone.annotation.queue.labels_store import open_labels
from tests.web.production import a_day

from .conftest import NARROW, WIDE, Serve, Watched

EXAMPLE = "/runs/cornwall/examples/lizard-point-basic_search"
PAGES = {
    "runs": "/",
    "run": "/runs/cornwall",
    "slices of a run": "/runs/cornwall?by=question_type",
    "example": EXAMPLE,
    "compare": "/compare?runs=cornwall&a=basic_search&b=llm_with_context",
    "compare two runs": "/compare?runs=cornwall,second",
    "judge": "/runs/cornwall/judge",
    "people": "/runs/cornwall/people",
    "report": "/runs/cornwall/report.html",
    "queues": "/annotate",
    "new queue": "/annotate/new?run=cornwall",
    "progress": "/annotate/claims/progress",
    "failure tags": "/annotate/claims/tags",
    "monitor": "/monitor",
}
"""For the other screens of the monitor, see test_monitor.py."""
TASKS = {"answers": "grounding", "claims": "claims", "contexts": "relevance", "pairs": "preference"}
"""The task of each queue, by its name."""
DESKS = [*TASKS, "adjudication", "a divided item"]


class Demo(NamedTuple):
    """A folder with everything that the app shows, and the paths of the desks by their name."""

    folder: Path
    desks: dict[str, str]


@pytest.fixture(scope="module")
def demo(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    for name in ("cornwall", "second"):
        copytree(runs / "cornwall", folder / name)
    a_day(folder, time.time())
    labels, desks = open_labels(folder), {}
    for name, task in TASKS.items():
        queue = annotate(folder / "cornwall", labels, tasks=[task], per_item=3, n=9, name=name)
        for number, person in enumerate(("ann", "ben")):
            for place in (1, 2):
                labels_of_parts: dict[tuple[str, str], dict[str, str]] = {
                    (part.unit, part.name): {
                        label.label: label.choices[(number + place) % len(label.choices)]
                        for label in queue.form.asked
                        if part.asks(label)
                    }
                    for part in queue.item(place).parts
                }
                queue.fill(person, place, ItemAnswers(labels_of_parts, f"note {place}"))
        desks[name] = f"/a/{queue.invite('cem')}"
        if name == "claims":
            desks["adjudication"] = f"/a/{queue.invite('dora', 'adjudicator')}"
            desks["a divided item"] = f"/a/{queue.invite('eve', 'adjudicator')}"
    return Demo(folder, desks)


@pytest.fixture
def start(serve: Serve, watch: Callable[..., Watched], demo: Demo) -> Callable[..., Watched]:
    """Opens a page of the demo by its name."""

    def opened(name: str, wide: int = WIDE) -> Watched:
        watched = watch(wide=wide)
        watched.page.goto(serve(demo.folder) + (PAGES.get(name) or demo.desks[name]))
        watched.page.wait_for_selector("#waits, #soon, #examples[hx-get]", state="detached")
        if name == "a divided item":
            watched.page.click("text=Decide the first")
            watched.page.wait_for_selector("#sheet")
        return watched

    return opened


@pytest.mark.parametrize("name", [*PAGES, *DESKS])
def test_no_text_lies_over_another_and_nothing_is_out_of_reach(
    start: Callable[..., Watched], name: str
) -> None:
    watched = start(name)
    for wide in (WIDE, NARROW):
        watched.resize(wide)
        assert watched.misplaced() == []
        assert watched.overflow() == 0


def top(page: Page, selector: str) -> float:
    """How far below the upper edge of the window the first such part begins."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None, selector
    return box["y"]


def in_sight(page: Page, selector: str) -> bool:
    """Whether every such part lies in the window with nothing before it."""
    return bool(
        page.locator(selector).evaluate_all(
            """parts => parts.length && parts.every(part => {
                const { left, top, bottom } = part.getBoundingClientRect();
                return [top + 2, bottom - 2].every(
                    y => part.contains(document.elementFromPoint(left + 4, y)));
            })"""
        )
    )


@pytest.mark.parametrize("name", TASKS)
def test_on_a_phone_question_and_first_choices_are_in_sight_from_the_start(
    start: Callable[..., Watched], name: str
) -> None:
    page = start(name, NARROW).page
    assert in_sight(page, ".texts .ask")
    assert in_sight(page, "#sheet .lab:first-of-type .says label")
    assert in_sight(page, "#save")
    assert in_sight(page, "#sheet .quoted") == (name == "claims")


def test_the_worst_answers_stand_beside_the_means_or_on_a_phone_before_them(
    start: Callable[..., Watched],
) -> None:
    watched = start("run")
    assert abs(top(watched.page, "#worst") - top(watched.page, "#estimates")) < 8
    watched.resize(NARROW)
    assert (
        top(watched.page, ".lede") < top(watched.page, "#worst") < top(watched.page, "#estimates")
    )
    watched.page.click("#worst li a >> nth=0")
    watched.page.wait_for_selector("#question")


def test_on_a_phone_the_contexts_of_an_example_come_after_what_is_judged_and_before_the_scores(
    start: Callable[..., Watched],
) -> None:
    page = start("example", NARROW).page
    parts = ("#question", "#answer", "#claims", "#others", "#contexts", "#scores")
    tops = [top(page, part) for part in parts]
    assert tops == sorted(tops)


@pytest.mark.parametrize("wide", [NARROW, WIDE])
def test_a_finger_takes_a_run_as_the_baseline(
    serve: Serve, chromium: Browser, demo: Demo, wide: int
) -> None:
    size = ViewportSize(width=wide, height=900)
    context = chromium.new_context(viewport=size, is_mobile=True, has_touch=True)
    page = context.new_page()
    page.goto(serve(demo.folder))
    expect(page.locator(".pin").first).to_be_visible()
    context.close()


@pytest.mark.parametrize(
    "name", ["runs", "run", "example", "compare", "judge", "report", "monitor"]
)
def test_a_metric_has_the_name_that_people_type(
    start: Callable[..., Watched], demo: Demo, name: str
) -> None:
    metrics = {estimate.metric for estimate in Run.open(demo.folder / "cornwall").estimate_list}
    names = start(name).page.locator("main :is(th, h2, h3, option, dt, .facts, .token)")
    text = "\n".join(names.all_inner_texts())
    # Not "unsupported claim present", which is a label.
    spaced = {metric: rf"\b{metric.replace('_', ' ')}\b(?! present)" for metric in metrics}
    assert [metric for metric in metrics if "_" in metric and re.search(spaced[metric], text)] == []
