"""Scale: accepts only whole numbers of a scale, not values that are merely equal to them."""

from pydantic import BeforeValidator


def _whole(value: object) -> object:
    """``true`` equals 1 in Python, and 4.0 equals 4."""
    if type(value) is not int:
        raise ValueError(f"expected a whole number, got {value!r}")
    return value


WHOLE = BeforeValidator(_whole)
"""Beside a ``Literal`` of whole numbers: ``Annotated[Literal[1, 2, 3], WHOLE]``."""
