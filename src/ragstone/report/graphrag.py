"""GraphRAG: a run as the table of a GraphRAG report, in percent, under its column names."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from ragstone.argument import argument, call
from ragstone.errors import InputError
from ragstone.examples import from_frame
from ragstone.metrics import SUITES, parse_metric
from ragstone.metrics.correctness import LETTERS

from .stored import StoredRun

PERCENT = {
    "faithfulness": "faithfulness",
    "context_precision": "precision",
    "context_recall": "context_recall",
    "answer_relevance": "answer_relevance",
    "ragas_score": "ragas_score",
    "factual_accuracy_percent": "factual_accuracy",
    "semantic_similarity": "semantic_similarity",
    "bert_score_f1": "bertscore_f1",
}
"""The metric of the suite for each column; that report's context precision is the mean form."""

COUNTS = {
    "correct_count": "correct",
    "partial_count": "partial",
    "wrong_count": "wrong",
    "dont_know_count": "dont_know",
}

SCHEMA = {
    "method": pl.String,
    "question_type": pl.String,
    **dict.fromkeys(list(PERCENT)[:6], pl.Float64),
    "factual_accuracy_grade": pl.String,
    **dict.fromkeys(list(PERCENT)[6:], pl.Float64),
    **dict.fromkeys(COUNTS, pl.Int64),
}
ALL = "all"


def graphrag_table(run: StoredRun) -> pl.DataFrame:
    """One row for each method and question type, and one with the type ``all`` for each method.

    Percentages from 0 to 100 with two decimals, over the examples with a value.
    The grade is the letter of the mean. A value that is undefined or missing
    in all examples, or was not scored, is null, never 0.

    Raises:
        InputError: The run has no score of any metric of the suite.
    """
    forms = {parse_metric(name).name: str(parse_metric(name)) for name in SUITES["graphrag"].names}
    scores = run.scores().with_columns(pl.col("metric", "status", "system").cast(pl.String))
    if not set(forms.values()) & set(scores["metric"].unique()):
        raise InputError(
            "The run has no score that a GraphRAG report shows. First: "
            f"{call('rescore', argument('run', run.path), argument('suites', 'graphrag'))}"
        )
    examples = from_frame(run.examples())
    types = pl.DataFrame(
        {
            "example_id": [example.id for example in examples],
            "question_type": [example.facet("question_type") for example in examples],
        },
        schema={"example_id": pl.String, "question_type": pl.String},
    )
    scores = scores.filter(pl.col("metric").is_in(list(forms.values()))).join(
        types, on="example_id", how="left", maintain_order="left"
    )
    return pl.DataFrame(list(_rows(scores, forms)), schema=SCHEMA, orient="row")


def _rows(scores: pl.DataFrame, forms: dict[str, str]) -> Iterator[dict[str, Any]]:
    for method in scores["system"].unique(maintain_order=True):
        of_method = scores.filter(pl.col("system") == method)
        for type in [*of_method["question_type"].drop_nulls().unique(maintain_order=True), ALL]:
            group = of_method if type == ALL else of_method.filter(pl.col("question_type") == type)
            yield {"method": method, "question_type": type, **_figures(group, forms)}


def _figures(group: pl.DataFrame, forms: dict[str, str]) -> dict[str, Any]:
    valued = group.filter(pl.col("status") == "value")
    means = {
        name: valued.filter(pl.col("metric") == forms[metric])["value"].mean()
        for name, metric in PERCENT.items()
    }
    figures: dict[str, Any] = {
        name: None if mean is None else round(100 * float(mean), 2)  # type: ignore[arg-type]
        for name, mean in means.items()
    }
    figures["factual_accuracy_grade"] = _letter(means["factual_accuracy_percent"])
    outcomes = valued.filter(pl.col("metric") == forms["answer_outcome"])["label"].cast(pl.String)
    for name, word in COUNTS.items():
        figures[name] = int((outcomes == word).sum()) if outcomes.len() else None
    return figures


def _letter(mean: Any) -> str | None:
    if mean is None:
        return None
    best_first = zip(LETTERS, "ABCD", strict=True)
    return next((letter for least, letter in best_first if mean >= least), "E")
