"""The screens of the monitor in a browser: by keyboard, at any width, and while they renew."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import expect

from ragstone.web.monitor_pages.rules_page import rule_delay
from tests.web.production import a_day

from .conftest import NARROW, WIDE, Serve, Watched

PAGES = {
    "the first screen": "/monitor",
    "one metric": "/monitor?metric=guard_ok&last=7d",
    "answers": "/monitor/examples",
    "answers of an alarm": "/monitor/examples?alarm=1&slice=language:en",
    "no answer": "/monitor/examples?version=v99",
    "an answer": "/monitor/examples/00239",
    "a conversation": "/monitor/sessions/chat-0",
    "drift": "/monitor/drift",
    "rules": "/monitor/rules",
    "an alarm": "/monitor/alarms/1",
    "the log": "/monitor/log",
    "what could not be read": "/monitor/malformed",
}


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("day")
    a_day(folder, time.time())
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    a_day(folder, time.time(), 60, hostile=True)
    return folder


def looked_at(one: Watched, address: str) -> None:
    """Nothing lies over a text and nothing is cut; with some details open there is no barrier."""
    one.page.goto(address)
    for wide in (NARROW, WIDE):
        one.resize(wide)
        assert one.misplaced() == []
        assert one.overflow() == 0
    for summary in one.page.locator("main details > summary").all()[:3]:
        summary.click()
    one.looked_at()


@pytest.mark.parametrize("path", PAGES.values(), ids=list(PAGES))
def test_a_screen_has_no_barrier_and_fits(
    serve: Serve, watch: Callable[..., Watched], day: Path, path: str
) -> None:
    looked_at(watch(), serve(day) + path)


def test_a_screen_that_waits_has_no_barrier(
    serve: Serve, watch: Callable[..., Watched], day: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = Event()

    def late(*rule: Any) -> Any:
        over.wait()
        return rule_delay(*rule)

    monkeypatch.setattr("ragstone.web.monitor_pages.rules_page.rule_delay", late)
    try:
        looked_at(watch(), serve(day) + "/monitor/rules")
    finally:
        over.set()


@pytest.mark.parametrize(
    "path", ["/monitor", "/monitor/examples", "/monitor/alarms/1", "/monitor/malformed"]
)
def test_hostile_names_do_nothing_and_fit(
    serve: Serve, watch: Callable[..., Watched], hostile: Path, path: str
) -> None:
    looked_at(watch(), serve(hostile) + path)


def test_a_hostile_answer_can_be_opened_and_does_nothing(
    serve: Serve, watch: Callable[..., Watched], hostile: Path
) -> None:
    one = watch(wide=NARROW)
    one.page.goto(serve(hostile) + "/monitor/examples")
    one.page.locator("a[rel=open]").first.click()
    one.page.wait_for_selector("#trace")
    assert one.page.locator("main script, main img").count() == 0
    assert one.overflow() == 0
    assert one.barriers() == []


def test_answers_are_walked_by_keys_alone(
    serve: Serve, watch: Callable[..., Watched], day: Path
) -> None:
    one = watch()
    one.page.goto(serve(day) + "/monitor/examples?where=guard_ok:0..0")
    one.page.keyboard.press("j")
    one.page.keyboard.press("Enter")
    one.page.wait_for_selector("text=1 of")
    one.page.keyboard.press("n")
    one.page.wait_for_selector("text=2 of")
    one.page.keyboard.press("u")
    one.page.wait_for_url("**/monitor/examples?where=guard_ok**")


def test_what_renews_itself_keeps_focus_and_what_is_open(
    serve: Serve, watch: Callable[..., Watched], day: Path
) -> None:
    one = watch()
    one.page.goto(serve(day) + "/monitor")
    one.page.locator("#numbers-1 summary").click()
    one.page.locator("#metric").focus()
    one.page.evaluate("document.querySelector('#facts').dataset.before = 'yes'")
    with one.page.expect_response("**/monitor*"):
        one.page.evaluate("document.querySelector('#monitor').dispatchEvent(new Event('renew'))")
    # The mark is not in what the server sends: it goes once the screen is renewed.
    one.page.wait_for_selector("#facts:not([data-before])")
    assert one.page.locator("#numbers-1").get_attribute("open") is not None
    assert one.page.evaluate("document.activeElement.id") == "metric"


def test_chosen_answers_are_sent_to_people(
    serve: Serve, watch: Callable[..., Watched], day: Path
) -> None:
    one = watch()
    one.page.goto(serve(day) + "/monitor/examples")
    for box in one.page.locator("tbody input[type=checkbox]").all()[:2]:
        box.check()
    one.page.click("text=Send the chosen to annotation")
    one.page.wait_for_selector("h1:has-text('production-chosen')")


def test_all_reading_works_without_script(serve: Serve, day: Path, chromium: object) -> None:
    context = chromium.new_context(java_script_enabled=False)  # type: ignore[attr-defined]
    page = context.new_page()
    page.goto(serve(day) + "/monitor")
    page.select_option("#metric", "faithfulness")
    page.click("text=Show")
    expect(page.locator("#numbers-2")).to_have_count(0)
    page.locator("#numbers-1 summary").click()
    assert page.locator("#numbers-1 tbody tr").count() > 3
    context.close()
