"""Gate thresholds: the scores from which answers pass or are blocked, and how promises are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ragstone.core.errors import InputError, PromiseRefused
from ragstone.core.messages import argument
from ragstone.guard.assessment import WAYS_OUT, WayOut
from ragstone.guard.guard_input import is_share
from ragstone.stats import ends_of, mean_interval, risk_control
from ragstone.stats.weights_and_groups import Bools, Floats, sums_by

from .gate_labels import ScoredLabels

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
AnswerGroup = Literal["all", "faithful", "unfaithful"]
Promise = Literal["max_false_pass", "max_false_block"]
PromiseState = Literal["holds", "broken", "cannot_tell"]

OTHER_PROMISES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)


@dataclass(frozen=True, slots=True)
class ShownRisk:
    """The clusters that a threshold let through and should not have.

    Attributes:
        promised: What was promised, in (0, 1).
        hits: Clusters with an answer on the wrong side.
        clusters: Clusters with such an answer at all.
        answers: Such answers.
        low: Exact one-sided lower bound of the share of clusters, at the promise's confidence.
        high: The upper bound; the promise is shown where it is at most ``promised``.
    """

    promised: Share
    hits: Count
    clusters: Count
    answers: Count
    low: Share
    high: Share

    @property
    def rate(self) -> float | None:
        """The share of clusters; None for none."""
        return self.hits / self.clusters if self.clusters else None


@dataclass(frozen=True, slots=True)
class GateShare:
    """The share of answers that goes one way, with its interval at 95 %."""

    of: AnswerGroup
    way: WayOut
    answers: Count
    total: Count
    low: Share | None
    high: Share | None

    @property
    def share(self) -> float | None:
        """The share; None of no answers."""
        return self.answers / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class OtherPromise:
    """The threshold that another promise would bring.

    Attributes:
        pass_at: The lowest score that it lets pass; None if the labels cannot carry it.
        faithful: The share of faithful answers that passes, unscored ones among them.
        answers: The share of all answers that passes.
    """

    max_false_pass: float
    pass_at: float | None
    faithful: float
    answers: float


@dataclass(frozen=True, slots=True)
class CheckedPromise:
    """One promise and what new labels show of it.

    ``state`` is ``holds`` where even the upper bound of the share is within the promise,
    ``broken`` where even the lower one is above it. ``needed`` is with how many clusters the
    promise would hold if no more went wrong; None where it is settled.
    """

    promise: Promise
    risk: ShownRisk
    state: PromiseState
    needed: int | None


@dataclass(frozen=True, slots=True)
class OpenPromise:
    """Bounds of the share that goes the wrong way, whatever those are that nobody labelled.

    Attributes:
        worst: If all that could go wrong are such answers, and the others are not.
        best: If it is the other way round.
    """

    promise: Promise
    worst: float
    best: float


def check_promises(max_false_pass: float, confidence: float, max_false_block: float | None) -> None:
    """Check that the promised shares lie between 0 and 1, and the confidence between .5 and 1."""
    faults = [
        f"{argument(name)} is {bound!r}; it must be a share inside (0, 1)."
        for name, bound in (
            ("max_false_pass", max_false_pass),
            ("max_false_block", max_false_block),
        )
        if bound is not None and not (is_share(bound) and 0 < float(bound) < 1)
    ]
    if not (is_share(confidence) and 0.5 < float(confidence) < 1):
        faults.append(f"The confidence is {confidence!r}; it must lie inside (.5, 1).")
    if faults:
        raise InputError(" ".join(faults))


def find_block_below(
    scored: ScoredLabels, bound: float, confidence: float, *, pass_at: float
) -> float:
    """Find the score below which answers may be blocked; never above ``pass_at``."""
    # Scores up to that of the threshold may be blocked; what passes is not.
    least = -kept_at(scored, "max_false_block", bound, confidence)
    return float(min([pass_at, *scored.scores[scored.scores > least].tolist()]))


def shown_risk(
    scored: ScoredLabels, promise: Promise, at: float, promised: float, confidence: float
) -> ShownRisk:
    """Count the clusters that have an answer which passes or is blocked, and should not be."""
    wrong = _goes_wrong(scored, promise)
    hit, clusters = _goes(scored.scores[wrong], promise, at), scored.clusters[wrong]
    n, hits = len(np.unique(clusters)), len(np.unique(clusters[hit]))
    low = risk_control.lower_bound(hits, n, confidence=confidence)
    high = risk_control.upper_bound(hits, n, confidence=confidence)
    return ShownRisk(promised, hits, n, len(hit), low, high)


def other_promises(
    scored: ScoredLabels, answers: int, faithful: int, confidence: float
) -> Iterator[OtherPromise]:
    """Yield what other promises would let pass, of so many answers, unscored ones among them."""
    for bound in OTHER_PROMISES:
        at = _threshold(scored, "max_false_pass", bound, confidence).value
        passes = scored.scores >= (np.inf if at is None else at)
        yield OtherPromise(
            bound,
            at,
            float((passes & scored.faithful).sum()) / faithful if faithful else 0.0,
            float(passes.sum()) / answers,
        )


def checked_promise(promise: Promise, risk: ShownRisk, confidence: float) -> CheckedPromise:
    """Tell what new labels show of a promise."""
    if risk.high <= risk.promised:
        return CheckedPromise(promise, risk, "holds", None)
    if risk.low > risk.promised:
        return CheckedPromise(promise, risk, "broken", None)
    needed = risk_control.rows_needed(risk.promised, confidence=confidence, hits=risk.hits)
    return CheckedPromise(promise, risk, "cannot_tell", needed)


def if_open(
    rows: ScoredLabels, pass_at: float, block_below: float | None
) -> tuple[OpenPromise, ...]:
    """Tell what those that nobody labelled could make of each promise; nothing without such.

    Nothing either where more are open than labelled: these are still to come. An answer without a
    score never goes wrong.
    """
    scores = np.array(rows.left_open)
    if not 0 < len(scores) <= len(rows):
        return ()
    unknown = np.isnan(scores)
    thresholds: dict[Promise, float | None]
    thresholds = {"max_false_pass": pass_at, "max_false_block": block_below}
    bounds = []
    for promise, at in thresholds.items():
        if at is None:
            continue
        these, could = _goes_wrong(rows, promise), _goes(scores, promise, at)
        hits, n = int((these & _goes(rows.scores, promise, at)).sum()), int(these.sum())
        worst, best = int((could | unknown).sum()), int((~could).sum())
        bounds.append(
            OpenPromise(promise, (hits + worst) / max(1, n + worst), hits / max(1, n + best))
        )
    return tuple(bounds)


def shares_of(ways: Sequence[WayOut], rows: ScoredLabels) -> Iterator[GateShare]:
    """Yield the share of answers for each way out, of all and by what people called them."""
    went = np.array(ways)
    groups: tuple[tuple[AnswerGroup, Bools], ...] = (
        ("all", np.ones(len(went), dtype=np.bool_)),
        ("faithful", rows.faithful),
        ("unfaithful", ~rows.faithful),
    )
    for of, these in groups:
        codes = np.unique(rows.clusters[these], return_inverse=True)[1]
        counts = sums_by(codes, np.ones(len(codes)))
        for way in WAYS_OUT:
            goes = (went[these] == way).astype(np.float64)
            share = mean_interval(sums_by(codes, goes), counts, rate=True, low=0, high=1)
            yield GateShare(of, way, int(goes.sum()), len(goes), **ends_of(share.interval))


def _goes_wrong(scored: ScoredLabels, promise: Promise) -> Bools:
    return ~scored.faithful if promise == "max_false_pass" else scored.faithful


def _goes(scores: Floats, promise: Promise, at: float) -> Bools:
    """Tell which scores pass, or are blocked, at a threshold."""
    return scores >= at if promise == "max_false_pass" else scores < at


def _threshold(
    scored: ScoredLabels,
    promise: Promise,
    bound: float,
    confidence: float,
    *,
    clustered: bool = True,
) -> risk_control.PromisedThreshold:
    """Find from which score on answers may pass: those that must not will rarely reach it.

    To block is the mirror of it, with the sign of the scores changed.
    """
    wrong = _goes_wrong(scored, promise)
    scores = scored.scores if promise == "max_false_pass" else -scored.scores
    return risk_control.promised_threshold(
        scores[wrong], among=scores[~wrong], bound=bound, confidence=confidence,
        clusters=scored.clusters[wrong] if clustered else None,
    )  # fmt: skip


def kept_at(scored: ScoredLabels, promise: Promise, bound: float, confidence: float) -> float:
    """Find the lowest score at which answers may pass; to block, with the sign changed."""
    threshold = _threshold(scored, promise, bound, confidence)
    if threshold.value is None:
        independent = _threshold(scored, promise, bound, confidence, clustered=False)
        raise _refused(promise, threshold, independent, scored)
    return threshold.value


def surplus_words(surplus: int) -> str:
    """Say that labels were left out, for they were likelier to be drawn than others."""
    return (
        f"{surplus:,} left out at random, because answers like these were more likely to be "
        "drawn than the others"
    )


# A promise is told in four decimals, rounded up, so that it can be asked for as it is told.
PLACES = 10_000


# By promise: the answers it is about, the outcome it limits, the end of the scores where they
# should not be, and the other answers.
WORDS = {
    "max_false_pass": ("unfaithful", "pass", "highest", "faithful"),
    "max_false_block": ("faithful", "are blocked", "lowest", "unfaithful"),
}


def _refused(
    promise: Promise,
    grouped: risk_control.PromisedThreshold,
    independent: risk_control.PromisedThreshold,
    labels: ScoredLabels,
) -> PromiseRefused:
    """Say why there is no threshold, by clusters or if all answers were independent."""
    wrong = _goes_wrong(labels, promise)
    candidates = int((~wrong).sum())
    of, goes, end, others = WORDS[promise]
    assert grouped.reason is not None
    needed = risk_control.rows_needed(grouped.bound, confidence=grouped.confidence)
    spare = risk_control.rows_needed(grouped.bound, confidence=grouped.confidence, hits=1)
    more = max(0, needed - grouped.clusters) if grouped.reason != "not_apart" else None
    uppers = (ceil(known.upper * PLACES - 1e-9) / PLACES for known in (grouped, independent))
    tightest, alone = (upper if candidates and upper < 1 else None for upper in uppers)
    clustered = grouped.clusters < grouped.rows
    lines = [
        f"The labels cannot carry the promise that at most {100 * grouped.bound:.4g} % of "
        f"{of} answers {goes}, at a confidence of {100 * grouped.confidence:g} %.",
        f"  labelled  {_counted(grouped.rows, f'{of} answer')} with a score",
    ]
    if clustered:
        lines[-1] += (
            f" in {_counted(grouped.clusters, 'cluster')}: of the answers to one question, or from "
            "one set of contexts, the worst one counts"
        )
    if labels.surplus:
        lines.append(f"  drawn     {surplus_words(labels.surplus)}")
    if grouped.reason == "not_apart":
        lines.append(
            f"  scores    {grouped.hits:,} of {grouped.clusters:,} reach the {end} score of the "
            f"{others} answers: more labels alone do not change that"
            if candidates
            else f"  scores    no {others} answer has one, so none could be told apart"
        )
    if tightest is not None:
        lines.append(f"  tightest  {argument(promise, tightest)} is what they can carry")
        if alone is not None and alone < tightest:
            lines[-1] += f"; it would be {alone:g} if all answers were independent, which they are"
            lines[-1] += " not"
    kind = "an unfaithful answer" if of == "unfaithful" else "a faithful answer"
    unit = f"clusters with {kind}" if clustered else f"independent {of} answers"
    lines.append(
        f"  needed    {needed:,} {unit} if none of them goes wrong, {spare:,} if one does"
        + (f": {more:,} more" if more else "")
    )
    return PromiseRefused(
        "\n".join(lines),
        promise=promise,
        bound=grouped.bound,
        confidence=grouped.confidence,
        why=grouped.reason,
        answers=grouped.rows,
        clusters=grouped.clusters,
        tightest=tightest,
        tightest_if_independent=alone,
        needed=needed,
        more=more,
    )


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
