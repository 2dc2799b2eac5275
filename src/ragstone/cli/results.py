"""Results: resolves the named metrics and prints the run, for ``evaluate`` and ``score``."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from .output import print_notes, print_page

if TYPE_CHECKING:
    from ragstone.metrics import Metric
    from ragstone.run import Run
    from ragstone.run.forms import Data


def load_own(files: Sequence[Path]) -> "list[Metric]":
    """Load the metrics from the user's own files."""
    from ragstone.metrics import load_metrics

    return [metric for file in files for metric in load_metrics(file)]


def requested(
    metrics: Sequence[str], suites: Sequence[str], own: "Sequence[Metric]", *, quick: bool
) -> "tuple[list[str | Metric], list[str], list[str]]":
    """Metrics and suites, with deprecated names resolved.

    Metrics of the user's own files come with any others. With ``quick``, that
    suite stands in where neither a metric nor a suite is named.
    """
    from ragstone.errors import each
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
    from ragstone.errors import InputError
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
    print_run(run, [*notes, *_notes(run)], full=full, pooled=pooled, json=json)
    raise typer.Exit(run.exit_status)


def print_run(
    run: "Run", notes: Sequence[str], *, full: bool, pooled: bool = False, json: bool
) -> None:
    """Print the page of a run, in short or in full."""
    from ragstone.decisions.summing_up.summary import summarise
    from ragstone.report.pages.run import run_page
    from ragstone.report.pages.run_in_full import full_page

    summary = summarise(run)
    if full:
        print_page(full_page(run, notes, summary, pooled=pooled), json=json)
    else:
        print_page(run_page(run, summary, notes, pooled=pooled), json=json)


def _notes(run: "Run") -> Iterator[str]:
    from ragstone.run.remarks import of_sizes

    yield from notes_on_data(run.form.data, run.path)
    yield from run.form.remarks
    yield from of_sizes(run.estimate_list, run.form.cluster)
    yield from _outside(run)
    for metric, (count, possible) in run.too_much_missing.items():
        yield f"{metric}: {count:,} of {possible:,} scores are missing."


def _outside(run: "Run") -> Iterator[str]:
    """Values that a metric gave and its range excludes: what is left makes another mean."""
    for one in run.estimate_list:
        if not one.group and (count := one.reasons.get("out_of_range", 0)):
            lie = "score lies" if count == 1 else "scores lie"
            yield (
                f"{one.metric}: {count:,} {lie} outside of the metric's range, so missing. A "
                "metric of your own has its range in @metric(…, range=Range(0, 100))."
            )


def notes_on_data(data: "Data", run: Path) -> Iterator[str]:
    """What of the data was left out, is wrong or is undecided, and where it lies in the run."""
    from ragstone.examples.labels import RULES

    if rejected := data.rejected:
        lie = "lies" if rejected == 1 else "lie"
        yield (
            f"{rejected:,} bad {_rows(rejected)} left out and {lie} in {run}/rejected.jsonl. "
            f"The first: {data.rejected_for[0]}."
        )
    broken = data.label_violations
    if count := sum(broken[rule] for rule in broken if RULES[rule].severity == "block"):
        yield (
            f"{count:,} {'label of a person breaks' if count == 1 else 'labels of people break'} "
            f"a hard rule, scored as given: {run}/label_violations.jsonl."
        )
    if ties := data.label_ties:
        stay = "label stays" if ties == 1 else "labels stay"
        yield f"{ties:,} {stay} open, for annotators are split: {run}/label_ties.jsonl."
    if unknown := data.labels_of_nothing:
        yield f"label files name examples that are not there, such as {', '.join(unknown)}."


def _rows(count: int) -> str:
    return "row was" if count == 1 else "rows were"
