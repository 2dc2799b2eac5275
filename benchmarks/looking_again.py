"""How often intervals hold where labels are looked at after every ten, up to 500.

    OMP_NUM_THREADS=1 python benchmarks/looking_again.py [--runs 1000]

Rates and means of random draws by ``anytime_mean``, as ``ragstone calibrate --anytime`` has them,
beside Wilson's interval, which is for one look. Then coefficients of agreement by
``agreement_sequence``, of two people who see a yes that is more or less frequent with the same
chance, looked at twelve times from 50 items to 1,000.
"""

import argparse
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ragstone.stats.agreement.cohen import mean_kappa
from ragstone.stats.agreement.gwet import ac1
from ragstone.stats.agreement.krippendorff import alpha
from ragstone.stats.agreement.ratings import Coefficient, observed_agreement, read_ratings
from ragstone.stats.agreement.sequence import agreement_sequence
from ragstone.stats.correcting.anytime import anytime_mean
from ragstone.stats.wilson import wilson

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Floats]
LABELS, STEP = 500, 10


def rate(of: float) -> Draw:
    return lambda rng: (rng.random(LABELS) < of).astype(np.float64)


WORLDS: Mapping[str, tuple[Draw, float]] = {
    **{f"rate {of}": (rate(of), of) for of in (0.01, 0.05, 0.3, 0.5, 0.8, 0.97)},
    "mean, Beta(2, 1)": (lambda rng: rng.beta(2, 1, LABELS), 2 / 3),
    "mean, Beta(.3, .3)": (lambda rng: rng.beta(0.3, 0.3, LABELS), 0.5),
    "mean, 0, .5 or 1": (lambda rng: rng.choice([0, 0.5, 1], LABELS, p=[0.1, 0.2, 0.7]), 0.8),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    print("world                held at all looks  width at 500   Wilson held at all looks")
    for name, (draw, truth) in WORLDS.items():
        held, widths, once = [], [], []
        for seed in range(runs):
            labels = draw(np.random.default_rng(seed))
            # A mean that was ruled out at any look is ruled out at the last.
            found = anytime_mean(labels, low=0, high=1).at(0.95).interval
            assert found is not None
            held.append(found.low <= truth <= found.high)
            widths.append(found.high - found.low)
            looks = (wilson(labels[:n].sum(), n) for n in range(STEP, LABELS + 1, STEP))
            once.append(all(one is not None and one.low <= truth <= one.high for one in looks))
        print(
            f"{name:20} {np.mean(held):14.3f} {np.mean(widths):15.3f} {np.mean(once):18.3f}",
            flush=True,
        )
    print("\nyes, right               held at all looks: percent, κ, α, AC1")
    for yes, right in product((0.5, 0.2, 0.05), (0.98, 0.9, 0.8, 0.65)):
        held_by = [all_looks(seed, yes, right) for seed in range(runs)]
        shares = "".join(f"{share:9.3f}" for share in np.mean(held_by, axis=0))
        print(f"{yes:4} {right:5}               {shares}", flush=True)


LOOKS = (50, 60, 75, 100, 130, 170, 220, 300, 400, 550, 750, 1000)
COEFFICIENTS: tuple[Coefficient, ...] = (observed_agreement, mean_kappa, alpha("nominal"), ac1)


def all_looks(seed: int, yes: float, right: float) -> list[bool]:
    """Whether the intervals of each coefficient hold at every look at which there is one."""
    rng = np.random.default_rng(seed)
    truth = rng.random(LOOKS[-1]) < yes
    people = [np.where(rng.random(LOOKS[-1]) < right, truth, ~truth) for _ in range(2)]
    looks = [read_ratings([one[:n].tolist() for one in people]) for n in LOOKS]
    held = []
    for coefficient, true in zip(COEFFICIENTS, true_agreement(yes, right), strict=True):
        found = [agreement_sequence(one, coefficient) for one in looks]
        held.append(all(one is None or one.low <= true <= one.high for one in found))
    return held


def true_agreement(yes: float, right: float) -> tuple[float, float, float, float]:
    """The share of items on which both say the same; κ and α, the same here; AC1."""
    observed = right**2 + (1 - right) ** 2
    said = yes * right + (1 - yes) * (1 - right)
    by_chance = said**2 + (1 - said) ** 2
    kappa = (observed - by_chance) / (1 - by_chance)
    by_ac1 = 2 * said * (1 - said)
    return observed, kappa, kappa, (observed - by_ac1) / (1 - by_ac1)


if __name__ == "__main__":
    main()
