"""The judge's mean and the same corrected by people's labels stand beside each other."""

import pytest

from ragstone.monitor.series.metric_over_time import read_window
from ragstone.monitor.series.overview import CorrectedNow, corrected_now
from ragstone.monitor.store.rows import Facet
from ragstone.monitor.store.store import MonitorStore
from ragstone.stats.correction.corrected import two_phase_mean
from ragstone.stats.monitoring.windows import WeightedSums, window_sequences
from tests.monitor.series.scores import put

UNTIL = 6_000.0


def corrected(store: MonitorStore, slice: Facet | None = None) -> CorrectedNow | None:
    with store.database.reading() as run:
        judged = read_window(run, "faithfulness", 0, UNTIL, slice)
        return corrected_now(run, "faithfulness", 0, UNTIL, slice, judged)


def labelled(store: MonitorStore) -> None:
    """Forty judged answers, of which every other one is labelled."""
    rows = [(60.0 * k, float(k % 4 > 0)) for k in range(40)]
    put(store, rows, probability=0.5, facets={"version": "v1"})
    for k in range(0, 40, 2):
        put(store, [(60.0 * k, float(k % 8 > 0))], probability=0.25, source="people", first=k)


def test_without_labels_there_is_none(store: MonitorStore) -> None:
    put(store, [(0, 1.0)])
    assert corrected(store) is None


def test_raw_and_corrected_and_labels_alone(store: MonitorStore) -> None:
    labelled(store)
    found = corrected(store)
    assert found is not None
    f, y = [float(k % 4 > 0) for k in range(0, 40, 2)], [float(k % 8 > 0) for k in range(0, 40, 2)]
    judged = WeightedSums.of([float(k % 4 > 0) for k in range(40)], [2.0] * 40)
    expected = two_phase_mean(judged, f, [2.0] * 20, y, [4.0] * 20, low=0, high=1)
    assert expected.interval is not None
    assert (found.raw.value, found.raw.n) == (0.75, 40)
    assert found.corrected.n == 20
    assert [found.corrected.value, found.corrected.low, found.corrected.high] == pytest.approx(
        [expected.value, expected.interval.low, expected.interval.high]
    )
    low, high = window_sequences(WeightedSums.of(y, [4.0] * 20), windows=1)
    assert [found.labels.low, found.labels.high] == pytest.approx([low[0], high[0]])
    assert found.labels.value == 0.75
    assert found.why is None


def test_only_labels_of_the_time_and_slice_count(store: MonitorStore) -> None:
    labelled(store)
    put(store, [(UNTIL + 60, 1.0)], first=90)
    put(store, [(UNTIL + 60, 1.0)], source="people", first=90)
    found = corrected(store, ("version", "v1"))
    assert found is not None
    assert found.corrected.n == 20
    assert corrected(store, ("version", "v2")) is None


def test_answers_that_were_labelled_and_not_judged_correct_nothing(store: MonitorStore) -> None:
    put(store, [(0, 1.0)], source="people")
    assert corrected(store) is None


def test_one_label_is_too_few_and_says_so(store: MonitorStore) -> None:
    put(store, [(0, 1.0), (60, 0.0)])
    put(store, [(0, 1.0)], source="people")
    found = corrected(store)
    assert found is not None
    assert found.why == "one_cluster"
    assert found.corrected.value is None


def test_a_label_counts_with_one_over_the_probability_that_it_was_asked_for(
    store: MonitorStore,
) -> None:
    put(store, [(60.0 * k, 1.0) for k in range(4)], probability=0.5)
    put(store, [(0.0, 1.0), (60.0, 1.0)], probability=0.25, source="people")
    put(store, [(120.0, 0.0), (180.0, 0.0)], probability=0.05, source="people", first=2)
    found = corrected(store)
    assert found is not None
    # Two of weight 4 are right, two of weight 20 are wrong.
    assert found.labels.value == pytest.approx(8 / 48)
    assert found.raw.value == 1
