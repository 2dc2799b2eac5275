"""Batched: what the calls of a run ask of its batches."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ragstone.models.chat import ChatModel

from .attempting import AttemptResult, QueuedQuestion

Fate = Literal["later", "first", "alone", "given_up"]
"""What becomes of a question that has no reply. ``later``: it is noted for a batch. ``first``: it
is asked singly, so that what is wrong with key, model or settings shows before a batch is sent; the
others wait for it. ``alone``: it is asked singly. ``given_up``: no batch answered it."""


@dataclass(frozen=True, slots=True)
class StoredReply:
    """What came back for a question in a batch, and was not read yet.

    Args:
        tag: Of the batch.
        at: When that was sent, in seconds since 1970.
        seconds: How long it took.
        result: The reply or the failure.
    """

    tag: str
    at: float
    seconds: float
    result: AttemptResult


class BatchedReplies(Protocol):
    """The batches of a run, as the calls see them."""

    def stored(self, model: ChatModel, asked: QueuedQuestion) -> Sequence[StoredReply]:
        """What came back for a question and was not read yet, the earliest first."""

    def taken(self, key: str, stored: StoredReply) -> None:
        """It is in the journal."""

    async def fate(self, model: ChatModel, asked: QueuedQuestion) -> Fate:
        """What becomes of a question that has no reply."""

    def looked(self, model: ChatModel) -> None:
        """The first question was asked."""
