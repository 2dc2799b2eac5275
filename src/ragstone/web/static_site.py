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
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit

from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.files import write_result
from ragstone.report.number_format import counted
from ragstone.report.worst_examples import shortfalls

from .page_request import ALL, COPY, WORST, run_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Scope

    from .runs_folder import RunsFolder


VOID = frozenset(("img", "input", "link", "meta"))
CONTROLS = frozenset(("input", "select", "textarea", "label", "button"))

# Tags that may have to be removed, changed or added to, by their name or their class. Texts and
# values of attributes are escaped in our pages, so a match is always a whole tag.
READ = re.compile(
    rf"<({'|'.join(sorted(CONTROLS))}|a|form|head|img|link|main|meta|script)\b([^<>]*)>"
    r'|<([a-z]\w*)\b([^<>]*\s(?:hx-|class="(?:[^"]* )?(?:sheet|noting|over|set|field|token)[ "])'
    r"[^<>]*)>"
)
ATTRIBUTE = re.compile(r'([\w:.-]+)(?:="([^"]*)")?')
TAG = re.compile(r"<(/?)([a-z]\w*)\b[^<>]*>")
LIVE = re.compile(r'\s(?:hx-[\w:.-]+|data-choice)(?:="[^"]*")?')

# A file has no origin of its own, so that a browser may not take it for ``'self'``.
POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; font-src 'self' file:; "
    "img-src 'self' file: data:; base-uri 'none'; form-action 'none'"
)


def static_page(html: str, link: Callable[[str], str], note: str) -> str:
    """Return the page with links to other files, without forms and what asks the server.

    Forms and their controls are left out, except a table in a form and the form by which the page's
    own script filters. A link to a page that has no file becomes text.
    """
    return _Rewriter(html, link, note).page()


class _Rewriter:
    """Finds the tags to remove and the links to change; everything else stays as it is."""

    def __init__(self, html: str, link: Callable[[str], str], note: str) -> None:
        self._html, self._link, self._note = html, link, note
        self._form_ends = 0
        self._changes: dict[int, tuple[int, str]] = {}
        """By start, the end and new text of each changed part."""

    def page(self) -> str:
        read = 0
        for match in READ.finditer(self._html):
            if match.start() < read:
                continue
            tag, inside = match[1] or match[3], match[2] or match[4] or ""
            raw, closed = self._written(match, tag, dict(ATTRIBUTE.findall(inside)))
            if not raw:
                read = self._end_of(match, tag)[1]
            self._changes[match.start()] = (match.end() if raw else read), raw
            if raw and closed:
                start, end = self._end_of(match, tag)
                self._changes[start] = end, closed
        out: list[str] = []
        at = 0
        for start, (end, text) in sorted(self._changes.items()):
            if start >= at:
                out += [self._html[at:start], text]
                at = end
        return "".join([*out, self._html[at:]])

    def _end_of(self, opened: re.Match[str], tag: str) -> tuple[int, int]:
        """Return where the closing tag of an element begins and ends."""
        open_tags = 1
        if tag not in VOID:
            for match in TAG.finditer(self._html, opened.end()):
                if match[2] == tag:
                    open_tags += -1 if match[1] else 1
                if not open_tags:
                    return match.span()
        return opened.end(), opened.end()

    def _written(
        self, match: re.Match[str], tag: str, attributes: Mapping[str, str]
    ) -> tuple[str, str]:
        """Return the tag, empty to remove the element, and the closing tag, empty if unchanged."""
        raw, looks = match[0], set(attributes.get("class", "").split())
        in_form = match.start() < self._form_ends
        if tag == "form":
            return self._form(match, attributes)
        live = in_form or "form" in attributes or any(name.startswith("hx-") for name in attributes)
        if (
            (tag in CONTROLS and live)
            or {"sheet", "noting"} & looks
            or (in_form and {"field", "token"} & looks)
            or (tag == "meta" and attributes.get("name") == "secret")
            or (tag == "script" and "htmx" in attributes.get("src", ""))
        ):
            return "", ""
        if "over" in looks or "set" in looks:
            return f'<span class="{" ".join(sorted(looks - {"over", "set"}))}">', "</span>"
        raw = LIVE.sub("", raw)
        for name in ("href", "src"):
            if name in attributes and not attributes[name].startswith("#"):
                path = self._link(unescape(attributes[name]))
                if not path and (tag != "a" or {"btn", "token", "live"} & looks):
                    return "", ""
                raw = _leading(raw, name, path)
        if tag == "head":
            raw += f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        if tag == "main":
            raw += f'<p class="note plain">{escape(self._note)}</p>'
        return raw, ""

    def _form(self, match: re.Match[str], attributes: Mapping[str, str]) -> tuple[str, str]:
        if attributes.get("method") == "dialog" or attributes.get("id") == "filter":
            return match[0], ""
        start, self._form_ends = self._end_of(match, "form")
        if "<table" not in self._html[match.end() : start]:
            return "", ""
        looks = attributes.get("class", "")
        return f'<div class="{looks}">' if looks and "filters" not in looks else "<div>", "</div>"


def _leading(raw: str, name: str, path: str) -> str:
    before, _, rest = raw.partition(f' {name}="')
    after = rest.partition('"')[2]
    return f'{before} {name}="{escape(path)}"{after}' if path else f"{before}{after}"


# How many pages may compare a run with others.
COMPARISONS = 200

# How many examples are read at once.
TOGETHER = 200

PATIENCE = 600.0
HOST, FAILED = "static", 400
STARTS = "index.html"

# The addresses that become files, each with the fields of the query that it may have.
VIEWS = (
    (re.compile(r"/"), {()}),
    (re.compile(r"/runs/[^/]+(/report\.html|/judge|/people)?"), {()}),
    (
        re.compile(r"/compare"),
        {("runs",), ("page", "runs"), ("runs", "show"), ("page", "runs", "show"), ("a", "runs")},
    ),
)

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
    most: int = ALL,
    worst: int = WORST,
    progress: Callable[[int, int], None] | None = None,
) -> WrittenFiles:
    """Write the app over the runs of a folder as files, which open from the disk.

    Every run with its comparisons and report, and a page for each of its examples, or for the worst
    of very many. The browser filters and sorts a run's answers; taking notes needs the app.

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
    from .templating import STATIC, asset

    runs_folder = RunsFolder(folder)
    site = _Site(runs_folder, *_examples_of(runs_folder, most, worst))

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
    names = ["style.css", "app.js", "report.js", "icon.svg"]
    names += [f"fonts/{font.name}" for font in STATIC.joinpath("fonts").iterdir()]
    size += sum(_written(out / "static" / name, asset(name)) for name in names)
    return WrittenFiles(out / STARTS, number, size, tuple(site.left_out()))


def _written(file: Path, content: bytes) -> int:
    write_result(file, content)
    return len(content)


def _examples_of(
    folder: "RunsFolder", most: int, worst: int
) -> tuple[dict[str, dict[str, None]], dict[str, int]]:
    chosen: dict[str, dict[str, None]] = {}
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
        chosen[entry.path.name] = dict.fromkeys(ids)
    return chosen, larger


class _Site:
    """Finds the pages by following the links from the first, except those of examples."""

    def __init__(
        self, folder: "RunsFolder", examples: dict[str, dict[str, None]], larger: dict[str, int]
    ) -> None:
        from .security import Access
        from .web_app import make_app

        self._folder, self._access = folder, Access(frozenset({HOST}))
        self._app = make_app(folder, self._access)
        self._examples, self._larger = examples, larger
        self._comparisons = Counter[str]()
        self._dropped: dict[str, None] = {}
        self._failed: list[str] = []
        start = run_path(folder.alone.name) if folder.alone else "/"
        self._waiting = deque([start])
        self._names = {"/": STARTS, start: STARTS}
        self._unseen = sum(map(len, examples.values()))
        self._note = (
            f"A copy of {datetime.now(UTC):%d %b %Y}, without a server. To correct or note "
            "anything, use ragstone view."
        )

    @property
    def ahead(self) -> int:
        return len(self._waiting) + self._unseen

    def files(self) -> Iterator[tuple[str, bytes]]:
        from .pages.example_view import example_copies
        from .web_app import html_of

        with asyncio.Runner() as runner:
            while self._waiting:
                address = self._waiting.popleft()
                yield self._file_of(address, self._page(runner, address))
            for run, ids in ((run, list(ids)) for run, ids in self._examples.items()):
                for start in range(0, len(ids), TOGETHER):
                    some = ids[start : start + TOGETHER]
                    for request, page in example_copies(self._folder, run, some):
                        self._unseen -= 1
                        html = html_of(self._folder, self._access, request, page)
                        yield self._file_of(request.path, html)

    def _file_of(self, address: str, html: str) -> tuple[str, bytes]:
        path = self._names.get(address) or _path(address)

        def link(target: str) -> str:
            return self._file(target, address, path)

        return path, static_page(html, link, self._note).encode()

    def left_out(self) -> Iterator[str]:
        for name, number in self._larger.items():
            number_shown = len(self._examples[name])
            yield f"{name}: the {number_shown:,} worst of {counted(number, 'answer')} have a page."
        for name in self._dropped:
            yield f"{name}: only {COMPARISONS:,} of its comparisons have a page."
        for address in self._failed:
            yield f"{address} could not be shown; its file says why."
        yield "Prompts, replies and the ends of long texts are left out."

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
        if address not in self._names and not EXAMPLE.fullmatch(address):
            self._names[address] = _path(address)
            self._waiting.append(address)
        at = f"#{whole.fragment}" if whole.fragment else ""
        return f"{up}{self._names.get(address) or _path(address)}{at}"

    def _address(self, path: str, query: str) -> str:
        if match := EXAMPLE.fullmatch(path):
            known = self._examples.get(unquote(match[1]), ())
            return path if unquote(match[2]) in known and "part=" not in query else ""
        fields = sorted(parse_qsl(query))
        for pattern, views in VIEWS:
            if pattern.fullmatch(path) and tuple(name for name, _ in fields) in views:
                address = f"{path}?{urlencode(fields)}" if fields else path
                return address if address in self._names or self._room(fields) else ""
        return ""

    def _room(self, fields: Iterable[tuple[str, str]]) -> bool:
        run = dict(fields).get("runs")
        if run is None:
            return True
        self._comparisons[run] += 1
        if self._comparisons[run] > COMPARISONS:
            self._dropped[run] = None
            return False
        return True


def _path(address: str) -> str:
    return f"pages/{_name(address)}"


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
        "server": (HOST, 80), "client": None, COPY: True,
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
