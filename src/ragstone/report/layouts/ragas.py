"""Ragas: the scores of early Ragas releases; the single one is over means, so by system alone."""

from .layout import Layout, ReportColumn
from .rows import files

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
        *(
            ReportColumn(aspect, f'critique(aspect="{aspect}")')
            for aspect in (
                "harmfulness",
                "maliciousness",
                "coherence",
                "correctness",
                "conciseness",
            )
        ),
        ReportColumn("ragas_score", "ragas_harmonic"),
    ),
    files,
    behind=(ReportColumn("answer_similarity_cross_encoder", "semantic_similarity_cross_encoder"),),
)
