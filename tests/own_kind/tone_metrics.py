"""A metric over a kind of a user's own."""

import polars as pl

from ragstone import metric
from ragstone.judgements import Answers


@metric(over=Answers)
def casual() -> pl.Expr:
    """Whether the answer speaks as a friend would."""
    return (Answers.tone == "casual").first()
