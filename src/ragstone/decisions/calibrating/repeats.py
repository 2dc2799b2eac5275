"""Repeats: how often a judge gives another verdict when asked again."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.judgements import KINDS, Preference
from ragstone.run import Run
from ragstone.stats import ends_of, mean_interval

from .identity import changes, identity
from .units import KEYS, judged_units

SAME = 1e-9


@dataclass(frozen=True, slots=True)
class FlipRate:
    """The share of verdicts that differ between two runs.

    ``what`` is a kind and column, or a metric; ``low`` and ``high`` are the ends of its interval;
    ``n`` counts the units both runs judged.
    """

    what: str
    value: float | None
    low: float | None
    high: float | None
    n: int


def flip_rates(run: Run, again: Run, *, level: float = 0.95) -> list[FlipRate]:
    """How often the second run's verdicts on the same units differ.

    That nothing else differs between the runs is for the caller to check:
    ``same_data``, ``same_judge``.

    Verdicts on claims and statements are left out if the judge made these itself. Intervals
    treat the units of an example as a cluster.

    Raises:
        InputError: No unit was judged in both.
    """
    first, second = (
        _words(one).select(*KEYS, "value", "number").rename({"value": name, "number": f"n {name}"})
        for one, name in ((run, "before"), (again, "after"))
    )
    both = first.join(second, on=KEYS, how="inner", nulls_equal=True)
    if both.is_empty():
        raise InputError(
            f"{run.path} and {again.path} have no judgement of the same example in common."
        )
    changed = (
        pl.when(pl.col("n before").is_not_null() & pl.col("n after").is_not_null())
        .then((pl.col("n before") - pl.col("n after")).abs() > SAME)
        .otherwise(pl.col("before") != pl.col("after"))
    )
    flagged = both.with_columns(changed=changed.cast(pl.Float64))
    found = []
    for (kind, column), rows in flagged.group_by("kind", "column", maintain_order=True):
        clusters = rows.group_by("example_id").agg(pl.col("changed").sum(), pl.len())
        found.append(_rate(f"{kind}.{column}", clusters, level))
    return found


def same_data(run: Run, again: Run) -> None:
    """Check that two runs are of the same data.

    Raises:
        InputError: The data differ.
    """
    if run.form.settings.data != again.form.settings.data:
        raise InputError(
            f"{again.path} has different data from {run.path}. To see how often a judge changes "
            "its "
            "word, evaluate the same file again with the same judge and "
            f"{argument('cached', False)}."
        )


def same_judge(run: Run, again: Run) -> None:
    """Check that two runs have the same judge.

    Raises:
        InputError: A model, a prompt or the plan differs.
    """
    changed = changes(identity(run), identity(again))
    if changed:
        listed = "".join(f"\n  {line}" for line in changed)
        raise InputError(f"{again.path} was judged differently from {run.path}.{listed}")


def order_sensitivity(run: Run, *, level: float = 0.95) -> FlipRate | None:
    """The share of pairs of answers, judged in both orders, whose verdict depended on the order.

    None if no pair was judged.
    """
    rows = run.judgements(Preference.name).filter(pl.col("verdict").is_not_null())
    pairs = rows.group_by("example_id", "judge", "rival").agg(
        pl.col("order").n_unique().alias("orders"), pl.col("verdict").n_unique().alias("verdicts")
    )
    both = pairs.filter(pl.col("orders") == 2)
    if both.is_empty():
        return None
    changed = both.with_columns(changed=(pl.col("verdicts") > 1).cast(pl.Float64))
    clusters = changed.group_by("example_id").agg(pl.col("changed").sum(), pl.len())
    return _rate("preference.order", clusters, level)


def _words(run: Run) -> pl.DataFrame:
    """Without verdicts on claims, which a judge makes anew each time, so they do not match."""
    about_claims = [name for name, kind in KINDS.items() if kind.about == "proposition"]
    return judged_units(run).filter(~pl.col("kind").is_in(about_claims))


def _rate(what: str, clusters: pl.DataFrame, level: float) -> FlipRate:
    sums, counts = clusters["changed"].to_numpy(), clusters["len"].cast(pl.Float64).to_numpy()
    found = mean_interval(sums, counts, rate=True, low=0, high=1, level=level)
    ends = ends_of(found.interval)
    return FlipRate(what, found.value, **ends, n=int(np.sum(counts)))
