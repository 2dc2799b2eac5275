"""Results: resolves the named metrics and prints the run, for ``evaluate`` and ``score``."""

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .output import print_notes, print_page

if TYPE_CHECKING:
    from ragstone.metrics import Metric
    from ragstone.run import Run


def load_own(files: Sequence[Path]) -> "list[Metric]":
    """Load the metrics from the user's own files; what these print is none of the results."""
    from ragstone.metrics import load_metrics

    with redirect_stdout(sys.stderr):
        return [metric for file in files for metric in load_metrics(file)]


def requested(
    metrics: Sequence[str], suites: Sequence[str], own: "Sequence[Metric]", *, quick: bool
) -> "tuple[list[str | Metric], list[str], list[str]]":
    """Metrics and suites, with deprecated names resolved.

    Metrics of the user's own files come with any others. With ``quick``, that
    suite stands in where neither a metric nor a suite is named.
    """
    from ragstone.core.errors import each
    from ragstone.metrics import QUICK, alias_note, parse_metric, strictness_note, suite_named

    looked_up: list[Callable[[], object]] = [partial(parse_metric, text) for text in metrics]
    looked_up += [partial(suite_named, text) for text in suites if text != QUICK]
    each(looked_up)
    named = {parse_metric(text).name for text in metrics}
    notes = [note for text in metrics if (note := alias_note(text))]
    notes += [note for text in (*metrics, *suites) if (note := strictness_note(text))]
    chosen: list[str | Metric] = [*metrics, *(one for one in own if one.name not in named)]
    return chosen, list(suites) or ([QUICK] if quick and not metrics else []), notes


def defined(criteria: Sequence[str], questions: Sequence[str]) -> list[str]:
    """Text forms of metrics that a sentence defines: a criterion, or a question for yes or no.

    Raises:
        InputError: A sentence is empty, which would mean another metric.
    """
    from ragstone.core.errors import InputError
    from ragstone.metrics.critique import AspectVerdict
    from ragstone.metrics.rating import RubricScore

    if not all(one.strip() for one in (*criteria, *questions)):
        raise InputError("A criterion is empty. Say in a sentence what is to be judged.")
    rated = [str(RubricScore(definition=one)) for one in criteria]
    return [*rated, *(str(AspectVerdict(definition=one)) for one in questions)]


def names_of(metrics: Sequence[str] | None) -> list[str]:
    """Text forms of metrics; adds a note for each deprecated name."""
    from ragstone.metrics import alias_note, parse_metric

    notes = {text: alias_note(text) for text in metrics or ()}
    print_notes(note for note in notes.values() if note)
    return [str(parse_metric(text)) if note else text for text, note in notes.items()]


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
