"""Run commands: list, show, view, report and export runs, and follow their batches."""

import shlex
import sys
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from ragstone.core.errors import BatchesWaiting, InputError
from ragstone.core.escape import visible
from ragstone.core.messages import in_shell

from . import options
from .options import load_user_metrics
from .output import bar, print_notes, print_page, print_run, say, say_address

if TYPE_CHECKING:
    from ragstone.report.run_contents import FileFormat
    from ragstone.run import Run
    from ragstone.web.security import ServerAddress


def runs(folder: Path = Path("runs"), *, json: bool = False) -> None:
    """List the runs in DIR, the newest first.

    Every command that takes a RUN also takes the word latest: the newest finished run
    in runs/.

    Exit status: 0 done, 2 no such folder.

    Args:
        folder ([DIR]): A folder with runs in it.
    """
    from ragstone.report.pages.runs_page import runs_page
    from ragstone.run.folder.run_list import runs_in

    print_page(runs_page(folder, runs_in(folder)), json=json)


def show(
    run: options.RunFolder,
    example: str | None = None,
    *,
    metric: list[str] | None = None,
    limit: Annotated[int | None, {"min": 1}] = None,
    prompts: bool = False,
    failures: bool = False,
    conversations: bool = False,
    bar: float | None = None,
    by: list[str] | None = None,
    without_corrections: bool = False,
    stage: str | None = None,
    metrics_from: list[Path] | None = None,
    full: bool = False,
    json: bool = False,
) -> None:
    """Show the worst examples in RUN, or one EXAMPLE in full.

    The worst over all its metrics, each with the claims, statements or contexts that made it bad,
    and why. With --metric: the worst examples of that metric. With --failures: the failure
    waterfall. With --conversations: whole sessions. For one example: its claims, verdicts,
    evidence, reasons and scores, and each question to a model with its replies and their cost.

    Exit status: 0 done, 2 no such run, example or metric.

    Args:
        example: Id of an example to show in full.
        metric (-m): Show the worst examples of this metric; repeatable.
        limit (N): Number of examples. Default: 5; 3 per --metric.
        prompts (--with-prompts): With EXAMPLE: also show the prompts that models received.
        failures: Show at which stage of the pipeline answers that fell short first went wrong.
        conversations: Show the worst turn, the mean of the turns and the share resolved of whole
            sessions.
        bar (SCORE): With --conversations and --metric: a conversation is resolved if its last turn
            is answered and its score is not worse than this.
        by (FIELD): With --failures: field to slice by; repeatable.
        stage (STAGE): With --failures: list the answers that failed at this stage first, such as
            not_used.
    """
    from ragstone import report
    from ragstone.analysis.scored_run import metric_among
    from ragstone.report.run_notes import run_notes

    load_user_metrics(metrics_from or ())
    opened = options.read_run(run, without_corrections=without_corrections)
    if example is not None:
        whole = report.dossier(opened, example)
        print_page(report.example_page(whole, prompts=prompts), json=json)
        return
    if (by or stage) and not failures:
        raise typer.BadParameter("--by and --stage go with --failures.")
    if bar is not None and not conversations:
        raise typer.BadParameter("--bar goes with --conversations.")
    if conversations:
        from ragstone import analysis
        from ragstone.report.pages.conversations_page import conversations_page

        sessions = analysis.conversations(opened, metrics=metric or (), bar=bar)
        print_page(conversations_page(sessions, limit=limit), json=json)
        return
    if failures:
        from ragstone import analysis
        from ragstone.report.pages.failures_page import failures_page, stage_page

        faults = analysis.failures(opened, by=by or ())
        if stage is None:
            print_page(failures_page(faults), json=json)
        else:
            print_page(stage_page(opened, faults, stage, limit=limit), json=json)
        return
    notes = tuple(run_notes(opened))
    if full:
        print_run(opened, notes, full=True, json=json)
        return
    scored = list(dict.fromkeys(estimate.metric for estimate in opened.estimate_list))
    chosen = [metric_among(name, scored, "metric of this run", run=run) for name in metric or ()]
    page = report.worst_page(opened, metrics=chosen, limit=limit)
    print_page(replace(page, notes=notes), json=json)


@options.with_server(8421)
def view(
    folder: Path = Path("runs"),
    *,
    no_browser: bool = False,
    labels: str = "",
    static: Path | None = None,
    at: "ServerAddress",
) -> None:
    """Show the runs in DIR in a browser.

    Compare them, see where they fail, open an example. Everything stays on this
    machine; Ctrl+C ends it. The printed address holds a token, so that nobody else on this machine
    can open it.

    With --static: each run with its comparisons, its report and its examples, or the 1,000 worst
    of more than 5,000. The files need no server. Answers can be sorted and filtered; nothing can be
    changed.

    Exit status: 0 stopped or written, 2 no such folder or store, or the port is taken.

    Args:
        folder ([DIR]): A folder with runs in it, or one run.
        no_browser: Only print the address.
        labels (STORE): Store of human labels, if it is not labels.sqlite in DIR: a file, or an
            address postgresql://…
        static (DIR): Folder for the app as files, to be opened from the disk, instead of a server.
    """
    if static is not None:
        from ragstone.run import Progress
        from ragstone.web.static_site import write_static

        with bar("pages") as step:
            site = write_static(
                folder,
                static,
                progress=step and (lambda n, of: step(Progress("writing", n, n / of))),
            )
        say(f"Wrote {site.pages:,} pages ({site.size / 1e6:,.1f} MB). Open {site.start}")
        for line in site.left_out:
            say(line)
        return
    from ragstone.web import entry_points

    entry_points.view(
        folder,
        labels=labels,
        at=at,
        browser=not no_browser,
        told=lambda served: say_address(served, "Ragstone is at"),
    )


def report(
    run: options.RunFolder,
    other: options.OtherRun = None,
    *,
    out: Path | None = None,
    baseline: str | None = None,
    margin: float | None = None,
    charts: Path | None = None,
    png: bool = False,
    without_corrections: bool = False,
    metrics_from: list[Path] | None = None,
) -> None:
    """Write what RUN found as one HTML file that opens anywhere.

    It loads nothing. It has the verdict, every estimate, the comparison of the systems or of two
    runs, slices, where answers go wrong, the worst ones with the reasons, all answers with filters,
    and how it was measured. It takes at most 1.5 MB, and says what it leaves out.

    Exit status: 0 done, 2 no such run or system.

    Args:
        other ([RUN_B]): A second run that RUN is compared with.
        out (FILE): The HTML file. Default: the name of RUN, here.
        charts (DIR): Folder for each figure as an SVG file, instead of the report; with --out both
            are written.
        png: With --charts: write PNG files too. Needs the extra png.
    """
    if png and charts is None:
        raise typer.BadParameter("--png goes with --charts.")
    load_user_metrics(metrics_from or ())
    opened = options.read_run(run, without_corrections=without_corrections)
    second = other and options.read_run(other, without_corrections=without_corrections)
    if charts is not None:
        from ragstone.report.chart_files import write_charts

        files = write_charts(opened, charts, second, baseline=baseline, margin=margin, png=png)
        say(f"Wrote {len(files):,} files into {charts}.")
        if out is None:
            return
    from ragstone.web.entry_points import write_report

    written = write_report(
        opened, out or Path(f"{run.resolve().name}.html"), second, baseline=baseline, margin=margin
    )
    say(f"Wrote {written.path} ({written.size / 1000:,.0f} kB).")
    for line in written.left_out:
        say(line)


As = Literal[
    "csv",
    "jsonl",
    "parquet",
    "graphrag",
    "embedding",
    "taxonomy",
    "triad",
    "ragas",
    "rubric",
    "inspectorraget",
    "every-eval-ever",
]

SCORES = "scores"
FILES: "dict[As, FileFormat]" = {"csv": "csv", "jsonl": "jsonl", "parquet": "parquet"}


def export(
    run: options.RunFolder,
    *,
    to: As | None = None,
    what: str = SCORES,
    out: Path | None = None,
    without_corrections: bool = False,
    metrics_from: list[Path] | None = None,
) -> None:
    """Export tables of RUN, or RUN as the report of another tool.

    Tables are its scores, estimates, judgements and examples. An undefined or missing value becomes
    an empty cell, never 0.

    Args:
        to (--as): File format; or the suite whose report is wanted: CSV files with the columns of
            the tool that the suite is named after; or the tool that opens it. Default: the format
            that FILE ends with, csv without one or with .txt.
        what: scores, estimates, judgements:KIND or examples.
        out (FILE): Output file; for a report, a folder for all its files, or FILE.csv for the
            first. Default: standard output, of a report the first file.
    """
    from ragstone.core.files import result_lines, write_result
    from ragstone.report.run_contents import exported

    to = to or _format_of(out)
    if to == "parquet" and out is None and sys.stdout.isatty():
        raise InputError("Parquet cannot be printed to a terminal. Name a file with --out.")
    if to not in FILES and what != SCORES:
        raise InputError(
            f"--what names a table of the run, for {', '.join(FILES)}; the report of {to} has its "
            "own tables."
        )
    load_user_metrics(metrics_from or ())
    opened = options.read_run(run, without_corrections=without_corrections)
    if to not in FILES:
        write_as(opened, to, out)
        return
    parts = exported(opened, what, FILES[to])
    if out is None:
        for part in parts:
            _print(part)
        return
    if to == "parquet":
        write_result(out, b"".join(parts), private=True)
    else:
        with result_lines(out) as write:
            for part in filter(None, parts):
                write(part.decode().removesuffix("\n"))
    print_notes([f"written to {out}."])


def _format_of(file: Path | None) -> As:
    ending = "" if file is None else file.suffix.removeprefix(".").lower()
    if ending not in ("", "txt", *FILES):
        raise InputError(
            f"A table is not written as .{ending}. Let --out end with .csv, .jsonl or .parquet, or "
            "name the format with --as."
        )
    return next((name for name in FILES if name == ending), "csv")


def write_as(run: "Run", suite: str, out: Path | None, repeated: Collection[str] = ()) -> None:
    """Write the run as the report of a tool; print its first file if ``out`` is None.

    Notes in ``repeated`` were printed before and are left out.
    """
    from ragstone.report.layouts import report_as, write_report

    report = report_as(run, suite)
    notes = [note for note in report.notes if note not in repeated]
    if out is None:
        _print(report.files[0].content)
        print_notes(notes)
    else:
        written = write_report(report, out)
        print_notes([*notes, f"written to {', '.join(map(str, written))}."])


def _print(content: bytes) -> None:
    if sys.stdout.isatty():
        content = visible(content.decode()).encode()
    sys.stdout.buffer.write(content)


# The exit status of a run that waits for batches.
WAITING = 5


def batches(
    run: options.RunFolder, *, as_known: bool = False, forget: str | None = None, json: bool = False
) -> None:
    """List the batches of RUN, how far each is, and how to go on.

    The keys of the providers are read from the environment.

    Exit status: 0 done, 2 no batches there.

    Args:
        as_known: Ask no provider: show what was last known.
        forget (ID): Give up a batch that cannot be read any more, such as one that was deleted: its
            questions are asked, and paid for, again.
    """
    from ragstone.report.pages.runs_page import batches_page
    from ragstone.run.batches import batch_follower

    print_page(
        batches_page(batch_follower.batches(run, ask=not as_known, forget=forget)), json=json
    )


def end_waiting(waiting: "BatchesWaiting", *, json: bool) -> NoReturn:
    """Print what a run waits for and the command that goes on, and end with status 5."""
    from ragstone.report.pages.runs_page import batches_page
    from ragstone.run.batches import batch_follower

    batch_follower.keep_command(waiting.folder, typed())
    if not json:
        say(in_shell(waiting.text), err=True)
    print_page(batches_page(batch_follower.batches(waiting.folder, ask=False)), json=json)
    raise typer.Exit(WAITING)


def typed() -> str:
    """The command as it was typed, to be pasted into a shell; queries may be signatures."""
    name = Path(sys.argv[0]).name
    start = [sys.executable, "-m", "ragstone"] if name == "__main__.py" else ["ragstone"]
    return shlex.join([*start, *map(without_query, sys.argv[1:])])


def without_query(word: str) -> str:
    """A word of a command, a URL of data without its query, which may hold a signature.

    What stands behind the ``#`` of a judge are its settings.

    >>> without_query("https://host/rows.jsonl?sig=1"), without_query("http://host/v1#m?top_p=1")
    ('https://host/rows.jsonl?…', 'http://host/v1#m?top_p=1')
    """
    scheme, url, rest = word.partition("://")
    path, query, _ = rest.partition("?")
    return f"{scheme}{url}{path}?…" if query and "#" not in path else word
