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
from ragstone.core.messages import plain
from ragstone.report.console import command
from ragstone.report.number_format import counted, percent
from ragstone.report.page import (
    Bar,
    BarPart,
    Block,
    Count,
    Facts,
    Heading,
    Note,
    Number,
    Page,
    Paragraphs,
    Phrase,
    RowName,
    Table,
    Words,
    quiet,
    section,
    strong,
    table,
)
from ragstone.report.reason_words import words
from ragstone.report.sentences.judge_words import (
    EVENTS,
    lacking_sentence,
    order_in_words,
    queue_sentence,
    queues_sentence,
)

SHOWN_EVENTS = 10


def queues_page(store: str, queues: Sequence[QueueWork]) -> Page:
    """Every queue of a store, with what it asks and how far it is."""
    columns = (Heading("queue", key=True), "asks", "source", "labelled", "of", "people")
    rows = [
        (RowName(queue.form.name), _asks(queue.form), queue.form.source, Count(queue.labelled),
         Count(queue.items), Count(len(queue.people)))
        for queue in queues
    ]  # fmt: skip
    none = quiet("No queue yet: ragstone annotate RUN --tasks grounding makes one.")
    sections = (
        (section(Paragraphs((tuple(queues_sentence(queues)),))), section(table(columns, rows)))
        if rows
        else (section(Paragraphs((none,))),)
    )
    return Page(
        "annotate", store, sections,
        record=lambda: {
            "store": store,
            "queues": [_record(queue) | {"people": len(queue.people)} for queue in queues],
        },
    )  # fmt: skip


def progress_page(
    work: QueueWork, events: Sequence[QueueEvent], links: Mapping[str, str] | None = None
) -> Page:
    """Return the page: how far a queue is, who did what, the last changes, new links by person."""
    form = work.form
    summary: list[Words] = [tuple(queue_sentence(work))]
    summary += [lacking] if (lacking := lacking_sentence(work)) else []
    facts = (Note("asks", (_asks(form),)), Note("of", (form.source,)),
             Note("routing", (order_in_words(form),)))  # fmt: skip
    sections = [section(Paragraphs(tuple(summary))), section(Facts(facts))]
    if links:
        new = Facts(tuple(Note(who, (f"/a/{token}",)) for who, token in links.items()))
        begins = f"Links begin with the address that `{command('annotate', form.name)}` prints."
        sections.append(section(new, Paragraphs((quiet(begins),)), title="New links"))
    if work.people:
        columns = (Heading("person", key=True), "labelled", "discarded", "skipped", "left",
                   "an hour", "")  # fmt: skip
        rows = [
            (RowName(person.name), Count(person.saved), Count(person.discarded),
             Count(person.skipped), Count(person.left), Number(person.pace, places=0),
             quiet(_about(person.role, person.revoked)))
            for person in work.people
        ]  # fmt: skip
        sections.append(section(table(columns, rows)))
    changes = [
        (RowName(event.at[:19].replace("T", " ")), event.person or "–",
         EVENTS.get(event.what, event.what), event.about)
        for event in events[-SHOWN_EVENTS:]
    ]  # fmt: skip
    log = (Heading("when (UTC)", key=True), "who", "what", "about")
    sections.append(section(table(log, changes), title="Last changes"))
    people = {"person": "name", "role": "role", "labelled": "saved", "discarded": "discarded",
              "skipped": "skipped", "left": "left", "an_hour": "pace",
              "revoked": "revoked"}  # fmt: skip
    return Page(
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

GIVEN, OPEN = 0, 5
"""The levels of bar parts: labels that are given, and those that are not."""


def labels_page(labels: LabelTable, out: Path | None = None) -> Page:
    """Return the page: what the files hold, what each annotator filled in, where it was written."""
    broken = labels.broken_rules()
    n = labels.by_annotators.height
    facts = list(label_facts(labels, labels.annotators, n, broken))
    facts += [] if out is None else [Note("written to", strong(str(out)))]
    sections = [section(Facts(tuple(facts)))]
    if labels.completeness:
        sections.append(section(_by_annotator(labels.completeness)))
    if gaps := [item for item in labels.completeness if item.given < item.asked]:
        rows = [
            (RowName(item.label), annotator_name(item.annotator),
             Count(item.asked - item.given, strong=True), Count(item.asked))
            for item in sorted(gaps[:SHOWN_GAPS], key=lambda item: item.given - item.asked)
        ]  # fmt: skip
        listed = table((Heading("still to fill in", key=True), "annotator", "open", "of"), rows)
        more = len(gaps) - SHOWN_GAPS
        left = [Paragraphs((quiet(f"and {more:,} more (--json)"),))] if more > 0 else []
        sections.append(section(listed, *left))

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

    return Page("labels", labels.source, tuple(sections), notes=labels.notes, record=record)


def label_facts(
    labels: LabelTable, annotators: Sequence[str], n: int, broken: Sequence[BrokenRule]
) -> Iterator[Note]:
    """Yield where labels come from, how many count, who gave them, and what does not count."""
    names = list(map(annotator_name, annotators))
    more = len(names) - SHOWN_ANNOTATORS
    listed = names[:SHOWN_ANNOTATORS] + ([f"and {more} more"] if more > 0 else [])
    counts = f"{counted(n, 'label')} by {counted(len(names), 'annotator')}"
    yield Note("labels", strong(labels.source))
    yield Note("", f"{counts}: {', '.join(listed)}" if names else counts)
    if labels.adjudicators:
        adjudication = labels.adjudication
        times = f"{adjudication.as_majority:,} of {adjudication.compared:,} times"
        same = f"; as the majority {times}" if adjudication.compared else ""
        who = ", ".join(map(annotator_name, labels.adjudicators))
        yield Note("adjudicated", f"{counted(adjudication.n, 'label')} by {who}{same}")
    for word, left, why in (
        ("discarded", labels.n_discarded, labels.discarded),
        ("set aside", labels.n_set_aside, labels.set_aside),
    ):
        if left:
            reasons = ", ".join(f"{words(reason)} {count:,}" for reason, count in why.items())
            yield Note(word, Phrase(f"{left:,}, not used: {reasons}", "caution"))
    by_rule = attrgetter("rule")
    for rule, several in groupby(sorted(broken, key=by_rule), by_rule):
        ones = list(several)
        where = ", ".join(
            f"{item.example_id} ({annotator_name(item.annotator)})" for item in ones[:SHOWN_BROKEN]
        )
        rest = f" and {len(ones) - SHOWN_BROKEN:,} more" if len(ones) > SHOWN_BROKEN else ""
        text = f"{counted(len(ones), 'time')}, kept as it is: {where}{rest}"
        yield Note(rule.replace("_", " "), Phrase(text, "caution"))


def annotator_name(name: str) -> str:
    """An annotator, by name if there is one."""
    return name or "(no name)"


def _by_annotator(gaps: Sequence[Completeness]) -> Table:
    sums: dict[str, list[int]] = {}
    for gap in gaps:
        sums.setdefault(gap.annotator, [0, 0])
        sums[gap.annotator][0] += gap.given
        sums[gap.annotator][1] += gap.asked
    most = max(total for _, total in sums.values())
    rows = [
        (
            RowName(annotator_name(annotator)), Count(filled, strong=True), Count(total),
            percent(filled * 100 // total / 100, 0),  # 100 % is nothing open
            Bar((BarPart(filled, GIVEN), BarPart(total - filled, OPEN)), most),
        )
        for annotator, (filled, total) in sums.items()
    ]  # fmt: skip
    return table((Heading("annotator", key=True), "given", "of", "complete", ""), rows)


SHOWN_STRATA = 30

DRAWN, LEFT = 0, 5
"""The levels of bar parts: drawn, and left."""


def sample_page(sample: Sample, sheet: LabelSheet, out: Path | None) -> Page:
    """Return the page: what was drawn and how, who labels what, where the label sheet is."""
    blocks: list[Block] = [Facts(tuple(_facts(sample, sheet, out)))]
    if sample.strata:
        most = max(item.there for item in sample.strata)
        strata = [
            (
                RowName(item.name), Count(item.there), Count(item.drawn, strong=True),
                Number(item.probability),
                Bar((BarPart(item.drawn, DRAWN), BarPart(item.there - item.drawn, LEFT)), most),
            )
            for item in sample.strata[:SHOWN_STRATA]
        ]  # fmt: skip
        blocks.append(table(("stratum", "size", "drawn", "probability", ""), strata))
        if (hidden := len(sample.strata) - SHOWN_STRATA) > 0:
            blocks.append(Paragraphs((quiet(f"and {hidden:,} more: see --json"),)))
    if sample.widths:
        used = sample.widths[0]
        widths = [
            (RowName(way.by), Number(way.width, strong=True),
             "drawn" if way is used else quiet(f"{way.width / used.width:.2f} ×"))
            for way in sample.widths
        ]  # fmt: skip
        heads = (f"of {sample.rows.height:,} labels", "expected width", "")
        blocks.append(table(heads, widths))
    if sample.settings.annotators:
        blocks.append(_annotators(sample, sheet))
    blocks.append(Paragraphs(tuple(map(quiet, _notes(sample, sheet, out)))))
    return Page(
        "sample", sample.settings.run, (section(*blocks),),
        record=lambda: {**sample.to_dict(), "labels": sheet.labels, "out": out},
    )  # fmt: skip


def _facts(sample: Sample, sheet: LabelSheet, out: Path | None) -> Iterator[Note]:
    settings = sample.settings
    whole = ""
    if sample.questions is not None:
        unit = _one(sample.unit) if sample.questions == 1 else sample.unit
        whole = f", {sample.questions:,} {'whole ' * (sample.unit == 'questions')}{unit}"
    yield Note("drawn", (strong(f"{sample.rows.height:,} of {sample.examples:,} examples"), whole))
    yield Note("from", settings.run)
    yield Note("by", f"{_way(sample)}; seed {settings.seed}")
    low, high = sample.chances
    chance = f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f} to {high:.3f}"
    yield Note("probability", f"{chance}, kept with each row as inclusion_probability")
    units: dict[str, list[str]] = {}
    for item in sheet.asked:
        units.setdefault(item.label, []).append(item.unit)
    of_units = (f"{label} (of each {' and '.join(of)})" for label, of in units.items())
    yield Note("labels", ", ".join(of_units))
    if out is not None:
        yield Note("sheet", (strong(str(out)), f"  {sheet.frame.height:,} rows"))
        if sheet.guideline:
            guideline = strong(str(guideline_file(out)))
            yield Note("guideline", (guideline, "  questions and hard cases for annotators"))


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


def _annotators(sample: Sample, sheet: LabelSheet) -> Table:
    names = sample.settings.annotators
    annotators_of = list(sample.rows["annotators"])
    counts = Counter(name for of_row in annotators_of for name in of_row)
    shared = sum(len(of_row) == len(names) > 1 for of_row in annotators_of)
    to_fill = Counter(sheet.frame["annotator"].to_list())
    rows = [(RowName(name), Count(counts[name]), Count(shared), Count(to_fill[name]))
            for name in names]  # fmt: skip
    return table(("annotator", "examples", "shared by all", "rows"), rows)


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
