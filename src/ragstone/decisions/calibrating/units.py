"""Units: what the judges of a run said, in the shape in which people's labels stand."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import polars as pl

from ragstone.examples.labels import GENERATION_LABELS, GROUNDING_LABELS
from ragstone.run import Run

SCHEMA = {
    "example_id": pl.String,
    "kind": pl.String,
    "column": pl.String,
    "unit": pl.String,
    "value": pl.String,
    "number": pl.Float64,
    "probability": pl.Float64,
    "judge": pl.String,
}
"""As in a label table; ``probability`` is that of a yes, or of support, where a judge gives one."""

KEYS = ["example_id", "kind", "column", "unit"]
PEOPLE = "human"

NOTHING = pl.lit(None, pl.Float64)
ANSWER = pl.lit(None, pl.String)
CONTEXT = pl.col("rank").cast(pl.String)
PROPOSITION = pl.format("{} {}", pl.col("origin").cast(pl.String), pl.col("index"))


@dataclass(frozen=True)
class Said:
    """Where a column of labels stands in the rows of a kind."""

    column: pl.Expr
    value: pl.Expr
    unit: pl.Expr = ANSWER
    number: pl.Expr = NOTHING
    probability: pl.Expr = NOTHING
    only: pl.Expr | None = None


def judged_units(run: Run) -> pl.DataFrame:
    """One row a unit and column for which a judge, no person, has a word; of ``SCHEMA``.

    Of a panel it is the panel's word, of a critique the majority of its votes. What is yes or no,
    a grade or a rating has a ``number`` too.
    """
    said = (
        run.ledger()
        .filter((pl.col("status") == "ok") & ~pl.col("judge").str.starts_with(PEOPLE))
        .select("example_id", "judge", "subject")
        .unique()
    )
    found = [pl.DataFrame(schema=SCHEMA)]
    for kind, columns in SAYS.items():
        rows = run.judgements(kind).join(said, on=["example_id", "judge", "subject"], how="semi")
        if kind == "critique":
            rows = _majority_of_votes(rows)
        found += [_shaped(rows, kind, column) for column in columns]
    return pl.concat(found).unique(KEYS, keep="first", maintain_order=True)


def _shaped(rows: pl.DataFrame, kind: str, said: Said) -> pl.DataFrame:
    there = rows if said.only is None else rows.filter(said.only)
    expressions: Mapping[str, pl.Expr] = {
        "example_id": pl.col("example_id"),
        "kind": pl.lit(kind),
        "column": said.column,
        "unit": said.unit,
        "value": said.value,
        "number": said.number,
        "probability": said.probability,
        "judge": pl.col("judge"),
    }
    shaped = there.select(expressions[name].cast(SCHEMA[name]).alias(name) for name in SCHEMA)
    return shaped.filter(pl.col("value").is_not_null())


def _majority_of_votes(rows: pl.DataFrame) -> pl.DataFrame:
    share = pl.col("verdict").cast(pl.Float64).mean()
    votes = rows.group_by("example_id", "judge", "aspect", maintain_order=True).agg(share)
    return votes.filter(pl.col("verdict") != 0.5).with_columns(pl.col("verdict") > 0.5)


def _flag(name: str, unit: pl.Expr = ANSWER, probability: pl.Expr = NOTHING) -> Said:
    return Said(pl.lit(name), pl.col(name), unit, pl.col(name), probability)


_verdict = partial(
    Said, pl.lit("verdict"), pl.col("verdict"), PROPOSITION, NOTHING, pl.col("probability")
)

SAYS: Mapping[str, tuple[Said, ...]] = {
    "relevance": (
        _flag("relevant", CONTEXT, pl.col("probability")),
        _flag("sufficient", CONTEXT),
        _flag("misleading", CONTEXT),
        _flag("grade", CONTEXT),
    ),
    "grounding": tuple(_flag(name) for name in GROUNDING_LABELS),
    "quality": tuple(_flag(name) for name in GENERATION_LABELS),
    "response": (Said(pl.lit("response_type"), pl.col("response_type")),),
    "support": (_verdict(pl.col("origin") != "evidence"),),
    "agreement": (_verdict(pl.col("reference") == 0),),
    "rating": (Said(pl.col("criterion"), pl.col("score"), ANSWER, pl.col("score")),),
    "critique": (Said(pl.col("aspect"), pl.col("verdict"), ANSWER, pl.col("verdict")),),
}
