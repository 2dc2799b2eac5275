"""The NLI judge: support by a model of natural language inference.

For each proposition, the windows of the contexts with most of its words are selected. The model
reads each window as the premise and the proposition as the hypothesis.

    probability    the largest entailment of a window
    contradicted   in the window with most words the contradiction is above .5 and above that
    supported      else, from .5
    absent         else

A model with one output, as for hallucination, and one that tells only entailment from its absence
never say contradicted. Whether the numbers are well calibrated depends on the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.core.messages import reason
from ragstone.judgements import ASKS, ConversationSupport, Support
from ragstone.models.cross_encoder import CrossEncoder, open_cross_encoder
from ragstone.models.model_store import Note

from .earlier_turns import block_with_turns
from .judge import Block, Filled, Proposition, Sheet, fingerprint
from .nli_windows import SENTENCES, WINDOWS, Window, read_sentences, windows

THRESHOLD = 0.5
DECIMALS = 6
EXAMPLES_AT_ONCE = 32

MEANINGS = {
    "entailment": {"entailment", "entailed", "supports", "supported", "consistent"},
    "contradiction": {"contradiction", "contradicted", "refutes", "refuted"},
    "neither": {
        *("neutral", "not entailment", "non entailment", "not enough info", "not supported"),
        *("unsupported", "hallucinated", "hallucination", "inconsistent"),
    },
}
"""The labels that are understood, in lower case, a space between words."""


def nli_judge(where: str, *, offline: bool = False, note: Note | None = None) -> "NliJudge":
    """Open the judge ``nli:WHERE``; WHERE as for ``open_cross_encoder``.

    Raises:
        UnknownName: WHERE is not the name of a model.
        ModelError: The model cannot be had or used, or its labels are not understood.
        MissingDependency: The back end is not installed.
    """
    return NliJudge(f"nli:{where}", open_cross_encoder(where, offline=offline, note=note))


@dataclass(frozen=True, slots=True)
class Outputs:
    """The meaning of a model's outputs; None for a meaning that no output has."""

    entailment: int
    contradiction: int | None


def outputs(model: CrossEncoder) -> Outputs:
    """What the outputs of a model mean. A single one is the probability of entailment.

    Raises:
        ModelError: Its labels are not understood.
    """
    if len(model.labels) == 1:
        return Outputs(0, None)
    said = [label.lower().replace("_", " ").replace("-", " ") for label in model.labels]
    known = [next((one for one, names in MEANINGS.items() if name in names), "") for name in said]
    if "" in known or known.count("entailment") != 1 or known.count("contradiction") > 1:
        raise ModelError(
            f"{model.name} has the labels {', '.join(model.labels)}. Expected entailment, "
            "contradiction and neutral, or entailment and not_entailment, or one label alone"
        )
    contradiction = known.index("contradiction") if "contradiction" in known else None
    return Outputs(known.index("entailment"), contradiction)


@dataclass(frozen=True, slots=True)
class NliVerdict:
    """Whether the contexts back up one proposition.

    ``evidence`` holds positions of contexts, empty where it is absent; ``quote`` a sentence of the
    first of them, word for word.
    """

    verdict: Literal["supported", "contradicted", "absent"]
    probability: float
    evidence: tuple[int, ...]
    quote: str | None
    reason: str


def verdict(read: Sequence[tuple[Window, Sequence[float]]], known: Outputs) -> NliVerdict:
    """The verdict on a proposition.

    Args:
        read: Each window with what the model says of it, the one with most words of the
            proposition first.
        known: What the outputs of the model mean.
    """
    if not read:
        return NliVerdict("absent", 0.0, (), None, "nothing_to_read")
    entailed = [round(scores[known.entailment], DECIMALS) for _, scores in read]
    best = entailed.index(max(entailed))
    denied = 0.0 if known.contradiction is None else read[0][1][known.contradiction]
    contradicts = denied > THRESHOLD and denied > entailed[best]
    why = reason(
        "entailed",
        entailment=f"{entailed[best]:.2f}",
        windows=len(read),
        contradiction=f"{denied:.2f}" if contradicts else None,
    )
    if contradicts:
        return _on(read[0][0], "contradicted", entailed[best], why)
    if entailed[best] >= THRESHOLD:
        return _on(read[best][0], "supported", entailed[best], why)
    return NliVerdict("absent", entailed[best], (), None, why)


@dataclass(frozen=True)
class NliJudge:
    """Judges support by natural language inference.

    Args:
        name: As it stands in every row it fills.
        model: Premise first, hypothesis second. Its labels are those of ``MEANINGS``, or it has one
            output alone: the probability that the second text follows from the first.

    Raises:
        ModelError: Its labels are not understood.
    """

    name: str
    model: CrossEncoder
    asks: frozenset[str] = frozenset(ask.name for ask in (*Support.asks, *ConversationSupport.asks))

    def __post_init__(self) -> None:
        outputs(self.model)

    @property
    def about(self) -> str:
        """How it judges, and by which model."""
        return (
            f"inference from the {WINDOWS} windows of {SENTENCES} sentences with most words of a "
            f"proposition, by {self.model.about}"
        )

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """Judge each proposition, those of several examples together."""
        sheet = Sheet(ask, self.name)
        if sheet.kind.reads_turns:
            block = block_with_turns(block)
        propositions = block.propositions(ask)
        said: dict[str, list[NliVerdict] | str] = {}
        waiting = iter(rows)
        while some := list(islice(waiting, EXAMPLES_AT_ONCE)):
            subjects = {
                row: fingerprint(sheet.kind.name, block.digests[row], propositions.get(row, []))
                for row in some
            }
            new = {subject: row for row, subject in subjects.items() if subject not in said}
            said |= self._judged(block, propositions, new)
            for row, subject in subjects.items():
                _enter(sheet, block, row, subject, propositions.get(row, []), said[subject])
        return sheet.filled()

    def _judged(
        self,
        block: Block,
        propositions: Mapping[int, Sequence[Proposition]],
        rows: Mapping[str, int],
    ) -> "dict[str, list[NliVerdict] | str]":
        """The verdicts of each subject, or why there are none."""
        said: dict[str, list[NliVerdict] | str] = {}
        read: dict[str, list[list[Window]]] = {}
        for subject, row in rows.items():
            texts = [context.text for context in block.examples[row].contexts or ()]
            if texts and all(text is None for text in texts):
                said[subject] = f"{self.name}: no_context_text"
                continue
            passages = read_sentences([text or "" for text in texts])
            read[subject] = [windows(one.text, passages) for one in propositions.get(row, ())]
        try:
            every = self._fitting(
                [one for some in read.values() for found in some for one in found]
            )
            scores = self.model.score([one.pair for one in every]).tolist()
        except ModelFailure as error:
            return said | dict.fromkeys(read, f"{self.name}: {error}")
        known = outputs(self.model)
        scored = zip(every, scores, strict=True)
        for subject, some in read.items():
            said[subject] = [verdict([next(scored) for _ in found], known) for found in some]
        return said

    def _fitting(self, found: Sequence[Window]) -> list[Window]:
        """The windows, shortened by whole sentences to the model's limit."""
        fitting = list(found)
        long = list(range(len(fitting)))
        for _ in range(SENTENCES - 1):
            lengths = self.model.lengths([fitting[place].pair for place in long])
            over = (lengths > self.model.max_tokens).tolist()
            long = [
                place
                for place, is_over in zip(long, over, strict=True)
                if is_over and len(fitting[place].sentences) > 1
            ]
            for place in long:
                fitting[place] = fitting[place].shorter
        return fitting


def _enter(
    sheet: Sheet,
    block: Block,
    row: int,
    subject: str,
    propositions: Sequence[Proposition],
    said: list[NliVerdict] | str,
) -> None:
    if isinstance(said, str):
        sheet.done(row, subject, "failed", said)
        return
    if not sheet.done(row, subject):
        return
    contexts = block.examples[row].contexts or ()
    for proposition, one in zip(propositions, said, strict=True):
        sheet.add(
            subject,
            origin=ASKS[sheet.ask].origin,
            author=proposition.author,
            reference=proposition.reference,
            index=proposition.index,
            verdict=one.verdict,
            probability=one.probability,
            evidence=[contexts[place].id for place in one.evidence],
            quote=one.quote,
            reason=one.reason,
        )


def _on(
    window: Window, said: Literal["supported", "contradicted"], probability: float, reason: str
) -> NliVerdict:
    contexts = tuple(dict.fromkeys(sentence.context for sentence in window.fullest))
    return NliVerdict(said, probability, contexts, window.fullest[0].text, reason)
