"""Sampling: which answers are drawn to be judged, as they come or over a past window.

The probability follows from the settings and the hourly budget. It is settled before the draw and
stored with it, and every estimate weighs by it. An answer is drawn if its lot is less than its
probability. The turns of a session share a lot, so all of them are drawn if it is less than the
least of their probabilities.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import exp
from secrets import token_hex
from time import time
from typing import Any

from ragstone.core.database import Sql
from ragstone.core.errors import InputError
from ragstone.judges.judge_names import check_name, is_without_model
from ragstone.monitor.settings.sections import (
    LEAST_RATE,
    JudgingSettings,
    SamplingSettings,
    check_rate,
)
from ragstone.monitor.store import draws
from ragstone.monitor.store.draws import TurnChance
from ragstone.monitor.store.rows import keep, remembered
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_examples import examples_to_score
from ragstone.run import Limits
from ragstone.run.forecast import forecast_of
from ragstone.run.request import Request

PAGE = 200
HOUR = 3_600.0
# Seconds in which what was wanted counts for a third (1/e) of what is wanted now.
MEMORY = 1_800.0

# Seconds of traffic that are assumed to have been seen at the beginning.
FIRST_LOOK = 60.0

SEED, LOAD, COST = "sampling_seed", "sampling_load", "judging_cost"


@dataclass(frozen=True, slots=True)
class SamplingLoad:
    """The number of examples that the settings would have judged of late.

    Attributes:
        wanted: The sum of their probabilities, each the less the longer ago it was.
    """

    began: float
    at: float
    wanted: float

    def then(self, now: float, probability: float) -> "SamplingLoad":
        """Return the same after more was seen."""
        at = max(now, self.at)
        left = self.wanted * exp((self.at - at) / MEMORY)
        return SamplingLoad(self.began, at, left + probability)

    def an_hour(self, now: float) -> float:
        """Return how many would be judged within an hour, if traffic goes on as it does."""
        at = max(now, self.at)
        seen = max(at - self.began, FIRST_LOOK)
        left = self.wanted * exp((self.at - at) / MEMORY)
        return HOUR * left / MEMORY / (1 - exp(-seen / MEMORY))


def draw_answers(
    store: MonitorStore,
    settings: SamplingSettings,
    judging: JudgingSettings,
    clock: Callable[[], float],
) -> int:
    """Draw among some of the examples that may be judged; returns how many waited for it."""
    with store.database.reading() as run:
        if not draws.next_to_draw(run, 1):
            return 0
    with store.database.transaction() as run:
        now, waiting = clock(), draws.next_to_draw(run, PAGE)
        load = SamplingLoad(**remembered(run, LOAD, {"began": now, "at": now, "wanted": 0.0}))
        shares = _shares(run, judging, load, now, [example.session for example in waiting])
        rates = [settings.probability(item.facets, item.confidence) for item in waiting]
        if not judging.metrics:
            rates = [0.0] * len(waiting)
        probabilities = [
            probability(rate, shares[example.session])
            for example, rate in zip(waiting, rates, strict=True)
        ]
        draws.write_draws(run, now, sampling_seed(run), waiting, probabilities)
        keep(run, LOAD, asdict(load.then(now, sum(rates))))
    return len(waiting)


def _shares(
    run: Sql, judging: JudgingSettings, load: SamplingLoad, now: float, sessions: Sequence[str]
) -> dict[str, float]:
    most = affordable(judging, remembered(run, COST))
    expected = load.an_hour(now)
    if most is None or not expected:
        return dict.fromkeys(sessions, 1.0)
    due, due_in = draws.due_before(run, now), draws.due_of_sessions(run, now, sessions)
    return {
        session: min(1.0, max(0.0, most - due + due_in.get(session, 0)) / expected)
        for session in sessions
    }


def affordable(judging: JudgingSettings, usd_each: float | None) -> float | None:
    """Return how many answers may be judged within an hour; None: as many as there are."""
    limits = [] if judging.answers_an_hour is None else [float(judging.answers_an_hour)]
    if judging.usd_an_hour is not None and usd_each:
        limits.append(judging.usd_an_hour / usd_each)
    return min(limits, default=None)


def probability(rate: float, share: float) -> float:
    """Return the probability with which an example is drawn.

    The least bounds the largest weight, and with it what one answer can do to a mean.

    >>> probability(0.5, 0.4), probability(0.1, 0.1), probability(0.0, 1.0)
    (0.2, 0.05, 0.0)
    """
    return 0.0 if rate <= 0 else min(1.0, max(LEAST_RATE, rate * share))


def sampling_seed(run: Sql) -> str:
    """Return the seed of all draws of a store; it is made when it is first needed."""
    seed = kept_seed(run)
    if not seed:
        seed = token_hex(16)
        keep(run, SEED, seed)
    return seed


def kept_seed(run: Sql) -> str:
    """Return the same, empty where nothing was drawn yet; within a reading."""
    return str(remembered(run, SEED, ""))


# Answers whose questions to models are made and counted, to estimate the price of all.
ASKED = 50


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """The work that judging a past window takes.

    Attributes:
        usd: What they cost, in US dollars; None where a price is not known.
    """

    since: float
    until: float
    rate: float
    answers: int
    drawn: int
    to_judge: int
    calls: int
    usd: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def plan_backfill(
    store: MonitorStore, judging: JudgingSettings, since: float, until: float, sample: float
) -> BackfillPlan:
    """Say what judging a past window comes to; nothing is drawn or sent.

    Raises:
        InputError: The probability, a judge or the window cannot be used.
    """
    check_rate(sample)
    for judge in judging.judges:
        check_name(judge)
    if until <= since:
        raise InputError("The window ends before it begins: nothing can be in it.")
    with store.database.reading() as run:
        drawn, others = draws.draws_between(run, since, until)
        seed = kept_seed(run)
        chosen = [answer.example for answer in others if is_drawn(seed, answer, sample)]
        some = [record for *_, record in examples_to_score(run, chosen[:ASKED])]
    calls, usd = _price(judging, some, len(chosen))
    answers = len(others) + drawn
    return BackfillPlan(since, until, sample, answers, drawn, len(chosen), calls, usd)


def begin_backfill(
    store: MonitorStore, plan: BackfillPlan, *, now: Callable[[], float] = time
) -> int:
    """Draw as planned; what is drawn is judged within the budget. Gives how many that are.

    An answer is then in the sample with probability 1 - (1 - p)(1 - q), where p is the one with
    which it had been drawn, and q that of this draw; the scores of the window are kept with it.
    It keeps its lot, so the turns of a session are still all drawn if that is less than the least
    of their probabilities.
    """
    with store.database.transaction() as run:
        seed = sampling_seed(run)
        drawn = partial(is_drawn, seed, rate=plan.rate)
        return draws.draw_between(run, now(), plan.since, plan.until, plan.rate, drawn)


def is_drawn(seed: str, answer: TurnChance, rate: float) -> bool:
    """Tell whether an answer that was passed over is drawn now, at this rate.

    Its lot is evenly spread above its probability p, and is below 1 - (1 - p)(1 - rate) with
    exactly this rate.
    """
    drawn = draws.lot(seed, answer.example) if answer.lot is None else answer.lot
    return drawn < 1 - (1 - answer.probability) * (1 - rate)


def _price(judging: JudgingSettings, sample: list[str], n: int) -> tuple[int, float | None]:
    if not sample or all(map(is_without_model, judging.judges)):
        return 0, 0.0
    records = [json.loads(record) for record in sample]
    limits = Limits(prices=judging.prices)
    request = Request(records, metrics=judging.metrics, judge=judging.judges, limits=limits)
    total = forecast_of(request).total
    each = n / len(sample)
    return round(total.calls * each), None if total.usd is None else total.usd * each
