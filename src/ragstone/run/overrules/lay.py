"""Lay: puts what people overruled over the judgements of the judges."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import polars as pl

from ragstone.judgements import ASKS, MISSING, VALUE, Tables, kind_of
from ragstone.judges import Block
from ragstone.judges.rules import RulesJudge

from .overrule import DROPPED, TEXT, Overrule
from .replay import dependents, replay

ByExample = Mapping[str, Sequence[Overrule]]
"""The overrules that stand, the oldest first, by the id of each example that they change."""


def lay(tables: Tables, overrules: ByExample) -> Tables:
    """The judgements as the metrics read them, with people's word over the judges'."""
    there = {
        row: overrules[one] for row, one in enumerate(tables.examples["id"]) if one in overrules
    }
    if not there:
        return tables
    ids = tables.examples["id"]
    asked = {one.ask for those in there.values() for one in those}
    derived = [ask for ask in derived_from(asked) if ask in tables.status]
    tables = _replayed(tables, there, ids, [ask for ask in touched(asked) if ask not in derived])
    for ask in derived:
        tables = _derived(tables, ask, list(there))
    return _replayed(tables, there, ids, [ask for ask in asked if ask in derived])


def touched(asks: Collection[str]) -> list[str]:
    """The asks whose rows may change with these, and those whose wording they are about."""
    overs = [ASKS[ask].over for ask in asks]
    makers = {maker for over in overs if over is not None for maker in over.made_by}
    found = {*asks, *makers, *(name for ask in asks for name in dependents(ask))}
    return [ask for ask in ASKS if ask in found]


def derived_from(asks: Collection[str]) -> list[str]:
    """The asks that a rule derives from any of these, in order."""
    changing = set(touched(asks))
    found = []
    for name, ask in ASKS.items():
        if kind_of(name).derived and changing.intersection(ask.after):
            found.append(name)
    return found


def _replayed(
    tables: Tables, there: Mapping[int, Sequence[Overrule]], ids: pl.Series, asks: Sequence[str]
) -> Tables:
    if not asks:
        return tables
    mine = pl.col("row").is_in(list(there))
    before: dict[int, dict[str, list[dict[str, object]]]] = {
        row: {ask: [] for ask in asks} for row in there
    }
    for ask in asks:
        for one in tables.of(ask).filter(mine).to_dicts():
            before[one.pop("row")][ask].append(one)
    after = {
        row: replay(before[row], [one for one in those if one.ask in asks], ids[row])
        for row, those in there.items()
    }
    rows, status = dict(tables.rows), dict(tables.status)
    for ask in asks:
        frame = tables.of(ask)
        new = [{**one, "row": row} for row in there for one in after[row][ask]]
        if not new and frame.is_empty():
            continue
        laid = pl.DataFrame(new, schema=frame.schema)
        rows[ask] = pl.concat([frame.filter(~mine), laid]).sort("row", maintain_order=True)
        if said := [row for row, those in there.items() if after[row][ask] and _speaks(those, ask)]:
            status[ask] = _with_value(tables.outcome(ask), said)
    return replace(tables, rows=rows, status=status)


def _speaks(overrules: Sequence[Overrule], ask: str) -> bool:
    return any(one.ask == ask and not {TEXT, DROPPED} & one.said.keys() for one in overrules)


def _with_value(outcome: pl.DataFrame, rows: Sequence[int]) -> pl.DataFrame:
    """A failed ask has come out where a person answered it; units left open stay open."""
    answered = pl.int_range(pl.len()).is_in(list(rows)) & (pl.col("status") == MISSING)
    return outcome.with_columns(
        status=pl.when(answered).then(pl.lit(VALUE, pl.UInt8)).otherwise("status"),
        reason=pl.when(answered.not_()).then("reason"),
    )


def _derived(tables: Tables, ask: str, rows: Sequence[int]) -> Tables:
    """Derive again what a rule had derived; what people labelled, or a model said, stays."""
    rules = RulesJudge()
    there = tables.of(ask)
    by_others = set(there.filter(pl.col("judge") != rules.name)["row"])
    mine = [row for row in rows if row not in by_others]
    # It derives from the tables alone.
    filled = rules.fill(ask, Block((), tables.examples, tables), mine)
    derived = filled.ledger.filter(pl.col("status") == "ok").select("row", "subject")
    new = derived.join(filled.rows, on="subject").select(there.columns)
    kept = there.filter(pl.col("row").is_in(mine).not_())
    outcome = tables.outcome(ask).with_row_index("row")
    codes = {"ok": VALUE, "undefined": 1, "failed": MISSING}
    now = filled.ledger.select(
        "row",
        now=pl.col("status").replace_strict(codes, return_dtype=pl.UInt8),
        why=pl.when(pl.col("status") != "ok").then("reason"),
    )
    joined = outcome.join(now, on="row", how="left", maintain_order="left")
    again = pl.col("now").is_not_null()
    status = joined.select(
        status=pl.coalesce("now", "status"),
        reason=pl.when(again).then("why").otherwise("reason"),
    )
    return replace(
        tables,
        rows={**tables.rows, ask: pl.concat([kept, new]).sort("row", maintain_order=True)},
        status={**tables.status, ask: status},
    )
