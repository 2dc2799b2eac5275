"""HTML report: a run, or two, as one HTML file to mail, which loads nothing and opens anywhere."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from urllib.parse import urlencode

from ragstone.analysis import compare, failures
from ragstone.analysis.comparison.compare import ANSWERS_ARE_REFERENCES, check_margin
from ragstone.analysis.comparison.comparison_result import Comparisons
from ragstone.analysis.summaries.failure_stages import Failures
from ragstone.analysis.summaries.run_summary import Summary, histograms, summarise, weight_shares
from ragstone.core.errors import InputError
from ragstone.core.messages import Reason
from ragstone.report.number_format import Groups, counted, short_name
from ragstone.report.page import Note, parts, plain
from ragstone.report.pages.full_run_page import distributions, method
from ragstone.report.reason_words import words
from ragstone.report.render.documents import without_comments
from ragstone.report.run_contents import Dossier, dossiers
from ragstone.report.run_notes import first_caution, run_notes
from ragstone.report.sentences.judge_words import comparison_sentences, not_paired
from ragstone.report.sentences.run_words import NAMES, summary_sentences
from ragstone.report.worst_examples import RULE, RankedExample, ranked
from ragstone.run import Run
from ragstone.web.templating import View

from .parts.answers import answer_rows, any_cut, columns_of, worst_answer
from .parts.conversation_tables import shown_conversations
from .parts.drawn_charts import forest_of, lead_of, shown_faults, systems_of, verdict_counts
from .parts.estimate_tables import shown_estimates, slice_tables
from .templating import asset, drawn, render, style

LARGEST = 1_500_000
"""Bytes; a file that is larger is made again with less in it."""

MOST_ANSWERS, WORST, ANSWER = 1_000, 50, 2_000
PAIRS, LADDERS, VERDICTS_FIRST = 5, 6, 3


@dataclass(frozen=True, slots=True)
class Room:
    """The room that a report has: how much of a run is shown.

    Attributes:
        context: Characters of each context of the worst answers.
        answers: Rows of the table of all answers.
        slices: Whether slices are shown.
        worst: How many of the worst answers are shown in full.
    """

    context: int
    answers: int = MOST_ANSWERS
    slices: bool = True
    worst: int = WORST


ROOMS = (
    Room(2_000),
    Room(800),
    Room(300),
    Room(0),
    Room(0, slices=False),
    Room(0, 300, slices=False, worst=20),
)


@dataclass(frozen=True, slots=True)
class HtmlReport:
    """A report: its file, the policy in it, and a sentence for what it leaves out."""

    html: str
    policy: str
    left_out: tuple[str, ...]


def report_file(
    run: Run, other: Run | None = None, *, baseline: str | None = None, margin: float | None = None
) -> HtmlReport:
    """Return the report on a run, or on its comparison with another, for ``write_report``.

    Raises:
        InputError: There is no such system, or the two runs cannot be compared.
    """
    content = _shown(run, other, baseline, margin)
    for room in ROOMS:
        report = _made(content, room)
        if len(report.html.encode()) <= LARGEST:
            break
    return report


@dataclass(frozen=True, slots=True)
class _Shown:
    always: Mapping[str, object]
    worst: Sequence[tuple[RankedExample, Dossier]]
    answers: Sequence[View]
    run: Run
    two: bool
    pairs: int


def _shown(run: Run, other: Run | None, baseline: str | None, margin: float | None) -> _Shown:
    groups = Groups(run.estimate_list)
    summary, faults = summarise(run), failures(run)
    ranking = ranked(run, limit=WORST)
    known = dossiers(run, [example.example_id for example in ranking.examples])
    metrics = columns_of(run)
    worst = [(example, known[example.example_id]) for example in ranking.examples]
    worst_ids = {example.example_id for example in ranking.examples}
    answers = list(answer_rows(run, faults.answers, metrics, worst_ids, most=MOST_ANSWERS))
    compared, why = _compared(run, other, baseline, margin)
    pairs = _pairs(compared, metrics) if compared else []
    several = other is not None
    small = [*method(run, groups)]
    small.append(Note("ranked", f"worst answers: {RULE}: {', '.join(ranking.metrics) or '–'}"))
    runs = [_of_run(run, metrics, summary, faults, with_name=several)]
    if other is not None:
        runs.append(_of_run(other, metrics, summarise(other), failures(other), with_name=True))
    first_pairs = pairs[:VERDICTS_FIRST] if several or baseline or len(pairs) == 1 else []
    always = {
        "title": run.path.name if other is None else f"{run.path.name} against {other.path.name}",
        "form": run.form,
        "systems": groups.systems,
        "judges": [judge for judge in run.form.judges if judge.kinds],
        "verdicts": [pair["said"] for pair in first_pairs],
        "of": run.path.name if several else "",
        "sentences": summary_sentences(summary),
        "caution": parts(first_caution(run, summary)),
        "runs": runs,
        "pairs": pairs[:PAIRS],
        "not_compared": why,
        "tables": list(slice_tables(groups, summary.same, summary.themselves, run.form.suites)),
        "conversations": shown_conversations(summary.conversations, run.form.suites),
        "columns": [(metric, short_name(metric)) for metric in metrics],
        "stages": {code: NAMES[code] for code in NAMES if any(a["stage"] == code for a in answers)},
        "any_missing": any(answer["missing"] for answer in answers),
        "notes": list(dict.fromkeys(words(note) for note in run_notes(run))),
        "method": [(note.name, plain(note.words)) for note in small],
    }
    return _Shown(always, worst, answers, run, several, len(pairs))


def _compared(
    run: Run, other: Run | None, baseline: str | None, margin: float | None
) -> tuple[Comparisons | None, str]:
    """Return the comparison, or why there is none; nobody asked for one of a run's own systems."""
    if margin is not None:
        check_margin(margin)
    if other is None and baseline is None and len(Groups(run.estimate_list).systems) < 2:
        return None, ""
    try:
        return compare(run, other, baseline=baseline, margin=margin), ""
    except InputError as error:
        if other is not None or baseline is not None:
            raise
        return None, error.text


def _pairs(comparisons: Comparisons, columns: Sequence[str]) -> list[View]:
    """Return each two systems, those last of which one is the reference."""
    between = comparisons.between()
    notes = [Reason.read(note) for note in comparisons.notes]
    references = {note.facts["system"] for note in notes if note.code == ANSWERS_ARE_REFERENCES}
    rivals = sorted(between, key=lambda pair: not references.isdisjoint(pair))
    views = []
    for pair in rivals:
        ones = [comparison for comparison in between[pair] if comparison.slice is None]
        forest = forest_of(
            ones, comparisons, path=lambda comparison: _sorted_by(comparison.metric, columns)
        )
        sentences = [*comparison_sentences(ones, lead_of(ones)), f" {not_paired(ones)}"]
        views.append({"said": sentences, "counts": verdict_counts(ones), "forest": forest})
    return views


def _of_run(
    run: Run, columns: Sequence[str], summary: Summary, faults: Failures, *, with_name: bool
) -> View:
    groups, scores = Groups(run.estimate_list), run.scores()
    estimates = shown_estimates(
        groups.whole, path=lambda metric: _sorted_by(metric, columns), opens=lambda _: "#estimates",
        opened={estimate.metric for estimate in groups.whole},
        same=summary.same, themselves=summary.themselves,
        lie=histograms(scores), weights=weight_shares(scores), suites=run.form.suites,
        checked=summary.checked,
    )  # fmt: skip
    names = systems_of(faults)
    shown_names = names[:LADDERS] if len(names) > 1 else [""]
    ladders = [shown_faults(faults, name, _stage_path(name)) for name in shown_names]
    return {
        "run": run.path.name if with_name else "",
        "shown": estimates,
        "bars": distributions(groups.whole),
        "ladders": [ladder for ladder in ladders if ladder["judged"]],
    }


def _sorted_by(metric: str, columns: Sequence[str]) -> str:
    return f"#answers?{urlencode({'sort': metric})}" if metric in columns else "#answers"


def _stage_path(system: str) -> Callable[[str], str]:
    def path(stage: str) -> str:
        of = {"system": system} if system else {}
        return f"#answers?{urlencode({**of, 'stage': stage})}"

    return path


def _made(content: _Shown, room: Room) -> HtmlReport:
    answers = [answer for answer in content.answers if answer["rank"] < room.answers]
    worst = [worst_answer(answer, dossier, answer=ANSWER, context=room.context)
             for answer, dossier in content.worst[: room.worst]]  # fmt: skip
    left_out = tuple(_left_out(content, room, worst))
    css, script = _css(), asset("report.js").decode()
    policy = _policy(css, script)
    html = render("report.html", {
        **content.always, "worst": worst, "answers": answers, "left_out": left_out,
        "tables": content.always["tables"] if room.slices else (),
        "css": drawn(css), "script": drawn(script), "policy": policy,
    })  # fmt: skip
    return HtmlReport(html, policy, left_out)


def _left_out(content: _Shown, room: Room, worst: Sequence[View]) -> Iterator[str]:
    examples = content.run.form.data.examples
    most = min(room.answers, len(content.answers))
    if most < examples:
        yield f"The table has the {most:,} worst of {counted(examples, 'answer')}."
    if len(worst) < examples:
        texts = "whole answers and contexts" if room.context else "whole answers"
        yield f"Of the {counted(len(worst), 'worst answer')} alone there are {texts}."
    if not room.context and any(dossier.example.contexts for _, dossier in content.worst):
        yield "There was no room for contexts."
    answers_cut, contexts_cut = any_cut(worst)
    if contexts_cut:
        yield f"Contexts are cut at {room.context:,} characters; words that a claim rests on stay."
    if answers_cut:
        yield f"Answers and references are cut at {ANSWER:,} characters."
    if content.always["tables"] and not room.slices:
        yield "There was no room for slices."
    if content.pairs > PAIRS:
        yield f"{PAIRS} of {counted(content.pairs, 'pair')} of systems are compared."
    if content.two:
        yield f"The answers are those of {content.run.path.name}."


@cache
def _css() -> str:
    css = "\n".join(filter(None, map(str.strip, without_comments(style()).splitlines())))

    def inside(font: re.Match[str]) -> str:
        return f"url(data:font/woff2;base64,{base64.b64encode(asset(font[1])).decode()})"

    return re.sub(r'url\("(fonts/[^"]+)"\)', inside, css)


def _policy(css: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; "
        "font-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
