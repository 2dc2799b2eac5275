"""Figures of whole conversations, by when their last turn was."""

import pytest

from ragstone.monitor.series.overview import sessions_over_time
from ragstone.monitor.store.store import MonitorStore
from ragstone.stats.cluster_means import mean_interval
from tests.monitor.series.scores import converse, put

HOUR = 3_600.0


def test_the_figures_by_hand(store: MonitorStore) -> None:
    converse(store, "a", 0, [1.0, 0.5])
    converse(store, "b", 60, [1.0, 0.0, 0.5], abstains=1.0)
    converse(store, "c", 120, [0.25])
    ((found,),) = sessions_over_time(store, "faithfulness", since=0, until=HOUR, windows=[1])
    assert (found.sessions, found.left_out) == (3, 0)
    assert found.worst_turn is not None
    assert (found.worst_turn.value, found.worst_turn.n, found.worst_turn.n_undefined) == (
        0.25,
        2,
        1,
    )
    assert found.mean_of_turns.value == pytest.approx((0.75 + 0.5) / 2)
    assert found.resolved.value == 0.5
    expected = mean_interval([0.5, 0.0], [1, 1], [0.25, 0.0], rate=False, low=0, high=1).interval
    assert found.worst_turn.interval is not None
    assert expected is not None
    assert found.worst_turn.interval.low == pytest.approx(expected.low)


def test_a_session_is_in_the_window_of_its_last_turn_with_all_its_turns(
    store: MonitorStore,
) -> None:
    converse(store, "a", HOUR - 30, [0.0, 1.0])
    ((first, second),) = sessions_over_time(
        store, "faithfulness", since=0, until=2 * HOUR, windows=[2]
    )
    assert (first.sessions, second.sessions) == (0, 1)
    assert second.worst_turn is not None
    assert second.worst_turn.value == 0
    ((later,),) = sessions_over_time(store, "faithfulness", since=HOUR, until=2 * HOUR, windows=[1])
    assert later.worst_turn is not None
    assert later.worst_turn.value == 0, "a turn before what is shown counts"


def test_sessions_weigh_by_the_chance_that_all_their_turns_were_drawn(store: MonitorStore) -> None:
    converse(store, "a", 0, [1.0, 1.0], probability=0.5)
    converse(store, "b", 0, [0.0, 0.0])
    converse(store, "c", 0, [0.0, 0.0], probability=0.5, out=0)
    ((found,),) = sessions_over_time(store, "faithfulness", since=0, until=HOUR, windows=[1])
    assert (found.sessions, found.left_out) == (2, 1)
    assert found.mean_of_turns.value == pytest.approx(4 / 5)


def test_a_session_whose_turns_had_one_lot_weighs_by_the_least_of_their_chances(
    store: MonitorStore,
) -> None:
    converse(store, "a", 0, [1.0, 1.0, 1.0], probability=0.5, lot=0.3)
    converse(store, "b", 0, [0.0, 0.0])
    ((found,),) = sessions_over_time(store, "faithfulness", since=0, until=HOUR, windows=[1])
    assert found.mean_of_turns.value == pytest.approx(2 / 3)


def test_for_resolved_the_last_turn_alone_has_to_be_drawn(store: MonitorStore) -> None:
    converse(store, "a", 0, [1.0, 1.0], probability=0.5, out=0)
    converse(store, "b", 0, [1.0, 1.0], abstains=1.0)
    converse(store, "c", 0, [1.0, 1.0], probability=0.5, out=1)
    ((found,),) = sessions_over_time(store, "faithfulness", since=0, until=HOUR, windows=[1])
    assert found.left_out == 2
    assert found.resolved.n == 2
    assert found.resolved.value == pytest.approx(2 / 3)


def test_what_failed_bounds_the_figures(store: MonitorStore) -> None:
    converse(store, "a", 0, [0.5, None])
    converse(store, "b", 0, [1.0, 1.0])
    ((found,),) = sessions_over_time(store, "faithfulness", since=0, until=HOUR, windows=[1])
    assert found.worst_turn is not None
    assert (found.worst_turn.n, found.worst_turn.n_missing) == (1, 1)
    assert (found.worst_turn.worst, found.worst_turn.best) == (0.5, 0.75)


def test_the_guard_checks_every_turn(store: MonitorStore) -> None:
    for session in ("a", "b"):
        rows = [(60.0 * k, float(session == "a")) for k in range(2)]
        put(store, rows, metric="guard_ok", source="guard", session=session, prefix=session)
    ((found,),) = sessions_over_time(store, "guard_ok", since=0, until=HOUR, windows=[1])
    assert (found.sessions, found.left_out) == (2, 0)
    assert found.mean_of_turns.value == 0.5
    assert found.resolved.n == 0


def test_a_slice_has_the_sessions_with_a_turn_in_it(store: MonitorStore) -> None:
    converse(store, "a", 0, [1.0, 1.0])
    converse(store, "b", 0, [0.0, 0.0], version="v2")
    ((found,),) = sessions_over_time(
        store, "faithfulness", since=0, until=HOUR, windows=[1], slice=("version", "v2")
    )
    assert (found.sessions, found.mean_of_turns.value) == (1, 0)


def test_without_sessions_there_are_no_figures(store: MonitorStore) -> None:
    put(store, [(0, 1.0)])
    (found,) = sessions_over_time(store, "faithfulness", since=0, until=HOUR, windows=[3])
    assert [one.sessions for one in found] == [0, 0, 0]
    assert [one.mean_of_turns.value for one in found] == [None] * 3
