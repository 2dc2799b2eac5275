"""Pages are made in turn, and what is made ready in the background waits for them."""

from contextlib import suppress
from threading import Event, Thread

import pytest

from ragstone.web import background_cache as calm
from ragstone.web.background_cache import RequestGate


def test_the_background_waits_while_a_page_is_made() -> None:
    one, went_on = RequestGate(), Event()

    def background() -> None:
        one.wait()
        went_on.set()

    thread = Thread(target=background)
    with one.busy():
        thread.start()
        assert not went_on.wait(0.2)
    assert not went_on.wait(calm.STILL / 10)
    thread.join()
    assert went_on.is_set()


def test_pages_are_made_in_turn_but_none_waits_long_for_another() -> None:
    one, entered, leave = RequestGate(), [Event(), Event()], Event()

    def page(number: int) -> None:
        with one.in_turn():
            entered[number].set()
            leave.wait(60)

    threads = [Thread(target=page, args=(number,)) for number in range(2)]
    threads[0].start()
    assert entered[0].wait(60)
    threads[1].start()
    assert not entered[1].wait(calm.POLITE / 4)
    assert entered[1].wait(60)
    leave.set()
    for thread in threads:
        thread.join()


def test_a_page_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calm, "POLITE", 3_600)
    one, made = RequestGate(), Event()

    def pages() -> None:
        with suppress(ZeroDivisionError), one.in_turn():
            raise ZeroDivisionError
        with one.in_turn():
            made.set()

    Thread(target=pages, daemon=True).start()
    assert made.wait(60)


def test_where_no_page_was_made_it_does_not_wait() -> None:
    RequestGate().wait()
