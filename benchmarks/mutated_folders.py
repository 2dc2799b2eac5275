"""Damaged run folders, each read by commands in a process of its own.

    python benchmarks/mutated_folders.py SEED NUMBER ...

Of four runs (finished by the local judge, finished by a model, stopped before its tables were put
in place, and stopped with a journal) one thing is changed in a copy. Then some of the commands that
read a run are called on it. A folder falls if a command ends with a status that it does not promise
(70 is a bug), takes longer than 60 s of processor time or 600 s, or if the process takes more
memory than 256 MB and four times what the folder holds. Prints every fall, with its number.
"""

import io
import json
import os
import pkgutil
import random
import re
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from mutations import changed_bytes, changed_json

Random = random.Random
Mutation = Callable[[Random, Path], object]

CPU_SECONDS, WALL_SECONDS = 60, 600
FREE_BYTES, TIMES_UNPACKED = 256 * 2**20, 4
MOST_BYTES = 4 << 30
"""So that a fall does not take the machine with it."""
EXPECTED = ("0", "1", "2", "3", "4")
"""What commands promise: yes, no, bad input, cannot tell, too much is missing."""


# What is changed


def other_bytes(draw: Random, run: Path) -> None:
    file = _some_file(draw, run)
    file.write_bytes(changed_bytes(file.read_bytes(), draw))


def delete(draw: Random, run: Path) -> None:
    _some_file(draw, run).unlink()


def exchange(draw: Random, run: Path) -> None:
    one, other = _some_file(draw, run), _some_file(draw, run)
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


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
    target = draw.choice([*targets, *(str(one) for one in _files(run) if one != file)])
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
    import polars as pl

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
        found = draw.choice(changes)()
    except pl.exceptions.PolarsError:
        found = table.clear()
    found.write_parquet(file)


def other_journal(draw: Random, run: Path) -> None:
    file = run / "journal.sqlite"
    if not file.is_file():
        return other_table(draw, run)
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
    return None


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
    """The commands that read a run, on a finished one."""
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
    """Call some commands, and write a line about each to the file descriptor that is told."""
    from typer.testing import CliRunner

    from ragstone.cli.app import app

    if which.endswith("model"):
        _go_on(run, seeds)
    if which.startswith("stopped"):
        chosen = [["evaluate", str(seeds / "data.jsonl"), "--out", str(run), "--offline"]]
        chosen = [] if which.endswith("model") else chosen
    else:
        chosen = draw.sample(commands(run, seeds), 3)
    for words in chosen:
        _tell(f"begin {' '.join(words[:2] if words[0] == 'plan' else words[:1])}")
        outcome = CliRunner().invoke(app, words)
        known = outcome.exception is None or isinstance(outcome.exception, SystemExit)
        _tell(f"end {outcome.exit_code if known else repr(outcome.exception)}")


def _go_on(run: Path, seeds: Path) -> None:
    """The same call as made the run of a model."""
    import ragstone
    from ragstone.core.errors import RagstoneError

    _tell("begin evaluate (Python)")
    try:
        ragstone.evaluate(seeds / "few.jsonl", metrics=METRICS, judge=_model(), out=run,
                          limits=ragstone.Limits(cached=False))  # fmt: skip
        _tell("end 0")
    except (RagstoneError, OSError):
        _tell("end 2")
    except BaseException as error:
        _tell(f"end {error!r}")


def _tell(line: str) -> None:
    os.write(TOLD, (line.replace("\n", " ")[:600] + "\n").encode("utf-8", "replace"))


TOLD = 2
METRICS = ["faithfulness", "context_precision", "token_f1"]


# The runs that are damaged


def _model() -> Any:
    """A model that fills in any schema; what of it counts as an answer does not matter here."""
    from ragstone.models.chat import ChatRequest
    from ragstone.testing import ScriptedModel

    def reply(request: ChatRequest) -> Any:
        return _filled(request.schema, request.schema.get("$defs", {}))

    return ScriptedModel(reply, name="filler")


def _filled(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        return _filled(known[schema["$ref"].rpartition("/")[2]], known)
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    if "anyOf" in schema:
        return _filled(schema["anyOf"][0], known)
    kind = schema.get("type")
    if kind == "object":
        return {name: _filled(one, known) for name, one in schema.get("properties", {}).items()}
    if kind == "array":
        return [_filled(schema["items"], known)]
    text = "The pier is 90 m long."
    return {"string": text, "integer": 1, "number": 1.0, "boolean": True}[str(kind)]


def make_runs(seeds: Path) -> None:
    """The four runs, and what commands want beside them."""
    import ragstone
    from ragstone.data import cornwall
    from ragstone.run.folder.folder import Folder

    rows = [json.loads(line) for line in cornwall().read_text("utf-8").splitlines()]
    _lines(seeds / "data.jsonl", rows)
    _lines(seeds / "few.jsonl", rows[:4])
    people = [
        {"id": row["id"], "annotator": name, "faithfulness": int(number % 3 > 0)}
        for number, row in enumerate(rows[:16])
        for name in ("ann", "ben")
    ]
    _lines(seeds / "labels.jsonl", people)
    lines = ["question_id,system_a,system_b,preference,annotator"]
    systems = list(dict.fromkeys(row["system"] for row in rows))
    for number, question in enumerate(dict.fromkeys(row["question_id"] for row in rows)):
        lines.append(f"{question},{systems[0]},{systems[1]},{'ab'[number % 2]},ann")
    (seeds / "preferences.csv").write_text("\n".join(lines) + "\n", "utf-8")
    limits = ragstone.Limits(cached=False)
    model = {"metrics": METRICS, "judge": _model(), "limits": limits}
    ragstone.evaluate(seeds / "data.jsonl", out=seeds / "local")
    ragstone.evaluate(seeds / "few.jsonl", out=seeds / "model", **model)

    class Stopped(BaseException):
        """As a kill would."""

    def stop(*_: object) -> None:
        raise Stopped

    Folder.finish = stop  # type: ignore[assignment, method-assign]
    for name, data, options in (("local", "data", {}), ("model", "few", model)):
        try:
            ragstone.evaluate(seeds / f"{data}.jsonl", out=seeds / f"stopped {name}", **options)
        except Stopped:
            continue
        raise SystemExit("a run went on that was to be stopped")


KINDS = (("local", 5), ("model", 3), ("stopped local", 1), ("stopped model", 1))
"""The runs, and how often each is taken."""


def _lines(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


# One folder


def read_in_child(seed: int, number: int, seeds: Path) -> tuple[str, list[str]]:
    """What was done to the folder with this number, and what fell when it was read."""
    told, tells = os.pipe()
    pid = os.fork()
    if not pid:
        _child(lambda: damage_and_read(seed, number, seeds), tells)
    os.close(tells)
    with os.fdopen(told, "rb") as pipe:
        lines = pipe.read().decode("utf-8", "replace").splitlines()
    _, status = os.waitpid(pid, 0)
    return _judged(lines, status)


def _child(work: Callable[[], object], tells: int) -> NoReturn:
    """Do something in a process that was just forked, and end it."""
    global TOLD
    TOLD = tells
    try:
        work()
    except BaseException as error:
        _tell(f"end fuzzer {error!r}")
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
    which = draw.choices([name for name, _ in KINDS], [share for _, share in KINDS])[0]
    how = draw.choices(list(MUTATIONS), [share for _, share in MUTATIONS.values()])[0]
    with tempfile.TemporaryDirectory(prefix="folder-", dir=seeds) as folder:
        run = Path(shutil.copytree(seeds / which, Path(folder) / "run"))
        _tell(f"is {which}: {how}")
        _apart(lambda: MUTATIONS[how][0](draw, run))
        _apart(lambda: _tell(f"bytes {_unpacked(run)}"))
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            read(draw, run, seeds, which)
    # What a process waited for is not counted here, as it is in rusage.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    _tell(f"peak {1024 * int(peak[1]) if peak else 0}")


def _apart(work: Callable[[], object]) -> None:
    """In a process of its own: its memory is not the reader's, its threads do not stay."""
    pid = os.fork()
    if not pid:
        _child(work, TOLD)
    os.waitpid(pid, 0)


def _unpacked(run: Path) -> int:
    """Bytes of the folder; a hole holds nothing, a table what it is in memory."""
    import polars as pl

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


def _judged(lines: Sequence[str], status: int) -> tuple[str, list[str]]:
    facts = {word: rest for word, _, rest in (line.partition(" ") for line in lines)}
    fallen, last = [], ""
    for word, _, rest in (line.partition(" ") for line in lines):
        if word == "begin":
            last = rest
        elif word == "end" and rest not in EXPECTED:
            fallen.append(f"{last}: {rest}")
    if os.WIFSIGNALED(status):
        fallen.append(f"{last}: killed by {signal.Signals(os.WTERMSIG(status)).name}")
    allowed = FREE_BYTES + TIMES_UNPACKED * int(facts.get("bytes", 0))
    if (peak := int(facts.get("peak", 0))) > allowed:
        fallen.append(f"{last}: {peak >> 20} MB where {allowed >> 20} are allowed")
    return facts.get("is", "not damaged"), fallen


def _import_all() -> None:
    """Once, here: the processes that are forked have it."""
    import ragstone

    # Those of other people's frameworks, which no command imports, would count as memory.
    apart = ("ragstone.models", "ragstone.cli.pytest_plugin", "ragstone.guard.integrations")
    for module in pkgutil.walk_packages(ragstone.__path__, "ragstone."):
        if not module.name.startswith(apart) and not module.name.endswith("__main__"):
            import_module(module.name)


def main() -> None:
    seed, *numbers = map(int, sys.argv[1:])
    os.environ.setdefault("POLARS_MAX_THREADS", "2")
    fallen_folders = 0
    with tempfile.TemporaryDirectory(prefix="mutated-") as folder:
        seeds = Path(folder)
        os.environ["RAGSTONE_CACHE"] = str(seeds / "cache")
        _import_all()
        _apart(lambda: make_runs(seeds))
        for number in numbers:
            what, fallen = read_in_child(seed, number, seeds)
            fallen_folders += bool(fallen)
            for words in fallen:
                print(f"fell  {number}  {what}: {words}", flush=True)
    print(f"{len(numbers):,} folders, {fallen_folders:,} fell")
    raise SystemExit(fallen_folders > 0)


if __name__ == "__main__":
    main()
