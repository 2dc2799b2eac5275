"""Run: what was measured, in words, with intervals, and where the answers went wrong."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ragstone.decisions.summing_up.failures import Failures, failures
from ragstone.decisions.summing_up.histograms import histograms
from ragstone.decisions.summing_up.summary import Summary, summarise
from ragstone.decisions.summing_up.weight_shares import weight_shares
from ragstone.report.calls import lasted, spent
from ragstone.report.figures import short_name
from ragstone.report.groups import SYSTEM, Groups
from ragstone.report.layouts import reports_of
from ragstone.report.page import parts, plain
from ragstone.report.pages.run_in_full import method, needs, slice_values
from ragstone.report.run_notes import first_caution, run_notes
from ragstone.report.sentences.summary import summary_sentences
from ragstone.report.words import words
from ragstone.run.calls.entries import FILE as JOURNAL
from ragstone.run.calls.entries import CallTimes, call_times
from ragstone.run.folder import Folder
from ragstone.run.heartbeat import last_beat
from ragstone.run.run import Run
from ragstone.web.asked import Asked, run_path
from ragstone.web.parts.choice import Choice, choice
from ragstone.web.parts.estimates import shown_estimates
from ragstone.web.parts.faults import shown_faults, systems_of
from ragstone.web.parts.word_bars import word_bars
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import Elsewhere, WebPage

from .examples import examples_table
from .runs import STILL
from .tabs import run_tabs


def run_page(place: RunsFolder, asked: Asked) -> WebPage | Elsewhere:
    """A run; one that is not finished shows how far it is."""
    name = asked.names["run"]
    folder = Folder(place.path(name))
    form = folder.form
    common: dict[str, object] = {
        "run": name,
        "form": form,
        "run_tabs": run_tabs(name),
        "run_path": run_path,
    }
    if form is not None and not form.finished:
        return WebPage("run_unfinished.html", name, {**common, **_progress(folder)})
    run = place.run(name)
    common |= {
        "facts": _facts(run),
        "calibrated": (run.path / "judge_passport.json").is_file(),
        "judges": [one for one in run.form.judges if one.kinds],
    }
    if not run.form.data.examples or not run.estimate_list:
        wants = [plain(one.words) for one in needs(run)]
        return WebPage("run_empty.html", name, {**common, "notes": _notes(run), "needs": wants})
    table = examples_table(place, asked, run)
    if isinstance(table, Elsewhere):
        return table
    if asked.part == "examples":
        return WebPage("examples_table.html", name, table.shows, cookies=table.cookies)
    summary = summarise(run)
    found = failures(run)
    return WebPage(
        "run.html",
        name,
        {
            **common,
            **table.shows,
            "summary": summary,
            "said": summary_sentences(summary),
            "caution": parts(first_caution(run, summary)),
            "reports": reports_of(run),
            "short_name": short_name,
            **_estimates(run, asked, summary),
            **_faults(found, asked),
            "bars": word_bars(Groups(run.estimate_list).whole),
            "calls": _calls(run),
            "notes": _notes(run),
            "small_print": _small_print(run),
        },
        cookies=table.cookies,
    )


def _progress(folder: Folder) -> dict[str, object]:
    beat = last_beat(folder.path)
    goes_on = beat is not None and datetime.now(UTC) - beat.at < STILL
    left = lasted(beat.left) if beat and goes_on else ""
    return {"progress": beat, "goes_on": goes_on, "left": left}


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What stands below the title of a run, in words."""

    counts: tuple[tuple[str, str], ...]
    made: str
    seconds: str
    calls: str
    missing: int
    possible: int


def _facts(run: Run) -> RunFacts:
    form, data = run.form, run.form.data
    whole = [one for one in run.estimate_list if not one.group]
    counts = [
        (data.examples, "answer"),
        (data.questions, "question"),
        (data.systems, "system"),
    ]
    made = datetime.fromisoformat(form.created) if form.created else None
    return RunFacts(
        tuple((f"{n:,}", noun if n == 1 else f"{noun}s") for n, noun in counts),
        made.strftime("%d %b %Y, %H:%M") if made else "",
        lasted(form.seconds),
        spent(form.calls),
        sum(one.n_missing for one in whole),
        sum(one.n + one.n_missing for one in whole),
    )


def _estimates(run: Run, asked: Asked, summary: Summary) -> dict[str, object]:
    groups = Groups(run.estimate_list)
    fields = [one for one in groups.fields if one in run.form.by] or groups.fields
    by = asked.one("by", SYSTEM)
    by = by if by in fields else SYSTEM
    opened = asked.all("open")

    def opens(metric: str) -> str:
        rest = [one for one in opened if one != metric]
        return f"{asked.but(open=rest if metric in opened else [*rest, metric])}#estimates"

    def path(metric: str) -> str:
        less = any(one.metric == metric and one.better == "-" for one in run.estimate_list)
        sort = f"-{metric}" if less else metric
        return f"{asked.but(metric=metric, sort=sort, page=None)}#examples"

    ways = choice(
        asked, "by", "Groups", [(one, f"by {one}") for one in (SYSTEM, *fields)], by, "estimates"
    )
    if by == SYSTEM:
        scores = run.scores()
        shown = shown_estimates(
            groups.whole, path=path, opens=opens, opened=opened,
            same=summary.same, themselves=summary.themselves,
            lie=histograms(scores), weights=weight_shares(scores), suites=run.form.suites,
        )  # fmt: skip
        return {"estimates": shown, "ways": ways, "of_system": None, "rarer": 0}
    system = _system(asked, groups.systems, summary.themselves)
    ones = [one for one in groups.sliced(by) if one.group.get(SYSTEM, system) == system]
    values, rarer = slice_values(by, ones)
    shown = shown_estimates(
        [one for one in ones if one.group[by] in values],
        path=path, opens=opens, opened=opened, by=by, suites=run.form.suites,
    )  # fmt: skip
    return {
        "estimates": shown,
        "ways": ways,
        "of_system": _systems(asked, groups.systems, system, "estimates"),
        "rarer": rarer,
    }


def _faults(found: Failures, asked: Asked) -> dict[str, object]:
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
    """The system that is asked for, otherwise the first whose answers are not the references."""
    asked_for = asked.one("system")
    others = [one for one in systems if one not in themselves] or [*systems, ""]
    return asked_for if asked_for in systems else others[0]


def _systems(asked: Asked, systems: Sequence[str], chosen: str, at: str) -> Choice | None:
    if len(systems) < 2:
        return None
    return choice(asked, "system", "System", [(one, one) for one in systems], chosen, at)


def _calls(run: Run) -> list[CallTimes]:
    journal = run.path / JOURNAL
    return call_times(journal) if journal.is_file() else []


def _notes(run: Run) -> list[str]:
    return [words(note) for note in run_notes(run)]


def _small_print(run: Run) -> list[tuple[str, str]]:
    """How to read the numbers, and how the intervals were made."""
    notes = method(run, Groups(run.estimate_list))
    return [(note.name, plain(note.words)) for note in notes]
