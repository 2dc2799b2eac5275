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


def assessment_page(found: Assessment) -> Page:
    """The checks of an answer, then its sentences with what the contexts say to them."""
    banner = _banner(found)
    facts = [Note("decision", (found.decision,)), Note("judge", (found.judge or "none",))]
    facts += [Note("late" if found.late else "note", (Phrase(words(why), "caution"),))
              for why in found.notes]  # fmt: skip
    body = [section(banner, Facts(tuple(facts))), section(_checks(found))]
    if found.judged:
        body.append(section(_claims(found.judged), title="What it says"))
    said = f"{banner.word}: {' '.join(banner.lines)}"
    return Page("guard", found.run_id or "one answer", tuple(body), said, record=found.to_dict)


def improvement_page(found: Improvement) -> Page:
    """The answer to give, and what is known of it; then every answer that was tried."""
    shown = assessment_page(found.assessment)
    answer = Facts((
        Note("answer", (Phrase(found.answer, "text"),)),
        Note("improved", ("yes" if found.improved else "no",)),
        *([Note("model", (Phrase(words(found.fault), "caution"),))] if found.fault else ()),
    ))  # fmt: skip
    rows = [
        Row((str(number), *_outcome(one.assessment, one.fault),
             Phrase(_cut(one.answer or ""), "text")))
        for number, one in enumerate(found.trail)
    ]  # fmt: skip
    columns = [Heading("pass", key=True), Heading("outcome"), Heading("confidence"),
               Heading("answer")]  # fmt: skip
    trail = section(table(columns, rows), title="What was tried")
    return Page("guard", shown.title, (section(answer), *shown.sections, trail), shown.said)


def _outcome(found: Assessment | None, fault: str | None) -> tuple[Cell, Cell]:
    if found is None:
        return Phrase(words(fault or ""), "caution"), Number(None)
    word, tone = OUTCOMES[found.ok]
    return Verdict(word.lower(), word, tone), Number(found.confidence, 2)


def _banner(found: Assessment) -> Banner:
    word, tone = OUTCOMES[found.ok]
    unjudged = [check for check in found.checks if check.status == "not_judged"]
    lines = [f"{words(issue.reason)}." for issue in found.issues]
    if not lines and unjudged:
        lines = [f"{counted(len(unjudged), 'check')} could not be judged: "
                 f"{words(unjudged[0].reason)}."]  # fmt: skip
    return Banner(word, tone, tuple(lines) or ("No check failed.",))


def _checks(found: Assessment) -> Table:
    columns = [Heading("check", key=True), Heading("outcome"), Heading("value"),
               Heading("at least"), Heading("why")]  # fmt: skip
    return table(columns, [_check(check) for check in found.checks])


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
    for one in judged:
        said: Cell = quiet("not judged")
        if one.verdict is not None:
            said = Verdict(one.verdict, one.verdict, tones.get(one.verdict, ""))
        cells = (Phrase(_cut(one.span.text), "text"), said, Number(one.probability, 2),
                 words(one.reason))  # fmt: skip
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
    found: AssessedData,
    rows: list[dict[str, Any]] | None = None,
    void: Sequence[str] = (),
) -> Page:
    """Return the page of a guarded data set; ``void`` is why the gate asks about every answer."""
    facts = [
        Note("decision", (_decisions(found),)),
        Note("judge", (", ".join(found.judges) or "none was needed",)),
    ]
    facts += [Note("gate", (Phrase(f"asks about every answer: {words(why)}", "caution"),))
              for why in void]  # fmt: skip
    if found.late:
        facts.append(
            Note("late", (Phrase(
                f"{counted(found.late, 'answer')} by the local judge, in the place of a judge that "
                "was too late or gone", "caution"),))
        )  # fmt: skip
    banner = _data_banner(found)
    body = [section(banner, Facts(tuple(facts))), section(_checks_of_data(found))]
    if worst := found.worst:
        body.append(section(_answers(worst, found), title="To look at"))
    said = f"{banner.word}: {' '.join(banner.lines)}"
    return Page("guard", title, tuple(body), said,
                record=lambda: record_of(found, rows or []))  # fmt: skip


def record_of(found: AssessedData, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The page's facts as plain data."""
    return {
        "answers": found.n,
        "ok": found.ok[True],
        "failed": found.ok[False],
        "not_judged": found.ok[None],
        "late": found.late,
        "decisions": dict(found.decisions),
        "issues": dict(found.issues),
        "checks": {name: dict(states) for name, states in found.checks.items()},
        "assessments": rows,
    }


def row_of(one: AssessedExample) -> dict[str, Any]:
    """An assessment as a row: the example's id and system, then what is known of its answer."""
    return {"id": one.example.id, "system": one.example.system, **one.assessment.to_dict()}


def _data_banner(found: AssessedData) -> Banner:
    failed, unjudged = found.ok[False], found.ok[None]
    if not found.n:
        return Banner("NOTHING TO ASSESS", "caution", ("The data has no answer.",))
    if failed:
        line = f"{counted(failed, 'answer')} of {found.n:,} failed a check."
        return Banner("FAILED", "bad", (line, *_unjudged(unjudged)))
    if unjudged:
        return Banner("CANNOT TELL", "caution", _unjudged(unjudged))
    return Banner("OK", "good", (f"No check failed for {counted(found.n, 'answer')}.",))


def _unjudged(n: int) -> tuple[str, ...]:
    return (f"{counted(n, 'answer')} could not be judged in full.",) if n else ()


def _decisions(found: AssessedData) -> str:
    return ", ".join(f"{name} {found.decisions[name]:,}" for name in DECIDED)  # type: ignore[index]


def _checks_of_data(found: AssessedData) -> Table:
    columns = [Heading("check", key=True), Heading("passed"), Heading("failed"),
               Heading("not applicable"), Heading("not judged")]  # fmt: skip
    return table(columns, [
        Row((RowName(name.replace("_", " ")), Count(states["passed"]),
             Count(states["failed"], "bad"), Count(states["not_applicable"], "quiet"),
             Count(states["not_judged"], "missing")))
        for name, states in found.checks.items()
    ])  # fmt: skip


def _answers(worst: list[AssessedExample], found: AssessedData) -> Table:
    columns = [Heading("answer", key=True), Heading("decision"), Heading("confidence"),
               Heading("why")]  # fmt: skip
    rows = [
        Row((RowName(one.example.id), _decision(one.assessment),
             Number(one.assessment.confidence, 2), _first_why(one.assessment)),
            tuple(_places(one.assessment)))
        for one in worst
    ]  # fmt: skip
    more = found.n - found.ok[True] - len(worst)
    if more > 0:
        rows.append(Row((quiet(f"and {more:,} more"), None, None, None)))
    return table(columns, rows)


def _decision(found: Assessment) -> Cell:
    word, tone = DECIDED[found.decision]
    return Verdict(found.decision, word, tone)


def _first_why(found: Assessment) -> str:
    whys = [issue.reason for issue in found.issues]
    whys += [check.reason for check in found.checks if check.status == "not_judged"]
    return words(whys[0]) if whys else ""


def _places(found: Assessment) -> list[Any]:
    told: list[Any] = [words(issue.reason) for issue in found.issues[1:]]
    spans = [span.text for issue in found.issues for span in issue.spans]
    if spans:
        text = _cut(spans[0], LONGEST_SENTENCE)
        told.append((strong(""), Phrase(text, "text")))
    return told
