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
from ragstone.web.page_request import Asked, WebPage, query, run_path, waits_page
from ragstone.web.parts.choices_and_tabs import run_tabs
from ragstone.web.parts.drawn_charts import forest_of, lead_of, verdict_counts
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
    """A comparison that an address asks for: of one run with a baseline, or of two runs."""

    runs: tuple[str, ...]
    baseline: str
    margin: float | None
    by: tuple[str, ...]
    alike: bool


def compare_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show the verdict, the forest of differences, and the questions that changed."""
    runs = _runs(folder, request)
    if len(runs) not in (1, 2):
        return _choose(folder, request, runs)
    try:
        settings = _wanted(request, runs)
        comparisons = _compared(folder, settings)
        if comparisons is None:
            return _waits(request, runs)
        pair = _pair(request, comparisons)
        ones = [
            comparison for comparison in comparisons.between()[pair] if comparison.slice is None
        ]
        lead = lead_of(ones)
        metric = request.one("metric") or lead
        changed = questions_of(folder, request, runs, pair, metric)
    except InputError as error:
        return _choose(folder, request, runs, error)
    if changed is None:
        return _waits(request, runs)
    return WebPage(
        "compare.html",
        f"{pair[0]} against {pair[1]}",
        {
            "runs": runs,
            "tabs": run_tabs(runs[0]) if len(runs) == 1 else [],
            "run_path": run_path,
            "a": pair[0],
            "b": pair[1],
            "swap": _swapped(request, runs, pair),
            "said": [*comparison_sentences(ones, lead), f" {not_paired(ones)}"],
            "counts": verdict_counts(ones),
            "pairs": _pairs(request, comparisons, pair),
            "few_pairs": len(comparisons.between()) <= FEW_PAIRS,
            "baselines": _systems(folder, runs),
            "margin": "" if settings.margin is None else f"{settings.margin:g}",
            "by": settings.by,
            "fields": _fields(folder, runs, settings),
            "forest": forest_of(
                ones,
                comparisons,
                path=lambda comparison: (
                    f"{request.but(metric=comparison.metric, open=None, page=None)}#questions"
                ),
                all_of=request.one("all") == "1",
            ),
            "slices": [(field, _slice(comparisons, pair, metric, field)) for field in settings.by],
            "notes": [words(note) for note in comparisons.notes if _about(note, pair)],
            "metrics": [
                (comparison.metric, row_name(comparison.metric, comparison.relevance_by))
                for comparison in ones
            ],
            "metric": metric,
            "metric_name": short_name(metric),
            "changed": changed,
        },
    )


def _runs(folder: RunsFolder, request: Asked) -> list[str]:
    """Return the runs in ``runs=A,B``, or in a field each; the pinned one is the second."""
    known = {run.path.name for run in folder.runs()}
    names = []
    for value in request.all("runs"):
        names += [value] if value in known else value.split(",")
    runs = list(dict.fromkeys(name for name in names if name))
    for name in runs:
        folder.path(name)
    boxes = len(request.all("runs")) == len(runs) == 2
    return runs[::-1] if boxes and runs[0] == folder.marks().pinned.partition("/")[0] else runs


def _wanted(request: Asked, runs: Sequence[str]) -> WantedComparison:
    text = request.one("margin", MARGIN).strip()
    try:
        margin = float(text) if text else None
    except ValueError as error:
        raise InputError(f"A margin is a number above 0, got {text!r}.") from error
    by = tuple(dict.fromkeys(field for field in request.all("by") if field))
    baseline = request.one("b") if len(runs) == 1 else ""
    return WantedComparison(tuple(runs), baseline, margin, by, request.one("alike") == "1")


def _compared(folder: RunsFolder, settings: WantedComparison) -> Comparisons | None:
    """Return the comparison; None while it, or what it is made of, is being computed."""
    stamp = folder.stamp(*settings.runs)
    baseline, metrics = None, None
    if len(settings.runs) == 1 and not (baseline := settings.baseline):
        key = ("baseline", stamp, folder.marks().pinned)
        baseline = folder.later.get(key, lambda: _baseline(folder, settings.runs[0]), SOON)
        if baseline is None:
            return None
    elif settings.alike and len(settings.runs) == 2:
        metrics = _alike(folder, settings.runs)[0]
    return folder.comparing(
        *settings.runs,
        baseline=baseline or None,
        metrics=metrics,
        margin=settings.margin,
        by=settings.by,
    )


def _baseline(folder: RunsFolder, run: str) -> str:
    """Return the pinned system, otherwise the first whose answers are not the references."""
    pinned, _, system = folder.marks().pinned.partition("/")
    systems = _systems(folder, [run])
    if pinned == run and system in systems:
        return system
    references = SelfReference(folder.run(run)).systems
    return next(
        (system for system in systems if system not in references), systems[0] if systems else ""
    )


def _systems(folder: RunsFolder, runs: Sequence[str]) -> list[str]:
    if len(runs) != 1:
        return []
    ones = folder.run(runs[0]).estimate_list
    return list(
        dict.fromkeys(estimate.group["system"] for estimate in ones if "system" in estimate.group)
    )


def _alike(folder: RunsFolder, runs: Sequence[str]) -> tuple[list[str], int]:
    first, second = (Scored(folder.run(name)) for name in runs)
    shared = [name for name in first.metrics if name in second.metrics]
    other = {difference["of"] for difference in measured_otherwise(first, second, shared)}
    return [name for name in shared if name not in other], len(shared)


def _pair(request: Asked, comparisons: Comparisons) -> tuple[str, str]:
    """Return the two systems that are looked at: no reference first, for it is no rival."""
    pairs = list(comparisons.between())
    if not pairs:
        raise InputError("Nothing can be compared.", notes=comparisons.notes)
    notes = [Reason.read(note) for note in comparisons.notes]
    references = [note.facts["system"] for note in notes if note.code == "answers_are_references"]
    rivals = [pair for pair in pairs if pair[0] not in references]
    return next((pair for pair in pairs if pair[0] == request.one("a")), (rivals or pairs)[0])


def _pairs(
    request: Asked, comparisons: Comparisons, chosen: tuple[str, str]
) -> list[tuple[str, str, bool]]:
    return [
        (request.but(a=a, open=None, page=None), a, (a, b) == chosen)
        for a, b in comparisons.between()
    ]


def _swapped(request: Asked, runs: Sequence[str], pair: tuple[str, str]) -> str:
    rest = {"open": None, "page": None}
    if len(runs) == 1:
        return request.but(a=pair[1], b=pair[0], **rest)
    return request.but(runs=",".join(runs[::-1]), a=None, b=None, **rest)


def _slice(comparisons: Comparisons, pair: tuple[str, str], metric: str, field: str) -> object:
    ones = [
        comparison
        for comparison in comparisons.between()[pair]
        if comparison.metric == metric and (comparison.slice is None or field in comparison.slice)
    ]
    if not ones:
        return None

    def name_of(comparison: Comparison) -> str:
        return "all" if comparison.slice is None else comparison.slice[field]

    return forest_of(ones, comparisons, name_of=name_of, first=field, all_of=True)


def _fields(folder: RunsFolder, runs: Sequence[str], settings: WantedComparison) -> list[str]:
    fields = [folder.run(name).form.settings.by for name in runs]
    shared = [name for name in fields[0] if all(name in ones for ones in fields)]
    return list(dict.fromkeys([*shared, *settings.by]))


def _about(note: str, pair: tuple[str, str]) -> bool:
    facts = Reason.read(note).facts
    of = [facts[name] for name in ("system", "side") if name in facts]
    both = [facts[name] for name in ("a", "b") if name in facts]
    return all(name in pair for name in of) and (len(both) < 2 or tuple(both) == pair)


def _waits(request: Asked, runs: Sequence[str]) -> WebPage:
    return waits_page(request, f"Comparing {' and '.join(runs)}")


def _choose(
    folder: RunsFolder, request: Asked, runs: Sequence[str], error: InputError | None = None
) -> WebPage:
    finished = [run.path.name for run in folder.runs() if run.form and run.form.finished]
    offered = combinations(runs, 2) if len(runs) <= FEW_RUNS else pairwise(runs)
    alike, shared = 0, 0
    if error is not None and len(runs) == 2 and request.one("alike") != "1":
        with suppress(InputError):
            names, shared = _alike(folder, runs)
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
            "plain_path": _address(runs) if len(request.query) > len(request.all("runs")) else "",
        },
    )


def _address(runs: Sequence[str]) -> str:
    return f"/compare{query([('runs', ','.join(runs))])}"
