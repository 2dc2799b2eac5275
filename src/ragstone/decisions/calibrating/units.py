"""Units: the verdicts of a run's judges, in the form of people's labels."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import polars as pl

from ragstone.judgements import KINDS, About, Kind
from ragstone.judges.judge import HumanJudge
from ragstone.labels.adjudicate import SAID

SCHEMA = {**SAID, "probability": pl.Float64, "judge": pl.String}
"""As in a label table; ``probability`` is that of a yes, or of support, where a judge gives one."""

KEYS = ["example_id", "kind", "column", "unit"]
BY_PEOPLE = pl.col("judge").str.split(":").list.first() == HumanJudge.name
"""Whether the judge is a person: ``human``, ``human:ann``, and no model such as ``humanlike``."""

ABOUT: Mapping[About, pl.Expr] = {
    "answer": pl.lit(None, pl.String),
    "context": pl.col("rank").cast(pl.String),
    "proposition": pl.format("{} {}", pl.col("origin").cast(pl.String), pl.col("index") + 1),
}
"""The unit of a label, from the rows of a kind. Nobody labels pairs one by one."""


class JudgedRows(Protocol):
    """A run, or some of its examples."""

    def ledger(self) -> pl.DataFrame: ...
    def judgements(self, kind: str, /) -> pl.DataFrame: ...


def judged_units(run: JudgedRows) -> pl.DataFrame:
    """One row per unit and column with a verdict by a judge that is not a person; of ``SCHEMA``.

    For a panel it is the panel's verdict, for a critique the majority vote. A yes or no,
    a grade or a rating also has a ``number``.
    """
    said = (
        run.ledger()
        .filter((pl.col("status") == "ok") & ~BY_PEOPLE)
        .select("example_id", "judge", "subject")
        .unique()
    )
    found = [pl.DataFrame(schema=SCHEMA)]
    for kind in KINDS.values():
        columns = _labelled(kind)
        if columns:
            rows = run.judgements(kind.name).join(
                said, on=["example_id", "judge", "subject"], how="semi"
            )
            rows = _nameable(_one_word_a_unit(rows, kind, columns), kind)
            found += [_shaped(rows, kind, column) for column in columns]
    return pl.concat(found).unique(KEYS, keep="first", maintain_order=True)


def _labelled(kind: type[Kind]) -> list[str]:
    """The columns that people label too; one for each topic, such as a criterion."""
    if kind.about not in ABOUT:
        return []
    return list(kind.labels()) or (kind.having("verdict", "number") if kind.having("topic") else [])


def _nameable(rows: pl.DataFrame, kind: type[Kind]) -> pl.DataFrame:
    """Only the units that label files can name: claims, and statements of the first reference."""
    if kind.about != "proposition":
        return rows
    return rows.filter(pl.col("origin").cast(pl.String) != "evidence", pl.col("reference") == 0)


def _one_word_a_unit(rows: pl.DataFrame, kind: type[Kind], columns: Sequence[str]) -> pl.DataFrame:
    """The majority vote of a judge that voted several times; none if it is a tie."""
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
    shaped = rows.select(expressions[name].cast(SCHEMA[name]).alias(name) for name in SCHEMA)
    return shaped.filter(pl.col("value").is_not_null())
