"""What is made ready in the background waits while people wait for pages."""

from threading import Event, Thread

from ragstone.web import calm
from ragstone.web.calm import Calm


def test_the_background_waits_while_a_page_is_made() -> None:
    one, went_on = Calm(), Event()

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


def test_where_no_page_was_made_it_does_not_wait() -> None:
    Calm().wait()
