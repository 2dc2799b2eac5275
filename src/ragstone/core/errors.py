"""Every error Ragstone raises on purpose.

    RagstoneError
    ├── InputError              what the user gave cannot be used as it is (exit status 2)
    │   ├── DataError           records that cannot be read, each fault with its place
    │   ├── UnknownName         no metric, judge, suite or format is called that
    │   ├── RunConflict         a run folder that belongs to other data or settings
    │   ├── CorrectionConflict  a judgement that somebody else corrected meanwhile
    │   ├── LabelConflict       an item of which its person said something else meanwhile
    │   ├── StoreAway           a store that cannot be used at present
    │   │   └── StoreBusy       a store that others use, or that does not answer in time
    │   ├── PromiseRefused      labels that cannot carry the promise of a gate
    │   ├── CannotGoOn          a run that cannot go on at present; what it judged is kept
    │   │   ├── DiskFull        there is no room for what a run has to write
    │   │   └── StorageAway     a store of files that does not answer, or not this user
    │   ├── NothingThere        there is nothing at a URL
    │   ├── DamagedRun          a run folder that does not hold what was written into it
    │   └── ModelError          a model that is not there, or not what it should be
    ├── BatchesWaiting          a run goes on when a provider has answered its batches (status 5)
    ├── ModelFailure            a model that is there did not answer, such as a server that is down
    └── MissingDependency       an extra that this feature needs is not installed

The facts are attributes, so a program need not read the sentence.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from .messages import Notice, in_python, marked, warn_renamed, worded

T = TypeVar("T")

SHOWN_FAULTS = 20


class RagstoneError(Exception):
    """Base class of all errors.

    ``str`` names arguments as Python callers write them; ``text`` holds placeholders for them, see
    ``ragstone.core.messages``.
    """

    @property
    def text(self) -> str:
        return super().__str__()

    def __str__(self) -> str:
        return in_python(self.text)


class InputError(RagstoneError):
    """Input from the user that cannot be used; ``notes`` are reasons printed below the message."""

    def __init__(self, message: str = "", *, notes: Sequence[str] = ()) -> None:
        self.notes = tuple(notes)
        super().__init__(message)

    @property
    def text(self) -> str:
        return "\n".join([super().text, *(f"  {worded(note)}" for note in self.notes)])


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of the data, and its place.

    ``line`` counts from 1: a line of a text file or a row of a table. It is None where the fault
    is the whole file's.
    """

    file: str
    line: int | None
    field: str
    expected: str
    got: str

    @property
    def text(self) -> str:
        """The fault in one line, with placeholders for the arguments that it names."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        field = f"  {self.field}" if self.field else ""
        return f"{where}{field}  expected {marked(self.expected)}, got {self.got}"

    def __str__(self) -> str:
        return in_python(self.text)


class DataError(InputError):
    """Records that cannot be read, with every fault in the order of the data.

    ``total`` is more than ``len(faults)`` if a file has so many that only some are kept.
    """

    def __init__(
        self, faults: Sequence[Fault], *, total: int | None = None, hint: str = ""
    ) -> None:
        self.faults = tuple(faults)
        self.total = len(self.faults) if total is None else total
        self.hint = Notice(hint)
        super().__init__()

    @classmethod
    def of_file(cls, file: str, expected: str, got: str, *, hint: str = "") -> Self:
        """Return the error for a whole file."""
        return cls([Fault(file, None, "", expected, got)], hint=hint)

    @property
    def text(self) -> str:
        noun = "fault" if self.total == 1 else "faults"
        return _listed(f"{self.total:,} {noun} in the data.", self.faults, self.total, self.hint)


def _listed(head: str, faults: Sequence[Fault], total: int, hint: str) -> str:
    lines = [head, *(f"  {fault.text}" for fault in faults[:SHOWN_FAULTS])]
    if total > SHOWN_FAULTS:
        lines.append(f"  … and {total - SHOWN_FAULTS:,} more")
    return "\n".join([*lines, marked(hint)] if hint else lines)


class UnknownName(InputError):
    """No metric, judge, suite or format has that name."""

    def __init__(self, noun: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.noun = noun
        self.name = name
        self.known = tuple(known)
        close = get_close_matches(name, self.known, n=3)
        guess = f" Did you mean {' or '.join(close)}?" if close else ""
        super().__init__(f"No {noun} is called {name!r}.{guess}{' ' + hint if hint else ''}")


def each(look_up: Iterable[Callable[[], T]]) -> list[T]:
    """Return the result of each call; the error has the messages of all calls that fail."""
    results, faults = list[T](), list[InputError]()
    for call in look_up:
        try:
            results.append(call())
        except InputError as fault:
            faults.append(fault)
    if len(faults) > 1:
        raise InputError("\n".join(fault.text for fault in faults))
    if faults:
        raise faults[0]
    return results


class RunConflict(InputError):
    """The run folder holds a run of other data or other settings.

    ``differing`` has the settings that differ, each with its value there and now; none if the
    folder is no run's, or another process writes into it.
    """

    def __init__(
        self, message: str, *, differing: Mapping[str, tuple[object, object]] | None = None
    ) -> None:
        self.differing = dict(differing or {})
        super().__init__(message)


class StoreAway(InputError):
    """A store that cannot be used at present; what was confirmed is kept."""


class StoreBusy(StoreAway):
    """Others have a store locked, or it does not answer in time: to try again at once only takes
    as long again."""


class LabelConflict(InputError):
    """A person's item was saved from another window after they opened it in this one.

    ``version`` is that of the saved answers, to be given as ``seen``.
    """

    def __init__(self, item: int, at: str, version: int) -> None:
        self.item = item
        self.at = at
        self.version = version
        super().__init__(f"Item {item} was saved at {at} from another window.")


@dataclass(eq=False, repr=False)
class CorrectionConflict(InputError):
    """A judgement is not the one that its corrector saw.

    Attributes:
        unit: The judgement, such as ``support/claim#3``.
        author: Who corrected it, or took that back, meanwhile; None if a judge judged it again.
        said: The correction, by column; None if a correction was taken back.
        now: The judgement now, by column.
        version: Its version now, to be given as ``seen``.
    """

    unit: str
    _: KW_ONLY
    author: str | None
    at: str | None
    said: Mapping[str, object] | None
    now: Mapping[str, object]
    version: str

    def __post_init__(self) -> None:
        now = _pairs(self.now) or "nothing"
        what = "took a correction of it back" if self.said is None else f"said {_pairs(self.said)}"
        who = "It was judged again" if self.author is None else f"{self.author} {what} at {self.at}"
        super().__init__(
            f"{self.unit} is not what you saw. {who}; it now says {now}. Look again, and "
            "correct it if you still want to."
        )


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())


if not TYPE_CHECKING:  # A type checker takes every name for one that is here otherwise.

    def __getattr__(name: str) -> type[CorrectionConflict]:
        if name != "OverruleConflict":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warn_renamed(name, CorrectionConflict.__name__)
        return CorrectionConflict


class DamagedRun(InputError):
    """A folder whose contents are not what a run wrote into it, or that never held a run."""

    def __init__(self, faults: Sequence[Fault], *, hint: str = "") -> None:
        self.faults = tuple(faults)
        self.hint = Notice(hint)
        super().__init__()

    @property
    def text(self) -> str:
        head = "The run is damaged: what lies in its folder is not what was written there."
        return _listed(head, self.faults, len(self.faults), self.hint)


@dataclass(eq=False, repr=False)
class PromiseRefused(InputError):
    """Labels that cannot carry the promise of a gate.

    Attributes:
        promise: The argument that asked for it: ``max_false_pass`` or ``max_false_block``.
        bound: Its value.
        why: ``nothing_to_test``, ``too_few`` or ``not_apart``: scores that do not tell the answers
            apart.
        answers: Labelled answers that it is about.
        tightest: The tightest promise that the labels can carry, if any.
        tightest_if_independent: The same, if all these answers were independent.
        needed: Clusters with such an answer that it takes if none of them goes wrong.
        more: The number of these that are missing; None where more labels alone do not help.
    """

    message: str
    _: KW_ONLY
    promise: str
    bound: float
    confidence: float
    why: str
    answers: int
    clusters: int
    tightest: float | None
    tightest_if_independent: float | None
    needed: int
    more: int | None

    def __post_init__(self) -> None:
        super().__init__(self.message)


class CannotGoOn(InputError):
    """A run cannot go on at present, through no fault of the request.

    What it judged is kept, and the same call goes on with it.
    """


class DiskFull(CannotGoOn):
    """There is no room for what a run has to write; what was written before stays."""

    def __init__(self, file: object) -> None:
        super().__init__(
            f"{file}: the disk is full. Make room; then run the same command again. What was "
            "written is kept."
        )


class NothingThere(InputError):
    """There is nothing at a URL."""


class StorageAway(CannotGoOn):
    """A store of files that does not answer, or not this user; what was written before stays."""


class ModelError(InputError):
    """A model that is not there, is not understood, or is not what it should be."""


class ModelFailure(RagstoneError):
    """An available model did not answer: scores that need it are missing, and the run continues."""


class MissingDependency(RagstoneError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(f"{feature} needs an extra: pip install 'ragstone[{extra}]'")


@contextmanager
def needing(feature: str, extra: str) -> Iterator[None]:
    """Raise ``MissingDependency`` if an import in the block fails: its package is not installed.

    A failing import of a module of Ragstone itself is a bug, which no extra fixes.
    """
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "ragstone":
            raise
        raise MissingDependency(feature, extra) from error


def innermost(trace: TracebackType | None) -> TracebackType | None:
    """Return the place where an error arose, of all that it passed through."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def raised_in(trace: TracebackType | None) -> str:
    """Return the function and line of an error, such as " in IntakeApp._read:224"."""
    last = innermost(trace)
    return f" in {last.tb_frame.f_code.co_qualname}:{last.tb_lineno}" if last else ""


FULL = ("No space left on device", "Disk quota exceeded")


@contextmanager
def room_for(file: object, words: Sequence[str] = FULL) -> Iterator[None]:
    """Raise ``DiskFull`` for a full disk, which Polars reports only in the text of its errors.

    ``words`` are substrings of such errors.
    """
    try:
        yield
    except RagstoneError:
        raise
    except Exception as error:
        if not any(word in str(error) for word in words):
            raise
        raise DiskFull(getattr(error, "filename", None) or file) from error


class BatchesWaiting(RagstoneError):
    """A run waits for batches of a provider. The same call goes on with it."""

    def __init__(self, message: str, folder: Path, batches: Sequence[str]) -> None:
        self.folder = folder
        self.batches = tuple(batches)
        super().__init__(message)
