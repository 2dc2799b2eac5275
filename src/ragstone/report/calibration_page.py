"""Calibration page: the judge beside people, and what becomes of its numbers."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.metrics import Range

from .facts import DIM, HEAD, Facts, Paragraph
from .figures import METHODS, ends, method_word, number, scale_of
from .grid import Cell, Column, Grid, Row, cell, folded

STRIP = 25
GOOD, BAD = "green", "red"
METRIC_WIDTH = 30

FLAGS = {
    "unlabelled_stratum": "a verdict of the judge that nobody labelled counts as anything from 0 "
    "to 1: label some of it (ragstone sample --by stratified --strata verdict)",
    "few_labels": "fewer than 20 labels: take the interval as rough",
    "few_clusters": "labels of fewer than 20 clusters: take the interval as rough",
}


class Calibrated(Protocol):
    """What the page needs."""

    @property
    def run(self) -> str: ...
    @property
    def level(self) -> float: ...
    def to_dict(self) -> dict[str, Any]: ...


def calibration_page(found: Calibrated) -> RenderableType:
    """Who was held against whom, every metric three ways, and the agreement behind it."""
    told = found.to_dict()
    parts: list[RenderableType] = [_header(told), Text()]
    if told["estimates"]:
        parts += [_estimates(told["estimates"], found.level), Text()]
    if told["agreement"]:
        parts += [_agreement(told["agreement"]), Text()]
        parts += [line for check in told["agreement"] for line in _biases(check)]
    return Group(*parts, _footer(told), Text())


def _header(told: Mapping[str, Any]) -> RenderableType:
    passport = told["passport"]
    judges = ", ".join(passport["judge"]["judges"]) or "nobody"
    people = f"{passport['annotators']} annotator{'' if passport['annotators'] == 1 else 's'}"
    return Facts(
        [
            ("run", Text(told["run"], HEAD)),
            ("judge", Text.assemble((judges, HEAD), (f"  {passport['id']}", DIM))),
            ("people", Text(f"{passport['n_examples']:,} examples, {people}")),
        ]
    )


def _estimates(estimates: Sequence[Mapping[str, Any]], level: float) -> Grid:
    head = f"{level:.0%} interval".replace("%", " %")
    rows: list[Row] = [
        [cell("corrected by people", HEAD), cell(), cell("value", DIM), cell(head, DIM),
         cell("", DIM), cell("labels", DIM), cell("worth", DIM), cell("method", DIM)]
    ]  # fmt: skip
    for one in estimates:
        names = [*one["group"].values()] or ["all"]
        title = folded(f"{one['metric']}\n{', '.join(map(str, names))}", METRIC_WIDTH).split("\n")
        scale = scale_of(one["metric"])
        for at, (word, part) in enumerate(
            (("judge", one["judge"]), ("labels", one["labels"]), ("corrected", one["corrected"]))
        ):
            name = title[at] if at < len(title) else ""
            rows.append([cell(name, HEAD if at == 0 else DIM), *_way(word, part, scale)])
        rows.append([])
    return Grid(
        [Column(), Column(), Column("right"), Column("right"), Column(), Column("right"),
         Column("right"), Column()],
        rows[:-1],
    )  # fmt: skip


def _way(word: str, part: Mapping[str, Any], scale: Range | None) -> list[Cell]:
    style = HEAD if word == "corrected" else ""
    if part["value"] is None or (word != "judge" and part["low"] is None):
        why = str(part.get("reason") or "no score").replace("_", " ")
        value = cell("–" if part["value"] is None else number(part["value"]), style)
        return [cell(word, style), value, cell(why, "yellow", span=2), cell(), cell()]
    counts = [cell(), cell(), cell()]
    if word != "judge":
        worth = part["effective_labels"]
        counts = [
            cell(f"{part['n_labels']:,}"),
            cell("–" if worth is None or not isfinite(worth) else f"{worth:,.0f}", style),
            cell(method_word(part["method"]), DIM),
        ]
    drawn = _strip(part["value"], part["low"], part["high"], scale)
    return [
        cell(word, style),
        cell(number(part["value"]), style),
        cell(ends(part["low"], part["high"])),
        Cell(Text(drawn, "cyan" if word == "corrected" else DIM)),
        *counts,
    ]


def _strip(value: float, low: float | None, high: float | None, scale: Range | None) -> str:
    if scale is None or low is None or high is None or not isfinite(scale.high - scale.low):
        return ""

    def place(at: float) -> int:
        share = (at - scale.low) / (scale.high - scale.low)
        return min(STRIP - 1, max(0, round(share * (STRIP - 1))))

    drawn = ["·"] * STRIP
    first, last = place(low), place(high)
    drawn[first : last + 1] = ["─"] * (last - first + 1)
    drawn[place(value)] = "●"
    return "".join(drawn)


CHECKED = (
    ("accuracy", "agree"),
    ("sensitivity", "sens."),
    ("specificity", "spec."),
    ("kappa", "κ"),
    ("auroc", "AUROC"),
    ("spearman", "ρ"),
    ("ece", "ECE"),
)


def _agreement(checks: Sequence[Mapping[str, Any]]) -> Grid:
    shown = [(key, word) for key, word in CHECKED if any(one[key] is not None for one in checks)]
    rows: list[Row] = [
        [
            cell("judge against people", HEAD),
            cell("n", DIM),
            *(cell(word, DIM) for _, word in shown),
            cell("κ interval", DIM),
            cell("threshold", DIM),
        ]
    ]
    for one in checks:
        threshold = one["threshold"]
        rows.append(
            [
                cell(folded(f"{one['kind']}.{one['column']}", METRIC_WIDTH)),
                cell(f"{one['n']:,}"),
                *(cell("–" if one[key] is None else number(one[key])) for key, _ in shown),
                cell(ends(one["kappa_low"], one["kappa_high"]), DIM),
                cell("" if threshold is None else _threshold(threshold), DIM),
            ]
        )
        if one["reason"]:
            rows.append([cell(), cell(one["reason"].replace("_", " "), "yellow", span=4)])
    return Grid([Column(), Column("right"), *[Column("right")] * len(shown), Column("right"),
                 Column()], rows)  # fmt: skip


def _threshold(found: Mapping[str, Any]) -> str:
    return f"≥ {number(found['value'])} ({found['criterion']} {number(found['cross_validated'])})"


def _biases(check: Mapping[str, Any]) -> list[RenderableType]:
    """Where the judge is harder or softer than people: only differences that clear 0."""
    lines: list[RenderableType] = []
    for bias in check["bias"]:
        if bias["low"] is None or bias["low"] <= 0 <= bias["high"]:
            continue
        way = "more often than people" if bias["difference"] > 0 else "less often than people"
        text = Text.assemble(
            (f"{check['kind']}.{check['column']}", HEAD),
            f" where {bias['by']} is {bias['group']}: the judge says so {way}, by ",
            (number(abs(bias["difference"])), BAD),
            (f" [{ends(bias['low'], bias['high'])}], n {bias['n']:,}", DIM),
        )
        lines.append(Paragraph(text, 0, 2))
    return [*lines, Text()] if lines else []


def _footer(told: Mapping[str, Any]) -> RenderableType:
    rows: list[tuple[str, Text]] = []
    passport = told["passport"]
    for word, rates in (("repeats", passport["flips"]), ("injection", passport["injection"])):
        if rates:
            said = "; ".join(f"{one['what']} {number(one['value'])}" for one in rates)
            rows.append((word, Text(f"share of words that changed: {said}", DIM)))
        else:
            rows.append((word, Text("not measured", DIM)))
    order = passport["order"]
    said = "not measured" if order is None else f"decided {number(order['value'])} of the pairs"
    rows.append(("order", Text(said, DIM)))
    used = dict.fromkeys(
        part["method"] for one in told["estimates"] for part in (one["labels"], one["corrected"])
        if part["method"]
    )  # fmt: skip
    rows += [
        ("intervals", Text.assemble((METHODS[name][0], HEAD), f"  {METHODS[name][1]}"))
        for name in used
    ]
    flags = dict.fromkeys(flag for one in told["estimates"] for flag in one["corrected"]["flags"])
    rows += [("beware", Text(FLAGS.get(flag, flag), "yellow")) for flag in flags]
    rows.append(("reading", Text("worth: how many independent labels without a judge would give an "
                                 "interval as narrow", DIM)))  # fmt: skip
    return Facts(rows)
