"""Evaluation: one pass over a data set, block by block, into a run folder."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import polars as pl

from ragstone.errors import InputError, UnknownName
from ragstone.examples import Example
from ragstone.judgements import ASKS, Similarity, Support, Tables
from ragstone.judges import LEDGER, Judge
from ragstone.judges.similarity.units import NO_TEXT
from ragstone.metrics import QUICK, SUITES, Composite, Metric, needed_asks, parse_metric, score
from ragstone.parquet import read_parquet

from .asked import Asked
from .asked_again import QUESTION, AskedAgain, asked, asked_again
from .blocks import blocks
from .coarser import FINE, coarsest, origins
from .estimate import Estimate
from .estimates import Provenance, by_column, estimate_metric
from .folder import Folder, write_json
from .forms import STATUS_CODES, STATUS_NAMES
from .judging import JudgedBlock, judge_block, judge_further
from .live import Debug, Live
from .manifest import VERSION, Tally, calls_of, manifest
from .models import Opened
from .progress import Progress, Report
from .quick import Facts, candidates, choose
from .remarks import of_clusters, of_models, remarks
from .written import collect, reading

if TYPE_CHECKING:
    from .calls.asking import Asking

BLOCK = 20_000
"""Examples of a block, where no model by server is asked."""

MOST_GROUPS = 200
LEVEL = 0.95
SIMILARITY = Similarity.name
NO_VALUE = "(none)"


class Evaluation:
    """A run under way.

    Args:
        folder: Where it is kept.
        settings: What it was first asked for, as the manifest keeps it.
        asked: Metrics and suites.
        judges: In the order they are asked.
        by: Fields to group by, beside the system. Those that a suite groups by
            are added where the data have them.
        opened: The models of these judges.
        asking: What judges by model put their questions with; None without such judges.
        debug: Called with each example as soon as it is judged.

    Attributes:
        total: How many examples there are, where that is known.
    """

    def __init__(
        self,
        folder: Folder,
        settings: Mapping[str, Any],
        asked: Asked,
        judges: Sequence[Judge],
        by: Sequence[str],
        opened: Opened,
        asking: "Asking | None" = None,
        debug: Debug | None = None,
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.asked = asked
        self.judges = judges
        self.opened = opened
        self.asking = asking
        self.debug = debug
        self.total: int | None = None
        suites = [SUITES[name].by for name in asked.suites if name in SUITES]
        self.asked_by = [name for name in dict.fromkeys(by) if name != "system"]
        self.by = list(dict.fromkeys([*self.asked_by, *(name for by in suites for name in by)]))
        self.cluster: str = settings["cluster"]
        self.tally = Tally()
        self.unanswered = 0
        self.added: list[str] = []
        """Metrics that the run was not made for."""
        quick = candidates() if QUICK in asked.suites else []
        self.metrics = list({str(metric): metric for metric in [*asked.metrics, *quick]}.values())
        self.asks = needed_asks(self.metrics)

    def begin(self) -> None:
        """Leave word of what this folder is going to be."""
        self._write(self.metrics, finished=False)

    def also_score(self, held: Mapping[str, Any]) -> list[str]:
        """Score too what was added to the run later, on what is judged for its own metrics.

        Args:
            held: The manifest of the run so far.

        Returns:
            The metrics that cannot be: of the user's own, or of similarities that are not computed.
        """
        further: list[Metric] = []
        left_out: list[str] = []
        mine = {str(metric) for metric in self.metrics}
        for name in (name for name in held["metrics"] if name not in mine):
            try:
                metric = parse_metric(name)
            except UnknownName:
                left_out.append(name)
                continue
            compared = {ask for ask in metric.asks if ask.startswith(f"{SIMILARITY}/")}
            if compared <= set(self.asks):
                further.append(metric)
            else:
                left_out.append(name)
        self.metrics += further
        self.added = [str(metric) for metric in further]
        suites = [name for name in held["suites"] if name != QUICK]
        self.asked = Asked(
            (*self.asked.metrics, *further), tuple(dict.fromkeys([*self.asked.suites, *suites]))
        )
        self.asked_by = list(dict.fromkeys([*self.asked_by, *held["by"]]))
        self.by = list(dict.fromkeys([*self.by, *held["by"]]))
        return left_out

    def judge(
        self,
        examples: Iterator[Example],
        fraction: Callable[[], float | None],
        progress: Report | None,
    ) -> None:
        """Judge, score and keep what has not been, block by block."""
        number = self._skip_finished(examples)
        judged_blocks = (
            self._one_after_the_other(examples)
            if self.asking is None
            else self._asked_ahead(examples, self.asking, fraction, progress)
        )
        for block, judged in judged_blocks:
            self.keep(number, block, judged)
            self._report(progress, fraction)
            number += 1

    def _one_after_the_other(
        self, examples: Iterator[Example]
    ) -> Iterator[tuple[list[Example], JudgedBlock]]:
        for block in blocks(examples, BLOCK):
            self.check_fields(block)
            yield block, judge_block(block, self.judges, self.asks)

    def _asked_ahead(
        self,
        examples: Iterator[Example],
        asking: "Asking",
        fraction: Callable[[], float | None],
        progress: Report | None,
    ) -> Iterator[tuple[list[Example], JudgedBlock]]:
        """Blocks whose questions to models were put ahead."""
        from .ahead import Ahead, Begun

        ahead = Ahead(self.judges, self.asks, asking, self.tally.examples)
        shown = self.tally.examples

        def tick(begun: Begun, done: int) -> None:
            nonlocal shown
            self._report(progress, fraction, done)
            while self.debug and (place := shown - self.tally.examples) in begun.heard:
                self._show(begun.examples[place], begun.judges, self.debug)
                shown += 1

        for begun in ahead.blocks(examples, self.check_fields, tick):
            tick(begun, ahead.counted.examples)
            tables = Tables(begun.frame)
            yield begun.examples, judge_further(begun.examples, tables, begun.judges, self.asks)

    def _report(
        self, progress: Report | None, fraction: Callable[[], float | None], done: int | None = None
    ) -> None:
        if progress:
            examples = self.tally.examples if done is None else done
            counts = None if self.asking is None else self.asking.counts()
            part = fraction() if self.total is None else examples / max(self.total, 1)
            progress(Progress("judging", examples, part, counts))

    def keep(self, number: int, examples: Sequence[Example], judged: JudgedBlock) -> None:
        """Score a judged block, and keep it with its judgements."""
        block = pl.lit(number, pl.UInt32).alias("block")
        whole = {"examples": judged.tables.examples.with_columns(block)}
        self._keep(number, examples, judged, whole)

    def keep_further(self, number: int, examples: Sequence[Example], judged: JudgedBlock) -> None:
        """Score a block whose examples and first judgements are kept already."""
        self._keep(number, examples, judged, {})

    def _keep(
        self,
        number: int,
        examples: Sequence[Example],
        judged: JudgedBlock,
        more: Mapping[str, pl.DataFrame],
    ) -> None:
        block = pl.lit(number, pl.UInt32).alias("block")
        ids = judged.tables.examples.select(ROW, example_id="id")
        ledger = judged.ledger.join(ids, on="row", how="left").select(
            "example_id", *(name for name in LEDGER if name != "row"), block
        )
        by_kind: dict[str, list[pl.DataFrame]] = {}
        for ask, rows in judged.rows.items():
            if rows.height:
                kept = rows.with_columns(block, ask=pl.lit(ask))
                by_kind.setdefault(ASKS[ask].kind, []).append(kept)
        tables = {kind: pl.concat(frames) for kind, frames in by_kind.items()}
        scored = self._scored(examples, judged, block)
        self.folder.add_part(number, {**more, **scored, "ledger": ledger, **tables})
        self.tally.add(len(examples), judged.ledger, tables.get(SIMILARITY))
        self.tally.hear(judged.ledger, tables.get(Support.name))
        self.unanswered += judged.ledger.filter(UNANSWERED).height
        if self.debug and self.asking is None:
            live = Live(self.folder, judged, scored["scores"])
            for example in examples:
                self.debug(live, example.id)

    def _show(self, example: Example, judges: Sequence[Judge], debug: Debug) -> None:
        """Judge an example by itself, before its block, of what was heard about it."""
        judged = judge_block([example], judges, self.asks)
        scores = self._scored([example], judged, pl.lit(0, pl.UInt32).alias("block"))["scores"]
        debug(Live(self.folder, judged, scores), example.id)

    def check_fields(self, block: Sequence[Example]) -> None:
        """A field that no example of the first block has, or all have another, is a mistake."""
        if self.tally.examples:
            return
        for name in [*self.asked_by, self.cluster]:
            if all(example.facet(name) is None for example in block):
                there = {
                    key for one in block[:100] for key in (*one.slices, *one.meta, *one.labels)
                }
                known = sorted(there - {"system", "question_id"})
                raise InputError(
                    f"No example has a field {name!r} to group by. There are: "
                    f"{', '.join(['system', 'question_id', *known])}."
                )
        for name in ["system", *self.asked_by]:
            values = {example.facet(name) for example in block}
            if len(values) > MOST_GROUPS:
                raise InputError(
                    f"{name}: {len(values)} values in the first {len(block)} examples are too "
                    f"many to group by. Choose a field with {MOST_GROUPS} at the most."
                )

    def finish(
        self,
        data: Mapping[str, Any],
        started: float,
        progress: Report | None,
        notes: Sequence[str] = (),
    ) -> None:
        """Estimate, and put the blocks' tables together; notes are told with the remarks.

        Raises:
            InputError: No metric of a quick run can be measured on this data.
        """
        if progress:
            progress(Progress("estimating", self.tally.examples, None))
        facets = collect(self.folder.scan("facets"), self.folder.path)
        self.by = [
            name
            for name in self.by
            if name in self.asked_by or (facets[by_column(name)] != NO_VALUE).any()
        ]
        chosen = self._chosen(facets)
        clusters = facets["cluster"].n_unique()
        again = AskedAgain(facets["cluster"], None)
        if self.cluster == QUESTION:
            again = asked_again(facets["cluster"], facets["asked"])
        facets = facets.with_columns(again.clusters.alias("cluster"))
        estimates = [one.to_dict() for one in self._estimates(chosen, facets)]
        origin_files = [part / "origins.parquet" for part in self.folder.parts()]
        self.folder.join_parts([str(metric) for metric in chosen])
        write_json(self.folder.path / "estimates.json", estimates)
        self.tally.look_who_served(self.folder.path)
        self._write(
            chosen,
            finished=True,
            data={
                **data,
                "examples": self.tally.examples,
                "questions": facets["question"].n_unique(),
                "systems": facets["system"].n_unique(),
            },
            remarks=[
                *notes,
                *remarks(chosen, self.opened, self.tally, self.unanswered),
                *([again.told] if again.told else []),
                *of_clusters(self.cluster, coarsest(origin_files, clusters)),
                *of_models(
                    self.tally, self._models, None if self.asking is None else self.asking.counts()
                ),
            ],
            seconds=round(time.perf_counter() - started, 3),
        )
        self.folder.drop_parts()

    def _skip_finished(self, examples: Iterator[Example]) -> int:
        """Pass over the examples of finished blocks; the number of the next block."""
        parts = self.folder.checked_parts()
        for part in parts:
            with reading(part):
                ledger = read_parquet(part / "ledger.parquet")
                size = read_parquet(part / "facets.parquet", columns=["system"]).height
                similarities = part / f"{SIMILARITY}.parquet"
                there = read_parquet(similarities) if similarities.is_file() else None
                support = part / f"{Support.name}.parquet"
                supported = read_parquet(support) if support.is_file() else None
            self.tally.add(size, ledger, there)
            self.tally.hear(ledger, supported)
            self.unanswered += ledger.filter(UNANSWERED).height
            for _ in islice(examples, size):
                pass
        return len(parts)

    def _scored(
        self, examples: Sequence[Example], judged: JudgedBlock, block: pl.Expr
    ) -> dict[str, pl.DataFrame]:
        scores = score(judged.tables, [*self.metrics, *_components(self.metrics)])
        keys = judged.tables.examples.select("question_id", "system", example_id="id")
        status = pl.col("status").replace_strict(STATUS_NAMES, return_dtype=pl.String)
        long = pl.concat(
            pl.concat([keys, scores[str(metric)]], how="horizontal").select(
                "example_id", "question_id", "system", pl.lit(str(metric)).alias("metric"),
                "value", "label", status, "reason", block,
            )
            for metric in self.metrics
        )  # fmt: skip
        facets = self._facets(examples, asked(judged.tables.examples), scores)
        tables = {"scores": long, "facets": facets}
        return tables | self._origins(examples, facets["cluster"])

    def _chosen(self, facets: pl.DataFrame) -> list[Metric]:
        """What was asked for, and what of the quick suite the data allows."""
        if QUICK not in self.asked.suites:
            return self.metrics
        counts = self._counts_of_scores()
        facts = Facts(
            retrieved=bool(facets["contexts"].sum()),
            labelled=("relevance", "human", "ok") in self.tally.said,
            by_ids=("relevance", "ids", "ok") in self.tally.said,
            cited=counts.filter(pl.col("metric") == "citation_presence")["value"].sum() > 0,
        )
        asked = {str(metric) for metric in self.asked.metrics}
        allowed = {str(metric) for metric in choose(candidates(), counts, facts)}
        chosen = [metric for metric in self.metrics if str(metric) in asked | allowed]
        if not chosen:
            raise InputError(self._nothing_to_measure())
        return chosen

    def _counts_of_scores(self) -> pl.DataFrame:
        """How often each metric, status and reason came out, block by block to stay small."""
        keys = ["metric", "status", "reason"]
        columns = [*keys, "value"]
        with reading(self.folder.path):
            counted = [
                read_parquet(part / "scores.parquet", columns=columns)
                .group_by(keys)
                .agg(pl.len(), pl.col("value").sum())
                for part in self.folder.parts()
            ]
        return (
            pl.concat(counted)
            .group_by(keys)
            .agg(pl.col("len").sum(), pl.col("value").sum())
            .with_columns(pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8))
        )

    def _nothing_to_measure(self) -> str:
        """What the data has and what it lacks, and what would help."""
        counts = self.folder.scan("examples").select(
            answers=pl.col("answer").is_not_null().sum(),
            contexts=(pl.col("contexts").list.len() > 0).sum(),
            references=(pl.col("reference").list.len() > 0).sum(),
            ids=pl.col("reference_contexts").is_not_null().sum(),
        )
        has = collect(counts, self.folder.path).to_dicts()[0]
        words = {"answers": "an answer", "contexts": "contexts", "references": "a reference",
                 "ids": "judged context ids"}  # fmt: skip
        counted = ", ".join(f"{has[name]:,} have {word}" for name, word in words.items())
        if has["contexts"] and not has["answers"]:
            hint = "Are these a TREC run's contexts? --qrels FILE names the judged ids."
        elif has["references"] and not has["answers"]:
            hint = "These are questions: add each system's answers."
        elif has["ids"] and not has["contexts"]:
            hint = "Judged ids are there, but no run: put a TREC run beside them, such as run.txt."
        else:
            hint = "ragstone metrics says what each metric needs."
        return f"Nothing can be measured: of {self.tally.examples:,} examples {counted}. {hint}"

    def _facets(
        self,
        examples: Sequence[Example],
        texts: pl.Series,
        scores: Mapping[str, pl.DataFrame],
    ) -> pl.DataFrame:
        """What each example is grouped and clustered by, and the scores that means combine."""
        fields = {field: [one.facet(field) or NO_VALUE for one in examples] for field in self.by}
        components = {str(metric): scores[str(metric)] for metric in _components(self.metrics)}
        return pl.DataFrame(
            {
                "system": [one.system for one in examples],
                "question": [one.question_id for one in examples],
                "asked": texts,
                "cluster": [one.facet(self.cluster) or f"\0{one.question_id}" for one in examples],
                "contexts": [len(one.contexts or ()) for one in examples],
                **{by_column(field): values for field, values in fields.items()},
                **{f"value {name}": score["value"] for name, score in components.items()},
                **{f"status {name}": score["status"] for name, score in components.items()},
            },
            schema_overrides={"cluster": pl.String, "question": pl.String},
        ).with_columns(pl.col("cluster", "question").hash(seed=0))

    def _origins(self, examples: Sequence[Example], clusters: pl.Series) -> dict[str, pl.DataFrame]:
        """Which documents or sessions the clusters come from, where these are questions."""
        found = origins(examples, clusters) if self.cluster in FINE else pl.DataFrame()
        return {"origins": found} if found.height else {}

    def _estimates(self, chosen: Sequence[Metric], facets: pl.DataFrame) -> Iterator[Estimate]:
        provenance = Provenance(
            VERSION,
            self.settings["data"],
            self.tally.who(),
            self.cluster,
            self.opened,
            self.settings.get("llm", {}),
        )
        status = pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8)
        for metric in chosen:
            of_metric = self.folder.scan("scores").filter(pl.col("metric") == str(metric))
            chosen_columns = of_metric.select("value", "label", status, "reason")
            scores = collect(chosen_columns, self.folder.path)
            components = {
                str(component): facets.select(
                    value=f"value {component}", status=f"status {component}"
                )
                for component in _components([metric])
            }
            yield from estimate_metric(
                metric, scores, facets, self.by, provenance, level=LEVEL, components=components
            )

    @property
    def _models(self) -> list[str]:
        """The judges by model."""
        return list(self.settings.get("llm", {}).get("judges", ()))

    def _write(self, metrics: Sequence[Metric], *, finished: bool, **more: Any) -> None:
        self.folder.write_manifest(
            manifest(
                self.settings,
                self.tally,
                self.judges,
                self.opened,
                finished=finished,
                metrics=[str(metric) for metric in metrics],
                added=self.added,
                suites=list(self.asked.suites),
                by=self.by,
                cluster=self.cluster,
                level=LEVEL,
                calls=calls_of(self.folder.path),
                **more,
            )
        )


ROW = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")

UNANSWERED = (
    pl.col("ask").str.starts_with(f"{SIMILARITY}/")
    & (pl.col("status") == "failed")
    & pl.col("reason").str.ends_with(NO_TEXT).not_()
)
"""Rows of the ledger where a model did not answer, so that it can be asked again."""


def _components(metrics: Sequence[Metric]) -> list[Metric]:
    """The components whose means a composite combines, each once."""
    names = dict.fromkeys(
        name
        for metric in metrics
        if isinstance(metric, Composite) and metric.over_means
        for name, _ in metric.terms
    )
    return [parse_metric(name) for name in names]
