"""Sentences: what is said of data, runs, judges, decisions and guarded answers, a module each.

The sentence of a reason is a template over its facts, or a function where a template cannot say it:

    {name}          the fact as it is         {n:,}           with separators for thousands
    {n:label}       1 label, 2 labels         {n:is|are}      the first for 1, else the second
    {names:list}    its lines, with commas    {names:or}      its lines, with or; so {names:and}
    {share:.0%}     a number                  {code:spoken}   without underscores
    {why:words}     another reason in words   {fields:each}   NAME (2 records) for its line NAME=2
    [ and {n:,} more]    left out if a fact in it is not there, or a count of 0
"""

import re
from collections.abc import Callable, Mapping

from ragstone.core.messages import worded

_OPTIONAL = re.compile(r"\[([^][]*)\]")
_FIELD = re.compile(r"\{(\w+)(?::([^{}]*))?\}")
_FIGURE = re.compile(r"\.\d[f%]")
JOINTS = {"list": ", ", "or": " or ", "and": " and "}


class ReasonFact(str):
    """A fact of a reason, which a template or an f-string can write in several ways.

    >>> f"{ReasonFact('1200'):label} {ReasonFact('7'):is|are} {ReasonFact('0.5'):.0%}"
    '1,200 labels are 50%'
    """

    __slots__ = ()

    @property
    def lines(self) -> list[str]:
        """The lines of the fact; none of an empty one."""
        return self.split("\n") if self else []

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if spec in JOINTS:
            return JOINTS[spec].join(self.lines)
        if spec == "words":
            return worded(self)
        if spec == "each":
            counts = (line.rpartition("=") for line in self.lines)
            return ", ".join(f"{name} ({ReasonFact(n):record})" for name, _, n in counts)
        if spec == "spoken":
            return self.replace("_", " ")
        if _FIGURE.fullmatch(spec):
            return format(float(self), spec)
        single, either, several = spec.partition("|")
        if either:
            return single if self == "1" else several
        figure = f"{int(self):,}"
        return figure if spec == "," else f"{figure} {spec}{'' if self == '1' else 's'}"


Facts = Mapping[str, ReasonFact]
Sentence = str | Callable[[Facts], str]


def told(sentence: Sentence, facts: Mapping[str, str]) -> str:
    """Return the sentence with its facts.

    >>> told("{n:label}[ of {files:,}][ and {more:,} more]", {"n": "1", "more": "0"})
    '1 label'

    Raises:
        KeyError, ValueError: A fact is not there, or is not a number.
    """
    known = {name: ReasonFact(fact) for name, fact in facts.items()}
    if callable(sentence):
        return sentence(known)

    def part(match: re.Match[str]) -> str:
        fields = _FIELD.findall(match[1])
        lacks = any(not known.get(name) or (spec and known[name] == "0") for name, spec in fields)
        return "" if lacks else match[1]

    return _OPTIONAL.sub(part, sentence).format_map(known)
