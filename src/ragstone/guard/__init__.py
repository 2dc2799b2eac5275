"""Guard: checks an answer before a user gets it, with the judges that evaluate a run.

assess         checks one answer: what failed, where in the answer, and what to do with it
Guard          does the same with settings that hold for every request
Checks         what is checked, and the value from which a check passes
Gate           thresholds that keep a promise: an answer passes, is blocked, or somebody is asked
improve        asks your model for a better answer, and returns the best of all
assess_stream  passes an answer on sentence by sentence, each once it is judged; aassess_stream
               for asynchronous sources, pushed_stream for pieces that you push
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
