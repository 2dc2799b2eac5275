"""Opened: the runs that the app holds open, each of them checked once.

Sizes, columns and numbers of rows are checked before a run is shown; its checksums and rows in the
background, for that takes as long as reading it all. What is found there, every later page says.
The rows to filter and sort by are made before that.
"""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Event, Lock, Thread

from ragstone.core.errors import DamagedRun, Fault, RagstoneError
from ragstone.run import Run
from ragstone.run.folder.locks import MANIFEST
from ragstone.run.folder.run_files import RunFiles

from .calm import Calm
from .example_rows import example_rows

HELD = 4
"""Runs that are held open; the one that was not looked at for longest goes first."""

Stamp = tuple[int, int]

_ONE_AT_A_TIME = Lock()


class OpenRun:
    """A run that is held open.

    Args:
        path: Of a finished run.
        calm: The checks wait for it.

    Attributes:
        run: To be read by many threads.
        checked: Set when every file has been read and compared with its checksum.
        faults: What was found then.

    Raises:
        InputError: It is not a finished run, or damaged.
    """

    def __init__(self, path: Path, calm: Calm) -> None:
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
            except RagstoneError:
                # It was replaced meanwhile; who opens it again is told what is wrong.
                pass
            finally:
                self.checked.set()


class OpenRuns:
    """The runs that were looked at last; one that changed on disk is opened again.

    Args:
        calm: What is made ready in the background waits for it.
    """

    def __init__(self, calm: Calm) -> None:
        self._calm = calm
        self._lock = Lock()
        self._held: OrderedDict[Path, tuple[Stamp, OpenRun]] = OrderedDict()

    def open(self, path: Path) -> OpenRun:
        """The run in a folder.

        Raises:
            InputError: It is not a finished run, or damaged.
        """
        stamp = _stamp(path)
        with self._lock:
            held = self._held.pop(path, None)
            if held is None or held[0] != stamp:
                held = stamp, OpenRun(path, self._calm)
            self._held[path] = held
            while len(self._held) > HELD:
                self._held.popitem(last=False)
        if held[1].faults:
            raise DamagedRun(held[1].faults, hint=held[1].run.folder.made_anew)
        return held[1]


def _stamp(path: Path) -> Stamp:
    try:
        facts = (path / MANIFEST).stat()
    except OSError:
        return 0, 0
    return facts.st_mtime_ns, facts.st_size
