"""Whether ``ragstone plan paired`` keeps its promise: how often the planned questions show it.

    OMP_NUM_THREADS=1 python benchmarks/paired_plans.py [--draws 400]

A run of two systems on 200 questions and of several metrics, rates and scores, is planned by, for
the difference that one of the metrics truly has. Then as many new questions as were planned are
answered, and all metrics are tested and adjusted as ``ragstone compare`` does. The others differ by
chance alone, which is the hardest case for Holm. Beside it the plan without its family. Scores
differ on all questions, by skewed amounts, or tie on most of them.
"""

import argparse
from functools import cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ragstone.analysis.comparison.compare import RESAMPLES, RESAMPLES_A_TEST
from ragstone.stats.comparison.differences import holm, mcnemar_exact
from ragstone.stats.comparison.paired import sign_flip_test
from ragstone.stats.planning.mcnemar_power import (
    doubt_of_deviation,
    doubt_of_share,
    inflation,
    mcnemar_inflation,
    mcnemar_sample_size,
)
from ragstone.stats.planning.sample_size import paired_sample_size

Floats = NDArray[np.float64]
PILOT = 200
SCORE_DEVIATION = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    draws = parser.parse_args().draws
    print("metric  differ  by     tests  planned   found  alone: planned   found")
    for rate, differing, by in (
        (True, 0.05, 0.03), (True, 0.2, 0.05), (True, 0.3, 0.1), (True, 0.5, 0.15),
        (False, 1.0, 0.05), (False, 1.0, 0.1), (False, 0.3, 0.03), (False, 0.1, 0.03),
    ):  # fmt: skip
        for tests in (1, 6, 20, 60):
            family, alone = (
                np.mean(
                    [one(rate, differing, by, tests, seed, plan_for) for seed in range(draws)], 0
                )
                for plan_for in (tests, 1)
            )
            print(
                f"{'rate' if rate else 'score':6} {differing:6.2f} {by:6.2f} {tests:5}   "
                f"{family[0]:7.0f}  {family[1]:.3f}       {alone[0]:7.0f}  {alone[1]:.3f}",
                flush=True,
            )


def one(
    rate: bool, differing: float, by: float, tests: int, seed: int, plan_for: int
) -> tuple[int, bool]:
    """Questions planned, and whether the difference was found with them."""
    rng = np.random.default_rng(seed)
    level = 1 - 0.05 / plan_for
    first = differences(rng, rate, differing, by, PILOT)
    if rate:
        planned = pairs_of_rates(int((first != 0).sum()), by, level)
    else:
        sure = paired_sample_size(by, float(first.std(ddof=1)), level=level)
        planned = ceil(sure * doubt_of_pilot(level))
    resamples = max(RESAMPLES, RESAMPLES_A_TEST * tests)
    ps = [p_of(differences(rng, rate, differing, by, planned), rate, resamples)]
    ps += list(rng.random(tests - 1))
    adjusted = holm(ps)[0]
    return planned, adjusted is not None and adjusted <= 0.05


@cache
def pairs_of_rates(differing: int, by: float, level: float) -> int:
    """Planned from a pilot in which so many questions differ."""
    share = max(by, differing / PILOT)
    doubt = doubt_of_share(max(1, differing), PILOT, least=by)
    sure = mcnemar_sample_size(by, share, level=level)
    return ceil(sure * mcnemar_inflation(by, share, doubt, level=level))


@cache
def doubt_of_pilot(level: float) -> float:
    return inflation(doubt_of_deviation(PILOT), level=level)


def differences(
    rng: np.random.Generator, rate: bool, differing: float, by: float, n: int
) -> Floats:
    """a - b of new questions."""
    if rate:
        chances = [(differing + by) / 2, (differing - by) / 2, 1 - differing]
        drawn: Floats = rng.choice(np.array([1.0, -1.0, 0.0]), size=n, p=chances)
        return drawn
    skewed = rng.gamma(2.0, size=n) - 2.0
    scores: Floats = by / differing + SCORE_DEVIATION * skewed / np.sqrt(2.0)
    return np.asarray(np.where(rng.random(n) < differing, scores, 0.0))


def p_of(found: Floats, rate: bool, resamples: int) -> float:
    if rate:
        return mcnemar_exact(int((found > 0).sum()), int((found < 0).sum()))
    return sign_flip_test(found, seed=0, resamples=resamples).p


if __name__ == "__main__":
    main()
