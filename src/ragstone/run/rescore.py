"""Rescore: new metrics on a finished run. Nobody judges again; an encoder compares what is new."""

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from ragstone.errors import RunConflict
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
from .evaluation import ROW, Evaluation
from .folder import Folder
from .judging import judge_further, resolve
from .models import Models, Opened, needs_encoder, open_models
from .progress import Progress, Report
from .run import Run


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
    alone are computed where the run lacks them, with the models it has.

    Args:
        run: Its folder.
        metrics: As for ``evaluate``, and so are ``suites``, ``by``, ``embedder``,
            ``cross_encoder``, ``bertscore`` and ``offline``.
        progress: Called after each block.

    Raises:
        InputError: Not a finished run; unknown metrics, suites or fields; a model that
            was named and cannot be used.
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
    named = dict.fromkeys([*opened.manifest["suites"], *asked.suites])
    settled = Asked(tuple(chosen), tuple(name for name in named if name != QUICK))
    started = time.perf_counter()
    folder = Folder(Path(run))
    had = Opened(**opened.manifest.get("models", {}))
    put = {ask for ask, *_ in opened.manifest["judged"]}
    further = [
        ask for ask in needed_asks(chosen) if ASKS[ask].kind == Similarity.name and ask not in put
    ]
    models = open_models(
        further,
        put,
        _references(folder),
        embedder=_own_encoder(had, further, put) if embedder is None else embedder,
        cross_encoder=cross_encoder,
        bertscore=options,
        offline=offline,
    )
    together = _together(folder.path, had, models.opened)
    new = _comparing(models)
    earlier = [Earlier(one["name"], one["about"]) for one in opened.manifest["judges"]]
    judges: list[Judge] = list({one.name: one for one in [*earlier, *new]}.values())
    fresh = Folder(folder.path / "rescored")
    fresh.drop()
    (fresh.path / "parts").mkdir(parents=True)
    names_by = list(dict.fromkeys([*opened.manifest["by"], *several(by)]))
    evaluation = Evaluation(fresh, before, settled, judges, names_by, together)
    evaluation.tally.take(opened.manifest)
    total = int(opened.manifest["data"]["examples"])
    with folder.locked():
        try:
            for number, (examples, tables) in enumerate(_stored(folder, judges)):
                evaluation.check_fields(examples)
                judged = judge_further(examples, tables, new, further)
                evaluation.keep_further(number, examples, judged)
                if progress:
                    done = evaluation.tally.examples
                    progress(Progress("scoring", done, done / total))
            evaluation.finish(opened.manifest["data"], started, progress)
            for name in ("ledger", Similarity.name):
                folder.replace_asks(name, further, fresh)
            for name in ("scores.parquet", "estimates.json", "run.json"):
                (fresh.path / name).replace(folder.path / name)
        finally:
            fresh.drop()
    return Run(folder.path)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A judge of the finished run, who is asked nothing more."""

    name: str
    about: str
    asks: frozenset[str] = frozenset()

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:  # noqa: ARG002
        """Nothing."""
        return Sheet(KINDS[ASKS[ask].kind], ask, self.name).filled()


def _stored(folder: Folder, judges: Sequence[Judge]) -> Iterator[tuple[list[Example], Tables]]:
    """A finished run's examples and judgements, block by block."""
    examples, ledgers = folder.finished("examples"), folder.finished("ledger")
    for number in examples.select("block").unique().collect()["block"].sort():
        here = pl.col("block") == number
        frame = examples.filter(here).drop("block").collect()
        ids = frame.select(ROW, example_id="id")
        ledger = ledgers.filter(here).collect().join(ids, on="example_id").select(*LEDGER)
        tables = Tables(frame)
        for ask in (name for name in ASKS if name in set(ledger["ask"])):
            entries = ledger.filter(pl.col("ask") == ask)
            tables = resolve(tables, ask, entries, _said(folder, ask, here), judges)
        yield from_frame(frame), tables


def _said(folder: Folder, ask: str, here: pl.Expr) -> pl.DataFrame:
    kind = ASKS[ask].kind
    table = folder.table(kind)
    if not table.is_file():
        return KINDS[kind].empty()
    rows = pl.scan_parquet(table).filter(here & (pl.col("ask") == ask))
    return rows.select(*KINDS[kind].schema()).collect()


def _references(folder: Folder) -> Iterator[str]:
    """All references of the run."""
    column = pl.col("reference").explode().drop_nulls().unique(maintain_order=True)
    yield from folder.finished("examples").select(column).collect().to_series()


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
        raise RunConflict("\n".join([*lines, "Evaluate the data anew, into another folder."]))
    return Opened(
        encoder=now.encoder or had.encoder,
        reads=now.reads or had.reads,
        bertscore=now.bertscore or had.bertscore,
        cross_encoder=now.cross_encoder or had.cross_encoder,
        lacking=now.lacking,
    )
