"""Standing: whether a requirement holds, is broken or open, and the effect of missing scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ragstone.decisions.quantity import End, Quantity
from ragstone.stats import Interval
from ragstone.stats.comparison.differences import holm
from ragstone.stats.distributions import LEAST_P, Side, one_sided_p

from .checks import Check
from .requirement import Bound

State = Literal["holds", "broken", "open"]
On = Literal["interval", "point"]

ENDS: tuple[End, ...] = ("low", "high")


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a requirement, with the interval that decided it and p for the opposite."""

    state: State
    interval: Interval | None
    p: float | None
    p_adjusted: float | None


def standings(checks: Sequence[Check], *, level: float, on: On) -> list[Standing]:
    """Decide all requirements together, because their p-values are adjusted as one family.

    Args:
        checks: The requirements.
        level: One-sided, in (0, .5).
        on: What decides.
    """
    quantities = [one.quantity for one in checks]
    ps = [_p(check, one, on) for check, one in zip(checks, quantities, strict=True)]
    return _standings(checks, quantities, ps, level, on)


def turned_by_missing(
    checks: Sequence[Check], before: Sequence[Standing], *, level: float, on: On
) -> list[str]:
    """How missing scores could change the state of each requirement; empty if they cannot.

    As ``low:open``, the end of the range and the state there, or ``no_end``.

    All its missing scores, and those of the other requirements, at the low end of their range,
    then all at the high end.
    """
    turned = ["" for _ in checks]
    owing = [place for place, one in enumerate(checks) if one.quantity.n_missing]
    for end in ENDS if owing else ():
        quantities = [one.quantity for one in checks]
        ps = [one.p for one in before]
        for place in owing:
            fill = checks[place].quantity.filled
            filled = None if fill is None else fill(end)
            if filled is None:
                turned[place] = "no_end"
            else:
                quantities[place] = filled
                ps[place] = _p(checks[place], filled, on)
        after = _standings(checks, quantities, ps, level, on)
        for place in owing:
            if not turned[place] and after[place].state != before[place].state:
                turned[place] = f"{end}:{after[place].state}"
    return turned


def p_beyond(quantity: Quantity, bar: Bound, side: Side) -> float | None:
    """One-sided p-value for the true value lying on one side of the bar; None without an interval.

    From the exact binomial for a rate, otherwise from inverted intervals.
    """
    if quantity.value is None:
        return None
    if quantity.exact is not None:
        return quantity.exact.p(bar.at, beyond=side)
    least = max(LEAST_P, quantity.least_p)
    return one_sided_p(quantity.at, quantity.value, bar.at, beyond=side, least=least)


def _p(check: Check, quantity: Quantity, on: On) -> float | None:
    return (
        None if on == "point" or check.same else p_beyond(quantity, check.bar, check.bar.other_side)
    )


def _standings(
    checks: Sequence[Check],
    quantities: Sequence[Quantity],
    ps: Sequence[float | None],
    level: float,
    on: On,
) -> list[Standing]:
    return [
        Standing("holds", None, None, None)
        if check.same
        else _standing(check.bar, quantity, p, adjusted, level, on)
        for check, quantity, p, adjusted in zip(checks, quantities, ps, holm(ps), strict=True)
    ]


def _standing(
    bar: Bound, quantity: Quantity, p: float | None, adjusted: float | None, level: float, on: On
) -> Standing:
    if quantity.value is None:
        return Standing("open", None, None, None)
    interval = quantity.at(1 - 2 * level)
    state: State = "open"
    if on == "point":
        state = "holds" if bar.met(quantity.value) else "broken"
    elif interval is not None and bar.cleared(interval):
        state = "holds"
    elif adjusted is not None and adjusted <= level:
        state = "broken"
    return Standing(state, interval, p, adjusted)
