"""Reason: why there is no value, verdict or answer, as a code with facts rather than a sentence.

In a table a reason is stored as text, which can be parsed back without loss:

    no_retrieval
    not_judged?kind=quality&by=people,model
    faithfulness: no_claims
    openai:gpt-5: timeout?said=no+reply+within+60+s&tries=all

A prefix names what it is about, such as a component or a judge. It is put into words only where it
is shown to people, by ``ragstone.report.words``. Any other text, such as a model's own reason, is
kept verbatim under the code ``said``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote_plus

SAID = "said"
_SAFE = "/:,;()[]{}'!*@$~"
_PLAIN = re.compile(rf"[A-Za-z0-9 _.\-{re.escape(_SAFE)}]*")
_READ = re.compile(r"(?P<code>[a-z][a-z0-9_]*)(?:\?(?P<facts>\S+))?")


@dataclass(frozen=True, slots=True)
class Reason:
    """A parsed reason.

    Args:
        code: One word that identifies the cause.
        facts: Details of the cause, by name.
        of: What it is about: a component or a judge; empty if that is clear from the context.
    """

    code: str
    facts: Mapping[str, str] = field(default_factory=dict)
    of: str = ""

    def __str__(self) -> str:
        if self.code == SAID:
            said = self.facts.get(SAID, "")
            return f"{self.of}: {said}" if self.of else said
        return _text(self.code, self.of, self.facts)

    def about(self, of: str) -> "Reason":
        """The same reason with ``of`` put before what it is already about."""
        return Reason(self.code, self.facts, f"{of}: {self.of}" if self.of else of)

    @classmethod
    def read(cls, text: str) -> "Reason":
        """Parse the text of a reason; text in any other form gets the code ``said``.

        >>> Reason.read("local: no_context_text"), Reason.read("It is so.").code
        (Reason(code='no_context_text', facts={}, of='local'), 'said')
        """
        # A code and its facts hold no space, so whatever is before the last colon is the prefix.
        of, colon, rest = text.rpartition(": ")
        found = _READ.fullmatch(rest)
        if found is None or of != of.strip() or bool(of) != bool(colon):
            return cls(SAID, {SAID: text})
        facts = dict(parse_qsl(found["facts"] or "", keep_blank_values=True))
        return cls(found["code"], facts, of)


def reason(code: str, *, of: str = "", **facts: object) -> str:
    """The text of a reason; facts that are empty or None are left out.

    >>> reason("not_judged", kind="quality", by="people,model")
    'not_judged?kind=quality&by=people,model'
    """
    # Judges make a reason a row; going by way of a Reason takes twice as long.
    return _text(code, of, facts)


def _text(code: str, of: str, facts: Mapping[str, object]) -> str:
    written = "&".join(
        [f"{name}={_written(str(fact))}" for name, fact in facts.items() if fact not in (None, "")]
    )
    text = f"{code}?{written}" if written else code
    return f"{of}: {text}" if of else text


def _written(said: str) -> str:
    # Reasons are made row by row, and nearly all are of such characters: twice as fast.
    if _PLAIN.fullmatch(said):
        return said.replace(" ", "+")
    return quote_plus(said, safe=_SAFE, errors="backslashreplace")
