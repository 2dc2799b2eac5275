"""Outcomes: merges several replies to one question."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ragstone.core.messages import Reason, reason
from ragstone.judges.llm.replies import Outcome
from ragstone.judges.llm.task import NOT_SAID

from .attempting import QueuedQuestion


def partly(outcome: Outcome, asked: QueuedQuestion, model: str) -> Outcome:
    """The outcome of a reply with missing items."""
    lacking = {
        name: reason(NOT_SAID, of=model, said=outcome.lacking[name])
        for name in asked.items
        if name in outcome.lacking
    }
    return replace(outcome, lacking=lacking, requests=(asked.key,))


def in_vain(outcome: Outcome) -> Outcome:
    """The outcome of a reply that still lacks items after all attempts."""
    lacking = {name: _with(why, tries="all") for name, why in outcome.lacking.items()}
    return replace(outcome, lacking=lacking)


def completed(first: Outcome, rest: Outcome, *, sent: bool) -> Outcome:
    """A reply completed by the reply to a second question about its missing items.

    Args:
        first: The reply.
        rest: The outcome of the second question.
        sent: Whether the second question was sent.
    """
    alone = str(replace(Reason.read(rest.reason or NOT_SAID), of=""))
    lacking = {
        name: rest.lacking.get(name)
        or _with(fault, **({"alone": alone} if sent else {"not_alone": alone}))
        for name, fault in first.lacking.items()
        if name not in rest.items
    }
    items = {**first.items, **rest.items}
    return Outcome("ok", items, lacking, None, (*first.requests, *rest.requests))


def halves(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Two parts of about the same size, none empty where there are two names."""
    middle = len(names) // 2
    return names[:middle], names[middle:]


def rejoined(parts: Mapping[tuple[str, ...], Outcome], key: str) -> Outcome:
    """The merged outcomes of the parts of a question, by the ids of each part."""
    requests = (key, *(one for part in parts.values() for one in part.requests))
    items = {name: item for part in parts.values() for name, item in part.items.items()}
    if not items:
        worst = next(part for part in parts.values() if part.status != "ok")
        return Outcome(worst.status, reason=worst.reason, requests=requests)
    lacking = {
        name: _why(part, name, NOT_SAID)
        for names, part in parts.items()
        for name in names
        if name not in part.items
    }
    return Outcome("ok", items, lacking, None, requests)


class Remembered:
    """An LRU cache of outcomes, by the key of their question.

    Args:
        most: How many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, Outcome] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str) -> Outcome | None:
        """The outcome, if it is still cached."""
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: str, outcome: Outcome) -> None:
        """Store an outcome, and evict the least recently used."""
        self._kept[key] = outcome
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


def _with(why: str, **facts: str) -> str:
    """A reason with more facts."""
    known = Reason.read(why)
    return str(replace(known, facts={**known.facts, **facts}))


def _why(outcome: Outcome, name: str, otherwise: str) -> str:
    return outcome.lacking.get(name) or outcome.reason or otherwise
