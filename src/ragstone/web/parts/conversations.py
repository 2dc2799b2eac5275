"""Conversations: the figures of whole sessions, those of the systems and those of each metric."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.analysis.summaries.session_figures import ConversationFigure, ConversationFigures
from ragstone.report.number_format import ends, in_percent, number, short_name
from ragstone.report.pages.failures_page import sentence
from ragstone.report.reason_words import words


@dataclass(frozen=True, slots=True)
class FigureCell:
    """A figure with its interval as they are written; empty if there is none.

    ``status`` is ``value``, ``missing``, ``undefined``, or empty where it is not asked for.
    ``open`` says where it would lie if the missing turns were known.
    """

    status: str
    value: str = ""
    interval: str = ""
    n: int = 0
    missing: int = 0
    open: str = ""


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A metric of a system: its worst turn and the mean of its turns."""

    name: str
    better: str
    who: str
    worst: FigureCell
    mean: FigureCell


@dataclass(frozen=True, slots=True)
class ResolvedRow:
    """The conversations of a system: how many, of how many turns, and the share resolved."""

    who: str
    n: int
    single: int
    turns: str
    resolved: FigureCell


@dataclass(frozen=True, slots=True)
class ShownConversations:
    """The conversations of a run.

    Attributes:
        said: They in a sentence.
        level: Of the intervals.
        systems: A system each.
        unresolved: Why no share is known; empty if one is.
        rows: A metric and system each.
    """

    said: str
    level: float
    systems: tuple[ResolvedRow, ...]
    unresolved: str
    rows: tuple[ConversationRow, ...]


def shown_conversations(
    found: ConversationFigures | None, suites: Sequence[str] = ()
) -> ShownConversations | None:
    """What is shown of them; None if the run has none.

    Args:
        found: The figures of a run.
        suites: Of the run, which say whether values are in percent.
    """
    if not found:
        return None
    percent = in_percent(suites)
    by = {(one.figure, one.metric, one.system): one for one in found.figures}
    means = [one for one in found.figures if one.figure == "mean_of_turns"]
    metrics = list(dict.fromkeys(one.metric for one in means))
    rows = [
        ConversationRow(
            short_name(one.metric or ""),
            one.better,
            one.system,
            _cell(by.get(("worst_turn", one.metric, one.system)), percent=percent),
            _cell(one, percent=percent),
        )
        for one in sorted(means, key=lambda one: metrics.index(one.metric))
    ]
    systems = [
        ResolvedRow(
            one.system,
            one.n,
            one.single,
            str(one.longest) if one.shortest == one.longest else f"{one.shortest}–{one.longest}",
            _cell(by.get(("resolved", None, one.system)), percent=False),
        )
        for one in found.counts
    ]
    return ShownConversations(
        sentence(found),
        found.figures[0].level,
        tuple(systems),
        words(found.unresolved) if found.unresolved else "",
        tuple(rows),
    )


def _cell(one: ConversationFigure | None, *, percent: bool) -> FigureCell:
    if one is None:
        return FigureCell("")
    left = ""
    if one.n_missing and one.worst is not None and one.best is not None:
        left = ends(*sorted((one.worst, one.best)), percent=percent)
    if one.value is None:
        status = "missing" if one.n_missing else "undefined"
        return FigureCell(status, n=one.n, missing=one.n_missing, open=left)
    return FigureCell(
        "value", number(one.value, percent=percent), ends(one.low, one.high, percent=percent),
        one.n, one.n_missing, left,
    )  # fmt: skip
