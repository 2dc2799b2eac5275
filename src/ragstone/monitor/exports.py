"""Exports: a window of production answers as a data set, and scores sent out as OTLP logs.

Each score is sent as an event ``gen_ai.evaluation.result`` with the ids of the span that gave the
answer, as the OpenTelemetry semantic conventions for generative AI define it. Attributes that the
conventions do not name begin with ``ragstone.``.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.core.errors import InputError, RagstoneError, needing
from ragstone.core.files import result_lines
from ragstone.core.messages import worded
from ragstone.monitor.store.stored_examples import ListedExample, stored_between

from .series.metric_over_time import MeanInWindow
from .settings.sections import WriteBackSettings, secret
from .settings.settings_table import LAST
from .store.rows import keep, remembered
from .store.scores import WRITTEN_BACK, ScoredAnswer, last_score, scored_after
from .store.store import MonitorStore

if TYPE_CHECKING:
    from opentelemetry.proto.logs.v1.logs_pb2 import LogsData


NAMES = (".jsonl", ".ndjson")


def export(store: MonitorStore, out: Path, *, since: float = 0.0, until: float = LAST) -> int:
    """Write the examples of a window to a file that ``ragstone.evaluate`` reads.

    Each has what it can be sliced by in ``slices``, its conversation in ``session``, and when and
    in which trace it was in ``meta``.

    Returns:
        How many were written.

    Raises:
        InputError: The file cannot be written, or the window ends before it begins.
    """
    if out.suffix not in NAMES:
        raise InputError(f"{out}: a window is written as JSON Lines. Name a file {out.stem}.jsonl.")
    if until <= since:
        raise InputError("The window ends before it begins: nothing can be in it.")
    n = 0
    with result_lines(out) as write:
        for example, facets in stored_between(store.database, since, until):
            write(json.dumps(exported_record(example, facets), ensure_ascii=False))
            n += 1
    return n


def exported_record(example: ListedExample, facets: Mapping[str, str]) -> dict[str, Any]:
    """Return an example as a record of a data set."""
    record = dict(example.record)
    record["id"] = example.id
    record["slices"] = {**facets, **(record.get("slices") or {})}
    origin = {
        "at": datetime.fromtimestamp(example.at, UTC).isoformat(),
        "trace": example.trace,
        "span": example.span,
    }
    record["meta"] = {**(record.get("meta") or {}), **origin}
    if example.session is not None:
        record["session"] = example.session
    return record


EVENT = "gen_ai.evaluation.result"
BATCH = 500
# Seconds for one request.
PATIENCE = 10.0

SCOPE = "ragstone.monitor"

# The window whose mean is sent beside each score.
HOURS = 24.0


class NotTaken(RagstoneError):
    """The receiver did not take a batch; it is sent again later."""


def begin_write_back(store: MonitorStore) -> None:
    """Write back what is scored from now on, where nothing was written back yet."""
    with store.database.transaction() as run:
        if remembered(run, WRITTEN_BACK) is None:
            keep(run, WRITTEN_BACK, last_score(run))


def write_back(
    store: MonitorStore,
    to: WriteBackSettings,
    means: Callable[[str], MeanInWindow | None] = lambda _: None,
    send: Callable[[WriteBackSettings, bytes], None] | None = None,
) -> int:
    """Send the scores that were not sent yet; returns how many were.

    A batch counts as sent once the receiver says so: after a kill it may be sent twice, and none is
    left out.
    """
    sent = 0
    while True:
        with store.database.reading() as run:
            rows = scored_after(run, int(remembered(run, WRITTEN_BACK, 0)), BATCH)
        if not rows:
            return sent
        (send or post)(to, logs_of(rows, means).SerializeToString())
        with store.database.transaction() as run:
            keep(run, WRITTEN_BACK, rows[-1].number)
        sent += len(rows)


def logs_of(
    scores: Iterable[ScoredAnswer], means: Callable[[str], MeanInWindow | None]
) -> "LogsData":
    """Return the scores as log records."""
    with needing("Writing scores back", "otlp"):
        from opentelemetry.proto.logs.v1.logs_pb2 import LogsData

    logs = LogsData()
    resource = logs.resource_logs.add()
    _attribute(resource.resource.attributes, "service.name", "ragstone")
    scope = resource.scope_logs.add()
    scope.scope.name = SCOPE
    mean_of = cache(means)
    for score in scores:
        _record(scope.log_records.add(), score, mean_of(score.metric))
    return logs


def _record(record: Any, score: ScoredAnswer, mean: MeanInWindow | None) -> None:
    record.time_unix_nano = record.observed_time_unix_nano = round(score.judged_at * 1e9)
    record.event_name = EVENT
    record.trace_id, record.span_id = _bytes(score.trace, 16), _bytes(score.span, 8)
    attributes: dict[str, str | float | int | None] = {
        "gen_ai.evaluation.name": score.metric,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.label,
        "gen_ai.evaluation.explanation": worded(score.reason) if score.reason else None,
        "error.type": "missing" if score.status == "missing" else None,
        "ragstone.example": score.example,
        "ragstone.status": score.status,
        "ragstone.evaluator.version": score.judge,
        "ragstone.source": score.source,
        "ragstone.probability": score.probability,
    }
    if mean is not None:
        attributes |= {
            "ragstone.window.mean": mean.value,
            "ragstone.window.low": mean.low,
            "ragstone.window.high": mean.high,
            "ragstone.window.n": mean.n,
            "ragstone.window.hours": HOURS,
        }
    for name, value in attributes.items():
        if value is not None:
            _attribute(record.attributes, name, value)


def _attribute(attributes: Any, name: str, value: str | float) -> None:
    attribute = attributes.add()
    attribute.key = name
    if isinstance(value, str):
        attribute.value.string_value = value
    elif isinstance(value, int):
        attribute.value.int_value = value
    else:
        attribute.value.double_value = value


def _bytes(id: str, size: int) -> bytes:
    try:
        code = bytes.fromhex(id)
    except ValueError:
        return b""
    return code if len(code) == size else b""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Scores go where the user said, and nowhere else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def post(to: WriteBackSettings, body: bytes) -> None:
    """Send a body by HTTP. What is raised has no header's value in it."""
    headers = {name: secret(variable) for name, variable in to.headers_from.items()}
    headers["content-type"] = "application/x-protobuf"
    try:
        request = urllib.request.Request(to.url, body, headers, method="POST")
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=PATIENCE) as answer:
            answer.read(65_536)
    except urllib.error.HTTPError as error:
        with error:
            raise NotTaken(f"the receiver answered with status {error.code}") from None
    except (OSError, HTTPException, ValueError) as error:
        raise NotTaken(f"the receiver cannot be reached ({type(error).__name__})") from None
