"""Example items: what people read of an example, and its parts that are labelled."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from ragstone.data import Example, from_frame
from ragstone.data.record_labels import FIELDS, Unit
from ragstone.labels.queue.form import AskedLabel, ItemPart, QueueItem
from ragstone.run import Run

from .asked_labels import UNITS, texts_shown
from .draw import Sample

Propositions = Mapping[Unit, Mapping[str, Sequence[tuple[str, str]]]]


def sample_items(sample: Sample, run: Run, asked: Sequence[AskedLabel]) -> list[QueueItem]:
    """The examples of a sample in its order, whose systems and verdicts are not in them.

    Args:
        sample: Drawn from the run.
        run: Whose examples, claims and statements are shown.
        asked: From ``labels_asked``.
    """
    drawn = dict(sample.rows.select("example_id", "inclusion_probability").iter_rows())
    found = {one.id: one for one in run_items(run, asked, drawn, drawn)}
    return [found[id] for id in drawn]


def run_items(
    run: Run,
    asked: Sequence[AskedLabel],
    ids: Collection[str] | None = None,
    probabilities: Mapping[str, float] | None = None,
) -> list[QueueItem]:
    """The examples of a run, in its order.

    Args:
        run: Whose claims and statements are those of the judge who spoke first.
        asked: From ``labels_asked``.
        ids: Of the examples; None: all.
        probabilities: That a sample contains them.
    """
    run = run.without_overrules()
    where = None if ids is None else pl.col("id").is_in(list(ids))
    units = {one.unit for one in asked}
    propositions = {unit: _texts(run, FIELDS[unit]) for unit in UNITS[2:] if unit in units}
    return list(
        _items(from_frame(run.examples(where=where)), asked, propositions, probabilities or {})
    )


def data_items(
    examples: Iterable[Example],
    asked: Sequence[AskedLabel],
    probabilities: Mapping[str, float] | None = None,
    propositions: Propositions | None = None,
) -> list[QueueItem]:
    """The examples of data, with their claims and statements.

    Args:
        examples: In their order.
        asked: From ``labels_asked``.
        probabilities: That a sample contains them.
        propositions: Number and text of the claims and statements of each; None: those that the
            data list.
    """
    there = list(examples)
    found = propositions or {
        unit: {one.id: _listed(one.labels.get(FIELDS[unit])) for one in there} for unit in UNITS[2:]
    }
    return list(_items(there, asked, found, probabilities or {}))


def _listed(given: object) -> list[tuple[str, str]]:
    rows = given if isinstance(given, list) else []
    texts = [one.get("text") if isinstance(one, Mapping) else None for one in rows]
    return [(str(at), text) for at, text in enumerate(texts, start=1) if isinstance(text, str)]


def _items(
    examples: Iterable[Example],
    asked: Sequence[AskedLabel],
    propositions: Propositions,
    probabilities: Mapping[str, float],
) -> Iterator[QueueItem]:
    seen = texts_shown(asked)
    for number, one in enumerate(examples):
        yield _item(number, one, asked, propositions, seen, probabilities.get(one.id))


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
            listed = propositions.get(unit, {}).get(example.id, ())
            parts += [ItemPart(unit, *one) for one in listed]
    return QueueItem(
        number, example.id, shown, tuple(parts), probability, question=example.question_id
    )


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
