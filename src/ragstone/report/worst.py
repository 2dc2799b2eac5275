"""Worst: for each metric the examples it scores lowest, where to begin looking."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from rich.console import Group, RenderableType
from rich.text import Text

from .facts import DIM, HEAD, Paragraph
from .figures import ARROWS, number, scale_of
from .groups import Groups, by_metric
from .page import Item, Said, strong
from .run_page import header
from .stored import Stored

if TYPE_CHECKING:
    from .failing import FailingExample

SHOWN = 3
QUESTION, ANSWER = 160, 240


def worst(
    run: Stored, *, metrics: Sequence[str] = (), limit: int = SHOWN
) -> dict[str, list[dict[str, Any]]]:
    """The worst examples of each metric, the very worst first, ties in the order of the data.

    Only examples with a value that could be better. A metric of which neither
    end is better is left out unless it is named; then its highest come first.
    """
    better = {one.metric: one.better for one in run.estimate_list}
    chosen = [name for name in better if name in metrics or (not metrics and better[name] != "0")]
    scores = run.scores().filter(pl.col("status").cast(pl.String) == "value")
    texts = run.examples().select("id", "question", "answer")
    found: dict[str, list[dict[str, Any]]] = {}
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
        columns = ("example_id", "system", "value", "label", "question", "answer")
        found[name] = rows.select(columns).to_dicts()
    return found


def summary(run: Stored, *, metrics: Sequence[str] = (), limit: int = SHOWN) -> RenderableType:
    """The header of the run, then the worst examples of each metric with question and answer."""
    parts: list[RenderableType] = [header(run, Groups(run.estimate_list)), Text()]
    arrows = {name: ARROWS[ones[0].better] for name, ones in by_metric(run.estimate_list).items()}
    for name, rows in worst(run, metrics=metrics, limit=limit).items():
        parts.append(Text.assemble((name, HEAD), (f" {arrows[name]}", DIM)))
        if not rows:
            parts.append(Paragraph(Text("no example could be better", DIM), 2))
        for row in rows:
            label = f" {row['label']}" if row["label"] else ""
            parts.append(
                Paragraph(
                    Text.assemble(
                        (number(row["value"]), HEAD), label, "  ", (row["example_id"], "cyan"),
                        (f"  {row['system']}", DIM),
                    ),
                    2,
                )
            )  # fmt: skip
            parts.append(Paragraph(Text(f"Q  {shortened(row['question'], QUESTION)}"), 4, 3))
            parts.append(Paragraph(Text(f"A  {shortened(row['answer'], ANSWER)}"), 4, 3))
        parts.append(Text())
    if run.path is not None:
        parts.append(Text(f"One of them in full: ragstone show {run.path} EXAMPLE", DIM))
    return Group(*parts)


def example_item(one: "FailingExample") -> Item:
    """An example with its score, question, answer and what is held against it."""
    return Item(
        (strong(number(one.value)), "  ", Said(one.example_id, "name")),
        (
            Item(shortened(one.question, QUESTION), lead="Q"),
            Item(shortened(one.answer, ANSWER), lead="A"),
            *(Item(Said(reason, "caution"), lead="–") for reason in one.reasons),
        ),
    )


def shortened(text: str | None, length: int) -> str:
    """One line of at most ``length`` characters; a dash where there is no text."""
    if text is None:
        return "–"
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"
