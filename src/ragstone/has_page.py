"""Has page: a result that a notebook shows as its page.

The report room draws the page. It stands above the rooms whose results it draws, so these do not
import it: the package names it here, and it is loaded when a notebook asks for the first page.
"""

from collections.abc import Callable

Draw = Callable[[object], str]

_load: list[Callable[[], Draw]] = []


def drawn_by(load: Callable[[], Draw]) -> None:
    """Say who draws results as HTML; loaded when it is needed."""
    _load[:] = [load]


class HasPage:
    """A result with a page of its own."""

    __slots__ = ()

    def notebook(self) -> str:
        """The page as HTML, which is how a notebook shows it."""
        return _load[0]()(self)

    def _repr_html_(self) -> str:
        return self.notebook()
