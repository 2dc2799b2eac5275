"""Options about judges by model: what they are told, how fast they are asked, what it may cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragstone.run import Instructions, Limits

PANEL = "Judges by model"

Plan = Annotated[
    str,
    typer.Option(
        metavar="PLAN",
        rich_help_panel=PANEL,
        help="isolated: each task in a question of its own; lean: fewer calls, some tasks share "
        "one, and may read each other.",
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        rich_help_panel=PANEL,
        help="Prompts of your own: files such as support.md, which replace those of Ragstone.",
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=PANEL,
        help="What models write claims and reasons in, such as German. Default: as the texts.",
    ),
]
Rubrics = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", rich_help_panel=PANEL, help="A TOML file with criteria of your own."
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=PANEL,
        help="Print calls, tokens and cost, and send nothing.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        metavar="USD",
        rich_help_panel=PANEL,
        help="Stop asking at this cost; what was not asked is missing, and the same command with "
        "more goes on.",
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(metavar="N", rich_help_panel=PANEL, help="Stop asking after so many calls."),
]
Prices = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=PANEL,
        help="A TOML file with prices per million tokens. Default: those of the extra `prices`.",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", rich_help_panel=PANEL, help="For one reply, from when it is sent."
    ),
]
Concurrency = Annotated[
    int,
    typer.Option(
        metavar="N",
        rich_help_panel=PANEL,
        help="Maximum concurrent calls per model; adapts to the server's limit.",
    ),
]
Rpm = Annotated[
    int | None,
    typer.Option(metavar="N", rich_help_panel=PANEL, help="Calls a minute to a model."),
]
Tpm = Annotated[
    int | None,
    typer.Option(metavar="N", rich_help_panel=PANEL, help="Tokens a minute to a model."),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        rich_help_panel=PANEL,
        help="Where replies are kept across runs. Default: Ragstone's cache folder.",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        rich_help_panel=PANEL,
        help="Use no reply of an earlier run, and keep none for later ones.",
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        rich_help_panel=PANEL,
        help="Print every reply, and each example with its verdicts as soon as it is judged.",
    ),
]


def instructions(
    plan: str, prompts: Path | None, language: str | None, rubrics: Path | None
) -> "Instructions":
    """What models are told."""
    from ragstone.run import Instructions

    return Instructions(plan, prompts, language, rubrics)


def limits(
    *,
    timeout: float,
    concurrency: int,
    rpm: int | None,
    tpm: int | None,
    max_calls: int | None,
    budget: float | None,
    prices: Path | None,
    cache: Path | None,
    no_cache: bool,
) -> "Limits":
    """How fast models are asked, and what it may cost."""
    from ragstone.run import Limits

    return Limits(
        timeout=timeout,
        concurrency=concurrency,
        rpm=rpm,
        tpm=tpm,
        max_calls=max_calls,
        budget=budget,
        prices=prices,
        cache=cache,
        cached=not no_cache,
    )
