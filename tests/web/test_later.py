"""What takes a while shows the last that is known of it."""

from threading import Event

from ragstone.web.calm import Calm
from ragstone.web.later import Later


def test_the_last_result_stands_until_the_next_one_is_there() -> None:
    later, ready = Later(Calm()), Event()

    def slow() -> str:
        ready.wait(60)
        return "second"

    assert later.newest("group", 1, lambda: "first", 60) == "first"
    assert later.newest("group", 2, slow, 0) == "first"
    assert later.newest("other group", 2, slow, 0) is None
    ready.set()
    assert later.newest("group", 2, slow, 60) == "second"
    assert later.newest("other group", 2, slow, 60) == "second"
