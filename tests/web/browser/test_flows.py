"""What people do in the app, in a real browser."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from playwright.sync_api import Page, expect

from .conftest import Serve, Watched

Watch = Callable[..., Watched]


@pytest.fixture
def app(serve: Serve, runs: Path, tmp_path: Path) -> str:
    """The address of the app over two copies of a run, so that what is written stays here."""
    for name in ("before", "after"):
        copytree(runs / "cornwall", tmp_path / name)
    return serve(tmp_path)


def rows(page: Page) -> int:
    return page.locator("#examples tr[data-row]").count()


def test_a_filter_survives_a_refresh_and_is_remembered(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(f"{app}/")
    page.get_by_role("link", name="after").first.click()
    page.wait_for_url("**/runs/after")
    assert rows(page) == 24
    form = page.locator("#examples form[role=search]")
    form.get_by_label("with").select_option("faithfulness")
    form.get_by_label("from").fill("0")
    form.get_by_label("to").fill("0.5")
    form.get_by_role("button", name="Apply").click()
    page.wait_for_url("**where=faithfulness**")
    few = rows(page)
    assert 0 < few < 24
    page.reload()
    assert rows(page) == few
    page.goto(f"{app}/")
    page.goto(f"{app}/runs/after")
    assert rows(page) == few, "a run opens with the filter that was used last"
    page.goto(f"{app}/runs/before")
    assert rows(page) == 24
    page.goto(f"{app}/runs/after")
    page.locator("#examples .token a").first.click()
    expect(page.locator("#examples tr[data-row]")).to_have_count(24)


def test_a_filter_gets_a_name_and_is_there_for_every_run(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(f"{app}/runs/after?where=faithfulness:0..0.5")
    few = rows(page)
    page.locator("#examples summary", has_text="Saved filters").click()
    page.get_by_label("call this filter").fill("weak <b>grounding</b>")
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto(f"{app}/runs/before")
    page.get_by_role("link", name="weak <b>grounding</b>").first.click()
    expect(page.locator("#examples tr[data-row]")).to_have_count(few)


def test_the_keyboard_goes_from_the_table_into_an_example_and_on(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(f"{app}/runs/after?where=faithfulness:0..0.5&sort=faithfulness")
    first = page.locator("#examples tr[data-row]").first
    first.focus()
    question = first.locator("a[rel=open]").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_url("**/examples/**")
    expect(page.locator(".ask")).to_have_text(question)
    here = page.url
    page.keyboard.press("n")
    page.wait_for_function("url => location.href !== url", arg=here)
    page.keyboard.press("p")
    page.wait_for_url(here)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    page.wait_for_url("**/runs/after?where=faithfulness**")


def test_a_claim_lights_up_with_what_settles_it(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(f"{app}/runs/after?sort=-faithfulness")
    page.locator("#examples a[rel=open]").first.click()
    claim = page.locator("tr[data-k='1']")
    claim.focus()
    expect(page.locator(".cl.lit").first).to_be_visible()
    expect(page.locator(".quote.lit").first).to_be_visible()


def test_light_and_dark_are_remembered(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(app)
    paper = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(paper)
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(paper) != before
    page.goto(f"{app}/runs/after")
    assert page.evaluate(paper) != before


def test_two_runs_are_chosen_and_compared(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(app)
    for name in ("before", "after"):
        page.get_by_label(f"Choose {name}").check()
    page.get_by_role("button", name="Compare the chosen").click()
    page.wait_for_url("**/compare?**")
    expect(page.get_by_role("heading", name="Paired differences")).to_be_visible()
