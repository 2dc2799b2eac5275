"""E-mail: a message as a letter in plain text, sent by SMTP."""

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate

from ragstone.monitor.settings import EmailChannel
from ragstone.monitor.settings.keeping import secret

from .message import AlarmMessage
from .not_told import NotTold

PATIENCE = 10.0
"""Seconds for each step."""


def tell_by_email(
    channel: EmailChannel,
    message: AlarmMessage,
    now: float,
    trusted: ssl.SSLContext | None = None,
) -> None:
    """Send a message.

    Args:
        channel: Where to.
        message: What.
        now: Seconds since the epoch, for the letter's date.
        trusted: Which certificates are; None: those that the system trusts.

    Raises:
        NotTold: It was not taken.
        InputError: An environment variable is not set.
    """
    password = secret(channel.password_from) if channel.password_from else ""
    try:
        with _server(channel, trusted) as server:
            if channel.user:
                server.login(channel.user, password)
            server.send_message(letter(channel, message, now))
    except smtplib.SMTPResponseException as error:
        # What the server says may repeat what was sent.
        raise NotTold(f"the mail server answered with code {error.smtp_code}") from None
    except (smtplib.SMTPException, OSError, ValueError) as error:
        raise NotTold(f"the mail server cannot be used ({type(error).__name__})") from None


def letter(channel: EmailChannel, message: AlarmMessage, now: float) -> EmailMessage:
    """The message as a letter. What data says stands on one line, so that it makes no header."""
    made = EmailMessage()
    made["Subject"] = message.subject
    made["From"] = channel.sender
    made["To"] = ", ".join(channel.to)
    made["Date"] = formatdate(now)
    made["Message-ID"] = f"<{message.id}.{int(message.alarm.fired_at)}@ragstone.invalid>"
    made["Auto-Submitted"] = "auto-generated"
    links = "\n".join(f"{what}: {link}" for what, link in message.links.items())
    made.set_content(f"{message.text}\n\n{links}\n")
    return made


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
