"""Gate judge: who gave the scores of a gate, so that another's are not taken for them."""

from dataclasses import dataclass

from ragstone.judges import fingerprint

HEX_DIGITS = 12


@dataclass(frozen=True, slots=True)
class GateJudge:
    """Who gave scores.

    Attributes:
        name: As a guard or a user calls it; empty if it is not known.
        parts: Versions of what its numbers depend on.
    """

    name: str = ""
    parts: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Twelve hex digits, which change with any part."""
        return fingerprint(self.name, *self.parts)[:HEX_DIGITS]

    def is_other(self, now: "GateJudge") -> bool:
        """Whether the scores of the one may not be taken for the other's.

        A judge that is not known is another one; versions count where both are known.
        """
        if not self.name or self.name != now.name:
            return True
        return bool(self.parts and now.parts) and self.parts != now.parts


def gate_judge(given: GateJudge | str | None) -> GateJudge:
    """Who gave scores, also from a name alone; None: not known."""
    match given:
        case GateJudge():
            return given
        case None:
            return GateJudge()
    return GateJudge(given)
