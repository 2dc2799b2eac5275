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
    shown = [one for one in corrections if example in (None, one.example)]
    columns = [Heading("example", key=True), Heading("judgement"), Heading("was"), Heading("is"),
               Heading("by"), Heading("why"), Heading("when (UTC)")]  # fmt: skip
    if shown:
        body = section(table(columns, [Row(tuple(_listed(one))) for one in shown]))
    else:
        body = section(Paragraphs((quiet("Nothing was corrected: ragstone correct RUN EXAMPLE "
                                         "shows what can be."),)))  # fmt: skip
    return Page("corrections", str(run), (body,),
                record=lambda: {"overrules": [one.to_dict() for one in shown]})  # fmt: skip


def can_be_page(run: Path, example: str, found: Sequence[Judgement]) -> Page:
    """Return the page of what can be corrected of an example."""
    columns = [Heading("judgement", key=True), Heading("says"), Heading("judge"),
               Heading("examples"), Heading("version")]  # fmt: skip
    rows = [
        Row((
            RowName(judgement_name(one.ask, one.unit)), Phrase(said(one.values), "text"),
            one.judge or "–",
            f"{len(one.examples):,}", quiet(one.version),
        ))
        for one in found
    ]  # fmt: skip
    body: Table | Paragraphs = (
        table(columns, rows)
        if rows
        else Paragraphs((quiet("No judge judged anything of it that could be corrected."),))
    )
    return Page(
        "corrections",
        f"{run}  {example}",
        (section(body),),
        record=lambda: {"example": example, "judgements": [_judgement(one) for one in found]},
    )


def done_page(run: Run, done: CorrectionResult) -> Page:
    """Return the page of a correction: the judgement, the examples and estimates it changed."""
    one = done.correction
    back = one.undone is not None
    was, now = (one.said, one.was) if back else (one.was, one.said)
    by = one.author if one.undone is None else one.undone.author
    facts = [
        Note(
            "judgement",
            (strong(judgement_name(one.ask, one.unit)), quiet(f"  of {one.example}")),
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


def _listed(one: Correction) -> Iterator[Cell]:
    yield RowName(one.example)
    yield judgement_name(one.ask, one.unit)
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
        "overrule": one.correction and one.correction.to_dict(),
    }


def _examples(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - MOST_EXAMPLES:,} more" if len(ids) > MOST_EXAMPLES else ""
    return f"{counted(len(ids), 'example')}: {', '.join(ids[:MOST_EXAMPLES])}{more}"


def _changed(run: Run) -> Iterator[tuple[Estimate, Estimate]]:
    alone = {one.metric: one for one in run.without_corrections().estimate_list if not one.group}
    for now in run.estimate_list:
        was = alone.get(now.metric)
        if not now.group and was is not None and _counts(was) != _counts(now):
            yield was, now


def _counts(one: Estimate) -> tuple[float | None, int, int, int]:
    return one.value, one.n, one.n_undefined, one.n_missing


def _estimates(changed: Sequence[tuple[Estimate, Estimate]]) -> Table:
    columns = [Heading("metric", key=True), Heading("the judge alone"), Heading("with corrections")]
    rows = [
        Row((RowName(now.metric, now.better), Number(was.value), Number(now.value, strong=True)))
        for was, now in changed
    ]
    return table(columns, rows)


Items = Iterator[OutlineItem]
Outlined = tuple[OutlineItem, ...]


def example_page(found: Dossier, *, prompts: bool = False) -> Page:
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
    sections = [section(Facts(tuple(_opening(found.example))))]
    for title, items_of in parts:
        if items := tuple(items_of(found)):
            sections.append(_titled(Outline(items), title))
    if calls := tuple(call_items(found.calls, prompts=prompts)):
        sections.append(_titled(Outline(calls), "Questions to models"))
    if found.scores:
        sections.append(_titled(_scores(found.scores), "Scores"))
    if panels := legend(_judges(found)):
        sections.append(small_print(panels))
    return Page("show", found.example.id, tuple(sections), record=found.to_dict)


def _judges(found: Dossier) -> Iterator[str]:
    for part in (one for parts in found.parts.values() for one in parts):
        yield from (row.judge for said in part.said.values() for row in said.rows)
    yield from (row.judge for rows in found.judgements.values() for row in rows)


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


def _contexts(found: Dossier) -> Items:
    contexts = found.example.contexts
    if contexts is None:
        yield OutlineItem(quiet("this system does not retrieve"))
    elif not contexts:
        yield OutlineItem(quiet("it retrieved nothing"))
    for context, part in zip(contexts or (), found.parts["context"], strict=True):
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
        said = part.said[ask.kind]
        for row in said.rows:
            lead = says(row.kind, ask)
            if said.several and references > 1:
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


def _answer(found: Dossier) -> Items:
    answer = found.example.answer
    yield OutlineItem(Phrase("–" if answer is None else answer, "text"))
    yield from _whole(found, with_answer=True)


def _claims(found: Dossier) -> Items:
    references = len(found.example.reference)
    for claim in found.parts["claim"]:
        yield _unit("claim", claim, f"{claim.place + 1:>2}", references)


def _reference(found: Dossier) -> Items:
    references = found.example.reference
    for at, text in enumerate(references):
        inner = [
            OutlineItem(judged(row, says(row.kind)))
            for kind, rows in found.judgements.items()
            for row in rows
            if "reference" in _about(KINDS[kind]) and row.values["reference"] == at
        ]
        statements = (one for one in found.parts["statement"] if one.reference == at)
        inner += [_unit("statement", one, "·") for one in statements]
        lead = f"{at + 1:>2}" * (len(references) > 1)
        yield OutlineItem(Phrase(text, "text"), tuple(inner), lead=lead)


def _evidence(found: Dossier) -> Items:
    for evidence in found.parts["evidence"]:
        yield _unit("evidence", evidence, f"{evidence.place + 1:>2}")


def _others(found: Dossier) -> Items:
    yield from _whole(found, with_answer=False)


def _whole(found: Dossier, *, with_answer: bool) -> Items:
    for kind, rows in found.judgements.items():
        about = _about(KINDS[kind])
        if "reference" not in about and ("answer" in about or KINDS[kind].made) is with_answer:
            yield from (OutlineItem(judged(row, says(row.kind))) for row in rows)


def _about(kind: type[Kind]) -> set[Unit]:
    return {ask.over.unit for ask in kind.asks if ask.over is not None}


def _labels(found: Dossier) -> Items:
    for name, value in found.example.labels.items():
        yield OutlineItem((strong(name), f"  {_plain(value)}"))


def _scores(scores: Sequence[ExampleScore]) -> Table:
    return table((Heading(), Heading(), Heading()), [_score(one) for one in scores])


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
    found = ranked(run, **some)
    examples = [_ranked_item(at, one) for at, one in enumerate(found.examples, 1)]
    none = "no example could be better" if found.metrics else "no metric says which are worse"
    items = tuple(examples) or (OutlineItem(quiet(none)),)
    ranking = (Note("ranked", RULE), Note("metrics", ", ".join(found.metrics) or "–"))
    known = {"ranked_by": {"rule": RULE, "metrics": list(found.metrics)},
             "worst": [asdict(one) for one in found.examples]}  # fmt: skip
    listed = Section((Outline(items),), (strong("Worst examples"),))
    return _page(run, [listed, small_print(ranking)], known, None)


def _by_metric(run: Run, metrics: Sequence[str], some: Mapping[str, int]) -> Page:
    found = worst(run, metrics=metrics, **some)
    estimates = by_metric(run.estimate_list)
    dossiers_of = dossiers(run, {one.example_id for rows in found.values() for one in rows})
    reasons = {
        name: [why(dossiers_of[one.example_id], name) for one in rows]
        for name, rows in found.items()
    }
    sections = []
    for name, rows in found.items():
        items = tuple(
            example_item(one, label=one.label, system=one.system, reasons=why_low)
            for one, why_low in zip(rows, reasons[name], strict=True)
        )
        items = items or (OutlineItem(quiet(_none_listed(estimates[name]))),)
        arrow = ARROWS[estimates[name][0].better]
        sections.append(Section((Outline(items),), (strong(name), quiet(f" {arrow}"))))
    listed = {
        name: [
            asdict(one) | {"reasons": said} for one, said in zip(rows, reasons[name], strict=True)
        ]
        for name, rows in found.items()
    }
    return _page(run, sections, {"worst_by_metric": listed}, metrics)


def _page(
    run: Run,
    sections: Sequence[Section],
    known: Mapping[str, Any],
    metrics: Sequence[str] | None,
) -> Page:
    # Half a second to import, which no other page of this file needs.
    from ragstone.analysis.calibration.checked_run import checked_against_people

    checked = checked_against_people(run.path, run.form)
    means = tuple(_corrected(run.estimate_list, checked, metrics))
    shown = [section(header(run, Groups(run.estimate_list), "EXAMPLE"))]
    shown += [section(Paragraphs(means))] if means else []
    shown += sections
    more = (
        f"One of them in full: {command('show', named(run.path), 'EXAMPLE')}",
        f"The worst of a metric: {command('show', named(run.path), '--metric', 'METRIC')}",
    )
    shown.append(section(Paragraphs(tuple(map(quiet, more)))))
    return Page(
        "show", str(run.path), tuple(shown),
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
        shown = [
            f"{', '.join(one.group.values()) or 'all'} {number(one.value)}, {corrected(mean)}"
            for one in ones
            if one.value is not None and (mean := checked.corrected(metric, one.group))
        ]
        if shown and (metrics is None or metric in metrics):
            yield f"{short_name(metric)}: {'; '.join(shown)}"


def _ranked_item(place: int, one: RankedExample) -> OutlineItem:
    low = ", ".join(
        f"{score.metric} {number(score.value)}" + (f" {score.label}" if score.label else "")
        for score in one.low
    )
    head = (
        Phrase(one.example_id, "name", strong=True),
        quiet(f"  {one.system}"),
        f"  {number(one.shortfall)} below the best",
        quiet(f": {low}" if low else ""),
    )
    return OutlineItem(head, texts_of(one, one.reasons), lead=f"{place:>2}")


def _none_listed(estimates: Sequence[Estimate]) -> str:
    whole = max(estimates, key=lambda one: one.n + one.n_undefined + one.n_missing)
    said = "no example could be better" if whole.n else "no example has a score"
    counts = {"undefined": 0 if whole.n else whole.n_undefined, "missing": whole.n_missing}
    lacking = " and ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)
    return f"{said} ({lacking})" if lacking else said
