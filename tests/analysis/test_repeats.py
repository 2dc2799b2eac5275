"""How far repeated answers lie apart, from cases by hand."""

import polars as pl
import pytest

from ragstone.analysis.summaries.run_summary import repeats


def rows(*labels: str | None, values: tuple[float | None, ...] = ()) -> pl.DataFrame:
    n = len(labels)
    return pl.DataFrame(
        {
            "question_id": ["q"] * n,
            "system": ["a"] * n,
            "faithfulness": values or [0.0] * n,
            "label outcome": pl.Series(labels, dtype=pl.String),
        },
        schema_overrides={"faithfulness": pl.Float64},
    )


@pytest.mark.parametrize(
    ("labels", "flips"),
    [
        (("wrong", "wrong"), 0),
        (("wrong", "correct"), 1),
        (("wrong", "correct", "correct"), 2 / 3),  # 2 of the 3 pairs differ
        (("wrong", "partial", "correct"), 1),
        (("wrong", "correct", None), 1),
        (("wrong", None), None),
    ],
)
def test_flip_rate_is_the_share_of_pairs_that_differ(
    labels: tuple[str | None, ...], flips: float | None
) -> None:
    (found,) = repeats(rows(*labels), ["faithfulness"], "outcome")["flips"]
    assert found == (None if flips is None else pytest.approx(flips))


def test_spread_is_from_the_lowest_to_the_highest_value() -> None:
    given = rows("a", "a", "a", values=(0.2, None, 0.8))
    (found,) = repeats(given, ["faithfulness"]).to_dicts()
    assert (found["n"], found["low faithfulness"], found["high faithfulness"]) == (3, 0.2, 0.8)
    assert found["mean faithfulness"] == pytest.approx(0.5)


def test_a_question_answered_once_has_no_repeats() -> None:
    assert repeats(rows("wrong"), ["faithfulness"], "outcome").is_empty()


def test_answers_of_several_systems_to_a_question_are_no_repeats() -> None:
    given = rows("wrong", "wrong", "correct").with_columns(system=pl.Series(["a", "b", "b"]))
    (found,) = repeats(given, ["faithfulness"], "outcome").to_dicts()
    assert (found["system"], found["n"], found["flips"]) == ("b", 2, 1)
