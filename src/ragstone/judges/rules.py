"""Rules: facts of counting and of logic, the same for every judge."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from ragstone.errors import InputError
from ragstone.judgements import (
    MISSING,
    UNDEFINED,
    VALUE,
    Citation,
    Grounding,
    Lexical,
    Phrases,
    Support,
)

from .judge import LEDGER, Block, Filled, Sheet, fingerprint
from .lexical import overlap
from .local.response import PHRASES_8, PHRASES_12, abstains_by_phrases
from .local.sentences import sentences
from .markers import MARKERS, markers


@dataclass(frozen=True)
class RulesJudge:
    """Citations, word overlap, stock phrases, and what follows from other judgements.

    Where nothing was retrieved, no proposition is supported. A grounding label
    that nobody gave follows from the judged claims and the citations.
    """

    name: str = "rules"
    about: str = "facts of counting and of logic"
    citation_pattern: str = MARKERS
    asks: frozenset[str] = frozenset(
        {
            "citations",
            "lexical",
            "phrases",
            "support/claim",
            "support/statement",
            "support/evidence",
            "grounding/support",
            "grounding/citation",
        }
    )

    def __post_init__(self) -> None:
        try:
            re.compile(self.citation_pattern)
        except re.error as error:
            raise InputError(f"The citation pattern is no regular expression: {error}.") from error

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """By counting, or from the tables so far."""
        if ask == "citations":
            return self._citations(block, rows)
        if ask == "lexical":
            return self._lexical(block, rows)
        if ask == "phrases":
            return self._phrases(block, rows)
        if ask == "grounding/support":
            return self._grounding(ask, "support/claim", _SUPPORT, block, rows)
        if ask == "grounding/citation":
            return self._grounding(ask, "citations", _CITATION, block, rows)
        return self._nothing_retrieved(ask, block, rows)

    def _citations(self, block: Block, rows: Sequence[int]) -> Filled:
        sheet = Sheet(Citation, "citations", self.name)
        for row in rows:
            example = block.examples[row]
            answer = example.answer or ""
            contexts = example.contexts or ()
            subject = fingerprint("citations", answer, [context.id for context in contexts])
            if not sheet.done(row, subject):
                continue
            found = markers(answer, contexts, self.citation_pattern)
            ends = [sentence.end for sentence in sentences(answer)] if found else []
            for marker in found:
                sentence = sum(end <= marker.place for end in ends)
                sheet.add(
                    subject,
                    sentence=min(sentence, max(len(ends) - 1, 0)),
                    marker=marker.text,
                    context=marker.context,
                )
        return sheet.filled()

    def _lexical(self, block: Block, rows: Sequence[int]) -> Filled:
        sheet = Sheet(Lexical, "lexical", self.name)
        for row in rows:
            example = block.examples[row]
            answer = example.answer or ""
            subject = fingerprint("lexical", answer, example.reference)
            if not sheet.done(row, subject):
                continue
            for number, reference in enumerate(example.reference):
                counted = overlap(answer, reference)
                sheet.add(
                    subject,
                    reference=number,
                    exact_match=counted.exact_match,
                    token_f1=counted.token_f1,
                    token_f1_set=counted.token_f1_set,
                    rouge_2=counted.rouge_2,
                    rouge_l=counted.rouge_l,
                )
        return sheet.filled()

    def _phrases(self, block: Block, rows: Sequence[int]) -> Filled:
        sheet = Sheet(Phrases, "phrases", self.name)
        for row in rows:
            answer = block.examples[row].answer or ""
            subject = fingerprint("phrases", answer)
            if sheet.done(row, subject):
                sheet.add(
                    subject,
                    phrases_8=abstains_by_phrases(answer, PHRASES_8),
                    phrases_12=abstains_by_phrases(answer, PHRASES_12),
                )
        return sheet.filled()

    def _nothing_retrieved(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        sheet = Sheet(Support, ask, self.name)
        propositions = block.propositions(ask)
        origin = ask.split("/")[1]
        for row in rows:
            if block.examples[row].contexts != () or row not in propositions:
                continue
            subject = fingerprint("nothing retrieved", ask, block.examples[row].id)
            sheet.done(row, subject)
            for proposition in propositions[row]:
                sheet.add(
                    subject,
                    origin=origin,
                    author=proposition.author,
                    reference=proposition.reference,
                    index=proposition.index,
                    verdict="absent",
                    probability=0.0,
                    evidence=[],
                    reason="nothing was retrieved",
                )
        return sheet.filled()

    def _grounding(
        self, ask: str, source: str, facts: dict[str, pl.Expr], block: Block, rows: Sequence[int]
    ) -> Filled:
        """Any over the rows; undefined or failed where their source is."""
        came_out = block.tables.outcome(source).with_row_index("row")
        entries = pl.DataFrame({"row": pl.Series(rows, dtype=pl.UInt32)}).join(came_out, on="row")
        found = block.tables.of(source).group_by("row").agg(**facts)
        values = entries.filter(pl.col("status") == VALUE).join(found, on="row", how="left")
        ids = block.frame.with_row_index("row").select("row", "id")
        subject = pl.format("{}#{}", pl.lit(ask), "id")
        ledger = entries.join(ids, on="row").select(
            "row",
            ask=pl.lit(ask),
            judge=pl.lit(self.name),
            subject=subject,
            status=pl.col("status").replace_strict(
                {VALUE: "ok", UNDEFINED: "undefined", MISSING: "failed"}, return_dtype=pl.String
            ),
            reason=pl.col("reason"),
        )
        table = values.join(ids, on="row").select(
            *(pl.col(name).fill_null(value=False) for name in facts),
            subject=subject,
            judge=pl.lit(self.name),
            reason=pl.lit(f"follows from {source}"),
        )
        return Filled(
            pl.concat([Grounding.empty(), table], how="diagonal_relaxed"),
            ledger.cast(dict(LEDGER)),  # type: ignore[arg-type]
        )


_SUPPORT = {
    "support_present": (pl.col("verdict") == "supported").any(),
    "unsupported_claim_present": (pl.col("verdict") != "supported").any(),
    "contradicted_claim_present": (pl.col("verdict") == "contradicted").any(),
}
_CITATION = {
    "source_cited": pl.len() > 0,
    "fabricated_source": pl.col("context").is_null().any(),
}
