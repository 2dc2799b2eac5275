"""Rescore: new metrics on a finished run. Nobody judges again; an encoder compares what is new."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.errors import InputError, MissingDependency, RunConflict, room_for
from ragstone.examples import Example, from_frame
from ragstone.judgements import ASKS, KINDS, Similarity, Tables
from ragstone.judges import LEDGER, Block, Filled, Judge, Sheet
from ragstone.judges.similarity import (
    BertscoreOptions,
    BertscoreSettings,
    CrossEncoderJudge,
    SimilarityJudge,
)
from ragstone.metrics import QUICK, Metric, needed_asks, parse_metric
from ragstone.models import Encoder
from ragstone.models.cross_encoder import CrossEncoder

from .asked import Asked, asked_for, several
from .evaluation import ROW, UNANSWERED, Evaluation
from .folder import Folder
from .judging import judge_further, resolve
from .manifest import Tally
from .models import BERTSCORE_ASKS, Models, Opened, needs_encoder, open_models
from .progress import Progress, Report
from .run import Run
from .written import collect

MADE_HERE = ("scores.parquet", "estimates.json")
"""What is made anew where it is damaged."""


def rescore(
    run: str | Path,
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
    """Add metrics, or fields to group by, to a finished run.

    The run's own metrics are kept and estimated again. Nobody judges again, so a
    metric that needs what was not judged comes out as missing. Similarities
    alone are computed where the run lacks them, with the models it has; where a
    model did not answer, it is asked again. That needs no name of a metric.

    Args:
        run: Its folder.
        metrics: As for ``evaluate``, and so are ``suites``, ``by``, ``embedder``,
            ``cross_encoder``, ``bertscore`` and ``offline``.
        progress: Called after each block.

    Raises:
        InputError: Not a finished run; unknown metrics, suites or fields; a model that
            was named and cannot be used; nothing to do; settings of BERTScore without
            any to compute.
        RunConflict: The run has similarities of another model, or other settings of
            BERTScore.
        MissingDependency: A model that was named needs a package that is not there.
    """
    opened = Run.open(run)
    asked = asked_for(metrics, suites, else_quick=False)
    options = BertscoreOptions.parse(bertscore)
    own = [parse_metric(name) for name in opened.manifest["metrics"]]
    chosen = list({str(metric): metric for metric in [*own, *asked.metrics]}.values())
    before = opened.manifest["settings"]
    all_suites = dict.fromkeys([*opened.manifest["suites"], *asked.suites])
    settled = Asked(tuple(chosen), tuple(name for name in all_suites if name != QUICK))
    started = time.perf_counter()
    folder = opened.folder
    had = Opened.noted(opened.manifest)
    put = {ask for ask, *_ in opened.manifest["judged"]}
    unanswered = _unanswered(folder)
    compared = [ask for ask in needed_asks(chosen) if ASKS[ask].kind == Similarity.name]

    def models_for(asks: Sequence[str]) -> tuple[Models, Opened]:
        models = open_models(
            asks,
            put,
            _references(folder),
            embedder=_own_encoder(had, asks, put) if embedder is None else embedder,
            cross_encoder=cross_encoder,
            bertscore=options,
            offline=offline,
        )
        return models, _together(folder.path, had, models.opened)

    further = [ask for ask in compared if ask not in put or ask in unanswered]
    if bertscore and BERTSCORE_ASKS.isdisjoint(further):
        raise InputError(
            f"--bertscore {bertscore}: there is no BERTScore to compute here. Leave it out, or "
            "evaluate the data anew, into another folder."
        )
    named = bool(asked.metrics or asked.suites or several(by))
    try:
        models, together = models_for(further)
    except (InputError, MissingDependency):
        without = [ask for ask in further if ask not in unanswered]
        if not named or embedder is not None or bertscore or without == further:
            raise
        further = without
        models, together = models_for(further)
    new = _comparing(models)
    able = frozenset[str]().union(*(judge.asks for judge in new))
    further = [ask for ask in further if ask in able or ask not in unanswered]
    whole = not any(Path(fault.file).name in MADE_HERE for fault in folder.damage())
    if not named and able.isdisjoint(further) and whole:
        raise InputError(_nothing_to_do(models.lacking))
    earlier = judges_of(opened.manifest)
    judges: list[Judge] = list({(one.name, one.about): one for one in [*earlier, *new]}.values())
    fresh = Folder(folder.path / "rescored")
    names_by = list(dict.fromkeys([*opened.manifest["by"], *several(by)]))
    evaluation = Evaluation(fresh, before, settled, judges, names_by, together)
    made_for = {*opened.manifest["metrics"]} - {*opened.manifest.get("added", ())}
    evaluation.added = [str(metric) for metric in chosen if str(metric) not in made_for]
    evaluation.tally.take(opened.manifest)
    _forget(evaluation.tally, further)
    evaluation.unanswered = sum(count for ask, count in unanswered.items() if ask not in further)
    total = int(opened.manifest["data"]["examples"])
    with room_for(folder.path), folder.locked():
        try:
            fresh.drop()
            (fresh.path / "parts").mkdir(parents=True)
            for number, (examples, tables, known) in enumerate(stored(folder, judges, further)):
                evaluation.check_fields(examples)
                judged = judge_further(examples, tables, [known, *new], further)
                evaluation.keep_further(number, examples, judged)
                if progress:
                    done = evaluation.tally.examples
                    progress(Progress("scoring", done, done / total))
            evaluation.finish(opened.manifest["data"], started, progress)
            for name in ("ledger", Similarity.name):
                fresh.add_other_asks(name, further, folder)
            folder.take_over(fresh)
        finally:
            fresh.drop()
    about = asked.metrics or [one for one in chosen if not one.asks.isdisjoint(further)]
    return Run(folder.path, asked=[str(metric) for metric in about])


@dataclass(frozen=True, slots=True)
class Earlier:
    """A judge of the finished run, who is asked nothing more."""

    name: str
    about: str
    asks: frozenset[str]

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:  # noqa: ARG002
        """Nothing."""
        return Sheet(ask, self.name).filled()


def judges_of(manifest: Mapping[str, Any]) -> list[Judge]:
    """The judges of a finished run, in the order they were asked."""
    return [
        Earlier(
            one["name"],
            one["about"],
            frozenset(name for name, ask in ASKS.items() if ask.kind in one["kinds"]),
        )
        for one in manifest["judges"]
    ]


@dataclass(frozen=True, slots=True)
class Known:
    """Says again what the finished run holds of a block, but for the failures."""

    said: Mapping[str, Filled]
    name: str = "known"
    about: str = "the judgements of the run"

    @property
    def asks(self) -> frozenset[str]:
        """What has been judged."""
        return frozenset(self.said)

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:  # noqa: ARG002
        """The same as before, under the name of the judge who said it."""
        return self.said[ask]


def stored(
    folder: Folder, judges: Sequence[Judge], further: Collection[str]
) -> Iterator[tuple[list[Example], Tables, Known]]:
    """A finished run's examples and judgements, block by block; what stays of further asks."""
    blocks = folder.finished("examples").select(pl.col("block").unique().sort())
    for number in collect(blocks, folder.table("examples"))["block"]:
        here = pl.col("block") == number
        frame = folder.read("examples", here).drop("block")
        ids = frame.select(ROW, example_id="id")
        ledger = folder.read("ledger", here).join(ids, on="example_id").select(*LEDGER)
        tables = Tables(frame)
        stays: dict[str, Filled] = {}
        for ask in (name for name in ASKS if name in set(ledger["ask"])):
            entries = ledger.filter(pl.col("ask") == ask)
            said = _said(folder, ask, here)
            if ask in further:
                stays[ask] = Filled(said, entries.filter(pl.col("status") != "failed"))
            else:
                tables = resolve(tables, ask, entries, said, judges)
        yield from_frame(frame), tables, Known(stays)


def _said(folder: Folder, ask: str, here: pl.Expr) -> pl.DataFrame:
    kind = ASKS[ask].kind
    if not folder.has(kind):
        return KINDS[kind].empty()
    return folder.read(kind, here, pl.col("ask") == ask).select(*KINDS[kind].schema())


def _references(folder: Folder) -> Iterator[str]:
    """All references of the run."""
    column = pl.col("reference").explode().drop_nulls().unique(maintain_order=True)
    found = folder.finished("examples").select(column)
    yield from collect(found, folder.table("examples")).to_series()


def _unanswered(folder: Folder) -> dict[str, int]:
    """How often a model did not answer, by ask."""
    counted = folder.finished("ledger").filter(UNANSWERED).group_by("ask").len()
    return dict(collect(counted, folder.table("ledger")).iter_rows())


def _forget(tally: Tally, asks: Collection[str]) -> None:
    """Take out what was counted of these similarities, for they are counted again."""
    for said in [said for said in tally.said if said[0] in asks]:
        del tally.said[said]
    for measure in (ask.partition("/")[2] for ask in asks):
        del tally.pairs[measure], tally.cut[measure]


def _nothing_to_do(lacking: str | None) -> str:
    words = "Name what to score: --metric, --suite, --metrics-from or --by."
    if lacking:
        return f"The similarities that are missing need an encoder. {lacking}\n{words}"
    return f"No similarity is left to ask for. {words}"


def _own_encoder(had: Opened, further: Collection[str], put: Collection[str]) -> str | None:
    """The name of the encoder that the run has, where something is left for it to compare."""
    if had.encoder is None or not any(needs_encoder(ask, put) for ask in further):
        return None
    return had.encoder.rpartition("@")[0]


def _comparing(models: Models) -> list[Judge]:
    judges: list[Judge] = []
    if models.encoder is not None:
        judges.append(SimilarityJudge(models.encoder, models.bertscore or BertscoreSettings()))
    if models.cross_encoder is not None:
        judges.append(CrossEncoderJudge(models.cross_encoder))
    return judges


def _together(path: Path, had: Opened, now: Opened) -> Opened:
    """The models of the run and those that join it.

    Raises:
        RunConflict: They are not the same.
    """
    differing = [
        f"  {name}: there {theirs}, now {ours}"
        for name, ours in now.settings().items()
        if ours and (theirs := had.settings()[name]) and theirs != ours
    ]
    if differing:
        lines = [f"{path} has similarities that were made otherwise.", *differing]
        hint = "Name what the run was made with, or evaluate the data anew, into another folder."
        raise RunConflict("\n".join([*lines, hint]))
    return Opened(
        encoder=now.encoder or had.encoder,
        reads=now.reads or had.reads,
        bertscore=now.bertscore or had.bertscore,
        cross_encoder=now.cross_encoder or had.cross_encoder,
        lacking=now.lacking,
        strings=had.strings,
    )
