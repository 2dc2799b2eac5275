"""Sample items: the examples of a sample as a queue holds them, with what is labelled of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragstone.examples import Example, from_frame
from ragstone.examples.labels import FIELDS, Unit
from ragstone.labels.queue.form import AskedLabel, ItemPart, QueueItem
from ragstone.run import Run

from .asked_labels import UNITS, texts_shown
from .draw import Sample

Propositions = Mapping[Unit, Mapping[str, Sequence[tuple[str, str]]]]


def sample_items(sample: Sample, run: Run, asked: Sequence[AskedLabel]) -> Iterator[QueueItem]:
    """The examples of a sample in its order, whose systems and verdicts are not in them.

    Args:
        sample: Drawn from the run.
        run: Whose examples, claims and statements are shown.
        asked: From ``labels_asked``.
    """
    run = run.without_overrules()
    there = run.examples(where=pl.col("id").is_in(sample.rows["example_id"].implode()))
    examples = {one.id: one for one in from_frame(there)}
    units = {one.unit for one in asked}
    propositions = {unit: _texts(run, FIELDS[unit]) for unit in UNITS[2:] if unit in units}
    seen = texts_shown(asked)
    drawn = sample.rows.select("example_id", "inclusion_probability")
    for number, (id, probability) in enumerate(drawn.iter_rows()):
        yield _item(number, examples[id], asked, propositions, seen, probability)


def _item(
    number: int,
    example: Example,
    asked: Sequence[AskedLabel],
    propositions: Propositions,
    seen: set[str],
    probability: float | None,
) -> QueueItem:
    """What a person has to read of an example, and its parts that are labelled."""
    contexts = example.contexts or ()
    texts: dict[str, Any] = {
        "question": example.question,
        "history": [{"role": turn.role, "text": turn.text} for turn in example.history],
        "policy": example.policy,
        "answer": example.answer,
        "reference": list(example.reference),
        "contexts": [{"name": str(one.rank), "text": one.text or one.id} for one in contexts],
    }
    shown = {
        name: text
        for name, text in texts.items()
        if text and (name in seen or (name == "history" and "question" in seen))
    }
    units = {one.unit for one in asked}
    parts = [ItemPart("answer")] if "answer" in units else []
    if "context" in units:
        parts += [ItemPart("context", str(one.rank), one.text or "") for one in contexts]
    for unit in UNITS[2:]:
        if unit in units:
            parts += [ItemPart(unit, *one) for one in propositions[unit].get(example.id, ())]
    return QueueItem(number, example.id, shown, tuple(parts), probability)


def _texts(run: Run, kind: str) -> dict[str, list[tuple[str, str]]]:
    """Number and text of the claims or statements of each example, of the judge who spoke first."""
    rows = run.judgements(kind)
    if "reference" in rows.columns:
        rows = rows.filter(pl.col("reference") == 0)
    rows = rows.unique(["example_id", "index"], keep="first", maintain_order=True).sort(
        "example_id", "index", maintain_order=True
    )
    found: dict[str, list[tuple[str, str]]] = {}
    for id, index, text in rows.select("example_id", "index", "text").iter_rows():
        found.setdefault(id, []).append((str(index + 1), text))
    return found
