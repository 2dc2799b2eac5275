"""Over data: assesses the answers of a data set one by one, and counts what came of them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappush, heapreplace

from ragstone.data import Example, read

from .assessment import Assessment, CheckStatus, WayOut
from .guard import Guard

SHOWN = 20
"""Answers that are kept to be looked at."""


@dataclass(frozen=True, slots=True)
class AssessedExample:
    """An example with the assessment of its answer."""

    example: Example
    assessment: Assessment


def assess_data(data: object, guard: Guard | None = None) -> Iterator[AssessedExample]:
    """Assess every answer of a data set, one by one; its id is the run id.

    Args:
        data: As for ``ragstone.read``. Retrieval scores are those of the contexts, or
            ``retrieval_scores`` among the other fields of a record.
        guard: The settings; None: those of ``Guard()``.

    Raises:
        DataError: A record cannot be read.
    """
    guard = guard or Guard()
    for example in read(data):
        found = guard.assess(
            example.question,
            example.answer,
            example.contexts,
            retrieval_scores=example.meta.get("retrieval_scores"),
            run_id=example.id,
        )
        yield AssessedExample(example, found)


@dataclass
class AssessedData:
    """What came of the answers of a data set; its size does not grow with theirs.

    Attributes:
        n: Answers.
        ok: How many are ok, how many failed (False), how many are neither (None).
        decisions: How many pass, are to be asked about, are blocked.
        checks: How often each check came out how.
        issues: How often each issue came up.
        late: Answers for which the local judge stood in for another.
        judges: How many answers each judge judged.
    """

    n: int = 0
    ok: Counter[bool | None] = field(default_factory=Counter)
    decisions: Counter[WayOut] = field(default_factory=Counter)
    checks: dict[str, Counter[CheckStatus]] = field(default_factory=dict)
    issues: Counter[str] = field(default_factory=Counter)
    late: int = 0
    judges: Counter[str] = field(default_factory=Counter)
    _worst: list[tuple[float, int, AssessedExample]] = field(default_factory=list, repr=False)

    def add(self, one: AssessedExample) -> None:
        """Count one more."""
        found = one.assessment
        self.n += 1
        self.ok[found.ok] += 1
        self.decisions[found.decision] += 1
        self.late += found.late
        self.issues.update(issue.code for issue in found.issues)
        if found.judge:
            self.judges[found.judge] += 1
        for check in found.checks:
            self.checks.setdefault(check.check, Counter())[check.status] += 1
        if not found.ok:
            confidence = 1.0 if found.confidence is None else found.confidence
            entry = (len(found.issues) - confidence, -self.n, one)
            if len(self._worst) < SHOWN:
                heappush(self._worst, entry)
            elif entry > self._worst[0]:
                heapreplace(self._worst, entry)

    @property
    def worst(self) -> list[AssessedExample]:
        """Those that are not ok, most issues first, then least confidence."""
        return [one for *_, one in sorted(self._worst, reverse=True)]
