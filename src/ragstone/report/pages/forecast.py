"""Forecast page: the requests a run would send, as ``ragstone evaluate --dry-run`` prints it."""

from ragstone.report.calls import cost
from ragstone.report.page import (
    Cell,
    Count,
    Heading,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    quiet,
    section,
    table,
)
from ragstone.report.words import words
from ragstone.run.forecast import Forecast, TaskForecast


def forecast_page(found: Forecast) -> Page:
    """Calls, tokens and cost by judge and task, and in total."""
    total = found.total
    rows = [
        Row((RowName(judge), RowName(task), *_numbers(one, strong=False)))
        for (judge, task), one in found.tasks.items()
    ]
    rows.append(Row((RowName("all", strong=True), RowName(""), *_numbers(total, strong=True))))
    heads = ("calls", "answered\nbefore", "tokens\nsent", "tokens\nreceived", "cost")
    columns = (Heading("judge", key=True), Heading("task"), *(Heading(head) for head in heads))
    each = total.calls / found.examples if found.examples else 0.0
    sentence = (
        f"{found.examples:,} examples, {each:.1f} calls each. Nothing was sent. Tokens are taken "
        "as four characters, and reply lengths are a guess; retries and a server's cache "
        "discounts are not counted."
    )
    notes = Paragraphs((quiet(sentence), *(quiet(words(note)) for note in found.notes)))
    return Page("forecast", "", (section(table(columns, rows), notes),), record=found.to_dict)


def _numbers(one: TaskForecast, *, strong: bool) -> list[Cell]:
    counts = (one.calls, one.known, one.prompt, one.completion)
    cells: list[Cell] = [Count(count, strong=strong) for count in counts]
    return [*cells, Phrase(cost(one.usd) if one.calls else "–", strong=strong)]
