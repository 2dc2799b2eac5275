"""Idf: how rare each token is among the references, so that common ones weigh less in BERTScore."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from math import log

import numpy as np
from numpy.typing import NDArray

from ragstone.models import Encoder

TEXTS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Idf:
    """The number of texts that each token occurs in.

    Args:
        documents: How many texts were counted.
        counts: By token id, the number of texts with that token.
    """

    documents: int
    counts: Mapping[int, int]

    def weights(self, ids: NDArray[np.int32]) -> NDArray[np.float64]:
        """``log((documents + 1) / (count + 1))`` of each token, at least 0; shape as ``ids``."""
        total = self.documents + 1
        weights = [log(total / (self.counts.get(one, 0) + 1)) for one in ids.tolist()]
        return np.array(weights, dtype=np.float64)

    @property
    def fingerprint(self) -> str:
        """A hash of the counts in 32 hex digits, for a signature."""
        facts = repr((self.documents, sorted(self.counts.items())))
        return blake2b(facts.encode(), digest_size=16).hexdigest()


def count_documents(encoder: Encoder, texts: Iterable[str]) -> Idf:
    """Count how many texts each token occurs in.

    Duplicate texts count each time, and a text is read up to the model's limit,
    as in bert-score.

    Args:
        encoder: Provides the tokens. The counts are valid only for its tokenizer.
        texts: The references, as a rule.

    Raises:
        ModelError: The encoder gives no tokens.
        ModelFailure: It did not answer.
    """
    documents = 0
    counts: Counter[int] = Counter()
    given = iter(texts)
    while some := Counter(text.strip() for text in islice(given, TEXTS_AT_ONCE)):
        read = encoder.tokens(list(some), layer=0, limit=encoder.longest)
        for tokens, times in zip(read, some.values(), strict=True):
            documents += times
            for one in set(tokens.ids.tolist()):
                counts[one] += times
    return Idf(documents, dict(counts))
