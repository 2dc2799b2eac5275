"""Ids: relevance known from reference ids or qrels."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.judgements import Relevance

from .judge import Block, Filled, Sheet, fingerprint


@dataclass(frozen=True)
class IdsJudge:
    """Looks up each retrieved id among the judged ids.

    An id that is not listed counts as not relevant, as trec_eval does;
    ``unjudged_rate`` measures how often that happens.
    """

    name: str = "ids"
    about: str = "reference ids or qrels in the data; ids not listed count as not relevant"
    asks: frozenset[str] = frozenset(ask.name for ask in Relevance.asks)

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """One row per retrieved context of an example whose judged ids are known."""
        sheet = Sheet(ask, self.name)
        for row in rows:
            example = block.examples[row]
            known = example.reference_contexts
            if known is None or example.contexts is None:
                continue
            subject = fingerprint("ids", example.id)
            sheet.done(row, subject)
            for context in example.contexts:
                grade = known.get(context.id, 0)
                sheet.add(
                    subject,
                    rank=context.rank,
                    grade=grade,
                    relevant=grade >= 1,
                )
        return sheet.filled()
