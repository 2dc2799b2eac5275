"""Guard pages: a single answer with its checks, or how many answers of a data set would pass."""

from collections.abc import Sequence
from typing import Any

from ragstone.guard.assessment import WAYS_OUT, Assessment, JudgedClaim
from ragstone.guard.guard import AssessedData, AssessedExample
from ragstone.guard.improvement import Improvement
from ragstone.judgements import Support
from ragstone.report import page as ui
from ragstone.report.number_format import counted
from ragstone.report.reason_words import words

STATES: dict[str, tuple[str, ui.Tone]] = {
    "passed": ("passed", "good"),
    "failed": ("failed", "bad"),
    "not_applicable": ("not applicable", "quiet"),
    "not_judged": ("not judged", "missing"),
}
OUTCOMES: dict[bool | None, tuple[str, ui.Tone]] = {
    True: ("OK", "good"),
    False: ("FAILED", "bad"),
    None: ("CANNOT TELL", "caution"),
}
LONGEST_TEXT = 300


def assessment_page(assessment: Assessment) -> ui.Page:
    """The checks of an answer, then its sentences with what the contexts say to them."""
    banner = _banner(assessment)
    late = "late" if assessment.late else "note"
    facts = (
        ui.Note("decision", (assessment.decision,)),
        ui.Note("judge", (assessment.judge or "none",)),
        *(ui.Note(late, (ui.Phrase(words(why), "caution"),)) for why in assessment.notes),
    )
    rows = [
        (
            ui.RowName(check.check.replace("_", " ")),
            ui.Verdict(check.status, *STATES[check.status]),
            ui.Count(int(check.value)) if check.threshold is None and check.value is not None
            else ui.Number(check.value, 2),
            ui.Number(check.threshold, 2), words(check.reason),
        )
        for check in assessment.checks
    ]  # fmt: skip
    columns = (ui.Heading("check", key=True), "outcome", "value", "at least", "why")
    body = [ui.section(banner, ui.Facts(facts)), ui.section(ui.table(columns, rows))]
    if assessment.judged:
        body.append(ui.section(_claims(assessment.judged), title="What it says"))
    text = f"{banner.word}: {' '.join(banner.lines)}"
    return ui.Page(
        "guard", assessment.run_id or "one answer", tuple(body), text, record=assessment.to_dict
    )


def improvement_page(improvement: Improvement) -> ui.Page:
    """The answer to give, and what is known of it; then every answer that was tried."""
    listed = assessment_page(improvement.assessment)
    facts = [ui.Note("answer", (ui.Phrase(improvement.answer, "text"),)),
             ui.Note("improved", ("yes" if improvement.improved else "no",))]  # fmt: skip
    if improvement.fault:
        facts.append(ui.Note("model", (ui.Phrase(words(improvement.fault), "caution"),)))
    rows: list[tuple[ui.Cell, ...]] = []
    for number, attempt in enumerate(improvement.trail):
        outcome: ui.Cell = ui.Phrase(words(attempt.fault or ""), "caution")
        confidence = None
        if attempt.assessment is not None:
            word, tone = OUTCOMES[attempt.assessment.ok]
            confidence = attempt.assessment.confidence
            outcome = ui.Verdict(word.lower(), word, tone)
        answer = ui.Phrase(_cut(attempt.answer or ""), "text")
        rows.append((str(number), outcome, ui.Number(confidence, 2), answer))
    columns = (ui.Heading("pass", key=True), "outcome", "confidence", "answer")
    trail = ui.section(ui.table(columns, rows), title="What was tried")
    sections = (ui.section(ui.Facts(tuple(facts))), *listed.sections, trail)
    return ui.Page("guard", listed.title, sections, listed.said)


def _banner(assessment: Assessment) -> ui.Banner:
    word, tone = OUTCOMES[assessment.ok]
    unjudged = [check for check in assessment.checks if check.status == "not_judged"]
    lines = [f"{words(issue.reason)}." for issue in assessment.issues]
    if not lines and unjudged:
        lines = [f"{counted(len(unjudged), 'check')} could not be judged: "
                 f"{words(unjudged[0].reason)}."]  # fmt: skip
    return ui.Banner(word, tone, tuple(lines) or ("No check failed.",))


def _claims(judged: tuple[JudgedClaim, ...]) -> ui.Table:
    tones = Support.columns["verdict"].tones
    rows: list[tuple[ui.Cell, ...]] = [
        (
            ui.Phrase(_cut(claim.span.text), "text"),
            ui.quiet("not judged") if claim.verdict is None
            else ui.Verdict(claim.verdict, claim.verdict, tones.get(claim.verdict, "")),
            ui.Number(claim.probability, 2), words(claim.reason),
        )
        for claim in judged
    ]  # fmt: skip
    return ui.table((ui.Heading("sentence", key=True), "contexts say", "probability", "why"), rows)


def _cut(text: str, length: int = LONGEST_TEXT) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


LONGEST_SENTENCE = 160

DECISIONS: dict[str, ui.Tone] = {"pass": "good", "ask": "caution", "block": "bad"}


def guard_page(
    title: str,
    assessed: AssessedData,
    rows: list[dict[str, Any]] | None = None,
    void: Sequence[str] = (),
) -> ui.Page:
    """Return the page of a guarded data set; ``void`` is why the gate asks about every answer."""
    decisions = ", ".join(f"{name} {assessed.decisions[name]:,}" for name in WAYS_OUT)
    cautions = [("gate", f"asks about every answer: {words(why)}") for why in void]
    if assessed.late:
        gone = "by the local judge, in the place of a judge that was too late or gone"
        cautions.append(("late", f"{counted(assessed.late, 'answer')} {gone}"))
    facts = (
        ui.Note("decision", (decisions,)),
        ui.Note("judge", (", ".join(assessed.judges) or "none was needed",)),
        *(ui.Note(name, (ui.Phrase(text, "caution"),)) for name, text in cautions),
    )
    banner = _data_banner(assessed)
    heads = [ui.Heading("check", key=True), *(ui.Heading(word) for word, _ in STATES.values())]
    counts = ui.table(heads, (
        (ui.RowName(name.replace("_", " ")), ui.Count(states["passed"]),
         ui.Count(states["failed"], "bad"), ui.Count(states["not_applicable"], "quiet"),
         ui.Count(states["not_judged"], "missing"))
        for name, states in assessed.checks.items()
    ))  # fmt: skip
    body = [ui.section(banner, ui.Facts(facts)), ui.section(counts)]
    if worst := assessed.worst:
        body.append(ui.section(_answers(worst, assessed), title="To look at"))
    text = f"{banner.word}: {' '.join(banner.lines)}"
    record = {
        "answers": assessed.n,
        "ok": assessed.ok[True],
        "failed": assessed.ok[False],
        "not_judged": assessed.ok[None],
        "late": assessed.late,
        "decisions": dict(assessed.decisions),
        "issues": dict(assessed.issues),
        "checks": {name: dict(states) for name, states in assessed.checks.items()},
        "assessments": rows or [],
    }
    return ui.Page("guard", title, tuple(body), text, record=lambda: record)


def row_of(assessed: AssessedExample) -> dict[str, Any]:
    """An assessment as a row: the example's id and system, then what is known of its answer."""
    example, assessment = assessed
    return {"id": example.id, "system": example.system, **assessment.to_dict()}


def _data_banner(assessed: AssessedData) -> ui.Banner:
    failed, unjudged = assessed.ok[False], assessed.ok[None]
    if not assessed.n:
        return ui.Banner("NOTHING TO ASSESS", "caution", ("The data has no answer.",))
    if failed:
        line = f"{counted(failed, 'answer')} of {assessed.n:,} failed a check."
        return ui.Banner("FAILED", "bad", (line, *_unjudged(unjudged)))
    if unjudged:
        return ui.Banner("CANNOT TELL", "caution", _unjudged(unjudged))
    return ui.Banner("OK", "good", (f"No check failed for {counted(assessed.n, 'answer')}.",))


def _unjudged(n: int) -> tuple[str, ...]:
    return (f"{counted(n, 'answer')} could not be judged in full.",) if n else ()


def _answers(worst: list[AssessedExample], assessed: AssessedData) -> ui.Table:
    rows = []
    for example, assessment in worst:
        decision = assessment.decision
        issues = [words(issue.reason) for issue in assessment.issues]
        whys = [*issues, *(words(check.reason) for check in assessment.checks
                           if check.status == "not_judged"), ""]  # fmt: skip
        below: list[ui.Words] = [*issues[1:]]
        spans = [span.text for issue in assessment.issues for span in issue.spans]
        if spans:
            below.append((ui.strong(""), ui.Phrase(_cut(spans[0], LONGEST_SENTENCE), "text")))
        rows.append(ui.Row((
            ui.RowName(example.id), ui.Verdict(decision, decision, DECISIONS[decision]),
            ui.Number(assessment.confidence, 2), whys[0],
        ), tuple(below)))  # fmt: skip
    more = assessed.n - assessed.ok[True] - len(worst)
    if more > 0:
        rows.append(ui.Row((ui.quiet(f"and {more:,} more"), None, None, None)))
    return ui.table((ui.Heading("answer", key=True), "decision", "confidence", "why"), rows)
