"""The links that people get, opened in a real browser."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.queue import Queue
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.serving import served

from .conftest import NARROW, WIDE, Watched


@pytest.fixture(params=["t0ken", ""], ids=["with an owner's token", "without"])
def app(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, RunsFolder]]:
    """The address of an app, and what it shows."""
    place = RunsFolder(tmp_path)
    with served(lambda host: make_app(place, Access(frozenset({host}), request.param))) as host:
        yield f"http://{host}", place


@pytest.fixture
def mail() -> Iterator[str]:
    """The address of a page on another site, which links to the address in its query."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            address = self.path.partition("?")[2]
            self.wfile.write(f'<a href="{address}">your link</a>'.encode())

        def log_message(self, format: str, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_port}/?"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_link_in_a_mail_that_is_read_in_the_browser_leads_to_the_queue(
    app: tuple[str, RunsFolder], mail: str, chromium: Browser
) -> None:
    address, place = app
    token = Queue.make(place.labels(), QueueForm("q", ()), []).invite("Ann")
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{mail}{address}/a/{token}")
    page.click("a")
    page.wait_for_url(f"{address}/annotate/q")
    page.wait_for_selector("main")
    assert page.locator("nav a").count() == 0
    # Nor does a link without a token make somebody a stranger, or the owner.
    page.goto(f"{mail}{address}/annotate/q")
    page.click("a")
    page.wait_for_selector("main")
    assert page.url == f"{address}/annotate/q"
    assert page.locator("nav a").count() == 0
    context.close()


@pytest.mark.parametrize("wide", [WIDE, NARROW])
def test_who_enters_the_token_sees_the_page_that_they_asked_for(
    tmp_path: Path, watch: Callable[..., Watched], wide: int
) -> None:
    place = RunsFolder(tmp_path)
    with served(lambda host: make_app(place, Access(frozenset({host}), "t0ken"))) as host:
        one = watch(wide=wide)
        one.page.goto(f"http://{host}/annotate?page=2")
        for token, title in (("guess", "This token is wrong"), ("t0ken", "Queues")):
            assert one.barriers() == []
            assert one.overflow() == 0
            one.page.fill("input[name=token]", token)
            one.page.keyboard.press("Enter")
            one.page.wait_for_selector(f"h1:has-text('{title}')")
        assert one.page.url == f"http://{host}/annotate?page=2"
        one.page.goto("about:blank")
        one.wrong = [said for said in one.wrong if "401" not in said]
