"""Said: one judgement as pages show it: the verdict with its shape, its words, and who gave it."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.judgements import ASKS, Agreement, Kind
from ragstone.report.judgement_words import in_words, judged, says, short_judge, speaking
from ragstone.report.number_format import number
from ragstone.report.page import Phrase
from ragstone.report.reason_words import words
from ragstone.report.run_contents import JudgementRow

BY_TONE = {"good": "correct", "bad": "wrong", "caution": "absent"}
"""The shape of a verdict that has none of its own."""

OWN_SHAPE = frozenset(
    ("supported", "contradicted", "absent", "full", "partial", "matches", "contradicts", "extra")
)


@dataclass(frozen=True, slots=True)
class SaidJudgement:
    """A judgement.

    Attributes:
        code: The shape and colour of the verdict; empty if there is no verdict.
        word: The verdict.
        number: The probability of the verdict, written; empty if there is none.
        words: All that is said, without its reason.
        phrases: All that is said, with the reason and the judge.
        reason: In words.
        judge: Who said so.
        row: The judgement itself.
    """

    code: str
    word: str
    number: str
    words: str
    phrases: Sequence[Phrase]
    reason: str
    judge: str
    row: JudgementRow


def said(row: JudgementRow, lead: str | None = None) -> SaidJudgement:
    """One judgement, after the words that come before it."""
    code, word = verdict_of(row)
    column = speaking(row.kind)
    chance = next(
        (
            row.values.get(name)
            for name, one in row.kind.columns.items()
            if column is not None and one.of == column.name
        ),
        None,
    )
    return SaidJudgement(
        code,
        word,
        "" if chance is None else number(chance),
        in_words(row),
        judged(row, says(row.kind) if lead is None else lead),
        because(row.reason),
        short_judge(row.judge),
        row,
    )


def verdict_of(row: JudgementRow) -> tuple[str, str]:
    """The shape and the word of a row's verdict; both empty if it has none."""
    column = speaking(row.kind)
    value = None if column is None else row.values.get(column.name)
    return ("", "") if column is None or value is None else look(row.kind, column.name, value)


def look(kind: type[Kind], column: str, value: object) -> tuple[str, str]:
    """The shape and the word of a value."""
    declared = kind.columns[column]
    if kind is Agreement and value == "missing":
        # Missing is said of a judge that failed, and of nothing else.
        return "left_out", "left out"
    if isinstance(value, bool):
        word = (column if value else f"not {column}").replace("_", " ")
    else:
        word = str(value).replace("_", " ")
    if value in OWN_SHAPE:
        return str(value), word
    return BY_TONE.get(declared.tones.get(value, ""), "other"), word


def because(reason: str | None) -> str:
    """A reason in words; empty if there is none.

    >>> because("no_retrieval"), because(None)
    ('no retrieval', '')
    """
    text = words(reason or "")
    return text.replace("_", " ") if text.isidentifier() else text


def says_of(ask: str) -> str:
    """The words before a judgement of an ask."""
    one = ASKS[ask]
    return one.says if one.says is not None else one.kind
