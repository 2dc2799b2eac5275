"""Overrules page: what people overruled in a run, what can be, and what came of one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.report.figures import counted
from ragstone.report.page import (
    Cell,
    Facts,
    Heading,
    Note,
    Number,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Table,
    quiet,
    section,
    strong,
    table,
)
from ragstone.report.words import words
from ragstone.run import Estimate, Run
from ragstone.run.corrections.correction import Judgement, Overrule, Overruled

MOST_EXAMPLES, LONGEST = 5, 300


def list_page(run: Path, overrules: Sequence[Overrule], example: str | None = None) -> Page:
    """Every overrule of a run, or of one example, the newest first."""
    shown = [one for one in overrules if example in (None, one.example)]
    columns = [Heading("example", key=True), Heading("judgement"), Heading("was"), Heading("is"),
               Heading("by"), Heading("why"), Heading("when (UTC)")]  # fmt: skip
    if shown:
        body = section(table(columns, [Row(tuple(_listed(one))) for one in shown]))
    else:
        body = section(Paragraphs((quiet("Nothing was overruled: ragstone overrule RUN EXAMPLE "
                                         "shows what can be."),)))  # fmt: skip
    return Page("overrules", str(run), (body,),
                record=lambda: {"overrules": [one.to_dict() for one in shown]})  # fmt: skip


def can_be_page(run: Path, example: str, found: Sequence[Judgement]) -> Page:
    """What can be overruled of an example."""
    columns = [Heading("judgement", key=True), Heading("says"), Heading("judge"),
               Heading("examples"), Heading("version")]  # fmt: skip
    rows = [
        Row((
            RowName(named(one.ask, one.unit)), Phrase(said(one.values), "text"), one.judge or "–",
            f"{len(one.examples):,}", quiet(one.version),
        ))
        for one in found
    ]  # fmt: skip
    body: Table | Paragraphs = (
        table(columns, rows)
        if rows
        else Paragraphs((quiet("No judge judged anything of it that could be overruled."),))
    )
    return Page(
        "overrules",
        f"{run}  {example}",
        (section(body),),
        record=lambda: {"example": example, "judgements": [_judgement(one) for one in found]},
    )


def done_page(run: Run, done: Overruled) -> Page:
    """What an overrule changed: the judgement, the examples, and the estimates of the run."""
    one = done.overrule
    back = one.undone is not None
    was, now = (one.said, one.was) if back else (one.was, one.said)
    by = one.author if one.undone is None else one.undone.author
    facts = [
        Note("judgement", (strong(named(one.ask, one.unit)), quiet(f"  of {one.example}"))),
        Note("was", (Phrase(said(was), "text"),)),
        Note("is", (Phrase(said(now), "text"),)),
        Note("taken back by" if back else "overruled by", (by,)),
        Note("changes", (_examples(done.examples),)),
        *(Note(ask, (Phrase(f"missing: {words(why)}", "missing"),)) for ask, why in
          done.unasked.items()),
    ]  # fmt: skip
    changed = list(_changed(run))
    return Page(
        "overrules",
        str(run.path),
        (section(Facts(tuple(facts))), *([section(_estimates(changed))] if changed else [])),
        record=lambda: {
            **done.to_dict(),
            "estimates": [now.to_dict() for _, now in changed],
        },
    )


def named(ask: str, unit: str | None) -> str:
    """A judgement as it is written on the command line."""
    return ask if unit is None else f"{ask}#{unit}"


def said(values: Mapping[str, Any]) -> str:
    """What is said, as it is written on the command line."""
    return ", ".join(f"{name}={_value(value)}" for name, value in values.items()) or "–"


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    text = "–" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _listed(one: Overrule) -> Iterator[Cell]:
    yield RowName(one.example)
    yield named(one.ask, one.unit)
    yield Phrase(said({name: one.was.get(name) for name in one.said} if one.was else {}), "text")
    if one.undone is None:
        yield Phrase(said(one.said), "text")
    else:
        yield quiet(f"{said(one.said)}, taken back by {one.undone.author}")
    yield one.author
    yield Phrase(one.reason, "text")
    yield quiet(one.at[:16].replace("T", " "))


def _judgement(one: Judgement) -> dict[str, Any]:
    return {
        "ask": one.ask,
        "kind": one.kind,
        "unit": one.unit,
        "values": dict(one.values),
        "judge": one.judge,
        "version": one.version,
        "examples": list(one.examples),
        "overrule": one.overrule and one.overrule.to_dict(),
    }


def _examples(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_EXAMPLES:,} more" if len(ids) > MOST_EXAMPLES else ""
    return f"{counted(len(ids), 'example')}: {', '.join(ids[:MOST_EXAMPLES])}{more}"


def _changed(run: Run) -> Iterator[tuple[Estimate, Estimate]]:
    """The means of the whole run that the overrules change: the judge's alone, and as they are."""
    alone = {one.metric: one for one in run.without_overrules().estimate_list if not one.group}
    for now in run.estimate_list:
        was = alone.get(now.metric)
        if not now.group and was is not None and _counts(was) != _counts(now):
            yield was, now


def _counts(one: Estimate) -> tuple[float | None, int, int, int]:
    return one.value, one.n, one.n_undefined, one.n_missing


def _estimates(changed: Sequence[tuple[Estimate, Estimate]]) -> Table:
    columns = [Heading("metric", key=True), Heading("the judge alone"), Heading("with overrules")]
    rows = [
        Row((RowName(now.metric, now.better), Number(was.value), Number(now.value, strong=True)))
        for was, now in changed
    ]
    return table(columns, rows)
