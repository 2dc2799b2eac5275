"""Lexical overlap of an answer and a reference, by counting.

Tokens are those of the rouge-score package without stemming: runs of ASCII
letters and digits in lower case. Exact match is on SQuAD's normalised text.
"""

import re
import string
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

_TOKEN = re.compile(r"[a-z0-9]+")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, slots=True)
class TextOverlap:
    """Measures of the overlap of two texts, each from 0 to 1."""

    exact_match: float
    token_f1: float
    token_f1_set: float
    rouge_2: float
    rouge_l: float


def tokens(text: str) -> list[str]:
    """Runs of letters and digits, in lower case."""
    return _TOKEN.findall(text.lower())


def normalised(text: str) -> str:
    """Lower case, no punctuation, no articles, single spaces.

    Source: Rajpurkar et al. (2016), "SQuAD: 100,000+ Questions for Machine
    Comprehension of Text", the evaluation.
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def overlap(answer: str, reference: str) -> TextOverlap:
    """All measures of one pair."""
    ours, theirs = tokens(answer), tokens(reference)
    return TextOverlap(
        exact_match=float(normalised(answer) == normalised(reference)),
        token_f1=_f1(_shared(ours, theirs), len(ours), len(theirs)),
        token_f1_set=_f1(len(set(ours) & set(theirs)), len(set(ours)), len(set(theirs))),
        rouge_2=_f1(
            _shared(list(pairwise(ours)), list(pairwise(theirs))), len(ours) - 1, len(theirs) - 1
        ),
        rouge_l=_f1(longest_common_subsequence(ours, theirs), len(ours), len(theirs)),
    )


def longest_common_subsequence(one: list[str], other: list[str]) -> int:
    """The length of the LCS, bit-parallel: each bit of ``row`` is a position of the shorter text.

    So a word of the longer one that is not in the other costs nothing.

    Source: Hyyrö (2004), "Bit-parallel LCS-length computation revisited".
    """
    if len(one) > len(other):
        one, other = other, one
    places: dict[str, int] = {}
    for place, token in enumerate(one):
        places[token] = places.get(token, 0) | 1 << place
    every = (1 << len(one)) - 1
    row = every
    for token in other:
        if mask := places.get(token):
            match = row & mask
            row = (row + match | row - match) & every
    return len(one) - row.bit_count()


def _shared(
    one: list[str] | list[tuple[str, str]], other: list[str] | list[tuple[str, str]]
) -> int:
    return sum((Counter(one) & Counter(other)).values())


def _f1(shared: int, ours: int, theirs: int) -> float:
    return 2 * shared / (ours + theirs) if shared else 0.0
