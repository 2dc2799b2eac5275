"""Who is told of an alarm: by HTTP, by mail, in a file, on the output; at least once."""

import hashlib
import hmac
import io
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from email import message_from_bytes, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session

from ragstone.monitor.alarms import notifications as sending
from ragstone.monitor.alarms import notifications as webhook
from ragstone.monitor.alarms.notifications import (
    FIRST,
    HELD,
    LONGEST,
    MOST_TRIES,
    NotificationText,
    UndeliveredNotification,
    letter,
    notify_by_email,
    notify_file,
    notify_next,
    notify_soon,
    notify_stdout,
    notify_webhook,
    wait_until_notified,
)
from ragstone.monitor.settings import (
    EmailChannel,
    FileChannel,
    MonitorSettings,
    NotificationSettings,
    StdoutChannel,
    WebhookChannel,
)
from ragstone.monitor.store.store import MonitorStore
from ragstone.monitor.store.stored_alarms import (
    RaisedAlarm,
    add_alarm,
    channel_standings,
    end_notification,
    queue_notifications,
    take_notification,
)

NOW = 1_700_000_000.0
HOSTILE = 'lang=de\r\nBcc: all@example.org\r\n\r\n<script>alert(1)</script>\x1b[31m\u202e"'
FACTS = {"metric": "faithfulness", "better": "+", "mean": 0.62, "answers": 117, "bar": 0.75}
ALARM = RaisedAlarm(7, "faith", HOSTILE, "quality", "firing", NOW - 5_280, NOW, None, FACTS)
MESSAGE = NotificationText(ALARM, "fired", "https://app.example.org")


class Scripted:
    """A server that answers as it is told, and remembers what it got."""

    def __init__(self) -> None:
        self.statuses: list[int] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.delay = threading.Event()
        self.hangs = False
        self.url = ""


@pytest.fixture
def server() -> Iterator[Scripted]:
    script = Scripted()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            script.got.append((dict(self.headers), body))
            if script.hangs:
                script.delay.wait(30)
            status = script.statuses.pop(0) if script.statuses else 200
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "http://127.0.0.1:9/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.daemon_threads = True
    thread = threading.Thread(target=served.serve_forever, args=(0.01,))
    thread.start()
    script.url = f"http://127.0.0.1:{served.server_port}/hook"
    yield script
    script.delay.set()
    served.shutdown()
    served.server_close()
    thread.join()


def test_a_webhook_gets_the_alarm_signed(server: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALARM_SECRET", "s3cret")
    monkeypatch.setenv("ALARM_TOKEN", "Bearer abc")
    channel = WebhookChannel(
        "w", server.url, None, "ALARM_SECRET", {"Authorization": "ALARM_TOKEN"}
    )
    notify_webhook(channel, MESSAGE, NOW)
    ((headers, body),) = server.got
    told = json.loads(body)
    assert (told["alarm"], told["event"], told["rule"], told["id"]) == (
        7, "fired", "faith", "7-fired",
    )  # fmt: skip
    assert told["links"]["answers"] == "https://app.example.org/monitor/examples?alarm=7"
    assert headers["Authorization"] == "Bearer abc"
    assert headers["Ragstone-Message"] == "7-fired"
    at, _, given = headers["Ragstone-Signature"].removeprefix("t=").partition(",v1=")
    signed = hmac.new(b"s3cret", at.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert (int(at), given) == (int(NOW), signed)


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404, 429, 500, 503])
def test_only_a_2xx_counts_and_no_redirect_is_followed(server: Scripted, status: int) -> None:
    server.statuses = [status]
    with pytest.raises(UndeliveredNotification, match=f"status {status}"):
        notify_webhook(WebhookChannel("w", server.url), MESSAGE, NOW)
    assert len(server.got) == 1


def test_a_webhook_that_hangs_is_given_up(
    server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "PATIENCE", 0.3)
    server.hangs = True
    with pytest.raises(UndeliveredNotification, match="no answer within"):
        notify_webhook(WebhookChannel("w", server.url), MESSAGE, NOW)


def test_a_webhook_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def drip() -> None:
            taken, _ = listening.accept()
            with taken:
                while not over.wait(0.05):
                    try:
                        taken.sendall(b"H")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        with pytest.raises(UndeliveredNotification):
            notify_webhook(WebhookChannel("w", url), MESSAGE, NOW)
        over.set()
        thread.join()


def test_a_secret_address_is_told_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOK", "http://127.0.0.1:1/services/hunter2")
    with pytest.raises(UndeliveredNotification) as raised:
        notify_webhook(WebhookChannel("w", url_from="HOOK"), MESSAGE, NOW)
    assert "hunter2" not in str(raised.value)


# Mail.


class Box:
    """What an SMTP server got."""

    def __init__(self) -> None:
        self.letters: list[bytes] = []
        self.envelopes: list[Envelope] = []
        self.reply = "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802, ARG002
        if self.reply.startswith("250"):
            assert isinstance(envelope.content, bytes)
            self.letters.append(envelope.content)
            self.envelopes.append(envelope)
        return self.reply


@contextmanager
def mail_server(**options: Any) -> Iterator[tuple[Box, int]]:
    box = Box()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(box, "127.0.0.1", port, **options)
    controller.start()
    try:
        yield box, port
    finally:
        controller.stop()


def mail(port: int, **more: Any) -> EmailChannel:
    given: dict[str, Any] = {"security": "none", **more}
    return EmailChannel(
        "m", ("a@example.org", "b@example.org"), "r@example.org", "127.0.0.1", port, **given
    )


def test_a_letter_says_the_alarm_in_plain_text() -> None:
    with mail_server() as (box, port):
        notify_by_email(mail(port), MESSAGE, NOW)
    (raw,) = box.letters
    read = message_from_bytes(raw, policy=policy.default)
    assert box.envelopes[0].rcpt_tos == ["a@example.org", "b@example.org"]
    assert read["From"] == "r@example.org"
    assert read.get_content_type() == "text/plain"
    body = read.get_content()
    assert "faithfulness" in body
    assert "https://app.example.org/monitor/alarms/7" in body


def test_a_hostile_slice_makes_no_header_and_no_other_recipient() -> None:
    with mail_server() as (box, port):
        notify_by_email(mail(port), MESSAGE, NOW)
    read = message_from_bytes(box.letters[0], policy=policy.default)
    assert read["Bcc"] is None
    assert "Bcc: all@example.org" in read["Subject"]
    assert "\x1b" not in read["Subject"]
    assert box.envelopes[0].rcpt_tos == ["a@example.org", "b@example.org"]


def test_every_header_of_a_letter_is_one_line() -> None:
    for name, value in letter(mail(25), MESSAGE, NOW).items():
        assert "\n" not in value, name


def test_a_mail_server_that_refuses_is_told_by_its_code_alone() -> None:
    with mail_server() as (box, port):
        box.reply = "554 no hunter2"
        with pytest.raises(UndeliveredNotification, match="code 554") as raised:
            notify_by_email(mail(port), MESSAGE, NOW)
    assert "hunter2" not in str(raised.value)


def test_a_mail_server_that_is_away_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(UndeliveredNotification, match="cannot be used"):
        notify_by_email(mail(port), MESSAGE, NOW)


def test_a_server_without_tls_gets_no_letter_where_starttls_is_asked_for() -> None:
    with mail_server() as (box, port), pytest.raises(UndeliveredNotification):
        notify_by_email(mail(port, security="starttls"), MESSAGE, NOW)
    assert box.letters == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return self_signed(tmp_path_factory.mktemp("tls"))


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate of 127.0.0.1 and its key, made by openssl."""
    import subprocess

    key, made = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", str(key), "-out", str(made), "-days", "2", "-subj", "/CN=127.0.0.1",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return made, key


@pytest.mark.parametrize("security", ["starttls", "ssl"])
def test_a_letter_goes_through_tls_with_user_and_password(
    security: str, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_PASSWORD", "pw")
    asked = []

    def sign_in(*given: Any) -> AuthResult:
        data = given[-1]
        asked.append((data.login, data.password))
        return AuthResult(success=data.password == b"pw")

    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(*certificate)
    options = {"tls_context": own, "require_starttls": True}
    if security == "ssl":
        options = {"ssl_context": own, "auth_require_tls": False}
    trusted = ssl.create_default_context(cafile=str(certificate[0]))
    with mail_server(authenticator=sign_in, **options) as (box, port):
        channel = mail(port, security=security, user="u", password_from="SMTP_PASSWORD")
        notify_by_email(channel, MESSAGE, NOW, trusted)
    assert len(box.letters) == 1
    assert asked == [(b"u", b"pw")]


def test_a_certificate_that_nobody_trusts_gets_no_password(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_PASSWORD", "pw")
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(*certificate)
    with mail_server(tls_context=own, require_starttls=True) as (box, port):
        channel = mail(port, security="starttls", user="u", password_from="SMTP_PASSWORD")
        with pytest.raises(UndeliveredNotification):
            notify_by_email(channel, MESSAGE, NOW)
    assert box.letters == []


# File and output.


def test_a_file_gets_a_line_of_json_for_each_message(tmp_path: Path) -> None:
    channel = FileChannel("f", tmp_path / "alarms.jsonl")
    notify_file(channel, MESSAGE)
    notify_file(channel, replace(MESSAGE, event="resolved"))
    lines = channel.file.read_text().splitlines()
    assert [json.loads(one)["event"] for one in lines] == ["fired", "resolved"]


def test_what_a_kill_left_of_a_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    channel = FileChannel("f", tmp_path / "alarms.jsonl")
    channel.file.write_text('{"id": "half')
    notify_file(channel, MESSAGE)
    half, whole = channel.file.read_text().splitlines()
    assert half == '{"id": "half'
    assert json.loads(whole)["alarm"] == 7


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UndeliveredNotification, match="cannot be written"):
        notify_file(FileChannel("f", tmp_path), MESSAGE)


def test_the_output_gets_one_line_without_control_characters() -> None:
    out = io.StringIO()
    notify_stdout(MESSAGE, out)
    assert out.getvalue().count("\n") == 1
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()


# The queue.


@pytest.fixture
def queue(store: MonitorStore) -> Iterator[MonitorStore]:
    with store.database.transaction() as run:
        alarm = add_alarm(run, "faith", "", "quality", since=NOW, fired_at=NOW, facts=FACTS)
        queue_notifications(
            run, NOW, [(alarm.number, "c", "fired"), (alarm.number, "c", "resolved")]
        )
    yield store
    wait_until_notified(store, 30)


def settings(channel: NotificationSettings) -> MonitorSettings:
    return MonitorSettings(tells=(channel,))


def tell(store: MonitorStore, channel: NotificationSettings, now: float) -> bool:
    return notify_next(store, settings(channel), channel, now)


def events(file: Path) -> list[str]:
    return [json.loads(one)["event"] for one in file.read_text().splitlines()]


def test_what_is_due_is_told_in_order_and_once(queue: MonitorStore, tmp_path: Path) -> None:
    channel = FileChannel("c", tmp_path / "a.jsonl")
    assert tell(queue, channel, NOW)
    assert tell(queue, channel, NOW)
    assert not tell(queue, channel, NOW)
    assert events(channel.file) == ["fired", "resolved"]
    assert not tell(queue, channel, NOW + 10 * LONGEST)


def test_after_a_kill_between_telling_and_writing_it_down_it_is_told_again(
    queue: MonitorStore, tmp_path: Path
) -> None:
    channel = FileChannel("c", tmp_path / "a.jsonl")
    with queue.database.transaction() as run:
        one = take_notification(run, "c", NOW, NOW + HELD)
    assert one is not None
    assert not tell(queue, channel, NOW + HELD - 1)
    assert tell(queue, channel, NOW + HELD)
    assert events(channel.file) == ["fired"]


def test_a_clock_that_ran_ahead_puts_no_message_off(queue: MonitorStore, tmp_path: Path) -> None:
    with queue.database.transaction() as run:
        assert take_notification(run, "c", NOW + 86_400, NOW + 86_400 + HELD) is not None
    channel = FileChannel("c", tmp_path / "a.jsonl")
    assert tell(queue, channel, NOW)
    assert events(channel.file) == ["fired"]


def test_two_processes_do_not_both_take_a_message(queue: MonitorStore) -> None:
    with queue.database.transaction() as run:
        first, second = (take_notification(run, "c", NOW, NOW + HELD) for _ in range(2))
    assert first is not None
    assert second is None


def test_while_a_message_is_told_nobody_else_tells_it(
    queue: MonitorStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, others = FileChannel("c", tmp_path / "a.jsonl"), list[bool]()

    def telling(*_: object) -> None:
        if not others:
            others.append(True)
            others.append(tell(queue, channel, NOW + HELD - 1))

    monkeypatch.setattr(sending, "_notify", telling)
    assert tell(queue, channel, NOW)
    assert others == [True, False]


def test_a_failed_try_is_repeated_with_growing_pauses_and_said(
    queue: MonitorStore, tmp_path: Path
) -> None:
    channel = FileChannel("c", tmp_path)
    now, pauses = NOW, []
    for _ in range(12):
        assert tell(queue, channel, now)
        assert not tell(queue, channel, now + 1)
        with queue.database.reading() as run:
            ((at,),) = run("SELECT at FROM told WHERE event = 'fired'")
        pauses.append(at - now)
        now = at
    assert pauses[:4] == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST]
    assert pauses[-1] == LONGEST
    with queue.database.reading() as run:
        (standing,) = channel_standings(run)
    assert (standing["waiting"], standing["done"]) == (2, 0)
    assert "cannot be written" in standing["error"]


def test_it_is_given_up_in_the_end_and_what_follows_is_told(
    queue: MonitorStore, tmp_path: Path
) -> None:
    channel, now = FileChannel("c", tmp_path), NOW
    for _ in range(MOST_TRIES):
        assert tell(queue, channel, now)
        now += LONGEST
    with queue.database.reading() as run:
        assert channel_standings(run)[0]["failed"] == 1
    there = FileChannel("c", tmp_path / "a.jsonl")
    assert tell(queue, there, now)
    assert events(there.file) == ["resolved"]


def test_a_secret_that_is_not_set_is_said_and_tried_again(queue: MonitorStore) -> None:
    channel = WebhookChannel("c", url_from="NOT_SET_ANYWHERE")
    assert tell(queue, channel, NOW)
    with queue.database.reading() as run:
        (standing,) = channel_standings(run)
    assert "NOT_SET_ANYWHERE" in standing["error"]
    assert standing["waiting"] == 2


def test_a_channel_that_hangs_keeps_no_other_waiting(
    queue: MonitorStore, server: Scripted, tmp_path: Path
) -> None:
    server.hangs = True
    with queue.database.transaction() as run:
        queue_notifications(run, NOW, [(1, "f", "fired")])
    there = FileChannel("f", tmp_path / "a.jsonl")
    both = MonitorSettings(tells=(WebhookChannel("c", server.url), there))
    notify_soon(queue, both, clock=lambda: NOW)
    wait_for(lambda: there.file.exists() and events(there.file) == ["fired"] and bool(server.got))
    server.delay.set()
    wait_until_notified(queue, 30)
    with queue.database.reading() as run:
        assert {one["channel"]: one["done"] for one in channel_standings(run)} == {"c": 2, "f": 1}


def wait_for(holds: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(600):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError("it never came to hold")


def test_only_the_server_tells_on_the_output(
    queue: MonitorStore, capsys: pytest.CaptureFixture[str]
) -> None:
    own = settings(StdoutChannel("c"))
    notify_soon(queue, own, clock=lambda: NOW)
    wait_until_notified(queue, 30)
    assert capsys.readouterr().out == ""
    notify_soon(queue, own, from_server=True, clock=lambda: NOW)
    wait_until_notified(queue, 30)
    assert capsys.readouterr().out.count("\n") == 2


def test_an_alarm_that_is_not_kept_any_more_is_given_up(
    queue: MonitorStore, tmp_path: Path
) -> None:
    with queue.database.transaction() as run:
        run("DELETE FROM alarms")
    assert tell(queue, FileChannel("c", tmp_path / "a.jsonl"), NOW)
    with queue.database.reading() as run:
        assert channel_standings(run)[0]["failed"] == 1


def test_what_is_done_has_no_error_left(queue: MonitorStore) -> None:
    with queue.database.transaction() as run:
        one = take_notification(run, "c", NOW, NOW + HELD)
        assert one is not None
        end_notification(run, one, "due", NOW, "no answer")
        again = take_notification(run, "c", NOW, NOW + HELD)
        assert again is not None
        assert again.tries == 2
        end_notification(run, again, "done", NOW)
        (standing,) = channel_standings(run)
    assert (standing["done"], standing["error"]) == (1, "")
