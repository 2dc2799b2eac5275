"""Evaluation: an unfinished run, from its first shard to its manifest.

``prefetch`` judges block by block, ``scoring`` makes the tables of a shard, ``estimates`` the
reported numbers.
"""

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.messages import marked
from ragstone.core.parquet import scan_parquet
from ragstone.data import Example, Examples
from ragstone.judges import Judge
from ragstone.metrics import QUICK, Metric
from ragstone.run.estimates.cautions import of_models, of_set_aside, remarks
from ragstone.run.estimates.estimates import LEVEL, estimate_run
from ragstone.run.folder.checksums import File
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.run_list import Heartbeat, Progress, Report
from ragstone.run.folder.run_tally import RunTally, calls_of, manifest
from ragstone.run.folder.schemas import Counted, PieceForm, ShardForm
from ragstone.run.folder.shards import CHOSEN, Shards
from ragstone.run.run_spec import RunSpec

from .judge_blocks import Debug, Live, judge_block
from .prefetch import judged_blocks
from .scoring import block_scores, block_tables, parted, put_back, shard_tables
from .sharding import CutData

if TYPE_CHECKING:
    from ragstone.run.calls.asker import Asking


def partly_answered(examples: Iterable[Example]) -> list[str]:
    """The systems that give some answers and no answer, not even an empty text, elsewhere."""
    pairs = {(example.system, example.answer is None) for example in examples}
    return sorted(system for system, is_null in pairs if is_null and (system, False) in pairs)


class Evaluation:
    """An unfinished run: its folder, and its counts so far."""

    def __init__(
        self, folder: Folder, shards: Shards, spec: RunSpec, progress: Report | None = None,
        unread: Examples | None = None,
    ) -> None:  # fmt: skip
        self.folder = folder
        self.shards = shards
        self.spec = spec
        self.progress = progress
        self.tally = RunTally()
        self.asking: Asking | None = None
        """Whose calls are counted in progress reports and remarks."""
        self._unread = unread
        """The data, until it is known which systems owe answers."""
        self._heart = Heartbeat(folder.path, list(map(attrgetter("name"), spec.judges)))

    def read_ahead(self) -> None:
        """Find out which systems answer some questions and not others, which owe these answers.

        Called at the first null answer, for most data have none; before, if blocks are scored
        elsewhere, or were in another process.
        """
        if self._unread is not None:
            self.spec = self.spec.owing(partly_answered(self._unread.ahead(sys.maxsize)))
            self._unread = None

    def begin(self) -> None:
        """Write an unfinished manifest, so that the run can be resumed from now on."""
        self.folder.write_manifest(self._manifest(self.spec.metrics, self.spec.fields))

    def judge(
        self, data: CutData, fraction: Callable[[int], float | None], *,
        asking: "Asking | None" = None, debug: Debug | None = None,
    ) -> None:  # fmt: skip
        """Judge, score and store all unfinished shards."""
        self.asking = asking
        self.resume()
        first = self.tally.examples

        def watch(done: int, ready: Sequence[Example], judges: Sequence[Judge]) -> None:
            self.report("judging", done, fraction(done))
            if debug is not None:
                for example in ready:
                    self._heed_nulls([example])
                    judged = judge_block([example], judges, self.spec.asks)
                    scores = block_scores(self.spec, 0, [example], judged)["scores"]
                    debug(Live(self.folder, judged, scores), example.id)

        shards = data.shards()
        streamed = judged_blocks(self.spec, shards, asking, first, check=not first, watch=watch)
        for number, blocks in groupby(streamed, key=itemgetter(0)):
            blocks_tables = []
            done = self.tally.examples
            for _, examples, judged in blocks:
                self._heed_nulls(examples)
                tables = block_tables(self.spec, number, examples, judged)
                blocks_tables.append(tables)
                if debug and asking is None:
                    live = Live(self.folder, judged, tables["scores"])
                    for example in examples:
                        debug(live, example.id)
                done += len(examples)
                self.report("judging", done, fraction(done))
            tables = shard_tables(blocks_tables)
            counts = RunTally.of_shard(done - self.tally.examples, tables)
            self.keep(number, tables, counts, piece=data.piece(number))

    def _heed_nulls(self, examples: Sequence[Example]) -> None:
        if self._unread is not None and any(example.answer is None for example in examples):
            self.read_ahead()

    def start_over(self) -> None:
        """Forget what was judged so far."""
        self.folder.begin_again()
        self.shards, self.tally = self.folder.parts, RunTally()

    def keep(
        self, shard: int, tables: Mapping[str, pl.DataFrame], counts: RunTally,
        beside: Mapping[str, File] | None = None, piece: PieceForm | None = None,
    ) -> None:  # fmt: skip
        """Store a judged and scored shard."""
        self.folder.check_there()
        scores, alike = parted(self.spec, tables["scores"])
        counted = Counted.model_validate(counts.counted)
        form = ShardForm(
            shard=shard, examples=counts.examples, files=dict(beside or {}), counted=counted,
            piece=piece, alike=alike,
        )  # fmt: skip
        self._kept(self.shards.add(form, {**tables, "scores": scores}))

    def keep_made(
        self, form: ShardForm, files: Mapping[str, File], content: Mapping[str, NDArray[np.uint8]]
    ) -> None:
        """Store a shard that was judged and scored elsewhere."""
        self.folder.check_there()
        self._kept(self.shards.add_made(form, files, content))

    def _kept(self, form: ShardForm) -> None:
        self.tally.join(form.counted, form.examples)
        self.folder.kept(form)

    def finish(self, data: Mapping[str, Any], started: float, notes: Sequence[str] = ()) -> None:
        """Estimate, and put everything in its place, with notes among the remarks."""
        self.report("estimating", self.tally.examples, None)
        spec = self.spec
        estimated = estimate_run(self.shards, spec, self.tally)
        self.folder.check_there()
        shutil.rmtree(self.shards.path / CHOSEN, ignore_errors=True)
        if QUICK in spec.requested.suites:
            self._settle_scores([str(metric) for metric in estimated.metrics])
        self.tally.count_served(self.folder.path)
        counts = None if self.asking is None else self.asking.counts()
        all_remarks = [
            *map(marked, notes),
            *remarks(estimated.metrics, spec.models, self.tally),
            *estimated.remarks,
            *of_set_aside(estimated.estimates),
        ]
        if spec.settings.llm is not None:
            all_remarks += of_models(self.tally, counts)
        content = self._manifest(
            estimated.metrics, estimated.fields, finished=True, data={**data, **estimated.counts},
            remarks=all_remarks, seconds=round(time.perf_counter() - started, 3),
        )  # fmt: skip
        self.folder.finish(self.shards, content, estimated.estimates)
        self._heart.stop()

    def _settle_scores(self, reported: Sequence[str]) -> None:
        scored, chosen = {str(metric) for metric in self.spec.metrics}, set(reported)

        def new(form: ShardForm, rows: pl.LazyFrame) -> pl.LazyFrame:
            rows = rows.filter(pl.col("metric").is_in(reported))
            back = [scores for scores in form.alike if scores.metric in chosen]
            examples = scan_parquet(self.shards.file("examples", form.shard))
            return put_back(rows, back, examples, reported) if back else rows

        ledger = self.shards.ledger
        if any(scored - {scores.metric for scores in form.alike} != chosen for form in ledger):
            self.shards.change("scores", new, self.shards.path / CHOSEN)

    def report(
        self, stage: str, examples: int, fraction: float | None, workers: int | None = None
    ) -> None:
        """Report how far the run is, and by how many workers of a cluster it is judged."""
        counts = None if self.asking is None else self.asking.counts()
        progress = Progress(stage, examples, fraction, counts, workers=workers)
        self._heart.beat(progress)
        if self.progress:
            self.progress(progress)

    def resume(self) -> None:
        """Count the shards that are done; one whose files are not there is judged again."""
        with self.shards.judged_again(self.shards.path):
            self.shards.leave_out_damaged()
            for form in self.shards.ledger:
                self.tally.join(form.counted, form.examples)

    def _manifest(
        self, metrics: Sequence[Metric], fields: Sequence[str], *, finished: bool = False,
        **more: Any,
    ) -> dict[str, Any]:  # fmt: skip
        spec = self.spec
        return manifest(
            spec.settings, self.tally, spec.judges, spec.models, finished=finished,
            metrics=list(map(str, metrics)), added=list(map(str, spec.added)),
            suites=list(spec.requested.suites), by=list(fields), cluster=spec.settings.cluster,
            level=LEVEL, calls=calls_of(self.folder.path), **more,
        )  # fmt: skip
