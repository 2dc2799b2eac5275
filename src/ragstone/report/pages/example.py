"""Example page: one example with its claims, verdicts, evidence and reasons."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.examples.labels import Unit
from ragstone.judgements import KINDS, Agreement, Citation, Lexical, Relevance, Response, Support
from ragstone.report.calls import call_items
from ragstone.report.dossier import PLACES, asks_about
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

Record = Mapping[str, Any]
Items = Iterator[OutlineItem]


def example_page(found: Record, *, prompts: bool = False) -> Page:
    """What ``dossier`` found, to read from top to bottom: as asked, retrieved, answered, judged.

    Args:
        found: The example.
        prompts: Also what models were told, word for word.
    """
    parts: tuple[tuple[str, Callable[[Record], Items]], ...] = (
        ("Contexts", _contexts),
        ("Answer", _answer),
        ("Claims of the answer", _claims),
        ("Reference", _reference),
        ("Gold evidence", _evidence),
        ("Other judgements", _others),
        ("Labels of people", _labels),
    )
    sections = [section(Facts(tuple(_opening(found))))]
    for title, items_of in parts:
        if items := tuple(items_of(found)):
            sections.append(_titled(Outline(items), title))
    if calls := tuple(call_items(found["calls"], prompts=prompts)):
        sections.append(_titled(Outline(calls), "Questions to models"))
    if found["scores"]:
        sections.append(_titled(_scores(found), "Scores"))
    return Page("show", found["id"], tuple(sections), record=lambda: found)


def _titled(block: Block, title: str) -> Section:
    return Section((block,), strong(title))


def _opening(found: Record) -> Iterator[Note]:
    yield Note("example", strong(found["id"]))
    yield Note("system", found["system"])
    yield from (Note(name, _plain(value)) for name, value in found["slices"].items())
    if found["policy"]:
        yield Note("policy", found["policy"])
    yield from (Note(turn["role"], quiet(turn["text"])) for turn in found["history"] or ())
    yield Note("question", strong(found["question"] or "–"))


def _contexts(found: Record) -> Items:
    contexts = found["contexts"]
    if contexts is None:
        yield OutlineItem(quiet("this system does not retrieve"))
    elif not contexts:
        yield OutlineItem(quiet("it retrieved nothing"))
    for context in contexts or ():
        score = "" if context["score"] is None else f"  score {number(context['score'])}"
        judged = _relevance(context[Relevance.name]) if context[Relevance.name] else []
        text = "(no text)" if context["text"] is None else context["text"]
        yield OutlineItem(
            (Phrase(context["id"], "name"), quiet(score), *judged),
            (OutlineItem(Phrase(text, "text")), *_further("context", context)),
            lead=f"{context['rank']:>2}",
        )


def _relevance(judged: Record) -> list[str | Phrase]:
    told: list[str | Phrase] = ["  "]
    if judged["relevant"] is not None:
        good = judged["relevant"]
        told.append(Phrase("relevant", "good") if good else Phrase("not relevant", "caution"))
    for name, tone in (("sufficient", "good"), ("misleading", "bad")):
        told += [Phrase(f", {name}", tone)] if judged[name] else []  # type: ignore[arg-type]
    told += [quiet(f", grade {judged['grade']}")] if judged["grade"] is not None else []
    return [*told, _source(judged)]


def _answer(found: Record) -> Items:
    yield OutlineItem(Phrase("–" if found["answer"] is None else found["answer"], "text"))
    for judged in found["judgements"].get(Response.name, ()):
        yield OutlineItem(("response type ", strong(str(judged["response_type"])), _source(judged)))
    for cited in found["judgements"].get(Citation.name, ()):
        names = cited["context"] or Phrase("no retrieved context", "bad")
        yield OutlineItem(("cites ", strong(cited["marker"]), " = ", names))


def _claims(found: Record) -> Items:
    several = len(found["reference"]) > 1
    for claim in found[PLACES["claim"]]:
        said = claim[Support.name]
        judged = [OutlineItem(_support(said))] if said else []
        for row in claim[Agreement.name]:
            which = f"reference {row['reference'] + 1} " if several else ""
            judged.append(OutlineItem([*_verdict(f"{which}says it: ", row), _source(row)]))
        judged += _further("claim", claim)
        text = Phrase(claim["text"], "text")
        yield OutlineItem(text, tuple(judged), lead=f"{claim['index'] + 1:>2}")


def _support(judged: Record) -> Words:
    told = _verdict("contexts: ", judged)
    if judged["probability"] is not None:
        told.append(quiet(f", probability {number(judged['probability'])}"))
    if judged["evidence"]:
        told += [quiet(", from "), Phrase(", ".join(judged["evidence"]), "name")]
    if judged["quote"]:
        told += [" ", Phrase(f"“{judged['quote']}”", "text")]
    return [*told, _source(judged)]


def _verdict(lead: str, judged: Record) -> list[str | Phrase]:
    verdict = judged["verdict"]
    return [quiet(lead), Phrase(verdict or "not judged", TONES.get(verdict or "", ""))]


def _source(judged: Record) -> Phrase:
    """Why, and who said so."""
    reason = f"  {judged['reason']}" if judged.get("reason") else ""
    return quiet(f"{reason}  ({judged['judge']})")


def _reference(found: Record) -> Items:
    several = len(found["reference"]) > 1
    for at, text in enumerate(found["reference"]):
        inner = [
            OutlineItem(quiet(_numbers(lexical, skip=("reference",))))
            for lexical in found["judgements"].get(Lexical.name, ())
            if lexical["reference"] == at
        ]
        inner += [_statement(one) for one in found[PLACES["statement"]] if one["reference"] == at]
        yield OutlineItem(Phrase(text, "text"), tuple(inner), lead=f"{at + 1:>2}" * several)


def _statement(found: Record) -> OutlineItem:
    judged = []
    if agreement := found[Agreement.name]:
        said = [*_verdict("answer: ", agreement), _source(agreement)]
        judged.append(OutlineItem(said))
    if support := found[Support.name]:
        judged.append(OutlineItem(_support(support)))
    judged += _further("statement", found)
    return OutlineItem(Phrase(found["text"], "text"), tuple(judged), lead="·")


def _evidence(found: Record) -> Items:
    for at, evidence in enumerate(found[PLACES["evidence"]]):
        support = evidence[Support.name]
        judged = [OutlineItem(_support(support))] if support else []
        judged += _further("evidence", evidence)
        yield OutlineItem(Phrase(evidence["text"], "text"), tuple(judged), lead=f"{at + 1:>2}")


def _others(found: Record) -> Items:
    for kind, rows in found["judgements"].items():
        for row in rows if kind not in ELSEWHERE else ():
            yield _plainly(kind, row)


def _further(unit: Unit, one: Record) -> Items:
    """What kinds of a user's own say of a unit."""
    for ask in asks_about(unit):
        said = () if ask.kind in OURS else one.get(ask.kind) or ()
        for row in said if isinstance(said, list) else [said] if said else []:
            yield _plainly(ask.kind, row, skip=KINDS[ask.kind].having("unit"))


def _plainly(kind: str, row: Record, skip: Sequence[str] = ()) -> OutlineItem:
    facts = {name: value for name, value in row.items() if value is not None}
    return OutlineItem((strong(kind), f"  {_numbers(facts, skip)}", _source(row)))


def _labels(found: Record) -> Items:
    for name, value in found["labels"].items():
        yield OutlineItem((strong(name), f"  {_plain(value)}"))


def _scores(found: Record) -> Table:
    return table((Heading(), Heading(), Heading()), [_score(one) for one in found["scores"]])


def _score(score: Record) -> Row:
    name = RowName(score["metric"])
    if score["status"] == "value":
        told = "  ".join(filter(None, (score["label"], score["reason"])))
        return Row((name, Number(score["value"], strong=True), quiet(told)))
    missing = score["status"] == "missing"
    why = f"{score['status']} ({words(score['reason'])})"
    return Row((name, Number(None), Why("missing" if missing else "undefined", why)))


def _numbers(row: Record, skip: Sequence[str] = ()) -> str:
    left_out = ("judge", "reason", "subject", *skip)
    return ", ".join(
        f"{name} {number(value) if isinstance(value, float) else _plain(value)}"
        for name, value in row.items()
        if name not in left_out
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
