"""Composite weights fitted to people's preferences between two RAG systems, and whether they pay.

    python benchmarks/weights.py [--data ../shared/data/pairwise_ragchecker] [--folds 5] [--seed 1]

158 pairs of answers with a reference, each compared by two annotators (overall, -2 to 2). Both
answers are scored by the local judge with the metrics that need only a reference; RAGChecker's
published precision, recall and F1 stand beside them as scores of their own. Fitted weights are
compared with equal ones on questions they were not fitted on: gain in log loss, share of pairs in
people's order, and Spearman's correlation of the composite's difference with the annotators' mean.
"""

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import spearmanr

import ragstone
from ragstone import rescore
from ragstone.analysis.composite_weights.fit_weights import FittedWeights, fit_weights
from ragstone.analysis.composite_weights.preferences import Opinion, Opinions, Sort
from ragstone.analysis.scored_run import Scored
from ragstone.metrics import parse_metric
from ragstone.report import show
from ragstone.report.pages.comparison_page import weights_page
from ragstone.run import Run
from ragstone.stats.comparison.preference_models import nonnegative_logistic

METRICS = (
    "token_f1", "rouge_l", "rouge_2", "answer_coverage", "factual_accuracy", "answer_outcome",
)  # fmt: skip
PUBLISHED = {"precision": "correctness", "recall": "completeness", "F1": "overall"}
"""RAGChecker's names, and what the data calls them."""

COMMON = ("token_f1", "answer_coverage", "factual_accuracy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).parents[2] / "shared/data/pairwise_ragchecker"
    )
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with gzip.open(arguments.data / "pairs.jsonl.gz", "rt", encoding="utf-8") as file:
        pairs = [json.loads(line) for line in file]
    opinions = Opinions("two annotators, overall", Sort.PREFERENCE, tuple(said(pairs)))
    with tempfile.TemporaryDirectory() as folder:
        run = ragstone.evaluate(
            list(examples(pairs)), metrics=list(METRICS), judge="local", out=Path(folder) / "run"
        )
        for metrics in (METRICS, COMMON):
            found = fit_weights(
                Scored(run), opinions, metrics=metrics, folds=arguments.folds, seed=arguments.seed
            )
            show(weights_page(found))
            report(run, found, pairs)
    published(pairs)


def examples(pairs: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Both answers of each pair, each by its system."""
    for pair in pairs:
        for side in "ab":
            yield {
                "id": f"{pair['id']}-{side}",
                "question_id": pair["id"],
                "system": f"{side}: {pair['meta'][f'system_{side}']}",
                "question": pair["question"],
                "answer": pair[f"answer_{side}"],
                "reference": pair["reference"],
                "meta": {"domain": pair["meta"]["domain"]},
            }


def said(pairs: Sequence[dict[str, Any]]) -> Iterator[Opinion]:
    """One row an annotator."""
    for pair in pairs:
        for number, value in enumerate(pair["labels"]["overall"]):
            yield Opinion(
                None, f"annotator {number}", value, id_a=f"{pair['id']}-a", id_b=f"{pair['id']}-b"
            )


def report(run: Run, found: FittedWeights, pairs: Sequence[dict[str, Any]]) -> None:
    """Spearman's correlation with people, of the composites and of each metric alone."""
    people = [float(np.mean(pair["labels"]["overall"])) for pair in pairs]
    print("\nSpearman with the mean of the annotators, on the pairs all scores are there for")
    texts = {
        "equal weights": found.start.composite,
        "fitted (on these pairs)": found.fitted.composite,
    }
    texts |= {one.metric: one.metric for one in found.weights}
    wanted = [str(parse_metric(text)) for text in texts.values() if text]
    scores = rescore(run.path, metrics=wanted).scores()
    for name, text in texts.items():
        if text is None:
            continue
        values = dict(
            scores.filter(pl.col("metric") == str(parse_metric(text)))
            .drop_nulls("value").select("example_id", "value").iter_rows()
        )  # fmt: skip
        rows = [
            (values[f"{pair['id']}-b"] - values[f"{pair['id']}-a"], mean)
            for pair, mean in zip(pairs, people, strict=True)
            if {f"{pair['id']}-a", f"{pair['id']}-b"} <= set(values)
        ]
        print(f"  {name:<28} {spearmanr(*zip(*rows, strict=True)).statistic:.3f}  n {len(rows)}")


def published(pairs: Sequence[dict[str, Any]]) -> None:
    """RAGChecker as published, its parts weighed by people, and one annotator against the other."""
    people = np.array([pair["labels"]["overall"] for pair in pairs], dtype=float)
    mean = people.mean(axis=1)
    differences = np.array([
        [pair["meta"]["ragchecker_b"][name] - pair["meta"]["ragchecker_a"][name]
         for name in PUBLISHED.values()]
        for pair in pairs
    ])  # fmt: skip
    for name, column in zip(PUBLISHED, differences.T, strict=True):
        print(f"  RAGChecker {name:<17} {spearmanr(column, mean).statistic:.3f}  n {len(pairs)}")
    weights = nonnegative_logistic(differences[:, :2], 0.5 + mean / 4).weights
    if weights is not None:
        found = spearmanr(differences[:, :2] @ weights, mean).statistic
        told = f"{weights[0]:.2f} precision + {weights[1]:.2f} recall"
        print(f"  {told:<28} {found:.3f}  (fitted on these pairs)")
    print(f"  one annotator, the other     {spearmanr(people[:, 0], people[:, 1]).statistic:.3f}")


if __name__ == "__main__":
    main()
