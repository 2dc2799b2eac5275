"""Compare: a run's systems, or two runs, on the questions both answered, and what changed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations, pairwise
from typing import Any

import polars as pl
from markupsafe import Markup

from ragstone.analysis.comparison.comparability import measured_otherwise, systems_as_references
from ragstone.analysis.comparison.compared_systems import run_labels
from ragstone.analysis.comparison.comparison_result import Comparison, Comparisons
from ragstone.analysis.comparison.paired_scores import question_changes
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError
from ragstone.core.messages import Reason
from ragstone.report import charts
from ragstone.report.number_format import Groups, number, row_name, scale_for, short_name
from ragstone.report.page import Tone
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import comparison_sentences, not_paired
from ragstone.run import Run
from ragstone.web.background_cache import SOON
from ragstone.web.example_rows import marks_in
from ragstone.web.page_request import Asked, WebPage, query, run_path, waits_page
from ragstone.web.parts.drawn_charts import forest_of, lead_of, metrics_itself, verdict_counts
from ragstone.web.parts.highlight import LONGEST, word_diff
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.templating import View, drawn

# Taken where the address has none.
MARGIN = "0.05"

# Up to this many runs, every pair is offered; of more, each run with the one before it.
FEW_RUNS = 5

# Up to this many pairs of systems stand side by side; more become a list to choose from.
FEW_PAIRS = 5


def compare_page(folder: RunsFolder, request: Asked) -> WebPage:
    """Show the verdict, the forest of differences, and the questions that changed."""
    runs = _runs(folder, request)
    if len(runs) not in (1, 2):
        return _choose(folder, request, runs)
    try:
        margin = _margin(request)
        by = tuple(dict.fromkeys(request.all("by")))
        comparisons = _compared(folder, request, runs, margin, by)
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
    first, last = (folder.run(name).form.settings.by for name in (runs[0], runs[-1]))
    return WebPage(
        "compare.html",
        f"{pair[0]} against {pair[1]}",
        {
            "runs": runs,
            "a": pair[0],
            "b": pair[1],
            "swap": _swapped(request, runs, pair),
            "said": [*comparison_sentences(ones, lead), f" {not_paired(ones)}"],
            "counts": verdict_counts(ones),
            "pairs": list(comparisons.between()),
            "few_pairs": len(comparisons.between()) <= FEW_PAIRS,
            "baselines": _systems(folder, runs),
            "margin": "" if margin is None else f"{margin:g}",
            "by": by,
            "fields": dict.fromkeys([name for name in first if name in last] + [*by]),
            "forest": forest_of(
                ones,
                comparisons,
                path=lambda comparison: (
                    f"{request.but(metric=comparison.metric, open=None, page=None)}#questions"
                ),
                all_of=request.one("all") == "1",
            ),
            "slices": [(field, _slice(comparisons, pair, metric, field)) for field in by],
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
    pinned = marks_in(folder.folder).pinned.partition("/")[0]
    return runs[::-1] if boxes and runs[0] == pinned else runs


def _margin(request: Asked) -> float | None:
    text = request.one("margin", MARGIN).strip()
    try:
        return float(text) if text else None
    except ValueError as error:
        raise InputError(f"A margin is a number above 0, got {text!r}.") from error


def _compared(
    folder: RunsFolder, request: Asked, runs: Sequence[str], margin: float | None, by: Sequence[str]
) -> Comparisons | None:
    """Return the comparison; None while it, or what it is made of, is being computed."""
    baseline, metrics = None, None
    if len(runs) == 1 and not (baseline := request.one("b")):
        key = ("baseline", folder.stamp(*runs), marks_in(folder.folder).pinned)
        baseline = folder.later.get(key, lambda: _baseline(folder, runs[0]), SOON)
        if baseline is None:
            return None
    elif request.one("alike") == "1" and len(runs) == 2:
        metrics = _alike(folder, runs)[0]
    return folder.comparing(*runs, baseline=baseline or None, metrics=metrics, margin=margin, by=by)


def _baseline(folder: RunsFolder, run: str) -> str:
    """Return the pinned system, otherwise the first whose answers are not the references."""
    pinned, _, system = marks_in(folder.folder).pinned.partition("/")
    systems = _systems(folder, [run])
    if pinned == run and system in systems:
        return system
    references = systems_as_references(folder.run(run))
    return next(
        (system for system in systems if system not in references), systems[0] if systems else ""
    )


def _systems(folder: RunsFolder, runs: Sequence[str]) -> list[str]:
    return Groups(folder.run(runs[0]).estimate_list).systems if len(runs) == 1 else []


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
    references = metrics_itself(comparisons)
    rivals = [pair for pair in pairs if pair[0] not in references]
    return next((pair for pair in pairs if pair[0] == request.one("a")), (rivals or pairs)[0])


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


A_PAGE = 50
# Characters of a question in the table.
QUESTION = 200

COLUMNS = ["id", "question_id", "question", "answer"]
TONES: Mapping[str, Tone] = {"better": "good", "worse": "bad"}
SHOWN = ("changed", "worse", "better", "same", "failed")
# The value of ``open`` where nothing is to be open.
NOTHING = "-"


def questions_of(
    folder: RunsFolder, request: Asked, runs: Sequence[str], pair: tuple[str, str], metric: str
) -> View | None:
    """Return the questions that match; None while they are being computed."""
    opened = [folder.run(name) for name in runs]
    key = ("changes", folder.stamp(*runs), pair, metric)
    changes = folder.later.get(
        key, lambda: question_changes(*opened, a=pair[0], b=pair[1], metric=metric), SOON
    )
    if changes is None:
        return None
    counts = Counter[str](changes["outcome"].to_list())
    counts["changed"] = counts["worse"] + counts["better"]
    show = request.one("show")
    show = show if show in SHOWN else "changed" if counts["changed"] else "same"
    outcomes = ["worse", "better"] if show == "changed" else [show]
    matching = changes.filter(pl.col("outcome").is_in(outcomes))
    search = request.one("q").strip()
    run_systems = list(zip((opened[0], opened[-1]), _named_in_runs(opened, pair), strict=True))
    if search:
        matching = matching.filter(
            pl.col("question_id").is_in(_with_words(run_systems, search).implode())
        )
    page = request.list_page(len(matching), A_PAGE, open=None)
    rows = matching[page.rows]
    open_ = request.one("open") or (rows["question_id"][0] if len(rows) else "")
    alone = changes.filter(pl.col("question_id") == open_)
    alone = alone if open_ not in rows["question_id"] else alone[:0]
    listed = pl.concat([rows, alone])
    answers = [_answers(*side, listed["question_id"].to_list()) for side in run_systems]
    paths = [runs[0], runs[-1]]
    views: list[View] = []
    for row in listed.iter_rows(named=True):
        name = row["question_id"]
        mine, other = (by_question.get(name, []) for by_question in answers)
        text = next((answer["question"] for answer in (*other, *mine) if answer["question"]), None)
        opened_sides = _opened(pair, paths, mine, other) if name == open_ else ()
        views.append({
            **row,
            "text": (text or name)[:QUESTION],
            "picture": _picture(row, metric),
            "path": request.but(open=NOTHING if name == open_ else name),
            "sides": opened_sides,
        })  # fmt: skip
    return {
        "rows": views[: len(rows)],
        "apart": views[-1] if len(alone) else None,
        "counts": {code: counts[code] for code in SHOWN},
        "show": show,
        "search": search,
        "found": len(matching),
        "page": page,
    }


Answers = list[dict[str, str | None]]


def _answers(run: Run, system: str, questions: list[str]) -> dict[str, Answers]:
    mine = (pl.col("system") == system) & pl.col("question_id").is_in(questions)
    by_question: dict[str, Answers] = {}
    for row in run.examples(COLUMNS, where=mine).iter_rows(named=True):
        by_question.setdefault(row["question_id"], []).append(row)
    return by_question


def _with_words(run_systems: Sequence[tuple[Run, str]], search: str) -> pl.Series:
    text = pl.concat_str("question", "answer", separator=" ", ignore_nulls=True).str.to_lowercase()
    every = [text.str.contains(word, literal=True) for word in search.lower().split()]
    holds = pl.all_horizontal(pl.lit(value=True), *every)
    ids = [run.examples(["question_id"], where=(pl.col("system") == system) & holds)
           for run, system in run_systems]  # fmt: skip
    return pl.concat(ids)["question_id"].unique()


def _named_in_runs(runs: Sequence[Run], pair: tuple[str, str]) -> list[str]:
    if len(runs) == 1:
        return list(pair)
    labels = run_labels(runs[0].path, runs[1].path)
    return [name.removeprefix(f"{label}/") for name, label in zip(pair, labels, strict=True)]


def _picture(row: Mapping[str, Any], metric: str) -> Markup | str:
    scale = scale_for(metric)
    if row["change"] is None or scale is None or not scale.drawable:
        return ""
    title = f"{short_name(metric)}: {number(row['b'])} to {number(row['a'])}"
    return drawn(charts.change(row["b"], row["a"], scale, TONES.get(row["outcome"], ""), title))


def _opened(
    pair: tuple[str, str], runs: Sequence[str], mine: Answers, other: Answers
) -> tuple[View, ...]:
    texts = [(ones[0]["answer"] or "") if ones else "" for ones in (mine, other)]
    left, right = word_diff(texts[1], texts[0])
    return tuple(
        {
            "system": pair[at],
            "path": run_path(runs[at], "examples", ones[0]["id"] or ""),
            "answer": answer,
            "length": len(texts[at]) if len(texts[at]) > LONGEST else 0,
            "more": len(ones) - 1,
        }
        for at, ones, answer in ((1, other, left), (0, mine, right))
        if ones
    )
