"""Runs folder: the runs that the app shows and holds open, with their labels and the monitor.

Sizes, columns and numbers of rows are checked before a run is shown. Checksums and rows are
checked in the background, after the rows to filter and sort by are made, because this takes as
long as reading everything; every later page then reports any fault.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Event, Lock, Thread, Timer
from typing import NamedTuple, TypeVar

from ragstone.analysis import compare
from ragstone.analysis.calibration.judge_identity import NAME as PASSPORT
from ragstone.analysis.comparison.comparison_result import Comparisons
from ragstone.analysis.summaries.failure_stages import FailureGroups, failures
from ragstone.analysis.summaries.run_summary import Summary, summarise
from ragstone.annotation.queue.form import QueueForm
from ragstone.annotation.queue.labels_store import FILE as LABELS
from ragstone.annotation.queue.labels_store import (
    LabelDatabase,
    StoreAddress,
    open_labels,
    person_of,
)
from ragstone.annotation.queue.queue import Queue, queues
from ragstone.annotation.queue.queue_results import labels_as_they_are
from ragstone.annotation.queue.work_progress import queue_version
from ragstone.core.database import Sql
from ragstone.core.errors import DamagedRun, Fault, InputError, RagstoneError, UnknownName
from ragstone.core.files import RunEntry
from ragstone.monitor.settings import MonitorSettings
from ragstone.monitor.store.store import FILE as MONITOR
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.run import Estimate, Run
from ragstone.run.corrections.correction import Store
from ragstone.run.folder.run_files import RunFiles
from ragstone.run.folder.run_list import FoundRun, found_run, newest_first

from .auth import SeatedPerson
from .background_cache import PATIENCE, BackgroundCache, KeptResults, RequestGate, keep_newest
from .example_rows import example_rows
from .page_request import NotThere


@dataclass(frozen=True, slots=True)
class MonitorScreens:
    """A monitor; its settings are None if this server does not know them.

    ``takes`` says whether this server takes traces, ``token`` what a program has to show that
    sends them, and ``waiting`` how many requests wait to be written.
    """

    store: MonitorStore
    settings: MonitorSettings | None = None
    takes: bool = False
    token: str = ""
    waiting: Callable[[], int] | None = None

    def reading(self) -> AbstractContextManager[Sql]:
        """Return the store as it is at one moment."""
        return self.store.database.reading()

    def writing(self) -> AbstractContextManager[Sql]:
        """Return the store for a change."""
        return self.store.database.transaction()


# Runs that are held open; the one that was not looked at for longest goes first.
HELD = 4

_ONE_AT_A_TIME = Lock()


class OpenRun:
    """A run that is held open; ``checked`` is set once its files are compared with checksums."""

    def __init__(self, path: Path, calm: RequestGate) -> None:
        self._calm = calm
        self.run = Run.open(path)
        self.run.folder.believe()
        self.checked = Event()
        self.faults: Sequence[Fault] = ()
        Thread(target=self._prepare, daemon=True).start()

    def _prepare(self) -> None:
        with _ONE_AT_A_TIME:
            try:
                rows = example_rows(self.run)
                self._calm.wait()
                rows.prepare()
                self._calm.wait()
                self.faults = RunFiles(self.run.path).damage()
            except (OSError, RagstoneError):
                # It was replaced or deleted meanwhile; who opens it again is told what is wrong.
                pass
            finally:
                self.checked.set()


T = TypeVar("T")

# What changes when a run does.
RunVersion = tuple[object, ...]

# Bytes of a file's name.
LONGEST_NAME = 255

# Runs whose first page is prepared when the app starts.
PREPARED = 5


class ListedRun(NamedTuple):
    """A run of the folder with its estimates; none if it is not finished, or damaged."""

    run: FoundRun
    estimates: Sequence[Estimate]


class RunsFolder:
    """A folder with runs, or with one run alone.

    ``labels`` is the store of labels, a file or an address ``postgresql://…``, and ``watching`` the
    monitor; without them it is those in the folder, if there are any.
    """

    def __init__(
        self, folder: Path, labels: str = "", watching: MonitorScreens | None = None
    ) -> None:
        if not folder.is_dir():
            raise InputError(f"There is no folder {folder}: `ragstone evaluate DATA` makes a run.")
        self.alone = folder.resolve() if (folder / RunEntry.MANIFEST).is_file() else None
        self.folder = self.alone.parent if self.alone else folder
        self.name = self.folder.name or str(self.folder)
        self.calm = RequestGate()
        self.later = BackgroundCache(self.calm)
        self._held: OrderedDict[Path, tuple[RunVersion, OpenRun]] = OrderedDict()
        self._holding = Lock()
        self._kept = KeptResults(self.folder)
        self._seen: dict[Path, tuple[RunVersion, ListedRun]] = {}
        at = Path(labels or self.folder)
        self._address = StoreAddress(labels)
        if self._address.is_file:
            self._address = StoreAddress(str(at / LABELS if at.is_dir() else at))
        self._store: LabelDatabase | None = None
        self._opening = Lock()
        self._watching = watching

    def runs(self) -> list[FoundRun]:
        """Return the runs, the newest first; only those that changed are read again."""
        chosen = self.alone.name if self.alone else "*"
        files = [
            file
            for file in self.folder.glob(f"*/{RunEntry.MANIFEST}")
            if chosen in ("*", file.parent.name)
        ]
        runs = []
        for file in files:
            # A run may be deleted meanwhile.
            with suppress(FileNotFoundError):
                runs.append(self.listed(file.parent).run)
        return newest_first(runs)

    def listed(self, path: Path) -> ListedRun:
        """Return what the list shows of a run folder."""
        file, corrections = path / RunEntry.MANIFEST, path / RunEntry.CORRECTIONS
        stamp = _facts(file, corrections, corrections.with_name(f"{RunEntry.CORRECTIONS}-wal"))
        cached = self._seen.get(file)
        if cached is None or cached[0] != stamp:
            run = found_run(file)
            cached = stamp, ListedRun(run, _estimates(run))
            self._seen[file] = cached
        return cached[1]

    def path(self, name: str) -> Path:
        """Return the folder of a run."""
        folder = self.folder / name
        known = name not in ("", ".", "..") and "/" not in name and "\0" not in name
        # A name of more bytes than a file system knows is an error there, not merely absent.
        known = known and len(name.encode()) <= LONGEST_NAME
        if known and self.alone and name != self.alone.name:
            known = False
        try:
            known = known and (folder / RunEntry.MANIFEST).is_file()
        except PermissionError as error:
            raise InputError(
                f"{folder} cannot be read (permission denied). Let whoever started ragstone view "
                "read it, then reload this page."
            ) from error
        if not known:
            raise NotThere(f"There is no run called {name!r} in {self.folder}.")
        return folder

    def run(self, name: str) -> Run:
        """Return a finished run."""
        return self.opened(name).run

    def opened(self, name: str) -> OpenRun:
        """Return a run that is held open; one that changed on disk is opened again."""
        path = self.path(name)
        stamp = _facts(path / RunEntry.MANIFEST)
        with self._holding:
            held = self._held.get(path)
            if held is None or held[0] != stamp:
                held = stamp, OpenRun(path, self.calm)
            keep_newest(self._held, path, held, HELD)
        if held[1].faults:
            raise DamagedRun(held[1].faults, hint=held[1].run.folder.made_anew)
        return held[1]

    def stamp(self, *names: str) -> tuple[object, ...]:
        """Return what changes when one of these runs does, for what is computed once of them."""
        return tuple(_run_version(self.path(name) / RunEntry.MANIFEST) for name in names)

    def comparing(
        self,
        run: str,
        other: str = "",
        *,
        baseline: str | None = None,
        metrics: Sequence[str] | None = None,
        margin: float | None = None,
        by: Sequence[str] = (),
        patience: float | None = PATIENCE,
    ) -> Comparisons | None:
        """Return the comparison of a run's systems, or of two runs; None while it is computed."""
        names = [name for name in (run, other) if name]
        chosen = None if metrics is None else tuple(metrics)
        key = ("compared", self.stamp(*names), baseline, chosen, margin, tuple(by))

        def make() -> Comparisons:
            return compare(
                *map(self.run, names), baseline=baseline, metrics=chosen, margin=margin, by=by
            )

        return self._slow(key, Comparisons, make, patience)

    def summary(self, name: str, patience: float = PATIENCE) -> Summary | None:
        """Return the run in a few facts; None while they are being computed."""
        key = ("summary", self.stamp(name))
        return self._slow(key, Summary, lambda: summarise(self.run(name)), patience)

    def failures(self, name: str, patience: float = PATIENCE) -> FailureGroups | None:
        """Return how many answers look bad, by stage; None while that is being computed."""
        key = ("failures", self.stamp(name), ())
        return self._slow(
            key, FailureGroups, lambda: failures(self.run(name)).without_answers, patience
        )

    @property
    def has_labels(self) -> bool:
        """True if there is a store of labels."""
        return not self._address.is_file or Path(self._address.place).is_file()

    def labels(self) -> LabelDatabase:
        """Return the store of labels, made where it is missing."""
        with self._opening:
            if self._store is None:
                self._store = open_labels(self._address.place)
            return self._store

    @contextmanager
    def labels_to_read(self) -> Iterator[LabelDatabase | None]:
        """Yield the store as it is at one moment, or None; nobody who labels waits for that."""
        if not self.has_labels:
            yield None
            return
        with labels_as_they_are(self._address) as database:
            yield database

    @contextmanager
    def queue_to_read(self, name: str) -> Iterator[tuple[LabelDatabase, Queue]]:
        """Yield the store as it is at one moment, and a queue of it."""
        with self.labels_to_read() as database:
            if database is None:
                raise NotThere(f"There is no queue called {name!r}.")
            yield database, Queue(database, name)

    def queues_of(self, name: str) -> dict[str, tuple[int, int, int]]:
        """Return the queues of a run in which people said something, as sources of labels.

        Each with what changes when they say more. A store that cannot be used has none; the pages
        of its queues say what is wrong with it.
        """
        versions = {}
        with suppress(RagstoneError), self.labels_to_read() as database:
            for form in queues(database) if database else ():
                if database and run_of_queue(self, form) == name:
                    with database.transaction() as run:
                        version = queue_version(run, form.name)
                    if any(version[:2]):
                        versions[f"{self._address.place}#{form.name}"] = version
        return versions

    def queue(self, name: str) -> Queue:
        """Return a queue of the store."""
        if self.has_labels:
            with suppress(UnknownName):
                return Queue(self.labels(), name)
        raise NotThere(f"There is no queue called {name!r}.")

    @property
    def watches(self) -> bool:
        """True if there is a monitor."""
        if self._watching is not None:
            return True
        try:
            return (self.folder / MONITOR).is_file()
        except OSError:
            return False

    def watching(self) -> MonitorScreens:
        """Return the monitor."""
        with self._opening:
            if self._watching is None:
                if not self.watches:
                    raise NotThere(
                        f"Nothing is monitored in {self.folder}: `ragstone monitor serve` begins."
                    )
                self._watching = MonitorScreens(open_store(self.folder, make=False))
            return self._watching

    def person(self, token: str) -> SeatedPerson | None:
        """Return who has a token of their own; None if nobody has it, or it was revoked."""
        seat = person_of(self.labels(), token) if self.has_labels else None
        return SeatedPerson(seat[0], seat[1].name, seat[1].role) if seat else None

    def _slow(
        self, key: Hashable, form: type[T], make: Callable[[], T], patience: float | None
    ) -> T | None:
        """Return a result from the files that keep them, or made and kept."""

        def once() -> T:
            result = self._kept.read(key, form)
            if result is None:
                result = make()
                self._kept.write(key, form, result)
            return result

        return self.later.get(key, once, patience)


def run_of_queue(folder: RunsFolder, form: QueueForm) -> str:
    """Return the name of the run that a queue is of; empty if it is of none in the folder."""
    source = Path(form.source)
    with suppress(RagstoneError, OSError):
        if form.source and folder.path(source.name).resolve() == source.resolve():
            return source.name
    return ""


def prepare_soon(folder: RunsFolder) -> None:
    """Compute, a second later and in the background, what pages of the newest runs show first."""
    timer = Timer(1, _prepare, [folder])
    timer.daemon = True
    timer.start()


def _prepare(folder: RunsFolder) -> None:
    finished = [run for run in folder.runs() if run.form and run.form.finished]
    for run in finished[:PREPARED]:
        # A run may be deleted meanwhile.
        with suppress(RagstoneError, FileNotFoundError):
            folder.calm.wait()
            folder.summary(run.path.name)
            folder.failures(run.path.name)


def _estimates(run: FoundRun) -> Sequence[Estimate]:
    if run.form is None or not run.form.finished:
        return ()
    try:
        return Run(run.path).estimate_list
    except RagstoneError:
        return ()


def _run_version(file: Path) -> RunVersion:
    """Return what changes with a run's ``run.json``, which has the checksums of all its tables."""
    content = blake2b(digest_size=16)
    for path in (file, file.parent / f"{PASSPORT}.json"):
        with suppress(OSError):
            content.update(path.read_bytes())
    with suppress(RagstoneError):
        return file.parent.name, content.hexdigest(), Store(file.parent).stamp()
    return file.parent.name, content.hexdigest()


def _facts(*files: Path) -> RunVersion:
    """Return what changes with files as far as the system tells without reading anything."""
    facts_of: list[object] = []
    for path in files:
        with suppress(OSError):
            facts = path.stat()
            facts_of += [facts.st_mtime_ns, facts.st_size]
    return tuple(facts_of)
