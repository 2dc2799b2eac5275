"""Answers: the worst and all answers of a run, those seen in production, and bars of outcomes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from urllib.parse import quote, urlencode

import polars as pl

from ragstone.data.record_labels import Unit
from ragstone.judgements import Relevance
from ragstone.monitor.store.stored_examples import ListedExample, ListedScore
from ragstone.report.judgement_words import against
from ragstone.report.number_format import number, short_name, shortened, spoken
from ragstone.report.reason_words import short_words
from ragstone.report.run_contents import Dossier, JudgedPart, asks_about
from ragstone.report.worst_examples import RankedExample, shortfalls
from ragstone.run import Run
from ragstone.web.example_rows import PREFERRED
from ragstone.web.templating import GUARD, View

from .highlight import LATE, claim_spans, context_pieces, inert, marked, quotes
from .judgement_view import said

MOST_CLAIMS, MOST_STATEMENTS = 8, 4
# The prefix of a unit's number in an answer's list of faults.
LETTERS: Mapping[Unit, str] = {"claim": "", "statement": LATE, "criterion": "m"}
CLAIM, REASON = 300, 240


def anchor_of(example: str) -> str:
    """Return the end of the ids of an example in the report: the same in every report.

    >>> anchor_of("c3<::>5/a")
    'b8dd8de2bc12'
    """
    return blake2b(example.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def low_scores(example: RankedExample) -> list[str]:
    """Return the metrics on which an example falls short most, with their scores."""
    return [
        f"{short_name(low.metric)} {spoken(low.label or '') or number(low.value)}"
        for low in example.low
    ]


def worst_answer(example: RankedExample, facts: Dossier, *, answer: int, context: int) -> View:
    """Return one of the worst answers, cut to so many characters; 0 leaves contexts out."""
    text, references = example.answer, facts.example.reference
    claims, statements, criteria = (_against(facts, unit) for unit in LETTERS)
    shown_text = None
    if text is not None:
        shown_text = marked(text, claim_spans(facts), 0, min(len(text), answer), "cl")
    return {
        "anchor": anchor_of(example.example_id),
        "ranked": example,
        "low": ", ".join(low_scores(example)),
        "answer": shown_text,
        "cut": any(len(each or "") > answer for each in (text, *references)),
        "reference": [each[:answer] for each in references],
        "unsupported": list(claims[:MOST_CLAIMS]),
        "unmatched": list(statements[:MOST_STATEMENTS]),
        "unmet": list(criteria[:MOST_STATEMENTS]),
        "more": len(claims[MOST_CLAIMS:])
        + len(statements[MOST_STATEMENTS:])
        + len(criteria[MOST_STATEMENTS:]),
        "contexts": [_context(facts, part, context) for part in facts.parts["context"] if context],
    }


def _against(facts: Dossier, unit: Unit) -> list[View]:
    units = []
    for part in facts.parts[unit]:
        rows = [row for ask in asks_about(unit) for row in part.said[ask.kind]]
        held = [(tone, said(row, "")) for row in rows for tone in [against(row)[0]] if tone]
        if held:
            reasons = [
                reason for reason in dict.fromkeys(text["reason"] for _, text in held) if reason
            ]
            view = {
                "key": f"{LETTERS[unit]}{part.place + 1}",
                "text": shortened(part.text, CLAIM),
                "said": [text for _, text in held],
                "reason": shortened("; ".join(reasons), REASON) if reasons else "",
            }
            units.append((all(tone != "bad" for tone, _ in held), view))
    return [view for _, view in sorted(units, key=lambda pair: pair[0])]


def _context(facts: Dossier, part: JudgedPart, most: int) -> View:
    spans, uses = quotes(facts, part)
    relevance = part.said[Relevance.name]
    relevant = set((relevance[0].values["relevant_sentences"] or ()) if relevance else ())
    text, pieces = part.text, None
    if text is not None:
        room = len(inert(text[:most]).encode())
        loud = [span for span in spans if not span.quiet]
        pieces = tuple(context_pieces(text, loud, relevant, most_bytes=room))
    rows = [row for ask in asks_about("context") for row in part.said[ask.kind]]
    return {
        "rank": part.place,
        "id": str(part.own["id"]),
        "judged": [said(row, "") for row in rows],
        "uses": uses,
        "pieces": pieces,
        "left": sum(piece.end - piece.start for piece in pieces or ()),
    }


COLUMNS, QUESTION = 5, 120


def columns_of(run: Run) -> list[str]:
    """Return the metrics that the table has."""
    return metrics_of(run)[:COLUMNS]


def metrics_of(run: Run) -> list[str]:
    """Return the metrics of a run, first those that have a column in the table."""
    known = dict.fromkeys(
        estimate.metric for estimate in run.estimate_list if estimate.n or estimate.n_missing
    )
    return list(dict.fromkeys([*(metric for metric in PREFERRED if metric in known), *known]))


def sorted_path(metric: str, metrics: Sequence[str], at: str) -> str:
    """Return the address of the answers, sorted by a metric if it is one of ``metrics``."""
    return f"{at}?{urlencode({'sort': metric})}" if metric in metrics else at


def stage_path(system: str, at: str) -> Callable[[str], str]:
    """Return a function from a stage to the address of a system's answers that fail there."""

    def path(stage: str) -> str:
        of = {"system": system} if system else {}
        return f"{at}?{urlencode({**of, 'stage': stage})}"

    return path


def answer_rows(
    run: Run,
    stages: pl.DataFrame,
    metrics: Sequence[str],
    worst: Collection[str],
    *,
    most: int,
    path: Callable[[str], str],
) -> Iterator[View]:
    """Return the answers in the order of the data, of more than ``most`` the worst."""
    examples = run.examples(["id", "system", "question"])
    order = shortfalls(run, limit=len(examples)).select(id="example_id").with_row_index("rank")
    ranked = (
        examples.with_row_index("place")
        .join(order, on="id", how="left", maintain_order="left")
        .sort("rank", "place", nulls_last=True)
        .drop("rank")
        .with_row_index("rank")
        .head(most)
        .sort("place")
    )
    ids = ranked["id"].implode()
    of_answers = stages.filter(pl.col("example_id").is_in(ids))
    fell = dict(of_answers.select("example_id", "stage").iter_rows())
    rows = (
        run.scores()
        .filter(pl.col("metric").is_in(metrics) & pl.col("example_id").is_in(ids))
        .select(
            "example_id", pl.col("metric", "status").cast(pl.String), "value", "label", "reason"
        )
    )
    scores = {
        (name, metric): _cell(status, value, label, reason)
        for name, metric, status, value, label, reason in rows.iter_rows()
    }
    none = {"text": "", "status": "undefined", "why": ""}
    for rank, name, system, question in ranked.select(
        "rank", "id", "system", "question"
    ).iter_rows():
        cells = [scores.get((name, metric), none) for metric in metrics]
        yield {
            "anchor": anchor_of(name),
            "path": path(name),
            "question": shortened(question, QUESTION),
            "system": system or "",
            "stage": fell.get(name) or "",
            "scores": cells,
            "missing": any(cell["status"] == "missing" for cell in cells),
            "worst": name in worst,
            "rank": rank,
        }


def _cell(status: str, value: float | None, label: str | None, reason: str | None) -> View:
    text = ""
    if status == "value" and value is not None:
        text = label.replace("_", " ") if label else f"{value:.2f}"
    return {"text": text, "status": status, "why": "" if text else short_words(reason or "")}


MOST_SCORES = 3


def monitor_path(*more: str | int) -> str:
    """Return the path of a page of the monitor.

    >>> monitor_path("examples", "a/b")
    '/monitor/examples/a%2Fb'
    """
    return "/".join(["/monitor", *(quote(str(part), safe="") for part in more)])


def seen_answers(
    examples: Sequence[ListedExample],
    scores: Mapping[str, Sequence[ListedScore]],
    *,
    first: str = "",
    within: str = "",
) -> list[tuple[ListedExample, str, list[ListedScore], tuple[str, str]]]:
    """Return each example with its path, first scores and checks; ``first``: a metric."""
    query = f"?{within}" if within else ""
    rows = []
    for example in examples:
        of_example = scores.get(example.id, ())
        listed = [
            score
            for score in of_example
            if score.value is not None
            and (score.metric == first or not score.metric.startswith(GUARD))
        ]
        ranked = sorted(listed, key=lambda each: (each.metric != first, each.metric))
        path = monitor_path("examples", example.id) + query
        rows.append((example, path, ranked[:MOST_SCORES], checks_of(of_example)))
    return rows


def checks_of(scores: Sequence[ListedScore]) -> tuple[str, str]:
    """Return the shape and the word of what the guard says of an answer."""
    by_metric = {score.metric: score.value for score in scores if score.metric.startswith(GUARD)}
    if by_metric.get(f"{GUARD}ok") == 1:
        return "supported", "passed"
    failed = [
        spoken(name.removeprefix(GUARD))
        for name, value in by_metric.items()
        if value == 0 and name not in (f"{GUARD}ok", f"{GUARD}confidence")
    ]
    if by_metric.get(f"{GUARD}ok") == 0:
        more = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
        return "contradicted", f"{failed[0]}{more}" if failed else "failed"
    return "other", "not all judged" if by_metric else "not yet"
