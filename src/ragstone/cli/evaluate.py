"""``ragstone evaluate DATA``: judge it, score it, and keep everything in a run folder."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import model_options as models
from .column_names import column_names
from .output import print_notes, print_page
from .progress import bar
from .results import (
    Bertscore,
    CrossEncoder,
    Embedder,
    MetricsFrom,
    Offline,
    finish,
    load_own,
    requested,
)

if TYPE_CHECKING:
    from ragstone.run import Live, Run

RUNS = Path("runs")


def evaluate(
    data: Annotated[
        str,
        typer.Argument(help="Examples: .jsonl, .json, .csv, .parquet, a TREC run, a data set's "
                       "folder, - for standard input. `ragstone formats` lists all."),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="A metric, such as faithfulness or ndcg(k=10); "
                     "repeat for more. `ragstone metrics` lists them."),
    ] = None,
    suite: Annotated[
        list[str] | None,
        typer.Option(help="A suite of metrics; repeat for more. Without one and without "
                     "--metric: quick, which is what the data and the judges allow."),
    ] = None,
    metrics_from: MetricsFrom = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(help="Who judges: local, human, human:FILE, nli:NAME, openai:MODEL, "
                     "anthropic:MODEL, gemini:MODEL, http://HOST/v1#MODEL; commas between models "
                     "make a panel; repeat for those who judge what the first left open. Without "
                     "it, labels in the data come first and local fills the rest."),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Also show results by this field, such as "
                     "question_type; system is always one."),
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(metavar="FIELD", help="Rows that share it are not independent; intervals "
                     "are made over its values."),
    ] = "question_id",
    out: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="The run folder. If it already holds a run with the same "
                     "data and settings, that run is resumed. Default: runs/ and the data's name."),
    ] = None,
    map: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD=COLUMN", help="Where a field stands if it is not "
                     "recognised: answer=my_column."),
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Relevance judgements of a TREC run.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave bad rows out and write them beside the run.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only the first N rows.")
    ] = None,
    citations: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="How an answer cites, if not by \\[1] or \\[doc-7]; the "
                     "first group is the context's id or rank."),
    ] = None,
    embedder: Embedder = None,
    cross_encoder: CrossEncoder = None,
    bertscore: Bertscore = "",
    offline: Offline = False,
    plan: models.Plan = "isolated",
    prompts: models.Prompts = None,
    language: models.Language = None,
    rubrics: models.Rubrics = None,
    dry_run: models.DryRun = False,
    budget: models.Budget = None,
    max_calls: models.MaxCalls = None,
    prices: models.Prices = None,
    timeout: models.Timeout = 120.0,
    concurrency: models.Concurrency = 64,
    rpm: models.Rpm = None,
    tpm: models.Tpm = None,
    cache: models.Cache = None,
    no_cache: models.NoCache = False,
    debug: models.Debug = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:  # fmt: skip
    """Judge DATA, score it, and keep everything in a run folder.

    Needs no key. The one thing it fetches unasked is builtin:minilm, once, for a
    metric named that compares embeddings. Exit status: 0 done, 2 bad input, 4 over
    a tenth of a metric's scores missing.
    """
    from ragstone.judges import MARKERS
    from ragstone.run import evaluate as run_evaluation

    columns = column_names(map or ())
    own = load_own(metrics_from or ())
    metrics, suites, notes = requested(metric or (), suite or (), own, quick=True)
    told = models.instructions(plan, prompts, language, rubrics)
    limits = models.limits(
        timeout=timeout,
        concurrency=concurrency,
        rpm=rpm,
        tpm=tpm,
        max_calls=max_calls,
        budget=budget,
        prices=prices,
        cache=cache,
        no_cache=no_cache,
    )
    request: dict[str, Any] = {
        "metrics": metrics,
        "suites": suites,
        "judge": tuple(judge or ()),
        "by": tuple(by or ()),
        "cluster": cluster,
        "columns": columns,
        "qrels": qrels,
        "skip_bad": skip_bad,
        "limit": limit,
        "citations": citations or MARKERS,
        "embedder": embedder,
        "cross_encoder": cross_encoder,
        "bertscore": bertscore,
        "offline": offline,
        "instructions": told,
        "limits": limits,
    }
    if dry_run:
        from ragstone.report.pages.forecast import forecast_page
        from ragstone.run.forecast import forecast

        expected = forecast(data, out=out, **request)
        print_notes(notes)
        print_page(forecast_page(expected), json=json)
        return

    def evaluated(folder: Path) -> "Run":
        with bar() as progress:
            shown: dict[str, Any] = {"debug": _print_example} if debug else {"progress": progress}
            return run_evaluation(data, out=folder, **request, **shown)

    run = evaluated(out) if out is not None else _in_free_folder(evaluated, RUNS / run_name(data))
    finish(run, notes, json=json)


def _print_example(block: "Live", example: str) -> None:
    """An example with its verdicts and the replies behind them, as soon as it is judged."""
    from ragstone.report import dossier, example_page, show

    show(example_page(dossier(block, example)), sys.stderr)


def run_name(data: str) -> str:
    """The data's name without its endings.

    >>> run_name("sets/answers.jsonl.gz"), run_name("sets/nq/")
    ('answers', 'nq')
    """
    path = Path("stdin" if data == "-" else data)
    name = (path.name or path.resolve().name).removesuffix(".gz").strip(". ")
    return name.rsplit(".", 1)[0] or "run"


def _in_free_folder(evaluated: "Callable[[Path], Run]", folder: Path) -> "Run":
    """The first of NAME, NAME-2, … that is not a run of other data or settings."""
    from ragstone.errors import RunConflict

    name, number = folder.name, 1
    while True:
        try:
            run = evaluated(folder)
        except RunConflict:
            number += 1
            folder = folder.with_name(f"{name}-{number}")
        else:
            if number > 1:
                print_notes([f"{name} is a run of other data or settings; this one is {folder}."])
            return run
