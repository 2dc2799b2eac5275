"""Monitor drift: whether what is asked, retrieved and answered is what it was, and the judge."""

import time
from dataclasses import dataclass

from ragstone.monitor.series.drift import Drift, FeatureDrift, JudgeDrift, drift, judge_drift
from ragstone.report.number_format import number, p_word, signed
from ragstone.run import Run
from ragstone.web.asked import Asked
from ragstone.web.parts.metric_names import said_metric
from ragstone.web.parts.moments import shown_moment
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.watching import Watching
from ragstone.web.web_page import WebPage

from .monitor_tabs import HERE, MONITOR_TABS

FEATURE_NAMES = {
    "question_length": "length of the question, characters",
    "question_non_ascii": "letters of the question that are not plain Latin, share",
    "contexts": "passages retrieved",
    "without_contexts": "answers without a passage, share",
    "top_retrieval_score": "best retrieval score",
    "answer_length": "length of the answer, characters",
    "guard_confidence": "confidence of the guard",
}
MOVED, STILL, OPEN = ("partial", "moved"), ("cannot_tell", "no sign"), ("cannot_tell", "open")


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """A feature then and now."""

    name: str
    before: str
    now: str
    distance: str
    p: str
    n: str
    state: tuple[str, str]


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """What the judge says of the anchors, first and last."""

    metric: str
    first: str
    last: str
    change: str
    interval: str
    n: str
    state: tuple[str, str]


def drift_page(place: RunsFolder, asked: Asked) -> WebPage:  # noqa: ARG001
    """What moved in the last whole day, and in what the judge says of its anchors.

    Raises:
        NotThere: Nothing is monitored.
        InputError: The baseline run cannot be read.
    """
    watching = place.watching()
    found = drift(watching.store, time.time(), baseline=_baseline(watching))
    judges = judge_drift(watching.store)
    return WebPage(
        "monitor_drift.html",
        "Drift in production",
        {
            "tabs": MONITOR_TABS,
            "said": _said(found, judges),
            "day": shown_moment(found.since),
            "of": found.of,
            "features": [_feature(one) for one in found.features],
            "judges": [_judge(one) for one in judges],
        },
        here=HERE,
    )


def _baseline(watching: Watching) -> Run | None:
    path = None if watching.settings is None else watching.settings.baseline.run
    return None if path is None else Run.open(path)


def _said(found: Drift, judges: tuple[JudgeDrift, ...]) -> str:
    """The answer before the tables."""
    moved = [FEATURE_NAMES[one.feature].split(",")[0] for one in found.features if one.moved]
    about = [said_metric(one.metric) for one in judges if one.moved]
    told = []
    if moved:
        told.append(f"What comes has changed: {', '.join(moved)}.")
    elif found.features:
        told.append("What comes shows no sign of change.")
    else:
        told.append("Of the last whole day too little is known to say whether what comes changed.")
    if about:
        told.append(f"The judge has changed: {', '.join(about)}.")
    elif judges:
        told.append("The judge says of the same answers what it said at first.")
    return " ".join(told)


def _feature(one: FeatureDrift) -> FeatureRow:
    return FeatureRow(
        FEATURE_NAMES[one.feature],
        number(one.before),
        number(one.now),
        number(one.distance),
        p_word(one.p_adjusted),
        f"{one.n_before:,} / {one.n_now:,}",
        MOVED if one.moved else STILL,
    )


def _judge(one: JudgeDrift) -> JudgeRow:
    known = one.low is not None and one.high is not None
    return JudgeRow(
        said_metric(one.metric),
        number(one.first),
        number(one.last),
        signed(one.change),
        f"{signed(one.low)} … {signed(one.high)}" if known else "",
        f"{one.n:,}",
        (MOVED if one.moved else STILL) if known else OPEN,
    )
