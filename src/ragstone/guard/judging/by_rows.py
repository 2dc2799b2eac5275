"""By rows: any judge that fills the table of support, inside a request."""

from collections.abc import Callable, Sequence

from ragstone.core.messages import reason
from ragstone.data import Example, to_frame
from ragstone.guard.answered import Answered
from ragstone.guard.deadline import Deadline
from ragstone.guard.grounding import ClaimVerdict
from ragstone.judgements import Claim, Support, Tables
from ragstone.judges import Block, Judge
from ragstone.judges.judge import Sheet
from ragstone.judges.local.claims_and_evidence import LocatedClaim
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.run.judging.judge_blocks import resolve

SUPPORT = Support.ask("claim").name
LOCAL = LocalJudge()


class RowsJudge:
    """A judge of support, asked about the claims that the local judge finds.

    Args:
        name: As the user wrote it.
        identity: Everything its verdicts depend on, without any key.
        judge: Gives the judge for one answer, which has until this deadline.
    """

    def __init__(self, name: str, identity: str, judge: Callable[[Deadline], Judge]) -> None:
        self.name = name
        self.parts = (identity,)
        self._judge = judge

    def verdicts(
        self, one: Answered, claims: Sequence[LocatedClaim]
    ) -> Sequence[ClaimVerdict] | str:
        """A verdict for each claim; or why there are none."""
        example = Example(
            "1",
            "1",
            "",
            question=one.question or None,
            answer=one.answer,
            contexts=one.grounds.contexts,
        )
        judge = self._judge(one.deadline)
        filled = judge.fill(SUPPORT, _block(example, claims), [0])
        entry = next(
            (row for row in filled.ledger.iter_rows(named=True) if row["judge"] == judge.name), None
        )
        if entry is None or entry["status"] != "ok":
            return (entry and entry["reason"]) or reason("claims_left_open")
        rows = {
            row["index"]: row
            for row in filled.rows.iter_rows(named=True)
            if row["judge"] == judge.name
        }
        return [_verdict(rows.get(index)) for index in range(len(claims))]


def _block(example: Example, claims: Sequence[LocatedClaim]) -> Block:
    """The example with its claims as the local judge's rows."""
    [ask] = Claim.asks
    sheet = Sheet(ask.name, LOCAL.name)
    sheet.done(0, "1")
    for index, claim in enumerate(claims):
        sheet.add(
            "1",
            index=index,
            text=claim.text,
            sentence=claim.sentence,
            factual=True,
            start=claim.start,
            end=claim.end,
        )
    filled = sheet.filled()
    frame = to_frame([example])
    tables = resolve(Tables(frame), ask.name, filled.ledger, filled.rows, [LOCAL])
    return Block([example], frame, tables)


def _verdict(row: dict[str, object] | None) -> ClaimVerdict:
    if row is None or row["verdict"] is None:
        return ClaimVerdict(None, None, str((row and row["reason"]) or reason("claims_left_open")))
    probability, evidence, quote = row["probability"], row["evidence"], row["quote"]
    return ClaimVerdict(
        str(row["verdict"]),
        probability if isinstance(probability, float) else None,
        str(row["reason"] or ""),
        tuple(map(str, evidence)) if isinstance(evidence, list) else (),
        None if quote is None else str(quote),
    )
