"""Topic: the criterion, aspect or rival for which a metric has an ask repeated."""

import re
from dataclasses import dataclass
from hashlib import blake2b

_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 30


@dataclass(frozen=True, slots=True, order=True)
class Topic:
    """Something an ask is repeated for: a criterion, an aspect or a rival system.

    Args:
        ask: ``rating``, ``critique`` or ``preference``.
        name: The criterion, aspect or rival; empty: every rival.
        definition: Definition of a custom criterion or aspect; empty for a built-in one.
        votes: Number of times it is asked.
    """

    ask: str
    name: str
    definition: str = ""
    votes: int = 1


def name_for(definition: str) -> str:
    """A name for a criterion or aspect that is given by a sentence alone.

    Its words, if they are short and of Latin letters; otherwise a hash keeps them apart.

    >>> name_for("Is the tone friendly?")
    'is_the_tone_friendly'
    """
    words = _OTHER.sub("_", definition.lower()).strip("_")
    if definition.isascii() and words[:1].isalpha() and len(words) <= _LONGEST:
        return words
    digest = blake2b(definition.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    start = words[:_LONGEST].strip("_") if words[:1].isalpha() else "own"
    return f"{start}_{digest}"
