"""Command-line output: results, notes, failures, progress, confirmations and help.

Results go to standard output, everything else to standard error. Bad input never shows a
traceback. The help is plain text, because Rich takes longer to import than everything else that
help needs.
"""

import functools
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from ragstone.core.errors import RagstoneError
from ragstone.core.escape import json_text, visible
from ragstone.core.messages import in_shell, renamed, throughout

if TYPE_CHECKING:
    from ragstone.report.page import Page
    from ragstone.run import Counts, Progress, Run
    from ragstone.web.security import Served


def print_page(page: "Page", *, json: bool) -> None:
    """Print the page, or its record as JSON; its notes go to standard error."""
    if json:
        print_json(page.record())
    else:
        from ragstone.report import show

        show(page)
    print_notes(page.notes)


def print_json(value: object) -> None:
    """Print one JSON value; NaN is not allowed."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    ascii_only = not encoding.startswith("utf")
    content = throughout(value, in_shell)
    text = json.dumps(content, indent=2, ensure_ascii=ascii_only, allow_nan=False, default=str)
    typer.echo(json_text(text))


def print_notes(notes: Iterable[str]) -> None:
    """Print notes on the results to standard error."""
    from ragstone.report.reason_words import words

    for note in notes:
        say(f"note: {words(note)}", err=True)


def say(words: str, *, err: bool = False) -> None:
    """Print text, with what comes from the data escaped for a terminal."""
    typer.echo(visible(in_shell(words)), err=err)


def say_address(served: "Served", words: str) -> None:
    """Print where a server is, what apps send with, and whether others may read it."""
    say(f"{words} {served.owner}")
    if served.send_token:
        say(f"Apps send to {served.others} with the token {served.send_token}")
    warn_of_network(served)


def warn_of_network(served: "Served") -> None:
    """Say that nothing is encrypted, if others may read it."""
    if not served.encrypted:
        say(
            "What goes over the network is not encrypted: whoever can listen there reads texts and "
            "tokens. Use --certfile, or a proxy that encrypts (docs/network.md).",
            err=True,
        )


BAD_INPUT, BUG, INTERRUPTED, BROKEN_PIPE = 2, 70, 130, 141

Given = ParamSpec("Given")
Result = TypeVar("Result")


def guarded(command: Callable[Given, Result]) -> Callable[Given, Result]:
    """The command, with every failure turned into words and an exit status."""

    @functools.wraps(command)
    def run(*args: Given.args, **options: Given.kwargs) -> Result:
        try:
            try:
                return command(*args, **options)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()
        except RagstoneError as error:
            fail(in_shell(error.text), BAD_INPUT)
        except KeyboardInterrupt:
            fail(
                "Interrupted. A run keeps what it has done: run the same command again to resume.",
                INTERRUPTED,
            )
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None
        except OSError as error:
            reason = error.strerror or str(error)
            if error.filename:
                reason = f"{error.filename}: {reason}. Name another one, or change its permissions."
            fail(reason, BAD_INPUT)
        except (typer.Exit, typer.BadParameter):
            raise
        except Exception as error:
            if os.environ.get("RAGSTONE_DEBUG") == "1":
                raise
            fail(bug(error), BUG)

    return run


def fail(words: str, status: int) -> NoReturn:
    """Say why on standard error, and end."""
    say(words, err=True)
    raise typer.Exit(status)


def bug(error: Exception) -> str:
    """One line for what should not happen: what, where, and how to see more."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    message = " ".join(str(error).split())
    return (
        f"This is a bug in Ragstone, please report it: {type(error).__name__} in {where}"
        f"{f': {message}' if message else ''}  (RAGSTONE_DEBUG=1 shows the traceback)"
    )


@contextmanager
def bar(noun: str = "rows") -> Iterator["Callable[[Progress], None] | None"]:
    """The callback for each step; None if the bar would not be visible."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    from ragstone.report import terminal

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn(f"{{task.fields[examples]:,}} {noun}{{task.fields[more]}}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=terminal(sys.stderr), transient=True) as progress_bar:
        task = progress_bar.add_task("reading", total=None, examples=0, more="")

        stage = "reading"

        def step(progress: "Progress") -> None:
            nonlocal stage
            if progress.stage != stage:
                stage = progress.stage
                progress_bar.reset(task)
            progress_bar.update(
                task,
                description=progress.stage,
                examples=progress.examples,
                more=_workers(progress.workers) + _calls(progress.calls),
                completed=progress.fraction or 0.0,
                total=None if progress.fraction is None else 1.0,
            )

        yield step


def _workers(workers: int | None) -> str:
    return "" if workers is None else f", {workers:,} worker{'' if workers == 1 else 's'}"


def _calls(counts: "Counts | None") -> str:
    if counts is None:
        return ""
    parts = [f"{counts.calls:,} calls", f"{counts.in_flight:,} in flight"]
    if counts.from_journal + counts.from_cache:
        parts.append(f"{counts.from_journal + counts.from_cache:,} known")
    if counts.rate_limits:
        parts.append(f"{counts.rate_limits:,} × 429")
    if counts.failed:
        parts.append(f"{counts.failed:,} failed")
    if counts.usd is not None:
        parts.append(f"${counts.usd:,.4f}" if counts.usd < 1 else f"${counts.usd:,.2f}")
    return ", " + ", ".join(parts)


def agreed(question: str, *, yes: bool, json: bool = False) -> bool:
    """Return whether to go on: ``--yes`` said so, or somebody says so now.

    Who reads JSON is not asked, and where nobody answers nothing is agreed to.
    """
    if yes:
        return True
    if json:
        say("With --json nobody is asked: --yes agrees to it.", err=True)
        return False
    try:
        return typer.confirm(question, err=True)
    except typer.Abort as error:
        say("", err=True)
        if isinstance(error.__context__, KeyboardInterrupt):
            fail("Interrupted. Nothing was done.", INTERRUPTED)
        say("Not agreed to: no answer came. --yes agrees without being asked.", err=True)
        return False


# Commands and options that had another name, which still works.
RENAMED = {"forget": "erase", "overrule": "correct", "--without-overrules": "--without-corrections"}


class Related:
    """A command whose help ends with the other commands of its panel."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Name the other commands under the same heading."""
        siblings = ctx.parent.command.commands if ctx.parent else {}
        panel = ctx.command.rich_help_panel
        names = [
            name
            for name, command in siblings.items()
            if panel and command.rich_help_panel == panel and command is not ctx.command
        ]
        if names:
            formatter.write_paragraph()
            formatter.write_text(f"See also: {', '.join(names)}")


class Grouped(Related, TyperGroup):
    """Commands under the heading of their panel, in plain text."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Take old names for the new ones, with a note."""
        name, *rest = args
        if name not in self.commands and RENAMED.get(name) in self.commands:
            old, name = name, RENAMED[name]
            say(renamed(f"{ctx.command_path} {old}", f"{ctx.command_path} {name}"), err=True)
        for at, option in enumerate(rest):
            if option.startswith("--") and option in RENAMED:
                say(renamed(option, RENAMED[option]), err=True)
                rest[at] = RENAMED[option]
        return super().resolve_command(ctx, [name, *rest])

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """A section for each panel, in the order of the commands; no sentence is cut."""
        panels: dict[str, list[tuple[str, str]]] = {}
        commands: Mapping[str, Any] = self.commands
        for name, command in commands.items():
            first_sentence = command.get_short_help_str(sys.maxsize)
            panel = command.rich_help_panel or "Commands"
            panels.setdefault(panel, []).append((name, first_sentence))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


def group(kind: type[Grouped], help: str = "", **options: Any) -> typer.Typer:
    """Return an empty group of commands, with the help in plain text."""
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    return typer.Typer(
        cls=kind, help=help or None, rich_markup_mode=None, no_args_is_help=True,
        context_settings=settings, **options,
    )  # fmt: skip


class Start(Grouped):
    """All commands, with the options of the program in one line."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        names = [name for option in self.get_params(ctx) for name in option.opts]
        formatter.write_paragraph()
        formatter.write_text(f"Options: {', '.join(names)}")


class Paneled(Related, TyperCommand):
    """A command whose help has a section for each panel of its options.

    Where some options are left out, of the others only the first sentence is shown.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each panel, in the order of the options."""
        panels: dict[str, list[tuple[str, str]]] = {}
        is_brief = any(getattr(option, "hidden", False) for option in self.params)
        for option in self.get_params(ctx):
            if row := option.get_help_record(ctx):
                row = (row[0], f"{row[1].split('. ')[0].rstrip('.')}.") if is_brief else row
                is_argument = option.param_type_name == "argument"
                usual = "Arguments" if is_argument else "Options"
                panels.setdefault(getattr(option, "rich_help_panel", None) or usual, []).append(row)
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


class SourceFirst(Grouped):
    """Commands of which the first stands for a source: ``annotate RUN`` is ``annotate new RUN``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the name of the first command where none is named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


def finish(run: "Run", notes: Sequence[str], *, full: bool, pooled: bool, json: bool) -> None:
    """Print the run, its notes on standard error, and end with its exit status."""
    from ragstone.report.run_notes import run_notes

    print_run(run, [*notes, *run_notes(run)], full=full, pooled=pooled, json=json)
    raise typer.Exit(run.exit_status)


def print_run(
    run: "Run", notes: Sequence[str], *, full: bool, pooled: bool = False, json: bool
) -> None:
    """Print the page of a run, in short or in full."""
    from ragstone.analysis.summaries.run_summary import summarise
    from ragstone.report.pages.full_run_page import full_page
    from ragstone.report.pages.runs_page import run_page

    summary = summarise(run)
    if full:
        print_page(full_page(run, notes, summary, pooled=pooled), json=json)
    else:
        print_page(run_page(run, summary, notes, pooled=pooled), json=json)
