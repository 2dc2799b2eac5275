"""Evidence: where an answer has its claims, and a context the words that verdicts rest on."""

from ragstone.data.record_labels import Unit
from ragstone.judgements import Support
from ragstone.report.run_contents import Dossier, JudgedPart

from .marked import Span, quoted, together

LATE = "s"
"""Begins the key of a statement; a claim's is its number."""


def claim_spans(found: Dossier) -> list[Span]:
    """The claims in the answer, each with the verdict of the contexts."""
    spans = []
    for part in found.parts["claim"]:
        start, end = part.own.get("start"), part.own.get("end")
        if start is not None and end is not None:
            spans.append(Span(start, end, str(part.place + 1), support_of(part)))
    return spans


def quotes(found: Dossier, context: JudgedPart) -> tuple[list[Span], str]:
    """Where a context has the words that verdicts rest on, and the claims that rest on it."""
    id, text = context.own["id"], context.text or ""
    spans: list[Span] = []
    uses: list[str] = []
    known: dict[str, list[tuple[int, int]]] = {}
    units: tuple[tuple[Unit, str], ...] = (("claim", ""), ("statement", LATE), ("evidence", "e"))
    several = len(found.example.reference) > 1
    for unit, letter in units:
        for part in found.parts[unit]:
            if id not in rests_on(part):
                continue
            place = str(part.place + 1)
            if unit == "claim":
                uses.append(place)
            elif unit == "statement" and several:
                place = f"{part.reference + 1}.{place}"
            quote = part.rows(Support.name)[0].values["quote"]
            if not quote:
                continue
            if quote not in known:
                known[quote] = quoted(quote, text)
            spans += [
                Span(start, end, letter + place, support_of(part), quiet=unit != "claim")
                for start, end in known[quote]
            ]
    return spans, together(uses) if len(uses) < 60 else f"1–{uses[-1]}"


def rests_on(part: JudgedPart) -> list[str]:
    """The ids of the contexts that the verdict on a claim or statement rests on."""
    rows = part.rows(Support.name)
    return list(rows[0].values["evidence"] or ()) if rows else []


def support_of(part: JudgedPart) -> str:
    """What the contexts say of a claim or statement; empty if nobody said."""
    rows = part.rows(Support.name)
    return str(rows[0].values["verdict"] or "") if rows else ""
