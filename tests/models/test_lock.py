"""The lock: one holder at a time, and a word to whoever waits."""

import threading
import time
from pathlib import Path

from ragstone.models.model_store import locked
from tests.waiting import until


def test_whoever_finds_it_taken_is_told_so_once_and_waits(tmp_path: Path) -> None:
    notes: list[str] = []
    order: list[str] = []
    file = tmp_path / "lock"

    def second() -> None:
        with locked(file, note=notes.append, doing="fetching a model"):
            order.append("second")

    with locked(file, note=notes.append, doing="fetching a model"):
        assert notes == [], "nobody else holds it"
        waiting = threading.Thread(target=second)
        waiting.start()
        until(lambda: notes)
        time.sleep(0.3)
        order.append("first")
    waiting.join(10)
    assert order == ["first", "second"]
    assert notes == ["Another process is fetching a model; waiting for it."]
