"""Common components: a composite of two systems over the components that both have a value of."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from ragstone.decisions.scored import Scored
from ragstone.metrics import Composite, score

from .sides import Bools, Floats, Side, Values

NAMES = {0: "value", 1: "undefined", 2: "missing"}
"""How an outcome is called in a run's scores."""


def has_gaps(scores: pl.DataFrame) -> bool:
    """Whether a composite's score anywhere lacks a component and is made of the rest.

    Args:
        scores: Of ``Scored.outcomes``.
    """
    return bool(scores["partly"].any())


def component_scores(scored: Scored, composite: Composite) -> dict[str, pl.DataFrame]:
    """The scores of its components, by the names in its weights, in the order of the examples.

    Those of the run; where it did not keep one, the stored judgements are scored
    again, in memory.

    Raises:
        InputError: The stored judgements are gone or damaged.
    """
    components = composite.components()
    kept = {name: scored.outcomes(str(one)) for name, one in components.items()
            if str(one) in scored.metrics}  # fmt: skip
    lacking = {name: one for name, one in components.items() if name not in kept}
    if not lacking:
        return kept
    blocks: dict[str, list[pl.DataFrame]] = {name: [] for name in lacking}
    for tables in scored.run.tables():
        found = score(tables, lacking.values())
        for name, one in lacking.items():
            blocks[name].append(found[str(one)].select("value", "status"))
    named = pl.col("status").replace_strict(NAMES, return_dtype=pl.String)
    return kept | {
        name: pl.concat(parts).with_columns(status=named) for name, parts in blocks.items()
    }


def over_common(
    composite: Composite,
    a: Mapping[str, Values],
    b: Mapping[str, Values],
    whole: tuple[Values, Values],
) -> tuple[Values, Values, Bools]:
    """Both sides' composites, question by question over the components that both have.

    Args:
        composite: One that leaves components without a value out.
        a: The first side's components.
        b: The second's.
        whole: The sides' composites as scored, which say what is missing.

    Returns:
        The composites, and on which questions a component was left out that one side has.
    """
    columns: dict[str, Floats] = {}
    uneven = np.zeros(len(whole[0].valued), dtype=bool)
    for place, (name, _) in enumerate(composite.terms):
        common = a[name].valued & b[name].valued
        uneven |= a[name].valued ^ b[name].valued
        columns[f"a{place}"] = np.where(common, a[name].value, np.nan)
        columns[f"b{place}"] = np.where(common, b[name].value, np.nan)
    frame = pl.DataFrame(columns).fill_nan(None)
    sides = []
    for side, before in zip("ab", whole, strict=True):
        names = {name: pl.col(f"{side}{place}") for place, (name, _) in enumerate(composite.terms)}
        value = frame.select(composite.of(names)[0]).to_series()
        valued = value.is_not_null().to_numpy()
        owed = np.where(valued, 0.0, before.owed)
        made = value.fill_null(0.0).to_numpy()
        sides.append(Values(made, valued, before.missing & ~valued, owed, before.rows))
    return sides[0], sides[1], uneven & sides[0].valued


def components_of(side: Side, scores: Mapping[str, pl.DataFrame]) -> dict[str, Values]:
    """A side's components, one value a question."""
    return {name: side.values(frame) for name, frame in scores.items()}
