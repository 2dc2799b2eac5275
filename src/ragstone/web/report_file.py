"""Report file: a run as one HTML file to mail or attach, which loads nothing and runs anywhere."""

import base64
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256

import polars as pl

from ragstone.decisions import failures
from ragstone.decisions.summing_up.summary import summarise
from ragstone.report.dossier import Dossier, dossiers
from ragstone.report.figures import counted, short_name, shortened
from ragstone.report.groups import Groups
from ragstone.report.page import Note, plain
from ragstone.report.pages.run_in_full import method
from ragstone.report.ranked import RULE, RankedExample, ranked, shortfalls
from ragstone.report.sentences.stages import NAMES
from ragstone.report.sentences.summary import summary_sentences
from ragstone.report.words import short_words, words
from ragstone.run import Run

from .drawing import asset, drawn, render, style
from .pages.runs import PREFERRED
from .parts.worst import WorstAnswer, anchor_of, any_cut, worst_answer

LARGEST = 1_500_000
"""Bytes; a file that is larger is made again with less of the contexts, then of the answers."""

MOST_ANSWERS, WORST, COLUMNS = 1_000, 50, 5
QUESTION, ANSWER = 120, 2_000


@dataclass(frozen=True, slots=True)
class Room:
    """How much is shown: characters of each context of the worst answers, and rows of answers."""

    context: int
    answers: int


ROOMS = (
    Room(2_000, MOST_ANSWERS),
    Room(800, MOST_ANSWERS),
    Room(300, MOST_ANSWERS),
    Room(0, MOST_ANSWERS),
    Room(0, 200),
)


@dataclass(frozen=True, slots=True)
class HtmlReport:
    """A report.

    Attributes:
        html: The file.
        policy: Its Content-Security-Policy, which is in the file too.
        left_out: What the run has and the file has not, a sentence each.
    """

    html: str
    policy: str
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScoreCell:
    """A score in the table: what is written, and why there is no value."""

    text: str
    status: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """An answer in the table of all answers.

    Attributes:
        anchor: The end of the ids of its row and, if it is among the worst, of its details.
        question: Cut.
        system: Its system.
        stage: At which stage it fell short first; empty if no metric tells.
        scores: One for each column.
        worst: Whether it is among the worst.
    """

    anchor: str
    question: str
    system: str
    stage: str
    scores: tuple[ScoreCell, ...]
    worst: bool

    @property
    def missing(self) -> bool:
        """Whether one of the scores is missing."""
        return any(one.status == "missing" for one in self.scores)


def report_file(run: Run, *, title: str = "") -> HtmlReport:
    """The report on a run.

    Args:
        run: A finished run.
        title: What the run is called; the name of its folder.
    """
    shows = _shown(run, title or run.path.name)
    for room in ROOMS:
        made = _made(run, shows, room)
        if len(made.html.encode()) <= LARGEST:
            break
    return made


@dataclass(frozen=True, slots=True)
class _Shown:
    """What does not depend on the room."""

    always: Mapping[str, object]
    worst: Sequence[tuple[RankedExample, Dossier]]
    answers: Sequence[AnswerRow]
    examples: int


def _shown(run: Run, title: str) -> _Shown:
    groups = Groups(run.estimate_list)
    found = ranked(run, limit=WORST)
    known = dossiers(run, [one.example_id for one in found.examples])
    worst = [(one, known[one.example_id]) for one in found.examples]
    metrics = _columns(run)
    answers = list(_answers(run, metrics, {one.example_id for one in found.examples}))
    remarks = dict.fromkeys(words(one) for one in run.form.remarks)
    notes = (Note("ranked", f"the worst answers: {RULE}: {', '.join(found.metrics) or '–'}"),)
    always = {
        "title": title,
        "form": run.form,
        "systems": groups.systems,
        "judges": [one.name for one in run.form.judges if one.kinds],
        "sentences": summary_sentences(summarise(run)),
        "remarks": list(remarks),
        "metrics": [short_name(one) for one in metrics],
        "stages": {code: NAMES[code] for code in NAMES if any(a.stage == code for a in answers)},
        "any_missing": any(one.missing for one in answers),
        "method": [(one.name, plain(one.words)) for one in (*method(run, groups), *notes)],
    }
    return _Shown(always, worst, answers, run.form.data.examples)


def _made(run: Run, shown: _Shown, room: Room) -> HtmlReport:
    answers = shown.answers[: room.answers]
    worst = [worst_answer(one, found, answer=ANSWER, context=room.context)
             for one, found in shown.worst]  # fmt: skip
    left_out = tuple(_left_out(shown, room, worst))
    css, script = _css(), asset("report.js").decode()
    policy = _policy(css, script)
    html = render("report.html", {
        **shown.always, "worst": worst, "answers": answers, "left_out": left_out,
        "css": drawn(css), "script": drawn(script), "policy": policy, "path": run.path,
    })  # fmt: skip
    return HtmlReport(html, policy, left_out)


def _left_out(shown: _Shown, room: Room, worst: Sequence[WorstAnswer]) -> Iterator[str]:
    most = min(room.answers, len(shown.answers))
    if most < shown.examples:
        yield f"The table has the {most:,} worst of {counted(shown.examples, 'answer')}."
    if len(worst) < shown.examples:
        texts = "whole answers and contexts" if room.context else "whole answers"
        yield f"Of the {counted(len(worst), 'worst answer')} alone there are {texts}."
    if not room.context and any(found.example.contexts for _, found in shown.worst):
        yield "There was no room for contexts."
    answers_cut, contexts_cut = any_cut(worst)
    if contexts_cut:
        yield f"Contexts are cut at {room.context:,} characters; words that a claim rests on stay."
    if answers_cut:
        yield f"Answers and references are cut at {ANSWER:,} characters."


def _columns(run: Run) -> list[str]:
    """The metrics of the table of all answers."""
    known = dict.fromkeys(one.metric for one in run.estimate_list if one.n or one.n_missing)
    preferred = [one for one in PREFERRED if one in known]
    return [*preferred, *(one for one in known if one not in preferred)][:COLUMNS]


def _answers(run: Run, metrics: Sequence[str], worst: Collection[str]) -> Iterator[AnswerRow]:
    """The rows of the table: all answers in their order, or the worst of very many."""
    examples = run.examples(["id", "system", "question"])
    if len(examples) > MOST_ANSWERS:
        order = shortfalls(run, limit=MOST_ANSWERS).select(id="example_id")
        order = examples.select("id").head(MOST_ANSWERS) if order.is_empty() else order
        examples = order.join(examples, on="id", how="left", maintain_order="left")
    ids = examples["id"].implode()
    told = failures(run).answers.filter(pl.col("example_id").is_in(ids))
    stages = dict(told.select("example_id", "stage").iter_rows())
    rows = (
        run.scores()
        .filter(pl.col("metric").is_in(metrics) & pl.col("example_id").is_in(ids))
        .select(
            "example_id", pl.col("metric", "status").cast(pl.String), "value", "label", "reason"
        )
    )
    scores: dict[tuple[str, str], ScoreCell] = {
        (name, metric): _cell(status, value, label, reason)
        for name, metric, status, value, label, reason in rows.iter_rows()
    }
    none = ScoreCell("", "undefined")
    for name, system, question in examples.iter_rows():
        cells = tuple(scores.get((name, metric), none) for metric in metrics)
        yield AnswerRow(
            anchor_of(name),
            shortened(question, QUESTION),
            system or "",
            stages.get(name) or "",
            cells,
            name in worst,
        )


def _cell(status: str, value: float | None, label: str | None, reason: str | None) -> ScoreCell:
    if status == "value" and value is not None:
        return ScoreCell(label.replace("_", " ") if label else f"{value:.2f}", status)
    return ScoreCell("", status, short_words(reason or ""))


@cache
def _css() -> str:
    """The stylesheet with its fonts in it, without comments."""
    css = re.sub(r"/\*.*?\*/", "", style(), flags=re.DOTALL)
    css = re.sub(r"\s*\n\s*", "\n", css).strip()
    return re.sub(r'url\("(fonts/[^"]+)"\)', lambda found: f"url({_data_uri(found[1])})", css)


def _data_uri(font: str) -> str:
    return f"data:font/woff2;base64,{base64.b64encode(asset(font)).decode()}"


def _policy(css: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(css)}'",
            f"script-src '{_hash(script)}'",
            "font-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
