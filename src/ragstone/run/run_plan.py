"""Run plan: looks up and opens all that a run needs, before anything is judged or written.

``evaluate``, ``forecast`` and a resumed run prepare it from a request, ``rescore`` from a finished
run. The settings that ``run.json`` keeps are made here and nowhere else.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.data import Example, Examples, fingerprint_files, read
from ragstone.judges.judge_names import Panel, parse_judges
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.nli_judge import NliJudge
from ragstone.judges.similarity import BertscoreOptions
from ragstone.metrics import needed_asks, wanted_topics
from ragstone.models import Encoder

from .estimates.sums import LOOKED_AT, default_cluster
from .folder.input_survey import KnownFile, Survey, known_file, known_input, look_through
from .folder.run_tally import VERSION
from .judging.judge_blocks import LabelFiles
from .judging.run_models import ChatJudges, Models, chat_judges, local_encoder, open_models
from .request import Request, own_definitions, requested, several
from .run_spec import Requested, RunSpec, grouped_by
from .settings import ModelNames, RunSettings

CLOSED = Models()


@dataclass(frozen=True)
class Prepared:
    """A run that has not begun: its spec, its data, and the models that will be asked.

    Args:
        survey: The result of reading all data first; None if no server will be asked.
    """

    spec: RunSpec
    examples: Examples
    files: tuple[KnownFile, ...]
    label_files: LabelFiles
    chat: ChatJudges
    survey: Survey | None


def prepare(request: Request, *, to_ask: bool = True) -> Prepared:
    """Look up and open everything that is needed, so that faults are reported before any work.

    Args:
        to_ask: False opens no encoder, and chat models without a key, because nothing will be sent.

    Raises:
        DataError: Records cannot be read; lists all of them.
        InputError: As ``evaluate``; not ``to_ask`` and no judge is a chat model.
    """
    options = BertscoreOptions.parse(request.bertscore)
    chosen, chat = _asked_for(request, to_ask=to_ask)
    if not to_ask and not chat.judges:
        raise InputError(
            "No judge is a model, so there is nothing to forecast. Name one: "
            f"{argument('judge', 'openai:MODEL')}, "
            "anthropic:MODEL, gemini:MODEL or http://HOST/v1#MODEL."
        )
    panel = _panel(request, chat)
    examples = read(
        request.data,
        columns=request.columns or {},
        skip_bad=request.skip_bad,
        keep_thoughts=request.keep_thoughts,
        limit=request.limit,
        qrels=request.qrels,
    )
    label_files = LabelFiles(panel.label_files)
    files = tuple(map(known_file, examples.files))
    known = None if request.out is None else known_input(Path(request.out), files)
    fingerprint = examples.fingerprint() if known is None else known.fingerprint
    if known is not None and known.over_systems is not None:
        examples.told_of_systems(over_systems=known.over_systems)
    survey = None
    if chat.judges:
        seen = None if known is None else known.examples
        survey = look_through(examples, chosen.scored, known=seen)
    opened = ModelNames()
    if to_ask:
        # Which models are needed depends on what the judges can be asked; these then get them.
        panel, opened = _with_models(request, chosen, chat, panel, examples, options)
    settings = _settings(request, chosen, chat, panel, opened, examples, fingerprint)
    by = grouped_by(*several(request.by))
    spec = RunSpec(settings, chosen, panel.judges, by, opened)
    return Prepared(spec, examples, files, label_files, chat, survey)


def reopened(request: Request, settings: RunSettings) -> RunSpec:
    """The spec of a run in another process, which opens the same judges; models cannot be asked.

    Raises:
        InputError: The judges or models that are opened here are not those of the run.
    """
    options = BertscoreOptions.parse(request.bertscore)
    chosen, chat = _asked_for(request, to_ask=False)
    panel, opened = _with_models(request, chosen, chat, _panel(request, chat), (), options)
    here = _judges_opened(panel, opened)
    of_run = settings.to_dict()
    differing = [name for name, value in here.items() if of_run.get(name) != value]
    if differing:
        differences = "; ".join(
            f"{name}: {here[name]}, not {of_run.get(name)}" for name in differing
        )
        raise InputError(
            f"A node of the cluster opens other judges than the run has: {differences}. Put the "
            "same models on all nodes."
        )
    return RunSpec(settings, chosen, panel.judges, grouped_by(*several(request.by)), opened)


def _asked_for(request: Request, *, to_ask: bool) -> tuple[Requested, ChatJudges]:
    chosen = requested(
        request.metrics,
        request.suites,
        else_quick=True,
        cross_encoder=request.cross_encoder is not None,
    )
    return chosen, chat_judges(
        request.judge,
        request.instructions,
        wanted_topics(chosen.scored),
        request.citations,
        offline=request.offline,
        to_ask=to_ask,
    )


def _with_models(
    request: Request,
    chosen: Requested,
    chat: ChatJudges,
    panel: Panel,
    examples: Iterable[Example],
    options: BertscoreOptions,
) -> tuple[Panel, ModelNames]:
    models = open_models(
        needed_asks(chosen.metrics),
        frozenset[str]().union(*(judge.asks for judge in panel.judges)),
        (text for example in examples for text in example.reference),
        embedder=request.embedder,
        cross_encoder=request.cross_encoder,
        bertscore=options,
        offline=request.offline,
    )
    aligner, strings = local_encoder(panel.judges, needed_asks(chosen.scored), models.encoder)
    return _panel(request, chat, aligner, models), replace(models.opened, strings=strings)


def _panel(
    request: Request, chat: ChatJudges, aligner: Encoder | None = None, models: Models = CLOSED
) -> Panel:
    return parse_judges(
        chat.names,
        request.citations,
        aligner,
        models.encoder,
        models.cross_encoder,
        models.bertscore,
        llm=chat.judges,
        offline=request.offline,
    )


def _settings(
    request: Request,
    chosen: Requested,
    chat: ChatJudges,
    panel: Panel,
    opened: ModelNames,
    examples: Examples,
    fingerprint: str,
) -> RunSettings:
    llm = chat.settings()
    return RunSettings.model_validate(
        {
            "ragstone": VERSION,
            "data": fingerprint,
            "labels": [fingerprint_files([path]) for path in panel.label_files],
            "metrics": [str(metric) for metric in chosen.metrics],
            "definitions": own_definitions(chosen.metrics),
            "suites": list(chosen.suites),
            **_judges_opened(panel, opened),
            **({} if llm is None else {"llm": llm}),
            "citations": request.citations,
            "by": list(several(request.by)),
            "cluster": request.cluster or default_cluster(examples.ahead(LOOKED_AT)),
            "columns": dict(request.columns or {}),
            "limit": None if request.limit is None else int(request.limit),
            "skip_bad": request.skip_bad,
            **({"keep_thoughts": True} if request.keep_thoughts else {}),
        }
    )


def _judges_opened(panel: Panel, opened: ModelNames) -> dict[str, Any]:
    local = (judge.parts for judge in panel.judges if isinstance(judge, LocalJudge))
    nli = (judge for judge in panel.judges if isinstance(judge, NliJudge))
    return {
        "judges": [judge.name for judge in panel.judges],
        "local": next(local, []),
        "nli": [f"{judge.name}@{judge.model.fingerprint}" for judge in nli],
        **opened.settings(),
    }
