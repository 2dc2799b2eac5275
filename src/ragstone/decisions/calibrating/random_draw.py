"""Random draw: tests whether the labelled rows could be a random sample of the judged rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ragstone.core.messages import reason
from ragstone.stats.correction.anytime import fair_draw_p

LABELLED = "labelled"
"""Whether people were asked about an example, though they may have left it open."""

BELOW = 0.001
BINS = 5
"""Scores of more distinct values are told apart by fifths."""

MOST_LEVELS = 50
"""A field of more values names rows rather than kinds of rows."""

NOT_RANDOM = "not_random"
MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class NotRandom:
    """Differences of labelled and other rows that a random sample would hardly have.

    ``differences`` are reasons; ``p`` is the least of theirs, adjusted.
    """

    metric: str
    group: Mapping[str, str]
    differences: tuple[str, ...]
    p: float

    @property
    def reason(self) -> str:
        """All of it in one."""
        of = " of ".join(filter(None, [self.metric, ", ".join(self.group.values())]))
        return reason("unlike", of=of, differences="\n".join(self.differences), below=f"{BELOW:g}")

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "metric": self.metric,
            "group": dict(self.group),
            "differences": list(self.differences),
            "p": self.p,
        }


def not_random(
    metric: str, group: Mapping[str, str], scores: pl.DataFrame, *, groups: int
) -> NotRandom | None:
    """Evidence that a group's labelled rows are not a random sample; None if there is none.

    The judge's verdicts, systems and fields of labelled rows are held against all rows, each by
    ``fair_draw_p``; p is adjusted by Bonferroni over these and over the groups.

    Args:
        metric: Whose scores these are.
        group: Field to value; none for all rows.
        scores: The group's rows that the judge gave a value: ``value``, ``labelled``,
            ``cluster``, ``system``, and ``by FIELD`` and ``slice FIELD`` of each field.
        groups: Number of groups that are tested.
    """
    fields = [name for name in scores.columns if _is_field(name) and _is_kind(scores[name])]
    tests = (len(fields) + 1) * groups
    chosen, clusters = scores[LABELLED].to_numpy(), scores["cluster"].rank("dense").to_numpy()
    found: list[tuple[float, str]] = []
    for name in ["value", *fields]:
        levels = _fifths(scores["value"]) if name == "value" else scores[name]
        p = tests * fair_draw_p(
            levels.rank("dense").to_numpy() - 1, chosen, clusters=clusters, below=BELOW / tests
        )
        if p < BELOW:
            found.append((p, _difference(scores, name)))
    if not found:
        return None
    found.sort(key=lambda one: one[0])
    return NotRandom(metric, group, tuple(why for _, why in found[:MOST_SHOWN]), found[0][0])


def _is_field(name: str) -> bool:
    return name == "system" or name.startswith(("by ", "slice "))


def _is_kind(values: pl.Series) -> bool:
    return 1 < values.n_unique() <= MOST_LEVELS


def _fifths(values: pl.Series) -> pl.Series:
    """The values themselves if there are few, otherwise bins of about equal size."""
    if values.n_unique() <= BINS:
        return values
    quantiles = [values.quantile(part / BINS, "lower") for part in range(1, BINS)]
    edges = sorted({edge for edge in quantiles if edge is not None})
    return pl.Series(np.searchsorted(edges, values.to_numpy()))


def _difference(scores: pl.DataFrame, name: str) -> str:
    """How labelled and other rows differ in a field, as a reason."""
    labelled, rest = scores.filter(LABELLED), scores.filter(~pl.col(LABELLED))
    if name == "value":
        mean, other = (_mean(part["value"]) for part in (labelled, rest))
        return reason("judges_mean_differs", labelled=f"{mean:.3g}", others=f"{other:.3g}")
    field = None if name == "system" else name.partition(" ")[2]
    there = set(labelled[name].drop_nulls())
    levels = scores[name].drop_nulls().unique(maintain_order=True)
    if len(there) <= MOST_SHOWN and len(there) < len(levels):
        some = "\n".join(level for level in levels if level in there)
        return reason("only_some_labelled", field=field, values=some)
    share = {level: (_share(labelled, name, level), _share(rest, name, level)) for level in levels}
    most = max(levels, key=lambda level: abs(share[level][0] - share[level][1]))
    here, elsewhere = (f"{100 * part:.0f}" for part in share[most])
    return reason("share_differs", field=field, value=most, labelled=here, others=elsewhere)


def _mean(values: pl.Series) -> float:
    return float(values.to_numpy().mean())


def _share(rows: pl.DataFrame, name: str, level: str) -> float:
    return float((rows[name] == level).fill_null(value=False).to_numpy().mean())
