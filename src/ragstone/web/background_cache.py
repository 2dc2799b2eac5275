"""Background cache: slow results are computed once, behind the pages, and stored in files.

A result that somebody waits for, such as a comparison, has the priority of a page.

The files are in ``.ragstone-cache`` in the folder of the runs or, if that cannot be written to,
in the user's cache. The name of a file is made from all that its result depends on, so it is
never stale; the folder may be deleted at any time. A file that cannot be read is made anew.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import BoundedSemaphore, Condition, Lock
from time import monotonic
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ragstone.core.files import cache_folder
from ragstone.core.python_runtime import in_daemon

# Seconds after the last page or result after which the app is calm.
STILL = 1.0

# Seconds after which the background no longer waits for calm.
LONGEST = 60.0

# Seconds that a page waits for its turn; one that takes long does not keep the others.
POLITE = 0.4


class RequestGate:
    """Knows whether something is made for a person: a page, or a result that a page waits for."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._running = 0
        self._last = 0.0
        # Python runs one thread at a time: pages that are made side by side are all late.
        self._turn = BoundedSemaphore()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Hold the background while something is done for a person."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._last = monotonic()
                self._changed.notify_all()

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """Make one page at a time; the next one waits for that, though not for long."""
        with self.busy():
            mine = self._turn.acquire(timeout=POLITE)
            try:
                yield
            finally:
                if mine:
                    self._turn.release()

    def wait(self) -> None:
        """Wait until nothing was made for a person for ``STILL`` seconds, at most ``LONGEST``."""
        until = monotonic() + LONGEST
        with self._changed:
            while (now := monotonic()) < until:
                left = STILL if self._running else self._last + STILL - now
                if left <= 0:
                    return
                self._changed.wait(left)


T = TypeVar("T")

# Seconds that a page waits before it says that it is being computed and asks again.
PATIENCE = 0.25

# Seconds for what comes before or after another result of the same page.
SOON = 0.1

AT_ONCE = 2
# Results that are kept.
MOST_RESULTS = 60


class BackgroundCache:
    """Results by key. A key holds all that a result depends on, such as when its run was made.

    What makes a result must not wait for another one: with every slot taken by such makers, all
    would wait for ever.
    """

    def __init__(self, calm: RequestGate) -> None:
        self._calm = calm
        self._lock = Lock()
        self._slots = BoundedSemaphore(AT_ONCE)
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._last: OrderedDict[Hashable, Any] = OrderedDict()
        self._begun: OrderedDict[Hashable, Hashable] = OrderedDict()

    def get(
        self, key: Hashable, make: Callable[[], T], patience: float | None = PATIENCE
    ) -> T | None:
        """Return the result, or None while it is computed; what making it raises is raised."""
        with self._lock:
            result = self._kept.get(key)
            if result is None:
                result = in_daemon(partial(self._make, make), "result")
            keep_newest(self._kept, key, result, MOST_RESULTS)
        try:
            value: T = result.result(patience)
        except Exception as error:
            if isinstance(error, TimeoutError) and not result.done():
                return None
            with self._lock:
                self._kept.pop(key, None)
            raise
        return value

    def newest(
        self,
        group: Hashable,
        version: Hashable,
        make: Callable[[], T],
        patience: float | None = PATIENCE,
    ) -> T | None:
        """Return the result for a version, or the last one of its group while it is being computed.

        One of a group is computed at a time, and stands as its last whenever it comes: where that
        takes longer than a version holds, it is still shown.
        """

        def made() -> T:
            result = make()
            with self._lock:
                keep_newest(self._last, group, result, MOST_RESULTS)
            return result

        with self._lock:
            begun = self._begun.get(group)
            going = self._kept.get((group, begun))
            if going is None or going.done():
                begun = version
            keep_newest(self._begun, group, begun, MOST_RESULTS)
        result = self.get((group, begun), made, patience)
        with self._lock:
            if result is not None:
                keep_newest(self._last, group, result, MOST_RESULTS)
            last: T | None = self._last.get(group)
        return last

    def _make(self, make: Callable[[], T]) -> T:
        with self._slots, self._calm.busy():
            return make()


def keep_newest(store: OrderedDict[Any, T], key: Hashable, value: T, most: int) -> None:
    """Put a value in as the newest, and let go of the oldest beyond so many."""
    store[key] = value
    store.move_to_end(key)
    while len(store) > most:
        store.popitem(last=False)


FOLDER = ".ragstone-cache"
# Files that are kept; the oldest go first.
MOST_FILES = 300


class KeptResults:
    """The results that are kept of the runs of a folder."""

    def __init__(self, runs: Path) -> None:
        self._beside = runs / FOLDER
        digest = blake2b(str(runs.resolve()).encode(), digest_size=8).hexdigest()
        self._elsewhere = cache_folder() / "view" / digest

    def read(self, key: Hashable, form: type[T]) -> T | None:
        """Return a result; None if it was not kept, or cannot be read."""
        for folder in (self._beside, self._elsewhere):
            try:
                content = (folder / _name(key, form)).read_bytes()
                return TypeAdapter(form).validate_json(content)
            except (OSError, ValidationError):
                continue
        return None

    def write(self, key: Hashable, form: type[T], result: T) -> None:
        """Keep a result; if nothing can be written anywhere, it is computed anew next time."""
        content = TypeAdapter(form).dump_json(result)
        for folder in (self._beside, self._elsewhere):
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)
                with NamedTemporaryFile(dir=folder, suffix=".part", delete=False) as part:
                    part.write(content)
                Path(part.name).replace(folder / _name(key, form))
                files = sorted(folder.glob("*.*"), key=lambda file: file.stat().st_mtime)
                for file in files[:-MOST_FILES]:
                    file.unlink(missing_ok=True)
                return


def _name(key: Hashable, form: type) -> str:
    text = repr((version("ragstone"), form.__qualname__, key))
    return f"{blake2b(text.encode(), digest_size=16).hexdigest()}.json"
