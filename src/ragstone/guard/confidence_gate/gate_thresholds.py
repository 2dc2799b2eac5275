"""Gate thresholds: the scores from which answers pass or are blocked, and how promises are kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ragstone.core.errors import InputError, PromiseRefused
from ragstone.core.messages import argument
from ragstone.guard.assessment import WAYS_OUT, WayOut
from ragstone.guard.guard_input import is_share
from ragstone.stats import ends_of, mean_interval
from ragstone.stats.risk_control import (
    PromisedThreshold,
    lower_bound,
    promised_threshold,
    rows_needed,
    upper_bound,
)
from ragstone.stats.weights_and_groups import sums_by

from .gate_labels import ScoredLabels

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
AnswerGroup = Literal["all", "faithful", "unfaithful"]
Promise = Literal["max_false_pass", "max_false_block"]
PromiseState = Literal["holds", "broken", "cannot_tell"]

OTHER_PROMISES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3)


@dataclass(frozen=True, slots=True)
class ShownRisk:
    """How many clusters a threshold let through that it should not have.

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

    @classmethod
    def of(
        cls,
        hit: NDArray[np.bool_],
        clusters: NDArray[np.int64],
        *,
        promised: float,
        confidence: float,
    ) -> "ShownRisk":
        """What labels show.

        Args:
            hit: Shape (n,), whether each answer is on the wrong side.
            clusters: Shape (n,), the cluster of each.
            promised: What was promised.
            confidence: Of the bounds.
        """
        n, hits = len(np.unique(clusters)), len(np.unique(clusters[hit]))
        low = lower_bound(hits, n, confidence=confidence)
        high = upper_bound(hits, n, confidence=confidence)
        return cls(promised, hits, n, len(hit), low, high)

    @property
    def rate(self) -> float | None:
        """The share of clusters; None for none."""
        return self.hits / self.clusters if self.clusters else None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "promised": self.promised,
            "hits": self.hits,
            "clusters": self.clusters,
            "answers": self.answers,
            "low": self.low,
            "high": self.high,
        }


@dataclass(frozen=True, slots=True)
class GateShare:
    """What share of answers goes one way, with its interval at 95 %.

    Attributes:
        of: Of which answers: ``all``, ``faithful`` or ``unfaithful``.
        way: ``pass``, ``ask`` or ``block``.
        answers: How many of them go this way.
        total: How many there are.
    """

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
    """What another promise would bring.

    Attributes:
        max_false_pass: The promise.
        pass_at: From which score on it lets pass; None if the labels cannot carry it.
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
    """What share of the answers goes the wrong way, whatever those are that nobody labelled.

    Attributes:
        promise: What must seldom happen to these answers.
        worst: If all that could go wrong are such answers, and the others are not.
        best: If it is the other way round.
    """

    promise: Promise
    worst: float
    best: float


def check_promises(max_false_pass: float, confidence: float, max_false_block: float | None) -> None:
    """Check that promises and their confidence are shares in their ranges.

    Raises:
        InputError: Lists each that is not.
    """
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


def find_pass_at(scored: ScoredLabels, bound: float, confidence: float) -> float:
    """The lowest score at which answers may pass.

    Raises:
        PromiseRefused: The labels cannot carry the promise.
    """
    passing = _passing(scored, bound, confidence)
    if passing.value is None:
        independent = _passing(scored, bound, confidence, clustered=False)
        raise _refused(
            "max_false_pass", passing, independent, int(scored.faithful.sum()), scored.surplus
        )
    return passing.value


def find_block_below(
    scored: ScoredLabels, bound: float, confidence: float, *, pass_at: float
) -> float:
    """The score below which answers may be blocked; never above ``pass_at``.

    Raises:
        PromiseRefused: The labels cannot carry the promise.
    """
    blocking = _blocking(scored, bound, confidence)
    if blocking.value is None:
        independent = _blocking(scored, bound, confidence, clustered=False)
        raise _refused(
            "max_false_block", blocking, independent, int((~scored.faithful).sum()), scored.surplus
        )
    # Scores up to that of the threshold may be blocked; what passes is not.
    above = scored.scores[scored.scores > -blocking.value]
    return float(min([pass_at, *above.tolist()]))


def false_pass(
    scored: ScoredLabels, pass_at: float, promised: float, confidence: float
) -> ShownRisk:
    """How many clusters have an unfaithful answer that passes."""
    bad = ~scored.faithful
    return ShownRisk.of(
        scored.scores[bad] >= pass_at,
        scored.clusters[bad],
        promised=promised,
        confidence=confidence,
    )


def false_block(
    scored: ScoredLabels, block_below: float, promised: float, confidence: float
) -> ShownRisk:
    """How many clusters have a faithful answer that is blocked."""
    good = scored.faithful
    return ShownRisk.of(
        scored.scores[good] < block_below,
        scored.clusters[good],
        promised=promised,
        confidence=confidence,
    )


def other_promises(
    scored: ScoredLabels, answers: int, faithful: int, confidence: float
) -> Iterator[OtherPromise]:
    """What other promises would let pass, of so many answers, unscored ones among them."""
    for bound in OTHER_PROMISES:
        at = _passing(scored, bound, confidence).value
        passes = scored.scores >= (np.inf if at is None else at)
        yield OtherPromise(
            bound,
            at,
            float((passes & scored.faithful).sum()) / faithful if faithful else 0.0,
            float(passes.sum()) / answers,
        )


def checked_promise(promise: Promise, risk: ShownRisk, confidence: float) -> CheckedPromise:
    """What new labels show of a promise."""
    if risk.high <= risk.promised:
        return CheckedPromise(promise, risk, "holds", None)
    if risk.low > risk.promised:
        return CheckedPromise(promise, risk, "broken", None)
    needed = rows_needed(risk.promised, confidence=confidence, hits=risk.hits)
    return CheckedPromise(promise, risk, "cannot_tell", needed)


def if_open(
    rows: ScoredLabels, pass_at: float, block_below: float | None
) -> tuple[OpenPromise, ...]:
    """What those that nobody labelled could make of each promise; nothing if there are none.

    Nothing either where more are open than labelled: these are still to come. An answer without a
    score never goes wrong.
    """
    scores = np.array(rows.left_open)
    if not 0 < len(scores) <= len(rows):
        return ()
    unknown = np.isnan(scores)
    sides: list[tuple[Promise, NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]] = [
        ("max_false_pass", ~rows.faithful, rows.scores >= pass_at, scores >= pass_at)
    ]
    if block_below is not None:
        below = rows.scores < block_below, scores < block_below
        sides.append(("max_false_block", rows.faithful, *below))
    found = []
    for promise, these, goes_wrong, could in sides:
        hits, n = int((these & goes_wrong).sum()), int(these.sum())
        worst, best = int((could | unknown).sum()), int((~could).sum())
        bounds = (hits + worst) / max(1, n + worst), hits / max(1, n + best)
        found.append(OpenPromise(promise, *bounds))
    return tuple(found)


def shares_of(ways: Sequence[WayOut], rows: ScoredLabels) -> Iterator[GateShare]:
    """What share of the answers goes which way out, over all and by what people said of them."""
    went = np.array(ways)
    groups: tuple[tuple[AnswerGroup, NDArray[np.bool_]], ...] = (
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


def _passing(
    scored: ScoredLabels, bound: float, confidence: float, *, clustered: bool = True
) -> PromisedThreshold:
    """From which score on answers may pass: unfaithful ones must rarely reach it."""
    bad = ~scored.faithful
    return promised_threshold(
        scored.scores[bad],
        among=scored.scores[~bad],
        bound=bound,
        confidence=confidence,
        clusters=scored.clusters[bad] if clustered else None,
    )


def _blocking(
    scored: ScoredLabels, bound: float, confidence: float, *, clustered: bool = True
) -> PromisedThreshold:
    """Up to which score answers may be blocked, with its sign changed: the mirror of passing."""
    good = scored.faithful
    return promised_threshold(
        -scored.scores[good],
        among=-scored.scores[~good],
        bound=bound,
        confidence=confidence,
        clusters=scored.clusters[good] if clustered else None,
    )


def surplus_words(surplus: int) -> str:
    """Why labels were left out that were likelier to be drawn than others."""
    return (
        f"{surplus:,} left out at random, because answers like these were more likely to be "
        "drawn than the others"
    )


PLACES = 10_000
"""A promise is told in four decimals, rounded up, so that it can be asked for as it is told."""


class _Words(NamedTuple):
    """``of``: the answers that must not go the wrong way; ``goes``: that way; ``end``: the end of
    the scores where they should not be; ``others``: the answers that should be there."""

    of: str
    goes: str
    end: str
    others: str


WORDS: dict[str, _Words] = {
    "max_false_pass": _Words("unfaithful", "pass", "highest", "faithful"),
    "max_false_block": _Words("faithful", "are blocked", "lowest", "unfaithful"),
}


def _refused(
    promise: Promise,
    found: PromisedThreshold,
    independent: PromisedThreshold,
    candidates: int,
    surplus: int,
) -> PromiseRefused:
    """The error that says why there is no threshold.

    Args:
        promise: Which promise cannot be kept.
        found: What was looked for, by clusters.
        independent: The same, if all answers were independent.
        candidates: How many answers there are that should go this way.
        surplus: How many labels were left out, for they were likelier to be drawn.
    """
    assert found.reason is not None
    needed = rows_needed(found.bound, confidence=found.confidence)
    spare = rows_needed(found.bound, confidence=found.confidence, hits=1)
    more = max(0, needed - found.clusters) if found.reason != "not_apart" else None
    tightest, alone = (
        _rounded_up(one.upper) if candidates else None for one in (found, independent)
    )
    words = WORDS[promise]
    clustered = found.clusters < found.rows
    lines = [
        f"The labels cannot carry the promise that at most {100 * found.bound:.4g} % of "
        f"{words.of} answers {words.goes}, at a confidence of {100 * found.confidence:g} %.",
        f"  labelled  {_counted(found.rows, f'{words.of} answer')} with a score",
    ]
    if clustered:
        lines[-1] += (
            f" in {_counted(found.clusters, 'cluster')}: of the answers to one question, or from "
            "one set of contexts, the worst one counts"
        )
    if surplus:
        lines.append(f"  drawn     {surplus_words(surplus)}")
    if found.reason == "not_apart":
        lines.append(
            f"  scores    {found.hits:,} of {found.clusters:,} reach the {words.end} score of the "
            f"{words.others} answers: more labels alone do not change that"
            if candidates
            else f"  scores    no {words.others} answer has one, so none could be told apart"
        )
    if tightest is not None:
        lines.append(f"  tightest  {argument(promise, tightest)} is what they can carry")
        if alone is not None and alone < tightest:
            lines[-1] += f"; it would be {alone:g} if all answers were independent, which they are"
            lines[-1] += " not"
    kind = "an unfaithful answer" if words.of == "unfaithful" else "a faithful answer"
    unit = f"clusters with {kind}" if clustered else f"independent {words.of} answers"
    lines.append(
        f"  needed    {needed:,} {unit} if none of them goes wrong, {spare:,} if one does"
        + (f": {more:,} more" if more else "")
    )
    return PromiseRefused(
        "\n".join(lines),
        promise=promise,
        bound=found.bound,
        confidence=found.confidence,
        why=found.reason,
        answers=found.rows,
        clusters=found.clusters,
        tightest=tightest,
        tightest_if_independent=alone,
        needed=needed,
        more=more,
    )


def _rounded_up(bound: float) -> float | None:
    up = ceil(bound * PLACES - 1e-9) / PLACES
    return up if up < 1 else None


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
