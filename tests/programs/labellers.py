"""Simulated people who label a queue in the local app over HTTP, as browsers do."""

import re
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from secrets import token_hex
from urllib.parse import urlencode, urlsplit

from ragstone.annotation.queue.form import AskedLabel, ItemPart, QueueForm, QueueItem
from ragstone.web.auth import PERSON
from tests.forked import COMMAND, Forked

LABEL = "helpful"
FORM = QueueForm("first", (AskedLabel(LABEL, "answer", ("yes", "no")),))
FIELDS = "application/x-www-form-urlencoded"
PATH = f"/annotate/{FORM.name}"
SECRET = re.compile(r'<meta name="secret" content="([^"]*)"')
ITEM = re.compile(r'<div id="item"[^>]* data-item="(\d+)"')
AWAY = (502, 503, 504)
"""At which a browser tries again."""
PAUSE, PATIENCE = 0.05, 60.0
"""Seconds between tries to reach a server that does not answer, and until they are given up."""


def items(count: int) -> list[QueueItem]:
    """Answers of 800 characters with five contexts of a thousand each."""
    contexts = [{"name": str(n), "text": f"passage {n} " * 100} for n in range(1, 6)]
    return [
        QueueItem(
            n,
            f"e{n}",
            {"question": f"What was built in {n}?", "answer": "Oak. " * 160, "contexts": contexts},
            (ItemPart("answer"),),
        )
        for n in range(1, count + 1)
    ]


class Server:
    """``ragstone view`` as a process of its own, on one port however often it is started.

    Args:
        folder: Of the runs, and of ``labels.sqlite`` unless a store is given.
        store: An address ``postgresql://…``.
    """

    def __init__(self, folder: Path, store: str = "") -> None:
        self._arguments = ["view", str(folder), "--no-browser"]
        self._arguments += ["--labels", store] if store else []
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it, and wait until it says where it is."""
        arguments = [*self._arguments, "--port", str(self.port)]
        self._process = Forked(COMMAND, *arguments, cwd=Path.cwd())
        port = urlsplit(self._process.address()).port
        assert port is not None
        self.port = port

    def kill(self) -> None:
        """End it without a warning, with −9."""
        self._process.kill()
        self._process.communicate()


@dataclass
class Labeller:
    """A person with a browser: what they said of each item, as far as the server confirmed it, and
    all pages they saw."""

    port: int
    name: str
    token: str
    said: dict[int, dict[str, str]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    _secret: str = field(default="", repr=False)
    _connection: HTTPConnection | None = None

    def come(self) -> int | None:
        """Open the queue; the item that is shown, None if none is left."""
        while (answer := self._until_answered("GET", PATH))[0] in AWAY:
            time.sleep(PAUSE)
        status, page = answer
        assert status == 200, f"{status} {page}"
        found = SECRET.search(page)
        assert found is not None
        self._secret = found[1]
        return self._shown(page)

    def save(self, item: int, said: dict[str, str]) -> int | None:
        """Save what is said of an item, as often as it takes; the next item."""
        fields = {"action": "save", "once": token_hex(12), "person": self.name, "seen": "0", **said}
        while True:
            status, page = self._until_answered("POST", f"{PATH}/{item}", fields)
            if status == 200:
                self.said[item] = said
                return self._shown(page)
            if status == 403:
                # A server that was started again has another secret.
                self.come()
            else:
                assert status in AWAY, f"{status} {page}"
                time.sleep(PAUSE)

    def leave(self) -> None:
        """Close the browser."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _shown(self, page: str) -> int | None:
        """The number of the item that a page shows; None if none is left."""
        assert '<div id="item"' in page, page
        return int(found[1]) if (found := ITEM.search(page)) else None

    def _until_answered(
        self, method: str, path: str, fields: dict[str, str] | None = None
    ) -> tuple[int, str]:
        until = time.monotonic() + PATIENCE
        while True:
            was_open = self._connection is not None
            try:
                return self._asked(method, path, fields)
            except (OSError, HTTPException):
                self.leave()
                if time.monotonic() > until:
                    raise
                # A server closes what was not used for a while.
                if not was_open:
                    time.sleep(PAUSE)

    def _asked(self, method: str, path: str, fields: dict[str, str] | None) -> tuple[int, str]:
        if self._connection is None:
            self._connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Cookie": f"{PERSON}-{self.port}={self.token}"}
        body = None
        if fields is not None:
            headers |= {"HX-Target": "item", "X-Secret": self._secret, "Content-Type": FIELDS}
            body = urlencode(fields)
        self._connection.request(method, path, body, headers)
        with self._connection.getresponse() as answer:
            page = answer.read().decode()
            self.seen.append(page)
            return answer.status, page


def yes_or_no(item: int, person: str) -> dict[str, str]:
    """What a person says of an item, with a note that nobody else can have written."""
    return {
        f"say.0.{LABEL}": "yes" if hash((item, person)) % 2 else "no",
        "note": f"{person} of {item}",
    }
