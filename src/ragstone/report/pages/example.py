"""Example page: one example with its claims, verdicts, evidence and reasons."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from ragstone.examples import Example
from ragstone.examples.labels import Unit
from ragstone.judgements import Agreement, Citation, Lexical, Relevance, Response, Support
from ragstone.report.calls import call_items
from ragstone.report.dossier import Dossier, ExampleScore, JudgedPart, JudgementRow, asks_about
from ragstone.report.figures import number
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
    Tone,
    Why,
    Words,
    quiet,
    section,
    strong,
    table,
)
from ragstone.report.words import words

TONES: Mapping[str, Tone] = {
    "supported": "good", "matches": "good", "full": "good",
    "absent": "caution", "extra": "quiet", "partial": "caution", "missing": "caution",
    "contradicted": "bad", "contradicts": "bad",
}  # fmt: skip

ELSEWHERE = (Response.name, Citation.name, Lexical.name)
"""Kinds that stand with the answer and the reference."""
OURS = (Relevance.name, Support.name, Agreement.name)
"""Kinds that are shown with the unit they are about, in words of their own."""

Items = Iterator[OutlineItem]


def example_page(found: Dossier, *, prompts: bool = False) -> Page:
    """What ``dossier`` found, to read from top to bottom: as asked, retrieved, answered, judged.

    Args:
        found: The example.
        prompts: Also what models were told, word for word.
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
    return Page("show", found.example.id, tuple(sections), record=found.to_dict)


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
    for context, judged in zip(contexts or (), found.parts["context"], strict=True):
        score = "" if context.score is None else f"  score {number(context.score)}"
        told = [part for row in judged.rows(Relevance.name) for part in _relevance(row)]
        text = "(no text)" if context.text is None else context.text
        yield OutlineItem(
            (Phrase(context.id, "name"), quiet(score), *told),
            (OutlineItem(Phrase(text, "text")), *_further("context", judged)),
            lead=f"{context.rank:>2}",
        )


def _relevance(row: JudgementRow) -> list[str | Phrase]:
    told: list[str | Phrase] = ["  "]
    judged = row.values
    if judged["relevant"] is not None:
        good = judged["relevant"]
        told.append(Phrase("relevant", "good") if good else Phrase("not relevant", "caution"))
    for name, tone in (("sufficient", "good"), ("misleading", "bad")):
        told += [Phrase(f", {name}", tone)] if judged[name] else []  # type: ignore[arg-type]
    told += [quiet(f", grade {judged['grade']}")] if judged["grade"] is not None else []
    return [*told, _source(row)]


def _answer(found: Dossier) -> Items:
    answer = found.example.answer
    yield OutlineItem(Phrase("–" if answer is None else answer, "text"))
    for row in found.judgements.get(Response.name, ()):
        said = strong(str(row.values["response_type"]))
        yield OutlineItem(("response type ", said, _source(row)))
    for row in found.judgements.get(Citation.name, ()):
        names = row.values["context"] or Phrase("no retrieved context", "bad")
        yield OutlineItem(("cites ", strong(row.values["marker"]), " = ", names))


def _claims(found: Dossier) -> Items:
    several = len(found.example.reference) > 1
    for claim in found.parts["claim"]:
        judged = [OutlineItem(_support(row)) for row in claim.rows(Support.name)]
        for row in claim.rows(Agreement.name):
            which = f"reference {row.values['reference'] + 1} " if several else ""
            judged.append(OutlineItem([*_verdict(f"{which}says it: ", row), _source(row)]))
        judged += _further("claim", claim)
        text = Phrase(claim.text or "", "text")
        yield OutlineItem(text, tuple(judged), lead=f"{claim.place + 1:>2}")


def _support(row: JudgementRow) -> Words:
    told, judged = _verdict("contexts: ", row), row.values
    if judged["probability"] is not None:
        told.append(quiet(f", probability {number(judged['probability'])}"))
    if judged["evidence"]:
        told += [quiet(", from "), Phrase(", ".join(judged["evidence"]), "name")]
    if judged["quote"]:
        told += [" ", Phrase(f"“{judged['quote']}”", "text")]
    return [*told, _source(row)]


def _verdict(lead: str, row: JudgementRow) -> list[str | Phrase]:
    verdict = row.values["verdict"]
    return [quiet(lead), Phrase(verdict or "not judged", TONES.get(verdict or "", ""))]


def _source(row: JudgementRow) -> Phrase:
    """Why, and who said so."""
    reason = f"  {row.reason}" if row.reason else ""
    return quiet(f"{reason}  ({row.judge})")


def _reference(found: Dossier) -> Items:
    references, lexical = found.example.reference, found.judgements.get(Lexical.name, ())
    several = len(references) > 1
    for at, text in enumerate(references):
        inner = [
            OutlineItem(quiet(_numbers(row.values, skip=("reference",))))
            for row in lexical
            if row.values["reference"] == at
        ]
        inner += [_statement(one) for one in found.parts["statement"] if one.reference == at]
        yield OutlineItem(Phrase(text, "text"), tuple(inner), lead=f"{at + 1:>2}" * several)


def _statement(statement: JudgedPart) -> OutlineItem:
    judged = [
        OutlineItem([*_verdict("answer: ", row), _source(row)])
        for row in statement.rows(Agreement.name)
    ]
    judged += [OutlineItem(_support(row)) for row in statement.rows(Support.name)]
    judged += _further("statement", statement)
    return OutlineItem(Phrase(statement.text or "", "text"), tuple(judged), lead="·")


def _evidence(found: Dossier) -> Items:
    for evidence in found.parts["evidence"]:
        judged = [OutlineItem(_support(row)) for row in evidence.rows(Support.name)]
        judged += _further("evidence", evidence)
        text = Phrase(evidence.text or "", "text")
        yield OutlineItem(text, tuple(judged), lead=f"{evidence.place + 1:>2}")


def _others(found: Dossier) -> Items:
    for kind, rows in found.judgements.items():
        for row in rows if kind not in ELSEWHERE else ():
            yield _plainly(row)


def _further(unit: Unit, part: JudgedPart) -> Items:
    """What kinds of a user's own say of a unit."""
    for ask in asks_about(unit):
        for row in part.rows(ask.kind) if ask.kind not in OURS else ():
            yield _plainly(row, skip=row.kind.having("unit"))


def _plainly(row: JudgementRow, skip: Sequence[str] = ()) -> OutlineItem:
    facts = {name: value for name, value in row.values.items() if value is not None}
    return OutlineItem((strong(row.kind.name), f"  {_numbers(facts, skip)}", _source(row)))


def _labels(found: Dossier) -> Items:
    for name, value in found.example.labels.items():
        yield OutlineItem((strong(name), f"  {_plain(value)}"))


def _scores(scores: Sequence[ExampleScore]) -> Table:
    return table((Heading(), Heading(), Heading()), [_score(one) for one in scores])


def _score(score: ExampleScore) -> Row:
    name = RowName(score.metric)
    if score.status == "value":
        told = "  ".join(filter(None, (score.label, score.reason)))
        return Row((name, Number(score.value, strong=True), quiet(told)))
    why = f"{score.status} ({words(score.reason or '')})"
    return Row(
        (name, Number(None), Why("missing" if score.status == "missing" else "undefined", why))
    )


def _numbers(values: Mapping[str, object], skip: Sequence[str] = ()) -> str:
    left_out = ("judge", "reason", "subject", *skip)
    return ", ".join(
        f"{name} {number(value) if isinstance(value, float) else _plain(value)}"
        for name, value in values.items()
        if name not in left_out
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
