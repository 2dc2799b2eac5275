"""Base class for results that a notebook shows as an HTML page.

``ragstone.report`` renders the page. It depends on the packages whose results it renders, so these
cannot import it: ``ragstone`` registers the renderer here, and it is imported when a notebook shows
the first page.
"""

from collections.abc import Callable

Draw = Callable[[object], str]

_load: list[Callable[[], Draw]] = []


def drawn_by(load: Callable[[], Draw]) -> None:
    """Register the function that imports the HTML renderer; called for each page."""
    _load[:] = [load]


class HasPage:
    """A result with a page of its own."""

    __slots__ = ()

    def notebook(self) -> str:
        """The page as HTML, which is how a notebook shows it."""
        return _load[0]()(self)

    def _repr_html_(self) -> str:
        return self.notebook()
