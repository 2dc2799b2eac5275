"""Batches: each distinct text once, and texts of about the same length together."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

BATCH_TOKENS = 1024


def distinct(texts: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Each text once, in the order of its first place, and for every place which one it holds.

    distinct(["a", "b", "a"]) = ["a", "b"], [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(text, len(numbers)) for text in texts]
    return list(numbers), np.array(places, np.intp)


def batches(lengths: NDArray[np.int32], tokens: int = BATCH_TOKENS) -> Iterator[NDArray[np.intp]]:
    """Which texts to read together: the longest first, the lengths of a batch close to each other.

    A batch holds at most ``tokens`` tokens, counted as if each text were as long as the batch's
    longest. A text that is longer has a batch of its own.

    Args:
        lengths: Shape (n,), the tokens of each text, at least 1.
        tokens: About 1,024 was quickest on two cores: enough for a matrix product to pay, few
            enough to stay in the processor's cache.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < order.size:
        size = max(1, tokens // int(lengths[order[start]]))
        yield order[start : start + size]
        start += size
