"""Faults: the failure waterfall of a group of answers, a row a stage."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from ragstone.analysis.summaries.failure_stages import (
    NO_FAULT,
    OTHER,
    RETRIEVAL,
    FailureGroups,
    GroupFailures,
    Rate,
    StageFailures,
)
from ragstone.report import charts
from ragstone.report.number_format import SYSTEM, counted
from ragstone.report.page import Tone
from ragstone.report.reason_words import words
from ragstone.report.sentences.summary_words import BECAUSE, COUNTED, FELL_SHORT, NAMES
from ragstone.web.drawing import drawn

OTHERWISE = {OTHER: "and no stage above tells why", NO_FAULT: "did not fall short"}


@dataclass(frozen=True, slots=True)
class FaultRow:
    """A stage of the waterfall.

    Attributes:
        code: Of the stage.
        name: What it is called.
        why: When an answer fails here.
        path: Of the examples that failed here first; empty if there are none.
        n: How many.
        share: Of the judged answers, in percent.
        interval: Of the share.
        bar: The stage, drawn where the stage before it ended.
        beside: Who else failed here.
    """

    code: str
    name: str
    why: str
    path: str
    n: int
    share: str
    interval: str
    bar: Markup
    beside: str


@dataclass(frozen=True, slots=True)
class ShownFaults:
    """The waterfall of a group.

    Attributes:
        name: Of the system; empty if it is over all answers.
        judged: Answers of which it is known whether they fell short.
        short: How many fell short, in words.
        rows: A stage each, no fault last.
        unknown: Stages that cannot be known, each with its reason.
        rules: When an answer falls short, and how it is counted.
        level: Of the intervals.
    """

    name: str
    judged: int
    short: str
    rows: tuple[FaultRow, ...]
    unknown: tuple[tuple[str, str], ...]
    rules: tuple[str, ...]
    level: float


def shown_faults(found: FailureGroups, system: str, path: Callable[[str], str]) -> ShownFaults:
    """The waterfall of a system, or of all answers together.

    Args:
        found: The failures of a run.
        system: Its name; empty for all answers.
        path: The address of the examples of a stage.
    """
    group = found.of(**{SYSTEM: system}) if system else found.of()
    unknown = tuple((NAMES[one.stage], words(one.why)) for one in group.stages if one.first is None)
    return ShownFaults(
        system,
        group.judged,
        f"{group.short.n:,} of {counted(group.judged, 'answer')} fell short",
        tuple(_rows(group, path)),
        unknown,
        (FELL_SHORT, COUNTED),
        found.level,
    )


def systems_of(found: FailureGroups) -> list[str]:
    """The systems that have a waterfall of their own, those that are the references last."""
    ones = [one for one in found.groups if set(one.group) == {SYSTEM} and one.judged]
    names = [one.group[SYSTEM] for one in ones]
    return sorted(names, key=lambda name: name in found.themselves)


def _rows(group: GroupFailures, path: Callable[[str], str]) -> Iterator[FaultRow]:
    left = group.judged
    for one in group.stages:
        if one.first is not None:
            left -= one.first.n
            yield _row(
                one.stage, one.first, left, group.judged, "bad", path, "; ".join(_beside(one))
            )
    beside = f"{group.survived:,} survived a fault of retrieval" if group.survived else ""
    yield _row(NO_FAULT, group.fine, 0, group.judged, "good", path, beside)


def _row(
    stage: str,
    rate: Rate,
    start: int,
    whole: int,
    tone: Tone,
    path: Callable[[str], str],
    beside: str,
) -> FaultRow:
    return FaultRow(
        stage,
        NAMES[stage],
        BECAUSE.get(stage) or OTHERWISE[stage],
        path(stage) if rate.n else "",
        rate.n,
        _whole(rate.share),
        f"{_whole(rate.low)} – {_whole(rate.high)}" if rate.low is not None else "",
        drawn(charts.stage(start, rate.n, whole, tone)),
        beside,
    )


def _beside(one: StageFailures) -> Iterator[str]:
    if one.later:
        yield f"{one.later:,} failed here too, after an earlier stage"
    if one.stage in RETRIEVAL and one.survived:
        yield f"{one.survived:,} survived it"
    if one.untold:
        yield f"not known of {one.untold:,}"


def _whole(share: float | None) -> str:
    """A share in percent without its sign, as the head of the column has it."""
    return "–" if share is None else f"{share * 100:.0f}"
