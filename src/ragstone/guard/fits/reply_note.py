"""Reply note: what a client is told of an answer in the body of its reply."""

from collections.abc import Collection
from typing import Any

from .ruling import Ruling

IN_FULL = ("passed", "marked")


def note_of(ruling: Ruling, action: str, beside: Collection[str] = ()) -> dict[str, Any]:
    """What came of an answer, as plain data.

    It quotes nothing: an answer that was held back must not get out by its note. Where the answer
    is given as it is, each issue has its places in it, as pairs of characters.

    Args:
        ruling: On the answer.
        action: What was done: ``passed``, ``marked``, ``replaced`` or ``refused``.
        beside: What the reply has beside the answer that is not judged.
    """
    found = ruling.assessment
    issues = [
        {"code": one.code, "check": one.check}
        | ({"spans": [[s.start, s.end] for s in one.spans]} if action in IN_FULL else {})
        for one in found.issues
    ]
    return {
        "ok": found.ok,
        "decision": found.decision,
        "action": action,
        "id": found.run_id,
        "issues": issues,
        "checks": {one.check: one.status for one in found.checks},
        "confidence": found.confidence,
        "judge": found.judge,
        "late": found.late,
        "not_judged": ruling.unjudged or None,
        "beside": sorted(beside),
    }
