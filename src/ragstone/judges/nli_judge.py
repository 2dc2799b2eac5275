"""NLI judge: support of propositions, by a model of natural language inference.

For each proposition, the sections of the contexts with most of its words are selected. The model
reads each section as the premise and the proposition as the hypothesis::

    probability    the largest entailment of a section
    contradicted   in the section with most words the contradiction is over .5 and the probability
    supported      else, from .5
    absent         else

A model with a single output, as for hallucination, or without a label for contradiction never
says contradicted. The calibration of the probabilities depends on the model.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice
from typing import Literal

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.core.messages import reason
from ragstone.judgements import ConversationSupport, Support
from ragstone.models.cross_encoder import CrossEncoder, open_cross_encoder

from .judge import Block, Filled, Proposition, RowBuilder, block_with_turns, fingerprint, no_text
from .local.claim_support import SupportVerdict
from .local.sentences import sentences
from .local.text_terms import terms

# How many sentences a window has.
SENTENCES = 5

# How many windows are read for a proposition, at most.
WINDOWS = 5

# Sentences that two windows may have in common.
SHARED = 2


@dataclass(frozen=True, slots=True)
class ContextSentence:
    """A sentence, word for word, the position of its context, from 0, and its stemmed content
    words.
    """

    text: str
    context: int
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class PassageWindow:
    """Sentences in a row, at least one, to be read for a proposition with these content words."""

    sentences: tuple[ContextSentence, ...]
    proposition: str
    content: frozenset[str]

    @property
    def pair(self) -> tuple[str, str]:
        """Premise and hypothesis: the sentences, a space between them, and the proposition."""
        return " ".join(sentence.text for sentence in self.sentences), self.proposition

    @property
    def fullest(self) -> tuple[ContextSentence, ...]:
        """Sentences with words of the proposition, most words first; all if none has any."""
        holding = [sentence for sentence in self.sentences if sentence.terms & self.content]
        holding.sort(key=lambda sentence: -len(sentence.terms & self.content))
        return tuple(holding) or self.sentences

    @property
    def shorter(self) -> "PassageWindow":
        """Without its first or its last sentence, whichever has fewer words of the proposition."""
        first, last = (len(self.sentences[end].terms & self.content) for end in (0, -1))
        left = self.sentences[1:] if first < last else self.sentences[:-1]
        return replace(self, sentences=left)


def read_sentences(contexts: Sequence[str]) -> list[ContextSentence]:
    return [ContextSentence(sentence.text, position, frozenset(terms(sentence.text)))
            for position, text in enumerate(contexts) for sentence in sentences(text)]  # fmt: skip


def windows(proposition: str, passages: Sequence[ContextSentence]) -> list[PassageWindow]:
    """The windows to be read for a proposition: those with most of its content words first.

    A window begins one sentence before one that holds a word, which may say what a pronoun means.
    Where that makes fewer, further ones are taken from the beginning on, for a context may say the
    same in other words. None for a blank proposition.
    """
    if not proposition.strip():
        return []
    content = frozenset(terms(proposition))
    chosen: list[int] = []
    for start in _candidates(content, passages):
        if len(chosen) == WINDOWS:
            break
        if all(abs(start - other) >= SENTENCES - SHARED for other in chosen):
            chosen.append(start)
    return [PassageWindow(tuple(passages[start : start + SENTENCES]), proposition, content)
            for start in chosen]  # fmt: skip


def _candidates(content: frozenset[str], passages: Sequence[ContextSentence]) -> Iterator[int]:
    last = max(0, len(passages) - SENTENCES)
    holding = [number for number, sentence in enumerate(passages) if sentence.terms & content]
    starts = sorted({min(last, max(0, number - 1)) for number in holding})
    held = {start: _held(content, passages[start : start + SENTENCES]) for start in starts}
    yield from sorted(starts, key=lambda start: -held[start])
    yield from range(0, len(passages), SENTENCES)


def _held(content: frozenset[str], window: Sequence[ContextSentence]) -> int:
    return len(content.intersection(term for sentence in window for term in sentence.terms))


THRESHOLD = 0.5
DECIMALS = 6
EXAMPLES_AT_ONCE = 32

# The labels that are understood, in lower case, a space between words.
MEANINGS = {
    "entailment": {"entailment", "entailed", "supports", "supported", "consistent"},
    "contradiction": {"contradiction", "contradicted", "refutes", "refuted"},
    "neither": {
        *("neutral", "not entailment", "non entailment", "not enough info", "not supported"),
        *("unsupported", "hallucinated", "hallucination", "inconsistent"),
    },
}


@lru_cache(maxsize=2)
def nli_judge(where: str, *, offline: bool = False) -> "NliJudge":
    """Open the judge ``nli:WHERE``; WHERE as for ``open_cross_encoder``.

    Raises:
        UnknownName: WHERE is not the name of a model.
        ModelError: The model cannot be had or used, or its labels are not understood.
        MissingDependency: The back end is not installed.
    """
    return NliJudge(f"nli:{where}", open_cross_encoder(where, offline=offline))


def outputs(model: CrossEncoder) -> tuple[int, int | None]:
    """The places of entailment and contradiction among a model's outputs; None if none says it.

    A single output is the probability of entailment.

    Raises:
        ModelError: Its labels are not understood.
    """
    if len(model.labels) == 1:
        return 0, None
    labels = [label.lower().replace("_", " ").replace("-", " ") for label in model.labels]
    known = [next((meaning for meaning, names in MEANINGS.items() if name in names), "")
             for name in labels]  # fmt: skip
    if "" in known or known.count("entailment") != 1 or known.count("contradiction") > 1:
        raise ModelError(
            f"{model.name} has the labels {', '.join(model.labels)}. Expected entailment, "
            "contradiction and neutral, or entailment and not_entailment, or one label alone"
        )
    contradiction = known.index("contradiction") if "contradiction" in known else None
    return known.index("entailment"), contradiction


def verdict(
    read: Sequence[tuple[PassageWindow, Sequence[float]]], known: tuple[int, int | None]
) -> SupportVerdict:
    """Return the verdict on a proposition.

    ``read`` has each window with its scores, the one with most words of the proposition first.
    """
    if not read:
        return SupportVerdict("absent", 0.0, (), None, "nothing_to_read")
    entailment, contradiction = known
    entailed = [round(scores[entailment], DECIMALS) for _, scores in read]
    best = entailed.index(max(entailed))
    denied = 0.0 if contradiction is None else read[0][1][contradiction]
    contradicts = denied > THRESHOLD and denied > entailed[best]
    why = reason("entailed", entailment=f"{entailed[best]:.2f}", windows=len(read),
                 contradiction=f"{denied:.2f}" if contradicts else None)  # fmt: skip
    if contradicts:
        return _on(read[0][0], "contradicted", entailed[best], why)
    if entailed[best] >= THRESHOLD:
        return _on(read[best][0], "supported", entailed[best], why)
    return SupportVerdict("absent", entailed[best], (), None, why)


@dataclass(frozen=True)
class NliJudge:
    """Judges support by natural language inference.

    The model reads the premise first. Its labels are those of ``MEANINGS``, or it has one output
    alone: the probability that the second text follows from the first.
    """

    name: str
    model: CrossEncoder
    asks: frozenset[str] = frozenset(ask.name for ask in (*Support.asks, *ConversationSupport.asks))

    def __post_init__(self) -> None:
        outputs(self.model)

    @property
    def about(self) -> str:
        return (
            f"inference from the {WINDOWS} windows of {SENTENCES} sentences with most words of a "
            f"proposition, by {self.model.about}"
        )

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(ask, self.name)
        if sheet.kind.reads_turns:
            block = block_with_turns(block)
        propositions = block.propositions(ask)
        verdicts: dict[str, list[SupportVerdict] | str] = {}
        waiting = iter(rows)
        while some := list(islice(waiting, EXAMPLES_AT_ONCE)):
            subjects = {
                row: fingerprint(sheet.kind.name, block.digests[row], propositions.get(row, []))
                for row in some
            }
            new = {subject: row for row, subject in subjects.items() if subject not in verdicts}
            verdicts |= self._judged(block, propositions, new)
            for row, subject in subjects.items():
                judged = verdicts[subject]
                if isinstance(judged, str):
                    sheet.done(row, subject, "failed", judged)
                elif sheet.done(row, subject):
                    contexts = block.examples[row].contexts or ()
                    for unit, word in zip(propositions.get(row, []), judged, strict=True):
                        sheet.add(subject, **unit.columns(sheet.origin), **word.columns(contexts))
        return sheet.filled()

    def _judged(self, block: Block, propositions: Mapping[int, Sequence[Proposition]],
                rows: Mapping[str, int]) -> "dict[str, list[SupportVerdict] | str]":  # fmt: skip
        verdicts: dict[str, list[SupportVerdict] | str] = {}
        read: dict[str, list[list[PassageWindow]]] = {}
        for subject, row in rows.items():
            example = block.examples[row]
            if (lack := no_text(example)) is not None:
                verdicts[subject] = f"{self.name}: {lack}"
                continue
            passages = read_sentences([context.text or "" for context in example.contexts or ()])
            read[subject] = [
                windows(proposition.text, passages) for proposition in propositions.get(row, ())
            ]
        try:
            windows_of_all = chain.from_iterable(chain.from_iterable(read.values()))
            every = self._fitting(list(windows_of_all))
            scores = self.model.score([window.pair for window in every]).tolist()
        except ModelFailure as error:
            return verdicts | dict.fromkeys(read, f"{self.name}: {error}")
        known = outputs(self.model)
        scored = zip(every, scores, strict=True)
        for subject, some in read.items():
            verdicts[subject] = [verdict([next(scored) for _ in chosen], known) for chosen in some]
        return verdicts

    def _fitting(self, read: Sequence[PassageWindow]) -> list[PassageWindow]:
        """The windows, shortened by whole sentences to the model's limit."""
        fitting = list(read)
        long = list(range(len(fitting)))
        for _ in range(SENTENCES - 1):
            lengths = self.model.lengths([fitting[number].pair for number in long])
            over = (lengths > self.model.max_tokens).tolist()
            long = [number for number, is_over in zip(long, over, strict=True)
                    if is_over and len(fitting[number].sentences) > 1]  # fmt: skip
            for number in long:
                fitting[number] = fitting[number].shorter
        return fitting


def _on(window: PassageWindow, word: Literal["supported", "contradicted"], probability: float,
        reason: str) -> SupportVerdict:  # fmt: skip
    contexts = tuple(dict.fromkeys(sentence.context for sentence in window.fullest))
    return SupportVerdict(word, probability, contexts, window.fullest[0].text, reason)
