"""Passport: the record of a judge's check, valid until its models, prompts or plan change."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragstone.core.errors import DamagedRun, InputError
from ragstone.core.files import write_result
from ragstone.data.sources import on_disk
from ragstone.judges import fingerprint
from ragstone.labels.table import LabelTable
from ragstone.run import Run
from ragstone.run.remote_folder import refuse_copy
from ragstone.run.written import read_json

from .identity import JudgeIdentity, changes, identity
from .repeats import FlipRate

NAME = "judge_passport"


@dataclass(frozen=True, slots=True)
class Passport:
    """What is known of a judge that was checked against people.

    Attributes:
        judge: Its models, prompts and plan.
        date: Date of the check, ISO 8601.
        data: Fingerprint of the data, and its name as ``source``.
        labels: Fingerprint of the labels.
        annotators: Number of annotators.
        n_examples: Number of examples they labelled.
        agreement: The checks, as plain data.
        estimates: The corrected estimates over all examples, as plain data.
        flips: How often the judge changed its verdict when asked again; empty if not measured.
        order: How often the order of two answers decided; None if not measured.
        injection: How often injected instructions changed its verdict; empty if not measured.
    """

    judge: JudgeIdentity
    date: str
    data: str
    source: str
    labels: str
    annotators: int
    n_examples: int
    agreement: Sequence[Mapping[str, Any]]
    estimates: Sequence[Mapping[str, Any]]
    flips: tuple[FlipRate, ...]
    order: FlipRate | None
    injection: tuple[FlipRate, ...]

    @property
    def id(self) -> str:
        """Twelve hex digits that identify the judge; they change with its models and prompts."""
        return self.judge.id

    def void_for(self, run: Run) -> list[str]:
        """What changed between the passport's judge and a run's; empty if it is valid."""
        return changes(self.judge, identity(run))

    def to_dict(self) -> dict[str, Any]:
        """The contents of ``judge_passport.json``."""
        return {
            "id": self.id,
            **asdict(self),
            "judge": self.judge.to_dict(),
            "flips": [asdict(one) for one in self.flips],
            "injection": [asdict(one) for one in self.injection],
        }

    def write(self, folder: Path) -> Path:
        """Write ``judge_passport.json`` into a folder and return its path."""
        refuse_copy(folder)
        file = folder / f"{NAME}.json"
        text = json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
        write_result(file, text + "\n")
        return file


def read_passport(path: str | Path) -> Passport:
    """Read a passport.

    Raises:
        InputError: There is no such file, or it is not a passport.
    """
    try:
        return read_json(on_disk(path), Passport)
    except DamagedRun as error:
        line = f"{path} is no passport of a judge, as ragstone calibrate writes it into the run:"
        raise InputError("\n".join([line, *(f"  {fault}" for fault in error.faults)])) from error


def fingerprint_of_labels(labels: LabelTable) -> str:
    """The fingerprint of the labels, whatever file they are in."""
    columns = ["example_id", "kind", "column", "unit", "annotator", "value"]
    return fingerprint(*labels.counted.select(columns).sort(columns).iter_rows())
