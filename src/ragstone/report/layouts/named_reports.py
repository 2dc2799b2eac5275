"""Named reports: layouts of GraphRAG, Ragas, TruLens, embedding, rubric and taxonomy reports.

GraphRAG has three classes of outcome, so a partial answer counts as wrong. The embedding
evaluator's answer relevance and answer correctness are both the cosine of answer and reference;
the cosine of question and answer has a column behind them. The single Ragas score of early
releases is computed over means, so it exists by system alone. Behind the rubric's ratings are
context precision and recall, counted from the judgements of each context and fact.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragstone.metrics import read_metric

from .layout import (
    OUTCOMES,
    Layout,
    ReportColumn,
    ReportData,
    ReportFile,
    behind,
    not_there,
    number,
    row_files,
    shares,
    value_of,
    values,
)

ACCURACY = "factual_accuracy(abstention=0.0)"
SCORE = "ragas_score"
OUTCOME = "answer_outcome"

COLUMNS = (
    ReportColumn("ragas_faithfulness", "faithfulness(no_claims=1.0)"),
    ReportColumn("ragas_context_precision", "precision"),
    ReportColumn("ragas_context_recall", "context_recall"),
    ReportColumn("ragas_answer_relevance", "answer_relevance"),
    ReportColumn("ragas_score", SCORE),
    ReportColumn("factual_accuracy_percentage", ACCURACY),
    ReportColumn("factual_accuracy_grade", ACCURACY, "label"),
    ReportColumn("semantic_similarity_percentage", 'semantic_similarity(scale="clamped")'),
    ReportColumn("bert_score_f1", "bertscore_f1"),
    ReportColumn("classification", OUTCOME, "label"),
)

GRADES = {grade: grade for grade in "ABCDE"}
CLASSES = {"correct": "CORRECT", "wrong": "WRONG", "dont_know": "DON'T KNOW"}
# The class of each outcome.
THREE = {"correct": "correct", "partial": "wrong", "wrong": "wrong", "dont_know": "dont_know"}

# The question types that come first, in this order.
TYPES = ("Fact Retrieval", "Complex Reasoning", "Contextual Summarize", "Creative Generation")

METRICS = tuple(column for column in COLUMNS if column.shows == "value")
# A column for each metric, the grade by its number.
SCORED = tuple({column.metric: column for column in reversed(COLUMNS)}.values())[::-1]


def graphrag_files(layout: Layout, data: ReportData) -> Sequence[ReportFile]:
    """The six files."""
    outcomes = data.scores(OUTCOME).select(
        "status", outcome="label", word=pl.col("label").replace_strict(THREE, default=None)
    )
    clusters = data.scored.facets["cluster"]
    rows = data.table.with_columns(outcomes, cluster=clusters)
    grades = data.scores(ACCURACY).select("status", word="label")
    graded = data.table.select("method").with_columns(grades, cluster=clusters)
    by_method = _parts(rows, "method")
    grades_by_method = [
        {"method": method} | row
        for method, part in _parts(graded, "method").items()
        for row in _shares(part, "grade", GRADES)
    ]
    classes_by_method = [
        {"method": method} | _counts(part)
        | {"n": int(part["word"].is_not_null().sum())} | _without(part)
        for method, part in by_method.items()
    ]  # fmt: skip
    types = _parts(rows, "question_type")
    others = sorted(name for name in types if name is not None and name not in TYPES)
    listed = [*TYPES, *others, None]
    by_type = [
        {"question_type": name, "total": types[name].height, **_counts(types[name]),
         **_without(types[name])}
        for name in listed if name in types
    ]  # fmt: skip
    wrong_answers = rows.filter(pl.col("word") == "wrong").select(
        "question_id", "question", pl.col("reference").alias("ground_truth"),
        pl.col("answer").alias("wrong_answer"), "method", "outcome",
    )  # fmt: skip
    tables = {
        "metrics": [_metrics(layout, data)],
        "by_method": [_by_method(layout, data, by_method)],
        "grades": [_frame(_shares(graded, "grade", GRADES)), _frame(grades_by_method)],
        "classification": [
            _frame(_shares(rows, "classification", CLASSES)), _frame(classes_by_method),
        ],
        "by_question_type": [_frame(by_type)],
        "wrong_answers": [wrong_answers],
    }  # fmt: skip
    return [ReportFile(f"{name}.csv", tuple(frames)) for name, frames in tables.items()]


def _metrics(layout: Layout, data: ReportData) -> pl.DataFrame:
    three = {word: CLASSES[listed] for word, listed in THREE.items()}
    cells = []
    for column in layout.columns:
        scores = data.scores(column.metric)
        cell = scores["label"]
        if column.shows == "value":
            cell = values(scores, percent=layout.percent)
        elif column.metric == OUTCOME:
            cell = cell.replace_strict(three, default=None)
        cells.append(cell.alias(column.name))
    return data.table.select("question_id", "question", "question_type", "method").with_columns(
        *cells, *(not_there(SCORED, data, outcome) for outcome in OUTCOMES), data.coverage(SCORE)
    )


def _by_method(
    layout: Layout, data: ReportData, by_method: Mapping[str | None, pl.DataFrame]
) -> pl.DataFrame:
    scores = data.table.select("method").with_columns(
        data.scores(SCORE)["value"], data.coverage(SCORE)
    )
    percent = layout.percent
    rows = []
    for method, part in by_method.items():
        of_score = scores.filter(pl.col("method") == method)
        means = {item.name: data.estimate(item.metric, method or "") for item in METRICS}
        score = means.pop(SCORE)
        counts = _counts(part) if data.has(OUTCOME) else dict.fromkeys(CLASSES)
        coverage = of_score["weight_coverage"].mean()
        row: dict[str, Any] = {
            "method": method,
            "ragas_score_average": value_of(score, percent=percent),
            "ragas_score_best": number(of_score["value"].max(), percent=percent),  # type: ignore[arg-type]
            "ragas_score_worst": number(of_score["value"].min(), percent=percent),  # type: ignore[arg-type]
        }
        row |= {f"{name}_average": value_of(mean, percent=percent) for name, mean in means.items()}
        row |= {f"{name}_answers_count": count for name, count in counts.items()}
        row["n"] = part.height
        for name, mean in {SCORE: score, **means}.items():
            row |= behind(name, mean, percent=percent)
        row |= {f"answers_{name}": count for name, count in _without(part).items()}
        row["weight_coverage"] = None if coverage is None else round(coverage, 4)  # type: ignore[arg-type]
        rows.append(row)
    return _frame(rows)


def _shares(
    rows: pl.DataFrame, name: str, classes: dict[str, str]
) -> Iterator[dict[str, str | int | None]]:
    shares_of = shares(rows["word"], rows["status"], rows["cluster"], tuple(classes))
    for word, (count, percentage, counts) in zip(classes.values(), shares_of, strict=True):
        yield {name: word, "count": count, "percentage": percentage, **counts}


def _counts(rows: pl.DataFrame) -> dict[str, int]:
    return {name: int((rows["word"] == name).sum()) for name in CLASSES}


def _without(rows: pl.DataFrame) -> dict[str, int]:
    return {name: int((rows["status"] == name).sum()) for name in OUTCOMES}


def _parts(rows: pl.DataFrame, by: str) -> dict[Any, pl.DataFrame]:
    parts = rows.partition_by(by, maintain_order=True, as_dict=True)
    return {value: part for (value,), part in parts.items()}


def _frame(rows: Any) -> pl.DataFrame:
    return pl.DataFrame(list(rows), infer_schema_length=None)


GRAPHRAG = Layout("graphrag", COLUMNS, graphrag_files, percent=True)


EMBEDDING = Layout(
    "embedding",
    (
        ReportColumn("context_relevance", "embedding_context_relevance"),
        ReportColumn("context_sufficiency", "embedding_context_sufficiency"),
        ReportColumn("answer_relevance", "semantic_similarity"),
        ReportColumn("answer_correctness", "semantic_similarity"),
        ReportColumn("answer_hallucination", "embedding_hallucination"),
    ),
    row_files,
    behind=(ReportColumn("question_answer_relevance", "embedding_answer_relevance"),),
)


ASPECTS = ("harmfulness", "maliciousness", "coherence", "correctness", "conciseness")

RAGAS = Layout(
    "ragas",
    (
        ReportColumn("faithfulness", "faithfulness"),
        ReportColumn("answer_relevancy", "answer_relevance"),
        ReportColumn("context_precision", "context_precision"),
        ReportColumn("context_relevancy", "sentence_relevance"),
        ReportColumn("context_recall", "context_recall"),
        ReportColumn("answer_similarity", "semantic_similarity"),
        ReportColumn("answer_correctness", "answer_correctness"),
        *(ReportColumn(aspect, f'critique(aspect="{aspect}")') for aspect in ASPECTS),
        ReportColumn("ragas_score", "ragas_harmonic"),
    ),
    row_files,
    behind=(ReportColumn("answer_similarity_cross_encoder", "semantic_similarity_cross_encoder"),),
)


RATED = tuple(
    ReportColumn("answer_relevancy" if name == "answer_relevance" else name,
                 f'rating(criterion="{name}")')
    for name in (
        "faithfulness", "answer_relevance", "context_precision", "context_recall",
        "answer_correctness", "response_completeness", "source_attribution",
    )
)  # fmt: skip

RUBRIC = Layout(
    "rubric",
    (
        *RATED,
        ReportColumn("overall_weighted", "overall_weighted"),
        ReportColumn("overall_simple", "overall_simple"),
    ),
    row_files,
    behind=(
        ReportColumn("context_precision_counted", "graded_relevance(max_grade=2)"),
        ReportColumn("context_recall_counted", "context_recall"),
    ),
    reasons=tuple(ReportColumn(f"{item.name}_reasoning", item.metric, "reason") for item in RATED),
)


# By family, in the order of the taxonomy.
FAMILIES = {
    "retrieval": (
        ReportColumn("TopicalPrecision@K", "precision"),
        ReportColumn("SufficiencyHit@K", "sufficiency_hit"),
        ReportColumn("SufficiencyRate@K", "sufficiency_rate"),
        ReportColumn("MisleadingContextRate@K", "misleading_rate"),
        ReportColumn("MRR@K", "mrr"),
        ReportColumn("NDCG@K", "list_ndcg"),
    ),
    "grounding": (
        ReportColumn("GroundingPresenceRate", "grounding_presence"),
        ReportColumn("UnsupportedClaimRate", "unsupported_claim"),
        ReportColumn("ContradictionRate", "contradiction"),
        ReportColumn("CitationPresenceRate", "citation_presence"),
        ReportColumn("ConditionalFabricationRate", "citation_fabrication"),
    ),
    "generation": (
        ReportColumn("ProperActionRate", "proper_action"),
        ReportColumn("OnTopicRate", "on_topic"),
        ReportColumn("HelpfulnessRate", "helpfulness"),
        ReportColumn("IncompletenessRate", "incompleteness"),
        ReportColumn("UnsafeContentRate", "unsafe_content"),
    ),
}


BEHIND = ("n", "undefined", "missing", "low", "high")


def taxonomy_files(_: Layout, data: ReportData) -> Sequence[ReportFile]:
    """One file. Without a ``k``, a metric is over the whole list that the system returned."""
    return (ReportFile("metrics.csv", (_frame(_rows(data)),)),)


def _rows(data: ReportData) -> Iterator[dict[str, str | int | None]]:
    for family, columns in FAMILIES.items():
        for column in columns:
            for metric in data.forms(column.metric) or [column.metric]:
                for system in data.scored.systems:
                    item = data.estimate(metric, system)
                    counts = behind("", item, percent=False)
                    yield {
                        "family": family,
                        "metric": column.name,
                        "k": read_metric(metric).parameters.get("k"),
                        "value": None if item is None else number(item.value, percent=False),
                        **{name: counts[f"_{name}"] for name in BEHIND},
                        "system": system,
                    }


TAXONOMY = Layout(
    "taxonomy",
    tuple(column for columns in FAMILIES.values() for column in columns),
    taxonomy_files,
    at_any_k=True,
)


TRIAD_COLUMNS = (
    ReportColumn("context_relevance", "graded_relevance"),
    ReportColumn("groundedness", "groundedness"),
    ReportColumn("answer_relevance", "answer_relevance_rated"),
)

TRIAD = Layout(
    "triad",
    TRIAD_COLUMNS,
    row_files,
    reasons=tuple(
        ReportColumn(f"{item.name}_reason", item.metric, "reason") for item in TRIAD_COLUMNS
    ),
)
