"""Answer page: an answer of production, with its scores, claims, contexts and notes."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ragstone.monitor.store import stored_examples
from ragstone.monitor.store.draws import facets_of
from ragstone.monitor.store.stored_examples import ListedExample
from ragstone.report.number_format import number, percent, shortened, spoken
from ragstone.web.filters import MONITOR_FIELDS
from ragstone.web.page_request import Asked, NotThere, WebPage, query
from ragstone.web.parts import highlight
from ragstone.web.parts.answers import monitor_path
from ragstone.web.parts.choices_and_tabs import HERE, walk
from ragstone.web.parts.claims_and_contexts import first_of, more_of
from ragstone.web.parts.highlight import MarkedPiece, Span
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import GUARD, View, fact_in_words, length_in_words

from .answer_list import filter_of, in_words

QUESTION, ANSWER, CONTEXT = 7_000, 30_000, 6_000
CONTEXTS, CLAIMS, FACTS, TURNS = 40, 200, 60, 50
LONGEST_FACT, LONGEST_CLAIM = 300, 400
# Answers of a filter through which one can go with n and p.
WALKED = 5_000


CHECKED: Mapping[str, tuple[str, str]] = {
    "passed": ("supported", "passed"),
    "failed": ("contradicted", "failed"),
    "not_applicable": ("other", "does not apply"),
    "not_judged": ("missing", "not judged"),
}


def answer_page(folder: RunsFolder, request: Asked) -> WebPage:
    """One answer."""
    watching = folder.watching()
    id = request.names["id"]
    with watching.reading() as run:
        example = stored_examples.one_listed(run, id)
        if example is None:
            raise NotThere(
                "There is no such answer. It may have been deleted, or was older than what is kept."
            )
        scores = stored_examples.scores_listed(run, [id])[id]
        assessment, judged, drawn = stored_examples.judged_answer(run, id)
        assessed = assessment or {}
        facets = list(facets_of(run, [id]).get(id, {}).items())
        turns = stored_examples.turns_of(run, example.session, TURNS) if example.session else []
    claims = assessed.get("judged") or ()
    common = {"more": more_of(request)}
    question = example.record.get("question") or ""
    title = shortened(question or id, 60)
    if request.part and (part := request.one("part")):
        piece = _piece(example, claims, part, request.number("from", 0))
        shows = {**common, "piece": "text", "part": part, "pieces": piece}
        return WebPage("example_piece.html", title, shows, here=HERE)
    answer, contexts = example.record.get("answer"), example.record.get("contexts")
    return WebPage(
        "monitor_example.html",
        title,
        {
            **common,
            "one": example,
            "ago": length_in_words(max(0.0, datetime.now(UTC).timestamp() - example.at)),
            "walk": _walk(folder, request),
            "question": highlight.answer_pieces(
                question, (), first_of(request, "question"), QUESTION
            ),
            "has_question": bool(question),
            "answer": answer,
            "answered": highlight.answer_pieces(
                answer or "", _spans(claims, answer or ""), first_of(request, "answer"), ANSWER
            ),
            "history": [
                (str(turn.get("role", "")), str(turn.get("text", ""))[:1_500])
                for turn in (example.record.get("history") or ())[-TURNS:]
                if isinstance(turn, Mapping)
            ],
            "claims": claims,
            "CLAIMS": CLAIMS,
            "LONGEST_CLAIM": LONGEST_CLAIM,
            "ranks_of": lambda claim: _ranks_of(claim, contexts or ()),
            "contexts": list(_contexts(contexts or (), claims, request)),
            "retrieved": None if contexts is None else len(contexts),
            "checks": assessed.get("checks") or (),
            "checked": CHECKED,
            "scores": [score for score in scores if not score.metric.startswith(GUARD)],
            "drawn": _drawn(drawn),
            "judgements": _judgements(judged),
            "facts": _facts(example, facets),
            "turns": turns,
            "session_path": monitor_path("sessions", example.session) if example.session else "",
            "send": f"/monitor/annotate{query([('example', id)])}",
        },
        here=HERE,
    )


def _walk(folder: RunsFolder, request: Asked) -> View:
    fields = [(name, value) for name, value in request.query if name in MONITOR_FIELDS and value]
    up = f"/monitor/examples{query(fields)}"
    if not fields:
        return walk((), None, str, "", up)
    watching = folder.watching()
    where, tokens = filter_of(watching, Asked("/monitor/examples", query=tuple(fields)))
    with watching.reading() as run:
        ids = stored_examples.listed_ids(run, where, WALKED)
    id = request.names["id"]
    at = ids.index(id) if id in ids else None
    here = query(fields)
    return walk(ids, at, lambda id: monitor_path("examples", id) + here, in_words(tokens), up)


def _piece(
    example: ListedExample, claims: Sequence[Mapping[str, Any]], part: str, start: int
) -> list[MarkedPiece]:
    if part == "question":
        text, spans = example.record.get("question") or "", []
    elif part == "answer":
        text = example.record.get("answer") or ""
        spans = _spans(claims, text)
    else:
        contexts = example.record.get("contexts") or ()
        texts = {f"ctx-{context.get('rank')}": context.get("text") for context in contexts}
        text, spans = str(texts.get(part) or ""), []
    return highlight.answer_pieces(text, spans, min(start, len(text)), 3 * highlight.AT_ONCE)


def _spans(claims: Sequence[Mapping[str, Any]], answer: str) -> list[Span]:
    spans = []
    for at, claim in enumerate(claims, 1):
        span = claim["span"]
        if answer[span["start"] : span["end"]] == span["text"]:
            spans.append(Span(span["start"], span["end"], str(at), claim["verdict"] or ""))
    return spans


def _ranks_of(claim: Mapping[str, Any], contexts: Sequence[Mapping[str, Any]]) -> str:
    """Return the places of the contexts that the verdict on a claim rests on."""
    evidence = [str(id) for id in claim.get("evidence") or ()]
    by_id = [(str(context.get("id")), str(context.get("rank"))) for context in contexts]
    return highlight.together([rank for id in evidence for other, rank in by_id if other == id])


def _contexts(
    contexts: Sequence[Mapping[str, Any]], claims: Sequence[Mapping[str, Any]], request: Asked
) -> Iterator[View]:
    for context in contexts[:CONTEXTS]:
        rank, text = int(context.get("rank") or 0), context.get("text")
        uses: list[str] = []
        spans: list[Span] = []
        for at, claim in enumerate(claims[:CLAIMS], 1):
            if str(context.get("id")) not in [str(id) for id in claim.get("evidence") or ()]:
                continue
            uses.append(str(at))
            if text and claim.get("quote"):
                spans += [
                    Span(start, end, str(at), claim["verdict"] or "")
                    for start, end in highlight.quoted(claim["quote"], text)
                ]
        start = min(first_of(request, f"ctx-{rank}"), len(text or ""))
        pieces = highlight.context_pieces(text or "", spans, (), start=start, most_bytes=CONTEXT)
        score = context.get("score")
        yield {
            "rank": rank,
            "id": str(context.get("id") or ""),
            "score": "" if score is None else number(float(score)),
            "uses": f"claims {highlight.together(uses)}" if uses else "",
            "pieces": pieces if text else [],
        }


def _drawn(drawn: tuple[float, str] | None) -> str:
    if drawn is None:
        return "It was not yet decided whether it is judged."
    probability, state = drawn
    chance = percent(probability, 1)
    return {
        "out": f"It was not drawn to be judged, which had a chance of {chance}.",
        "due": f"It was drawn to be judged, with a chance of {chance}, and waits for its turn.",
        "judged": f"It was drawn with a chance of {chance}: in every mean it stands for "
        f"{1 / probability:.3g} {'answer' if probability == 1 else 'answers'}.",
        "failed": f"It was drawn with a chance of {chance}, and judging it failed.",
        "shed": f"It was drawn with a chance of {chance}, and waited too long for its turn.",
    }.get(state, f"It was drawn with a chance of {chance}.")


def _judgements(judged: Any) -> list[tuple[str, list[str]]]:
    rows = judged.items() if isinstance(judged, Mapping) else ()
    lines_of = {
        kind: [_line(row) for row in several if isinstance(row, Mapping)] for kind, several in rows
    }
    return [(spoken(str(kind)), lines[:CLAIMS]) for kind, lines in lines_of.items() if lines]


def _line(row: Mapping[str, Any]) -> str:
    hidden = ("example_id", "block", "judge", "index", "start", "end")
    parts = [
        f"{spoken(str(name))}: {shortened(fact_in_words(str(name), value), LONGEST_FACT)}"
        for name, value in row.items()
        if value not in (None, "", []) and name not in hidden
    ]
    return " · ".join(parts)


def _facts(example: ListedExample, facets: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    pairs = [("id", example.id), ("trace", example.trace), ("span", example.span)]
    pairs += [("version", example.version)] if example.version else []
    pairs += [(name, value) for name, value in facets if (name, value) not in pairs]
    names = {name for name, _ in pairs}
    pairs += [
        (spoken(str(name)), fact_in_words(name, value))
        for name, value in example.facts.items()
        if value not in (None, "", [], {}) and name not in names
    ]
    return [(name, shortened(value, LONGEST_FACT)) for name, value in pairs][:FACTS]
