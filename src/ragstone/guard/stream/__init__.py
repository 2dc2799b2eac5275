"""Streams: an answer is judged unit by unit while it is written, and leaves as far as it passes.

assess_stream   one answer, in one call; aassess_stream over an asynchronous source
Stream          iterate it for the text that may leave; its assessment at the end
PushedStream    the same for whoever is given the pieces
ReleasePolicy   what leaves, and when
UnitVerdict     of what is judged at a time: sentences, rows of tables, blocks of code
"""

from .release import NotJudged, ReleasePolicy
from .stream import AsyncStream, PushedStream, Stream, aassess_stream, assess_stream, pushed_stream
from .unit_judge import UnitVerdict

__all__ = [
    "AsyncStream",
    "NotJudged",
    "PushedStream",
    "ReleasePolicy",
    "Stream",
    "UnitVerdict",
    "aassess_stream",
    "assess_stream",
    "pushed_stream",
]
