"""Rules judge: judgements by counting and logic alone, such as citations and overlap."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import Reason, reason
from ragstone.data.record_labels import OF_SOME_CLAIM, implied_labels, verdicts_left
from ragstone.judgements import (
    ASKS,
    KINDS,
    MISSING,
    REQUIREMENTS,
    UNDEFINED,
    VALUE,
    AnswerSentence,
    Citation,
    Claims,
    Entity,
    Grounding,
    Lexical,
    Ngrams,
    Phrases,
    SquadWords,
    Support,
    kind_of,
)

from .judge import (
    HUMAN,
    LEDGER,
    PERSON,
    RULES,
    Block,
    Filled,
    Labels,
    RowBuilder,
    Rows,
    beside,
    fingerprint,
    no_text,
)
from .local.response_type import PHRASES_8, PHRASES_12, abstains_by_phrases
from .local.sentences import sentences
from .markers import MARKERS, markers
from .text_counts import bleu, chrf, entities, held_by, overlap, squad_f1


@dataclass(frozen=True)
class RulesJudge:
    """Citations, word overlap, stock phrases, and what follows from other judgements.

    If nothing was retrieved, there is no context to judge and no proposition
    is supported. A grounding label
    that people did not give follows from their other labels, or from the judged claims and the
    citations.
    """

    name: str = "rules"
    about: str = "facts of counting and of logic"
    citation_pattern: str = MARKERS

    @property
    def asks(self) -> frozenset[str]:
        """Everything that can be counted, derived, or known because nothing was retrieved."""
        return frozenset(
            ask.name
            for kind in KINDS.values()
            for ask in kind.asks
            if "counting" in ask.by or kind is Grounding or kind.unretrieved is not None
        )

    def __post_init__(self) -> None:
        try:
            re.compile(self.citation_pattern)
        except re.error as error:
            raise InputError(
                f"The citation pattern is not a valid regular expression: {error}."
            ) from error

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        """By counting, or from the tables so far."""
        kind = kind_of(ask)
        if kind is Citation:
            return self._citations(block, rows)
        if kind is Lexical:
            return self._lexical(block, rows)
        if kind is SquadWords:
            return self._squad_words(block, rows)
        if kind is Ngrams:
            return self._ngrams(block, rows)
        if kind is Entity:
            return self._entities(ask, block, rows)
        if kind is Phrases:
            return self._phrases(block, rows)
        if kind is AnswerSentence:
            return self._sentences(block, rows)
        if kind is not Grounding:
            return self._nothing_retrieved(ask, block, rows)
        (source,) = ASKS[ask].after
        if kind_of(source) is Support:
            claims = Claims.frame(block.tables, (Claims.support.meta.output_name(),))
            return self._grounding(ask, source, claims, _SUPPORT, block, rows)
        citations = block.tables.of(source)
        return self._grounding(ask, source, citations, _CITATION, block, rows)

    def _citations(self, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(Citation.name, self.name)
        for row in rows:
            example = block.examples[row]
            answer = example.answer or ""
            contexts = example.contexts or ()
            subject = fingerprint(Citation.name, answer, [context.id for context in contexts])
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
        sheet = RowBuilder(Lexical.name, self.name)
        for row in rows:
            example = block.examples[row]
            answer = example.answer or ""
            subject = fingerprint(Lexical.name, answer, example.reference)
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

    def _squad_words(self, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(SquadWords.name, self.name)
        for row in rows:
            example = block.examples[row]
            answer = example.answer or ""
            subject = fingerprint(SquadWords.name, answer, example.reference)
            if not sheet.done(row, subject):
                continue
            for number, reference in enumerate(example.reference):
                sheet.add(subject, reference=number, squad_f1=squad_f1(answer, reference))
        return sheet.filled()

    def _ngrams(self, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(Ngrams.name, self.name)
        for row in rows:
            example = block.examples[row]
            answer = example.answer or ""
            subject = fingerprint(Ngrams.name, answer, example.reference)
            if not sheet.done(row, subject):
                continue
            for number, reference in enumerate(example.reference):
                sheet.add(
                    subject,
                    reference=number,
                    bleu=bleu(answer, reference),
                    chrf=chrf(answer, reference),
                )
        return sheet.filled()

    def _entities(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(ask, self.name)
        for row in rows:
            example = block.examples[row]
            texts = [context.text for context in example.contexts or ()]
            subject = fingerprint(ask, texts, example.reference)
            if (lack := no_text(example)) is not None:
                sheet.done(row, subject, "failed", reason(lack, of=self.name))
                continue
            if not sheet.done(row, subject):
                continue
            look_up = held_by(texts)
            for number, reference in enumerate(example.reference):
                for index, entity in enumerate(entities(reference)):
                    sheet.add(
                        subject,
                        reference=number,
                        index=index,
                        text=entity.text,
                        found=look_up(entity),
                    )
        return sheet.filled()

    def _sentences(self, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(AnswerSentence.name, self.name)
        for row in rows:
            answer = block.examples[row].answer or ""
            subject = fingerprint(AnswerSentence.name, answer)
            if sheet.done(row, subject):
                for index, sentence in enumerate(sentences(answer)):
                    sheet.add(subject, index=index, text=sentence.text)
        return sheet.filled()

    def _phrases(self, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(Phrases.name, self.name)
        for row in rows:
            answer = block.examples[row].answer or ""
            subject = fingerprint(Phrases.name, answer)
            if sheet.done(row, subject):
                sheet.add(
                    subject,
                    phrases_8=abstains_by_phrases(answer, PHRASES_8),
                    phrases_12=abstains_by_phrases(answer, PHRASES_12),
                )
        return sheet.filled()

    def _nothing_retrieved(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        sheet = RowBuilder(ask, self.name)
        origin = ASKS[ask].origin
        propositions = block.propositions(ask) if origin else {}
        known = [block.tables.outcome(one)["status"] == VALUE for one in ASKS[ask].after]
        for row in rows:
            example = block.examples[row]
            turns = sheet.kind.reads_turns and example.history
            # Where the system does not retrieve, a kind that reads turns is about these alone.
            if example.contexts != () or turns or not all(made[row] for made in known):
                continue
            subject = fingerprint("nothing retrieved", ask, example.id)
            sheet.done(row, subject)
            for proposition in propositions.get(row, ()):
                sheet.add(
                    subject,
                    origin=origin,
                    author=proposition.author,
                    reference=proposition.reference,
                    index=proposition.index,
                    **(sheet.kind.unretrieved or {}),
                )
        return sheet.filled()

    def _grounding(
        self,
        ask: str,
        source: str,
        units: pl.DataFrame,
        facts: dict[str, pl.Expr],
        block: Block,
        rows: Sequence[int],
    ) -> Filled:
        """Whether any unit has it; unknown if a unit without a verdict could change that.

        Undefined or failed if its source is.
        """
        came_out = _came_out(source, block).with_row_index("row")
        entries = pl.DataFrame({"row": pl.Series(rows, dtype=pl.UInt32)}).join(came_out, on="row")
        found = units.group_by("row").agg(some=pl.lit(value=True), **facts)
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
            requests=pl.lit(None, pl.List(pl.String)),
        )
        table = values.join(ids, on="row").select(
            *(
                pl.when("some").then(name).otherwise(pl.lit(value=False)).alias(name)
                for name in facts
            ),
            subject=subject,
            judge=pl.lit(self.name),
            reason=pl.lit(reason("follows_from", ask=source)),
        )
        return Filled(
            pl.concat([Grounding.empty(), table], how="diagonal_relaxed"),
            ledger.cast(dict(LEDGER)),  # type: ignore[arg-type]
        )


def _came_out(source: str, block: Block) -> pl.DataFrame:
    """The outcome of the source; undefined if the example lacks what it requires."""
    lacks = pl.coalesce(
        pl.when(REQUIREMENTS[name].holds.fill_null(value=False).not_()).then(
            pl.lit(REQUIREMENTS[name].reason)
        )
        for name in ASKS[source].requires
    )
    lack = block.frame.select(lack=lacks)
    return pl.concat([block.tables.outcome(source), lack], how="horizontal").select(
        status=pl.when(pl.col("lack").is_null()).then("status").otherwise(UNDEFINED),
        reason=pl.coalesce("lack", "reason"),
    )


_SUPPORT = {
    label: Claims.support.is_in(verdicts).any(ignore_nulls=False)
    for label, verdicts in OF_SOME_CLAIM.items()
}
_CITATION = {
    "source_cited": pl.len() > 0,
    "fabricated_source": pl.col("context").is_null().any(),
}

PARTS = Support.ask("claim").name
WHOLE = next(ask.name for ask in Grounding.asks if PARTS in ask.after)
"""What is asked of an answer as a whole, and of its claims, which labels of the whole decide."""

FOLLOWS = reason("follows_from_whole")
LEFT_OPEN = "labels_left_open"
"""Why a row has labels of an answer that a person left open; names these."""


def fill_labels(ask: str, filled: Sequence[Filled], rows: Sequence[int]) -> Filled:
    """People's labels of answers as a whole, with those that they left open.

    Args:
        ask: About the answer as a whole.
        filled: What people and the judges after them say.
        rows: The examples in which a person left a label open.
    """
    sheet = RowBuilder(ask, HUMAN)
    words = [_by_example(judge) for judge in filled] if rows else []
    for row in rows:
        labels, *derived = (word[row] for word in words if row in word)
        whole = with_open_labels(labels, *derived)
        if whole != labels:
            sheet.done(row, labels["subject"])
            sheet.add(**whole)
    return sheet.filled()


def _by_example(filled: Filled) -> dict[int, dict[str, Any]]:
    spoken = filled.ledger.filter(pl.col("status") == "ok").select("row", "subject")
    return {row.pop("row"): row for row in spoken.join(filled.rows, on="subject").to_dicts()}


def with_open_labels(labels: Labels, derived: Labels | None = None) -> dict[str, Any]:
    """A person's labels of an answer, and those left open as they follow.

    They follow from the person's other labels, else as the rule derives them.
    """
    settled = {**(derived or {}), **implied_labels(labels)}
    added = {
        name: settled[name]
        for name in Grounding.having("verdict")
        if labels.get(name) is None and settled.get(name) is not None
    }
    why = reason(LEFT_OPEN, labels=",".join(added)) if added else labels["reason"]
    return {**labels, **added, "reason": why}


def labels_over(labelled: pl.DataFrame, derived: pl.DataFrame) -> pl.DataFrame:
    """The derived rows, replaced by people's labels where there are any."""
    by_rule = {row["row"]: row for row in derived.to_dicts()}
    people = [people_labels(row) for row in labelled.to_dicts()]
    whole = [with_open_labels(row, by_rule.get(row["row"])) for row in people]
    others = derived.join(labelled, on="row", how="anti")
    return pl.concat([others, pl.DataFrame(whole, schema=labelled.schema)])


def beside_labels(row: Labels, said: Labels) -> dict[str, bool]:
    """What labels of an answer imply, except where a person said otherwise."""
    by_people = {} if row.get("judge") == RULES else people_labels(row)
    implied = implied_labels(said)
    return {name: value for name, value in implied.items() if by_people.get(name) is None}


def people_labels(row: Labels) -> dict[str, Any]:
    """What people said in a row that ``with_open_labels`` made, or in any other."""
    why = Reason.read(row.get("reason") or "")
    if why.code != LEFT_OPEN:
        return dict(row)
    return {**row, **dict.fromkeys(why.facts["labels"].split(",")), "reason": None}


def decide_parts(block: Block, filled: Sequence[Filled], rows: Sequence[int]) -> Filled:
    """What labels of answers as a whole say of their claims.

    Args:
        block: The block, with its claims.
        filled: What the judges say of the support of these claims.
        rows: The examples for which no judge before people spoke.
    """
    sheet = RowBuilder(PARTS, HUMAN)
    labelled = [row for row in rows if block.examples[row].labels.get("answer")]
    propositions = block.propositions(PARTS) if labelled else {}
    for row in labelled:
        example, judged = block.examples[row], _first_word(filled, row)
        claims = [
            judged.get((one.author, one.index))
            or {"author": one.author, "reference": 0, "index": one.index, "verdict": None}
            for one in propositions.get(row, ())
        ]
        decided = decided_parts(example.labels["answer"], claims, HUMAN)
        if decided != claims:
            subject = fingerprint("whole", example.id)
            sheet.done(row, subject)
            for values in decided:
                sheet.add(**values | {"subject": subject})
    return sheet.filled()


def _first_word(filled: Sequence[Filled], row: int) -> dict[tuple[str, int], dict[str, Any]]:
    """The rows about the claims of an example by the first judge that spoke for it."""
    for one in filled:
        spoken = one.ledger.filter((pl.col("row") == row) & (pl.col("status") == "ok"))
        if spoken.height:
            rows = one.rows.join(spoken, on=["subject", "judge"], how="semi").to_dicts()
            return {(row["author"], row["index"]): row for row in rows}
    return {}


def decided_parts(answer: Labels, claims: Rows, judge: str) -> Rows:
    """The rows about all claims of an answer, with what its labels as a whole leave of them.

    What the labels leave open stays as it was judged. A verdict that they rule out becomes the
    only one left, or ``absent``. A person's own word on a claim speaks first.

    Args:
        answer: The labels of the answer.
        claims: What was judged of each claim; its verdict is null where nobody judged it.
        judge: Who labelled the answer.
    """
    left = verdicts_left(answer, len(claims))
    return [_decided(claim, left, judge) for claim in claims] if left else claims


def _decided(claim: dict[str, Any], left: Sequence[str], judge: str) -> dict[str, Any]:
    follows = claim.get("reason") == FOLLOWS
    was = None if follows else claim["verdict"]
    if was is not None and (claim["judge"] == HUMAN or claim["judge"].startswith(PERSON)):
        return claim
    verdict: str | None = was and "absent"
    if len(left) == 1:
        (verdict,) = left
    elif was in left or (was is None and not follows):
        return claim
    same, unit = verdict == claim["verdict"], ("subject", *Support.having("unit"))
    kept = {name: value for name, value in claim.items() if same or name in unit}
    return kept | {
        "origin": "claim",
        "verdict": verdict,
        "judge": judge,
        "reason": FOLLOWS,
        **beside(Support, {"verdict": verdict}, kept),
    }
