"""Models: encoders and cross-encoders, from folders, the Hugging Face Hub and servers.

open_encoder    open an encoder by its name, such as builtin:minilm
available       whether it can be opened without downloading anything
pull            download a model into the user's cache
stored, damage  list the downloaded models; check their files
kept, clear     size of the embedding cache on disk; empty it
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
