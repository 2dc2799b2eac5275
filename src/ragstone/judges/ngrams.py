"""BLEU and chrF of an answer and a reference, by counting, as sacrebleu gives them for a sentence.

sacrebleu would bring six packages for forty lines; tests/judges/test_ngrams.py asks it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import exp, log

WORDS = 4
"""The longest runs of words that BLEU counts."""
LETTERS = 6
"""The longest runs of letters that chrF counts."""
BETA = 2
"""How much more recall weighs in chrF than precision."""

ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
SIGN = re.compile(r"([{-~\[-` -&(-+:-@/])")
AFTER_NO_DIGIT = re.compile(r"([^0-9])([.,])")
BEFORE_NO_DIGIT = re.compile(r"([.,])([^0-9])")
DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")


def words_13a(text: str) -> list[str]:
    """The tokens of mteval-v13a, which WMT and sacrebleu use: signs stand alone, 3.14 does not.

    >>> words_13a("It's 3.14, or so.")
    ["It's", '3.14', ',', 'or', 'so', '.']
    """
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, sign in ENTITIES.items():
        text = text.replace(entity, sign)
    text = SIGN.sub(r" \1 ", f" {text} ")
    text = AFTER_NO_DIGIT.sub(r"\1 \2 ", text)
    text = BEFORE_NO_DIGIT.sub(r" \1 \2", text)
    return DASH_AFTER_DIGIT.sub(r"\1 \2 ", text).split()


def bleu(answer: str, reference: str) -> float:
    """BLEU of one pair, from 0 to 1.

    The geometric mean of the precisions of runs of 1 to 4 words, as long as the answer has such
    runs; the first precision of 0 counts as half a match, the next as a quarter, and so on; times
    exp(1 - reference words / words) where the answer is the shorter.

    Source: Papineni et al. (2002), "BLEU"; Post (2018), "A Call for Clarity in Reporting BLEU
    Scores"; smoothing: Chen & Cherry (2014), method 3.
    """
    ours, theirs = words_13a(answer), words_13a(reference)
    if not (Counter(ours) & Counter(theirs)):
        return 0.0
    logs: list[float] = []
    halved = 1.0
    for length in range(1, min(WORDS, len(ours)) + 1):
        shared = (_runs(ours, length) & _runs(theirs, length)).total()
        if not shared:
            halved /= 2
        logs.append(log((shared or halved) / (len(ours) - length + 1)))
    brevity = min(0.0, 1 - len(theirs) / len(ours))
    return exp(brevity + sum(logs) / len(logs))


def chrf(answer: str, reference: str) -> float:
    """The F2 of runs of 1 to 6 letters, white space left out, from 0 to 1.

    Precision and recall are averaged over the lengths of which both texts have runs.

    Source: Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation".
    """
    ours, theirs = "".join(answer.split()), "".join(reference.split())
    precision = recall = 0.0
    longest = min(LETTERS, len(ours), len(theirs))
    for length in range(1, longest + 1):
        shared = (_runs(ours, length) & _runs(theirs, length)).total()
        precision += shared / (len(ours) - length + 1)
        recall += shared / (len(theirs) - length + 1)
    if not precision:
        return 0.0
    weighted = BETA**2 * precision + recall
    return (1 + BETA**2) * precision * recall / (weighted * longest)


def _runs(units: Sequence[str], length: int) -> Counter[object]:
    if isinstance(units, str):
        return Counter(units[at : at + length] for at in range(len(units) - length + 1))
    return Counter(zip(*(units[at:] for at in range(length)), strict=False))
