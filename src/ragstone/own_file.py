"""Runs a user's Python file or module that defines their own metrics or kinds."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from ragstone.errors import InputError

GIVEN: dict[str, str] = {}
"""How the user named each module that ran: a file or a dotted name."""


def own_module(name: str | Path) -> ModuleType:
    """Import a Python file, or a module given by its dotted name; it is run only once.

    Raises:
        InputError: It does not exist, or fails to run.
    """
    path = Path(name)
    if path.suffix != ".py" and not path.exists():
        with _as_input_error(name):
            module = importlib.import_module(str(name))
        GIVEN[module.__name__] = str(name)
        return module
    if not path.is_file():
        raise InputError(f"{path}: there is no such file.")
    known, there = _known_as(path)
    GIVEN[known] = str(name)
    if there is not None:
        return there
    spec = importlib.util.spec_from_file_location(known, path.resolve())
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[known] = module
    try:
        with _as_input_error(name):
            spec.loader.exec_module(module)
    except InputError:
        del sys.modules[known]
        raise
    return module


def _known_as(path: Path) -> tuple[str, ModuleType | None]:
    """The name of a file's module, unlike that of another file called the same; and the module."""
    known = f"ragstone_own_{path.stem}"
    while (there := sys.modules.get(known)) and there.__file__ != str(path.resolve()):
        known += "_"
    return known, there


@contextmanager
def _as_input_error(name: str | Path) -> Iterator[None]:
    """Turn any error raised by the user's code into an ``InputError`` of one sentence."""
    try:
        yield
    except InputError:
        raise
    except ModuleNotFoundError as error:
        if error.name != str(name).partition(".")[0]:
            raise InputError(f"{name}: {type(error).__name__} while it ran: {error}") from error
        raise InputError(f"{name}: there is no such file, and no module of that name.") from error
    except (Exception, SystemExit) as error:
        lines = [place.lineno for place in extract_tb(error.__traceback__)
                 if Path(place.filename) == Path(name).resolve()]  # fmt: skip
        at = f":{lines[-1]}" if lines else ""
        raise InputError(f"{name}{at}: {type(error).__name__} while it ran: {error}") from error
