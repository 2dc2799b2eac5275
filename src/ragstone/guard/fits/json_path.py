"""JSON path: where a text stands in JSON, such as ``$.choices[0].message.content``."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ragstone.core.errors import InputError

_STEP = re.compile(
    r"""\.([A-Za-z_][\w-]*)|\[(-?\d{1,9})\]|\[(\*)\]|\['([^'\]]*)'\]|\["([^"\]]*)"\]"""
)

Step = str | int | None
"""A key, an index, or None for every element of a list."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A place, or with ``[*]`` several places, in a JSON value.

    The part of RFC 9535 that names places: ``$``, ``.key``, ``['any key']``, ``[0]``, ``[-1]``,
    ``[*]``. No filters, slices or ``..``.
    """

    text: str
    steps: tuple[Step, ...]

    @classmethod
    def read(cls, text: str) -> "JsonPath":
        """Parse a path.

        Raises:
            InputError: It is not such a path.
        """
        steps: list[Step] = []
        at = 1
        while text.startswith("$") and at < len(text):
            found = _STEP.match(text, at)
            if found is None:
                break
            key, index, every, *quoted = found.groups()
            steps.append(
                None if every else int(index) if index
                else next(one for one in (key, *quoted) if one is not None)
            )  # fmt: skip
            at = found.end()
        if not text.startswith("$") or at < len(text):
            raise InputError(
                f"{text!r} is not a JSON path. Write $.key, ['any key'], [0], [-1] or [*] one "
                "after the other, such as $.messages[-1].content."
            )
        return cls(text, tuple(steps))

    def __str__(self) -> str:
        return self.text

    @property
    def several(self) -> bool:
        """Whether it has ``[*]``, and so names a list of places."""
        return None in self.steps

    def values(self, value: Any) -> list[Any] | None:
        """What stands there, in order; None where the way there is missing.

        An empty list where ``[*]`` meets one: nothing is there, which is not the same. With
        ``[*]``, elements without the rest of the way are left out.
        """
        return _values(value, self.steps)

    def changed(self, value: Any, change: Callable[[Any], Any]) -> Any:
        """A copy of the value in which what stands there is changed; the rest is shared."""
        return _changed(value, self.steps, change)


def _values(value: Any, steps: Sequence[Step]) -> list[Any] | None:
    for number, step in enumerate(steps):
        if step is None:
            if not isinstance(value, list):
                return None
            inside = [_values(one, steps[number + 1 :]) for one in value]
            return [one for found in inside if found is not None for one in found]
        if not _has(value, step):
            return None
        value = value[step]
    return [value]


def _changed(value: Any, steps: Sequence[Step], change: Callable[[Any], Any]) -> Any:
    if not steps:
        return change(value)
    step, *rest = steps
    if step is None:
        return [_changed(one, rest, change) for one in value] if isinstance(value, list) else value
    if not _has(value, step):
        return value
    copy = value.copy()
    copy[step] = _changed(value[step], rest, change)
    return copy


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and -len(value) <= step < len(value)
