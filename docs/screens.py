"""Take the pictures of the app that the docs show, from what ``ragstone demo`` shows.

    python docs/screens.py

Needs chromium. The pictures are written to docs/screens; drawn-from.json beside them has a
fingerprint of the code, the templates and the styles of each picture's page.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright

from ragstone import Run
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import divided_items
from ragstone.cli.demo import LABELLED, TO_LABEL
from ragstone.web.page_request import queue_path, run_path

OUT = Path(__file__).resolve().parent / "screens"
DRAWN_FROM = OUT / "drawn-from.json"
SOURCE = OUT.parents[1] / "src" / "ragstone"
WIDE, NARROW, HIGH = 1280, 390, 860
PORT = "8433"
RUN = "demo"

VIEWS = {
    "runs": "pages/runs_view.py",
    "run": "pages/run_view.py",
    "examples": "pages/run_view.py",
    "example": "pages/example_view.py",
    "compare": "pages/compare_view.py",
    "judge": "pages/judge_view.py",
    "report": "pages/run_view.py",
    "annotate": "pages/annotate_page.py",
    "progress": "pages/queue_page.py",
    "adjudicate": "pages/adjudicate_page.py",
    "monitor": "monitor_pages/overview_page.py",
}
"""The code of the page that each picture shows."""

IN_EACH_LOOK = {"run", "monitor"}
"""The pages whose pictures are also taken dark and on a phone."""


def drawn_from(name: str) -> str:
    """Return a fingerprint of the code, the templates and the styles of a picture's page."""
    web = SOURCE / "web"
    files, waiting = sorted(SOURCE.glob("report/render/*.css")), [web / VIEWS[name]]
    while waiting:
        files.append(waiting.pop())
        text = files[-1].read_text(encoding="utf-8")
        named = [web / "templates" / file for file in re.findall(r"\"(\w+\.html)\"", text)]
        named += [web / "static" / file for file in re.findall(r"asset\('(\w+\.css)'\)", text)]
        waiting += [file for file in dict.fromkeys(named) if file not in [*files, *waiting]]
    return sha256(b"\0".join(file.read_bytes() for file in sorted(files))).hexdigest()[:16]


def addresses(folder: Path) -> dict[str, str]:
    """Return the address of each page of the runs, by its picture."""
    of = run_path(RUN)
    scores = Run.open(folder / RUN).scores(["faithfulness"]).filter(status="value")
    some_support = scores.filter(scores["value"] > 0).sort("value", "example_id")
    labelled, to_label = (Queue(open_labels(folder), name) for name in (LABELLED, TO_LABEL))
    divided = divided_items(labelled)[0].item
    return {
        "runs": "/",
        "run": of,
        "examples": f"{of}?where=faithfulness:0..0.5&sort=faithfulness#examples",
        "example": run_path(RUN, "examples", some_support["example_id"][0]),
        "compare": f"/compare?runs={RUN}&margin=.05",
        "judge": run_path(RUN, "judge"),
        "report": run_path(RUN, "report.html"),
        "annotate": f"/a/{to_label.invite('ann')}",
        "progress": f"{queue_path(LABELLED)}/progress",
        "adjudicate": f"{queue_path(LABELLED)}/adjudicate/{divided}",
    }


@contextmanager
def served(*command: str) -> Iterator[str]:
    """Run a command that serves pages; gives the address that it prints."""
    words = [sys.executable, "-m", "ragstone", *command, "--no-browser", "--port", PORT]
    you = {**os.environ, "LOGNAME": "you"}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=you) as process:
        assert process.stdout
        yield next(found[0] for line in process.stdout if (found := re.search(r"http\S+", line)))
        process.terminate()


def shoot(page: Page, address: str, file: str) -> None:
    """Open a page, wait until all of it is there, and take its picture."""
    page.goto(address)
    page.wait_for_selector("#waits, #soon, [hx-trigger^='load delay']", state="detached")
    if "#" in address:
        part = page.locator(f"#{address.partition('#')[2]}")
        part.evaluate("part => scrollTo(0, part.offsetTop - 60)")
    page.wait_for_timeout(300)
    page.screenshot(path=OUT / f"{file}.png")


def shoot_all(browser: Browser, home: str, paths: dict[str, str]) -> None:
    """Take the picture of each page, of some in each look."""
    for look, width in (("", WIDE), ("-dark", WIDE), ("-phone", NARROW)):
        for name in IN_EACH_LOOK & paths.keys() if look else paths:
            # A page of its own, for who opens an invitation is that person from then on.
            page = browser.new_page(
                viewport={"width": width, "height": HIGH},
                color_scheme="dark" if look == "-dark" else "light",
            )
            page.set_default_timeout(120_000)
            page.goto(home)
            shoot(page, home.partition("/?")[0] + paths[name], name + look)
            page.close()


def main() -> None:
    """Take all pictures anew."""
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    # The pages name the runs by the paths that the commands are told.
    with TemporaryDirectory() as folder, chdir(folder), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served("demo", "runs") as home:
            shoot_all(browser, home, addresses(Path("runs")))
        with served("view", "runs/monitor") as home:
            shoot_all(browser, home, {"monitor": "/monitor"})
        browser.close()
    fingerprints = {name: drawn_from(name) for name in VIEWS}
    DRAWN_FROM.write_text(json.dumps(fingerprints, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
