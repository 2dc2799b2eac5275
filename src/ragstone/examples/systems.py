"""Systems: ids of examples in data that use one id per question for the rows of all systems."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from ragstone.core.messages import reason
from ragstone.examples.example import Example
from ragstone.examples.ids import IdBlock, SeenIds
from ragstone.examples.records import DEFAULT_SYSTEM, question_hash

LOOKED_UP, MOST_LOOKED_UP = 16, 4096
"""Ids that are looked up together: few at first, for ids that repeat mostly do so early."""


def ids_repeat(examples: Iterable[Example]) -> bool:
    """Whether an id occurs under several systems; reads until the first such id."""
    every, seen = iter(examples), SeenIds()
    size = LOOKED_UP
    while some := [(one.id, one.system) for one in islice(every, size)]:
        ids, systems = zip(*some, strict=True)
        if seen.look_up(IdBlock.of(ids, systems, range(len(ids)))).over_systems:
            return True
        size = min(2 * size, MOST_LOOKED_UP)
    return False


def has_system(example: Example) -> bool:
    """Whether the data name the system, without which an id cannot be that of a question."""
    return example.system != DEFAULT_SYSTEM


def of_its_system(example: Example) -> Example:
    """The example as ID/SYSTEM; its id is the question's, unless the data name the question."""
    question = example.question
    named = example.question_id != example.id and (
        question is None or example.question_id != question_hash(question, example.history)
    )
    return replace(
        example,
        id=id_of(example.id, example.system),
        question_id=example.question_id if named else example.id,
    )


def id_of(question: str, system: str) -> str:
    """What one system's answer to a question is called.

    >>> id_of("q1", "bm25")
    'q1/bm25'
    """
    return f"{question}/{system}"


class Questions:
    """Detects ids that belong to different questions in different systems."""

    def __init__(self) -> None:
        self._asked: dict[str, int] = {}
        self._differing: dict[str, None] = {}

    def hear(self, example: Example) -> None:
        """Take note of an example as the data name it."""
        if example.question is not None:
            asked = hash(example.question)
            if self._asked.setdefault(example.id, asked) != asked:
                self._differing[example.id] = None

    def note(self) -> str:
        """What a reader should know of it, as a reason."""
        first = next(iter(self._differing), None)
        return reason("ids_repeat", differing=len(self._differing) or None, first=first)
