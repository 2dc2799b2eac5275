"""Questions of two sorts of items, and an asker whose time jumps to whatever it waits for."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from ragstone.core.files import RunEntry
from ragstone.judges.llm.questions import Item, Piece, Question
from ragstone.run.calls.asker import Asking
from ragstone.run.calls.journal import Journal


class Verdict(Item):
    reason: str
    verdict: Literal["yes", "no"]


class Jump(selectors.DefaultSelector):
    """Waits a moment for threads; where nothing comes, the time to wait for has come."""

    ahead = 0.0

    def __init__(self, moment: float) -> None:
        super().__init__()
        self.moment = moment

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(min(timeout, self.moment))
        if not ready:
            self.ahead += timeout
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    def __init__(self, moment: float = 0.005) -> None:
        self.jump = Jump(moment)
        super().__init__(self.jump)

    def time(self) -> float:
        return super().time() + self.jump.ahead


def piece(names: Sequence[str], text: str, vote: int) -> Piece:
    return Piece(
        task="support",
        instructions="Say yes or no.",
        blocks=(text,),
        items=dict.fromkeys(names, Verdict),
        contexts="Contexts.",
        vote=vote,
    )


@pytest.fixture
def question() -> Callable[..., Question]:
    def make(text: str = "Text.", *names: str, vote: int = 0) -> Question:
        return Question((piece(names or ("p01",), text, vote),), "System.", example="e1")

    return make


@pytest.fixture
def open_asking(tmp_path: Path) -> Iterator[Callable[..., Asking]]:
    """Makes askers on a journal; their time jumps."""
    opened: list[Asking] = []

    def make(folder: Path = tmp_path, **options: Any) -> Asking:
        options = options if "loop" in options else {**options, "loop": JumpingLoop()}
        opened.append(Asking(Journal.open(folder / RunEntry.JOURNAL), **options))
        return opened[-1]

    yield make
    for asking in opened:
        asking.close()


@pytest.fixture
def run() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """Runs what waits, in time that jumps."""
    loop = JumpingLoop(0)
    yield loop.run_until_complete
    loop.close()
