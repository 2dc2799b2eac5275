"""Facts: how those of a reason are read, and counted in a sentence."""

from collections.abc import Callable, Mapping

Facts = Mapping[str, str]
Sentence = Callable[[Facts], str]


def count(facts: Facts, name: str = "n") -> str:
    """A number as it is written.

    >>> count({"n": "12000"})
    '12,000'
    """
    return f"{int(facts[name]):,}"


def counted(facts: Facts, noun: str, name: str = "n") -> str:
    """A number with what it counts.

    >>> counted({"n": "1"}, "label"), counted({"n": "1200"}, "label")
    ('1 label', '1,200 labels')
    """
    return f"{count(facts, name)} {noun}{'' if facts[name] == '1' else 's'}"


def plain(said: str) -> Sentence:
    """What a code without facts says."""
    return lambda _: said


def several(facts: Facts, name: str) -> list[str]:
    """A fact of several lines; none where it is not there."""
    return facts[name].split("\n") if facts.get(name) else []


def and_more(facts: Facts, name: str = "more") -> str:
    """How many there are beside those that are named; nothing where these are all."""
    return f" and {count(facts, name)} more" if facts.get(name, "0") != "0" else ""
