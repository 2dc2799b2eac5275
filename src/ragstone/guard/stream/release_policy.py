"""Release policy: what of a stream leaves, and when."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from ragstone.core.errors import InputError

from .unit_verdict import UnitVerdict

Policy = Literal["hold_all", "hold_sentence", "flag_after"]
"""``hold_all``: nothing leaves before the whole answer is assessed, and only if it passes.
``hold_sentence``: each unit leaves once it is judged, unless it fails.
``flag_after``: everything leaves at once, and what is judged is told after."""

IfNotJudgedUnit = Literal["hold", "release"]

Instead = str | Callable[[UnitVerdict], str | None] | None


@dataclass(frozen=True, slots=True)
class ReleasePolicy:
    """What of a stream leaves, and when.

    Args:
        policy: ``hold_all``, ``hold_sentence`` or ``flag_after``.
        stop_early: Whether reading stops at the first unit that fails.
        instead: What leaves in place of what is held: a text, once an answer, where the first unit
            is held; or a function that is called with each unit that is held, in ``hold_all`` with
            the whole answer, and gives a text or None. It is not judged.
        if_not_judged: What becomes of what could not be judged, in time or at all.

    Raises:
        InputError: Settings that cannot be used.
    """

    policy: Policy = "hold_sentence"
    stop_early: bool = False
    instead: Instead = None
    if_not_judged: IfNotJudgedUnit = "hold"

    def __post_init__(self) -> None:
        for name, known in (("policy", Policy), ("if_not_judged", IfNotJudgedUnit)):
            if getattr(self, name) not in get_args(known):
                said = ", ".join(get_args(known))
                raise InputError(f"{name} is {getattr(self, name)!r}; it is one of {said}.")
        if not (self.instead is None or isinstance(self.instead, str) or callable(self.instead)):
            raise InputError(f"instead is {self.instead!r}; it is a text, a function or None.")
        if self.policy == "flag_after" and self.instead is not None:
            raise InputError(
                "policy='flag_after' holds nothing back, so nothing can leave instead; leave "
                "instead= out, or take policy='hold_sentence'."
            )
