"""Guard: assess an answer while it is being given, with the judges that measure it before.

assess      what is known of one answer: checks, issues with their places, a decision
Guard       the same by settings that hold for every request
Checks      what is checked, and from which value on it passes
Gate        thresholds of the confidence that keep a promise: pass, ask or block
improve     ask your model for a better answer, and get the best of all
assess_stream  an answer that is given while it is written, as far as it is judged; aassess_stream
               and pushed_stream for other sources
"""

from .assessment import AnswerSpan, Assessment, CheckResult, Issue, JudgedClaim
from .confidence_gate.confidence_gate import Gate
from .guard import Guard, aassess, assess
from .guard_input import Checks, ReadContexts
from .improve import Candidate, Improvement, Revision, aimprove, improve
from .stream import (
    AsyncStream,
    NotJudged,
    PushedStream,
    ReleasePolicy,
    Stream,
    UnitVerdict,
    aassess_stream,
    assess_stream,
    pushed_stream,
)

__all__ = [
    "AnswerSpan",
    "Assessment",
    "AsyncStream",
    "Candidate",
    "CheckResult",
    "Checks",
    "Gate",
    "Guard",
    "Improvement",
    "Issue",
    "JudgedClaim",
    "NotJudged",
    "PushedStream",
    "ReadContexts",
    "ReleasePolicy",
    "Revision",
    "Stream",
    "UnitVerdict",
    "aassess",
    "aassess_stream",
    "aimprove",
    "assess",
    "assess_stream",
    "improve",
    "pushed_stream",
]
