"""Webhook: a message as JSON, sent by HTTP and signed.

The signature is that of ``t.BODY`` by HMAC-SHA256 in hexadecimal, where t is the time in the
header: a receiver that checks both takes no body of anybody else's, and none a second time later.
"""

import asyncio
import hashlib
import hmac
import json

import aiohttp

from ragstone.monitor.settings import WebhookChannel
from ragstone.monitor.settings.keeping import secret

from .message import AlarmMessage
from .not_told import NotTold

PATIENCE = 10.0
"""Seconds for one request, however slowly the answer drips."""

SIGNATURE = "Ragstone-Signature"
MESSAGE_ID = "Ragstone-Message"


def tell_webhook(channel: WebhookChannel, message: AlarmMessage, now: float) -> None:
    """Send a message.

    Args:
        channel: Where to.
        message: What.
        now: Seconds since the epoch, for the signature.

    Raises:
        NotTold: It was not taken. No address or header that is a secret is told.
        InputError: An environment variable is not set.
    """
    url = secret(channel.url_from) if channel.url_from else channel.url
    body = json.dumps(message.to_dict()).encode()
    headers = {name: secret(variable) for name, variable in channel.headers_from.items()}
    headers |= {"Content-Type": "application/json", MESSAGE_ID: message.id}
    if channel.secret_from:
        headers[SIGNATURE] = signature(secret(channel.secret_from), body, now)
    try:
        status = asyncio.run(_post(url, body, headers))
    except TimeoutError:
        raise NotTold(f"no answer within {PATIENCE:g} s") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise NotTold(f"the server cannot be reached ({type(error).__name__})") from None
    if not 200 <= status < 300:
        raise NotTold(f"the server answered with status {status}")


def signature(secret: str, body: bytes, now: float) -> str:
    """The header that signs a body: ``t=TIME,v1=HMAC``.

    >>> signature("s", b"{}", 1.0)[:10]
    't=1,v1=2e2'
    """
    at = int(now)
    found = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={found}"


async def _post(url: str, body: bytes, headers: dict[str, str]) -> int:
    patience = aiohttp.ClientTimeout(total=PATIENCE)
    async with (
        aiohttp.ClientSession(timeout=patience) as session,
        session.post(url, data=body, headers=headers, allow_redirects=False) as answer,
    ):
        return answer.status
