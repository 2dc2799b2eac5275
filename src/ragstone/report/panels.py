"""Panels: a short name for several models that vote, where a table or a line needs one."""

from collections.abc import Iterable, Sequence
from string import ascii_lowercase

from .page import Note


def short_judge(name: str) -> str:
    """The judge's name; of a panel the names of its models without provider, or letters.

    >>> short_judge("openai:gpt-5-mini"), short_judge("openai:gpt-5,http://h:1/v1#qwen3:8b")
    ('openai:gpt-5-mini', 'gpt-5+qwen3:8b')
    >>> short_judge("openai:gpt-5,azure:gpt-5")
    'a+b'
    """
    members = name.split(",")
    return name if len(members) == 1 else "+".join(_short(members))


def legend(names: Iterable[str]) -> list[Note]:
    """For each panel among the judges, what its short name stands for."""
    notes = []
    for name in dict.fromkeys(names):
        members = name.split(",")
        if len(members) > 1:
            said = zip(_short(members), members, strict=True)
            notes.append(Note("panel", ", ".join(f"{short} {member}" for short, member in said)))
    return notes


def _short(members: Sequence[str]) -> list[str]:
    names = [_without_provider(member) for member in members]
    return names if len(set(names)) == len(names) else list(ascii_lowercase[: len(names)])


def _without_provider(member: str) -> str:
    before, found, model = member.strip().partition("#")
    if not found:
        _, _, model = before.partition(":")
    return model.rpartition("/")[2] or member
