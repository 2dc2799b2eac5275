"""Agreement page: how far annotators agree, label by label, and what divides them."""

from collections.abc import Collection, Sequence
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.labels.agreement import ColumnAgreement, Dividing
from ragstone.labels.broken_rules import BrokenRule
from ragstone.labels.table import LabelTable
from ragstone.stats.agreement.ratings import AgreementCoefficient
from ragstone.stats.interval import Interval

from .facts import DIM, HEAD, Facts, Paragraph
from .figures import coloured, counted, drawn, ends, number, percent
from .render.grid import Grid, GridCell, GridColumn, Roomiest, Row, cell, folded

STRIPS = (31, 21, 11, 0)
OVERVIEW_STRIPS = (25, 15, 0)
"""Widths of the strips; the first with which a table fits is used."""

NAME_WIDTH = 30
USES_WIDTHS = (90, 60, 40, 24)
FEW = 30
"""Items from which on an interval of agreement is no longer rough."""

COEFFICIENTS = {
    "percent": ("percent", "pairs of annotators of an item who say the same"),
    "cohen_kappa": (
        "Cohen's κ",
        "beyond chance, which is each annotator's own shares of the labels; of more than two "
        "annotators the mean over pairs, weighted by their common items",
    ),
    "weighted_kappa": ("weighted κ", "the same, differences counted by their square"),
    "fleiss_kappa": ("Fleiss' κ", "chance is everybody's shares of the labels"),
    "krippendorff_alpha": (
        "Krippendorff's α",
        "chance is all labels shuffled; differences of grades count by the square of their ranks' "
        "distance, of amounts by the square of their own",
    ),
    "gwet_ac1": (
        "Gwet's AC1",
        "chance is what items hard to tell get; it holds where one label is rare and κ collapses",
    ),
}
"""The word for each coefficient, and what it is."""

LEGEND = {
    "items": "what one label is about: an answer, a context, a claim or a statement",
    "labels": "how many this annotator gave",
    "compared": "of these, on items where one label leads among the other annotators; where nobody "
    "else labelled, or the others are split, there is nothing to compare with",
    "as the others": "share of the compared labels that are the one that leads among the others",
    "difference": "how far this annotator's labels lie above (+) or below (-) the mean of the "
    "others' on the same items",
    "given": "how often a label was given to items that two or more labelled",
    "again": "where one annotator gives it, how often another one of the item gives it too",
}
"""What the columns of the tables are."""

REASONS = {
    "no_pairs": "undefined: no item has two labels",
    "no_variation": "undefined: all labels are the same, as chance would have them",
    "too_many_labels": "undefined: amounts, not categories",
    "not_numbers": "undefined: not all labels are numbers",
}


def agreement_page(
    table: LabelTable, found: Sequence[ColumnAgreement], broken: Sequence[BrokenRule] = ()
) -> RenderableType:
    """Who labelled what, an overview, each label in turn, and what is wrong with the labels."""
    compared = [one for one in found if one.n_shared]
    alone = [one for one in found if not one.n_shared]
    parts: list[RenderableType] = [_header(table, compared or found, broken)]
    if len(compared) > 1:
        parts += [Text(), Roomiest([_overview(compared, strip) for strip in OVERVIEW_STRIPS])]
    for one in compared:
        parts += [Text(), *_column(one)]
    if alone:
        names = ", ".join(one.name for one in alone)
        words = "labelled by one annotator alone, so there is nothing to compare"
        parts += [Text(), Facts([(words, Text(names))])]
    if not found:
        parts += [Text(), Text("No label counts, so there is nothing to compare.")]
    if compared:
        parts += [Text(), _legend(compared), Text(), _footer(compared)]
    return Group(*parts)


def _header(
    table: LabelTable, found: Sequence[ColumnAgreement], broken: Sequence[BrokenRule]
) -> RenderableType:
    names = list(dict.fromkeys(_who(who.name) for one in found for who in one.annotators))
    who = names[:12] + ([f"and {len(names) - 12} more"] if len(names) > 12 else [])
    n = sum(annotator.n_labels for one in found for annotator in one.annotators)
    counts = f"{counted(n, 'label')} by {counted(len(names), 'annotator')}"
    facts = [
        ("labels", Text(table.source, HEAD)),
        ("", Text(f"{counts}: {', '.join(who)}" if names else counts)),
    ]
    if table.n_discarded:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in table.discarded.items())
        facts.append(("discarded", Text(f"{table.n_discarded:,}, not used: {reasons}", "yellow")))
    if table.n_set_aside:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in table.set_aside.items())
        facts.append(("set aside", Text(f"{table.n_set_aside:,}, not used: {reasons}", "yellow")))
    by_rule = groupby(sorted(broken, key=lambda one: one.rule), key=lambda one: one.rule)
    for rule, several in by_rule:
        ones = list(several)
        where = ", ".join(f"{one.example_id} ({_who(one.annotator)})" for one in ones[:3])
        more = f" and {len(ones) - 3:,} more" if len(ones) > 3 else ""
        words = f"{counted(len(ones), 'time')}, kept as it is: {where}{more}"
        facts.append((rule.replace("_", " "), Text(words, "yellow")))
    return Facts(facts)


def _legend(found: Sequence[ColumnAgreement]) -> RenderableType:
    """What the columns of the tables are, those that are on the page."""
    several = any(one.n_annotators > 1 for one in found)
    differing = any(who.difference is not None for one in found for who in one.annotators)
    there = {
        "items": True,
        "labels": several,
        "compared": several,
        "as the others": several,
        "difference": differing,
        **dict.fromkeys(("given", "again"), any(one.uses for one in found)),
    }
    return Facts([(word, Text(LEGEND[word], DIM)) for word, shown in there.items() if shown])


def _footer(found: Sequence[ColumnAgreement]) -> RenderableType:
    """What each coefficient is, and how the intervals were made."""
    shown = {
        name
        for one in found
        for name, value in one.coefficients.items()
        if value.reason != "nominal_scale"
    }
    facts = [
        (word, Text(what, DIM)) for name, (word, what) in COEFFICIENTS.items() if name in shown
    ]
    one = found[0]
    drawn = (
        f"{one.resamples:,} draws of items, or of whole questions and examples (seed {one.seed})"
    )
    facts.append(
        ("intervals", Text(f"{drawn}; Wilson's for single annotators and where all agree", DIM))
    )
    return Facts(facts)


def _overview(found: Sequence[ColumnAgreement], strip: int) -> Grid:
    low = _axis_from([one.coefficients["krippendorff_alpha"] for one in found])
    rows: list[Row] = [
        [cell("overview", HEAD), cell("items", DIM), cell("people", DIM), cell("percent", DIM),
         cell("κ Fleiss", DIM), cell("AC1", DIM), cell("α", DIM), cell("interval", DIM),
         cell(_axis(low, strip), DIM)]
    ]  # fmt: skip
    for one in found:
        alpha = one.coefficients["krippendorff_alpha"]
        interval = alpha.interval
        rows.append(
            [
                cell(folded(one.name, NAME_WIDTH)),
                cell(f"{one.n_shared:,}"),
                cell(f"{one.n_annotators:,}"),
                *(_plain(one.coefficients[name]) for name in ("percent", "fleiss_kappa")),
                _plain(one.coefficients["gwet_ac1"]),
                _plain(alpha, HEAD),
                cell("–" if interval is None else ends(interval.low, interval.high)),
                GridCell(_strip(alpha.value, interval, low, strip)),
            ]
        )
    right = GridColumn("right")
    return Grid([GridColumn(), *[right] * 7, GridColumn()], rows)


def _column(one: ColumnAgreement) -> list[RenderableType]:
    items = counted(one.n_items, "item")
    shared = "all" if one.n_shared == one.n_items else f"{one.n_shared:,}"
    words = [f"{one.scale} · {items}, {shared} labelled by two or more"]
    words += [counted(one.n_clusters, "cluster")] if one.n_clusters < one.n_shared else []
    words += [f"{one.n_divided:,} divided"]
    words += [counted(len(one.ties), "tie")] if one.ties else []
    parts: list[RenderableType] = [
        Paragraph(Text.assemble((one.name, HEAD), "  ", (" · ".join(words), DIM)), hang=2),
        Roomiest([_coefficients(one, strip) for strip in STRIPS]),
    ]
    if one.n_clusters < FEW:
        n = counted(one.n_clusters, "cluster" if one.n_clusters < one.n_shared else "item")
        parts.append(Text(f"From {n} only: take the intervals as rough.", "yellow"))
    if one.n_annotators > 1:
        parts += [Text(), Roomiest([_annotators(one, strip) for strip in STRIPS])]
    if one.uses:
        parts += [Text(), Roomiest([_uses(one, width) for width in USES_WIDTHS])]
    if one.dividing:
        parts += [Text(), *_dividing(one)]
    return parts


def _coefficients(one: ColumnAgreement, strip: int) -> Grid:
    shown = {
        name: value for name, value in one.coefficients.items() if value.reason != "nominal_scale"
    }
    low = _axis_from(shown.values())
    level = f"{percent(one.level)} interval"
    rows: list[Row] = [
        [
            cell("  agreement", DIM),
            cell("value", DIM),
            cell(level, DIM),
            cell(_axis(low, strip), DIM),
        ]
    ]
    for name, value in shown.items():
        word = COEFFICIENTS[name][0]
        if value.value is None:
            reason = REASONS.get(value.reason or "", value.reason or "")
            rows.append([cell(f"  {word}"), cell("–", "yellow"), cell(reason, "yellow", span=2)])
            continue
        interval = value.interval
        rows.append(
            [
                cell(f"  {word}"),
                cell(number(value.value), HEAD),
                cell("–" if interval is None else ends(interval.low, interval.high)),
                GridCell(_strip(value.value, interval, low, strip)),
            ]
        )
    return Grid([GridColumn(), GridColumn("right"), GridColumn("right"), GridColumn()], rows)


def _annotators(one: ColumnAgreement, strip: int) -> Grid:
    numbers = any(annotator.difference is not None for annotator in one.annotators)
    head = ["  annotator", "labels", "compared", "as the others", "interval", _axis(0.0, strip)]
    rows: list[Row] = [[cell(word, DIM) for word in [*head, *(["difference"] if numbers else [])]]]
    for annotator in one.annotators:
        share, interval = annotator.agreement, annotator.interval
        row = [
            cell(f"  {_who(annotator.name)}"),
            cell(f"{annotator.n_labels:,}"),
            cell(f"{annotator.n:,}"),
            cell("–" if share is None else number(share), HEAD),
            cell("–" if interval is None else ends(interval.low, interval.high)),
            GridCell(_strip(share, interval, 0.0, strip)),
        ]
        if annotator.difference is not None:
            row.append(cell(f"{annotator.difference:+.2f}"))
        rows.append(row)
    right = GridColumn("right")
    return Grid([GridColumn(), *[right] * 4, GridColumn(), *([right] if numbers else [])], rows)


def _uses(one: ColumnAgreement, width: int) -> Grid:
    rows: list[Row] = [
        [cell(word, DIM) for word in ("  label", "given", "again", "what another said instead")]
    ]
    for use in one.uses:
        instead = " · ".join(
            f"{value} {percent(share, 0)}" for value, share in list(use.instead.items())[:5]
        )
        again = "–" if use.agreement is None else percent(use.agreement, 0)
        rows.append(
            [
                cell(f"  {folded(use.value, NAME_WIDTH)}"),
                cell(f"{use.n:,}"),
                cell(again, HEAD),
                cell(folded(instead, width) or "–", "" if instead else DIM),
            ]
        )
    return Grid([GridColumn(), GridColumn("right"), GridColumn("right"), GridColumn()], rows)


def _dividing(one: ColumnAgreement) -> list[RenderableType]:
    rows: list[RenderableType] = [Text("  dividing them most", DIM)]
    for item in one.dividing:
        name = item.example_id if item.unit is None else f"{item.example_id}, {_unit(item.unit)}"
        text = Text.assemble(name, "  ", (_votes(item), "cyan"))
        rows.append(Paragraph(text, indent=2, hang=2))
        for annotator, note in item.notes.items():
            rows.append(Paragraph(Text(f"{_who(annotator)}: {note}", DIM), indent=6, hang=2))
    left = one.n_divided - len(one.dividing)
    if left > 0:
        rows.append(Text(f"  and {left:,} more (--limit, --json)", DIM))
    return rows


def _votes(item: Dividing) -> str:
    by_label: dict[str, list[str]] = {}
    for annotator, label in item.labels.items():
        by_label.setdefault(label, []).append(_who(annotator))
    ranked = sorted(by_label.items(), key=lambda pair: -len(pair[1]))
    return " · ".join(f"{label} ({', '.join(who)})" for label, who in ranked)


def _plain(one: AgreementCoefficient, style: str = "") -> GridCell:
    return cell("–", "yellow") if one.value is None else cell(number(one.value), style)


def _axis_from(ones: Collection[AgreementCoefficient]) -> float:
    """Where the strips begin: 0, or -1 where a value or an end lies below 0."""
    least = [one.value for one in ones if one.value is not None]
    least += [one.interval.low for one in ones if one.interval is not None]
    return -1.0 if min(least, default=0.0) < 0 else 0.0


def _axis(low: float, width: int) -> str:
    """The ends of a strip, and where chance is."""
    if not width:
        return ""
    if low == 0:
        return "0" + "1".rjust(width - 1)
    half = width // 2
    return "-1" + "0".rjust(half - 1) + "1".rjust(width - half - 1)


def _strip(value: float | None, interval: Interval | None, low: float, width: int) -> Text:
    """The interval from ``low`` to 1; ``┊`` is 0, what chance gives."""
    if value is None or not width:
        return Text()
    both = (None, None) if interval is None else (interval.low, interval.high)
    letters = drawn(value, *both, start=low, end=1, width=width)
    if low < 0 and letters[width // 2] == "·":
        letters[width // 2] = "┊"
    return coloured(letters)


def _unit(unit: str) -> str:
    return unit if " " in unit else f"context {unit}"


def _who(annotator: str) -> str:
    return annotator or "(no name)"
