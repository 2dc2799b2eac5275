"""Monitor doctor: why no traces arrive or nothing is judged, and the monitor's status in words."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from http.client import HTTPException
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import typer

from ragstone.core.errors import RagstoneError

from .output import print_json, say

if TYPE_CHECKING:
    from ragstone.monitor import MonitorStatus


LENGTHS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"))


def standing(status: "MonitorStatus", now: float) -> Iterator[tuple[str, str]]:
    """Each fact with its name; ``now`` is in seconds since the epoch."""
    came = f"{status.received:,} came, {status.kept:,} kept, {status.malformed:,} malformed"
    of_answers = f"{status.assessed:,} checked, {status.judged:,} judged"
    yield "last 24 hours", f"{came}; {status.answers:,} answers, {of_answers}"
    if status.shed or status.set_aside:
        yield "given up", f"{status.shed:,} waited too long, {status.set_aside:,} failed every time"
    yield "last hour", f"{status.judged_last_hour:,} judged, {status.due_last_hour:,} came due"
    waiting = (
        f"{status.waiting_to_fold:,} parts to put together, {status.waiting_to_assess:,} answers "
        f"to check, {status.waiting_to_be_judged:,} to judge"
    )
    yield "waiting", waiting + (f"; the first for {length(status.lag)}" if status.lag else "")
    yield "worker", _worker(status, now)
    yield "last trace", _last_trace(status, now)
    content = status.content
    if content and (content["ids_only"] or content["none"]):
        some = f"{content['there']:.0%} of traces have texts, {content['ids_only']:.0%} only ids of"
        yield "content", f"{some} passages, {content['none']:.0%} none"
    if status.set_variable:
        yield "", f"Set {status.set_variable} where the answers come from."
    for name, n in status.answers_together.items():
        words = f"{name} takes answers as independent, but {n:.1f} of each conversation are judged"
        then = 'Write of = "sessions" in the rule.'
        yield "rule", f"{words}, so false alarms may come more often than promised. {then}"
    yield "alarms", f"{status.alarms:,} firing" if status.alarms else "none firing"


def length(seconds: float) -> str:
    """A length of time in its largest unit.

    >>> length(42.4), length(7_300), length(90), length(0.03), length(0)
    ('42 s', '2 h', '1.5 min', '30 ms', '0 s')
    """
    for seconds_each, unit in (*LENGTHS, (1.0, "s")):
        if seconds >= seconds_each:
            places = 0 if unit == "s" else 1
            return f"{seconds / seconds_each:.{places}f}".removesuffix(".0") + f" {unit}"
    return f"{1_000 * seconds:.0f} ms" if seconds > 0 else "0 s"


def _worker(status: "MonitorStatus", now: float) -> str:
    if status.worker_at is None:
        return "never ran; ragstone monitor serve starts it"
    return f"{status.worker}, last seen {length(now - status.worker_at)} ago"


def _last_trace(status: "MonitorStatus", now: float) -> str:
    if status.last_trace_at is None:
        return "none yet"
    usual = "" if status.usual_gap is None else f"; usually one every {length(status.usual_gap)}"
    return f"{length(now - status.last_trace_at)} ago{usual}"


ADDRESS = "http://127.0.0.1:8431"
# Seconds that an answer of the server is waited for.
PATIENCE = 5.0

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
STABILITY = "OTEL_SEMCONV_STABILITY_OPT_IN"
SENT = ("SPAN_AND_EVENT", "SPAN_ONLY", "EVENT_ONLY")

# The extra that reads traces, as it is installed.
OTLP = "'ragstone[otlp]'"

MOSTLY = 0.5

# Seconds that a part or an answer may wait for the worker; it takes some ten.
LATE = 60.0


class Finding(NamedTuple):
    """A thing that was looked at, with its state and the next step, if there is one."""

    what: str
    state: Literal["right", "look", "wrong"]
    words: str
    then: str = ""


def _right(what: str, words: str) -> Finding:
    return Finding(what, "right", words)


def _look(what: str, words: str, then: str) -> Finding:
    return Finding(what, "look", words, then)


def _wrong(what: str, words: str, then: str) -> Finding:
    return Finding(what, "wrong", words, then)


def doctor(
    *,
    store: str = "monitor",
    url: str = ADDRESS,
    send_token: Annotated[str, {"envvar": "RAGSTONE_SEND_TOKEN", "show_envvar": False}] = "",
    json: bool = False,
) -> None:
    """Say why nothing comes or nothing is judged, each with the next step.

    Looks at what is installed, at the server, to which it sends an empty trace that nobody keeps,
    at the variables of this environment that say whether texts are sent, and at the last day of the
    store.

    Exit status: 0 all is right, 1 something is to be done.

    Args:
        store (STORE): Where everything is kept: a folder, or an address postgresql://…
        url (URL): Address of the monitor's server.
        send_token (TOKEN): What apps send with, if the server asks for it; it can be in
            RAGSTONE_SEND_TOKEN.
    """
    address = url.partition("?")[0].rstrip("/").removesuffix("/monitor")
    server, may_be = _at(address)
    findings = [*_installed(), server]
    if server.state == "right":
        findings.append(_takes(address, send_token))
    findings += [*environment(os.environ, address if may_be else None), *_last_day(store)]
    if json:
        print_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            mark = {"right": "ok  ", "look": "look", "wrong": "DO  "}[finding.state]
            say(f"{mark} {finding.what}: {finding.words}")
            if finding.then:
                say(f"       {finding.then}")
    raise typer.Exit(int(any(finding.state == "wrong" for finding in findings)))


def _installed() -> Iterator[Finding]:
    if reads_otlp():
        yield _right("installed", "all that the monitor needs")
    else:
        yield _wrong("installed", "traces in OTLP cannot be read", f"pip install {OTLP}")


def reads_otlp() -> bool:
    """Tell whether the extra ``otlp`` is installed."""
    try:
        return find_spec("opentelemetry.proto") is not None
    except ModuleNotFoundError:
        return False


def _at(address: str) -> tuple[Finding, bool]:
    if not _is_address(address):
        return _wrong("server", f"{address} is no address", f"write {ADDRESS}"), False
    status, words = asked(f"{address}/ready")
    if status == 200:
        return _right("server", f"{address} is ready"), True
    if status == 0:
        words = f"nothing answers at {address} ({words})"
        then = "ragstone monitor serve starts it; --url names another address"
    elif status == 503:
        words = f"{address} answers that it cannot take anything now: {words}"
        then = "see the page Log, and whether the disk is full"
    else:
        words = f"{address} is not the server of a monitor (it answered {status})"
        then = "ragstone monitor serve prints its address"
    return _wrong("server", words, then), status in (0, 503)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return right and text.isascii() and text.isprintable() and " " not in text


def _takes(address: str, token: str) -> Finding:
    headers = {"content-type": "application/json"}
    headers |= {"authorization": f"Bearer {token}"} if token else {}
    status, words = asked(f"{address}/v1/traces", b'{"resourceSpans": []}', headers)
    if status == 200:
        return _right("traces", "an empty one was taken, and nothing kept of it")
    if status == 401:
        then = (
            'senders need OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20TOKEN", with the '
            "token of the app; give it here as --send-token"
        )
        return _wrong("traces", "refused: the token is missing or wrong", then)
    return _wrong("traces", f"refused with {status}: {words[:200]}", "see the page Log")


def asked(
    address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """The status and the words of an answer; 0 and why where none came."""
    try:
        with urlopen(Request(address, body, dict(headers or {})), timeout=PATIENCE) as answer:
            return int(answer.status), answer.read(2_000).decode("utf-8", "replace")
    except HTTPError as error:
        return error.code, error.read(2_000).decode("utf-8", "replace")
    except (HTTPException, OSError, ValueError) as error:
        return 0, str(getattr(error, "reason", error))


def environment(variables: Mapping[str, str], address: str | None) -> Iterator[Finding]:
    """Say what the variables of an environment do to traces that would be sent from it."""
    endpoint = variables.get(ENDPOINT, "")
    if not endpoint:
        then = (
            f"where the app runs, set it to the address that ragstone monitor serve prints, "
            f"such as {ADDRESS}"
            if address is None
            else f"where the app runs: export {ENDPOINT}={address}"
        )
        yield _look("endpoint", f"{ENDPOINT} is not set in this environment", then)
    elif address is None:
        then = "name its server with --url to see whether a monitor is there"
        yield _look("endpoint", f"{ENDPOINT} is {endpoint}", then)
    elif endpoint.rstrip("/") != address:
        then = "right if a collector stands in between; otherwise set it"
        yield _look("endpoint", f"{ENDPOINT} is {endpoint}, and not {address}", then)
    else:
        yield _right("endpoint", f"{ENDPOINT} leads to the server")
    if endpoint and variables.get(PROTOCOL, "") == "grpc":
        words = f"{PROTOCOL} is grpc, which the monitor does not speak"
        yield _wrong("protocol", words, f"export {PROTOCOL}=http/protobuf")
    yield _content(variables.get(CONTENT, "").strip())
    opted = variables.get(STABILITY, "")
    if variables.get(CONTENT, "").strip().upper() in SENT and "gen_ai_latest" not in opted:
        yield _look(
            "conventions",
            f"{STABILITY} does not opt into the newest conventions",
            f"OpenTelemetry's own instrumentations send no texts without "
            f"export {STABILITY}=gen_ai_latest_experimental; others do not ask for it",
        )


def _content(value: str) -> Finding:
    then = f"where the app runs: export {CONTENT}=SPAN_AND_EVENT"
    if value.upper() in SENT:
        return _right("texts", f"{CONTENT} is {value}: texts are sent")
    if not value:
        words = f"{CONTENT} is not set here: most instrumentations send no texts"
        return _look("texts", words, then)
    if value.lower() in ("true", "1"):
        return _wrong("texts", f"{CONTENT} is {value}, the old value, which means none now", then)
    return _wrong("texts", f"{CONTENT} is {value}: no texts are sent", then)


def _last_day(store: str) -> Iterator[Finding]:
    from ragstone.monitor import open_store
    from ragstone.monitor.duties.worker_status import monitor_status

    now = time.time()
    try:
        with closing(open_store(store, make=False)) as opened, opened.database.reading() as run:
            status = monitor_status(run, now)
    except RagstoneError as error:
        yield _wrong("store", error.text.splitlines()[0], "--store names another")
        return
    yield from said_of(status, now)


def said_of(status: "MonitorStatus", now: float) -> Iterator[Finding]:
    """Say what came in the last day, and what became of it."""
    if status.last_trace_at is None:
        then = "the first screen says how to send the first trace"
        yield _wrong("traffic", "nothing ever came", then)
        return
    last = f"the last {length(now - status.last_trace_at)} ago"
    if status.received:
        words = f"{status.received:,} came in 24 hours, {last}; {status.answers:,} answers"
        yield _right("traffic", words)
    else:
        then = "see whether the app runs, and where its exporter sends to"
        yield _wrong("traffic", f"nothing came in 24 hours, {last}", then)
    if status.received and not status.answers and not status.waiting_to_fold:
        then = "its spans have neither questions nor answers; docs/trace-attributes.md says which "
        yield _wrong("answers", "no answer was found in what came", f"{then}are read")
    if status.malformed:
        words = f"{status.malformed:,} could not be read"
        yield _look("malformed", words, "the page Malformed shows why")
    if status.content:
        with_texts = status.content.get("there", 0.0)
        ids = status.content.get("ids_only", 0.0)
        words = f"{with_texts:.0%} of traces came with their texts"
        if status.set_variable:
            yield _wrong("content", words, f"set {status.set_variable}")
        elif ids >= MOSTLY:
            words = f"{ids:.0%} of traces name their passages by ids alone"
            then = 'name a file of passages in the file of rules: [corpus] file = "passages.jsonl"'
            yield _wrong("content", words, then)
        elif with_texts < 1:
            then = "docs/trace-attributes.md says where answers are looked for"
            yield _look("content", words, then)
        else:
            yield _right("content", words)
    if status.worker == "alive":
        yield _right("worker", "it is alive")
    elif status.worker == "silent":
        then = "a machine that is busy may hold it up; the page Log says if it died"
        yield _look("worker", "it is silent: no sign of life for a minute", then)
    else:
        dead = "it is dead: no sign of life for five minutes"
        then = "ragstone monitor serve starts it; the page Log says why it ended"
        yield _wrong("worker", "it has not begun" if status.worker == "not_begun" else dead, then)
    yield _waiting(status)
    yield _judging(status)


def _waiting(status: "MonitorStatus") -> Finding:
    if status.lag < LATE:
        return _right("waiting", "what came is put together and checked")
    words = (
        f"{status.waiting_to_fold:,} parts to put together and {status.waiting_to_assess:,} "
        f"answers to check; the first for {length(status.lag)}"
    )
    then = "see whether the disk is full, and what the page Log says of the worker"
    return _wrong("waiting", words, then)


def _judging(status: "MonitorStatus") -> Finding:
    judged, due = status.judged_last_hour, status.due_last_hour
    words = f"{judged:,} judged of {due:,} that came due in the last hour"
    if status.waiting_to_be_judged:
        words += f"; {status.waiting_to_be_judged:,} wait"
    if not judged and (due or status.waiting_to_be_judged):
        return _wrong("judging", words, "the page Log says what keeps the judge")
    if not due and status.lag >= LATE:
        return _look("judging", words, "nothing comes due before it is put together and checked")
    return _right("judging", words)
