"""To do: what comes next for an example."""

from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from ragstone.core.database import Sql

from .rows import marks

Step = Literal["assess", "draw"]
ASSESS: Step = "assess"
DRAW: Step = "draw"


class Waiting(NamedTuple):
    """How many examples wait for a step, and since when the first of them does."""

    n: int
    since: float | None


def to_do(run: Sql, now: float, step: Step, examples: Iterable[str]) -> None:
    """Say that this step comes next for these examples; who waits already keeps the place."""
    run.many(
        "INSERT INTO to_do VALUES (?, ?, ?) ON CONFLICT (example, step) DO NOTHING",
        [(example, step, now) for example in examples],
    )


def done(run: Sql, step: Step, examples: Collection[str]) -> None:
    """Say that this step is done."""
    run(f"DELETE FROM to_do WHERE step = ? AND example IN ({marks(examples)})", step, *examples)


def waiting_for(run: Sql, step: Step) -> Waiting:
    """How many wait for a step."""
    ((n, since),) = run("SELECT count(*), min(at) FROM to_do WHERE step = ?", step)
    return Waiting(int(n), since)
