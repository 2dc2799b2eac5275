"""How often corrected rates hold the truth, and how wide they are beside labels alone.

    python benchmarks/correction.py [--draws 1000]

Draws 2,000 judged rows of a known rate, some of them labelled, and counts how many 95 % intervals
of ``poststratify`` hold the rate, and of what ``favoured`` chooses by design; widths are beside
Wilson's from the labels alone, and beside square-and-add, the other way of joining the verdicts.
Then the same with five answers to each of 400 questions, 40 of them labelled whole, whose answers
correlate by .33.
"""

from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from measure import run
from numpy.random import Generator
from numpy.typing import NDArray

from ragstone.stats import t_quantile
from ragstone.stats.cluster_means import HALF_CLUSTER
from ragstone.stats.correction.corrected import EXPECTED
from ragstone.stats.correction.poststratified import (
    design_effect,
    row_share_variance,
    stratified_wilson_ends,
    stratum_rates,
)
from ragstone.stats.correction.ppi_and_rogan_gladen import HALF_ERROR

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Ends = tuple[Floats, Floats]

JUDGED = 2000
Z = NormalDist().inv_cdf(0.975)
RATES = (0.02, 0.05, 0.3, 0.7, 0.97)
QUESTIONS, LABELLED_QUESTIONS, ANSWERS, ICC = 400, 40, 5, 0.33


class Measured(NamedTuple):
    """Share of draws that hold the truth, and the mean width beside Wilson's from labels alone."""

    coverage: float
    width: float

    def __str__(self) -> str:
        return f"{self.coverage:.3f} / {self.width:.2f}"


def main(draws: int = 1000) -> None:
    rng = np.random.default_rng(1)
    accuracies, sizes = np.arange(0.80, 0.985, 0.01), range(50, 301, 25)
    print(f"Independent rows, {JUDGED} judged, n = 50 to 300, {draws} draws each:")
    print(
        f"{'rate':>5} {'accuracy':>9} {'least, mean coverage':>21} {'greatest, mean width':>22}"
        f"{'by design:':>12}{'the same':>14}{'':>12}"
    )
    for rate in RATES:
        for block in np.split(accuracies, [5, 10, 15]):
            pairs = [independent(rate, a, n, draws, rng) for a in block for n in sizes]
            span = f"{block[0]:.2f}–{block[-1]:.2f}"
            cells = [
                f"{min(coverage):>12.3f}, {np.mean(coverage):.3f}"
                f" {max(width):>14.2f}, {np.mean(width):.2f}"
                for coverage, width in (zip(*way, strict=True) for way in zip(*pairs, strict=True))
            ]
            print(f"{rate:>5} {span:>9} {' '.join(cells)}", flush=True)
    print("\nScore interval and square-and-add, coverage / width:")
    for rate, accuracy in product(RATES, (0.8, 0.9, 0.98)):
        cells = []
        for n in (50, 100, 300):
            score, joined = beside_square_and_add(rate, accuracy, n, 4 * draws, rng)
            cells.append(f"n {n}: {score}, {joined}")
        print(f"{rate:>5} {accuracy:>9} {'   '.join(cells)}", flush=True)
    print("\nFive answers to each of 40 labelled questions; rows taken as independent beside it:")
    for rate, accuracy in product(RATES, (0.8, 0.9, 0.98)):
        shared, alone = clustered(rate, accuracy, draws, rng)
        print(f"{rate:>5} {accuracy:>9} {shared}   {alone}", flush=True)


Pair = tuple[Measured, Measured]


class Draws(NamedTuple):
    """Many draws of one setting: strata of shape (B, 2), and what labels alone say, shape (B,)."""

    shares: Floats
    rates: Floats
    sizes: Floats
    alone: Floats


def draw(rate: float, accuracy: float, n: int, draws: int, rng: Generator) -> Draws:
    """Independent rows: how many of the labelled and of all are called positive, and are."""
    (found, missed, false), (more, _, more_false) = (
        verdicts(rows, rate, accuracy, draws, rng) for rows in (n, JUDGED - n)
    )
    called = (found + false).astype(np.float64)
    mass = np.stack([n - called, called], axis=-1)
    positives = np.stack([missed, found], axis=-1).astype(np.float64)
    all_called = (called + more + more_false) / JUDGED
    shares = np.stack([1 - all_called, all_called], axis=-1)
    return Draws(shares, stratum_rates(positives, mass), mass, (found + missed) / n)


def verdicts(
    rows: int | Ints, rate: float | Floats, accuracy: float, draws: int | None, rng: Generator
) -> tuple[Ints, Ints, Ints]:
    """Positives that are called so, positives that are not, negatives that are."""
    true = rng.binomial(rows, rate, draws)
    found = rng.binomial(true, accuracy)
    return found, true - found, rng.binomial(rows - true, 1 - accuracy)


def independent(rate: float, accuracy: float, n: int, draws: int, rng: Generator) -> Pair:
    """Post-stratified, and what the design favours."""
    drawn = draw(rate, accuracy, n, draws, rng)
    ends, alone = score_ends(drawn), wilson_of(drawn.alone, n, Z)
    # PPI++ where five of either verdict are to be expected, as ``favoured`` has it.
    low, high = np.where(n * drawn.shares.min(axis=-1) >= EXPECTED, ppi_ends(drawn, n), ends)
    return measured(ends, alone, rate), measured((low, high), alone, rate)


def ppi_ends(drawn: Draws, n: int) -> Ends:
    """``prediction_powered`` of rates and independent rows, for many draws at once."""
    rest = JUDGED - n
    people, seen = drawn.alone, drawn.sizes[:, 1] / n
    everyone = drawn.shares[:, 1]
    others = (everyone * JUDGED - seen * n) / rest
    together = drawn.rates[:, 1] * seen - people * seen
    varies = everyone * (1 - everyone) * JUDGED / (JUDGED - 1)
    gain = np.clip(
        np.divide(together, varies, out=np.zeros_like(varies), where=varies > 0), 0, JUDGED / rest
    )
    power, alone = gain * rest / JUDGED, people * (1 - people) / (n - 1)
    inside = alone + (power**2 * seen * (1 - seen) - 2 * power * together) / (n - 1)
    outside = gain**2 * rest**2 * others * (1 - others) / (rest - 1) / JUDGED**2
    unseen = HALF_ERROR / n**2
    spread = n * people * (1 - people)
    rows = n * (spread + HALF_CLUSTER) / (spread * n / (n - 1) + HALF_CLUSTER)
    size = rows * np.where(alone > 0, (alone + unseen) / (inside + outside + unseen), 1)
    value = np.clip(people + gain * (everyone - seen), 0, 1)
    return wilson_of(value, size, t_quantile(0.975, n - 1))


def beside_square_and_add(rate: float, accuracy: float, n: int, draws: int, rng: Generator) -> Pair:
    drawn = draw(rate, accuracy, n, draws, rng)
    alone = wilson_of(drawn.alone, n, Z)
    score = measured(score_ends(drawn), alone, rate)
    return score, measured(square_and_add(drawn), alone, rate)


def score_ends(drawn: Draws) -> Ends:
    spread = row_share_variance(drawn.shares, drawn.rates, JUDGED)
    return stratified_wilson_ends(drawn.shares, drawn.rates, drawn.sizes, Z, spread)


def square_and_add(drawn: Draws) -> Ends:
    """Wilson's interval of each verdict; the distances to its ends are added in squares."""
    low, high = wilson_of(drawn.rates, drawn.sizes, Z)
    value = (drawn.shares * drawn.rates).sum(axis=-1)
    chance = Z * Z * row_share_variance(drawn.shares, drawn.rates, JUDGED)

    def reach(gap: Floats) -> Floats:
        return np.asarray(np.sqrt(((drawn.shares * gap) ** 2).sum(axis=-1) + chance))

    below, above = reach(drawn.rates - low), reach(high - drawn.rates)
    return np.maximum(0, value - below), np.minimum(1, value + above)


def clustered(rate: float, accuracy: float, draws: int, rng: Generator) -> Pair:
    """Whole questions are labelled: with clusters, and as if rows were independent."""
    spread = (1 - ICC) / ICC
    own = rng.beta(rate * spread, (1 - rate) * spread, (draws, QUESTIONS))
    found, missed, false = verdicts(np.full(own.shape, ANSWERS), own, accuracy, None, rng)
    called = found + false
    judged = np.stack([ANSWERS - called, called], axis=-1).astype(np.float64)
    positives = np.stack([missed, found], axis=-1).astype(np.float64)
    n, first = LABELLED_QUESTIONS * ANSWERS, slice(LABELLED_QUESTIONS)
    shares, mass = judged.sum(axis=1) / (QUESTIONS * ANSWERS), judged[:, first].sum(axis=1)
    rates = stratum_rates(positives[:, first].sum(axis=1), mass)
    pull = np.divide(shares, mass, out=np.zeros_like(shares), where=mass > 0)
    gaps = positives[:, first] - rates[:, None] * judged[:, first]
    residuals = (gaps * pull[:, None]).sum(axis=-1)
    effect = design_effect(shares, rates, mass, residuals)
    value = (shares * rates).sum(axis=-1)
    moved = (judged * (rates - value[:, None])[:, None]).sum(axis=-1) / (QUESTIONS * ANSWERS)
    own_spread = (moved**2).sum(axis=-1) * QUESTIONS / (QUESTIONS - 1)
    joint = 2 * (moved[:, first] * residuals).sum(axis=-1)
    t = t_quantile(0.975, LABELLED_QUESTIONS - 1)
    ends = stratified_wilson_ends(
        shares, rates, mass / effect[:, None], t, np.maximum(0, own_spread + joint)
    )
    naive = stratified_wilson_ends(
        shares, rates, mass, Z, row_share_variance(shares, rates, JUDGED)
    )
    sums = positives[:, first].sum(axis=-1)
    alone = sums.sum(axis=-1) / n
    residuals = (sums - ANSWERS * alone[:, None]) / n
    alone_effect = design_effect(
        np.ones((draws, 1)), alone[:, None], np.full((draws, 1), float(n)), residuals
    )
    labels = wilson_of(alone, n / alone_effect, t)
    return measured(ends, labels, rate), measured(naive, labels, rate)


def wilson_of(rates: Floats, sizes: float | Floats, quantile: float) -> Ends:
    rows = np.broadcast_to(np.asarray(sizes, dtype=np.float64), rates.shape)
    return stratified_wilson_ends(
        np.ones((*rates.shape, 1)), rates[..., None], rows[..., None], quantile
    )


def measured(ends: Ends, labels: Ends, truth: float) -> Measured:
    low, high = ends
    coverage = float(((low <= truth) & (truth <= high)).mean())
    return Measured(coverage, float((high - low).mean() / (labels[1] - labels[0]).mean()))


if __name__ == "__main__":
    run(main)
