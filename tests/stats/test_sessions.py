"""Figures of conversations from the scores of their turns, all by hand."""

from typing import Any

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.stats import ratio_of_sums, wilson
from ragstone.stats.sessions import Sessions, SessionValues, TurnScores
from tests.stats.intervals import bounded_wilson

NONE, GAP = "undefined", "missing"
Given = float | str


def scores(*given: Given, better: Any = "+", bounded: bool = True) -> TurnScores:
    values = [np.nan if isinstance(one, str) else one for one in given]
    low, high = (0.0, 1.0) if bounded else (None, None)
    return TurnScores(
        np.array(values), np.array([one == GAP for one in given], dtype=bool), low, high, better
    )


def told(figure: SessionValues) -> list[Given]:
    return [
        GAP if gap else NONE if np.isnan(value) else float(value)
        for value, gap in zip(figure.values, figure.missing, strict=True)
    ]


def open_to(figure: SessionValues) -> list[tuple[float, float]]:
    return list(zip(figure.least.tolist(), figure.greatest.tolist(), strict=True))


def one(*given: Given, **how: Any) -> tuple[Sessions, TurnScores]:
    """A single session with these turns."""
    return Sessions(["s"] * len(given)), scores(*given, **how)


def worst(*given: Given, **how: Any) -> Given:
    session, turns = one(*given, **how)
    return told(session.worst(turns))[0]


def mean(*given: Given, **how: Any) -> Given:
    session, turns = one(*given, **how)
    return told(session.mean(turns))[0]


def test_the_worst_turn_is_the_least_score_or_the_greatest_where_less_is_better() -> None:
    assert worst(0.5, 0.25, 1.0) == 0.25
    assert worst(0.5, 0.25, 1.0, better="-") == 1.0


def test_the_turn_that_is_worst_is_named_and_the_first_of_equals() -> None:
    session = Sessions(["a", "b", "a", "b", "a"])
    assert session.worst(scores(0.5, 0.5, 0.25, 1.0, 0.25)).turns.tolist() == [2, 1]


def test_undefined_turns_count_neither_in_the_worst_nor_in_the_mean() -> None:
    assert worst(0.5, NONE, 0.75) == 0.5
    assert mean(0.5, NONE, 0.75) == 0.625
    assert worst(NONE, NONE) == mean(NONE, NONE) == NONE


def test_a_missing_turn_leaves_the_worst_open_unless_a_known_one_is_as_bad_as_can_be() -> None:
    session, turns = one(0.5, GAP, 1.0)
    figure = session.worst(turns)
    assert (told(figure), open_to(figure)) == ([GAP], [(0.0, 0.5)])
    assert worst(0.0, GAP) == 0.0
    assert worst(1.0, GAP, better="-") == 1.0
    assert worst(0.0, GAP, bounded=False) == GAP


def test_where_less_is_better_the_worst_could_be_the_greatest() -> None:
    session, turns = one(0.5, GAP, 0.25, better="-")
    assert open_to(session.worst(turns)) == [(0.5, 1.0)]


def test_nothing_known_leaves_the_whole_range() -> None:
    session, turns = one(GAP, GAP)
    assert open_to(session.worst(turns)) == open_to(session.mean(turns)) == [(0.0, 1.0)]


def test_a_missing_turn_leaves_the_mean_open_within_its_range() -> None:
    session, turns = one(0.5, GAP, 1.0, NONE)
    figure = session.mean(turns)
    assert told(figure) == [GAP]
    assert open_to(figure) == [(0.5, 2.5 / 3)]


def test_turns_stand_in_their_order_and_equal_ones_as_given() -> None:
    session = Sessions(["b", "a", "b", "a", "b"], order=[2, 1, 1, 0, 2])
    assert session.ids.tolist() == ["a", "b"]
    assert session.sizes.tolist() == [2, 3]
    assert session.last.tolist() == [1, 4]


@pytest.mark.parametrize(
    ("last", "score", "expected"),
    [
        (1.0, 0.5, 1.0),
        (1.0, 0.4, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, GAP, 0.0),
        (GAP, 0.4, 0.0),
        (1.0, GAP, GAP),
        (GAP, 0.9, GAP),
        (1.0, NONE, NONE),
        (NONE, GAP, GAP),
        (NONE, NONE, NONE),
    ],
)
def test_a_session_is_resolved_by_its_last_turn_and_a_known_no_settles_it(
    last: Given, score: Given, expected: Given
) -> None:
    session = Sessions(["s", "s"])
    answered, metric = scores(0.0, last), scores(0.0, score)
    assert told(session.resolved(answered, metric, bar=0.5)) == [expected]


def test_without_a_bar_an_answer_is_enough() -> None:
    session = Sessions(["a", "a", "b", "b", "c", "c"])
    figure = session.resolved(scores(0.0, 1.0, 1.0, 0.0, 1.0, GAP))
    assert told(figure) == [1.0, 0.0, GAP]
    assert open_to(figure) == [(1, 1), (0, 0), (0, 1)]


def test_where_less_is_better_a_score_at_most_the_bar_will_do() -> None:
    session = Sessions(["s", "s"])
    answered = scores(1.0, 1.0)
    assert told(session.resolved(answered, scores(0, 0.5, better="-"), bar=0.5)) == [1.0]
    assert told(session.resolved(answered, scores(0, 0.6, better="-"), bar=0.5)) == [0.0]


def test_a_session_of_one_turn_is_undefined_in_every_figure() -> None:
    session, turns = one(0.5)
    figures = session.worst(turns), session.mean(turns), session.resolved(turns)
    assert [told(figure) for figure in figures] == [[NONE]] * 3
    gap = scores(GAP)
    assert told(session.worst(gap)) == [NONE]


def test_each_session_counts_once_however_long() -> None:
    sessions = Sessions(["a"] * 2 + ["b"] * 4 + ["c"])
    figure = sessions.worst(scores(1.0, 0.5, 0.25, 1, 1, 1, 0.0))
    found = sessions.estimate(figure, rate=False, low=0, high=1, better="+")
    assert (found.value, found.n, found.n_undefined, found.n_missing) == (0.375, 2, 1, 0)
    assert found.interval == bounded_wilson([0.5, 0.25], [1, 1], [0.25, 0.0625], low=0, high=1)
    assert (found.worst, found.best) == (0.375, 0.375)


def test_a_share_has_the_interval_of_independent_sessions() -> None:
    sessions = Sessions(np.repeat(np.arange(5), 2))
    figure = sessions.resolved(scores(*[0.0, 1.0] * 4, 0.0, 0.0))
    found = sessions.estimate(figure, rate=True, low=0, high=1, better="+")
    assert found.value == 0.8
    assert found.interval == wilson(4, 5)


def test_missing_sessions_are_bounded_by_what_is_known_of_their_turns() -> None:
    sessions = Sessions(["a", "a", "b", "b"])
    figure = sessions.worst(scores(0.5, 0.75, 0.25, GAP))
    found = sessions.estimate(figure, rate=False, low=0, high=1, better="+")
    assert (found.value, found.n, found.n_missing) == (0.5, 1, 1)
    # b is between 0 and its known .25.
    assert (found.worst, found.best) == (0.25, 0.375)
    mirrored = sessions.worst(scores(0.5, 0.75, 0.25, GAP, better="-"))
    found = sessions.estimate(mirrored, rate=False, low=0, high=1, better="-")
    # b is between its known .25 and 1.
    assert (found.worst, found.best) == (0.875, 0.5)


def test_without_a_range_there_is_no_bound_on_what_is_missing() -> None:
    sessions = Sessions(["a", "a", "b", "b"])
    figure = sessions.mean(scores(0.5, 0.75, 0.25, GAP, bounded=False))
    found = sessions.estimate(figure, rate=False, low=None, high=None, better="+")
    assert (found.value, found.worst, found.best) == (0.625, None, None)


def test_a_session_that_was_drawn_with_less_probability_counts_for_more() -> None:
    weights = [4.0, 4.0, 1.0, 1.0, 1.0, 1.0]
    sessions = Sessions(["a", "a", "b", "b", "c", "c"], weights=weights)
    figure = sessions.worst(scores(1.0, 0.5, 0.25, 1.0, 1.0, 1.0))
    found = sessions.estimate(figure, rate=False, low=0, high=1, better="+")
    # (4 · .5 + 1 · .25 + 1 · 1) / 6
    assert found.value == pytest.approx(3.25 / 6)
    expected = ratio_of_sums([2.0, 0.25, 1.0], [4.0, 1.0, 1.0], low=0, high=1).interval
    assert expected is not None
    assert found.interval is not None
    assert found.interval.low == pytest.approx(expected.low)
    assert found.interval.high == pytest.approx(expected.high)


def test_equal_weights_change_nothing_but_the_method() -> None:
    turns = scores(1.0, 0.5, 0.25, 1.0, 1.0, 1.0)
    plain = Sessions([0, 0, 1, 1, 2, 2])
    drawn = Sessions([0, 0, 1, 1, 2, 2], weights=[10.0] * 6)
    first, second = (
        one.estimate(one.worst(turns), rate=False, low=0, high=1, better="+")
        for one in (plain, drawn)
    )
    assert first.value == second.value
    assert first.interval is not None
    assert second.interval is not None
    assert first.interval.low == pytest.approx(second.interval.low)


def test_no_turns_are_no_sessions() -> None:
    sessions = Sessions([])
    nothing = scores()
    for figure in (sessions.worst(nothing), sessions.mean(nothing), sessions.resolved(nothing)):
        found = sessions.estimate(figure, rate=False, low=0, high=1, better="+")
        assert (found.value, found.interval, found.n) == (None, None, 0)


def test_faults_are_refused() -> None:
    with pytest.raises(InputError, match="one weight"):
        Sessions(["a", "a"], weights=[1.0, 2.0])
    with pytest.raises(InputError, match="2 numbers"):
        Sessions(["a", "a"], order=[1.0, np.nan])
    with pytest.raises(InputError, match="cannot have a score and miss it"):
        TurnScores(np.array([1.0]), np.array([True]), 0, 1, "+")
    with pytest.raises(InputError, match="better end"):
        Sessions(["a", "a"]).worst(scores(1, 1, better="0"))
    with pytest.raises(InputError, match="needs the scores"):
        Sessions(["a", "a"]).resolved(scores(1, 1), bar=0.5)
