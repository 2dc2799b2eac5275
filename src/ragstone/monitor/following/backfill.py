"""Backfill: a past window is judged, after it was said how many answers and for how much."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import time
from typing import Any

from ragstone.core.errors import InputError
from ragstone.judges.judge_names import check_name, is_without_model
from ragstone.monitor.settings.judging import JudgingSettings, check_rate
from ragstone.monitor.store.backfilled import (
    PassedOver,
    PlannedExample,
    draw_between,
    draws_between,
    some_records,
)
from ragstone.monitor.store.store import MonitorStore
from ragstone.run import Limits
from ragstone.run.forecast import forecast_of
from ragstone.run.request import Request

from .sampling import kept_seed, lot, sampling_seed

ASKED = 50
"""Answers whose questions to models are made and counted, to tell the price of all."""


@dataclass(frozen=True, slots=True)
class BackfillPlan:
    """What judging a past window comes to.

    Attributes:
        since: The window's first moment, in seconds since the epoch.
        until: The first that is not in it.
        rate: The probability with which each answer is drawn.
        answers: How many there are.
        drawn: How many of them were drawn before.
        to_judge: How many more are judged.
        calls: Calls of models that this takes; 0 without a model.
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
        """As plain data."""
        return asdict(self)


def plan_backfill(
    store: MonitorStore,
    judging: JudgingSettings,
    since: float,
    until: float,
    sample: float,
) -> BackfillPlan:
    """Say what judging a past window comes to; nothing is drawn or sent.

    Args:
        store: Where the answers are.
        judging: The metrics and judges.
        since: The window's first moment, in seconds since the epoch.
        until: The first that is not in it.
        sample: The probability with which each of its answers is drawn, from .05 to 1.

    Raises:
        InputError: The probability, a judge or the window cannot be used.
    """
    check_rate(sample)
    for one in judging.judges:
        check_name(one)
    if until <= since:
        raise InputError("The window ends before it begins: nothing can be in it.")
    with store.database.reading() as run:
        window = draws_between(run, since, until)
        seed = kept_seed(run)
        chosen = [one.example for one in window.others if is_drawn(seed, one, sample)]
        some = some_records(run, chosen[:ASKED])
    calls, usd = _price(judging, some, len(chosen))
    answers, drawn = len(window.others) + window.drawn, window.drawn
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
        return draw_between(
            *(run, now(), plan.since, plan.until, plan.rate),
            lambda one: is_drawn(seed, one, plan.rate),
        )


def is_drawn(seed: str, one: PassedOver, rate: float) -> bool:
    """Whether an answer that was passed over is drawn now: so many of them are.

    Its lot is evenly spread above its probability p, and is below 1 - (1 - p)(1 - rate) with
    exactly this rate.
    """
    own = lot(seed, one.example) if one.lot is None else one.lot
    return own < 1 - (1 - one.probability) * (1 - rate)


def _price(
    judging: JudgingSettings, sample: list[PlannedExample], n: int
) -> tuple[int, float | None]:
    """Calls of models, and their cost, for so many answers as these."""
    if not sample or all(map(is_without_model, judging.judges)):
        return 0, 0.0
    records = [json.loads(one.record) for one in sample]
    limits = Limits(prices=judging.prices)
    request = Request(records, metrics=judging.metrics, judge=judging.judges, limits=limits)
    found = forecast_of(request).total
    each = n / len(sample)
    return round(found.calls * each), None if found.usd is None else found.usd * each
