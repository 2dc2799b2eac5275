"""Claims and contexts: an example's units and retrieved contexts with all verdicts, cut to size."""

from collections.abc import Callable, Sequence

from ragstone.data import Example
from ragstone.data.record_labels import Unit
from ragstone.judgements import Ask, ClaimsAgainstReferences, Criterion, Kind, Relevance, Support
from ragstone.report.number_format import number, shortened
from ragstone.report.run_contents import Dossier, JudgedPart, JudgementRow, asks_about
from ragstone.run.corrections.correction import by_reference, key_columns, unit_name
from ragstone.web.page_request import Asked
from ragstone.web.templating import View

from . import highlight
from .highlight import AT_ONCE, LATE, MarkedPiece
from .judgement_view import NO_REASON, about_of, look, said, says_of, verdict_of

# Bytes that the judgements about no part may take.
OTHERS = 6_000

# Bytes of a row of the matrix, and of a context, without their texts.
ROW, CONTEXT = 2_200, 1_100

# Bytes of one more judgement in a row.
ALSO = 500

LONGEST, LONGEST_WHY, MOST_COLUMNS = 900, 300, 12
CONTEXTS_PART, SHORTEST = "contexts", 400


def first_of(request: Asked, part: str) -> int:
    """Return where a part begins: after what was shown, if the address asks for more; else 0."""
    return request.number("from", 0) if request.one("part") == part else 0


def more_of(request: Asked) -> Callable[..., str]:
    """Return a function that gives the address of the rest of a part."""

    def address(part: str, start: int = 0, end: int = 0) -> str:
        return request.but(
            part=part, **{"from": str(start) if start else None, "to": str(end) if end else None}
        )

    return address


def unit_matrix(facts: Dossier, unit: Unit, first: int, most_bytes: int) -> View | None:
    """Return rows of units with a column for each context, and about how many bytes they take."""
    parts = facts.parts[unit]
    if not parts:
        return None
    contexts = facts.example.contexts or ()
    ranks = [context.rank for context in contexts if unit != "criterion"]
    if len(ranks) > MOST_COLUMNS:
        used = {id for part in parts for id in highlight.rests_on(part)}
        ranks = [context.rank for context in contexts if context.id in used][:MOST_COLUMNS]
    first = min(first, len(parts) - 1)
    rows: list[View] = []
    size = 0
    several = len(facts.example.reference) > 1
    for part in parts[first:]:
        row = _unit_row(facts, unit, part, ranks, several=several)
        size += (
            ROW + len(highlight.inert(row["text"] + row["why"]).encode()) + ALSO * len(row["also"])
        )
        if rows and size > most_bytes:
            size = most_bytes
            break
        rows.append(row)
    kind: type[Kind] = Criterion if unit == "criterion" else Support
    judged = (row for part in parts for row in part.said.get(kind.name, ()))
    verdicts = [word for row in judged if (word := verdict_of(row)[1])]
    values = kind.columns[kind.decides].values or (True, False)
    names = [look(kind, kind.decides, value)[1] for value in values if verdicts]
    return {
        "ranks": ranks,
        "rows": rows,
        "tally": ", ".join(f"{verdicts.count(name):,} {name}" for name in names),
        "first": first,
        "after": first + len(rows),
        "of": len(parts),
        "chances": any(row["main"]["said"] and row["main"]["said"]["number"] for row in rows),
        "size": size,
    }


def shown_contexts(facts: Dossier, request: Asked, most_bytes: int) -> list[View]:
    """Return the contexts from the one that was asked for on, as many as there is room for."""
    few = max(1, most_bytes // (CONTEXT + SHORTEST))
    first, wanted = first_of(request, CONTEXTS_PART), request.one("part")
    parts = facts.parts["context"]
    if wanted.startswith("ctx-"):
        first = next((at for at, part in enumerate(parts) if wanted == f"ctx-{part.place}"), 0)
    # Those that are shown anyway are shown from the first.
    first = 0 if first < few and wanted != CONTEXTS_PART else min(first, len(parts) - 1)
    parts = parts[max(0, first) :][:few]
    rest = max(SHORTEST * len(parts), most_bytes - CONTEXT * len(parts))
    passages = []
    for left, part in zip(range(len(parts), 0, -1), parts, strict=True):
        name = f"ctx-{part.place}"
        text = part.text
        relevance = part.said[Relevance.name]
        spans, uses = highlight.quotes(facts, part)
        room = min(3 * AT_ONCE, rest // left)
        relevant = set((relevance[0].values["relevant_sentences"] or ()) if relevance else ())
        pieces: list[MarkedPiece] = []
        if text is not None and wanted == name:
            start, end = min(first_of(request, name), len(text)), request.number("to", 0) or None
            pieces = highlight.context_pieces(text, spans, relevant, start=start, end=end,
                                    most_bytes=3 * AT_ONCE, folds=False)  # fmt: skip
        elif text is not None:
            pieces = highlight.context_pieces(text, spans, relevant, most_bytes=room)
        rest -= min(rest, sum(len(piece.text.encode()) for piece in pieces))
        verdicts = [
            _judged(says_of(ask.name), ask, row, several=False)
            for ask in asks_about("context")
            for row in part.said[ask.kind]
        ]
        reasons = [text for verdict in verdicts if (text := verdict["said"]["reason"])]
        score = part.own.get("score")
        passages.append(
            {
                "rank": part.place,
                "id": str(part.own["id"]),
                "score": "" if score is None else number(score),
                "judged": verdicts,
                "uses": f"claims {uses}" if uses else "",
                "pieces": pieces,
                "why": shortened("; ".join(reasons), LONGEST_WHY) if reasons else "",
            }
        )
    return passages


def last_place(example: Example, passages: Sequence[View]) -> int:
    """Return the place, from 1, of the last context that is shown; 0 if none is."""
    last = passages[-1]["rank"] if passages else None
    ranks = [context.rank for context in example.contexts or ()]
    return ranks.index(last) + 1 if last in ranks else 0


def other_judgements(facts: Dossier) -> list[View]:
    """Return judgements about no part: of the answer, and of whatever else kinds are about."""
    rows = [row for rows in facts.judgements.values() for row in rows]
    several = len(facts.example.reference) > 1
    views: list[View] = []
    size = 0
    for row in rows:
        # The row answers this ask, rather than another one of its kind.
        ask = next((ask for ask in row.kind.asks
                    if any(row.values.get(column.name) is not None
                           for column in row.kind.filled_by(ask))), None)  # fmt: skip
        text = said(row)
        size += 300 + sum(len(highlight.inert(phrase.text).encode()) for phrase in text["styled"])
        if size > OTHERS:
            break
        about = _about(ask, row, several=several) if ask else ""
        views.append({"lead": "", "said": text, "about": about})
    return views


def _unit_row(
    facts: Dossier, unit: Unit, part: JudgedPart, ranks: Sequence[int], *, several: bool
) -> View:
    number = str(part.place + 1)
    if unit == "statement" and several:
        number = f"{part.reference + 1}.{number}"
    evidence = set(highlight.rests_on(part))
    on = {each.rank for each in facts.example.contexts or () if each.id in evidence}
    main: View = {"lead": "", "said": None, "about": ""}
    also = []
    for ask in asks_about(unit):
        for row in part.said[ask.kind]:
            # Of a claim it is the reference that says so, or does not.
            lead = "reference" if ask.over is ClaimsAgainstReferences else says_of(ask.name)
            if ask.kind in part.several and several:
                lead = f"{lead} {row.values['reference'] + 1}"
            verdict = _judged(lead, ask, row, several=several)
            if ask.kind in (Support.name, Criterion.name):
                main = verdict
            else:
                also.append(verdict)
    key = {"claim": "", "statement": LATE, "evidence": "e", "criterion": "m"}[unit] + number
    reason = main["said"]["reason"] if main["said"] else ""
    return {
        "key": key,
        "number": number,
        "text": cut_to_bytes(part.text or "", LONGEST),
        "why": "" if reason in ("", NO_REASON) else shortened(reason, LONGEST_WHY),
        "on": [rank in on for rank in ranks],
        "beyond": ", ".join(str(rank) for rank in sorted(on) if rank not in ranks),
        "main": main,
        "also": also,
    }


def _judged(lead: str, ask: Ask, row: JudgementRow, *, several: bool) -> View:
    """Return a judgement in a row, and what it is about, such as ``support/claim#3``."""
    return {"lead": lead, "said": said(row, ""), "about": _about(ask, row, several=several)}


def _about(ask: Ask, row: JudgementRow, *, several: bool) -> str:
    key = {name: row.values[name] for name in key_columns(row.kind) if name in row.values}
    return about_of(ask.name, unit_name(key, several=several and by_reference(ask)))


def cut_to_bytes(text: str, most_bytes: int) -> str:
    size = len(highlight.inert(text[: most_bytes + 1]).encode())
    if len(text) <= most_bytes and size <= most_bytes:
        return text
    beginning = text[: max(20, most_bytes * most_bytes // max(size, most_bytes))]
    return f"{beginning}…"
