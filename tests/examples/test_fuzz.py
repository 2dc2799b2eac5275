"""A short, seeded part of ``benchmarks/fuzz_readers.py``: mutated files of every format."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SEED = 7
FILES = 8


def the_script() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "fuzz_readers.py"
    spec = importlib.util.spec_from_file_location("fuzz_readers", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


FUZZ = the_script()


@pytest.mark.parametrize("name", FUZZ.formats())
def test_a_mutated_file_is_read_or_refused_in_words(name: str) -> None:
    for number in range(FILES):
        outcome = FUZZ.tried(name, number, SEED)
        assert outcome.sort in ("read", "refused"), f"{name}:{number} {outcome.words}"


@pytest.mark.parametrize("name", FUZZ.formats())
def test_a_file_that_is_not_mutated_is_read(name: str, tmp_path: Path) -> None:
    whole = FUZZ.formats()[name]
    for file, content in whole.files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes(content)
    whole.reader(tmp_path / whole.opened if whole.opened else tmp_path)
