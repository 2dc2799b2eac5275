"""Source code as the identity of a user's function, stable across processes."""

import inspect
from types import FunctionType

from ragstone.errors import InputError

PLAIN = (type(None), bool, int, float, str)


def source(made: object, *, instead: str) -> str:
    """The source code of a function or class, which serves as its identity.

    Anything it reads from elsewhere, such as a global or a file, is not part of it.

    Args:
        made: The function or class.
        instead: How the user can give it an explicit identity, for the error.

    Raises:
        InputError: Its source cannot be read, or it depends on values that its source does not
            show, such as variables of an enclosing function.
    """
    fault = _hidden(made)
    if not fault:
        try:
            return inspect.getsource(made) + _defaults(made)  # type: ignore[arg-type]
        except (OSError, TypeError):
            fault = "its source cannot be read"
    name = getattr(made, "__qualname__", type(made).__qualname__)
    raise InputError(
        f"{name} cannot be identified by its source: {fault}. Give it an identity, and "
        f"a new one whenever it changes: {instead}"
    )


def _hidden(made: object) -> str:
    """Why the source alone does not identify it; empty if it does."""
    if isinstance(made, type):
        return ""
    if not isinstance(made, FunctionType):
        return f"it is a {type(made).__name__}, which may hold anything"
    if made.__closure__:
        return f"it uses {', '.join(made.__code__.co_freevars)} of the enclosing function"
    if not all(isinstance(value, PLAIN) for value in _values(made)):
        return "its arguments have objects as default values"
    return ""


def _defaults(made: object) -> str:
    values = _values(made) if isinstance(made, FunctionType) else []
    return repr(values) if values else ""


def _values(made: FunctionType) -> list[object]:
    return [*(made.__defaults__ or ()), *(made.__kwdefaults__ or {}).values()]
