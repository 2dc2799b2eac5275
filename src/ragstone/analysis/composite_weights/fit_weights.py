"""Weights: a composite's weights fitted to what people prefer, kept only if they prove better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError
from ragstone.core.messages import Displayable, argument, plain, reason
from ragstone.metrics import Composite, parse_metric
from ragstone.stats import Interval, ends_of, mean_interval
from ragstone.stats.comparison import preference_models
from ragstone.stats.weights_and_groups import Floats, Ints

from .preferences import (
    MOST,
    Opinions,
    Sort,
    WeighingTable,
    composite_terms,
    concordance,
    judged_of,
    reasons,
    score_table,
    weighable,
)

Kept = Literal["fitted", "start"]

EQUAL = "equal"
PLACES = 2


# The smallest number of questions.
FEWEST = 2


@dataclass(frozen=True, slots=True)
class Weight:
    """The weight of one metric; ``least`` and ``most`` are its range over the folds."""

    metric: str
    start: float
    fitted: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Fit:
    """The quality of some weights' predictions, on questions they were not fitted on.

    ``loss`` is the mean log loss of a pair in nats, or the mean squared error of a rating.
    ``concordance`` is the share of pairs that the composite puts in people's order, where a tie of
    the composite counts half; None if people rank no pair.
    """

    composite: str | None
    loss: float
    concordance: float | None
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "composite": self.composite,
            "loss": self.loss,
            "concordance": {"value": self.concordance, "low": self.low, "high": self.high},
        }


@dataclass(frozen=True, slots=True, repr=False)
class FittedWeights(Displayable):
    """Fitted and starting weights, and which of them to keep.

    ``gain`` is the mean reduction in loss by the fitted weights, for a pair or a rating, with an
    interval over questions. ``kept`` is ``fitted`` only if the interval lies above 0.
    """

    sort: Sort
    run: str
    source: str
    start_name: str
    weights: tuple[Weight, ...]
    start: Fit
    fitted: Fit
    gain: float
    gain_low: float | None
    gain_high: float | None
    kept: Kept
    why: str
    n: int
    n_questions: int
    n_annotators: int
    n_ties: int
    left_out: Mapping[str, int]
    n_left_out: int
    excluded: Mapping[str, str]
    folds: int
    seed: int
    level: float

    @property
    def composite(self) -> str:
        """The text form of the composite to use: ``composite(weights="faithfulness:0.41 …")``."""
        chosen = self.fitted if self.kept == "fitted" else self.start
        return str(chosen.composite)

    def __repr__(self) -> str:
        return f"FittedWeights({self.run!r}, {len(self.weights)} weights, kept: {self.kept})"

    def to_dict(self) -> dict[str, Any]:
        record = {"people": self.source, "composite": self.composite, **plain(self)}
        del record["source"]
        ends = {name: record.pop(f"gain_{name}") for name in ("low", "high")}
        gain = {"value": self.gain, **ends, "level": record.pop("level")}
        fits = {"start": self.start.to_dict(), "fitted": self.fitted.to_dict()}
        return {**record, **fits, "gain": gain}


def fit_weights(
    scored: Scored,
    opinions: Opinions,
    *,
    metrics: Sequence[str] = (),
    start: str = EQUAL,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
) -> FittedWeights:
    """Fit a composite's weights to people's preferences or ratings, and say whether to use them.

    Preferences: P(b is preferred) = 1 / (1 + exp(-sum of β_j (x_bj - x_aj))), β_j at least 0, with
    the strength of preference for b as the target. Ratings: least squares with an intercept. The
    weights are β divided by its sum. Both sets of weights, each with a scale fitted to the other
    folds, predict the questions of each fold; folds are of whole questions (the run's clusters).

    Args:
        metrics: Metrics of the run. None: those of ``start``; if that is ``equal``, all metrics
            that can be in one composite and have a score for nearly every pair.
        start: ``equal``, or a composite: ``ragas_score``, ``composite(weights="…")``.
        level: Confidence level of the gain's interval.

    Raises:
        InputError: There is no metric to weight, no pair with all scores, a ``start`` that is not
            an arithmetic composite, or too few folds.
    """
    if folds < 2:
        raise InputError(
            f"Cross-validation needs at least two folds, got {argument('folds', folds)}."
        )
    scored = scored.without_corrections()
    begin = None if start == EQUAL else composite_terms(start)
    pairs = judged_of(opinions, scored)
    names, excluded, turn = weighable(scored, metrics, begin, pairs)
    table, left_out, n_left_out = score_table(scored, names, pairs, turn)
    if not len(table.said):
        lacking = "; ".join(f"{name} lacks {count:,}" for name, count in left_out.items())
        raise InputError(
            f"No {opinions.sort} is left for which all of {', '.join(names)} have scores: "
            f"{lacking or 'none given'}. Name fewer metrics with {argument('metrics', 'METRIC')}."
        )
    same = np.ptp(table.x, axis=0) if opinions.sort == Sort.RATING else np.abs(table.x).max(axis=0)
    varies = np.asarray(same > 0)
    if begin is None:
        of_pairs = opinions.sort == Sort.PREFERENCE
        why = "same_for_both_answers" if of_pairs else "same_for_every_example"
        excluded |= {name: why for name, varying in zip(names, varies, strict=True) if not varying}
        names = [name for name, varying in zip(names, varies, strict=True) if varying]
        if names and not varies.all():
            table, left_out, n_left_out = score_table(scored, names, pairs, turn)
    if not names:
        raise InputError("No metric is left to weight.", notes=reasons(excluded))
    if len(np.unique(table.cluster)) < FEWEST:
        raise InputError(
            "All opinions are about one question, so none can be held out to test whether the "
            "weights predict people: opinions on more questions are needed."
        )
    first = np.array([1.0 if begin is None else begin.get(name, 0.0) for name in names])
    first /= first.sum()
    sort = opinions.sort
    questions, cluster = np.unique(table.cluster, return_inverse=True)
    folds = min(folds, len(questions))
    fold = np.random.default_rng(seed).permutation(np.arange(len(questions)) % folds)[cluster]
    losses, placed, by_fold = _held_out(sort, table, first, fold)
    whole = _fitted(sort, table.x, table.said)
    gains = losses[0] - losses[1]
    sums, counts = np.bincount(cluster, weights=gains), np.bincount(cluster)
    interval = mean_interval(sums, counts, rate=False, low=None, high=None, level=level).interval
    rounded = _rounded(whole.weights)
    decision, why = _verdict(sort, rounded, interval, start)
    spread = np.array(by_fold) if by_fold else first[None, :] * 0
    weights = first * 0 if whole.weights is None else whole.weights
    order = np.argsort(-weights, kind="stable")
    fits = [
        Fit(text, float(losses[side].mean()),
            *concordance(sort, placed[side], table.said, cluster, level,
                         np.random.default_rng(seed)))
        for side, text in enumerate((
            _composite(names, first) if start == EQUAL else str(parse_metric(start)),
            None if rounded is None else _composite(names, rounded),
        ))
    ]  # fmt: skip
    return FittedWeights(
        sort=sort,
        run=str(scored.run.path),
        source=opinions.source,
        start_name=start,
        weights=tuple(
            Weight(names[at], float(first[at]), float(weights[at]), float(spread[:, at].min()),
                   float(spread[:, at].max()))
            for at in order
        ),
        start=fits[0],
        fitted=fits[1],
        gain=float(gains.mean()),
        **ends_of(interval, "gain_"),
        kept=decision,
        why=why,
        n=len(table.said),
        n_questions=len(questions),
        n_annotators=len({opinion.annotator for opinion in opinions.rows}),
        n_ties=int((table.said == 0).sum()) if sort == Sort.PREFERENCE else 0,
        left_out=left_out,
        n_left_out=n_left_out,
        excluded=dict(excluded),
        folds=folds,
        seed=seed,
        level=level,
    )  # fmt: skip


def _held_out(
    sort: Sort, table: WeighingTable, first: Floats, fold: Ints
) -> tuple[Floats, Floats, list[Floats]]:
    """Losses and composites of held-out rows, and the weights fitted without each fold.

    Of shape (2, n): by the starting weights, then by the fitted ones.
    """
    losses, placed = np.zeros((2, len(fold))), np.zeros((2, len(fold)))
    by_fold = []
    for held_out in range(fold.max() + 1):
        test, train = fold == held_out, fold != held_out
        fit = _fitted(sort, table.x[train], table.said[train])
        weights = fit.weights
        if weights is not None:
            by_fold.append(weights)
        # The starting weights get their own scale, so that only the proportions are compared.
        scale = _fitted(sort, (table.x[train] @ first)[:, None], table.said[train])
        for side, (of, coefficients) in enumerate(
            ((table.x @ first[:, None], scale), (table.x, fit))
        ):
            predicted = of[test] @ coefficients.values + coefficients.intercept
            opinions = table.said[test]
            losses[side, test] = (
                (predicted - opinions) ** 2
                if sort == Sort.RATING
                else preference_models.log_loss(predicted, 0.5 + opinions / (2 * MOST))
            )
        placed[0, test] = table.x[test] @ first
        placed[1, test] = table.x[test] @ (first * 0 if weights is None else weights)
    return losses, placed, by_fold


def _fitted(sort: Sort, x: Floats, opinions: Floats) -> preference_models.Coefficients:
    if sort == Sort.RATING:
        return preference_models.nonnegative_least_squares(x, opinions)
    return preference_models.nonnegative_logistic(x, 0.5 + opinions / (2 * MOST))


def _verdict(
    sort: Sort, rounded: Floats | None, interval: Interval | None, start: str
) -> tuple[Kept, str]:
    of = None if start == EQUAL else start
    if rounded is None:
        return "start", reason("nothing_goes_with_people", sort=sort, start=of)
    if interval is None:
        return "start", reason("never_predicted_otherwise", start=of)
    if interval.low > 0:
        return "fitted", reason("gain_clears_zero", start=of)
    if interval.high < 0:
        return "start", reason("worse_when_held_out", start=of)
    return "start", reason("gain_holds_zero", start=of)


def _rounded(weights: Floats | None) -> Floats | None:
    if weights is None:
        return None
    parts = weights * 10**PLACES
    whole = np.floor(parts)
    short = round(10**PLACES - float(whole.sum()))
    whole[np.argsort(-(parts - whole), kind="stable")[:short]] += 1
    return np.asarray(whole / 10**PLACES)


def _composite(names: Sequence[str], weights: Floats) -> str:
    used = [(name, weight) for name, weight in zip(names, weights, strict=True) if weight > 0]
    equal = all(abs(a - b) < 1e-12 for (_, a), (_, b) in pairwise(used))
    terms = [
        f"{name}:{1 if equal else weight:g}"
        for name, weight in sorted(used, key=lambda item: -item[1])
    ]
    return str(Composite(weights=" ".join(terms)))
