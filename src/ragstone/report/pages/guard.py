"""Guard page: how many answers would pass, what each check found, and the answers to look at."""

from collections.abc import Sequence
from typing import Any

from ragstone.guard.assessment import Assessment
from ragstone.guard.over_data import AssessedData, AssessedExample
from ragstone.report.figures import counted
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
from ragstone.report.words import words

LONGEST = 160

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
    """What the guard says of the answers of a data set.

    Args:
        title: Where they come from.
        found: What came of them.
        rows: Every assessment as plain data, for the record.
        void: Why the gate asks about every answer, as codes with facts.
    """
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
    banner = _banner(found)
    body = [section(banner, Facts(tuple(facts))), section(_checks(found))]
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
    return {
        "id": one.example.id,
        "system": one.example.system,
        **one.assessment.to_dict(),
    }


def _banner(found: AssessedData) -> Banner:
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


def _checks(found: AssessedData) -> Table:
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
        text = spans[0] if len(spans[0]) <= LONGEST else f"{spans[0][: LONGEST - 1]}…"
        told.append((strong(""), Phrase(text, "text")))
    return told
