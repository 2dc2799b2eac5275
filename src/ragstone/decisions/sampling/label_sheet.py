"""Label sheet: a sample as a table that people fill in and that is read back as labels.

One row for each annotator and example; where contexts, claims or statements are labelled, one for
each of these. It names no system and no verdict of the judge, so that nobody is led.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.escape import csv_table
from ragstone.core.files import write_result
from ragstone.core.messages import reason
from ragstone.core.parquet import as_parquet
from ragstone.judgements import ENGLISH
from ragstone.labels.queue.form import AskedLabel, QueueItem
from ragstone.run import Run

from .asked_labels import HEAD, TAIL, TEXTS, UNITS, instructions_of
from .draw import Sample
from .example_items import sample_items
from .strata import VERDICT

WRITTEN = (".csv", ".jsonl", ".parquet")


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
    asked: tuple[AskedLabel, ...]
    notes: tuple[str, ...]
    guideline: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns to fill."""
        return tuple(dict.fromkeys(one.label for one in self.asked))


def label_sheet(
    sample: Sample, run: Run, asked: Sequence[AskedLabel], language: str = ENGLISH
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
    guideline, remarks = instructions_of(asked, language)
    items = {one.id: one for one in sample_items(sample, run, asked)}
    drawn = sample.rows
    strata = _blind(drawn["stratum"])
    rows = []
    bare: dict[str, None] = {}
    for annotator in sample.settings.annotators or ("",):
        for one, stratum in zip(drawn.iter_rows(named=True), strata, strict=True):
            if annotator in one["annotators"]:
                head = {"id": one["example_id"], "annotator": annotator or None,
                        "inclusion_probability": one["inclusion_probability"],
                        "stratum": stratum}  # fmt: skip
                found = list(_rows(items[one["example_id"]]))
                rows += [head | unit for unit in found]
                bare |= {} if found else {one["example_id"]: None}
    notes = []
    if bare:
        lacking = dict.fromkeys(one.unit for one in asked)
        notes.append(reason("no_row", n=len(bare), units="\n".join(lacking)))
    units = [unit for unit in UNITS[1:] if any(one.unit == unit for one in asked)]
    labels = dict.fromkeys(one.label for one in asked)
    columns = dict.fromkeys([*HEAD, *units, *TEXTS, *labels, *TAIL], pl.String())
    schema: dict[str, pl.DataType] = {**columns, "inclusion_probability": pl.Float64()}
    frame = pl.DataFrame(rows, schema=schema)
    empty = [name for name in ("stratum", *TEXTS) if frame[name].null_count() == len(frame)]
    return LabelSheet(frame.drop(empty), tuple(asked), (*notes, *remarks), guideline)


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


def _rows(item: QueueItem) -> Iterator[dict[str, Any]]:
    """One row for each part, with what a person has to read."""
    shown = item.shown
    texts = {name: shown.get(name) for name in ("question", "policy", "answer")}
    texts["history"] = "\n".join(
        f"{one['role']}: {one['text']}" for one in shown.get("history", ())
    )
    texts["reference"] = "\n\n".join(shown.get("reference", ()))
    passages = [f"[{one['name']}] {one['text']}" for one in shown.get("contexts", ())]
    for part in item.parts:
        named = {} if part.unit == "answer" else {part.unit: part.name, "text": part.text or None}
        # The passage itself is read beside a label on it, and not among all.
        rest = {} if part.unit == "context" else {"contexts": "\n\n".join(passages) or None}
        yield {name: text or None for name, text in texts.items()} | rest | named


def _blind(strata: pl.Series) -> list[str | None]:
    """Names of strata in which a letter stands for what the judge said."""
    known = sorted({part for name in strata.drop_nulls() for part in name.split(", ")
                    if part.startswith(f"{VERDICT}=")})  # fmt: skip
    letters = {part: f"{VERDICT} {chr(ord('A') + at)}" for at, part in enumerate(known)}
    return [
        None if name is None else ", ".join(letters.get(part, part) for part in name.split(", "))
        for name in strata
    ]
