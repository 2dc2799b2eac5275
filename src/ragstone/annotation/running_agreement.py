"""Running agreement: annotators' agreement and mean labels while labels are still coming in.

The intervals hold however often people look at them, unless a caution says otherwise.
"""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import polars as pl

from ragstone.core.messages import reason
from ragstone.stats.agreement.coefficients import (
    CoefficientName,
    agreement_sequence,
    alpha,
    fleiss,
    mean_kappa,
)
from ragstone.stats.agreement.ratings import AgreementCoefficient, Coefficient, observed_agreement
from ragstone.stats.correction.anytime import mean_sequence
from ragstone.stats.correction.corrected import Corrected
from ragstone.stats.correction.labels_only import mean_of_labels, rate_of_labels
from ragstone.stats.distributions import FIRST_LOOK, Interval, ends_of

from .annotator_agreement import MOST_LABELS, Annotator, ColumnAgreement, agreement_of
from .label_names import Ends, Scale, metric_named
from .label_table import LabelTable
from .queue.form import QueueForm
from .queue.labels_store import LabelDatabase
from .queue.queue import Queue
from .raw_rows import in_words, unit_kind
from .read_labels import labels_in_queue

# In which order the labels come that are still to come, if any are.
Coming = Literal["at_random", "riskiest_first", "no_more"]

# The least and the greatest number that people can give, as far as they are known.
Limits = tuple[float | None, float | None]

# The codes for why an interval does not hold at every look, and for why there is no mean.
LOOKED_AT_AGAIN = "looked_at_again"
ALIKE_SO_FAR = "alike_so_far"
RISKIEST_FIRST = "riskiest_first"
CHANCES_IN_PART = "chances_known_in_part"
ALL_SPLIT = "all_split"
OF_THE_LIKELIER = "of_the_likelier"
LEFT_OPEN = "left_open_so_far"


@dataclass(frozen=True, slots=True)
class FigureSoFar:
    """A number over the labels so far.

    Attributes:
        why: The reason why it has no value.
        n: Independent clusters that it is over: of items that two people labelled, or of what a
            mean is over.
        interval: Holds at every look together with those before and after, where labels are still
            coming, unless ``caution`` gives a reason why it does not.
    """

    value: float | None
    why: str | None
    n: int
    interval: Interval | None = None
    caution: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "why": self.why,
            "n": self.n,
            **ends_of(self.interval),
            "level": None if self.interval is None else self.interval.level,
            "method": None if self.interval is None else self.interval.method,
            "caution": self.caution,
        }


@dataclass(frozen=True, slots=True)
class LabelSoFar:
    """Agreement on one label and its means so far.

    Attributes:
        n_items: Examples, or parts of them, with a label.
        n_shared: Those that two or more people labelled.
        percent: The share of pairs of people who agree, over the shared items.
        kappa: Cohen's where two people label, else Fleiss'; ``kappa_name`` tells which.
        alpha: Krippendorff's, on the scale.
        means: Means of combined labels without ties: on a nominal scale the share of each label,
            else the mean under an empty name. Each label counts by the inverse of its probability,
            where that is known.
    """

    label: str
    scale: Scale
    n_items: int
    n_shared: int
    percent: FigureSoFar
    kappa: FigureSoFar
    kappa_name: CoefficientName
    alpha: FigureSoFar
    annotators: tuple[Annotator, ...]
    means: Mapping[str, FigureSoFar]

    def to_dict(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "scale": self.scale,
            "n_items": self.n_items,
            "n_shared": self.n_shared,
            "percent": self.percent.to_dict(),
            self.kappa_name: self.kappa.to_dict(),
            "krippendorff_alpha": self.alpha.to_dict(),
            "annotators": [annotator.to_dict() for annotator in self.annotators],
            "means": {name: mean.to_dict() for name, mean in self.means.items()},
        }


def labels_so_far(
    table: LabelTable,
    *,
    coming: Coming = "at_random",
    columns: Collection[str] = (),
    scales: Mapping[str, Scale] | None = None,
    ends: Mapping[str, Ends] | None = None,
    clusters: Mapping[str, Hashable] | None = None,
    seed: int = 0,
    resamples: int = 1000,
    level: float = 0.95,
) -> tuple[LabelSoFar, ...]:
    """Measure agreement and means of each label, to be looked at again as labels come.

    From 50 shared items on (or clusters of them), and for means from 50 labels on, an interval
    is a confidence sequence: all of them together hold the true value with about the probability
    ``level``, so that people may look after every label and stop when they like. Before that,
    and where nearly all labels are the same, it holds for one look, and a caution tells so. The
    interval of each annotator beside the others holds for one look.

    Args:
        coming: The order in which further labels come. Where the riskiest come first, those so far
            do not stand for all, and there are no intervals; where no more come, intervals are for
            one look.
        columns: Only these labels, by their name in files; by default all.
        scales: Maps a label to its scale, see ``scale_of``.
        ends: Maps a label that is a number to the least and the greatest that people can give.
        clusters: Maps an example to its cluster, such as its question; by default each example.

    Raises:
        InputError: An ordinal or interval scale for labels that are not numbers; or a label beyond
            its ends.
    """
    results = agreement_of(
        table, columns=columns, scales=scales, clusters=clusters, seed=seed, resamples=resamples,
        level=level, limit=0,
    )  # fmt: skip
    combined = table.adjudicated(scales)
    chances = table.used.group_by("kind", "column").agg(
        pl.col("inclusion_probability").drop_nulls().n_unique().alias("different")
    )
    uneven = set(chances.filter(pl.col("different") > 1).select("kind", "column").iter_rows())
    labels = []
    for result in results:
        kind, column = result.kind, result.column
        rows = combined.filter(pl.col("kind") == kind, pl.col("column") == column)
        limits = _ends(result, ends or {})
        look = _Look(result, rows, table.blank, limits, clusters or {}, coming, level)
        labels.append(look.label(is_uneven=(kind, column) in uneven))
    return tuple(labels)


def _ends(result: ColumnAgreement, ends: Mapping[str, Ends]) -> Limits:
    if result.name in ends:
        return ends[result.name]
    metric = metric_named(result.column) if result.kind == "metric" else None
    return (None, None) if metric is None else (metric.range.low, metric.range.high)


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at the labels of a column: its agreement, and the rows of combined labels."""

    result: ColumnAgreement
    rows: pl.DataFrame
    blank: pl.DataFrame
    ends: Limits
    clusters: Mapping[str, Hashable]
    coming: Coming
    level: float

    def label(self, *, is_uneven: bool) -> LabelSoFar:
        result = self.result
        of_two = result.n_annotators == 2
        kappa_name: CoefficientName = "cohen_kappa" if of_two else "fleiss_kappa"

        def figure(name: CoefficientName, coefficient: Coefficient) -> FigureSoFar:
            plain = result.coefficients[name]
            ratings = result.ratings if name == "cohen_kappa" else result.ratings.anonymous
            sequence = None
            if plain.value is not None and self.coming == "at_random":
                sequence = agreement_sequence(
                    ratings, coefficient, clusters=result.clusters, level=self.level
                )
            estimate = self._figure(plain, result.n_clusters, sequence)
            # A mean can count each by the inverse of its chance; agreement is of what was labelled.
            mostly = is_uneven and estimate.value is not None and estimate.caution is None
            return replace(estimate, caution=OF_THE_LIKELIER) if mostly else estimate

        return LabelSoFar(
            result.name,
            result.scale,
            result.n_items,
            result.n_shared,
            figure("percent", observed_agreement),
            figure(kappa_name, mean_kappa if of_two else fleiss),
            kappa_name,
            figure("krippendorff_alpha", alpha(result.scale)),
            result.annotators,
            self._means(),
        )

    def _figure(
        self, plain: AgreementCoefficient | Corrected, n: int, sequence: Interval | None
    ) -> FigureSoFar:
        if plain.value is None:
            return FigureSoFar(None, plain.reason, n)
        if self.coming == "no_more":
            return FigureSoFar(plain.value, None, n, plain.interval)
        if self.coming == "riskiest_first":
            return FigureSoFar(plain.value, None, n, None, RISKIEST_FIRST)
        if sequence is not None:
            return FigureSoFar(plain.value, None, n, sequence)
        code = reason(LOOKED_AT_AGAIN, n=n, first=FIRST_LOOK) if n < FIRST_LOOK else ALIKE_SO_FAR
        return FigureSoFar(plain.value, None, n, plain.interval, code)

    def _means(self) -> dict[str, FigureSoFar]:
        rows = self.rows.filter(~pl.col("tie"))
        if self.result.scale != "nominal":
            return {
                "": self._with_open_ones(self._mean(rows, rows["number"], self.ends), self.ends)
            }
        labels = rows["value"].unique().sort()
        means = {}
        for label in labels if len(labels) <= MOST_LABELS else ():
            mean = self._mean(rows, rows["value"] == label, (0.0, 1.0))
            means[label] = self._with_open_ones(mean, (0.0, 1.0))
        return means

    def _with_open_ones(self, mean: FigureSoFar, ends: Limits) -> FigureSoFar:
        """Add a caution to a mean if people left some units open, seldom by chance.

        Where more are open than labelled, they are still to come.
        """
        labelled = set(self.rows.select("example_id", "unit").iter_rows())
        sorts = {unit_kind(unit) for _, unit in labelled}
        blank = (row for row in self.blank.select("example_id", "unit").iter_rows())
        n = len({row for row in blank if unit_kind(row[1]) in sorts} - labelled)
        low, high = ends
        if not 0 < n <= len(labelled) or mean.value is None or low is None or high is None:
            return mean
        asked = n + len(labelled)
        least, most = (mean.value + n / asked * (end - mean.value) for end in (low, high))
        why = reason(LEFT_OPEN, n=n, asked=asked, least=f"{least:.3f}", most=f"{most:.3f}")
        return replace(mean, caution=why)

    def _mean(self, rows: pl.DataFrame, labels: pl.Series, ends: Limits) -> FigureSoFar:
        chances = rows["inclusion_probability"]
        of = [self.clusters.get(id, f"\0{id}") for id in rows["example_id"]]
        n = len(set(of))
        if rows.is_empty():
            return FigureSoFar(None, ALL_SPLIT, 0)
        if 0 < chances.null_count() < len(chances):
            return FigureSoFar(None, CHANCES_IN_PART, n)
        low, high = ends
        values = labels.cast(pl.Float64).to_numpy()
        weights = None if chances.null_count() else 1 / chances.to_numpy()
        together = None if n == rows.height else of
        if self.result.scale == "nominal":
            ready = rate_of_labels(values, weights=weights, clusters=together)
        else:
            ready = mean_of_labels(values, low=low, high=high, weights=weights, clusters=together)
        sequence = None
        if self.coming == "at_random":
            sequence = mean_sequence(
                values, low=low, high=high, weights=weights, clusters=together, level=self.level
            )
        return self._figure(ready.at(self.level), n, sequence)


def queue_so_far(
    database: LabelDatabase,
    queue: Queue,
    *,
    clusters: Mapping[str, Hashable] | None = None,
    level: float = 0.95,
) -> tuple[LabelSoFar, ...]:
    """Measure agreement and means of each label of a queue, as ``labels_so_far``.

    The order of its labels and the ends of its ratings follow from the queue; ``clusters`` are
    by default its questions. Labels that nobody gave yet are left out.
    """
    return labels_so_far(
        labels_in_queue(database, queue.name), coming=_coming(queue), ends=choice_ends(queue.form),
        clusters=queue.questions() if clusters is None else clusters, level=level,
    )  # fmt: skip


def _coming(queue: Queue) -> Coming:
    if not queue.to_come():
        return "no_more"
    return "riskiest_first" if queue.form.order == "risk" else "at_random"


def choice_ends(form: QueueForm) -> dict[str, Ends]:
    """Return the least and the greatest choice of each label whose choices are numbers."""
    ends: dict[str, Ends] = {}
    for label in form.asked:
        values = [in_words(choice) for choice in label.choices]
        numbers = [word.number for word in values if word is not None and word.number is not None]
        if numbers and len(numbers) == len(label.choices) and min(numbers) < max(numbers):
            ends[label.label.removeprefix("own.")] = min(numbers), max(numbers)
    return ends
