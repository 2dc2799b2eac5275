"""Rules judge: judgements by counting and logic alone, such as citations and overlap."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from ragstone.core.errors import InputError
from ragstone.core.messages import Reason, reason
from ragstone.data import Example
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
    Kind,
    Lexical,
    Ngrams,
    Phrases,
    SquadWords,
    Support,
    kind_of,
)

from .judge import (
    HUMAN,
    PERSON,
    RULES,
    Block,
    Filled,
    Labels,
    LedgerStatus,
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

Values = dict[str, Any]


@dataclass(frozen=True)
class RulesJudge:
    """Citations, word overlap, stock phrases, and what follows from other judgements.

    If nothing was retrieved, there is no context to judge and no proposition is supported. A
    grounding label that people did not give follows from their other labels, or from the judged
    claims and the citations.
    """

    name: str = "rules"
    about: str = "facts of counting and of logic"
    citation_pattern: str = MARKERS

    @property
    def asks(self) -> frozenset[str]:
        return frozenset(ask.name for kind in KINDS.values() for ask in kind.asks
                         if "counting" in ask.by or kind is Grounding
                         or kind.unretrieved is not None)  # fmt: skip

    def __post_init__(self) -> None:
        try:
            re.compile(self.citation_pattern)
        except re.error as error:
            raise InputError(
                f"The citation pattern is not a valid regular expression: {error}."
            ) from error

    def fill(self, ask: str, block: Block, rows: Sequence[int]) -> Filled:
        kind = kind_of(ask)
        if kind is Grounding:
            (source,) = ASKS[ask].after
            if kind_of(source) is Support:
                claims = Claims.frame(block.tables, (Claims.support.meta.output_name(),))
                return self._grounding(ask, source, claims, _SUPPORT, block, rows)
            return self._grounding(ask, source, block.tables.of(source), _CITATION, block, rows)
        sheet = RowBuilder(ask, self.name)
        count = self._citations if kind is Citation else _COUNTS.get(kind)
        if count is None:
            _nothing_retrieved(sheet, block, rows)
            return sheet.filled()
        for row in rows:
            example = block.examples[row]
            subject = fingerprint(ask, *_counted_texts(kind, example))
            if kind is Entity and (lack := no_text(example)) is not None:
                sheet.done(row, subject, "failed", reason(lack, of=self.name))
            elif sheet.done(row, subject):
                for values in count(example):
                    sheet.add(subject, **values)
        return sheet.filled()

    def _citations(self, example: Example) -> Iterator[Values]:
        answer = example.answer or ""
        cited = markers(answer, example.contexts or (), self.citation_pattern)
        ends = [sentence.end for sentence in sentences(answer)] if cited else []
        for marker in cited:
            sentence = sum(end <= marker.place for end in ends)
            yield {"sentence": min(sentence, max(len(ends) - 1, 0)), "marker": marker.text,
                   "context": marker.context}  # fmt: skip

    def _grounding(self, ask: str, source: str, units: pl.DataFrame, facts: dict[str, pl.Expr],
                   block: Block, rows: Sequence[int]) -> Filled:  # fmt: skip
        """A fact holds if any unit has it; it is unknown if a unit without a verdict could change
        that.

        Undefined or failed if its source is.
        """
        sheet = RowBuilder(ask, self.name)
        outcomes, ids = _came_out(source, block).rows(), block.frame["id"]
        by_row = {row: values for row, *values in units.group_by("row").agg(**facts).iter_rows()}
        why = reason("follows_from", ask=source)
        for row in rows:
            status, lack = outcomes[row]
            subject = f"{ask}#{ids[row]}"
            if sheet.done(row, subject, _STATUS[status], lack):
                values = by_row.get(row) or [False] * len(facts)
                sheet.add(subject, **dict(zip(facts, values, strict=True)), reason=why)
        return sheet.filled()


_STATUS: Mapping[int, LedgerStatus] = {VALUE: "ok", UNDEFINED: "undefined", MISSING: "failed"}


def _counted_texts(kind: type[Kind], example: Example) -> tuple[object, ...]:
    answer = example.answer or ""
    if kind is Citation:
        return answer, [context.id for context in example.contexts or ()]
    if kind is Entity:
        return [context.text for context in example.contexts or ()], example.reference
    return (answer,) if kind in (AnswerSentence, Phrases) else (answer, example.reference)


def _each_reference(
    count: Callable[[str, str], Mapping[str, float]],
) -> Callable[[Example], Iterator[Values]]:
    def rows(example: Example) -> Iterator[Values]:
        for number, reference in enumerate(example.reference):
            yield {"reference": number, **count(example.answer or "", reference)}

    return rows


def _entities(example: Example) -> Iterator[Values]:
    look_up = held_by(context.text for context in example.contexts or ())
    for number, reference in enumerate(example.reference):
        for index, (words, text) in enumerate(entities(reference).items()):
            yield {"reference": number, "index": index, "text": text, "found": look_up(words)}


def _sentences(example: Example) -> Iterator[Values]:
    for index, sentence in enumerate(sentences(example.answer or "")):
        yield {"index": index, "text": sentence.text}


def _phrases(example: Example) -> Iterator[Values]:
    answer = example.answer or ""
    yield {"phrases_8": abstains_by_phrases(answer, PHRASES_8),
           "phrases_12": abstains_by_phrases(answer, PHRASES_12)}  # fmt: skip


_COUNTS: Mapping[type[Kind], Callable[[Example], Iterator[Values]]] = {
    Lexical: _each_reference(overlap),
    SquadWords: _each_reference(
        lambda answer, reference: {"squad_f1": squad_f1(answer, reference)}
    ),
    Ngrams: _each_reference(
        lambda answer, reference: {"bleu": bleu(answer, reference), "chrf": chrf(answer, reference)}
    ),
    Entity: _entities,
    AnswerSentence: _sentences,
    Phrases: _phrases,
}


def _nothing_retrieved(sheet: RowBuilder, block: Block, rows: Sequence[int]) -> None:
    propositions = block.propositions(sheet.ask) if sheet.origin else {}
    known = [block.tables.outcome(ask)["status"] == VALUE for ask in ASKS[sheet.ask].after]
    for row in rows:
        example = block.examples[row]
        turns = sheet.kind.reads_turns and example.history
        # Where the system does not retrieve, a kind that reads turns is about these alone.
        if example.contexts != () or turns or not all(defined[row] for defined in known):
            continue
        subject = fingerprint("nothing retrieved", sheet.ask, example.id)
        sheet.done(row, subject)
        for proposition in propositions.get(row, ()):
            columns = proposition.columns(sheet.origin)
            sheet.add(subject, **columns, **(sheet.kind.unretrieved or {}))


def _came_out(source: str, block: Block) -> pl.DataFrame:
    required = [REQUIREMENTS[name] for name in ASKS[source].requires]
    lacks = pl.coalesce(
        pl.when(needed.holds.fill_null(value=False).not_()).then(pl.lit(needed.reason))
        for needed in required
    )
    lack = block.frame.select(lack=lacks)
    return pl.concat([block.tables.outcome(source), lack], how="horizontal").select(
        status=pl.when(pl.col("lack").is_null()).then("status").otherwise(UNDEFINED),
        reason=pl.coalesce("lack", "reason"),
    )


_SUPPORT = {label: Claims.support.is_in(verdicts).any(ignore_nulls=False)
            for label, verdicts in OF_SOME_CLAIM.items()}  # fmt: skip
_CITATION = {"source_cited": pl.len() > 0, "fabricated_source": pl.col("context").is_null().any()}

# What is asked of the claims of an answer, and of the whole, whose labels decide its claims.
PARTS = Support.ask("claim").name
WHOLE = next(ask.name for ask in Grounding.asks if PARTS in ask.after)

FOLLOWS = reason("follows_from_whole")
# Why a row has labels of an answer that a person left open; names these.
LEFT_OPEN = "labels_left_open"


def fill_labels(ask: str, filled: Sequence[Filled], rows: Sequence[int]) -> Filled:
    """Return people's labels of answers as a whole, with those that they left open in these rows.

    ``filled`` is what people and the judges after them say.
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
    added = {name: settled[name] for name in Grounding.having("verdict")
             if labels.get(name) is None and settled.get(name) is not None}  # fmt: skip
    why = reason(LEFT_OPEN, labels=",".join(added)) if added else labels["reason"]
    return {**labels, **added, "reason": why}


def labels_over(labelled: pl.DataFrame, derived: pl.DataFrame) -> pl.DataFrame:
    """The derived rows, replaced by people's labels where there are any."""
    by_rule = {row["row"]: row for row in derived.to_dicts()}
    people = [people_labels(row) for row in labelled.to_dicts()]
    whole = [with_open_labels(row, by_rule.get(row["row"])) for row in people]
    others = derived.join(labelled, on="row", how="anti")
    return pl.concat([others, pl.DataFrame(whole, schema=labelled.schema)])


def beside_labels(row: Labels, labels: Labels) -> dict[str, bool]:
    """Return what labels of an answer imply, except where a person said otherwise."""
    by_people = {} if row.get("judge") == RULES else people_labels(row)
    implied = implied_labels(labels)
    return {name: value for name, value in implied.items() if by_people.get(name) is None}


def people_labels(row: Labels) -> dict[str, Any]:
    """Return what people said in a row that ``with_open_labels`` made, or in any other."""
    why = Reason.read(row.get("reason") or "")
    if why.code != LEFT_OPEN:
        return dict(row)
    return {**row, **dict.fromkeys(why.facts["labels"].split(",")), "reason": None}


def decide_parts(block: Block, filled: Sequence[Filled], rows: Sequence[int]) -> Filled:
    """Return the rows about claims that follow from labels of answers as a whole.

    ``filled`` is what the judges say of the support of the block's claims; ``rows`` are the
    examples for which no judge before people spoke.
    """
    sheet = RowBuilder(PARTS, HUMAN)
    labelled = [row for row in rows if block.examples[row].labels.get("answer")]
    propositions = block.propositions(PARTS) if labelled else {}
    for row in labelled:
        example, judged = block.examples[row], _first_word(filled, row)
        claims = [
            judged.get((claim.author, claim.index))
            or {"author": claim.author, "reference": 0, "index": claim.index, "verdict": None}
            for claim in propositions.get(row, ())
        ]
        decided = decided_parts(example.labels["answer"], claims, HUMAN)
        if decided != claims:
            subject = fingerprint("whole", example.id)
            sheet.done(row, subject)
            for values in decided:
                sheet.add(**values | {"subject": subject})
    return sheet.filled()


def _first_word(filled: Sequence[Filled], row: int) -> dict[tuple[str, int], dict[str, Any]]:
    for judge in filled:
        spoken = judge.ledger.filter((pl.col("row") == row) & (pl.col("status") == "ok"))
        if spoken.height:
            rows = judge.rows.join(spoken, on=["subject", "judge"], how="semi").to_dicts()
            return {(row["author"], row["index"]): row for row in rows}
    return {}


def decided_parts(answer: Labels, claims: Rows, judge: str) -> Rows:
    """Return the rows about all claims of an answer, with what its labels as a whole leave of them.

    What the labels leave open stays as it was judged; a verdict is null where nobody judged. A
    verdict that they rule out becomes the only one left, or ``absent``. A person's own word on a
    claim speaks first. ``judge`` labelled the answer.
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
    values = {name: value for name, value in claim.items() if same or name in unit}
    return values | {"origin": "claim", "verdict": verdict, "judge": judge, "reason": FOLLOWS,
                     **beside(Support, {"verdict": verdict}, values)}  # fmt: skip
