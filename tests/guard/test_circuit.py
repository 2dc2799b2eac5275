"""The circuit: a judge that is gone is left alone for a while, and nobody is left in the dark."""

import logging
from threading import Thread

import pytest

from ragstone.core.errors import InputError
from ragstone.guard.claim_judges import Circuit
from ragstone.report.reason_words import explain


class Hand:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Hand:
    return Hand()


def opened(clock: Hand, **how: object) -> Circuit:
    circuit = Circuit(failures=3, retry_after=30, clock=clock, **how)  # type: ignore[arg-type]
    for _ in range(3):
        assert circuit.allow()
        circuit.failed()
    return circuit


def test_it_opens_at_the_last_of_the_failures_in_a_row(clock: Hand) -> None:
    circuit = Circuit(failures=3, clock=clock)
    circuit.failed()
    circuit.failed()
    assert (circuit.state, circuit.allow()) == ("closed", True)
    circuit.failed()
    assert (circuit.state, circuit.allow()) == ("open", False)


def test_a_success_in_between_begins_the_row_anew(clock: Hand) -> None:
    circuit = Circuit(failures=2, clock=clock)
    for _ in range(5):
        circuit.failed()
        circuit.ok()
    assert circuit.state == "closed"
    assert circuit.changes == {"closed": 0, "open": 0, "half_open": 0}


def test_one_call_is_tried_when_the_time_has_come_and_no_other_beside_it(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 29.9
    assert not circuit.allow()
    clock.now += 0.1
    assert circuit.allow()
    assert circuit.state == "half_open"
    assert not circuit.allow()
    assert circuit.refused == 2


def test_it_closes_when_the_try_succeeds(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 30
    assert circuit.allow()
    circuit.ok()
    assert (circuit.state, circuit.allow()) == ("closed", True)
    circuit.failed()
    assert circuit.state == "closed", "the failures of before are forgotten"


def test_a_try_that_fails_opens_it_for_as_long_again(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 30
    assert circuit.allow()
    clock.now += 20
    circuit.failed()
    assert circuit.state == "open"
    clock.now += 29
    assert not circuit.allow()
    clock.now += 1
    assert circuit.allow()


def test_a_try_that_nobody_reports_on_does_not_keep_it_half_open(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 30
    assert circuit.allow()
    clock.now += 30
    assert circuit.allow()
    assert circuit.changes["half_open"] == 1


def test_what_was_asked_before_it_opened_neither_closes_it_nor_keeps_it_open(clock: Hand) -> None:
    circuit = opened(clock)
    circuit.ok()
    assert circuit.state == "open"
    clock.now += 29
    circuit.failed()
    clock.now += 1
    assert circuit.allow(), "counted from when it opened"


def test_each_change_is_counted_and_logged(clock: Hand, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "ragstone.guard"):
        circuit = opened(clock, name="openai:gpt-5-mini", meanwhile="closed")
        clock.now += 30
        circuit.allow()
        circuit.ok()
    assert circuit.changes == {"open": 1, "half_open": 1, "closed": 1}
    assert [one.getMessage() for one in caplog.records] == [
        "guard.circuit judge=openai:gpt-5-mini state=open before=closed failures=3 "
        "retry_after=30s meanwhile=closed",
        "guard.circuit judge=openai:gpt-5-mini state=half_open before=open failures=3 "
        "retry_after=30s meanwhile=closed",
        "guard.circuit judge=openai:gpt-5-mini state=closed before=half_open failures=0 "
        "retry_after=30s meanwhile=closed",
    ]


@pytest.mark.parametrize(
    ("meanwhile", "said"),
    [
        ("local", "m failed 3 times in a row and is not asked for a while; meanwhile the local "
         "judge answers"),
        ("open", "m failed 3 times in a row and is not asked for a while; meanwhile answers pass "
         "unjudged"),
        ("closed", "m failed 3 times in a row and is not asked for a while; meanwhile answers are "
         "held back"),
    ],
)  # fmt: skip
def test_the_reason_tells_what_is_done_meanwhile(clock: Hand, meanwhile: str, said: str) -> None:
    circuit = opened(clock, name="m", meanwhile=meanwhile)
    assert explain(circuit.reason) == said


def test_many_threads_get_one_try_between_them(clock: Hand) -> None:
    circuit = opened(clock)
    clock.now += 30
    allowed: list[bool] = []
    threads = [Thread(target=lambda: allowed.append(circuit.allow())) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum(allowed) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"failures": 0}, "failures=0: give 1 or more."),
        ({"retry_after": -1.0}, "retry_after=-1.0: give 0 seconds or more."),
        ({"retry_after": float("nan")}, "retry_after=nan: give 0 seconds or more."),
    ],
)
def test_numbers_out_of_range_are_refused(given: dict[str, float], said: str) -> None:
    with pytest.raises(InputError) as told:
        Circuit(**given)  # type: ignore[arg-type]
    assert said in str(told.value)
