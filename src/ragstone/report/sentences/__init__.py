"""Sentences: what is said of data, runs, judges, decisions and guarded answers, a module each.

Below are the numbers and lines of a reason, as a sentence says them.
"""

from collections.abc import Callable, Mapping

Facts = Mapping[str, str]
Sentence = Callable[[Facts], str]


def count(facts: Facts, name: str = "n") -> str:
    """A number with separators for thousands.

    >>> count({"n": "12000"})
    '12,000'
    """
    return f"{int(facts[name]):,}"


def counted(facts: Facts, noun: str, name: str = "n") -> str:
    """A number with its noun, in the singular or plural.

    >>> counted({"n": "1"}, "label"), counted({"n": "1200"}, "label")
    ('1 label', '1,200 labels')
    """
    return f"{count(facts, name)} {noun}{'' if facts[name] == '1' else 's'}"


def plain(said: str) -> Sentence:
    """The sentence of a code without facts."""
    return lambda _: said


def several(facts: Facts, name: str) -> list[str]:
    """The lines of a fact; an empty list if the reason does not have it."""
    return facts[name].split("\n") if facts.get(name) else []


def and_more(facts: Facts, name: str = "more") -> str:
    """How many more there are than those named; empty if all are named."""
    return f" and {count(facts, name)} more" if facts.get(name, "0") != "0" else ""
