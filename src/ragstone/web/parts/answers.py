"""Answers: the worst and all answers of a run, those seen in production, and bars of outcomes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import quote

import polars as pl
from markupsafe import Markup

from ragstone.data.record_labels import Unit
from ragstone.judgements import Relevance
from ragstone.monitor.store.stored_examples import ListedExample, ListedScore
from ragstone.report import charts
from ragstone.report.judgement_words import against
from ragstone.report.number_format import number, short_name, shortened, spoken
from ragstone.report.page import Bar, Count, RowName
from ragstone.report.pages.full_run_page import distributions
from ragstone.report.reason_words import short_words
from ragstone.report.run_contents import Dossier, JudgedPart, asks_about
from ragstone.report.worst_examples import RankedExample, shortfalls
from ragstone.run import Estimate, Run
from ragstone.web.example_rows import PREFERRED
from ragstone.web.templating import drawn

from .highlight import LATE, MarkedPiece, claim_spans, context_pieces, inert, marked, quotes
from .judgement_view import JudgementText, said
from .metric_bands import GUARD, ShownMoment, said_metric, shown_moment

MOST_CLAIMS, MOST_STATEMENTS = 8, 4
CLAIM, REASON = 300, 240


@dataclass(frozen=True, slots=True)
class UnitAgainst:
    """A claim or statement with the judgements that count against the answer.

    Attributes:
        key: What lights up with it.
        text: Cut.
        said: The judgements.
        reason: Why.
    """

    key: str
    text: str
    said: tuple[JudgementText, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class CutContext:
    """A context, cut.

    Attributes:
        rank: As retrieved.
        id: Its own.
        judged: What is said of it.
        uses: The claims that rest on it.
        pieces: Its text; None if it is known by its id alone.
        left: Characters that are left out at its end.
    """

    rank: int
    id: str
    judged: tuple[JudgementText, ...]
    uses: str
    pieces: tuple[MarkedPiece, ...] | None
    left: int


@dataclass(frozen=True, slots=True)
class WorstAnswer:
    """One of the worst answers.

    Attributes:
        anchor: The end of its id.
        ranked: Its shortfall and reasons.
        low: The scores that are low, in words.
        answer: With its claims marked; None if there is none.
        cut: Whether the answer or a reference is cut.
        reference: Cut.
        claims: Those without support.
        statements: Those of the reference that the answer lacks or contradicts.
        more: How many claims and statements there are beside these.
        contexts: As many as there is room for.
    """

    anchor: str
    ranked: RankedExample
    low: str
    answer: Markup | None
    cut: bool
    reference: tuple[str, ...]
    claims: tuple[UnitAgainst, ...]
    statements: tuple[UnitAgainst, ...]
    more: int
    contexts: tuple[CutContext, ...]


def anchor_of(example: str) -> str:
    """The end of the ids of an example in the report: the same in every report.

    >>> anchor_of("c3<::>5/a")
    'b8dd8de2bc12'
    """
    return blake2b(example.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def worst_answer(one: RankedExample, found: Dossier, *, answer: int, context: int) -> WorstAnswer:
    """One of the worst answers.

    Args:
        one: As it was ranked.
        found: All that is known of it.
        answer: Characters of the answer and of each reference.
        context: Characters of each context; 0 leaves contexts out.
    """
    text, references = one.answer, found.example.reference
    claims, statements = (list(_against(found, unit)) for unit in ("claim", "statement"))
    shown_text = None
    if text is not None:
        shown_text = marked(text, claim_spans(found), 0, min(len(text), answer), "cl")
    return WorstAnswer(
        anchor_of(one.example_id),
        one,
        ", ".join(
            f"{short_name(s.metric)} {spoken(s.label or '') or number(s.value)}" for s in one.low
        ),
        shown_text,
        any(len(each or "") > answer for each in (text, *references)),
        tuple(each[:answer] for each in references),
        tuple(claims[:MOST_CLAIMS]),
        tuple(statements[:MOST_STATEMENTS]),
        len(claims[MOST_CLAIMS:]) + len(statements[MOST_STATEMENTS:]),
        tuple(_context(found, part, context) for part in found.parts["context"] if context),
    )


def _against(found: Dossier, unit: Unit) -> Iterator[UnitAgainst]:
    """The units that a judgement counts against, those that are contradicted first."""
    units = []
    for part in found.parts[unit]:
        rows = [row for ask in asks_about(unit) for row in part.rows(ask.kind)]
        held = [(against(row)[0], row) for row in rows if against(row)[0]]
        if held:
            reasons = dict.fromkeys(one.reason for one in (said(row, "") for _, row in held))
            units.append((
                all(tone != "bad" for tone, _ in held),
                UnitAgainst(
                    f"{LATE if unit == 'statement' else ''}{part.place + 1}",
                    shortened(part.text, CLAIM),
                    tuple(said(row, "") for _, row in held),
                    shortened("; ".join(filter(None, reasons)), REASON) if any(reasons) else "",
                ),
            ))  # fmt: skip
    yield from (one for _, one in sorted(units, key=lambda pair: pair[0]))


def _context(found: Dossier, part: JudgedPart, most: int) -> CutContext:
    spans, uses = quotes(found, part)
    relevance = part.rows(Relevance.name)
    relevant = set((relevance[0].values["relevant_sentences"] or ()) if relevance else ())
    text, pieces = part.text, None
    if text is not None:
        room = len(inert(text[:most]).encode())
        loud = [one for one in spans if not one.quiet]
        pieces = tuple(context_pieces(text, loud, relevant, most_bytes=room))
    rows = [row for ask in asks_about("context") for row in part.rows(ask.kind)]
    return CutContext(
        part.place,
        str(part.own["id"]),
        tuple(said(row, "") for row in rows),
        uses,
        pieces,
        sum(one.end - one.start for one in pieces or ()),
    )


def any_cut(worst: Sequence[WorstAnswer]) -> tuple[bool, bool]:
    """Whether answers are cut, and whether contexts are."""
    contexts = (context for one in worst for context in one.contexts)
    return any(one.cut for one in worst), any(context.left for context in contexts)


COLUMNS, QUESTION = 5, 120


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A score in the table: what is written, and why there is no value."""

    text: str
    status: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer in the table.

    Attributes:
        anchor: The end of the ids of its row and, if it is among the worst, of its details.
        question: Cut.
        system: Its system.
        stage: At which stage it failed first; empty if no metric tells.
        scores: One for each column.
        worst: Whether it is among the worst.
        rank: Its place among all, the worst first.
    """

    anchor: str
    question: str
    system: str
    stage: str
    scores: tuple[ScoreCell, ...]
    worst: bool
    rank: int

    @property
    def missing(self) -> bool:
        """Whether one of the scores is missing."""
        return any(one.status == "missing" for one in self.scores)


def columns_of(run: Run) -> list[str]:
    """The metrics that the table has."""
    known = dict.fromkeys(one.metric for one in run.estimate_list if one.n or one.n_missing)
    preferred = [one for one in PREFERRED if one in known]
    return [*preferred, *(one for one in known if one not in preferred)][:COLUMNS]


def answer_rows(
    run: Run, stages: pl.DataFrame, metrics: Sequence[str], worst: Collection[str], *, most: int
) -> Iterator[AnswerRow]:
    """The answers in the order of the data, of more than ``most`` the worst.

    Args:
        run: The run.
        stages: ``example_id`` and ``stage``.
        metrics: A column each.
        worst: The ids of those that are among the worst.
        most: Rows.
    """
    examples = run.examples(["id", "system", "question"])
    order = shortfalls(run, limit=len(examples)).select(id="example_id").with_row_index("rank")
    kept = (
        examples.with_row_index("place")
        .join(order, on="id", how="left", maintain_order="left")
        .sort("rank", "place", nulls_last=True)
        .drop("rank")
        .with_row_index("rank")
        .head(most)
        .sort("place")
    )
    ids = kept["id"].implode()
    found = stages.filter(pl.col("example_id").is_in(ids))
    fell = dict(found.select("example_id", "stage").iter_rows())
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
    none = ScoreCell("", "undefined")
    for rank, name, system, question in kept.select("rank", "id", "system", "question").iter_rows():
        yield AnswerRow(
            anchor_of(name),
            shortened(question, QUESTION),
            system or "",
            fell.get(name) or "",
            tuple(scores.get((name, metric), none) for metric in metrics),
            name in worst,
            rank,
        )


def _cell(status: str, value: float | None, label: str | None, reason: str | None) -> ScoreCell:
    if status == "value" and value is not None:
        return ScoreCell(label.replace("_", " ") if label else f"{value:.2f}", status)
    return ScoreCell("", status, short_words(reason or ""))


@dataclass(frozen=True, slots=True)
class WordBar:
    """The words of a system.

    Attributes:
        who: The system.
        bar: Drawn, a part a word.
        words: How often each was given, those that were not too.
        n: Answers with a word.
        undefined, missing: Those without.
    """

    who: str
    bar: Markup
    words: str
    n: int
    undefined: int
    missing: int


@dataclass(frozen=True, slots=True)
class WordBars:
    """The words of a metric: its title, the fill of each word, a bar a system."""

    title: str
    key: tuple[tuple[int, str], ...]
    rows: tuple[WordBar, ...]


def word_bars(estimates: Sequence[Estimate]) -> list[WordBars]:
    """One for each metric whose scores have words."""
    found = []
    for table in distributions(estimates):
        key = tuple((one.fill, one.head) for one in table.columns if one.fill is not None)
        rows = []
        for row in table.rows:
            bar = next(one for one in row.cells if isinstance(one, Bar))
            n, undefined, missing = (one.value or 0 for one in row.cells if isinstance(one, Count))
            said = ", ".join(f"{part.size:,g} {part.word}" for part in bar.parts)
            who = next(one.text for one in row.cells if isinstance(one, RowName))
            rows.append(WordBar(who, drawn(charts.bar(bar)), said, n, undefined, missing))
        found.append(WordBars(table.groups[0].title.replace("_", " "), key, tuple(rows)))
    return found


LONGEST_QUESTION, LONGEST_ANSWER, MOST_SCORES = 300, 300, 3


@dataclass(frozen=True, slots=True)
class SeenAnswer:
    """An answer in a row.

    Attributes:
        id: Of the example.
        path: Of its page.
        at: When it was given.
        question: Cut.
        answer: Cut.
        scores: Names and values, those that matter most first.
        checks: Shape and word of what the guard says.
        version: Of the deploy; empty if none is known.
    """

    id: str
    path: str
    at: ShownMoment
    question: str
    answer: str
    scores: tuple[tuple[str, str], ...]
    checks: tuple[str, str]
    version: str


def monitor_path(*more: str | int) -> str:
    """The path of a page of the monitor.

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
) -> list[SeenAnswer]:
    """A row for each example.

    Args:
        examples: In their order.
        scores: By example.
        first: The metric whose score stands first.
        within: The query with which they were found.
    """
    return [_row(one, scores.get(one.id, ()), first, within) for one in examples]


def _row(one: ListedExample, scores: Sequence[ListedScore], first: str, within: str) -> SeenAnswer:
    ranked = sorted(
        (score for score in scores if score.value is not None),
        key=lambda score: (score.metric != first, score.metric.startswith(GUARD), score.metric),
    )
    shown = [each for each in ranked if not each.metric.startswith(GUARD) or each.metric == first]
    kept = f"?{within}" if within else ""
    return SeenAnswer(
        one.id,
        monitor_path("examples", one.id) + kept,
        shown_moment(one.at),
        shortened(one.record.get("question") or "", LONGEST_QUESTION),
        shortened(one.record.get("answer") or "", LONGEST_ANSWER),
        tuple(
            (said_metric(each.metric), each.label or value_of(each)) for each in shown[:MOST_SCORES]
        ),
        checks_of(scores),
        one.version or "",
    )


def value_of(score: ListedScore) -> str:
    """A score as a figure; a dash without one."""
    return "–" if score.value is None else number(score.value)


def checks_of(scores: Sequence[ListedScore]) -> tuple[str, str]:
    """Shape and word of what the guard says of an answer."""
    by_metric = {one.metric: one.value for one in scores if one.metric.startswith(GUARD)}
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
