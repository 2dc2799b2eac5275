"""`ragstone compare` of two large synthetic runs, as a whole command: time and memory.

    python benchmarks/compare.py [--questions 100000] [--metrics 20] [--runs 3]

Writes two finished runs of one system each: questions with five contexts, rates and
shares that differ a little between the runs, some undefined and some missing; each has
answers of its own, so that what reads them is tested. Prints wall and processor seconds and
peak memory of the command (limit 20 s wall for 100,000 questions and 20 metrics, 1 GB for
1,000,000), and beside it with a margin and with --by.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from commands import measure
from numpy.typing import NDArray

from ragstone.data import Context, Example, to_frame
from ragstone.run import Estimate
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.run_tally import RunTally, manifest
from ragstone.run.folder.schemas import Counted, ShardForm
from ragstone.run.judging.sharding import OF_A_SHARD, FinishedJudge
from ragstone.run.settings import ModelNames, RunSettings

SHARES = ["faithfulness", "expected_faithfulness", "context_precision", "graded_relevance",
          "context_recall", "answer_coverage", "factual_accuracy", "token_f1", "rouge_l",
          "citation_precision", "citation_recall", "groundedness"]  # fmt: skip
RATES = ["unsupported_claim", "contradiction", "grounding_presence", "abstention", "exact_match",
         "hit(k=1)", "hit(k=3)", "sufficiency_hit(k=3)"]  # fmt: skip
TYPES = ("bridge", "comparison", "factoid", "list")
"""Values of a field to slice by."""


def write_runs(folders: Mapping[Path, float], questions: int, metrics: Sequence[str]) -> None:
    """Finished runs over the same questions, as ``evaluate`` would leave them but for judgements.

    Args:
        folders: Of each run, with how much higher its scores are.
        questions: How many there are.
        metrics: Those that are scored.
    """
    runs = [(Folder(folder), shift) for folder, shift in folders.items()]
    for run, _ in runs:
        run.parts.path.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, questions, OF_A_SHARD)):
        places = range(start, min(questions, start + OF_A_SHARD))
        shard = pl.lit(number, pl.UInt32).alias("shard")
        hardness = rng.normal(size=len(places))
        examples = _examples(places)
        for run, shift in runs:
            scores = pl.concat(_scores(places, one, shift - 0.15 * hardness, rng)
                               for one in metrics)  # fmt: skip
            # Runs that judged the same answers would not be tested.
            own = pl.col("answer") + f" So says {run.path.name}."
            cut = {
                "examples": examples.with_columns(own, shard),
                "scores": scores.with_columns(shard),
            }
            counted = Counted(judged=[])
            form = ShardForm(shard=number, examples=len(places), files={}, counted=counted)
            run.parts.add(form, cut)
    for run, _ in runs:
        estimates = [Estimate(**_estimate(metric, questions)) for metric in metrics]
        run.finish(run.parts, _manifest(questions, metrics), estimates)


def _scores(
    places: range, metric: str, easiness: NDArray[np.float64], rng: np.random.Generator
) -> pl.DataFrame:
    size = len(places)
    score = 0.6 + easiness + 0.2 * rng.normal(size=size)
    value = np.round(np.clip(score, 0, 1) * 12) / 12
    if metric in RATES:
        value = (score > 0.5).astype(np.float64)
    elif metric in ("token_f1", "rouge_l"):
        value = np.clip(score, 0, 1)
    status = pl.Series(rng.choice(["value", "undefined", "missing"], size, p=[0.97, 0.02, 0.01]))
    valued = status == "value"
    return pl.DataFrame({
        "example_id": [f"r{number}" for number in places],
        "question_id": [f"q{number}" for number in places],
        "system": pl.repeat("graph", size, eager=True),
        "metric": pl.repeat(metric, size, eager=True),
        "value": pl.Series(value).set(~valued, None),
        "label": pl.Series([None] * size, dtype=pl.String),
        "status": status,
        "reason": pl.repeat("no_claims", size, eager=True).set(valued, None),
    })  # fmt: skip


def _examples(places: range) -> pl.DataFrame:
    text = "The pier was lengthened in 1907 and has been closed to carts since the storm. " * 4
    return to_frame([
        Example(
            id=f"r{number}",
            question_id=f"q{number}",
            system="graph",
            question=f"How long is pier number {number}?",
            answer=f"Pier number {number} is 90 metres long.",
            contexts=tuple(
                Context(f"c{number}-{rank}", f"{number} {rank} {text}", rank)
                for rank in range(1, 6)
            ),
            slices={"question_type": TYPES[number % len(TYPES)]},
        )
        for number in places
    ])  # fmt: skip


def _estimate(metric: str, n: int) -> dict[str, Any]:
    return {
        "metric": metric, "group": {}, "value": 0.6, "low": 0.59, "high": 0.61, "level": 0.95,
        "method": "t", "n": n, "n_undefined": 0, "n_missing": 0, "worst": 0.6, "best": 0.6,
        "better": "+", "family": "grounding", "clusters": n, "labels": {}, "flags": {},
        "reasons": {}, "signature": f"{metric}|judge:local",
    }  # fmt: skip


def _manifest(questions: int, metrics: Sequence[str]) -> dict[str, Any]:
    judged = ["response", "claims", "statements", "relevance", "support/claim", "citations",
              "support/statement", "agreement/claim", "agreement/statement", "lexical"]  # fmt: skip
    return manifest(
        RunSettings(data="1", definitions={}, local=[], nli=[], citations="",
                    cluster="question_id"),
        RunTally(outcomes=Counter({(ask, "local", "ok"): questions for ask in judged})),
        [FinishedJudge("local", "", frozenset(judged))],
        ModelNames(),
        finished=True,
        metrics=list(metrics),
        added=[],
        suites=[],
        by=[],
        cluster="question_id",
        data={
            "source": "drawn", "examples": questions, "questions": questions, "systems": 1,
            "rejected": 0, "rejected_for": [], "label_violations": {}, "label_ties": 0,
            "labels_of_nothing": [],
        },
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--metrics", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    metrics = [*SHARES, *RATES][: given.metrics]
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / "before", Path(folder) / "after"
        write_runs({first: 0.0, second: 0.002}, given.questions, metrics)
        size = sum(file.stat().st_size for file in Path(folder).rglob("*.parquet")) / 1e6
        print(f"two runs of {given.questions:,} questions, {len(metrics)} metrics, {size:,.0f} MB")
        print(f"{'':40} {'wall s':>7} {'CPU s':>7} {'peak MB':>8}")
        for name, options in {
            "compare A B (limit 20 s)": [],
            "compare A B --margin 0.01 --json": ["--margin", "0.01", "--json"],
            "compare A B --by question_type": ["--by", "question_type"],
        }.items():
            command = ["compare", str(second), str(first), *options]
            wall, cpu, peak = measure(command, given.runs)
            print(f"{name:40} {wall:>7.2f} {cpu:>7.2f} {peak:>8.0f}")


if __name__ == "__main__":
    main()
