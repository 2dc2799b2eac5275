"""``ragstone overrule RUN EXAMPLE KIND#UNIT COLUMN=VALUE``: correct a judgement by hand."""

from typing import Annotated

import typer

from . import options
from .output import print_page
from .results import load_own


def overrule(
    run: options.RunFolder,
    example: Annotated[
        str | None, typer.Argument(help="Id of the example. Alone: what can be overruled of it.")
    ] = None,
    judgement: Annotated[
        str | None,
        typer.Argument(metavar="[KIND[#UNIT]]", help="The judgement, such as support/claim#3, "
                       "relevance#2 or response. Units count from 1, as `ragstone show` numbers "
                       "them."),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COLUMN=VALUE]...", help="What is right: verdict=contradicted, "
                       "grade=2, evidence=d1,d3. Of a claim: text='new words', or dropped=true."),
    ] = None,
    author: Annotated[str, typer.Option(metavar="NAME", help="Who overrules.")] = "",
    reason: Annotated[str, typer.Option(metavar="WHY", help="Why.")] = "",
    seen: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Refuse if the judgement is not this version of it, "
                     "which `ragstone overrule RUN EXAMPLE` shows."),
    ] = None,
    undo: Annotated[
        bool, typer.Option("--undo", help="Take the latest overrule of the judgement back.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--list", help="List what was overruled in RUN, the newest first.")
    ] = False,
    metrics_from: options.MetricsFrom = None,
    json: options.Json = False,
) -> None:  # fmt: skip
    """Correct a judgement of RUN that you see is wrong; no judge is asked again.

    Scores and estimates follow at once, in every command; --without-overrules shows
    those of the judge alone. Overrules are never taken for labels: to measure the
    judge, draw a random sample with `ragstone sample`.

    Example: ragstone overrule RUN q7 support/claim#3 verdict=contradicted
    --author Ann --reason "Passage 2 says 1859."

    Exit status: 0 done, 2 invalid input, or somebody else was quicker.
    """
    from ragstone.core.errors import InputError
    from ragstone.report.pages.example_page import can_be_page, done_page, list_page
    from ragstone.run import Run

    load_own(metrics_from or ())
    opened = Run.open(run)
    if every or example is None:
        print_page(list_page(opened.path, opened.overrules(), example), json=json)
        return
    if judgement is None:
        if undo or seen or author or reason:
            raise InputError(
                f"Name the judgement, such as response: ragstone overrule RUN {example} lists them."
            )
        found = opened.can_be_overruled(example)
        print_page(can_be_page(opened.path, example, found), json=json)
        return
    kind, _, unit = judgement.partition("#")
    if undo:
        if values:
            raise InputError("--undo takes the latest overrule back; it says nothing of its own.")
        done = opened.undo_overrule(
            example, kind, unit=unit or None, author=author, reason=reason, seen=seen
        )
    else:
        done = opened.overrule(
            example, kind, _pairs(values or ()), unit=unit or None, author=author, reason=reason,
            seen=seen,
        )  # fmt: skip
    print_page(done_page(opened, done), json=json)


def _pairs(given: list[str] | tuple[()]) -> dict[str, object]:
    """The values by column, split at the first ``=``."""
    pairs: dict[str, object] = {}
    for one in given:
        name, there, value = one.partition("=")
        if not there or not name.strip() or name in pairs:
            raise typer.BadParameter(
                f"{one!r} is not COLUMN=VALUE." if name not in pairs else f"{name} is said twice.",
                param_hint="COLUMN=VALUE",
            )
        pairs[name.strip()] = value
    return pairs
