"""Reply header: what came of an answer, small enough for a header."""

from collections.abc import Sequence

from .ruling import Ruling


def header_value(rulings: Sequence[Ruling], action: str) -> bytes:
    """The value of the header, a dictionary of structured fields (RFC 9651).

        ok=?0, decision=ask, action=replaced, id="7c1f", issues="unsupported_sentence"

    Args:
        rulings: One for each answer of the reply, at least one. Of several the worst counts.
        action: What was done: ``passed``, ``marked``, ``replaced`` or ``refused``.
    """
    worst = min(rulings, key=_order)
    found = worst.assessment
    codes = dict.fromkeys(issue.code for one in rulings for issue in one.assessment.issues)
    fields = [] if found.ok is None else [f"ok=?{int(found.ok)}"]
    fields += [f"decision={found.decision}", f"action={action}"]
    if found.run_id:
        fields.append(f'id="{_plain(found.run_id)}"')
    if codes:
        fields.append(f'issues="{" ".join(codes)}"')
    if worst.unjudged:
        fields.append(f"reason={worst.unjudged}")
    if found.late:
        fields.append("late")
    return ", ".join(fields).encode("ascii")


def stream_header(policy: str, run_id: str) -> bytes:
    """The value of the header of a stream, whose answer is not known yet.

    action=streamed, policy=hold_sentence, id="7c1f"
    """
    return f'action=streamed, policy={policy}, id="{_plain(run_id)}"'.encode("ascii")


def _order(ruling: Ruling) -> tuple[bool, int, int]:
    found = ruling.assessment
    return (not ruling.held, ("block", "ask", "pass").index(found.decision), found.ok is not False)


def _plain(text: str) -> str:
    """What a quoted string of a header may hold."""
    return "".join(one if " " <= one <= "~" and one not in '"\\' else "_" for one in text)[:100]
