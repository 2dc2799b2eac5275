"""Kinds: the option ``--kinds``. Every command has it, because any run may hold such tables."""

import functools
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any

import typer

Kinds = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE",
        help="Python file or module that defines judgement kinds to add. It is executed, so load "
        "only code you trust.",
    ),
]


def with_kinds(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the option, which is heeded before the command does anything."""

    @functools.wraps(command)
    def run(*args: Any, kinds: list[str] | None = None, **options: Any) -> None:
        if kinds:
            from ragstone.judgements import load_kinds

            for name in kinds:
                load_kinds(name)
        command(*args, **options)

    own = Parameter("kinds", Parameter.KEYWORD_ONLY, default=None, annotation=Kinds)
    given = signature(command)
    shown = given.replace(parameters=[*given.parameters.values(), own])
    run.__signature__ = shown  # type: ignore[attr-defined]
    return run
