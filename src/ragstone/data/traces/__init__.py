"""Traces: bytes that arrive become facts. No store, no clock, no network.

read_examples   a body as the parts of its traces, redacted
fold            the parts of a trace as the answers given in it
Redaction       what is taken out of every text
Corpus          passages by their ids, where spans carry only those
FACTS           which attributes say what, in which convention

``otlp`` reads bodies of OTLP. It needs the extra ``otlp``, so it is imported only for such a body.
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
