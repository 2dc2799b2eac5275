"""Consistency: checks that the rows of a table are consistent with its run, apart from checksums.

A checksum can be recomputed for a table that was duplicated, truncated or emptied. So each table is
checked against ``run.json`` and the examples, once, before it is joined with others: the number of
rows, no nulls where values are required, unique keys, no unknown examples, and one score per metric
and example.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import reduce
from operator import xor
from pathlib import Path
from typing import get_args

import polars as pl

from ragstone.core.errors import DamagedRun, Fault
from ragstone.core.parquet import scan_parquet
from ragstone.judgements import ASKS, KINDS, VALUE
from ragstone.judges.judge import LedgerStatus

from .checksums import reading
from .schemas import STATUS_NAMES, Estimate, Manifest

OF_JUDGEMENT = ("shard", "ask", "judge", "subject")
KEYS: Mapping[str, Sequence[str]] = {
    "examples": ("id",),
    "scores": ("example_id", "metric"),
    "ledger": ("example_id", "ask", "judge"),
}
"""The key columns of each table; those of a kind are its units' keys."""

JSON = ("slices", "labels", "meta")
PRESENT: Mapping[str, Sequence[str]] = {
    "examples": ("id", "question_id", "system", "reference", "history", "evidence", *JSON, "shard"),
    "scores": ("example_id", "metric", "status"),
    "ledger": ("example_id", "ask", "judge", "subject", "status", "shard"),
}
"""The columns without nulls; of a kind ``OF_JUDGEMENT``."""

OF_LISTS: Mapping[str, Sequence[str]] = {
    "reference": (),
    "evidence": (),
    "contexts": ("id", "rank"),
    "history": ("role", "text"),
    "reference_contexts": ("id", "grade"),
}
"""The list columns of an example, and the fields of their records without nulls."""


def _words(name: str) -> Mapping[str, Sequence[str]]:
    """The columns with a fixed set of values."""
    if name == "scores":
        return {"status": tuple(STATUS_NAMES.values())}
    return {"status": get_args(LedgerStatus), "ask": tuple(ASKS)} if name == "ledger" else {}


def _keys(name: str) -> Sequence[str]:
    """The key columns; none if rows may be duplicated."""
    if name not in KINDS:
        return KEYS.get(name, ())
    key = KINDS[name].key
    return () if key is None else (*OF_JUDGEMENT, *key)


def _present(name: str) -> Sequence[str]:
    return OF_JUDGEMENT if name in KINDS else PRESENT[name]


def counted(name: str, manifest: Manifest) -> int | None:
    """The number of rows of a table according to the manifest; None if it does not say."""
    if name == "examples":
        return manifest.data.examples
    if name == "scores":
        return manifest.data.examples * len(manifest.metrics)
    if name == "ledger":
        return sum(count for *_, count in manifest.judged)
    return None


def looked_at(name: str) -> list[str]:
    """The columns of a table that ``check_rows`` needs."""
    more = ("value",) if name == "scores" else ()
    return list(dict.fromkeys([*_present(name), *_keys(name), *more]))


def check_rows(
    name: str,
    rows: pl.DataFrame,
    file: Path,
    examples: Path,
    size: int,
    metrics: Collection[str] | None = None,
) -> None:
    """Check the rows of a table, whose columns were already checked.

    Args:
        name: Of the table.
        rows: All rows, with at least the columns ``looked_at``.
        file: The table's file.
        examples: The file of the run's, or the shard's, examples.
        size: The number of examples.
        metrics: The scored metrics; by default those that the scores name.

    Raises:
        DamagedRun: The rows are inconsistent.
    """
    ids = pl.Series("id", [], pl.String)
    if name in ("scores", "ledger"):
        with reading(examples):
            ids = scan_parquet(examples).select("id").collect()["id"]
    with reading(file):
        faults = [*_absent(name, rows), *_other_words(name, rows)]
        if name == "examples":
            faults += _no_objects(rows)
        if name == "scores":
            faults += _no_numbers(rows)
        if name != "scores" or not _one_each(rows, ids, metrics):
            faults += _repeated(name, rows)
            faults += _other_metrics(rows, size, metrics) if name == "scores" else ()
            faults += _of_none(rows, ids) if name in ("scores", "ledger") else ()
    if faults:
        raise DamagedRun([Fault(str(file), None, *fault) for fault in faults])


def check_scores(rows: pl.DataFrame, file: Path, size: int, metrics: Collection[str]) -> None:
    """Check the scores of a shard by themselves, whose columns were already checked.

    Args:
        rows: Of the shard, with at least the columns ``looked_at``.
        file: Their file.
        size: The number of examples.
        metrics: The scored metrics.

    Raises:
        DamagedRun: They are not those of as many examples.
    """
    checks = (_absent, _other_words)
    faults = [fault for check in checks for fault in check("scores", rows)]
    faults += [*_no_numbers(rows), *_other_metrics(rows, size, metrics)]
    if faults:
        raise DamagedRun([Fault(str(file), None, *fault) for fault in faults])


def check_lists(examples: pl.DataFrame, file: Path) -> None:
    """Check that the list columns of examples have no nulls inside.

    Raises:
        DamagedRun: There is a null.
    """
    faults = []
    for column in (name for name in OF_LISTS if name in examples.columns):
        lists = examples[column]
        items = lists.filter(lists.list.len() > 0).explode()
        fields = {column: items}
        fields |= {f"{column}.{name}": items.struct.field(name) for name in OF_LISTS[column]}
        for name, values in fields.items():
            if count := values.null_count():
                faults.append(Fault(str(file), None, name, "no nulls", f"{count:,}"))
                break
    if faults:
        raise DamagedRun(faults)


def check_estimates(estimates: Sequence[Estimate], file: Path, manifest: Manifest) -> None:
    """Check that the estimates are of the run's metrics.

    Raises:
        DamagedRun: One is of another metric.
    """
    for place, one in enumerate(estimates):
        if one.metric not in manifest.metrics:
            expected = f"one of the {len(manifest.metrics)} metrics in run.json"
            fault = Fault(str(file), None, f"{place}.metric", expected, repr(one.metric[:60]))
            raise DamagedRun([fault])


Wrong = tuple[str, str, str]
"""The column, what was expected, and what was found."""


def _absent(name: str, rows: pl.DataFrame) -> Iterator[Wrong]:
    for column in _present(name):
        if count := rows[column].null_count():
            yield column, "a value in each row", f"none in {count:,}"


def _other_words(name: str, rows: pl.DataFrame) -> Iterator[Wrong]:
    for column, words in _words(name).items():
        for other in rows[column].unique().drop_nulls().sort():
            if other not in words:
                yield column, _some(words), _quoted(other)
                break


def _repeated(name: str, rows: pl.DataFrame) -> Iterator[Wrong]:
    """Duplicate keys."""
    if not _keys(name):
        return
    keys = list(_keys(name))
    # Counting hashes takes a fraction of the memory; keys are compared only if two are equal.
    hashes = reduce(xor, (pl.col(key).hash(seed) for seed, key in enumerate(keys)))
    if rows.select(hashes.n_unique()).item() == rows.height:
        return
    different = rows.lazy().select(keys).unique().select(pl.len()).collect().item()
    if different < rows.height:
        yield ", ".join(keys), "each once", f"{rows.height:,} rows of {different:,}"


def _no_objects(rows: pl.DataFrame) -> Iterator[Wrong]:
    """Fields that should be JSON objects and are not."""
    for column in JSON:
        # Some thousand at a time: labels may be as long as the answers.
        parts = (part[column] for part in rows.select(column).iter_slices(5_000))
        wrong = next((text for texts in parts for text in _other_than_objects(texts)), None)
        if wrong is not None:
            yield column, "a JSON object", _quoted(wrong)


def _other_than_objects(texts: pl.Series) -> Iterator[str]:
    texts = texts.drop_nulls().unique()
    # Polars recognises most objects, and faster; only the rest is parsed in Python.
    known = texts.str.starts_with("{") & texts.str.json_path_match("$").is_not_null()
    return (text for text in texts.filter(~known) if not _is_object(text))


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _no_numbers(rows: pl.DataFrame) -> Iterator[Wrong]:
    number = pl.col("value").is_finite().fill_null(value=False)
    there = pl.col("value").is_not_null()
    scored = pl.col("status") == STATUS_NAMES[VALUE]
    wrong = rows.select((number != scored).or_(there != scored).sum()).item()
    if wrong:
        yield "value", "a number where the status is value, else none", f"other in {wrong:,} rows"


def _one_each(rows: pl.DataFrame, ids: pl.Series, metrics: Collection[str] | None) -> bool:
    """Whether each metric has exactly one score per example."""
    # By row count, sum of hashes and sum of squared hashes per metric, because there may be
    # millions of scores; if these differ, the slower checks say what is wrong.
    example = pl.col("example_id").hash()
    sums = (pl.len().alias("rows"), example.sum(), (example * example).sum().alias("squares"))
    found = rows.group_by("metric").agg(*sums)
    expected = ids.alias("example_id").to_frame().select(*sums)
    named = metrics is None or set(metrics) == set(found["metric"])
    return named and found.drop("metric").unique().equals(expected)


def _other_metrics(
    rows: pl.DataFrame, size: int, metrics: Collection[str] | None
) -> Iterator[Wrong]:
    """Metrics without exactly one score for each example."""
    found = dict(rows["metric"].value_counts().iter_rows())
    for metric in found if metrics is None else metrics:
        if (count := found.get(metric, 0)) != size:
            yield "metric", f"{size:,} scores of {metric}", f"{count:,}"


def _of_none(rows: pl.DataFrame, ids: pl.Series) -> Iterator[Wrong]:
    """Rows of an unknown example."""
    unknown = rows["example_id"].drop_nulls().unique()
    unknown = unknown.filter(~unknown.is_in(ids.implode()))
    if len(unknown):
        got = f"{_quoted(unknown[0])} and {len(unknown) - 1:,} more"
        yield "example_id", f"one of the ids of the {len(ids):,} examples", got


def _some(words: Sequence[str], shown: int = 6) -> str:
    more = ", …" if len(words) > shown else ""
    return f"one of {', '.join(words[:shown])}{more}"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
