"""Panel: several models judge the same units, and the majority decides.

A verdict needs the votes of more than half of the members; without, it is null, and so missing.
Scores from 0 to 1 are averaged over those who gave one, if they are more than half; whole grades
are verdicts.
"""

from collections import Counter
from collections.abc import Sequence

from ragstone.judgements import Kind

from .task import Row


def vote(kind: type[Kind], said: Sequence[Sequence[Row]], members: int) -> list[Row]:
    """One row per unit from those of all members, in the order of the first that judged it.

    Args:
        kind: What was judged; the roles of its columns say how each is settled.
        said: The rows of each member that gave any.
        members: How many there are.
    """
    if members == 1:
        return list(said[0])
    keys = kind.key or ()
    units: dict[tuple[object, ...], list[Row]] = {}
    for rows in said:
        for row in rows:
            units.setdefault(tuple(row.get(key) for key in keys), []).append(row)
    return [_voted(kind, rows, keys, members) for rows in units.values()]


def _voted(kind: type[Kind], rows: Sequence[Row], keys: Sequence[str], members: int) -> Row:
    names = dict.fromkeys(name for row in rows for name in row)
    from_one = kind.having("count", "evidence", "words")
    judged = [name for name in names if name not in from_one and name not in keys]
    voted: Row = {key: rows[0].get(key) for key in keys}
    for name in judged:
        voted[name] = _majority([row[name] for row in rows if row.get(name) is not None], members)
    speaker = max(rows, key=lambda row: sum(row.get(name) == voted[name] for name in judged))
    for name in from_one:
        if name in names:
            voted[name] = speaker.get(name)
    if "verdict" in voted and voted["verdict"] is None:
        rests_on_it = [*kind.having("evidence", "words"), *kind.probabilities()]
        voted |= {name: None for name in rests_on_it if name in names}
        voted["reason"] = "no_majority"
    return voted


def _majority(values: Sequence[object], members: int) -> object:
    """The value with over half of the votes, or the mean of scores; None if there is neither."""
    if 2 * len(values) <= members:
        return None
    if all(isinstance(value, float) for value in values):
        return sum(value for value in values if isinstance(value, float)) / len(values)
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count > members else None
