"""Models: encoders and cross-encoders, from folders, the Hugging Face Hub and servers.

open_encoder    open an encoder by its name, such as builtin:minilm
available       whether it can be opened without downloading anything
pull            download a model into the user's cache
stored, damage  list the downloaded models; check their files
kept, clear     size of the embedding cache on disk; empty it
"""

from ragstone.core.files import cache_folder

from .download import BUILTIN
from .embedding_cache import CachedEncoder, CachedTexts, clear, kept
from .encoder import Encoder, TokenVectors, Vectors
from .encoder_names import available, open_encoder, pull
from .model_store import Stored, damage, stored

__all__ = [
    "BUILTIN",
    "CachedEncoder",
    "CachedTexts",
    "Encoder",
    "Stored",
    "TokenVectors",
    "Vectors",
    "available",
    "cache_folder",
    "clear",
    "damage",
    "kept",
    "open_encoder",
    "pull",
    "stored",
]
