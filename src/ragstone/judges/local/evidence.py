"""Evidence: counts how much of a proposition's wording is in the contexts."""

import re
from dataclasses import dataclass

from ragstone.judges.lexical import longest_common_subsequence

from .frames import frame_end
from .held import Held
from .passages import Passages
from .words import names, numbers, stem_or_none, tokens

VERSION = "ragstone-evidence/1"


@dataclass(frozen=True, slots=True)
class EvidenceCounts:
    """The counts for one proposition, before they are weighted.

    Args:
        content_words: Number of its distinct content words.
        words: Share of all its words, including stop words, that are anywhere in the contexts.
        window: Share of its content words within three neighbouring sentences.
        in_order: Share of its words that are in that window in the same order: the longest
            common subsequence.
        new_small_words: Share of its words that are stop words and in no context.
        new_numbers: Its numbers that are in no context.
        new_names: Stems of its capitalised words that are in no context.
        first_person: Share of its words such as `I` or `we`, if no context has such words.
        framed: Whether a frame such as `I heard that` was removed.
        opinion: Whether it has a word of liking or doubting that is in no context.
        sentences: Sentences of the best window with words of the proposition, most words first.
        held: Which of its content words are in which sentences.
    """

    content_words: int
    words: float
    window: float
    in_order: float
    new_small_words: float
    new_numbers: tuple[str, ...]
    new_names: tuple[str, ...]
    first_person: float
    framed: bool
    opinion: bool
    tokens: tuple[str, ...]
    sentences: tuple[int, ...]
    held: Held

    def features(self) -> dict[str, float]:
        """The features of the support curve, by name."""
        return {
            "words": self.words,
            "window": self.window,
            "in_order": self.in_order,
            "new_small_words": self.new_small_words,
            "new_numbers": float(min(2, len(self.new_numbers))),
            "new_names": float(min(2, len(self.new_names))),
            "first_person": self.first_person,
            "framed": float(self.framed),
            "opinion": float(self.opinion),
        }


def gather(proposition: str, passages: Passages) -> EvidenceCounts | None:
    """Count the evidence for one proposition; None if it has no content word."""
    plain = without_citations(proposition)
    begin = frame_end(plain)
    plain = plain[begin:]
    words = tokens(plain)
    distinct = list(dict.fromkeys(filter(None, map(stem_or_none, words))))
    if not distinct:
        return None
    held = Held(tuple(map(passages.sentences_with, distinct)))
    best, together = held.best_window()
    said = [token for number in sorted(best) for token in passages.tokens_of[number]]
    vocabulary = passages.vocabulary
    new = [token for token in words if token not in vocabulary]
    own = FIRST_PERSON.isdisjoint(vocabulary)
    return EvidenceCounts(
        content_words=len(distinct),
        words=(len(words) - len(new)) / len(words),
        window=together / len(distinct),
        in_order=longest_common_subsequence(words, said) / len(words) if said else 0.0,
        new_small_words=sum(stem_or_none(token) is None for token in new) / len(words),
        new_numbers=tuple(sorted(n for n in numbers(distinct) if n not in passages.where)),
        new_names=tuple(dict.fromkeys(n for n in names(plain) if n not in passages.where)),
        first_person=sum(token in FIRST_PERSON for token in words) / len(words) if own else 0.0,
        framed=begin > 0,
        opinion=not OPINION.isdisjoint(new),
        tokens=tuple(words),
        sentences=best,
        held=held,
    )


def without_citations(text: str) -> str:
    """The text with spaces in place of citation marks, so that positions do not change."""
    return _CITATION.sub(lambda mark: " " * len(mark.group()), text)


FIRST_PERSON = frozenset(
    "i me my mine myself we our us ours i'm i've i'd i'll we're we've".split()  # noqa: SIM905
)
OPINION = frozenset(
    "love like enjoy favorite favourite awesome cool fun great amazing best hate prefer wonder "  # noqa: SIM905
    "hope guess maybe bet sure glad wow interesting interested funny nice good bad sad happy sorry "
    "probably imagine wish think feel really pretty definitely totally".split()
)
_CITATION = re.compile(
    r"\[[\d\s,;^–-]{1,40}\]|\[Data:[^\]]{0,200}\]|【[^【】\n]{1,60}】"
    # Ids of letters and digits, but no names such as [COVID-19].
    r"|\[(?![A-Z]{2,20}-\d{1,20}\])(?=[^\[\]\s\d]{1,58}\d)[\w.:#/-]{1,60}\]"
    r"|\[(?:[Ss]ource|[Dd]oc|[Dd]ocument|[Rr]ef|[Pp]assage|[Cc]ontext|[Cc]hunk)s?"
    r"(?: ?[:#] ?| )[\w.:#/,; -]{1,50}\]"
)
