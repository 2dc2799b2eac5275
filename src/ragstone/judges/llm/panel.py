"""Panel: several models judge the same units, and the majority speaks.

A verdict needs the votes of more than half of the members; without, it is null, and so missing.
Scores from 0 to 1 are averaged over those who gave one, if they are more than half; whole grades
are verdicts.
"""

from collections import Counter
from collections.abc import Sequence

from .task import Row

UNIT = {
    "relevance": ("rank",),
    "support/claim": ("origin", "reference", "index"),
    "support/statement": ("origin", "reference", "index"),
    "support/evidence": ("origin", "reference", "index"),
    "agreement/claim": ("origin", "reference", "index"),
    "agreement/statement": ("origin", "reference", "index"),
    "rating": ("criterion",),
    "critique": ("aspect", "index"),
    "preference": ("rival", "order"),
}
"""What tells the units of an ask apart; an answer has one of the others."""

WORDS = (
    *("reason", "quote", "quote_found", "evidence", "evidence_unknown", "relevant_sentences"),
    *("parts", "parts_answered"),
)
"""Columns that come from one member of the majority, for they belong together."""


def vote(ask: str, said: Sequence[Sequence[Row]], members: int) -> list[Row]:
    """One row a unit from those of all members, in the order of the first who speaks of it.

    Args:
        ask: What was asked.
        said: The rows of each member that said anything.
        members: How many there are.
    """
    if members == 1:
        return list(said[0])
    keys = UNIT.get(ask, ())
    units: dict[tuple[object, ...], list[Row]] = {}
    for rows in said:
        for row in rows:
            units.setdefault(tuple(row.get(key) for key in keys), []).append(row)
    return [_voted(rows, keys, members) for rows in units.values()]


def _voted(rows: Sequence[Row], keys: Sequence[str], members: int) -> Row:
    names = dict.fromkeys(name for row in rows for name in row)
    judged = [name for name in names if name not in WORDS and name not in keys]
    voted: Row = {key: rows[0].get(key) for key in keys}
    for name in judged:
        voted[name] = _majority([row[name] for row in rows if row.get(name) is not None], members)
    speaker = max(rows, key=lambda row: sum(row.get(name) == voted[name] for name in judged))
    for name in WORDS:
        if name in names:
            voted[name] = speaker.get(name)
    if "verdict" in voted and voted["verdict"] is None:
        voted["reason"] = "no verdict has more than half of the panel"
        voted |= {name: None for name in ("probability", "evidence", "quote") if name in names}
    return voted


def _majority(values: Sequence[object], members: int) -> object:
    """More than half, or the mean of numbers with a point; None where there is neither."""
    if 2 * len(values) <= members:
        return None
    if all(isinstance(value, float) for value in values):
        return sum(value for value in values if isinstance(value, float)) / len(values)
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count > members else None
