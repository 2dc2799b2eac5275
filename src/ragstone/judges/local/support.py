"""Support: do the contexts support a proposition?

The evidence of strings (``evidence.py``) and, with an encoder, how well it matches the
words (``alignment.py``), are turned by a logistic curve into the probability that the proposition
is supported. From .5 the verdict is `supported`. Below, and whenever the contexts contradict it
(``contradiction.py``), it is `contradicted` or `absent`.
"""

from dataclasses import dataclass
from typing import Literal

from ragstone.core.messages import reason

from . import alignment, contradiction, evidence, frames
from .alignment import Alignment
from .contradiction import ContradictingSentence
from .curve import curve
from .evidence import EvidenceCounts, gather, without_citations
from .passages import Passages
from .words import as_written, tokens

VERSION = f"ragstone-support/2({evidence.VERSION},{frames.VERSION},{contradiction.VERSION})"
ALIGNED_VERSION = alignment.VERSION

STRINGS = "support/strings"
ENCODER = "support/encoder"

SUPPORTED = 0.5
BY_WORDS = 0.5
"""With a smaller share of the words in one window, the best aligned sentence is the evidence."""

CONTRADICTED = 0.4
"""What is contradicted is never more probable than this."""


@dataclass(frozen=True, slots=True)
class SupportVerdict:
    """Whether the contexts support one proposition.

    ``probability`` is that of `supported`, from 0 to 1. ``evidence`` holds the positions of the
    contexts the verdict rests on, empty if it is absent; ``quote`` a sentence of the first of
    them, word for word; ``seen`` the counts behind it, None where there was nothing to count.
    """

    verdict: Literal["supported", "contradicted", "absent"]
    probability: float
    evidence: tuple[int, ...]
    quote: str | None
    reason: str
    seen: EvidenceCounts | None = None


def support(
    proposition: str,
    passages: Passages,
    question: str | None = None,
    alignment: Alignment | None = None,
    *,
    turns_from: int | None = None,
) -> SupportVerdict:
    """Judge one proposition against the contexts of its example.

    The question is used only if the proposition has no content word of its own, such as a bare
    `Yes.`: that is absent, with half the probability that the question's own words would get,
    because neither strings nor vectors can tell a yes from a no. The passages from position
    ``turns_from`` on are earlier turns of the conversation, and the reason calls them so.
    """
    if not passages.quotes:
        return SupportVerdict("absent", 0.0, (), None, "no_contexts_to_read")
    seen = gather(proposition, passages)
    if seen is None:
        asked = gather(question, passages) if question and tokens(proposition) else None
        probability = 0.0 if asked is None else probability_of(asked) / 2
        return SupportVerdict("absent", probability, (), None, "no_words_to_look_for")
    probability = probability_of(seen, alignment)
    against = contradiction.contradiction(without_citations(proposition), seen, passages)
    why = _reason(proposition, seen, alignment, against, passages, turns_from)
    if against is not None:
        contexts, quote = _quoted((against.sentence, *seen.sentences), passages)
        probability = min(probability, CONTRADICTED)
        return SupportVerdict("contradicted", probability, contexts, quote, why, seen)
    if probability >= SUPPORTED:
        rests_on = seen.sentences
        if alignment is not None and seen.window < BY_WORDS:
            rests_on = tuple(dict.fromkeys((alignment.sentence, *rests_on)))
        contexts, quote = _quoted(rests_on, passages)
        return SupportVerdict("supported", probability, contexts, quote, why, seen)
    return SupportVerdict("absent", probability, (), None, why, seen)


def probability_of(seen: EvidenceCounts, alignment: Alignment | None = None) -> float:
    """The probability by the curve, from the counts and, if there is one, the alignment."""
    if alignment is None:
        return curve(STRINGS).probability(seen.features())
    return curve(ENCODER).probability(seen.features() | alignment.features())


def _quoted(rests_on: tuple[int, ...], passages: Passages) -> tuple[tuple[int, ...], str | None]:
    contexts = dict.fromkeys(passages.places[number].context for number in rests_on)
    return tuple(contexts), passages.quotes[rests_on[0]] if rests_on else None


def _reason(
    proposition: str,
    seen: EvidenceCounts,
    alignment: Alignment | None,
    against: ContradictingSentence | None,
    passages: Passages,
    turns_from: int | None,
) -> str:
    text = without_citations(proposition)
    places = sorted({passages.places[number].context for number in seen.sentences})
    contexts = [place + 1 for place in places if turns_from is None or place < turns_from]
    turns = [place + 1 - turns_from for place in places if turns_from is not None
             and place >= turns_from]  # fmt: skip
    return reason(
        "words_in_contexts",
        n=round(seen.window * seen.content_words) if places else 0,
        words=seen.content_words,
        contexts=",".join(map(str, contexts)),
        turns=",".join(map(str, turns)) or None,
        aligned=None if alignment is None else f"{alignment.aligned:.2f}",
        numbers=as_written(seen.new_numbers[:3], text),
        names=as_written(seen.new_names[:3], text),
        against=None if against is None else against.says,
    )
