"""Budget: how many calls a run may make and what they may cost."""

from ragstone.errors import InputError

BUDGET = "budget"
"""How the reason of what was not asked begins."""


class Budget:
    """What is left. It counts the whole run, with what was spent before it was stopped.

    Args:
        usd: What the calls may cost; None: any sum.
        max_calls: How many there may be; None: any number.
        spent: US dollars spent so far.
        calls: Calls made so far.

    Raises:
        InputError: A limit below 0.
    """

    def __init__(
        self,
        usd: float | None = None,
        max_calls: int | None = None,
        *,
        spent: float = 0.0,
        calls: int = 0,
    ) -> None:
        for option, limit in (("--budget", usd), ("--max-calls", max_calls)):
            if limit is not None and not limit >= 0:
                raise InputError(f"{option}: expected 0 or more, got {limit:g}.")
        self.usd, self.max_calls = usd, max_calls
        self.spent, self.calls = spent, calls
        self.reached: str | None = None

    def reserve(self, usd: float) -> bool:
        """Set aside what a call may cost, and count it; False once a limit is reached.

        Args:
            usd: The estimate; 0 without a limit in USD.
        """
        if self.reached is None:
            if self.max_calls is not None and self.calls >= self.max_calls:
                self.reached = f"{BUDGET}: all {self.max_calls:,} calls of --max-calls are made"
            elif self.usd is not None and self.spent + usd > self.usd:
                self.reached = (
                    f"{BUDGET}: the next call may cost more than is left of --budget {self.usd:g}"
                )
        if self.reached is not None:
            return False
        self.spent += usd
        self.calls += 1
        return True

    def settle(self, reserved: float, spent: float | None) -> None:
        """Put what a call did cost in the place of what was set aside for it.

        Args:
            reserved: What was set aside.
            spent: What it cost; None: not known, so that the estimate stands.
        """
        if spent is not None:
            self.spent += spent - reserved
