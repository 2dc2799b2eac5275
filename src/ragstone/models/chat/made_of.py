"""Made of: a hash of what a function is made of, which outlasts the process where it can."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from pickle import PicklingError
from secrets import token_hex
from types import CodeType, FunctionType, MethodType, ModuleType

PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))
MOST = 50_000
"""Values that are looked at; what is made of more has no hash that lasts."""
SIZE = 16

_PROCESS = token_hex(SIZE).encode()
_HELD: dict[int, object] = {}
"""What is known by its place in memory, which nothing else may take then."""


def made_of(function: object, *, lasting: bool) -> str:
    """A hash of a function's code and of all that it was made with, as 32 hex digits.

    Counted are the code, the variables of an outer function, defaults, the arguments of a
    ``partial``, and the state of the object whose method it is or which is called. What has no
    state that could be written down, such as an open connection, is known by itself.

    Args:
        function: Anything that can be called.
        lasting: Leave out what has no state that could be written down. Without that, such a
            function has another hash in every process.
    """
    try:
        return _Reading(lasting).digest(function).hex()
    except (_TooMuch, RecursionError):
        return _itself(function, lasting=lasting).hex()


class _TooMuch(Exception):
    """There is more to it than is looked at."""


class _Reading:
    """One walk through a function."""

    def __init__(self, lasting: bool) -> None:
        self._lasting = lasting
        self._left = MOST
        self._above: dict[int, int] = {}

    def digest(self, value: object) -> bytes:
        if isinstance(value, PLAIN):
            return _hashed(_name(type(value)), repr(value))
        if isinstance(value, type | ModuleType):
            return _hashed("name", _name(value))
        if id(value) in self._above:
            return _hashed("above", str(len(self._above) - self._above[id(value)]))
        self._left -= 1
        if self._left < 0:
            raise _TooMuch
        self._above[id(value)] = len(self._above)
        try:
            return _hashed(_name(type(value)), *self._parts(value))
        finally:
            del self._above[id(value)]

    def _parts(self, value: object) -> Iterator[bytes]:
        if isinstance(value, FunctionType):
            yield from self._all(_name(value), _code(value.__code__))
            yield from self._all(value.__defaults__, value.__kwdefaults__)
            yield from (self._cell(cell) for cell in value.__closure__ or ())
        elif isinstance(value, CodeType):
            yield from self._all(_code(value))
        elif isinstance(value, MethodType):
            yield from self._all(value.__func__, value.__self__)
        elif isinstance(value, partial):
            yield from self._all(value.func, value.args, value.keywords)
        elif type(value) in (list, tuple):
            yield from map(self.digest, value)  # type: ignore[call-overload]
        elif isinstance(value, set | frozenset):
            yield from sorted(map(self.digest, value))
        elif type(value) is dict:
            yield from self._entries(value)
        else:
            yield self._state(value)

    def _state(self, value: object) -> bytes:
        """As pickling would write it."""
        try:
            reduced = value.__reduce_ex__(4)
        except (TypeError, ValueError, AttributeError, RuntimeError, PicklingError):
            return _itself(value, lasting=self._lasting)
        if isinstance(reduced, str):
            return _hashed("name", reduced)
        make, arguments, state, items, entries, *_ = (*reduced, None, None, None)
        return _hashed(
            "state",
            *self._all(make, arguments, state),
            *map(self.digest, items or ()),
            *self._entries(dict(entries or ())),
        )

    def _entries(self, entries: Mapping[object, object]) -> list[bytes]:
        """In an order of their own."""
        return sorted(_hashed("entry", *self._all(*entry)) for entry in entries.items())

    def _cell(self, cell: object) -> bytes:
        try:
            return self.digest(cell.cell_contents)  # type: ignore[attr-defined]
        except ValueError:
            return _hashed("empty")

    def _all(self, *values: object) -> Iterable[bytes]:
        return [self.digest(value) for value in values]


def _itself(value: object, *, lasting: bool) -> bytes:
    if lasting:
        return _hashed("left out", _name(type(value)))
    _HELD.setdefault(id(value), value)
    return _hashed("itself", _PROCESS, str(id(value)))


def _code(code: CodeType) -> tuple[object, ...]:
    """Its source; where that is not to be had, what it was compiled to."""
    try:
        return (inspect.getsource(code),)
    except (OSError, TypeError):
        return (code.co_code, code.co_names, code.co_varnames, code.co_consts)


def _name(value: object) -> str:
    qualified = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
    return f"{getattr(value, '__module__', '')}.{qualified}"


def _hashed(*parts: str | bytes) -> bytes:
    digest = blake2b(digest_size=SIZE)
    for part in parts:
        written = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(written).to_bytes(8, "big"))
        digest.update(written)
    return digest.digest()
