"""People's scores: metrics computed from people's labels, and judges' verdicts in label form."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from ragstone.annotation.adjudication import SAID
from ragstone.annotation.label_table import LabelTable
from ragstone.core.errors import InputError
from ragstone.data import Example
from ragstone.data.record_labels import FIELDS
from ragstone.judgements import ASKS, KINDS, VALUE, About, Ask, Grounding, Kind, kind_of
from ragstone.judges.judge import HumanJudge
from ragstone.judges.rules import FOLLOWS, PARTS, RulesJudge, people_labels
from ragstone.metrics import Metric, needed_asks, score
from ragstone.run import Run
from ragstone.run.judging.judge_blocks import judge_block
from ragstone.run.run import Excerpt
from ragstone.stats.weights_and_groups import Floats

# As in a label table; ``probability`` is that of a yes, or of support, where a judge gives one.
UNIT_SCHEMA = {**SAID, "probability": pl.Float64, "judge": pl.String}

KEYS = ["example_id", "kind", "column", "unit"]
# Whether the judge is a person: ``human``, ``human:ann``, and no model such as ``humanlike``.
BY_PEOPLE = pl.col("judge").str.split(":").list.first() == HumanJudge.name

# The unit of a label, from the rows of a kind. Nobody labels pairs one by one.
ABOUT: Mapping[About, pl.Expr] = {
    "answer": pl.lit(None, pl.String),
    "context": pl.col("rank").cast(pl.String),
    "proposition": pl.format("{} {}", pl.col("origin").cast(pl.String), pl.col("index") + 1),
}


# A run, or some of its examples.
JudgedRows = Run | Excerpt


def judged_units(run: JudgedRows) -> pl.DataFrame:
    """One row per unit and column with a verdict by a judge that is no person; of ``UNIT_SCHEMA``.

    For a panel it is the panel's verdict, for a critique the majority vote. A yes or no, a grade or
    a rating also has a ``number``.
    """
    by_judges = (
        run.ledger()
        .filter((pl.col("status") == "ok") & ~BY_PEOPLE)
        .select("example_id", "judge", "subject")
        .unique()
    )
    frames = [pl.DataFrame(schema=UNIT_SCHEMA)]
    for kind in KINDS.values():
        columns = list(kind.labels())
        if not columns and kind.having("topic"):
            columns = list(kind.having("verdict", "number"))
        if columns and kind.about in ABOUT:
            rows = run.judgements(kind.name).join(
                by_judges, on=["example_id", "judge", "subject"], how="semi"
            )
            rows = _one_word_a_unit(rows, kind, columns)
            if kind.about == "proposition":
                nameable = pl.col("origin").cast(pl.String) != "evidence"
                rows = rows.filter(nameable, pl.col("reference") == 0)
            frames += [_shaped(rows, kind, column) for column in columns]
    return pl.concat(frames).unique(KEYS, keep="first", maintain_order=True)


def _one_word_a_unit(rows: pl.DataFrame, kind: type[Kind], columns: Sequence[str]) -> pl.DataFrame:
    if not kind.having("vote"):
        return rows
    unit = ["example_id", "judge", *kind.having("unit", "topic")]
    shares = rows.group_by(unit, maintain_order=True).agg(
        pl.col(name).cast(pl.Float64).mean() for name in columns
    )
    return shares.with_columns(
        pl.when(pl.col(name) != 0.5).then(pl.col(name) > 0.5).alias(name) for name in columns
    )


def _shaped(rows: pl.DataFrame, kind: type[Kind], column: str) -> pl.DataFrame:
    nothing = pl.lit(None, pl.Float64)
    topic = next((pl.col(name) for name in kind.having("topic")), pl.lit(column))
    words = kind.columns[column].dtype in (pl.Enum, pl.String)
    chance = next((name for name, of in kind.probabilities().items() if of == column), None)
    expressions: Mapping[str, pl.Expr] = {
        "example_id": pl.col("example_id"),
        "kind": pl.lit(kind.name),
        "column": topic,
        "unit": ABOUT[kind.about],
        "value": pl.col(column),
        "number": nothing if words else pl.col(column),
        "probability": nothing if chance is None else pl.col(chance),
        "judge": pl.col("judge"),
    }
    shaped = rows.select(
        expressions[name].cast(UNIT_SCHEMA[name]).alias(name) for name in UNIT_SCHEMA
    )
    return shaped.filter(pl.col("value").is_not_null())


WEIGHT = "weight"

# ``claim`` and ``statement``: how many each example has, by its id.
Units = Mapping[str, Mapping[str, int]]

NOTHING_KNOWN: Units = {}

# The kind of labels that are the value of a metric themselves.
METRIC = "metric"

SCHEMA = {"example_id": pl.String, "metric": pl.String, "value": pl.Float64}


def people_scores(
    examples: Sequence[Example],
    labels: LabelTable,
    metrics: Sequence[Metric | str],
    units: Units = NOTHING_KNOWN,
) -> pl.DataFrame:
    """The value of each metric by people's labels; one row per example and metric with a value.

    A value that a person gave of the metric itself goes first. Else the metric's own rule is
    evaluated over people's combined judgements, of which it needs at least one; what follows from
    these by logic is derived as in any run.

    Args:
        metrics: Metrics; the name alone of one that is not loaded, which has only values given.
        units: How many claims and statements each example has, where people were asked about the
            judge's. An example labelled in part has no value by rule: what is known of it might
            settle the one outcome and never the other.
    """
    names = [str(metric) for metric in metrics]
    values = (
        labels.adjudicated()
        .filter((pl.col("kind") == METRIC) & pl.col("column").is_in(names))
        .filter(pl.col("number").is_not_null())
        .select("example_id", metric="column", value="number")
    )
    ruled = [
        metric
        for metric in metrics
        if isinstance(metric, Metric) and not getattr(metric, "over_means", False)
    ]
    joined = [labels.join(example) for example in examples]
    frames = [pl.DataFrame(schema=SCHEMA), values]
    if joined and ruled:
        frames += _by_rule(joined, ruled, units)
    return pl.concat(frames).unique(["example_id", "metric"], keep="first", maintain_order=True)


def labelled_in_part(example: Example, units: Units = NOTHING_KNOWN) -> frozenset[str]:
    """The asks for which people labelled some units of an example and left others open."""
    partly = set()
    for ask in ASKS.values():
        if "people" not in ask.by or ask.over is None or ask.over.unit not in FIELDS:
            continue
        unit = ask.over.unit
        rows = example.labels.get(FIELDS[unit]) or ()
        listed = {"context": example.contexts, "criterion": example.criteria}
        known = units.get(unit, {}).get(example.id, 0)
        if unit in listed:
            known = len(listed[unit] or ())
        for label in _labels(ask):
            n_labels = sum((row or {}).get(label) is not None for row in rows)
            if 0 < n_labels < max(len(rows), known):
                partly.add(ask.name)
    return frozenset(partly)


def _labels(ask: Ask) -> list[str]:
    columns = [column for column in kind_of(ask.name).filled_by(ask) if column.label]
    verdicts = [column.label for column in columns if column.role == "verdict"]
    return verdicts or [column.label for column in columns]


def units_of(run: JudgedRows) -> Units:
    """The number of claims and statements that the judges found in each example."""
    makers = {
        ask.origin: maker
        for ask in ASKS.values()
        if ask.origin and ask.over is not None
        for maker in ask.over.made_by
    }
    numbers: dict[str, Mapping[str, int]] = {}
    for unit, maker in makers.items():
        rows = run.judgements(ASKS[maker].kind)
        counts = rows.group_by("example_id").agg(pl.col("index").max() + 1)
        numbers[unit] = dict(counts.iter_rows())
    return numbers


def _by_rule(
    examples: Sequence[Example], metrics: Sequence[Metric], units: Units
) -> list[pl.DataFrame]:
    judged = judge_block(examples, [HumanJudge(), RulesJudge()], needed_asks(metrics))
    # Labels of whole answers settle others and their claims for some outcomes alone, and so bias
    # a mean.
    replaced = {PARTS: judged.tables.of(PARTS).filter(pl.col("reason").ne_missing(FOLLOWS))}
    for ask in (ask.name for ask in Grounding.asks):
        answers = judged.tables.of(ask)
        labels = [people_labels(row) for row in answers.to_dicts()]
        replaced[ask] = pl.DataFrame(labels, schema=answers.schema)
    scores = score(replace(judged.tables, rows={**judged.tables.rows, **replaced}), metrics)
    ids = judged.tables.examples.select(
        row=pl.int_range(pl.len(), dtype=pl.UInt32), example_id="id"
    )
    human = judged.ledger.filter((pl.col("judge") == "human") & (pl.col("status") == "ok"))
    partly = [labelled_in_part(example, units) for example in examples]
    frames = []
    for metric in metrics:
        needed = needed_asks([metric])
        whole = [row for row, asks in enumerate(partly) if asks.isdisjoint(needed)]
        answered = human.filter(pl.col("ask").is_in(needed) & pl.col("row").is_in(whole))
        rows = answered["row"].unique()
        valued = pl.concat([ids, scores[str(metric)]], how="horizontal").filter(
            pl.col("row").is_in(rows.implode()) & (pl.col("status") == VALUE)
        )
        frames.append(valued.select("example_id", pl.lit(str(metric)).alias("metric"), "value"))
    return frames


def weights_of(labels: LabelTable) -> pl.DataFrame:
    """``weight`` of each labelled example: its inverse sampling probability; null if unknown."""
    chance = pl.col("inclusion_probability").drop_nulls().first()
    return labels.counted.group_by("example_id").agg((1 / chance).alias(WEIGHT))


def known_weights(rows: pl.DataFrame) -> Floats | None:
    """The weights of labelled rows; None if no sampling probability is known."""
    unknown = rows[WEIGHT].null_count()
    if unknown == rows.height:
        return None
    if unknown:
        raise InputError(
            f"{unknown} of {rows.height} labelled examples have no inclusion_probability, the "
            "others do. Give it for all of them, as ragstone sample writes it, or for none."
        )
    return rows[WEIGHT].to_numpy().astype(np.float64)
