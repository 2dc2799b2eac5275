"""Base class for results that have a page: a notebook shows it as HTML, ``print`` as text.

``ragstone.report`` renders the page. It depends on the packages whose results it renders, so these
cannot import it: ``ragstone`` registers the renderer here, and it is imported when the first page
is shown.
"""

from collections.abc import Callable
from typing import Protocol


class Renderer(Protocol):
    """What makes HTML and text of a result."""

    def notebook_html(self, result: object, /) -> str: ...
    def printed(self, result: object, /) -> str: ...


_load: list[Callable[[], Renderer]] = []


def rendered_by(load: Callable[[], Renderer]) -> None:
    """Register the function that imports the renderer; called for each page."""
    _load[:] = [load]


class HasPage:
    """A result with a page of its own."""

    __slots__ = ()

    def notebook(self) -> str:
        """The page as HTML, which is how a notebook shows it."""
        return _load[0]().notebook_html(self)

    def _repr_html_(self) -> str:
        return self.notebook()

    def __str__(self) -> str:
        return _load[0]().printed(self)
