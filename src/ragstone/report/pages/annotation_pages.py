"""Annotation pages: queues and their progress, label files and drawn samples, for a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from ragstone.analysis.label_sampling.draw_sample import Sample
from ragstone.analysis.label_sampling.queue_items import LabelSheet, guideline_file
from ragstone.annotation import LabelTable
from ragstone.annotation.adjudication import BrokenRule
from ragstone.annotation.label_table import Completeness
from ragstone.annotation.queue.form import QueueEvent, QueueForm
from ragstone.annotation.queue.work_progress import QueueWork
from ragstone.core.grouping import grouped
from ragstone.core.messages import plain
from ragstone.report import page as ui
from ragstone.report.console import command
from ragstone.report.number_format import counted, percent
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import (
    EVENTS,
    lacking_sentence,
    order_in_words,
    queue_sentence,
    queues_sentence,
)

SHOWN_EVENTS = 10


def queues_page(store: str, queues: Sequence[QueueWork]) -> ui.Page:
    """Every queue of a store, with what it asks and how far it is."""
    columns = (ui.Heading("queue", key=True), "asks", "source", "labelled", "of", "people")
    rows = [
        (ui.RowName(queue.form.name), _asks(queue.form), queue.form.source,
         ui.Count(queue.labelled), ui.Count(queue.items), ui.Count(len(queue.people)))
        for queue in queues
    ]  # fmt: skip
    none = ui.quiet("No queue yet: ragstone annotate RUN --tasks grounding makes one.")
    sections = [ui.section(none)]
    if rows:
        sections = [ui.section(queues_sentence(queues)), ui.section(ui.table(columns, rows))]
    return ui.Page(
        "annotate", store, tuple(sections),
        record=lambda: {
            "store": store,
            "queues": [_record(queue) | {"people": len(queue.people)} for queue in queues],
        },
    )  # fmt: skip


def progress_page(
    work: QueueWork, events: Sequence[QueueEvent], links: Mapping[str, str] | None = None
) -> ui.Page:
    """Return the page: how far a queue is, who did what, the last changes, new links by person."""
    form = work.form
    summary: list[ui.Words] = [tuple(queue_sentence(work))]
    summary += [lacking] if (lacking := lacking_sentence(work)) else []
    facts = (ui.Note("asks", (_asks(form),)), ui.Note("of", (form.source,)),
             ui.Note("routing", (order_in_words(form),)))  # fmt: skip
    sections = [ui.section(ui.Paragraphs(tuple(summary))), ui.section(ui.Facts(facts))]
    if links:
        new = ui.Facts(tuple(ui.Note(who, (f"/a/{token}",)) for who, token in links.items()))
        begins = f"Links begin with the address that `{command('annotate', form.name)}` prints."
        sections.append(ui.section(new, ui.Paragraphs((ui.quiet(begins),)), title="New links"))
    if work.people:
        columns = (ui.Heading("person", key=True), "labelled", "discarded", "skipped", "left",
                   "an hour", "")  # fmt: skip
        rows = [
            (ui.RowName(person.name), ui.Count(person.saved), ui.Count(person.discarded),
             ui.Count(person.skipped), ui.Count(person.left), ui.Number(person.pace, places=0),
             ui.quiet(_about(person.role, person.revoked)))
            for person in work.people
        ]  # fmt: skip
        sections.append(ui.section(ui.table(columns, rows)))
    changes = [
        (ui.RowName(event.at[:19].replace("T", " ")), event.person or "–",
         EVENTS.get(event.what, event.what), event.about)
        for event in events[-SHOWN_EVENTS:]
    ]  # fmt: skip
    log = (ui.Heading("when (UTC)", key=True), "who", "what", "about")
    sections.append(ui.section(ui.table(log, changes), title="Last changes"))
    people = {"person": "name", "role": "role", "labelled": "saved", "discarded": "discarded",
              "skipped": "skipped", "left": "left", "an_hour": "pace",
              "revoked": "revoked"}  # fmt: skip
    return ui.Page(
        "annotate", form.name, tuple(sections),
        record=lambda: _record(work) | {
            "people": [
                {name: getattr(person, of) for name, of in people.items()} for person in work.people
            ],
            "links": dict(links or {}),
            "events": [
                {name: getattr(event, name) for name in ("at", "person", "what", "about")}
                for event in events
            ],
        },
    )  # fmt: skip


def _asks(form: QueueForm) -> str:
    return ", ".join(label.label for label in form.asked)


def _about(role: str, revoked: str | None) -> str:
    words = [role] if role != "annotator" else []
    return ", ".join([*words, "link ended"] if revoked is not None else words)


def _record(work: QueueWork) -> dict[str, object]:
    form = work.form
    return {
        "queue": form.name,
        "source": form.source,
        "asks": [label.label for label in form.asked],
        "labelled": work.labelled,
        "finished": work.finished,
        "items": work.items,
        "hours_left": work.hours,
        "examples": form.most,
        "order": form.order,
        "route": form.route,
        "per_item": form.per_item,
        "overlap": form.overlap,
        "chosen": form.chosen,
    }


SHOWN_ANNOTATORS, SHOWN_BROKEN, SHOWN_GAPS = 12, 3, 12

# The levels of bar parts: labels that are given, and those that are not.
GIVEN, OPEN = 0, 5


def labels_page(labels: LabelTable, out: Path | None = None) -> ui.Page:
    """Return the page: what the files hold, what each annotator filled in, where it was written."""
    broken = labels.broken_rules()
    n = labels.by_annotators.height
    facts = list(label_facts(labels, labels.annotators, n, broken))
    facts += [] if out is None else [ui.Note("written to", ui.strong(str(out)))]
    sections = [ui.section(ui.Facts(tuple(facts)))]
    if labels.completeness:
        sections.append(ui.section(_by_annotator(labels.completeness)))
    if gaps := [item for item in labels.completeness if item.given < item.asked]:
        rows = [
            (ui.RowName(item.label), annotator_name(item.annotator),
             ui.Count(item.asked - item.given, strong=True), ui.Count(item.asked))
            for item in sorted(gaps[:SHOWN_GAPS], key=lambda item: item.given - item.asked)
        ]  # fmt: skip
        listed = ui.table(
            (ui.Heading("still to fill in", key=True), "annotator", "open", "of"), rows
        )
        more = len(gaps) - SHOWN_GAPS
        left = [ui.Paragraphs((ui.quiet(f"and {more:,} more (--json)"),))] if more > 0 else []
        sections.append(ui.section(listed, *left))

    def record() -> dict[str, Any]:
        return {
            "source": labels.source,
            "n_labels": n,
            "annotators": list(labels.annotators),
            "adjudicators": list(labels.adjudicators),
            "adjudication": asdict(labels.adjudication),
            "completeness": plain(labels.completeness),
            "discarded": labels.discarded,
            "set_aside": labels.set_aside,
            "broken_rules": plain(broken),
            "notes": list(labels.notes),
            "out": out,
        }

    return ui.Page("labels", labels.source, tuple(sections), notes=labels.notes, record=record)


def label_facts(
    labels: LabelTable, annotators: Sequence[str], n: int, broken: Sequence[BrokenRule]
) -> Iterator[ui.Note]:
    """Yield where labels come from, how many count, who gave them, and what does not count."""
    names = list(map(annotator_name, annotators))
    more = len(names) - SHOWN_ANNOTATORS
    listed = names[:SHOWN_ANNOTATORS] + ([f"and {more} more"] if more > 0 else [])
    counts = f"{counted(n, 'label')} by {counted(len(names), 'annotator')}"
    yield ui.Note("labels", ui.strong(labels.source))
    yield ui.Note("", f"{counts}: {', '.join(listed)}" if names else counts)
    if labels.adjudicators:
        adjudication = labels.adjudication
        times = f"{adjudication.as_majority:,} of {adjudication.compared:,} times"
        same = f"; as the majority {times}" if adjudication.compared else ""
        who = ", ".join(map(annotator_name, labels.adjudicators))
        yield ui.Note("adjudicated", f"{counted(adjudication.n, 'label')} by {who}{same}")
    for word, left, why in (
        ("discarded", labels.n_discarded, labels.discarded),
        ("set aside", labels.n_set_aside, labels.set_aside),
    ):
        if left:
            reasons = ", ".join(f"{words(reason)} {count:,}" for reason, count in why.items())
            yield ui.Note(word, ui.Phrase(f"{left:,}, not used: {reasons}", "caution"))
    by_rule = attrgetter("rule")
    for rule, several in groupby(sorted(broken, key=by_rule), by_rule):
        ones = list(several)
        where = ", ".join(
            f"{item.example_id} ({annotator_name(item.annotator)})" for item in ones[:SHOWN_BROKEN]
        )
        rest = f" and {len(ones) - SHOWN_BROKEN:,} more" if len(ones) > SHOWN_BROKEN else ""
        text = f"{counted(len(ones), 'time')}, kept as it is: {where}{rest}"
        yield ui.Note(rule.replace("_", " "), ui.Phrase(text, "caution"))


def annotator_name(name: str) -> str:
    """An annotator, by name if there is one."""
    return name or "(no name)"


def _by_annotator(gaps: Sequence[Completeness]) -> ui.Table:
    sums: dict[str, list[int]] = {}
    for gap in gaps:
        sums.setdefault(gap.annotator, [0, 0])
        sums[gap.annotator][0] += gap.given
        sums[gap.annotator][1] += gap.asked
    most = max(total for _, total in sums.values())
    rows = [
        (
            ui.RowName(annotator_name(annotator)), ui.Count(filled, strong=True), ui.Count(total),
            percent(filled * 100 // total / 100, 0),  # 100 % is nothing open
            ui.Bar((ui.BarPart(filled, GIVEN), ui.BarPart(total - filled, OPEN)), most),
        )
        for annotator, (filled, total) in sums.items()
    ]  # fmt: skip
    return ui.table((ui.Heading("annotator", key=True), "given", "of", "complete", ""), rows)


SHOWN_STRATA = 30

# The levels of bar parts: drawn, and left.
DRAWN, LEFT = 0, 5


def sample_page(sample: Sample, sheet: LabelSheet, out: Path | None) -> ui.Page:
    """Return the page: what was drawn and how, who labels what, where the label sheet is."""
    blocks: list[ui.Block] = [ui.Facts(tuple(_facts(sample, sheet, out)))]
    if sample.strata:
        most = max(item.there for item in sample.strata)
        strata = [
            (
                ui.RowName(item.name), ui.Count(item.there), ui.Count(item.drawn, strong=True),
                ui.Number(item.probability),
                ui.Bar(
                    (ui.BarPart(item.drawn, DRAWN), ui.BarPart(item.there - item.drawn, LEFT)), most
                ),
            )
            for item in sample.strata[:SHOWN_STRATA]
        ]  # fmt: skip
        blocks.append(ui.table(("stratum", "size", "drawn", "probability", ""), strata))
        if (hidden := len(sample.strata) - SHOWN_STRATA) > 0:
            blocks.append(ui.Paragraphs((ui.quiet(f"and {hidden:,} more: see --json"),)))
    if sample.widths:
        used = next(iter(sample.widths))
        widths = [
            (ui.RowName(by), ui.Number(width, strong=True),
             "drawn" if by == used else ui.quiet(f"{width / sample.widths[used]:.2f} ×"))
            for by, width in sample.widths.items()
        ]  # fmt: skip
        heads = (f"of {sample.rows.height:,} labels", "expected width", "")
        blocks.append(ui.table(heads, widths))
    if sample.settings.annotators:
        blocks.append(_annotators(sample, sheet))
    blocks.append(ui.Paragraphs(tuple(map(ui.quiet, _notes(sample, sheet, out)))))
    return ui.Page(
        "sample", sample.settings.run, (ui.section(*blocks),),
        record=lambda: {**sample.to_dict(), "labels": sheet.labels, "out": out},
    )  # fmt: skip


def _facts(sample: Sample, sheet: LabelSheet, out: Path | None) -> Iterator[ui.Note]:
    settings = sample.settings
    whole = ""
    if sample.questions is not None:
        unit = _one(sample.unit) if sample.questions == 1 else sample.unit
        whole = f", {sample.questions:,} {'whole ' * (sample.unit == 'questions')}{unit}"
    yield ui.Note(
        "drawn", (ui.strong(f"{sample.rows.height:,} of {sample.examples:,} examples"), whole)
    )
    yield ui.Note("from", settings.run)
    yield ui.Note("by", f"{_way(sample)}; seed {settings.seed}")
    low, high = sample.chances
    chance = f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f} to {high:.3f}"
    yield ui.Note("probability", f"{chance}, kept with each row as inclusion_probability")
    units = grouped((item.label, item.unit) for item in sheet.asked)
    of_units = (f"{label} (of each {' and '.join(of)})" for label, of in units.items())
    yield ui.Note("labels", ", ".join(of_units))
    if out is not None:
        yield ui.Note("sheet", (ui.strong(str(out)), f"  {sheet.frame.height:,} rows"))
        if sheet.guideline:
            guideline = ui.strong(str(guideline_file(out)))
            yield ui.Note("guideline", (guideline, "  questions and hard cases for annotators"))


def _way(sample: Sample) -> str:
    settings = sample.settings
    by = settings.by
    match by:
        case "near-threshold":
            return f"{by}: {settings.metric} near {settings.threshold:g}"
        case "error":
            return f"{by}: {settings.metric}, where the judge is expected to err"
        case "disagreement":
            others = ", ".join(settings.others) or "the votes in the run"
            return f"{by} about {settings.metric}, by {others}"
        case "stratified":
            return f"{by} by {', '.join(settings.strata_of)}, {settings.allocation}"
    return by


def _annotators(sample: Sample, sheet: LabelSheet) -> ui.Table:
    names = sample.settings.annotators
    annotators_of = list(sample.rows["annotators"])
    counts = Counter(name for of_row in annotators_of for name in of_row)
    shared = sum(len(of_row) == len(names) > 1 for of_row in annotators_of)
    to_fill = Counter(sheet.frame["annotator"].to_list())
    rows = [(ui.RowName(name), ui.Count(counts[name]), ui.Count(shared), ui.Count(to_fill[name]))
            for name in names]  # fmt: skip
    return ui.table(("annotator", "examples", "shared by all", "rows"), rows)


def _notes(sample: Sample, sheet: LabelSheet, out: Path | None) -> Iterator[str]:
    yield from map(words, (*sample.notes, *sheet.notes))
    settings = sample.settings
    least, most = sample.chances
    if settings.by in ("near-threshold", "disagreement", "error") and most > least * 1.005:
        yield (
            f"The most informative {_one(sample.unit)} was {most / least:.3g} times as likely to "
            "be drawn as the least informative."
        )
    if sample.effective < 0.95 * sample.rows.height:
        yield (
            f"Probabilities differ, so for a mean over everything the labels count as "
            f"{sample.effective:,.0f} drawn at random."
        )
    if len(settings.annotators) > 1 and not settings.overlap:
        yield "Nobody labels the same example, so agreement cannot be measured: --overlap 0.2."
    if out is None:
        yield "Nothing was written: --out sheet.csv writes the sheet to fill in."
    else:
        calibrate = command("calibrate", settings.run, "--labels", out, metric=settings.metric)
        yield f"Fill in the empty columns, then: {calibrate}"


def _one(unit: str) -> str:
    noun, *rest = unit.split(" ", 1)
    return " ".join([noun.removesuffix("s"), *rest])
