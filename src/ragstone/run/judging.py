"""Judging: asks the judges in turn, and selects one judgement for each unit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from ragstone.examples import Example, to_frame
from ragstone.judgements import (
    ASKS,
    MISSING,
    REQUIREMENTS,
    UNDEFINED,
    VALUE,
    Tables,
    kind_of,
)
from ragstone.judges import LEDGER, Block, Filled, Judge


@dataclass(frozen=True, slots=True)
class JudgedBlock:
    """A block's judgements: as the metrics see them, and as they are stored."""

    tables: Tables
    ledger: pl.DataFrame
    rows: Mapping[str, pl.DataFrame]
    """For each ask the rows of every judge, each subject once."""


def judge_block(
    examples: Sequence[Example], judges: Sequence[Judge], asks: Sequence[str]
) -> JudgedBlock:
    """Judge a block of examples.

    Each ask goes to the judges in order. The first judge with an ok row for a unit
    decides it; an example goes on to the next judge as long as a unit is open.
    """
    return judge_further(examples, Tables(to_frame(examples)), judges, asks)


def judge_further(
    examples: Sequence[Example], tables: Tables, judges: Sequence[Judge], asks: Sequence[str]
) -> JudgedBlock:
    """Judge further asks of a block that is already judged in part.

    Args:
        examples: The block.
        tables: Its judgements so far.
        judges: In the order they are asked.
        asks: The further asks, none of which was judged before.

    Returns:
        In ``tables`` all judgements; in ``ledger`` and ``rows`` only the new ones.
    """
    block = Block(examples, tables.examples, tables)
    ledgers: list[pl.DataFrame] = []
    kept: dict[str, pl.DataFrame] = {}
    for ask in asks:
        filled, _ = _put(ask, block, judges)
        kept[ask] = pl.concat([one.rows for one in filled]) if filled else _no_rows(ask)
        ledger = pl.concat([pl.DataFrame(schema=LEDGER), *(one.ledger for one in filled)])
        ledgers.append(ledger)
        block = replace(block, tables=resolve(block.tables, ask, ledger, kept[ask], judges))
    ledger = pl.concat([pl.DataFrame(schema=LEDGER), *ledgers])
    return JudgedBlock(block.tables, ledger, kept)


def resolve(
    tables: Tables,
    ask: str,
    ledger: pl.DataFrame,
    rows: pl.DataFrame,
    judges: Sequence[Judge],
) -> Tables:
    """Add an ask's rows and outcomes to the tables, with one judge for each unit."""
    places = {judge.name: place for place, judge in enumerate(judges) if ask in judge.asks}
    entries = ledger.with_columns(
        turn=pl.col("judge").replace_strict(places, default=len(places), return_dtype=pl.UInt32)
    )
    ok = entries.filter(pl.col("status") == "ok")
    joined = (
        ok.select("row", "judge", "subject", "turn")
        .join(rows, on=["subject", "judge"])
        .sort("row", "turn", maintain_order=True)
    )
    if _is_shared(ask):
        # Contexts are decided one by one, each by the first judge that did not leave it open. For
        # other units a single judge decides the whole example.
        joined = joined.sort(_says_something(ask).not_(), maintain_order=True).unique(
            subset=["row", *(kind_of(ask).key or ())], keep="first", maintain_order=True
        )
        joined = joined.sort("row", maintain_order=True)
    else:
        first = ok.group_by("row").agg(pl.col("turn").min())
        joined = joined.join(first, on=["row", "turn"], how="semi")
    joined = _by_the_same_author(tables, ask, joined)
    return replace(
        tables,
        rows={**tables.rows, ask: joined.drop("turn")},
        status={**tables.status, ask: _outcomes(tables, ask, entries)},
    )


def still_open(ask: str, block: Block, judges: Sequence[Judge]) -> list[int]:
    """The examples that these judges leave open, among those that the ask applies to."""
    return _put(ask, block, judges)[1]


def _put(ask: str, block: Block, judges: Sequence[Judge]) -> tuple[list[Filled], list[int]]:
    """Ask the judges in turn, each about open examples; returns also those left open by all."""
    open_rows = _applicable(ask, block.frame)
    filled: list[Filled] = []
    for judge in judges:
        if ask not in judge.asks or not open_rows:
            continue
        answers = judge.fill(ask, block, open_rows)
        filled.append(answers)
        settled = answers.ledger.filter(pl.col("status").is_in(["ok", "undefined"]))
        done = set(settled["row"].to_list())
        if _is_shared(ask):
            done -= _partly_covered(ask, answers, block)
        open_rows = [row for row in open_rows if row not in done]
    return filled, open_rows


def _applicable(ask: str, frame: pl.DataFrame) -> list[int]:
    """The examples that have what the ask requires; for the others it is undefined."""
    holds = pl.all_horizontal(REQUIREMENTS[name].holds for name in ASKS[ask].requires)
    return frame.select(pl.arg_where(holds)).to_series().to_list()


def _is_shared(ask: str) -> bool:
    """Whether the ask is about contexts, which several judges may divide among them."""
    over = ASKS[ask].over
    return over is not None and over.unit == "context"


def _says_something(ask: str) -> pl.Expr:
    """Expression: whether a row holds a verdict."""
    said = kind_of(ask).having("grade", "verdict")
    return pl.any_horizontal(pl.col(name).is_not_null() for name in said)


def _partly_covered(ask: str, answers: Filled, block: Block) -> set[int]:
    """The examples with contexts that this judge left open."""
    given = answers.rows.filter(_says_something(ask))
    counted = (
        answers.ledger.select("row", "subject")
        .join(given.group_by("subject").len(), on="subject", how="left")
        .select("row", pl.col("len").fill_null(0))
    )
    return {
        row
        for row, judged in counted.iter_rows()
        if judged < len(block.examples[row].contexts or ())
    }


def _by_the_same_author(tables: Tables, ask: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Keep only rows about propositions made by the judge whose propositions are in the tables."""
    over = ASKS[ask].over
    if over is None or "author" not in rows.columns:
        return rows
    for maker in over.made_by:
        authors = tables.of(maker).select("row", author="judge").unique()
        rows = rows.join(authors, on=["row", "author"], how="semi", maintain_order="left")
    return rows


def _outcomes(tables: Tables, ask: str, entries: pl.DataFrame) -> pl.DataFrame:
    """The outcome of the ask for each example: a value if any judge gave one, else a failure."""
    rank = pl.col("status").replace_strict(
        {"ok": VALUE, "undefined": UNDEFINED}, default=MISSING, return_dtype=pl.UInt8
    )
    best = (
        entries.select("row", "reason", "turn", status=rank)
        .sort("row", "status", "turn", maintain_order=True)
        .unique(subset="row", keep="first", maintain_order=True)
        .select("row", "status", "reason")
    )
    everyone = tables.examples.select(row=pl.int_range(pl.len(), dtype=pl.UInt32))
    return everyone.join(best, on="row", how="left", maintain_order="left").select(
        pl.col("status").fill_null(MISSING),
        pl.when(pl.col("status").is_null())
        .then(pl.lit(ASKS[ask].not_judged))
        .when(pl.col("status") != VALUE)
        .then("reason")
        .alias("reason"),
    )


def _no_rows(ask: str) -> pl.DataFrame:
    return kind_of(ask).empty()
