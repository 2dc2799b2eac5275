"""How often corrected rates hold the truth, and how wide they are beside labels alone.

    python benchmarks/correction.py [--draws 1000] [--seed 1]

Draws 2,000 judged rows of a known rate, some of them labelled, and counts how many 95 % intervals
of ``poststratify`` hold the rate, and of what ``favoured`` chooses by design; widths are beside
Wilson's from the labels alone, and beside square-and-add, the other way of joining the verdicts.
Then the same with five answers to each of 400 questions, 40 of them labelled whole, whose answers
correlate by .33.
"""

import argparse
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ragstone.stats import t_quantile
from ragstone.stats.cluster_means import HALF_CLUSTER
<<<<<<< HEAD
from ragstone.stats.correction.corrected import EXPECTED, Corrected, joined_strata
from ragstone.stats.correction.labels_only import mean_of_labels, rate_of_labels
=======
from ragstone.stats.correction.corrected import EXPECTED
>>>>>>> d74c802e (Keep the benchmarks that a page, a test or a limit rests on)
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


@dataclass(frozen=True, slots=True)
class Measured:
    """Share of draws that hold the truth, and the mean width beside Wilson's from labels alone."""

    coverage: float
    width: float

    def __str__(self) -> str:
        return f"{self.coverage:.3f} / {self.width:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draws = arguments.draws
    rng = np.random.default_rng(arguments.seed)
    accuracies, sizes = np.arange(0.80, 0.985, 0.01), range(50, 301, 25)
    print(f"Independent rows, {JUDGED} judged, n = 50 to 300, {draws} draws each:")
    print(
        f"{'rate':>5} {'accuracy':>9} {'least, mean coverage':>21} {'greatest, mean width':>22}"
        f"{'by design:':>12}{'the same':>14}{'':>12}"
    )
    for rate in RATES:
        for block in np.split(accuracies, [5, 10, 15]):
            found = [independent(rate, a, n, draws, rng) for a in block for n in sizes]
            span = f"{block[0]:.2f}–{block[-1]:.2f}"
            cells = []
            for way in zip(*found, strict=True):
                coverage, width = [one.coverage for one in way], [one.width for one in way]
                cells.append(
                    f"{min(coverage):>12.3f}, {np.mean(coverage):.3f}"
                    f" {max(width):>14.2f}, {np.mean(width):.2f}"
                )
            print(f"{rate:>5} {span:>9} {' '.join(cells)}", flush=True)
    print("\nScore interval and square-and-add, coverage / width:")
    for rate in RATES:
        for accuracy in (0.8, 0.9, 0.98):
            cells = []
            for n in (50, 100, 300):
                score, joined = beside_square_and_add(rate, accuracy, n, 4 * draws, rng)
                cells.append(f"n {n}: {score}, {joined}")
            print(f"{rate:>5} {accuracy:>9} {'   '.join(cells)}", flush=True)
    print("\nFive answers to each of 40 labelled questions; rows taken as independent beside it:")
    for rate in RATES:
        for accuracy in (0.8, 0.9, 0.98):
            shared, alone = clustered(rate, accuracy, draws, rng)
            print(f"{rate:>5} {accuracy:>9} {shared}   {alone}", flush=True)


@dataclass(frozen=True, slots=True)
class Draws:
    """Many draws of one setting: strata of shape (B, 2), and what labels alone say, shape (B,)."""

    shares: Floats
    rates: Floats
    sizes: Floats
    alone: Floats


def draw(rate: float, accuracy: float, n: int, draws: int, rng: np.random.Generator) -> Draws:
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
    rows: int | Ints,
    rate: float | Floats,
    accuracy: float,
    draws: int | None,
    rng: np.random.Generator,
) -> tuple[Ints, Ints, Ints]:
    """Positives that are called so, positives that are not, negatives that are."""
    true = rng.binomial(rows, rate, draws)
    found = rng.binomial(true, accuracy)
    return found, true - found, rng.binomial(rows - true, 1 - accuracy)


def independent(
    rate: float, accuracy: float, n: int, draws: int, rng: np.random.Generator
) -> tuple[Measured, Measured]:
    """Post-stratified, and what the design favours."""
    drawn = draw(rate, accuracy, n, draws, rng)
    ends, alone = score_ends(drawn), wilson_of(drawn.alone, n, Z)
    chosen = by_design(drawn, ends, n)
    return measured(ends, alone, rate), measured(chosen, alone, rate)


def by_design(drawn: Draws, stratified: Ends, n: int) -> Ends:
    """PPI++ where five of either verdict are to be expected, as ``favoured`` has it."""
    expected = n * drawn.shares.min(axis=-1) >= EXPECTED
    low, high = (
        np.where(expected, powered, other)
        for powered, other in zip(ppi_ends(drawn, n), stratified, strict=True)
    )
    return low, high


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


def beside_square_and_add(
    rate: float, accuracy: float, n: int, draws: int, rng: np.random.Generator
) -> tuple[Measured, Measured]:
    drawn = draw(rate, accuracy, n, draws, rng)
    alone = wilson_of(drawn.alone, n, Z)
    score = measured(score_ends(drawn), alone, rate)
    return score, measured(square_and_add(drawn), alone, rate)


def score_ends(drawn: Draws) -> Ends:
    spread = row_share_variance(drawn.shares, drawn.rates, JUDGED)
    return stratified_wilson_ends(drawn.shares, drawn.rates, drawn.sizes, Z, spread)


def square_and_add(drawn: Draws) -> Ends:
    """Wilson's interval of each verdict; the distances to its ends are added in squares."""
    low, high = (
        end.reshape(drawn.rates.shape)
        for end in wilson_of(drawn.rates.ravel(), drawn.sizes.ravel(), Z)
    )
    value = (drawn.shares * drawn.rates).sum(axis=-1)
    chance = Z * Z * row_share_variance(drawn.shares, drawn.rates, JUDGED)

    def reach(gap: Floats) -> Floats:
        return np.asarray(np.sqrt(((drawn.shares * gap) ** 2).sum(axis=-1) + chance))

    return (
        np.maximum(0, value - reach(drawn.rates - low)),
        np.minimum(1, value + reach(high - drawn.rates)),
    )


def clustered(
    rate: float, accuracy: float, draws: int, rng: np.random.Generator
) -> tuple[Measured, Measured]:
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


<<<<<<< HEAD
@dataclass(frozen=True, slots=True)
class Judged:
    """Answers of one source: verdicts of both judges, people's, and the question of each."""

    source: str
    contained: Ints
    outcome: Floats
    people: Ints
    questions: Ints


def evouna(data: Path, draws: int, seed: int) -> None:
    for judged in judged_evouna(data):
        truth = float(judged.people.mean())
        print(
            f"\n{judged.source}: {len(judged.people)} answers to {judged.questions.max() + 1} "
            f"questions, correct by people {truth:.3f}, {draws} draws"
        )
        for name, scores in (("containment", judged.contained), ("local", judged.outcome)):
            values = np.asarray(scores, dtype=np.float64)
            sums, squares = (
                np.bincount(judged.questions, weights=values**power) for power in (1, 2)
            )
            counts = np.bincount(judged.questions)
            own = mean_interval(sums, counts, squares, rate=False, low=0, high=1)
            if own.interval is not None and own.value is not None:
                inside = own.interval.low <= truth <= own.interval.high
                print(
                    f"  {name}: own mean {own.value:.3f} [{own.interval.low:.3f}, "
                    f"{own.interval.high:.3f}], which {'holds' if inside else 'misses'} it"
                )
        header = ("labelled", "judge", "method", "holds", "width", "beside labels", "labels worth")
        print("  " + "".join(f"{one:<16}" for one in header))
        for rows in (50, 200, None):
            for line in drawn_lines(judged, truth, draws, seed, rows):
                print("  " + "".join(f"{one:<16}" for one in line), flush=True)


def drawn_lines(
    judged: Judged, truth: float, draws: int, seed: int, n: int | None
) -> Iterator[tuple[str, ...]]:
    """One line a judge and method: coverage and widths over draws of n rows, or 40 questions."""
    rng, whole = np.random.default_rng(seed), n is None
    found: dict[tuple[str, str], list[tuple[bool, float, float]]] = {}
    clusters = judged.questions if whole else None
    for _ in range(draws):
        rows = labelled_rows(judged, rng, n)
        labels = judged.people[rows]
        estimates = {
            ("none", "labels only"): rate_of_labels(
                labels, clusters=judged.questions[rows] if whole else None
            ).at(0.95),
        }
        for name, scores in (("containment", judged.contained), ("local", judged.outcome)):
            estimates[name, "poststratified"] = poststratify(
                joined_strata(scores, len(rows)), rows, labels, clusters=clusters
            ).at(0.95)
            estimates[name, "ppi"] = prediction_powered(
                scores, rows, labels, low=0, high=1, rate=True, clusters=clusters
            ).at(0.95)
            way = favoured(scores, rows, clusters=clusters)
            kept = "ppi" if way == "ppi_plus_plus" else "poststratified"
            estimates[name, "by design"] = estimates[name, kept]
        if whole:
            estimates["local", "rows as alone"] = poststratify(judged.outcome, rows, labels).at(
                0.95
            )
        for key, estimate in estimates.items():
            found.setdefault(key, []).append(held(estimate, truth))
    alone = np.mean([width for _, width, _ in found["none", "labels only"]])
    for (judge, method), results in found.items():
        share, width, worth = np.mean(np.array(results, dtype=np.float64), axis=0)
        yield (
            "40 questions" if whole else f"{n} rows",
            judge,
            method,
            f"{share:.3f}",
            f"{width:.3f}",
            f"{width / alone:.2f}",
            f"{worth:.0f}",
        )


def labelled_rows(judged: Judged, rng: np.random.Generator, n: int | None) -> Ints:
    if n is not None:
        return rng.choice(len(judged.people), n, replace=False)
    chosen = rng.choice(int(judged.questions.max()) + 1, 40, replace=False)
    return np.flatnonzero(np.isin(judged.questions, chosen))


def held(estimate: Corrected, truth: float) -> tuple[bool, float, float]:
    interval = estimate.interval
    if interval is None:
        return False, 1.0, 0.0
    inside = interval.low <= truth <= interval.high
    return inside, interval.high - interval.low, estimate.effective_labels or 0.0


def judged_evouna(data: Path) -> Iterator[Judged]:
    records = read_lines(data / "answer_correctness_evouna" / "verdicts.jsonl.gz")
    outcomes = local_outcomes(records)
    for source in ("NQ", "TQ"):
        own = [one for one in records if one["meta"]["source"] == source]
        questions: dict[str, int] = {}
        yield Judged(
            source,
            np.array([contains(one["answer"], one["reference"]) for one in own], dtype=np.int64),
            np.array([outcomes[one["id"]] for one in own], dtype=np.float64),
            np.array([one["labels"]["correct"] for one in own], dtype=np.int64),
            np.array(
                [questions.setdefault(one["question"], len(questions)) for one in own],
                dtype=np.int64,
            ),
        )


def local_outcomes(records: list[Record]) -> dict[str, float]:
    """What the local judge makes of every answer: 1, .5 or 0."""
    import ragstone

    examples = [
        {
            "id": one["id"],
            "question": one["question"],
            "answer": one["answer"],
            "reference": one["reference"],
        }
        for one in records
    ]
    with TemporaryDirectory() as folder:
        run = ragstone.evaluate(
            examples, metrics=["answer_outcome"], judge="local", out=Path(folder) / "run"
        )
        scores = run.scores()
    return dict(zip(scores["example_id"], scores["value"], strict=True))


def contains(answer: str, references: list[str]) -> bool:
    """Whether some normalised gold answer is contained in the normalised answer."""
    said = normalised(answer)
    return any(gold in said for one in references if (gold := normalised(one)))


def normalised(text: str) -> str:
    """Lower case without punctuation, articles and double spaces, as SQuAD compares answers."""
    plain = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", plain).split())


def graded(data: Path, draws: int, seed: int) -> None:
    print(f"Grades, {JUDGED} judged and {GRADES} labelled, {draws} draws: coverage, mean width")
    print(f"{'data, judge':<28}{'correlation':<13}{'labels alone':<18}{'PPI++':<18}beside labels")
    for name, (low, high), people, scores in judged_grades(data):
        rng = np.random.default_rng(seed)
        truth = float(people.mean())
        alone, powered = [], []
        for _ in range(draws):
            drawn = rng.integers(len(people), size=JUDGED)
            labels, first = people[drawn[:GRADES]], np.arange(GRADES)
            alone.append(held(mean_of_labels(labels, low=low, high=high).at(0.95), truth))
            found = prediction_powered(scores[drawn], first, labels, low=low, high=high).at(0.95)
            powered.append(held(found, truth))
        (held_alone, width_alone, _), (share, width, _) = (
            np.mean(np.array(results, dtype=np.float64), axis=0) for results in (alone, powered)
        )
        correlation = np.corrcoef(people, scores)[0, 1]
        labels_alone = f"{held_alone:.3f}, {width_alone:.3f}"
        print(
            f"{name:<28}{correlation:<13.2f}{labels_alone:<18}"
            f"{f'{share:.3f}, {width:.3f}':<18}{width / width_alone:.2f}",
            flush=True,
        )


def judged_grades(data: Path) -> Iterator[tuple[str, tuple[float, float], Floats, Floats]]:
    """Name, ends of the scale, people's grades, and the judge's scores."""
    answers = read_lines(data / "rag_quality_mtrag" / "answers.jsonl.gz")
    for judge in ("ragas_faithfulness", "rb_agg"):
        rows = [one for one in answers if one["meta"]["auto"].get(judge) is not None]
        people = np.array([one["labels"]["faithfulness_median"] for one in rows], dtype=np.float64)
        scores = np.array([one["meta"]["auto"][judge] for one in rows], dtype=np.float64)
        yield f"MTRAG, {judge}", (1, 4), people, scores
    pairs = read_lines(data / "faithfulness_begin" / "pairs.jsonl.gz")
    grades = np.array(
        [ATTRIBUTION.get(one["labels"]["attribution"], 0.0) for one in pairs], dtype=np.float64
    )
    yield "BEGIN, shared words", (0, 1), grades, np.array([shared_words(one) for one in pairs])


def shared_words(record: Record) -> float:
    """Share of the answer's words that its contexts have."""
    said = normalised(record["answer"]).split()
    known = set(normalised(" ".join(record["contexts"])).split())
    return sum(word in known for word in said) / max(1, len(said))


KAPPA_AND_ALPHA: tuple[CoefficientName, ...] = ("cohen_kappa", "krippendorff_alpha")


def agreement(draws: int, seed: int) -> None:
    """Two labels differ in 2 r (1 - r), which is less on average the more r varies."""
    clusters, items, right, prevalence = 40, 5, 0.85, 0.3
    names = np.repeat(np.arange(clusters), items).tolist()
    one = prevalence * right + (1 - prevalence) * (1 - right)
    print(f"{clusters} clusters of {items} items, {draws} draws: coverage with clusters, without")
    print(f"{'alike':<8}{'truth':<8}{'kappa':<16}alpha")
    for alike in (0.05, 0.2, 0.5):
        truth = 1 - right * (1 - right) * (1 - alike) / (one * (1 - one))
        spread = (1 - alike) / alike
        rng = np.random.default_rng(seed)
        inside = np.zeros((2, 2))
        for draw in range(draws):
            shares = rng.beta(right * spread, (1 - right) * spread, clusters)
            rights = np.repeat(shares, items)
            true = rng.random(len(rights)) < prevalence
            ratings = [(true == (rng.random(len(rights)) < rights)).tolist() for _ in range(2)]
            for row, known in enumerate((names, None)):
                found = agreement_coefficients(ratings, clusters=known, seed=draw, resamples=500)
                for column, name in enumerate(KAPPA_AND_ALPHA):
                    ends = found[name].interval
                    inside[row, column] += ends is not None and ends.low <= truth <= ends.high
        (kappa, alpha), (kappa_alone, alpha_alone) = (inside / draws).tolist()
        print(
            f"{alike:<8}{truth:<8.3f}{f'{kappa:.3f}, {kappa_alone:.3f}':<16}"
            f"{alpha:.3f}, {alpha_alone:.3f}",
            flush=True,
        )


def llmjudge(data: Path, seed: int) -> None:
    records = read_lines(data / "judge_calibration_llmjudge" / "relevance.jsonl.gz")
    rows = [one for one in records if one["meta"]["judges"]]
    people = np.array([one["labels"]["relevance"] for one in rows])
    queries = [one["meta"]["qid"] for one in rows]
    names = sorted({name for one in rows for name in one["meta"]["judges"]})
    positive = (people >= 2).astype(np.int64)
    rng = np.random.default_rng(seed)
    labelled = np.sort(rng.choice(len(rows), 300, replace=False))
    truth = float(positive.mean())
    print(
        f"{len(rows)} passages for {len(set(queries))} queries, relevant (grade >= 2) by people "
        f"{truth:.3f}; corrected from 300 of them"
    )
    lines = []
    for name in names:
        grades = [one["meta"]["judges"].get(name) for one in rows]
        well = np.array([grade in (0, 1, 2, 3) for grade in grades])
        kept = np.flatnonzero(well)
        said = np.array([grades[row] for row in kept], dtype=np.int64)
        own = [queries[row] for row in kept]
        plain = kappa_with_interval(said, people[kept], clusters=own, seed=seed)
        graded = kappa_with_interval(
            said, people[kept], disagreement="quadratic", clusters=own, seed=seed
        )
        called = [grade >= 2 if ok else None for grade, ok in zip(grades, well, strict=True)]
        corrected = poststratify(called, labelled, positive[labelled]).at(0.95)
        lines.append((name, graded, plain, float((said >= 2).mean()), corrected, (~well).sum()))
    print(
        f"{'judge':<26}{'quadratic κ':<24}{'κ':<24}{'positive':<10}{'corrected':<24}"
        f"{'labels worth':<14}malformed"
    )
    for name, graded, plain, share, corrected, odd in sorted(
        lines, key=lambda line: -(line[1].value or 0)
    ):
        print(
            f"{name:<26}{shown(graded):<24}{shown(plain):<24}{share:<10.3f}"
            f"{shown(corrected):<24}{corrected.effective_labels or 0:<14.0f}{odd or ''}"
        )


def shown(estimate: Any) -> str:
    if estimate.value is None:
        return str(estimate.reason)
    if estimate.interval is None:
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} [{estimate.interval.low:.3f}, {estimate.interval.high:.3f}]"


def read_lines(path: Path) -> list[Record]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


=======
>>>>>>> d74c802e (Keep the benchmarks that a page, a test or a limit rests on)
if __name__ == "__main__":
    main()
