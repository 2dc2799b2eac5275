"""Run page: the results of a run in words and intervals, and the report file to send."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import TypeVar

from starlette.responses import Response

from ragstone.analysis.calibration.checked_run import checked_against_people
from ragstone.analysis.summaries.failure_stages import FailureGroups, stages
from ragstone.analysis.summaries.run_summary import (
    Histograms,
    Summary,
    WeightShares,
    histograms,
    split_estimates,
    weight_shares,
)
from ragstone.core.errors import InputError
from ragstone.core.files import RunEntry
from ragstone.report.layouts import reports_of
from ragstone.report.number_format import SYSTEM, Groups, short_name, shortened
from ragstone.report.page import parts, plain
from ragstone.report.pages.full_run_page import distributions, method, needs, slice_values
from ragstone.report.reason_words import words
from ragstone.report.run_contents import lasted, spent
from ragstone.report.run_notes import first_caution, run_notes
from ragstone.report.sentences.analysis_words import badge
from ragstone.report.sentences.run_words import NAMES, summary_sentences
from ragstone.report.worst_examples import RankedExamples, ranked, shortfalls
from ragstone.run import Estimate
from ragstone.run.calls.journal_reader import CallTimes, call_times
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.run_list import goes_on, last_beat
from ragstone.run.run import Run
from ragstone.web.background_cache import PATIENCE
from ragstone.web.filters import Tags, tags_of
from ragstone.web.html_report import LADDERS, report_copy, report_file
from ragstone.web.html_report import WORST as MARKED
from ragstone.web.page_request import ALL, WORST, Asked, Elsewhere, WebPage, run_path
from ragstone.web.parts.answers import (
    answer_rows,
    columns_of,
    low_scores,
    metrics_of,
    sorted_path,
    stage_path,
)
from ragstone.web.parts.choices_and_tabs import choice
from ragstone.web.parts.conversation_tables import shown_conversations
from ragstone.web.parts.drawn_charts import shown_faults, systems_of
from ragstone.web.parts.estimate_tables import NOBODY, shown_estimates
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, cut

from .examples_view import LONGEST_QUESTION, examples_table

# Seconds; a file cannot show itself a little later, as a page can.
REPORT_PATIENCE = 600


def report_page(folder: RunsFolder, request: Asked) -> Response:
    """Give the report on a run; with ``?download=1`` the browser keeps the file."""
    name = request.names["run"]
    run = folder.run(name)
    if request.copy:
        summary = folder.summary(name, REPORT_PATIENCE)
        faults = folder.failures(name, REPORT_PATIENCE)
        if summary is not None and faults is not None:
            return Response(report_copy(run, summary, faults, run_path(name)))
    key = ("report", folder.stamp(name))
    report = folder.later.get(key, lambda: report_file(run), REPORT_PATIENCE)
    if report is None:
        raise InputError(
            f"The report takes longer than {REPORT_PATIENCE:,} s: ragstone report writes it."
        )
    html, policy, _ = report
    headers = {"content-security-policy": f"{policy}; frame-ancestors 'none'"}
    if request.one("download"):
        headers["content-disposition"] = 'attachment; filename="report.html"'
    return Response(html, headers=headers, media_type="text/html")


T = TypeVar("T")

# Before the name of a tag by which the estimates are grouped, and what its groups are called.
TAG, APART = "tag:", "tag"


def run_page(runs_folder: RunsFolder, request: Asked) -> WebPage | Elsewhere:
    """Show a run; one that is not finished shows how far it is."""
    name = request.names["run"]
    folder = Folder(runs_folder.path(name))
    form = folder.form
    if form is not None and not form.finished:
        beat = last_beat(folder.path)
        on = goes_on(folder.path, beat)
        left = lasted(beat.left) if beat and on else ""
        shows = {"run": name, "progress": beat, "goes_on": on, "left": left}
        return WebPage("run_unfinished.html", name, shows)
    run = runs_folder.run(name)
    head = run_head(run, name)
    if not run.form.data.examples or not run.estimate_list:
        wants = [plain(need.words) for need in needs(run)]
        return WebPage("run_empty.html", name, {**head, "needs": wants})
    until = perf_counter() + (REPORT_PATIENCE if request.copy else PATIENCE)
    if request.part == "soon":
        ready = None not in _slow(runs_folder, name, until)
        return WebPage("run_soon.html", name, {"again": request.but(), "ready": ready})
    if request.part != "examples":
        # Starts the summary while the table is made.
        _slow(runs_folder, name, 0.0)
    table = ({}, {}) if request.copy else examples_table(runs_folder, request, run)
    if isinstance(table, Elsewhere):
        return table
    if request.part == "examples":
        return WebPage("examples_table.html", name, table[0], cookies=table[1])
    tags = tags_of(runs_folder, name) or {}
    estimates = _tagged_apart(runs_folder, name, request.one("by"), tags)
    slow = _slow(runs_folder, name, until)
    ready = None not in slow and estimates is not None
    summary, scores, faults, calls, worst = slow
    answers = {**table[0], **_faults(faults, request)}
    if request.copy and faults is not None:
        answers |= _copied(run, name, faults)
    return WebPage(
        "run.html",
        name,
        {
            **head,
            **answers,
            "again": "" if ready else request.but(),
            "ready": False,
            **(_said(run, summary) if summary else {"said": [], "caution": ()}),
            **_estimates(run, request, summary, scores or ({}, {}), list(tags), estimates),
            "worst": None if worst is None else _worst(worst, name),
            "conversations": shown_conversations(
                summary.conversations if summary else None, run.form.suites
            ),
            "bars": distributions(Groups(run.estimate_list).whole),
            "calls": calls or [],
            "small_print": [
                (note.name, plain(note.words)) for note in method(run, Groups(run.estimate_list))
            ],
        },
        cookies=table[1],
    )


def run_head(run: Run, name: str) -> dict[str, object]:
    """Return what the head of each page of a finished run shows."""
    created = datetime.fromisoformat(run.form.created) if run.form.created else None
    return {
        "run": name,
        "form": run.form,
        "made": created.strftime("%d %b %Y, %H:%M") if created else "",
        "lasted": lasted(run.form.seconds),
        "spent": spent(run.form.calls),
        "whole": [estimate for estimate in run.estimate_list if not estimate.group],
        "corrected": sum(correction.undone is None for correction in run.corrections()),
        "notes": [words(note) for note in run_notes(run)],
        "badge": badge(checked_against_people(run.path, run.form)),
        "judges": [judge for judge in run.form.judges if judge.kinds],
        "reports": reports_of(run),
    }


# The slow parts of a large run's page: the summary, the spread of single scores with the weights
# of composites, the failures, the times of calls, the worst answers. Each is None while it is made
# in the background.
Slow = tuple[
    Summary | None, tuple[Histograms, WeightShares] | None, FailureGroups | None,
    list[CallTimes] | None, RankedExamples | None,
]  # fmt: skip


def _slow(folder: RunsFolder, name: str, until: float) -> Slow:
    stamp = folder.stamp(name)

    def left() -> float:
        return max(0.0, until - perf_counter())

    def get(what: str, make: Callable[[Run], T]) -> T | None:
        return folder.later.get((what, stamp), lambda: make(folder.run(name)), left())

    return (
        folder.summary(name, left()),
        get("of scores", lambda run: (histograms(run.scores()), weight_shares(run.scores()))),
        folder.failures(name, left()),
        get("calls", _calls),
        get("worst", ranked),
    )


def _tagged_apart(folder: RunsFolder, name: str, by: str, tags: Tags) -> Sequence[Estimate] | None:
    """Return the estimates with and without a tag; none without one, None while they are made."""
    tag = tags.get(by.removeprefix(TAG)) if by.startswith(TAG) else None
    if tag is None:
        return ()
    sets = {"tagged": tag.tagged, "not tagged": tag.others}
    key = ("split", folder.stamp(name), by, tag)
    return folder.later.get(key, lambda: split_estimates(folder.run(name), APART, sets))


def _said(run: Run, summary: Summary) -> dict[str, object]:
    caution = parts(first_caution(run, summary))
    return {
        "said": [_short(said, summary) for said in summary_sentences(summary)],
        "caution": [replace(each, text=_short(each.text, summary)) for each in caution],
    }


def _short(text: str, summary: Summary) -> str:
    for name in sorted(summary.systems, key=len, reverse=True):
        text = text.replace(" ".join(name.split()), cut(name))
    return text


def _estimates(
    run: Run,
    request: Asked,
    summary: Summary | None,
    scores: tuple[Histograms, WeightShares],
    tags: Sequence[str],
    tagged_apart: Sequence[Estimate] | None,
) -> dict[str, object]:
    themselves = summary.themselves if summary else NOBODY
    groups = Groups(run.estimate_list)
    checked = checked_against_people(run.path, run.form)
    fields = [field for field in groups.fields if field in run.form.by] or groups.fields
    by = request.one("by", SYSTEM)
    if by not in fields and not tagged_apart:
        by = SYSTEM
    opened = request.all("open")

    def opens(metric: str) -> str:
        rest = [name for name in opened if name != metric]
        return f"{request.but(open=rest if metric in opened else [*rest, metric])}#estimates"

    def path(metric: str) -> str:
        less = any(each.metric == metric and each.better == "-" for each in run.estimate_list)
        sort = f"-{metric}" if less else metric
        if request.copy:
            return sorted_path(sort, [sort], EXAMPLES)
        return f"{request.but(metric=metric, sort=sort, page=None)}#examples"

    table_of = partial(
        shown_estimates, path=path, opens=opens, opened=opened, suites=run.form.suites
    )
    names = [(field, f"by {field}") for field in (SYSTEM, *fields)]
    names += [(f"{TAG}{tag}", f"tagged {tag}") for tag in tags]
    ways = choice(request, "by", "Groups", names, by, "estimates") if names[1:] else None
    # A copy shows slices only in its report.
    ways = None if request.copy else ways
    rest = {"ways": ways, "of_system": None, "rarer": 0, "tag": ""}
    if tagged_apart:
        table = table_of(tagged_apart, by=APART)
        return {**rest, "estimates": table, "tag": by.removeprefix(TAG)}
    if by == SYSTEM:
        same = summary.same if summary else ()
        table = table_of(
            groups.whole, same=same, themselves=themselves, lie=scores[0], weights=scores[1],
            checked=checked,
        )  # fmt: skip
        return {**rest, "estimates": table}
    system = _system(request, groups.systems, themselves)
    ones = [each for each in groups.sliced(by) if each.group.get(SYSTEM, system) == system]
    values, rarer = slice_values(by, ones)
    shown = [estimate for estimate in ones if estimate.group[by] in values]
    table = table_of(shown, by=by, checked=checked)
    of_system = _systems(request, groups.systems, system, "estimates")
    return {**rest, "estimates": table, "of_system": of_system, "rarer": rarer}


def _worst(worst: RankedExamples, name: str) -> list[View]:
    return [
        {
            "path": run_path(name, "examples", example.example_id),
            "question": shortened(example.question, LONGEST_QUESTION) or example.example_id,
            "system": cut(example.system),
            "low": low_scores(example),
        }
        for example in worst.examples
    ]


def _faults(faults: FailureGroups | None, request: Asked) -> dict[str, object]:
    if faults is None:
        return {"ladders": (), "fault_systems": None}
    names = systems_of(faults)
    several = len(names) > 1
    system = _system(request, names, faults.themselves) if several else ""

    def path(stage: str) -> str:
        of = {"system": system} if system else {}
        return f"{request.but(**of, stage=stage, page=None)}#examples"

    return {
        "ladders": [shown_faults(faults, system, path)],
        "fault_systems": _systems(request, names, system, "faults"),
    }


# Where the answers are.
EXAMPLES = "#examples"


def _copied(run: Run, name: str, faults: FailureGroups) -> Mapping[str, object]:
    """Return the answers and their faults as a copy has them: all at once: no server is asked."""
    columns, metrics, several = columns_of(run), metrics_of(run), systems_of(faults)
    worst = shortfalls(run, limit=MARKED)["example_id"]
    answers = list(
        answer_rows(
            run, stages(run), metrics, set(worst),
            most=ALL if run.form.data.examples <= ALL else WORST,
            path=partial(run_path, name, "examples"),
        )
    )  # fmt: skip
    seen = {answer["stage"] for answer in answers}
    names = several[:LADDERS] if len(several) > 1 else [""]
    return {
        "answers": answers,
        "columns": [(metric, short_name(metric)) for metric in columns],
        "more_metrics": metrics[len(columns) :],
        "systems": Groups(run.estimate_list).systems,
        "stages": {code: NAMES[code] for code in NAMES if code in seen},
        "any_missing": any(answer["missing"] for answer in answers),
        "ladders": [shown_faults(faults, each, stage_path(each, EXAMPLES)) for each in names],
        "fault_systems": None,
    }


def _system(request: Asked, systems: Sequence[str], themselves: Collection[str]) -> str:
    """Return the system asked for, otherwise the first whose answers are not the references."""
    asked_for = request.one("system")
    others = [system for system in systems if system not in themselves] or [*systems, ""]
    return asked_for if asked_for in systems else others[0]


def _systems(request: Asked, systems: Sequence[str], chosen: str, at: str) -> View | None:
    if len(systems) < 2:
        return None
    return choice(request, "system", "System", [(name, name) for name in systems], chosen, at)


def _calls(run: Run) -> list[CallTimes]:
    journal = run.path / RunEntry.JOURNAL
    return call_times(journal) if journal.is_file() else []
