"""Example pages: an example in full, the worst examples of a run, and corrections by people.

They are printed by ``ragstone show`` and ``ragstone correct``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import starmap
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.data import Example
from ragstone.data.record_labels import Unit
from ragstone.judgements import KINDS, Kind
from ragstone.report import page as ui
from ragstone.report.console import command
from ragstone.report.judgement_words import judged, legend, says
from ragstone.report.number_format import ARROWS, Groups, by_metric, counted, number, short_name
from ragstone.report.reason_words import words
from ragstone.report.run_contents import (
    Dossier,
    ExampleScore,
    JudgedPart,
    asks_about,
    call_items,
    dossiers,
)
from ragstone.report.sentences.analysis_words import corrected
from ragstone.report.worst_examples import (
    RULE,
    RankedExample,
    example_item,
    ranked,
    texts_of,
    why,
    worst,
)
from ragstone.run import Estimate, Run
from ragstone.run.corrections.correction import Correction, CorrectionResult, Judgement
from ragstone.run.folder.remote_folder import named

from .full_run_page import estimates_record, header

if TYPE_CHECKING:
    from ragstone.analysis.calibration.checked_run import CheckedRun

MOST_EXAMPLES, LONGEST = 5, 300


def list_page(run: Path, corrections: Sequence[Correction], example: str | None = None) -> ui.Page:
    """Every correction of a run, or of one example, the newest first."""
    listed = [correction for correction in corrections if example in (None, correction.example)]
    columns = (ui.Heading("example", key=True), "judgement", "was", "is", "by", "why", "when (UTC)")
    none = "Nothing was corrected: ragstone correct RUN EXAMPLE shows what can be."
    body = ui.section(ui.table(columns, map(_listed, listed)) if listed else ui.quiet(none))
    return ui.Page(
        "corrections", str(run), (body,),
        record=lambda: {"overrules": [correction.to_dict() for correction in listed]},
    )  # fmt: skip


def can_be_page(run: Path, example: str, judgements: Sequence[Judgement]) -> ui.Page:
    """Return the page of what can be corrected of an example."""
    columns = (ui.Heading("judgement", key=True), "says", "judge", "examples", "version")
    rows = [
        (ui.RowName(judgement_name(item.ask, item.unit)), ui.Phrase(said(item.values), "text"),
         item.judge or "–", f"{len(item.examples):,}", ui.quiet(item.version))
        for item in judgements
    ]  # fmt: skip
    none = ui.quiet("No judge judged anything of it that could be corrected.")
    body = ui.section(ui.table(columns, rows) if rows else none)
    return ui.Page(
        "corrections", f"{run}  {example}", (body,),
        record=lambda: {"example": example, "judgements": list(map(_judgement, judgements))},
    )  # fmt: skip


def done_page(run: Run, done: CorrectionResult) -> ui.Page:
    """Return the page of a correction: the judgement, the examples and estimates it changed."""
    item, ids = done.correction, done.examples
    was, now = (item.was, item.said) if item.undone is None else (item.said, item.was)
    by = ("corrected by", item.author) if item.undone is None else (
        "taken back by", item.undone.author
    )  # fmt: skip
    name = (ui.strong(judgement_name(item.ask, item.unit)), ui.quiet(f"  of {item.example}"))
    more = f" and {len(ids) - MOST_EXAMPLES:,} more" if len(ids) > MOST_EXAMPLES else ""
    changes = f"{counted(len(ids), 'example')}: {', '.join(ids[:MOST_EXAMPLES])}{more}"
    facts = (
        ui.Note("judgement", name),
        ui.Note("was", (ui.Phrase(said(was), "text"),)),
        ui.Note("is", (ui.Phrase(said(now), "text"),)),
        ui.Note(*by),
        ui.Note("changes", (changes,)),
        *(ui.Note(ask, (ui.Phrase(f"missing: {words(why)}", "missing"),))
          for ask, why in done.unasked.items()),
    )  # fmt: skip
    changed = list(_changed(run))
    columns = (ui.Heading("metric", key=True), "the judge alone", "with corrections")
    rows = [
        (
            ui.RowName(now.metric, now.better),
            ui.Number(was.value),
            ui.Number(now.value, strong=True),
        )
        for was, now in changed
    ]
    return ui.Page(
        "corrections", str(run.path),
        (ui.section(ui.Facts(facts)), *([ui.section(ui.table(columns, rows))] if rows else [])),
        record=lambda: {**done.to_dict(), "estimates": [now.to_dict() for _, now in changed]},
    )  # fmt: skip


def judgement_name(ask: str, unit: str | None) -> str:
    """A judgement as it is written on the command line."""
    return ask if unit is None else f"{ask}#{unit}"


def said(values: Mapping[str, Any]) -> str:
    """Return the values of a judgement as they are written on the command line."""
    return ", ".join(f"{name}={_value(value)}" for name, value in values.items()) or "–"


def _value(value: object) -> str:
    match value:
        case list() | tuple():
            return ",".join(map(str, value)) or "none"
        case bool():
            return str(value).lower()
    text = "–" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _listed(correction: Correction) -> tuple[ui.Cell, ...]:
    was = {name: correction.was.get(name) for name in correction.said} if correction.was else {}
    now = ui.Phrase(said(correction.said), "text")
    if correction.undone is not None:
        now = ui.quiet(f"{now.text}, taken back by {correction.undone.author}")
    name = judgement_name(correction.ask, correction.unit)
    return (
        ui.RowName(correction.example), name, ui.Phrase(said(was), "text"), now, correction.author,
        ui.Phrase(correction.reason, "text"), ui.quiet(correction.at[:16].replace("T", " ")),
    )  # fmt: skip


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return {
        "ask": judgement.ask,
        "kind": judgement.kind,
        "unit": judgement.unit,
        "values": dict(judgement.values),
        "judge": judgement.judge,
        "version": judgement.version,
        "examples": list(judgement.examples),
        "overrule": judgement.correction and judgement.correction.to_dict(),
    }


def _changed(run: Run) -> Iterator[tuple[Estimate, Estimate]]:
    alone = {
        item.metric: item for item in run.without_corrections().estimate_list if not item.group
    }
    counts = attrgetter("value", "n", "n_undefined", "n_missing")
    for now in run.estimate_list:
        was = alone.get(now.metric)
        if not now.group and was is not None and counts(was) != counts(now):
            yield was, now


Items = Iterator[ui.OutlineItem]


def example_page(dossier: Dossier, *, prompts: bool = False) -> ui.Page:
    """The page of a dossier, in reading order: question, contexts, answer, judgements."""
    example, parts = dossier.example, dossier.parts
    outlines: dict[str, Items] = {
        "Contexts": _contexts(dossier),
        "Answer": _answer(dossier),
        "Claims of the answer": _numbered(dossier, "claim"),
        "Reference": _reference(dossier),
        "Criteria": _numbered(dossier, "criterion"),
        "Gold evidence": _numbered(dossier, "evidence"),
        "Other judgements": _whole(dossier, with_answer=False),
        "Labels of people": (
            ui.OutlineItem((ui.strong(name), f"  {_plain(value)}"))
            for name, value in example.labels.items()
        ),
        "Questions to models": call_items(dossier.calls, prompts=prompts),
    }
    listed = [(title, tuple(items)) for title, items in outlines.items()]
    sections = [ui.section(ui.Facts(tuple(_opening(example))))]
    sections += [
        ui.section(ui.Outline(items), title=ui.strong(title)) for title, items in listed if items
    ]
    if dossier.scores:
        scores = ui.table(("", "", ""), map(_score, dossier.scores))
        sections.append(ui.section(scores, title=ui.strong("Scores")))
    rows = [row for judged_parts in parts.values() for part in judged_parts
            for rows_of_kind in part.said.values() for row in rows_of_kind]  # fmt: skip
    rows += [row for rows_of_kind in dossier.judgements.values() for row in rows_of_kind]
    if panels := legend(row.judge for row in rows):
        sections.append(ui.small_print(panels))
    return ui.Page("show", example.id, tuple(sections), record=dossier.to_dict)


def _opening(example: Example) -> Iterator[ui.Note]:
    yield ui.Note("example", ui.strong(example.id))
    yield ui.Note("system", example.system)
    yield from (ui.Note(name, _plain(value)) for name, value in example.slices.items())
    if example.policy:
        yield ui.Note("policy", example.policy)
    yield from (ui.Note(turn.role, ui.quiet(turn.text)) for turn in example.history)
    yield ui.Note("question", ui.strong(example.question or "–"))


def _contexts(dossier: Dossier) -> Items:
    contexts = dossier.example.contexts
    if contexts is None:
        yield ui.OutlineItem(ui.quiet("this system does not retrieve"))
    elif not contexts:
        yield ui.OutlineItem(ui.quiet("it retrieved nothing"))
    for context, part in zip(contexts or (), dossier.parts["context"], strict=True):
        score = "" if context.score is None else f"  score {number(context.score)}"
        head, inner = _said("context", part)
        text = "(no text)" if context.text is None else context.text
        yield ui.OutlineItem(
            (ui.Phrase(context.id, "name"), ui.quiet(score), *head),
            (ui.OutlineItem(ui.Phrase(text, "text")), *inner),
            lead=f"{context.rank:>2}",
        )


def _said(
    unit: Unit, part: JudgedPart, references: int = 1
) -> tuple[list[ui.Phrase], tuple[ui.OutlineItem, ...]]:
    head: list[ui.Phrase] = []
    below: list[ui.OutlineItem] = []
    for ask in asks_about(unit):
        for row in part.said[ask.kind]:
            lead = says(row.kind, ask)
            if ask.kind in part.several and references > 1:
                lead = f"reference {row.values['reference'] + 1} {lead}"
            if lead:
                below.append(ui.OutlineItem(judged(row, lead)))
            else:
                head += [ui.quiet("  "), *judged(row, "")]
    return head, tuple(below)


def _unit(unit: Unit, part: JudgedPart, lead: str, references: int = 1) -> ui.OutlineItem:
    head, below = _said(unit, part, references)
    text = ui.Phrase(part.text or "", "text")
    return ui.OutlineItem((text, *head) if head else text, below, lead=lead)


def _numbered(dossier: Dossier, unit: Unit) -> Items:
    references = len(dossier.example.reference) if unit == "claim" else 1
    for part in dossier.parts[unit]:
        yield _unit(unit, part, f"{part.place + 1:>2}", references)


def _answer(dossier: Dossier) -> Items:
    answer = dossier.example.answer
    yield ui.OutlineItem(ui.Phrase("–" if answer is None else answer, "text"))
    yield from _whole(dossier, with_answer=True)


def _reference(dossier: Dossier) -> Items:
    references = dossier.example.reference
    for at, text in enumerate(references):
        inner = [
            ui.OutlineItem(judged(row, says(row.kind)))
            for kind, rows in dossier.judgements.items()
            for row in rows
            if "reference" in _about(KINDS[kind]) and row.values["reference"] == at
        ]
        statements = (part for part in dossier.parts["statement"] if part.reference == at)
        inner += [_unit("statement", statement, "·") for statement in statements]
        lead = f"{at + 1:>2}" * (len(references) > 1)
        yield ui.OutlineItem(ui.Phrase(text, "text"), tuple(inner), lead=lead)


def _whole(dossier: Dossier, *, with_answer: bool) -> Items:
    for kind, rows in dossier.judgements.items():
        about = _about(KINDS[kind])
        if "reference" not in about and ("answer" in about or KINDS[kind].made) is with_answer:
            yield from (ui.OutlineItem(judged(row, says(row.kind))) for row in rows)


def _about(kind: type[Kind]) -> set[Unit]:
    return {ask.over.unit for ask in kind.asks if ask.over is not None}


def _score(score: ExampleScore) -> tuple[ui.Cell, ...]:
    name = ui.RowName(score.metric)
    if score.status == "value":
        text = "  ".join(filter(None, (score.label, score.reason)))
        return name, ui.Number(score.value, strong=True), ui.quiet(text)
    outcome: ui.Outcome = "missing" if score.status == "missing" else "undefined"
    return name, ui.Number(None), ui.Why(outcome, f"{score.status} ({words(score.reason or '')})")


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def worst_page(run: Run, *, metrics: Sequence[str] = (), limit: int | None = None) -> ui.Page:
    """The worst examples over all metrics together, or those of each metric that is named."""
    some = {} if limit is None else {"limit": limit}
    # Half a second to import, which no other page of this file needs.
    from ragstone.analysis.calibration.checked_run import checked_against_people

    checked = checked_against_people(run.path, run.form)
    worst_of = _by_metric(run, metrics, some) if metrics else _of_run(run, some)
    means = tuple(_corrected(run.estimate_list, checked, metrics))
    more = (
        f"One of them in full: {command('show', named(run.path), 'EXAMPLE')}",
        f"The worst of a metric: {command('show', named(run.path), '--metric', 'METRIC')}",
    )
    sections = (
        ui.section(header(run, Groups(run.estimate_list), "EXAMPLE")),
        *([ui.section(ui.Paragraphs(means))] if means else []),
        *worst_of[0],
        *([] if run.is_temporary else [ui.section(ui.Paragraphs(tuple(map(ui.quiet, more))))]),
    )
    return ui.Page(
        "show", str(run.path), sections,
        record=lambda: {
            "run": named(run.path),
            "signature": run.signature,
            "data": run.form.data.to_dict(),
            "judges": [judge.to_dict() for judge in run.form.judges],
            "estimates": estimates_record(run, checked),
            **worst_of[1],
        },
    )  # fmt: skip


# The sections of the worst examples, and the same as data.
Worst = tuple[list[ui.Section], dict[str, Any]]


def _of_run(run: Run, some: Mapping[str, int]) -> Worst:
    metrics, examples = ranked(run, **some)
    none = "no example could be better" if metrics else "no metric says which are worse"
    items = tuple(starmap(_ranked_item, enumerate(examples, 1)))
    ranking = (ui.Note("ranked", RULE), ui.Note("metrics", ", ".join(metrics) or "–"))
    listed = ui.section(
        ui.Outline(items or (ui.OutlineItem(ui.quiet(none)),)), title=ui.strong("Worst examples")
    )
    return [listed, ui.small_print(ranking)], {
        "ranked_by": {"rule": RULE, "metrics": list(metrics)},
        "worst": list(map(asdict, examples)),
    }


def _by_metric(run: Run, metrics: Sequence[str], some: Mapping[str, int]) -> Worst:
    by_name = worst(run, metrics=metrics, **some)
    estimates = by_metric(run.estimate_list)
    dossiers_of = dossiers(run, {row.example_id for rows in by_name.values() for row in rows})
    sections, listed = [], {}
    for name, rows in by_name.items():
        explained = [
            replace(row, reasons=tuple(why(dossiers_of[row.example_id], name))) for row in rows
        ]
        listed[name] = [asdict(row) | {"reasons": list(row.reasons)} for row in explained]
        items = tuple(map(example_item, explained))
        items = items or (ui.OutlineItem(ui.quiet(_none_listed(estimates[name]))),)
        arrow = ui.quiet(f" {ARROWS[estimates[name][0].better]}")
        sections.append(ui.section(ui.Outline(items), title=(ui.strong(name), arrow)))
    return sections, {"worst_by_metric": listed}


def _corrected(
    estimates: Sequence[Estimate], checked: "CheckedRun", metrics: Sequence[str]
) -> Iterator[str]:
    for metric, ones in by_metric(estimates).items():
        listed = [
            f"{', '.join(mean.group.values()) or 'all'} {number(mean.value)}, {corrected(labels)}"
            for mean in ones
            if mean.value is not None and (labels := checked.corrected(metric, mean.group))
        ]
        if listed and (not metrics or metric in metrics):
            yield f"{short_name(metric)}: {'; '.join(listed)}"


def _ranked_item(index: int, example: RankedExample) -> ui.OutlineItem:
    scores = [(low.metric, number(low.value), low.label) for low in example.low]
    low = ", ".join(" ".join(filter(None, score)) for score in scores)
    head = (
        ui.Phrase(example.example_id, "name", strong=True), ui.quiet(f"  {example.system}"),
        f"  {number(example.shortfall)} below the best", ui.quiet(f": {low}" if low else ""),
    )  # fmt: skip
    return ui.OutlineItem(head, texts_of(example), lead=f"{index:>2}")


def _none_listed(estimates: Sequence[Estimate]) -> str:
    whole = max(estimates, key=lambda item: item.n + item.n_undefined + item.n_missing)
    text = "no example could be better" if whole.n else "no example has a score"
    counts = {"undefined": 0 if whole.n else whole.n_undefined, "missing": whole.n_missing}
    lacking = " and ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)
    return f"{text} ({lacking})" if lacking else text
