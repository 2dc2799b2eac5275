"""Hostile data, through every command: what comes out can be read, and does nothing."""

import csv
import io
import json
import re
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ragstone import Run, read
from ragstone.analysis import annotate
from ragstone.annotation import read_label_table
from ragstone.annotation.queue.form import AskedLabel
from ragstone.cli.app import app
from ragstone.core.files import RunEntry
from ragstone.core.messages import BETWEEN, CLOSE, OPEN
from ragstone.monitor import open_store
from ragstone.monitor.store.rows import count
from ragstone.report import picture
from ragstone.report.notebook import page_of
from ragstone.run.batches.batch_journal import BatchJournal, KeptBatch

from .conftest import Outcome, call

EVIL = "\x1b[31mred\x1b]0;title\x07 \u202eback\u2066 \x00 | <script>alert(1)</script> [red]`*_@all"
FORMULA = "=cmd()|' /C calc'!A0"
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
BIDI = set("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
COMMANDS = {one.name or one.callback.__name__ for one in app.registered_commands if one.callback}
GROUPS = {str(one.name) for one in app.registered_groups}
FIELD = f"{FORMULA} {EVIL}"


def row(at: int, system: str) -> dict[str, Any]:
    right = f"The pier {at} is {90 + at} metres long. {EVIL}"
    return {
        "id": f"{FORMULA} {EVIL} {at} {system}",
        "question_id": f"-q{at} {EVIL}",
        "system": f"@{system} {EVIL}",
        "question": f"+How long is the pier {at}? {EVIL}",
        "contexts": [{"id": f"=c{at} {EVIL}", "text": right}, {"id": "x", "text": f"\t{EVIL}"}],
        "answer": right if system == "a" else f"\rThe pier {at} is 20 metres long. {EVIL}",
        "reference": right,
        "slices": {FIELD: f"{FORMULA} {at % 2} {EVIL}"},
        "labels": {"helpful": at % 2},
        "meta": {FIELD: EVIL},
    }


ROWS = [row(at, system) for at in range(6) for system in ("a", "b")]
IDS = [str(one["id"]) for one in ROWS]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("doors") / "answers.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in ROWS), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def made(data: Path) -> tuple[Path, Outcome]:
    """A run of the hostile data, and what was said of it."""
    run = data.parent / "run"
    metrics = [word for one in ("exact_match", "token_f1", "unsupported_claim", "ragas_score")
               for word in ("-m", one)]  # fmt: skip
    outcome = call("evaluate", data, *metrics, "--judge", "local", "--by", FIELD, "--out", run)
    return run, outcome


@pytest.fixture(scope="module")
def labels(data: Path) -> Path:
    file = data.parent / "labels.jsonl"
    rows = [
        {"id": id, "annotator": f"{who} {EVIL}", "helpful": at % 2, "note": f"{FORMULA} {EVIL}",
         f"=mood {EVIL}": at % 3}
        for who in ("@ann", "=ben") for at, id in enumerate(IDS)
    ]  # fmt: skip
    file.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return file


@dataclass(frozen=True)
class Given:
    """What a command is given."""

    data: Path
    run: Path
    labels: Path


def unseen(text: str) -> set[str]:
    """Control characters but line feed and tab, what turns the direction of writing, halves, and
    an argument that was told to nobody."""
    return {
        one for one in text
        if (unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t") or one in BIDI
        or one in (OPEN, BETWEEN, CLOSE)
    }  # fmt: skip


def check(outcome: Outcome, *statuses: int) -> None:
    assert outcome.status in (statuses or (0,)), outcome.err
    assert not unseen(outcome.out), unseen(outcome.out)
    assert not unseen(outcome.err), unseen(outcome.err)


def check_csv(text: str) -> list[list[str]]:
    """The cells; none is a formula."""
    cells = list(csv.reader(io.StringIO(text, newline="")))
    for one in (cell for line in cells for cell in line):
        assert not one.startswith(tuple("=+-@\t\r\n")) or NUMBER.fullmatch(one), one
    return cells


def check_markdown(text: str) -> None:
    assert not unseen(text)
    assert "<script" not in text
    assert "@all" not in text
    outside = [line for line in text.splitlines() if "<summary>" not in line]
    assert "[red]" not in "\n".join(outside), "within the tags of a summary nothing is Markdown"
    for lines in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        pipes = {len(re.findall(r"(?<!\\)\|", line)) for line in lines.splitlines()}
        assert len(pipes) == 1, "a cell of the data is one cell of the table"


LOOKS = {"class", "title", "colspan", "dir", "role", "aria-hidden"}
PLACES = {"x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "text-anchor"}


class Tags(HTMLParser):
    """The tags of a page, and attributes that could do something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not {name for name, _ in attrs} - LOOKS - PLACES


def walk_evaluate(given: Given) -> None:
    check(call("evaluate", given.data, "--out", given.run.parent / "again", "--limit", 2, "--json"))
    model = ("--judge", "http://127.0.0.1:9/v1#m", "-m", "faithfulness")
    check(call("evaluate", given.data, *model, "--dry-run"), 0, 2)


def walk_score(given: Given) -> None:
    check(
        call("score", given.run, "-m", "exact_match", "-m", "token_f1", "-m", "unsupported_claim")
    )


def walk_runs(given: Given) -> None:
    check(call("runs", given.run.parent))
    check(call("runs", given.run.parent, "--json"))


def walk_batches(given: Given) -> None:
    run = given.run.parent / "batched"
    run.mkdir()
    check(call("batches", run), 2)
    journal = BatchJournal.open(run / RunEntry.BATCHES)
    journal.keep(
        KeptBatch(
            "t", EVIL, "h", 0.0, "d", 3, 9, 1.5, "sent", FORMULA + EVIL, said=EVIL, answered=1
        )
    )
    journal.remember(f"ragstone evaluate {EVIL}")
    journal.close()
    for more in ((), ("--as-known",), ("--json",)):
        check(call("batches", run, *more))


def walk_show(given: Given) -> None:
    check(call("show", given.run))
    shown = call("show", given.run, IDS[1])
    check(shown)
    assert "␛[31mred" in shown.out, "it can still be read"
    check(call("show", given.run, IDS[1], "--json"))
    check(call("show", given.run, f"nothing {EVIL}"), 2)


def walk_correct(given: Given) -> None:
    said = ("--author", f"=Ann, {EVIL}", "--reason", f"{FORMULA} {EVIL}")
    check(call("correct", given.run, IDS[0]))
    check(call("correct", given.run, IDS[0], "--json"))
    one = "support/claim#1"
    check(call("correct", given.run, IDS[0], one, "verdict=contradicted", *said))
    check(call("correct", given.run, IDS[0], "claims#1", f"text=It is red. {EVIL}", *said))
    check(call("correct", given.run, "--list"))
    check(call("correct", given.run, "--list", "--json"))
    # Whoever reads the run meets the author and the reason.
    walk_show(given)
    walk_export(given)
    check(call("correct", given.run, IDS[0], "claims#1", "--undo", *said))
    check(call("correct", given.run, IDS[0], one, "--undo", *said, "--json"))
    check(call("correct", given.run, IDS[0], f"support#{EVIL}", f"verdict={EVIL}", *said), 2)
    check(call("correct", given.run, IDS[0], EVIL, f"{EVIL}=1", *said), 2)


def walk_report(given: Given) -> None:
    file = given.run.parent / f"report {EVIL[:9]}.html"
    check(call("report", given.run, "--out", file))
    text = file.read_text(encoding="utf-8")
    assert not unseen(text)
    assert "<script>alert" not in text
    check(call("report", given.run, "--charts", given.run.parent / "figures"))
    for figure in (given.run.parent / "figures").iterdir():
        drawn = figure.read_text(encoding="utf-8")
        assert not unseen(drawn)
        assert "script" not in {one.tag for one in ElementTree.fromstring(drawn).iter()}
    check(call("report", given.run.parent / "nothing"), 2)


def walk_export(given: Given) -> None:
    for what in ("scores", "estimates", "judgements:claims", "judgements:support", "examples"):
        for format in ("csv", "jsonl", "parquet"):
            out = given.run.parent / f"out.{format}"
            check(call("export", given.run, "--what", what, "--as", format, "--out", out))
            if format == "csv":
                check_csv(out.read_text(encoding="utf-8"))
    check(call("export", given.run, "--what", f"judgements:{EVIL}"), 2)


def walk_compare(given: Given) -> None:
    check(call("compare", given.run, "--by", FIELD))
    check(call("compare", given.run, "--json"))
    check(call("compare", given.run, "--baseline", f"nobody {EVIL}"), 2)


def walk_gate(given: Given) -> None:
    xml, markdown = given.run.parent / "gate.xml", given.run.parent / "gate.md"
    outcome = call("gate", given.run, "-r", "exact_match >= 0.9", "-r", "token_f1 >= 0.8",
                   "--junit", xml, "--markdown", markdown)  # fmt: skip
    check(outcome, 0, 1, 3)
    names = {one.tag for one in ElementTree.fromstring(xml.read_bytes()).iter()}
    assert "script" not in names
    assert not unseen(xml.read_text(encoding="utf-8"))
    check_markdown(markdown.read_text(encoding="utf-8"))
    check(call("gate", given.run, "-r", "exact_match >= 0.9", "--json"), 0, 1, 3)


def walk_sample(given: Given) -> None:
    for format in ("csv", "jsonl"):
        sheet = given.run.parent / f"sheet.{format}"
        sheet.unlink(missing_ok=True)
        options = ("--label", "helpful", "--n", 6, "--annotators", f"=ann {EVIL}")
        check(call("sample", given.run, *options, "--out", sheet))
        if format == "csv":
            check_csv(sheet.read_text(encoding="utf-8"))


def walk_agreement(given: Given) -> None:
    check(call("agreement", given.labels))
    check(call("agreement", given.labels, "--json"))


def walk_guard(given: Given) -> None:
    out = given.data.parent / "assessed.jsonl"
    check(call("guard", given.data, "--out", out), 1)
    check(call("guard", given.data, "--json"), 1)
    assert all(json.loads(line)["id"] in IDS for line in out.read_text("utf-8").splitlines())


def walk_annotate(given: Given) -> None:
    store = given.run.parent / "labelled"
    store.mkdir()
    annotate(given.run, store, asked=["helpful"], name="q").ask(AskedLabel(FIELD, "answer"), "me")
    here = ("--labels", store)
    check(call("annotate", "import", "q", given.labels, "--author", EVIL, *here))
    for command in (["list"], ["progress", "q"]):
        check(call("annotate", *command, *here))
        check(call("annotate", *command, *here, "--json"))
    out = store / "said.csv"
    check(call("annotate", "export", "q", "--out", out, *here))
    check_csv(out.read_text(encoding="utf-8"))


def walk_labels(given: Given) -> None:
    check(call("labels", given.labels))
    check(call("labels", given.labels, "--json"))
    for format in ("csv", "jsonl"):
        out = given.run.parent / f"said.{format}"
        out.unlink(missing_ok=True)
        check(call("labels", given.labels, "--as", "long", "--out", out))
        if format == "csv":
            check_csv(out.read_text(encoding="utf-8"))


def walk_calibrate(given: Given) -> None:
    options = ("--labels", given.labels, "--map", "exact_match=helpful")
    check(call("calibrate", given.run, *options, "--by", FIELD))
    check_markdown((given.run / "judge_passport.md").read_text(encoding="utf-8"))
    check(call("calibrate", given.run, *options, "--json"))
    check(call("calibrate", given.run, "--labels", given.labels, "--map", "token_f1=nothing"), 2)


def walk_weights(given: Given) -> None:
    people = given.run.parent / "people.jsonl"
    rows = [
        {"question_id": ROWS[2 * at]["question_id"], "system_a": ROWS[0]["system"],
         "system_b": ROWS[1]["system"], "preference": at % 3 - 1, "annotator": EVIL}
        for at in range(6)
    ]  # fmt: skip
    people.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    options = ("--preferences", people, "-m", "exact_match", "-m", "token_f1")
    check(call("weights", given.run, *options), 0, 2)
    check(call("weights", given.run, "--preferences", given.labels, "-m", "token_f1"), 2)


def walk_monitor(given: Given) -> None:
    with open_store(given.data.parent / "monitor").database.transaction() as run:
        count(run, time.time(), {EVIL: 1})
    check(call("monitor", "status", "--store", given.data.parent / "monitor"))


def walk_plan(given: Given) -> None:
    check(call("plan", "mean", given.run, "--half-width", 0.1))
    check(call("plan", "paired", given.run, "--difference", 0.1))
    check(call("plan", "paired", given.run, "--baseline", f"nobody {EVIL}"), 2)


WALKS: dict[str, Callable[[Given], None]] = {
    name.removeprefix("walk_"): walk for name, walk in globals().items()
    if name.startswith("walk_")
}  # fmt: skip


def test_every_command_that_reads_data_is_walked() -> None:
    without_data = {"demo", "metrics", "judges", "formats", "models", "doctor"}
    without_data |= {"view"}  # It ends with the process; tests/web walks its pages.
    assert WALKS.keys() == (COMMANDS | GROUPS) - without_data


@pytest.mark.parametrize("walk", WALKS)
def test_what_a_command_lets_out_does_nothing(
    walk: str, data: Path, made: tuple[Path, Outcome], labels: Path
) -> None:
    run, outcome = made
    check(outcome)
    WALKS[walk](Given(data, run, labels))


def test_a_name_that_is_not_known_does_nothing() -> None:
    check(call("metrics", EVIL), 2)
    check(call("evaluate", "x", "-m", EVIL), 2)


def test_a_notebook_and_a_picture_hold_nothing_that_acts(made: tuple[Path, Outcome]) -> None:
    run = Run.open(made[0])
    tags = Tags()
    tags.feed(run.notebook())
    text = {"div", "section", "style", "dl", "dt", "dd", "p", "b", "bdi", "span", "i"}
    drawing = {"svg", "title", "line", "rect", "circle", "text"}
    assert tags.tags <= {"table", "tr", "th", "td"} | text | drawing
    assert not unseen(run.notebook())
    drawn = picture(page_of(run))
    assert not unseen(drawn)
    names = {one.tag.split("}")[1] for one in ElementTree.fromstring(drawn).iter()}
    assert names <= {"svg", "style", "defs", "clipPath", "rect", "g", "text", "line", "circle"}


@pytest.mark.parametrize(
    "text",
    [
        f'{{"id": "{EVIL}'.encode(),
        json.dumps({"question": EVIL, "answer": {EVIL: 1}, EVIL: 2}).encode() + b"\n",
        json.dumps(ROWS[0]).encode() + b"\n" + json.dumps(ROWS[0]).encode() + b"\n",
    ],
)
def test_the_message_of_a_fault_does_nothing(text: bytes, tmp_path: Path) -> None:
    file = tmp_path / f"data {EVIL[:20]}.jsonl".replace("/", "")
    file.write_bytes(text)
    check(call("evaluate", file, "--out", tmp_path / "run"), 2)


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_examples_read_back_as_they_were_written(format: str, data: Path, tmp_path: Path) -> None:
    from ragstone import write

    examples = read(data)
    write(examples, tmp_path / f"back.{format}")
    assert list(read(tmp_path / f"back.{format}")) == list(examples)


def test_a_sheet_that_people_fill_in_reads_back_as_the_ids_it_was_made_of(
    made: tuple[Path, Outcome], tmp_path: Path
) -> None:
    sheet = tmp_path / "sheet.csv"
    options = ("--label", "helpful", "--n", 12, "--annotators", f"=ann {EVIL}")
    check(call("sample", made[0], *options, "--out", sheet))
    head, *rows = check_csv(sheet.read_text(encoding="utf-8"))
    at = head.index("helpful")
    with sheet.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *([*one[:at], "1", *one[at + 1 :]] for one in rows)])
    frame = read_label_table(sheet).frame
    assert sorted(frame["example_id"]) == sorted(IDS)
    assert set(frame["annotator"]) == {f"=ann {EVIL}"}
