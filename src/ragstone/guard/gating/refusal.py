"""Refusal: why labels cannot carry a promise, the tightest one they can, and what is needed."""

from math import ceil
from typing import Literal, NamedTuple

from ragstone.core.errors import PromiseRefused
from ragstone.core.messages import argument
from ragstone.stats.risk_control import PromisedThreshold, rows_needed

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


def refused(
    promise: Literal["max_false_pass", "max_false_block"],
    found: PromisedThreshold,
    independent: PromisedThreshold,
    candidates: int,
) -> PromiseRefused:
    """The error that says why there is no threshold.

    Args:
        promise: Which promise cannot be kept.
        found: What was looked for, by clusters.
        independent: The same, if all answers were independent.
        candidates: How many answers there are that should go this way.
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
