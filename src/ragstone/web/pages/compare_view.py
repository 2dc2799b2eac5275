"""Compare: the systems of a run against a baseline, or two runs, on the questions both answered."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, pairwise

from ragstone.analysis.comparison.comparability import SelfReference, measured_otherwise
from ragstone.analysis.comparison.comparison_result import Comparison, Comparisons
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError
from ragstone.core.messages import Reason
from ragstone.report.number_format import row_name, short_name
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import comparison_sentences, not_paired
from ragstone.web.background_cache import SOON
from ragstone.web.example_rows import PREFERRED
from ragstone.web.page_request import Asked, WebPage, query, run_path
from ragstone.web.parts.choices_and_tabs import run_tabs
from ragstone.web.parts.drawn_charts import forest_of, verdict_counts
from ragstone.web.runs_folder import RunsFolder

from .changes_view import questions_of

MARGIN = "0.05"
"""Taken where the address has none."""

FEW_RUNS = 5
"""Of so many every pair is offered, of more each with the one before it."""

FEW_PAIRS = 5
"""So many pairs of systems stand side by side; more are a list to choose from."""


@dataclass(frozen=True, slots=True)
class WantedComparison:
    """A comparison that an address asks for.

    Attributes:
        runs: One, whose systems are compared with a baseline, or two.
        baseline: Of one run; empty if it is to be chosen.
        margin: None if nothing is to be called equivalent.
        by: Fields to slice by.
        alike: Only what both runs measured alike.
    """

    runs: tuple[str, ...]
    baseline: str
    margin: float | None
    by: tuple[str, ...]
    alike: bool


def compare_page(place: RunsFolder, asked: Asked) -> WebPage:
    """Show the verdict, the forest of differences, and the questions that changed."""
    runs = _runs(place, asked)
    if len(runs) not in (1, 2):
        return _choose(place, asked, runs)
    try:
        wanted = _wanted(asked, runs)
        found = _compared(place, wanted)
        if found is None:
            return _waits(asked, runs)
        pair = _pair(asked, found)
        ones = [one for one in found.between()[pair] if one.slice is None]
        lead = _lead(ones)
        metric = asked.one("metric") or lead
        changed = questions_of(place, asked, runs, pair, metric)
    except InputError as error:
        return _choose(place, asked, runs, error)
    if changed is None:
        return _waits(asked, runs)
    return WebPage(
        "compare.html",
        f"{pair[0]} against {pair[1]}",
        {
            "runs": runs,
            "tabs": run_tabs(runs[0]) if len(runs) == 1 else [],
            "run_path": run_path,
            "a": pair[0],
            "b": pair[1],
            "swap": _swapped(asked, runs, pair),
            "said": [*comparison_sentences(ones, lead), f" {not_paired(ones)}"],
            "counts": verdict_counts({v: sum(one.verdict == v for one in ones) for v in VERDICTS}),
            "pairs": _pairs(asked, found, pair),
            "few_pairs": len(found.between()) <= FEW_PAIRS,
            "baselines": _systems(place, runs),
            "margin": "" if wanted.margin is None else f"{wanted.margin:g}",
            "by": wanted.by,
            "fields": _fields(place, runs, wanted),
            "forest": forest_of(
                ones,
                found,
                path=lambda one: f"{asked.but(metric=one.metric, open=None, page=None)}#questions",
                all_of=asked.one("all") == "1",
            ),
            "slices": [(field, _slice(found, pair, metric, field)) for field in wanted.by],
            "notes": [words(note) for note in found.notes if _about(note, pair)],
            "metrics": [(one.metric, row_name(one.metric, one.relevance_by)) for one in ones],
            "metric": metric,
            "metric_name": short_name(metric),
            "changed": changed,
        },
    )


VERDICTS = ("better", "worse", "equivalent", "cannot_tell")


def _runs(place: RunsFolder, asked: Asked) -> list[str]:
    """Return the runs in ``runs=A,B``, or in a field each; the pinned one is the second."""
    known = {one.path.name for one in place.runs()}
    named = []
    for value in asked.all("runs"):
        named += [value] if value in known else value.split(",")
    runs = list(dict.fromkeys(name for name in named if name))
    for name in runs:
        place.path(name)
    boxes = len(asked.all("runs")) == len(runs) == 2
    return runs[::-1] if boxes and runs[0] == place.marks().pinned.partition("/")[0] else runs


def _wanted(asked: Asked, runs: Sequence[str]) -> WantedComparison:
    text = asked.one("margin", MARGIN).strip()
    try:
        margin = float(text) if text else None
    except ValueError as error:
        raise InputError(f"A margin is a number above 0, got {text!r}.") from error
    by = tuple(dict.fromkeys(field for field in asked.all("by") if field))
    baseline = asked.one("b") if len(runs) == 1 else ""
    return WantedComparison(tuple(runs), baseline, margin, by, asked.one("alike") == "1")


def _compared(place: RunsFolder, wanted: WantedComparison) -> Comparisons | None:
    """Return the comparison; None while it, or what it is made of, is being computed."""
    stamp = place.stamp(*wanted.runs)
    baseline, metrics = None, None
    if len(wanted.runs) == 1 and not (baseline := wanted.baseline):
        key = ("baseline", stamp, place.marks().pinned)
        baseline = place.later.get(key, lambda: _baseline(place, wanted.runs[0]), SOON)
        if baseline is None:
            return None
    elif wanted.alike and len(wanted.runs) == 2:
        metrics = _alike(place, wanted.runs)[0]
    return place.comparing(
        *wanted.runs,
        baseline=baseline or None,
        metrics=metrics,
        margin=wanted.margin,
        by=wanted.by,
    )


def _baseline(place: RunsFolder, run: str) -> str:
    """Return the pinned system, otherwise the first whose answers are not the references."""
    pinned, _, system = place.marks().pinned.partition("/")
    systems = _systems(place, [run])
    if pinned == run and system in systems:
        return system
    own = SelfReference(place.run(run)).systems
    return next((one for one in systems if one not in own), systems[0] if systems else "")


def _systems(place: RunsFolder, runs: Sequence[str]) -> list[str]:
    if len(runs) != 1:
        return []
    ones = place.run(runs[0]).estimate_list
    return list(dict.fromkeys(one.group["system"] for one in ones if "system" in one.group))


def _alike(place: RunsFolder, runs: Sequence[str]) -> tuple[list[str], int]:
    first, second = (Scored(place.run(name)) for name in runs)
    shared = [name for name in first.metrics if name in second.metrics]
    other = {one["of"] for one in measured_otherwise(first, second, shared)}
    return [name for name in shared if name not in other], len(shared)


def _pair(asked: Asked, found: Comparisons) -> tuple[str, str]:
    """Return the two systems that are looked at: no reference first, for it is no rival."""
    pairs = list(found.between())
    if not pairs:
        raise InputError("Nothing can be compared.", notes=found.notes)
    notes = [Reason.read(note) for note in found.notes]
    own = [one.facts["system"] for one in notes if one.code == "answers_are_references"]
    rivals = [pair for pair in pairs if pair[0] not in own]
    return next((pair for pair in pairs if pair[0] == asked.one("a")), (rivals or pairs)[0])


def _pairs(
    asked: Asked, found: Comparisons, chosen: tuple[str, str]
) -> list[tuple[str, str, bool]]:
    return [(asked.but(a=a, open=None, page=None), a, (a, b) == chosen) for a, b in found.between()]


def _swapped(asked: Asked, runs: Sequence[str], pair: tuple[str, str]) -> str:
    rest = {"open": None, "page": None}
    if len(runs) == 1:
        return asked.but(a=pair[1], b=pair[0], **rest)
    return asked.but(runs=",".join(runs[::-1]), a=None, b=None, **rest)


def _lead(ones: Sequence[Comparison]) -> str:
    tested = [one.metric for one in ones if one.verdict != "same" and one.n_pairs]
    there = tested or [one.metric for one in ones]
    return next((name for name in PREFERRED if name in there), there[0])


def _slice(found: Comparisons, pair: tuple[str, str], metric: str, field: str) -> object:
    ones = [
        one
        for one in found.between()[pair]
        if one.metric == metric and (one.slice is None or field in one.slice)
    ]
    if not ones:
        return None

    def named(one: Comparison) -> str:
        return "all" if one.slice is None else one.slice[field]

    return forest_of(ones, found, named=named, first=field, all_of=True)


def _fields(place: RunsFolder, runs: Sequence[str], wanted: WantedComparison) -> list[str]:
    fields = [place.run(name).form.settings.by for name in runs]
    shared = [name for name in fields[0] if all(name in ones for ones in fields)]
    return list(dict.fromkeys([*shared, *wanted.by]))


def _about(note: str, pair: tuple[str, str]) -> bool:
    facts = Reason.read(note).facts
    of = [facts[name] for name in ("system", "side") if name in facts]
    both = [facts[name] for name in ("a", "b") if name in facts]
    return all(name in pair for name in of) and (len(both) < 2 or tuple(both) == pair)


def _waits(asked: Asked, runs: Sequence[str]) -> WebPage:
    return WebPage("waits.html", f"Comparing {' and '.join(runs)}", {"again": asked.but()})


def _choose(
    place: RunsFolder, asked: Asked, runs: Sequence[str], error: InputError | None = None
) -> WebPage:
    finished = [one.path.name for one in place.runs() if one.form and one.form.finished]
    offered = combinations(runs, 2) if len(runs) <= FEW_RUNS else pairwise(runs)
    alike, shared = 0, 0
    if error is not None and len(runs) == 2 and asked.one("alike") != "1":
        with suppress(InputError):
            names, shared = _alike(place, runs)
            alike = len(names)
    return WebPage(
        "compare_choose.html",
        "Compare",
        {
            "lines": [] if error is None else error.text.splitlines(),
            "runs": runs,
            "finished": finished,
            "offered": [(_address(pair), pair) for pair in offered] if len(runs) > 2 else [],
            "alike": alike if alike < shared else 0,
            "alike_path": f"/compare{query([('runs', ','.join(runs)), ('alike', '1')])}",
            "plain_path": _address(runs) if len(asked.query) > len(asked.all("runs")) else "",
        },
    )


def _address(runs: Sequence[str]) -> str:
    return f"/compare{query([('runs', ','.join(runs))])}"
