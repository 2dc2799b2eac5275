"""Damaged run folders, each read by commands in a process of its own.

    python benchmarks/mutated_folders.py SEED NUMBER ...

Of four runs (finished by the local judge, finished by a model, stopped before its tables were put
in place, and stopped with a journal) one thing is changed in a copy. Then some of the commands that
read a run are called on it. A folder falls if a command ends with a status that it does not promise
(70 is a bug), takes longer than 60 s of processor time or 600 s, or if the process takes more
memory than 256 MB and four times what the folder holds. Prints every fall, with its number.
"""

import json
import os
import pkgutil
import random
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ.setdefault("POLARS_MAX_THREADS", "2")

import polars as pl
from measure import memory
from mutations import changed_bytes, changed_json
from typer.testing import CliRunner

import ragstone
from ragstone.cli.app import app
from ragstone.core.errors import RagstoneError
from ragstone.data import cornwall
from ragstone.run.folder.folder import Folder
from ragstone.testing import ScriptedModel, asked, reply_to

Random = random.Random
Mutation = Callable[[Random, Path], object]

CPU_SECONDS, WALL_SECONDS = 60, 600
FREE_BYTES, TIMES_UNPACKED = 256 * 2**20, 4
MOST_BYTES = 4 << 30
"""So that a fall does not take the machine with it."""
EXPECTED = ("0", "1", "2", "3", "4")
"""What commands promise: yes, no, bad input, cannot tell, too much is missing."""
METRICS = ["faithfulness", "context_precision", "token_f1"]
EVENTS = "events.txt"
"""The file beside the runs into which the processes that read one write what they do."""


# What is changed


def other_bytes(draw: Random, run: Path) -> None:
    file = _some_file(draw, run)
    file.write_bytes(changed_bytes(file.read_bytes(), draw))


def delete(draw: Random, run: Path) -> None:
    _some_file(draw, run).unlink()


def exchange(draw: Random, run: Path) -> None:
    first, second = _some_file(draw, run), _some_file(draw, run)
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)


def replace(draw: Random, run: Path) -> None:
    file = _some_file(draw, run)
    content = (
        b"", b"null", b"[]", b"{}", b"[" * 200_000, b'{"a":' * 100_000, b"PAR1PAR1",
        b"SQLite format 3\0" + b"\0" * 200, b"\xff" * 500, b"[1e999, NaN]", b"9" * 5_000,
        b'"\\ud800"', b"[" + b"[]," * 300_000 + b"[]]",
    )  # fmt: skip
    file.write_bytes(draw.choice(content))


def link(draw: Random, run: Path) -> None:
    file = _some_file(draw, run)
    targets = ["/dev/zero", "/dev/tty", "/proc/self/mem", "/etc/passwd", file.name, "..", "nowhere"]
    target = draw.choice([*targets, *(str(other) for other in _files(run) if other != file)])
    file.unlink()
    file.symlink_to(target)


def odd_entry(draw: Random, run: Path) -> None:
    file = _some_file(draw, run)
    file.unlink()
    draw.choice((Path.mkdir, os.mkfifo))(file)


def claim_a_length(draw: Random, run: Path) -> None:
    """A file with a hole of up to a gigabyte."""
    os.truncate(_some_file(draw, run), draw.choice((2**24, 2**28, 2**30)))


def other_json(draw: Random, run: Path) -> None:
    file = _some_file(draw, run, ".json", ".jsonl")
    if text := file.read_text("utf-8"):
        file.write_text(changed_json(text, draw), "utf-8")


def other_table(draw: Random, run: Path) -> None:
    file = _some_file(draw, run, ".parquet")
    table = pl.read_parquet(file)
    name = draw.choice(table.columns)
    column = pl.col(name)
    values = pl.lit(draw.choice((None, 0, -1, 2**40, float("nan"), float("inf"), "x", "{}", "[1]")))
    changes: list[Callable[[], pl.DataFrame]] = [
        lambda: table.drop(name),
        lambda: table.rename({name: f"{name}?"}),
        lambda: table.with_columns(
            column.cast(draw.choice((pl.String, pl.Int64, pl.Float64)), strict=False)
        ),
        lambda: table.with_columns(pl.struct(column).alias(name)),
        lambda: table.with_columns(column.implode().over(pl.int_range(pl.len())).alias(name)),
        lambda: table.with_columns(values.cast(table.schema[name], strict=False).alias(name)),
        lambda: table.with_columns(
            pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(column).alias(name)
        ),
        lambda: table.with_columns(column.reverse()),
        lambda: table.with_columns(column.first()),
        lambda: table.head(draw.randrange(table.height + 1)),
        lambda: pl.concat([table, table]),
        lambda: table.select(reversed(table.columns)),
        lambda: table.sample(fraction=1.0, shuffle=True, seed=1),
        lambda: pl.concat([table] * 2_000),
    ]
    try:
        changed = draw.choice(changes)()
    except pl.exceptions.PolarsError:
        changed = table.clear()
    changed.write_parquet(file)


def other_journal(draw: Random, run: Path) -> None:
    file = run / "journal.sqlite"
    if not file.is_file():
        other_table(draw, run)
        return
    number = draw.choice((-1, 2**62, 1.5, "many", b"\xff", None, float("inf")))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    columns = ", ".join(f"i AS {name}" for name in ("key", "attempt", "source", "at", "trouble"))
    scripts = (
        "DROP TABLE attempts",
        "DROP TABLE parts",
        "DELETE FROM parts",
        "ALTER TABLE attempts RENAME COLUMN reply TO answer",
        "ALTER TABLE attempts DROP COLUMN usd",
        "ALTER TABLE requests ADD COLUMN more TEXT",
        f"DROP TABLE attempts; CREATE VIEW attempts AS SELECT {columns} FROM ({endless})",
        f"DROP TABLE parts; CREATE VIEW parts AS SELECT 'a' AS digest, i AS text FROM ({endless})",
        "CREATE TRIGGER t AFTER INSERT ON attempts BEGIN DELETE FROM requests; END",
        "PRAGMA user_version = 9",
        "PRAGMA application_id = 1",
        "UPDATE requests SET parts = '[1, {}, null]'",
        "UPDATE requests SET parts = '[['",
        "UPDATE requests SET schema = 'gone'",
        "UPDATE attempts SET reply = zeroblob(60000000)",
        "UPDATE attempts SET reply = ''",
        "UPDATE attempts SET reply = '[' || reply",
    )
    with closing(sqlite3.connect(file)) as journal, journal:
        if draw.random() < 0.5:
            table = draw.choice(("attempts", "attempts", "requests"))
            names = [row[1] for row in journal.execute(f"PRAGMA table_info({table})")]
            try:
                journal.execute(f"UPDATE {table} SET {draw.choice(names)} = ?", (number,))
            except sqlite3.IntegrityError:
                journal.execute("DELETE FROM attempts")
        else:
            journal.executescript(draw.choice(scripts))


MUTATIONS: dict[str, tuple[Mutation, int]] = {
    "other bytes": (other_bytes, 12),
    "deleted": (delete, 2),
    "exchanged": (exchange, 2),
    "replaced": (replace, 2),
    "links": (link, 2),
    "pipes and folders": (odd_entry, 1),
    "huge files": (claim_a_length, 1),
    "other JSON": (other_json, 6),
    "other tables": (other_table, 8),
    "other journals": (other_journal, 4),
}
"""Each with its share of the folders."""


def _files(run: Path) -> list[Path]:
    return sorted(file for file in run.rglob("*") if file.is_file() and file.name != ".lock")


def _some_file(draw: Random, run: Path, *ends: str) -> Path:
    """A file of the folder; in every third case one of the three that all commands read."""
    files = [file for file in _files(run) if not ends or file.suffix in ends]
    names = ("run.json", "estimates.json", "shards.jsonl", "journal.sqlite")
    often = [file for file in files if file.name in names or file.parent.name == "scores"]
    return draw.choice(often if often and draw.random() < 1 / 3 else files)


# Who reads

WHAT = ("scores", "examples", "estimates", "judgements:claims", "judgements:support")


def commands(run: Path, seeds: Path) -> list[list[str]]:
    """The commands that read a run, on a finished one; the last goes on with a stopped one."""
    sheet, other = run.parent / "sheet.csv", seeds / "local"
    labels = str(seeds / "labels.jsonl")
    return [
        ["show", str(run)],
        ["show", str(run), "--json"],
        ["show", str(run), "lizard-point-local_search"],
        ["show", str(run), "lizard-point-local_search", "--json"],
        ["score", str(run), "--metric", "rouge_l", "--by", "question_type"],
        ["compare", str(run)],
        ["compare", str(run), str(other), "--force", "--json"],
        ["calibrate", str(run), "--labels", labels],
        ["gate", str(run), "--require", "faithfulness >= 0.5", "--no-worse-than", f"{other}:0.2"],
        ["sample", str(run), "--n", "4", "--metric", "faithfulness", "--out", str(sheet)],
        ["sample", str(run), "--n", "4", "--by", "stratified", "--strata", "system", "--json"],
        ["weights", str(run), "--preferences", str(seeds / "preferences.csv"), "--json"],
        *(["export", str(run), "--what", what, "--as", "jsonl"] for what in WHAT),
        ["export", str(run), "--as", "graphrag"],
        ["plan", "mean", str(run), "--half-width", "0.1"],
        ["plan", "paired", str(run)],
        ["plan", "labels", str(run), "--metric", "faithfulness", "--labels", labels,
         "--half-width", "0.1"],
        ["agreement", str(run / "examples" / "000000.parquet")],
        ["evaluate", str(seeds / "data.jsonl"), "--out", str(run), "--offline"],
    ]  # fmt: skip


def read(draw: Random, run: Path, seeds: Path, which: str) -> None:
    """Call some commands, and write down how each ends."""
    if which.endswith("model"):
        tell(seeds, "begin evaluate (Python)")
        try:
            evaluate_by_model(seeds, run)
            tell(seeds, "end 0")
        except (RagstoneError, OSError):
            tell(seeds, "end 2")
        except BaseException as error:
            tell(seeds, f"end {error!r}")
    chosen = commands(run, seeds)
    if which.startswith("stopped"):
        chosen = [] if which.endswith("model") else chosen[-1:]
    else:
        chosen = draw.sample(chosen, 3)
    for words in chosen:
        tell(seeds, f"begin {' '.join(words[:2] if words[0] == 'plan' else words[:1])}")
        outcome = CliRunner().invoke(app, words)
        known = outcome.exception is None or isinstance(outcome.exception, SystemExit)
        tell(seeds, f"end {outcome.exit_code if known else repr(outcome.exception)}")


def tell(seeds: Path, line: str) -> None:
    with (seeds / EVENTS).open("ab") as events:
        events.write((line.replace("\n", " ")[:600] + "\n").encode("utf-8", "replace"))


# The runs that are damaged


def evaluate_by_model(seeds: Path, run: Path) -> None:
    """Judged by a model whose verdicts are always the same, right or not."""

    def reply(request: Any) -> Any:
        verdict = {"reason": "So.", "verdict": "supported", "details": ["s1: The pier is 90 m."]}
        return reply_to(request, dict.fromkeys(asked(request), verdict))

    limits = ragstone.Limits(cached=False)
    ragstone.evaluate(seeds / "few.jsonl", metrics=METRICS, judge=ScriptedModel(reply), out=run,
                      limits=limits)  # fmt: skip


def make_runs(seeds: Path) -> None:
    """The four runs, and what commands want beside them."""
    lines = cornwall().read_text("utf-8").splitlines(keepends=True)
    (seeds / "data.jsonl").write_text("".join(lines), "utf-8")
    (seeds / "few.jsonl").write_text("".join(lines[:4]), "utf-8")
    rows = [json.loads(line) for line in lines]
    pl.DataFrame(
        {"id": row["id"], "annotator": name, "faithfulness": int(number % 3 > 0)}
        for number, row in enumerate(rows[:16])
        for name in ("ann", "ben")
    ).write_ndjson(seeds / "labels.jsonl")
    systems = list(dict.fromkeys(row["system"] for row in rows))
    pl.DataFrame(
        {"question_id": question, "system_a": systems[0], "system_b": systems[1],
         "preference": "ab"[number % 2], "annotator": "ann"}
        for number, question in enumerate(dict.fromkeys(row["question_id"] for row in rows))
    ).write_csv(seeds / "preferences.csv")  # fmt: skip
    ragstone.evaluate(seeds / "data.jsonl", out=seeds / "local")
    evaluate_by_model(seeds, seeds / "model")

    with patch.object(Folder, "finish", side_effect=SystemExit):  # As a kill would.
        with suppress(SystemExit):
            ragstone.evaluate(seeds / "data.jsonl", out=seeds / "stopped local")
        with suppress(SystemExit):
            evaluate_by_model(seeds, seeds / "stopped model")


KINDS = {"local": 5, "model": 3, "stopped local": 1, "stopped model": 1}
"""The runs, and how often each is taken."""


# One folder


def apart(seeds: Path, work: Callable[[], object]) -> int:
    """Do something in a process of its own, and return how it ended.

    Its memory is not the reader's, and its threads do not stay.
    """
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1]
    try:
        work()
    except BaseException as error:
        tell(seeds, f"end fuzzer {error!r}")
    os._exit(0)


def damage_and_read(seed: int, number: int, seeds: Path) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.setsid()
    signal.alarm(WALL_SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    draw = Random(f"{seed} {number}")
    which = draw.choices(list(KINDS), list(KINDS.values()))[0]
    how = draw.choices(list(MUTATIONS), [share for _, share in MUTATIONS.values()])[0]
    with tempfile.TemporaryDirectory(prefix="folder-", dir=seeds) as folder:
        run = Path(shutil.copytree(seeds / which, Path(folder) / "run"))
        tell(seeds, f"is {which}: {how}")
        apart(seeds, lambda: MUTATIONS[how][0](draw, run))
        apart(seeds, lambda: tell(seeds, f"bytes {_unpacked(run)}"))
        read(draw, run, seeds, which)
    # What a process waited for is not counted here, as it is in rusage.
    tell(seeds, f"peak {memory('VmHWM')}")


def _unpacked(run: Path) -> int:
    """Bytes of the folder; a hole holds nothing, a table what it is in memory."""
    total = 0
    for file in _files(run):
        if file.is_symlink():
            continue
        size = file.stat().st_blocks * 512
        if file.suffix == ".parquet":
            with suppress(pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
                size = max(size, int(pl.read_parquet(file).estimated_size()))
        total += size
    return total


def falls(lines: Sequence[str], status: int) -> list[str]:
    """What fell in a folder, with what was done to it, by what was written and how it ended."""
    events = [line.partition(" ")[::2] for line in lines]
    facts, fallen, last = dict(events), list[str](), ""
    for word, rest in events:
        if word == "begin":
            last = rest
        elif word == "end" and rest not in EXPECTED:
            fallen.append(f"{last}: {rest}")
    if os.WIFSIGNALED(status):
        fallen.append(f"{last}: killed by {signal.Signals(os.WTERMSIG(status)).name}")
    allowed = FREE_BYTES + TIMES_UNPACKED * int(facts.get("bytes", 0))
    if (peak := int(facts.get("peak", 0))) > allowed:
        fallen.append(f"{last}: {peak >> 20} MB where {allowed >> 20} are allowed")
    return [f"{facts.get('is', 'not damaged')}: {words}" for words in fallen]


def _import_all() -> None:
    """Once, here: the processes that are forked have it."""
    # Those of other people's frameworks, which no command imports, would count as memory.
    left_out = ("ragstone.models", "ragstone.cli.pytest_plugin", "ragstone.guard.integrations")
    for module in pkgutil.walk_packages(ragstone.__path__, "ragstone."):
        if not module.name.startswith(left_out) and not module.name.endswith("__main__"):
            import_module(module.name)


def main() -> None:
    seed, *numbers = map(int, sys.argv[1:])
    fallen_folders = 0
    with tempfile.TemporaryDirectory(prefix="mutated-") as folder:
        seeds = Path(folder)
        os.environ["RAGSTONE_CACHE"] = str(seeds / "cache")
        _import_all()
        apart(seeds, lambda: make_runs(seeds))
        if (seeds / EVENTS).exists():
            raise SystemExit((seeds / EVENTS).read_text("utf-8"))
        for number in numbers:
            (seeds / EVENTS).write_bytes(b"")
            status = apart(seeds, lambda number=number: damage_and_read(seed, number, seeds))  # type: ignore[misc]
            lines = (seeds / EVENTS).read_text("utf-8", "replace").splitlines()
            fallen = falls(lines, status)
            fallen_folders += bool(fallen)
            for words in fallen:
                print(f"fell  {number}  {words}", flush=True)
    print(f"{len(numbers):,} folders, {fallen_folders:,} fell")
    raise SystemExit(fallen_folders > 0)


if __name__ == "__main__":
    main()
