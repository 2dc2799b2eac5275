"""Each page, wide and narrow, light and dark: nothing overflows and nothing is a barrier."""

from collections.abc import Callable
from pathlib import Path

import pytest

import ragstone
from ragstone.data import cornwall
from ragstone.testing import ScriptedEncoder

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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("suite", ["graphrag", "embedding"])
def test_a_report_has_no_barrier_and_fits(
    serve: Serve, watch: Callable[..., Watched], reports: Path, suite: str, dark: bool
) -> None:
    looked_at(serve(reports) + f"/runs/cornwall/suites/{suite}", watch, dark=dark)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", PAGES.values(), ids=list(PAGES))
def test_a_page_has_no_barrier_and_fits(
    serve: Serve, watch: Callable[..., Watched], runs: Path, path: str, dark: bool
) -> None:
    looked_at(serve(runs) + path, watch, dark=dark)


def looked_at(address: str, watch: Callable[..., Watched], *, dark: bool) -> None:
    for wide in (WIDE, NARROW):
        one = watch(wide=wide, dark=dark)
        one.page.goto(address)
        one.page.wait_for_selector("#waits, #soon", state="detached")
        assert one.barriers() == []
        assert one.overflow() == 0
        one.wrong = [said for said in one.wrong if "404" not in said]
