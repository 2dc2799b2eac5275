"""Worst: the examples with the lowest scores on each metric, to look at first."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from .failing import FailingExample
from .figures import number, scale_of, shortened
from .page import OutlineItem, Phrase, quiet, strong
from .ranked import RankedExample
from .stored import StoredRun

SHOWN = 3
QUESTION, ANSWER = 160, 240


@dataclass(frozen=True, slots=True)
class WorstExample:
    """An example that could be better, with its score under a metric."""

    example_id: str
    system: str
    value: float
    label: str | None
    question: str | None
    answer: str | None


def worst(
    run: StoredRun, *, metrics: Sequence[str] = (), limit: int = SHOWN
) -> dict[str, list[WorstExample]]:
    """The worst examples of each metric, the very worst first, ties in the order of the data.

    Only examples with a value that could be better are listed. A metric without a better
    direction is left out unless it is named; then its highest values come first.
    """
    better = {one.metric: one.better for one in run.estimate_list}
    chosen = [name for name in better if name in metrics or (not metrics and better[name] != "0")]
    scores = run.scores().filter(pl.col("status").cast(pl.String) == "value")
    texts = run.examples(["id", "question", "answer"])
    found: dict[str, list[WorstExample]] = {}
    for name in chosen:
        scale, value = scale_of(name), pl.col("value")
        rows = scores.filter(pl.col("metric").cast(pl.String) == name)
        if scale is not None and better[name] != "0":
            end = scale.high if better[name] == "+" else scale.low
            rows = rows.filter(value < end if better[name] == "+" else value > end)
        rows = rows.sort("value", descending=better[name] != "+", maintain_order=True).head(limit)
        rows = rows.join(
            texts, left_on="example_id", right_on="id", how="left", maintain_order="left"
        )
        columns = WorstExample.__dataclass_fields__
        found[name] = [WorstExample(*row) for row in rows.select(*columns).iter_rows()]
    return found


def example_item(
    one: FailingExample | WorstExample,
    *,
    label: str | None = None,
    system: str = "",
    reasons: Sequence[str] = (),
) -> OutlineItem:
    """An example with its score, question, answer and the reasons for a low score."""
    after = (quiet(f"  {system}"),) if system else ()
    return OutlineItem(
        (
            strong(number(one.value)),
            f" {label}" if label else "",
            "  ",
            Phrase(one.example_id, "name"),
            *after,
        ),
        texts_of(one, reasons),
    )


def texts_of(
    one: FailingExample | WorstExample | RankedExample, reasons: Sequence[str]
) -> tuple[OutlineItem, ...]:
    """Its question, its answer and the reasons, cut to a few lines."""
    said = (OutlineItem(Phrase(reason, "caution"), lead="–") for reason in reasons)
    return (*question_and_answer(one.question, one.answer), *said)


def question_and_answer(question: str | None, answer: str | None) -> tuple[OutlineItem, ...]:
    """Both, cut to a few lines."""
    return (
        OutlineItem(Phrase(shortened(question, QUESTION), "text"), lead="Q"),
        OutlineItem(Phrase(shortened(answer, ANSWER), "text"), lead="A"),
    )
