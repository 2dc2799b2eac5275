"""Grouping: what groups and clusters a run, found before its scores are summed."""

from dataclasses import dataclass

import polars as pl

from .distinct import Distinct
from .groups import EstimateGroups, by_column
from .repeated_questions import QUESTION, RepeatedQuestions, repeated_questions
from .scoring import NO_VALUE
from .shards import Shards
from .spec import RunSpec
from .written import collect


@dataclass(frozen=True, slots=True, eq=False)
class RunGrouping:
    """What the examples of a run have in common.

    Attributes:
        groups: Those that estimates are made of.
        repeated: Which clusters ask the same.
        clusters: How many there are, before those are put together.
        questions: How many there are, by their ids.
        retrieved: Whether some example has a context.
    """

    groups: EstimateGroups
    repeated: RepeatedQuestions
    clusters: int
    questions: int
    retrieved: bool


def grouping(shards: Shards, spec: RunSpec) -> RunGrouping:
    """Look over the facets of a run, a few shards at a time; a few bytes a question are held."""
    names = ["system", *map(by_column, spec.fields)]
    seen = {name: Distinct(name) for name in names}
    clusters, asked, questions = Distinct("cluster"), Distinct("cluster"), Distinct("question")
    retrieved = False
    for some in shards.scans("facets"):
        facets = collect(
            some.select(*names, "question", "asked", "cluster", "contexts"), shards.path
        )
        for name, values in seen.items():
            values.add(facets.select(name))
        clusters.add(facets.select("cluster"))
        questions.add(facets.select("question"))
        if spec.cluster == QUESTION:
            asked.add(facets.select("cluster", "asked").drop_nulls("asked"))
        retrieved = retrieved or facets["contexts"].sum() > 0
    texts = asked.rows() if spec.cluster == QUESTION else pl.DataFrame({"cluster": [], "asked": []})
    fields = {name: seen[by_column(name)].rows()[by_column(name)].sort() for name in spec.fields}
    return RunGrouping(
        EstimateGroups(
            seen["system"].rows()["system"].to_list(),
            {
                name: values.to_list()
                for name, values in fields.items()
                if name in spec.by or (values != NO_VALUE).any()
            },
        ),
        repeated_questions(texts["cluster"], texts["asked"]),
        clusters.rows().height,
        questions.rows().height,
        retrieved,
    )
