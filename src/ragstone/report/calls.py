"""Calls: the requests sent to models about an example, with replies and cost."""

import json
from collections.abc import Iterator, Sequence

from ragstone.models.chat import Usage
from ragstone.run import Entry
from ragstone.run.calls.journal_reader import Attempt, Totals

from .figures import counted
from .page import OutlineItem, Phrase, quiet, strong
from .words import words


def call_items(found: Sequence[Entry], *, prompts: bool = False) -> Iterator[OutlineItem]:
    """One item for each request: its cost, what went wrong, and the reply as received."""
    for call in found:
        head = (strong(call.task), f"  {call.judge}", quiet(f"  {call.key[:8]}"))
        inner = []
        if prompts:
            parts = (call.system, "".join(call.parts))
            inner += [OutlineItem(quiet(text)) for text in parts]
        for attempt in call.attempts:
            inner.append(OutlineItem(quiet(_took(attempt))))
            if attempt.trouble:
                why = f": {words(attempt.words)}" if attempt.words else ""
                inner.append(OutlineItem(Phrase(f"{attempt.trouble}{why}", "caution")))
            if attempt.reply:
                inner.append(OutlineItem(Phrase(_pretty(attempt.reply), "text")))
        yield OutlineItem(head, tuple(inner))


def took(totals: Totals) -> str:
    """The cost of all requests of a run, in words.

    >>> took(Totals(calls=350, from_cache=50, prompt=9000, completion=700, usd=0.0123))
    '350 model calls, 50 replies of earlier runs, 9,000 tokens sent, 700 received, $0.0123'
    """
    parts = [f"{totals.calls:,} model call{'' if totals.calls == 1 else 's'}"]
    if totals.from_cache:
        parts.append(f"{totals.from_cache:,} replies of earlier runs")
    if totals.prompt:
        cached = f" ({totals.cached:,} from the server's cache)" if totals.cached else ""
        parts.append(f"{totals.prompt:,} tokens sent{cached}, {totals.completion:,} received")
    if totals.calls:
        more = f" and {totals.unpriced:,} calls without a price" if totals.unpriced else ""
        parts.append(cost(None) if totals.usd is None else f"{cost(totals.usd)}{more}")
    return ", ".join(parts)


def spent(totals: Totals | None) -> str:
    """The calls of a run and their cost in a few words.

    >>> spent(None), spent(Totals(calls=350, usd=1.5)), spent(Totals(calls=1))
    ('no calls to models', '350 calls, $1.50', '1 call, cost unknown')
    """
    if totals is None or not totals.calls:
        return "no calls to models"
    return f"{counted(totals.calls, 'call')}, {cost(totals.usd)}"


def lasted(seconds: float | None) -> str:
    """How long a run took; empty if that is not known.

    >>> lasted(107.2), lasted(2400), lasted(None)
    ('107 s', '40 min', '')
    """
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def cost(usd: float | None) -> str:
    """US dollars, to a hundredth of a cent below one dollar; words if the cost is unknown.

    >>> cost(0.00123), cost(12.5), cost(None)
    ('$0.0012', '$12.50', 'cost unknown')
    """
    if usd is None:
        return "cost unknown"
    return f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}"


def tokens(usage: Usage) -> str:
    """The tokens of a request and its reply; words if the server does not report them.

    >>> tokens(Usage(prompt=2413, completion=120, cached=1920))
    '2,413 tokens sent (1,920 from its cache), 120 received'
    """
    if usage.prompt is None and usage.completion is None:
        return "tokens unknown"
    sent = "tokens sent unknown" if usage.prompt is None else f"{usage.prompt:,} tokens sent"
    cached = f" ({usage.cached:,} from its cache)" if usage.cached else ""
    back = "" if usage.completion is None else f", {usage.completion:,} received"
    thought = f" ({usage.reasoning:,} of them reasoning)" if usage.reasoning else ""
    return f"{sent}{cached}{back}{thought}"


def _took(attempt: Attempt) -> str:
    if attempt.source == "cache":
        return "the reply of an earlier run, from the cache"
    if attempt.source == "batch":
        return f"in a batch: {tokens(attempt.usage)}, {cost(attempt.usd)}"
    which = f"attempt {attempt.number}: " if attempt.number > 1 else ""
    if attempt.finish is None:
        return f"{which}{attempt.seconds:.2f} s"
    parts = (f"{attempt.seconds:.2f} s", tokens(attempt.usage), cost(attempt.usd))
    return f"{which}{', '.join(parts)}"


def _pretty(reply: str) -> str:
    """A JSON reply with one item per line; any other reply unchanged."""
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        return reply
    if not isinstance(value, dict):
        return reply
    lines = (f"{name}: {json.dumps(one, ensure_ascii=False)}" for name, one in value.items())
    return "\n".join(lines)
