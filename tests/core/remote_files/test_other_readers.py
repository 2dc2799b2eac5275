"""Other programs read a run's tables as docs/run-folder.md shows."""

import ast
import re
from typing import Any

import duckdb
import polars as pl
import pytest

from ragstone import evaluate
from ragstone.data import cornwall
from ragstone.run import Run
from tests.project import ROOT

PAGE = ROOT / "docs/run-folder.md"


def example(heading: str) -> str:
    """The code below a heading of the page."""
    text = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1]
    found = re.search("```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return evaluate(cornwall(), metrics=["token_f1"], out=tmp_path_factory.mktemp("run") / "run")


@pytest.mark.parametrize("program", ["DuckDB", "Polars"])
def test_the_example_of_the_docs_gives_the_means_of_the_run(program: str, run: Run) -> None:
    code = example(program).replace("RUN", str(run.path)).rstrip()
    *before, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)
    known: dict[str, Any] = {}
    exec(compile(ast.Module(before, []), PAGE.name, "exec"), known)
    table = eval(compile(ast.Expression(last.value), PAGE.name, "eval"), known)
    rows = pl.DataFrame(table.pl()) if isinstance(table, duckdb.DuckDBPyRelation) else table
    means = {one["system"]: (one["n"], one["mean"]) for one in rows.iter_rows(named=True)}
    expected = {
        one.group["system"]: (one.n, pytest.approx(one.value))
        for one in run.estimate_list
        if set(one.group) == {"system"}
    }
    assert means == expected
    assert len(means) > 1
