"""Sample page: what was drawn for people to label, as ``ragstone sample`` prints it."""

from collections import Counter
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.decisions.sampling.draw import Sample
from ragstone.decisions.sampling.label_sheet import LabelSheet, guideline_file

from .facts import DIM, HEAD, Facts, Paragraph
from .render.grid import Grid, GridCell, GridColumn, Row, cell, folded

BAR, NAME_WIDTH = 24, 44
SHOWN_STRATA = 30


def sample_page(sample: Sample, sheet: LabelSheet, out: Path | None) -> RenderableType:
    """What was drawn from what, how likely it was, who labels what, and where the sheet is."""
    parts: list[RenderableType] = [Facts(_facts(sample, sheet, out))]
    if sample.strata:
        parts += [Text(), _strata(sample)]
    if sample.widths:
        parts += [Text(), _widths(sample)]
    if sample.settings["annotators"]:
        parts += [Text(), _annotators(sample, sheet)]
    parts.append(Text())
    parts += [Paragraph(Text(note, DIM)) for note in _notes(sample, sheet, out)]
    return Group(*parts)


def _facts(sample: Sample, sheet: LabelSheet, out: Path | None) -> list[tuple[str, Text]]:
    settings, n = sample.settings, sample.rows.height
    drawn = Text.assemble((f"{n:,} of {sample.examples:,} examples", HEAD))
    if sample.questions is not None:
        whole = "whole " if sample.unit == "questions" else ""
        unit = _one(sample.unit) if sample.questions == 1 else sample.unit
        drawn.append(f", {sample.questions:,} {whole}{unit}")
    how = str(settings["by"])
    if settings["by"] == "near-threshold":
        how += f": {settings['metric']} near {settings['threshold']:g}"
    elif settings["by"] == "error":
        how += f": {settings['metric']}, where the judge is expected to err"
    elif settings["by"] == "disagreement":
        others = ", ".join(settings["others"]) or "the votes in the run"
        how += f" about {settings['metric']}, by {others}"
    elif settings["by"] == "stratified":
        how += f" by {', '.join(settings['strata_of'])}, {settings['allocation']}"
    low, high = sample.chances
    chance = f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f} to {high:.3f}"
    rows = [
        ("drawn", drawn),
        ("from", Text(str(settings["run"]))),
        ("by", Text(f"{how}; seed {settings['seed']}")),
        ("chance", Text(f"{chance}, kept beside each row as inclusion_probability")),
        ("labels", Text(", ".join(_asked(sheet)))),
    ]
    if out is not None:
        rows.append(("sheet", Text.assemble((str(out), HEAD), f"  {sheet.frame.height:,} rows")))
        if sheet.guideline:
            told = Text.assemble((str(guideline_file(out)), HEAD), "  what is asked, hard cases")
            rows.append(("guideline", told))
    return rows


def _asked(sheet: LabelSheet) -> list[str]:
    units: dict[str, list[str]] = {}
    for one in sheet.asked:
        units.setdefault(one.label, []).append(one.unit)
    return [f"{label} (of each {' and '.join(of)})" for label, of in units.items()]


def _strata(sample: Sample) -> Grid:
    most = max(one.there for one in sample.strata)
    rows: list[Row] = [[cell(word, DIM) for word in ("stratum", "there", "drawn", "chance", "")]]
    for one in sample.strata[:SHOWN_STRATA]:
        there = max(1, round(BAR * one.there / most))
        drawn = min(there, max(1, round(BAR * one.drawn / most)))
        bar = Text.assemble(("█" * drawn, "cyan"), ("░" * (there - drawn), DIM))
        rows.append([
            cell(folded(one.name, NAME_WIDTH)), cell(f"{one.there:,}"),
            cell(f"{one.drawn:,}", HEAD), cell(f"{one.probability:.3f}"), GridCell(bar),
        ])  # fmt: skip
    if (hidden := len(sample.strata) - SHOWN_STRATA) > 0:
        rows.append([cell(f"and {hidden:,} more, with --json", DIM)])
    return Grid(
        [GridColumn(), GridColumn("right"), GridColumn("right"), GridColumn("right"), GridColumn()],
        rows,
    )


def _widths(sample: Sample) -> Grid:
    """How wide the mean's interval may be, design by design, the one that was taken marked."""
    rows: list[Row] = [
        [cell(word, DIM) for word in (f"of {sample.rows.height:,} labels", "expected width", "")]
    ]
    taken, *others = sample.widths
    for one in (taken, *others):
        said = "drawn" if one is taken else f"{one.width / taken.width:.2f} ×"
        rows.append([cell(one.by), cell(f"{one.width:.3f}", HEAD), cell(said, DIM)])
    return Grid([GridColumn(), GridColumn("right"), GridColumn()], rows)


def _annotators(sample: Sample, sheet: LabelSheet) -> Grid:
    everybody = len(sample.settings["annotators"])
    counts = Counter(name for names in sample.rows["annotators"] for name in names)
    shared = sum(len(names) == everybody > 1 for names in sample.rows["annotators"])
    to_fill = Counter(sheet.frame["annotator"].to_list())
    rows: list[Row] = [
        [cell(word, DIM) for word in ("annotator", "examples", "of them everybody's", "rows")]
    ]
    rows += [
        [cell(name), cell(f"{counts[name]:,}"), cell(f"{shared:,}"), cell(f"{to_fill[name]:,}")]
        for name in sample.settings["annotators"]
    ]
    return Grid([GridColumn(), GridColumn("right"), GridColumn("right"), GridColumn("right")], rows)


def _notes(sample: Sample, sheet: LabelSheet, out: Path | None) -> list[str]:
    notes = [*sample.notes, *sheet.notes]
    n, settings = sample.rows.height, sample.settings
    least, most = sample.chances
    if settings["by"] in ("near-threshold", "disagreement", "error") and most > least * 1.005:
        notes.append(f"The most telling {_one(sample.unit)} was {most / least:.3g} times as likely "
                     "as the least.")  # fmt: skip
    if sample.effective < 0.95 * n:
        notes.append(f"Chances differ, so for a mean of all the labels count as "
                     f"{sample.effective:,.0f} drawn at random.")  # fmt: skip
    if len(settings["annotators"]) > 1 and not settings["overlap"]:
        notes.append("Nobody labels what another does, so agreement cannot be measured: "
                     "--overlap 0.2.")  # fmt: skip
    if out is None:
        notes.append("Nothing was written: --out sheet.csv makes the sheet to fill in.")
    else:
        notes.append(f"Fill in the empty columns, then: ragstone calibrate {settings['run']} "
                     f"--labels {out}")  # fmt: skip
    return notes


def _one(unit: str) -> str:
    """``value of document_id`` for ``values of document_id``."""
    noun, *rest = unit.split(" ", 1)
    return " ".join([noun.removesuffix("s"), *rest])
