"""Label sheet: a sample as a table that people fill in and that is read back as labels.

One row for each annotator and example; where contexts, claims or statements are labelled, one for
each of these. It names no system and no verdict of the judge, so that nobody is led.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.argument import argument
from ragstone.errors import InputError, UnknownName
from ragstone.examples import Example, from_frame
from ragstone.examples.labels import FIELDS, Unit
from ragstone.inert import csv_table
from ragstone.judgements import (
    ASKS,
    ENGLISH,
    KINDS,
    Kind,
    answered_by,
    instructions_for_people,
    is_in,
    kind_of,
    languages,
)
from ragstone.judges.human import HumanJudge
from ragstone.metrics import AnswerOutcome, AspectVerdict, Metric, RubricScore
from ragstone.parquet import as_parquet
from ragstone.reason import reason
from ragstone.result_file import write_result
from ragstone.run import Run

from .draw import Sample
from .strata import VERDICT

UNITS: tuple[Unit, ...] = ("answer", "context", "claim", "statement")

HEAD = ("id", "annotator", "inclusion_probability", "stratum")
TEXTS = ("text", "question", "history", "policy", "answer", "contexts", "reference")
TAIL = ("note", "discard")
WRITTEN = (".csv", ".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class RequestedLabel:
    """A label that is asked of people, and of which unit."""

    label: str
    unit: Unit


@dataclass(frozen=True, eq=False)
class LabelSheet:
    """Rows to be filled in.

    Attributes:
        frame: The rows.
        asked: Which of its columns are empty to be filled in.
        notes: What is not in it.
        guideline: What is asked, in Markdown, for the people who fill it in; empty where that is a
            word of the user's own.
    """

    frame: pl.DataFrame
    asked: tuple[RequestedLabel, ...]
    notes: tuple[str, ...]
    guideline: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns to fill."""
        return tuple(dict.fromkeys(one.label for one in self.asked))


def labels_asked(labels: Sequence[str], metric: Metric | str | None) -> tuple[RequestedLabel, ...]:
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
    needed = _needed(metric) if isinstance(metric, Metric) else []
    if not labels:
        if metric is None:
            raise InputError(
                f"A label sheet needs to know what to ask: {argument('asked', 'NAME')}, such as "
                f"{argument('asked', 'helpful')}, or {argument('metric', 'NAME')}."
            )
        return tuple(needed) or (RequestedLabel(str(metric), "answer"),)
    taken = sorted({*HEAD, *UNITS, *TEXTS, *TAIL} & set(labels))
    if taken:
        raise InputError(f"A label cannot be called {', '.join(taken)}: the sheet has that column.")
    asked = []
    for label in dict.fromkeys(labels):
        units = [one.unit for one in needed if one.label == label]
        asked += [RequestedLabel(label, unit) for unit in units or [_usual_unit(label)]]
    return tuple(asked)


def label_sheet(
    sample: Sample, run: Run, asked: Sequence[RequestedLabel], language: str = ENGLISH
) -> LabelSheet:
    """The sample's examples with room for the labels.

    Each annotator's rows stand together, examples in the random order of the sample.

    Args:
        sample: Drawn from the run.
        run: Whose examples, claims and statements are shown.
        asked: From ``labels_asked``.
        language: Of the guideline; a kind without one in this language has its English one.

    Raises:
        UnknownName: No guideline is in this language.
    """
    run = run.without_overrules()
    language = language.capitalize()
    if language not in languages():
        known = ", ".join(languages())
        raise UnknownName("language", language, languages(), hint=f"There are {known}.")
    drawn = sample.rows
    there = run.examples().filter(pl.col("id").is_in(drawn["example_id"].implode()))
    examples = {one.id: one for one in from_frame(there)}
    units = [unit for unit in UNITS if any(one.unit == unit for one in asked)]
    propositions = {unit: _texts(run, FIELDS[unit]) for unit in UNITS[2:] if unit in units}
    strata = _blind(drawn["stratum"])
    seen = _texts_shown(asked)
    rows = []
    bare: dict[str, None] = {}
    for annotator in sample.settings.annotators or ("",):
        for one, stratum in zip(drawn.iter_rows(named=True), strata, strict=True):
            if annotator in one["annotators"]:
                head = {"id": one["example_id"], "annotator": annotator or None,
                        "inclusion_probability": one["inclusion_probability"],
                        "stratum": stratum}  # fmt: skip
                found = list(_of_example(examples[one["example_id"]], asked, propositions, seen))
                rows += [head | unit for unit in found]
                bare |= {} if found else {one["example_id"]: None}
    notes = []
    if bare:
        lacking = dict.fromkeys(one.unit for one in asked)
        notes.append(reason("no_row", n=len(bare), units="\n".join(lacking)))
    units = [unit for unit in units if unit != "answer"]
    labels = dict.fromkeys(one.label for one in asked)
    columns = dict.fromkeys([*HEAD, *units, *TEXTS, *labels, *TAIL], pl.String())
    schema: dict[str, pl.DataType] = {**columns, "inclusion_probability": pl.Float64()}
    frame = pl.DataFrame(rows, schema=schema)
    empty = [name for name in ("stratum", *TEXTS) if frame[name].null_count() == len(frame)]
    kinds = _kinds(asked)
    if left := [kind.name for kind in kinds if not is_in(kind, language)]:
        notes.append(reason("no_translation", language=language, kinds="\n".join(left)))
    instructions = [
        instructions_for_people(kind, columns, language) for kind, columns in kinds.items()
    ]
    return LabelSheet(frame.drop(empty), tuple(asked), tuple(notes), "\n".join(instructions))


def write_sheet(sheet: LabelSheet, path: Path) -> None:
    """Write it as CSV, JSON lines or Parquet, as the name ends, and its guideline beside it.

    Raises:
        InputError: Another ending, a sheet that is there, for it may hold labels, or another
            guideline that is there.
    """
    if not path.name.endswith(WRITTEN):
        raise InputError(f"A label sheet is written to {', '.join(WRITTEN)}, not to {path.name!r}.")
    if path.exists():
        raise InputError(
            f"{path} already exists and may hold labels. Choose another name for the sheet."
        )
    if sheet.guideline:
        guideline = guideline_file(path)
        if guideline.exists() and guideline.read_bytes() != sheet.guideline.encode():
            raise InputError(
                f"{guideline} already exists and says something else than the guideline of this "
                "sheet. Choose another name for the sheet."
            )
        write_result(guideline, sheet.guideline)
    if path.suffix == ".csv":
        write_result(path, csv_table(sheet.frame).write_csv())
    elif path.suffix == ".jsonl":
        write_result(path, sheet.frame.write_ndjson())
    else:
        write_result(path, as_parquet(sheet.frame))


def guideline_file(path: Path) -> Path:
    """Where the guideline of a sheet stands: ``labels.csv`` has ``labels.guideline.md``."""
    return path.with_suffix(".guideline.md")


def _needed(metric: Metric) -> list[RequestedLabel]:
    """What people must say for the metric's rule; nothing where it needs more than people's word.

    The outcome of an answer is one word, which is asked for itself.
    """
    if isinstance(metric, RubricScore):
        return [RequestedLabel(f"rating.{metric.criterion}", "answer")]
    if isinstance(metric, AspectVerdict):
        return [RequestedLabel(f"critique.{metric.aspect}", "answer")]
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
                    found.append(RequestedLabel(column.label, ask.over.unit))
    return sorted(dict.fromkeys(found), key=lambda one: UNITS.index(one.unit))


def _usual_unit(label: str) -> Unit:
    """Of the first ask that people can answer with it; the answer for a word of one's own."""
    units = [
        ask.over.unit
        for name, ask in ASKS.items()
        for column in kind_of(name).filled_by(ask)
        if ask.over is not None and column.label == label
    ]
    return next(iter(units), "answer")


def _kinds(asked: Sequence[RequestedLabel]) -> dict[type[Kind], list[str]]:
    """The kinds that are asked about, with the columns that are; none for the user's own words."""
    labels = {one.label for one in asked}
    topics = {label.partition(".")[0] for label in labels}
    return {
        kind: columns
        for name, kind in KINDS.items()
        if (columns := [column for column, label in kind.labels().items() if label in labels])
        or (name in topics and kind.having("topic"))
    }


def _texts_shown(asked: Sequence[RequestedLabel]) -> set[str]:
    """What is to be read: what the judges of these kinds read, all of it for a user's own word."""
    kinds = _kinds(asked)
    known = {label for kind in kinds for label in kind.labels().values()}
    if not all(one.label in known for one in asked):
        return {*TEXTS}
    shown = {text for kind in kinds for text in kind.shows}
    shown |= {"answer"} & {one.unit for one in asked}
    return shown | ({"answer"} if "sentences" in shown else set())


def _of_example(
    example: Example,
    asked: Sequence[RequestedLabel],
    propositions: Mapping[Unit, Mapping[str, Sequence[tuple[str, str]]]],
    seen: set[str],
) -> Iterator[dict[str, Any]]:
    """One row a unit, with what a person has to read."""
    contexts = example.contexts or ()
    turns = [f"{turn.role}: {turn.text}" for turn in example.history]
    texts = {
        "question": example.question,
        "history": "\n".join(turns) or None,
        "policy": example.policy,
        "answer": example.answer,
        "reference": "\n\n".join(example.reference) or None,
    }
    texts = {
        name: text
        for name, text in texts.items()
        if name in seen or (name == "history" and "question" in seen)
    }
    passages = [f"[{one.rank}] {one.text or one.id}" for one in contexts]
    whole = texts | ({"contexts": "\n\n".join(passages) or None} if "contexts" in seen else {})
    units = {one.unit for one in asked}
    if "answer" in units:
        yield whole
    if "context" in units:
        yield from (texts | {"context": str(one.rank), "text": one.text} for one in contexts)
    for unit in UNITS[2:]:
        if unit in units:
            for index, text in propositions[unit].get(example.id, ()):
                yield whole | {unit: index, "text": text}


def _texts(run: Run, kind: str) -> dict[str, list[tuple[str, str]]]:
    """Number and text of the claims or statements of each example, of the judge who spoke first."""
    rows = run.judgements(kind)
    if "reference" in rows.columns:
        rows = rows.filter(pl.col("reference") == 0)
    rows = rows.unique(["example_id", "index"], keep="first", maintain_order=True).sort(
        "example_id", "index", maintain_order=True
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for id, index, text in rows.select("example_id", "index", "text").iter_rows():
        found.setdefault(id, []).append((str(index + 1), text))
    return found


def _blind(strata: pl.Series) -> list[str | None]:
    """Names of strata in which a letter stands for what the judge said."""
    known = sorted({part for name in strata.drop_nulls() for part in name.split(", ")
                    if part.startswith(f"{VERDICT}=")})  # fmt: skip
    letters = {part: f"{VERDICT} {chr(ord('A') + at)}" for at, part in enumerate(known)}
    return [
        None if name is None else ", ".join(letters.get(part, part) for part in name.split(", "))
        for name in strata
    ]
