"""Ask: a question that judges are put, and what an example must have for it.

An ask is a kind, or a part of one that stands for itself: support is asked of claims, of statements
and of gold evidence, each for its own sake. A kind lists its asks.
"""

from dataclasses import dataclass
from typing import Literal

from .view import View

ENCODER = "an encoder, which comes with pip install 'ragstone[local]' or is named by --embedder"
CROSS_ENCODER = "a cross-encoder, named with --cross-encoder"
LLM = "an LLM judge, such as --judge openai:MODEL"
PEOPLE_OR_LLM = "people's labels, or an LLM judge such as --judge openai:MODEL"
COUNTING = "counting, which needs nobody's opinion"
PEOPLE_OR_RULE = "the local judge, people's labels, or an LLM judge such as --judge openai:MODEL"


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a judge.

    Args:
        part: Of the kind; empty where it is asked as a whole.
        over: The view of the units that it is about, which the kind's columns enter; None where
            they enter none by themselves.
        requires: What an example must have, see ``REQUIREMENTS``.
        after: The asks whose rows it is about.
        filled_by: Who could answer it, for a user.
        beside: What of the system's output a judge may read although it is not required.
        columns: The columns of the kind that it fills; empty: all of them.
        kind: The kind's name, which the kind enters itself.
    """

    part: str = ""
    over: type[View] | None = None
    requires: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    filled_by: str = PEOPLE_OR_RULE
    beside: tuple[Literal["contexts", "rivals"], ...] = ()
    columns: tuple[str, ...] = ()
    kind: str = ""

    @property
    def name(self) -> str:
        """The kind, and its part: ``quality``, ``support/claim``."""
        return f"{self.kind}/{self.part}" if self.part else self.kind


ASKS: dict[str, Ask] = {}
"""Every ask, in an order in which each stands behind what it is about."""

WAITING: list[tuple[Ask, ...]] = []
"""The asks of kinds that are about something whose kind is not there yet."""


def enter(asks: tuple[Ask, ...]) -> None:
    """Put the asks of a kind among all, behind those that they are about."""
    WAITING.append(asks)
    while ready := [them for them in WAITING if _known(them)]:
        for them in ready:
            WAITING.remove(them)
            ASKS.update({ask.name: ask for ask in them})


def _known(asks: tuple[Ask, ...]) -> bool:
    return all(ASKS.keys() >= set(ask.after) for ask in asks)
