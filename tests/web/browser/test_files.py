"""The report and the app as files, opened from the disk."""

from collections.abc import Callable
from pathlib import Path

import pytest

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
