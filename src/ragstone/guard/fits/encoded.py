"""Encoded: bodies that are compressed on their way."""

import zlib

from ragstone.core.messages import reason

WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class Undecodable(ValueError):
    """A body that cannot be decoded; ``why`` is the reason, as a code with its facts."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


def decoded(body: bytes, encoding: str | None, most: int) -> bytes:
    """A body without its compression.

    Args:
        body: All of it.
        encoding: The header ``content-encoding``.
        most: Bytes that it may have.

    Raises:
        Undecodable: The compression is not known, the body is damaged, or it is larger.
    """
    name = (encoding or "identity").strip().lower()
    if name not in ("identity", ""):
        if name not in WINDOWS:
            raise Undecodable(reason("body_encoded", encoding=name[:40]))
        reader = zlib.decompressobj(WINDOWS[name])
        try:
            body = reader.decompress(body, most + 1)
        except zlib.error as error:
            raise Undecodable(reason("body_encoded", encoding=name)) from error
        if len(body) <= most and not reader.eof:
            raise Undecodable(reason("body_encoded", encoding=name))
    if len(body) > most:
        raise Undecodable(reason("body_too_large", most=most))
    return body
