"""How often intervals hold where labels are looked at after every ten, up to 500.

    OMP_NUM_THREADS=1 python benchmarks/looking_again.py [--runs 1000]

Rates and means of random draws by ``anytime_mean``, as ``ragstone calibrate --anytime`` has them,
beside Wilson's interval, which is for one look.
"""

import argparse
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

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


if __name__ == "__main__":
    main()
