"""User code: imports a user's own module, tells functions apart, and freezes shared values.

A function is identified by its source code, because that is the same in every process.
"""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import FrozenInstanceError
from pathlib import Path
from traceback import extract_tb
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from .errors import InputError

_Table = TypeVar("_Table", dict[Any, Any], list[Any])

# Every table that a user's file may add to when it runs, such as that of all kinds.
REGISTRIES: list[Any] = []


def registry(table: _Table) -> _Table:
    """List a table among the registries, so that a refused file leaves nothing in it.

    The table lives as long as the process. Its values are not copied: a dictionary inside it is
    a registry of its own.
    """
    REGISTRIES.append(table)
    return table


class Frozen:
    """Base class of shared values: no attribute can be set, whether it is a field or not."""

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


# How the user named each module that ran: a file or a dotted name.
GIVEN: dict[str, str] = registry({})


@contextmanager
def nothing_if_refused() -> Iterator[None]:
    """Undo what a user's file has registered if this block raises an error.

    Otherwise every later run in the same process would carry the refused file to its workers.
    """
    before = [(table, table.copy()) for table in REGISTRIES]
    modules = set(sys.modules)
    try:
        yield
    except BaseException:
        loaded = GIVEN.keys() - modules
        for table, entries in before:
            table.clear()
            (table.extend if isinstance(table, list) else table.update)(entries)
        for name in loaded:
            sys.modules.pop(name, None)
        raise


@nothing_if_refused()
def own_module(name: str | Path) -> ModuleType:
    """Import a Python file, or a module given by its dotted name; it is run only once."""
    path = Path(name)
    if path.suffix != ".py" and not path.exists():
        with _as_input_error(name):
            module = importlib.import_module(str(name))
        GIVEN[module.__name__] = str(name)
        return module
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    known, loaded = _known_as(path)
    GIVEN[known] = str(name)
    if loaded is not None:
        return loaded
    spec = importlib.util.spec_from_file_location(known, path.resolve())
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    with _as_input_error(name):
        spec.loader.exec_module(module)
    return module


def _known_as(path: Path) -> tuple[str, ModuleType | None]:
    """Name a file's module unlike that of another file called the same."""
    known = f"ragstone_own_{path.stem}"
    while (module := sys.modules.get(known)) and module.__file__ != str(path.resolve()):
        known += "_"
    return known, module


@contextmanager
def _as_input_error(name: str | Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except ModuleNotFoundError as error:
        if error.name != str(name).partition(".")[0]:
            raise InputError(f"{name}: {type(error).__name__} while it ran: {error}") from error
        raise InputError(f"{name}: there is no such file, and no module of that name.") from error
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__)
                 if Path(frame.filename) == Path(name).resolve()]  # fmt: skip
        at = f":{lines[-1]}" if lines else ""
        raise InputError(f"{name}{at}: {type(error).__name__} while it ran: {error}") from error


PLAIN = (type(None), bool, int, float, str)


def source(code: object, *, instead: str) -> str:
    """Return the source code of a function or class, which serves as its identity.

    Anything it reads from elsewhere, such as a global or a file, is not part of it. ``instead``
    says in the error how the user can give it an explicit identity.

    Raises:
        InputError: Its source cannot be read, or it depends on values that its source does not
            show, such as variables of an enclosing function.
    """
    fault = _hidden(code)
    if not fault:
        try:
            values = _values(code) if isinstance(code, FunctionType) else []
            shown = repr(values) if values else ""
            return inspect.getsource(code) + shown  # type: ignore[arg-type]
        except (OSError, TypeError):
            fault = "its source cannot be read"
    name = getattr(code, "__qualname__", type(code).__qualname__)
    raise InputError(
        f"{name} cannot be identified by its source: {fault}. Give it an identity, and "
        f"a new one whenever it changes: {instead}"
    )


def _hidden(code: object) -> str:
    if isinstance(code, type):
        return ""
    if not isinstance(code, FunctionType):
        return f"it is a {type(code).__name__}, which may hold anything"
    if code.__closure__:
        return f"it uses {', '.join(code.__code__.co_freevars)} of the enclosing function"
    if code.__code__.co_filename == "<string>":
        # For code made by exec, Python 3.13 gives the source of ``python -c``.
        return "its source cannot be read"
    if not all(isinstance(value, PLAIN) for value in _values(code)):
        return "its arguments have objects as default values"
    return ""


def _values(function: FunctionType) -> list[object]:
    return [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
