"""Seen answers: rows of a table of answers that were seen in production."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ragstone.monitor.store.stored_examples import ListedExample, ListedScore
from ragstone.report.number_format import number, shortened, spoken

from .metric_bands import GUARD, ShownMoment, said_metric, shown_moment

QUESTION, ANSWER, SCORES = 300, 300, 3


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """An answer in a row.

    Attributes:
        id: Of the example.
        path: Of its page.
        at: When it was given.
        question: Cut.
        answer: Cut.
        scores: Names and values, those that matter most first.
        checks: Shape and word of what the guard says.
        version: Of the deploy; empty if none is known.
    """

    id: str
    path: str
    at: ShownMoment
    question: str
    answer: str
    scores: tuple[tuple[str, str], ...]
    checks: tuple[str, str]
    version: str


def monitor_path(*more: str | int) -> str:
    """The path of a page of the monitor.

    >>> monitor_path("examples", "a/b")
    '/monitor/examples/a%2Fb'
    """
    return "/".join(["/monitor", *(quote(str(part), safe="") for part in more)])


def seen_answers(
    examples: Sequence[ListedExample],
    scores: Mapping[str, Sequence[ListedScore]],
    *,
    first: str = "",
    within: str = "",
) -> list[SeenAnswer]:
    """A row for each example.

    Args:
        examples: In their order.
        scores: By example.
        first: The metric whose score stands first.
        within: The query with which they were found.
    """
    return [_row(one, scores.get(one.id, ()), first, within) for one in examples]


def _row(one: ListedExample, scores: Sequence[ListedScore], first: str, within: str) -> SeenAnswer:
    ranked = sorted(
        (score for score in scores if score.value is not None),
        key=lambda score: (score.metric != first, score.metric.startswith(GUARD), score.metric),
    )
    shown = [each for each in ranked if not each.metric.startswith(GUARD) or each.metric == first]
    kept = f"?{within}" if within else ""
    return SeenAnswer(
        one.id,
        monitor_path("examples", one.id) + kept,
        shown_moment(one.at),
        shortened(one.record.get("question") or "", QUESTION),
        shortened(one.record.get("answer") or "", ANSWER),
        tuple((said_metric(each.metric), each.label or value_of(each)) for each in shown[:SCORES]),
        checks_of(scores),
        one.version or "",
    )


def value_of(score: ListedScore) -> str:
    """A score as a figure; a dash without one."""
    return "–" if score.value is None else number(score.value)


def checks_of(scores: Sequence[ListedScore]) -> tuple[str, str]:
    """Shape and word of what the guard says of an answer."""
    by_metric = {one.metric: one.value for one in scores if one.metric.startswith(GUARD)}
    if by_metric.get(f"{GUARD}ok") == 1:
        return "supported", "passed"
    failed = [
        spoken(name.removeprefix(GUARD))
        for name, value in by_metric.items()
        if value == 0 and name not in (f"{GUARD}ok", f"{GUARD}confidence")
    ]
    if by_metric.get(f"{GUARD}ok") == 0:
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        return "contradicted", f"{failed[0]}{more}" if failed else "failed"
    return "other", "not all judged" if by_metric else "not yet"
