"""A metric over time has in each window the weighted mean of the answers given then."""

from typing import Any

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.monitor.series.metric_over_time import TimeGrid, over_time
from ragstone.monitor.store.scores import last_session_scores, sum_up
from ragstone.monitor.store.store import MonitorStore
from ragstone.stats.monitoring.windows import WeightedSums, window_intervals, window_sequences
from tests.monitor.series.scores import put

DAY = 86_400
HOUR = 3_600


def test_a_day_has_240_windows_of_an_hour_each(store: MonitorStore) -> None:
    put(store, [(0, 1.0)])
    found = over_time(store, "faithfulness", since=1_000, until=1_000 + DAY)
    assert (len(found.windows), found.step, found.window) == (240, 360, HOUR)
    assert found.until == found.windows[-1].end == 243 * 360, "the end of the step that it is in"
    assert found.since == found.windows[0].end - 360
    assert {one.end - one.start for one in found.windows} == {HOUR}


def test_the_grid_does_not_move_while_a_step_fills(store: MonitorStore) -> None:
    put(store, [(0, 1.0)])
    first = over_time(store, "faithfulness", since=3_600, until=3_600 + DAY - 300)
    later = over_time(store, "faithfulness", since=3_700, until=3_600 + DAY)
    assert first == later


@pytest.mark.parametrize(("hours", "step", "n"), [(1, 120, 30), (6, 120, 180), (720, 10_800, 240)])
def test_no_step_is_shorter_than_two_minutes_and_there_are_at_most_240(
    store: MonitorStore, hours: int, step: int, n: int
) -> None:
    found = over_time(store, "faithfulness", since=0, until=hours * HOUR)
    assert (found.step, len(found.windows)) == (step, n)


def test_each_window_has_the_mean_interval_and_sequence_of_its_answers(store: MonitorStore) -> None:
    rng = np.random.default_rng(1)
    at = rng.random(400) * 4 * HOUR
    x = (rng.random(400) < 0.8).astype(float)
    p = rng.choice([0.1, 0.85], 400)
    for chance in (0.1, 0.85):
        rows = list(zip(at[p == chance], x[p == chance], strict=True))
        put(store, rows, probability=chance, prefix=f"p{chance}-")
    found = over_time(store, "faithfulness", since=0, until=4 * HOUR, buckets=8, window=HOUR)
    assert len(found.windows) == 8
    for one in found.windows:
        inside = (at >= one.start) & (at < one.end)
        sums = WeightedSums.of(x[inside], 1 / p[inside])
        assert one.n == inside.sum()
        assert one.value == pytest.approx(float(sums.mean[0]))
        expected = window_intervals(sums, low=0, high=1)
        assert [one.low, one.high] == pytest.approx([float(end[0]) for end in expected])
        bands = window_sequences(sums, windows=8)
        assert [one.band_low, one.band_high] == pytest.approx(
            [float(end[0]) for end in bands], abs=1e-9
        )
        assert one.worst == one.best == pytest.approx(one.value)


def test_numbers_are_the_same_once_they_are_summed_up(store: MonitorStore) -> None:
    put(store, [(60.0 * k, k % 3 / 2) for k in range(200)], facets={"version": "v1"})
    asked: dict[str, Any] = {"since": 0, "until": 4 * HOUR}
    slices = (None, ("version", "v1"), ("version", "v2"))
    before = [over_time(store, "faithfulness", slice=one, **asked) for one in slices]
    with store.database.transaction() as run:
        sum_up(run)
    assert before == [over_time(store, "faithfulness", slice=one, **asked) for one in slices]
    assert before[0].windows == before[1].windows
    assert not any(one.n for one in before[2].windows)


def test_undefined_and_missing_scores_are_counted_and_the_missing_ones_bound_the_mean(
    store: MonitorStore,
) -> None:
    put(store, [(10, 1.0), (20, 0.5)])
    put(store, [(30, None)], first=2, probability=0.5)
    put(store, [(40, None), (50, None)], first=3, status="undefined")
    last = over_time(store, "faithfulness", since=0, until=120).windows[-1]
    assert (last.n, last.n_undefined, last.n_missing) == (2, 2, 1)
    assert last.value == 0.75
    assert [last.worst, last.best] == pytest.approx([1.5 / 4, 3.5 / 4])


def test_where_less_is_better_the_worst_is_the_highest(store: MonitorStore) -> None:
    put(store, [(10, 0.5), (20, None)], metric="hallucination")
    last = over_time(store, "hallucination", since=0, until=120).windows[-1]
    assert last.worst is not None
    assert last.best is not None
    assert (last.worst > last.best) == (
        over_time(store, "hallucination", since=0, until=120).range.better == "-"
    )


def test_a_window_without_answers_has_no_numbers(store: MonitorStore) -> None:
    put(store, [(10, 1.0)])
    found = over_time(store, "faithfulness", since=0, until=2 * HOUR, window=120)
    empty = found.windows[-1]
    assert empty.n == 0
    assert (empty.value, empty.low, empty.high, empty.band_low, empty.band_high) == (None,) * 5
    assert found.now == found.windows[0]


def test_sessions_whose_answers_agree_make_the_numbers_less_sure(store: MonitorStore) -> None:
    for session in range(60):
        rows = [(session * 50.0 + k, float(session % 4 > 0)) for k in range(5)]
        put(store, rows, metric="faithfulness", session=f"s{session}", first=5 * session)
        put(store, rows, metric="hit", first=5 * session, prefix="alone")
    alike = over_time(store, "faithfulness", since=0, until=HOUR, window=HOUR)
    alone = over_time(store, "hit", since=0, until=HOUR, window=HOUR)
    assert alike.design_effect == pytest.approx(5, rel=0.1)
    assert alone.design_effect == 1
    one, other = alike.windows[-1], alone.windows[-1]
    assert one.value == other.value
    assert (one.low or 0) < (other.low or 0)
    assert (one.band_low or 0) < (other.band_low or 0)


def test_a_metric_without_bounds_has_an_interval_and_no_sequence_and_says_so(
    store: MonitorStore,
) -> None:
    put(store, [(k, float(k)) for k in range(20)], metric="seconds_spent")
    found = over_time(store, "seconds_spent", since=0, until=120)
    assert found.no_band == "no_bounds"
    last = found.windows[-1]
    assert last.low is not None
    assert last.band_low is None
    assert last.worst == last.value


def test_the_guards_checks_are_metrics(store: MonitorStore) -> None:
    put(store, [(1, 1.0), (2, 0.0)], metric="guard_ok", source="guard")
    put(store, [(1, 0.7), (2, 0.9)], metric="guard_confidence", source="guard")
    ok = over_time(store, "guard_ok", since=0, until=120)
    confidence = over_time(store, "guard_confidence", since=0, until=120)
    assert (ok.range.rate, confidence.range.rate) == (True, False)
    assert ok.windows[-1].value == 0.5
    assert confidence.windows[-1].value == pytest.approx(0.8)
    assert confidence.windows[-1].band_low is not None


@pytest.mark.parametrize(
    "asked",
    [{"since": 10, "until": 10}, {"since": 0, "until": 10, "buckets": 241},
     {"since": 0, "until": 10, "buckets": 0}],
)  # fmt: skip
def test_what_makes_no_windows_is_refused(store: MonitorStore, asked: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        over_time(store, "faithfulness", **asked)


def test_a_window_of_one_and_a_half_steps_has_two() -> None:
    grid = TimeGrid.of(0, 86_400, window=540)
    assert (grid.step, grid.abreast) == (360, 2)


def test_the_effect_of_sessions_is_that_of_the_last_answers(store: MonitorStore) -> None:
    put(store, [(60.0 * k, k / 4) for k in range(5)], session="s")
    with store.database.reading() as run:
        found = last_session_scores(run, "faithfulness", 0, 1_000, None, most=2)
    assert found == [(1.0, 1.0, "s"), (0.75, 1.0, "s")]
