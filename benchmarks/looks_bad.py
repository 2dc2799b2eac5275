"""How many answers look bad to the local judge, beside how many people call bad.

    python benchmarks/looks_bad.py [--rows 3000]

Judges the answers of human-labelled sets with ``local:strings`` and the default metrics, without
their labels, and prints for each set the share that Ragstone states, the share by people and the
difference of the two; precision and recall of the rule; and how many people call bad among the 20
most doubtful answers, beside how many would be by chance. Of a larger set a part is taken, evenly.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from labelled import records_of
from measure import run

from ragstone import evaluate
from ragstone.analysis.summaries.failure_stages import CODES, failures

WORST = 20

Row = Mapping[str, Any]


def mtrag(row: Row) -> bool:
    medians = ("faithfulness", "appropriateness", "completeness")
    return any(row["labels"][f"{name}_median"] < 3 for name in medians)


SETS: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "MTRAG with reference": ("MTRAG", mtrag),
    "MTRAG without": ("MTRAG", mtrag),
    "EVOUNA": ("EVOUNA", lambda row: not row["labels"]["correct"]),
    "NQ301": ("NQ301", lambda row: not row["labels"]["correct"]),
    "BEGIN": ("BEGIN", lambda row: not row["labels"]["faithful"]),
    "WiCE": ("WiCE", lambda row: not row["labels"]["faithful"]),
}


def main(rows: int = 3000) -> None:
    print("| set | n | people | stated | stated − people | precision | recall | of the worst 20 |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (file, bad) in SETS.items():
        left_out = {"labels", "meta", *(["reference"] if "without" in name else [])}
        print(f"| {name} | {measured(file, bad, left_out, rows)} |", flush=True)


def measured(file: str, bad: Callable[[Row], bool], left_out: set[str], most: int) -> str:
    """The figures of one set."""
    every = [row for row in records_of(file) if row["meta"].get("system") != "reference"]
    rows = every[:: max(1, -(-len(every) // most))]
    examples = [{key: value for key, value in row.items() if key not in left_out} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        scored = evaluate(examples, judge="local:strings", out=Path(folder) / "run")
        answers = failures(scored).answers.filter(pl.col("stage").is_not_null())
    people = {row["id"]: bad(row) for row in rows}
    answers = answers.with_columns(
        stated=pl.col("stage").is_in(CODES),
        people=pl.col("example_id").replace_strict(people, return_dtype=pl.Boolean),
    )
    n, stated, called = answers.height, int(answers["stated"].sum()), int(answers["people"].sum())
    both = answers.filter(pl.col("stated") & pl.col("people")).height
    worst = answers.sort("doubt", descending=True, nulls_last=True).head(WORST)["people"].sum()
    return (
        f"{n:,} | {called / n:.3f} | {stated / n:.3f} | {(stated - called) / n:+.3f} "
        f"| {both / stated:.2f} | {both / called:.2f} "
        f"| {worst}, by chance {WORST * called / n:.0f}"
    )


if __name__ == "__main__":
    run(main)
