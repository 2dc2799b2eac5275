"""A path is a path: no character of it makes it a pattern, wherever tables lie."""

import ast
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import ragstone
from ragstone import evaluate, rescore
from ragstone.annotation import labels_of, read_label_table, write_labels
from ragstone.data import cornwall, read, write
from ragstone.run import Run
from tests.project import parsed

SOURCE = Path(ragstone.__file__).parent
BY_PATH = ("scan_", "read_", "sink_")
IN_MEMORY = "read_ipc_stream"

NAMES = ("run*", "run?", "run[1]", "[!1]", "~", "system=a", "run{1,2}", "%7Erun", "s3:", "a b#c&d")
"""Patterns, and other characters that mean something to a shell or a library."""


def test_only_one_place_hands_polars_a_path() -> None:
    found = [
        f"{file.relative_to(SOURCE)}: {name}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file != SOURCE / "core/parquet.py"
        for name in _names_of_polars(parsed(file, mentions="polars"))
        if name.startswith(BY_PATH) and name != IN_MEMORY
    ]
    assert not found, "use scan_parquet, read_parquet or sink_parquet of ragstone.core.parquet"


@pytest.mark.parametrize("name", ["run*", "[!1]", "~"])
def test_a_run_is_read_from_its_own_folder_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    evaluate(cornwall(), metrics=["exact_match"], out="run1", limit=24)
    evaluate(cornwall(), metrics=["exact_match"], out=name, limit=2)
    rescore(name, metrics=["token_f1"])
    counts = {e.metric: e.total for e in Run.open(name).estimate_list if not e.group}
    assert counts == {"exact_match": 2, "token_f1": 2}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["run1", name])


@pytest.mark.parametrize("name", NAMES)
def test_data_and_labels_are_read_from_their_own_file_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    examples = list(read(cornwall()))
    for place, some in ((Path("run1"), examples), (Path(name), examples[:2])):
        place.mkdir()
        write(some, place / "run1.parquet")
        write(some[:1], place / f"{name}.parquet")
        table = labels_of({"id": one.id, "labels": {"ok": {"ann": 1}}} for one in some)
        write_labels(table, place / "labels.parquet")
    assert len(list(read(f"{name}/run1.parquet"))) == 2
    assert len(list(read(f"{name}/{name}.parquet"))) == 1
    assert read_label_table(f"{name}/labels.parquet").frame.height == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["run1", name])


def _names_of_polars(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "polars":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and any(
            hasattr(owner, node.attr) for owner in (pl, pl.LazyFrame)
        ):
            yield node.attr
