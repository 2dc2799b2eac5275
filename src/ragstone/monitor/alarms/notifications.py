"""Notifications: messages about alarms, queued and sent by webhook, email, file or stdout.

Delivery is at least once: a message is recorded as delivered only afterwards, so a kill in
between repeats it and never loses it. Each channel has its own thread, so a channel that hangs
holds up no other. The end of an alarm is announced only after a while, so that an alarm that
flaps is announced once.

Webhooks are signed with HMAC-SHA256 in hexadecimal over ``t.BODY``, where t is the time in the
header. A receiver that checks both accepts no forged body, and no old body a second time.
"""

import asyncio
import hashlib
import hmac
import json
import os
import smtplib
import ssl
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from threading import Lock, Thread
from typing import Any, TextIO

import aiohttp

from ragstone.core.database import Sql
from ragstone.core.errors import InputError
from ragstone.core.escape import single_line
from ragstone.monitor.settings import (
    EmailChannel,
    FileChannel,
    MonitorSettings,
    NotificationSettings,
    StdoutChannel,
    WebhookChannel,
)
from ragstone.monitor.settings.sections import secret
from ragstone.monitor.store import stored_alarms
from ragstone.monitor.store.store import MonitorStore

from .lifecycle import alarm_sentence, over_sentence


class UndeliveredNotification(Exception):
    """Says why in a few words, with no secret in them."""


FIRED, RESOLVED = "fired", "resolved"

# Seconds after which nobody is notified any more that an alarm is over.
LATE = 7 * 86_400.0


def queue_due_notifications(run: Sql, settings: MonitorSettings, now: float) -> None:
    """Queue what is due, within a transaction; what is queued already stays as it is."""
    channels = [channel.name for channel in settings.tells]
    if not channels:
        return
    silenced = stored_alarms.silenced_until(run, now)
    firing = [alarm for alarm in stored_alarms.firing_alarms(run) if alarm.rule not in silenced]
    over = [
        alarm
        for alarm in stored_alarms.resolved_after(run, now - LATE)
        if alarm.rule not in silenced
        and (alarm.facts.get("over") == "by_hand" or alarm.over_for(now) >= settings.debounce)
    ]
    queued_before = stored_alarms.queued(run, [alarm.number for alarm in (*firing, *over)])
    fired = [(alarm.number, channel, FIRED) for alarm in firing for channel in channels]
    # Whoever was not notified that it fired is not notified that it is over.
    resolved = [
        (alarm.number, channel, RESOLVED)
        for alarm in over
        for channel in channels
        if (alarm.number, channel, FIRED) in queued_before
    ]
    new = [item for item in (*fired, *resolved) if item not in queued_before]
    if new:
        stored_alarms.queue_notifications(run, now, new)


@dataclass(frozen=True, slots=True)
class NotificationText:
    """The text that a channel sends.

    Attributes:
        base: The address of the app, without a slash at its end; empty: links are relative.
    """

    alarm: stored_alarms.RaisedAlarm
    event: str
    base: str = ""

    @property
    def id(self) -> str:
        """The same for each try of the same message, so that a receiver knows that it has it."""
        return f"{self.alarm.number}-{self.event}"

    @property
    def text(self) -> str:
        """A sentence or several, on one line."""
        sentence = (
            over_sentence(self.alarm) if self.event == RESOLVED else alarm_sentence(self.alarm)
        )
        return single_line(sentence)

    @property
    def subject(self) -> str:
        """A few words, on one line."""
        state = "over" if self.event == RESOLVED else "alarm"
        where = f" ({self.alarm.slice})" if self.alarm.slice else ""
        return single_line(f"Ragstone {state}: {self.alarm.rule}{where}")[:150]

    @property
    def links(self) -> dict[str, str]:
        """Return the addresses of the alarm, its answers and a queue for people."""
        number = self.alarm.number
        return {
            "alarm": f"{self.base}/monitor/alarms/{number}",
            "answers": f"{self.base}/monitor/examples?alarm={number}",
            "annotate": f"{self.base}/monitor/annotate?alarm={number}",
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON. Times are seconds since the epoch."""
        alarm = self.alarm
        return {
            "id": self.id, "event": self.event, "alarm": alarm.number, "rule": alarm.rule,
            "slice": alarm.slice, "kind": alarm.kind, "text": self.text, "since": alarm.since,
            "fired_at": alarm.fired_at,
            "resolved_at": alarm.resolved_at if self.event == RESOLVED else None,
            "facts": alarm.facts, "links": self.links,
        }  # fmt: skip


def notify_stdout(message: NotificationText, out: TextIO | None = None) -> None:
    """Print it."""
    try:
        print(message.text, file=out or sys.stdout, flush=True)
    except (OSError, ValueError) as error:
        raise UndeliveredNotification(f"nobody reads the output ({type(error).__name__})") from None


def notify_file(channel: FileChannel, message: NotificationText) -> None:
    """Add a line, which is on disk when this returns."""
    line = json.dumps(message.to_dict()).encode() + b"\n"
    try:
        with channel.file.open("a+b", buffering=0) as file:
            # What a kill or a full disk left of a line ends here.
            size = file.seek(0, os.SEEK_END)
            if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                line = b"\n" + line
            if file.write(line) != len(line):
                raise UndeliveredNotification("the disk is full")
            os.fsync(file.fileno())
    except OSError as error:
        raise UndeliveredNotification(f"the file cannot be written ({error.strerror})") from None


# Seconds for each step by mail, and for a whole request, however slowly its answer drips.
PATIENCE = 10.0


def notify_by_email(
    channel: EmailChannel,
    message: NotificationText,
    now: float,
    trusted: ssl.SSLContext | None = None,
) -> None:
    """Send a message."""
    password = secret(channel.password_from) if channel.password_from else ""
    try:
        with _server(channel, trusted) as server:
            if channel.user:
                server.login(channel.user, password)
            server.send_message(letter(channel, message, now))
    except smtplib.SMTPResponseException as error:
        # What the server says may repeat what was sent.
        raise UndeliveredNotification(
            f"the mail server answered with code {error.smtp_code}"
        ) from None
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise UndeliveredNotification(
            f"the mail server cannot be used ({type(error).__name__})"
        ) from None


def letter(channel: EmailChannel, message: NotificationText, now: float) -> EmailMessage:
    """Return the message as a letter. What data says is on one line, so that it makes no header."""
    email = EmailMessage()
    email["Subject"] = message.subject
    email["From"] = channel.sender
    email["To"] = ", ".join(channel.to)
    email["Date"] = formatdate(now)
    email["Message-ID"] = f"<{message.id}.{int(message.alarm.fired_at)}@ragstone.invalid>"
    email["Auto-Submitted"] = "auto-generated"
    links = "\n".join(f"{what}: {link}" for what, link in message.links.items())
    email.set_content(f"{message.text}\n\n{links}\n")
    return email


def _server(channel: EmailChannel, trusted: ssl.SSLContext | None) -> smtplib.SMTP:
    context = trusted or ssl.create_default_context()
    if channel.security == "ssl":
        return smtplib.SMTP_SSL(channel.server, channel.port, timeout=PATIENCE, context=context)
    server = smtplib.SMTP(channel.server, channel.port, timeout=PATIENCE)
    if channel.security == "starttls":
        try:
            server.starttls(context=context)
        except BaseException:
            server.close()
            raise
    return server


SIGNATURE = "Ragstone-Signature"
MESSAGE_ID = "Ragstone-Message"


def notify_webhook(channel: WebhookChannel, message: NotificationText, now: float) -> None:
    """Send a message. What is raised has no secret address or header in it."""
    url = secret(channel.url_from) if channel.url_from else channel.url
    body = json.dumps(message.to_dict()).encode()
    headers = {name: secret(variable) for name, variable in channel.headers_from.items()}
    headers |= {"Content-Type": "application/json", MESSAGE_ID: message.id}
    if channel.secret_from:
        headers[SIGNATURE] = signature(secret(channel.secret_from), body, now)
    try:
        status = asyncio.run(_post(url, body, headers))
    except TimeoutError:
        raise UndeliveredNotification(f"no answer within {PATIENCE:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise UndeliveredNotification(
            f"the server cannot be reached ({type(error).__name__})"
        ) from None
    if not 200 <= status < 300:
        raise UndeliveredNotification(f"the server answered with status {status}")


def signature(secret: str, body: bytes, now: float) -> str:
    """Return the header that signs a body: ``t=TIME,v1=HMAC``.

    >>> signature("s", b"{}", 1.0)[:10]
    't=1,v1=2e2'
    """
    at = int(now)
    code = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={code}"


async def _post(url: str, body: bytes, headers: dict[str, str]) -> int:
    patience = aiohttp.ClientTimeout(total=PATIENCE)
    async with (
        aiohttp.ClientSession(timeout=patience) as session,
        session.post(url, data=body, headers=headers, allow_redirects=False) as answer,
    ):
        return answer.status


# Seconds for which a message is reserved for whoever took it; longer than any try takes.
HELD = 120.0

# Seconds until the second try, which double with each further try, and the longest wait.
FIRST, LONGEST = 5.0, 3_600.0

# About three days.
MOST_TRIES = 80

Clock = Callable[[], float]

_sending: dict[tuple[str, str], Thread] = {}
_lock = Lock()


def notify_soon(
    store: MonitorStore,
    settings: MonitorSettings,
    *,
    from_server: bool = False,
    clock: Clock = time.time,
) -> None:
    """Begin to send what is due, if anything is, and return at once.

    Args:
        from_server: Whether this is the server, of whose output alone anybody sees something.
    """
    channels = {
        channel.name: channel
        for channel in settings.tells
        if from_server or not isinstance(channel, StdoutChannel)
    }
    if not channels:
        return
    with store.database.reading() as run:
        due = [name for name in stored_alarms.channels_due(run, clock()) if name in channels]
    with _lock:
        for name in due:
            key = (store.place, name)
            if key in _sending and _sending[key].is_alive():
                continue
            _sending[key] = Thread(
                target=_notify_all,
                args=(store, settings, channels[name], clock),
                name=f"notify {name}",
                daemon=True,
            )
            _sending[key].start()


def wait_until_notified(store: MonitorStore, seconds: float) -> None:
    """Wait until what is being sent is delivered or failed, for so many seconds at most."""
    with _lock:
        threads = [item for (where, _), item in _sending.items() if where == store.place]
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))


def notify_next(
    store: MonitorStore, settings: MonitorSettings, channel: NotificationSettings, now: float
) -> bool:
    """Send the next notification that a channel has due; gives whether there was one."""
    with store.database.transaction() as run:
        notification = stored_alarms.take_notification(run, channel.name, now, now + HELD)
        alarm = (
            None if notification is None else stored_alarms.raised_alarm(run, notification.alarm)
        )
    if notification is None:
        return False
    state, at, error = stored_alarms.DONE, now, ""
    if alarm is None:
        state, error = stored_alarms.FAILED, "the alarm is not kept any more"
    else:
        try:
            _notify(channel, NotificationText(alarm, notification.event, settings.url), now)
        except (UndeliveredNotification, InputError) as failed:
            error = single_line(str(failed))[:500]
            pause = min(LONGEST, FIRST * 2 ** min(notification.tries - 1, 20))
            is_last = notification.tries >= MOST_TRIES
            state, at = (stored_alarms.FAILED, now) if is_last else (stored_alarms.DUE, now + pause)
    with store.database.transaction() as run:
        stored_alarms.end_notification(run, notification, state, at, error)
    return True


def _notify(channel: NotificationSettings, message: NotificationText, now: float) -> None:
    if isinstance(channel, WebhookChannel):
        notify_webhook(channel, message, now)
    elif isinstance(channel, EmailChannel):
        notify_by_email(channel, message, now)
    elif isinstance(channel, FileChannel):
        notify_file(channel, message)
    else:
        notify_stdout(message)


def _notify_all(
    store: MonitorStore, settings: MonitorSettings, channel: NotificationSettings, clock: Clock
) -> None:
    try:
        while notify_next(store, settings, channel, clock()):
            pass
    except InputError:
        # The store is away or closed. What is due stays so, and the next look begins again.
        return
