"""Rescore: new metrics on the judgements of a finished run; no judge is asked."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from ragstone.examples import Example, from_frame
from ragstone.judgements import ASKS, KINDS, Tables
from ragstone.judges import JUDGES, LEDGER, Judge
from ragstone.metrics import QUICK, Metric, parse_metric

from .asked import Asked, asked_for, several
from .evaluation import ROW, Evaluation
from .folder import Folder
from .judging import JudgedBlock, resolve
from .progress import Progress, Report
from .run import Run


def rescore(
    run: str | Path,
    *,
    metrics: str | Metric | Sequence[str | Metric] = (),
    suites: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    progress: Report | None = None,
) -> Run:
    """Add metrics, or fields to group by, to a finished run.

    The run's own metrics are kept and estimated again. A metric that needs what
    was not judged comes out as missing.

    Raises:
        InputError: Not a finished run, or unknown metrics, suites or fields.
    """
    opened = Run.open(run)
    asked = asked_for(metrics, suites, else_quick=False)
    own = [parse_metric(name) for name in opened.manifest["metrics"]]
    chosen = list({str(metric): metric for metric in [*own, *asked.metrics]}.values())
    before = opened.manifest["settings"]
    named = dict.fromkeys([*opened.manifest["suites"], *asked.suites])
    settled = Asked(tuple(chosen), tuple(name for name in named if name != QUICK))
    started = time.perf_counter()
    folder = Folder(Path(run))
    fresh = Folder(folder.path / "rescored")
    fresh.drop()
    (fresh.path / "parts").mkdir(parents=True)
    names_by = list(dict.fromkeys([*opened.manifest["by"], *several(by)]))
    order: list[str] = before["judges"]
    judges = sorted(
        (judge for judge in JUDGES if judge.name in order),
        key=lambda judge: order.index(judge.name),
    )
    evaluation = Evaluation(fresh, before, settled, judges, names_by)
    evaluation.tally.said.update(
        {(ask, judge, status): count for ask, judge, status, count in opened.manifest["judged"]}
    )
    total = int(opened.manifest["data"]["examples"])
    with folder.locked():
        try:
            for number, (examples, judged) in enumerate(_stored(folder, judges)):
                evaluation.check_fields(examples)
                evaluation.keep_scores(number, examples, judged)
                if progress:
                    done = evaluation.tally.examples
                    progress(Progress("scoring", done, done / total))
            evaluation.finish(opened.manifest["data"], started, progress)
            for name in ("scores.parquet", "estimates.json", "run.json"):
                (fresh.path / name).replace(folder.path / name)
        finally:
            fresh.drop()
    return Run(folder.path)


def _stored(folder: Folder, judges: Sequence[Judge]) -> Iterator[tuple[list[Example], JudgedBlock]]:
    """A finished run's examples and judgements, block by block."""
    examples, ledgers = folder.finished("examples"), folder.finished("ledger")
    for number in examples.select("block").unique().collect()["block"].sort():
        here = pl.col("block") == number
        frame = examples.filter(here).drop("block").collect()
        ids = frame.select(ROW, example_id="id")
        ledger = ledgers.filter(here).collect().join(ids, on="example_id").select(*LEDGER)
        tables = Tables(frame)
        for ask in (name for name in ASKS if name in set(ledger["ask"])):
            entries = ledger.filter(pl.col("ask") == ask)
            tables = resolve(tables, ask, entries, _said(folder, ask, here), judges)
        yield from_frame(frame), JudgedBlock(tables, ledger, {})


def _said(folder: Folder, ask: str, here: pl.Expr) -> pl.DataFrame:
    kind = ASKS[ask].kind
    table = folder.table(kind)
    if not table.is_file():
        return KINDS[kind].empty()
    rows = pl.scan_parquet(table).filter(here & (pl.col("ask") == ask))
    return rows.select(*KINDS[kind].schema()).collect()
