"""Runs in batches killed with −9 at random moments, beside ones that were left alone.

    python benchmarks/batches.py [--seeds 10] [--kills 6] [--format openai --format gemini]

The demo data with four judged metrics, by a provider on this machine that speaks OpenAI's,
Anthropic's or Gemini's format. Its first two batches have requests that expire, are cancelled,
fail, are lost, come twice or cannot be read, results in any order, states that are late; its list
has other people's batches; now and then the reply to the creation of a batch is lost. Each seed
kills the command at moments drawn over its time and over the provider's calls; between two starts
an hour goes by, or none.

Prints for each format the kills, the batches, and

    lost        scores that are missing, tables that differ from those of the run left alone, and
                answers in batches that the run does not have
    paid twice  answers in batches to questions that a batch had answered before
    in flight   single questions that were asked again, as their reply was not there at a kill

Exit status 1 if anything is lost or paid twice.
"""

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl
from against_mock import UNLIKE_USERS, loaded

from ragstone.data import cornwall

FORMATS = ("openai", "anthropic", "gemini")
METRICS = ("faithfulness", "context_precision", "context_recall", "answer_coverage")
FATES = ("ok", "ok", "ok", "twice", "expired", "canceled", "errored", "lost", "malformed")
ANSWERED = ("ok", "twice")
FAULTY = 2
"""The first batches, in which not every request is answered."""
STARTS = 60
"""A run that is not done after so many is lost."""
PROVIDER = loaded(Path(__file__).parents[1] / "tests" / "batch_provider.py")


@dataclass(frozen=True, slots=True)
class Count:
    """What came of the runs of a seed, or of several."""

    kills: int = 0
    starts: int = 0
    batches: int = 0
    questions: int = 0
    lost: int = 0
    twice: int = 0
    in_flight: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Count)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--kills", type=int, default=6, help="of each seed")
    parser.add_argument("--limit", type=int, default=12, help="answers of the demo data")
    parser.add_argument("--format", action="append", choices=FORMATS)
    given = parser.parse_args()
    names = [field.name.replace("_", " ") for field in fields(Count)]
    print(f"{'':10}" + "".join(f"{name.replace('twice', 'paid twice'):>12}" for name in names))
    bad = 0
    for speaks in given.format or FORMATS:
        total = Count()
        for seed in range(given.seeds):
            total += disturbed(speaks, seed, given.kills, given.limit)
        values = (getattr(total, field.name) for field in fields(Count))
        print(f"{speaks:10}" + "".join(f"{value:12,}" for value in values), flush=True)
        bad += total.lost + total.twice
    sys.exit(bad > 0)


def disturbed(speaks: str, seed: int, kills: int, limit: int) -> Count:
    """A run left alone, and then one that is killed, by the same provider."""
    draw = random.Random(f"{speaks} {seed}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with PROVIDER.provider(speaks) as there:
            began = time.monotonic()
            if started(there, folder, "alone", limit).wait() != 0:
                raise SystemExit(f"{speaks} {seed}: the run left alone did not end well.")
            seconds = time.monotonic() - began
            for seen in (there.paid, there.made, there.files, there.calls):
                seen.clear()
            fates = trouble(there, draw)
            killed, starts = 0, 0
            status = 5
            while status == 5 and starts < STARTS:
                starts += 1
                there.broken = int(draw.random() < 0.2)
                run = started(there, folder, "run", limit)
                if killed < kills:
                    killed += kill(run, there, draw, seconds)
                status = run.wait()
                status = 5 if status == -9 else status
                if draw.random() < 0.5 and (folder / "run" / "batches.sqlite").is_file():
                    PROVIDER.long_ago(folder / "run")
            if status != 0:
                raise SystemExit(f"{speaks} {seed}: ended with status {status}.")
            return Count(killed, starts, *counted(there, fates, folder))


def started(there: Any, folder: Path, name: str, limit: int) -> subprocess.Popen[bytes]:
    """The command as a user gives it, each time the same."""
    metrics = [word for metric in METRICS for word in ("-m", metric)]
    command = [
        sys.executable, "-m", "ragstone", "evaluate", str(cornwall()), *metrics,
        "--limit", str(limit), "--judge", there.judge, "--batch", "--no-cache",
        "--out", str(folder / name),
    ]  # fmt: skip
    inherited = {key: value for key, value in os.environ.items() if key not in UNLIKE_USERS}
    own = {"RAGSTONE_CACHE": str(folder / "cache"), "NO_PROXY": "127.0.0.1"}
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        command, env={**inherited, **there.environment, **own}, stdout=nothing, stderr=nothing
    )


def trouble(there: Any, draw: random.Random) -> dict[tuple[int, int], str]:
    """Let a provider be as bad as it may; gives what becomes of each request in a batch."""
    fates: dict[tuple[int, int], str] = {}
    late = draw.randrange(3)

    def does(number: int, place: int) -> str:
        return fates.setdefault(
            (number, place), draw.choice(FATES) if number < FAULTY else draw.choice(ANSWERED)
        )

    def look() -> None:
        there.ready = draw.randrange(3) >= late

    there.does, there.before_look = does, look
    there.slow = lambda: draw.choice((0.0, 0.0, 0.05, 0.2))
    there.strangers = [
        {"id": f"stranger-{number}", "created_at": time.time() + number, "metadata": None,
         "input_file_id": f"gone-{number}", "request_counts": {"succeeded": number}}
        for number in range(3)
    ]  # fmt: skip
    return fates


def kill(run: "subprocess.Popen[bytes]", there: Any, draw: random.Random, seconds: float) -> bool:
    """Kill a run at a moment of its time, or after so many calls; False if it had ended."""
    calls = len(there.calls) + draw.randrange(1, 12) if draw.random() < 0.7 else sys.maxsize
    until = time.monotonic() + draw.uniform(0, seconds) + (60 if calls < sys.maxsize else 0)
    while run.poll() is None and time.monotonic() < until and len(there.calls) < calls:
        time.sleep(0.001)
    time.sleep(draw.uniform(0, 0.03))
    if run.poll() is not None:
        return False
    run.kill()
    return True


def counted(there: Any, fates: dict[tuple[int, int], str], folder: Path) -> Sequence[int]:
    """Batches, questions, lost, paid twice, and single questions asked again."""
    there.ready, there.before_look = True, lambda: None
    in_batches: Counter[str] = Counter()
    malformed: Counter[str] = Counter()
    keys: set[str] = set()
    for number, made in enumerate(there.made.values()):
        there._end(made)  # One that nobody looked at is paid for all the same.
        for place, (custom, body) in enumerate(made.requests):
            prompt = there._prompt(body)
            fate = fates[number, place]
            in_batches[prompt] += fate in ANSWERED
            malformed[prompt] += fate == "malformed"
            keys |= {custom.partition("-")[0]} if fate in ANSWERED else set()
    twice = sum(times - 1 for times in in_batches.values() if times > 1)
    again = sum(
        max(0, there.paid[prompt] - malformed[prompt] - max(1, in_batches[prompt]))
        for prompt in there.paid
    )
    with closing(sqlite3.connect(folder / "run" / "journal.sqlite")) as journal:
        rows = journal.execute("SELECT key FROM attempts WHERE trouble IS NULL")
        lost = len(keys - {key for (key,) in rows})
    return len(there.made), len(there.paid), lost + differing(folder), twice, again


def differing(folder: Path) -> int:
    """Missing scores, and tables that are not those of the run left alone."""
    alone, run = folder / "alone", folder / "run"
    scores = pl.read_parquet(run / "scores" / "*.parquet")
    names = {file.relative_to(one) for one in (alone, run) for file in one.rglob("*.parquet")}
    other = sum(
        not ((alone / name).is_file() and (run / name).is_file())
        or (alone / name).read_bytes() != (run / name).read_bytes()
        for name in names
    )
    return scores.filter(pl.col("status") == "missing").height + other


if __name__ == "__main__":
    main()
