"""Source: how a function of the user's is told from another one, also by a later process."""

import inspect
from types import FunctionType

from ragstone.errors import InputError

PLAIN = (type(None), bool, int, float, str)


def source(made: object, *, instead: str) -> str:
    """The source of a function or class, by which it is known.

    What it reads from elsewhere, such as a global or a file, is not seen.

    Args:
        made: The function or class.
        instead: How the user gives it an identity, for the error.

    Raises:
        InputError: It has no source that can be read, or was made with values that its source does
            not show.
    """
    fault = _hidden(made)
    if not fault:
        try:
            return inspect.getsource(made) + _defaults(made)  # type: ignore[arg-type]
        except (OSError, TypeError):
            fault = "its source cannot be read"
    name = getattr(made, "__qualname__", type(made).__qualname__)
    raise InputError(
        f"{name} cannot be told from an earlier version of it: {fault}. Give it an identity, and "
        f"another one whenever it changes: {instead}"
    )


def _hidden(made: object) -> str:
    """What it is made of beside its source; empty where that is nothing."""
    if isinstance(made, type):
        return ""
    if not isinstance(made, FunctionType):
        return f"it is a {type(made).__name__}, which may hold anything"
    if made.__closure__:
        return f"it uses {', '.join(made.__code__.co_freevars)} of the function around it"
    if not all(isinstance(value, PLAIN) for value in _values(made)):
        return "its arguments have objects as default values"
    return ""


def _defaults(made: object) -> str:
    values = _values(made) if isinstance(made, FunctionType) else []
    return repr(values) if values else ""


def _values(made: FunctionType) -> list[object]:
    return [*(made.__defaults__ or ()), *(made.__kwdefaults__ or {}).values()]
