"""Counts: counts of questions and calls, for progress reports."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.models.chat import Usage


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a run since it was started or resumed.

    Args:
        answered: Settled questions, successful or not, including those from journal and cache.
        failed: Of these, the ones without a valid reply.
        calls: Requests sent, each attempt one.
        in_flight: Of these, the ones without a reply yet.
        waiting: Requests that wait to be sent.
        from_journal: Questions that this run had asked before.
        from_cache: Questions that earlier runs had asked.
        rate_limits: Times that a server said 429.
        retries: Requests that were not the first of their question.
        prompt: Tokens sent, as far as servers say so.
        cached: Of these, the ones from the server's cache.
        completion: Tokens that came back.
        usd: What it cost; None while no cost is known.
        troubles: What went wrong, and how often.
    """

    answered: int = 0
    failed: int = 0
    calls: int = 0
    in_flight: int = 0
    waiting: int = 0
    from_journal: int = 0
    from_cache: int = 0
    rate_limits: int = 0
    retries: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    usd: float | None = None
    troubles: Mapping[str, int] = field(default_factory=dict)

    @property
    def any_reply(self) -> bool:
        """Whether any reply came, even an invalid one, because it may have to be paid for."""
        return self.answered > self.failed or self.completion > 0 or self.prompt > 0


@dataclass(slots=True)
class CallTally:
    """The running counts."""

    answered: int = 0
    failed: int = 0
    calls: int = 0
    from_journal: int = 0
    from_cache: int = 0
    retries: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    usd: float | None = None
    troubles: Counter[str] = field(default_factory=Counter)

    def came_back(self, trouble: str | None, usage: Usage | None, usd: float | None) -> None:
        """An attempt came back.

        Args:
            trouble: What went wrong; None where nothing did.
            usage: What a reply took; None where none came.
            usd: What it cost, where that is known.
        """
        if trouble is not None:
            self.troubles[trouble] += 1
        if usage is None:
            return
        self.prompt += usage.prompt or 0
        self.cached += usage.cached or 0
        self.completion += usage.completion or 0
        if usd is not None:
            self.usd = (self.usd or 0.0) + usd

    def read(self, in_flight: int, waiting: int) -> Counts:
        """The present counts."""
        troubles = dict(self.troubles)
        return Counts(
            answered=self.answered,
            failed=self.failed,
            calls=self.calls,
            in_flight=in_flight,
            waiting=waiting,
            from_journal=self.from_journal,
            from_cache=self.from_cache,
            rate_limits=troubles.get("rate_limit", 0),
            retries=self.retries,
            prompt=self.prompt,
            cached=self.cached,
            completion=self.completion,
            usd=self.usd,
            troubles=troubles,
        )
