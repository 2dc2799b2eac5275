"""Worst: the worst answers of a run with what made them so, cut to the room that there is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from markupsafe import Markup

from ragstone.data.record_labels import Unit
from ragstone.judgements import Relevance
from ragstone.report.judgement_words import against
from ragstone.report.number_format import number, short_name, shortened, spoken
from ragstone.report.run_contents import Dossier, JudgedPart, asks_about
from ragstone.report.worst_examples import RankedExample

from .evidence import LATE, claim_spans, quotes
from .marked import MarkedPiece, context_pieces, inert, marked
from .said import SaidJudgement, said

MOST_CLAIMS, MOST_STATEMENTS = 8, 4
CLAIM, REASON = 300, 240


@dataclass(frozen=True, slots=True)
class UnitAgainst:
    """A claim or statement with the judgements that count against the answer.

    Attributes:
        key: What lights up with it.
        text: Cut.
        said: The judgements.
        reason: Why.
    """

    key: str
    text: str
    said: tuple[SaidJudgement, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class CutContext:
    """A context, cut.

    Attributes:
        rank: As retrieved.
        id: Its own.
        judged: What is said of it.
        uses: The claims that rest on it.
        pieces: Its text; None if it is known by its id alone.
        left: Characters that are left out at its end.
    """

    rank: int
    id: str
    judged: tuple[SaidJudgement, ...]
    uses: str
    pieces: tuple[MarkedPiece, ...] | None
    left: int


@dataclass(frozen=True, slots=True)
class WorstAnswer:
    """One of the worst answers.

    Attributes:
        anchor: The end of its id.
        ranked: Its shortfall and reasons.
        low: The scores that are low, in words.
        answer: With its claims marked; None if there is none.
        cut: Whether the answer or a reference is cut.
        reference: Cut.
        claims: Those without support.
        statements: Those of the reference that the answer lacks or contradicts.
        more: How many claims and statements there are beside these.
        contexts: As many as there is room for.
    """

    anchor: str
    ranked: RankedExample
    low: str
    answer: Markup | None
    cut: bool
    reference: tuple[str, ...]
    claims: tuple[UnitAgainst, ...]
    statements: tuple[UnitAgainst, ...]
    more: int
    contexts: tuple[CutContext, ...]


def anchor_of(example: str) -> str:
    """The end of the ids of an example in the report: the same in every report.

    >>> anchor_of("c3<::>5/a")
    'b8dd8de2bc12'
    """
    return blake2b(example.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def worst_answer(one: RankedExample, found: Dossier, *, answer: int, context: int) -> WorstAnswer:
    """One of the worst answers.

    Args:
        one: As it was ranked.
        found: All that is known of it.
        answer: Characters of the answer and of each reference.
        context: Characters of each context; 0 leaves contexts out.
    """
    text, references = one.answer, found.example.reference
    claims, statements = (list(_against(found, unit)) for unit in ("claim", "statement"))
    shown_text = None
    if text is not None:
        shown_text = marked(text, claim_spans(found), 0, min(len(text), answer), "cl")
    return WorstAnswer(
        anchor_of(one.example_id),
        one,
        ", ".join(
            f"{short_name(s.metric)} {spoken(s.label or '') or number(s.value)}" for s in one.low
        ),
        shown_text,
        any(len(each or "") > answer for each in (text, *references)),
        tuple(each[:answer] for each in references),
        tuple(claims[:MOST_CLAIMS]),
        tuple(statements[:MOST_STATEMENTS]),
        len(claims[MOST_CLAIMS:]) + len(statements[MOST_STATEMENTS:]),
        tuple(_context(found, part, context) for part in found.parts["context"] if context),
    )


def _against(found: Dossier, unit: Unit) -> Iterator[UnitAgainst]:
    """The units that a judgement counts against, those that are contradicted first."""
    units = []
    for part in found.parts[unit]:
        rows = [row for ask in asks_about(unit) for row in part.rows(ask.kind)]
        held = [(against(row)[0], row) for row in rows if against(row)[0]]
        if held:
            reasons = dict.fromkeys(one.reason for one in (said(row, "") for _, row in held))
            units.append((
                all(tone != "bad" for tone, _ in held),
                UnitAgainst(
                    f"{LATE if unit == 'statement' else ''}{part.place + 1}",
                    shortened(part.text, CLAIM),
                    tuple(said(row, "") for _, row in held),
                    shortened("; ".join(filter(None, reasons)), REASON) if any(reasons) else "",
                ),
            ))  # fmt: skip
    yield from (one for _, one in sorted(units, key=lambda pair: pair[0]))


def _context(found: Dossier, part: JudgedPart, most: int) -> CutContext:
    spans, uses = quotes(found, part)
    relevance = part.rows(Relevance.name)
    relevant = set((relevance[0].values["relevant_sentences"] or ()) if relevance else ())
    text, pieces = part.text, None
    if text is not None:
        room = len(inert(text[:most]).encode())
        loud = [one for one in spans if not one.quiet]
        pieces = tuple(context_pieces(text, loud, relevant, most_bytes=room))
    rows = [row for ask in asks_about("context") for row in part.rows(ask.kind)]
    return CutContext(
        part.place,
        str(part.own["id"]),
        tuple(said(row, "") for row in rows),
        uses,
        pieces,
        sum(one.end - one.start for one in pieces or ()),
    )


def any_cut(worst: Sequence[WorstAnswer]) -> tuple[bool, bool]:
    """Whether answers are cut, and whether contexts are."""
    contexts = (context for one in worst for context in one.contexts)
    return any(one.cut for one in worst), any(context.left for context in contexts)
