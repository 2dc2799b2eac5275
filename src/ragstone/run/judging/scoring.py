"""Scoring: judgements, scores and groups of blocks and shards as tables; checks of group fields.

A quick run tries many metrics and reports those that the data allow, which is known only at its
end. For most others no example has a score, all for the same reason. A shard stores these as a
line instead of a table, and puts them back in the rare case that the run reports them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragstone.core.errors import InputError
from ragstone.data import Example, to_frame
from ragstone.judgements import ASKS, KINDS, MISSING, VALUE
from ragstone.judges import LEDGER
from ragstone.metrics import QUICK, SCORES, Metric, score
from ragstone.run.estimates.groups import NO_VALUE, by_column
from ragstone.run.estimates.sums import FINE, origins, question_hash
from ragstone.run.folder.schemas import STATUS_NAMES, AlikeScores, columns_of
from ragstone.run.run_spec import RunSpec
from ragstone.run.settings import CITED

from .judge_blocks import JudgedBlock


def parted(spec: RunSpec, scores: pl.DataFrame) -> tuple[pl.DataFrame, list[AlikeScores]]:
    """The scores of a shard without those that are alike, and these."""
    if QUICK not in spec.requested.suites:
        return scores, []
    requested = {str(metric) for metric in (*spec.requested.metrics, *spec.added)}
    tried = {str(metric) for metric in spec.metrics} - requested
    if not tried:
        return scores, []
    same = ["value", "status", "reason"]
    is_same = pl.all_horizontal(pl.col(name).eq_missing(pl.col(name).first()) for name in same)
    metrics = scores.group_by("metric", maintain_order=True).agg(
        pl.col(same).first(), alike=is_same.all() & pl.col("label").is_null().all()
    )
    nothing = pl.col("status") != STATUS_NAMES[VALUE]
    uncited = (pl.col("metric") == CITED) & (pl.col("value") == 0)
    left_out = metrics.filter(pl.col("alike"), nothing | uncited, pl.col("metric").is_in(tried))
    alike = [AlikeScores(**row) for row in left_out.select("metric", *same).iter_rows(named=True)]
    return scores.filter(~pl.col("metric").is_in(left_out["metric"].implode())), alike


def put_back(
    scores: pl.LazyFrame, alike: Sequence[AlikeScores], examples: pl.LazyFrame, order: Sequence[str]
) -> pl.LazyFrame:
    """The scores of a shard with those that are alike, metric by metric."""
    ids = examples.select("question_id", "system", "shard", example_id="id")
    more = [
        ids.select(
            "example_id", "question_id", "system", metric=pl.lit(row.metric),
            value=pl.lit(row.value, pl.Float64), label=pl.lit(None, pl.String),
            status=pl.lit(row.status), reason=pl.lit(row.reason, pl.String), shard="shard",
        )
        for row in alike
    ]  # fmt: skip
    position = pl.col("metric").cast(pl.Enum(order))
    return pl.concat([scores, *more]).sort(position, maintain_order=True)


ROW = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")
OF_LEDGER = ("example_id", *(name for name in LEDGER if name != "row"))
MOST_GROUPS = 200


def block_tables(
    spec: RunSpec, shard: int, examples: Sequence[Example], judged: JudgedBlock
) -> dict[str, pl.DataFrame]:
    """All tables of a block, as stored in the run folder; ``shard`` is the number of its shard."""
    of_shard = pl.lit(shard, pl.UInt32).alias("shard")
    ids = judged.tables.examples.select(ROW, example_id="id")
    ledger = judged.ledger.join(ids, on="row", how="left").select(*OF_LEDGER, of_shard)
    by_kind: dict[str, list[pl.DataFrame]] = {}
    for ask, rows in judged.rows.items():
        if rows.height:
            stored = rows.with_columns(of_shard, ask=pl.lit(ask))
            by_kind.setdefault(ASKS[ask].kind, []).append(stored)
    tables = {
        "examples": judged.tables.examples.with_columns(of_shard),
        **block_scores(spec, shard, examples, judged),
        "ledger": ledger,
    }
    for kind, frames in by_kind.items():
        tables[kind] = pl.concat(frames)
    return tables


def block_scores(
    spec: RunSpec, shard: int, examples: Sequence[Example], judged: JudgedBlock
) -> dict[str, pl.DataFrame]:
    """The scores of a block, their groups and clusters, and the origins of clusters."""
    metrics = [*spec.metrics, *spec.components]
    scores = score(judged.tables, metrics, spec.settings.partly_answered)
    return _score_tables(spec, shard, examples, judged.tables.examples, scores)


def set_aside_tables(
    spec: RunSpec, shard: int, example: Example, why: str
) -> dict[str, pl.DataFrame]:
    """All tables of an example that cannot be judged: each of its scores is missing, and why."""
    frame = to_frame([example])
    missing = pl.DataFrame(
        {"value": [None], "label": [None], "status": [MISSING], "reason": [why]},
        schema={"value": pl.Float64, "label": pl.String, "status": pl.UInt8, "reason": pl.String},
    )
    scores = {str(metric): missing for metric in (*spec.metrics, *spec.components)}
    return {
        "examples": frame.with_columns(shard=pl.lit(shard, pl.UInt32)),
        **_score_tables(spec, shard, [example], frame, scores),
        "ledger": pl.DataFrame(schema=columns_of("ledger")),
    }


def _score_tables(
    spec: RunSpec, shard: int, examples: Sequence[Example], frame: pl.DataFrame,
    scores: Mapping[str, pl.DataFrame],
) -> dict[str, pl.DataFrame]:  # fmt: skip
    keys = frame.select(pl.col("id").alias("example_id"), "question_id", "system")
    long = metric_by_metric(keys, scores, spec.metrics)
    facets = _facets(spec, examples, frame, scores)
    tables = {"scores": long.with_columns(shard=pl.lit(shard, pl.UInt32)), "facets": facets}
    if spec.settings.cluster in FINE and (pairs := origins(examples, facets["cluster"])).height:
        tables["origins"] = pairs
    return tables


def metric_by_metric(
    keys: pl.DataFrame, scores: Mapping[str, pl.DataFrame], metrics: Sequence[Metric]
) -> pl.DataFrame:
    """The scores of all metrics below each other, a row an example, behind its keys."""
    status = pl.col("status").replace_strict(STATUS_NAMES, return_dtype=pl.String)
    return pl.concat(
        pl.DataFrame(
            [
                *keys.get_columns(),
                pl.Series("metric", [name]).new_from_index(0, keys.height),
                *map(scores[name].get_column, SCORES),
            ]
        )
        for name in map(str, metrics)
    ).with_columns(status)


def shard_tables(blocks: Sequence[Mapping[str, pl.DataFrame]]) -> dict[str, pl.DataFrame]:
    """The tables of a shard, of those of its blocks.

    What was judged of a subject in several blocks is kept once.
    """
    if len(blocks) == 1:
        return dict(blocks[0])
    names = dict.fromkeys(name for block in blocks for name in block)
    joined = {}
    for name in names:
        parts = [
            block[name].with_columns(at=pl.lit(at)) for at, block in enumerate(blocks)
            if name in block
        ]  # fmt: skip
        table = pl.concat(parts)
        if len(parts) > 1 and name in KINDS:
            table = table.filter(pl.col("at") == pl.col("at").min().over("ask", "judge", "subject"))
        table = table.drop("at")
        joined[name] = table.unique(maintain_order=True) if name == "origins" else table
    return joined


class UnfitFields(InputError):
    """The data have no field that is to be grouped by, or too many values of it."""


def check_fields(spec: RunSpec, block: Sequence[Example]) -> None:
    """Check the requested fields on the first examples of the data."""
    for name in [*spec.by, spec.settings.cluster]:
        if all(example.facet(name) is None for example in block):
            keys = set[str]()
            for example in block[:100]:
                keys.update(example.slices, example.meta, example.labels)
            known = sorted(keys - {"system", "question_id"})
            raise UnfitFields(
                f"No example has a field {name!r} to group by. There are: "
                f"{', '.join(['system', 'question_id', *known])}."
            )
    for name in ["system", *spec.by]:
        values = {example.facet(name) for example in block}
        if len(values) > MOST_GROUPS:
            raise UnfitFields(
                f"{name}: {len(values)} values in the first {len(block)} examples are too "
                f"many to group by. Choose a field with at most {MOST_GROUPS}."
            )


def _facets(
    spec: RunSpec, examples: Sequence[Example], frame: pl.DataFrame,
    scores: Mapping[str, pl.DataFrame],
) -> pl.DataFrame:  # fmt: skip
    columns: dict[str, Any] = {
        "system": frame["system"],
        "question": frame["question_id"],
        "asked": frame.select(question_hash()).to_series(),
        # An example without a value is a cluster of its own question, which no value can name.
        "cluster": [
            example.facet(spec.settings.cluster) or f"\0{example.question_id}"
            for example in examples
        ],
        "contexts": frame["contexts"].list.len().fill_null(0).cast(pl.Int64),
    }
    for field in spec.fields:
        columns[by_column(field)] = [example.facet(field) or NO_VALUE for example in examples]
    for column in ("value", "status"):
        for metric in spec.components:
            columns[f"{column} {metric}"] = scores[str(metric)][column]
    table = pl.DataFrame(columns, schema_overrides={"cluster": pl.String, "question": pl.String})
    return table.with_columns(pl.col("cluster", "question").hash(seed=0))
