"""Evaluate: judges and scores examples, logs the result, and returns a run.

Set the level of the logger ``ragstone`` to see the scores.
"""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from logging import DEBUG, INFO, getLogger
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from ragstone.core.errors import CannotGoOn, DamagedRun, InputError, room_for
from ragstone.core.escape import single_line
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument, reason
from ragstone.core.remote_files import is_url
from ragstone.data.examples import IdsOfSystems
from ragstone.judges.similarity import BertscoreOptions

from .folder.checksums import as_line, write_lines
from .folder.folder import Folder
from .folder.remote_folder import remote_folder
from .folder.run_list import Progress, Report
from .folder.schemas import Manifest
from .judging.evaluation import Evaluation
from .judging.run_models import able_to_ask
from .judging.sharding import CutData, cut
from .ray_engine.connection import ray_address
from .request import Request, with_arguments_of
from .run import Run
from .run_plan import Prepared, check_unchanged, prepare, write_known_input
from .run_spec import RunSpec

if TYPE_CHECKING:
    from .batches.batch_loop import RunBatches
    from .calls.asker import Asking


LOGGER = getLogger("ragstone")


def log_run(run: Run) -> None:
    """Log a finished run at INFO: name, number of examples, the means by system."""
    if not LOGGER.isEnabledFor(INFO):
        return
    means: dict[str, list[str]] = {}
    for estimate in run.estimate_list:
        if estimate.group.keys() == {"system"}:
            mean = f"{estimate.group['system']}={_shown(estimate.value)}"
            means.setdefault(estimate.metric, []).append(mean)
    listed = "; ".join(f"{metric}: {', '.join(values)}" for metric, values in means.items())
    LOGGER.info("%s", single_line(f"{run.path.name}: {run.form.data.examples} examples; {listed}"))


def log_one(scores: Mapping[str, float | None]) -> None:
    """Log the scores of a single example at DEBUG."""
    if LOGGER.isEnabledFor(DEBUG):
        listed = "; ".join(f"{metric}: {_shown(value)}" for metric, value in scores.items())
        LOGGER.debug("%s", single_line(f"evaluate_one: {listed}"))


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"


# Faults and ids that the manifest quotes; the files have them all.
MOST_NOTED = 3


@with_arguments_of(Request)
def evaluate(data: Any, **arguments: Any) -> Run:
    """Judge examples, compute metrics, and save everything in a run folder.

    Raises:
        DataError: Records that cannot be read; lists all of them.
        InputError: An unknown metric, judge, suite or field; a run folder that holds
            something else; a named model that cannot be used.
        MissingDependency: A named model needs a package that is not installed.
        BatchesWaiting: ``batch``, and the provider has not answered yet.
    """
    return evaluated(Request(data, **arguments))


@with_arguments_of(Request)
async def aevaluate(data: Any, **arguments: Any) -> Run:
    """Async version of ``evaluate``, with the same arguments; does not block the event loop.

    If cancelled, no further model calls are made, and judging ends with the examples that are
    being judged. With ``out``, the same call resumes the run.
    """
    cancellation = Cancellation()
    request = Request(data, **arguments)
    request = replace(request, progress=cancellation.looked_at(request.progress))
    try:
        return await asyncio.to_thread(evaluated, request, cancellation)
    except asyncio.CancelledError:
        # Not in a thread of the loop's own pool: the runs may have them all.
        with ThreadPoolExecutor(1) as beside:
            await asyncio.get_running_loop().run_in_executor(beside, cancellation.cancel)
        raise


class Cancellation:
    """Ends a run, from another thread: its model calls at once, the rest where it reports."""

    def __init__(self) -> None:
        self._asking: Asking | None = None
        self._cancelled = False

    def watch(self, asking: "Asking") -> None:
        """Register the asker to be closed; closes it now if the run was cancelled already."""
        self._asking = asking
        if self._cancelled:
            asking.close()

    def looked_at(self, report: Report | None) -> Report:
        """Report as this does, and end a run that was cancelled."""

        def step(progress: Progress) -> None:
            if self._cancelled:
                raise CannotGoOn("The run was cancelled. The same call goes on with it.")
            if report is not None:
                report(progress)

        return step

    def cancel(self) -> None:
        """Stop all model calls, and the run."""
        self._cancelled = True
        if self._asking is not None:
            self._asking.close()


def evaluated(request: Request, cancellation: Cancellation | None = None) -> Run:
    """The body of ``evaluate``: resume the run in the folder, or start a new one."""
    _check_place_and_engine(request)
    prepared = prepare(request)
    temporary = request.out is None
    folder = _folder(request.out)
    existed = not temporary and folder.path.exists()
    with _kept_or_dropped(folder, temporary=temporary):
        held = folder.prepare(prepared.spec.settings)
        notes: list[str] = []
        if held is not None and held.finished:
            damaged = folder.damage()
            if not held.unheard and not damaged:
                folder.drop_parts()
                return Run(folder.path)
            folder.begin_again()
            notes = [reason("made_anew", fault=fault.text) for fault in damaged]
        with ExitStack() as closing:
            asking = batches = None
            try:
                batches = _batches(request, prepared, folder)
                if batches is not None:
                    closing.callback(batches.close)
                if prepared.chat.judges:
                    noting = None if batches is None else batches.noting
                    asking = closing.enter_context(
                        prepared.chat.asking(folder.path, request.limits, notes.append, noting)
                    )
                    if cancellation is not None:
                        cancellation.watch(asking)
                _carry_out(request, prepared, folder, held, asking, batches, notes)
            except (CannotGoOn, DamagedRun):
                raise
            except InputError:
                # A mistake in the request leaves nothing behind; replies that were paid for stay.
                paid = (asking and asking.counts().any_reply) or (batches and batches.sent)
                if held is None and not paid:
                    folder.drop(keep_folder=existed)
                raise
    run = Run(folder.path, temporary=temporary)
    log_run(run)
    return run


@contextmanager
def _kept_or_dropped(folder: Folder, *, temporary: bool) -> Iterator[None]:
    """Lock the folder, and delete a temporary one if the run fails.

    A folder that somebody deleted meanwhile is reported, whatever error it caused.
    """
    try:
        with room_for(folder.path), folder.locked():
            try:
                yield
            except (OSError, DamagedRun):
                folder.check_there()
                raise
    except BaseException:
        if temporary:
            folder.drop()
        raise


def _folder(out: str | Path | None) -> Folder:
    if isinstance(out, str) and is_url(out):
        return remote_folder(out)
    return Folder(Path(mkdtemp(prefix="ragstone-") if out is None else out))


def _carry_out(
    request: Request, prepared: Prepared, folder: Folder, held: Manifest | None,
    asking: "Asking | None", batches: "RunBatches | None", notes: list[str],
) -> None:  # fmt: skip
    started = time.perf_counter()
    spec = prepared.spec
    if asking is not None:
        judges = able_to_ask(spec.judges, asking, spec.asks, prepared.answers)
        spec = replace(spec, judges=judges)
    again = held is not None and held.finished
    if held is not None and again:
        spec, left_out = spec.also_scoring(held)
        if left_out:
            notes.append(reason("added_later", metrics="\n".join(left_out)))
    examples, label_files = prepared.examples, prepared.label_files
    evaluation = Evaluation(folder, folder.parts, spec, request.progress, examples)
    address = ray_address(request.engine)
    known = prepared.known
    if held is not None or address is not None:
        evaluation.read_ahead()
    if not again:
        evaluation.begin()
        write_known_input(evaluation.shards.path, examples, known)

    def judge() -> CutData:
        data = cut(examples, label_files, evaluation.shards)
        fraction = partial(_fraction, prepared)
        if address is None:
            evaluation.judge(data, fraction, asking=asking, debug=request.debug)
        else:
            evaluation.asking = asking
            from .ray_engine.engine import judge_on_cluster

            made_anew = held if again else None
            judge_on_cluster(address, request, prepared, evaluation, data, fraction, made_anew)
        return data

    if batches is None or asking is None:
        try:
            data = judge()
        except IdsOfSystems:
            examples.over_systems = True
            evaluation.start_over()
            write_known_input(evaluation.shards.path, examples, known)
            data = judge()
    else:
        if request.batch:
            _ask_in_batches(request, prepared, spec, folder, asking, batches)
        data = batches.read(judge)
    if known.files:
        check_unchanged(examples, known)
    if asking is not None:
        asking.close()  # What it notes then, such as replies that are not kept, is in the run.
    first: list[str] = []
    faults = data.faults()
    rejected = write_lines(folder.path / RunEntry.REJECTED, _noted(faults.rejected, first))
    write_lines(folder.path / RunEntry.VIOLATIONS, faults.violations)
    ties = write_lines(folder.path / RunEntry.TIES, map(as_line, label_files.ties()))
    described = {
        "source": examples.source, "format": examples.format, "fingerprint": known.fingerprint,
        "rejected": rejected, "rejected_for": first, "label_violations": dict(faults.rules),
        "label_ties": ties, "labels_of_nothing": label_files.unknown_ids[:MOST_NOTED],
    }  # fmt: skip
    notes += (*examples.notes, *label_files.notes)
    notes += prepared.chat.notes(request.instructions, request.limits)
    evaluation.finish(described, started, notes)
    if batches is not None:
        batches.finished()


def _noted(rejected: Iterator[str], first: list[str]) -> Iterator[str]:
    for text in rejected:
        lacking = MOST_NOTED - len(first)
        lines = text.split("\n", lacking)[:lacking]
        first += [json.loads(line)["faults"][0] for line in lines if line]
        yield text


def _batches(request: Request, prepared: Prepared, folder: Folder) -> "RunBatches | None":
    if not request.batch and not (folder.path / RunEntry.BATCHES).is_file():
        return None
    from .batches.batch_loop import RunBatches, check_batches
    from .calls.model_client import CallLimits

    rest = check_batches(prepared.chat.models, request.batch_rest, request.batch_wait)
    attempts = CallLimits.of(request.limits).attempts
    batches = RunBatches(folder.path, prepared.chat.models, rest, attempts)
    if not request.batch:
        try:
            batches.must_not_wait()
        except InputError:
            batches.close()
            raise
    return batches


def _ask_in_batches(
    request: Request, prepared: Prepared, spec: RunSpec, folder: Folder, asking: "Asking",
    batches: "RunBatches",
) -> None:  # fmt: skip
    from .batches.batch_asker import collect

    examples, label_files = prepared.examples, prepared.label_files
    report = request.progress

    def tick(done: int) -> None:
        if report:
            report(Progress("collecting", done, _fraction(prepared, done), asking.counts()))

    def collect_all() -> None:
        shards = cut(examples, label_files, folder.parts).shards()
        collect(shards, spec.judges, spec.asks, asking, tick)

    batches.until_answered(collect_all, asking, wait=request.batch_wait, report=report)


def _check_place_and_engine(request: Request) -> None:
    """Refuse batches that another call would not find, and what a cluster cannot do."""
    if request.batch and request.out is None:
        raise InputError(
            f"{argument('batch', True)} needs a folder in which the same call finds the run again: "
            f"{argument('out', 'FOLDER')}."
        )
    if request.batch and isinstance(request.out, str) and is_url(request.out):
        raise InputError(
            f"{argument('batch', True)} needs a folder on the disk, for what was sent is kept in "
            f"it: {argument('out', 'FOLDER')}. Copy the run to {request.out} when it is finished."
        )
    if ray_address(request.engine) is None:
        return
    alone = {
        "batch": request.batch,
        "debug": request.debug is not None,
        "bertscore": BertscoreOptions.parse(request.bertscore).idf,
    }
    used = [name for name, is_given in alone.items() if is_given]
    if used:
        names = " and ".join(argument(name, True) for name in used)
        raise InputError(f"{names} goes with {argument('engine', 'local')} alone.")


def _fraction(prepared: Prepared, done: int) -> float | None:
    if (counted := prepared.known.examples) is not None:
        return done / max(counted, 1)
    read, size = prepared.examples.progress() or (0, 0)
    return min(1.0, read / size) if size else None
