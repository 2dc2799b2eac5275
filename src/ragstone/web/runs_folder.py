"""RunsFolder: the folder whose runs the app shows."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock

from ragstone.decisions import compare
from ragstone.decisions.comparing.compared import Comparisons
from ragstone.errors import InputError, RagstoneError
from ragstone.run import Run
from ragstone.run.estimate import Estimate
from ragstone.run.overrules.store import Store
from ragstone.run.places import MANIFEST
from ragstone.run.runs import FoundRun, found_run, newest_first

from .later import Later
from .marks import Marks, change_marks, marks_in
from .opened import OpenRuns
from .web_page import NotThere


class RunsFolder:
    """A folder with runs, or with one run alone.

    Args:
        folder: With run folders in it, or a run folder.

    Raises:
        InputError: There is no such folder.

    Attributes:
        later: What takes a while, computed in the background.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(f"There is no folder {folder}: `ragstone evaluate DATA` makes a run.")
        self.alone = folder.resolve() if (folder / MANIFEST).is_file() else None
        self.folder = self.alone.parent if self.alone else folder
        self.later = Later()
        self._lock = Lock()
        self._opened = OpenRuns()
        self._compared: dict[tuple[object, ...], Comparisons] = {}
        self._seen: dict[Path, tuple[tuple[int, int], FoundRun, Sequence[Estimate]]] = {}

    @property
    def name(self) -> str:
        """Of the folder."""
        return self.folder.name or str(self.folder)

    def runs(self) -> list[FoundRun]:
        """The runs, the newest first; only those that changed are read again."""
        chosen = self.alone.name if self.alone else "*"
        files = [
            file for file in self.folder.glob(f"*/{MANIFEST}") if chosen in ("*", file.parent.name)
        ]
        return newest_first(self._read(file)[0] for file in files)

    def estimates(self, one: FoundRun) -> Sequence[Estimate]:
        """The estimates of a run; none if it is not finished, or damaged."""
        return self._read(one.path / MANIFEST)[1]

    def _read(self, file: Path) -> tuple[FoundRun, Sequence[Estimate]]:
        try:
            facts = file.stat()
            stamp = facts.st_mtime_ns, facts.st_size
        except OSError:
            stamp = 0, 0
        kept = self._seen.get(file)
        if kept is None or kept[0] != stamp:
            found = found_run(file)
            kept = stamp, found, _estimates(found)
            self._seen[file] = kept
        return kept[1], kept[2]

    def path(self, name: str) -> Path:
        """The folder of a run.

        Raises:
            NotThere: No run is called so.
        """
        folder = self.folder / name
        known = name not in ("", ".", "..") and "/" not in name and "\0" not in name
        if known and self.alone and name != self.alone.name:
            known = False
        if not known or not (folder / MANIFEST).is_file():
            raise NotThere(f"There is no run called {name!r} in {self.folder}.")
        return folder

    def run(self, name: str) -> Run:
        """A finished run.

        Raises:
            NotThere: No run is called so.
            InputError: It is not finished, or damaged.
        """
        return self._opened.open(self.path(name)).run

    def stamp(self, *names: str) -> tuple[object, ...]:
        """What changes when one of these runs does, for what is computed once of them.

        Raises:
            NotThere: No run is called so.
            InputError: Its overrules cannot be read.
        """
        files = [self.path(name) / MANIFEST for name in names]
        return tuple(
            (str(file), file.stat().st_mtime_ns, file.stat().st_size, Store(file.parent).stamp())
            for file in files
        )

    def marks(self) -> Marks:
        """What people noted beside the runs."""
        return marks_in(self.folder)

    def mark(self, change: Callable[[Marks], Marks]) -> None:
        """Change what is noted beside the runs."""
        change_marks(self.folder, change)

    def compared(
        self,
        run: str,
        other: str = "",
        *,
        baseline: str | None = None,
        metrics: Sequence[str] | None = None,
        margin: float | None = None,
        by: Sequence[str] = (),
    ) -> Comparisons:
        """The comparison of a run's systems, or of two runs, computed once."""
        names = [one for one in (run, other) if one]
        chosen = None if metrics is None else tuple(metrics)
        key = (self.stamp(*names), baseline, chosen, margin, tuple(by))
        with self._lock:
            found = self._compared.get(key)
        if found is None:
            found = compare(
                *map(self.run, names), baseline=baseline, metrics=chosen, margin=margin, by=by
            )
            with self._lock:
                self._compared[key] = found
        return found


def _estimates(one: FoundRun) -> Sequence[Estimate]:
    if one.form is None or not one.form.finished:
        return ()
    try:
        return Run(one.path).estimate_list
    except RagstoneError:
        return ()
