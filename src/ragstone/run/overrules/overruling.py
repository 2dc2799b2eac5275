"""Overruling: people correct judgements of a finished run, and take that back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from ragstone.errors import InputError, OverruleConflict, UnknownName, each
from ragstone.examples import Example, from_frame
from ragstone.judgements import ASKS, Ask, kind_of
from ragstone.run.folder import Folder
from ragstone.run.forms import Manifest
from ragstone.run.stored_blocks import finished_judges

from .asking_again import NOT_ASKED, AskedAgain, ask_again
from .check import asks_named, check_words, checked, sayable, unit_named
from .lay import ByExample, lay
from .overlay import Overlay
from .overrule import DROPPED, TEXT, Judgement, Overrule, Overruled, Row, Undone
from .read_rows import FewExamples, Sharing, read_few, sharing
from .store import NOTHING, Store
from .units import JudgedUnit, judgement_of, units


class Overruling:
    """The overrules of a run, made and taken back, and what they make of it.

    Args:
        folder: Of the run.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._form: Manifest | None = None
        self._store = Store(folder.path)
        self._stamp = NOTHING
        self._all: tuple[Overrule, ...] = ()
        self._overlay: Overlay | None = None

    def overlay(self) -> Overlay | None:
        """The run as people's word leaves it; None where the judges' stands."""
        self._look()
        return self._overlay

    def all(self) -> tuple[Overrule, ...]:
        """Every overrule, the newest first, also those that were taken back."""
        self._look()
        return self._all[::-1]

    def judgements(self, example: str) -> tuple[Judgement, ...]:
        """What can be overruled of an example, with the version to be given as ``seen``."""
        self._look()
        found = self._units(self._example(example)[1], list(ASKS.values()))
        shared = sharing(self.folder, {one.subject for one in found})
        return tuple(self._judgement(one, shared, example) for one in found)

    def overrule(
        self,
        example: str,
        kind: str,
        values: Mapping[str, object],
        *,
        unit: object,
        author: str,
        reason: str,
        seen: str | None,
    ) -> Overruled:
        """Correct one judgement; see ``Run.overrule``."""
        checks: list[Callable[[], object]] = [
            partial(asks_named, kind),
            partial(check_words, author, reason),
        ]
        each(checks)
        asks = asks_named(kind)
        asked: dict[str, AskedAgain] = {}
        while True:
            self._look()
            of, judged = self._example(example)
            mine = unit_named(self._units(judged, asks), kind, unit)
            self._check_seen(mine, seen)
            said = checked(mine, values, of)
            if TEXT in said and mine.version not in asked:
                shared = sharing(self.folder, {mine.subject})
                examples = shared.get((mine.ask, mine.subject), [example])
                tables = self._laid(examples).tables
                asked[mine.version] = ask_again(self._run, mine, str(said[TEXT]), tables)
            again = asked.get(mine.version, NOT_ASKED)
            one = Overrule(
                number=len(self._all) + 1,
                example=example,
                ask=mine.ask,
                unit=mine.name,
                author=author.strip(),
                reason=reason.strip(),
                at=_now(),
                judge=None if mine.row is None else str(mine.row["judge"]),
                was=_values(mine),
                said=said,
                subject=mine.subject,
                key=mine.key,
                about=mine.about,
                again=again.rows,
            )
            # Where somebody was quicker, it is looked at anew, for what they said may matter.
            if self._store.add(self._stamp, one):
                return self._done(one, example, again.unasked)

    def undo(
        self, example: str, kind: str, *, unit: object, author: str, reason: str, seen: str | None
    ) -> Overruled:
        """Take the latest overrule of a judgement back; see ``Run.undo_overrule``."""
        asks = asks_named(kind)
        check_words(author, reason, needs_reason=False)
        while True:
            self._look()
            there = self._units(self._example(example)[1], asks)
            mine = unit_named(there, kind, unit)
            self._check_seen(mine, seen)
            one = self._standing(mine)
            if one is None:
                overruled = [unit.named for unit in there if self._standing(unit)]
                others = f" Overruled are: {', '.join(overruled)}." if overruled else ""
                raise InputError(
                    f"{example}, {mine.named} stands as its judge left it: there is nothing to "
                    f"take back.{others}"
                )
            by = Undone(author.strip(), _now(), reason.strip())
            if self._store.undo(self._stamp, one.number, by):
                return self._done(replace(one, undone=by), example, {})

    def _look(self) -> None:
        """Read what was overruled, if anybody overruled, or scored the run, since it was read."""
        form = self.folder.form
        if self._store.stamp() == self._stamp and form is self._form:
            return
        stamp, self._all = self._store.read()
        standing = [one for one in self._all if one.undone is None]
        self._overlay = Overlay(self.folder, form, standing) if form and standing else None
        # Last: until then another thread reads it for itself.
        self._stamp, self._form = stamp, form

    @property
    def _run(self) -> Manifest:
        """What the run says of itself."""
        if self._form is None:
            raise InputError(f"{self.folder.path} is not a run folder.")
        return self._form

    def _example(self, example: str) -> tuple[Example, FewExamples]:
        few = self._laid([example])
        if few.tables.examples.is_empty():
            ids = self.folder.read("examples", columns=["id"])["id"]
            raise UnknownName("example", example, ids, hint="ragstone show RUN lists some.")
        (found,) = from_frame(few.tables.examples)
        return found, few

    def _laid(self, examples: Sequence[str]) -> FewExamples:
        """These examples as people's word leaves them."""
        few = read_few(self.folder, examples, finished_judges(self._run))
        return replace(few, tables=lay(few.tables, self._by_example))

    @property
    def _by_example(self) -> ByExample:
        return {} if self._overlay is None else self._overlay.by_example

    def _units(self, judged: FewExamples, asks: Sequence[Ask]) -> list[JudgedUnit]:
        """The units of an example, with those that a person dropped."""
        found = units(judged.tables, judged.ledger, asks)
        example = judged.tables.examples["id"][0]
        there = {(one.ask, repr(one.key)) for one in found}
        names = {ask.name for ask in asks}
        for one in self._by_example.get(example, ()):
            if one.said.get(DROPPED) and one.ask in names and (one.ask, repr(one.key)) not in there:
                row = {**one.was, **one.said, "judge": one.person, "subject": one.subject}
                unit = JudgedUnit(one.ask, one.unit, one.key, (row,), one.subject, one.about)
                found.append(unit)
        return found

    def _judgement(self, unit: JudgedUnit, sharing: Sharing, example: str) -> Judgement:
        return Judgement(
            ask=unit.ask,
            unit=unit.name,
            values=_values(unit),
            judge=None if unit.row is None else str(unit.row["judge"]),
            version=unit.version,
            examples=tuple(sharing.get((unit.ask, unit.subject), (example,))),
            overrule=self._standing(unit),
        )

    def _standing(self, unit: JudgedUnit) -> Overrule | None:
        """The latest overrule of this judgement that was not taken back."""
        return next((one for one in self._history(unit) if one.undone is None), None)

    def _history(self, unit: JudgedUnit) -> list[Overrule]:
        """The overrules of this judgement, the newest first."""
        mine = judgement_of(unit)
        return [one for one in reversed(self._all) if judgement_of(one) == mine]

    def _check_seen(self, unit: JudgedUnit, seen: str | None) -> None:
        """Raise where somebody overruled the judgement after the person saw it."""
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
            now=_values(unit),
            version=unit.version,
        )

    def _done(self, one: Overrule, example: str, unasked: Mapping[str, str]) -> Overruled:
        self._look()
        _, judged = self._example(example)
        mine = judgement_of(one)
        there = self._units(judged, [ASKS[one.ask]])
        version = next((unit.version for unit in there if judgement_of(unit) == mine), "")
        shared = sharing(self.folder, {one.subject}).get((one.ask, one.subject), [])
        return Overruled(one, tuple(dict.fromkeys([*shared, one.example])), version, unasked)


def _values(unit: JudgedUnit) -> Row:
    """What is said of a unit and can be overruled, by column."""
    if unit.row is None:
        return {}
    names = [*sayable(kind_of(unit.ask), ASKS[unit.ask]), DROPPED]
    return {name: unit.row[name] for name in names if name in unit.row}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
