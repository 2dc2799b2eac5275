"""Rubric: the seven ratings of a rubric judge and two overall scores, with the reasoning.

Context precision and recall counted from what is said of each context and fact stand behind.
"""

from .layout import Layout, ReportColumn
from .rows import files

RATED = tuple(
    ReportColumn(name, f'rating(criterion="{criterion}")')
    for name, criterion in (
        ("faithfulness", "faithfulness"),
        ("answer_relevancy", "answer_relevance"),
        ("context_precision", "context_precision"),
        ("context_recall", "context_recall"),
        ("answer_correctness", "answer_correctness"),
        ("response_completeness", "response_completeness"),
        ("source_attribution", "source_attribution"),
    )
)

RUBRIC = Layout(
    "rubric",
    (
        *RATED,
        ReportColumn("overall_weighted", "overall_weighted"),
        ReportColumn("overall_simple", "overall_simple"),
    ),
    files,
    behind=(
        ReportColumn("context_precision_counted", "graded_relevance(max_grade=2)"),
        ReportColumn("context_recall_counted", "context_recall"),
    ),
    reasons=tuple(ReportColumn(f"{one.name}_reasoning", one.metric, "reason") for one in RATED),
)
