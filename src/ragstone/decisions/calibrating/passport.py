"""Passport: what is known of a judge, on which data, and until what changes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragstone.errors import DamagedRun, InputError
from ragstone.examples.streams import on_disk
from ragstone.judges import fingerprint
from ragstone.labels.table import LabelTable
from ragstone.run import Run
from ragstone.run.written import read_json

from .identity import changes, identity, identity_hash

NAME = "judge_passport"


@dataclass(frozen=True, slots=True)
class Passport:
    """A judge checked against people.

    Attributes:
        judge: Its models, prompts and plan, see ``identity``.
        date: Of the check, ISO 8601.
        data: Fingerprint of the data, and ``source`` its name.
        labels: Fingerprint of the labels.
        annotators: How many people labelled.
        n_examples: How many examples they labelled.
        agreement: The checks, as plain data.
        estimates: The corrected estimates over all examples, likewise.
        flips: How often the judge changed its word when asked again; empty where not measured.
        order: How often the order of two answers decided; None where not measured.
        injection: How often injected instructions changed its word; empty where not measured.
    """

    judge: Mapping[str, Any]
    date: str
    data: str
    source: str
    labels: str
    annotators: int
    n_examples: int
    agreement: Sequence[Mapping[str, Any]]
    estimates: Sequence[Mapping[str, Any]]
    flips: Sequence[Mapping[str, Any]]
    order: Mapping[str, Any] | None
    injection: Sequence[Mapping[str, Any]]

    @property
    def id(self) -> str:
        """Twelve digits of the judge: others as soon as a model or a prompt changes."""
        return identity_hash(self.judge)

    def void_for(self, run: Run) -> list[str]:
        """What has changed between the judge of the passport and that of a run.

        Nothing where the passport holds.
        """
        return changes(self.judge, identity(run))

    def to_dict(self) -> dict[str, Any]:
        """What stands in ``judge_passport.json``."""
        return {"id": self.id, **asdict(self)}

    def write(self, folder: Path) -> Path:
        """Write ``judge_passport.json`` into a folder; the file."""
        file = folder / f"{NAME}.json"
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        file.write_text(text + "\n", encoding="utf-8")
        return file


def read_passport(path: str | Path) -> Passport:
    """Read a passport.

    Raises:
        InputError: No such file, or none that ``ragstone calibrate`` wrote.
    """
    try:
        return read_json(on_disk(path), Passport)
    except DamagedRun as error:
        line = f"{path} is no passport of a judge, as ragstone calibrate writes it into the run:"
        raise InputError("\n".join([line, *(f"  {fault}" for fault in error.faults)])) from error


def fingerprint_of_labels(labels: LabelTable) -> str:
    """Of what people said, whatever file it stands in."""
    columns = ["example_id", "kind", "column", "unit", "annotator", "value"]
    return fingerprint(*labels.used.select(columns).sort(columns).iter_rows())
