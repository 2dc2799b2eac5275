"""Conversation tables: figures of whole sessions in a run, and in production over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.analysis.summaries.session_figures import ConversationFigures
from ragstone.monitor.series.metric_over_time import (
    Facet,
    MeanInWindow,
    MetricOverTime,
    value_range,
)
from ragstone.monitor.series.overview import DeployMarker, SessionWindow, turns_in_time
from ragstone.monitor.store.store import MonitorStore
from ragstone.report.number_format import counted, in_percent
from ragstone.report.pages.conversations_page import sentence
from ragstone.report.reason_words import words
from ragstone.web.templating import View

from .metric_bands import band_drawn


def shown_conversations(
    conversations: ConversationFigures | None, suites: Sequence[str] = ()
) -> View | None:
    """Return what the macro ``conversations`` shows of a run; None if the run has none."""
    if not conversations:
        return None
    by = {(figure.figure, figure.metric, figure.system): figure for figure in conversations.figures}
    means = [figure for figure in conversations.figures if figure.figure == "mean_of_turns"]
    metrics = list(dict.fromkeys(mean.metric for mean in means))
    means.sort(key=lambda mean: metrics.index(mean.metric))
    return {
        "said": sentence(conversations),
        "level": conversations.figures[0].level,
        "percent": in_percent(suites),
        "systems": [
            (counts, by.get(("resolved", None, counts.system))) for counts in conversations.counts
        ],
        "unresolved": words(conversations.unresolved) if conversations.unresolved else "",
        "rows": [(mean, by.get(("worst_turn", mean.metric, mean.system))) for mean in means],
    }


WINDOWS = 12
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class ConversationFacts:
    """Figures of the conversations of a window."""

    metric: str
    slice: Facet | None
    whole: SessionWindow
    course: tuple[SessionWindow, ...]


def conversation_facts(
    store: MonitorStore, metric: str, since: float, until: float, slice: Facet | None
) -> ConversationFacts:
    """Read the figures."""
    read = turns_in_time(store, metric, since=since, until=until, slice=slice)
    (whole,), course = read.windows(1), read.windows(WINDOWS)
    return ConversationFacts(metric, slice, whole, course)


def whole_conversations(facts: ConversationFacts, deploys: Sequence[DeployMarker]) -> View | None:
    """Return what the first screen shows of conversations; None where no answer has a session."""
    whole = facts.whole
    if not whole.sessions and not whole.left_out:
        return None
    left = f", {whole.left_out:,} more not judged whole" if whole.left_out else ""
    single = whole.mean_of_turns.n_undefined
    alone = f", {single:,} of them without a figure: one turn, or no turn with a score"
    drawn = band_drawn(_series(facts), (), deploys, bar=None, base=None)
    worst = [] if whole.worst_turn is None else [("worst turn", whole.worst_turn)]
    return {
        "figures": [("mean of turns", whole.mean_of_turns), *worst, ("resolved", whole.resolved)],
        "rests_on": f"{counted(whole.sessions, 'whole conversation')}"
        f"{alone if single else ''}{left}",
        "why": "" if drawn else "no conversation of several turns was judged whole",
        "drawn": drawn,
        "windows": [window for window in reversed(facts.course) if window.sessions],
    }


def _series(facts: ConversationFacts) -> MetricOverTime:
    first, last = facts.course[0], facts.course[-1]
    step = first.end - first.start
    return MetricOverTime(
        facts.metric, facts.slice, value_range(facts.metric), first.start, last.end, step, step,
        LEVEL, tuple(map(_window, facts.course)), None, 1.0,
    )  # fmt: skip


def _window(window: SessionWindow) -> MeanInWindow:
    mean = window.mean_of_turns
    low, high = (None, None) if mean.interval is None else (mean.interval.low, mean.interval.high)
    return MeanInWindow(
        window.start, window.end, mean.value, low, high, low, high, mean.n, mean.n_undefined,
        mean.n_missing, mean.worst, mean.best,
    )  # fmt: skip
