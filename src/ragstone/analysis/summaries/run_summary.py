"""Run summary: leading systems, main failures, missing scores, histograms, repeats and splits."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isfinite

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.analysis.calibration.checked_run import CheckedRun, checked_against_people
from ragstone.analysis.comparison.comparability import sets_beside_reference, systems_as_references
from ragstone.analysis.comparison.compare import compare
from ragstone.analysis.comparison.comparison_result import Comparison, by_pair
from ragstone.analysis.release_gate.gate_requirements import over_means
from ragstone.analysis.scored_run import Scored, mean_of, reasons_of
from ragstone.metrics import Composite
from ragstone.metrics.composite import weight_coverage
from ragstone.metrics.metric_names import loaded_metric
from ragstone.run import Estimate, Run

from .failure_stages import TOLD, Faults, faults_of
from .session_figures import ConversationFigures, conversations, has_sessions

# The questions of each system, hashed, in order.
Asked = Mapping[str, NDArray[np.uint64]]


@dataclass(frozen=True, slots=True)
class Lead:
    """Systems of which each is better than every one of ``over`` on these metrics."""

    systems: tuple[str, ...]
    over: tuple[str, ...]
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in a few facts. The verdicts are those of ``compare`` on the run.

    Attributes:
        answered: How many examples have an answer; rankings have none.
        null: How many answers are null, of systems that answer elsewhere.
        themselves: The systems whose answers are the references, each with the metrics that would
            compare it with itself.
        same: Metrics on which all systems have the same inputs, so that they share the scores.
        tested: Metrics with a better end on which a pair of systems was tested.
        shared: The fewest and the most questions of a pair that was tested.
        leads: The systems that are better than all others they were compared with, with the
            metrics; the largest lead first.
        wins: Which system is better than which on metrics where nobody leads.
        pair: Of two systems that are compared, the comparisons; empty if there are more.
        alike: Pairs of systems that were tested, neither of them better on any metric.
        faults: What looks bad, without ``themselves``; None if no metric tells.
        possible: How many scores there are, with the missing ones.
        conversations: The sessions of several turns; None if no example names its session.
        checked: What people's labels show about the judges.
        uneven: Metrics of which two systems have scores on different questions.
        unanswered: How many questions each system did not answer and another did, if any.
        alone: How many questions each system answered and no other did, if any.
    """

    examples: int
    questions: int
    answered: int
    systems: tuple[str, ...]
    metrics: int
    themselves: Mapping[str, tuple[str, ...]]
    same: tuple[str, ...]
    tested: tuple[str, ...]
    shared: tuple[int, int]
    leads: tuple[Lead, ...]
    wins: tuple[Lead, ...]
    pair: tuple[Comparison, ...]
    alike: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...]
    faults: Faults | None
    missing: int
    possible: int
    conversations: ConversationFigures | None = None
    checked: CheckedRun = field(default_factory=lambda: CheckedRun({}))
    uneven: tuple[str, ...] = ()
    unanswered: Mapping[str, int] = field(default_factory=dict)
    alone: Mapping[str, int] = field(default_factory=dict)
    null: int = 0

    @property
    def checked_faults(self) -> CheckedRun:
        """The checks of the judges that tell what is wrong with answers."""
        return self.checked.resting_on(TOLD)

    def leaders(self, metric: str) -> tuple[str, ...]:
        """The systems that are better than all others on a metric; empty if there are none."""
        return next((lead.systems for lead in self.leads if metric in lead.metrics), ())


def summarise(run: Run) -> Summary:
    """Sum up a finished run."""
    scored = Scored(run)
    whole = [estimate for estimate in run.estimate_list if not estimate.group]
    beside = [name for name in scored.metrics if sets_beside_reference(scored.metric(name))]
    themselves = dict.fromkeys(systems_as_references(run), tuple(beside))
    questions, answered = _asked(run, scored.systems)
    comparisons = (
        compare(run).comparisons
        if scored.metrics and _share_a_question(questions, scored.systems)
        else ()
    )
    rivals = [each for each in comparisons if each.better != "0"]
    tested = [each for each in rivals if each.verdict != "same" and each.n_pairs]
    shared = [max(each.n_pairs for each in ones) for ones in by_pair(tested).values()]
    leads = _leads(rivals)
    apart = _apart(scored.systems, questions, comparisons)
    uneven = [
        each.metric
        for each in comparisons
        if each.n_only_a + each.n_only_b
        and each.n_pairs + each.n_only_a
        and each.n_pairs + each.n_only_b
    ]
    unanswered, alone = _unanswered(answered if any(map(len, answered.values())) else questions)
    owed = pl.col("system").is_in(run.form.settings.partly_answered)
    return Summary(
        examples=run.form.data.examples,
        questions=run.form.data.questions,
        answered=run.examples(["id"], pl.col("answer").is_not_null()).height,
        systems=scored.systems,
        metrics=sum(estimate.value is not None for estimate in whole),
        themselves=themselves,
        same=_same(comparisons, len(scored.systems)),
        tested=tuple(dict.fromkeys(each.metric for each in tested)),
        shared=(min(shared, default=0), max(shared, default=0)),
        leads=leads,
        wins=_wins(tested, leads),
        pair=tuple(tested) if len(by_pair(rivals)) == 1 else (),
        alike=tuple(
            pair
            for pair, ones in by_pair(tested).items()
            if not any(each.verdict in DECIDED for each in ones)
        ),
        apart=apart,
        faults=faults_of(run, list(themselves)),
        missing=sum(estimate.n_missing for estimate in whole),
        possible=sum(estimate.n + estimate.n_missing for estimate in whole),
        conversations=conversations(run).without_sessions if has_sessions(run) else None,
        checked=checked_against_people(run.path, run.form),
        uneven=tuple(dict.fromkeys([*uneven, *(scored.metrics if apart else ())])),
        unanswered=unanswered,
        alone=alone,
        null=run.examples(["id"], pl.col("answer").is_null() & owed).height,
    )


def _unanswered(answered: Asked) -> tuple[dict[str, int], dict[str, int]]:
    every, systems = np.unique(np.concatenate(list(answered.values())), return_counts=True)
    single = every[systems == 1]
    answering = {name: ids for name, ids in answered.items() if len(ids)}
    n = len(every)
    lacking = {name: n - len(ids) for name, ids in answering.items() if n > len(ids)}
    alone = {name: int(np.isin(ids, single).sum()) for name, ids in answering.items()}
    return lacking, {name: n for name, n in alone.items() if n}


def _same(comparisons: Sequence[Comparison], systems: int) -> tuple[str, ...]:
    verdicts: dict[str, list[str]] = {}
    for each in comparisons:
        verdicts.setdefault(each.metric, []).append(each.verdict)
    pairs = systems * (systems - 1) // 2
    return tuple(metric for metric, ones in verdicts.items() if ones == ["same"] * pairs and pairs)


def _leads(comparisons: Sequence[Comparison]) -> tuple[Lead, ...]:
    metrics: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for metric in dict.fromkeys(each.metric for each in comparisons):
        ones = [each for each in comparisons if each.metric == metric]
        leaders, others = _leaders(ones)
        if leaders:
            metrics.setdefault((leaders, others), []).append(metric)
    return _largest_first(metrics)


def _leaders(comparisons: Sequence[Comparison]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    beats = {_who(each) for each in comparisons if each.verdict in DECIDED}
    beaten = {name for _, name in beats}
    systems = dict.fromkeys(name for each in comparisons for name in (each.a, each.b))
    leaders = tuple(name for name in systems if name not in beaten)
    others = tuple(name for name in systems if name in beaten)
    beat_all = all((name, other) in beats for name in leaders for other in others)
    return (leaders, others) if leaders and others and beat_all else ((), ())


DECIDED = ("better", "worse")


def _who(each: Comparison) -> tuple[str, str]:
    return (each.a, each.b) if each.verdict == "better" else (each.b, each.a)


def _wins(tested: Sequence[Comparison], leads: Sequence[Lead]) -> tuple[Lead, ...]:
    led = {metric for lead in leads for metric in lead.metrics}
    metrics: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for each in tested:
        if each.verdict in DECIDED and each.metric not in led:
            better, worse = _who(each)
            metrics.setdefault(((better,), (worse,)), []).append(each.metric)
    return _largest_first(metrics)


def _largest_first(
    metrics: Mapping[tuple[tuple[str, ...], tuple[str, ...]], Sequence[str]],
) -> tuple[Lead, ...]:
    leads = [Lead(systems, over, tuple(names)) for (systems, over), names in metrics.items()]
    return tuple(sorted(leads, key=lambda lead: -len(lead.metrics)))


def _apart(
    systems: Sequence[str], questions: Asked, comparisons: Sequence[Comparison]
) -> tuple[tuple[str, str], ...]:
    shared = {(each.a, each.b) for each in comparisons if each.n_pairs}
    return tuple(
        pair
        for pair in combinations(systems, 2)
        if not shared & {pair, pair[::-1]} and not _share_a_question(questions, pair)
    )


def _asked(run: Run, systems: Sequence[str]) -> tuple[Asked, Asked]:
    question = pl.col("question_id").hash(seed=0).alias("question")
    system, answered = pl.col("system").cast(pl.Enum(systems)), pl.col("answer").is_not_null()
    rows = run.examples([question, system, answered])
    questions, whose = rows["question"].to_numpy(), rows["system"].to_physical().to_numpy()
    posed, replied = (
        {name: np.unique(questions[(whose == at) & among]) for at, name in enumerate(systems)}
        for among in (True, rows["answer"].to_numpy())
    )
    return posed, replied


def _share_a_question(questions: Asked, systems: Sequence[str]) -> bool:
    every = np.sort(np.concatenate([questions[name] for name in systems]))
    return bool((every[1:] == every[:-1]).any())


BINS = 16

# By metric and system: how many scores are in each of ``BINS`` parts of the metric's range.
Histograms = Mapping[tuple[str, str], tuple[int, ...]]


def histograms(scores: pl.DataFrame) -> Histograms:
    """Count the single scores in parts of their range, by metric and system.

    Args:
        scores: ``metric``, ``system``, ``value`` and ``status``, a row a score.

    Returns:
        The upper end is in the last bin. Without metrics whose range has an open end, and without
        groups all of whose scores are at an end of it, of which the mean tells all.
    """
    ends = _ends(scores["metric"].unique().to_list())
    position = (pl.col("value") - pl.col("low")) / (pl.col("high") - pl.col("low"))
    binned = (
        scores.lazy()
        .filter(pl.col("status") == "value")
        .join(ends.lazy(), on="metric")
        .select(
            "metric",
            "system",
            bin=(position * BINS).floor().clip(0, BINS - 1).cast(pl.Int64),
            inside=(position > 0) & (position < 1),
        )
        .group_by("metric", "system", "bin", maintain_order=True)
        .agg(pl.len(), pl.col("inside").any())
        .collect()
    )
    counts: dict[tuple[str, str], list[int]] = {}
    varied = set()
    for metric, system, at, count, inside in binned.iter_rows():
        counts.setdefault((metric, system), [0] * BINS)[at] = count
        if inside:
            varied.add((metric, system))
    return {key: tuple(bins) for key, bins in counts.items() if key in varied}


def _ends(metrics: list[str]) -> pl.DataFrame:
    ranges = {name: metric.range for name in metrics if (metric := loaded_metric(name))}
    rows = [
        (name, float(span.low), float(span.high))
        for name, span in ranges.items()
        if isfinite(span.low) and isfinite(span.high) and span.high > span.low
    ]
    schema = {"metric": pl.String, "low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


ANSWER = ("question_id", "system")


def repeats(rows: pl.DataFrame, metrics: Sequence[str], decides: str = "") -> pl.DataFrame:
    """Return the spread of scores, and how often the outcome flips, where a question was repeated.

    The flip rate is the share of pairs of answers whose outcomes differ, over all pairs of answers
    that have one: 0 if all are the same, 1 if all are different. The result has one row a question
    and system with several answers: ``question_id``, ``system``, ``n``; ``mean METRIC``, ``low
    METRIC`` and ``high METRIC``; ``flips``, null without two outcomes.

    Args:
        rows: One row an answer: ``question_id``, ``system``, a column for each metric, and ``label
            METRIC`` for the one that decides.
        decides: The metric whose labels are the outcomes; empty if there is none.
    """
    several = rows.filter(pl.len().over(ANSWER) > 1)
    outcome = pl.col(f"label {decides}") if decides else pl.lit(None, pl.String)
    counts = outcome.drop_nulls().value_counts(name="n").struct.field("n").cast(pl.Float64)
    whole = counts.sum()
    # The counts come in any order, another one each time they are asked for.
    same = (counts.pow(2).sum() - whole) / (whole * (whole - 1))
    return several.group_by(ANSWER, maintain_order=True).agg(
        pl.len().alias("n"),
        *(pl.col(name).mean().alias(f"mean {name}") for name in metrics),
        *(pl.col(name).min().alias(f"low {name}") for name in metrics),
        *(pl.col(name).max().alias(f"high {name}") for name in metrics),
        flips=pl.when(whole > 1).then(1 - same),
    )


def split_estimates(run: Run, field: str, sets: Mapping[str, Collection[str]]) -> list[Estimate]:
    """The estimates of each metric over each set, of all systems together.

    A composite of dataset means, which no example has a score of, is left out. They have no
    signature, no bounds and no counts of words and flags.
    """
    scored = Scored(run)
    whole = {estimate.metric: estimate for estimate in run.estimate_list if not estimate.group}
    estimates: list[Estimate] = []
    for name, estimate in whole.items():
        if over_means(scored, name) is None:
            scores = scored.of(name)
            for value, ids in sets.items():
                rows = scores.filter(pl.col("example_id").is_in(list(ids)))
                estimates.append(_estimate(scored, estimate, rows, {field: value}))
    return estimates


def _estimate(
    scored: Scored, whole: Estimate, scores: pl.DataFrame, group: Mapping[str, str]
) -> Estimate:
    mean = mean_of(scores, scored.scale(whole.metric), level=whole.level)
    statuses = Counter(scores["status"])
    return replace(
        whole, group=group, value=mean.value,
        low=None if mean.interval is None else mean.interval.low,
        high=None if mean.interval is None else mean.interval.high,
        method=None if mean.interval is None else mean.interval.method,
        n=statuses["value"], n_undefined=statuses["undefined"], n_missing=statuses["missing"],
        worst=None, best=None, clusters=mean.clusters,
        labels={}, flags={}, reasons=reasons_of(scores), signature="",
    )  # fmt: skip


# By metric and system.
WeightShares = Mapping[tuple[str, str], float]


def weight_shares(scores: pl.DataFrame) -> WeightShares:
    """The mean share of the weight that the scores of each composite are made of.

    Args:
        scores: ``metric``, ``system``, ``status`` and ``reason``, a row a score.
    """
    metrics = scores["metric"].unique()
    composites = [name for name in metrics if isinstance(loaded_metric(name), Composite)]
    shares = (
        scores.lazy()
        .filter(pl.col("metric").is_in(composites) & (pl.col("status") == "value"))
        .group_by("metric", "system")
        .agg(weight_coverage().mean().alias("share"))
        .collect()
    )
    return {(metric, system): share for metric, system, share in shares.iter_rows()}
