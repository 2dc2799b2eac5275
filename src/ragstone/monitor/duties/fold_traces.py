"""Trace folding: received parts of traces become examples, anew whenever more of a trace comes."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from time import monotonic, time
from typing import Any

from ragstone.core.errors import MissingDependency
from ragstone.data import Example, as_record
from ragstone.data.traces import Corpus, FoldedTrace, TracedExample, TracePart, fold
from ragstone.monitor.store import incoming
from ragstone.monitor.store.incoming import settle
from ragstone.monitor.store.rows import count, log
from ragstone.monitor.store.store import MonitorStore

# Traces that are written in one transaction: whoever else writes waits for no more than that.
PAGE = 200

SETTLE = 10.0
# Seconds after which a trace without a root is taken as it is.
UNROOTED = 120.0

LONGEST_FACET = 200
_NO_SLICES = ("session", "user")
FOREVER = float("inf")


@dataclass(frozen=True)
class Folding:
    """Folds what came, and settles the traces of which nothing more is waited for.

    A kill at any moment loses and doubles nothing: what is folded, and how far, is written at once.
    """

    store: MonitorStore
    corpus: Corpus | None = None
    settle: float = SETTLE
    now: Callable[[], float] = time

    def step(self) -> int:
        """Fold and settle a page of traces; returns how many."""
        return self._fold_page() + self._settle_page(self.settle, UNROOTED)

    def fold_all(self, seconds: float = FOREVER) -> int:
        """Fold and settle everything that there is, without waiting for more; returns how much."""
        until, n = monotonic() + seconds, 0
        while page := self._fold_page() + self._settle_page(-FOREVER, -FOREVER):
            n += page
            if monotonic() > until:
                break
        return n

    def _fold_page(self) -> int:
        database = self.store.database
        with database.reading() as run:
            before = incoming.erasures(run), incoming.folded_through(run)
            new = incoming.parts_after(run, before[1], PAGE)
            if not new:
                return 0
            parts = incoming.parts_of(run, list(dict.fromkeys(trace for _, trace in new)))
        through = new[-1][0]
        traces: list[incoming.StoredTrace] = []
        examples: list[incoming.FoldedExample] = []
        unfoldable: list[tuple[str, str]] = []
        for trace, pending in parts.items():
            try:
                sent = [TracePart(part.trace, part.kind, part.body, 0) for part in pending]
                folded_trace = fold(sent, self.corpus)
                rows = [_row(example, trace) for example in folded_trace.examples]
            except MissingDependency:
                raise  # These parts are read once the extra is installed.
            except Exception as error:
                # One strange trace must not hold up all others; it is counted and logged.
                unfoldable.append((trace, type(error).__name__))
                folded_trace, rows = FoldedTrace(False, (), "none", 0, 0), []
            traces.append(_stored(trace, pending, folded_trace))
            examples += rows
        with database.transaction() as run:
            if (incoming.erasures(run), incoming.folded_through(run)) != before:
                return len(parts)  # Another process did it, or some of it was erased meanwhile.
            now = self.now()
            incoming.write_folded(run, now, traces, examples)
            count(run, now, {"unfoldable": len(unfoldable)})
            for trace, fault in unfoldable:
                log(run, now, "error", f"The trace {trace} cannot be folded ({fault}).")
            incoming.folded(run, through)
        return len(parts)

    def _settle_page(self, rooted: float, unrooted: float) -> int:
        now = self.now()
        database = self.store.database
        with database.reading() as run:
            if not incoming.traces_to_settle(run, now - rooted, now - unrooted, 1):
                return 0
        with database.transaction() as run:
            traces = incoming.traces_to_settle(run, now - rooted, now - unrooted, PAGE)
            settle(run, now, traces)
        return len(traces)


def _stored(
    trace: str, parts: Sequence[incoming.PendingPart], folded_trace: FoldedTrace
) -> incoming.StoredTrace:
    times = [part.at for part in parts]
    content = folded_trace.content if folded_trace.calls or folded_trace.examples else ""
    return incoming.StoredTrace(
        trace,
        first_at=min(times),
        last_at=max(times),
        rooted=int(folded_trace.rooted),
        through=parts[-1].number,
        content=content,
    )


def _row(traced: TracedExample, trace: str) -> incoming.FoldedExample:
    example = replace(traced.with_facts("latency", "input_tokens", "output_tokens"), id=traced.id)
    names = ("ended", "model", "input_tokens", "output_tokens", "latency", "error")
    facts = {name: value for name in names if (value := getattr(traced, name)) is not None}
    slices: dict[str, Any] = {
        **{name: example.facet(name) for name in example.slices if name not in _NO_SLICES},
        **{"system": example.system, "version": traced.version, "model": traced.model},
    }
    return incoming.FoldedExample(
        traced.id, trace, traced.span, traced.at, traced.session, traced.user, traced.version,
        example.system, json.dumps(as_record(example), ensure_ascii=False), text_hash(example),
        json.dumps(facts, ensure_ascii=False),
        {name: value[:LONGEST_FACET] for name, value in slices.items() if value},
    )  # fmt: skip


def text_hash(example: Example) -> str:
    """Return a hash that changes with all that is judged of an example, and nothing else."""
    texts = (
        example.question,
        example.answer,
        None
        if example.contexts is None
        else [(context.id, context.text) for context in example.contexts],
        [asdict(turn) for turn in example.history],
        *(example.reference, example.policy, example.evidence),
        *example.criteria,
    )
    written = json.dumps(texts, ensure_ascii=True)
    return blake2b(written.encode(), digest_size=16).hexdigest()
