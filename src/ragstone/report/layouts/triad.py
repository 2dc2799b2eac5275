"""Triad: the three scores of the TruLens triad, each with the reasons of its judge."""

from .layout import Layout, ReportColumn
from .rows import files

COLUMNS = (
    ReportColumn("context_relevance", "graded_relevance"),
    ReportColumn("groundedness", "groundedness"),
    ReportColumn("answer_relevance", "answer_relevance_rated"),
)

TRIAD = Layout(
    "triad",
    COLUMNS,
    files,
    reasons=tuple(ReportColumn(f"{one.name}_reason", one.metric, "reason") for one in COLUMNS),
)
