"""Example page: one example with its claims, verdicts, evidence and reasons."""

import json
from collections.abc import Callable, Iterator, Sequence

from ragstone.data import Example
from ragstone.data.record_labels import Unit
from ragstone.judgements import KINDS, Kind
from ragstone.report.calls import call_items
from ragstone.report.dossier import Dossier, ExampleScore, JudgedPart, asks_about
from ragstone.report.figures import number
from ragstone.report.judged import judged, says
from ragstone.report.page import (
    Block,
    Facts,
    Heading,
    Note,
    Number,
    Outline,
    OutlineItem,
    Page,
    Phrase,
    Row,
    RowName,
    Section,
    Table,
    Why,
    quiet,
    section,
    small_print,
    strong,
    table,
)
from ragstone.report.panels import legend
from ragstone.report.words import words

Items = Iterator[OutlineItem]
Outlined = tuple[OutlineItem, ...]


def example_page(found: Dossier, *, prompts: bool = False) -> Page:
    """The page of a dossier, in reading order: question, contexts, answer, judgements.

    Args:
        found: The dossier of the example.
        prompts: Also show the prompts sent to models, word for word.
    """
    parts: tuple[tuple[str, Callable[[Dossier], Items]], ...] = (
        ("Contexts", _contexts),
        ("Answer", _answer),
        ("Claims of the answer", _claims),
        ("Reference", _reference),
        ("Gold evidence", _evidence),
        ("Other judgements", _others),
        ("Labels of people", _labels),
    )
    sections = [section(Facts(tuple(_opening(found.example))))]
    for title, items_of in parts:
        if items := tuple(items_of(found)):
            sections.append(_titled(Outline(items), title))
    if calls := tuple(call_items(found.calls, prompts=prompts)):
        sections.append(_titled(Outline(calls), "Questions to models"))
    if found.scores:
        sections.append(_titled(_scores(found.scores), "Scores"))
    if panels := legend(_judges(found)):
        sections.append(small_print(panels))
    return Page("show", found.example.id, tuple(sections), record=found.to_dict)


def _judges(found: Dossier) -> Iterator[str]:
    """Who judged anything on the page."""
    for part in (one for parts in found.parts.values() for one in parts):
        yield from (row.judge for said in part.said.values() for row in said.rows)
    yield from (row.judge for rows in found.judgements.values() for row in rows)


def _titled(block: Block, title: str) -> Section:
    return Section((block,), strong(title))


def _opening(example: Example) -> Iterator[Note]:
    yield Note("example", strong(example.id))
    yield Note("system", example.system)
    yield from (Note(name, _plain(value)) for name, value in example.slices.items())
    if example.policy:
        yield Note("policy", example.policy)
    yield from (Note(turn.role, quiet(turn.text)) for turn in example.history)
    yield Note("question", strong(example.question or "–"))


def _contexts(found: Dossier) -> Items:
    contexts = found.example.contexts
    if contexts is None:
        yield OutlineItem(quiet("this system does not retrieve"))
    elif not contexts:
        yield OutlineItem(quiet("it retrieved nothing"))
    for context, part in zip(contexts or (), found.parts["context"], strict=True):
        score = "" if context.score is None else f"  score {number(context.score)}"
        head, inner = _said("context", part)
        text = "(no text)" if context.text is None else context.text
        yield OutlineItem(
            (Phrase(context.id, "name"), quiet(score), *head),
            (OutlineItem(Phrase(text, "text")), *inner),
            lead=f"{context.rank:>2}",
        )


def _said(unit: Unit, part: JudgedPart, references: int = 1) -> tuple[list[Phrase], Outlined]:
    """The judgements shown in the unit's own line and those below it, in the order of the asks."""
    head: list[Phrase] = []
    below: list[OutlineItem] = []
    for ask in asks_about(unit):
        said = part.said[ask.kind]
        for row in said.rows:
            lead = says(row.kind, ask)
            if said.several and references > 1:
                lead = f"reference {row.values['reference'] + 1} {lead}"
            if lead:
                below.append(OutlineItem(judged(row, lead)))
            else:
                head += [quiet("  "), *judged(row, "")]
    return head, tuple(below)


def _unit(unit: Unit, part: JudgedPart, lead: str, references: int = 1) -> OutlineItem:
    head, below = _said(unit, part, references)
    text = Phrase(part.text or "", "text")
    return OutlineItem((text, *head) if head else text, below, lead=lead)


def _answer(found: Dossier) -> Items:
    answer = found.example.answer
    yield OutlineItem(Phrase("–" if answer is None else answer, "text"))
    yield from _whole(found, with_answer=True)


def _claims(found: Dossier) -> Items:
    references = len(found.example.reference)
    for claim in found.parts["claim"]:
        yield _unit("claim", claim, f"{claim.place + 1:>2}", references)


def _reference(found: Dossier) -> Items:
    references = found.example.reference
    for at, text in enumerate(references):
        inner = [
            OutlineItem(judged(row, says(row.kind)))
            for kind, rows in found.judgements.items()
            for row in rows
            if "reference" in _about(KINDS[kind]) and row.values["reference"] == at
        ]
        statements = (one for one in found.parts["statement"] if one.reference == at)
        inner += [_unit("statement", one, "·") for one in statements]
        lead = f"{at + 1:>2}" * (len(references) > 1)
        yield OutlineItem(Phrase(text, "text"), tuple(inner), lead=lead)


def _evidence(found: Dossier) -> Items:
    for evidence in found.parts["evidence"]:
        yield _unit("evidence", evidence, f"{evidence.place + 1:>2}")


def _others(found: Dossier) -> Items:
    yield from _whole(found, with_answer=False)


def _whole(found: Dossier, *, with_answer: bool) -> Items:
    """Judgements that are not about a part: those about the answer, or all the others."""
    for kind, rows in found.judgements.items():
        about = _about(KINDS[kind])
        if "reference" not in about and ("answer" in about or KINDS[kind].made) is with_answer:
            yield from (OutlineItem(judged(row, says(row.kind))) for row in rows)


def _about(kind: type[Kind]) -> set[Unit]:
    return {ask.over.unit for ask in kind.asks if ask.over is not None}


def _labels(found: Dossier) -> Items:
    for name, value in found.example.labels.items():
        yield OutlineItem((strong(name), f"  {_plain(value)}"))


def _scores(scores: Sequence[ExampleScore]) -> Table:
    return table((Heading(), Heading(), Heading()), [_score(one) for one in scores])


def _score(score: ExampleScore) -> Row:
    name = RowName(score.metric)
    if score.status == "value":
        text = "  ".join(filter(None, (score.label, score.reason)))
        return Row((name, Number(score.value, strong=True), quiet(text)))
    why = f"{score.status} ({words(score.reason or '')})"
    return Row(
        (name, Number(None), Why("missing" if score.status == "missing" else "undefined", why))
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
