"""The estimates of a hundred million scores, and the ledger of a hundred million rows.

    python benchmarks/many_scores.py [--examples 5000000] [--metrics 20] [--ledger 40000]

Writes shards of 2,500 examples with random scores as a run writes them, four examples a question,
of three systems and two topics, which makes twelve groups; some are undefined, with a reason. Then
``estimate_run`` reads and sums them in a process of its own, whose seconds and peak memory are
printed beside their limits. So are those of opening a ledger with as many shards as a hundred
million rows have. The writing is not timed. It takes some gigabytes of disk, which are freed.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from ragstone.metrics import parse_metric
from ragstone.run.estimates.estimates import estimate_run
from ragstone.run.estimates.groups import by_column
from ragstone.run.folder.checksums import File
from ragstone.run.folder.run_tally import RunTally
from ragstone.run.folder.schemas import Counted, ShardForm
from ragstone.run.folder.shards import ShardLedger, Shards, write_ledger
from ragstone.run.run_spec import Requested, RunSpec
from ragstone.run.settings import NO_MODELS, RunSettings

SHARD = 2_500
SECONDS, MEGABYTES = 180, 1_000
LEDGER_SECONDS, LEDGER_MEGABYTES = 1, 50


def spec_of(metrics: int) -> RunSpec:
    """Half rates, half means, grouped by topic."""
    names = [f"{('hit', 'precision')[at % 2]}(k={at // 2 + 1})" for at in range(metrics)]
    requested = Requested(tuple(map(parse_metric, names)), ())
    settings = RunSettings(
        data="simulated", definitions={}, local=[], nli=[], citations="", cluster="question_id"
    )
    return RunSpec(settings, requested, (), ("topic",), NO_MODELS)


def write_shards(folder: Path, examples: int, metrics: int) -> None:
    """Scores from a fixed seed."""
    draw, shards, spec = np.random.default_rng(0), Shards(folder), spec_of(metrics)
    for number, first in enumerate(range(0, examples, SHARD)):
        size = min(SHARD, examples - first)
        place = pl.int_range(first, first + size, eager=True)
        facets = pl.DataFrame(
            {
                "system": (place % 3).cast(pl.String),
                "question": (place // 4).hash(0),
                "asked": (place // 4).hash(1),
                "cluster": (place // 4).hash(0),
                "contexts": pl.repeat(5, size, dtype=pl.Int64, eager=True),
                by_column("topic"): draw.choice(["a", "b"], size),
            }
        )
        ids = {
            "example_id": pl.select(pl.format("r{}", place)).to_series(),
            "question_id": pl.select(pl.format("q{}", place // 4)).to_series(),
            "system": facets["system"],
        }
        scores = pl.concat(
            pl.DataFrame({**ids, "metric": str(metric), **_drawn(draw, size, rate=at % 2 == 0)})
            for at, metric in enumerate(spec.metrics)
        )
        form = ShardForm(shard=number, examples=size, files={}, counted=Counted(judged=[]))
        shards.add(form, {"scores": scores, "facets": facets})


def _drawn(draw: np.random.Generator, size: int, *, rate: bool) -> dict[str, pl.Series]:
    value = draw.integers(2, size=size).astype(float) if rate else draw.beta(4, 2, size)
    lacks = pl.Series(draw.random(size) < 0.05)
    chosen = pl.DataFrame({"value": value, "lacks": lacks}).select(
        value=pl.when(~pl.col("lacks")).then("value"),
        label=pl.lit(None, pl.String),
        status=pl.when("lacks").then(pl.lit("undefined")).otherwise(pl.lit("value")),
        reason=pl.when("lacks").then(pl.lit("no_contexts")),
        shard=pl.lit(0, pl.UInt32),
    )
    return chosen.to_dict()


def write_lines(file: Path, shards: int) -> None:
    """The ledger of this many shards, of ten tables each."""
    noted = File(bytes=123_456, checksum="0" * 32, rows=SHARD)
    files = {f"table{number}": noted for number in range(10)}
    counted = Counted(
        judged=[("claims", "local", "ok", SHARD), ("support/claim", "local", "ok", SHARD)]
    )
    write_ledger(
        file,
        (
            ShardForm(shard=number, examples=SHARD, files=files, counted=counted)
            for number in range(shards)
        ),
    )


def estimate(folder: Path, examples: int, metrics: int) -> None:
    """Estimate what was written, and print the seconds and a few numbers."""
    started = time.perf_counter()
    found = estimate_run(Shards(folder), spec_of(metrics), RunTally(examples=examples))
    print(f"{time.perf_counter() - started:.1f} s, {len(found.estimates)} estimates, such as")
    one = found.estimates[0]
    print(f"{one.metric} {one.value} {one.low} {one.high} of {one.clusters:,} questions")


def open_ledger(file: Path) -> None:
    """Open a ledger, and print the seconds and the megabytes that it added."""
    before, started = _held(), time.perf_counter()
    ledger = ShardLedger(file)
    seconds, more = time.perf_counter() - started, _held() - before
    print(f"ledger of {len(ledger):,} shards: {seconds:.2f} s (limit {LEDGER_SECONDS}), "
          f"{more:.0f} MB (limit {LEDGER_MEGABYTES})")  # fmt: skip


def _held() -> float:
    """The megabytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def measured(*arguments: str) -> None:
    """Run a part of this script in a process of its own; print its time and peak memory."""
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, __file__, *arguments])
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{arguments[0]} ended with status {status}")
    wall, memory = time.perf_counter() - started, used.ru_maxrss / 1024
    cpu = used.ru_utime + used.ru_stime
    print(f"whole process: {wall:.1f} s (limit {SECONDS}), {cpu:.1f} s of processors, "
          f"{memory:.0f} MB (limit {MEGABYTES:,})")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=5_000_000)
    parser.add_argument("--metrics", type=int, default=20)
    parser.add_argument("--ledger", type=int, default=40_000)
    parser.add_argument("--estimate", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.estimate:
        estimate(given.estimate, given.examples, given.metrics)
    elif given.open:
        open_ledger(given.open)
    else:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            write_shards(place, given.examples, given.metrics)
            size = sum(file.stat().st_size for file in place.rglob("*.parquet"))
            print(f"{given.examples * given.metrics:,} scores, {size / 1e6:,.0f} MB", flush=True)
            sizes = [f"--examples={given.examples}", f"--metrics={given.metrics}"]
            measured(f"--estimate={place}", *sizes)
            write_lines(place / "lines.jsonl", given.ledger)
            subprocess.run(
                [sys.executable, __file__, f"--open={place / 'lines.jsonl'}"], check=True
            )


if __name__ == "__main__":
    main()
