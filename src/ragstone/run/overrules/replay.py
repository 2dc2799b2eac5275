"""Replay: the rows of one example after people overruled some of them, one after the other."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from ragstone.judgements import ASKS, Column, Kind, kind_of

from .overrule import DROPPED, TEXT, Overrule, Row
from .units import key_columns

Rows = dict[str, list[Row]]
"""The rows of each ask."""


def replay(rows: Mapping[str, Sequence[Row]], overrules: Sequence[Overrule], example: str) -> Rows:
    """The rows after these overrules, the oldest of which is first.

    A verdict on a wording that is not there any more says nothing, and so does one on a
    judgement that another judge gives here.
    """
    found = {ask: list(those) for ask, those in rows.items()}
    for one in overrules:
        there = found.setdefault(one.ask, [])
        mine = [row for row in there if _is_it(row, one)]
        elsewhere = any(row["subject"] != one.subject for row in mine)
        if elsewhere or (one.about is not None and one.about != _wording(found, mine, one)):
            continue
        if one.said.get(DROPPED):
            found[one.ask] = [row for row in there if not _is_it(row, one)]
        elif mine:
            found[one.ask] = [
                ruled(one.ask, row, one.said, one.person, one.reason) if _is_it(row, one) else row
                for row in there
            ]
        else:
            empty = {**dict.fromkeys(kind_of(one.ask).schema()), "subject": one.subject, **one.key}
            there.append(ruled(one.ask, empty, one.said, one.person, one.reason))
        if TEXT in one.said or DROPPED in one.said:
            _judge_anew(found, one, example, mine[0] if mine else {})
    return found


def ruled(ask: str, row: Row, said: Row, person: str, reason: str) -> dict[str, Any]:
    """A row with what a person says, and with what follows from that.

    What the judge's verdict rested on goes with the verdict. Whoever extracted a claim stays its
    author, even of another wording.
    """
    kind = kind_of(ask)
    new = {**row, **said}
    new |= _beside_grade(kind, new, said)
    changed = {name for name in kind.columns if name in said or new.get(name) != row.get(name)}
    decided = changed.intersection(kind.having("verdict", "grade", "number"))
    for name, column in kind.columns.items():
        if name in said or name == "reason" or not decided:
            continue
        if column.of in decided:
            new[name] = _certainty(column, kind.columns[column.of], new[column.of])
        elif not kind.made and column.role in ("evidence", "words", "count"):
            new[name] = _resting_on(kind, column, new)
    judge = row.get("judge") if kind.made else person
    return {**new, "reason": reason, "judge": judge or person}


def _beside_grade(kind: type[Kind], new: Row, said: Row) -> dict[str, Any]:
    """What a grade implies, or no grade where the person says something that it does not imply."""
    grade = next(iter(kind.having("grade")), None)
    implied = {name: one.at_least for name, one in kind.columns.items() if one.at_least}
    if grade is None or not implied:
        return {}
    if grade in said:
        return {name: said[grade] >= least for name, least in implied.items() if name not in said}
    level = new.get(grade)
    unlike = level is not None and any(
        name in said and said[name] != (level >= least) for name, least in implied.items()
    )
    return {grade: None} if unlike else {}


def _certainty(column: Column, verdict: Column, value: object) -> float | None:
    if not column.certain or value is None:
        return None
    return float(value in verdict.positive if verdict.positive else bool(value))


def _resting_on(kind: type[Kind], column: Column, new: Row) -> list[Any] | None:
    """Nothing where the verdict is not a positive one; otherwise it is not known."""
    verdict = kind.columns[kind.decides]
    if column.role != "evidence" or column.dtype != pl.List(pl.String) or not verdict.positive:
        return None
    return None if new.get(kind.decides) in verdict.positive else []


def _is_it(row: Row, one: Overrule) -> bool:
    return all(row.get(name) == value for name, value in one.key.items())


def _wording(found: Rows, mine: Sequence[Row], one: Overrule) -> str | None:
    """The wording, now, of what an overrule is about."""
    if kind_of(one.ask).made:
        return mine[0].get(TEXT) if mine else None
    over = ASKS[one.ask].over
    for maker in () if over is None else over.made_by:
        columns = key_columns(kind_of(maker))
        for row in found.get(maker, ()):
            if row["judge"] == one.key.get("author") and all(
                row[name] == one.key.get(name) for name in columns
            ):
                return str(row[TEXT])
    return None


def _judge_anew(found: Rows, one: Overrule, example: str, made: Row) -> None:
    """Put what the judges said of the new wording, if any, in the place of the old."""
    for ask in dependents(one.ask):
        there = found.get(ask, [])
        gone = [at for at, row in enumerate(there) if is_about(row, made)]
        new = [dict(row) for row in one.again.get(example, {}).get(ask, [])]
        if gone:
            # Answers that shared the judgement still do.
            new = [{**row, "subject": there[gone[0]]["subject"]} for row in new]
        at = gone[0] if gone else len(there)
        kept = [row for row in there if not is_about(row, made)]
        found[ask] = [*kept[:at], *new, *kept[at:]]


def dependents(ask: str) -> list[str]:
    """The asks that are about the units that this one makes, and are not derived by a rule."""
    return [
        name
        for name, one in ASKS.items()
        if ask in one.after and not kind_of(name).derived and "index" in kind_of(name).schema()
    ]


def is_about(row: Row, made: Row) -> bool:
    """Whether a row is about this claim or statement."""
    columns = [name for name in ("reference", "index") if name in made]
    same = all(row.get(name) == made[name] for name in columns)
    return same and ("author" not in row or row["author"] == made.get("judge"))
