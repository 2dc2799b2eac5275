"""Heard: what models said about one task of an example, all replies together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragstone.judges.judge import LedgerStatus

from .asker import Outcome
from .task import Matter, Told

TOO_LONG = "too_long"
"""The reason of a question that the model's window does not hold."""

Said = Mapping[str, tuple[Told, Sequence[Outcome]]]
"""By the model's name: its items, and how its questions came out."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said about one task of an example.

    Args:
        matter: What was judged.
        subject: Fingerprint of all that the questions showed: equal subjects, equal questions.
        told: What each model said, by its name.
        status: How it came out as a whole.
        reason: Why there is nothing, or what of it is lacking.
        requests: The keys of the questions; None where none was put.
    """

    matter: Matter
    subject: str
    told: Mapping[str, Told]
    status: LedgerStatus = "ok"
    reason: str | None = None
    requests: tuple[str, ...] | None = None


def heard(matter: Matter, subject: str, said: Said, *, whole: bool) -> Heard:
    """All replies together: ok if any model said anything.

    Args:
        matter: What was judged.
        subject: Fingerprint of what the questions showed.
        said: By model.
        whole: Nothing may be lacking: where units are made, nobody would see that some are not.
    """
    outcomes = [outcome for _, several in said.values() for outcome in several]
    requests = tuple(dict.fromkeys(key for outcome in outcomes for key in outcome.requests))
    told = {name: one for name, (one, _) in said.items()}
    if whole:
        told = {name: one for name, one in told.items() if not one.lacking}
    if any(one.items for one in told.values()):
        reason = None if len(told) > 1 else lacking_in(next(iter(told.values())))
        return Heard(matter, subject, told, "ok", reason, requests or None)
    failed = next((one for one in outcomes if one.status != "ok"), None)
    if failed is None:
        why = next((why for one, _ in said.values() for why in one.lacking.values()), "no reply")
        return Heard(matter, subject, {}, "failed", why, requests or None)
    return Heard(matter, subject, {}, failed.status, failed.reason, requests or None)


def lacking_in(told: Told) -> str | None:
    """What a model left open, and why; None where nothing is."""
    if not told.lacking:
        return None
    why = next(iter(told.lacking.values()))
    count = len(told.lacking)
    return f"{count} of {count + len(told.items.keys() - told.lacking.keys())} left open: {why}"
