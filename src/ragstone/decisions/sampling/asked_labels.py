"""Asked labels: what people are asked of a sample, of which parts, and what they have to read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import argument, reason
from ragstone.data.record_labels import LABELS, YES_NO, Unit
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
from ragstone.labels.queue import pairs
from ragstone.labels.queue.form import YES_NO as YES_OR_NO
from ragstone.labels.queue.form import AskedLabel
from ragstone.metrics import AnswerOutcome, AspectVerdict, Metric, RubricScore

UNITS: tuple[Unit, ...] = ("answer", "context", "claim", "statement")

HEAD = ("id", "annotator", "inclusion_probability", "stratum")
TEXTS = ("text", "question", "history", "policy", "answer", "contexts", "reference")
TAIL = ("note", "discard")


TOPICS: Mapping[str, tuple[str, ...]] = {
    Rating.name: ("1", "2", "3", "4", "5"),
    Critique.name: YES_OR_NO,
}
"""What is said of a criterion or an aspect, which the label names behind a point."""


def labels_asked(labels: Sequence[str], metric: Metric | str | None) -> tuple[AskedLabel, ...]:
    """The labels to ask for, with their units.

    Without any named, those from which the metric can be computed: labels of the taxonomy,
    verdicts on its claims or statements, and where there are none the metric's own value.

    Args:
        labels: Names of labels: of the taxonomy, ``support`` and ``agreement`` (of claims, or of
            what the metric needs), a metric, or a word of one's own.
        metric: What the sample was drawn for; its name alone where it is not loaded.

    Raises:
        InputError: Neither labels nor a metric, or a name that a column of the sheet has.
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
    taken = sorted({*HEAD, *UNITS, *TEXTS, *TAIL} & set(labels))
    if taken:
        raise InputError(f"A label cannot be called {', '.join(taken)}: the sheet has that column.")
    asked = []
    for label in dict.fromkeys(labels):
        units = [one.unit for one in needed if one.label == label]
        asked += [AskedLabel(label, unit) for unit in units or [_usual_unit(label)]]
    return tuple(asked)


def labels_settling(metric: Metric) -> list[AskedLabel]:
    """What people must say for the metric's rule; nothing where it needs more than people's word.

    The outcome of an answer is one word, which is asked for itself.

    Args:
        metric: Any.

    Returns:
        The labels, by what of an example they are about.
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
    found = []
    for name in (name for name in ASKS if name in metric.asks):
        ask, kind = ASKS[name], kind_of(name)
        for column in kind.filled_by(ask):
            if ask.over is not None and column.label:
                fact = column.fact or column.name
                if kind.about == "proposition" or (ask.over, fact) in facts:
                    found.append(AskedLabel(column.label, ask.over.unit))
    return sorted(dict.fromkeys(found), key=lambda one: UNITS.index(one.unit))


def task_labels(tasks: Sequence[str]) -> tuple[AskedLabel, ...]:
    """The labels of tasks.

    Args:
        tasks: ``retrieval``, ``grounding``, ``generation``, ``claims``, ``statements``, or a kind
            of judgements that people label, such as ``preference`` or one of the user's own.

    Raises:
        UnknownName: There is no such task.
    """
    known = tasks_known()
    for one in tasks:
        if one not in known:
            hint = f"There are {', '.join(known)}."
            raise UnknownName("task", one, tuple(known), hint=hint)
    return tuple(dict.fromkeys(label for one in tasks for label in known[one]))


def tasks_known() -> dict[str, tuple[AskedLabel, ...]]:
    """The labels of each task."""
    families: dict[str, tuple[type[Kind], ...]] = {
        "retrieval": (Relevance,),
        Grounding.name: (Grounding,),
        "generation": (Response, Quality),
    }
    found = {
        name: tuple(
            AskedLabel(label, _usual_unit(label))
            for kind in kinds
            for column, label in kind.labels().items()
            # A grade says what the three labels of a passage say, in another way.
            if kind.columns[column].role != "grade"
        )
        for name, kinds in families.items()
    }
    found[Claim.name] = tuple(AskedLabel(label, "claim") for label in Support.labels().values())
    found[Statement.name] = tuple(
        AskedLabel(label, "statement") for label in Agreement.labels().values()
    )
    for name, kind in KINDS.items():
        own = tuple(AskedLabel(label, _usual_unit(label)) for label in kind.labels().values())
        found |= {name: own} if own and name not in found else {}
    return found


def instructions_of(
    asked: Sequence[AskedLabel], language: str, folder: Path | None = None
) -> tuple[str, tuple[str, ...]]:
    """What is asked, in Markdown, for the people who say it; and remarks on it.

    Empty where that is a word of the user's own.

    Args:
        asked: From ``labels_asked``.
        language: A kind without a guideline in this language has its English one.
        folder: With translations of the user's own.

    Raises:
        UnknownName: No guideline is in this language.
    """
    language, there = language.capitalize(), languages(folder)
    if language not in there:
        raise UnknownName("language", language, there, hint=f"There are {', '.join(there)}.")
    kinds = kinds_asked(asked)
    left = [kind.name for kind in kinds if not is_in(kind, language, folder)]
    notes = [reason("no_translation", language=language, kinds="\n".join(left))] if left else []
    parts = [
        instructions_for_people(kind, columns, language, folder) for kind, columns in kinds.items()
    ]
    return "\n".join(parts), tuple(notes)


def _usual_unit(label: str) -> Unit:
    """Of the first ask that people can answer with it; the answer for a word of one's own."""
    units = [
        ask.over.unit
        for name, ask in ASKS.items()
        for column in kind_of(name).filled_by(ask)
        if ask.over is not None and column.label == label
    ]
    return next(iter(units), "answer")


def kinds_asked(asked: Sequence[AskedLabel]) -> dict[type[Kind], list[str]]:
    """The kinds that are asked about, with the columns that are; none for the user's own words."""
    labels = {one.label for one in asked}
    topics = {label.partition(".")[0] for label in labels}
    return {
        kind: columns
        for name, kind in KINDS.items()
        if (columns := [column for column, label in kind.labels().items() if label in labels])
        or (name in topics and kind.having("topic"))
    }


def texts_shown(asked: Sequence[AskedLabel]) -> set[str]:
    """What is to be read: what the judges of these kinds read, all of it for a user's own word."""
    kinds = kinds_asked(asked)
    known = {label for kind in kinds for label in kind.labels().values()}
    if not all(one.label in known for one in asked):
        return {*TEXTS}
    shown = {text for kind in kinds for text in kind.shows}
    shown |= {"answer"} & {one.unit for one in asked}
    return shown | ({"answer"} if "sentences" in shown else set())


def with_choices(asked: Sequence[AskedLabel]) -> tuple[AskedLabel, ...]:
    """The labels with what can be said of each, and when; own words have neither."""
    return tuple(_with_choices(one) for one in asked)


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
    choices = tuple(map(str, values))
    return replace(asked, choices=choices, help={one: meant.get(one, "") for one in choices})


def _when_yes(kind: type[Kind], column: Column) -> str:
    """When a label is yes: what it says, or, if that follows from a grade, what the grades mean."""
    grades = [one.values for one in kind.columns.values() if one.role == "grade"]
    if not (least := column.at_least) or not grades:
        return column.doc
    means = [str(text).rstrip(".") for grade, text in grades[0].items() if int(grade) >= least]
    return "; or ".join(means) + "."
