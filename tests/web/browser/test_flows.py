"""What people do in the app, in a real browser."""

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest
from playwright.sync_api import Page, expect

from .conftest import Serve, Watched

Watch = Callable[..., Watched]


@pytest.fixture(scope="module")
def app(serve: Serve, runs: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the app over two copies of a run, so that what is written stays here.

    Each test undoes what other tests would see.
    """
    folder = tmp_path_factory.mktemp("flows")
    for name in ("before", "after"):
        copytree(runs / "cornwall", folder / name)
    return serve(folder)


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
    page.locator("#examples summary", has_text="Saved filters").click()
    delete = page.get_by_role("button", name="Delete the filter weak <b>grounding</b>")
    delete.click()
    expect(delete).to_have_count(0)


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
    page.wait_for_load_state()
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


def test_a_verdict_is_corrected_by_keyboard_and_taken_back(app: str, watch: Watch) -> None:
    page = watch().page

    def mean() -> str:
        page.goto(f"{app}/runs/after")
        row = page.locator("table.est tbody", has_text="faithfulness").first
        return row.locator("td.val").first.inner_text()

    before = mean()
    system = page.locator("table.est td .who").first.inner_text()
    page.goto(f"{app}/runs/after?system={system}&where=faithfulness:0.01..1&sort=-faithfulness")
    page.locator("#examples a[rel=open]").first.click()
    page.wait_for_url("**/examples/**")
    score = page.locator("#scores .scoreline > div", has_text="faithfulness").first
    judged = score.inner_text()
    page.locator("tr[data-k='1']").focus()
    page.keyboard.press("o")
    choices = page.locator("tr[data-k='1'] button[data-choice]")
    supported = choices.filter(has_text="supported")
    expect(supported).to_be_visible()
    words = [text.strip() for text in choices.all_inner_texts()]
    absent = next(at for at, text in enumerate(words) if "absent" in text)
    page.keyboard.press(str(absent + 1))
    undo = page.locator("tr[data-k='1'] .why:not(.sheet .why) button.undo:visible")
    expect(undo).to_have_count(1)
    expect(page.locator("tr[data-k='1'] s").first).to_have_text("supported")
    expect(score).not_to_have_text(judged)
    example = page.url
    assert mean() != before, "the estimates see the correction"
    page.goto(example)
    undo.click()
    expect(page.locator("tr[data-k='1'] s")).to_have_count(0)
    expect(score).to_have_text(judged, use_inner_text=True)
    assert mean() == before


def test_the_judge_is_beside_people(app: str, watch: Watch) -> None:
    page = watch().page
    page.goto(f"{app}/runs/after/judge")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.goto(f"{app}/runs/after/people")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
