"""Spellings: whether two words may be one, written otherwise."""

SAME_OPENING = 3
"""Letters with which two spellings of one word begin."""

SHORTEST_SPELLED, LONGEST_SPELLED = 5, 64
"""Letters of words that may be two spellings of one."""


def close(one: str, other: str) -> bool:
    """Whether two words are spellings of one: the same beginning, nearly the same end."""
    least, most = sorted((len(one), len(other)))
    if one[:SAME_OPENING] != other[:SAME_OPENING] or least < SHORTEST_SPELLED or most - least > 3:
        return False
    if one[0].isdigit() or most > LONGEST_SPELLED:
        return False
    if least >= 6 and one[: least - 1] == other[: least - 1]:
        return True
    return _within(1 if most < 10 else 2, one, other)


def alike(one: str, other: str) -> bool:
    """Whether two names may be forms of one: `Bob` and `Bobbie`, `Montezuma` and `Moctezuma`.

    More is taken for the same than by ``close``: any two that begin alike or differ in two letters,
    and all initials and abbreviations.
    """
    least, most = sorted((len(one), len(other)))
    if least < SAME_OPENING or one[:SAME_OPENING] == other[:SAME_OPENING]:
        return True
    return (
        least >= SHORTEST_SPELLED
        and most <= LONGEST_SPELLED
        and most - least <= 2
        and _within(2, one, other)
    )


def _within(most: int, one: str, other: str) -> bool:
    """Whether the Levenshtein distance is at most this."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
        if min(row) > most:
            return False
    return row[-1] <= most
