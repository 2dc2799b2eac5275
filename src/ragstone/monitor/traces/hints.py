"""Hints: which of several short byte strings stand in a long one, in one pass over it.

A search for each of them takes twenty passes, which is most of the time that a body takes.
"""

from collections.abc import Sequence

import numpy as np

_FIRST, _SECOND = np.uint16(961), np.uint16(31)
_SHORT = 2_000


class Hints:
    """The strings that are looked for, of at least three bytes each.

    >>> Hints([b"sk-", b"AKIA"]).within(b"a task-force")
    [b'sk-']
    """

    def __init__(self, hints: Sequence[bytes]) -> None:
        self._hints = tuple(hints)
        self._begins = np.zeros(1 << 16, np.bool_)
        for hint in hints:
            self._begins[_sums(np.frombuffer(hint[:3], np.uint8))] = True

    def within(self, body: bytes) -> list[bytes]:
        """Those that stand in a body."""
        if len(body) < _SHORT:
            return [hint for hint in self._hints if hint in body]
        places = np.flatnonzero(self._begins[_sums(np.frombuffer(body, np.uint8))])
        found: set[bytes] = set()
        for place in places.tolist():
            for hint in self._hints:
                if body.startswith(hint, place):
                    found.add(hint)
                    break
            if len(found) == len(self._hints):
                break
        return [hint for hint in self._hints if hint in found]


def _sums(raw: np.ndarray) -> np.ndarray:
    """A number for each three bytes in a row; others may have the same."""
    sums = raw[:-2] * _FIRST
    sums += raw[1:-1] * _SECOND
    sums += raw[2:]
    return sums
