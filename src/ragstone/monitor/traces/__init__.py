"""Traces: bytes that arrive become facts. No store, no clock, no network.

read_traces, read_logs, read_examples   a body as the parts of its traces, redacted
fold                                    the parts of a trace as the answers given in it
Redaction                               what is taken out of every text
Corpus                                  passages by their ids, where spans carry only those
FACTS                                   which attributes say what, in which convention
"""

from .corpus import Corpus
from .fold import fold
from .folded import Content, FoldedTrace, TracedExample
from .names import FACTS
from .otlp import read_logs, read_traces
from .received import Malformed, ReceivedBody, SpanLimits, TracePart, UnreadableBody
from .redaction import Redaction
from .sent import read_examples

__all__ = [
    "FACTS",
    "Content",
    "Corpus",
    "FoldedTrace",
    "Malformed",
    "ReceivedBody",
    "Redaction",
    "SpanLimits",
    "TracePart",
    "TracedExample",
    "UnreadableBody",
    "fold",
    "read_examples",
    "read_logs",
    "read_traces",
]
