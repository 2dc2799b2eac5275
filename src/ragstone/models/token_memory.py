"""Token memory: an in-memory LRU cache of token vectors."""

import threading
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from .encoder import TokenVectors


class TokenMemory:
    """Token vectors by key, up to a number of bytes; the least recently used are evicted.

    Callers share the arrays, so these are made read-only.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._mutex = threading.Lock()
        self._kept: OrderedDict[object, TokenVectors] = OrderedDict()

    def get(self, key: object) -> TokenVectors | None:
        with self._mutex:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key]

    def put(self, key: object, one: TokenVectors) -> None:
        for array in _arrays(one):
            array.flags.writeable = False
        with self._mutex:
            if (before := self._kept.pop(key, None)) is not None:
                self._size -= _bytes(before)
            self._kept[key] = one
            self._size += _bytes(one)
            while self._size > self._limit:
                _, dropped = self._kept.popitem(last=False)
                self._size -= _bytes(dropped)


def _arrays(one: TokenVectors) -> list[NDArray[np.generic]]:
    arrays: list[NDArray[np.generic]] = [one.ids, one.spans, one.vectors]
    return arrays if one.embedding is None else [*arrays, one.embedding]


def _bytes(one: TokenVectors) -> int:
    return sum(array.nbytes for array in _arrays(one))
