"""How often a gate's promise is kept: simulated, and on answers that people labelled.

    python benchmarks/promise.py [--draws 2000] [--halves 500]

Simulated: unfaithful answers get scores, a threshold is calibrated for a promise at 90 %, and the
true risk is taken from 400,000 other clusters of the same world. *Broken*: the share of draws whose
true risk is above the promise, where a cluster counts as passed if any unfaithful answer of it
passes; *of answers*: the same for the share of answers; *as independent*: the same for answers,
calibrated as if no two shared a cluster. Draws that are refused break nothing and are counted.
Labels that were drawn equally by the judge's verdict are read with and without the probabilities
with which each was drawn.

BEGIN: replies that people labelled, scored by the guard. Clusters (replies that share a turn
or a knowledge snippet) are split into halves; one calibrates, the other tells. *Shown broken*: the
exact 90 % lower bound of the other half exceeds the promise. *Rate above*: its plain rate does,
which chance alone brings about although the method is right.
"""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from labelled import file_of
from measure import run
from numpy.typing import NDArray

from ragstone.core.errors import PromiseRefused
from ragstone.guard import Guard
from ragstone.guard.confidence_gate.gate_labels import CHANCE, ScoredLabels, labelled_scores
from ragstone.guard.confidence_gate.gate_thresholds import kept_at
from ragstone.stats.risk_control import highest_of_clusters, lower_bound, promised_threshold

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CONFIDENCE = 0.9
POPULATION = 400_000
SEED, HIGH = 1, 1.645


@dataclass(frozen=True)
class World:
    """Where unfaithful answers come from."""

    name: str
    clusters: int  # Drawn for calibration.
    bound: float = 0.05  # What is promised.
    icc: float = 0.0  # Correlation of the scores, before their curve, within a cluster.
    others: float = 0.0  # Mean number of further answers in a cluster.
    step: float = 0.0  # Scores are rounded to it, so that many are equal; 0 for none.
    # How many times as many of these have the clusters of the highest scores, one in twenty.
    larger: float = 1.0

    def drawn(self, rng: np.random.Generator, clusters: int) -> tuple[Floats, Ints]:
        """The scores of unfaithful answers, and the cluster of each."""
        effect = rng.normal(size=clusters)
        mean = self.others * np.where(effect > HIGH, self.larger, 1)
        sizes = 1 + rng.poisson(mean)
        of = np.repeat(np.arange(clusters), sizes)
        own = rng.normal(size=len(of))
        latent = np.sqrt(self.icc) * effect[of] + np.sqrt(1 - self.icc) * own
        return self.scored(1.6 * latent - 1), of

    def candidates(self, rng: np.random.Generator) -> Floats:
        """The scores of faithful answers."""
        return self.scored(1.6 * rng.normal(size=4 * self.clusters) + 2)

    def scored(self, latent: Floats) -> Floats:
        """Scores of a judge; the highest few of many are exactly 1, as those of a judge are."""
        scores = np.minimum(1.03 / (1 + np.exp(-latent)), 1.0)
        return scores if not self.step else (scores / self.step).round() * self.step


WORLDS = (
    *(World(f"independent, {n}", n) for n in (45, 60, 77, 100, 200, 1000)),
    World("independent, 40, .1", 40, 0.1),
    World("independent, 200, steps of .05", 200, step=0.05),
    *(
        World(f"{clusters} clusters × 3, ICC {icc:g}", clusters, icc=icc, others=2)
        for clusters in (50, 100, 200)
        for icc in (0.1, 0.3, 0.5, 0.8)
    ),
    World("20 clusters × 6, ICC .5, .2", 20, 0.2, icc=0.5, others=5),
    World("100 clusters × 6, ICC .3", 100, icc=0.3, others=5),
    World("100 clusters × 3, ICC .5, steps of .05", 100, icc=0.5, others=2, step=0.05),
    World("100 clusters × 3, ICC .5, worst 4 × as large", 100, icc=0.5, others=2, larger=4),
    World("100 clusters × 2, ICC .95, worst 30 × as large", 100, icc=0.95, others=1, larger=30),
)


class Kept(NamedTuple):
    """The shares of draws that broke a promise, and of those that were refused."""

    broken: float
    of_answers: float
    as_independent: float
    refused: float


def kept(world: World, draws: int) -> Kept:
    """Calibrate on many draws of a world and compare with the truth."""
    rng = np.random.default_rng(SEED)
    scores, of = world.drawn(rng, POPULATION)
    answers, highest = np.sort(scores), np.sort(highest_of_clusters(scores, of))
    broken, of_answers, naive, refused = 0, 0, 0, 0
    for _ in range(draws):
        scores, of = world.drawn(rng, world.clusters)
        among = world.candidates(rng)
        threshold, plain = (
            promised_threshold(
                scores, among=among, bound=world.bound, confidence=CONFIDENCE, clusters=clusters
            ).value
            for clusters in (of, None)
        )
        refused += threshold is None
        broken += risk(highest, threshold) > world.bound
        of_answers += risk(answers, threshold) > world.bound
        naive += risk(answers, plain) > world.bound
    return Kept(broken / draws, of_answers / draws, naive / draws, refused / draws)


def risk(ascending: Floats, threshold: float | None) -> float:
    """The share of the scores that are at least the threshold; 0 without one."""
    if threshold is None:
        return 0.0
    return 1 - float(np.searchsorted(ascending, threshold, side="left")) / len(ascending)


def by_verdict(draws: int, *, of_each: int, known: bool) -> tuple[float, float]:
    """Independent answers, so many labelled of each verdict: shares broken and refused."""
    rng = np.random.default_rng(SEED)
    faithful = rng.random(POPULATION) < 0.7
    scores = WORLDS[0].scored(1.6 * rng.normal(size=POPULATION) + np.where(faithful, 2, -1))
    verdicts = [np.flatnonzero((scores >= 0.5) == verdict) for verdict in (False, True)]
    wrong, broken, refused = np.sort(scores[~faithful]), 0, 0
    for _ in range(draws):
        rows = [
            {"score": float(scores[row]), "faithful": bool(faithful[row])}
            | ({CHANCE: of_each / len(those)} if known else {})
            for those in verdicts
            for row in rng.choice(those, of_each, replace=False)
        ]
        try:
            threshold = kept_at(labelled_scores(rows), "max_false_pass", 0.05, CONFIDENCE)
        except PromiseRefused:
            refused += 1
        else:
            broken += risk(wrong, threshold) > 0.05
    return broken / draws, refused / draws


def begin() -> ScoredLabels:
    """BEGIN's replies that make a claim, by the guard: the lowest P(supported) of their claims."""
    return labelled_scores(file_of("BEGIN"), guard=Guard(deadline=60)).with_score()


class Splits(NamedTuple):
    """The shares of splits whose other half shows the promise broken, or has a rate above it."""

    shown_broken: float
    rate_above: float
    refused: float
    passed: float


def splits(answers: ScoredLabels, bound: float, times: int) -> Splits:
    """Calibrate on half of the clusters and look at the other half, many times."""
    rng = np.random.default_rng(SEED)
    broken, above, refused, passed = 0, 0, 0, list[float]()
    for _ in range(times):
        half = rng.permutation(int(answers.clusters.max()) + 1) % 2 == 0
        here = half[answers.clusters]
        bad = ~answers.faithful
        found = promised_threshold(
            answers.scores[here & bad],
            among=answers.scores[here & ~bad],
            bound=bound,
            confidence=CONFIDENCE,
            clusters=answers.clusters[here & bad],
        )
        if found.value is None:
            refused += 1
            continue
        there = highest_of_clusters(answers.scores[~here & bad], answers.clusters[~here & bad])
        hits = int((there >= found.value).sum())
        broken += lower_bound(hits, len(there), confidence=CONFIDENCE) > bound
        above += hits / len(there) > bound
        passed.append(float((answers.scores[~here & ~bad] >= found.value).mean()))
    return Splits(broken / times, above / times, refused / times, float(np.mean(passed or [0.0])))


def main(draws: int = 2000, halves: int = 500) -> None:
    print(f"{draws:,} draws, a promise of .05 at {CONFIDENCE} unless said otherwise")
    print(f"{'':<50}{'broken':>8}{'of answers':>12}{'as independent':>16}{'refused':>9}")
    for world in WORLDS:
        broken, of_answers, naive, refused = kept(world, draws)
        print(f"{world.name:<50}{broken:>8.3f}{of_answers:>12.3f}{naive:>16.3f}{refused:>9.3f}",
              flush=True)  # fmt: skip
    for of_each, known in product((100, 200, 400), (False, True)):
        broken, refused = by_verdict(draws, of_each=of_each, known=known)
        name = f"{of_each} of each verdict, chances {'known' if known else 'not known'}"
        print(f"{name:<50}{broken:>8.3f}{'':>28}{refused:>9.3f}", flush=True)
    answers = begin()
    print(f"\nBEGIN: {len(answers.scores):,} replies, {(~answers.faithful).sum():,} unfaithful in "
          f"{len(set(answers.clusters[~answers.faithful])):,} clusters; {halves} splits"
    )  # fmt: skip
    print(f"{'promise':<12}{'shown broken':>14}{'rate above':>12}{'refused':>9}"
          f"{'faithful passed':>17}")  # fmt: skip
    for bound in (0.02, 0.05, 0.1, 0.2):
        shown, above, refused, passed = splits(answers, bound, halves)
        print(f"{bound:<12}{shown:>14.3f}{above:>12.3f}{refused:>9.3f}{passed:>17.3f}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    run(main)
