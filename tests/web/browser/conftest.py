"""A real browser on the running app; every page is watched for errors and for what it requests."""

import json
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvicorn
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.availability import unavailable

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
"""Without a window of its own to draw, the first takes three fifths of the time of the others."""
WIDE, NARROW = 1280, 390
FLAGS = ["--no-sandbox", "--in-process-gpu"]
"""There is no graphics card here for which a process of its own would be worth while."""
PATIENCE = 60_000
"""Milliseconds until an action that never comes fails; a busy machine is far below it."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser; while it is there an event loop runs in this thread, so not beyond its file."""
    if CHROMIUM is None:
        unavailable("needs chromium: apt-get install chromium-headless-shell")
    with sync_playwright() as playwright:
        try:
            made = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        except PlaywrightError:  # Chromium itself crashed at its start.
            made = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield made
        made.close()


expect.set_options(timeout=PATIENCE)


CONTRAST = "color-contrast"
COLOURS = [CONTRAST, "link-in-text-block"]
"""The rules of axe about colours."""
AT_ANY_WIDTH = [CONTRAST, "css-orientation-lock"]
"""Rules whose answer is the same at any width, so asked at one."""
MARK_COLOURS = """() => {
  const numbers = new Map(), seen = new Map(), needed = new Set();
  const number = words => numbers.get(words) ?? numbers.set(words, numbers.size).size - 1;
  const look = (one, around) => {
    const css = getComputedStyle(one);
    const ground = number([around, one.getAttribute("class"), css.backgroundColor,
      css.backgroundImage, css.opacity, css.position, css.filter, css.mixBlendMode,
      one.matches(":disabled, [aria-disabled]")].join());
    const kind = [ground, css.color, css.fontSize, css.fontWeight, css.textShadow].join();
    const words = [...one.childNodes].some(child => child.nodeType === 3 && child.data.trim());
    const many = seen.get(kind) ?? 0, mark = one.checkVisibility({ visibilityProperty: true })
      && (words || one.matches("input, select, textarea, button")) && many < 3;
    one.toggleAttribute("data-colours", mark);
    if (mark) seen.set(kind, many + 1);
    let need = mark || css.backgroundColor !== "rgba(0, 0, 0, 0)" || css.backgroundImage !== "none"
      || one.matches("a, img, svg, canvas, video, object, iframe");
    for (const child of one.children) need = look(child, ground) || need;
    if (need) needed.add(one);
    return need;
  };
  look(document.documentElement, 0);
  document.createTreeWalker = (root, what) => Document.prototype.createTreeWalker.call(
    document, root, what, one => needed.has(one) ? 1 : 2);
}"""
"""Marks words to look at for contrast: of those in the same colours on the same grounds, three.

A table has thousands, and to find what lies behind each is most of the work of axe, so in this
run of axe it is looked for only among marked words, links and backgrounds.
"""
PAGE_LAYOUT = Path(__file__).with_name("page_layout.js").read_text(encoding="utf-8")
Serve = Callable[[Path], str]


@pytest.fixture(scope="session")
def serve() -> Iterator[Serve]:
    """Serves a folder of runs, each by one server; gives the address."""
    servers: list[tuple[uvicorn.Server, threading.Thread]] = []

    @cache
    def start(folder: Path) -> str:
        taken = socket.create_server(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        app = make_app(RunsFolder(folder), Access(frozenset({host})))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]}, daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://{host}"

    yield start
    for server, _ in servers:
        server.should_exit = True
    for _, thread in servers:
        thread.join()


class Watched:
    """A page of the browser, with what must not happen on it.

    Attributes:
        page: The page.
        wrong: Errors on the console, failed requests, dialogs, requests off the machine.
    """

    def __init__(self, browser: Browser, *, wide: int) -> None:
        self.wide = wide
        self.context = browser.new_context(viewport={"width": wide, "height": 900})
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self._devtools = self.context.new_cdp_session(self.page)
        self.wrong: list[str] = []
        self.page.on("console", lambda said: self._heard(said.type, said.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"a dialog: {dialog.message}"))
        self.page.on("request", lambda one: self._asked(one.url))

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.wrong.append(f"console {kind}: {text}")

    def _asked(self, url: str) -> None:
        if urlsplit(url).scheme not in ("data", "file") and urlsplit(url).hostname != "127.0.0.1":
            self.wrong.append(f"a request to {url}")

    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        return max(0, int(wide))

    def misplaced(self) -> list[str]:
        """Texts that lie over something, and what is cut without a way to reach it."""
        return list(self.page.evaluate(PAGE_LAYOUT))

    def resize(self, wide: int) -> None:
        if self.wide != wide:
            self.wide = wide
            self.page.set_viewport_size({"width": wide, "height": 900})

    def leave(self) -> None:
        """Make the browser forget what was done here, as if never opened.

        It ends on an empty page of the same site: another site costs a new process.
        """
        for other in self.context.pages[1:]:
            other.close()
        self.page.unroute_all()
        here = urlsplit(self.page.url)
        origin = f"{here.scheme}://{here.netloc}"
        self.page.route(f"{origin}/left", lambda route: route.fulfill(body=""))
        self.page.goto(f"{origin}/left")
        self.page.unroute_all()
        self.page.emulate_media(color_scheme="light")
        forget = {"origin": origin, "storageTypes": "all"}
        self._devtools.send("Storage.clearDataForOrigin", forget)
        self.context.clear_cookies()
        self.wrong = []

    def barriers(self) -> list[str]:
        """What axe finds serious or critical in either theme, each rule where it may differ.

        Colours do not depend on the width, nor anything but colours on the theme; colours take
        most of the time.
        """
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE_SCRIPT)
            rule = {"id": CONTRAST, "selector": "[data-colours]"}
            self.page.evaluate(f"axe.configure({json.dumps({'rules': [rule], 'noHtml': True})})")
        if self.wide != WIDE:
            return self._found({"rules": {rule: {"enabled": False} for rule in AT_ANY_WIDTH}})
        self.page.evaluate(MARK_COLOURS)
        found = self._found({})
        self.page.emulate_media(color_scheme="dark")
        self.page.evaluate(MARK_COLOURS)
        found += self._found({"runOnly": COLOURS})
        self.page.emulate_media(color_scheme="light")
        return found

    def _found(self, options: dict[str, object]) -> list[str]:
        # A page from the disk may not ask for its styles a second time.
        preload = not self.page.url.startswith("file:")
        given = json.dumps({"resultTypes": ["violations"], "preload": preload, **options})
        found = self.page.evaluate(f"axe.run({given}).then(found => found.violations)")
        self.page.evaluate("delete document.createTreeWalker")
        return [
            f"{one['id']}: {node['target']}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    def looked_at(self) -> None:
        """Wide and narrow, the page fits and has no barrier."""
        for wide in (WIDE, NARROW):
            self.resize(wide)
            assert self.barriers() == []
            assert self.overflow() == 0


@pytest.fixture(scope="module")
def first_page(chromium: Browser) -> Watched:
    """The page that each test of a file begins with: opening a new one takes as long as a test."""
    return Watched(chromium, wide=WIDE)


@pytest.fixture
def watch(chromium: Browser, first_page: Watched) -> Iterator[Callable[..., Watched]]:
    """Opens watched pages; what went wrong on any of them fails the test."""
    opened: list[Watched] = []

    def start(*, wide: int = WIDE, anew: bool = False) -> Watched:
        if anew or first_page in opened:
            opened.append(Watched(chromium, wide=wide))
        else:
            first_page.resize(wide)
            opened.append(first_page)
        return opened[-1]

    yield start
    wrong = [words for watched in opened for words in watched.wrong]
    for watched in opened:
        if watched is first_page:
            watched.leave()
        else:
            watched.context.close()
    assert wrong == []
