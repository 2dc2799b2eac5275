"""The e-detector: beside its definition, and its promise enumerated over all small streams."""

import json
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.stats.monitoring.detector import (
    Detected,
    Detector,
    DetectorState,
    bets_against,
    fall_place,
    limit_of_gap,
    promised_limit,
)


def by_definition(
    bar: float, scores: list[float], probabilities: list[float], least: float
) -> float:
    """The sum over bets and over all answers at which they may have begun, written out."""
    total = 0.0
    for stake, share in zip(*bets_against(bar), strict=True):
        bet = stake / (1 - bar)
        gains = [
            1 + bet * least / p * (bar - x) for x, p in zip(scores, probabilities, strict=True)
        ]
        total += share * sum(prod(gains[start:]) for start in range(len(gains)))
    return total


def evidence(state: DetectorState) -> float:
    return float(np.sum(state.evidence))


def test_the_evidence_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    scores = rng.random(60).round(2).tolist()
    probabilities = rng.choice([0.1, 0.25, 1.0], 60).tolist()
    detector = Detector(0.6, 1e12, 0.1)
    state = detector.start()
    for n in range(1, 61):
        state, found = detector.step(
            state, scores[n - 1 : n], probabilities=probabilities[n - 1 : n]
        )
        assert not found
        wanted = by_definition(0.6, scores[:n], probabilities[:n], 0.1)
        assert evidence(state) == pytest.approx(wanted, rel=1e-12)


def test_the_first_two_answers_by_hand() -> None:
    # Against .5 the largest bet is 2: a score of 0 doubles it, a score of 1 takes all.
    detector = Detector(0.5, 100)
    stakes, shares = detector.bets
    assert stakes[-1] == 1
    lost, _ = detector.step(detector.start(), [0.0])
    assert lost.evidence == pytest.approx(shares * (1 + stakes))
    won, _ = detector.step(lost, [1.0])
    assert won.evidence == pytest.approx(shares * (2 + stakes) * (1 - stakes))
    assert won.evidence[-1] == 0


def test_an_answer_drawn_ten_times_as_often_counts_a_tenth() -> None:
    detector = Detector(0.8, 1e9, 0.1)
    factors = detector.factors([0.0, 0.0], [0.1, 1.0])
    assert (factors[0] - 1) / 10 == pytest.approx(factors[1] - 1)


@pytest.mark.parametrize("bar", [0.001, 0.05, 0.3, 0.5, 0.85, 0.99, 0.9999])
def test_no_bet_loses_more_than_all_and_the_capital_is_spread_over_them(bar: float) -> None:
    stakes, shares = bets_against(bar)
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0).all()
    assert all(low < high for low, high in pairwise(stakes))
    for least in (1.0, 0.3, 0.05):
        factors = Detector(bar, 10, least).factors([1.0, 0.0, 0.5], [least] * 3)
        assert factors.min() >= 0
        assert factors[0, -1] == 0


def test_in_a_healthy_stream_the_mean_evidence_is_the_number_of_looks() -> None:
    # Failures are drawn with .8 and come 3 times in 10, the rest with .2: among those judged more
    # than half fail, and only the weights make the mean .7.
    answers = {(0.0, 0.8): 0.3, (1.0, 0.2): 0.5, (0.6, 0.2): 0.1, (1.0, 0.8): 0.1}
    bar = sum(often * x for (x, _), often in answers.items())
    judged = sum(often * p for (_, p), often in answers.items())
    detector = Detector(bar, 1e15, 0.2)
    for looks in (1, 2, 5):
        mean = 0.0
        for stream in product(answers, repeat=looks):
            chance = prod(answers[one] * one[1] / judged for one in stream)
            state, _ = detector.step(
                detector.start(), [x for x, _ in stream], probabilities=[p for _, p in stream]
            )
            mean += chance * evidence(state)
        assert mean == pytest.approx(looks, rel=1e-12)


@pytest.mark.parametrize(("bar", "alpha"), [(0.5, 0.4), (0.7, 0.2), (0.9, 0.1)])
def test_the_promise_holds_over_all_streams_of_twelve_answers(bar: float, alpha: float) -> None:
    looks = 12
    detector = Detector(bar, promised_limit(alpha, looks))
    alarmed = expected = 0.0
    for stream in product([0.0, 1.0], repeat=looks):
        chance = prod(bar if x else 1 - bar for x in stream)
        _, found = detector.step(detector.start(), stream)
        alarmed += chance * bool(found)
        expected += chance * len(found)
    assert 0 < alarmed <= expected <= alpha


def test_where_the_limit_grows_on_the_way_each_look_counts_with_its_own() -> None:
    few, many = Detector(0.7, 8), Detector(0.7, 20)
    expected = 0.0
    for stream in product([0.0, 1.0], repeat=10):
        chance = prod(0.7 if x else 0.3 for x in stream)
        state, first = few.step(few.start(), stream[:5])
        _, later = many.step(state, stream[5:])
        expected += chance * (len(first) + len(later))
    assert 0.1 < expected <= 5 / 8 + 5 / 20


def test_evidence_that_is_exactly_the_limit_is_an_alarm() -> None:
    state, _ = Detector(0.5, 1e9).step(Detector(0.5, 1e9).start(), [0.0, 0.2])
    _, found = Detector(0.5, evidence(state)).step(Detector(0.5, 1e9).start(), [0.0, 0.2])
    assert [(one.number, one.evidence) for one in found] == [(2, evidence(state))]


def test_better_answers_than_the_bar_raise_fewer_alarms() -> None:
    detector = Detector(0.7, promised_limit(0.2, 12))
    streams = product([0.0, 1.0], repeat=12)
    alarming = [one for one in streams if detector.step(detector.start(), one)[1]]

    def alarmed(mean: float) -> float:
        return sum(prod(mean if x else 1 - mean for x in stream) for stream in alarming)

    assert alarmed(0.9) < alarmed(0.8) < alarmed(0.7) < alarmed(0.6)


def test_detectors_share_a_promise_in_equal_parts() -> None:
    assert promised_limit(0.05, 10_000) == pytest.approx(200_000)
    assert promised_limit(0.05, 10_000, detectors=100) == pytest.approx(20_000_000)
    assert limit_of_gap(5_000) == 5_000
    assert limit_of_gap(5_000, detectors=20) == 100_000


@pytest.mark.parametrize(
    ("alpha", "looks", "detectors"), [(0, 10, 1), (1, 10, 1), (0.05, 0, 1), (0.05, 10, 0)]
)
def test_a_promise_out_of_its_range_is_refused(alpha: float, looks: int, detectors: int) -> None:
    with pytest.raises(InputError):
        promised_limit(alpha, looks, detectors=detectors)


def test_many_answers_at_once_are_as_one_by_one_and_as_kept_over_restarts() -> None:
    rng = np.random.default_rng(3)
    scores = np.where(np.arange(3000) < 1000, rng.random(3000) ** 0.2, rng.random(3000) ** 0.4)
    drawn = rng.choice([0.1, 0.85], 3000)
    numbers = np.cumsum(rng.integers(1, 9, 3000))
    detector = Detector(0.8, 1e5, 0.1)
    at_once, found = detector.step(detector.start(), scores, probabilities=drawn, numbers=numbers)
    state, one_by_one = detector.start(), list[Detected]()
    for n in range(3000):
        here = slice(n, n + 1)
        state, alarms = detector.step(
            state, scores[here], probabilities=drawn[here], numbers=numbers[here]
        )
        one_by_one.extend(alarms)
        state = DetectorState.from_dict(json.loads(json.dumps(state.to_dict())))
    assert len(found) > 1
    assert tuple(one_by_one) == found
    assert state == at_once


def test_an_alarm_says_since_when_and_the_detector_starts_anew() -> None:
    detector = Detector(0.8, 1000)
    scores = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0] * 5 + [0.0] * 40
    state, found = detector.step(detector.start(), scores, numbers=np.arange(100, 170))
    first, second = found[0], found[1]
    assert first.since == 130
    assert first.looks == first.number - 99
    assert first.evidence >= 1000
    # With nothing but failures the second alarm wants no more than what the first was after.
    assert second.since == first.number + 1
    assert second.looks == second.number - first.number
    assert state.looks == 169 - found[-1].number


def test_after_an_alarm_a_detector_is_as_a_new_one() -> None:
    scores = (np.random.default_rng(5).random(2000) < 0.7).astype(float)
    detector = Detector(0.8, 1000)
    state, found = detector.step(detector.start(), scores)
    assert len(found) > 2
    begin = 0
    for alarm in found:
        _, rest = detector.step(detector.start(), scores[begin:])
        assert rest[0].looks == alarm.looks
        assert rest[0].evidence == alarm.evidence
        begin += alarm.looks
    numbers = np.arange(begin, 2000) + 1
    assert detector.step(detector.start(), scores[begin:], numbers=numbers) == (state, ())


def test_since_is_the_answer_from_which_on_the_scores_speak_most_for_a_fall() -> None:
    detector = Detector(0.8, 1000)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = np.append(rng.random(100) < 0.8, rng.random(300) < 0.6).astype(float)
        _, found = detector.step(detector.start(), scores)
        factors = detector.factors(scores[: found[0].looks])
        gains = np.cumprod(factors[::-1], axis=0)[::-1] * detector.bets[1]
        assert found[0].since == int(gains.max(axis=1).argmax()) + 1


def test_without_numbers_answers_are_counted_from_one() -> None:
    detector = Detector(0.8, 1000)
    state, _ = detector.step(detector.start(), [1.0, 1.0])
    _, found = detector.step(state, [0.0] * 20)
    assert found[0].since == 3


def test_no_answers_change_nothing() -> None:
    detector = Detector(0.8, 1000)
    state, _ = detector.step(detector.start(), [0.0, 1.0])
    assert detector.step(state, []) == (state, ())


@pytest.mark.parametrize(
    ("bar", "limit", "least"),
    [(0, 10, 1), (1, 10, 1), (float("nan"), 10, 1), (0.5, 0.5, 1), (0.5, float("inf"), 1),
     (0.5, 10, 0), (0.5, 10, 1.1)],
)  # fmt: skip
def test_settings_out_of_their_range_are_refused(bar: float, limit: float, least: float) -> None:
    with pytest.raises(InputError):
        Detector(bar, limit, least)


def place_by_definition(scores: list[float]) -> tuple[int, list[int]]:
    """The best place for a fall, and those that fit at most 3.68 nats worse."""
    fits = {}
    for place in range(1, len(scores)):
        parts = scores[:place], scores[place:]
        means = [sum(part) / len(part) for part in parts]
        if means[1] < means[0]:
            fits[place] = sum(
                x * np.log(mean) if x else np.log(1 - mean)
                for part, mean in zip(parts, means, strict=True) for x in part
            )  # fmt: skip
    best = max(fits, key=lambda place: fits[place])
    return best, [place for place, fit in fits.items() if fit >= fits[best] - 3.68]


def test_a_fall_lies_where_one_mean_and_a_lower_one_fit_best() -> None:
    scores = [1.0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0]
    best, possible = place_by_definition(scores)
    assert fall_place(scores, [1.0] * 16) == (best, min(possible), max(possible))
    assert best == 10
    assert fall_place([0.0], [1.0]) == (0, 0, 0)


@pytest.mark.parametrize("drawn", [(1.0,), (0.25, 0.25, 0.25, 1.0)])
def test_a_fall_lies_in_its_place_in_95_of_100_streams(drawn: tuple[float, ...]) -> None:
    rng = np.random.default_rng(3)
    held, possible = 0, []
    for _ in range(1_000):
        n = 120 + int(rng.integers(0, 200))
        mean = np.where(np.arange(n + 50) < n, 0.85, 0.5)
        # A quarter of all scores is graded.
        graded = np.where(rng.random(n + 50) < 0.25, (mean + 0.5) / 1.5, 1.0)
        scores = (rng.random(n + 50) < mean / graded) * graded
        _, first, last = fall_place(scores, rng.choice(drawn, n + 50))
        held += first <= n <= last
        possible.append(last - first + 1)
    assert held >= 950
    assert np.median(possible) < 40 * len(drawn)
