"""Example: a question, its answer with the claims marked, all judgements, and their correction."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b

import polars as pl

from ragstone.core.errors import CorrectionConflict, InputError
from ragstone.data import Example
from ragstone.judgements import ASKS
from ragstone.metrics import asks_of
from ragstone.report.number_format import counted, number, short_name, shortened, spoken
from ragstone.report.page import OutlineItem, plain
from ragstone.report.pages.example_page import example_page
from ragstone.report.render.documents import as_markdown
from ragstone.report.run_contents import Dossier, call_items, dossier, dossiers
from ragstone.report.worst_examples import why
from ragstone.run import Run
from ragstone.run.corrections.correction import Judgement
from ragstone.web.example_rows import OUTCOME, PREFERRED, example_rows
from ragstone.web.filters import ExampleFilter
from ragstone.web.page_request import Asked, Elsewhere, NotThere, WebPage, query, run_path
from ragstone.web.parts import claims_and_contexts, judgement_view
from ragstone.web.parts.choices_and_tabs import walk
from ragstone.web.parts.claims_and_contexts import LONGEST_WHY, cut_to_bytes, first_of, unit_matrix
from ragstone.web.parts.highlight import AT_ONCE, Span, answer_pieces, claim_spans, inert
from ragstone.web.parts.judgement_view import NO_REASON, UNDO, Corrections
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, fact_in_words, figure

from .examples_view import PLACE, chosen_rows

# The bytes that each part may take, so that no example makes a page of more than 200 KB.
QUESTION, ANSWER, REFERENCES = 7_000, 30_000, 8_000
CLAIMS, STATEMENTS, CRITERIA, EVIDENCE = 52_000, 17_000, 12_000, 5_000
CONTEXTS, FEWEST_CONTEXTS = 56_000, 20_000
HISTORY, SCORES, LABELS, SYSTEMS, COPIED = 6_000, 12_000, 4_000, 6_000, 30_000
PAGE, SMALL_PARTS = 185_000, 40_000

OVER = "over"
FIRST_METRICS, MOST_FACETS, FACET, MOST_SYSTEMS = 5, 8, 60, 12
# Metrics that are told of the other answers to a question.
SCORES_BESIDE = ("faithfulness", "answer_coverage", "answer_outcome")

# A metric with its value and its label by the judges alone.
JudgedScore = tuple[str, float | None, str | None]


def run_example_page(
    folder: RunsFolder, request: Asked, *, conflict: str = "", status: int = 200
) -> WebPage:
    """Show the page of an example, or the piece of it that was asked for."""
    name, example = request.names["run"], request.names["id"]
    run = folder.run(name)
    example_facts = dossier(run, example)
    part = request.one("part")
    common: dict[str, object] = {"more": claims_and_contexts.more_of(request)}
    title = _title(name, example_facts)
    if request.part and part not in ("", OVER):
        return WebPage("example_piece.html", title, {**common, **_piece(example_facts, request)})
    judgements = run.correctable(example)
    may = Corrections(judgements, example_facts.example.contexts or ())
    common |= {"author": judgement_view.author_of(request), "over": request.one("about")}
    if request.part and part == OVER:
        judgement = may.get(request.one("about"))
        if judgement is None:
            raise NotThere("There is no such judgement any more. Load the page again.")
        return WebPage("example_piece.html", title, {**common, "piece": OVER, "found": judgement})
    judged = _judged_scores(run, [example])[example]
    systems = _systems(run, name, [example_facts.example])[example]
    common |= _whole(folder, run, example_facts, request, judged, systems, may)
    shows = {**common, "conflict": conflict, "saved": _saved(judgements)}
    return WebPage("example.html", title, shows, tag=tag_of(judgements), status=status)


def example_copies(
    folder: RunsFolder, name: str, ids: Sequence[str]
) -> Iterator[tuple[Asked, WebPage]]:
    """Make the pages of several examples for a copy as files; each table is read once."""
    run = folder.run(name)
    facts_of = dossiers(run, ids)
    corrected = run.corrected_examples()
    judged = _judged_scores(run, ids) if corrected else {}
    systems = _systems(run, name, [facts.example for facts in facts_of.values()])
    for id, facts in facts_of.items():
        request = Asked(run_path(name, "examples", id), {"run": name, "id": id}, copy=True)
        judgements = run.correctable(id) if id in corrected else ()
        may = Corrections(judgements, facts.example.contexts or ())
        shows = _whole(folder, run, facts, request, judged.get(id, ()), systems[id], may)
        shows |= {"more": claims_and_contexts.more_of(request), "author": "", "over": ""}
        shows |= {"conflict": "", "saved": ""}
        yield request, WebPage("example.html", _title(name, facts), shows)


def _title(name: str, facts: Dossier) -> str:
    return f"{shortened(facts.example.question, 60)} · {name}"


def _saved(judgements: Sequence[Judgement]) -> str:
    corrections = (judgement.correction for judgement in judgements)
    last = max(filter(None, corrections), key=lambda correction: correction.at, default=None)
    return "" if last is None else f"last by {last.author}, {judgement_view.when(last.at)}"


def tag_of(judgements: Sequence[Judgement]) -> str:
    """Return the version of an example: another one as soon as anything is said otherwise of it."""
    versions = "".join(judgement.version for judgement in judgements)
    return f'"{blake2b(versions.encode(), digest_size=8).hexdigest()}"'


def _walk(folder: RunsFolder, run: Run, request: Asked) -> View:
    name, within = request.names["run"], request.one("within")
    chosen = ExampleFilter.read(within)
    rows = example_rows(run)
    matching = None
    with suppress(InputError):
        matching = chosen_rows(folder, name, rows, chosen) if chosen.query else None
    id = request.names["id"]
    if matching is None:
        chosen, ids, place = ExampleFilter(), rows.ids, rows.places.get(id)
    else:
        ids, place = matching["id"], matching["id"].index_of(id)
    fields = query([("within", within)]) if chosen.query else ""
    return walk(
        ids,
        place,
        lambda id: f"{run_path(name, 'examples', id)}{fields}",
        chosen.words,
        f"{run_path(name)}{query(chosen.query)}{PLACE}",
    )


def _piece(facts: Dossier, request: Asked) -> Mapping[str, object]:
    part = request.one("part")
    if part == "calls":
        return {"piece": "calls", "calls": _calls(facts)}
    if part.startswith("ctx-"):
        passages = claims_and_contexts.shown_contexts(facts, request, CONTEXTS)
        pieces = next((each["pieces"] for each in passages if f"ctx-{each['rank']}" == part), ())
    else:
        text, spans = _text_of(facts, part)
        pieces = answer_pieces(text, spans, min(first_of(request, part), len(text)), ANSWER)
    return {"piece": "text", "part": part, "pieces": pieces}


def _text_of(facts: Dossier, part: str) -> tuple[str, Sequence[Span]]:
    example = facts.example
    texts = {"question": example.question, "answer": example.answer}
    texts |= {f"reference-{at}": text for at, text in enumerate(example.reference, 1)}
    return texts.get(part) or "", claim_spans(facts) if part == "answer" else ()


def _whole(
    folder: RunsFolder,
    run: Run,
    facts: Dossier,
    request: Asked,
    judged: Sequence[JudgedScore],
    systems: Sequence[View],
    may: Corrections,
) -> dict[str, object]:
    name = request.names["run"]
    example, claim = facts.example, request.number("claim", 0)
    claims = unit_matrix(facts, "claim", first_of(request, "claims"), CLAIMS)
    if claims and claims["after"] < claim <= claims["of"]:
        claims = unit_matrix(facts, "claim", claim - 1, CLAIMS)
    answer = example.answer or ""
    question = example.question or ""
    scores = _scores(judged, facts)
    by_metric: dict[str, View] = {score["metric"]: score for score in scores}
    faithful = by_metric.get("faithfulness")
    pieces = {
        "question": answer_pieces(question, (), first_of(request, "question"), QUESTION),
        "answer": answer_pieces(answer, claim_spans(facts), first_of(request, "answer"), ANSWER),
    }
    shown = {f"reference-{at}": text for at, text in enumerate(example.reference[:4], 1)}
    references = [
        (part, answer_pieces(text, (), first_of(request, part), REFERENCES // len(shown)))
        for part, text in shown.items()
    ]
    statements = unit_matrix(facts, "statement", first_of(request, "statements"), STATEMENTS)
    criteria = unit_matrix(facts, "criterion", first_of(request, "criteria"), CRITERIA)
    evidence = unit_matrix(facts, "evidence", first_of(request, "evidence"), EVIDENCE)
    texts = (*pieces.values(), *(text for _, text in references))
    size = sum(len(piece.text.encode()) for text in texts for piece in text)
    size += sum(matrix["size"] for matrix in (claims, statements, criteria, evidence) if matrix)
    room = min(CONTEXTS, max(FEWEST_CONTEXTS, PAGE - SMALL_PARTS - size))
    contexts = claims_and_contexts.shown_contexts(facts, request, room)
    return {
        "name": name,
        "one": example,
        "facets": _facets(example),
        "judges": ", ".join(judge.name for judge in run.form.judges if judge.kinds),
        "first_scores": _first(scores),
        "outcome": by_metric.get(OUTCOME),
        "history": _history(example),
        **pieces,
        "answer_length": len(answer),
        "claims": claims,
        "claims_why": "" if faithful is None or faithful["status"] == "value" else faithful["why"],
        "references": references,
        "statements": statements,
        "criteria": criteria,
        "evidence": evidence,
        "contexts": contexts,
        "last_context": claims_and_contexts.last_place(example, contexts),
        "retrieved": None if example.contexts is None else len(example.contexts),
        "others": claims_and_contexts.other_judgements(facts),
        "labels": _fit([(key, _plain(value)) for key, value in example.labels.items()], LABELS),
        "scores": scores,
        "systems": systems,
        "compared": _compared(name, example, systems),
        "calls": _calls(facts) if request.one("part") == "calls" else None,
        "copied": "" if request.copy else _copied(facts),
        "part": request.one("part"),
        "at_claim": str(claim),
        "walk": _walk(folder, run, request),
        "corrections": may,
        "opens": lambda about: request.but(part=OVER, about=about),
        "post": request.but(part=None, about=None, **{"from": None, "to": None}),
    }


def _first(scores: Sequence[View]) -> list[View]:
    valued = {score["metric"]: score for score in scores if score["status"] == "value"}
    order = [*(name for name in PREFERRED if name in valued), *valued]
    return [valued[name] for name in dict.fromkeys(order) if name != OUTCOME][:FIRST_METRICS]


def _facets(example: Example) -> list[tuple[str, str]]:
    fields = example.slices or {
        key: value
        for key, value in example.meta.items()
        if isinstance(value, str | int | float | bool)
    }
    pairs = [
        (key, _plain(value, key)) for key, value in fields.items() if str(value) not in example.id
    ]
    return [(key, value) for key, value in pairs if len(key) + len(value) <= FACET][:MOST_FACETS]


def _plain(value: object, name: str = "") -> str:
    match value:
        case str():
            text = value
        case int() | float():
            text = fact_in_words(name, value)
        case Mapping() if not any(isinstance(item, list | dict) for item in value.values()):
            text = ", ".join(f"{who}: {figure(str(item))}" for who, item in value.items())
        case _:
            text = json.dumps(value, ensure_ascii=False, default=str)
    return shortened(text, LONGEST_WHY)


def _fit(rows: Sequence[tuple[str, str]], most_bytes: int) -> list[tuple[str, str]]:
    fitting: list[tuple[str, str]] = []
    size = 0
    for row in rows:
        size += sum(len(inert(text).encode()) for text in row) + 80
        if size > most_bytes:
            return [*fitting, ("…", f"and {counted(len(rows) - len(fitting), 'more label')}")]
        fitting.append(row)
    return fitting


def _history(example: Example) -> list[tuple[str, str]]:
    most = max(200, HISTORY // (2 * max(1, len(example.history))))
    return [(turn.role, cut_to_bytes(turn.text, most)) for turn in example.history[-40:]]


def _judged_scores(run: Run, ids: Sequence[str]) -> Mapping[str, Sequence[JudgedScore]]:
    rows = run.without_corrections().excerpt(ids).scores()
    return rows.select(
        "example_id", pl.col("metric").cast(pl.String), "value", "label"
    ).rows_by_key("example_id")


def _scores(before: Sequence[JudgedScore], facts: Dossier) -> list[View]:
    judged = {metric: (value, label) for metric, value, label in before}
    scores: list[View] = []
    size = 0
    lowered: dict[frozenset[str], tuple[str, ...]] = {}
    for score in facts.scores:
        rows: tuple[str, ...] = ()
        if score.status == "value" and size < SCORES:
            # Metrics of the same judgements are lowered by the same ones.
            asks = asks_of(score.metric)
            if asks not in lowered:
                lowered[asks] = tuple(why(facts, score.metric))
            rows = lowered[asks]
        size += 250 + sum(len(inert(row).encode()) + 20 for row in rows)
        value, label = judged.get(score.metric, (score.value, score.label))
        alone = "none" if value is None else number(value)
        alone = spoken(label) if score.label and label else alone
        is_same = value == score.value and label == score.label
        scores.append({
            "metric": score.metric,
            "name": short_name(score.metric),
            "status": score.status,
            "value": "" if score.value is None else number(score.value),
            "label": spoken(score.label or ""),
            "why": shortened(judgement_view.because(score.reason), LONGEST_WHY),
            "rows": rows if size < SCORES else (),
            "judged": "" if is_same else alone,
        })  # fmt: skip
    return scores


def _systems(run: Run, name: str, examples: Sequence[Example]) -> Mapping[str, list[View]]:
    """Return the other answers to the question of each example."""
    questions = pl.Series(list({example.question_id for example in examples}))
    answers = run.examples(
        ["id", "question_id", "system", "answer"],
        where=pl.col("question_id").is_in(questions.implode()),
    )
    # Keep one extra, since the example itself is left out.
    answers = answers.filter(pl.int_range(pl.len()).over("question_id") <= MOST_SYSTEMS)
    scores = run.excerpt(answers["id"].to_list()).scores().filter(pl.col("value").is_not_null())
    by_example: dict[str, list[tuple[str, str]]] = {}
    for id, metric, value, label in (
        scores.filter(pl.col("metric").is_in(SCORES_BESIDE))
        .select("example_id", "metric", "value", "label")
        .iter_rows()
    ):
        figure = label.replace("_", " ") if label else number(value)
        by_example.setdefault(id, []).append((metric, figure))
    by_question: dict[str, list[tuple[str, View]]] = {}
    for id, question, system, answer in answers.iter_rows():
        view = {
            "system": system,
            "path": run_path(name, "examples", id),
            "answer": cut_to_bytes(answer or "–", SYSTEMS // MOST_SYSTEMS),
            "scores": by_example.get(id, ()),
        }
        by_question.setdefault(question, []).append((id, view))
    return {
        of.id: [view for id, view in by_question[of.question_id] if id != of.id][:MOST_SYSTEMS]
        for of in examples
    }


def _compared(name: str, example: Example, answers: Sequence[View]) -> str:
    if all(other["system"] == example.system for other in answers):
        return ""
    fields = [("runs", name), ("a", example.system), ("open", example.question_id)]
    return f"/compare{query(fields)}#questions"


def _calls(facts: Dossier) -> str:
    lines = "\n".join(map(_lines, call_items(facts.calls, prompts=True)))
    return cut_to_bytes(lines, 3 * AT_ONCE) or "No model was asked about this example."


def _lines(item: OutlineItem) -> str:
    inner = "\n".join(map(_lines, item.inner))
    return "\n".join([plain(item.words), *(f"  {line}" for line in inner.splitlines())])


def _copied(facts: Dossier) -> str:
    example = facts.example
    texts = [example.question, example.answer, *example.reference]
    texts += [part.text for part in example.contexts or ()]
    if sum(len(text or "") for text in texts) > COPIED:
        return ""
    markdown = as_markdown(example_page(replace(facts, calls=())))
    return markdown if len(inert(markdown).encode()) <= COPIED else ""


CHANGED = "Somebody corrected this example after you opened it. This is what it says now."


def correct_judgement(
    folder: RunsFolder, request: Asked, form: Mapping[str, str]
) -> WebPage | Elsewhere:
    """Correct a judgement, or take a correction back.

    The page again, with 409 or 412, where somebody else was quicker.
    """
    run, example = folder.run(request.names["run"]), request.names["id"]
    seen, ask, unit, say = judgement_view.read_button(form.get("say", ""))
    about = judgement_view.about_of(ask, unit)
    author = form.get("author", "").strip() or judgement_view.author_of(request)
    if request.match and request.match not in ("*", tag_of(run.correctable(example))):
        return run_example_page(folder, request, conflict=CHANGED, status=412)
    reason = form.get(f"why {about}", "").strip()
    contexts = dossier(run, example).example.contexts or ()
    try:
        if say == UNDO:
            run.undo_correction(example, ask, unit=unit, author=author, reason=reason, seen=seen)
        else:
            values = judgement_view.said_by_button(say, form.get(f"text {about}", ""), contexts)
            why = reason or NO_REASON
            run.correct(example, ask, values, unit=unit, author=author, reason=why, seen=seen)
    except CorrectionConflict as error:
        return run_example_page(folder, request, conflict=_conflict_words(error), status=409)
    prepare_table(folder, request.names["run"])
    now = Corrections(run.correctable(example), contexts).get(about)
    # On which contexts a verdict rests is asked next.
    asks = about if now and now["rests"] and say != UNDO else None
    back = request.but(part=None, about=asks, **{"from": None, "to": None})
    return Elsewhere(f"{back}{_anchor_of(ask, unit)}", judgement_view.author_cookie(author))


def prepare_table(folder: RunsFolder, name: str) -> None:
    """Start making the rows of a run's table of examples, which is likely to be opened next."""
    run = folder.run(name)
    folder.later.get(("rows", *folder.stamp(name)), lambda: example_rows(run).rows, patience=0)


def _conflict_words(error: CorrectionConflict) -> str:
    if error.author is None or error.at is None:
        return f"{error.unit} was judged again after you opened this page. Look at it once more."
    action = "took a correction back"
    if error.said is not None:
        words = ", ".join(shortened(str(value), 200) for value in error.said.values())
        action = f"said “{words}”"
    return (
        f"Not saved: {error.author} {action} of {error.unit} on {judgement_view.when(error.at)}, "
        "after you opened this page. Look again, and correct it if you still want to."
    )


def _anchor_of(ask: str, unit: str | None) -> str:
    over = ASKS[ask].over if ask in ASKS else None
    if over is None or unit is None:
        return ""
    return f"#ctx-{unit}" if over.unit == "context" else f"#{over.unit}-{unit}"
