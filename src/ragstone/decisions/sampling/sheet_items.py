"""Sheet items: the rows of a label sheet, as ``ragstone sample`` writes it, to label on screen."""

import re
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

from ragstone.core.errors import DataError, Fault
from ragstone.data.fields import squash
from ragstone.data.record_labels import Unit
from ragstone.data.text_files import Meter
from ragstone.labels.given import row_of
from ragstone.labels.queue.form import ItemPart, QueueItem
from ragstone.labels.read import source_of

from .asked_labels import HEAD, TAIL, TEXTS, UNITS

PASSAGE = re.compile(r"^\[([^\]\n]{1,200})\] ", re.MULTILINE)
TURN = re.compile(r"^([^\s:]{1,40}): ", re.MULTILINE)


def is_sheet(path: Path) -> bool:
    """Whether a file is a label sheet: its rows name an annotator and have room for labels."""
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
    """The rows of a sheet.

    Raises:
        DataError: Rows that cannot be read.
    """
    rows: list[Mapping[str, Any]] = []
    faults = []
    for line, row in source_of(path, str(path)).rows(Meter()):
        if isinstance(row, Mapping):
            rows.append(row)
            continue
        problems = () if not hasattr(row, "problems") else row.problems
        faults += [Fault(str(path), line, *problem) for problem in problems]
    if faults:
        raise DataError(faults)
    return rows


def sheet_items(rows: Iterable[Mapping[str, Any]], source: str) -> list[QueueItem]:
    """An item for each example, with the parts that the sheet has rows for.

    Raises:
        DataError: A row without an id, or with a probability that is none.
    """
    faults = []
    found: dict[str, QueueItem] = {}
    parts: dict[str, dict[ItemPart, None]] = {}
    for number, record in enumerate(rows, start=1):
        row, problems = row_of(record, source, number, {})
        faults += [Fault(source, number, *problem) for problem in problems]
        if problems:
            continue
        own = parts.setdefault(row.id, {})
        own[_part(record, row.about, row.unit)] = None
        shown = _shown(record)
        before = found.get(row.id)
        texts = shown if before is None else {**shown, **before.shown}
        # A sheet has no id of its question.
        asked = [str(record.get(name) or "") for name in ("history", "question")]
        found[row.id] = QueueItem(
            len(found), row.id, texts, tuple(own), row.inclusion_probability,
            question="\n".join(asked) if any(asked) else "",
        )  # fmt: skip
    if faults:
        raise DataError(faults)
    return list(found.values())


def _part(record: Mapping[str, Any], about: str, unit: str | None) -> ItemPart:
    kind: Unit = next(one for one in UNITS if one == about)
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
    """A text in the pieces that a sheet joined, each with what stands before it."""
    before, *rest = head.split(text)
    pieces = [{name: "", "text": before.strip()}] if before.strip() else []
    heads, texts = rest[::2], rest[1::2]
    return pieces + [
        {name: one, "text": piece.strip()} for one, piece in zip(heads, texts, strict=True)
    ]
