"""Conversation tables: figures of whole sessions in a run, and in production over time."""

from collections.abc import Sequence

from ragstone.analysis.summaries.session_figures import ConversationFigures
from ragstone.monitor.series.metric_over_time import MeanInWindow, MetricOverTime, value_range
from ragstone.monitor.series.overview import SessionWindow, sessions_over_time
from ragstone.monitor.store.rows import Facet
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


def conversation_facts(
    store: MonitorStore, metric: str, since: float, until: float, slice: Facet | None
) -> tuple[SessionWindow, Sequence[SessionWindow]]:
    """Read the figures of the conversations of a time as a whole, and of windows in it."""
    (whole,), course = sessions_over_time(
        store, metric, since=since, until=until, windows=(1, WINDOWS), slice=slice
    )
    return whole, course


def whole_conversations(
    whole: SessionWindow,
    course: Sequence[SessionWindow],
    metric: str,
    slice: Facet | None,
    deploys: Sequence[tuple[str, float]],
) -> View | None:
    """Return what the first screen shows of conversations; None where no answer has a session."""
    if not whole.sessions and not whole.left_out:
        return None
    left = f", {whole.left_out:,} more not judged whole" if whole.left_out else ""
    single = whole.mean_of_turns.n_undefined
    alone = f", {single:,} of them without a figure: one turn, or no turn with a score"
    begin, end = course[0].start, course[-1].end
    step = course[0].end - begin
    series = MetricOverTime(
        metric, slice, value_range(metric), begin, end, step, step, LEVEL,
        tuple(map(_window, course)), None, 1.0,
    )  # fmt: skip
    drawn = band_drawn(series, (), deploys, bar=None, base=None)
    worst = [] if whole.worst_turn is None else [("worst turn", whole.worst_turn)]
    return {
        "figures": [("mean of turns", whole.mean_of_turns), *worst, ("resolved", whole.resolved)],
        "rests_on": f"{counted(whole.sessions, 'whole conversation')}"
        f"{alone if single else ''}{left}",
        "why": "" if drawn else "no conversation of several turns was judged whole",
        "drawn": drawn,
        "windows": [window for window in reversed(course) if window.sessions],
    }


def _window(window: SessionWindow) -> MeanInWindow:
    mean = window.mean_of_turns
    low, high = (None, None) if mean.interval is None else (mean.interval.low, mean.interval.high)
    return MeanInWindow(
        window.start, window.end, mean.value, low, high, low, high, mean.n, mean.n_undefined,
        mean.n_missing, mean.worst, mean.best,
    )  # fmt: skip
