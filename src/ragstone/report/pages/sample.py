"""Sample page: what was drawn for people to label, as ``ragstone sample`` prints it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ragstone.analysis.label_sampling.draw_sample import Sample
from ragstone.analysis.label_sampling.queue_items import LabelSheet, guideline_file
from ragstone.report.command import command
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
    Row,
    RowName,
    Table,
    quiet,
    section,
    strong,
    table,
)
from ragstone.report.words import words

SHOWN_STRATA = 30

DRAWN, LEFT = 0, 5
"""The levels of bar parts: drawn, and left."""


def sample_page(sample: Sample, sheet: LabelSheet, out: Path | None) -> Page:
    """What was drawn and how, who labels what, and where the label sheet is."""
    blocks: list[Block] = [Facts(tuple(_facts(sample, sheet, out)))]
    if sample.strata:
        blocks.append(_strata(sample))
        if (hidden := len(sample.strata) - SHOWN_STRATA) > 0:
            blocks.append(Paragraphs((quiet(f"and {hidden:,} more: see --json"),)))
    if sample.widths:
        blocks.append(_widths(sample))
    if sample.settings.annotators:
        blocks.append(_annotators(sample, sheet))
    blocks.append(Paragraphs(tuple(map(quiet, _notes(sample, sheet, out)))))
    return Page(
        "sample", sample.settings.run, (section(*blocks),),
        record=lambda: {**sample.to_dict(), "labels": sheet.labels, "out": out},
    )  # fmt: skip


def _facts(sample: Sample, sheet: LabelSheet, out: Path | None) -> Iterator[Note]:
    settings = sample.settings
    units = ""
    if sample.questions is not None:
        whole = "whole " if sample.unit == "questions" else ""
        unit = _one(sample.unit) if sample.questions == 1 else sample.unit
        units = f", {sample.questions:,} {whole}{unit}"
    yield Note("drawn", (strong(f"{sample.rows.height:,} of {sample.examples:,} examples"), units))
    yield Note("from", settings.run)
    yield Note("by", f"{_way(sample)}; seed {settings.seed}")
    low, high = sample.chances
    chance = f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f} to {high:.3f}"
    yield Note("probability", f"{chance}, kept with each row as inclusion_probability")
    yield Note("labels", ", ".join(_asked(sheet)))
    if out is not None:
        yield Note("sheet", (strong(str(out)), f"  {sheet.frame.height:,} rows"))
        if sheet.guideline:
            asked = (strong(str(guideline_file(out))), "  questions and hard cases for annotators")
            yield Note("guideline", asked)


def _way(sample: Sample) -> str:
    """How examples were drawn, in words."""
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


def _asked(sheet: LabelSheet) -> list[str]:
    units: dict[str, list[str]] = {}
    for one in sheet.asked:
        units.setdefault(one.label, []).append(one.unit)
    return [f"{label} (of each {' and '.join(of)})" for label, of in units.items()]


def _strata(sample: Sample) -> Table:
    """The size of each stratum, and how many of its examples were drawn."""
    most = max(one.there for one in sample.strata)
    rows = [
        Row((
            RowName(one.name),
            Count(one.there),
            Count(one.drawn, strong=True),
            Number(one.probability),
            Bar((BarPart(one.drawn, DRAWN), BarPart(one.there - one.drawn, LEFT)), most),
        ))
        for one in sample.strata[:SHOWN_STRATA]
    ]  # fmt: skip
    return table(("stratum", "size", "drawn", "probability", ""), rows)


def _widths(sample: Sample) -> Table:
    """The expected width of the mean's interval under each design; the chosen one is marked."""
    taken, *others = sample.widths
    rows = [Row((RowName(taken.by), Number(taken.width, strong=True), "drawn"))]
    rows += [
        Row((RowName(one.by), Number(one.width, strong=True),
             quiet(f"{one.width / taken.width:.2f} ×")))
        for one in others
    ]  # fmt: skip
    return table((f"of {sample.rows.height:,} labels", "expected width", ""), rows)


def _annotators(sample: Sample, sheet: LabelSheet) -> Table:
    names = sample.settings.annotators
    given = list(sample.rows["annotators"])
    counts = Counter(name for ones in given for name in ones)
    shared = sum(len(ones) == len(names) > 1 for ones in given)
    to_fill = Counter(sheet.frame["annotator"].to_list())
    heads = ("annotator", "examples", "shared by all", "rows")
    rows = [
        Row((RowName(name), Count(counts[name]), Count(shared), Count(to_fill[name])))
        for name in names
    ]
    return table([Heading(head) for head in heads], rows)


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
    """``value of document_id`` for ``values of document_id``."""
    noun, *rest = unit.split(" ", 1)
    return " ".join([noun.removesuffix("s"), *rest])
