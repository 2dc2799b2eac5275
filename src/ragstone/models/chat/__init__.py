"""Chat: chat models of all providers behind one interface.

``open_chat`` opens a model by name; ``CallableChat`` wraps an async function as a model.
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
