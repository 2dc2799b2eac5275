"""``ragstone judges``: who can judge, what they fill, and the guideline of a kind."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from . import options
from .output import print_page

if TYPE_CHECKING:
    from ragstone.judgements import Kind
    from ragstone.report.page import Page


class KnownJudge(NamedTuple):
    """Who can be named as a judge, and the kinds that are filled then."""

    name: str
    about: str
    kinds: list[str]


CROSS_ENCODER = "a cross-encoder of your choice, docs/judges.md"
CHAT = "a chat model of your choice, docs/judge-models.md; commas between several make a panel"


def judges(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]", help="Kind of judgement to explain: its guideline and its labels."
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """List the judges and the kinds of judgement they make, or explain one KIND."""
    print_page(_list() if kind is None else _of_kind(_kind_named(kind)), json=json)


def _list() -> "Page":
    from ragstone.report.page import Facts, Note, Page, Paragraphs, quiet, section

    known = _known()
    notes = []
    for one in known:
        fills = quiet(f"fills {', '.join(one.kinds)}")
        notes += [Note(one.name, one.about), Note(one.name, fills)]
    more = Paragraphs(("ragstone judges KIND shows how a kind is judged, such as support.",))
    return Page(
        "judges",
        "",
        (section(Facts(tuple(notes)), more),),
        record=lambda: [one._asdict() for one in known],
    )


def _of_kind(kind: "type[Kind]") -> "Page":
    from ragstone.judgements import instructions_for_people
    from ragstone.report.page import Page, Paragraphs, quiet, section

    filled_by = quiet(f"Filled by: {', '.join(_fillers(kind))}")
    blocks = (Paragraphs((instructions_for_people(kind).rstrip(),)), Paragraphs((filled_by,)))
    return Page("judges", kind.name, (section(*blocks),), record=lambda: _record(kind))


def _kind_named(name: str) -> "type[Kind]":
    from ragstone.core.errors import UnknownName
    from ragstone.judgements import KINDS

    if name not in KINDS:
        raise UnknownName("kind", name, KINDS, hint=f"Kinds are: {', '.join(KINDS)}.")
    return KINDS[name]


def _record(kind: "type[Kind]") -> dict[str, Any]:
    from ragstone.judgements import filled, guideline_of

    guideline = guideline_of(kind)
    return {
        "kind": kind.name,
        "question": guideline.title,
        "definition": filled(guideline.definition, kind),
        "for_models": filled(guideline.for_models, kind),
        "for_people": filled(guideline.for_people, kind),
        "hard_cases": guideline.hard_cases.splitlines(),
        "columns": {
            name: {
                "says": column.doc,
                "values": {str(value): means for value, means in column.values.items()},
                "label": column.label or None,
            }
            for name, column in kind.columns.items()
        },
        "filled_by": _fillers(kind),
    }


def _fillers(kind: "type[Kind]") -> list[str]:
    from ragstone.judges.judge_names import who_fills

    return list(dict.fromkeys(who for ask in kind.asks for who in who_fills(ask.name)))


def _known() -> list[KnownJudge]:
    from ragstone.judgements import answered_by
    from ragstone.judges.judge_names import JUDGES
    from ragstone.judges.nli_judge import NliJudge
    from ragstone.models.chat.chat_names import FORMS

    every = [(one.name, one.about, one.asks) for one in JUDGES]
    every.append(("nli:NAME", CROSS_ENCODER, NliJudge.asks))
    every += [(form, CHAT, answered_by("model")) for form in FORMS]
    return [KnownJudge(name, about, _kinds(asks)) for name, about, asks in every]


def _kinds(asks: Iterable[str]) -> list[str]:
    from ragstone.judgements import ASKS

    return sorted({ASKS[ask].kind for ask in asks})
