"""Taxonomy: the sixteen metrics of the label taxonomy, a row a metric, and a row a system of it."""

from collections.abc import Iterator, Sequence

import polars as pl

from ragstone.metrics import read_metric

from .cells import number
from .layout import Layout, ReportColumn, ReportFile
from .report_data import ReportData

FAMILIES = {
    "retrieval": (
        ReportColumn("TopicalPrecision@K", "precision"),
        ReportColumn("SufficiencyHit@K", "sufficiency_hit"),
        ReportColumn("SufficiencyRate@K", "sufficiency_rate"),
        ReportColumn("MisleadingContextRate@K", "misleading_rate"),
        ReportColumn("MRR@K", "mrr"),
        ReportColumn("NDCG@K", "ndcg"),
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
"""By family, in the order of the taxonomy."""


def files(_: Layout, data: ReportData) -> Sequence[ReportFile]:
    """One file. Without a ``k``, a metric is over the whole list that the system returned."""
    return (
        ReportFile("metrics.csv", (pl.DataFrame(list(_rows(data)), infer_schema_length=None),)),
    )


def _rows(data: ReportData) -> Iterator[dict[str, str | int | None]]:
    for family, columns in FAMILIES.items():
        for column in columns:
            for metric in data.forms(column.metric) or [column.metric]:
                for system in data.methods:
                    one = data.estimate(metric, system)
                    yield {
                        "family": family,
                        "metric": column.name,
                        "k": read_metric(metric).parameters.get("k"),
                        "value": None if one is None else number(one.value, percent=False),
                        "n": None if one is None else one.n,
                        "undefined": None if one is None else one.n_undefined,
                        "missing": None if one is None else one.n_missing,
                        "low": None if one is None else number(one.low, percent=False),
                        "high": None if one is None else number(one.high, percent=False),
                        "system": system,
                    }


TAXONOMY = Layout(
    "taxonomy",
    tuple(column for columns in FAMILIES.values() for column in columns),
    files,
    at_any_k=True,
)
