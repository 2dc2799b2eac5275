"""How long a fall takes to be noticed: by hand where nothing is random, and beside the detector."""

import numpy as np
import pytest
from scipy import stats

from ragstone.core.errors import InputError
from ragstone.stats.monitoring.detection_delay import Traffic, expected_delay
from ragstone.stats.monitoring.detector import Detector, on_a_share, promised_limit


def test_where_every_answer_is_alike_the_delay_is_that_of_the_detector() -> None:
    detector = Detector(0.8, 1e4)
    healthy, after = [0.9] * 30, [0.6] * 1000
    state, none = detector.step(detector.start(), healthy)
    _, found = detector.step(state, after)
    delay = expected_delay(detector, Traffic.seen([0.9]), 0.3, before=30, draws=10)
    assert not none
    assert delay.median == delay.p90 == found[0].looks - 30
    assert delay.noticed == 1


def test_a_fall_is_noticed_where_the_evidence_is_exactly_the_limit() -> None:
    healthy = Traffic.seen([0.9])
    fallen = healthy.with_mean(0.9 - 0.3).scores.tolist() * 5
    state, _ = Detector(0.8, 1e9).step(Detector(0.8, 1e9).start(), fallen)
    detector = Detector(0.8, float(np.sum(state.evidence)))
    assert expected_delay(detector, healthy, 0.3, before=0, draws=10).median == 5


def test_the_delay_is_that_of_detectors_that_look_at_drawn_answers() -> None:
    detector = Detector(0.85, promised_limit(0.05, 10_000))
    delays = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        state, _ = detector.step(detector.start(), (rng.random(500) < 0.85).astype(float))
        before = state.looks
        fallen = (rng.random(1500) < 0.75).astype(float)
        _, found = next(one for n in (300, 1500) if (one := detector.step(state, fallen[:n]))[1])
        delays.append(found[0].looks - before)
    wanted = np.median(delays)
    delay = expected_delay(detector, Traffic.of(0.85), 0.1, before=500)
    assert delay.median == pytest.approx(wanted, rel=0.15)
    assert delay.p90 == pytest.approx(np.quantile(delays, 0.9), rel=0.2)


def test_delays_keep_their_targets() -> None:
    one = Detector(0.85, promised_limit(0.05, 10_000))
    delay = expected_delay(one, Traffic.of(0.85), 0.1)
    assert (delay.median or 9999) <= 240
    assert (delay.p90 or 9999) <= 420
    of_hundred = Detector(0.85, promised_limit(0.05, 10_000, detectors=100))
    delay = expected_delay(of_hundred, Traffic.of(0.85), 0.1)
    assert (delay.median or 9999) <= 370
    assert (delay.p90 or 9999) <= 600


def test_answers_drawn_alike_take_as_long_whatever_the_probability() -> None:
    limit = promised_limit(0.05, 10_000)
    every = expected_delay(Detector(0.85, limit), Traffic.of(0.85), 0.1)
    tenth = Traffic.of(0.85, probabilities=0.1)
    assert expected_delay(Detector(0.85, limit, 0.1), tenth, 0.1) == every
    unequal = Traffic.of(0.85, probabilities=[0.1, 0.85], received=[8, 2])
    slower = expected_delay(Detector(0.85, limit, 0.1), unequal, 0.1)
    assert (slower.median or 9999) > 1.5 * (every.median or 9999)


def test_the_same_seed_says_the_same_and_another_one_nearly() -> None:
    detector = Detector(0.85, promised_limit(0.05, 10_000))
    first, again, other = (
        expected_delay(detector, Traffic.of(0.85), 0.1, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert first.median == pytest.approx(other.median, rel=0.15)


def test_a_fall_that_is_seldom_noticed_in_time_has_no_delay() -> None:
    detector = Detector(0.85, promised_limit(0.05, 10_000))
    delay = expected_delay(detector, Traffic.of(0.85), 0.1, most=150)
    assert delay.median is None
    assert delay.p90 is None
    assert 0 < delay.noticed < 0.5
    assert delay.most == 150
    later = expected_delay(detector, Traffic.of(0.85), 0.1, most=250)
    assert later.median is not None
    assert later.p90 is None


def test_a_false_alarm_before_the_fall_starts_anew() -> None:
    # Below its bar already, the detector alarms again and again before the mean falls further.
    detector = Detector(0.8, 1e4)
    state, found = detector.step(detector.start(), [0.6] * 100)
    assert found
    _, fallen = detector.step(state, [0.3] * 1000)
    delay = expected_delay(detector, Traffic.seen([0.6]), 0.3, before=100, draws=10)
    assert delay.median == fallen[0].looks - state.looks


def test_a_share_of_the_falls_is_noticed_within_its_delay() -> None:
    detector = Detector(0.85, promised_limit(0.05, 10_000))
    for most in range(100, 500, 20):
        delay = expected_delay(detector, Traffic.of(0.85), 0.1, before=0, most=most, draws=10)
        assert (delay.median is None) == (delay.noticed < 0.5)
        assert (delay.p90 is None) == (delay.noticed < 0.9)


def test_graded_scores_have_the_mean_and_deviation_that_were_asked_for() -> None:
    traffic = Traffic.of(0.8, deviation=0.15)
    size = 0.8 * 0.2 / 0.15**2 - 1
    beta = stats.beta(0.8 * size, 0.2 * size)
    assert traffic.mean == pytest.approx(0.8, abs=1e-9)
    spread = np.sqrt((traffic.shares * (traffic.scores - 0.8) ** 2).sum())
    assert spread == pytest.approx(0.15, rel=0.01)
    middle = traffic.scores[(len(traffic.scores) - 1) // 2]
    assert middle == pytest.approx(beta.ppf(0.495), abs=1e-9)
    assert set(Traffic.of(0.8, deviation=0.4).scores) == {0.0, 1.0}


def test_judged_answers_are_as_frequent_as_they_are_drawn() -> None:
    # 80 of 100 answers are drawn with .1, 20 with .85: 8 and 17 are judged.
    traffic = Traffic.of(0.75, probabilities=[0.1, 0.85], received=[80, 20])
    assert traffic.shares == pytest.approx(
        np.array([8 * 0.25, 8 * 0.75, 17 * 0.25, 17 * 0.75]) / 25
    )
    assert traffic.mean == pytest.approx(0.75)


def test_answers_that_were_seen_have_the_weighted_mean() -> None:
    # Two failures drawn with 1 stand for two answers, two good ones drawn with .25 for eight.
    traffic = Traffic.seen([0, 0, 1, 1], [1, 1, 0.25, 0.25])
    assert traffic.mean == pytest.approx(0.8)
    fallen = traffic.with_mean(0.5)
    assert fallen.mean == pytest.approx(0.5)
    assert fallen.shares == pytest.approx(np.array([0.8, 0.2]))


def test_a_fallen_mean_makes_low_scores_more_frequent_by_the_same_rate() -> None:
    traffic = Traffic.seen([0.2, 0.5, 0.9, 0.9, 1.0])
    fallen = traffic.with_mean(0.6)
    assert fallen.mean == pytest.approx(0.6)
    logs = np.log(fallen.shares / traffic.shares)
    slopes = np.diff(logs) / np.diff(fallen.scores)
    assert slopes == pytest.approx(np.full(3, slopes[0]))
    assert slopes[0] < 0


def test_scores_that_do_not_reach_a_mean_move_there() -> None:
    traffic = Traffic.seen([0.8, 0.9])
    assert traffic.with_mean(0.425).scores == pytest.approx([0.4, 0.45])
    assert traffic.with_mean(0.925).scores == pytest.approx([0.9, 0.95])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Traffic.of(0),
        lambda: Traffic.of(0.5, deviation=0),
        lambda: Traffic.seen([0.5]).with_mean(1),
        lambda: expected_delay(Detector(0.5, 10), Traffic.of(0.5), 0),
        lambda: expected_delay(Detector(0.5, 10), Traffic.of(0.5), 0.5),
    ],
)
def test_what_cannot_be_is_refused(make: object) -> None:
    with pytest.raises(InputError):
        make()  # type: ignore[operator]


def test_scores_become_shares_of_the_best() -> None:
    assert on_a_share([1, 3, 5], low=1, high=5, less_is_better=False).tolist() == [0, 0.5, 1]
    assert on_a_share([0, 2.5, 10], low=0, high=10, less_is_better=True).tolist() == [1, 0.75, 0]
