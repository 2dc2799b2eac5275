"""Snapshot: the judgements of a run as people's word left them at one moment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragstone.core.errors import OverruleConflict
from ragstone.data import Example, from_frame
from ragstone.judgements import ASKS, Ask, kind_of

from .check import sayable
from .judged_run import JudgedRun
from .lay import ByExample, lay
from .overlay import Overlay
from .overrule import DROPPED, Judgement, Overrule, Row
from .read_rows import FewExamples, sharing
from .store import Stamp
from .units import JudgedUnit, judgement_of, units


@dataclass(frozen=True)
class Snapshot:
    """A run and every overrule of it, at one moment.

    Attributes:
        run: As its judges left it.
        stamp: The state of the store.
        all: Every overrule, the oldest first, also those that were taken back.
        overlay: What those that stand make of the run; None if none stands.
    """

    run: JudgedRun
    stamp: Stamp
    all: tuple[Overrule, ...]
    overlay: Overlay | None

    @property
    def by_example(self) -> ByExample:
        """The overrules that stand, by example."""
        return {} if self.overlay is None else self.overlay.by_example

    def few(self, examples: Sequence[str]) -> FewExamples:
        """These examples as people's word leaves them."""
        few = self.run.few(examples)
        return replace(few, tables=lay(few.tables, self.by_example))

    def units(self, example: str, asks: Sequence[Ask]) -> tuple[Example, list[JudgedUnit]]:
        """The example and its units, with those that a person dropped."""
        judged = self.few([example])
        (one,) = from_frame(judged.tables.examples)
        found = units(judged.tables, judged.ledger, asks)
        there = {(unit.ask, repr(unit.key)) for unit in found}
        names = {ask.name for ask in asks}
        for by in self.by_example.get(example, ()):
            if by.said.get(DROPPED) and by.ask in names and (by.ask, repr(by.key)) not in there:
                row = {**by.was, **by.said, "judge": by.person, "subject": by.subject}
                found.append(JudgedUnit(by.ask, by.unit, by.key, (row,), by.subject, by.about))
        return one, found

    def judgements(self, example: str) -> tuple[Judgement, ...]:
        """What can be overruled of an example."""
        _, found = self.units(example, list(ASKS.values()))
        shared = sharing(self.run.folder, {unit.subject for unit in found})
        return tuple(
            Judgement(
                ask=unit.ask,
                unit=unit.name,
                values=values_of_unit(unit),
                judge=None if unit.row is None else str(unit.row["judge"]),
                version=unit.version,
                examples=tuple(shared.get((unit.ask, unit.subject), (example,))),
                overrule=self.standing(unit),
            )
            for unit in found
        )

    def standing(self, unit: JudgedUnit) -> Overrule | None:
        """The latest overrule of this judgement that was not taken back."""
        return next((one for one in self._history(unit) if one.undone is None), None)

    def check_seen(self, unit: JudgedUnit, seen: str | None) -> None:
        """Check that a judgement is the one that a person saw.

        Raises:
            OverruleConflict: Somebody overruled it, or took that back, after the person saw it.
        """
        if seen is None or seen == unit.version:
            return
        deeds = [
            deed
            for one in self._history(unit)
            for deed in (
                *([] if one.undone is None else [(one.undone.at, one.undone.author, one, True)]),
                (one.at, one.author, one, False),
            )
        ]
        at, who, one, undone = max(deeds, key=lambda deed: deed[0], default=(None,) * 4)
        raise OverruleConflict(
            unit.named,
            author=who,
            at=at,
            said=None if one is None or undone else dict(one.said),
            now=values_of_unit(unit),
            version=unit.version,
        )

    def _history(self, unit: JudgedUnit) -> list[Overrule]:
        """The overrules of this judgement, the newest first."""
        mine = judgement_of(unit)
        return [one for one in reversed(self.all) if judgement_of(one) == mine]


def values_of_unit(unit: JudgedUnit) -> Row:
    """What is said of a unit and can be overruled, by column."""
    if unit.row is None:
        return {}
    names = [*sayable(kind_of(unit.ask), ASKS[unit.ask]), DROPPED]
    return {name: unit.row[name] for name in names if name in unit.row}
