"""Chat failure: why a model gave no reply, by type of trouble."""

from typing import Literal

from ragstone.core.errors import ModelFailure

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
"""``rate_limit``: status 429. ``server_error``: 5xx and overload. ``timeout``: no reply in time.
``unreachable``: no connection. ``connection``: the connection broke. ``bad_reply``: the reply is
not in the expected format. ``too_long``: more than the context window holds. ``filtered``: a
content filter blocked the question. ``rejected``: the request is invalid. ``parameter``: a setting
of the user's is not supported. ``not_allowed``: the key is wrong or missing. ``not_found``: no such
model or address. ``no_credit``: the account has no credit left."""

PASSING = frozenset(
    {"rate_limit", "server_error", "timeout", "unreachable", "connection", "bad_reply"}
)
"""Transient: a retry may help."""

FINAL = frozenset({"parameter", "not_allowed", "not_found", "no_credit"})
"""Permanent: every other question would fail too, so the run stops immediately."""


class ChatFailure(ModelFailure):
    """A model gave no reply.

    Attributes:
        trouble: The type of failure.
        after: Seconds that the server asks to wait before a retry; 0 if it does not say.
        http: The reply's HTTP status; None if there was no reply.
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
        """Whether a retry may help."""
        return self.trouble in PASSING

    @property
    def final(self) -> bool:
        """Whether every other question would fail too."""
        return self.trouble in FINAL
