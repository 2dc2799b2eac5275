"""Later: what takes a while is computed once, in the background; a page waits a moment for it."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, TypeVar

from .calm import Calm

T = TypeVar("T")

PATIENCE = 0.25
"""Seconds that a page waits before it says that it is being computed and asks again."""

SOON = 0.1
"""Seconds for what comes before or after another result of the same page."""

AT_ONCE = 2
MOST = 60
"""Results that are kept."""


class Later:
    """Results by key. A key holds all that a result depends on, such as when its run was made.

    What makes a result must not wait for another one: with every slot taken by such makers, all
    would wait for ever.

    Args:
        calm: What nobody waits for waits while a result is made.
    """

    def __init__(self, calm: Calm) -> None:
        self._calm = calm
        self._lock = Lock()
        self._slots = BoundedSemaphore(AT_ONCE)
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._last: OrderedDict[Hashable, Any] = OrderedDict()
        self._begun: OrderedDict[Hashable, Hashable] = OrderedDict()

    def get(
        self, key: Hashable, make: Callable[[], T], patience: float | None = PATIENCE
    ) -> T | None:
        """The result, or None while it is being computed; what making it raises is raised."""
        with self._lock:
            result = self._kept.get(key)
            if result is None:
                result = self._kept[key] = Future()
                Thread(target=self._make, args=(result, make), daemon=True).start()
            self._kept.move_to_end(key)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        try:
            found: T = result.result(patience)
        except TimeoutError:
            if not result.done():
                return None
            self._forget(key)
            raise
        except Exception:
            self._forget(key)
            raise
        return found

    def newest(
        self,
        group: Hashable,
        version: Hashable,
        make: Callable[[], T],
        patience: float | None = PATIENCE,
    ) -> T | None:
        """The result for a version, or the last one of its group while it is being computed.

        One of a group is computed at a time, and stands as its last whenever it comes: where that
        takes longer than a version holds, it is still shown.
        """

        def made() -> T:
            found = make()
            with self._lock:
                _put(self._last, group, found)
            return found

        with self._lock:
            begun = self._begun.get(group)
            going = self._kept.get((group, begun))
            if going is None or going.done():
                begun = version
            _put(self._begun, group, begun)
        found = self.get((group, begun), made, patience)
        with self._lock:
            if found is not None:
                _put(self._last, group, found)
            last: T | None = self._last.get(group)
        return last

    def _make(self, result: Future[Any], make: Callable[[], Any]) -> None:
        with self._slots, self._calm.busy():
            try:
                result.set_result(make())
            except BaseException as error:
                result.set_exception(error)

    def _forget(self, key: Hashable) -> None:
        with self._lock:
            self._kept.pop(key, None)


def _put(kept: OrderedDict[Hashable, Any], key: Hashable, value: object) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MOST:
        kept.popitem(last=False)
