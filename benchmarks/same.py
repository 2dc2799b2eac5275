"""What the product says and writes, as fingerprints, before and after code is moved or renamed.

    python benchmarks/same.py --keep --keep-stores STORES --outputs BEFORE    # before
    python benchmarks/same.py --open STORES --outputs AFTER                   # after

Does the steps of ``same.toml`` as a user does, in a folder of its own: the demo, MTRAG, 5,000 rows
of EVOUNA, a TREC run, a run judged by the mock server and one in batches, label files, a queue that
two people label, gates, the guard and a gate of its own, a day of traces through a monitor, pages
of the app, the help of every command, and scripts in Python. Each step has a fingerprint of what it
printed, with its exit status, and one of each file and table that it wrote.

What no two runs have in common is replaced before: times of now, how long something took,
addresses, tokens, random ids. Fingerprints hold for one environment: ``doctor`` tells the versions
of what is installed, and the last digits of numbers may depend on the machine.

``--keep`` writes ``same.json`` beside this file; without it fingerprints are compared with those
there. Exit status 1 where one differs, is new or is gone that is not listed under ``changed`` in
that file, by its name, in which ``*`` stands for any text, with the reason: ``{"help *": "a word in
the help"}``. ``--outputs`` keeps all that was compared as text, so that ``diff -ru BEFORE AFTER``
shows how it differs. ``--open`` also reads the run folders, stores and gate files that older code
left by ``--keep-stores``. ``--only`` takes a pattern of names, and may be repeated; it does what
these steps need besides. The mock always listens on the same port, for keys in the journal hold its
address.
"""

import csv
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import httpx2
import polars as pl
from labelled import DATA, file_of, records_of
from measure import ROOT, defined_in, run
from peers import mock
from typer import Option

import ragstone
from ragstone.data import cornwall

TABLE = Path(__file__).with_suffix(".json")
STEPS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
PORT = 18_431
STORES = ("runs", "other/mocked", "other/overruled", "other/batched", "watched", "gate.json",
          "cornwall.jsonl")  # fmt: skip
DAY = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
TRACES, PAGES = 240, 60
NOW = {"since": time.time() - 120}
AHEAD = 4 * 3600
"""Seconds from now to the last moment that is taken for now; with ``--open`` now is since then."""

MOMENT = re.compile(
    r"\b(2\d\d\d-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?"
    r"|(?<![\w.])(1[789]\d{8})(\d{9})?(\.\d+)?(?![\w.])"
)
VARYING = (
    (r"(?<![0-9a-f])[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])", "UUID"),
    (r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:PORT"),
    (
        r'(/a/|token=|name="secret" (content|value)="|name="once" value="|"cem": ")[\w-]{12,}',
        r"\1-",
    ),
    (r'("checksum": ")([0-9a-f]{32}("\s*\}\s*$)|[0-9a-f]{64})', r"\1-\3"),
    (r'("(seconds\w*|lag|usual_gap|tag)": ?)("\w+"|[\d.e-]+)', r"\1-"),
    (r"\b\d+(\.\d+)? \w+ ago|usually one every \S+ \w+", "AGO"),
    (r"\b\d+\.\d\d s, (?=[\d,]+ tokens)", "SECONDS, "),
    (r">\d+ (s|min)[^<]*<", ">SECONDS<"),
    (r"noticed \d+ \w+ later|since \d\d:\d\d UTC, \d+ \w+ after", "LATER"),
    (r"\b\d{1,2} \w{3}( 20\d\d)?, \d\d:\d\d\b", "DATE"),
)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d{12,}(e-?\d+)?(?![\w.])")
"""Of which the last digits depend on the order of a sum."""
COMMAND = re.compile(r"PYTHON -m ragstone .*(\n\S.*)*")
"""Broken where the path of Python was long."""
UNLIKE_COLUMNS = ("seconds", "token", "lot", "number")
UNLIKE_TABLES = ("anchors", "anchor_scores", "counts", "kept")
"""Drawn by chance, by the minute, or numbered by who is first."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and the files and folders it makes."""

    name: str
    words: tuple[str, ...]
    makes: tuple[str, ...] = ()

    def needs(self, other: "Step") -> bool:
        """Whether this names anything that the other makes."""
        paths = [*(word.partition("#")[0] for word in self.words[1:]), *self.makes]
        pairs = [(f"{path}/", f"{made}/") for path in paths for made in other.makes]
        return any(path.startswith(made) or made.startswith(path) for path, made in pairs)


def steps(table: Mapping[str, str]) -> Iterator[Step]:
    """Those of a table, each with a star a second time with ``--json``."""
    for name, line in table.items():
        command, _, makes = line.partition(" => ")
        words = tuple(shlex.split(command))
        yield Step(name.rstrip("*"), words, tuple(makes.split()))
        if name.endswith("*"):
            yield Step(f"{name.rstrip('*')} json", (*words, "--json"), tuple(makes.split()))


def chosen(table: Sequence[Step], patterns: Sequence[str]) -> list[Step]:
    """Steps with these names and, of those before, what they need."""
    wanted: list[Step] = []
    for step in reversed(table):
        named = any(fnmatchcase(step.name, pattern) for pattern in patterns)
        if not patterns or named or any(later.needs(step) for later in wanted):
            wanted.append(step)
    return wanted[::-1]


class Product:
    """Ragstone in a folder of its own, used as from a shell, beside the mock at an address."""

    def __init__(self, folder: Path, mock: str) -> None:
        self.folder, self._mock = folder, mock
        self.known: dict[Step, str] = {}
        passed = ("PATH", "LD_LIBRARY_PATH", "PYTHONHASHSEED", "TMPDIR")
        self.environment = {name: os.environ[name] for name in passed if name in os.environ} | {
            "COLUMNS": "100", "NO_COLOR": "1", "TZ": "UTC", "LANG": "C.UTF-8", "NO_PROXY": "*",
            "HOME": str(folder / "home"), "RAGSTONE_CACHE": str(folder / "cache"),
            "PYTHONPATH": str(Path(ragstone.__file__).parents[1]),
        }  # fmt: skip

    def start(self, *words: str, **more: str) -> "subprocess.Popen[str]":
        """Start Python with these words, its output to be read."""
        words = tuple(word.replace("MOCK", self._mock) for word in words)
        return subprocess.Popen(
            [sys.executable, *words], cwd=self.folder, env=self.environment | more, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def result(self, *words: str, **more: str) -> str:
        """What a command ends with."""
        return ended(self.start("-m", "ragstone", *words, **more))

    def do(self, step: Step) -> list[tuple[str, str]]:
        """Names and texts of what comes of a step."""
        if step in self.known:
            return [(step.name, self.known[step])]
        command, *words = step.words
        # Each has a cache of its own, so that none finds replies or embeddings of another.
        cache = {"RAGSTONE_CACHE": str(self.folder / "cache" / step.name.replace(" ", "-"))}
        if command == "@script":
            script = f"import ragstone\n{STEPS['scripts'][step.name]}"
            text = ended(self.start("-c", script, **cache))
        elif command.startswith("@"):
            text = getattr(self, command[1:])(*words)
        else:
            text = self.result(*step.words, **cache)
        parts = [part for made in step.makes for part in written(self.folder / made, self.folder)]
        return [(step.name, text), *((f"{step.name} {name}", part) for name, part in parts)]

    def copied(self, source: str, copy: str) -> str:
        """A copy of a run."""
        shutil.copytree(self.folder / source, self.folder / copy)
        return ""

    def shape(self, *words: str) -> str:
        """The names in what a command prints as JSON, where its values tell the time."""
        return re.sub(r": [^{\n]+", ": -", self.result(*words, "--json"))

    def batched(self, run: str) -> str:
        """A run in batches, which are there when it is started again."""
        words = ("evaluate", "cornwall.jsonl", "--limit", "12", "-m", "faithfulness", "--batch",
                 "-m", "context_precision", "--judge", "anthropic:m", "--out", run)  # fmt: skip
        texts = []
        provider = defined_in(ROOT / "tests" / "batch_provider.py", "provider")
        with provider("anthropic") as there:
            for there.ready in (False, True, True):
                texts += [self.result(*words, ANTHROPIC_API_KEY="none", **there.environment)]
                texts += [self.result("batches", run, "--as-known")]
        return "".join(texts)

    @contextmanager
    def served(self, *words: str) -> Iterator[tuple[str, list[str]]]:
        """A server while it runs: its address, and what it prints first."""
        process = self.start("-m", "ragstone", *words)
        try:
            assert process.stdout is not None
            lines: list[str] = []
            for line in process.stdout:
                lines.append(line)
                if line.rstrip() == "}" or (line.startswith("Ragstone") and "--json" not in words):
                    break
            address = re.search(r"http://127\.0\.0\.1:\d+", "".join(lines))
            if address is None:
                raise SystemExit(f"No server: {' '.join(words)}\n{ended(process)}")
            yield address[0], lines
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)

    def labelled(self, run: str) -> str:
        """A queue that two people label in the browser."""
        words = ("annotate", "new", run, "--tasks", "grounding", "--annotators", "ann,ben",
                 "--overlap", ".5", "--n", "12", "--name", "first", "--port", "0",
                 "--no-browser", "--json")  # fmt: skip
        with self.served(*words) as (_, lines):
            texts = lines
            for person, link in json.loads("".join(lines))["links"].items():
                texts = [*texts, *(f"{person} {item}\n" for item in label_all(link))]
        return "".join(texts)

    def pages(self, runs: str) -> str:
        """The pages of the app that are linked to one another."""
        with self.served("view", runs, "--port", "0", "--no-browser", "--no-token") as (address, _):
            return "".join(f"=== {path}\n{page}\n" for path, page in linked(address, "/"))

    def monitored(self, store: str) -> str:
        """A monitor that is sent a day of traces, until all are judged."""
        words = ("monitor", "serve", "--store", store, "--port", "0", "--rules", "rules.toml")
        with self.served(*words) as (address, _):
            reply = httpx2.post(f"{address}/v1/traces", json=day_of_traces(demo()), timeout=60)
            reply.raise_for_status()
            status = ("monitor", "status", "--store", store, "--json")
            until = time.monotonic() + 900
            while '"judged": 240' not in self.result(*status):
                if time.monotonic() > until:
                    raise SystemExit("The monitor did not judge all in time.")
                time.sleep(1)
            time.sleep(8)  # Alarms follow the last score.
        return f"{reply.status_code} {reply.text}\n"


def ended(process: "subprocess.Popen[str]") -> str:
    """What a process ends with."""
    out, err = process.communicate(timeout=1800)
    return f"{out}\n--- stderr\n{err}\n--- status {process.returncode}\n"


def label_all(link: str) -> Iterator[str]:
    """Label what a link of a queue brings, as a browser does; the numbers of the items in turn."""
    with httpx2.Client(follow_redirects=True, timeout=60) as browser:
        reply = browser.get(link)
        address, page = reply.url, reply.text
        secret = re.findall(r'<meta name="secret" content="([^"]*)"', page)[0]
        person = re.findall(r'data-person="([^"]*)"', page)[0]
        while item := re.search(r'<div id="item"[^>]* data-item="(\d+)"', page):
            yield item[1]
            labels = dict.fromkeys(re.findall(r'name="(say\.[^"]+)" value="yes"', page))
            fields = {label: yes_or_no(item[1], person, label) for label in labels}
            fields |= {"action": "save", "person": person, "seen": "0"}
            fields["once"] = f"{person}{item[1]:0>12}"
            headers = {"HX-Target": "item", "X-Secret": secret}
            reply = browser.post(f"{address}/{item[1]}", data=fields, headers=headers)
            page = reply.raise_for_status().text


def yes_or_no(item: str, person: str, label: str) -> str:
    """Yes or no, always the same; never what excludes another label."""
    if label.endswith(("contradicted_claim_present", "fabricated_source")):
        return "no"
    return "yes" if hashlib.sha256(f"{item} {person} {label}".encode()).digest()[0] % 3 else "no"


def linked(address: str, first: str) -> Iterator[tuple[str, str]]:
    """Pages from the first one on, by their links; of each sort the first two."""
    waiting, seen, sorts = [first], {first}, Counter[str]()
    while waiting and len(seen) - len(waiting) < PAGES:
        path = waiting.pop(0)
        page = whole_page(address + path)
        yield path, page
        for link in re.findall(r'(?:href|hx-get)="(/[^"#]*)', page):
            target = link.replace("&amp;", "&")
            sort = re.sub(r"=[^&]*", "", re.sub(r"/examples/[^/?]*", "/examples/", target))
            if target not in seen and not target.startswith("/static") and sorts[sort] < 2:
                sorts[sort] += 1
                seen.add(target)
                waiting.append(target)


def whole_page(address: str) -> str:
    """A page with all that is computed while it is shown."""
    for _ in range(400):
        reply = httpx2.get(address, timeout=60, follow_redirects=True)
        if reply.is_error:
            return f"{reply.status_code}\n{reply.text}"
        if 'hx-trigger="load' not in reply.text:
            return reply.text
        time.sleep(0.3)
    raise SystemExit(f"{address} is never whole.")


def day_of_traces(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A request with a day of traces: each a root, a retrieval and a chat."""
    spans = []
    for number in range(TRACES):
        row = rows[number % len(rows)]
        texts = [part if isinstance(part, str) else part["text"] for part in row["contexts"] or ()]
        documents = [{"id": hexadecimal(text, 6), "score": 0.9 - rank / 8, "content": text}
                     for rank, text in enumerate(texts)]  # fmt: skip
        facts: list[tuple[str, int, int, dict[str, str]]] = [
            ("POST /ask", 0, 1400, {"session.id": f"s{number // 3}", "user.id": f"u{number % 7}"}),
            ("retrieval", 50, 200, {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.retrieval.query.text": row["question"],
                "gen_ai.retrieval.documents": json.dumps(documents),
            }),
            ("chat", 200, 1400, {
                "gen_ai.operation.name": "chat", "gen_ai.request.model": f"tiny-{number % 2}",
                "gen_ai.input.messages": message("user", row["question"]),
                "gen_ai.output.messages": message("assistant", row["answer"]),
            }),
        ]  # fmt: skip
        trace, root = hexadecimal(f"trace {number}", 32), hexadecimal(f"root {number}", 16)
        begun = int(DAY * 1000) + number * 86_400_000 // TRACES
        for name, start, end, attributes in facts:
            spans.append({
                "traceId": trace, "parentSpanId": root if start else "",
                "spanId": hexadecimal(f"{name} {number}", 16) if start else root,
                "name": name, "kind": 1, "attributes": attributes_of(attributes),
                "startTimeUnixNano": f"{begun + start}000000",
                "endTimeUnixNano": f"{begun + end}000000",
            })  # fmt: skip
    resource = {"attributes": attributes_of({"service.name": "chat", "service.version": "1.0"})}
    scopes = [{"scope": {"name": "app"}, "spans": spans}]
    return {"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}


def attributes_of(values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]


def message(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def hexadecimal(text: str, digits: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


def written(path: Path, root: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of a file, or of those in a folder: tables by their rows."""
    if path.is_dir():
        for part in sorted(path.iterdir()):
            yield from written(part, root)
    elif path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        schema = ", ".join(f"{name} {kind}" for name, kind in frame.schema.items())
        yield str(path.relative_to(root)), f"{schema}\n{frame.write_ndjson()}"
    elif path.suffix == ".sqlite":
        yield str(path.relative_to(root)), "\n".join(database(path))
    elif path.is_file() and not path.name.endswith(("-wal", "-shm", ".lock")):
        yield str(path.relative_to(root)), path.read_bytes().decode(errors="replace")


def database(path: Path) -> Iterator[str]:
    """The tables of a database, and the rows of each in order of their texts."""
    with closing(sqlite3.connect(path)) as there:
        names = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
        for name, made in there.execute(names).fetchall():
            yield f"{name}\n{made}"
            rows = there.execute(f'SELECT * FROM "{name}"')
            shown = [at for at, column in enumerate(rows.description)
                     if column[0] not in UNLIKE_COLUMNS]  # fmt: skip
            if name not in UNLIKE_TABLES:
                yield from sorted(normal(repr([row[at] for at in shown])) for row in rows)


def normal(text: str, folder: Path | None = None) -> str:
    """A text without what no two runs have in common."""
    if folder is not None:
        text = text.replace(str(folder), "FOLDER")
        text = text.replace(sys.executable, "PYTHON")
        text = COMMAND.sub(lambda match: " ".join(match[0].split()), text)
    text = MOMENT.sub(_unless_now, text)
    text = NUMBER.sub(lambda match: f"{float(match[0]):.11g}", text)
    for pattern, replacement in VARYING:
        text = re.sub(pattern, replacement, text)
    return text


def _unless_now(match: re.Match[str]) -> str:
    day, minute = match[1], match[2]
    try:
        at = float(match[6]) if match[6] else datetime.fromisoformat(f"{day}T{minute}Z").timestamp()
    except ValueError:
        return match[0]
    return "TIME" if NOW["since"] <= at <= time.time() + AHEAD else match[0]


def demo() -> list[dict[str, Any]]:
    return [json.loads(line) for line in cornwall().read_bytes().splitlines()]


def prepare(folder: Path) -> None:
    """Put everything that is read into a folder."""
    shutil.copy(cornwall(), folder / "cornwall.jsonl")
    shutil.copy(file_of("MTRAG"), folder / "mtrag.jsonl.gz")
    (folder / "trec").mkdir()
    for name in ("run.txt", "qrels.txt"):
        shutil.copy(DATA / "retrieval_trec" / "rag24" / name, folder / "trec" / name)
    write_lines(folder / "evouna.jsonl", records_of("EVOUNA")[:5000])
    begin = records_of("BEGIN")
    write_lines(folder / "begin.jsonl", begin[:400])
    write_lines(folder / "begin-later.jsonl", begin[400:700])
    for name, text in STEPS["files"].items():
        (folder / name).write_text(text)
    labels = [(row["id"], row["labels"]) for row in records_of("MTRAG")]
    write_table(folder / "mtrag-labels.csv", ["id", "annotator", "faithfulness", "completeness"], (
        [id, person, grade, says["completeness"].get(person, "")]
        for id, says in labels for person, grade in says["faithfulness"].items()
    ))  # fmt: skip
    write_table(folder / "mtrag-ratings.csv", ["id", "annotator", "rating"], (
        [id, person, grade]
        for id, says in labels for person, grade in says["appropriateness"].items()
    ))  # fmt: skip
    asks = ["support_present", "unsupported_claim_present", "source_cited"]
    write_table(folder / "queue-labels.csv", ["id", "annotator", *asks], (
        [row["id"], "dan", *(yes_or_no(row["id"], "dan", label) for label in asks)]
        for row in demo()
    ))  # fmt: skip


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def write_table(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def work(product: Product, table: Iterable[Step], outputs: Path | None) -> dict[str, str]:
    """Do the steps, two at a time where neither touches what the other makes; the fingerprints."""

    def timed(step: Step) -> tuple[list[tuple[str, str]], float]:
        began = time.perf_counter()
        return product.do(step), time.perf_counter() - began

    prints: dict[str, str] = {}
    for group in apart(table):
        with ThreadPoolExecutor(2) as pool:
            for step, (parts, seconds) in zip(group, pool.map(timed, group), strict=True):
                texts = {normal(name): normal(text, product.folder) for name, text in parts}
                if outputs is not None:
                    keep_texts(outputs / step.name.replace(" ", "-"), texts)
                own = {name: fingerprint(text) for name, text in texts.items()}
                prints |= own
                print(f"{step.name:20} {fingerprint(str(own))} {seconds:6.1f}", flush=True)
    return prints


def apart(table: Iterable[Step]) -> Iterator[list[Step]]:
    """Steps in their order, in groups of those that do not touch what another one makes."""
    group: list[Step] = []
    for step in table:
        if any(step.needs(other) or other.needs(step) for other in group):
            yield group
            group = []
        group.append(step)
    yield group


def keep_texts(folder: Path, texts: Mapping[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name.replace('/', '%').replace(' ', '-')}.txt").write_text(text)


def helps(product: Product) -> Iterator[Step]:
    """The help of all commands, level by level."""
    commands: list[tuple[str, ...]] = [()]
    while commands:
        with ThreadPoolExecutor(2) as pool:
            texts = list(pool.map(lambda words: product.result(*words, "--help"), commands))
        below = []
        for words, text in zip(commands, texts, strict=True):
            step = Step(" ".join(("help", *words)), (*words, "--help"))
            product.known[step] = text
            yield step
            if "COMMAND [ARGS]" in text:
                names = re.findall(r"^  ([a-z][a-z-]+)  ", text, re.MULTILINE)
                below += [(*words, name) for name in names]
        commands = below


def differences(before: Mapping[str, str], after: Mapping[str, str],
                patterns: Mapping[str, str]) -> int:  # fmt: skip
    """Print what differs; how much of it is not listed."""
    bad = 0
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, "absent"), after.get(name, "absent")
        if old != new:
            reason = next((why for like, why in patterns.items() if fnmatchcase(name, like)), "")
            print(f"- {name}  {old}\n+ {name}  {new}  {reason or 'NOT LISTED'}")
            bad += not reason
    return bad


def copy_stores(folder: Path, stores: Path) -> None:
    """Copy what later code has to open."""
    for name in STORES:
        source, copy = folder / name, stores / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, dirs_exist_ok=True)
        else:
            shutil.copy(source, copy)


def main(
    only: Annotated[list[str] | None, Option(help="steps, or patterns")] = None,
    outputs: Annotated[Path | None, Option(help="folder for what is compared, as text")] = None,
    keep: Annotated[bool, Option("--keep", help="write same.json")] = False,
    keep_stores: Path | None = None,
    opened: Annotated[Path | None, Option("--open", help="of --keep-stores, of older code")] = None,
) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="same-")))
        server = stack.enter_context(mock(port=PORT))
        prepare(folder)
        if opened:
            shutil.copytree(opened, folder / "opened")
            NOW["since"] = (opened / "gate.json").stat().st_mtime - 7200
        product = Product(folder, server.base_url)
        print(f"{Path(ragstone.__file__).parent}", flush=True)
        table = [*steps(STEPS["steps"]), *(steps(STEPS["opened"]) if opened else ()),
                 *helps(product)]  # fmt: skip
        prints = work(product, chosen(table, only or ()), outputs)
        if keep_stores:
            copy_stores(folder, keep_stores)
    sys.exit(compared(prints, keep=keep, partly=bool(only), opened=opened))


def compared(prints: dict[str, str], *, keep: bool, partly: bool, opened: Path | None) -> int:
    """Compare fingerprints with those of the file, or write them; the exit status."""
    file = json.loads(TABLE.read_text()) if TABLE.is_file() else {"changed": {}, "fingerprints": {}}
    before = {
        name: value for name, value in file["fingerprints"].items()
        if (name in prints if partly else opened or not name.startswith("open "))
    }  # fmt: skip
    if keep:
        others = {name: value for name, value in file["fingerprints"].items() if name not in before}
        file["fingerprints"] = dict(sorted((others | prints).items()))
        TABLE.write_text(f"{json.dumps(file, indent=1, ensure_ascii=False)}\n")
        print(f"{len(prints)} fingerprints written to {TABLE.name}")
        return 0
    bad = differences(before, prints, file["changed"])
    print(f"{len(prints)} fingerprints, {bad} differ without a reason")
    if bad:
        print("To see how: run both with --outputs FOLDER, then diff -ru FOLDER FOLDER")
    return int(bad > 0)


if __name__ == "__main__":
    run(main)
