"""Every error Ragstone raises on purpose.

    RagstoneError
    ├── InputError              what the user gave cannot be used as it is (exit status 2)
    │   ├── DataError           records that cannot be read, each fault with its place
    │   ├── UnknownName         no metric, judge, suite or format is called that
    │   ├── RunConflict         a run folder that belongs to other data or settings
    │   ├── DiskFull            there is no room for what a run has to write
    │   ├── DamagedRun          a run folder that does not hold what was written into it
    │   └── ModelError          a model that is not there, or not what it should be
    ├── ModelFailure            a model that is there did not answer, such as a server that is down
    └── MissingDependency       an extra that this feature needs is not installed

The facts are attributes, so a program need not read the sentence.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches

from ragstone.argument import Notice, in_python, marked
from ragstone.told import told

SHOWN_FAULTS = 20


class RagstoneError(Exception):
    """Root of the tree. ``str`` tells it to a Python caller; ``text`` is not told to anybody yet,
    see ``ragstone.argument``."""

    @property
    def text(self) -> str:
        """The message, with the arguments that it names."""
        return super().__str__()

    def __str__(self) -> str:
        return in_python(self.text)


class InputError(RagstoneError):
    """Input from the user that cannot be used.

    Attributes:
        notes: Reasons that it rests on, told below it.
    """

    def __init__(self, message: str = "", *, notes: Sequence[str] = ()) -> None:
        self.notes = tuple(notes)
        super().__init__(message)

    @property
    def text(self) -> str:
        """The message and its notes, with the arguments that they name."""
        return "\n".join([super().text, *(f"  {told(note)}" for note in self.notes)])


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with the data, and where.

    ``line`` counts from 1: a line of a text file or a row of a table. It is None
    where the fault is the whole file's.
    """

    file: str
    line: int | None
    field: str
    expected: str
    got: str

    @property
    def text(self) -> str:
        """All of it, with the arguments that it names."""
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        field = f"  {self.field}" if self.field else ""
        return f"{place}{field}  expected {marked(self.expected)}, got {self.got}"

    def __str__(self) -> str:
        return in_python(self.text)


class DataError(InputError):
    """Records that cannot be read. Reports every fault, not only the first.

    Attributes:
        faults: The faults, in the order of the data.
        total: Number of faults; more than ``len(faults)`` if a file has so many that
            only some are kept.
    """

    def __init__(
        self, faults: Sequence[Fault], *, total: int | None = None, hint: str = ""
    ) -> None:
        self.faults = tuple(faults)
        self.total = len(self.faults) if total is None else total
        self.hint = Notice(hint)
        super().__init__()

    @property
    def text(self) -> str:
        """Every fault that is shown, a line each, and the hint."""
        noun = "fault" if self.total == 1 else "faults"
        lines = [f"{self.total:,} {noun} in the data."]
        lines += [f"  {fault.text}" for fault in self.faults[:SHOWN_FAULTS]]
        if self.total > SHOWN_FAULTS:
            lines.append(f"  … and {self.total - SHOWN_FAULTS:,} more")
        if self.hint:
            lines.append(marked(self.hint))
        return "\n".join(lines)


class UnknownName(InputError):
    """No metric, judge, suite or format is called that."""

    def __init__(self, noun: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        self.noun = noun
        self.name = name
        self.known = tuple(known)
        close = get_close_matches(name, self.known, n=3)
        guess = f" Did you mean {' or '.join(close)}?" if close else ""
        super().__init__(f"No {noun} is called {name!r}.{guess}{' ' + hint if hint else ''}")


class RunConflict(InputError):
    """The run folder holds a run of other data or other settings."""


class DamagedRun(InputError):
    """A run folder that does not hold what was written into it, or never was one of ours.

    Attributes:
        faults: The files that are not what they should be, with what was expected.
        hint: What to do.
    """

    def __init__(self, faults: Sequence[Fault], *, hint: str = "") -> None:
        self.faults = tuple(faults)
        self.hint = Notice(hint)
        super().__init__()

    @property
    def text(self) -> str:
        """Every file that is shown, a line each, and the hint."""
        lines = ["The run is damaged: what lies in its folder is not what was written there."]
        lines += [f"  {fault.text}" for fault in self.faults[:SHOWN_FAULTS]]
        if len(self.faults) > SHOWN_FAULTS:
            lines.append(f"  … and {len(self.faults) - SHOWN_FAULTS:,} more")
        return "\n".join([*lines, marked(self.hint)] if self.hint else lines)


class DiskFull(InputError):
    """There is no room for what a run has to write; what was written before stays."""

    def __init__(self, file: object) -> None:
        super().__init__(
            f"{file}: the disk is full. Make room; then run the same command again. What was "
            "written is kept."
        )


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


FULL = ("No space left on device", "Disk quota exceeded")


@contextmanager
def room_for(file: object, words: Sequence[str] = FULL) -> Iterator[None]:
    """Say so where the disk is full, which Polars tells in words alone.

    Args:
        file: Or the folder that is written into.
        words: Of the errors that mean that.

    Raises:
        DiskFull: There is no room for the file, or for what is written into that folder.
    """
    try:
        yield
    except RagstoneError:
        raise
    except Exception as error:
        if not any(one in str(error) for one in words):
            raise
        raise DiskFull(getattr(error, "filename", None) or file) from error
