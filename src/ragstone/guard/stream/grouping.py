"""Grouping: which units of a stream are judged together."""

from dataclasses import dataclass

from ragstone.judges.local.claims_and_evidence import LocatedClaim

from .answered_part import claims_of, has_content
from .ends import UnitKind
from .units import StreamUnit


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Neighbouring units that are judged as one; nearly always a single one.

    Attributes:
        text: Of all of them.
        start: Where it stands in the answer, in characters.
        kind: Of the last one.
        claims: For each sentence the claim, by its place in ``text``; None if it makes none.
    """

    text: str
    start: int
    kind: UnitKind
    claims: tuple[LocatedClaim | None, ...] = ()


class Grouping:
    """Puts units together.

    A bare `Yes.` before any other claim says what the next claim says: it is judged with it. Behind
    another claim it says nothing, and alone it is a claim of its own.
    """

    def __init__(self) -> None:
        self._has_content = self._bare = False
        self._units: list[StreamUnit] = []
        self._claims: list[LocatedClaim | None] = []
        self._length = 0

    def add(self, unit: StreamUnit) -> UnitGroup | None:
        """The units that can be judged with this one; None: none yet."""
        claims = list(claims_of(unit, self._length, len(self._claims)))
        self._units.append(unit)
        self._claims += claims
        self._length += len(unit.text)
        made = [claim for claim in claims if claim is not None]
        if any(map(has_content, made)):
            self._has_content = True
        elif self._has_content:
            self._claims = [None] * len(self._claims)
        elif made or self._bare:
            self._bare = True
            return None
        return self.close()

    def close(self) -> UnitGroup | None:
        """The units that still wait; None: none does."""
        if not self._units:
            return None
        units, claims = self._units, tuple(self._claims)
        self._units, self._claims, self._length, self._bare = [], [], 0, False
        text = "".join(unit.text for unit in units)
        return UnitGroup(text, units[0].start, units[-1].kind, claims)
