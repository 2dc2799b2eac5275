"""Sending: tells what is due, each channel in a thread of its own, and tries again later.

A channel that hangs keeps nobody waiting but itself. What is told is written down after it was
told: after a kill in between it is told twice, and never not at all.
"""

import time
from collections.abc import Callable
from threading import Lock, Thread

from ragstone.core.errors import InputError
from ragstone.core.escape import on_one_line
from ragstone.monitor.settings import (
    EmailChannel,
    FileChannel,
    MonitorSettings,
    StdoutChannel,
    TellSettings,
    WebhookChannel,
)
from ragstone.monitor.store.raised import raised_alarm
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.telling import (
    DONE,
    DUE,
    FAILED,
    Telling,
    channels_due,
    end_telling,
    take_telling,
)

from .email import tell_by_email
from .file import tell_file
from .message import AlarmMessage
from .not_told import NotTold
from .stdout import tell_stdout
from .webhook import tell_webhook

HELD = 120.0
"""Seconds for which who took a message has it; longer than any try takes."""

FIRST, LONGEST = 5.0, 3_600.0
"""Seconds until the second try, which double from try to try, and the most of them."""

MOST_TRIES = 80
"""About three days."""

Clock = Callable[[], float]

_sending: dict[tuple[str, str], Thread] = {}
_lock = Lock()


def tell_soon(
    store: MonitorStore,
    settings: MonitorSettings,
    *,
    from_server: bool = False,
    clock: Clock = time.time,
) -> None:
    """Begin to tell what is due, if anything is, and return at once.

    Args:
        store: Where it is queued.
        settings: With the channels.
        from_server: Whether this is the server, of whose output alone anybody sees something.
        clock: Seconds since the epoch.

    Raises:
        StoreAway: The store cannot be used at present.
    """
    channels = {
        one.name: one for one in settings.tells if from_server or not isinstance(one, StdoutChannel)
    }
    if not channels:
        return
    with store.database.reading() as run:
        due = [name for name in channels_due(run, clock()) if name in channels]
    with _lock:
        for name in due:
            key = (store.place, name)
            if key in _sending and _sending[key].is_alive():
                continue
            _sending[key] = Thread(
                target=_tell_all,
                args=(store, settings, channels[name], clock),
                name=f"tell {name}",
                daemon=True,
            )
            _sending[key].start()


def wait_until_told(store: MonitorStore, seconds: float) -> None:
    """Wait until what is being told is told or failed, for so many seconds at most."""
    with _lock:
        threads = [one for (place, _), one in _sending.items() if place == store.place]
    end = time.monotonic() + seconds
    for one in threads:
        one.join(max(0.0, end - time.monotonic()))


def tell_next(
    store: MonitorStore, settings: MonitorSettings, channel: TellSettings, now: float
) -> bool:
    """Tell the next message that a channel has to tell now; gives whether there was one.

    Raises:
        StoreAway: The store cannot be used at present.
    """
    with store.database.transaction() as run:
        one = take_telling(run, channel.name, now, now + HELD)
        alarm = None if one is None else raised_alarm(run, one.alarm)
    if one is None:
        return False
    state, at, error = DONE, now, ""
    if alarm is None:
        state, error = FAILED, "the alarm is not kept any more"
    else:
        try:
            _tell(channel, AlarmMessage(alarm, one.event, settings.url), now)
        except (NotTold, InputError) as failed:
            error = on_one_line(str(failed))[:500]
            state, at = _after(one, now)
    with store.database.transaction() as run:
        end_telling(run, one, state, at, error)
    return True


def _after(one: Telling, now: float) -> tuple[str, float]:
    """What becomes of a message that was not taken, and when it is tried again."""
    if one.tries >= MOST_TRIES:
        return FAILED, now
    return DUE, now + min(LONGEST, FIRST * 2 ** min(one.tries - 1, 20))


def _tell(channel: TellSettings, message: AlarmMessage, now: float) -> None:
    if isinstance(channel, WebhookChannel):
        tell_webhook(channel, message, now)
    elif isinstance(channel, EmailChannel):
        tell_by_email(channel, message, now)
    elif isinstance(channel, FileChannel):
        tell_file(channel, message)
    else:
        tell_stdout(message)


def _tell_all(
    store: MonitorStore, settings: MonitorSettings, channel: TellSettings, clock: Clock
) -> None:
    """Tell all that a channel has to tell now."""
    try:
        while tell_next(store, settings, channel, clock()):
            pass
    except InputError:
        # The store is away or closed. What is due stays so, and the next look begins again.
        return
