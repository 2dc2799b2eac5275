"""What takes a while shows the last that is known of it."""

from threading import Event

from ragstone.web.background_cache import BackgroundCache, RequestGate


def test_the_last_result_stands_until_the_next_one_is_there() -> None:
    later, ready = BackgroundCache(RequestGate()), Event()

    def slow() -> str:
        ready.wait(60)
        return "second"

    assert later.newest("group", 1, lambda: "first", 60) == "first"
    assert later.newest("group", 2, slow, 0) == "first"
    assert later.newest("other group", 2, slow, 0) is None
    ready.set()
    assert later.newest("group", 2, slow, 60) == "second"
    assert later.newest("other group", 2, slow, 60) == "second"


def test_a_result_that_comes_after_its_version_is_shown_all_the_same() -> None:
    later, ready, made = BackgroundCache(RequestGate()), Event(), Event()

    def slow() -> str:
        ready.wait(60)
        return "first"

    def next_one() -> str:
        made.set()
        return "second"

    assert later.newest("group", 1, slow, 0) is None
    assert later.newest("group", 2, next_one, 0) is None
    assert not made.is_set(), "one of a group at a time"
    ready.set()
    assert later.newest("group", 3, next_one, 60) in ("first", "second")
    assert later.newest("group", 4, next_one, 60) == "second"
