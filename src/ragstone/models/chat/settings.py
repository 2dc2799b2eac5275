"""Settings: how a model is to answer, as they stand after its name: ``?temperature=0&seed=7``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Literal, TypeVar, get_args

from ragstone.errors import ModelError

from .model import ITEMS

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Layout = Literal["strict", "json", "prompt"]
"""``strict``: the schema goes in the server's own field. ``json``: it is printed in the prompt, and
the server holds the reply to JSON. ``prompt``: it is printed in the prompt, and that is all."""

ASKING = ("window", "items")
"""Settings that change which questions are put, and not the reply to one."""

Word = TypeVar("Word")
Number = TypeVar("Number", int, float)

EFFORTS: tuple[Effort, ...] = get_args(Effort)
LAYOUTS: tuple[Layout, ...] = get_args(Layout)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is to answer; None where the user did not say.

    Args:
        temperature: From 0 to 2; not said: 0, where the server takes one.
        top_p: Above 0, to 1.
        seed: A whole number from 0.
        effort: How long a reasoning model is to think.
        max_tokens: Of the reply, at most, reasoning included.
        schema: Where the reply's schema goes; not said: ``strict``.
        window: Tokens that question and reply may have together.
        items: Of one task that a question may be about; fewer are easier for small models.
    """

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    effort: Effort | None = None
    max_tokens: int | None = None
    schema: Layout | None = None
    window: int | None = None
    items: int | None = None

    @property
    def given(self) -> dict[str, str]:
        """What the user said, as text, in a fixed order."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _text(value) for name, value in values.items() if value is not None}

    @property
    def answering(self) -> str:
        """What changes the reply to a question: ``temperature=0&seed=7``."""
        return "&".join(f"{name}={said}" for name, said in self.given.items() if name not in ASKING)

    @property
    def sampling(self) -> str:
        """What is asked for, with the temperature that is meant where none is given, in words."""
        said = {"temperature": "0"} | self.given
        return ", ".join(f"{name} {text}" for name, text in said.items() if name not in ASKING)

    def __str__(self) -> str:
        """The text form: the same settings in another order have the same."""
        given = "&".join(f"{name}={said}" for name, said in self.given.items())
        return f"?{given}" if given else ""


@dataclass(frozen=True, slots=True)
class Takes:
    """The settings that a wire format has a place for.

    Args:
        names: Of settings.
        efforts: That it knows.
        layouts: Of the schema that it knows.
    """

    names: frozenset[str]
    efforts: tuple[Effort, ...] = EFFORTS
    layouts: tuple[Layout, ...] = LAYOUTS


ALL = frozenset(field.name for field in fields(Settings))


def parse_settings(text: str, takes: Takes, name: str) -> Settings:
    """The settings in the text after the question mark of a name.

    Args:
        text: Such as ``temperature=0&seed=7``; may be empty.
        takes: What the server has a place for.
        name: The whole name, for the message.

    Raises:
        ModelError: A setting is unknown, given twice, not of its type or out of range, or the
            server has no place for it; says all of these.
    """
    values: dict[str, str] = {}
    faults: list[str] = []
    for part in text.split("&") if text else []:
        setting, _, value = (word.strip() for word in part.partition("="))
        if setting not in ALL:
            faults.append(f"{setting or part!r}: there is no such setting")
        elif setting not in takes.names:
            faults.append(f"{setting}: this server has no such setting")
        elif setting in values:
            faults.append(f"{setting}: given twice")
        else:
            values[setting] = value
    read = _Reader(values, faults)
    settings = Settings(
        temperature=read.number("temperature", "a number from 0 to 2", lambda it: 0 <= it <= 2),
        top_p=read.number("top_p", "a number above 0, at most 1", lambda it: 0 < it <= 1),
        seed=read.whole("seed", "a whole number from 0", lambda it: 0 <= it < 1 << 63),
        effort=read.one_of("effort", takes.efforts),
        max_tokens=read.whole("max_tokens", "a whole number from 1", lambda it: 1 <= it <= 10**8),
        schema=read.one_of("schema", takes.layouts),
        window=read.whole("window", "a whole number from 1000", lambda it: 1000 <= it <= 10**9),
        items=read.whole("items", f"a whole number from 1 to {ITEMS}", lambda it: 1 <= it <= ITEMS),
    )
    if faults:
        known = ", ".join(one.name for one in fields(Settings) if one.name in takes.names)
        raise ModelError(f"{name}: {'; '.join(faults)}. Settings are: {known}")
    return settings


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads values of settings; what it cannot read it adds to the faults."""

    values: dict[str, str]
    faults: list[str]

    def number(self, name: str, expected: str, fits: Callable[[float], bool]) -> float | None:
        return self._read(name, expected, float, fits)

    def whole(self, name: str, expected: str, fits: Callable[[int], bool]) -> int | None:
        return self._read(name, expected, int, fits)

    def one_of(self, name: str, words: Sequence[Word]) -> Word | None:
        given = self.values.get(name)
        for word in words:
            if word == given:
                return word
        if given is not None:
            self._fault(name, f"one of {', '.join(map(str, words))}")
        return None

    def _read(
        self,
        name: str,
        expected: str,
        kind: Callable[[str], Number],
        fits: Callable[[Number], bool],
    ) -> Number | None:
        if name not in self.values:
            return None
        try:
            value = kind(self.values[name])
        except ValueError:
            self._fault(name, expected)
            return None
        if not fits(value):
            self._fault(name, expected)
        return value

    def _fault(self, name: str, expected: str) -> None:
        self.faults.append(f"{name}: expected {expected}, got {self.values[name]!r}")


def _text(value: object) -> str:
    """A whole number has no point: 0.0 and 0 are the same."""
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
