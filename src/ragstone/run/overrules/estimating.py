"""Estimating: the estimates of some metrics of a finished run, from scores that changed."""

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from ragstone.judgements import Tables
from ragstone.metrics import Metric, score
from ragstone.run.estimate import Estimate
from ragstone.run.estimates import estimate_metric
from ragstone.run.estimating import LEVEL, provenance
from ragstone.run.folder import Folder
from ragstone.run.forms import STATUS_CODES, Manifest
from ragstone.run.groups import by_column
from ragstone.run.looked_up import looked_up
from ragstone.run.manifest import RunTally
from ragstone.run.repeated_questions import QUESTION, question_hash, repeated_questions
from ragstone.run.scoring import NO_VALUE, component_metrics
from ragstone.run.stored_shards import finished_judges, stored_shards

OWN = ("id", "question_id", "system", "question", "answer", "policy")
"""Fields of an example that are columns, see ``Example.facet``."""


def estimated_again(
    folder: Folder,
    form: Manifest,
    metrics: Sequence[Metric],
    facets: pl.DataFrame,
    scores: Callable[[pl.DataFrame], pl.DataFrame],
    tables: Callable[[Tables], Tables],
) -> Iterator[Estimate]:
    """The estimates of these metrics, exactly as the run would have made them.

    Args:
        folder: Of the run.
        form: What the run says of itself.
        metrics: Those to estimate.
        facets: What groups and clusters the examples.
        scores: The scores as they are now, from those of the table.
        tables: The judgements of a shard as they are now, from those that are stored.
    """
    tally = RunTally()
    tally.join(form)
    settings = form.settings
    made = provenance(settings.data, tally, form.cluster, form.models, settings.llm)

    def of(metric: Metric) -> pl.DataFrame:
        return scores(folder.read("scores", pl.col("metric") == str(metric))).select(
            "value",
            "label",
            pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8),
            "reason",
        )

    for metric in metrics:
        parts = component_metrics([metric])
        kept = {str(one): of(one) for one in parts if str(one) in form.metrics}
        lacking = [one for one in parts if str(one) not in kept]
        components = kept | _scored(folder, form, lacking, tables)
        yield from estimate_metric(
            metric, of(metric), facets, form.by, made, level=LEVEL, components=components
        )


def facets_of(folder: Folder, fields: Sequence[str], cluster: str) -> pl.DataFrame:
    """What groups and clusters the examples of a finished run, as while it was made."""
    named = [*fields, cluster]
    asked = ("question", "history") if cluster == QUESTION else ()
    elsewhere = [name for name in named if name not in OWN]
    columns = dict.fromkeys(
        ["question_id", "system", *asked, *(name for name in named if name in OWN)]
    )
    texts = folder.read("examples", columns=list(columns))
    values = {name: texts[name] for name in named if name in OWN}
    values |= looked_up(lambda names: folder.read("examples", columns=names), elsewhere)
    own = pl.format("\0{}", pl.col("question_id"))
    # A text without letters counts as none, as it does while a block is scored.
    facets = texts.select("system", "question_id", named=values[cluster].replace("", None)).select(
        "system", cluster=pl.coalesce("named", own).hash(seed=0)
    )
    if cluster == QUESTION:
        repeated = repeated_questions(facets["cluster"], texts.select(question_hash()).to_series())
        facets = facets.with_columns(repeated.clusters(facets["cluster"]))
    return facets.with_columns(
        values[name].replace("", None).fill_null(NO_VALUE).alias(by_column(name)) for name in fields
    )


def _scored(
    folder: Folder,
    form: Manifest,
    metrics: Sequence[Metric],
    tables: Callable[[Tables], Tables],
) -> dict[str, pl.DataFrame]:
    """The scores of metrics that the run did not keep, from all of its judgements."""
    blocks: dict[str, list[pl.DataFrame]] = {str(metric): [] for metric in metrics}
    for block in stored_shards(folder, finished_judges(form)) if metrics else ():
        found = score(tables(block.tables), metrics)
        for name, parts in blocks.items():
            parts.append(found[name].select("value", "status"))
    return {name: pl.concat(parts) for name, parts in blocks.items()}
