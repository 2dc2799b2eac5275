"""Limits: rate and cost of model calls. They do not change what is measured."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.errors import InputError

if TYPE_CHECKING:
    from .calls.model_client import CallLimits


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on calls to models.

    Args:
        timeout: Seconds to wait for one reply after sending the request.
        concurrency: Maximum concurrent calls per model; adapts to the server's limit.
        rpm: Maximum calls per minute to each model; None: no known limit.
        tpm: Maximum tokens per minute to each model; None: no known limit.
        max_calls: Maximum calls in the whole run; what is then not judged is missing.
        budget: Maximum cost of the whole run in US dollars; needs prices.
        prices: TOML file with prices; None: the prices in the ``prices`` extra.
        cache: Folder that caches replies across runs, or its URL, such as ``s3://bucket/cache``;
            None: Ragstone's cache folder.
        cached: Whether to use replies cached by earlier runs and to cache new ones.

    Raises:
        InputError: A value out of range.
    """

    timeout: float = 120.0
    concurrency: int = 64
    rpm: int | None = None
    tpm: int | None = None
    max_calls: int | None = None
    budget: float | None = None
    prices: Path | None = None
    cache: str | Path | None = None
    cached: bool = True

    def __post_init__(self) -> None:
        faults = [
            f"{name} must be above 0, not {value:g}"
            for name in ("timeout", "concurrency", "rpm", "tpm")
            if (value := getattr(self, name)) is not None and not value > 0
        ]
        faults += [
            f"{name} must be 0 or more, not {value:g}"
            for name in ("max_calls", "budget")
            if (value := getattr(self, name)) is not None and not value >= 0
        ]
        if faults:
            raise InputError(f"{'; '.join(faults)}.")

    @property
    def of_a_model(self) -> "CallLimits":
        """The limits for each model."""
        from .calls.model_client import CallLimits

        return CallLimits(
            concurrency=self.concurrency,
            timeout=self.timeout,
            requests_a_minute=self.rpm,
            tokens_a_minute=self.tpm,
        )


USUAL = Limits()
"""No minute and no money is counted."""
