"""``ragstone judges``: who can judge, and what they fill."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from .output import print_json

CROSS_ENCODER = "a cross-encoder of your choice, docs/judges.md"
CHAT = "a chat model of your choice, docs/judge-models.md; commas between several make a panel"


def judges(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the judges: their names, the judgements they fill, what they say of themselves."""
    from rich.text import Text

    from ragstone.report import facts, show

    known = _known()
    if json:
        print_json(known)
        return
    for one in known:
        show(Text(one["name"], "bold"))
        show(facts.Paragraph(Text(one["about"]), 2))
        show(facts.Paragraph(Text(f"fills {', '.join(one['kinds'])}", "bright_black"), 2, 6))


def _known() -> list[dict[str, Any]]:
    from ragstone.judges import JUDGES, NliJudge
    from ragstone.judges.names import LLM_ASKS
    from ragstone.models.chat.names import FORMS

    every = [(one.name, one.about, one.asks) for one in JUDGES]
    every.append(("nli:NAME", CROSS_ENCODER, NliJudge.asks))
    every += [(form, CHAT, LLM_ASKS) for form in FORMS]
    return [{"name": name, "about": about, "kinds": _kinds(asks)} for name, about, asks in every]


def _kinds(asks: Iterable[str]) -> list[str]:
    from ragstone.judgements import ASKS

    return sorted({ASKS[ask].kind for ask in asks})
