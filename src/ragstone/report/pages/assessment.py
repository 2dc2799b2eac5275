"""Assessment page: what is known of one answer before it is given."""

from ragstone.guard.assessment import Assessment, CheckResult, JudgedClaim
from ragstone.guard.improve import Improvement
from ragstone.judgements import Support
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
    table,
)
from ragstone.report.words import words

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
LONGEST = 300


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
    """A measure where there is a threshold, else a count."""
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


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
