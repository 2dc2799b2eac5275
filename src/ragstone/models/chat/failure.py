"""Chat failure: why a model gave no reply, each trouble told apart."""

from typing import Literal

from ragstone.errors import ModelFailure

Trouble = Literal[
    "rate_limit",
    "server_error",
    "timeout",
    "unreachable",
    "connection",
    "bad_reply",
    "too_long",
    "filtered",
    "rejected",
    "parameter",
    "not_allowed",
    "not_found",
    "no_credit",
]
"""``rate_limit``: 429. ``server_error``: 5xx and overload. ``timeout``: no reply in time.
``unreachable``: no connection. ``connection``: broken off. ``bad_reply``: no reply of its format.
``too_long``: more than the window holds. ``filtered``: a content filter refused the question.
``rejected``: the question is not as the server wants it. ``parameter``: a sampling parameter is
not. ``not_allowed``: the key. ``not_found``: the model or the address. ``no_credit``: the account
is used up."""

PASSING = frozenset(
    {"rate_limit", "server_error", "timeout", "unreachable", "connection", "bad_reply"}
)
"""Asking again may help."""

FINAL = frozenset({"parameter", "not_allowed", "not_found", "no_credit"})
"""Every other question will fail likewise, so the run stops at once."""


class ChatFailure(ModelFailure):
    """A model gave no reply.

    Attributes:
        trouble: Which.
        after: Seconds that the server wants to be left alone; 0 where it does not say.
        http: The reply's status; None where none came.
        body: What the server sent, shortened, without any key.
    """

    def __init__(
        self,
        trouble: Trouble,
        words: str,
        *,
        after: float = 0.0,
        http: int | None = None,
        body: str = "",
    ) -> None:
        self.trouble = trouble
        self.after = after
        self.http = http
        self.body = body
        super().__init__(words)

    @property
    def passing(self) -> bool:
        """Whether asking again may help."""
        return self.trouble in PASSING

    @property
    def final(self) -> bool:
        """Whether no other question will fare better."""
        return self.trouble in FINAL
