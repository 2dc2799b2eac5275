"""Batches: each distinct text once, and texts of about the same length together."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

BATCH_TOKENS = 1024


def distinct(texts: Sequence[str]) -> tuple[list[str], NDArray[np.intp]]:
    """Each distinct text once, in order of first occurrence, and each input's index among them.

    distinct(["a", "b", "a"]) = ["a", "b"], [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    places = [numbers.setdefault(text, len(numbers)) for text in texts]
    return list(numbers), np.array(places, np.intp)


def batches(lengths: NDArray[np.int32], tokens: int = BATCH_TOKENS) -> Iterator[NDArray[np.intp]]:
    """Indices of the texts in each batch: longest texts first, similar lengths together.

    A batch holds at most ``tokens`` tokens, counted as if every text were as long as the longest
    in the batch. A text longer than that is a batch by itself.

    Args:
        lengths: Shape (n,), the tokens of each text, at least 1.
        tokens: About 1,024 was fastest on two cores: enough for an efficient matrix product, few
            enough to stay in the processor's cache.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < order.size:
        size = max(1, tokens // int(lengths[order[start]]))
        yield order[start : start + size]
        start += size
