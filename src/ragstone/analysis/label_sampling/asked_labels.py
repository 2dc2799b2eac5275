"""Asked labels: what annotators are asked and shown, who labels what, expected widths."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from statistics import NormalDist

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from ragstone.analysis.scored_run import Scored
from ragstone.annotation.queue import form as pairs
from ragstone.annotation.queue.form import YES_NO as YES_OR_NO
from ragstone.annotation.queue.form import AskedLabel
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import argument, reason
from ragstone.data.record_labels import LABELS, PROPOSITIONS, YES_NO, Unit
from ragstone.judgements import (
    ASKS,
    KINDS,
    Agreement,
    Claim,
    Column,
    Critique,
    Grounding,
    Kind,
    Preference,
    Quality,
    Rating,
    Relevance,
    Response,
    Statement,
    Support,
    answered_by,
    instructions_for_people,
    is_in,
    kind_of,
    languages,
)
from ragstone.judges.judge import HumanJudge
from ragstone.metrics import AnswerOutcome, AspectVerdict, Metric, RubricScore
from ragstone.stats.correction.corrected import joined_strata
from ragstone.stats.distributions import upper_quantile
from ragstone.stats.weights_and_groups import Floats

LEVEL = 0.95
PEOPLE = "people"


def expected_errors(scored: Scored, metric: str, people: pl.DataFrame | None) -> Floats:
    """Expect how far people's score lies from what the judge's verdict says, by example.

    With labels: the standard deviation of people's scores among what the judge calls alike, in the
    strata of ``joined_strata``, moved to that of all labels as by one label more. Without, nobody
    knows where the judge errs, and it counts as erring everywhere alike: as far as its own scores
    vary, m (1 - m) of a rate. Where it has no score either, nothing is known: 0.

    Args:
        people: ``example_id``, ``people`` and ``weight`` (one over the chance of being drawn, null
            for equal ones) of those that are labelled already.
    """
    rows = scored.of(metric)
    values = rows["value"].cast(pl.Float64)
    known = values.fill_null(values.mean() or 0.0).to_numpy()
    if people is None or people.is_empty():
        scale = scored.scale(metric)
        mean = float(known.mean())
        bounded = (scale.low, scale.high) == (0, 1)
        deviation = sqrt(mean * (1 - mean)) if bounded else float(known.std())
        return np.full(len(known), deviation)
    labelled = rows.join(people, on="example_id", how="left", maintain_order="left")
    has_label = labelled[PEOPLE].is_not_null().to_numpy()
    labels = labelled[PEOPLE].drop_nulls().to_numpy()
    mass = labelled["weight"].fill_null(1.0).to_numpy()[has_label]
    strata = joined_strata(known, len(labels))
    overall = _variance(labels, mass)
    label_strata = strata[has_label]
    variances = []
    for stratum in range(strata.max() + 1):
        rows_in = label_strata == stratum
        n = int(rows_in.sum())
        variance = _variance(labels[rows_in], mass[rows_in]) if n else 0.0
        variances.append((n * variance + overall) / (n + 1))
    return np.asarray(np.sqrt(variances)[strata])


def expected_width(errors: Floats, probability: ArrayLike) -> float:
    """Width of the 95 % interval of the mean that ``calibrate`` will give.

        2 z · sqrt(the larger of  sum of e² / π / N²  and  mean of e² / n*)

    n* is Kish's number of the labels: its intervals never take labels of unequal weight to tell
    more than as many of equal weight.

    Args:
        errors: Shape (N,). e, how far people's score may lie from what is expected of it.
        probability: Shape (N,). π, in (0, 1]: how likely each example is to be drawn.

    Source: Särndal, Swensson & Wretman (1992), "Model Assisted Survey Sampling", section 6.4, for
    draws that hardly depend on each other.
    """
    z = NormalDist().inv_cdf(upper_quantile(LEVEL))
    chance = np.asarray(probability, dtype=np.float64)
    rows = len(errors)
    kish = rows**2 / float((1 / chance).sum())
    variance = float((errors**2 / chance).sum()) / rows**2
    return 2 * z * sqrt(max(variance, float((errors**2).mean()) / kish))


def _variance(labels: Floats, mass: Floats) -> float:
    return float(np.average((labels - np.average(labels, weights=mass)) ** 2, weights=mass))


def shared_out(
    units: int, annotators: Sequence[str], overlap: float, rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """The annotators of each unit.

    A random share of the units goes to everybody, so that agreement can be measured; each of the
    others goes to one annotator, as evenly as possible.

    Args:
        annotators: Their names; of nobody named, everything is one annotator's without a name.
    """
    faults = []
    if not 0 <= overlap <= 1:
        faults.append(f"the overlap is a share in [0, 1], got {overlap}")
    if overlap > 0 and len(annotators) < 2:
        faults.append(f"an overlap needs several annotators, which {argument('annotators')} names")
    if any(not name.strip() for name in annotators):
        faults.append("an annotator needs a name")
    twice = sorted({name for name in annotators if annotators.count(name) > 1})
    if twice:
        faults.append(f"{', '.join(twice)} occurs twice")
    if faults:
        raise InputError(f"The sample cannot be shared out: {'; '.join(faults)}.")
    if len(annotators) < 2:
        return [tuple(annotators) or ("",)] * units
    everybody = min(units, max(1, round(overlap * units))) if overlap > 0 else 0
    order = rng.permutation(units)
    shares = [tuple(annotators)] * units
    first = int(rng.integers(len(annotators)))
    for turn, unit in enumerate(order[everybody:], start=first):
        shares[unit] = (annotators[turn % len(annotators)],)
    return shares


UNITS: tuple[Unit, ...] = ("answer", "context", *PROPOSITIONS)

HEAD = ("id", "annotator", "inclusion_probability", "stratum")
TEXTS = ("text", "question", "history", "policy", "answer", "contexts", "reference")
TAIL = ("note", "discard")


# What is said of a criterion or an aspect, which the label names behind a point.
TOPICS: Mapping[str, tuple[str, ...]] = {
    Rating.name: ("1", "2", "3", "4", "5"),
    Critique.name: YES_OR_NO,
}


# Kinds that are labelled on one screen; each other kind is labelled by itself.
FAMILIES: Mapping[str, tuple[type[Kind], ...]] = {
    "retrieval": (Relevance,),
    Grounding.name: (Grounding,),
    "generation": (Response, Quality),
}


def labels_asked(labels: Sequence[str], metric: Metric | str | None) -> tuple[AskedLabel, ...]:
    """The labels to ask for, with their units.

    Without any named, those from which the metric can be computed: labels of the taxonomy, verdicts
    on its claims or statements, and where there are none the metric's own value.

    Args:
        labels: Names of labels: of the taxonomy, ``support`` and ``agreement`` (of claims, or of
            what the metric needs), a metric, or a word of one's own.
        metric: What the sample was drawn for; its name alone where it is not loaded.
    """
    needed = labels_settling(metric) if isinstance(metric, Metric) else []
    if not labels:
        if metric is None:
            raise InputError(
                f"A label sheet needs to know what to ask: {argument('asked', 'NAME')}, such as "
                f"{argument('asked', 'helpful')}, or {argument('metric', 'NAME')}."
            )
        return tuple(needed) or (AskedLabel(str(metric), "answer"),)
    if any(not label.strip() for label in labels):
        raise InputError(f"{argument('asked', '')} is empty. Name a label, such as helpful.")
    reserved = sorted({*HEAD, *UNITS, *TEXTS, *TAIL} & set(labels))
    if reserved:
        raise InputError(
            f"A label cannot be called {', '.join(reserved)}: the sheet has that column."
        )
    result = []
    for label in dict.fromkeys(labels):
        units = [known.unit for known in needed if known.label == label]
        result += [AskedLabel(label, unit) for unit in units or [_usual_unit(label)]]
    return tuple(result)


def labels_settling(metric: Metric) -> list[AskedLabel]:
    """List what people must say for the metric's rule; nothing where it needs more than their word.

    The outcome of an answer is one word, which is asked for itself.
    """
    if isinstance(metric, RubricScore):
        return [AskedLabel(f"rating.{metric.criterion}", "answer")]
    if isinstance(metric, AspectVerdict):
        return [AskedLabel(f"critique.{metric.aspect}", "answer")]
    by_people = HumanJudge().asks | answered_by("counting")
    if metric.name == AnswerOutcome.name or not metric.asks <= by_people:
        return []
    facts = {(part.over, name) for part in metric.parts().values() for name in part.columns}
    facts |= {(over, name) for over, fact in facts for name in over.columns[fact].made_of}
    result = []
    for name in (name for name in ASKS if name in metric.asks):
        ask, kind = ASKS[name], kind_of(name)
        for column in kind.filled_by(ask):
            if ask.over is not None and column.label:
                fact = column.fact or column.name
                if kind.about == "proposition" or (ask.over, fact) in facts:
                    result.append(AskedLabel(column.label, ask.over.unit))
    return sorted(dict.fromkeys(result), key=lambda label: UNITS.index(label.unit))


def task_labels(tasks: Sequence[str]) -> tuple[AskedLabel, ...]:
    """The labels of tasks.

    Args:
        tasks: ``retrieval``, ``grounding``, ``generation``, ``claims``, ``statements``, or a kind
            of judgements that people label, such as ``preference`` or one of the user's own.
    """
    known = tasks_known()
    for task in tasks:
        if task not in known:
            hint = f"There are {', '.join(known)}."
            raise UnknownName("task", task, tuple(known), hint=hint)
    return tuple(dict.fromkeys(label for task in tasks for label in known[task]))


def tasks_known() -> dict[str, tuple[AskedLabel, ...]]:
    """The labels of each task."""
    tasks = {
        name: tuple(
            AskedLabel(label, _usual_unit(label))
            for kind in kinds
            for column, label in kind.labels().items()
            # A grade says what the three labels of a passage say, in another way.
            if kind.columns[column].role != "grade"
        )
        for name, kinds in FAMILIES.items()
    }
    tasks[Claim.name] = tuple(AskedLabel(label, "claim") for label in Support.labels().values())
    agreement = Agreement.labels().values()
    tasks[Statement.name] = tuple(AskedLabel(label, "statement") for label in agreement)
    for name, kind in KINDS.items():
        labels = tuple(AskedLabel(label, _usual_unit(label)) for label in kind.labels().values())
        tasks |= {name: labels} if labels and name not in tasks else {}
    return tasks


def instructions_of(
    labels: Sequence[AskedLabel], language: str, folder: Path | None = None
) -> tuple[str, tuple[str, ...]]:
    """Write the guideline in Markdown for the people who are asked, with remarks on it.

    Empty where that is a word of the user's own.

    Args:
        language: A kind without a guideline in this language has its English one.
    """
    language, known = language.capitalize(), languages(folder)
    if language not in known:
        raise UnknownName("language", language, known, hint=f"There are {', '.join(known)}.")
    kinds = kinds_asked(labels)
    left = [kind.name for kind in kinds if not is_in(kind, language, folder)]
    notes = [reason("no_translation", language=language, kinds="\n".join(left))] if left else []
    parts = [
        instructions_for_people(kind, columns, language, folder) for kind, columns in kinds.items()
    ]
    return "\n".join(parts), tuple(notes)


def _usual_unit(label: str) -> Unit:
    units = [
        ask.over.unit
        for name, ask in ASKS.items()
        for column in kind_of(name).filled_by(ask)
        if ask.over is not None and column.label == label
    ]
    return next(iter(units), "answer")


def kinds_asked(asked_labels: Sequence[AskedLabel]) -> dict[type[Kind], list[str]]:
    """The kinds that are asked about, with the columns that are; none for the user's own words."""
    labels = {asked_label.label for asked_label in asked_labels}
    topics = {label.partition(".")[0] for label in labels}
    return {
        kind: columns
        for name, kind in KINDS.items()
        if (columns := [column for column, label in kind.labels().items() if label in labels])
        or (name in topics and kind.having("topic"))
    }


def texts_shown(labels: Sequence[AskedLabel]) -> set[str]:
    """Return the texts that people read: the question, and what the judges of these kinds read.

    For a label of the user's own these are all texts.
    """
    kinds = kinds_asked(labels)
    known = {label for kind in kinds for label in kind.labels().values()}
    if not all(label.label in known for label in labels):
        return {*TEXTS}
    texts = {"question", "history"}.union(*(kind.shows for kind in kinds))
    texts |= {"answer"} & {label.unit for label in labels}
    return texts | ({"answer"} if "sentences" in texts else set())


def by_task(asked: Sequence[AskedLabel]) -> dict[str, list[AskedLabel]]:
    """The labels of each task; those that show more, and so lead people more, come later."""
    tasks: dict[str, list[AskedLabel]] = {}
    for label in asked:
        tasks.setdefault(label.task, []).append(label)
    seen = {task: texts_shown(labels) for task, labels in tasks.items()}

    def leading(task: str) -> list[bool]:
        return [text in seen[task] for text in ("reference", "contexts", "answer")]

    return {task: tasks[task] for task in sorted(tasks, key=leading)}


def _task(label: str) -> str:
    kind = next(iter(kinds_asked([AskedLabel(label, "answer")])), None)
    if kind is None:
        return "own"
    return next((name for name, kinds in FAMILIES.items() if kind in kinds), kind.name)


def with_choices(labels: Sequence[AskedLabel]) -> tuple[AskedLabel, ...]:
    """The labels with their task, what can be said of each, and when; own words have neither."""
    return tuple(replace(_with_choices(label), task=_task(label.label)) for label in labels)


def _with_choices(asked: AskedLabel) -> AskedLabel:
    topic = asked.label.partition(".")[0]
    if topic in TOPICS:
        return replace(asked, choices=TOPICS[topic])
    if asked.label == pairs.LABEL:
        tie = dict(Preference.columns["verdict"].values.items()).get(pairs.TIE, "")
        means = {pairs.A: "", pairs.B: "", pairs.TIE: str(tie)}
        return replace(asked, choices=tuple(means), help=means)
    places: tuple[Unit, ...] = (asked.unit, "record") if asked.unit == "answer" else (asked.unit,)
    known = next((LABELS[unit] for unit in places if asked.label in LABELS.get(unit, {})), None)
    if known is None:
        return asked
    kind, column = next(
        (kind, kind.columns[name])
        for kind in KINDS.values()
        for name, label in kind.labels().items()
        if label == asked.label
    )
    values = known[asked.label]
    if values == YES_NO:
        return replace(asked, choices=YES_OR_NO, help={"yes": _when_yes(kind, column)})
    meant = {str(value): means for value, means in column.values.items()}
    means = {str(value): meant.get(str(value), "") for value in values}
    return replace(asked, choices=tuple(means), help=means)


def _when_yes(kind: type[Kind], column: Column) -> str:
    grades = [each.values for each in kind.columns.values() if each.role == "grade"]
    if not (least := column.at_least) or not grades:
        return column.doc
    means = [str(text).rstrip(".") for grade, text in grades[0].items() if int(grade) >= least]
    return "; or ".join(means) + "."
