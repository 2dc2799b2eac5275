"""Judgement words: a judgement in the phrases that its kind declares, and short judge names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_lowercase

import polars as pl

from ragstone.judgements import Ask, Column, Kind, Similarity
from ragstone.judgements.column import Role

from .number_format import number
from .page import Note, Phrase, Tone, plain, quiet
from .reason_words import words
from .run_contents import PLACES, JudgementRow


def short_judge(name: str) -> str:
    """The judge's name; of a panel the names of its models without provider, or letters.

    >>> short_judge("openai:gpt-5-mini"), short_judge("openai:gpt-5,http://h:1/v1#qwen3:8b")
    ('openai:gpt-5-mini', 'gpt-5+qwen3:8b')
    >>> short_judge("openai:gpt-5,azure:gpt-5")
    'a+b'
    """
    members = name.split(",")
    return name if len(members) == 1 else "+".join(_short(members))


def legend(names: Iterable[str]) -> list[Note]:
    """For each panel among the judges, what its short name stands for."""
    notes = []
    for members in (name.split(",") for name in dict.fromkeys(names) if "," in name):
        pairs = zip(_short(members), members, strict=True)
        notes.append(Note("panel", ", ".join(f"{short} {member}" for short, member in pairs)))
    return notes


def _short(members: Sequence[str]) -> list[str]:
    names = []
    for member in members:
        before, hash_sign, model = member.strip().partition("#")
        model = model if hash_sign else before.partition(":")[2]
        names.append(model.rpartition("/")[2] or member)
    return names if len(set(names)) == len(names) else list(ascii_lowercase[: len(names)])


FIRST: Mapping[Role, int] = {"unit": 0, "topic": 0, "vote": 0, "verdict": 1}
# Columns that count from 0 in the tables; people count from 1. A similarity's index may be a rank,
# which is from 1.
FROM_0 = ("reference", "index", "sentence")
# Units next to which their judgements are shown, so that these need not name the unit.
PLACED = (*PLACES, "answer", "reference")


def judged(row: JudgementRow, lead: str) -> list[Phrase]:
    """The words before the judgement, the judgement itself, the reason, and who gave it."""
    first = [quiet(f"{lead}: ")] if lead else []
    parts: list[Phrase] = []
    for column, phrase in phrases(row):
        between = " " if column.role == "words" else ", "
        parts += [quiet(between), *phrase] if parts else phrase
    decided = row.kind.having("verdict", "grade", "number")
    if not parts and all(row.values.get(name) is None for name in decided):
        parts = [Phrase("not judged")]
    reason = f"  {words(row.reason)}" if row.reason else ""
    return [*first, *parts, quiet(f"{reason}  ({short_judge(row.judge)})")]


def in_words(row: JudgementRow) -> str:
    """The judgement in words, without its probability."""
    return ", ".join(plain(phrase) for column, phrase in phrases(row) if not column.of)


def against(row: JudgementRow) -> tuple[Tone, str]:
    """The tone and the words of a verdict against the row's unit; both empty if there is none."""
    column = speaking(row.kind)
    if column is None:
        return "", ""
    value = row.values.get(column.name)
    tone: Tone = column.tones.get(value, "")
    return ("", "") if tone in ("", "good") else (tone, plain(_phrase(row.kind, column, value)))


def speaking(kind: type[Kind]) -> Column | None:
    """The verdict column whose values count for or against a unit; None if the kind has none."""
    columns = (kind.columns[name] for name in kind.having("verdict"))
    return next((column for column in columns if column.tones), None)


def says(kind: type[Kind], ask: Ask | None = None) -> str:
    """The words shown before a judgement: as its ask declares, otherwise the name of the kind."""
    asks = kind.asks if ask is None else (ask,)
    return next((ask.says for ask in asks if ask.says is not None), kind.name)


def phrases(row: JudgementRow) -> Iterator[tuple[Column, list[Phrase]]]:
    """The phrases of each column that has any: first the unit, then the verdicts, then the rest."""
    columns = row.kind.columns
    shown_columns = (column for name, column in columns.items() if name not in ("judge", "reason"))
    for column in sorted(shown_columns, key=lambda item: FIRST.get(item.role, len(FIRST))):
        if phrase := _phrase(row.kind, column, row.values.get(column.name)):
            yield column, phrase


def _phrase(kind: type[Kind], column: Column, value: object) -> list[Phrase]:
    if column.name in FROM_0 and kind is not Similarity and isinstance(value, int):
        value += 1
    pattern, look = _pattern(kind, column, value), _look(kind, column, value)
    before, present, after = pattern.partition("{}")
    if not present or column.role == "words":
        text = f"{before}{_shown(value)}{after}" if present else before
        return [Phrase(text, *look)] if text else []
    around = [quiet(before), Phrase(_shown(value), *look), quiet(after)]
    return [item for item in around if item.text]


def _pattern(kind: type[Kind], column: Column, value: object) -> str:
    if isinstance(column.phrase, Mapping) and (value in column.phrase or column.role == "verdict"):
        return column.phrase.get(value, "")
    if value is None or value == [] or value == "":
        return ""
    if isinstance(column.phrase, str):
        return column.phrase
    match column.role:
        case "unit" if any(ask.over and ask.over.unit in PLACED for ask in kind.asks):
            return ""
        case "topic":
            return "{}"
        case "words":
            return "“{}”"
        case "verdict" if column.dtype == pl.Boolean:
            name = column.name.replace("_", " ")
            return name if value else f"not {name}"
        case "verdict" if column.name == kind.decides:
            return "{}"
    return f"{column.name} {{}}"


def _look(kind: type[Kind], column: Column, value: object) -> tuple[Tone, bool]:
    match column.role:
        case "evidence":
            return "name", False
        case "words":
            return "text", False
        case "verdict" | "about" if column.tones:
            return column.tones.get(value, ""), False
        case "verdict":
            return "", column.name == kind.decides
    return "quiet", False


def _shown(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return number(value)
        case list():
            return ", ".join(map(str, value))
    return str(value)
