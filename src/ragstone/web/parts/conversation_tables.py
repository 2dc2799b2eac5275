"""Conversation tables: figures of whole sessions in a run, and in production over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ragstone.analysis.summaries.session_figures import ConversationFigure, ConversationFigures
from ragstone.monitor.series.metric_over_time import (
    Facet,
    MeanInWindow,
    MetricOverTime,
    value_range,
)
from ragstone.monitor.series.overview import DeployMarker, SessionWindow, turns_in_time
from ragstone.monitor.store.store import MonitorStore
from ragstone.report.number_format import counted, ends, in_percent, number, short_name
from ragstone.report.pages.conversations_page import sentence
from ragstone.report.reason_words import words
from ragstone.stats.sessions import SessionEstimate
from ragstone.web.templating import minus

from .metric_bands import band_drawn, shown_moment


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


WINDOWS = 12
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """Figures of the conversations of a window.

    Attributes:
        metric: Its text form.
        slice: Of which traffic; None: of all.
        whole: Over all of it.
        course: The same in windows.
    """

    metric: str
    slice: Facet | None
    whole: SessionWindow
    course: tuple[SessionWindow, ...]


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A window in the table."""

    when: str
    worst: FigureCell
    mean: FigureCell
    resolved: FigureCell


@dataclass(frozen=True, slots=True)
class ShownWholeConversations:
    """What is shown of them.

    Attributes:
        figures: Each with what it is.
        rests_on: On how many conversations, in words.
        why: Why nothing is drawn; empty if something is.
        drawn: The mean of the turns over time.
        rows: All figures over time.
    """

    figures: tuple[tuple[str, FigureCell], ...]
    rests_on: str
    why: str
    drawn: Markup
    rows: tuple[WindowRow, ...]


def conversation_facts(
    store: MonitorStore, metric: str, since: float, until: float, slice: Facet | None
) -> ConversationFacts:
    """Read the figures.

    Args:
        store: What is monitored.
        metric: Its text form.
        since: In seconds since the epoch.
        until: Later than that.
        slice: That a turn of each conversation has; None: all.
    """
    read = turns_in_time(store, metric, since=since, until=until, slice=slice)
    (whole,), course = read.windows(1), read.windows(WINDOWS)
    return ConversationFacts(metric, slice, whole, course)


def whole_conversations(
    facts: ConversationFacts, deploys: Sequence[DeployMarker]
) -> ShownWholeConversations | None:
    """What is shown of them; None where no answer has a session."""
    whole = facts.whole
    if not whole.sessions and not whole.left_out:
        return None
    left = f", {whole.left_out:,} more not judged whole" if whole.left_out else ""
    single = whole.mean_of_turns.n_undefined
    alone = f", {single:,} of them without a figure: one turn, or no turn with a score"
    drawn = band_drawn(_series(facts), (), deploys, bar=None, base=None)
    figures = [("mean of turns", whole.mean_of_turns)]
    figures += [] if whole.worst_turn is None else [("worst turn", whole.worst_turn)]
    figures += [("resolved", whole.resolved)]
    return ShownWholeConversations(
        tuple((name, _session_cell(one)) for name, one in figures),
        f"{counted(whole.sessions, 'whole conversation')}{alone if single else ''}{left}",
        "" if drawn else "no conversation of several turns was judged whole",
        drawn,
        tuple(_row(one) for one in reversed(facts.course) if one.sessions),
    )


def _series(facts: ConversationFacts) -> MetricOverTime:
    """The mean of the turns as a course, with intervals in the place of a band."""
    first, last = facts.course[0], facts.course[-1]
    return MetricOverTime(
        facts.metric,
        facts.slice,
        value_range(facts.metric),
        first.start,
        last.end,
        first.end - first.start,
        first.end - first.start,
        LEVEL,
        tuple(_window(one) for one in facts.course),
        None,
        1.0,
    )


def _window(one: SessionWindow) -> MeanInWindow:
    mean = one.mean_of_turns
    low, high = (None, None) if mean.interval is None else (mean.interval.low, mean.interval.high)
    return MeanInWindow(
        one.start, one.end, mean.value, low, high, low, high, mean.n, mean.n_undefined,
        mean.n_missing, mean.worst, mean.best,
    )  # fmt: skip


def _row(one: SessionWindow) -> WindowRow:
    return WindowRow(
        shown_moment(one.start).words,
        FigureCell("") if one.worst_turn is None else _session_cell(one.worst_turn),
        _session_cell(one.mean_of_turns),
        _session_cell(one.resolved),
    )


def _session_cell(one: SessionEstimate) -> FigureCell:
    left = ""
    if one.n_missing and one.worst is not None and one.best is not None:
        left = minus(ends(*sorted((one.worst, one.best))))
    if one.value is None:
        status = "missing" if one.n_missing else "undefined" if one.n_undefined else ""
        return FigureCell(status, n=one.n, missing=one.n_missing, open=left)
    interval = "" if one.interval is None else minus(ends(one.interval.low, one.interval.high))
    return FigureCell("value", minus(number(one.value)), interval, one.n, one.n_missing, left)
