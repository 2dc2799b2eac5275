"""The line of each key of a TOML file."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.monitor.settings.settings_table import KeyPath, line_of

TEXT = '''\
# a comment = 1
title = "a # no comment"
"odd key.with dot" = 'x'
dotted.inside . deep = 1

[judging]
metrics = [
  "faithfulness",   # , "no"
  'mrr', # ]
]
at = 1979-05-27 07:32:00
long = """
line = 1
\\"" still [""""
literal = \'\'\'
[no.table]
\'\'\'
[sampling.by."a=b"]
de = 0.5
[[rule]]
name = "one"
promise = { false_alarms = 0.05, answers = 10_000 }
[rule.more]
x = true
[[rule]]
name = "two"
[[rule.part]]
y = [ { z = 1 },
  { z = [1, [2,
3]] } ]
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("odd key.with dot",), 3),
        (("dotted",), 4),
        (("dotted", "inside", "deep"), 4),
        (("judging",), 6),
        (("judging", "metrics"), 7),
        (("judging", "metrics", 0), 8),
        (("judging", "metrics", 1), 9),
        (("judging", "at"), 11),
        (("judging", "long"), 12),
        (("judging", "literal"), 15),
        (("sampling", "by", "a=b"), 18),
        (("sampling", "by", "a=b", "de"), 19),
        (("rule", 0), 20),
        (("rule", 0, "promise", "answers"), 22),
        (("rule", 0, "more", "x"), 24),
        (("rule", 1), 25),
        (("rule", 1, "part", 0, "y", 0, "z"), 28),
        (("rule", 1, "part", 0, "y", 1, "z", 1, 1), 30),
    ],
)
def test_a_key_is_found_on_its_line(path: KeyPath, line: int) -> None:
    assert line_of(TEXT, path) == line


def leaves(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """The paths of everything in a document."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from leaves(one, (*path, number))


def test_every_key_of_a_document_has_a_line() -> None:
    assert all(line_of(TEXT, path) > 1 for path in leaves(tomllib.loads(TEXT)))


@given(st.text("ab=\"'.[]{}#,\n\\ 10\r\t", max_size=40))
def test_whatever_is_valid_has_a_line_for_every_key(text: str) -> None:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError):
        return
    for path in leaves(document):
        assert 1 <= line_of(text, path) <= text.count("\n") + 1
