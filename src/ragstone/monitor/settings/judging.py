"""Judging: what is judged, by whom and for how much, and which answers are drawn to be judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.judges.judge_names import check_name
from ragstone.metrics import parse_metric

from .table import SettingsTable

LEAST_RATE = 0.05
"""The least probability to be drawn: the largest weight bounds what a detector may bet, so rarer
draws would make every alarm late."""

METRICS = ("faithfulness", "context_precision", "abstention")
"""What is judged by default: what the local judge can judge without a reference or a key."""


@dataclass(frozen=True, slots=True)
class JudgingSettings:
    """What is judged of the answers that are drawn.

    Attributes:
        metrics: Their text forms.
        judges: Their names, in the order they are asked; none: as in an evaluation.
        answers_an_hour: The most answers that are judged within an hour; None: all that are drawn.
        usd_an_hour: The most that judging may cost within an hour, in US dollars; None: no limit.
        prices: A TOML file with what models cost; None: as the ``prices`` extra has it.
        settle: Seconds of silence after which a trace with its root is taken for complete.
    """

    metrics: tuple[str, ...] = METRICS
    judges: tuple[str, ...] = ()
    answers_an_hour: int | None = None
    usd_an_hour: float | None = None
    settle: float = 10.0
    prices: Path | None = None


@dataclass(frozen=True, slots=True)
class GuardStep:
    """Answers that the guard trusts less than ``below`` are drawn with probability ``rate``."""

    below: float
    rate: float


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """With which probability an answer is drawn to be judged.

    Attributes:
        rate: Of every answer, at least.
        by: More for the answers of a slice: by facet and value.
        by_guard_score: More for answers that the guard trusts little, by rising ``below``.
    """

    rate: float = 0.1
    by: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    by_guard_score: tuple[GuardStep, ...] = ()

    def probability(self, facets: Mapping[str, str], confidence: float | None) -> float:
        """The probability for one answer: the largest of those that apply to it.

        >>> SamplingSettings(0.1, {"language": {"de": 0.5}}).probability({"language": "de"}, None)
        0.5

        Args:
            facets: Its slices, by facet.
            confidence: The guard's, from 0 to 1; None where it has none.
        """
        rates = [self.rate]
        rates += [self.by[name][value] for name, value in facets.items()
                  if value in self.by.get(name, {})]  # fmt: skip
        if confidence is not None:
            rates += [one.rate for one in self.by_guard_score if confidence < one.below]
        return max(rates)

    @property
    def least(self) -> float:
        """The least probability that an answer can have."""
        return self.rate


def read_judging(table: SettingsTable, folder: Path) -> JudgingSettings:
    """The table ``[judging]``."""
    usual = JudgingSettings()
    read = [
        table.checked("metrics", partial(parse_metric, name), number)
        for number, name in enumerate(table.texts("metrics", usual.metrics))
    ]
    metrics = tuple(dict.fromkeys(str(one) for one in read if one is not None))
    judges = table.texts("judge")
    for number, name in enumerate(judges):
        table.checked("judge", partial(check_name, name), number)
    budget = table.whole("answers_an_hour", 0)
    prices = table.text("prices")
    found = JudgingSettings(
        metrics,
        judges,
        budget or None,
        table.number("usd_an_hour", None, above=True),
        table.seconds("settle", usual.settle),
        folder / prices if prices else None,
    )
    table.end()
    return found


def read_sampling(table: SettingsTable) -> SamplingSettings:
    """The table ``[sampling]``."""
    rate = _rate(table, "rate", SamplingSettings().rate)
    facets = table.table("by")
    by = {}
    for facet in facets.names():
        rates = facets.table(facet)
        by[facet] = {value: _rate(rates, value, rate) for value in rates.names()}
    steps = []
    for one in table.tables("by_guard_score"):
        for name in ("below", "rate"):
            if name not in one:
                one.fault(None, f"has no {name}: write below = 0.3 and rate = 0.5, for example.")
        steps.append(
            GuardStep(one.number("below", 1.0, high=1, above=True), _rate(one, "rate", rate))
        )
        one.end()
    table.end()
    for lower, upper in pairwise(steps):
        if lower.below >= upper.below:
            table.fault("by_guard_score", "must rise: write the smallest below first.")
    return SamplingSettings(rate, by, tuple(steps))


def check_rate(rate: float) -> None:
    """See that answers can be drawn with a probability that was given in place of the file's.

    Raises:
        InputError: It is no probability, or too small a one.
    """
    if not LEAST_RATE <= rate <= 1:
        raise InputError(
            f"{argument('sample', rate)} is no probability from {LEAST_RATE:g} to 1: write 0.2, "
            "or 1 for all answers."
        )


def _rate(table: SettingsTable, name: str, default: float) -> float:
    rate = table.number(name, default, high=1)
    if rate < LEAST_RATE:
        table.fault(
            name,
            f"is {rate:g}, below {LEAST_RATE:g}, where one answer would weigh as much as more than "
            f"{1 / LEAST_RATE:g} and every alarm would come late. Write {LEAST_RATE:g} or more; to "
            "spend less, set answers_an_hour in [judging].",
        )
        return default
    return rate
