"""Clock: a time that a test sets."""


class Clock:
    """Gives the time that it was told, in seconds since the epoch."""

    def __init__(self, at: float = 1_790_000_000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.at += seconds
