"""Evaluation: an unfinished run, from its first block to its manifest.

``streaming`` judges block by block, ``scoring`` makes the tables of a block, ``estimating`` the
reported numbers.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from ragstone.argument import marked
from ragstone.examples import Example
from ragstone.judgements import Similarity, Support
from ragstone.judges import Judge
from ragstone.judges.similarity.units import NO_TEXT
from ragstone.metrics import Metric
from ragstone.parquet import read_parquet

from .estimating import LEVEL, estimate_run
from .folder import Folder
from .heartbeat import Heartbeat
from .judging import JudgedBlock, judge_block
from .live import Debug, Live
from .manifest import RunTally, calls_of, manifest
from .progress import Progress, Report
from .remarks import of_models, remarks
from .scoring import block_scores, block_tables, check_fields
from .spec import RunSpec
from .streaming import judged_blocks, prefetched_blocks
from .written import reading, write_json

if TYPE_CHECKING:
    from .calls.asking import Asking

UNANSWERED = (
    pl.col("ask").str.starts_with(f"{Similarity.name}/")
    & (pl.col("status") == "failed")
    & pl.col("reason").str.ends_with(NO_TEXT).not_()
)
"""Rows of the ledger where a model did not answer, so that it can be asked again."""


class Evaluation:
    """An unfinished run: its folder, and its counts so far.

    Args:
        folder: Where it is stored.
        spec: What it is going to do.
        progress: Called after each block, and periodically while models are asked.

    Attributes:
        tally: Counts over the blocks.
        unanswered: Number of similarities that failed because the encoder did.
    """

    def __init__(self, folder: Folder, spec: RunSpec, progress: Report | None = None) -> None:
        self.folder = folder
        self.spec = spec
        self.progress = progress
        self.tally = RunTally()
        self.unanswered = 0
        self._asking: Asking | None = None
        self._heart = Heartbeat(folder.path, [judge.name for judge in spec.judges])

    def begin(self) -> None:
        """Write an unfinished manifest, so that the run can be resumed from now on."""
        self._write(self.spec.metrics, self.spec.fields, finished=False)

    def judge(
        self,
        examples: Iterator[Example],
        fraction: Callable[[int], float | None],
        *,
        asking: "Asking | None" = None,
        debug: Debug | None = None,
    ) -> None:
        """Judge, score and store all unfinished blocks.

        Args:
            examples: All of the data.
            fraction: The share of the data that this number of examples is; None if unknown.
            asking: The asker; None if no judge is a chat model.
            debug: Called with each example as soon as it is judged.
        """
        self._asking = asking
        number = self._skip_finished(examples)
        first = self.tally.examples

        def check(block: Sequence[Example]) -> None:
            if not self.tally.examples:
                check_fields(self.spec, block)

        def watch(done: int, ready: Sequence[Example], judges: Sequence[Judge]) -> None:
            self._report("judging", done, fraction(done))
            for example in ready if debug else ():
                self._show_early(example, judges, debug)

        blocks = (
            judged_blocks(self.spec, examples, check)
            if asking is None
            else prefetched_blocks(self.spec, examples, check, asking, first, watch)
        )
        for block, judged in blocks:
            tables = self.keep(number, block, judged)
            if debug and asking is None:
                live = Live(self.folder, judged, tables["scores"])
                for example in block:
                    debug(live, example.id)
            done = self.tally.examples
            self._report("judging", done, fraction(done))
            number += 1

    def keep(
        self, number: int, examples: Sequence[Example], judged: JudgedBlock, *, anew: bool = True
    ) -> dict[str, pl.DataFrame]:
        """Score a judged block, and store it.

        Args:
            number: Of the block.
            examples: The block.
            judged: Its judgements.
            anew: False leaves out the examples, which are already stored.
        """
        tables = block_tables(self.spec, number, examples, judged)
        kept = {name: table for name, table in tables.items() if anew or name != "examples"}
        self.folder.parts.add(number, kept)
        self._count(
            len(examples), judged.ledger, tables.get(Similarity.name), tables.get(Support.name)
        )
        return tables

    def finish(self, data: Mapping[str, Any], started: float, notes: Sequence[str] = ()) -> None:
        """Estimate, join the blocks' tables, and write the manifest, with notes among the remarks.

        Raises:
            InputError: No metric of a quick run can be measured on this data.
        """
        self._report("estimating", self.tally.examples, None)
        found = estimate_run(self.folder, self.spec, self.tally)
        self.folder.parts.join(self.folder.path, [str(metric) for metric in found.metrics])
        write_json(self.folder.path / "estimates.json", [one.to_dict() for one in found.estimates])
        self.tally.count_served(self.folder.path)
        counts = None if self._asking is None else self._asking.counts()
        self._write(
            found.metrics,
            found.fields,
            finished=True,
            data={**data, **found.counts},
            remarks=[
                *map(marked, notes),
                *remarks(found.metrics, self.spec.models, self.tally, self.unanswered),
                *found.remarks,
                *of_models(self.tally, self.spec.chat_judges, counts),
            ],
            seconds=round(time.perf_counter() - started, 3),
        )
        # Last: until the finished manifest is written, an interrupted run resumes from the parts.
        self.folder.parts.drop()
        self._heart.stop()

    def _report(self, stage: str, examples: int, fraction: float | None) -> None:
        counts = None if self._asking is None else self._asking.counts()
        progress = Progress(stage, examples, fraction, counts)
        self._heart.beat(progress)
        if self.progress:
            self.progress(progress)

    def _show_early(self, example: Example, judges: Sequence[Judge], debug: Debug | None) -> None:
        """Judge an example by itself, before its block, from the replies received."""
        judged = judge_block([example], judges, self.spec.asks)
        scores = block_scores(self.spec, 0, [example], judged)["scores"]
        if debug:
            debug(Live(self.folder, judged, scores), example.id)

    def _skip_finished(self, examples: Iterator[Example]) -> int:
        """Skip the examples of finished blocks, and count them; returns the next block's number."""
        parts = self.folder.parts.checked()
        for part in parts:
            with reading(part):
                ledger = read_parquet(part / "ledger.parquet")
                size = read_parquet(part / "facets.parquet", columns=["system"]).height
                similarities, support = (
                    read_parquet(file) if (file := part / f"{name}.parquet").is_file() else None
                    for name in (Similarity.name, Support.name)
                )
            self._count(size, ledger, similarities, support)
            for _ in islice(examples, size):
                pass
        return len(parts)

    def _count(
        self,
        examples: int,
        ledger: pl.DataFrame,
        similarities: pl.DataFrame | None,
        support: pl.DataFrame | None,
    ) -> None:
        self.tally.add(examples, ledger, similarities)
        self.tally.count_calls(ledger, support)
        self.unanswered += ledger.filter(UNANSWERED).height

    def _write(
        self, metrics: Sequence[Metric], fields: Sequence[str], *, finished: bool, **more: Any
    ) -> None:
        self.folder.write_manifest(
            manifest(
                self.spec.settings,
                self.tally,
                self.spec.judges,
                self.spec.models,
                finished=finished,
                metrics=[str(metric) for metric in metrics],
                added=[str(metric) for metric in self.spec.added],
                suites=list(self.spec.requested.suites),
                by=list(fields),
                cluster=self.spec.cluster,
                level=LEVEL,
                calls=calls_of(self.folder.path),
                **more,
            )
        )
