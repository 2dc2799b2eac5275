"""Detecting: the detectors of all rules look at the scores that came, each score once: at those of
answers, or at one a session.

A detector's state, the number of the score through which it has looked, and what is done about
what it found are written in one transaction: after a kill no score is left out or counted twice.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Self

import numpy as np

from ragstone.core.database import Sql
from ragstone.core.messages import reason
from ragstone.monitor.settings import AlarmRule
from ragstone.monitor.store.watched_scores import (
    KeptDetector,
    WatchedScore,
    drop_detectors,
    judged_window,
    keep_detectors,
    kept_detectors,
    last_watched,
    scores_through,
    watched_scores,
)
from ragstone.stats.monitoring.detector import Detected, DetectorState, fall_place, on_a_share
from ragstone.stats.weights_and_groups import Floats

from .slice_rules import WatchedSlice

# Scores of all slices read in one transaction, about 0.1 s, during which the intake waits.
MOST_SCORES = 5_000

# Scores in a row by one other judge, after which it is the judge. Fewer are those of one that
# stood in, and are not looked at: two judges' means differ without any fall.
SAME_OTHER_JUDGE = 20


@dataclass(frozen=True, slots=True)
class Fall:
    """A detector says that a mean is worse than its bar."""

    watched: WatchedSlice
    number: int
    at: float
    since: float
    between: tuple[float, float]
    answers: int
    mean: float
    again: bool


@dataclass(frozen=True, slots=True)
class Recovery:
    """A detector says that a mean is better than its bar again."""

    watched: WatchedSlice
    number: int
    at: float
    since: float


@dataclass(frozen=True, slots=True)
class DetectorStanding:
    """The state of a detector."""

    watched: WatchedSlice
    looks: int
    evidence: float
    fallen: bool


@dataclass(frozen=True, slots=True)
class Detection:
    """Falls and recoveries that the detectors found in the scores that came.

    Attributes:
        anew: Rules and slices whose detectors forgot what they had seen, each with the reason.
        outdated: Bars of first answers that another judge had judged, with the last such score.
    """

    found: tuple[Fall | Recovery, ...]
    anew: tuple[tuple[str, str, str], ...]
    standings: tuple[DetectorStanding, ...]
    more: bool
    outdated: tuple[tuple[WatchedSlice, int], ...] = ()


def detect(
    run: Sql, watching: Sequence[WatchedSlice], firing: Collection[tuple[str, str]] = ()
) -> Detection:
    """Look at the scores that came since the last call.

    A rule whose metric, direction or bar changed begins anew with the scores that come then, and
    so does one whose judge changed; where its bar is of first answers, it is unwatched until that
    is learnt again. While its alarm fires it keeps the old bar, for one that is learnt from answers
    that fell would call them good. A changed promise leaves the evidence as it is, for that does
    not depend on it.
    The detectors of rules and slices that are gone are forgotten.
    """
    detectors = kept_detectors(run)
    lasts = {unit: last_watched(run, unit) for unit in {watched.rule.of for watched in watching}}
    changes, anew = list[Fall | Recovery](), list[tuple[str, str, str]]()
    standings, changed = list[DetectorStanding](), list[KeptDetector]()
    more, room = False, MOST_SCORES
    outdated = list[tuple[WatchedSlice, int]]()
    for watched in watching:
        before = detectors.pop((watched.rule.name, watched.slice), None)
        unit, last = watched.rule.of, lasts[watched.rule.of]
        if before is not None and before.unit != unit:
            before = before._replace(through=watched.begun)
        through = watched.begun if before is None else before.through
        memory = _Memory.new(watched)
        if before is not None and before.identity == watched.identity:
            memory = _Memory.read(before.state)
        elif before is not None:
            anew.append((watched.rule.name, watched.slice, reason("rule_changed")))
            through = last
        if through < last:
            looked = through
            scores = watched_scores(run, watched.rule.metric, watched.facet, looked, room, unit)
            if len(scores) < room:
                through = last
            else:
                through, more = (scores[-1].number if scores else through), True
            room -= len(scores)
            judge, learns, here = memory.judge, False, list[Fall | Recovery]()
            for new_judge, own_scores, after in _by_judge(memory, scores):
                if judge is not None and new_judge != judge:
                    why = reason("judge_changed", before=judge, after=new_judge)
                    anew.append((watched.rule.name, watched.slice, why))
                    memory.begin_anew(watched)
                judge = new_judge
                fires = here or (watched.rule.name, watched.slice) in firing
                of_another = watched.bar.source == "first_answers" and judge != watched.judge
                learns = of_another and not (memory.recovering and fires)
                if learns:
                    outdated.append((watched, max(after, looked)))
                    break
                here += _look(run, watched, memory, own_scores, judge)
            changes += here
            if learns:
                continue
        row = KeptDetector(
            watched.rule.name, watched.slice, watched.identity, memory.written(), through, unit
        )
        if row != before:
            changed.append(row)
        falling, has_fallen = memory.falling, memory.recovering is not None
        evidence = sum(falling.evidence) / watched.limit
        standings.append(DetectorStanding(watched, falling.looks, evidence, has_fallen))
    anew += [(rule, slice, reason("rule_gone")) for rule, slice in detectors]
    learning = [(watched.rule.name, watched.slice) for watched, _ in outdated]
    drop_detectors(run, [*detectors, *learning])
    keep_detectors(run, changed)
    return Detection(tuple(changes), tuple(anew), tuple(standings), more, tuple(outdated))


@dataclass
class _Memory:
    falling: DetectorState
    recovering: DetectorState | None = None
    judge: str | None = None
    other: str | None = None
    others: int = 0

    @classmethod
    def new(cls, watched: WatchedSlice) -> Self:
        return cls(watched.falling.start(), judge=watched.judge)

    @classmethod
    def read(cls, state: str) -> Self:
        data = json.loads(state)
        for name in ("falling", "recovering"):
            data[name] = None if data[name] is None else DetectorState.from_dict(data[name])
        return cls(**data)

    def written(self) -> str:
        return json.dumps(asdict(self))

    def begin_anew(self, watched: WatchedSlice) -> None:
        self.falling = watched.falling.start()
        if self.recovering is not None:
            self.recovering = watched.recovering.start()


def _by_judge(
    memory: _Memory, scores: Sequence[WatchedScore]
) -> list[tuple[str, list[WatchedScore], int]]:
    """Return each judge with its scores, and the number of the score that made it the judge."""
    if not scores:
        return []
    if memory.judge is None:
        memory.judge = scores[0].judge
    parts = [(memory.judge, list[WatchedScore](), 0)]
    for score in scores:
        if score.judge == memory.judge:
            memory.other, memory.others = None, 0
            parts[-1][1].append(score)
            continue
        memory.others = memory.others + 1 if score.judge == memory.other else 1
        memory.other = score.judge
        if memory.others == SAME_OTHER_JUDGE:
            memory.judge, memory.other, memory.others = score.judge, None, 0
            parts.append((score.judge, [], score.number))
    return parts


def _look(
    run: Sql, watched: WatchedSlice, memory: _Memory, scores: Sequence[WatchedScore], judge: str
) -> list[Fall | Recovery]:
    if not scores:
        return []
    drawn = np.array([score.probability for score in scores])
    # Answers that were drawn before the settings changed may have lower probabilities.
    least = min(watched.least, float(drawn.min()))
    at_work = replace(watched, least=least)
    shares = _shares(watched.rule, scores)
    numbers = np.array([score.number for score in scores])
    memory.falling, falls = at_work.falling.step(
        memory.falling, shares, probabilities=drawn, numbers=numbers
    )
    changes, begin = list[Fall | Recovery](), 0
    for fall in (*falls, None):
        end = len(scores) if fall is None else int(np.searchsorted(numbers, fall.number)) + 1
        if memory.recovering is not None:
            here = slice(begin, end)
            memory.recovering, better = at_work.recovering.step(
                memory.recovering, 1 - shares[here], probabilities=drawn[here],
                numbers=numbers[here],
            )  # fmt: skip
            if better:
                *_, since = _judged_window(run, watched, better[0].since, better[0].number)
                at = scores[int(np.searchsorted(numbers, better[0].number))].at
                changes.append(Recovery(watched, better[0].number, at, since))
                memory.recovering = None
        if fall is not None:
            again = memory.recovering is not None
            changes.append(_fall(run, watched, fall, scores[end - 1].at, judge, again=again))
            memory.recovering = at_work.recovering.start()
        begin = end
    return changes


# Scores before an alarm among which a fall is looked for: read once, in a quarter of a second.
MOST_BEFORE = 20_000


def _fall(
    run: Sql, watched: WatchedSlice, fall: Detected, at: float, judge: str, *, again: bool
) -> Fall:
    rule, most = watched.rule, min(fall.looks, MOST_BEFORE)
    looked = scores_through(run, rule.metric, watched.facet, fall.number, most, rule.of)
    scores = [item for item in looked if item.judge == judge]
    best, first, last = fall_place(_shares(rule, scores), [score.probability for score in scores])
    between = scores[max(first - 1, 0)].at, scores[last].at
    n, mean, since = _judged_window(run, watched, scores[best].number, fall.number)
    return Fall(watched, fall.number, at, since, between, n, mean, again)


def _shares(rule: AlarmRule, scores: Sequence[WatchedScore]) -> Floats:
    return on_a_share(
        np.clip([score.value for score in scores], rule.range.low, rule.range.high),
        low=rule.range.low, high=rule.range.high, less_is_better=rule.better == "-",
    )  # fmt: skip


def _judged_window(
    run: Sql, watched: WatchedSlice, first: int, last: int
) -> tuple[int, float, float]:
    rule = watched.rule
    return judged_window(run, rule.metric, watched.facet, first, last, rule.of)
