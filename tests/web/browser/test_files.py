"""The report and the app as files, opened from the disk."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import ragstone
from ragstone.web.static_site import write_static

from .conftest import Watched


@pytest.fixture(scope="module")
def report(runs: Path) -> str:
    return ragstone.write_report(runs / "cornwall", runs.parent / "report.html").path.as_uri()


def test_the_report_has_no_barrier_and_fits(watch: Callable[..., Watched], report: str) -> None:
    one = watch()
    one.page.goto(report)
    one.looked_at()


def test_a_word_without_end_does_not_widen_the_report(
    watch: Callable[..., Watched], tmp_path: Path
) -> None:
    row = {"question": "How long?", "contexts": ["It is 90 m long."], "answer": "y" * 3000}
    ragstone.evaluate([row], metrics=["faithfulness"], judge="local", out=tmp_path / "run")
    one = watch()
    one.page.goto(ragstone.write_report(tmp_path / "run", tmp_path / "r.html").path.as_uri())
    expect(one.page.locator(".against").first).to_be_visible()
    assert one.overflow() == 0


def test_a_filter_of_the_report_is_in_its_address(
    watch: Callable[..., Watched], report: str
) -> None:
    one = watch()
    one.page.goto(report)
    one.page.get_by_label("first fault").select_option("not_retrieved")
    assert one.page.url.endswith("#answers?stage=not_retrieved")
    shown = one.page.locator("#answers tbody tr:visible")
    assert shown.count() == int(one.page.locator("#shown").inner_text()) == 6
    again = watch()
    again.page.goto(one.page.url)
    assert again.page.locator("#answers tbody tr:visible").count() == 6


def test_a_link_to_one_of_the_worst_answers_opens_it(
    watch: Callable[..., Watched], report: str
) -> None:
    one = watch()
    one.page.goto(report)
    last = one.page.locator("#worst > details").last
    assert last.get_attribute("open") is None
    one.page.goto(f"{report}#{last.get_attribute('id')}")
    assert last.get_attribute("open") is not None


def test_the_app_as_files_is_walked_without_a_server(
    watch: Callable[..., Watched], tmp_path: Path
) -> None:
    rows = [
        {"id": f"e{at}", "question": f"{at}?", "answer": "90", "reference": "90", "contexts": []}
        for at in range(2)
    ]
    ragstone.evaluate(rows, metrics=["exact_match"], out=tmp_path / "runs" / "small")
    start = write_static(tmp_path / "runs", tmp_path / "site").start
    one = watch()
    one.page.goto(start.as_uri())
    one.page.get_by_role("link", name="small").click()
    one.page.locator("#examples a[rel=open]").first.click()
    assert "examples" in one.page.url
    assert one.page.locator("#answer").inner_text() == "90"
    one.page.wait_for_load_state()
    one.page.keyboard.press("u")
    one.page.wait_for_url("**#examples")
    assert one.overflow() == 0


@pytest.fixture(scope="module")
def copy(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_static(runs / "cornwall", tmp_path_factory.mktemp("copy") / "site").start.as_uri()


def test_a_copy_has_no_barrier_and_fits(watch: Callable[..., Watched], copy: str) -> None:
    visit = watch()
    visit.page.goto(copy)
    visit.looked_at()


def test_a_copy_sorts_and_filters_its_answers_in_the_browser(
    watch: Callable[..., Watched], copy: str
) -> None:
    visit = watch()
    visit.page.goto(copy)
    rows = visit.page.locator("#examples tbody tr:visible")
    every = rows.count()

    def column(name: str) -> list[float]:
        heads = visit.page.locator("#examples thead th")
        names = [head.get_attribute("data-name") for head in heads.all()]
        texts = rows.locator(f"td:nth-child({names.index(name) + 1})").all_inner_texts()
        return [float(text) for text in texts if text not in ("–", "missing")]

    before = column("faithfulness")
    visit.page.locator("#examples th[data-name=faithfulness] button").click()
    assert before != column("faithfulness") == sorted(before)
    assert visit.page.url.endswith("#examples?sort=faithfulness")
    # A metric that has no column gets one, with the worst first.
    assert not visit.page.locator("#examples th[data-name=rouge_l]").count()
    visit.page.locator("#estimates a[href$='sort=rouge_l']").first.click()
    expect(visit.page.locator("#examples th[data-name=rouge_l]")).to_have_text("rouge_l")
    assert column("rouge_l") == sorted(column("rouge_l")) != []
    assert rows.count() == every
    visit.page.locator("#faults a[href*='stage=not_retrieved']").first.click()
    expect(rows).not_to_have_count(every)
    assert rows.count() > 0
    assert visit.page.locator("#examples select[name=stage]").input_value() == "not_retrieved"
    again = watch()
    again.page.goto(visit.page.url)
    assert again.page.locator("#examples tbody tr:visible").count() == rows.count()


def test_a_copy_is_read_without_scripts(chromium: Browser, copy: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(copy)
    rows = page.locator("#examples tbody tr")
    assert rows.count() == 24
    assert not page.locator("#filter").is_visible()
    page.get_by_role("link", name="Compare", exact=True).click()
    assert page.locator("h1").is_visible()
    page.go_back()
    page.get_by_role("link", name="Report", exact=True).click()
    page.locator("#faults a[href*='stage=']").first.click()
    rows.first.locator("a").click()
    first = page.locator("#answer").inner_text()
    page.get_by_role("link", name="Next example").click()
    assert page.locator("#answer").inner_text() != first
    context.close()
