"""Extra: what the web room says where the extra ``ui`` is not installed."""

from importlib.util import find_spec

from ragstone.core.errors import MissingDependency

NEEDED = ("jinja2", "starlette", "uvicorn")


def require_ui(what: str) -> None:
    """See that the extra is installed.

    Raises:
        MissingDependency: It is not; ``what`` needs it.
    """
    if any(find_spec(name) is None for name in NEEDED):
        raise MissingDependency(what, "ui")
