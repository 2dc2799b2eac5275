"""Evaluate: examples in, judged and scored, a run out."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from ragstone.errors import DiskFull, InputError, room_for
from ragstone.examples import Examples, fingerprint_files, read
from ragstone.judges import MARKERS, Judge, LocalJudge, NliJudge, Panel, parse_judges
from ragstone.judges.similarity import BertscoreOptions
from ragstone.metrics import QUICK, Metric, needed_asks, wanted_topics
from ragstone.models import Encoder
from ragstone.models.cross_encoder import CrossEncoder

from .asked import asked_for, own_definitions, several
from .evaluation import Evaluation
from .folder import Folder, write_lines
from .label_files import LabelFiles
from .limits import USUAL, Limits
from .live import Debug
from .llm import PLAIN, Instructions, Named, model_judges
from .manifest import VERSION
from .models import local_encoder, open_models
from .progress import Report
from .quick import candidates
from .run import Run
from .survey import look_through
from .violations import ViolationList

if TYPE_CHECKING:
    from .calls.asking import Asking

BEGUN: ContextVar[list["Asking"] | None] = ContextVar("begun", default=None)
"""Where ``aevaluate`` learns what to end when it is cancelled."""

MOST_NOTED = 3
"""Faults and ids that the manifest quotes; the files have them all."""


def evaluate(
    data: Any,
    *,
    metrics: str | Metric | Sequence[str | Metric] = (),
    suites: str | Sequence[str] = (),
    judge: Named | Sequence[Named] = (),
    by: str | Sequence[str] = (),
    cluster: str = "question_id",
    out: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    qrels: str | Path | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    citations: str = MARKERS,
    embedder: str | Encoder | None = None,
    cross_encoder: str | CrossEncoder | None = None,
    bertscore: str = "",
    offline: bool = False,
    instructions: Instructions = PLAIN,
    limits: Limits = USUAL,
    debug: Debug | None = None,
    progress: Report | None = None,
) -> Run:
    """Judge examples, score them, and keep everything in a run folder.

    Args:
        data: A path, an iterable of mappings or examples, or a pandas, Polars or
            Arrow table; see ``ragstone.read``.
        metrics: Metrics or their text forms, such as ``precision(k=5)``; one, or
            several.
        suites: Names of suites. With neither, ``quick``: what the data and the
            judges allow.
        judge: Who judges, in order: ``local``, ``human``, ``human:FILE``, or a chat model such
            as ``openai:MODEL`` or ``http://HOST/v1#MODEL``, several between commas for a panel
            that votes; also a model itself, or an async function that answers a ``ChatRequest``.
            None: the labels in the data, and ``local`` for the rest.
        by: Fields to group by; ``system`` always is one.
        cluster: The field whose equal values share their fate in every interval.
        out: The run folder. It goes on if it holds a run of the same data and
            settings. None: a temporary folder.
        columns: Ragstone's field names to the data's.
        qrels: Judged ids for a TREC run.
        skip_bad: Leave bad records out and keep them beside the run.
        limit: Read so many examples at the most.
        citations: The pattern of the markers by which an answer cites; what its
            first group holds names a context, by id or rank.
        embedder: What embeds texts: a name such as ``builtin:minilm``, a folder,
            ``org/name`` or ``openai:MODEL``, or an encoder. None: ``builtin:minilm`` if a
            metric that was asked for needs one, fetched once; where it cannot be had, what
            rests on it is missing.
        cross_encoder: What compares answer and reference for
            ``semantic_similarity_cross_encoder``: a name or a cross-encoder.
        bertscore: How BERTScore is computed: ``layer=9``, ``idf`` (over the data's
            references), ``rescale`` or ``rescale=FILE``, several between commas.
        offline: Fetch no model, and ask no server but one on this machine.
        instructions: What chat models are told: plan, prompts, language, rubrics.
        limits: How fast they are asked, and what that may cost.
        debug: Called with each example as soon as it is judged, by models before its whole block.
        progress: Called after each block, and now and then while models are asked.

    Raises:
        DataError: Records that cannot be read, all of them.
        InputError: Unknown metrics, judges, suites or fields; a run folder that
            holds something else; a model that was named and cannot be used.
        MissingDependency: A model that was named needs a package that is not there.
    """
    if limit is not None and limit < 1:
        raise InputError(f"limit must be 1 or more, not {limit}.")
    fields = several(by)
    options = BertscoreOptions.parse(bertscore)
    asked = asked_for(metrics, suites, else_quick=True)
    every = asked.metrics if QUICK not in asked.suites else [*asked.metrics, *candidates()]
    by_model = model_judges(judge, instructions, wanted_topics(every), citations, offline=offline)
    panel = parse_judges(by_model.names, citations, llm=by_model.judges, offline=offline)
    examples = read(
        data,
        columns=columns or {},
        skip_bad=skip_bad,
        limit=limit,
        qrels=None if qrels is None else Path(qrels),
    )
    label_files = LabelFiles(panel.label_files)
    data_fingerprint = examples.fingerprint()
    survey = look_through(examples, every) if by_model.judges else None
    models = open_models(
        needed_asks(asked.metrics),
        frozenset[str]().union(*(judge.asks for judge in panel.judges)),
        (text for example in examples for text in example.reference),
        embedder=embedder,
        cross_encoder=cross_encoder,
        bertscore=options,
        offline=offline,
    )
    aligner, strings = local_encoder(panel.judges, needed_asks(every), models.encoder)
    opened = replace(models.opened, strings=strings)

    def judges(llm: Mapping[str, Judge]) -> Panel:
        return parse_judges(
            by_model.names,
            citations,
            aligner,
            models.encoder,
            models.cross_encoder,
            models.bertscore,
            llm=llm,
            offline=offline,
        )

    panel = judges(by_model.judges)
    settings = {
        "ragstone": VERSION,
        "data": data_fingerprint,
        "labels": [fingerprint_files([path]) for path in panel.label_files],
        "metrics": [str(metric) for metric in asked.metrics],
        "definitions": own_definitions(asked.metrics),
        "suites": list(asked.suites),
        "judges": [judge.name for judge in panel.judges],
        "local": next((judge.parts for judge in panel.judges if isinstance(judge, LocalJudge)), []),
        "nli": [
            f"{judge.name}@{judge.model.fingerprint}"
            for judge in panel.judges
            if isinstance(judge, NliJudge)
        ],
        **by_model.settings(),
        **opened.settings(),
        "citations": citations,
        "by": list(fields),
        "cluster": cluster,
        "columns": dict(columns or {}),
        "limit": limit,
        "skip_bad": skip_bad,
    }
    temporary = out is None
    folder = Folder(Path(mkdtemp(prefix="ragstone-") if out is None else out))
    existed = not temporary and folder.path.exists()
    started = time.perf_counter()
    with ExitStack() as closing:
        closing.enter_context(room_for(folder.path))
        closing.enter_context(folder.locked())
        held = folder.prepare(settings)
        notes: list[str] = []
        if held.get("finished"):
            damaged = [str(fault) for fault in folder.damage()]
            if not held.get("unheard") and not damaged:
                folder.drop_parts()
                return Run(folder.path)
            folder.begin_again()
            notes += [f"made anew, for it was damaged: {fault}." for fault in damaged]
        asking = None
        try:
            if survey is not None:
                asking = closing.enter_context(by_model.asking(folder.path, limits, notes.append))
                if (begun := BEGUN.get()) is not None:
                    begun.append(asking)
                by_model = by_model.asked_with(asking, needed_asks(every), survey.answers)
                panel = judges(by_model.judges)
            evaluation = Evaluation(
                folder, settings, asked, panel.judges, fields, opened, asking, debug
            )
            evaluation.total = None if survey is None else survey.examples
            if held.get("finished"):
                notes += _left_out(evaluation.also_score(held))
            else:
                evaluation.begin()
            broken = ViolationList(folder.path / "label_violations.jsonl")
            stream = broken.watch(label_files.join(iter(examples)))
            evaluation.judge(stream, lambda: _fraction(examples), progress)
            ties = label_files.ties()
            write_lines(folder.path / "rejected.jsonl", _rejected(examples))
            write_lines(folder.path / "label_ties.jsonl", ties)
            facts = {
                "source": examples.source,
                "format": examples.format,
                "fingerprint": settings["data"],
                "rejected": len(examples.rejected),
                "rejected_for": [str(one.faults[0]) for one in examples.rejected[:MOST_NOTED]],
                "label_violations": dict(broken.counts),
                "label_ties": len(ties),
                "labels_of_nothing": label_files.unknown_ids[:MOST_NOTED],
            }
            notes += [*examples.notes, *label_files.notes]
            notes += [*by_model.told_by_servers(), *by_model.idle(instructions, limits)]
            evaluation.finish(facts, started, progress, notes)
        except DiskFull:
            raise
        except InputError:
            if not held and not (asking and asking.counts().heard):
                folder.drop(keep_folder=existed)
            raise
    return Run(folder.path, temporary=temporary)


async def aevaluate(data: Any, **given: Any) -> Run:
    """As ``evaluate``, with the same arguments, without holding up the event loop.

    Where it is cancelled, nothing more is asked of a model; the same call goes on.
    """
    begun: list[Asking] = []
    BEGUN.set(begun)
    try:
        return await asyncio.to_thread(evaluate, data, **given)
    except asyncio.CancelledError:
        for asking in begun:
            await asyncio.to_thread(asking.close)
        raise


def _left_out(metrics: Sequence[str]) -> list[str]:
    """Where the run is gone through again, what has to be scored again by itself."""
    if not metrics:
        return []
    return [f"ragstone score RUN scores these again, which were added later: {', '.join(metrics)}."]


def _fraction(examples: Examples) -> float | None:
    if not examples.size_bytes:
        return None
    return min(1.0, (examples.read_bytes or 0) / examples.size_bytes)


def _rejected(examples: Examples) -> Iterator[dict[str, Any]]:
    for one in examples.rejected:
        faults = [str(fault) for fault in one.faults]
        yield {"line": one.line, "record": one.record, "faults": faults}
