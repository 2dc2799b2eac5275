"""Failures: how a command ends when it cannot go on. Bad input never shows a traceback."""

import functools
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, ParamSpec, TypeVar

import typer

from ragstone.core.errors import RagstoneError
from ragstone.core.messages import in_shell

from .output import say

BAD_INPUT, BUG, INTERRUPTED, BROKEN_PIPE = 2, 70, 130, 141

Given = ParamSpec("Given")
Result = TypeVar("Result")


def guarded(command: Callable[Given, Result]) -> Callable[Given, Result]:
    """The command, with every failure turned into words and an exit status."""

    @functools.wraps(command)
    def run(*args: Given.args, **options: Given.kwargs) -> Result:
        try:
            try:
                return command(*args, **options)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except RagstoneError as error:
            fail(in_shell(error.text), BAD_INPUT)
        except KeyboardInterrupt:
            fail(
                "Interrupted. A run keeps what it has done: run the same command again to resume.",
                INTERRUPTED,
            )
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            said = error.strerror or str(error)
            if error.filename:
                said = f"{error.filename}: {said}. Name another one, or change its permissions."
            fail(said, BAD_INPUT)
        except (typer.Exit, typer.BadParameter):
            raise
        except Exception as error:
            if os.environ.get("RAGSTONE_DEBUG") == "1":
                raise
            fail(bug(error), BUG)

    return run


def fail(words: str, status: int) -> NoReturn:
    """Say why on standard error, and end."""
    say(words, err=True)
    raise typer.Exit(status)


def bug(error: Exception) -> str:
    """One line for what should not happen: what, where, and how to see more."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    message = " ".join(str(error).split())
    return (
        f"This is a bug in Ragstone, please report it: {type(error).__name__} in {place}"
        f"{f': {message}' if message else ''}  (RAGSTONE_DEBUG=1 shows the traceback)"
    )
