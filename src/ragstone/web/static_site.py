"""Static site: the app over some runs, written as files that need no server."""

import asyncio
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit

from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.files import write_result
from ragstone.report.number_format import counted
from ragstone.report.worst_examples import shortfalls

from .page_request import run_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Scope

    from .runs_folder import RunsFolder


VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)
CONTROLS = frozenset(("input", "select", "textarea", "label", "button"))

LIVE = re.compile(r'\s(?:hx-[\w:.-]+|data-choice)(?:="[^"]*")?')
CLASS = re.compile(r'\sclass="[^"]*"')

# A file has no origin of its own, so that a browser may not take it for ``'self'``.
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; font-src 'self' file:; "
    "img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
)


def static_page(html: str, link: Callable[[str], str], note: str) -> str:
    """Return the page with links to other files, without forms and what asks the server.

    Forms and their controls are left out, but for a table that a form holds. What leads to a page
    that is not a file is text.
    """
    reader = _Rewriter(html, link, note)
    reader.feed(html)
    reader.close()
    return "".join(reader.out)


class _Rewriter(HTMLParser):
    """Writes each tag again as it was, unless it has to go or to lead elsewhere."""

    def __init__(self, html: str, link: Callable[[str], str], note: str) -> None:
        super().__init__(convert_charrefs=False)
        self.out: list[str] = []
        self._link, self._note = link, note
        forms = [part.partition("</form>")[0] for part in html.split("<form")[1:]]
        self._holds_table = ["<table" in form for form in forms]
        self._dialogs = ['method="dialog"' in form for form in forms]
        self._forms = 0
        self._in_form = False
        self._left_out = 0
        """How many tags are open of what is left out."""
        self._closing: list[str] = []
        """For each open tag how it is closed."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._left_out:
            self._left_out += tag not in VOID
            return
        raw = self.get_starttag_text() or ""
        written, closed = self._written(tag, raw, {name: value or "" for name, value in attrs})
        if not written:
            self._left_out += tag not in VOID
            return
        self.out.append(written)
        if tag not in VOID:
            self._closing.append(closed)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if not self._left_out:
            self.out.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._in_form = False
        if self._left_out:
            self._left_out -= 1
        elif self._closing:
            self.out.append(self._closing.pop())

    def _written(self, tag: str, raw: str, attrs: Mapping[str, str]) -> tuple[str, str]:
        """Return the tag and how it is closed; empty if it is left out with all in it."""
        looks = attrs.get("class", "").split()
        if tag == "form":
            return self._form(raw)
        live = self._in_form or "form" in attrs or any(name.startswith("hx-") for name in attrs)
        if (
            (tag in CONTROLS and live)
            or {"sheet", "noting"} & set(looks)
            or (self._in_form and {"field", "token"} & set(looks))
            or (tag == "meta" and attrs.get("name") == "secret")
            or (tag == "script" and "htmx" in attrs.get("src", ""))
        ):
            return "", ""
        if "over" in looks or "set" in looks:
            return (
                f'<span class="{escape(" ".join(sorted({*looks} - {"over", "set"})))}">',
                "</span>",
            )
        raw, closed = LIVE.sub("", raw), f"</{tag}>"
        for name in ("href", "src"):
            if name in attrs and not attrs[name].startswith("#"):
                path = self._link(unescape(attrs[name]))
                if not path and (tag != "a" or {"btn", "token", "live"} & set(looks)):
                    return "", ""
                raw = _leading(raw, name, path)
        if tag == "head":
            raw += f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        if tag == "main":
            raw += f'<p class="note plain">{escape(self._note)}</p>'
        return raw, closed

    def _form(self, raw: str) -> tuple[str, str]:
        index, self._forms = self._forms, self._forms + 1
        if self._dialogs[index]:
            return raw, "</form>"
        self._in_form = True
        looks = CLASS.search(raw)
        attribute = "" if looks is None or "filters" in looks[0] else looks[0]
        return (f"<div{attribute}>", "</div>") if self._holds_table[index] else ("", "")

    def _as_it_is(self, text: str) -> None:
        if not self._left_out:
            self.out.append(text)

    def handle_data(self, data: str) -> None:
        self._as_it_is(data)

    def handle_entityref(self, name: str) -> None:
        self._as_it_is(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._as_it_is(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._as_it_is(f"<!{decl}>")


def _leading(raw: str, name: str, path: str) -> str:
    before, _, rest = raw.partition(f' {name}="')
    after = rest.partition('"')[2]
    return f'{before} {name}="{escape(path)}"{after}' if path else f"{before}{after}"


# Examples of a run that have a page: all of up to ``MOST``, otherwise the worst.
MOST, WORST = 5_000, 1_000

# Pages of a run beside those of its examples: its pages of answers, by stage, by metric, …
LISTS = 200

PATIENCE = 600.0
HOST, FAILED = "static", 400
STARTS = "index.html"

# The addresses that become files, each with the fields of the query that it may have.
VIEWS = (
    (re.compile(r"/"), {()}),
    (re.compile(r"/runs/[^/]+/(report\.html|judge|people)"), {()}),
    (
        re.compile(r"/runs/[^/]+"),
        {
            (), ("page",), ("by",), ("by", "system"), ("system",), ("stage",), ("stage", "system"),
            ("status",), ("labels",), ("sort",), ("page", "sort"), ("metric", "sort"),
        },
    ),
    (
        re.compile(r"/compare"),
        {("runs",), ("page", "runs"), ("runs", "show"), ("page", "runs", "show"), ("a", "runs")},
    ),
)  # fmt: skip

EXAMPLE = re.compile(r"/runs/([^/]+)/examples/(.+)")
WAITS = ('id="waits"', 'hx-trigger="every 2s"')


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """An app that was written: the file to open, and a sentence for what it leaves out."""

    start: Path
    pages: int
    size: int
    left_out: tuple[str, ...]


def write_static(
    folder: str | Path,
    out: str | Path,
    *,
    most: int = MOST,
    worst: int = WORST,
    progress: Callable[[int, int], None] | None = None,
) -> WrittenFiles:
    """Write the app over the runs of a folder as files, which open from the disk.

    Every run with its lists, comparison and report, and a page for each of its examples, or for the
    worst of very many. Searching, filtering and noting need the app.

    Args:
        folder: With runs in it, or a run folder.
        out: Made if it is missing; empty otherwise.
        most: Examples of a run up to which all have a page.
        worst: How many have one if there are more.
        progress: Called after each page with how many are written, and how many are known of.

    Raises:
        InputError: There is no such folder, or files are in ``out``.
    """
    folder, out = Path(folder), Path(out)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is not an empty folder. Name another one for the files.")
    from .runs_folder import RunsFolder
    from .security import Access
    from .templating import STATIC, asset
    from .web_app import make_app

    runs_folder = RunsFolder(folder)
    examples, larger = _examples_of(runs_folder, most, worst)
    start = run_path(runs_folder.alone.name) if runs_folder.alone else "/"
    site = _Site(make_app(runs_folder, Access(frozenset({HOST}))), start, examples, larger)

    def pages() -> tuple[int, int]:
        number = size = 0
        for path, content in site.files():
            number, size = number + 1, size + _written(out / path, content)
            if progress is not None:
                progress(number, number + site.ahead)
        return number, size

    # In a thread, for the caller's may have an event loop already, as a notebook's has.
    with ThreadPoolExecutor(1) as alone:
        number, size = alone.submit(pages).result()
    names = ["style.css", "app.js", "icon.svg"]
    names += [f"fonts/{font.name}" for font in STATIC.joinpath("fonts").iterdir()]
    size += sum(_written(out / "static" / name, asset(name)) for name in names)
    return WrittenFiles(out / STARTS, number, size, tuple(site.left_out()))


def _written(file: Path, content: bytes) -> int:
    write_result(file, content)
    return len(content)


def _examples_of(
    folder: "RunsFolder", most: int, worst: int
) -> tuple[dict[str, set[str]], dict[str, int]]:
    chosen: dict[str, set[str]] = {}
    larger: dict[str, int] = {}
    for entry in folder.runs():
        if entry.form is None or not entry.form.finished:
            continue
        try:
            run = folder.run(entry.path.name)
        except RagstoneError:
            continue
        ids = run.examples(["id"])["id"]
        if len(ids) > most:
            larger[entry.path.name] = len(ids)
            ids = shortfalls(run, limit=worst)["example_id"]
        chosen[entry.path.name] = set(ids.to_list())
    return chosen, larger


class _Site:
    """Finds the pages by following the links from the first."""

    def __init__(
        self, app: "ASGIApp", start: str, examples: dict[str, set[str]], larger: dict[str, int]
    ) -> None:
        self._app, self._examples, self._larger = app, examples, larger
        self._lists = Counter[str]()
        self._dropped: dict[str, None] = {}
        self._failed: list[str] = []
        self._waiting = deque([start])
        self._names = {"/": STARTS, start: STARTS}
        self._unseen = sum(map(len, examples.values()))

    @property
    def ahead(self) -> int:
        return len(self._waiting) + self._unseen

    def files(self) -> Iterator[tuple[str, bytes]]:
        with asyncio.Runner() as runner:
            while self._waiting:
                address = self._waiting.popleft()
                path = self._names[address]
                html = self._page(runner, address)
                if urlsplit(address).path.endswith("/report.html"):
                    yield path, html.encode()
                    continue
                note = (
                    f"A copy of {datetime.now(UTC):%d %b %Y}, without a server: searching, "
                    "filtering and noting need ragstone view."
                )

                def link(target: str, here: str = address, path: str = path) -> str:
                    return self._file(target, here, path)

                yield path, static_page(html, link, note).encode()

    def left_out(self) -> Iterator[str]:
        for name, number in self._larger.items():
            number_shown = len(self._examples[name])
            yield f"{name}: the {number_shown:,} worst of {counted(number, 'answer')} have a page."
        for name in self._dropped:
            yield f"{name}: it has {LISTS:,} of its lists of answers, by stage, metric and page."
        for address in self._failed:
            yield f"{address} could not be shown; its file says why."
        yield "Searches, other filters, and the rest of texts that are cut are left out."

    def _page(self, runner: asyncio.Runner, address: str) -> str:
        late = monotonic() + PATIENCE
        while True:
            status, html = runner.run(_asked(self._app, address))
            if not any(mark in html for mark in WAITS) or monotonic() > late:
                self._failed += [address] if status >= FAILED else []
                return html
            runner.run(asyncio.sleep(0.2))

    def _file(self, target: str, here: str, path: str) -> str:
        whole = urlsplit(urljoin(here, target))
        up = "../" if "/" in path else ""
        if whole.netloc or whole.scheme:
            return ""
        if whole.path.startswith("/static/"):
            return up + whole.path[1:]
        address = self._address(whole.path, whole.query)
        if not address:
            return ""
        name = self._names.get(address)
        if name is None:
            name = self._names[address] = f"pages/{_name(address)}"
            self._waiting.append(address)
            self._unseen -= EXAMPLE.fullmatch(whole.path) is not None
        at = f"#{whole.fragment}" if whole.fragment else ""
        return f"{up}{name}{at}"

    def _address(self, path: str, query: str) -> str:
        if match := EXAMPLE.fullmatch(path):
            known = self._examples.get(unquote(match[1]), set())
            return path if unquote(match[2]) in known and "part=" not in query else ""
        fields = sorted(field for field in parse_qsl(query) if field != ("by", "system"))
        for pattern, views in VIEWS:
            if pattern.fullmatch(path):
                # A list in another order than by its metric, or worst first, has another file.
                order = dict(fields).get("sort", "worst").removeprefix("-")
                resorted = order != dict(fields).get("metric", "worst")
                if tuple(name for name, _ in fields) not in views or resorted:
                    return ""
                address = f"{path}?{urlencode(fields)}" if fields else path
                return address if address in self._names or self._room(path, fields) else ""
        return ""

    def _room(self, path: str, fields: Iterable[tuple[str, str]]) -> bool:
        if not fields:
            return True
        run = dict(fields).get("runs", unquote(path.rpartition("/")[2]))
        self._lists[run] += 1
        if self._lists[run] > LISTS:
            self._dropped[run] = None
            return False
        return True


def _name(address: str) -> str:
    """Return a file name that says what a page is about in letters that every file system has."""
    words = "-".join(re.findall(r"[a-z0-9]+", unquote(address).casefold()))
    return f"{words[:48].strip('-')}-{blake2b(address.encode(), digest_size=6).hexdigest()}.html"


async def _asked(app: "ASGIApp", address: str) -> tuple[int, str]:
    whole = urlsplit(address)
    scope: Scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": unquote(whole.path), "raw_path": whole.path.encode(), "root_path": "",
        "query_string": whole.query.encode(), "headers": [(b"host", HOST.encode())],
        "server": (HOST, 80), "client": None,
    }  # fmt: skip
    parts: list[bytes] = []
    status = FAILED

    async def receive() -> "Message":
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: "Message") -> None:
        nonlocal status
        status = message.get("status", status)
        parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return status, b"".join(parts).decode()
