"""Monitor server: the intake and screens on a single port, and the worker as a child process.

The server and the worker write to the same store and meet nowhere else. Whatever happens to the
worker, the server takes what comes, and what it acknowledged is folded and judged once a worker
runs again.

A trace comes from a program, which has neither the secret of the pages nor a cookie, so the
intake asks for a token of its own in a header, which opens no page. The intake checks host names as
the pages do.
"""

import logging
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from socket import socket
from tempfile import TemporaryFile
from threading import Event, Lock, Thread, current_thread, main_thread
from time import monotonic
from typing import IO

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ragstone.core.database import POSTGRES
from ragstone.core.errors import InputError, RagstoneError, each, raised_in
from ragstone.core.messages import argument
from ragstone.monitor.alarms.watch import watch_worker
from ragstone.monitor.intake.intake_app import HEALTH, PATHS, READY
from ragstone.monitor.intake.send_tokens import SendTokens
from ragstone.monitor.settings import DEFAULTS, MonitorSettings, read_settings
from ragstone.monitor.settings.monitor_settings import check_start
from ragstone.monitor.settings.sections import check_rate
from ragstone.monitor.store.rows import Level
from ragstone.monitor.store.store import MonitorStore, check_place, open_store
from ragstone.monitor.worker import worker_command

from .entry_points import lean
from .security import Access, Served, ServerAddress, listen


def monitor_app(intake: ASGIApp, screens: ASGIApp, access: Access) -> ASGIApp:
    """Return the app that gives each request to whom it is for."""
    refused = PlainTextResponse(
        "This server does not answer to that name. Send to the address that it printed.\n", 421
    )

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        app = screens
        if scope["type"] == "http" and (path in PATHS or path.startswith("/v1/")):
            host = Headers(scope=scope).get("host", "").lower()
            # Who asks whether it is alive, such as Kubernetes, calls it by an address of its own.
            app = intake if host in access.hosts or path in (HEALTH, READY) else refused
        await app(scope, receive, send)

    return answer


# Writes a line some time. Whoever logs must not wait for the store: it may be what is broken.
Say = Callable[[Level, str], None]

# The loggers whose words are kept.
NAMES = ("ragstone", "uvicorn.error")


class StoreLog(logging.Handler):
    """Writes warnings and errors to the log of a store; neither fails nor waits."""

    def __init__(self, say: Say) -> None:
        super().__init__(logging.WARNING)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; of an error its kind and its place, for its words may be a trace's."""
        level: Level = "error" if record.levelno >= logging.ERROR else "warning"
        text = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            text = f"{text}: {record.exc_info[0].__name__}{raised_in(record.exc_info[2])}"
        self._say(level, text)


@contextmanager
def logged_to(say: Say) -> Iterator[None]:
    """Keep what is logged meanwhile in the store, and off the terminal."""
    handler = StoreLog(say)
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagated in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagated


# Seconds until it is started again: after the first death, and at most.
FIRST, LONGEST = 1.0, 60.0

# Seconds that it has to live for the next death to count as the first.
STEADY = 120.0

# Seconds that it has to end, once it is asked to.
PATIENCE = 9.0

# Characters of what it wrote last that are told.
LAST_WORDS = 1_500


class WorkerProcess:
    """A child process that is kept running.

    ``died`` is told how it ended if nobody asked for that, the seconds until it is started again,
    and what it wrote last.
    """

    def __init__(
        self,
        command: Sequence[str],
        died: Callable[[str, float, str], object],
        *,
        first: float = FIRST,
    ) -> None:
        self._command, self._died, self._first = command, died, first
        self._ending = Event()
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Start it."""
        self._thread.start()

    @property
    def pid(self) -> int | None:
        """The id of the process that runs; None between two."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def stop(self, patience: float = PATIENCE) -> None:
        """Ask it to end, and end it where it does not; it is not started again."""
        with self._lock:
            self._ending.set()
            process = self._process
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                process.kill()
        self._thread.join(1)

    def _keep(self) -> None:
        wait = self._first
        while not self._ending.is_set():
            began = monotonic()
            with TemporaryFile() as words:
                process = self._started(words)
                if process is None:
                    return
                code = process.wait()
                if process.stdin is not None:
                    process.stdin.close()
                last_words = _end_of(words)
            if self._ending.is_set():
                return
            if monotonic() - began > STEADY:
                wait = self._first
            self._died(_how(code), wait, last_words)
            self._ending.wait(wait)
            wait = min(2 * wait, LONGEST)

    def _started(self, words: IO[bytes]) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._ending.is_set():
                return None
            # In a group of its own: Ctrl+C in a terminal ends the server, which ends it in turn.
            # Its input is a pipe of ours, which closes however we end.
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=words, stderr=words, process_group=0
            )
            return self._process


def _how(code: int) -> str:
    """Return how a process ended, in words.

    >>> _how(-9), _how(1)
    ('it was ended by SIGKILL', 'it ended with status 1')
    """
    if code < 0:
        try:
            return f"it was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"it was ended by signal {-code}"
    return f"it ended with status {code}"


def _end_of(words: IO[bytes]) -> str:
    size = words.seek(0, 2)
    words.seek(max(0, size - LAST_WORDS))
    return words.read().decode("utf-8", "replace").strip()


PORT = 8431
HERE = ServerAddress(PORT)
START = "/monitor"


def serve_monitor(
    store: str = "monitor",
    *,
    at: ServerAddress = HERE,
    send_token: str = "",
    send_tokens: Path | None = None,
    rules: Path | None = None,
    judge: Sequence[str] = (),
    sample: float | None = None,
    tail: Sequence[Path] = (),
    told: Callable[[Served], None] = print,
) -> None:
    """Take traces, judge a sample of them and show what came, until the process is stopped.

    Args:
        store: Where everything is kept: a folder, or an address ``postgresql://…``.
        at: Where it listens, and what it asks of visitors.
        send_token: What apps have to show. If others can come and this and the next are left out,
            one is made; on this machine alone nothing is asked for.
        send_tokens: A file with the hash of a token for each app.
        rules: The file with all settings.
        judge: Who judges, in place of what the file says.
        sample: The probability with which every answer is drawn, in place of what the file says.
        tail: Files of JSON lines that are followed besides.
        told: Called as soon as the port is taken.

    Raises:
        InputError: The settings have faults or name what is not there, such as an environment
            variable that is not set; the store cannot be used, or the port is taken. Says all
            that is wrong, and nothing was made.
    """
    if not (at.is_alone or send_token or send_tokens):
        send_token = token_urlsafe(18)
    settings, (port, served, access) = _checked(
        store, rules, judge, sample, tail, send_tokens, lambda: listen(at, START, send_token)
    )
    senders = SendTokens(send_token, send_tokens)
    try:
        opened = open_store(store, writes=True)
    except RagstoneError:
        port.close()
        raise
    told(served)
    lean()
    # Only now, for it takes most of a second: who comes earlier waits on the socket.
    from ragstone.monitor.intake.group_commit import IntakeSettings
    from ragstone.monitor.intake.intake_app import IntakeApp

    from .runs_folder import MonitorScreens, RunsFolder, prepare_soon
    from .server import serve
    from .web_app import make_app

    intake = IntakeApp(
        opened,
        IntakeSettings(
            senders=senders,
            # On this machine anybody may see figures, for a scraper cannot know a token made today.
            owner="" if at.is_alone and not at.token else access.token,
            slow=access.tries.slow,
            redaction=settings.redaction.open(),
            tails=(*settings.tail, *tail),
        ),
    )
    folder = RunsFolder(
        opened.folder,
        store if store.startswith(POSTGRES) else "",
        MonitorScreens(
            opened, settings, takes=True, token=senders.shown, waiting=lambda: intake.room.requests
        ),
    )
    command = worker_command(store, rules=rules, judges=judge, rate=sample)
    worker = WorkerProcess(command, partial(_died, opened))
    with logged_to(intake.writer.say):
        _say(opened, "info", f"ragstone monitor serve began at {served.others}.")
        prepare_soon(folder)
        worker.start()
        stop_watching = watch_worker(opened, settings)
        if current_thread() is main_thread():
            # The server raises the signal again when it has ended, for whoever waits for it here.
            signal.signal(signal.SIGTERM, lambda *_: None)
        app = monitor_app(intake, make_app(folder, access), access)
        serve(app, port, at.tls)
        # What was acknowledged is on disk before the worker folds it for the last time.
        intake.close()
        stop_watching()
        worker.stop()
        _say(opened, "info", "ragstone monitor serve ended.")
    opened.close()


Port = tuple[socket, Served, Access]


def _checked(
    store: str,
    rules: Path | None,
    judge: Sequence[str],
    sample: float | None,
    tail: Sequence[Path],
    send_tokens: Path | None,
    listens: Callable[[], Port],
) -> tuple[MonitorSettings, Port]:
    """Return the settings, and the port; nothing is made before all of it is right."""
    read, ports = list[MonitorSettings](), list[Port]()
    given = partial(MonitorSettings.with_options, judges=tuple(judge), rate=sample)
    checks: list[Callable[[], object]] = [
        lambda: read.append(DEFAULTS if rules is None else read_settings(rules)),
        lambda: check_start(given((read or [DEFAULTS])[0])),
        lambda: None if sample is None else check_rate(sample),
        *(partial(_check_tail, file) for file in tail),
        lambda: check_place(store, writes=True),
        lambda: SendTokens(file=send_tokens),
        lambda: ports.append(listens()),
    ]
    try:
        each(checks)
    except InputError:
        for port, *_ in ports:
            port.close()
        raise
    return given(read[0]), ports[0]


def _check_tail(file: Path) -> None:
    if file.is_dir():
        raise InputError(
            f"{argument('tail', file)} is a folder: name a file in it, which need not be there yet."
        )


def _died(store: MonitorStore, how: str, wait: float, last_words: str) -> None:
    words = f" It wrote: {last_words}" if last_words else ""
    _say(store, "error", f"The worker died: {how}. It is started again in {wait:g} s.{words}")


def _say(store: MonitorStore, level: Level, text: str) -> None:
    # Where the store is away there is no log either, and nothing of it may stop the intake.
    with suppress(RagstoneError):
        store.log(time.time(), level, text)
