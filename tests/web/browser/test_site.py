"""The built site of the documentation in a browser: ``make docs`` builds it."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect
from starlette.staticfiles import StaticFiles

from tests.availability import unavailable
from tests.project import ROOT
from tests.serving import served

from .conftest import Watched


@pytest.fixture
def site() -> Iterator[str]:
    if not (ROOT / "site").is_dir():
        unavailable("needs the site: make docs")
    with served(lambda _: StaticFiles(directory=ROOT / "site")) as host:
        yield f"http://{host}"


@pytest.mark.parametrize("page", ["index", "docs/metrics", "docs/python/ragstone"])
def test_a_page_fits_any_width_and_loads_nothing_from_elsewhere(
    page: str, site: str, watch: Callable[..., Watched]
) -> None:
    """``watch`` fails on a request that leaves this machine."""
    watched = watch()
    watched.page.goto(f"{site}/{page}.html")
    watched.looked_at()


def test_search_finds_a_page(site: str, watch: Callable[..., Watched]) -> None:
    page = watch().page
    page.goto(f"{site}/index.html")
    page.locator("html.js").wait_for()
    page.keyboard.press("/")
    page.get_by_role("combobox", name="Search").fill("bertscore")
    expect(
        page.get_by_role("option").filter(has_text="Compare texts by embeddings").first
    ).to_be_visible()
