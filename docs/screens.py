"""Take the pictures of the app that the docs show.

    python docs/screens.py RUNS RUN

RUNS is a folder with runs, RUN the name of one of them, evaluated from data of several systems.
Needs chromium. The pictures are written to docs/screens.
"""

import shutil
import sys
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import uvicorn
from playwright.sync_api import Page, sync_playwright

from ragstone import Run
from ragstone.web.app import make_app
from ragstone.web.asked import run_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.safe import Access

OUT = Path(__file__).parent / "screens"
WIDE, NARROW, HIGH = 1280, 390, 860
PORT = 8433


def addresses(run: Run, name: str) -> dict[str, str]:
    """The address of each picture."""
    of = run_path(name)
    scores = run.scores(["faithfulness"]).filter(status="value").sort("value", "example_id")
    first = scores.filter(scores["value"] > 0)["example_id"][0]
    return {
        "runs": "/",
        "run": of,
        "examples": f"{of}?where=faithfulness:0..0.5&sort=faithfulness#examples",
        "example": run_path(name, "examples", first),
        "compare": f"/compare?{urlencode({'runs': name, 'margin': '.05'})}",
        "judge": run_path(name, "judge"),
        "report": run_path(name, "report.html"),
    }


def shoot(page: Page, address: str, file: Path) -> None:
    """Open a page, wait until all of it is there, and take its picture."""
    page.goto(address)
    page.wait_for_selector("#waits, #soon, [hx-trigger^='load delay']", state="detached")
    if "#" in address:
        part = page.locator(f"#{address.partition('#')[2]}")
        part.evaluate("one => scrollTo(0, one.offsetTop - 60)")
    page.wait_for_timeout(300)
    page.screenshot(path=file)


def main() -> None:
    folder, name = Path(sys.argv[1]), sys.argv[2]
    OUT.mkdir(exist_ok=True)
    host = f"127.0.0.1:{PORT}"
    app = make_app(RunsFolder(folder), Access(frozenset({host})))
    server = uvicorn.Server(uvicorn.Config(app, port=PORT, log_config=None, lifespan="off"))
    Thread(target=server.run, daemon=True).start()
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for look, wide, dark in (
            ("", WIDE, False),
            ("-dark", WIDE, True),
            ("-phone", NARROW, False),
        ):
            page = browser.new_page(
                viewport={"width": wide, "height": HIGH}, color_scheme="dark" if dark else "light"
            )
            page.set_default_timeout(120_000)
            for what, path in addresses(Run.open(folder / name), name).items():
                if not look or what == "run":
                    shoot(page, f"http://{host}{path}", OUT / f"{what}{look}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
