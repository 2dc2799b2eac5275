"""Corrected means: a metric's mean from the judge, from people's labels, and from both together.

Unless the labelled rows could be a random sample, the corrected mean is withheld.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from ragstone.analysis.scored_run import Quantity, ValueRange, mean_of, mean_quantity
from ragstone.core.messages import reason
from ragstone.stats import MeanEstimate, ends_of
from ragstone.stats.agreement.coefficients import kappa_with_interval
from ragstone.stats.agreement.ratings import AgreementCoefficient
from ragstone.stats.correction.anytime import anytime_mean, fair_draw_p
from ragstone.stats.correction.corrected import Corrected, MeanCorrection, joined_strata
from ragstone.stats.correction.labels_only import mean_of_labels, rate_of_labels
from ragstone.stats.correction.poststratified import poststratify
from ragstone.stats.correction.ppi_and_rogan_gladen import (
    error_corrected,
    favoured,
    prediction_powered,
)
from ragstone.stats.weights_and_groups import Floats, Ints

from .people_scores import WEIGHT, known_weights

# Whether people were asked about an example, though they may have left it open.
LABELLED = "labelled"

# Whether people were asked about an example and gave no label that counts.
LEFT_OPEN = "left open"

BELOW = 0.001
# Scores of more distinct values are told apart by fifths.
BINS = 5

# A field of more values names rows rather than kinds of rows.
MOST_LEVELS = 50

NOT_RANDOM = "not_random"
MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class NotRandom:
    """Differences of labelled and other rows that a random sample would hardly have.

    ``differences`` are reasons; ``p`` is the least of theirs, adjusted.
    """

    metric: str
    group: Mapping[str, str]
    differences: tuple[str, ...]
    p: float

    @property
    def reason(self) -> str:
        """All of it in one."""
        of = " of ".join(filter(None, [self.metric, ", ".join(self.group.values())]))
        return reason("unlike", of=of, differences="\n".join(self.differences), below=f"{BELOW:g}")


def not_random(
    metric: str, group: Mapping[str, str], scores: pl.DataFrame, *, groups: int
) -> NotRandom | None:
    """Evidence that a group's labelled rows are not a random sample; None if there is none.

    The judge's verdicts, systems and fields of labelled rows are held against all rows, each by
    ``fair_draw_p``; p is adjusted by Bonferroni over these and over the groups.

    Args:
        scores: The group's rows that the judge gave a value: ``value``, ``labelled``, ``cluster``,
            ``system``, and ``by FIELD`` and ``slice FIELD`` of each field.
    """
    fields = [
        name
        for name in scores.columns
        if (name == "system" or name.startswith(("by ", "slice ")))
        and 1 < scores[name].n_unique() <= MOST_LEVELS
    ]
    tests = (len(fields) + 1) * groups
    chosen, clusters = scores[LABELLED].to_numpy(), scores["cluster"].rank("dense").to_numpy()
    unlike: list[tuple[float, str]] = []
    for name in ["value", *fields]:
        levels = _fifths(scores["value"]) if name == "value" else scores[name]
        # Rows without the field are a level of their own, 0.
        numbers = levels.rank("dense").fill_null(0).to_numpy()
        p = tests * fair_draw_p(numbers, chosen, clusters=clusters, below=BELOW / tests)
        if p < BELOW:
            unlike.append((p, _difference(scores, name)))
    if not unlike:
        return None
    unlike.sort(key=lambda item: item[0])
    return NotRandom(metric, group, tuple(why for _, why in unlike[:MOST_SHOWN]), unlike[0][0])


def _fifths(values: pl.Series) -> pl.Series:
    if values.n_unique() <= BINS:
        return values
    quantiles = [values.quantile(part / BINS, "lower") for part in range(1, BINS)]
    edges = sorted({edge for edge in quantiles if edge is not None})
    return pl.Series(np.searchsorted(edges, values.to_numpy()))


def _difference(scores: pl.DataFrame, name: str) -> str:
    labelled, rest = scores.filter(LABELLED), scores.filter(~pl.col(LABELLED))
    if name == "value":
        mean, other = (float(part["value"].to_numpy().mean()) for part in (labelled, rest))
        return reason("judges_mean_differs", labelled=f"{mean:.3g}", others=f"{other:.3g}")
    field = None if name == "system" else name.partition(" ")[2]
    labelled_values = set(labelled[name].drop_nulls())
    levels = scores[name].drop_nulls().unique(maintain_order=True)
    if 0 < len(labelled_values) <= MOST_SHOWN and len(labelled_values) < len(levels):
        some = "\n".join(level for level in levels if level in labelled_values)
        return reason("only_some_labelled", field=field, values=some)
    share = {level: (_share(labelled, name, level), _share(rest, name, level)) for level in levels}
    most = max(levels, key=lambda level: abs(share[level][0] - share[level][1]))
    here, elsewhere = (f"{100 * part:.0f}" for part in share[most])
    return reason("share_differs", field=field, value=most, labelled=here, others=elsewhere)


def _share(rows: pl.DataFrame, name: str, level: str) -> float:
    return float((rows[name] == level).fill_null(value=False).to_numpy().mean())


# How a rate is corrected; a mean of other scores always by ``ppi_plus_plus``.
#
# ``by_design`` is ``ppi_plus_plus`` or ``poststratified``, as ``favoured`` chooses.
Method = Literal["by_design", "poststratified", "ppi_plus_plus", "rogan_gladen"]
METHODS: tuple[Method, ...] = get_args(Method)

# A judge's score from here on is a yes, where people say yes or no.
MIDDLE = 0.5

PEOPLE = "people"

UNEQUAL_CHANCES = "unequal_chances_of_being_drawn"
WHOLE_QUESTIONS = "whole_questions_were_drawn"
NO_RANGE = "no_range"
# Why there is no interval that holds however often one looks.
ONLY_ONCE = "corrected_only_without_anytime"


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """The scores of one metric in one group, with people's labels of some of them.

    Attributes:
        scores: Rows of ``Scored.of`` with ``people`` (null where not labelled) and ``weight`` (the
            inverse sampling probability; null if unknown).
        rate: Whether people's values are only 0 and 1, in all groups.
        not_random: Evidence that the labelled rows are not a random sample; None if there is none.
        anytime: Whether the labels are looked at again and again as they come: their mean has an
            interval for that, and nothing is corrected.
    """

    metric: str
    group: Mapping[str, str]
    scores: pl.DataFrame
    scale: ValueRange
    rate: bool
    method: Method = "by_design"
    not_random: NotRandom | None = None
    assume_random: bool = False
    anytime: bool = False

    @property
    def withheld(self) -> bool:
        """True if the correction is withheld."""
        return self.not_random is not None and not self.assume_random

    @property
    def judged(self) -> pl.DataFrame:
        """The examples that the judge gave a value."""
        return self.scores.filter(pl.col("status") == "value")

    @property
    def n_labels(self) -> int:
        """The number of these that people labelled."""
        return self.judged[PEOPLE].count()

    @property
    def n_open(self) -> int:
        """The number of these that people left open."""
        return int(self.judged[LEFT_OPEN].sum())

    def if_open(self) -> tuple[float, float] | None:
        """The labels' mean if all that were left open were the worst ones, and if the best.

        None if none was, or more than were given: those are still to come. A label left open has
        the mean weight of the others.
        """
        low, high = self.scale.low, self.scale.high
        if not 0 < self.n_open <= self.n_labels or low is None or high is None:
            return None
        rows = self.judged.filter(pl.col(PEOPLE).is_not_null())
        mean = float(np.average(_labels(rows), weights=known_weights(rows)))
        share = self.n_open / (self.n_open + self.n_labels)
        least, most = (mean + share * (end - mean) for end in (low, high))
        return (most, least) if self.scale.better == "-" else (least, most)

    def by_labels(self) -> MeanCorrection:
        """The estimate from people's labels alone, in prepared form."""
        rows = self.judged.filter(pl.col(PEOPLE).is_not_null())
        labels, weights, clusters = _labels(rows), known_weights(rows), _clusters(rows)
        if self.anytime:
            return self._as_they_come()
        if self.rate:
            return rate_of_labels(labels, weights=weights, clusters=clusters)
        return mean_of_labels(
            labels, low=self.scale.low, high=self.scale.high, weights=weights, clusters=clusters
        )

    def corrected(self) -> MeanCorrection:
        """The estimate from the judge's scores and people's labels, in prepared form."""
        judged = self.judged
        labelled = judged[PEOPLE].is_not_null().to_numpy()
        rows = judged.filter(pl.col(PEOPLE).is_not_null())
        labels, weights, clusters = _labels(rows), known_weights(rows), _clusters(judged)
        scores = judged["value"].to_numpy()
        method: str = self.method
        if self.rate and method == "by_design":
            method = favoured(scores, labelled, weights=weights, clusters=clusters)
        if not self.rate or method == "ppi_plus_plus":
            return prediction_powered(
                scores, labelled, labels, low=self.scale.low, high=self.scale.high, rate=self.rate,
                weights=weights, clusters=clusters,
            )  # fmt: skip
        if method == "rogan_gladen":
            positive = scores >= MIDDLE
            return error_corrected(positive, labelled, labels, weights=weights, clusters=clusters)
        return poststratify(
            verdicts(judged, self.n_labels), labelled, labels, weights=weights, clusters=clusters
        )

    def agreement(self, level: float) -> AgreementCoefficient:
        """Kappa of the judge's scores and people's: of yes and no for a rate, else weighted."""
        rows = self.judged.filter(pl.col(PEOPLE).is_not_null())
        scores, labels = rows["value"].to_numpy(), _labels(rows)
        clusters = _clusters(rows)
        return kappa_with_interval(
            (scores >= MIDDLE).astype(np.float64) if self.rate else scores, labels,
            disagreement="nominal" if self.rate else "quadratic", weights=known_weights(rows),
            clusters=None if clusters is None else clusters.tolist(), level=level,
        )  # fmt: skip

    def _as_they_come(self) -> MeanCorrection:
        rows = self.judged.filter(pl.col(PEOPLE).is_not_null())
        low, high = self.scale.low, self.scale.high
        if rows[WEIGHT].drop_nulls().n_unique() > 1:
            why = UNEQUAL_CHANCES
        elif self.withheld:
            why = NOT_RANDOM
        elif _of_whole_clusters(self.judged):
            why = WHOLE_QUESTIONS
        elif low is None or high is None:
            why = NO_RANGE
        else:
            return anytime_mean(_labels(rows), low=low, high=high)
        refused = Corrected(None, None, "labels_only", rows.height, None, reason=why)
        return MeanCorrection(lambda level: refused)  # noqa: ARG005  (as every correction)

    def quantity(self) -> Quantity:
        """The corrected estimate as a quantity; without a value if it is withheld.

        For labels that are looked at repeatedly, the mean of the labels alone.
        """
        ready = self.by_labels() if self.anytime else self.corrected()
        at = ready.at(0.95)
        plain = mean_quantity(self.scores, self.scale)
        return Quantity(
            value=None if self.withheld else at.value,
            at=lambda level: None if self.withheld else ready.at(level).interval,
            n=at.n_labels,
            n_undefined=plain.n_undefined,
            n_missing=plain.n_missing,
            clusters=plain.clusters,
            low=self.scale.low,
            high=self.scale.high,
            counted="labels",
            reasons={} if at.reason is None else {at.reason: 1},
            not_random=None if self.not_random is None else self.not_random.reason,
        )

    def example_scores(self) -> pl.DataFrame:
        """The corrected score of each example.

        People's word where there is one; else, for a rate, the share of positives that people found
        among what the judge calls the same; else the judge's score moved by its mean error.
        """
        judged = self.judged
        weight = pl.when(pl.col(PEOPLE).is_not_null()).then(pl.col(WEIGHT).fill_null(1.0))
        if self.rate:
            strata = pl.Series("stratum", joined_strata(judged["value"].to_numpy(), self.n_labels))
            mean = (pl.col(PEOPLE) * weight).sum() / weight.sum()
            likely = judged.with_columns(strata).select(
                pl.when(pl.col(PEOPLE).count().over("stratum") > 0).then(mean.over("stratum"))
            )
        else:
            error = ((pl.col(PEOPLE) - pl.col("value")) * weight).sum() / weight.sum()
            moved = pl.col("value") + error
            likely = judged.select(moved.clip(self.scale.low, self.scale.high))
        return judged.select(
            "example_id",
            "system",
            pl.lit(self.metric).alias("metric"),
            pl.col("value").alias("judge"),
            PEOPLE,
            pl.coalesce(PEOPLE, None if self.withheld else likely.to_series()).alias("corrected"),
        )


@dataclass(frozen=True, slots=True)
class CorrectedEstimate:
    """A metric's mean in one group, three ways, and how far the judge agrees with people on it."""

    metric: str
    group: Mapping[str, str]
    judge: MeanEstimate
    labels: Corrected
    corrected: Corrected
    kappa: AgreementCoefficient
    rate: bool
    not_random: NotRandom | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "group": dict(self.group),
            "judge": {
                "value": self.judge.value, **ends_of(self.judge.interval), "n": self.judge.n
            },
            "labels": _as_dict(self.labels),
            "kappa": {"value": self.kappa.value, **ends_of(self.kappa.interval)},
            "corrected": {
                **_as_dict(self.corrected),
                "strata": [
                    {
                        "verdict": str(stratum.verdict),
                        "share": stratum.share,
                        "n_judged": stratum.n_judged,
                        "n_labels": stratum.n_labels,
                        "rate": stratum.rate,
                        **ends_of(stratum.interval),
                    }
                    for stratum in self.corrected.strata
                ],
            },
        }  # fmt: skip


def is_rate(scores: pl.DataFrame, scale: ValueRange) -> bool:
    """Return whether people's values of a metric from 0 to 1 are only 0 and 1."""
    if scale.rate:
        return True
    labels = scores[PEOPLE].drop_nulls()
    return (scale.low, scale.high) == (0, 1) and bool(labels.is_in([0.0, 1.0]).all())


def verdicts(judged: pl.DataFrame, labels: int) -> list[str]:
    """The judge's verdict on each row, with few distinct values: the strata of a rate.

    The metric's own words where it has them, such as ``correct``; else the score, or the range of
    scores that make one stratum.
    """
    strata = joined_strata(judged["value"].to_numpy(), labels)
    rows = judged.select("value", "label", at=pl.Series(strata))
    names = {}
    for (at,), part in rows.group_by("at"):
        words = sorted(part["label"].drop_nulls().unique())
        low, high = (float(end) for end in (part["value"].min(), part["value"].max()))  # type: ignore[arg-type]
        span = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        names[at] = " or ".join(words) if words and part["label"].null_count() == 0 else span
    return [names[at] for at in rows["at"]]


def estimate(labelled: LabelledScores, *, level: float = 0.95) -> CorrectedEstimate:
    """The three means with intervals at a level."""
    corrected = labelled.corrected().at(level)
    if labelled.withheld or labelled.anytime:
        why = NOT_RANDOM if labelled.withheld else ONLY_ONCE
        corrected = Corrected(None, None, corrected.method, labelled.n_labels, None, reason=why)
    return CorrectedEstimate(
        labelled.metric, labelled.group, mean_of(labelled.scores, labelled.scale, level=level),
        labelled.by_labels().at(level), corrected, labelled.agreement(level), labelled.rate,
        labelled.not_random,
    )  # fmt: skip


def _of_whole_clusters(judged: pl.DataFrame) -> bool:
    clusters = judged.group_by("cluster").agg(pl.len(), share=pl.col(PEOPLE).is_not_null().mean())
    several = clusters.filter((pl.col("len") > 1) & (pl.col("share") > 0))
    partly = clusters.filter((pl.col("share") > 0) & (pl.col("share") < 1))
    return several.height > 0 and partly.is_empty()


def _labels(rows: pl.DataFrame) -> Floats:
    return rows[PEOPLE].to_numpy().astype(np.float64)


def _clusters(rows: pl.DataFrame) -> Ints | None:
    codes = rows["cluster"].rank("dense").to_numpy().astype(np.int64)
    return None if len(np.unique(codes)) == len(codes) else codes


def _as_dict(estimate: Corrected) -> dict[str, Any]:
    return {
        "value": estimate.value,
        **ends_of(estimate.interval),
        "method": None if estimate.interval is None else estimate.interval.method,
        "n_labels": estimate.n_labels,
        "effective_labels": estimate.effective_labels,
        "reason": estimate.reason,
        "flags": list(estimate.flags),
    }
