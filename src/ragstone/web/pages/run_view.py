"""Run page: the results of a run in words and intervals, and the report file to send."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter
from typing import NamedTuple, TypeVar

from ragstone.analysis.calibration.checked_run import checked_against_people
from ragstone.analysis.summaries.failure_stages import FailureGroups
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
from ragstone.report.number_format import SYSTEM, Groups
from ragstone.report.page import Phrase, parts, plain
from ragstone.report.pages.full_run_page import distributions, method, needs, slice_values
from ragstone.report.reason_words import words
from ragstone.report.run_contents import lasted, spent
from ragstone.report.run_notes import first_caution, run_notes
from ragstone.report.sentences.analysis_words import badge
from ragstone.report.sentences.run_words import summary_sentences
from ragstone.run import Estimate
from ragstone.run.calls.journal_reader import CallTimes, call_times
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.run_list import goes_on, last_beat
from ragstone.run.run import Run
from ragstone.web.background_cache import PATIENCE
from ragstone.web.filters import Tags, tags_of
from ragstone.web.html_report import report_file
from ragstone.web.page_request import Asked, Elsewhere, WebFile, WebPage, run_path
from ragstone.web.parts.choices_and_tabs import choice, run_tabs
from ragstone.web.parts.conversation_tables import shown_conversations
from ragstone.web.parts.drawn_charts import shown_faults, systems_of
from ragstone.web.parts.estimate_tables import NOBODY, shown_estimates
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, cut

from .examples_view import examples_table

REPORT_PATIENCE = 600
"""Seconds; a file cannot show itself a little later, as a page can."""


def report_page(place: RunsFolder, asked: Asked) -> WebFile:
    """Give the report on a run; with ``?download=1`` the browser keeps the file."""
    name = asked.names["run"]
    run = place.run(name)
    key = ("report", place.stamp(name))
    made = place.later.get(key, lambda: report_file(run), REPORT_PATIENCE)
    if made is None:
        raise InputError(
            f"The report takes longer than {REPORT_PATIENCE:,} s: ragstone report writes it."
        )
    headers = {"content-security-policy": f"{made.policy}; frame-ancestors 'none'"}
    if asked.one("download"):
        headers["content-disposition"] = 'attachment; filename="report.html"'
    return WebFile(made.html, "text/html", headers)


T = TypeVar("T")

TAG, APART = "tag:", "tag"
"""Before the name of a tag by which the estimates are grouped, and what its groups are called."""


def run_page(place: RunsFolder, asked: Asked) -> WebPage | Elsewhere:
    """Show a run; one that is not finished shows how far it is."""
    name = asked.names["run"]
    folder = Folder(place.path(name))
    form = folder.form
    if form is not None and not form.finished:
        shows = {"run": name, **_progress(folder)}
        return WebPage("run_unfinished.html", name, shows)
    run = place.run(name)
    head = run_head(run, name)
    if not run.form.data.examples or not run.estimate_list:
        wants = [plain(one.words) for one in needs(run)]
        return WebPage("run_empty.html", name, {**head, "notes": _notes(run), "needs": wants})
    soon = _Soon(place, name)
    if asked.part == "soon":
        shows = {"again": asked.but(), "ready": soon.ready}
        return WebPage("run_soon.html", name, shows)
    soon.begin()
    table = examples_table(place, asked, run)
    if isinstance(table, Elsewhere):
        return table
    if asked.part == "examples":
        return WebPage("examples_table.html", name, table.shows, cookies=table.cookies)
    tags = tags_of(place, name) or {}
    estimates = _tagged_apart(place, name, asked.one("by"), tags)
    ready = soon.ready and estimates is not None
    summary, scores, found, calls = soon.summary, soon.scores, soon.failures, soon.calls
    return WebPage(
        "run.html",
        name,
        {
            **head,
            **table.shows,
            "again": "" if ready else asked.but(),
            "ready": False,
            "said": [_short(one, summary) for one in summary_sentences(summary)] if summary else [],
            "caution": _caution(run, summary) if summary else (),
            **_estimates(run, asked, summary, scores or OfScores({}, {}), list(tags), estimates),
            **_faults(found, asked),
            "conversations": shown_conversations(
                summary.conversations if summary else None, run.form.suites
            ),
            "bars": distributions(Groups(run.estimate_list).whole),
            "calls": calls or [],
            "notes": _notes(run),
            "small_print": _small_print(run),
        },
        cookies=table.cookies,
    )


def run_head(run: Run, name: str) -> dict[str, object]:
    """Return what the head of each page of a finished run shows."""
    return {
        "run": name,
        "form": run.form,
        "run_tabs": run_tabs(name),
        "run_path": run_path,
        "facts": _facts(run),
        "badge": badge(checked_against_people(run.path, run.form)),
        "judges": [one for one in run.form.judges if one.kinds],
        "reports": reports_of(run),
    }


class OfScores(NamedTuple):
    """The spread of single scores, and the share of its weight that a composite is made of."""

    lie: Histograms
    weights: WeightShares


class _Soon:
    """Makes in the background what takes a while on a large run, and waits for it a moment."""

    def __init__(self, place: RunsFolder, name: str) -> None:
        self._place, self._name = place, name
        self._stamp = place.stamp(name)
        self._until = perf_counter() + PATIENCE

    def begin(self) -> None:
        self._until, until = 0.0, self._until
        _ = self.summary, self.scores, self.failures, self.calls
        self._until = until

    @property
    def ready(self) -> bool:
        return None not in (self.summary, self.scores, self.failures, self.calls)

    @property
    def summary(self) -> Summary | None:
        return self._place.summary(self._name, self._left)

    @property
    def scores(self) -> OfScores | None:
        return self._get("of scores", _of_scores)

    @property
    def failures(self) -> FailureGroups | None:
        return self._place.failures(self._name, patience=self._left)

    @property
    def calls(self) -> list[CallTimes] | None:
        return self._get("calls", _calls)

    def _get(self, what: str, make: Callable[[Run], T]) -> T | None:
        key = (what, self._stamp)
        return self._place.later.get(key, lambda: make(self._place.run(self._name)), self._left)

    @property
    def _left(self) -> float:
        return max(0.0, self._until - perf_counter())


def _tagged_apart(place: RunsFolder, name: str, by: str, tags: Tags) -> Sequence[Estimate] | None:
    """Return the estimates with and without a tag; none without one, None while they are made."""
    one = tags.get(by.removeprefix(TAG)) if by.startswith(TAG) else None
    if one is None:
        return ()
    sets = {"tagged": one.tagged, "not tagged": one.others}
    key = ("split", place.stamp(name), by, one)
    return place.later.get(key, lambda: split_estimates(place.run(name), APART, sets))


def _of_scores(run: Run) -> OfScores:
    scores = run.scores()
    return OfScores(histograms(scores), weight_shares(scores))


def _short(text: str, summary: Summary) -> str:
    for name in sorted(summary.systems, key=len, reverse=True):
        text = text.replace(" ".join(name.split()), cut(name))
    return text


def _caution(run: Run, summary: Summary) -> list[Phrase]:
    phrases = parts(first_caution(run, summary))
    return [replace(one, text=_short(one.text, summary)) for one in phrases]


def _progress(folder: Folder) -> dict[str, object]:
    beat = last_beat(folder.path)
    on = goes_on(folder.path, beat)
    left = lasted(beat.left) if beat and on else ""
    return {"progress": beat, "goes_on": on, "left": left}


def _facts(run: Run) -> View:
    form, data = run.form, run.form.data
    whole = [one for one in run.estimate_list if not one.group]
    counts = [
        (data.examples, "row"),
        (data.questions, "question"),
        (data.systems, "system"),
    ]
    made = datetime.fromisoformat(form.created) if form.created else None
    return {
        "counts": [(f"{n:,}", noun if n == 1 else f"{noun}s") for n, noun in counts],
        "made": made.strftime("%d %b %Y, %H:%M") if made else "",
        "seconds": lasted(form.seconds),
        "calls": spent(form.calls),
        "missing": sum(one.n_missing for one in whole),
        "possible": sum(one.n + one.n_missing for one in whole),
        "corrected": sum(one.undone is None for one in run.corrections()),
    }


def _estimates(
    run: Run,
    asked: Asked,
    summary: Summary | None,
    scores: OfScores,
    tags: Sequence[str],
    tagged_apart: Sequence[Estimate] | None,
) -> dict[str, object]:
    themselves = summary.themselves if summary else NOBODY
    groups = Groups(run.estimate_list)
    checked = checked_against_people(run.path, run.form)
    fields = [one for one in groups.fields if one in run.form.by] or groups.fields
    by = asked.one("by", SYSTEM)
    if by not in fields and not tagged_apart:
        by = SYSTEM
    opened = asked.all("open")

    def opens(metric: str) -> str:
        rest = [one for one in opened if one != metric]
        return f"{asked.but(open=rest if metric in opened else [*rest, metric])}#estimates"

    def path(metric: str) -> str:
        less = any(one.metric == metric and one.better == "-" for one in run.estimate_list)
        sort = f"-{metric}" if less else metric
        return f"{asked.but(metric=metric, sort=sort, page=None)}#examples"

    names = [(one, f"by {one}") for one in (SYSTEM, *fields)]
    names += [(f"{TAG}{one}", f"tagged {one}") for one in tags]
    ways = choice(asked, "by", "Groups", names, by, "estimates") if names[1:] else None
    rest = {"ways": ways, "of_system": None, "rarer": 0, "tag": ""}
    if tagged_apart:
        shown = shown_estimates(
            tagged_apart, path=path, opens=opens, opened=opened, by=APART, suites=run.form.suites
        )
        return {**rest, "estimates": shown, "tag": by.removeprefix(TAG)}
    if by == SYSTEM:
        shown = shown_estimates(
            groups.whole, path=path, opens=opens, opened=opened,
            same=summary.same if summary else (), themselves=themselves,
            lie=scores.lie, weights=scores.weights, suites=run.form.suites, checked=checked,
        )  # fmt: skip
        return {**rest, "estimates": shown}
    system = _system(asked, groups.systems, themselves)
    ones = [one for one in groups.sliced(by) if one.group.get(SYSTEM, system) == system]
    values, rarer = slice_values(by, ones)
    shown = shown_estimates(
        [one for one in ones if one.group[by] in values],
        path=path, opens=opens, opened=opened, by=by, suites=run.form.suites, checked=checked,
    )  # fmt: skip
    of_system = _systems(asked, groups.systems, system, "estimates")
    return {**rest, "estimates": shown, "of_system": of_system, "rarer": rarer}


def _faults(found: FailureGroups | None, asked: Asked) -> dict[str, object]:
    if found is None:
        return {"faults": None, "fault_systems": None}
    names = systems_of(found)
    several = len(names) > 1
    system = _system(asked, names, found.themselves) if several else ""

    def path(stage: str) -> str:
        of = {"system": system} if system else {}
        return f"{asked.but(**of, stage=stage, page=None)}#examples"

    return {
        "faults": shown_faults(found, system, path),
        "fault_systems": _systems(asked, names, system, "faults"),
    }


def _system(asked: Asked, systems: Sequence[str], themselves: Collection[str]) -> str:
    """Return the system asked for, otherwise the first whose answers are not the references."""
    asked_for = asked.one("system")
    others = [one for one in systems if one not in themselves] or [*systems, ""]
    return asked_for if asked_for in systems else others[0]


def _systems(asked: Asked, systems: Sequence[str], chosen: str, at: str) -> View | None:
    if len(systems) < 2:
        return None
    return choice(asked, "system", "System", [(one, one) for one in systems], chosen, at)


def _calls(run: Run) -> list[CallTimes]:
    journal = run.path / RunEntry.JOURNAL
    return call_times(journal) if journal.is_file() else []


def _notes(run: Run) -> list[str]:
    return [words(note) for note in run_notes(run)]


def _small_print(run: Run) -> list[tuple[str, str]]:
    notes = method(run, Groups(run.estimate_list))
    return [(note.name, plain(note.words)) for note in notes]
