"""JSON path: a place in a JSON value, such as ``$.choices[0].message.content``."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ragstone.core.errors import InputError

from .json_text import opened

_STEP = re.compile(r"""\.([^\W\d][\w-]*)|\[(-?\d{1,9})\]|\[(\*)\]|\['([^']*)'\]|\["([^"]*)"\]""")

# A key, an index, or None for every element of a list.
Step = str | int | None


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A place, or with ``[*]`` several places, in a JSON value.

    The part of RFC 9535 that names places: ``$``, ``.key``, ``['any key']``, ``[0]``, ``[-1]``,
    ``[*]``. No filters, slices or ``..``.
    """

    text: str
    steps: tuple[Step, ...]

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a path."""
        steps: list[Step] = []
        at = 1
        while text.startswith("$") and at < len(text):
            step = _STEP.match(text, at)
            if step is None:
                break
            key, index, every, *quoted = step.groups()
            keys = (name for name in (key, *quoted) if name is not None)
            steps.append(None if every else int(index) if index else next(keys))
            at = step.end()
        if not text.startswith("$") or at < len(text):
            raise InputError(
                f"{text!r} is not a JSON path. Write $.key, ['any key'], [0], [-1] or [*] one "
                "after the other, such as $.messages[-1].content. Filters, slices and .. are not "
                "understood: use jq for them."
            )
        return cls(text, tuple(steps))

    def __str__(self) -> str:
        return self.text

    @property
    def several(self) -> bool:
        """``True`` if it has ``[*]``, and so names a list of places."""
        return None in self.steps

    def values(self, value: Any, *, open_texts: bool = False) -> list[Any] | None:
        """Return the values there, in order; None where the way there is missing.

        Where ``[*]`` meets an empty list, the result is an empty list, not None. With ``[*]``,
        elements without the rest of the way are left out. ``open_texts`` also enters values that
        are written as JSON in a text.
        """
        return _values(value, self.steps, open_texts)

    def changed(self, value: Any, change: Callable[[Any], Any]) -> Any:
        """Copy the value with what stands there changed; the rest is shared."""
        return _changed(value, self.steps, change)


def path_in(name: str, before: str = "$") -> str:
    """Return the path to a key of the object at the path ``before``.

    >>> path_in("answer", "$.output"), path_in("final answer")
    ('$.output.answer', '$["final answer"]')
    """
    step = f".{name}"
    if not _STEP.fullmatch(step):
        step = f"['{name}']" if '"' in name else f'["{name}"]'
    return before + step


def _values(value: Any, steps: Sequence[Step], open_texts: bool) -> list[Any] | None:
    for number, step in enumerate(steps):
        value = opened(value) if open_texts else value
        if step is None:
            if not isinstance(value, list):
                return None
            inside = [_values(element, steps[number + 1 :], open_texts) for element in value]
            return [part for parts in inside if parts is not None for part in parts]
        if not _has(value, step):
            return None
        value = value[step]
    return [value]


def _changed(value: Any, steps: Sequence[Step], change: Callable[[Any], Any]) -> Any:
    if not steps:
        return change(value)
    step, *rest = steps
    if step is None:
        if not isinstance(value, list):
            return value
        return [_changed(element, rest, change) for element in value]
    if not _has(value, step):
        return value
    copy = value.copy()
    copy[step] = _changed(value[step], rest, change)
    return copy


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and -len(value) <= step < len(value)
