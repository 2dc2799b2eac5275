"""What a person says is a value of the column, or is refused with what was expected."""

import polars as pl
import pytest

from ragstone.judgements import Ask, Column
from ragstone.run.corrections.correction_checks import _value

ASK = Ask(requires=("answer",), by=("model",))
COUNT = Column(pl.Int64, "how many", role="number")
SHARE = Column(pl.Float64, "how much", role="number")
RATED = Column(pl.Float64, "how good", role="number", values={1: "bad", 2: "fair", 4: "good"})
GRADE = Column(pl.Int8, "how near", role="grade", values={0: "far", 1: "near"})
WORD = Column(None, "which", role="verdict", values={"yes": "it is.", "True": "it is true."})


@pytest.mark.parametrize(
    ("column", "said", "value"),
    [
        (COUNT, "3", 3),
        (COUNT, 3.0, 3),
        (SHARE, "0.25", 0.25),
        # A rating is kept as its share of the best.
        (RATED, "2", 0.5),
        (RATED, 4, 1.0),
        (GRADE, "1", 1),
        (WORD, "yes", "yes"),
    ],
)
def test_a_value_is_kept_as_the_column_has_it(column: Column, said: object, value: object) -> None:
    found = _value(column, ASK, said)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("column", "said", "expected"),
    [
        (COUNT, "2.5", "a whole number"),
        (COUNT, True, "a whole number"),
        (SHARE, True, "a number"),
        (SHARE, "nan", "a number"),
        (SHARE, "much", "a number"),
        (RATED, "3", "one of 1, 2, 4"),
        (GRADE, True, "one of 0, 1"),
        (WORD, True, "one of yes, True"),
    ],
)
def test_what_is_no_value_is_refused(column: Column, said: object, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        _value(column, ASK, said)
