"""The page of an example in a real browser: correcting by keyboard, hostile text, long text."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from playwright.sync_api import Page, expect

import ragstone
from ragstone.data import Context, Example

from .conftest import NARROW, WIDE, Serve, Watched

Watch = Callable[..., Watched]
EXAMPLE = "/runs/cornwall/examples/lands-end-local_search"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \"' \u202e javascript:alert(3) "


@pytest.fixture
def app(serve: Serve, runs: Path, tmp_path: Path) -> str:
    copytree(runs / "cornwall", tmp_path / "cornwall")
    return serve(tmp_path)


@pytest.fixture(scope="module")
def hostile(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the app over a run whose every text attacks it."""
    folder = tmp_path_factory.mktemp("hostile")
    text, word = HOSTILE * 100, "w" * 100_000
    one = Example(
        f"a/{HOSTILE}",
        "q",
        HOSTILE,
        question=text,
        answer=text + word,
        reference=(HOSTILE,),
        contexts=tuple(Context(f"{HOSTILE}{rank}", text, rank) for rank in (1, 2)),
        slices={HOSTILE: HOSTILE},
        labels={HOSTILE: HOSTILE},
        meta={HOSTILE: HOSTILE},
    )
    ragstone.evaluate([one], metrics=["exact_match", "faithfulness"], out=folder / "hostile")
    return serve(folder)


def scores(page: Page) -> str:
    return page.locator("#first-scores").inner_text()


def test_a_verdict_is_corrected_by_keyboard_and_taken_back(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(app + EXAMPLE)
    before = scores(page)
    page.locator("#claim-1").focus()
    page.keyboard.press("o")
    page.keyboard.press("2")
    row = page.locator("#claim-1")
    expect(row.locator("s")).to_have_text("supported")
    expect(row).to_be_focused()
    expect(page.locator(".cl.contradicted[data-k='1']")).to_be_visible()
    assert scores(page) != before
    assert "corrected" in scores(page)
    page.reload()
    expect(row.locator("s")).to_have_text("supported")
    row.get_by_role("button", name="undo").click()
    expect(row.locator("s")).to_have_count(0)
    assert scores(page) == before


def test_the_contexts_that_support_a_claim_are_chosen_by_digits(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(app + EXAMPLE)
    row = page.locator("#claim-1")
    for key, verdict in (("3", "absent"), ("1", "supported")):
        row.focus()
        page.keyboard.press("o")
        page.keyboard.press(key)
        expect(row.locator("summary").first).to_have_attribute(
            "aria-label", f"{verdict}: correct support/claim#1"
        )
    expect(row).to_contain_text("Which contexts support it?")
    chosen = row.locator("[data-choice][aria-pressed]")
    for digit in "120":
        page.keyboard.press(digit)
        expect(row.locator(f"[data-choice='{digit}']")).to_have_attribute("aria-pressed", "true")
    expect(chosen).to_have_count(1)
    page.keyboard.press("Escape")
    expect(row.locator("details[open]")).to_have_count(0)


def test_a_claim_is_dropped_with_a_reason(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(app + EXAMPLE)
    rows = page.locator("#claims-matrix tr[data-row]")
    many = rows.count()
    page.locator("#claim-1 details.over > summary").first.click()
    page.get_by_role("link", name="reword or drop").first.click()
    words = page.locator("#claim-1 .words")
    words.get_by_label("Why").fill("It is no claim.")
    words.get_by_role("button", name="Drop").click()
    expect(rows).to_have_count(many - 1)
    expect(page.locator(".gone-unit")).to_contain_text("It is no claim.")


def test_two_people_at_once_and_the_later_is_told(app: str, watch: Watch) -> None:
    first, second = watch().page, watch()
    for page in (first, second.page):
        page.goto(app + EXAMPLE)
    first.get_by_label("corrections by").fill("Ann")
    for page, key in ((first, "2"), (second.page, "3")):
        page.locator("#claim-1").focus()
        page.keyboard.press("o")
        page.keyboard.press(key)
        expect(page.locator("#claim-1 s")).to_have_text("supported")
    expect(second.page.get_by_role("alert")).to_contain_text("Not saved: Ann said “contradicted”")
    # The browser reports the answer 409 as a failed load; it is what was asked for.
    second.wrong = [one for one in second.wrong if "409" not in one]


@pytest.mark.parametrize("wide", [WIDE, NARROW])
def test_hostile_text_does_nothing_and_nothing_overflows(
    hostile: str, watch: Watch, wide: int
) -> None:
    one = watch(wide=wide)
    one.page.goto(f"{hostile}/runs/hostile?page=1")
    assert one.overflow() == 0
    one.page.locator("#examples a[rel=open]").click()
    expect(one.page.locator("#answer")).to_contain_text("<script>alert(1)</script>")
    assert one.overflow() == 0
    one.page.locator("#answer a.more").click()
    expect(one.page.locator("#more-answer-20000")).to_be_visible()
    assert one.overflow() == 0
    assert one.page.locator("main script, main img").count() == 0


@pytest.mark.parametrize("query", ["", "?part=over&about=support/claim%232", "?part=calls"])
def test_an_example_has_no_barrier_and_fits(
    serve: Serve, runs: Path, watch: Watch, query: str
) -> None:
    one = watch()
    one.page.goto(serve(runs) + EXAMPLE + query)
    one.looked_at()
