"""People: the scores of metrics computed from people's labels."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.errors import InputError
from ragstone.data import Example
from ragstone.data.record_labels import FIELDS
from ragstone.judgements import ASKS, VALUE, Ask, kind_of
from ragstone.judges.judge import HumanJudge
from ragstone.judges.rules import RulesJudge
from ragstone.labels.table import LabelTable
from ragstone.metrics import Metric, needed_asks, score
from ragstone.run.judging import judge_block

from .units import BY_PEOPLE, JudgedRows

WEIGHT = "weight"

Units = Mapping[str, Mapping[str, int]]
"""``claim`` and ``statement``: how many each example has, by its id."""
NOTHING_KNOWN: Units = {}

METRIC = "metric"
"""The kind of labels that are the value of a metric themselves."""

SCHEMA = {"example_id": pl.String, "metric": pl.String, "value": pl.Float64}


def people_scores(
    examples: Sequence[Example],
    labels: LabelTable,
    metrics: Sequence[Metric | str],
    units: Units = NOTHING_KNOWN,
) -> pl.DataFrame:
    """The value of each metric by people's labels; one row per example and metric with a value.

    A value that a person gave of the metric itself goes first. Else the metric's own rule is
    evaluated over people's combined judgements, of which it needs at least one; what
    follows from these by logic is derived as in any run.

    Args:
        examples: The labelled examples.
        labels: People's labels.
        metrics: Metrics; the name alone of one that is not loaded, which has only values given.
        units: How many claims and statements each example has, where people were asked about
            the judge's. An example labelled in part has no value by rule: what is known of it
            might settle the one outcome and never the other.
    """
    names = [str(metric) for metric in metrics]
    given = (
        labels.adjudicated()
        .filter((pl.col("kind") == METRIC) & pl.col("column").is_in(names))
        .filter(pl.col("number").is_not_null())
        .select("example_id", metric="column", value="number")
    )
    ruled = [one for one in metrics if isinstance(one, Metric) and not _over_means(one)]
    joined = [labels.join(example) for example in examples]
    frames = [pl.DataFrame(schema=SCHEMA), given]
    if joined and ruled:
        frames += _by_rule(joined, ruled, units)
    return pl.concat(frames).unique(["example_id", "metric"], keep="first", maintain_order=True)


def labelled_in_part(example: Example, units: Units = NOTHING_KNOWN) -> frozenset[str]:
    """The asks for which people labelled some units of an example and left others open."""
    found = set()
    for ask in ASKS.values():
        if "people" not in ask.by or ask.over is None or ask.over.unit not in FIELDS:
            continue
        unit = ask.over.unit
        given = example.labels.get(FIELDS[unit]) or ()
        known = units.get(unit, {}).get(example.id, 0)
        if unit == "context":
            known = len(example.contexts or ())
        for label in _labels(ask):
            said = sum((one or {}).get(label) is not None for one in given)
            if 0 < said < max(len(given), known):
                found.add(ask.name)
    return frozenset(found)


def _labels(ask: Ask) -> list[str]:
    """The labels that decide: the verdict, or the grade if there is no verdict."""
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
    found: dict[str, Mapping[str, int]] = {}
    for unit, maker in makers.items():
        rows = run.judgements(ASKS[maker].kind)
        counts = rows.group_by("example_id").agg(pl.col("index").max() + 1)
        found[unit] = dict(counts.iter_rows())
    return found


def _by_rule(
    examples: Sequence[Example], metrics: Sequence[Metric], units: Units
) -> list[pl.DataFrame]:
    judged = judge_block(examples, [HumanJudge(), RulesJudge()], needed_asks(metrics))
    scores = score(judged.tables, metrics)
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
        found = pl.concat([ids, scores[str(metric)]], how="horizontal").filter(
            pl.col("row").is_in(rows.implode()) & (pl.col("status") == VALUE)
        )
        frames.append(found.select("example_id", pl.lit(str(metric)).alias("metric"), "value"))
    return frames


def weights_of(labels: LabelTable) -> pl.DataFrame:
    """``weight`` of each labelled example: its inverse sampling probability; null if unknown."""
    chance = pl.col("inclusion_probability").drop_nulls().first()
    return labels.counted.group_by("example_id").agg((1 / chance).alias(WEIGHT))


def known_weights(rows: pl.DataFrame) -> NDArray[np.float64] | None:
    """The weights of labelled rows; None if no sampling probability is known.

    Raises:
        InputError: It is known for some rows and not for others.
    """
    unknown = rows[WEIGHT].null_count()
    if unknown == rows.height:
        return None
    if unknown:
        raise InputError(
            f"{unknown} of {rows.height} labelled examples have no inclusion_probability, the "
            "others do. Give it for all of them, as ragstone sample writes it, or for none."
        )
    return rows[WEIGHT].to_numpy().astype(np.float64)


def answers_of_people(run: JudgedRows) -> pl.DataFrame:
    """``example_id`` and ``ask`` of what people, not a judge, answered in a run."""
    said = (pl.col("status") == "ok") & BY_PEOPLE
    return run.ledger().filter(said).select("example_id", "ask")


def _over_means(metric: Metric) -> bool:
    return bool(getattr(metric, "over_means", False))
