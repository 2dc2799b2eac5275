"""Embedding: the five cosines of an embedding evaluator, with advice beyond its limits.

Its answer relevance and its answer correctness are both the cosine of answer and reference; that of
question and answer stands behind.
"""

from .layout import Layout, ReportColumn
from .rows import files

EMBEDDING = Layout(
    "embedding",
    (
        ReportColumn("context_relevance", "embedding_context_relevance"),
        ReportColumn("context_sufficiency", "embedding_context_sufficiency"),
        ReportColumn("answer_relevance", "semantic_similarity"),
        ReportColumn("answer_correctness", "semantic_similarity"),
        ReportColumn("answer_hallucination", "embedding_hallucination"),
    ),
    files,
    behind=(ReportColumn("question_answer_relevance", "embedding_answer_relevance"),),
)
