"""The model room: encoders and cross-encoders, from folders, the hub and servers.

open_encoder    the encoder of a name, such as builtin:minilm
available       whether it can be opened without fetching anything
pull            fetch a model into the user's cache
stored, damage  what the cache holds, and whether it is whole
kept, clear     the embeddings that are kept on disk
"""

from .builtin import BUILTIN
from .cache import CachedEncoder
from .encoder import Encoder, TokenVectors, Vectors
from .kept_vectors import Kept, clear, kept
from .names import available, open_encoder, pull
from .store import Stored, cache_folder, damage, stored

__all__ = [
    "BUILTIN",
    "CachedEncoder",
    "Encoder",
    "Kept",
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
