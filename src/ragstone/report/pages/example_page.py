"""Example pages: an example in full, the worst examples of a run, and corrections by people.

They are printed by ``ragstone show`` and ``ragstone correct``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.data import Example
from ragstone.data.record_labels import Unit
from ragstone.judgements import KINDS, Kind
from ragstone.report.console import command
from ragstone.report.judgement_words import judged, legend, says
from ragstone.report.number_format import ARROWS, Groups, by_metric, counted, number, short_name
from ragstone.report.page import (
    Block,
    Cell,
    Facts,
    Heading,
    Note,
    Number,
    Outline,
    OutlineItem,
    Page,
    Paragraphs,
    Phrase,
    Row,
    RowName,
    Section,
    Table,
    Why,
    quiet,
    section,
    small_print,
    strong,
    table,
)
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


def list_page(run: Path, corrections: Sequence[Correction], example: str | None = None) -> Page:
    """Every correction of a run, or of one example, the newest first."""
    listed = [correction for correction in corrections if example in (None, correction.example)]
    columns = [Heading("example", key=True), Heading("judgement"), Heading("was"), Heading("is"),
               Heading("by"), Heading("why"), Heading("when (UTC)")]  # fmt: skip
    if listed:
        body = section(table(columns, [Row(tuple(_listed(estimate))) for estimate in listed]))
    else:
        body = section(Paragraphs((quiet("Nothing was corrected: ragstone correct RUN EXAMPLE "
                                         "shows what can be."),)))  # fmt: skip
    return Page(
        "corrections",
        str(run),
        (body,),
        record=lambda: {"overrules": [estimate.to_dict() for estimate in listed]},
    )


def can_be_page(run: Path, example: str, judgements: Sequence[Judgement]) -> Page:
    """Return the page of what can be corrected of an example."""
    columns = [Heading("judgement", key=True), Heading("says"), Heading("judge"),
               Heading("examples"), Heading("version")]  # fmt: skip
    rows = [
        Row(
            (
                RowName(judgement_name(judgement.ask, judgement.unit)),
                Phrase(said(judgement.values), "text"),
                judgement.judge or "–",
                f"{len(judgement.examples):,}",
                quiet(judgement.version),
            )
        )
        for judgement in judgements
    ]
    body: Table | Paragraphs = (
        table(columns, rows)
        if rows
        else Paragraphs((quiet("No judge judged anything of it that could be corrected."),))
    )
    return Page(
        "corrections",
        f"{run}  {example}",
        (section(body),),
        record=lambda: {
            "example": example,
            "judgements": [_judgement(judgement) for judgement in judgements],
        },
    )


def done_page(run: Run, done: CorrectionResult) -> Page:
    """Return the page of a correction: the judgement, the examples and estimates it changed."""
    item = done.correction
    back = item.undone is not None
    was, now = (item.said, item.was) if back else (item.was, item.said)
    by = item.author if item.undone is None else item.undone.author
    facts = [
        Note(
            "judgement",
            (strong(judgement_name(item.ask, item.unit)), quiet(f"  of {item.example}")),
        ),
        Note("was", (Phrase(said(was), "text"),)),
        Note("is", (Phrase(said(now), "text"),)),
        Note("taken back by" if back else "corrected by", (by,)),
        Note("changes", (_examples(done.examples),)),
        *(Note(ask, (Phrase(f"missing: {words(why)}", "missing"),)) for ask, why in
          done.unasked.items()),
    ]  # fmt: skip
    changed = list(_changed(run))
    return Page(
        "corrections",
        str(run.path),
        (section(Facts(tuple(facts))), *([section(_estimates(changed))] if changed else [])),
        record=lambda: {**done.to_dict(), "estimates": [now.to_dict() for _, now in changed]},
    )


def judgement_name(ask: str, unit: str | None) -> str:
    """A judgement as it is written on the command line."""
    return ask if unit is None else f"{ask}#{unit}"


def said(values: Mapping[str, Any]) -> str:
    """Return the values of a judgement as they are written on the command line."""
    return ", ".join(f"{name}={_value(value)}" for name, value in values.items()) or "–"


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    text = "–" if value is None else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _listed(correction: Correction) -> Iterator[Cell]:
    yield RowName(correction.example)
    yield judgement_name(correction.ask, correction.unit)
    yield Phrase(
        said(
            {name: correction.was.get(name) for name in correction.said} if correction.was else {}
        ),
        "text",
    )
    if correction.undone is None:
        yield Phrase(said(correction.said), "text")
    else:
        yield quiet(f"{said(correction.said)}, taken back by {correction.undone.author}")
    yield correction.author
    yield Phrase(correction.reason, "text")
    yield quiet(correction.at[:16].replace("T", " "))


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


def _examples(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_EXAMPLES:,} more" if len(ids) > MOST_EXAMPLES else ""
    return f"{counted(len(ids), 'example')}: {', '.join(ids[:MOST_EXAMPLES])}{more}"


def _changed(run: Run) -> Iterator[tuple[Estimate, Estimate]]:
    alone = {
        estimate.metric: estimate
        for estimate in run.without_corrections().estimate_list
        if not estimate.group
    }
    for now in run.estimate_list:
        was = alone.get(now.metric)
        if not now.group and was is not None and _counts(was) != _counts(now):
            yield was, now


def _counts(estimate: Estimate) -> tuple[float | None, int, int, int]:
    return estimate.value, estimate.n, estimate.n_undefined, estimate.n_missing


def _estimates(changed: Sequence[tuple[Estimate, Estimate]]) -> Table:
    columns = [Heading("metric", key=True), Heading("the judge alone"), Heading("with corrections")]
    rows = [
        Row((RowName(now.metric, now.better), Number(was.value), Number(now.value, strong=True)))
        for was, now in changed
    ]
    return table(columns, rows)


Items = Iterator[OutlineItem]
Outlined = tuple[OutlineItem, ...]


def example_page(dossier: Dossier, *, prompts: bool = False) -> Page:
    """The page of a dossier, in reading order: question, contexts, answer, judgements."""
    parts: tuple[tuple[str, Callable[[Dossier], Items]], ...] = (
        ("Contexts", _contexts),
        ("Answer", _answer),
        ("Claims of the answer", _claims),
        ("Reference", _reference),
        ("Gold evidence", _evidence),
        ("Other judgements", _others),
        ("Labels of people", _labels),
    )
    sections = [section(Facts(tuple(_opening(dossier.example))))]
    for title, items_of in parts:
        if items := tuple(items_of(dossier)):
            sections.append(_titled(Outline(items), title))
    if calls := tuple(call_items(dossier.calls, prompts=prompts)):
        sections.append(_titled(Outline(calls), "Questions to models"))
    if dossier.scores:
        sections.append(_titled(_scores(dossier.scores), "Scores"))
    if panels := legend(_judges(dossier)):
        sections.append(small_print(panels))
    return Page("show", dossier.example.id, tuple(sections), record=dossier.to_dict)


def _judges(dossier: Dossier) -> Iterator[str]:
    for part in (part for parts in dossier.parts.values() for part in parts):
        yield from (row.judge for text in part.said.values() for row in text.rows)
    yield from (row.judge for rows in dossier.judgements.values() for row in rows)


def _titled(block: Block, title: str) -> Section:
    return Section((block,), strong(title))


def _opening(example: Example) -> Iterator[Note]:
    yield Note("example", strong(example.id))
    yield Note("system", example.system)
    yield from (Note(name, _plain(value)) for name, value in example.slices.items())
    if example.policy:
        yield Note("policy", example.policy)
    yield from (Note(turn.role, quiet(turn.text)) for turn in example.history)
    yield Note("question", strong(example.question or "–"))


def _contexts(dossier: Dossier) -> Items:
    contexts = dossier.example.contexts
    if contexts is None:
        yield OutlineItem(quiet("this system does not retrieve"))
    elif not contexts:
        yield OutlineItem(quiet("it retrieved nothing"))
    for context, part in zip(contexts or (), dossier.parts["context"], strict=True):
        score = "" if context.score is None else f"  score {number(context.score)}"
        head, inner = _said("context", part)
        text = "(no text)" if context.text is None else context.text
        yield OutlineItem(
            (Phrase(context.id, "name"), quiet(score), *head),
            (OutlineItem(Phrase(text, "text")), *inner),
            lead=f"{context.rank:>2}",
        )


def _said(unit: Unit, part: JudgedPart, references: int = 1) -> tuple[list[Phrase], Outlined]:
    head: list[Phrase] = []
    below: list[OutlineItem] = []
    for ask in asks_about(unit):
        judgements = part.said[ask.kind]
        for row in judgements.rows:
            lead = says(row.kind, ask)
            if judgements.several and references > 1:
                lead = f"reference {row.values['reference'] + 1} {lead}"
            if lead:
                below.append(OutlineItem(judged(row, lead)))
            else:
                head += [quiet("  "), *judged(row, "")]
    return head, tuple(below)


def _unit(unit: Unit, part: JudgedPart, lead: str, references: int = 1) -> OutlineItem:
    head, below = _said(unit, part, references)
    text = Phrase(part.text or "", "text")
    return OutlineItem((text, *head) if head else text, below, lead=lead)


def _answer(dossier: Dossier) -> Items:
    answer = dossier.example.answer
    yield OutlineItem(Phrase("–" if answer is None else answer, "text"))
    yield from _whole(dossier, with_answer=True)


def _claims(dossier: Dossier) -> Items:
    references = len(dossier.example.reference)
    for claim in dossier.parts["claim"]:
        yield _unit("claim", claim, f"{claim.place + 1:>2}", references)


def _reference(dossier: Dossier) -> Items:
    references = dossier.example.reference
    for at, text in enumerate(references):
        inner = [
            OutlineItem(judged(row, says(row.kind)))
            for kind, rows in dossier.judgements.items()
            for row in rows
            if "reference" in _about(KINDS[kind]) and row.values["reference"] == at
        ]
        statements = (part for part in dossier.parts["statement"] if part.reference == at)
        inner += [_unit("statement", statement, "·") for statement in statements]
        lead = f"{at + 1:>2}" * (len(references) > 1)
        yield OutlineItem(Phrase(text, "text"), tuple(inner), lead=lead)


def _evidence(dossier: Dossier) -> Items:
    for evidence in dossier.parts["evidence"]:
        yield _unit("evidence", evidence, f"{evidence.place + 1:>2}")


def _others(dossier: Dossier) -> Items:
    yield from _whole(dossier, with_answer=False)


def _whole(dossier: Dossier, *, with_answer: bool) -> Items:
    for kind, rows in dossier.judgements.items():
        about = _about(KINDS[kind])
        if "reference" not in about and ("answer" in about or KINDS[kind].made) is with_answer:
            yield from (OutlineItem(judged(row, says(row.kind))) for row in rows)


def _about(kind: type[Kind]) -> set[Unit]:
    return {ask.over.unit for ask in kind.asks if ask.over is not None}


def _labels(dossier: Dossier) -> Items:
    for name, value in dossier.example.labels.items():
        yield OutlineItem((strong(name), f"  {_plain(value)}"))


def _scores(scores: Sequence[ExampleScore]) -> Table:
    return table((Heading(), Heading(), Heading()), [_score(score) for score in scores])


def _score(score: ExampleScore) -> Row:
    name = RowName(score.metric)
    if score.status == "value":
        text = "  ".join(filter(None, (score.label, score.reason)))
        return Row((name, Number(score.value, strong=True), quiet(text)))
    why = f"{score.status} ({words(score.reason or '')})"
    return Row(
        (name, Number(None), Why("missing" if score.status == "missing" else "undefined", why))
    )


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def worst_page(run: Run, *, metrics: Sequence[str] = (), limit: int | None = None) -> Page:
    """The worst examples over all metrics together, or those of each metric that is named."""
    some = {} if limit is None else {"limit": limit}
    return _by_metric(run, metrics, some) if metrics else _of_run(run, some)


def _of_run(run: Run, some: Mapping[str, int]) -> Page:
    worst_ones = ranked(run, **some)
    examples = [_ranked_item(at, example) for at, example in enumerate(worst_ones.examples, 1)]
    none = "no example could be better" if worst_ones.metrics else "no metric says which are worse"
    items = tuple(examples) or (OutlineItem(quiet(none)),)
    ranking = (Note("ranked", RULE), Note("metrics", ", ".join(worst_ones.metrics) or "–"))
    known = {"ranked_by": {"rule": RULE, "metrics": list(worst_ones.metrics)},
             "worst": [asdict(example) for example in worst_ones.examples]}  # fmt: skip
    listed = Section((Outline(items),), (strong("Worst examples"),))
    return _page(run, [listed, small_print(ranking)], known, None)


def _by_metric(run: Run, metrics: Sequence[str], some: Mapping[str, int]) -> Page:
    by_name = worst(run, metrics=metrics, **some)
    estimates = by_metric(run.estimate_list)
    dossiers_of = dossiers(run, {row.example_id for rows in by_name.values() for row in rows})
    reasons = {
        name: [why(dossiers_of[row.example_id], name) for row in rows]
        for name, rows in by_name.items()
    }
    sections = []
    for name, rows in by_name.items():
        items = tuple(
            example_item(row, label=row.label, system=row.system, reasons=why_low)
            for row, why_low in zip(rows, reasons[name], strict=True)
        )
        items = items or (OutlineItem(quiet(_none_listed(estimates[name]))),)
        arrow = ARROWS[estimates[name][0].better]
        sections.append(Section((Outline(items),), (strong(name), quiet(f" {arrow}"))))
    listed = {
        name: [
            asdict(row) | {"reasons": text} for row, text in zip(rows, reasons[name], strict=True)
        ]
        for name, rows in by_name.items()
    }
    return _page(run, sections, {"worst_by_metric": listed}, metrics)


def _page(
    run: Run, sections: Sequence[Section], known: Mapping[str, Any], metrics: Sequence[str] | None
) -> Page:
    # Half a second to import, which no other page of this file needs.
    from ragstone.analysis.calibration.checked_run import checked_against_people

    checked = checked_against_people(run.path, run.form)
    means = tuple(_corrected(run.estimate_list, checked, metrics))
    listed = [section(header(run, Groups(run.estimate_list), "EXAMPLE"))]
    listed += [section(Paragraphs(means))] if means else []
    listed += sections
    more = (
        f"One of them in full: {command('show', named(run.path), 'EXAMPLE')}",
        f"The worst of a metric: {command('show', named(run.path), '--metric', 'METRIC')}",
    )
    listed.append(section(Paragraphs(tuple(map(quiet, more)))))
    return Page(
        "show", str(run.path), tuple(listed),
        record=lambda: {
            "run": named(run.path),
            "signature": run.signature,
            "data": run.form.data.to_dict(),
            "judges": [judge.to_dict() for judge in run.form.judges],
            "estimates": estimates_record(run, checked),
            **known,
        },
    )  # fmt: skip


def _corrected(
    estimates: Sequence[Estimate], checked: "CheckedRun", metrics: Sequence[str] | None
) -> Iterator[str]:
    for metric, ones in by_metric(estimates).items():
        listed = [
            f"{', '.join(mean.group.values()) or 'all'} {number(mean.value)}, {corrected(labels)}"
            for mean in ones
            if mean.value is not None and (labels := checked.corrected(metric, mean.group))
        ]
        if listed and (metrics is None or metric in metrics):
            yield f"{short_name(metric)}: {'; '.join(listed)}"


def _ranked_item(index: int, example: RankedExample) -> OutlineItem:
    low = ", ".join(
        f"{score.metric} {number(score.value)}" + (f" {score.label}" if score.label else "")
        for score in example.low
    )
    head = (
        Phrase(example.example_id, "name", strong=True),
        quiet(f"  {example.system}"),
        f"  {number(example.shortfall)} below the best",
        quiet(f": {low}" if low else ""),
    )
    return OutlineItem(head, texts_of(example, example.reasons), lead=f"{index:>2}")


def _none_listed(estimates: Sequence[Estimate]) -> str:
    whole = max(
        estimates, key=lambda estimate: estimate.n + estimate.n_undefined + estimate.n_missing
    )
    text = "no example could be better" if whole.n else "no example has a score"
    counts = {"undefined": 0 if whole.n else whole.n_undefined, "missing": whole.n_missing}
    lacking = " and ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)
    return f"{text} ({lacking})" if lacking else text
