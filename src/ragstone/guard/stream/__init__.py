"""Streams: an answer is judged unit by unit while it is written, and leaves as far as it passes.

assess_stream   one answer, in one call; aassess_stream over an asynchronous source
Stream          iterate it for the text that may leave; its assessment at the end
PushedStream    the same for whoever is given the pieces
ReleasePolicy   what leaves, and when
UnitVerdict     of what is judged at a time: sentences, rows of tables, blocks of code
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
