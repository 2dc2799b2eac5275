"""A run killed three times with −9 and gone on with, beside one that was left alone.

    python benchmarks/resume.py [--data ../shared/data] [--bench ../shared/bench] [--kills 3]

MTRAG's 249 answers with seven judged metrics, the mock as judge and embedder, 50 ms a call, 16 in
flight. The moments of the kills are drawn from --seed over the calls of the run. Then both run
folders are compared: every question and the replies that answered it, all tables of judgements,
the ledger, the scores, the estimates and the counts. Prints a line for each, and the calls that
were sent again, beside those that were in flight at the kills. Exit status 1 if anything differs.
"""

import argparse
import json
import random
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
from against_mock import Child, Killed, Seen, evaluate_command, mock

CONCURRENCY = 16
LATENCY_MS = 50
SCORED = (0, 4)
OF_THE_MOMENT = ("created", "seconds", "cached")
"""What differs between any two runs, in ``run.json``; the server's cache goes by its own clock."""
SAVED = "had been answered before"
"""A remark that only a run has that was gone on with."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--bench", type=Path, default=Path("../shared/bench"))
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, help="only so many answers")
    given = parser.parse_args()
    data = given.data.resolve() / "rag_quality_mtrag" / "answers.jsonl.gz"
    if not data.is_file():
        raise SystemExit(f"No {data}. Name the folder of the data sets with --data.")
    more = ["--by", "system", *(["--limit", str(given.limit)] if given.limit else [])]
    with (
        tempfile.TemporaryDirectory() as scratch,
        mock(given.bench, latency_ms=LATENCY_MS) as server,
    ):
        alone, disturbed = Path(scratch, "alone"), Path(scratch, "disturbed")

        def child(folder: Path) -> Child:
            folder.mkdir(exist_ok=True)
            command = evaluate_command(
                data, folder / "run", server.url, concurrency=CONCURRENCY, more=more
            )
            return Child(command, folder, server)

        whole = child(alone).end_well(SCORED)
        print(f"Left alone: {whole.chats:,} chats, {whole.embeds:,} requests for embeddings.")
        server.reset()
        kills, seen = killed_at(
            moments(whole.calls, given.kills, given.seed), lambda: child(disturbed)
        )
        for one in kills:
            print(f"Killed with {one.sent:,} calls sent so far, {one.in_flight} of them in flight.")
        print(
            f"Sent again: {seen.chats - whole.chats} chats, "
            f"{seen.embeds - whole.embeds} requests for embeddings; "
            f"in flight at the kills: {sum(one.in_flight for one in kills)}, "
            f"at most {CONCURRENCY * len(kills)}."
        )
        differing = False
        for what, equal in compared(alone / "run", disturbed / "run"):
            differing |= not equal
            print(f"  {'equal    ' if equal else 'DIFFERENT'} {what}")
    sys.exit(differing)


def moments(calls: int, kills: int, seed: int) -> list[int]:
    """Numbers of calls, in order."""
    draw = random.Random(seed)
    return sorted(round(draw.uniform(0.03, 0.97) * calls) for _ in range(kills))


def killed_at(requests: Sequence[int], child: Callable[[], Child]) -> tuple[list[Killed], Seen]:
    """Each kill, and what was seen of all runs together in the end."""
    return [child().kill_at(number) for number in requests], child().end_well(SCORED)


def compared(one: Path, other: Path) -> Iterator[tuple[str, bool]]:
    """What is compared, and whether it is equal."""
    answers = answered(one)
    yield f"{len(answers):,} questions and replies", answers == answered(other)
    files = [{path.relative_to(run) for path in run.rglob("*.parquet")} for run in (one, other)]
    yield f"names of {len(files[0])} tables", files[0] == files[1]
    for file in sorted(files[0] & files[1]):
        rows = pl.read_parquet(one / file)
        yield f"{file}, {rows.height:,} rows", rows.equals(pl.read_parquet(other / file))
    for name in ("estimates.json", "run.json"):
        said = [
            lasting(json.loads((run / name).read_text(encoding="utf-8"))) for run in (one, other)
        ]
        places = sorted(place for place, _ in said[0].items() ^ said[1].items())
        yield " ".join([name, *places]), not places


def answered(run: Path) -> set[tuple[str, str]]:
    """Key and reply of every attempt that a reply was read from."""
    with closing(sqlite3.connect(run / "journal.sqlite")) as journal:
        return set(journal.execute("SELECT key, reply FROM attempts WHERE trouble IS NULL"))


def lasting(value: Any, place: str = "") -> dict[str, str]:
    """What a JSON document holds at each place, but for the moment it was made at."""
    if isinstance(value, dict):
        inner = {name: part for name, part in value.items() if name not in OF_THE_MOMENT}
    elif isinstance(value, list):
        kept = [part for part in value if SAVED not in str(part)]
        inner = {str(number): part for number, part in enumerate(kept)}
    else:
        return {place: json.dumps(value)}
    found = {place: type(value).__name__}
    for name, part in inner.items():
        found |= lasting(part, f"{place}/{name}")
    return found


if __name__ == "__main__":
    main()
