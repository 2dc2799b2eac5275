"""Queue items and label sheets: what annotators read of a run or of data, and what they label.

A label sheet has a row for each annotator and example; where contexts, claims or statements are
labelled, a row for each of these. The sheet names no system and no verdict of the judge, so that
nobody is led. For the same reason two answers to a question are shown as A and B in random order.
"""

import re
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ragstone.annotation.queue.form import A, AskedLabel, B, ItemPart, QueueItem
from ragstone.annotation.raw_rows import row_of
from ragstone.annotation.read_labels import source_of
from ragstone.core.errors import DataError, Fault, InputError
from ragstone.core.escape import csv_table
from ragstone.core.files import write_result
from ragstone.core.messages import reason
from ragstone.core.parquet import as_parquet
from ragstone.data import Example, from_frame
from ragstone.data.fields import squash
from ragstone.data.json_text import BadRow
from ragstone.data.record_labels import EXTRACTED, FIELDS, Unit
from ragstone.data.text_files import Meter
from ragstone.judgements import ENGLISH
from ragstone.run import Run

from .asked_labels import HEAD, TAIL, TEXTS, UNITS, instructions_of, texts_shown
from .draw_sample import Sample
from .sample_designs import VERDICT

Propositions = Mapping[Unit, Mapping[str, Sequence[tuple[str, str]]]]


def run_items(
    run: Run,
    labels: Sequence[AskedLabel],
    ids: Collection[str] | None = None,
    probabilities: Mapping[str, float] | None = None,
) -> list[QueueItem]:
    """The examples of a run, in its order, whose systems and verdicts are not in them.

    Args:
        run: Whose claims and statements are those of the judge who spoke first.
        ids: Of the examples; None: all.
    """
    run = run.without_corrections()
    where = None if ids is None else pl.col("id").is_in(list(ids))
    units = {label.unit for label in labels}
    propositions = {unit: _texts(run, FIELDS[unit]) for unit in EXTRACTED if unit in units}
    return list(
        _items(from_frame(run.examples(where=where)), labels, propositions, probabilities or {})
    )


def data_items(
    examples: Iterable[Example],
    labels: Sequence[AskedLabel],
    probabilities: Mapping[str, float] | None = None,
    propositions: Propositions | None = None,
) -> list[QueueItem]:
    """The examples of data, with their claims and statements.

    Args:
        propositions: Number and text of the claims and statements of each; None: those that the
            data list.
    """
    listed = list(examples)
    texts = propositions or {
        unit: {example.id: _listed(example.labels.get(FIELDS[unit])) for example in listed}
        for unit in EXTRACTED
    }
    return list(_items(listed, labels, texts, probabilities or {}))


def _listed(label_rows: object) -> list[tuple[str, str]]:
    rows = label_rows if isinstance(label_rows, list) else []
    texts = [row.get("text") if isinstance(row, Mapping) else None for row in rows]
    return [(str(at), text) for at, text in enumerate(texts, start=1) if isinstance(text, str)]


def _items(
    examples: Iterable[Example],
    labels: Sequence[AskedLabel],
    propositions: Propositions,
    probabilities: Mapping[str, float],
) -> Iterator[QueueItem]:
    seen = texts_shown(labels)
    units = {label.unit for label in labels}
    for number, example in enumerate(examples):
        contexts = example.contexts or ()
        texts: dict[str, Any] = {
            **_texts_around(example),
            "answer": example.answer,
            "contexts": [{"name": str(each.rank), "text": each.text or each.id}
                         for each in contexts],
        }  # fmt: skip
        readable = {name: text for name, text in texts.items() if text and name in seen}
        parts = [ItemPart("answer")] if "answer" in units else []
        if "context" in units:
            parts += [ItemPart("context", str(each.rank), each.text or "") for each in contexts]
        for unit in EXTRACTED:
            listed = propositions.get(unit, {}).get(example.id, ()) if unit in units else ()
            parts += [ItemPart(unit, *proposition) for proposition in listed]
        if "criterion" in units and example.answer is not None:
            criteria = enumerate(example.criteria, start=1)
            parts += [ItemPart("criterion", str(number), text) for number, text in criteria]
        yield QueueItem(
            number, example.id, readable, tuple(parts), probabilities.get(example.id),
            question=example.question_id,
        )  # fmt: skip


def _texts_around(example: Example) -> dict[str, Any]:
    return {
        "question": example.question,
        "history": [{"role": turn.role, "text": turn.text} for turn in example.history],
        "policy": example.policy,
        "reference": list(example.reference),
    }


def _texts(run: Run, kind: str) -> dict[str, list[tuple[str, str]]]:
    rows = run.judgements(kind)
    if "reference" in rows.columns:
        rows = rows.filter(pl.col("reference") == 0)
    rows = rows.unique(["example_id", "index"], keep="first", maintain_order=True).sort(
        "example_id", "index", maintain_order=True
    )
    texts: dict[str, list[tuple[str, str]]] = {}
    for id, index, text in rows.select("example_id", "index", "text").iter_rows():
        texts.setdefault(id, []).append((str(index + 1), text))
    return texts


def pair_items(
    examples: Iterable[Example], *, ids: Collection[str] | None = None, seed: int = 0
) -> list[QueueItem]:
    """Every two answers of different systems to one question.

    Args:
        ids: Only pairs in which one of these examples is; None: all.
    """
    rng = np.random.default_rng(seed)
    questions: dict[str, list[Example]] = {}
    for example in examples:
        if example.answer:
            questions.setdefault(example.question_id, []).append(example)
    items: list[QueueItem] = []
    for answers in questions.values():
        for example, rival in combinations(answers, 2):
            if example.system != rival.system and (
                ids is None or {example.id, rival.id} & set(ids)
            ):
                items.append(_pair(len(items), example, rival, bool(rng.integers(2))))
    if not items:
        raise InputError(
            "Which answer is better can be asked where two systems answer one question; here none "
            "has two."
        )
    return items


def _pair(number: int, example: Example, rival: Example, first: bool) -> QueueItem:
    texts = (example.answer, rival.answer) if first else (rival.answer, example.answer)
    answers = [{"name": name, "text": text} for name, text in zip((A, B), texts, strict=True)]
    readable = {**_texts_around(example), "answers": answers}
    return QueueItem(
        number, example.id, {name: text for name, text in readable.items() if text},
        (ItemPart("answer"),), hidden={"rival": rival.system, "first": first},
        question=example.question_id,
    )  # fmt: skip


PASSAGE = re.compile(r"^\[([^\]\n]{1,200})\] ", re.MULTILINE)
TURN = re.compile(r"^([^\s:]{1,40}): ", re.MULTILINE)


def is_sheet(path: Path) -> bool:
    """Return whether a file is a label sheet, whose rows name an annotator."""
    if not path.is_file():
        return False
    rows = source_of(path, str(path)).rows(Meter())
    _, first = next(rows, (None, None))
    if isinstance(rows, Generator):
        # Else the file stays open.
        rows.close()
    return isinstance(first, Mapping) and {"id", "annotator", "inclusion_probability"} <= set(first)


def sheet_labels(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The labels that a sheet has room for."""
    columns = dict.fromkeys(str(name) for row in rows for name in row)
    known = {squash(name) for name in (*HEAD, *UNITS, *TEXTS, *TAIL)}
    return [name for name in columns if squash(name) not in known]


def sheet_rows(path: Path) -> list[Mapping[str, Any]]:
    """The rows of a sheet."""
    rows: list[Mapping[str, Any]] = []
    faults = []
    for line, row in source_of(path, str(path)).rows(Meter()):
        if isinstance(row, BadRow):
            faults += [Fault(str(path), line, *row.problem)]
        elif isinstance(row, Mapping):
            rows.append(row)
    if faults:
        raise DataError(faults)
    return rows


def sheet_items(rows: Iterable[Mapping[str, Any]], source: str) -> list[QueueItem]:
    """An item for each example, with the parts that the sheet has rows for."""
    faults = []
    items: dict[str, QueueItem] = {}
    parts: dict[str, dict[ItemPart, None]] = {}
    for number, record in enumerate(rows, start=1):
        row, problems = row_of(record, source, number, {})
        faults += [Fault(source, number, *problem) for problem in problems]
        if problems:
            continue
        of_example = parts.setdefault(row.id, {})
        of_example[_part(record, row.about, row.unit)] = None
        read = _shown(record)
        before = items.get(row.id)
        texts = read if before is None else {**read, **before.shown}
        # A sheet has no id of its question.
        question = [str(record.get(name) or "") for name in ("history", "question")]
        items[row.id] = QueueItem(
            len(items), row.id, texts, tuple(of_example), row.inclusion_probability,
            question="\n".join(question) if any(question) else "",
        )  # fmt: skip
    if faults:
        raise DataError(faults)
    return list(items.values())


def _part(record: Mapping[str, Any], about: str, unit: str | None) -> ItemPart:
    kind: Unit = next(known for known in UNITS if known == about)
    if unit is None:
        return ItemPart("answer")
    name = unit if kind == "context" else unit.rpartition(" ")[2]
    return ItemPart(kind, name, str(record.get("text") or ""))


def _shown(record: Mapping[str, Any]) -> dict[str, Any]:
    texts: dict[str, Any] = {
        name: text
        for name in TEXTS[1:]
        if isinstance(text := record.get(name), str) and text.strip()
    }
    if "contexts" in texts:
        texts["contexts"] = _split(PASSAGE, texts["contexts"], "name")
    if "history" in texts:
        texts["history"] = _split(TURN, texts["history"], "role")
    if "reference" in texts:
        texts["reference"] = texts["reference"].split("\n\n")
    return texts


def _split(head: re.Pattern[str], text: str, name: str) -> list[dict[str, str]]:
    before, *rest = head.split(text)
    pieces = [{name: "", "text": before.strip()}] if before.strip() else []
    heads, texts = rest[::2], rest[1::2]
    return pieces + [
        {name: title, "text": piece.strip()} for title, piece in zip(heads, texts, strict=True)
    ]


WRITTEN = (".csv", ".jsonl", ".parquet")


@dataclass(frozen=True, eq=False)
class LabelSheet:
    """Rows to be filled in.

    Attributes:
        asked: Which of its columns are empty to be filled in.
        guideline: What is asked, in Markdown, for the people who fill it in; empty where that is a
            word of the user's own.
    """

    frame: pl.DataFrame
    asked: tuple[AskedLabel, ...]
    notes: tuple[str, ...]
    guideline: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns to fill."""
        return tuple(dict.fromkeys(label.label for label in self.asked))


def label_sheet(
    sample: Sample, run: Run, labels_asked: Sequence[AskedLabel], language: str = ENGLISH
) -> LabelSheet:
    """The sample's examples with room for the labels.

    Each annotator's rows stand together, examples in the random order of the sample. The guideline
    is in the language, see ``instructions_of``.
    """
    guideline, remarks = instructions_of(labels_asked, language)
    drawn = sample.rows
    chances = dict(drawn.select("example_id", "inclusion_probability").iter_rows())
    items = {item.id: item for item in run_items(run, labels_asked, chances, chances)}
    strata = _blind(drawn["stratum"])
    rows = []
    bare: dict[str, None] = {}
    for annotator in sample.settings.annotators or ("",):
        for row, stratum in zip(drawn.iter_rows(named=True), strata, strict=True):
            if annotator in row["annotators"]:
                head = {"id": row["example_id"], "annotator": annotator or None,
                        "inclusion_probability": row["inclusion_probability"],
                        "stratum": stratum}  # fmt: skip
                units_of_item = list(_rows(items[row["example_id"]]))
                rows += [head | unit for unit in units_of_item]
                bare |= {} if units_of_item else {row["example_id"]: None}
    notes = []
    if bare:
        lacking = dict.fromkeys(label.unit for label in labels_asked)
        notes.append(reason("no_row", n=len(bare), units="\n".join(lacking)))
    units = [unit for unit in UNITS[1:] if any(label.unit == unit for label in labels_asked)]
    labels = dict.fromkeys(label.label for label in labels_asked)
    columns = dict.fromkeys([*HEAD, *units, *TEXTS, *labels, *TAIL], pl.String())
    schema: dict[str, pl.DataType] = {**columns, "inclusion_probability": pl.Float64()}
    frame = pl.DataFrame(rows, schema=schema)
    empty = [name for name in ("stratum", *TEXTS) if frame[name].null_count() == len(frame)]
    return LabelSheet(frame.drop(empty), tuple(labels_asked), (*notes, *remarks), guideline)


def write_sheet(sheet: LabelSheet, path: Path) -> None:
    """Write it as CSV, JSON lines or Parquet, as the name ends, and its guideline beside it."""
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
    frame = sheet.frame
    content: str | bytes = (
        csv_table(frame).write_csv() if path.suffix == ".csv"
        else frame.write_ndjson() if path.suffix == ".jsonl" else as_parquet(frame)
    )  # fmt: skip
    write_result(path, content, private=True)


def guideline_file(path: Path) -> Path:
    """Return the path of a sheet's guideline: ``labels.csv`` has ``labels.guideline.md``."""
    return path.with_suffix(".guideline.md")


def _rows(item: QueueItem) -> Iterator[dict[str, Any]]:
    readable = item.shown
    texts = {name: readable.get(name) for name in ("question", "policy", "answer")}
    texts["history"] = "\n".join(
        f"{turn['role']}: {turn['text']}" for turn in readable.get("history", ())
    )
    texts["reference"] = "\n\n".join(readable.get("reference", ()))
    passages = [
        f"[{context['name']}] {context['text']}" for context in readable.get("contexts", ())
    ]
    for part in item.parts:
        unit = {} if part.unit == "answer" else {part.unit: part.name, "text": part.text or None}
        # The passage itself is read beside a label on it, and not among all.
        rest = {} if part.unit == "context" else {"contexts": "\n\n".join(passages) or None}
        yield {name: text or None for name, text in texts.items()} | rest | unit


def _blind(strata: pl.Series) -> list[str | None]:
    known = sorted({part for name in strata.drop_nulls() for part in name.split(", ")
                    if part.startswith(f"{VERDICT}=")})  # fmt: skip
    letters = {part: f"{VERDICT} {chr(ord('A') + at)}" for at, part in enumerate(known)}
    return [
        None if name is None else ", ".join(letters.get(part, part) for part in name.split(", "))
        for name in strata
    ]
