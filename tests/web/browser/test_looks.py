"""Each page, wide and narrow, light and dark: nothing overflows and nothing is a barrier."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import NARROW, WIDE, Serve, Watched

PAGES = {
    "runs": "/",
    "run": "/runs/cornwall",
    "slices of a run": "/runs/cornwall?by=question_type",
    "compare": "/compare?runs=cornwall",
    "judge": "/runs/cornwall/judge",
    "nothing there": "/nowhere",
}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", PAGES.values(), ids=list(PAGES))
def test_a_page_has_no_barrier_and_fits(
    serve: Serve, watch: Callable[..., Watched], runs: Path, path: str, dark: bool
) -> None:
    address = serve(runs)
    for wide in (WIDE, NARROW):
        one = watch(wide=wide, dark=dark)
        one.page.goto(address + path)
        one.page.wait_for_selector("#waits", state="detached")
        assert one.barriers() == []
        assert one.overflow() == 0
        one.wrong = [said for said in one.wrong if "404" not in said]
