"""Example: a question, its answer with the claims marked, all judgements, and their correction."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

import polars as pl

from ragstone.core.errors import CorrectionConflict, InputError
from ragstone.data import Example
from ragstone.judgements import ASKS
from ragstone.report.number_format import counted, number, short_name, shortened, spoken
from ragstone.report.page import OutlineItem, plain
from ragstone.report.pages.example_page import example_page
from ragstone.report.render.documents import as_markdown
from ragstone.report.run_contents import (
    Dossier,
    ExampleScore,
    call_items,
    dossier,
)
from ragstone.report.worst_examples import why
from ragstone.run import Run
from ragstone.run.corrections.correction import Judgement
from ragstone.web.example_rows import OUTCOME, PREFERRED, example_rows
from ragstone.web.filters import ExampleFilter
from ragstone.web.page_request import Asked, Elsewhere, NotThere, WebPage, query, run_path
from ragstone.web.parts.claims_and_contexts import (
    LONGEST_WHY,
    ShownPart,
    cut_to_bytes,
    last_place,
    more_of,
    other_judgements,
    shown_contexts,
    unit_matrix,
)
from ragstone.web.parts.highlight import (
    AT_ONCE,
    Span,
    answer_pieces,
    claim_spans,
    inert,
)
from ragstone.web.parts.judgement_view import (
    NO_REASON,
    UNDO,
    Corrections,
    Pressed,
    author_cookie,
    author_of,
    because,
    read_button,
    said_by_button,
    when,
)
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, fact_in_words, figure

from .examples_view import PLACE, baseline_of, ready, tag_lookup

QUESTION, ANSWER, REFERENCES = 7_000, 30_000, 8_000
CLAIMS, STATEMENTS, EVIDENCE = 52_000, 17_000, 5_000
CONTEXTS, FEWEST_CONTEXTS = 56_000, 20_000
HISTORY, SCORES, LABELS, SYSTEMS, COPIED = 6_000, 12_000, 4_000, 6_000, 30_000
PAGE, SMALL_PARTS = 185_000, 40_000
"""Bytes that a part may take, so that no example makes a page of more than 200 KB."""

OVER = "over"
FIRST_METRICS, MOST_FACETS, FACET = 5, 8, 60


def run_example_page(
    place: RunsFolder, asked: Asked, *, conflict: str = "", status: int = 200
) -> WebPage:
    """Show the page of an example, or the piece of it that was asked for."""
    name, example = asked.names["run"], asked.names["id"]
    run = place.run(name)
    found = dossier(run, example)
    want = ShownPart.of(asked)
    common = {"asked": asked, "more": more_of(asked)}
    title = f"{shortened(found.example.question, 60)} · {name}"
    if asked.part and want.part and want.part != OVER:
        return WebPage("example_piece.html", title, {**common, **_piece(found, want)})
    judgements = run.correctable(example)
    may = Corrections(judgements, found.example.contexts or ())
    common |= {"author": author_of(asked), "over": asked.one("about")}
    if asked.part and want.part == OVER:
        one = may.get(asked.one("about"))
        if one is None:
            raise NotThere("There is no such judgement any more. Load the page again.")
        return WebPage("example_piece.html", title, {**common, "piece": OVER, "found": one})
    shows = {
        **common,
        **_whole(run, name, found, want),
        "walk": _walk(place, run, asked),
        "corrections": may,
        "opens": lambda about: asked.but(part=OVER, about=about),
        "post": asked.but(part=None, about=None, **{"from": None, "to": None}),
        "conflict": conflict,
        "saved": _saved(judgements),
    }
    return WebPage("example.html", title, shows, tag=tag_of(judgements), status=status)


def _saved(judgements: Sequence[Judgement]) -> str:
    made = [one.correction for one in judgements if one.correction is not None]
    last = max(made, key=lambda one: one.at, default=None)
    return "" if last is None else f"last by {last.author}, {when(last.at)}"


def tag_of(judgements: Sequence[Judgement]) -> str:
    """Return the version of an example: another one as soon as anything is said otherwise of it."""
    versions = "".join(one.version for one in judgements)
    return f'"{blake2b(versions.encode(), digest_size=8).hexdigest()}"'


def _walk(place: RunsFolder, run: Run, asked: Asked) -> View:
    name, within = asked.names["run"], asked.one("within")
    wanted = ExampleFilter.read(within)
    rows = example_rows(run)
    try:
        wanted = wanted if ready(place, name, rows, wanted) else ExampleFilter()
        ids = rows.ids
        if wanted.query:
            ids = wanted.chosen(rows, baseline_of(place, name), tag_lookup(place, name))["id"]
    except InputError:
        wanted, ids = ExampleFilter(), rows.ids
    kept = query([("within", within)]) if wanted.query else ""
    at = ids.index_of(asked.names["id"])

    def path(place: int) -> str:
        there = at is not None and 0 <= place < ids.len()
        return f"{run_path(name, 'examples', ids[place])}{kept}" if there else ""

    up = f"{run_path(name)}{query(wanted.query)}{PLACE}"
    here = 0 if at is None else at
    before, after = path(here - 1), path(here + 1)
    return {
        "place": 0 if at is None else at + 1,
        "of": ids.len(),
        "words": wanted.words,
        "before": before,
        "after": after,
        "up": up,
    }


def _piece(found: Dossier, want: ShownPart) -> Mapping[str, object]:
    if want.part == "calls":
        return {"piece": "calls", "calls": _calls(found)}
    if want.part.startswith("ctx-"):
        parts = shown_contexts(found, want, CONTEXTS)
        one = next((part for part in parts if f"ctx-{part['rank']}" == want.part), None)
        return {"piece": "text", "part": want.part, "pieces": one["pieces"] if one else ()}
    text, spans = _text_of(found, want.part)
    return {
        "piece": "text",
        "part": want.part,
        "pieces": answer_pieces(text, spans, min(want.start, len(text)), ANSWER),
    }


def _text_of(found: Dossier, part: str) -> tuple[str, Sequence[Span]]:
    one = found.example
    if part == "answer":
        return one.answer or "", claim_spans(found)
    if part == "question":
        return one.question or "", ()
    at = part.removeprefix("reference-")
    if at.isdigit() and int(at) <= len(one.reference):
        return one.reference[int(at) - 1], ()
    return "", ()


def _whole(run: Run, name: str, found: Dossier, want: ShownPart) -> Mapping[str, object]:
    one = found.example
    first = {part: want.first(part) for part in ("claims", "statements", "evidence")}
    claims = unit_matrix(found, "claim", first["claims"], CLAIMS)
    if claims and claims.after < want.claim <= claims.of:
        claims = unit_matrix(found, "claim", want.claim - 1, CLAIMS)
    answer = one.answer or ""
    question = one.question or ""
    scores = _scores(run, found)
    by_metric: dict[str, View] = {score["metric"]: score for score in scores}
    faithful = by_metric.get("faithfulness")
    pieces = {
        "question": answer_pieces(question, (), want.first("question"), QUESTION),
        "answer": answer_pieces(answer, claim_spans(found), want.first("answer"), ANSWER),
    }
    shown = one.reference[:4]
    references = [
        (part, answer_pieces(text, (), want.first(part), REFERENCES // len(shown)))
        for at, text in enumerate(shown, 1)
        for part in (f"reference-{at}",)
    ]
    statements = unit_matrix(found, "statement", first["statements"], STATEMENTS)
    evidence = unit_matrix(found, "evidence", first["evidence"], EVIDENCE)
    texts = (*pieces.values(), *(own for _, own in references))
    taken = sum(len(piece.text.encode()) for own in texts for piece in own)
    taken += sum(one.size for one in (claims, statements, evidence) if one)
    room = min(CONTEXTS, max(FEWEST_CONTEXTS, PAGE - SMALL_PARTS - taken))
    contexts = shown_contexts(found, want, room)
    systems = _systems(run, name, one)
    return {
        "name": name,
        "run_path": run_path,
        "one": one,
        "facets": _facets(one),
        "judges": ", ".join(one.name for one in run.form.judges if one.kinds),
        "first_scores": _first(scores),
        "outcome": by_metric.get(OUTCOME),
        "history": _history(one),
        **pieces,
        "answer_length": len(answer),
        "claims": claims,
        "claims_why": "" if faithful is None or faithful["status"] == "value" else faithful["why"],
        "references": references,
        "statements": statements,
        "evidence": evidence,
        "contexts": contexts,
        "last_context": last_place(one, contexts),
        "retrieved": None if one.contexts is None else len(one.contexts),
        "others": other_judgements(found),
        "labels": _fit([(key, _plain(value)) for key, value in one.labels.items()], LABELS),
        "scores": scores,
        "systems": systems,
        "compared": _compared(name, one, systems),
        "calls": _calls(found) if want.part == "calls" else None,
        "copied": _copied(found),
        "part": want.part,
        "at_claim": str(want.claim),
    }


def _first(scores: Sequence[View]) -> list[View]:
    valued = [one for one in scores if one["status"] == "value" and one["metric"] != OUTCOME]
    rank = {name: place for place, name in enumerate(PREFERRED)}
    return sorted(valued, key=lambda one: rank.get(one["metric"], len(rank)))[:FIRST_METRICS]


def _facets(one: Example) -> list[tuple[str, str]]:
    given = one.slices or {
        key: value for key, value in one.meta.items() if isinstance(value, str | int | float | bool)
    }
    pairs = [(key, _plain(value, key)) for key, value in given.items() if str(value) not in one.id]
    return [(key, value) for key, value in pairs if len(key) + len(value) <= FACET][:MOST_FACETS]


def _plain(value: object, name: str = "") -> str:
    match value:
        case str():
            text = value
        case int() | float():
            text = fact_in_words(name, value)
        case Mapping() if not any(isinstance(one, list | dict) for one in value.values()):
            text = ", ".join(f"{who}: {figure(str(one))}" for who, one in value.items())
        case _:
            text = json.dumps(value, ensure_ascii=False, default=str)
    return shortened(text, LONGEST_WHY)


def _fit(rows: Sequence[tuple[str, str]], most_bytes: int) -> list[tuple[str, str]]:
    kept: list[tuple[str, str]] = []
    size = 0
    for row in rows:
        size += sum(len(inert(text).encode()) for text in row) + 80
        if size > most_bytes:
            return [*kept, ("…", f"and {counted(len(rows) - len(kept), 'more label')}")]
        kept.append(row)
    return kept


def _history(one: Example) -> list[tuple[str, str]]:
    most = max(200, HISTORY // (2 * max(1, len(one.history))))
    return [(turn.role, cut_to_bytes(turn.text, most)) for turn in one.history[-40:]]


def _scores(run: Run, found: Dossier) -> list[View]:
    alone = run.without_corrections().excerpt([found.example.id]).scores()
    names = alone["metric"].cast(pl.String).to_list()
    judged = dict(zip(names, alone.select("value", "label").iter_rows(), strict=True))
    scores: list[View] = []
    size = 0
    for one in found.scores:
        rows = tuple(why(found, one.metric)) if one.status == "value" and size < SCORES else ()
        size += 250 + sum(len(inert(row).encode()) + 20 for row in rows)
        scores.append(
            {
                "metric": one.metric,
                "name": short_name(one.metric).replace("_", " "),
                "status": one.status,
                "value": "" if one.value is None else number(one.value),
                "label": spoken(one.label or ""),
                "why": shortened(because(one.reason), LONGEST_WHY),
                "rows": rows if size < SCORES else (),
                "judged": _judged_alone(one, judged),
            }
        )
    return scores


def _judged_alone(one: ExampleScore, judged: Mapping[str, tuple[float | None, str | None]]) -> str:
    value, label = judged.get(one.metric, (one.value, one.label))
    if value == one.value and label == one.label:
        return ""
    if one.label and label:
        return spoken(label)
    return "none" if value is None else number(value)


def _systems(run: Run, name: str, one: Example) -> list[View]:
    others = (pl.col("question_id") == one.question_id) & (pl.col("id") != one.id)
    frame = run.examples(["id", "system", "answer"], where=others).head(12)
    ids = frame["id"].to_list()
    scores = run.excerpt(ids).scores()
    found = []
    for id, system, answer in frame.iter_rows():
        own = scores.filter(
            (pl.col("example_id") == id) & (pl.col("status").cast(pl.String) == "value")
        )
        values = tuple(
            (
                short_name(str(metric)).replace("_", " "),
                label.replace("_", " ") if label else number(value),
            )
            for metric, value, label in own.select("metric", "value", "label").iter_rows()
            if metric in ("faithfulness", "answer_coverage", "answer_outcome")
        )
        text = cut_to_bytes(answer or "–", SYSTEMS // 12)
        found.append(
            {
                "system": system,
                "path": run_path(name, "examples", id),
                "answer": text,
                "scores": values,
            }
        )
    return found


def _compared(name: str, one: Example, answers: Sequence[View]) -> str:
    if all(other["system"] == one.system for other in answers):
        return ""
    return (
        f"/compare{query([('runs', name), ('a', one.system), ('open', one.question_id)])}#questions"
    )


def _calls(found: Dossier) -> str:
    lines = [line for item in call_items(found.calls, prompts=True) for line in _lines(item)]
    return cut_to_bytes("\n".join(lines), 3 * AT_ONCE) or "No model was asked about this example."


def _lines(item: OutlineItem) -> Iterator[str]:
    yield plain(item.words)
    for inner in item.inner:
        yield from (f"  {line}" for part in _lines(inner) for line in part.splitlines())


def _copied(found: Dossier) -> str:
    one = found.example
    texts = (one.question, one.answer, *one.reference, *(part.text for part in one.contexts or ()))
    if sum(len(text or "") for text in texts) > COPIED:
        return ""
    markdown = as_markdown(example_page(replace(found, calls=())))
    return markdown if len(inert(markdown).encode()) <= COPIED else ""


CHANGED = "Somebody corrected this example after you opened it. This is what it says now."


def correct_judgement(
    place: RunsFolder, asked: Asked, form: Mapping[str, str]
) -> WebPage | Elsewhere:
    """Correct a judgement, or take a correction back.

    The page again, with 409 or 412, where somebody else was quicker.
    """
    run, example = place.run(asked.names["run"]), asked.names["id"]
    pressed = read_button(form.get("say", ""))
    author = form.get("author", "").strip() or author_of(asked)
    if asked.match and asked.match not in ("*", tag_of(run.correctable(example))):
        return run_example_page(place, asked, conflict=CHANGED, status=412)
    reason = form.get(f"why {pressed.about}", "").strip()
    ask, unit, seen = pressed.ask, pressed.unit, pressed.seen or None
    contexts = dossier(run, example).example.contexts or ()
    try:
        if pressed.say == UNDO:
            run.undo_correction(example, ask, unit=unit, author=author, reason=reason, seen=seen)
        else:
            text = form.get(f"text {pressed.about}", "")
            said = said_by_button(pressed, text, contexts)
            why = reason or NO_REASON
            run.correct(example, ask, said, unit=unit, author=author, reason=why, seen=seen)
    except CorrectionConflict as error:
        return run_example_page(place, asked, conflict=_conflict_words(error), status=409)
    # The table is going to be looked at next.
    key = ("rows", *place.stamp(asked.names["run"]))
    place.later.get(key, lambda: example_rows(run).rows, patience=0)
    now = Corrections(run.correctable(example), contexts).get(pressed.about)
    # On which contexts a verdict rests is asked next.
    asks = pressed.about if now and now.rests and pressed.say != UNDO else None
    back = asked.but(part=None, about=asks, **{"from": None, "to": None})
    return Elsewhere(f"{back}{_anchor_of(pressed)}", author_cookie(author))


def _conflict_words(error: CorrectionConflict) -> str:
    if error.author is None or error.at is None:
        return f"{error.unit} was judged again after you opened this page. Look at it once more."
    said = "took a correction back"
    if error.said is not None:
        words = ", ".join(shortened(str(value), 200) for value in error.said.values())
        said = f"said “{words}”"
    return (
        f"Not saved: {error.author} {said} of {error.unit} on {when(error.at)}, after you opened "
        "this page. Look at it again, and correct it if you still would."
    )


def _anchor_of(pressed: Pressed) -> str:
    over = ASKS[pressed.ask].over if pressed.ask in ASKS else None
    if over is None or pressed.unit is None:
        return ""
    return f"#ctx-{pressed.unit}" if over.unit == "context" else f"#{over.unit}-{pressed.unit}"
