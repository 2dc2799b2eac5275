"""Rescore: new metrics on a finished run, without judging again.

Only what takes no judge is computed: similarities, and what is counted.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from ragstone.core.errors import InputError, MissingDependency, RunConflict, room_for
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument, marked, throughout
from ragstone.data import from_frame
from ragstone.judgements import ASKS, Similarity
from ragstone.judges import Judge
from ragstone.judges.rules import RulesJudge
from ragstone.judges.similarity import (
    BertscoreOptions,
    BertscoreSettings,
    CrossEncoderJudge,
    SimilarityJudge,
)
from ragstone.metrics import QUICK, Metric, needed_asks, read_metric
from ragstone.models import Encoder
from ragstone.models.cross_encoder import CrossEncoder

from .evaluate import log_run
from .folder.checksums import collect
from .folder.folder import Folder
from .folder.remote_folder import refuse_copy
from .folder.run_list import Progress, Report
from .folder.run_tally import UNANSWERED, RunTally
from .folder.schemas import ShardForm
from .judging.evaluation import Evaluation
from .judging.judge_blocks import judge_further
from .judging.run_models import Models, askable, needs_encoder, open_models
from .judging.scoring import block_tables, check_fields
from .judging.sharding import finished_judges, stored_shards
from .request import checked, requested, several
from .run import Run
from .run_spec import Requested, RunSpec, each_once, grouped_by
from .settings import BERTSCORE_ASKS, ModelNames

# The tables of a shard that are made anew.
SCORED = ("scores", "facets", "origins")


@checked
def rescore(
    run: Run | str | Path,
    *,
    metrics: str | Metric | Sequence[str | Metric] = (),
    suites: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    embedder: str | Encoder | None = None,
    cross_encoder: str | CrossEncoder | None = None,
    bertscore: str = "",
    offline: bool = False,
    progress: Report | None = None,
) -> Run:
    """Add metrics, or fields to group by, to a finished run, without judging again.

    The run's own metrics are kept and estimated again. A metric that needs
    judgements the run does not hold is missing. The exceptions are what is
    counted, such as stock phrases, and similarities: those the run lacks are
    computed with its own models, and if a model failed before, it is tried
    again, even if no metric is named.

    Args:
        run: A finished run, or its folder.
        metrics: As in ``evaluate``, and likewise ``suites``, ``by``, ``embedder``,
            ``cross_encoder``, ``bertscore`` and ``offline``.
        progress: Called after each shard.

    Raises:
        InputError: The run is not finished; a metric, suite or field is unknown; a
            named model cannot be used; there is nothing to do; BERTScore settings
            are given but there is no BERTScore to compute.
        RunConflict: The run's similarities come from another model, or from other
            BERTScore settings.
        MissingDependency: A named model needs a package that is not installed.
    """
    first_run = run if isinstance(run, Run) else None
    finished = Run.open(run.path if isinstance(run, Run) else run)
    refuse_copy(finished.path)
    request = requested(metrics, suites, else_quick=False, cross_encoder=cross_encoder is not None)
    fields = several(by)
    scored_before = [read_metric(name) for name in finished.form.metrics]
    chosen = each_once(*scored_before, *request.metrics)
    is_requested = bool(request.metrics or request.suites or fields)
    wanted = _WantedModels(embedder, cross_encoder, bertscore, offline)
    asks, judges, models = _similarities(finished, chosen, wanted, is_requested=is_requested)
    started = time.perf_counter()
    spec = _spec(finished, request, chosen, fields, judges, models)
    _rescored(finished, spec, asks, judges, started, progress)
    about = request.metrics or [metric for metric in chosen if not metric.asks.isdisjoint(asks)]
    scored = Run(finished.path, asked=[str(metric) for metric in about], beside=first_run)
    log_run(scored)
    return scored


@dataclass(frozen=True, slots=True)
class _WantedModels:
    embedder: str | Encoder | None
    cross_encoder: str | CrossEncoder | None
    bertscore: str
    offline: bool

    def open(
        self, run: Run, asks: Sequence[str], judged: Collection[str]
    ) -> tuple[Models, ModelNames]:
        """Open the models for these asks, some of them judged before; name all of the run."""
        had, embedder = run.form.models, self.embedder
        if embedder is None and had.encoder and any(needs_encoder(ask, judged) for ask in asks):
            embedder = had.encoder.rpartition("@")[0]
        models = open_models(
            asks, judged, _references(run.folder), embedder=embedder,
            cross_encoder=self.cross_encoder, bertscore=BertscoreOptions.parse(self.bertscore),
            offline=self.offline,
        )  # fmt: skip
        return models, _together(run.path, had, models.opened)


def _similarities(
    run: Run, metrics: Sequence[Metric], wanted: _WantedModels, *, is_requested: bool
) -> tuple[list[str], list[Judge], ModelNames]:
    """Choose the similarities to compute, their judges, and the models of the run with these."""
    judged = {ask for ask, *_ in run.form.judged}
    unanswered = _unanswered(run.folder)
    needed = needed_asks(metrics)
    kinds = {ASKS[ask].kind for ask in judged}
    counted = [
        ask for ask in needed if ASKS[ask].by == ("counting",) and ASKS[ask].kind not in kinds
    ]
    compared = [ask for ask in needed if ASKS[ask].kind == Similarity.name]
    asks = [ask for ask in compared if ask not in judged or ask in unanswered]
    if wanted.bertscore and BERTSCORE_ASKS.isdisjoint(asks):
        raise InputError(
            f"{argument('bertscore', wanted.bertscore)}: there is no BERTScore to compute here. "
            "Leave it out, or evaluate the data anew, into another folder."
        )
    try:
        models, together = wanted.open(run, asks, judged)
    except (InputError, MissingDependency):
        # What failed is tried again unasked; without its model the rest of the request still goes.
        without = [ask for ask in asks if ask not in unanswered]
        named = wanted.embedder is not None or wanted.bertscore
        if not is_requested or named or without == asks:
            raise
        asks = without
        models, together = wanted.open(run, asks, judged)
    rules = RulesJudge(citation_pattern=run.form.settings.citations)
    judges: list[Judge] = [rules] if counted else []
    if models.cross_encoder is not None:
        judges.insert(0, CrossEncoderJudge(models.cross_encoder))
    if models.encoder is not None:
        settings = models.bertscore or BertscoreSettings()
        judges.insert(0, SimilarityJudge(models.encoder, settings))
    able = askable(judges)
    asks = [ask for ask in (*counted, *asks) if ask in able or ask not in unanswered]
    anew = {RunEntry.ESTIMATES, *SCORED}
    faults = [Path(fault.file) for fault in run.folder.damage()]
    whole = not any({file.name, file.parent.name} & anew for file in faults)
    if not is_requested and able.isdisjoint(asks) and whole:
        words = (
            f"Name what to score: {argument('metrics', 'METRIC')}, {argument('suites', 'SUITE')} "
            f"or {argument('by', 'FIELD')}."
        )
        if models.lacking:
            reason = f"The similarities that are missing need an encoder. {models.lacking}\n"
            raise InputError(reason + words)
        raise InputError(f"No similarity is left to compute. {words}")
    return asks, judges, together


def _spec(
    run: Run, request: Requested, metrics: Sequence[Metric], fields: Sequence[str],
    further: Sequence[Judge], models: ModelNames,
) -> RunSpec:  # fmt: skip
    manifest = run.form
    suites = dict.fromkeys([*manifest.suites, *request.suites])
    judges = [*finished_judges(manifest), *further]
    made_for = {*manifest.metrics} - {*manifest.added}
    return RunSpec(
        manifest.settings,
        Requested(tuple(metrics), tuple(name for name in suites if name != QUICK)),
        tuple({(judge.name, judge.about): judge for judge in judges}.values()),
        grouped_by(*manifest.by, *fields),
        models,
        tuple(metric for metric in metrics if str(metric) not in made_for),
    )


def _rescored(
    run: Run, spec: RunSpec, asks: Sequence[str], further: Sequence[Judge], started: float,
    progress: Report | None,
) -> None:  # fmt: skip
    """Score all shards into a folder of their own, whose files then replace the old ones."""
    folder = run.folder
    evaluation = Evaluation(folder, folder.parts, spec, progress)
    total = run.form.data.examples
    with room_for(folder.path), folder.locked():
        folder.drop_parts()
        try:
            stored = stored_shards(folder, spec.judges, asks)
            for form, (before, judge) in zip(folder.shards.ledger, stored, strict=True):
                examples = from_frame(before.examples)
                if not evaluation.tally.examples:
                    check_fields(spec, examples)
                judged = judge_further(examples, before, [judge, *further], asks)
                tables = block_tables(spec, form.shard, examples, judged)
                new = _new_tables(folder, form.shard, asks, tables)
                counts = _counted_again(form, asks, tables)
                if asks:
                    counts.unanswered = new["ledger"].filter(UNANSWERED).height
                evaluation.keep(form.shard, new, counts, form.files)
                if progress:
                    done = evaluation.tally.examples
                    progress(Progress("scoring", done, done / total))
            evaluation.finish(throughout(run.form.data.to_dict(), marked), started)
        finally:
            folder.drop_parts()


def _references(folder: Folder) -> Iterator[str]:
    column = pl.col("reference").explode().drop_nulls().unique(maintain_order=True)
    references = folder.finished("examples").select(column)
    yield from collect(references, folder.table("examples")).to_series()


def _unanswered(folder: Folder) -> dict[str, int]:
    counted = folder.finished("ledger").filter(UNANSWERED).group_by("ask").len()
    return dict(collect(counted, folder.table("ledger")).iter_rows())


def _counted_again(
    form: ShardForm, asks: Collection[str], tables: Mapping[str, pl.DataFrame]
) -> RunTally:
    counts = RunTally()
    counts.join(form.counted)
    for outcome in [outcome for outcome in counts.outcomes if outcome[0] in asks]:
        del counts.outcomes[outcome]
    for measure in (ask.partition("/")[2] for ask in asks):
        del counts.pairs[measure], counts.cut[measure]
    counts.add(form.examples, tables["ledger"], tables.get(Similarity.name))
    return counts


def _new_tables(
    folder: Folder, shard: int, asks: Collection[str], tables: Mapping[str, pl.DataFrame]
) -> dict[str, pl.DataFrame]:
    new = {name: tables[name] for name in SCORED if name in tables}
    for name in dict.fromkeys(("ledger", *(ASKS[ask].kind for ask in asks))) if asks else ():
        others = pl.col("ask").is_in(list(asks)).not_()
        known = [folder.read(name, others, shards=[shard])] if folder.has(name) else []
        further = [tables[name]] if name in tables else []
        if known or further:
            new[name] = pl.concat([*known, *further])
    return new


def _together(path: Path, had: ModelNames, now: ModelNames) -> ModelNames:
    differing = [
        f"  {name}: there {old}, now {new}"
        for name, new in now.settings().items()
        if new and (old := had.settings()[name]) and old != new
    ]
    if differing:
        lines = [f"{path} has similarities from other models or settings.", *differing]
        hint = "Name what the run was made with, or evaluate the data anew, into another folder."
        raise RunConflict("\n".join([*lines, hint]))
    names = ("encoder", "reads", "bertscore", "cross_encoder")
    further = {name: getattr(now, name) or getattr(had, name) for name in names}
    return replace(had, lacking=now.lacking, **further)
