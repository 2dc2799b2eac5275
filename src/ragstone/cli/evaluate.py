"""Evaluate and score commands: judge data into a run folder, or add metrics to a finished run."""

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ragstone.core.errors import BatchesWaiting, InputError, RunConflict, each
from ragstone.core.messages import in_shell

from . import options
from .options import column_names, load_user_metrics
from .output import bar, finish, print_notes, print_page
from .runs import end_waiting, write_as

if TYPE_CHECKING:
    from ragstone.metrics import Metric
    from ragstone.run import Live, Progress, Run
    from ragstone.run.folder.run_list import Report
    from ragstone.run.request import Request


# Settings of a run that a note about another run names; all but the first with their values.
TOLD = ("data", "metrics", "suites", "judges", "by", "cluster", "limit", "skip_bad", "columns")

SHOWN_RUNS = 3


PANELS = {
    "Metrics": "metric suite criterion yes_no metrics_from by cluster bertscore",
    "Judge": "judge embedder cross_encoder offline plan prompts language rubrics citations "
    "keep_thoughts engine max_poison debug",
    "Data": "map qrels skip_bad limit",
    "Cost": "dry_run budget max_calls prices batch batch_wait batch_rest timeout concurrency rpm "
    "tpm cache no_cache",
    "Output": "out export full pooled json",
}
RARE = (
    "criterion yes_no metrics_from bertscore cluster embedder cross_encoder offline plan prompts "
    "language rubrics citations keep_thoughts engine max_poison debug qrels max_calls prices "
    "batch_wait batch_rest timeout concurrency rpm tpm cache no_cache export pooled"
)


@partial(options.described, panels=PANELS, rare=RARE)
def evaluate(
    data: str,
    *,
    metric: list[str] | None = None,
    suite: list[str] | None = None,
    criterion: list[str] | None = None,
    yes_no: list[str] | None = None,
    metrics_from: list[Path] | None = None,
    judge: list[str] | None = None,
    by: list[str] | None = None,
    cluster: str | None = None,
    out: str | None = None,
    export: Path | None = None,
    map: list[str] | None = None,
    qrels: str | None = None,
    skip_bad: bool = False,
    keep_thoughts: bool = False,
    limit: Annotated[int | None, {"min": 1}] = None,
    citations: str | None = None,
    embedder: str | None = None,
    cross_encoder: str | None = None,
    bertscore: str = "",
    offline: bool = False,
    engine: str = "local",
    max_poison: Annotated[int, {"min": 0}] = 10,
    plan: str = "isolated",
    prompts: Path | None = None,
    language: str | None = None,
    rubrics: Path | None = None,
    dry_run: bool = False,
    budget: float | None = None,
    max_calls: int | None = None,
    prices: Path | None = None,
    batch: bool = False,
    batch_wait: float = 0.0,
    batch_rest: str = "batch",
    timeout: float = 120.0,
    concurrency: int = 64,
    rpm: int | None = None,
    tpm: int | None = None,
    cache: str | None = None,
    no_cache: bool = False,
    debug: bool = False,
    full: bool = False,
    pooled: bool = False,
    json: bool = False,
) -> None:
    """Judge DATA, compute metrics, and save everything in a run folder.

    No API key is needed. Nothing is downloaded unless you ask for it, except builtin:minilm, once,
    if a metric you name compares embeddings.

    Exit status: 0 done, 2 invalid input, 4 more than a tenth of a metric's scores are missing, 5
    waiting for batches.

    Args:
        data: A file of examples, a TREC run, a dataset folder, a URL such as
            s3://bucket/answers.jsonl, or - for standard input. `ragstone formats` lists all.
        metric (-m): Metric to compute, such as faithfulness or ndcg(k=10); repeatable. `ragstone
            metrics` lists them all.
        suite: Suite of metrics; repeatable. Default, if there is no --metric either: quick, every
            metric that the data and the judges allow.
        criterion (TEXT): Rate answers by a criterion in one sentence, such as 'Is the tone
            friendly?', from 0 to 1, with the reason; repeatable. Needs a model: --judge
            openai:MODEL.
        yes_no (TEXT): Answer such a criterion with yes (1) or no (0); repeatable.
        export (FILE.csv): Also write the report of the tool that the suite is named after, as
            `ragstone export RUN --as SUITE --out FILE.csv` does; a folder for all its files.
        dry_run: Print expected calls, tokens and cost, and call no model.
        no_cache: Neither use cached replies from earlier runs nor cache new ones.
        debug: Print every reply, and each example with its verdicts as soon as it is judged.
    """
    from ragstone.judges import MARKERS
    from ragstone.run import Instructions, Limits
    from ragstone.run.request import Request

    columns = column_names(map or ())
    user_metrics = load_user_metrics(metrics_from or ())
    texts = [*(metric or ()), *metrics_defined(criterion or (), yes_no or ())]
    metrics, suites, notes = metrics_requested(texts, suite or (), user_metrics, quick=True)
    request = Request(
        data,
        metrics=metrics,
        suites=suites,
        judge=tuple(judge or ()),
        by=tuple(by or ()),
        cluster=cluster,
        out=out,
        columns=columns,
        qrels=qrels,
        skip_bad=skip_bad,
        keep_thoughts=keep_thoughts,
        limit=limit,
        citations=citations or MARKERS,
        embedder=embedder,
        cross_encoder=cross_encoder,
        bertscore=bertscore,
        offline=offline,
        instructions=Instructions(plan, prompts, language, rubrics),
        limits=Limits(
            timeout, concurrency, rpm, tpm, max_calls, budget, prices, cache, cached=not no_cache
        ),
        engine=engine,
        max_poison=max_poison,
        batch=batch,
        batch_wait=batch_wait,
        batch_rest=batch_rest,
        debug=_print_example if debug else None,
    )
    _check_kept(out)
    reported = None if export is None else _suite_to_export(suites, export)
    if dry_run:
        _print_forecast(request, notes, json=json)
        return
    try:
        run = _run(request)
    except BatchesWaiting as waiting:
        end_waiting(waiting, json=json)
    if reported is not None:
        write_as(run, reported, export, repeated=run.form.remarks)
    finish(run, notes, full=full, pooled=pooled, json=json)


def _check_kept(out: str | None) -> None:
    """Refuse a place that is gone when the command ends."""
    if out is not None and out.lower().startswith("memory://"):
        raise InputError(
            f"{out} is in the memory of this command alone. Name a folder, or a place in a store, "
            "such as s3://bucket/runs/NAME."
        )


def _suite_to_export(suites: Sequence[str], file: Path) -> str:
    from ragstone.report.layouts import LAYOUTS, check_target

    check_target(file)
    names = [name for name in (text.split("(")[0] for text in suites) if name in LAYOUTS]
    if len(names) != 1:
        raise InputError(
            f"--export writes the report of one suite. Name one with --suite: {', '.join(LAYOUTS)}."
        )
    return names[0]


def _print_forecast(request: "Request", notes: Sequence[str], *, json: bool) -> None:
    from ragstone.report.pages.runs_page import forecast_page
    from ragstone.run.forecast import forecast_of

    expected = forecast_of(request)
    print_notes(notes)
    print_page(forecast_page(expected), json=json)


def _run(request: "Request") -> "Run":
    from ragstone.run.evaluate import evaluated
    from ragstone.run.folder.run_list import RUNS

    def run_in(folder: str | Path) -> "Run":
        # What a judge or metric of the user's own prints is none of the results.
        with bar() as progress, redirect_stdout(sys.stderr):
            callback = _with_notes(None if request.debug else progress)
            return evaluated(replace(request, out=folder, progress=callback))

    if request.out is not None:
        return run_in(request.out)
    return _in_free_folder(run_in, RUNS / run_name(request.data))


def _with_notes(progress: "Report | None") -> "Report":
    def step(step_progress: "Progress") -> None:
        if step_progress.note is not None:
            print_notes([step_progress.note])
        elif progress is not None:
            progress(step_progress)

    return step


def _print_example(block: "Live", example: str) -> None:
    from ragstone.report import dossier, example_page, show

    show(example_page(dossier(block, example)), sys.stderr)


def run_name(data: str) -> str:
    """The data's name without its endings.

    >>> run_name("sets/answers.jsonl.gz"), run_name("sets/nq/")
    ('answers', 'nq')
    """
    from ragstone.core.remote_files import is_url

    path = Path("stdin" if data == "-" else data.partition("?")[0] if is_url(data) else data)
    name = (path.name or path.resolve().name).removesuffix(".gz").strip(". ")
    return name.rsplit(".", 1)[0] or "run"


def _in_free_folder(evaluated: "Callable[[Path], Run]", folder: Path) -> "Run":
    """The first of NAME, NAME-2, … that is not a run of other data or settings."""
    name, conflicts = folder.name, list[str]()
    while True:
        try:
            run = evaluated(folder)
        except RunConflict as conflict:
            if not folder.exists():
                raise
            conflicts.append(_why_taken(folder, conflict))
            folder = folder.with_name(f"{name}-{len(conflicts) + 1}")
        else:
            if conflicts:
                n = len(conflicts) - SHOWN_RUNS
                more = [f"and {n} more"] if n > 0 else []
                others = "; ".join([*conflicts[-SHOWN_RUNS:], *more])
                print_notes([f"This run is in {folder}, for {others}. `ragstone runs` lists them."])
            return run


def _why_taken(folder: Path, conflict: "RunConflict") -> str:
    if not conflict.differing:
        return in_shell(conflict.text).split(". ")[0]
    differing = dict(conflict.differing)
    if differing.keys() & {"data", "metrics", "suites", "judges"}:
        differing = {name: both for name, both in differing.items() if name in TOLD}
    words = (name if name == "data" or name not in TOLD else f"{name} ({_sides(*both)})"
            for name, both in differing.items())  # fmt: skip
    return f"{folder} has other {', '.join(words)}"


def _sides(stored: object, new: object) -> str:
    """Say how a setting differs; of lists, what only one of them has.

    >>> _sides(["mrr"], []), _sides(5, None), _sides({}, {"answer": "mine"})
    ('only there: mrr', 'there 5, here none', 'only here: answer=mine')
    """
    if isinstance(stored, dict) and isinstance(new, dict):
        pairs = ([f"{name}={of}" for name, of in value.items()] for value in (stored, new))
        stored, new = pairs
    values = {"there": stored, "here": new}
    if isinstance(stored, list) and isinstance(new, list):
        return ", ".join(f"only {name}: {_few(some)}" for name, some in values.items() if some)
    return ", ".join(
        f"{name} {'none' if value is None else value}" for name, value in values.items()
    )


def _few(some: Any) -> str:
    return ", ".join(map(str, some[:3])) + (f" and {len(some) - 3} more" if len(some) > 3 else "")


def score(
    run: options.RunFolder,
    *,
    metric: list[str] | None = None,
    suite: list[str] | None = None,
    metrics_from: list[Path] | None = None,
    by: list[str] | None = None,
    embedder: str | None = None,
    cross_encoder: str | None = None,
    bertscore: str = "",
    offline: bool = False,
    without_corrections: bool = False,
    full: bool = False,
    pooled: bool = False,
    json: bool = False,
) -> None:
    """Compute new metrics from judgements of RUN, without judging again.

    Scores that need a judgement RUN does not hold are missing. The exception is
    similarities: those that RUN lacks are computed with its own encoder. If that
    encoder failed before, it is tried again; naming RUN alone is enough for that.

    Exit status: 0 done, 2 invalid input, 4 more than a tenth of a metric's scores
    are missing.

    Args:
        metric (-m): Metric to compute; repeatable.
        suite: Suite of metrics; repeatable.
        by (FIELD): Also report results for each value of this field; repeatable.
    """
    from ragstone.run.rescore import rescore

    user_metrics = load_user_metrics(metrics_from or ())
    metrics, suites, notes = metrics_requested(metric or (), suite or (), user_metrics, quick=False)
    with bar() as progress, redirect_stdout(sys.stderr):
        scored = rescore(
            run,
            metrics=metrics,
            suites=suites,
            by=tuple(by or ()),
            embedder=embedder,
            cross_encoder=cross_encoder,
            bertscore=bertscore,
            offline=offline,
            progress=progress,
        )
    scored = scored.without_corrections() if without_corrections else scored
    finish(scored, notes, full=full, pooled=pooled, json=json)


def metrics_requested(
    metrics: Sequence[str], suites: Sequence[str], user_metrics: "Sequence[Metric]", *, quick: bool
) -> "tuple[list[str | Metric], list[str], list[str]]":
    """Metrics and suites, with deprecated names resolved.

    Metrics of the user's own files come with any others. With ``quick``, that
    suite stands in where neither a metric nor a suite is named.
    """
    from ragstone.metrics import QUICK, alias_note, parse_metric, strictness_note, suite_named

    looked_up: list[Callable[[], object]] = [partial(parse_metric, text) for text in metrics]
    looked_up += [partial(suite_named, text) for text in suites if text != QUICK]
    each(looked_up)
    names = {parse_metric(text).name for text in metrics}
    notes = [note for text in metrics if (note := alias_note(text))]
    notes += [note for text in (*metrics, *suites) if (note := strictness_note(text))]
    chosen: list[str | Metric] = [
        *metrics,
        *(extra for extra in user_metrics if extra.name not in names),
    ]
    return chosen, list(suites) or ([QUICK] if quick and not metrics else []), notes


def metrics_defined(criteria: Sequence[str], questions: Sequence[str]) -> list[str]:
    """Text forms of metrics that a sentence defines: a criterion, or a question for yes or no."""
    from ragstone.metrics.rubrics import AspectVerdict, RubricScore

    if not all(sentence.strip() for sentence in (*criteria, *questions)):
        raise InputError("A criterion is empty. Say in a sentence what is to be judged.")
    rated = [str(RubricScore(definition=sentence)) for sentence in criteria]
    return [*rated, *(str(AspectVerdict(definition=sentence)) for sentence in questions)]
