"""Take the pictures of the app that the docs show.

    python docs/screens.py RUNS RUN
    python docs/screens.py RUNS RUN labelling
    python docs/screens.py STORE monitor

RUNS is a folder with runs, RUN the name of one of them, evaluated from data of several systems; for
labelling, the bundled data. STORE is the folder of a monitor.
Needs chromium. The pictures are written to docs/screens.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from urllib.parse import urlencode

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from ragstone import Run
from ragstone.analysis import annotate
from ragstone.annotation.queue.form import ItemAnswers
from ragstone.annotation.queue.labels_store import open_labels
from ragstone.annotation.queue.queue import Queue
from ragstone.annotation.queue.queue_results import divided_items
from ragstone.web.page_request import queue_path, run_path
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app

OUT = Path(__file__).resolve().parent / "screens"
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


def labelled(folder: Path, name: str) -> Queue:
    """A queue on answers of the run, which two simulated people have labelled in part.

    Ann goes by the judge's score; Ben differs from her on every fourth answer, and says why. Each
    takes half a minute for an answer.
    """
    run = folder / name
    annotate(run, folder, tasks=["grounding"], per_item=2, name="grounding", seed=1)
    times = count(datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp(), 10)
    queue = Queue(open_labels(folder), "grounding", now=lambda: float(next(times)))
    scores = Run.open(run).scores(["unsupported_claim"])
    wrong = set(scores.filter(scores["value"] == 1)["example_id"])
    for person, answers_given in (("ann", 18), ("ben", 14)):
        queue.invite(person)
        item = queue.next(person)
        for at in range(answers_given):
            if item is None:
                break
            fault = (item.id in wrong) != (person == "ben" and at % 4 == 1)
            said = {one.label: "no" for one in queue.form.asked}
            said |= {"support_present": "yes", "unsupported_claim_present": "no"}
            said |= {"unsupported_claim_present": "yes"} if fault else {}
            said |= {"source_cited": "yes"} if "[" in str(item.shown.get("answer")) else {}
            note = "The distance is in no passage." if person == "ben" and at % 4 == 1 else ""
            answers = ItemAnswers({("answer", ""): said}, note)
            item = queue.save(person, item.item, answers, str(at))
    return queue


def shoot_labelling(browser: Browser, folder: Path, name: str) -> None:
    """The screens of a queue: at the desk, how far it is, and what divides people."""
    with TemporaryDirectory() as place:
        shutil.copytree(folder / name, Path(place) / "runs" / name)
        # The pages name the run as it is named here.
        os.chdir(place)
        runs = Path("runs")
        queue = labelled(runs, name)
        path, divided = queue_path(queue.name), divided_items(queue)[0].item
        with serving(runs) as host:
            page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
            shoot(page, f"{host}/a/{queue.invite('ann')}", "annotate")
            page.close()
            page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
            shoot(page, f"{host}{path}/progress", "progress")
            page.goto(f"{host}/a/{queue.invite('cem', 'adjudicator')}")
            shoot(page, f"{host}{path}/adjudicate/{divided}", "adjudicate")


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The app over a folder, while pictures are taken."""
    app = make_app(RunsFolder(folder), Access(frozenset({f"127.0.0.1:{PORT}"})))
    server = uvicorn.Server(uvicorn.Config(app, port=PORT, log_config=None, lifespan="off"))
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{PORT}"
    server.should_exit = True
    thread.join()


def shoot(page: Page, address: str, name: str) -> None:
    """Open a page, wait until all of it is there, and take its picture."""
    page.set_default_timeout(120_000)
    page.goto(address)
    page.wait_for_selector("#waits, #soon, [hx-trigger^='load delay']", state="detached")
    if "#" in address:
        part = page.locator(f"#{address.partition('#')[2]}")
        part.evaluate("one => scrollTo(0, one.offsetTop - 60)")
    page.wait_for_timeout(300)
    page.screenshot(path=OUT / f"{name}.png")


def shoot_all(browser: Browser, folder: Path, paths: Mapping[str, str], main: str) -> None:
    """The screens at these paths; one of them also dark, and on a phone."""
    with serving(folder) as host:
        for look, wide in (("", WIDE), ("-dark", WIDE), ("-phone", NARROW)):
            page = browser.new_page(
                viewport={"width": wide, "height": HIGH},
                color_scheme="dark" if look == "-dark" else "light",
            )
            for name, path in paths.items():
                if not look or name == main:
                    shoot(page, f"{host}{path}", f"{name}{look}")
            page.close()


def main() -> None:
    folder, name, *what = Path(sys.argv[1]), *sys.argv[2:]
    OUT.mkdir(exist_ok=True)
    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        if name == "monitor":
            shoot_all(browser, folder, {"monitor": "/monitor"}, "monitor")
        elif what != ["labelling"]:
            shoot_all(browser, folder, addresses(Run.open(folder / name), name), "run")
        else:
            shoot_labelling(browser, folder, name)
        browser.close()


if __name__ == "__main__":
    main()
