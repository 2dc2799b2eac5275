"""Pictures: contexts that are no text but name a picture, or are one as data."""

import re
from dataclasses import replace
from typing import Any

from .example import Context, Example

ENDINGS = tuple(
    f".{ending}"
    for ending in ("png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "svg", "heic", "avif")
)
_DATA = "data:image/"
# How PNG, JPEG, GIF, WebP and TIFF begin where they are written in base 64.
_BASE64 = ("iVBORw0KGgo", "/9j/4", "R0lGODlh", "R0lGODdh", "UklGR", "SUkqA", "TU0AK")

_LEAST_DATA = 100
_LEAST_LINE = 40
_PATH = re.compile(r"(?:[A-Za-z]:[\\/]|\.{0,2}/|\\\\|[a-z][a-z0-9]{1,9}://)[^\n]*", re.ASCII)
# A picture in Markdown or HTML.
_MARKED = re.compile(r"!\[\]\((\S+)(?: \"[^\"\n]*\")?\)|<img\b[^<>]*>")

_ALTERNATIVE = re.compile(r"\balt\s*=\s*[\"']?[^\s\"'>]")
_SHOWN = 200

# What of an example's ``meta`` has the beginnings of contexts that are pictures.
PICTURES = "pictures"


def is_picture(text: str) -> bool:
    """Return True if a text is only file names or addresses of pictures, or the data of one.

    >>> is_picture("charts/sales.PNG"), is_picture("https://a.org/x.jpg?w=9"), is_picture("A .png")
    (True, True, False)
    """
    text = text.strip()
    if text[: len(_DATA)].lower() == _DATA:
        return True
    pieces = text.split()
    if text.startswith(_BASE64):
        lines = all(len(piece) >= _LEAST_LINE for piece in pieces[:-1])
        return lines and sum(map(len, pieces)) >= _LEAST_DATA
    if marked := _MARKED.fullmatch(text):
        return _ends_as_one(marked[1]) if marked[1] else not _ALTERNATIVE.search(text)
    if _PATH.fullmatch(text):
        return _ends_as_one(text)
    return bool(pieces) and all(map(_ends_as_one, pieces))


def _ends_as_one(address: str) -> bool:
    path = address.partition("?")[0].partition("#")[0].lower()
    return path.endswith(ENDINGS) and path not in ENDINGS


def without_picture(context: Context) -> Context:
    """Return the context without its text if that is a picture."""
    return replace(context, text=None) if context.text and is_picture(context.text) else context


def without_pictures(example: Example) -> Example:
    """Remove texts of contexts that are pictures; ``meta`` then names them.

    Returns the same object if there are none.
    """
    contexts = tuple(map(without_picture, example.contexts or ()))
    if contexts == (example.contexts or ()):
        return example
    names = [
        (before.text or "")[:_SHOWN]
        for before, after in zip(example.contexts or (), contexts, strict=True)
        if before is not after
    ]
    meta: dict[str, Any] = {**example.meta, PICTURES: names}
    return replace(example, contexts=contexts, meta=meta)
