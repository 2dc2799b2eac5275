"""Traces: bytes that arrive become facts. No store, no clock, no network.

read_examples   a body as the parts of its traces, redacted
fold            the parts of a trace as the answers given in it
Redaction       what is taken out of every text
Corpus          passages by their ids, where spans carry only those
FACTS           which attributes say what, in which convention

``otlp`` reads bodies of OTLP. It needs the extra ``otlp``, so it is imported only for such a body.
"""

from .attribute_names import FACTS
from .corpus import Corpus
from .posted_examples import TracedExample, read_examples
from .redaction import Redaction
from .spans import ReceivedBody, SpanLimits, TracePart, UnreadableBody
from .traces_to_examples import FoldedTrace, fold

__all__ = [
    "FACTS", "Corpus", "FoldedTrace", "ReceivedBody", "Redaction", "SpanLimits", "TracePart",
    "TracedExample", "UnreadableBody", "fold", "read_examples",
]  # fmt: skip
