"""A step that fails waits the longer the more often it fails, and stops nothing."""

from ragstone.monitor.duties.periodic_steps import Retried
from ragstone.monitor.store.rows import last_lines
from ragstone.monitor.store.store import MonitorStore
from tests.clock import Clock


def test_the_pauses_double_up_to_a_minute_and_begin_anew_after_a_success(
    store: MonitorStore,
) -> None:
    clock, pauses, fails = Clock(), list[float](), True

    def do() -> int:
        if fails:
            raise ValueError("the text of somebody")
        return 3

    one = Retried("Folding", do, store, clock)
    for _ in range(8):
        one.step()
        pauses.append(one.waits_until - clock.at)
        clock.wait(pauses[-1] - 0.5)
        assert one.step() == 0
        clock.wait(0.5)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    fails = False
    assert one.step() == 3
    fails = True
    one.step()
    assert one.waits_until - clock.at == 1
    with store.database.reading() as run:
        lines = last_lines(run)
    assert len(lines) == 9
    assert not any("somebody" in text for _, _, text in lines)


def test_a_clock_that_is_set_back_prolongs_no_pause(store: MonitorStore) -> None:
    clock, calls = Clock(), list[float]()

    def do() -> int:
        calls.append(clock.at)
        raise ValueError

    one = Retried("Folding", do, store, clock)
    for jump in (0.0, -86_400.0, 86_400.0):
        clock.wait(jump)
        one.step()
    assert len(calls) == 3


def test_a_duty_rests_once_it_did_less_than_a_page(store: MonitorStore) -> None:
    clock, counts = Clock(), iter((5, 4, 3, 2))
    duty = Retried("Summing", lambda: next(counts), store, clock, rest=10.0, page=5)
    assert [duty.step() for _ in range(3)] == [5, 4, 0]
    clock.wait(9.9)
    assert duty.step() == 0
    clock.wait(0.1)
    assert duty.step() == 3
    clock.wait(-3_600)
    assert duty.step() == 2, "a clock that is set back prolongs no rest"
