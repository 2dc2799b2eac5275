"""Labels page: what label files hold and what is still to be filled in."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from ragstone.annotation import LabelTable
from ragstone.annotation.adjudication import BrokenRule
from ragstone.annotation.label_table import Completeness
from ragstone.report.figures import counted, percent
from ragstone.report.page import (
    Bar,
    BarPart,
    Count,
    Facts,
    Heading,
    Note,
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

SHOWN_ANNOTATORS, SHOWN_BROKEN, SHOWN_GAPS = 12, 3, 12

GIVEN, OPEN = 0, 5
"""The levels of bar parts: labels that are given, and those that are not."""


def labels_page(labels: LabelTable, out: Path | None = None) -> Page:
    """What the files hold, how much of it each annotator filled in, and where it was written.

    Args:
        labels: The labels.
        out: The file or folder to which they were written.
    """
    broken = labels.broken_rules()
    n = labels.by_annotators.height
    facts = list(label_facts(labels, labels.annotators, n, broken))
    if out is not None:
        facts.append(Note("written to", strong(str(out))))
    sections = [section(Facts(tuple(facts)))]
    if labels.completeness:
        sections.append(section(_by_annotator(labels.completeness)))
    if gaps := [one for one in labels.completeness if one.given < one.asked]:
        shown = [_gaps(gaps[:SHOWN_GAPS])]
        more = len(gaps) - SHOWN_GAPS
        left = [Paragraphs((quiet(f"and {more:,} more (--json)"),))] if more > 0 else []
        sections.append(section(*shown, *left))

    def record() -> dict[str, Any]:
        return {
            "source": labels.source,
            "n_labels": n,
            "annotators": list(labels.annotators),
            "adjudicators": list(labels.adjudicators),
            "adjudication": asdict(labels.adjudication),
            "completeness": [one.to_dict() for one in labels.completeness],
            "discarded": labels.discarded,
            "set_aside": labels.set_aside,
            "broken_rules": [one.to_dict() for one in broken],
            "notes": list(labels.notes),
            "out": out,
        }

    return Page("labels", labels.source, tuple(sections), notes=labels.notes, record=record)


def label_facts(
    labels: LabelTable, annotators: Sequence[str], n: int, broken: Sequence[BrokenRule]
) -> Iterator[Note]:
    """Where labels come from, how many count, who gave them, and what does not count.

    Args:
        labels: The labels.
        annotators: Whose labels are meant.
        n: How many labels these are.
        broken: Labels that contradict each other.
    """
    names = list(map(annotator_name, annotators))
    more = len(names) - SHOWN_ANNOTATORS
    shown = names[:SHOWN_ANNOTATORS] + ([f"and {more} more"] if more > 0 else [])
    counts = f"{counted(n, 'label')} by {counted(len(names), 'annotator')}"
    yield Note("labels", strong(labels.source))
    yield Note("", f"{counts}: {', '.join(shown)}" if names else counts)
    if labels.adjudicators:
        yield Note("adjudicated", _adjudicated(labels))
    for word, left, why in (
        ("discarded", labels.n_discarded, labels.discarded),
        ("set aside", labels.n_set_aside, labels.set_aside),
    ):
        if left:
            reasons = ", ".join(f"{words(reason)} {count:,}" for reason, count in why.items())
            yield Note(word, Phrase(f"{left:,}, not used: {reasons}", "caution"))
    for rule, several in groupby(sorted(broken, key=lambda one: one.rule), lambda one: one.rule):
        ones = list(several)
        where = ", ".join(
            f"{one.example_id} ({annotator_name(one.annotator)})" for one in ones[:SHOWN_BROKEN]
        )
        rest = f" and {len(ones) - SHOWN_BROKEN:,} more" if len(ones) > SHOWN_BROKEN else ""
        said = f"{counted(len(ones), 'time')}, kept as it is: {where}{rest}"
        yield Note(rule.replace("_", " "), Phrase(said, "caution"))


def _adjudicated(labels: LabelTable) -> str:
    """How many labels were decided, by whom, and how often as most had said."""
    found = labels.adjudication
    who = ", ".join(map(annotator_name, labels.adjudicators))
    same = f"; as the majority {found.as_majority:,} of {found.compared:,} times"
    return f"{counted(found.n, 'label')} by {who}{same if found.compared else ''}"


def annotator_name(name: str) -> str:
    """An annotator, by name if there is one."""
    return name or "(no name)"


def _by_annotator(found: Sequence[Completeness]) -> Table:
    """How many of the labels that each annotator was asked for are given."""
    sums: dict[str, list[int]] = {}
    for one in found:
        sums.setdefault(one.annotator, [0, 0])
        sums[one.annotator][0] += one.given
        sums[one.annotator][1] += one.asked
    most = max(asked for _, asked in sums.values())
    rows = [
        Row((
            RowName(annotator_name(annotator)),
            Count(given, strong=True),
            Count(asked),
            percent(given * 100 // asked / 100, 0),  # 100 % is nothing open
            Bar((BarPart(given, GIVEN), BarPart(asked - given, OPEN)), most),
        ))
        for annotator, (given, asked) in sums.items()
    ]  # fmt: skip
    heads = ("given", "of", "complete", "")
    return table((Heading("annotator", key=True), *map(Heading, heads)), rows)


def _gaps(gaps: Sequence[Completeness]) -> Table:
    """The labels that are not given everywhere, by annotator."""
    rows = [
        Row((
            RowName(one.label),
            annotator_name(one.annotator),
            Count(one.asked - one.given, strong=True),
            Count(one.asked),
        ))
        for one in sorted(gaps, key=lambda one: one.given - one.asked)
    ]  # fmt: skip
    heads = ("annotator", "open", "of")
    return table((Heading("still to fill in", key=True), *map(Heading, heads)), rows)
