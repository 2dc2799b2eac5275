"""A function is known by its source, or it says that this is not enough."""

import os
from collections.abc import Callable
from functools import partial, wraps

import pytest

from ragstone.core.errors import InputError
from ragstone.core.user_code import source


def plain(rows: list[int]) -> int:
    return len(rows)


def with_defaults(rows: list[int], k: int = 3, *, loud: bool = False) -> int:
    return len(rows) * k * loud


def around(k: int) -> Callable[[list[int]], int]:
    def inner(rows: list[int]) -> int:
        return len(rows) * k

    return inner


def bound_early(k: object) -> Callable[[list[int]], int]:
    def inner(rows: list[int], k: object = k) -> int:  # noqa: ARG001
        return len(rows)

    return inner


def decorated(function: Callable[[list[int]], int]) -> Callable[[list[int]], int]:
    @wraps(function)
    def wrapper(rows: list[int]) -> int:
        return function(rows) * 2

    return wrapper


class Holder:
    def ask(self, rows: list[int]) -> int:
        return len(rows)


def known(made: object) -> str:
    return source(made, instead='identity="1"')


def test_a_function_is_known_by_its_text() -> None:
    assert known(plain) == "def plain(rows: list[int]) -> int:\n    return len(rows)\n"
    assert known(Holder).startswith("class Holder:\n    def ask(self")
    assert known(lambda rows: len(rows)).strip().startswith("assert known(lambda rows")


def test_plain_values_that_arguments_have_by_default_count() -> None:
    assert known(with_defaults).endswith("loud\n[3, False]")
    assert known(bound_early(1)) == known(bound_early(1)) != known(bound_early(2))
    assert known(bound_early(1)) != known(bound_early(True))


def without_text() -> object:
    names: dict[str, object] = {}
    exec("def hidden(rows):\n    return 1\n", names)
    return names["hidden"]


@pytest.mark.parametrize(
    ("made", "fault"),
    [
        (around(3), "around.<locals>.inner .* it uses k of the enclosing function"),
        (decorated(plain), "plain cannot .* it uses function of the enclosing function"),
        (bound_early([1]), "its arguments have objects as default values"),
        (partial(plain, [1]), "it is a partial, which may hold anything"),
        (Holder().ask, "Holder.ask .* it is a method, which may hold anything"),
        (Holder(), "Holder cannot .* it is a Holder, which may hold anything"),
        (len, "it is a builtin_function_or_method"),
        (without_text(), "hidden cannot .* its source cannot be read"),
        (type("Made", (), {"__module__": os.__name__}), "its source cannot be read"),
    ],
)
def test_what_its_source_does_not_tell_is_refused_with_what_to_do(made: object, fault: str) -> None:
    with pytest.raises(InputError, match=fault) as caught:
        known(made)
    assert str(caught.value).endswith('a new one whenever it changes: identity="1"')
