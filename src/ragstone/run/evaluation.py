"""Evaluation: one pass over a data set, block by block, into a run folder."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import polars as pl

from ragstone.errors import InputError
from ragstone.examples import Example
from ragstone.judgements import ASKS, MISSING, UNDEFINED, VALUE
from ragstone.judges import LEDGER, Judge
from ragstone.metrics import (
    QUICK,
    QUICK_METRICS,
    Composite,
    Metric,
    needed_asks,
    parse_metric,
    score,
)

from .asked import Asked
from .estimate import Estimate
from .estimates import Provenance, estimate_metric
from .folder import Folder, write_json
from .judging import Judged, judge_block
from .manifest import VERSION, Tally, manifest
from .progress import Progress, Report
from .quick import choose

FIRST_BLOCK = 1_000
LARGEST_BLOCK = 20_000
QUICK_BLOCK_SECONDS = 2.0
"""A block that took less than this is followed by one of twice its size."""

MOST_GROUPS = 200
LEVEL = 0.95
NO_VALUE = "(none)"
STATUS_NAMES = {VALUE: "value", UNDEFINED: "undefined", MISSING: "missing"}
STATUS_CODES = {name: code for code, name in STATUS_NAMES.items()}


class Evaluation:
    """A run under way.

    Args:
        folder: Where it is kept.
        settings: What it was first asked for, as the manifest keeps it.
        asked: Metrics and suites.
        judges: In the order they are asked.
        by: Fields to group by, beside the system.
    """

    def __init__(
        self,
        folder: Folder,
        settings: Mapping[str, Any],
        asked: Asked,
        judges: Sequence[Judge],
        by: Sequence[str],
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.asked = asked
        self.judges = judges
        self.by = [name for name in dict.fromkeys(by) if name != "system"]
        self.cluster: str = settings["cluster"]
        self.chosen: list[Metric] | None = None
        self.tally = Tally()

    def begin(self, held: Mapping[str, Any]) -> None:
        """Begin, or take up the run whose manifest this is."""
        if held.get("metrics"):
            self.chosen = [parse_metric(name) for name in held["metrics"]]
        if not held:
            self._write(finished=False)

    def judge(
        self,
        examples: Iterator[Example],
        fraction: Callable[[], float | None],
        progress: Report | None,
    ) -> None:
        """Judge, score and keep what has not been, block by block."""
        number = self._skip_finished(examples)
        size = FIRST_BLOCK
        while block := list(islice(examples, size)):
            began = time.perf_counter()
            self.check_fields(block)
            self.keep(number, block, judge_block(block, self.judges, self._asks()))
            if time.perf_counter() - began < QUICK_BLOCK_SECONDS:
                size = min(2 * size, LARGEST_BLOCK)
            if progress:
                progress(Progress("judging", self.tally.examples, fraction()))
            number += 1

    def keep(self, number: int, examples: Sequence[Example], judged: Judged) -> None:
        """Score a judged block, and keep it with its judgements."""
        block = pl.lit(number, pl.UInt32).alias("block")
        ids = judged.tables.examples.select(ROW, example_id="id")
        by_kind: dict[str, list[pl.DataFrame]] = {}
        for ask, rows in judged.rows.items():
            if rows.height:
                kept = rows.with_columns(block, ask=pl.lit(ask))
                by_kind.setdefault(ASKS[ask].kind, []).append(kept)
        self.folder.add_part(
            number,
            self._scored(examples, judged, block)
            | {
                "examples": judged.tables.examples.with_columns(block),
                "ledger": judged.ledger.join(ids, on="row", how="left").select(
                    "example_id", *(name for name in LEDGER if name != "row"), block
                ),
            }
            | {kind: pl.concat(frames) for kind, frames in by_kind.items()},
        )
        self.tally.add(len(examples), judged.ledger)

    def keep_scores(self, number: int, examples: Sequence[Example], judged: Judged) -> None:
        """Score a block whose judgements are kept already."""
        block = pl.lit(number, pl.UInt32).alias("block")
        self.folder.add_part(number, self._scored(examples, judged, block))
        self.tally.examples += len(examples)

    def check_fields(self, block: Sequence[Example]) -> None:
        """A field that no example of the first block has, or all have another, is a mistake."""
        if self.tally.examples:
            return
        for name in [*self.by, self.cluster]:
            if all(example.facet(name) is None for example in block):
                known = sorted({key for one in block[:100] for key in (*one.slices, *one.meta)})
                raise InputError(
                    f"No example has a field {name!r} to group by. There are: "
                    f"{', '.join(['system', 'question_id', *known])}."
                )
        for name in self.by:
            values = {example.facet(name) for example in block}
            if len(values) > MOST_GROUPS:
                raise InputError(
                    f"--by {name}: {len(values)} values in the first {len(block)} examples are too "
                    f"many to group by. Choose a field with {MOST_GROUPS} at the most."
                )

    def finish(self, data: Mapping[str, Any], started: float, progress: Report | None) -> None:
        """Estimate, and put the blocks' tables together."""
        if progress:
            progress(Progress("estimating", self.tally.examples, None))
        estimates = [one.to_dict() for one in self._estimates()]
        counts = self._counts()
        self.folder.join_parts()
        write_json(self.folder.path / "estimates.json", estimates)
        self._write(
            finished=True,
            data={**data, "examples": self.tally.examples, **counts},
            seconds=round(time.perf_counter() - started, 3),
        )

    def _skip_finished(self, examples: Iterator[Example]) -> int:
        """Pass over the examples of finished blocks; the number of the next block."""
        parts = self.folder.parts()
        for part in parts:
            ledger = pl.read_parquet(part / "ledger.parquet")
            size = pl.scan_parquet(part / "facets.parquet").select(pl.len()).collect().item()
            self.tally.add(size, ledger)
            for _ in islice(examples, size):
                pass
        return len(parts)

    def _scored(
        self, examples: Sequence[Example], judged: Judged, block: pl.Expr
    ) -> dict[str, pl.DataFrame]:
        self._settle_metrics(judged)
        chosen = self.chosen or []
        scores = score(judged.tables, [*chosen, *_components(chosen)])
        keys = judged.tables.examples.select("question_id", "system", example_id="id")
        status = pl.col("status").replace_strict(STATUS_NAMES, return_dtype=pl.String)
        long = pl.concat(
            pl.concat([keys, scores[str(metric)]], how="horizontal").select(
                "example_id", "question_id", "system", pl.lit(str(metric)).alias("metric"),
                "value", "label", status, "reason", block,
            )
            for metric in chosen
        )  # fmt: skip
        return {"scores": long, "facets": self._facets(examples, scores)}

    def _settle_metrics(self, judged: Judged) -> None:
        """On the first block of a quick run, settle what it allows."""
        if self.chosen is not None:
            return
        chosen = list(self.asked.metrics)
        if QUICK in self.asked.suites:
            optional = [parse_metric(name) for name in QUICK_METRICS]
            chosen += choose(optional, score(judged.tables, optional), judged)
        self.chosen = list({str(metric): metric for metric in chosen}.values())
        if not self.chosen:
            raise InputError(
                "Nothing can be measured: the data has no contexts, no answers with references "
                "and no labels that a metric could use. ragstone metrics says what each needs."
            )
        self._write(finished=False)

    def _asks(self) -> list[str]:
        if self.chosen is not None:
            return needed_asks(self.chosen)
        optional = QUICK_METRICS if QUICK in self.asked.suites else ()
        return needed_asks([*self.asked.metrics, *map(parse_metric, optional)])

    def _facets(
        self, examples: Sequence[Example], scores: Mapping[str, pl.DataFrame]
    ) -> pl.DataFrame:
        """What each example is grouped and clustered by, and the scores that means combine."""
        columns: dict[str, list[str]] = {"system": [one.system for one in examples]}
        for name in self.by:
            columns[name] = [one.facet(name) or NO_VALUE for one in examples]
        columns["cluster"] = [one.facet(self.cluster) or f"\0{one.id}" for one in examples]
        columns["question"] = [one.question_id for one in examples]
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
        return frame.with_columns(
            pl.col("cluster", "question").hash(seed=0),
            *(
                scores[str(metric)][column].alias(f"{column} {metric}")
                for metric in _components(self.chosen or ())
                for column in ("value", "status")
            ),
        )

    def _estimates(self) -> Iterator[Estimate]:
        facets_table, scores_table = self.folder.scan("facets"), self.folder.scan("scores")
        if facets_table is None or scores_table is None:
            return
        facets = facets_table.collect()
        who = self.tally.who()
        provenance = Provenance(VERSION, self.settings["data"], who, self.cluster)
        status = pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8)
        for metric in self.chosen or ():
            scores = (
                scores_table.filter(pl.col("metric") == str(metric))
                .select("value", "label", status, "reason")
                .collect()
            )
            components = {
                str(component): facets.select(
                    value=f"value {component}", status=f"status {component}"
                )
                for component in _components([metric])
            }
            yield from estimate_metric(
                metric,
                scores,
                facets.select("system", *self.by, "cluster"),
                self.by,
                provenance,
                level=LEVEL,
                components=components,
            )

    def _counts(self) -> dict[str, int]:
        """How many questions and systems there are."""
        facets = self.folder.scan("facets")
        if facets is None:
            return {}
        return facets.select(
            questions=pl.col("question").n_unique(), systems=pl.col("system").n_unique()
        ).collect().to_dicts()[0]  # fmt: skip

    def _write(self, *, finished: bool, **more: Any) -> None:
        self.folder.write_manifest(
            manifest(
                self.settings,
                self.tally,
                self.judges,
                finished=finished,
                metrics=[str(metric) for metric in self.chosen or ()],
                suites=list(self.asked.suites),
                by=self.by,
                cluster=self.cluster,
                level=LEVEL,
                **more,
            )
        )


ROW = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")


def _components(metrics: Sequence[Metric]) -> list[Metric]:
    """The components whose means a composite combines, each once."""
    names = dict.fromkeys(
        name
        for metric in metrics
        if isinstance(metric, Composite) and metric.over_means
        for name, _ in metric.terms
    )
    return [parse_metric(name) for name in names]
