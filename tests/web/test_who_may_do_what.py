"""Who may do what: every kind of token at every address of a server, its pages and its intake."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from ragstone.monitor.intake.group_commit import IntakeSettings
from ragstone.monitor.intake.intake_app import (
    FIGURES,
    HEALTH,
    METRICS_IGNORED,
    PATHS,
    READY,
    SIGNALS,
    IntakeApp,
)
from ragstone.monitor.intake.send_tokens import SendTokens, new_send_token, revoke_send_token
from ragstone.monitor.store.store import open_store
from ragstone.web.auth import LEAVE, WrongTries
from ragstone.web.monitor_server import monitor_app
from ragstone.web.runs_folder import MonitorScreens, RunsFolder
from ragstone.web.security import Access
from ragstone.web.web_app import make_app
from tests.web.conftest import HOST, SECRET
from tests.web.test_auth import OWN, TO_ADJUDICATE, addresses, queues_in

OWNER = "the owner's"
Address = tuple[str, str]

TO_ALL = {("GET", "/static/style.css"), ("GET", HEALTH), ("GET", READY), ("POST", LEAVE)}
SENDING = {("POST", path) for path in (*SIGNALS, METRICS_IGNORED)}
SEEING_FIGURES = {("GET", FIGURES)}
PAGES = set(addresses()) - TO_ALL
LABELLING = {one for one in PAGES if one[1] in OWN}
ADJUDICATING = {one for one in PAGES if one[1] in OWN | TO_ADJUDICATE}
EVERY = TO_ALL | SENDING | SEEING_FIGURES | PAGES

MAY = {
    "nobody": set[Address](),
    "a guess as a cookie": set(),
    "a guess in the address": set(),
    "a guess as a bearer": set(),
    "the owner's cookie": PAGES,
    "the owner's token as a bearer": SEEING_FIGURES,
    "the send token as a bearer": SENDING,
    "the send token as the owner's cookie": set(),
    "the send token as a person's cookie": set(),
    "the send token in the address": set(),
    "the token of an app": SENDING,
    "the token of an app that was revoked": set(),
    "the hash of an app's token": set(),
    "an annotator": LABELLING,
    "an adjudicator": ADJUDICATING,
    "an annotator whose link was revoked": set(),
    "an annotator's token as a bearer": set(),
    "an annotator's token as the owner's cookie": set(),
}
"""What each may do besides what is open to all."""

ON_A_NETWORK, ALONE, NO_TOKEN = "on a network", "on this machine", "with --no-token"
OPEN = {
    ON_A_NETWORK: set[Address](),
    ALONE: SENDING | SEEING_FIGURES,
    NO_TOKEN: SENDING | SEEING_FIGURES | PAGES,
}
"""What each server lets everybody do, for whom it asks no token."""


@pytest.fixture(params=list(OPEN))
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator["Server"]:
    made = Server(tmp_path, request.param)
    yield made
    made.close()


class Server:
    """A monitor over a folder with two queues, as each kind of visitor sees it."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.kind = kind
        self._store = open_store(folder / "store")
        place = RunsFolder(self._store.folder, watching=MonitorScreens(self._store, takes=True))
        queues_in(place)
        queue = place.queue("one")
        annotator, adjudicator = queue.invite("Ann"), queue.invite("Ada", "adjudicator")
        gone = queue.invite("Ben")
        queue.revoke("Ben")
        file = folder / "tokens"
        shop, left = new_send_token(file, "shop"), new_send_token(file, "left")
        hashed = file.read_text().split()[1]
        revoke_send_token(file, "left")

        async def at_once(_: float) -> None:
            pass

        token = "" if kind == NO_TOKEN else OWNER
        access = Access(frozenset({HOST}), token, SECRET, WrongTries(sleep=at_once))
        on_network = kind == ON_A_NETWORK
        self._intake = IntakeApp(
            self._store,
            IntakeSettings(
                senders=SendTokens("sent", file) if on_network else SendTokens(),
                owner=OWNER if on_network else "",
            ),
        )
        self._app = monitor_app(self._intake, make_app(place, access), access)
        self._shows = {
            "a guess as a cookie": "ragstone-token guess",
            "a guess in the address": "? guess",
            "a guess as a bearer": "Bearer guess",
            "the owner's cookie": f"ragstone-token {OWNER}",
            "the owner's token as a bearer": f"Bearer {OWNER}",
            "the send token as a bearer": "Bearer sent",
            "the send token as the owner's cookie": "ragstone-token sent",
            "the send token as a person's cookie": "ragstone-person sent",
            "the send token in the address": "? sent",
            "the token of an app": f"Bearer {shop}",
            "the token of an app that was revoked": f"Bearer {left}",
            "the hash of an app's token": f"Bearer {hashed}",
            "an annotator": f"ragstone-person {annotator}",
            "an adjudicator": f"ragstone-person {adjudicator}",
            "an annotator whose link was revoked": f"ragstone-person {gone}",
            "an annotator's token as a bearer": f"Bearer {annotator}",
            "an annotator's token as the owner's cookie": f"ragstone-token {annotator}",
        }

    async def let_in(self, who: str) -> set[Address]:
        """Where somebody is not refused; what they ask for may be wrong all the same."""
        way, _, token = self._shows.get(who, "").partition(" ")
        headers = {"authorization": f"Bearer {token}"} if way == "Bearer" else {}
        transport = httpx.ASGITransport(self._app)
        found = set()
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            for method, path in EVERY:
                client.cookies.clear()
                if way.startswith("ragstone"):
                    client.cookies.set(way, token)
                given = path + (f"?token={token}" if way == "?" else "")
                if (method, path) in SENDING:
                    answer = await client.post(given, json={}, headers=headers)
                elif method == "POST":
                    params = dict(parse_qsl(urlsplit(given).query), secret=SECRET)
                    data = {"secret": SECRET}
                    answer = await client.post(given, params=params, data=data, headers=headers)
                else:
                    answer = await client.get(given, headers=headers)
                if answer.status_code not in (401, 403):
                    found.add((method, path))
        return found

    def close(self) -> None:
        self._intake.close()
        self._store.close()


@pytest.mark.parametrize("who", list(MAY))
def test_who_may_do_what(server: Server, who: str) -> None:
    may = TO_ALL | MAY[who] | OPEN[server.kind]
    if server.kind == NO_TOKEN and who in ("an annotator", "an adjudicator"):
        # A browser that has a person's link is that person.
        may -= PAGES - MAY[who]
    if (server.kind == NO_TOKEN and "revoked" in who and "annotator" in who) or who.endswith(
        "person's cookie"
    ):
        may -= PAGES
    assert asyncio.run(server.let_in(who)) == may


def test_every_address_of_the_intake_is_walked() -> None:
    assert {path for _, path in SENDING | SEEING_FIGURES | TO_ALL} >= PATHS
