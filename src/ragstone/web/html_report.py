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
from ragstone.analysis.comparison.comparison_result import Comparison, Comparisons
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

from .example_rows import PREFERRED
from .parts.answers import answer_rows, any_cut, columns_of, worst_answer
from .parts.conversation_tables import shown_conversations
from .parts.drawn_charts import forest_of, shown_faults, systems_of, verdict_counts
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
    """A report.

    Attributes:
        html: The file.
        policy: Its Content-Security-Policy, which is in the file too.
        left_out: What the run has and the file has not, a sentence each.
    """

    html: str
    policy: str
    left_out: tuple[str, ...]


def report_file(
    run: Run,
    other: Run | None = None,
    *,
    baseline: str | None = None,
    margin: float | None = None,
) -> HtmlReport:
    """Return the report on a run, or on its comparison with another.

    Args:
        run: A finished run.
        other: A second run, which the first is compared with.
        baseline: The system of the run that the others are compared with.
        margin: Differences up to this size are too small to matter.

    Raises:
        InputError: There is no such system, or the two runs cannot be compared.
    """
    shown = _shown(run, other, baseline, margin)
    for room in ROOMS:
        made = _made(shown, room)
        if len(made.html.encode()) <= LARGEST:
            break
    return made


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
    summary, found = summarise(run), failures(run)
    ranking = ranked(run, limit=WORST)
    known = dossiers(run, [one.example_id for one in ranking.examples])
    metrics = columns_of(run)
    worst = [(one, known[one.example_id]) for one in ranking.examples]
    named = {one.example_id for one in ranking.examples}
    answers = list(answer_rows(run, found.answers, metrics, named, most=MOST_ANSWERS))
    compared, why = _compared(run, other, baseline, margin)
    pairs = _pairs(compared, metrics) if compared else []
    several = other is not None
    small = [*method(run, groups)]
    small.append(Note("ranked", f"worst answers: {RULE}: {', '.join(ranking.metrics) or '–'}"))
    runs = [_of_run(run, metrics, summary, found, named=several)]
    if other is not None:
        runs.append(_of_run(other, metrics, summarise(other), failures(other), named=True))
    told = pairs[:VERDICTS_FIRST] if several or baseline or len(pairs) == 1 else []
    always = {
        "title": run.path.name if other is None else f"{run.path.name} against {other.path.name}",
        "form": run.form,
        "systems": groups.systems,
        "judges": [one for one in run.form.judges if one.kinds],
        "verdicts": [one["said"] for one in told],
        "of": run.path.name if several else "",
        "sentences": summary_sentences(summary),
        "caution": parts(first_caution(run, summary)),
        "runs": runs,
        "pairs": pairs[:PAIRS],
        "not_compared": why,
        "tables": list(slice_tables(groups, summary.same, summary.themselves, run.form.suites)),
        "conversations": shown_conversations(summary.conversations, run.form.suites),
        "columns": [(one, short_name(one)) for one in metrics],
        "stages": {code: NAMES[code] for code in NAMES if any(a["stage"] == code for a in answers)},
        "any_missing": any(one["missing"] for one in answers),
        "notes": list(dict.fromkeys(words(one) for one in run_notes(run))),
        "method": [(one.name, plain(one.words)) for one in small],
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


def _pairs(found: Comparisons, columns: Sequence[str]) -> list[View]:
    """Return each two systems, those last of which one is the reference."""
    between = found.between()
    notes = [Reason.read(note) for note in found.notes]
    own = {note.facts["system"] for note in notes if note.code == ANSWERS_ARE_REFERENCES}
    rivals = sorted(between, key=lambda pair: not own.isdisjoint(pair))
    made = []
    for pair in rivals:
        ones = [one for one in between[pair] if one.slice is None]
        counts = {verdict: sum(one.verdict == verdict for one in ones) for verdict in VERDICTS}
        forest = forest_of(ones, found, path=lambda one: _sorted_by(one.metric, columns))
        made.append(
            {
                "said": [*comparison_sentences(ones, _lead(ones)), f" {not_paired(ones)}"],
                "counts": verdict_counts(counts),
                "forest": forest,
            }
        )
    return made


VERDICTS = ("better", "worse", "equivalent", "cannot_tell")


def _lead(ones: Sequence[Comparison]) -> str:
    tested = [one.metric for one in ones if one.verdict != "same" and one.n_pairs]
    there = tested or [one.metric for one in ones]
    return next((name for name in PREFERRED if name in there), there[0])


def _of_run(
    run: Run, columns: Sequence[str], summary: Summary, found: Failures, *, named: bool
) -> View:
    groups, scores = Groups(run.estimate_list), run.scores()
    shown = shown_estimates(
        groups.whole, path=lambda metric: _sorted_by(metric, columns), opens=lambda _: "#estimates",
        opened={one.metric for one in groups.whole},
        same=summary.same, themselves=summary.themselves,
        lie=histograms(scores), weights=weight_shares(scores), suites=run.form.suites,
        checked=summary.checked,
    )  # fmt: skip
    names = systems_of(found)
    shown_names = names[:LADDERS] if len(names) > 1 else [""]
    ladders = [shown_faults(found, name, _stage_path(name)) for name in shown_names]
    return {
        "run": run.path.name if named else "",
        "shown": shown,
        "bars": distributions(groups.whole),
        "ladders": [one for one in ladders if one["judged"]],
    }


def _sorted_by(metric: str, columns: Sequence[str]) -> str:
    return f"#answers?{urlencode({'sort': metric})}" if metric in columns else "#answers"


def _stage_path(system: str) -> Callable[[str], str]:
    def path(stage: str) -> str:
        of = {"system": system} if system else {}
        return f"#answers?{urlencode({**of, 'stage': stage})}"

    return path


def _made(shown: _Shown, room: Room) -> HtmlReport:
    answers = [one for one in shown.answers if one["rank"] < room.answers]
    worst = [worst_answer(one, found, answer=ANSWER, context=room.context)
             for one, found in shown.worst[: room.worst]]  # fmt: skip
    left_out = tuple(_left_out(shown, room, worst))
    css, script = _css(), asset("report.js").decode()
    policy = _policy(css, script)
    html = render("report.html", {
        **shown.always, "worst": worst, "answers": answers, "left_out": left_out,
        "tables": shown.always["tables"] if room.slices else (),
        "css": drawn(css), "script": drawn(script), "policy": policy,
    })  # fmt: skip
    return HtmlReport(html, policy, left_out)


def _left_out(shown: _Shown, room: Room, worst: Sequence[View]) -> Iterator[str]:
    examples = shown.run.form.data.examples
    most = min(room.answers, len(shown.answers))
    if most < examples:
        yield f"The table has the {most:,} worst of {counted(examples, 'answer')}."
    if len(worst) < examples:
        texts = "whole answers and contexts" if room.context else "whole answers"
        yield f"Of the {counted(len(worst), 'worst answer')} alone there are {texts}."
    if not room.context and any(found.example.contexts for _, found in shown.worst):
        yield "There was no room for contexts."
    answers_cut, contexts_cut = any_cut(worst)
    if contexts_cut:
        yield f"Contexts are cut at {room.context:,} characters; words that a claim rests on stay."
    if answers_cut:
        yield f"Answers and references are cut at {ANSWER:,} characters."
    if shown.always["tables"] and not room.slices:
        yield "There was no room for slices."
    if shown.pairs > PAIRS:
        yield f"{PAIRS} of {counted(shown.pairs, 'pair')} of systems are compared."
    if shown.two:
        yield f"The answers are those of {shown.run.path.name}."


@cache
def _css() -> str:
    css = "\n".join(filter(None, map(str.strip, without_comments(style()).splitlines())))
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
