"""Join: labels merged into their examples, and label rows matched to ranks of contexts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import polars as pl

from ragstone.core.errors import DataError, Fault
from ragstone.core.messages import reason
from ragstone.data import Example
from ragstone.data.record_labels import LABELS
from ragstone.judgements import KINDS

from .adjudicate import Settled, Vote, settle
from .given import unit_kind
from .last_word import Word, that_count
from .names import is_about_contexts, label_of
from .scale import scale_of
from .set_aside import NO_CONTEXT, NO_EXAMPLE

Place = Callable[..., tuple[str, int | None]]
SHOWN = 3
NO_NUMBERS = pl.Series(dtype=pl.Float64)
"""No numbers are needed, because the scales of these kinds do not depend on their labels."""


def is_joined(kind: str, column: str) -> bool:
    """Whether a run can use this human label as a judgement."""
    return bool(label_of(kind, column)) and not KINDS[kind].having("topic")


def joined(example: Example, votes: Sequence[Vote], place: Place) -> Example:
    """The example with labels merged into its own, see ``LabelTable.join``."""
    settled, faults = _settled(example, votes, place)
    if faults:
        raise DataError(faults)
    if not settled:
        return example
    labels = dict(example.labels)
    for (kind, column, unit), one in settled.items():
        name = label_of(kind, column)
        value = _as_labelled(one, kind, column)
        if name in LABELS["record"]:
            if value is not None:
                labels[name] = value
        elif unit is None:
            labels["answer"] = {**(labels.get("answer") or {}), name: value}
        else:
            field, at = _place_of(unit)
            parts = [dict(part or {}) for part in labels.get(field) or ()]
            parts += [_part(field, index) for index in range(len(parts), at + 1)]
            parts[at][name] = value
            labels[field] = parts
    return replace(example, labels=labels)


def ranks_of(example: Example) -> dict[str, str]:
    """The rank of each context of an example, by its id and by its rank; ids take precedence."""
    contexts = example.contexts or ()
    ranks = {str(index): str(index) for index in range(1, len(contexts) + 1)}
    ranks.update({context.id: str(index) for index, context in enumerate(contexts, start=1)})
    return ranks


def placed(
    labels: pl.DataFrame, source: str, examples: Iterable[Example]
) -> tuple[pl.DataFrame, list[str]]:
    """The rows of a label table with contexts named by their rank, see ``LabelTable.on``.

    Args:
        labels: The rows.
        source: The name of their origin, for the notes.
        examples: The examples that the rows are about.

    Returns:
        The rows, with those about unknown examples or contexts set aside, and a note on each sort.
    """
    there = {example.id: ranks_of(example) for example in examples}
    units: list[str | None] = []
    discarded: list[str | None] = []
    columns = ("example_id", "kind", "unit", "discarded")
    for id, kind, unit, why in labels.select(columns).iter_rows():
        ranks = there.get(id)
        problem = NO_EXAMPLE if ranks is None else None
        if ranks is not None and unit is not None and is_about_contexts(kind, unit):
            rank = ranks.get(unit)
            problem = NO_CONTEXT if rank is None else None
            unit = rank or unit
        units.append(unit)
        discarded.append(why or problem)
    frame = labels.with_columns(
        unit=pl.Series(units, dtype=pl.String), discarded=pl.Series(discarded, dtype=pl.String)
    )
    return frame, list(_not_used(frame, source))


def _settled(
    example: Example, votes: Sequence[Vote], place: Place
) -> tuple[dict[tuple[str, str, str | None], Settled], list[Fault]]:
    """The combined labels of each unit, by rank, and faults for units that do not exist."""
    there: list[tuple[str | None, Vote]] = []
    unknown: dict[str, None] = {}
    ranks = ranks_of(example)
    for vote in votes:
        if not vote.discarded and not is_joined(vote.kind, vote.column):
            continue
        unit = vote.unit
        if unit is not None and is_about_contexts(vote.kind, unit):
            unit = ranks.get(unit)
        if vote.unit is not None and (unit is None or _beyond(unit, example)):
            unknown |= {} if vote.discarded else {vote.unit: None}
        else:
            there.append((unit, vote))
    given: dict[tuple[str, str, str | None], list[tuple[str, float | None]]] = {}
    words = (Word(at, (one.kind, one.column), one.annotator, one.discarded) for at, one in there)
    for unit, vote in compress(there, that_count(words)):
        given.setdefault((vote.kind, vote.column, unit), []).append((vote.value, vote.number))
    faults = [_unknown(example, unit, place) for unit in unknown]
    settled = {}
    for (kind, column, unit), said in given.items():
        settled[kind, column, unit] = settle(said, scale_of(kind, column, NO_NUMBERS))
    return settled, faults


def _as_labelled(one: Settled, kind: str, column: str) -> Any:
    """The label in its JSON form: a truth value, a grade or a word."""
    judged = KINDS[kind].columns[column]
    if one.value is None:
        return None
    if judged.role == "grade":
        return int(one.number or 0)
    return bool(one.number) if judged.dtype == pl.Boolean else one.value


def _place_of(unit: str) -> tuple[str, int]:
    kind = unit_kind(unit)
    if kind == "context":
        return "contexts", int(unit) - 1
    return f"{kind}s", int(unit.split()[1]) - 1


def _part(field: str, index: int) -> dict[str, Any]:
    return {} if field == "contexts" else {"text": f"{field[:-1]} {index + 1}"}


def _beyond(unit: str, example: Example) -> bool:
    """Whether the number of a claim or statement exceeds the list of the example."""
    field, at = _place_of(unit)
    listed = example.labels.get(field) if field != "contexts" else None
    return listed is not None and at >= len(listed)


def _unknown(example: Example, unit: str, place: Place) -> Fault:
    kind = unit_kind(unit)
    if kind == "context":
        n = len(example.contexts or ())
        positions = "position 1" if n == 1 else f"a position from 1 to {n}"
        expected = f"the id of a context of {example.id!r} or {positions}"
        if n == 0:
            expected = f"no label of a context, for {example.id!r} has none"
    else:
        n = len(example.labels.get(f"{kind}s") or ())
        expected = f"one of the {n} {kind}s of {example.id!r}, counted from 1"
        if n == 0:
            expected = f"no label of a {kind}, for {example.id!r} lists none"
        if n == 1:
            expected = f"{kind} 1, the only one of {example.id!r}"
    file, line = place(unit=unit)
    return Fault(file, line, kind, expected, repr(unit))


def _not_used(frame: pl.DataFrame, source: str) -> Iterator[str]:
    """A reason for labels of unknown examples, and one for labels of unknown contexts."""
    for code, lacks in ((NO_EXAMPLE, "example"), (NO_CONTEXT, "context")):
        rows = frame.filter(pl.col("discarded") == code)
        ids = rows["example_id"].unique(maintain_order=True).to_list()
        if ids:
            some, more = "\n".join(ids[:SHOWN]), max(0, len(ids) - SHOWN)
            yield reason("labels_not_used", lacks=lacks, n=rows.height, source=source,
                         examples=some, more=more)  # fmt: skip
