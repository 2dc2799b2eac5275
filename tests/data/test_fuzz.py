"""Mutated files of every format."""

from pathlib import Path

import pytest

from tests.scripts import script

SEED = 7
FILES = 8
FUZZ = script("fuzz_readers")


@pytest.mark.parametrize("number", range(FILES))
def test_a_mutated_file_of_any_format_is_read_or_refused_in_words(number: int) -> None:
    for name in FUZZ.formats():
        sort, words = FUZZ.tried(name, number, SEED)
        assert sort in ("read", "refused"), f"{name}:{number} {words}"


def test_a_file_of_any_format_that_is_not_mutated_is_read(tmp_path: Path) -> None:
    for name, whole in FUZZ.formats().items():
        for file, content in whole.files.items():
            (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / file).write_bytes(content)
        whole.reader(tmp_path / name / whole.opened)
