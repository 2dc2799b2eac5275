"""Journal reader: reads a run's journal: questions, replies, totals.

A file that cannot be read is an ``InputError``.
"""

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ragstone.core.sqlite import (
    SqliteLayout,
    as_number,
    as_text,
    as_whole,
    damaged,
    explaining,
    maybe,
    open_to_read,
)
from ragstone.models.chat import Usage
from ragstone.stats.weights_and_groups import ValueCounts

LAYOUT = SqliteLayout(
    owner=0x5261_674A,
    version=1,
    tables=(
        "CREATE TABLE parts (digest TEXT PRIMARY KEY, text TEXT NOT NULL)",
        """CREATE TABLE requests (
            key TEXT PRIMARY KEY, judge TEXT NOT NULL, task TEXT NOT NULL, example TEXT NOT NULL,
            vote INTEGER NOT NULL, name TEXT NOT NULL, parts TEXT NOT NULL, schema TEXT NOT NULL)
        """,
        """CREATE TABLE attempts (
            key TEXT NOT NULL, attempt INTEGER NOT NULL, source TEXT NOT NULL, at REAL NOT NULL,
            seconds REAL NOT NULL, trouble TEXT, words TEXT, http INTEGER, reply TEXT NOT NULL,
            finish TEXT, model TEXT, prompt_tokens INTEGER, completion_tokens INTEGER,
            cached_tokens INTEGER, reasoning_tokens INTEGER, usd REAL,
            PRIMARY KEY (key, attempt))
        """,
    ),
    synchronous="FULL",
)

ATTEMPT = (
    "key, attempt, source, at, seconds, trouble, words, http, reply, finish, model, "
    "prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, usd"
)

SOURCES = ("model", "cache", "batch")
Source = Literal["model", "cache", "batch"]
UNKNOWN = Usage()
LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a question, whose ``key`` it has; attempts count from 1.

    Args:
        source: ``model``; ``batch`` where it was asked in a batch; ``cache`` where the reply is
            that of an earlier run.
        at: Seconds since 1970; in a batch, when that was sent.
        trouble: What went wrong; None where the reply can be read.
        words: More about that: a reason, or what the server said; of older runs a sentence.
        http: The status, where the reply was no success.
        model: As the server names it.
        usd: What it cost; None where that is not known.
    """

    key: str
    number: int
    source: Source
    at: float
    seconds: float
    trouble: str | None = None
    words: str | None = None
    http: int | None = None
    reply: str = ""
    finish: str | None = None
    model: str | None = None
    usage: Usage = UNKNOWN
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A question and all attempts at it.

    Args:
        key: Of the question.
        judge: The model's name.
        task: What was asked.
        example: The first example that it was asked for.
        vote: Which of several times that the same is asked.
        system: What the model was told first.
        parts: The message.
        schema: The JSON schema of the reply.
        attempts: In order.
    """

    key: str
    judge: str
    task: str
    example: str
    vote: int
    system: str
    parts: tuple[str, ...]
    schema: str
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """The totals of a run's model calls.

    Args:
        calls: Requests sent to models, each attempt one.
        from_cache: Replies of earlier runs.
        prompt: Tokens sent, those from the server's cache too; of calls that say so.
        reasoning: Tokens that came back and were never seen.
        usd: The cost of the calls whose cost is known; None if there are none.
        unpriced: Replies whose cost is not known.
    """

    calls: int = 0
    from_cache: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    usd: float | None = None
    unpriced: int = 0
    troubles: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallTimes:
    """Durations and costs of a judge's calls for one task.

    Attributes:
        judge: The model's name.
        task: What was asked.
        calls: Requests sent, each attempt one; replies of earlier runs are none.
        seconds: Within which half, nine of ten and 99 of 100 calls ended, to a thousandth.
        usd: What at most half, nine of ten and 99 of 100 calls cost, likewise; empty if no cost is
            known.
        total: What they cost together; None if no cost is known.
        unpriced: Calls whose cost is not known.
    """

    judge: str
    task: str
    calls: int
    seconds: tuple[float, ...]
    usd: tuple[float, ...]
    total: float | None
    unpriced: int


PERCENTILES = (50, 90, 99)


def entries(file: Path, keys: Sequence[str]) -> list[Entry]:
    """The questions under these keys, in that order; keys may be cut, unknown ones are left out."""
    with _reading(file) as connection:
        return [entry for key in keys for entry in _entries(connection, key)]


def answered(file: Path) -> set[str]:
    with _reading(file) as connection:
        rows = connection.execute("SELECT key FROM attempts WHERE trouble IS NULL")
        return {key for (key,) in rows}


def totals(file: Path) -> Totals:
    with _reading(file) as connection:
        return count(connection)


def reasoned(file: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """Numbers of replies and reasoning tokens by judge and task, if the server reports these."""
    with _reading(file) as connection:
        rows = connection.execute(
            "SELECT judge, task, count(*), sum(reasoning_tokens) "
            "FROM attempts JOIN requests USING (key) "
            "WHERE source != 'cache' AND reasoning_tokens IS NOT NULL GROUP BY 1, 2"
        )
        return {
            (as_text(judge), as_text(task)): (replies, as_whole(tokens))
            for judge, task, replies, tokens in rows
        }


@dataclass(slots=True)
class _CountedCalls:
    seconds: ValueCounts = field(default_factory=ValueCounts)
    usd: ValueCounts = field(default_factory=ValueCounts)
    total: float | None = None


def call_times(file: Path) -> list[CallTimes]:
    """Read durations and costs of the calls, by judge and task; the most expensive first."""
    by_task: dict[tuple[str, str], _CountedCalls] = defaultdict(_CountedCalls)
    with _reading(file) as connection:
        rows = connection.execute(
            "SELECT judge, task, seconds, usd FROM attempts JOIN requests USING (key) "
            "WHERE source != 'cache'"
        )
        for judge, task, seconds, usd in rows:
            calls = by_task[as_text(judge), as_text(task)]
            # A journal edited by hand may hold a time or cost below 0, which none has.
            calls.seconds.add(max(0.0, as_number(seconds)))
            if usd is not None:
                cost = max(0.0, as_number(usd))
                calls.usd.add(cost)
                calls.total = (calls.total or 0.0) + cost
    listed = [
        CallTimes(
            *key, calls.seconds.n, calls.seconds.percentiles(PERCENTILES),
            calls.usd.percentiles(PERCENTILES), calls.total, calls.seconds.n - calls.usd.n,
        )
        for key, calls in by_task.items()
    ]  # fmt: skip
    return sorted(listed, key=lambda calls: (-(calls.total or 0), calls.judge, calls.task))


def served(file: Path) -> Counter[tuple[str, str]]:
    """The number of replies of each judge by model, as its server names it.

    Those of earlier runs count too; a server that names none does not.
    """
    with _reading(file) as connection:
        rows = connection.execute(
            "SELECT judge, model, count(*) FROM attempts JOIN requests USING (key) "
            "WHERE trouble IS NULL AND model IS NOT NULL GROUP BY 1, 2 ORDER BY 1, min(at), 2"
        )
        counts: Counter[tuple[str, str]] = Counter()
        for judge, model, replies in rows:
            # A name has to be written into a file, and is read at a glance.
            name = as_text(model).encode(errors="replace").decode()
            name = name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME] + "…"
            counts[as_text(judge), name] += replies
        return counts


@contextmanager
def _reading(file: Path) -> Iterator[sqlite3.Connection]:
    with explaining(file), closing(open_to_read(file, LAYOUT)) as connection:
        yield connection


def count(connection: sqlite3.Connection) -> Totals:
    (row,) = connection.execute(
        """SELECT coalesce(sum(source != 'cache'), 0), coalesce(sum(source = 'cache'), 0),
            coalesce(sum(prompt_tokens), 0), coalesce(sum(completion_tokens), 0),
            coalesce(sum(cached_tokens), 0), coalesce(sum(reasoning_tokens), 0),
            coalesce(sum(usd IS NULL AND finish IS NOT NULL), 0), sum(usd)
        FROM attempts"""
    )
    *numbers, usd = row
    names = ("calls", "from_cache", "prompt", "completion", "cached", "reasoning", "unpriced")
    counts = dict(zip(names, map(as_whole, numbers), strict=True))
    troubles = connection.execute(
        "SELECT trouble, count(*) FROM attempts WHERE trouble IS NOT NULL GROUP BY 1 ORDER BY 1"
    )
    return Totals(
        **counts,
        usd=maybe(as_number, usd),
        troubles={as_text(trouble): count for trouble, count in troubles},
    )


def attempt_of(row: Sequence[object]) -> Attempt:
    key, number, source, at, seconds, trouble, words, http, reply, finish, model, *rest = row
    *tokens, usd = rest
    if source not in SOURCES:
        raise damaged(f"an attempt from {source!r}")
    checked: Source = "batch" if source == "batch" else "cache" if source == "cache" else "model"
    return Attempt(
        as_text(key), as_whole(number), checked, as_number(at), as_number(seconds),
        maybe(as_text, trouble), maybe(as_text, words), maybe(as_whole, http), as_text(reply),
        maybe(as_text, finish), maybe(as_text, model),
        Usage(*tokens), maybe(as_number, usd),  # type: ignore[arg-type]
    )  # fmt: skip


def _entries(connection: sqlite3.Connection, key: str) -> Iterator[Entry]:
    questions = connection.execute(
        "SELECT key, judge, task, example, vote, parts, schema FROM requests "
        "WHERE key >= ? AND key < ? ORDER BY key",
        (key, key + "g"),
    )
    for whole_key, judge, task, example, vote, digests, schema in questions.fetchall():
        system, *parts = (_part(connection, digest) for digest in _digests(digests))
        attempts = connection.execute(
            f"SELECT {ATTEMPT} FROM attempts WHERE key = ? ORDER BY attempt", (whole_key,)
        )
        yield Entry(
            as_text(whole_key), as_text(judge), as_text(task), as_text(example), as_whole(vote),
            system, tuple(parts), _part(connection, schema), tuple(map(attempt_of, attempts)),
        )  # fmt: skip


def _digests(written: object) -> list[object]:
    try:
        digests = json.loads(as_text(written))
    except (ValueError, RecursionError) as error:
        raise damaged("a question whose parts are no JSON") from error
    if (
        not isinstance(digests, list)
        or not digests
        or not all(isinstance(digest, str) for digest in digests)
    ):
        raise damaged("a question without parts")
    return digests


def _part(connection: sqlite3.Connection, digest: object) -> str:
    for (text,) in connection.execute("SELECT text FROM parts WHERE digest = ?", (digest,)):
        return as_text(text)
    raise damaged(f"part {digest} of a question is not there")
