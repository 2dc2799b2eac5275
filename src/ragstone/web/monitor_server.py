"""Monitor server: intake and screens in one process, the worker in a child of it.

Both write to one store and meet nowhere else, so that whatever happens to the worker, what comes is
taken; and what was acknowledged is folded and judged once a worker runs again.
"""

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Timer, current_thread, main_thread
from typing import TYPE_CHECKING

from ragstone.core.database import POSTGRES
from ragstone.core.errors import InputError, RagstoneError, each
from ragstone.core.messages import argument
from ragstone.monitor.alarms.alive import AliveWatch
from ragstone.monitor.settings import DEFAULTS, MonitorSettings, read_settings
from ragstone.monitor.settings.judging import check_rate
from ragstone.monitor.settings.starting import check_start
from ragstone.monitor.store.log import Level, log
from ragstone.monitor.store.store import MonitorStore, check_place, open_store
from ragstone.monitor.worker import worker_command

from .extra import require_ui
from .listening import Listening, Served, listen
from .serving import lean
from .store_log import logged_to
from .worker_process import Death, WorkerProcess

if TYPE_CHECKING:
    import uvicorn

PORT = 8431
START = "/monitor"

GRACE = 3
"""Seconds that requests have to end once the server is asked to."""


def serve_monitor(
    store: str = "monitor",
    *,
    port: int = PORT,
    host: str = "127.0.0.1",
    token: str = "",
    rules: Path | None = None,
    judge: Sequence[str] = (),
    sample: float | None = None,
    tail: Sequence[Path] = (),
    told: Callable[[Served], None] = print,
) -> None:
    """Take traces, judge a sample of them and show what came, until the process is stopped.

    Args:
        store: Where everything is kept: a folder, or an address ``postgresql://…``.
        port: 0 takes a free one.
        host: An address other than this machine's own needs a token.
        token: What senders and visitors have to show; empty: one is made where it is needed.
        rules: The file with all settings.
        judge: Who judges, in place of what the file says.
        sample: The probability with which every answer is drawn, in place of what the file says.
        tail: Files of JSON lines that are followed besides.
        told: Called as soon as the port is taken.

    Raises:
        InputError: The settings have faults or name what is not there, such as an environment
            variable that is not set; the store cannot be used, or the port is taken. Says all
            that is wrong, and nothing was made.
        MissingDependency: The extra ``ui`` is not installed.
    """
    require_ui("The monitor")
    settings, listening = _checked(
        store,
        rules,
        judge,
        sample,
        tail,
        lambda: listen(host, port, start=START, token=token or None),
    )
    try:
        opened = open_store(store, writes=True)
    except RagstoneError:
        listening.taken.close()
        raise
    told(listening.served)
    lean()
    # Only now, for it takes most of a second: who comes earlier waits on the socket.
    import uvicorn

    from ragstone.monitor.intake.app import make_intake
    from ragstone.monitor.intake.connections import BoundedConnection
    from ragstone.monitor.intake.settings import IntakeSettings

    from .app import make_app
    from .monitor_app import MonitorApp
    from .runs_folder import RunsFolder
    from .watching import Watching

    access = listening.access()
    intake = make_intake(
        opened,
        IntakeSettings(
            token=access.token, redaction=settings.redaction.open(), tails=(*settings.tail, *tail)
        ),
    )
    place = RunsFolder(
        opened.folder,
        store if store.startswith(POSTGRES) else "",
        Watching(
            opened,
            settings,
            takes=True,
            token=access.token,
            waiting=lambda: intake.figures.waiting,
        ),
    )
    command = worker_command(store, rules=rules, judges=judge, rate=sample)
    worker = WorkerProcess(command, lambda one: _died(opened, one))
    alive = AliveWatch(opened, settings)
    with logged_to(intake.writer.say):
        _say(opened, "info", f"ragstone monitor serve began at {listening.served.others}.")
        Timer(1, place.prepare).start()
        worker.start()
        alive.start()
        config = uvicorn.Config(
            MonitorApp(intake, make_app(place, access), access),
            # Otherwise it sets up the whole process's log, for which it closes what is there.
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            http=BoundedConnection,
            timeout_graceful_shutdown=GRACE,
        )
        with suppress(KeyboardInterrupt):
            _run(uvicorn.Server(config), listening.taken)
        # What was acknowledged is on disk before the worker folds it for the last time.
        intake.close()
        alive.stop()
        worker.stop()
        _say(opened, "info", "ragstone monitor serve ended.")
    opened.close()


def _checked(
    store: str,
    rules: Path | None,
    judge: Sequence[str],
    sample: float | None,
    tail: Sequence[Path],
    listens: Callable[[], Listening],
) -> tuple[MonitorSettings, Listening]:
    """The settings, and the port; nothing is made before all of it is right.

    Raises:
        InputError: Something is wrong; says all of it.
    """
    read, taken = list[MonitorSettings](), list[Listening]()
    checks: list[Callable[[], object]] = [
        lambda: read.append(DEFAULTS if rules is None else read_settings(rules)),
        lambda: check_start(_given((read or [DEFAULTS])[0], judge, sample)),
        lambda: None if sample is None else check_rate(sample),
        *(partial(_check_tail, one) for one in tail),
        lambda: check_place(store, writes=True),
        lambda: taken.append(listens()),
    ]
    try:
        each(checks)
    except InputError:
        for one in taken:
            one.taken.close()
        raise
    return _given(read[0], judge, sample), taken[0]


def _given(found: MonitorSettings, judge: Sequence[str], sample: float | None) -> MonitorSettings:
    return found.with_options(judges=tuple(judge), rate=sample)


def _check_tail(file: Path) -> None:
    if file.is_dir():
        raise InputError(
            f"{argument('tail', file)} is a folder: name a file in it, which need not be there yet."
        )


def _run(server: "uvicorn.Server", taken: object) -> None:
    """Serve until a signal comes; the process goes on behind it, to end in order."""
    if current_thread() is main_thread():
        # The server raises the signal again when it has ended, for whoever waits for it here.
        signal.signal(signal.SIGTERM, lambda *_: None)
    server.run(sockets=[taken])  # type: ignore[list-item]


def _died(store: MonitorStore, death: Death) -> None:
    again = f"It is started again in {death.wait:g} s."
    words = f" It wrote: {death.last_words}" if death.last_words else ""
    _say(store, "error", f"The worker died: {death.how}. {again}{words}")


def _say(store: MonitorStore, level: Level, text: str) -> None:
    # Where the store is away there is no log either, and nothing of it may stop the intake.
    with suppress(RagstoneError), store.database.transaction() as run:
        log(run, time.time(), level, text)
