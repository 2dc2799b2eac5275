"""Entities: the names, numbers and dates of a text, by rule, and whether a passage holds them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .local.words import STOP_WORDS, as_written, name_runs, tokens

MONTHS = frozenset(
    {
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december",
    }
)  # fmt: skip
BETWEEN = 2
"""How many other words may stand among those of an entity: `19 April in 1859`."""


@dataclass(frozen=True, slots=True)
class EntityWords:
    """A name, a number or a date, as it is written and by its folded words."""

    text: str
    words: tuple[str, ...]


def entities(text: str) -> list[EntityWords]:
    """Each entity of a text once: dates, then other numbers, then names."""
    found = {entity.words: entity for entity in (*_numbers(text), *_names(text))}
    dates = {word for words in found if len(words) > 1 and MONTHS & set(words) for word in words}
    return [one for words, one in found.items() if len(words) > 1 or words[0] not in dates]


def holds(passage: Sequence[str], entity: EntityWords) -> bool:
    """Whether the folded words of a passage hold all those of an entity, close together."""
    wanted = set(entity.words)
    size = len(entity.words) + (BETWEEN if len(entity.words) > 1 else 0)
    starts = (place for place, word in enumerate(passage) if word in wanted)
    return any(wanted <= set(passage[start : start + size]) for start in starts)


def held_by(passages: Iterable[str | None]) -> Callable[[EntityWords], bool | None]:
    """Tells whether a passage holds an entity; None if none does and a passage has no text."""
    given = list(passages)
    folded = [tokens(text) for text in given if text is not None]
    otherwise = None if None in given else False
    return lambda entity: any(holds(one, entity) for one in folded) or otherwise


def _numbers(text: str) -> Iterator[EntityWords]:
    """Dates and numbers; a 1 is mostly the word `one`, and counts only in a date."""
    run: list[str] = []
    for word in [*tokens(text), ""]:
        if word and (word in MONTHS or word[0].isdigit()):
            run.append(word)
            continue
        if MONTHS & set(run) and len(run) > 1:
            yield EntityWords(" ".join(as_written([one], text) for one in run), tuple(run))
        else:
            for one in run:
                if one not in MONTHS and one != "1":
                    yield EntityWords(as_written([one], text), (one,))
        run = []


def _names(text: str) -> Iterator[EntityWords]:
    """Capitalised words, but for one that opens a sentence alone; `Paris` is no sentence."""
    sentence = not STOP_WORDS.isdisjoint(tokens(text))
    for run, opens in name_runs(text):
        words = [word for word in tokens(run) if word not in STOP_WORDS]
        if not words or words[0][0].isdigit() or (sentence and opens and len(tokens(run)) == 1):
            continue
        yield EntityWords(as_written(words, run) if len(words) == 1 else run, tuple(words))
