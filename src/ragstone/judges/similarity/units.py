"""Units: the texts of an example that each measure compares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ragstone.data import Example
from ragstone.judges.local.sentences import sentences


@dataclass(frozen=True, slots=True)
class Unit:
    """The pairs of texts that one row is about, of which the best counts.

    ``index`` is the row's. An empty text is similar to nothing. Without a pair there
    is nothing to compare.
    """

    index: int
    pairs: tuple[tuple[str, str], ...]

    @property
    def texts(self) -> set[str]:
        """All texts that are not empty."""
        return {text for pair in self.pairs for text in pair if text.strip()}

    @property
    def says_something(self) -> bool:
        """Whether some pair has two texts that are not empty."""
        return any(one.strip() and other.strip() for one, other in self.pairs)


Units = list[Unit] | str
"""The units, or what is lacking."""

NO_TEXT = "no_context_text"


def question_context(example: Example) -> Units:
    """Each context with the question; a context without a text is left open."""
    return _of_contexts(example, (example.question or "",))


def reference_context(example: Example) -> Units:
    """Each context with every reference."""
    return _of_contexts(example, example.reference)


def sentence_context(example: Example) -> Units:
    """Each sentence of the answer with every context."""
    texts = [context.text for context in example.contexts or ()]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return NO_TEXT
    return [
        Unit(index, tuple((sentence.text, text) for text in known))
        for index, sentence in enumerate(sentences(example.answer or ""))
    ]


def answer_reference(example: Example) -> list[Unit]:
    """The answer with each reference."""
    answer = example.answer or ""
    return [Unit(number, ((answer, text),)) for number, text in enumerate(example.reference)]


def question_answer(example: Example) -> list[Unit]:
    """The question with the answer."""
    return [Unit(0, ((example.question or "", example.answer or ""),))]


READERS: Mapping[str, Callable[[Example], Units]] = {
    "question_context": question_context,
    "reference_context": reference_context,
    "sentence_context": sentence_context,
    "answer_reference": answer_reference,
    "question_answer": question_answer,
}
"""By measure; with windows the same, only that the contexts are read in pieces."""


def _of_contexts(example: Example, others: tuple[str, ...]) -> Units:
    contexts = example.contexts or ()
    if contexts and all(context.text is None for context in contexts):
        return NO_TEXT
    return [
        Unit(context.rank, tuple((other, context.text) for other in others))
        for context in contexts
        if context.text is not None
    ]
