"""How often the gate errs on rates, and what it finds: by enumeration, and simulated in clusters.

    python benchmarks/gate.py [--draws 4000] [--step 1] [--seed 1]

Everything goes through the gate's own ``standings``; a count of successes is weighed by the
binomial, whose sums are taken here. *False pass*: a requirement holds although the truth is its
bar. *False fail*: one of a family is broken although the truth of each is its bar; the family's
size times the chance of one, which bounds it however the requirements depend on each other.
*Before* is the same by Wilson's tails. *Power*: a requirement is broken, as one of a family whose
others hold, where the truth lies beyond its bar; and holds, where it lies within.

In clusters: each question has a rate of its own, beta-distributed so that its rows correlate by
ICC; the share of draws that err, of the family again its size times the chance of one.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from math import lgamma, log, log1p

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.analysis.release_gate.gate_checks import Check, State, standings
from ragstone.analysis.release_gate.gate_requirements import Bound
from ragstone.analysis.scored_run import Quantity
from ragstone.stats import Interval, wilson
from ragstone.stats.comparison.differences import holm
from ragstone.stats.rate_bounds import ExactRate, exact_rate

LEVEL = 0.05
FAMILIES = (1, 3, 5, 10, 20)
BARS = tuple(round(at / 100, 2) for at in range(1, 100))
SIZES = {
    "40 × 5": np.full(40, 5.0),
    "100 × 3": np.full(100, 3.0),
    "10 × 3": np.full(10, 3.0),
    "15×1 10×2 10×5 5×20": np.repeat([1.0, 2.0, 5.0, 20.0], [15, 10, 10, 5]),
    "60×1 4×30": np.repeat([1.0, 30.0], [60, 4]),
}

Of = Callable[[int, int], Quantity]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--step", type=int, default=1, help="of the numbers of rows, 50 to 300")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    enumerated(range(50, 301, arguments.step))
    power()
    clustered(arguments.draws, arguments.seed)


def enumerated(sizes: range) -> None:
    print(f"worst of bars .01 to .99 and {sizes[0]} to {sizes[-1]} rows, level {LEVEL}")
    print(f"{'':<34}{'before':>10}{'now':>10}")
    for error, families in (("false pass", (1,)), ("false fail", FAMILIES)):
        state: State = "holds" if error == "false pass" else "broken"
        for family in families:
            worst = [
                max(family * most for n in sizes for most in at_their_bars(of, state, n, family))
                for of in (before, now)
            ]
            name = error if state == "holds" else f"{error}, a family of {family}"
            print(f"{name:<34}{worst[0]:>10.4f}{worst[1]:>10.4f}", flush=True)


def at_their_bars(of: Of, state: State, n: int, family: int) -> Iterator[float]:
    """``chance`` for each bar where the truth is the bar; the next bar's count is never lower."""
    first = 0
    for bar in BARS:
        first = first_above(of, state, n, bar, family, near=first + n // 100)
        yield tail(state, first, n, bar)


def power() -> None:
    print(f"\n{'power':<34}{'before':>10}{'now':>10}{'fall':>10}")
    falls: dict[State, list[float]] = {"holds": [], "broken": []}
    for n in (50, 100, 200, 300):
        for bar, truths in (
            (0.99, (0.93, 0.96, 1.0)),
            (0.95, (0.85, 0.9, 0.99)),
            (0.9, (0.8, 0.85, 0.95, 0.97)),
            (0.8, (0.65, 0.7, 0.88, 0.92)),
            (0.5, (0.3, 0.4, 0.6, 0.7)),
        ):
            for truth in truths:
                state: State = "holds" if truth > bar else "broken"
                for family in (1,) if state == "holds" else FAMILIES:
                    was, is_now = (chance(at, state, n, bar, truth, family) for at in (before, now))
                    falls[state] += [was - is_now] if n >= 100 else []
                    one_of = "" if state == "holds" else f" one of {family}"
                    name = f"n {n}  >= {bar:g}  truth {truth:g}  {state}{one_of}"
                    print(f"{name:<44}{was:.3f}{is_now:>10.3f}{was - is_now:>10.3f}", flush=True)
    for state, found in falls.items():
        over = sum(fall > 0.2 for fall in found)
        print(
            f"{state}: from 100 rows on the largest fall {max(found):.3f}, mean "
            f"{np.mean(found):.3f}, above .20 in {over} of {len(found)}"
        )


def clustered(draws: int, seed: int) -> None:
    print(f"\nin clusters, {draws:,} draws: false pass, false fail of families of "
          f"{', '.join(map(str, FAMILIES))}")  # fmt: skip
    worst = 0.0
    for name, counts in SIZES.items():
        for icc in (0.05, 0.33, 0.7):
            for rate in (0.01, 0.1, 0.3, 0.7, 0.95):
                rng = np.random.default_rng(seed)
                spread = (1 - icc) / icc
                own = rng.beta(rate * spread, (1 - rate) * spread, size=(draws, len(counts)))
                sums = rng.binomial(counts.astype(int), own).astype(float)
                found = [erred(one, counts, rate) for one in sums]
                shares = np.mean(found, axis=0) * (1, *FAMILIES)
                worst = max(worst, shares.max())
                cells = "".join(f"{share:>8.3f}" for share in shares)
                print(f"{name:<20} icc {icc:<5g} rate {rate:<5g}{cells}", flush=True)
    print(f"most: {worst:.3f}")


def erred(sums: NDArray[np.float64], counts: NDArray[np.float64], bar: float) -> list[bool]:
    """Whether it holds by mistake, and whether it is broken by mistake as one of each family."""
    found = exact_rate(sums, counts)
    assert found is not None
    one = check(quantity_of(found, len(counts)), Bound(">=", bar))
    standing = standings([one], level=LEVEL, on="interval")[0]
    adjusted = [holm([standing.p, *[1.0] * (family - 1)])[0] for family in FAMILIES]
    return [standing.state == "holds", *(p is not None and p <= LEVEL for p in adjusted)]


def chance(of: Of, state: State, n: int, bar: float, truth: float, family: int) -> float:
    """That ``rate >= bar`` comes out so, of n rows whose true rate is ``truth``."""
    first = first_above(of, state, n, bar, family, near=round(n * bar))
    return tail(state, first, n, truth)


def first_above(of: Of, state: State, n: int, bar: float, family: int, *, near: int) -> int:
    """The fewest successes that hold, or that are not broken; looked for from ``near`` outwards."""

    def above(count: int) -> bool:
        if not 0 <= count <= n:
            return count > n
        return (state_of(of(count, n), Bound(">=", bar), family) == state) == (state == "holds")

    low, high, step = near - 1, near, 1
    while above(low):
        low, high, step = low - step, low, 2 * step
    while not above(high):
        low, high, step = high, high + step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return high


def tail(state: State, first: int, n: int, truth: float) -> float:
    """The chance of ``first`` successes or more, or of fewer where they are broken."""
    chances = binomial(n, truth)
    return float(chances[first:].sum() if state == "holds" else chances[:first].sum())


def state_of(quantity: Quantity, bar: Bound, family: int) -> State:
    """Of the first of a family whose others are met beyond doubt."""
    met = [check(SURE, Bound(">=", 0.0))] * (family - 1)
    return standings([check(quantity, bar), *met], level=LEVEL, on="interval")[0].state


def check(quantity: Quantity, bar: Bound) -> Check:
    return Check("", "rate", "one", bar, "+", quantity, pl.DataFrame())


def now(successes: int, n: int) -> Quantity:
    return quantity_of(ExactRate(successes / n, n), n)


def quantity_of(found: ExactRate, n: int) -> Quantity:
    return Quantity(found.rate, found.interval, n, exact=found)


@cache
def before(successes: int, n: int) -> Quantity:
    return Quantity(successes / n, lambda level: wilson(successes, n, level=level), n)


SURE = replace(now(1, 1), at=lambda level: Interval(0.5, 1.0, level, "clopper_pearson"))


@cache
def binomial(n: int, rate: float) -> NDArray[np.float64]:
    """The chance of each count of successes, shape (n + 1,)."""
    counts = np.arange(n + 1)
    if rate in (0.0, 1.0):
        return np.asarray(counts == n * rate, dtype=np.float64)
    logs = np.array([lgamma(count + 1) for count in counts])
    ways = logs[n] - logs - logs[::-1]
    return np.asarray(
        np.exp(ways + counts * log(rate) + (n - counts) * log1p(-rate)), dtype=np.float64
    )


if __name__ == "__main__":
    main()
