"""Options for LLM judges: their instructions, limits on calls and cost, and the cache."""

from pathlib import Path
from typing import Annotated

import typer

PANEL = "LLM judges"

Plan = Annotated[
    str,
    typer.Option(
        metavar="PLAN",
        rich_help_panel=PANEL,
        help="isolated: each task in its own call; lean: fewer calls, because some tasks share "
        "one and may influence each other.",
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        rich_help_panel=PANEL,
        help="Folder of custom prompts: files such as support.md, which replace the built-in ones.",
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        rich_help_panel=PANEL,
        help="Language in which models write claims and reasons, such as German. Default: the "
        "language of the texts.",
    ),
]
Rubrics = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", rich_help_panel=PANEL, help="TOML file that defines your own criteria."
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        rich_help_panel=PANEL,
        help="Print the expected calls, tokens and cost without calling any model.",
    ),
]
Budget = Annotated[
    float | None,
    typer.Option(
        metavar="USD",
        rich_help_panel=PANEL,
        help="Stop calling models at this cost. What was not judged is reported as missing; to "
        "continue, run the same command with a larger budget.",
    ),
]
MaxCalls = Annotated[
    int | None,
    typer.Option(metavar="N", rich_help_panel=PANEL, help="Stop after this many model calls."),
]
Prices = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        rich_help_panel=PANEL,
        help="TOML file with prices per million tokens. Default: the prices in the `prices` extra.",
    ),
]
Batch = Annotated[
    bool,
    typer.Option(
        "--batch",
        rich_help_panel=PANEL,
        help="Ask in batches, which OpenAI, Anthropic, Gemini and servers with /v1/batches answer "
        "within a day, usually at half the price. Ends with status 5 until they have; the same "
        "command goes on.",
    ),
]
BatchWait = Annotated[
    float,
    typer.Option(metavar="SECONDS", rich_help_panel=PANEL, help="Wait so long for batches."),
]
BatchRest = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        rich_help_panel=PANEL,
        help="How what a batch could not answer is asked again: batch, in the next one; alone, at "
        "once and at the full price.",
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        metavar="SECONDS",
        rich_help_panel=PANEL,
        help="Time limit for one reply, counted from when the request is sent.",
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
    typer.Option(
        metavar="N", rich_help_panel=PANEL, help="Maximum calls per minute to each model."
    ),
]
Tpm = Annotated[
    int | None,
    typer.Option(
        metavar="N", rich_help_panel=PANEL, help="Maximum tokens per minute to each model."
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|URL",
        rich_help_panel=PANEL,
        help="Folder that caches replies across runs, or its URL, such as s3://bucket/cache, for "
        "several machines. Default: Ragstone's cache folder.",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        rich_help_panel=PANEL,
        help="Neither use cached replies from earlier runs nor cache new ones.",
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
