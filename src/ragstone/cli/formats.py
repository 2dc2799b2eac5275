"""``ragstone formats``: what can be read, each with a two-line example."""

from typing import Annotated

import typer

from .output import print_json


def formats(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the formats and record layouts that are recognised, each with an example."""
    from dataclasses import asdict

    from rich.text import Text

    from ragstone.examples import formats as known
    from ragstone.report import show

    if json:
        print_json([asdict(one) for one in known()])
        return
    for one in known():
        endings = f"  {' '.join(one.extensions)}" if one.extensions else ""
        head = Text.assemble((one.name, "bold"), f"  {one.what}", (endings, "bright_black"))
        show(head)
        typer.echo("".join(f"    {line}\n" for line in one.example))
