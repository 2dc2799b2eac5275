"""A short, seeded part of ``benchmarks/fuzz_readers.py``: mutated files of every format."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.project import ROOT

SEED = 7
FILES = 8


def the_script() -> ModuleType:
    path = ROOT / "benchmarks" / "fuzz_readers.py"
    spec = importlib.util.spec_from_file_location("fuzz_readers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


FUZZ = the_script()


@pytest.mark.parametrize("number", range(FILES))
def test_a_mutated_file_of_any_format_is_read_or_refused_in_words(number: int) -> None:
    for name in FUZZ.formats():
        outcome = FUZZ.tried(name, number, SEED)
        assert outcome.sort in ("read", "refused"), f"{name}:{number} {outcome.words}"


def test_a_file_of_any_format_that_is_not_mutated_is_read(tmp_path: Path) -> None:
    for name, whole in FUZZ.formats().items():
        for file, content in whole.files.items():
            (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / file).write_bytes(content)
        whole.reader(tmp_path / name / whole.opened)
