"""Changes: on which questions a system does better or worse than another, the worst first."""

from typing import Literal

import numpy as np
import polars as pl

from ragstone.core.errors import InputError, UnknownName
from ragstone.decisions.scored import Scored
from ragstone.run import Run

from .paired_scores import differences
from .side_values import values_of
from .sides import Match, Side, Values, matches_between, matches_within

Outcome = Literal["worse", "same", "better", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("worse", "same", "better", "failed")


def question_changes(
    run: Run, other: Run | None = None, *, a: str, b: str, metric: str
) -> pl.DataFrame:
    """A row for each question that both systems answered, those where a is worst against b first.

    ``question_id``; ``a`` and ``b``, what each scored, null if nothing; ``a_is`` and ``b_is``:
    value, undefined or missing, with ``a_why`` and ``b_why``; ``change``, a - b; and ``outcome``:
    better, worse, same, or failed where one of them has no value. They are the pairs that
    ``compare`` counts as wins, ties and losses, so of a metric without a better end, better is
    higher.

    Args:
        run: That of system a, and of b unless there is another run.
        other: That of system b.
        a: As a comparison of these runs calls it.
        b: Likewise.
        metric: Its text form.

    Raises:
        InputError: There is nothing to pair, or the metric has no score a question.
        UnknownName: No such systems are compared, or there is no such metric.
    """
    match = _match(run, other, a, b)
    notes: list[str] = []
    found = next(values_of([match], metric, notes), None)
    if found is None:
        raise InputError(f"{metric} has no score a question.", notes=notes)
    one, rest = found[1]
    valued = pl.Series(one.valued & rest.valued)
    change = pl.Series(differences(one.value, rest.value)).set(~valued, None)
    ahead = -change if match[0].scored.scale(metric).better == "-" else change
    outcome = [
        "failed" if way is None else OUTCOMES[1 + int(way)] for way in ahead.sign().to_list()
    ]
    return (
        pl.DataFrame({
            "question_id": match[0].questions.ids,
            **_said("a", match[0], one, metric),
            **_said("b", match[1], rest, metric),
            "change": change,
            "outcome": outcome,
            "ahead": ahead,
        })
        .filter(pl.Series(match[0].there & match[1].there))
        .sort("ahead", nulls_last=True, maintain_order=True)
        .drop("ahead")
    )  # fmt: skip


def _said(name: str, side: Side, values: Values, metric: str) -> dict[str, pl.Series]:
    """What a side scored on each question, whether it did, and why not.

    Of several answers to a question a missing one says why, otherwise the first without a value.
    """
    valued, missing = pl.Series(values.valued), pl.Series(values.missing)
    status = pl.Series(np.where(missing, "missing", np.where(valued, "value", "undefined")))
    rows = side.scored.of(metric)[side.rows].with_columns(place=side.places)
    owed = pl.col("status").fill_null("missing") == "missing"
    said = rows.sort(~owed, pl.col("reason").is_null(), maintain_order=True)
    reasons = dict(said.unique("place", keep="first").select("place", "reason").iter_rows())
    why = pl.Series(map(reasons.get, range(len(valued))), dtype=pl.String).set(valued, None)
    value = pl.Series(values.value).set(~valued, None)
    return {name: value, f"{name}_is": status, f"{name}_why": why}


def _match(run: Run, other: Run | None, a: str, b: str) -> Match:
    if other is None:
        matches = matches_within(Scored(run), b)
    else:
        matches, _ = matches_between(Scored(run), Scored(other, cluster="question_id"))
    for match in matches:
        if (match[0].name, match[1].name) == (a, b):
            return match
    raise UnknownName("system to compare", a, [_pair(*match) for match in matches])


def _pair(a: Side, b: Side) -> str:
    return f"{a.name} with {b.name}"
