"""How often intervals hold where labels are looked at eleven times, from 10 to 500.

    OMP_NUM_THREADS=1 python benchmarks/looking_again.py [--runs 1000]

Rates and means of random draws by ``anytime_mean``, as ``ragstone calibrate --anytime`` has them,
beside Wilson's interval, which is for one look. Then what is shown of a queue while people label,
looked at twelve times from 50 items to 1,000: means by ``mean_sequence``, of rates and of scores,
of several answers to a question, and of examples that are labelled the earlier the more a judge is
in doubt; and coefficients of agreement by ``agreement_sequence``, of people who see a yes that is
more or less frequent with the same chance, alone or with four answers to a question that are as
hard as each other. Beside each, how often the interval for one look holds at all of them.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ragstone.annotation.queue.assignment import phase_probabilities, random_places, route_weight
from ragstone.stats.agreement.alpha_and_ac1 import ac1, agreement_sequence, alpha
from ragstone.stats.agreement.coefficients import mean_kappa
from ragstone.stats.agreement.ratings import Coefficient, observed_agreement, read_ratings
from ragstone.stats.correction.anytime import anytime_mean, mean_sequence
from ragstone.stats.correction.labels_only import labels_only_mean
from ragstone.stats.distributions import Interval, wilson

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Floats]
LABELS, EARLY_LOOKS = 500, (10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500)
LOOKS = (50, 60, 75, 100, 130, 170, 220, 300, 400, 550, 750, 1000)


def rate(of: float) -> Draw:
    return lambda rng: (rng.random(LABELS) < of).astype(np.float64)


WORLDS: Mapping[str, tuple[Draw, float]] = {
    **{f"rate {of}": (rate(of), of) for of in (0.01, 0.05, 0.3, 0.5, 0.8, 0.97)},
    "mean, Beta(2, 1)": (lambda rng: rng.beta(2, 1, LABELS), 2 / 3),
    "mean, Beta(.3, .3)": (lambda rng: rng.beta(0.3, 0.3, LABELS), 0.5),
    "mean, 0, .5 or 1": (lambda rng: rng.choice([0, 0.5, 1], LABELS, p=[0.1, 0.2, 0.7]), 0.8),
}


def all_hold(looks: Sequence[Interval | None], truth: float) -> bool:
    return all(one is not None and one.low <= truth <= one.high for one in looks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    runs = parser.parse_args().runs
    print("world                held at all looks  width at 500   Wilson held at all looks")
    for name, (draw, truth) in WORLDS.items():
        held, widths, once = [], [], []
        for seed in range(runs):
            labels = draw(np.random.default_rng(seed))
            looks = [anytime_mean(labels[:n], low=0, high=1).at(0.95).interval for n in EARLY_LOOKS]
            held.append(all_hold(looks, truth))
            assert looks[-1] is not None
            widths.append(looks[-1].high - looks[-1].low)
            once.append(all_hold([wilson(labels[:n].sum(), n) for n in EARLY_LOOKS], truth))
        print(
            f"{name:20} {np.mean(held):14.3f} {np.mean(widths):15.3f} {np.mean(once):18.3f}",
            flush=True,
        )
    print(
        "\nmean so far               held at all looks   width at the last   one look held at all"
    )
    for name, path in PATHS.items():
        looked = [mean_looks(path(np.random.default_rng(seed))) for seed in range(runs)]
        shares = "".join(
            f"{share:19.3f}" for share in np.mean(np.array(looked, dtype=float), axis=0)
        )
        print(f"{name:25}{shares}", flush=True)
    print("\nyes, right               held at all looks: percent, κ, α, AC1")
    for yes, right in product((0.5, 0.2, 0.05), (0.98, 0.9, 0.8, 0.65)):
        held_by = [all_looks(seed, yes, right) for seed in range(runs)]
        shares = "".join(f"{share:9.3f}" for share in np.mean(held_by, axis=0))
        print(f"{yes:4} {right:5}               {shares}", flush=True)
    print("\nyes, right of 4 answers to a question, as hard as each other")
    for yes, right in product((0.5, 0.2), (0.9, 0.7)):
        held_by = [all_looks(seed, yes, right, together=4) for seed in range(runs)]
        shares = "".join(f"{share:9.3f}" for share in np.mean(held_by, axis=0))
        print(f"{yes:4} {right:5}               {shares}", flush=True)


@dataclass(frozen=True)
class Path:
    """Labels in the order in which they come, and the true mean.

    ``weights`` gives those of the first labels; None: they are equal.
    """

    labels: Floats
    mean: float
    weights: Callable[[int], Floats] | None = None
    clusters: NDArray[np.int64] | None = None


def of_rate(rate: float) -> Callable[[np.random.Generator], Path]:
    return lambda rng: Path((rng.random(LOOKS[-1]) < rate).astype(np.float64), rate)


def of_questions(rate: float, alike: float) -> Callable[[np.random.Generator], Path]:
    """Five answers to a question, in random order; ``alike`` is their correlation."""

    def path(rng: np.random.Generator) -> Path:
        size = 1 / alike - 1
        easy = rng.beta(rate * size, (1 - rate) * size, LOOKS[-1] // 5)
        question = rng.permutation(np.repeat(np.arange(len(easy)), 5))
        said = rng.random(len(question)) < easy[question]
        return Path(said.astype(np.float64), rate, clusters=question)

    return path


def of_doubt(wrong: Callable[[Floats], Floats]) -> Callable[[np.random.Generator], Path]:
    """5,000 examples routed by the judge's doubt; ``wrong`` is how likely each is a yes."""

    def path(rng: np.random.Generator) -> Path:
        doubt = rng.beta(0.5, 1.5, 5_000)
        said = (rng.random(5_000) < wrong(doubt)).astype(np.float64)
        weight = {str(at): route_weight("doubt", float(one)) for at, one in enumerate(doubt)}
        place = dict(zip(weight, random_places(list(weight.values()), rng), strict=True))
        order = sorted(place, key=place.__getitem__)

        def weights(n: int) -> Floats:
            chance = phase_probabilities(place, weight, order[:n])
            return np.array([1 / chance[at] for at in order[:n]])

        labels = said[[int(at) for at in order[: LOOKS[-1]]]]
        return Path(labels, float(said.mean()), weights)

    return path


PATHS: Mapping[str, Callable[[np.random.Generator], Path]] = {
    **{f"rate {rate}": of_rate(rate) for rate in (0.005, 0.02, 0.1, 0.5)},
    "mean, Beta(2, 1)": lambda rng: Path(rng.beta(2, 1, LOOKS[-1]), 2 / 3),
    "mean, Beta(.1, 3)": lambda rng: Path(rng.beta(0.1, 3, LOOKS[-1]), 0.1 / 3.1),
    "rate .3, questions, .1": of_questions(0.3, 0.1),
    "rate .3, questions, .6": of_questions(0.3, 0.6),
    "rate .05, questions, .3": of_questions(0.05, 0.3),
    "by doubt, more": of_doubt(lambda doubt: 0.05 + 0.6 * doubt),
    "by doubt, rare": of_doubt(lambda doubt: 0.05 * doubt),
    "by doubt, in vain": of_doubt(lambda doubt: np.full(len(doubt), 0.1)),
}


def mean_looks(path: Path) -> tuple[bool, float, bool]:
    """Whether the intervals hold at all looks, the width at the last, and so of one look."""
    held = once = True
    for n in LOOKS:
        labels, weights = path.labels[:n], path.weights(n) if path.weights else None
        clusters = None if path.clusters is None else path.clusters[:n]
        found = mean_sequence(labels, low=0, high=1, weights=weights, clusters=clusters)
        one = labels_only_mean(labels, low=0, high=1, weights=weights, clusters=clusters).interval
        assert one is not None
        held &= found is None or found.low <= path.mean <= found.high
        once &= one.low <= path.mean <= one.high
    assert found is not None
    return held, found.high - found.low, once


COEFFICIENTS: tuple[Coefficient, ...] = (observed_agreement, mean_kappa, alpha("nominal"), ac1)


def all_looks(seed: int, yes: float, right: float, together: int = 1) -> list[bool]:
    """Whether the intervals of each coefficient hold at every look at which there is one.

    ``together`` answers to a question have one truth, and whether each person sees it is the same
    for all of them in half of the questions.
    """
    rng = np.random.default_rng(seed)
    questions = LOOKS[-1] // together
    truth = np.repeat(rng.random(questions) < yes, together)
    alike = np.repeat(rng.random(questions) < 0.5, together) & (together > 1)
    sees = [
        np.where(
            alike,
            np.repeat(rng.random(questions) < right, together),
            rng.random(LOOKS[-1]) < right,
        )
        for _ in range(2)
    ]
    order = rng.permutation(LOOKS[-1]) if together > 1 else np.arange(LOOKS[-1])
    people = [np.where(one, truth, ~truth)[order] for one in sees]
    clusters = (order // together).tolist()
    looks = [read_ratings([one[:n].tolist() for one in people]) for n in LOOKS]
    held = []
    for coefficient, true in zip(COEFFICIENTS, true_agreement(yes, right), strict=True):
        found = [agreement_sequence(one, coefficient, clusters=clusters) for one in looks]
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
