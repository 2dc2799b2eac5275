"""Looked up: fields of stored examples that stand in their slices, meta or labels."""

import json
from collections.abc import Callable, Sequence

import polars as pl

from ragstone.data import Example

PLACES = ("slices", "meta", "labels")
"""Where ``Example.facet`` looks for them, in this order."""


def looked_up(
    read: Callable[[list[str]], pl.DataFrame], fields: Sequence[str]
) -> dict[str, pl.Series]:
    """The values of each field, null for an example that has none.

    Args:
        read: Reads these columns of all examples.
        fields: Names that are no columns of an example.
    """
    rows: Sequence[int] = range(read(["id"]).height) if fields else ()
    values: dict[str, list[str | None]] = {name: [None] * len(rows) for name in fields}
    left: dict[str, Sequence[int]] = dict.fromkeys(fields, rows)
    for place in PLACES:
        if not any(left.values()):
            break  # Labels may be much longer than all else.
        texts = read([place])[place].to_list()
        found = {text: json.loads(text) for text in dict.fromkeys(texts)}
        for name, open_rows in left.items():
            facets = {text: Example("", "", "", slices=said).facet(name)
                      for text, said in found.items() if name in said}  # fmt: skip
            for row in open_rows:
                values[name][row] = facets.get(texts[row])
            left[name] = [row for row in open_rows if texts[row] not in facets]
    return {name: pl.Series(name, texts, pl.String) for name, texts in values.items()}
