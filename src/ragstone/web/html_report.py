"""HTML report: a run, or two, as one HTML file to mail, which loads nothing and opens anywhere."""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from ragstone.analysis import compare, failures
from ragstone.analysis.comparison.compare import check_margin
from ragstone.analysis.comparison.comparison_result import Comparisons
from ragstone.analysis.summaries.failure_stages import FailureGroups
from ragstone.analysis.summaries.run_summary import Summary, histograms, summarise, weight_shares
from ragstone.core.errors import InputError
from ragstone.report.number_format import Groups, counted, short_name
from ragstone.report.page import parts, plain
from ragstone.report.pages.full_run_page import distributions, method
from ragstone.report.reason_words import words
from ragstone.report.render.documents import without_comments
from ragstone.report.run_contents import dossiers
from ragstone.report.run_notes import first_caution, run_notes
from ragstone.report.sentences.judge_words import comparison_sentences, not_paired
from ragstone.report.sentences.run_words import NAMES, summary_sentences
from ragstone.report.worst_examples import RULE, ranked
from ragstone.run import Run
from ragstone.web.templating import View

from .parts.answers import (
    anchor_of,
    answer_rows,
    columns_of,
    metrics_of,
    sorted_path,
    stage_path,
    worst_answer,
)
from .parts.conversation_tables import shown_conversations
from .parts.drawn_charts import (
    forest_of,
    lead_of,
    metrics_itself,
    shown_faults,
    systems_of,
    verdict_counts,
)
from .parts.estimate_tables import shown_estimates, slice_tables
from .templating import asset, drawn, render, style

# Bytes; a file that is larger is made again with less in it.
LARGEST = 1_500_000

MOST_ANSWERS, WORST, ANSWER = 1_000, 50, 2_000
PAIRS, LADDERS, VERDICTS_FIRST = 5, 6, 3


class Room(NamedTuple):
    """The room that a report has: how much of a run is shown.

    Attributes:
        context: Characters of each context of the worst answers.
        answers: Rows of the table of all answers.
        worst: How many of the worst answers are shown in full.
        slices: Whether slices are shown.
    """

    context: int
    answers: int = MOST_ANSWERS
    worst: int = WORST
    slices: bool = True


# They are tried one after the other until the file is small enough.
ROOMS = (
    Room(2_000),
    Room(800),
    Room(300),
    Room(0),
    Room(0, slices=False),
    Room(0, answers=300, worst=20, slices=False),
)


def report_file(
    run: Run, other: Run | None = None, *, baseline: str | None = None, margin: float | None = None
) -> tuple[str, str, tuple[str, ...]]:
    """Return the report on a run, or on its comparison with another, for ``write_report``.

    Its content security policy comes with it, and a sentence for each thing that it leaves out.

    Raises:
        InputError: There is no such system, or the two runs cannot be compared.
    """
    metrics, faults = columns_of(run), failures(run)
    ranking, examples = ranked(run, limit=WORST)
    known = dossiers(run, [example.example_id for example in examples])

    def path(example: str) -> str:
        return f"#w-{anchor_of(example)}" if example in known else ""

    every_answer = list(
        answer_rows(run, faults.answers, metrics, known, most=MOST_ANSWERS, path=path)
    )
    shows = _shown(run, other, baseline, margin, summarise(run), faults, metrics, "#answers")
    shows["method"].append(("ranked", f"worst answers: {RULE}: {', '.join(ranking) or '–'}"))
    shows["stages"] = {
        code: NAMES[code] for code in NAMES if any(each["stage"] == code for each in every_answer)
    }
    shows["any_missing"] = any(answer["missing"] for answer in every_answer)
    css, script = _css(), asset("report.js").decode()
    policy = _policy(css, script)
    shows |= {"css": drawn(css), "script": drawn(script), "policy": policy, "copy": ""}
    has_contexts = any(dossier.example.contexts for dossier in known.values())
    for room in ROOMS:
        no_room = {"contexts": has_contexts and not room.context,
                   "slices": bool(shows["tables"]) and not room.slices}  # fmt: skip
        worst = [worst_answer(each, known[each.example_id], answer=ANSWER, context=room.context)
                 for each in examples[:room.worst]]  # fmt: skip
        shown = shows | {
            "worst": worst,
            "answers": [answer for answer in every_answer if answer["rank"] < room.answers],
            "tables": shows["tables"] if room.slices else (),
        }
        shown["left_out"] = tuple(_left_out(run, shown, room.context, no_room))
        html = render("report.html", shown)
        if len(html.encode()) <= LARGEST:
            break
    return html, policy, shown["left_out"]


def report_copy(run: Run, summary: Summary, faults: FailureGroups, page: str) -> str:
    """Return the report for a copy of the app, where the run's ``page`` has the answers."""
    answers = f"{page}#examples"
    shows = _shown(run, None, None, None, summary, faults, metrics_of(run), answers)
    return render("report.html", shows | {"copy": page, "left_out": ()})


def _shown(
    run: Run,
    other: Run | None,
    baseline: str | None,
    margin: float | None,
    summary: Summary,
    faults: FailureGroups,
    metrics: Sequence[str],
    answers: str,
) -> View:
    """Return what is shown however little room there is; ``answers``: their table's address."""
    groups = Groups(run.estimate_list)
    compared, why = _compared(run, other, baseline, margin)
    pairs = _pairs(compared, metrics, answers) if compared else []
    several = other is not None
    runs = [_of_run(run, metrics, summary, faults, answers, with_name=several)]
    if other is not None:
        second = summarise(other), failures(other), answers
        runs.append(_of_run(other, metrics, *second, with_name=True))
    first_pairs = pairs[:VERDICTS_FIRST] if several or baseline or len(pairs) == 1 else []
    return {
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
        "all_pairs": len(pairs),
        "not_compared": why,
        "tables": list(slice_tables(groups, summary.same, summary.themselves, run.form.suites)),
        "conversations": shown_conversations(summary.conversations, run.form.suites),
        "columns": [(metric, short_name(metric)) for metric in metrics],
        "notes": list(dict.fromkeys(words(note) for note in run_notes(run))),
        "method": [(note.name, plain(note.words)) for note in method(run, groups)],
    }


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


def _pairs(comparisons: Comparisons, columns: Sequence[str], answers: str) -> list[View]:
    """Return each two systems, those last of which one is the reference."""
    between, references = comparisons.between(), metrics_itself(comparisons)
    rivals = sorted(between, key=lambda pair: not references.keys().isdisjoint(pair))
    views = []
    for pair in rivals:
        ones = [comparison for comparison in between[pair] if comparison.slice is None]
        forest = forest_of(
            ones,
            comparisons,
            path=lambda comparison: sorted_path(comparison.metric, columns, answers),
        )
        sentences = [*comparison_sentences(ones, lead_of(ones)), f" {not_paired(ones)}"]
        views.append({"said": sentences, "counts": verdict_counts(ones), "forest": forest})
    return views


def _of_run(
    run: Run,
    columns: Sequence[str],
    summary: Summary,
    faults: FailureGroups,
    answers: str,
    *,
    with_name: bool,
) -> View:
    groups, scores = Groups(run.estimate_list), run.scores()
    estimates = shown_estimates(
        groups.whole, path=lambda metric: sorted_path(metric, columns, answers),
        opens=lambda _: "#estimates",
        opened={estimate.metric for estimate in groups.whole},
        same=summary.same, themselves=summary.themselves,
        lie=histograms(scores), weights=weight_shares(scores), suites=run.form.suites,
        checked=summary.checked,
    )  # fmt: skip
    names = systems_of(faults)
    shown_names = names[:LADDERS] if len(names) > 1 else [""]
    ladders = [shown_faults(faults, name, stage_path(name, answers)) for name in shown_names]
    return {
        "run": run.path.name if with_name else "",
        "shown": estimates,
        "bars": distributions(groups.whole),
        "ladders": [ladder for ladder in ladders if ladder["judged"]],
    }


def _left_out(run: Run, shown: View, context: int, no_room: Mapping[str, bool]) -> Iterator[str]:
    examples, worst = run.form.data.examples, shown["worst"]
    if (rows := len(shown["answers"])) < examples:
        yield f"The table has the {rows:,} worst of {counted(examples, 'answer')}."
    if len(worst) < examples:
        texts = "whole answers and contexts" if context else "whole answers"
        yield f"Of the {counted(len(worst), 'worst answer')} alone there are {texts}."
    if no_room["contexts"]:
        yield "There was no room for contexts."
    if any(each["left"] for answer in worst for each in answer["contexts"]):
        yield f"Contexts are cut at {context:,} characters; words that a claim rests on stay."
    if any(answer["cut"] for answer in worst):
        yield f"Answers and references are cut at {ANSWER:,} characters."
    if no_room["slices"]:
        yield "There was no room for slices."
    if shown["all_pairs"] > PAIRS:
        yield f"{PAIRS} of {counted(shown['all_pairs'], 'pair')} of systems are compared."
    if shown["of"]:
        yield f"The answers are those of {shown['of']}."


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
