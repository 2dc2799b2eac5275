"""``ragstone judges``: who can judge, and what they fill."""

from typing import TYPE_CHECKING, Annotated

import typer

from .output import print_json

if TYPE_CHECKING:
    from ragstone.judges import Judge


def judges(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the judges: their names, the judgements they fill, what they say of themselves."""
    from rich.text import Text

    from ragstone.judges import JUDGES
    from ragstone.report import facts, show

    if json:
        print_json([{"name": one.name, "about": one.about, "kinds": _kinds(one)} for one in JUDGES])
        return
    for one in JUDGES:
        show(Text(one.name, "bold"))
        show(facts.Paragraph(Text(one.about), 2))
        show(facts.Paragraph(Text(f"fills {', '.join(_kinds(one))}", "bright_black"), 2, 6))


def _kinds(judge: "Judge") -> list[str]:
    from ragstone.judgements import ASKS

    return sorted({ASKS[ask].kind for ask in judge.asks})
