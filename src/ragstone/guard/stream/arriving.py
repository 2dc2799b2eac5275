"""Arriving text: what comes in pieces of text or of bytes, as characters."""

import re
from codecs import getincrementaldecoder

_UTF_8 = getincrementaldecoder("utf-8")
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


Text = str | bytes | bytearray | memoryview


class ArrivingText:
    """Characters out of pieces that may end inside of one.

    Bytes are UTF-8; what is not, and half characters of UTF-16, become U+FFFD. Nothing is raised.
    """

    def __init__(self) -> None:
        self._bytes = _UTF_8("replace")
        self._half = ""

    def feed(self, piece: Text) -> str:
        """The characters that are whole with this piece."""
        if not isinstance(piece, str):
            return self._whole(self._bytes.decode(piece))
        begun = self._bytes.decode(b"", final=True)
        self._bytes.reset()
        return self._whole(begun + piece)

    def close(self) -> str:
        """What is left when nothing more comes."""
        text = self._half + self._bytes.decode(b"", final=True)
        self._half = ""
        return _HALVES.sub(_one, text)

    def _whole(self, text: str) -> str:
        if not text or (not self._half and text.isascii()):
            return text
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return _HALVES.sub(_one, text)


def _one(found: re.Match[str]) -> str:
    halves = found.group()
    if len(halves) == 1:
        return "\ufffd"
    return chr(0x10000 + ((ord(halves[0]) - 0xD800) << 10) + ord(halves[1]) - 0xDC00)
