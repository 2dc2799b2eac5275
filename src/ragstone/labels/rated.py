"""Rated: people's ratings on another scale, such as 1 to 5, converted to values of a metric.

    value = low + (rating - first) / (last - first) · (high - low)

``first`` and ``last`` are the ends of the rating scale, ``low`` and ``high`` those of the metric.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.data.json_text import shown
from ragstone.metrics import Metric

from .names import Name, NoLabel, fits, metric_named
from .words import LabelValue, number_in_words, number_of

Ends = tuple[float, float]
"""The ratings that stand for the lowest and for the highest value of a metric."""

USUAL: Mapping[Ends, float] = {(1, 4): 4, (1, 5): 5, (0, 100): 11}
"""The scales that are recognised; the largest rating must reach this, or the scale is shorter."""


@dataclass(frozen=True, slots=True)
class RatingScale:
    """A scale from ``first``, which stands for the metric's lowest value, to ``last``."""

    metric: Metric
    first: float
    last: float
    guessed: bool = False

    def said(self, cell: object) -> LabelValue:
        """The metric value that a rating stands for.

        Raises:
            NoLabel: The rating is not a number on the scale.
        """
        number = number_of(cell)
        least, most = sorted((self.first, self.last))
        if number is None or not least <= number <= most:
            raise NoLabel(f"a rating from {least:g} to {most:g}", shown(cell))
        low, high = self.metric.range.low, self.metric.range.high
        value = low + (number - self.first) / (self.last - self.first) * (high - low)
        return LabelValue(number_in_words(value), value)

    @property
    def note(self) -> str:
        """A note about the conversion, as a reason."""
        ends = {"first": self.first, "last": self.last}
        ends |= {"low": self.metric.range.low, "high": self.metric.range.high}
        written = {name: f"{end:g}" for name, end in ends.items()}
        return reason("ratings", **written, guessed=self.metric if self.guessed else None)


def rating_scales(
    cells: Mapping[str, Sequence[object]], named: Mapping[str, Ends]
) -> dict[str, RatingScale]:
    """The scale of each column that holds ratings of a metric; most columns hold none.

    Either the user named the scale, or the column has the name of a metric, most of its cells
    cannot be values of that metric, and they fit one usual scale.

    Args:
        cells: The cells of each column, by its name.
        named: Maps a metric to the ends of its scale.

    Raises:
        InputError: A scale of length 0, or for something that cannot be scaled; lists every fault.
    """
    faults: list[str] = []
    meant: dict[str, RatingScale] = {}
    for name, ends in named.items():
        metric = metric_named(name)
        if metric is None or (why := _unscaled(metric)) is not None:
            known = "is no metric" if metric is None else why
            faults.append(f"{name} {known}, so ratings cannot be brought to its values.")
        elif not all(map(isfinite, ends)) or ends[0] == ends[1]:
            faults.append(f"The scale of {name} has two ends, such as 1:5, got {ends}.")
        else:
            meant[str(metric)] = RatingScale(metric, *ends)
    found: dict[str, RatingScale] = {}
    for column, given in cells.items():
        metric = metric_named(column.removeprefix("metric."))
        if metric is not None:
            scale = meant.pop(str(metric), None) or _guessed(metric, given)
            found |= {} if scale is None else {column: scale}
    there = ", ".join(cells)
    faults += [
        f"No column is of {name}, whose scale is named; there are {there}." for name in meant
    ]
    if faults:
        raise InputError("\n".join(faults))
    return found


def _guessed(metric: Metric, cells: Sequence[object]) -> RatingScale | None:
    if _unscaled(metric) is not None:
        return None
    name = Name("metric", str(metric))
    numbers = [number for cell in cells if (number := number_of(cell)) is not None]
    if len(numbers) < len(cells) or 2 * sum(fits(name, cell) for cell in cells) > len(cells):
        return None
    least, most = min(numbers), max(numbers)
    for (first, last), telling in USUAL.items():
        if first <= least and telling <= most <= last:
            return RatingScale(metric, first, last, guessed=True)
    return None


def _unscaled(metric: Metric) -> str | None:
    """Why ratings cannot be converted to values of a metric; None if they can."""
    if metric.range.rate:
        return "is yes or no"
    if not (isfinite(metric.range.low) and isfinite(metric.range.high)):
        return "has no ends"
    return None
