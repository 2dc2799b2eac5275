"""How many answers look bad to the local judge, beside how many people call bad.

    python benchmarks/looks_bad.py [--data ../shared/data] [--rows 3000]

Judges the answers of human-labelled sets with ``local:strings`` and the default metrics, without
their labels, and prints for each set the share that Ragstone states, the share by people and the
difference of the two; precision and recall of the rule; and how many people call bad among the 20
most doubtful answers, beside how many would be by chance. Of a larger set a part is taken, evenly.
"""

import argparse
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from labelled import records_of

from ragstone import evaluate
from ragstone.analysis.summaries.failure_stages import CODES, failures

WORST = 20

Row = Mapping[str, Any]


def mtrag(row: Row) -> bool:
    medians = ("faithfulness", "appropriateness", "completeness")
    return any(row["labels"][f"{name}_median"] < 3 for name in medians)


SETS: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "MTRAG with reference": ("rag_quality_mtrag/answers", mtrag),
    "MTRAG without": ("rag_quality_mtrag/answers", mtrag),
    "EVOUNA": ("answer_correctness_evouna/verdicts", lambda row: not row["labels"]["correct"]),
    "NQ301": ("answer_correctness_nq301/verdicts", lambda row: not row["labels"]["correct"]),
    "BEGIN": ("faithfulness_begin/pairs", lambda row: not row["labels"]["faithful"]),
    "WiCE": ("faithfulness_wice/claims", lambda row: not row["labels"]["faithful"]),
}


def measured(name: str, data: Path, most: int) -> dict[str, Any]:
    """The figures of one set."""
    place, bad = SETS[name]
    every = [
        row
        for row in records_of(data / f"{place}.jsonl.gz")
        if row["meta"].get("system") != "reference"
    ]
    rows = every[:: max(1, -(-len(every) // most))]
    left_out = {"labels", "meta", *(["reference"] if "without" in name else [])}
    examples = [{key: value for key, value in row.items() if key not in left_out} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        run = evaluate(examples, judge="local:strings", out=Path(folder) / "run")
        answers = failures(run).answers.filter(pl.col("stage").is_not_null())
    people = {row["id"]: bad(row) for row in rows}
    answers = answers.with_columns(
        stated=pl.col("stage").is_in(CODES),
        people=pl.col("example_id").replace_strict(people, return_dtype=pl.Boolean),
    )
    both = answers.filter(pl.col("stated") & pl.col("people")).height
    worst = answers.sort("doubt", descending=True, nulls_last=True).head(WORST)
    stated, said = answers["stated"].sum(), answers["people"].sum()
    return {
        "n": answers.height,
        "people": said / answers.height,
        "stated": stated / answers.height,
        "precision": both / stated,
        "recall": both / said,
        "worst": int(worst["people"].sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    shared = Path(__file__).parents[2] / "shared" / "data"
    parser.add_argument("--data", type=Path, default=shared)
    parser.add_argument("--rows", type=int, default=3000, help="the most of a set")
    options = parser.parse_args()
    print("| set | n | people | stated | stated − people | precision | recall | of the worst 20 |")
    print("|---|---|---|---|---|---|---|---|")
    for name in SETS:
        found = measured(name, options.data, options.rows)
        print(
            f"| {name} | {found['n']:,} | {found['people']:.3f} | {found['stated']:.3f} "
            f"| {found['stated'] - found['people']:+.3f} | {found['precision']:.2f} "
            f"| {found['recall']:.2f} "
            f"| {found['worst']}, by chance {WORST * found['people']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
