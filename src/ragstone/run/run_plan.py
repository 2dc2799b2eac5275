"""Run plan: looks up and opens all that a run needs, before anything is judged or written.

``evaluate``, ``forecast`` and a resumed run prepare it from a request, ``rescore`` from a finished
run. The settings that ``run.json`` keeps are made here and nowhere else.

Where models by a server are asked, all data are read first, so that their faults cost nothing. The
files of a resumed run are recognised by name, size, time of the last change and a sample of their
bytes; their fingerprint and number of examples then still hold.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ragstone.core.errors import CannotGoOn, InputError
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument
from ragstone.data import Example, Examples, fingerprint_files, read
from ragstone.data.json_text import ascii_safe
from ragstone.judgements import Preference
from ragstone.judges.judge_names import Panel, parse_judges
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.nli_judge import NliJudge
from ragstone.judges.similarity import BertscoreOptions
from ragstone.metrics import Metric, wanted_topics

from .estimates.sums import LOOKED_AT, default_cluster
from .folder.checksums import write_json
from .folder.run_tally import VERSION
from .judging.judge_blocks import LabelFiles
from .judging.run_models import ChatJudges, chat_judges, with_models
from .request import Request, own_definitions, requested, several
from .run_spec import Requested, RunSpec, grouped_by
from .settings import ModelNames, RunSettings

# The answers to each question, by system.
Answers = Mapping[str, Mapping[str, str]]


def look_through(
    examples: Iterable[Example], metrics: Sequence[Metric], *, known: int | None = None
) -> tuple[int, Answers]:
    """Count the examples, and gather the answers that metrics compare with each other.

    Args:
        known: How many examples there are, if these were looked through before; they are then
            read again only for what metrics compare.
    """
    compared = any(topic.ask == Preference.name for topic in wanted_topics(metrics))
    if known is not None and not compared:
        return known, {}
    answers: dict[str, dict[str, str]] = {}
    count = 0
    for example in examples:
        count += 1
        if compared and example.answer is not None:
            answers.setdefault(example.question_id, {})[example.system] = example.answer
    return count, answers


INPUT_FILE = "input.json"
# Bytes of a piece of a sample, and how many pieces it has.
PIECE, PIECES = 4096, 64


class KnownFile(BaseModel):
    """The facts by which a file is recognised."""

    model_config = ConfigDict(frozen=True)

    name: str
    bytes: int
    # Nanoseconds since 1970.
    changed: int
    sample: str


class KnownInput(BaseModel):
    """The files of a run, and what was found out about them.

    Attributes:
        examples: How many there are; None if they were not counted.
        over_systems: Whether ids are those of questions of several systems; None if that is not
            known yet.
    """

    model_config = ConfigDict(frozen=True)

    files: list[KnownFile]
    fingerprint: str
    examples: int | None = None
    over_systems: bool | None = None


def write_known_input(parts: Path, data: Examples, known: KnownInput) -> None:
    """Write the facts of the data's files, if it has any, to a run's unfinished tables."""
    if known.files:
        facts = known.model_copy(update={"over_systems": data.over_systems})
        write_json(parts / INPUT_FILE, facts.model_dump())


def check_unchanged(data: Examples, known: KnownInput) -> None:
    """Check that the files are still those that the run began with."""
    try:
        changed = [file.name for file in known.files if file != known_file(Path(file.name))]
        # The time alone changes where a file is copied over itself.
        same = not changed or data.fingerprint() == known.fingerprint
    except OSError as error:
        raise CannotGoOn(
            f"{error.filename} cannot be read any more ({error.strerror}), so it is not known "
            "whether it changed while the run was reading it. Put it back as it was; then run "
            "the same command again, which judges nothing again."
        ) from error
    if not same:
        raise InputError(
            f"{', '.join(changed)} changed while the run was reading it, so its shards may "
            "come of two versions. Run it again with "
            f"{argument('out', 'ANOTHER_FOLDER')}, or delete its folder."
        )


def known_input(folder: Path, files: Sequence[KnownFile]) -> KnownInput | None:
    """Read what an unfinished run knows of these files; None if they are not its files."""
    try:
        known = KnownInput.model_validate_json((folder / RunEntry.PARTS / INPUT_FILE).read_bytes())
    except (OSError, ValidationError):
        return None
    return known if known.files == list(files) else None


def known_file(file: Path) -> KnownFile:
    try:
        str(file).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{ascii_safe(str(file))}: the name of this file is not UTF-8. Rename it."
        ) from error
    digest = blake2b(digest_size=16)
    with file.open("rb") as handle:
        status = os.fstat(handle.fileno())
        last = max(0, status.st_size - PIECE)
        for number in range(PIECES):
            handle.seek(last * number // (PIECES - 1))
            digest.update(handle.read(PIECE))
    return KnownFile(
        name=str(file), bytes=status.st_size, changed=status.st_mtime_ns, sample=digest.hexdigest()
    )


@dataclass(frozen=True)
class Prepared:
    """A run that has not begun: its spec, its data, and the models that will be asked."""

    spec: RunSpec
    examples: Examples
    # Its files, their fingerprint and, if models are asked, how many examples they have.
    known: KnownInput
    label_files: LabelFiles
    chat: ChatJudges
    # Those that models compare.
    answers: Answers


def prepare(request: Request, *, to_ask: bool = True) -> Prepared:
    """Look up and open everything that is needed, so that faults are reported before any work.

    Args:
        to_ask: False opens no encoder, and chat models without a key, because nothing will be sent.
    """
    options = BertscoreOptions.parse(request.bertscore)
    chosen, chat, make_panel = _asked_for(request, to_ask=to_ask)
    if not to_ask and not chat.judges:
        raise InputError(
            "No judge is a model, so there is nothing to forecast. Name one: "
            f"{argument('judge', 'openai:MODEL')}, "
            "anthropic:MODEL, gemini:MODEL or http://HOST/v1#MODEL."
        )
    panel = make_panel()
    examples = read(
        request.data, columns=request.columns or {}, skip_bad=request.skip_bad,
        keep_thoughts=request.keep_thoughts, limit=request.limit, qrels=request.qrels,
    )  # fmt: skip
    label_files = LabelFiles(panel.label_files)
    files = list(map(known_file, examples.files))
    before = None
    if request.out is not None and files:
        before = known_input(Path(request.out), files)
    fingerprint = examples.fingerprint() if before is None else before.fingerprint
    if before is not None and before.over_systems is not None:
        examples.over_systems = before.over_systems
    counted: int | None = None
    answers: Answers = {}
    if chat.judges:
        seen = None if before is None else before.examples
        counted, answers = look_through(examples, chosen.scored, known=seen)
    opened = ModelNames()
    if to_ask:
        # Which models are needed depends on what the judges can be asked; these then get them.
        references = (text for example in examples for text in example.reference)
        panel, opened = with_models(
            make_panel, panel, chosen, references, embedder=request.embedder,
            cross_encoder=request.cross_encoder, bertscore=options, offline=request.offline,
        )  # fmt: skip
    llm = chat.settings()
    settings = RunSettings.model_validate(
        {
            "ragstone": VERSION,
            "data": fingerprint,
            "labels": [fingerprint_files([path]) for path in panel.label_files],
            "metrics": list(map(str, chosen.metrics)),
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
    spec = RunSpec(settings, chosen, panel.judges, grouped_by(*several(request.by)), opened)
    known = KnownInput(files=files, fingerprint=fingerprint, examples=counted)
    return Prepared(spec, examples, known, label_files, chat, answers)


def reopened(request: Request, settings: RunSettings) -> RunSpec:
    """The spec of a run in another process, which opens the same judges; models cannot be asked."""
    options = BertscoreOptions.parse(request.bertscore)
    chosen, _, make_panel = _asked_for(request, to_ask=False)
    panel, opened = with_models(
        make_panel, make_panel(), chosen, (), embedder=request.embedder,
        cross_encoder=request.cross_encoder, bertscore=options, offline=request.offline,
    )  # fmt: skip
    here = _judges_opened(panel, opened)
    of_run = settings.to_dict()
    differing = [
        f"{name}: {value}, not {of_run.get(name)}"
        for name, value in here.items()
        if of_run.get(name) != value
    ]
    if differing:
        raise InputError(
            f"A node of the cluster opens other judges than the run has: {'; '.join(differing)}. "
            "Put the same models on all nodes."
        )
    return RunSpec(settings, chosen, panel.judges, grouped_by(*several(request.by)), opened)


def _asked_for(
    request: Request, *, to_ask: bool
) -> tuple[Requested, ChatJudges, Callable[..., Panel]]:
    """Return the metrics, the chat judges, and a function that makes all judges from models."""
    chosen = requested(
        request.metrics, request.suites, else_quick=True,
        cross_encoder=request.cross_encoder is not None,
    )  # fmt: skip
    chat = chat_judges(
        request.judge, request.instructions, wanted_topics(chosen.scored), request.citations,
        offline=request.offline, to_ask=to_ask,
    )  # fmt: skip
    make_panel = partial(
        parse_judges, chat.names, request.citations, llm=chat.judges, offline=request.offline
    )
    return chosen, chat, make_panel


def _judges_opened(panel: Panel, opened: ModelNames) -> dict[str, Any]:
    names, local, nli = list[str](), list[str](), list[str]()
    for judge in panel.judges:
        names.append(judge.name)
        if isinstance(judge, LocalJudge):
            local = local or judge.parts
        elif isinstance(judge, NliJudge):
            nli.append(f"{judge.name}@{judge.model.fingerprint}")
    return {"judges": names, "local": local, "nli": nli, **opened.settings()}
