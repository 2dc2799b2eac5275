"""Gate file: a gate as JSON, checked whole when it is read."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ragstone.core.errors import DamagedRun, Fault, InputError
from ragstone.core.files import write_result
from ragstone.data.sources import on_disk
from ragstone.run.folder.checksums import faults_of, read_json

from .gate import Gate

NOT_IN_A_FILE = "gate"


def write_gate(gate: Gate, file: Path) -> Path:
    """Write a gate, and return the path."""
    text = json.dumps(gate.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
    write_result(file, text + "\n")
    return file


def read_gate(file: Path) -> Gate:
    """Read a gate.

    Raises:
        InputError: There is no such file, or it is no gate; lists every fault.
    """
    try:
        return read_json(on_disk(file), Gate)
    except DamagedRun as error:
        raise _no_gate(str(file), error.faults) from error


def gate_of(told: Any) -> Gate:
    """The gate of plain data.

    Raises:
        InputError: It is no gate; lists every fault.
    """
    try:
        text = json.dumps(told)
        return TypeAdapter(Gate).validate_json(text, strict=True)
    except ValidationError as error:
        raise _no_gate(NOT_IN_A_FILE, faults_of(Path(NOT_IN_A_FILE), error)) from error
    except (TypeError, ValueError) as error:
        fault = Fault(NOT_IN_A_FILE, None, "", "plain data", str(error))
        raise _no_gate(NOT_IN_A_FILE, [fault]) from error


def _no_gate(name: str, faults: Iterable[Fault]) -> InputError:
    line = f"{name} is no gate, as ragstone guard calibrate writes it:"
    return InputError("\n".join([line, *(f"  {fault.text}" for fault in faults)]))
