"""Ask: one question put to judges, and what an example must have for it to be asked.

An ask is a whole kind of judgement or one independent part of it: ``support`` is asked of claims,
of statements and of gold evidence, each as a separate ask. A kind lists its asks.
"""

from dataclasses import dataclass
from typing import Literal, cast

import polars as pl

from ragstone.core.messages import reason
from ragstone.core.user_code import registry
from ragstone.data.record_labels import YES_NO, Unit, Values

from .column import Column
from .view import ABOUT, View

Filler = Literal["local", "people", "model", "encoder", "cross_encoder", "counting"]
"""Who can answer an ask: the local judge, people or a chat model; or how it is computed."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a judge.

    Args:
        part: Part of the kind; empty if the kind is asked as a whole.
        over: View of the units it is about, which receives the kind's columns; None if no view
            receives them automatically.
        requires: What an example must have, see ``REQUIREMENTS``.
        after: Asks whose rows this one is about.
        by: Who can answer it.
        beside: Further parts of the system's output that a judge may read.
        columns: Columns of the kind that it fills; empty: all.
        values: Possible verdicts; empty: all of the kind.
        says: Label printed before a judgement, such as ``contexts`` before ``supported``. Empty:
            no label, and the judgement is printed on the unit's own line. None: the kind's name.
        kind: Name of the kind, filled in by the kind itself.
    """

    part: str = ""
    over: type[View] | None = None
    requires: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    by: tuple[Filler, ...] = ("people", "model")
    beside: tuple[Literal["contexts", "rivals"], ...] = ()
    columns: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    says: str | None = None
    kind: str = ""

    @property
    def name(self) -> str:
        """The kind and its part, such as ``quality`` or ``support/claim``."""
        return f"{self.kind}/{self.part}" if self.part else self.kind

    @property
    def origin(self) -> Unit | None:
        """Claim, statement or evidence, whichever it is about; None if it is about none of them."""
        if self.over is None or ABOUT[self.over.unit] != "proposition":
            return None
        return self.over.unit

    @property
    def not_judged(self) -> str:
        """The reason given when no judge was asked: the kind, and who could have answered."""
        return reason("not_judged", kind=self.kind, by=",".join(self.by))


ASKS: dict[str, Ask] = registry({})
"""Every ask, in dependency order: each one follows the asks named in its ``after``."""

WAITING: list[tuple[Ask, ...]] = registry([])
"""The asks of kinds that depend on an ask which no kind has defined yet."""


def enter(asks: tuple[Ask, ...]) -> None:
    """Register the asks of a kind once everything they depend on is registered."""
    WAITING.append(asks)
    while ready := [them for them in WAITING if _known(them)]:
        for them in ready:
            WAITING.remove(them)
            ASKS.update({ask.name: ask for ask in them})


def _known(asks: tuple[Ask, ...]) -> bool:
    return all(ASKS.keys() >= set(ask.after) for ask in asks)


def values_of(ask: Ask, column: Column) -> Values:
    """The labels that people may give to a column where this is asked."""
    if column.dtype == pl.Boolean:
        return YES_NO
    if ask.values and column.role == "verdict":
        return ask.values
    return cast(Values, tuple(column.values))
