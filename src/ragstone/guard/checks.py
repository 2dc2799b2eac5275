"""Checks: what is checked of an answer, and from which value on it passes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from numbers import Real
from typing import TypeGuard

from ragstone.core.errors import InputError
from ragstone.judges import MARKERS
from ragstone.judges.local.claim_support import SUPPORTED


@dataclass(frozen=True, slots=True)
class Checks:
    """What is checked of an answer, and from which value on it passes.

    That there is an answer and a context is always checked.

    Args:
        citations: Whether the answer must cite its contexts. False for a system that was not asked
            to; marks that name no context are found all the same.
        citation_pattern: Regular expression that finds citation marks.
        failure_phrases: Further regular expressions for answers that are nothing but a failure
            message. The whole answer must match, without regard to case.
        languages: Languages whose built-in failure messages and list questions are known; None:
            all there are.
        least_retrieval_score: The least mean of the retrieval scores, from 0 to 1; None: it is
            not checked.
        lists: Whether a question for a list must be answered with one.
        least_support: The least probability, from 0 to 1, that the contexts support a claim; None:
            groundedness is not checked.
        numbers: Whether numbers that neither contexts nor question have are named.
        names: The same for names.

    Raises:
        InputError: Lists every value that cannot be used.
    """

    citations: bool = True
    citation_pattern: str = MARKERS
    failure_phrases: Sequence[str] = ()
    languages: Sequence[str] | None = None
    least_retrieval_score: float | None = 0.25
    lists: bool = True
    least_support: float | None = SUPPORTED
    numbers: bool = True
    names: bool = True

    def __post_init__(self) -> None:
        for name in ("failure_phrases", "languages"):
            given = getattr(self, name)
            if isinstance(given, str):
                object.__setattr__(self, name, (given,))
            elif isinstance(given, Iterable):
                object.__setattr__(self, name, tuple(given))
            elif given is not None:
                raise InputError(f"Checks: {name} is {given!r}; it must be a list of texts.")
        faults = [*self._patterns_at_fault(), *self._numbers_at_fault(), *self._unknown_languages()]
        if faults:
            raise InputError("Checks: " + " ".join(faults))

    def _patterns_at_fault(self) -> list[str]:
        found = []
        patterns = [("citation_pattern", self.citation_pattern)]
        patterns += [("failure_phrases", one) for one in self.failure_phrases]
        for name, pattern in patterns:
            try:
                re.compile(pattern)
            except (re.error, TypeError) as error:
                found.append(f"{name} {pattern!r} is no regular expression: {error}.")
        return found

    def _numbers_at_fault(self) -> list[str]:
        return [
            f"{name} is {value!r}; it must be from 0 to 1, or None to leave it out."
            for name in ("least_retrieval_score", "least_support")
            if (value := getattr(self, name)) is not None and not is_share(value)
        ]

    def _unknown_languages(self) -> list[str]:
        from .phrases import LANGUAGES

        return [
            f"languages: {one!r} is not known; there are {', '.join(LANGUAGES)}."
            for one in self.languages or ()
            if one not in LANGUAGES
        ]


def is_share(value: object) -> TypeGuard[Real]:
    """Whether a value is a number from 0 to 1, also one of numpy."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return is_finite(value) and 0 <= float(value) <= 1


def is_finite(value: Real) -> bool:
    """Whether a number is finite as a float."""
    try:
        return isfinite(value)
    except OverflowError:
        return False
