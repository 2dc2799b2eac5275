"""Guard pages: a single answer with its checks, or how many answers of a data set would pass."""

from collections.abc import Sequence
from typing import Any

from ragstone.guard.assessment import Assessment, CheckResult, JudgedClaim
from ragstone.guard.guard import AssessedData, AssessedExample
from ragstone.guard.improve import Improvement
from ragstone.judgements import Support
from ragstone.report.number_format import counted
from ragstone.report.page import (
    Banner,
    Cell,
    Count,
    Facts,
    Heading,
    Note,
    Number,
    Page,
    Phrase,
    Row,
    RowName,
    Table,
    Tone,
    Verdict,
    quiet,
    section,
    strong,
    table,
)
from ragstone.report.reason_words import words

STATES: dict[str, tuple[str, Tone]] = {
    "passed": ("passed", "good"),
    "failed": ("failed", "bad"),
    "not_applicable": ("not applicable", "quiet"),
    "not_judged": ("not judged", "missing"),
}
OUTCOMES: dict[bool | None, tuple[str, Tone]] = {
    True: ("OK", "good"),
    False: ("FAILED", "bad"),
    None: ("CANNOT TELL", "caution"),
}
LONGEST_TEXT = 300


def assessment_page(assessment: Assessment) -> Page:
    """The checks of an answer, then its sentences with what the contexts say to them."""
    banner = _banner(assessment)
    facts = [Note("decision", (assessment.decision,)), Note("judge", (assessment.judge or "none",))]
    facts += [Note("late" if assessment.late else "note", (Phrase(words(why), "caution"),))
              for why in assessment.notes]  # fmt: skip
    body = [section(banner, Facts(tuple(facts))), section(_checks(assessment))]
    if assessment.judged:
        body.append(section(_claims(assessment.judged), title="What it says"))
    text = f"{banner.word}: {' '.join(banner.lines)}"
    return Page(
        "guard", assessment.run_id or "one answer", tuple(body), text, record=assessment.to_dict
    )


def improvement_page(improvement: Improvement) -> Page:
    """The answer to give, and what is known of it; then every answer that was tried."""
    listed = assessment_page(improvement.assessment)
    answer = Facts(
        (
            Note("answer", (Phrase(improvement.answer, "text"),)),
            Note("improved", ("yes" if improvement.improved else "no",)),
            *(
                [Note("model", (Phrase(words(improvement.fault), "caution"),))]
                if improvement.fault
                else ()
            ),
        )
    )
    rows = [
        Row((str(number), *_outcome(answer.assessment, answer.fault),
             Phrase(_cut(answer.answer or ""), "text")))
        for number, answer in enumerate(improvement.trail)
    ]  # fmt: skip
    columns = [Heading("pass", key=True), Heading("outcome"), Heading("confidence"),
               Heading("answer")]  # fmt: skip
    trail = section(table(columns, rows), title="What was tried")
    return Page("guard", listed.title, (section(answer), *listed.sections, trail), listed.said)


def _outcome(assessment: Assessment | None, fault: str | None) -> tuple[Cell, Cell]:
    if assessment is None:
        return Phrase(words(fault or ""), "caution"), Number(None)
    word, tone = OUTCOMES[assessment.ok]
    return Verdict(word.lower(), word, tone), Number(assessment.confidence, 2)


def _banner(assessment: Assessment) -> Banner:
    word, tone = OUTCOMES[assessment.ok]
    unjudged = [check for check in assessment.checks if check.status == "not_judged"]
    lines = [f"{words(issue.reason)}." for issue in assessment.issues]
    if not lines and unjudged:
        lines = [f"{counted(len(unjudged), 'check')} could not be judged: "
                 f"{words(unjudged[0].reason)}."]  # fmt: skip
    return Banner(word, tone, tuple(lines) or ("No check failed.",))


def _checks(assessment: Assessment) -> Table:
    columns = [Heading("check", key=True), Heading("outcome"), Heading("value"),
               Heading("at least"), Heading("why")]  # fmt: skip
    return table(columns, [_check(check) for check in assessment.checks])


def _check(check: CheckResult) -> Row:
    word, tone = STATES[check.status]
    return Row((
        RowName(check.check.replace("_", " ")), Verdict(check.status, word, tone),
        _value(check), Number(check.threshold, 2), words(check.reason),
    ))  # fmt: skip


def _value(check: CheckResult) -> Cell:
    if check.threshold is None and check.value is not None:
        return Count(int(check.value))
    return Number(check.value, 2)


def _claims(judged: tuple[JudgedClaim, ...]) -> Table:
    columns = [Heading("sentence", key=True), Heading("contexts say"), Heading("probability"),
               Heading("why")]  # fmt: skip
    tones = Support.columns["verdict"].tones
    rows = []
    for claim in judged:
        verdict: Cell = quiet("not judged")
        if claim.verdict is not None:
            verdict = Verdict(claim.verdict, claim.verdict, tones.get(claim.verdict, ""))
        cells = (Phrase(_cut(claim.span.text), "text"), verdict, Number(claim.probability, 2),
                 words(claim.reason))  # fmt: skip
        rows.append(Row(cells))
    return table(columns, rows)


def _cut(text: str, length: int = LONGEST_TEXT) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


LONGEST_SENTENCE = 160

DECIDED: dict[str, tuple[str, Tone]] = {
    "pass": ("pass", "good"),
    "ask": ("ask", "caution"),
    "block": ("block", "bad"),
}


def guard_page(
    title: str,
    assessed: AssessedData,
    rows: list[dict[str, Any]] | None = None,
    void: Sequence[str] = (),
) -> Page:
    """Return the page of a guarded data set; ``void`` is why the gate asks about every answer."""
    facts = [
        Note("decision", (_decisions(assessed),)),
        Note("judge", (", ".join(assessed.judges) or "none was needed",)),
    ]
    facts += [Note("gate", (Phrase(f"asks about every answer: {words(why)}", "caution"),))
              for why in void]  # fmt: skip
    if assessed.late:
        facts.append(
            Note(
                "late",
                (
                    Phrase(
                        f"{counted(assessed.late, 'answer')} by the local judge, in the place of a "
                        "judge that was too late or gone",
                        "caution",
                    ),
                ),
            )
        )
    banner = _data_banner(assessed)
    body = [section(banner, Facts(tuple(facts))), section(_checks_of_data(assessed))]
    if worst := assessed.worst:
        body.append(section(_answers(worst, assessed), title="To look at"))
    text = f"{banner.word}: {' '.join(banner.lines)}"
    return Page("guard", title, tuple(body), text, record=lambda: record_of(assessed, rows or []))


def record_of(assessed: AssessedData, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The page's facts as plain data."""
    return {
        "answers": assessed.n,
        "ok": assessed.ok[True],
        "failed": assessed.ok[False],
        "not_judged": assessed.ok[None],
        "late": assessed.late,
        "decisions": dict(assessed.decisions),
        "issues": dict(assessed.issues),
        "checks": {name: dict(states) for name, states in assessed.checks.items()},
        "assessments": rows,
    }


def row_of(assessed: AssessedExample) -> dict[str, Any]:
    """An assessment as a row: the example's id and system, then what is known of its answer."""
    return {
        "id": assessed.example.id,
        "system": assessed.example.system,
        **assessed.assessment.to_dict(),
    }


def _data_banner(assessed: AssessedData) -> Banner:
    failed, unjudged = assessed.ok[False], assessed.ok[None]
    if not assessed.n:
        return Banner("NOTHING TO ASSESS", "caution", ("The data has no answer.",))
    if failed:
        line = f"{counted(failed, 'answer')} of {assessed.n:,} failed a check."
        return Banner("FAILED", "bad", (line, *_unjudged(unjudged)))
    if unjudged:
        return Banner("CANNOT TELL", "caution", _unjudged(unjudged))
    return Banner("OK", "good", (f"No check failed for {counted(assessed.n, 'answer')}.",))


def _unjudged(n: int) -> tuple[str, ...]:
    return (f"{counted(n, 'answer')} could not be judged in full.",) if n else ()


def _decisions(assessed: AssessedData) -> str:
    return ", ".join(f"{name} {assessed.decisions[name]:,}" for name in DECIDED)  # type: ignore[index]


def _checks_of_data(assessed: AssessedData) -> Table:
    columns = [Heading("check", key=True), Heading("passed"), Heading("failed"),
               Heading("not applicable"), Heading("not judged")]  # fmt: skip
    return table(columns, [
        Row((RowName(name.replace("_", " ")), Count(states["passed"]),
             Count(states["failed"], "bad"), Count(states["not_applicable"], "quiet"),
             Count(states["not_judged"], "missing")))
        for name, states in assessed.checks.items()
    ])  # fmt: skip


def _answers(worst: list[AssessedExample], assessed: AssessedData) -> Table:
    columns = [Heading("answer", key=True), Heading("decision"), Heading("confidence"),
               Heading("why")]  # fmt: skip
    rows = [
        Row((RowName(item.example.id), _decision(item.assessment),
             Number(item.assessment.confidence, 2), _first_why(item.assessment)),
            tuple(_places(item.assessment)))
        for item in worst
    ]  # fmt: skip
    more = assessed.n - assessed.ok[True] - len(worst)
    if more > 0:
        rows.append(Row((quiet(f"and {more:,} more"), None, None, None)))
    return table(columns, rows)


def _decision(assessment: Assessment) -> Cell:
    word, tone = DECIDED[assessment.decision]
    return Verdict(assessment.decision, word, tone)


def _first_why(assessment: Assessment) -> str:
    whys = [issue.reason for issue in assessment.issues]
    whys += [check.reason for check in assessment.checks if check.status == "not_judged"]
    return words(whys[0]) if whys else ""


def _places(assessment: Assessment) -> list[Any]:
    lines: list[Any] = [words(issue.reason) for issue in assessment.issues[1:]]
    spans = [span.text for issue in assessment.issues for span in issue.spans]
    if spans:
        text = _cut(spans[0], LONGEST_SENTENCE)
        lines.append((strong(""), Phrase(text, "text")))
    return lines
