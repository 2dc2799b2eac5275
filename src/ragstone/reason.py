"""Reason: why there is no value, no verdict or no answer: a code and its facts, words come last.

In a table a reason is text that is read back as it was:

    no_retrieval
    not_judged?kind=quality&by=people,model
    faithfulness: no_claims
    openai:gpt-5: timeout?said=no+reply+within+60+s&tries=all

What it is about, such as a component or a judge, stands before it. Words are made of it where
people read it, by ``ragstone.report.words``. Text that is no reason of ours, such as a model's own,
stays as it is: its code is ``said``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote_plus

SAID = "said"
_READ = re.compile(
    r"(?:(?P<of>\S(?:.*\S)?): )?(?P<code>[a-z][a-z0-9_]*)(?:\?(?P<facts>\S+))?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why.

    Args:
        code: One word, the same for all that is so for the same cause.
        facts: What belongs to it, in words and numbers.
        of: What it is about: a component, a judge; empty where that is plain.
    """

    code: str
    facts: Mapping[str, str] = field(default_factory=dict)
    of: str = ""

    def __str__(self) -> str:
        if self.code == SAID:
            text = self.facts.get(SAID, "")
        else:
            facts = "&".join(
                f"{name}={_written(said)}" for name, said in self.facts.items() if said
            )
            text = f"{self.code}?{facts}" if facts else self.code
        return f"{self.of}: {text}" if self.of else text

    def about(self, of: str) -> "Reason":
        """The same, of something; what it was about before goes into it."""
        return Reason(self.code, self.facts, f"{of}: {self.of}" if self.of else of)

    @classmethod
    def read(cls, text: str) -> "Reason":
        """The reason that a text is.

        >>> Reason.read("local: no_context_text"), Reason.read("It is so.").code
        (Reason(code='no_context_text', facts={}, of='local'), 'said')
        """
        found = _READ.fullmatch(text)
        if found is None:
            return cls(SAID, {SAID: text})
        facts = dict(parse_qsl(found["facts"] or "", keep_blank_values=True))
        return cls(found["code"], facts, found["of"] or "")


def reason(code: str, *, of: str = "", **facts: object) -> str:
    """A reason as text; facts that are empty or None are left out.

    >>> reason("not_judged", kind="quality", by="people,model")
    'not_judged?kind=quality&by=people,model'
    """
    said = {name: str(fact) for name, fact in facts.items() if fact not in (None, "")}
    return str(Reason(code, said, of))


def _written(said: str) -> str:
    return quote_plus(said, safe="/:,;()[]{}'!*@$~", errors="backslashreplace")
