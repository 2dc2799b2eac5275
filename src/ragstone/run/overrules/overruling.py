"""Overruling: people correct judgements of a finished run, and take that back."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from ragstone.core.errors import InputError, each
from ragstone.judgements import ASKS
from ragstone.run.folder import Folder

from .asking_again import NOT_ASKED, AskedAgain, ask_again
from .check import asks_named, check_words, checked, unit_named
from .judged_run import JudgedRun
from .overlay import Overlay
from .overrule import TEXT, Judgement, Overrule, Overruled, Undone
from .read_rows import sharing
from .snapshot import Snapshot, values_of_unit
from .store import Store
from .units import judgement_of


class Overruling:
    """The overrules of a run, made and taken back, and what they make of it.

    Args:
        folder: Of the run.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self._store = Store(folder.path)
        self._read: Snapshot | None = None

    def now(self) -> Snapshot:
        """The run and its overrules, read again if anybody overruled, or scored, it since.

        Raises:
            InputError: The overrules are damaged, or there is no run.
        """
        form, read = self.folder.form, self._read
        if form is None:
            raise InputError(f"{self.folder.path} is not a run folder.")
        if read is not None and read.run.form is form and read.stamp == self._store.stamp():
            return read
        run = (
            JudgedRun(self.folder, form) if read is None or read.run.form is not form else read.run
        )
        stamp, overrules = self._store.read()
        standing = [one for one in overrules if one.undone is None]
        self._read = read = Snapshot(
            run, stamp, overrules, Overlay(run, standing) if standing else None
        )
        return read

    def judgements(self, example: str) -> tuple[Judgement, ...]:
        """What can be overruled of an example, with the version to be given as ``seen``."""
        return self.now().judgements(example)

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
            now = self.now()
            of, there = now.units(example, asks)
            mine = unit_named(there, kind, unit)
            now.check_seen(mine, seen)
            said = checked(mine, values, of)
            if TEXT in said and mine.version not in asked:
                shared = sharing(self.folder, {mine.subject})
                few = now.few(shared.get((mine.ask, mine.subject), [example]))
                asked[mine.version] = ask_again(now.run, mine, str(said[TEXT]), few.tables)
            again = asked.get(mine.version, NOT_ASKED)
            one = Overrule(
                number=len(now.all) + 1,
                example=example,
                ask=mine.ask,
                unit=mine.name,
                author=author.strip(),
                reason=reason.strip(),
                at=_time(),
                judge=None if mine.row is None else str(mine.row["judge"]),
                was=values_of_unit(mine),
                said=said,
                subject=mine.subject,
                key=mine.key,
                about=mine.about,
                again=again.rows,
            )
            # Where somebody was quicker, it is looked at anew, for what they said may matter.
            if self._store.add(now.stamp, one):
                return self._done(one, example, again.unasked)

    def undo(
        self, example: str, kind: str, *, unit: object, author: str, reason: str, seen: str | None
    ) -> Overruled:
        """Take the latest overrule of a judgement back; see ``Run.undo_overrule``."""
        asks = asks_named(kind)
        check_words(author, reason, needs_reason=False)
        while True:
            now = self.now()
            _, there = now.units(example, asks)
            mine = unit_named(there, kind, unit)
            now.check_seen(mine, seen)
            one = now.standing(mine)
            if one is None:
                overruled = [unit.named for unit in there if now.standing(unit)]
                others = f" Overruled are: {', '.join(overruled)}." if overruled else ""
                raise InputError(
                    f"{example}, {mine.named} stands as its judge left it: there is nothing to "
                    f"take back.{others}"
                )
            by = Undone(author.strip(), _time(), reason.strip())
            if self._store.undo(now.stamp, one.number, by):
                return self._done(replace(one, undone=by), example, {})

    def _done(self, one: Overrule, example: str, unasked: Mapping[str, str]) -> Overruled:
        _, there = self.now().units(example, [ASKS[one.ask]])
        mine = judgement_of(one)
        version = next((unit.version for unit in there if judgement_of(unit) == mine), "")
        shared = sharing(self.folder, {one.subject}).get((one.ask, one.subject), [])
        return Overruled(one, tuple(dict.fromkeys([*shared, one.example])), version, unasked)


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
