"""Calibration page: the judge beside people, and what becomes of its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.metrics import Range

from .facts import DIM, HEAD, Facts, Paragraph
from .figures import (
    METHODS,
    coloured,
    counted,
    drawn,
    ends,
    method_word,
    number,
    percent,
    scale_of,
)
from .render.grid import Cell, Column, Grid, Roomiest, Row, cell, folded

if TYPE_CHECKING:
    from ragstone.decisions import Calibration

LAYOUTS = ((25, True), (19, True), (15, True), (11, True), (0, True), (0, False))
"""Width of the strips, and whether the method is shown; the first that fits is used."""

GOOD, BAD = "green", "red"
SLACK = 0.05
"""A difference of numbers of labels that only rounding makes."""
METRIC_WIDTH = 30

FLAGS = {
    "unlabelled_stratum": "a verdict of the judge that nobody labelled counts as anything from 0 "
    "to 1: label some of it (ragstone sample --by stratified --strata verdict)",
    "few_labels": "fewer than 20 labels: take the interval as rough",
    "few_clusters": "labels of fewer than 20 clusters: take the interval as rough",
}


def calibration_page(found: "Calibration") -> RenderableType:
    """Who was held against whom, every metric three ways, and the agreement behind it."""
    told = found.to_dict()
    parts: list[RenderableType] = [*_not_random(told), _header(told), Text()]
    if told["estimates"]:
        tables = [_estimates(told["estimates"], found.level, strip, method=method)
                  for strip, method in LAYOUTS]  # fmt: skip
        parts += [Roomiest(tables), Text()]
    if told["agreement"]:
        tables = [_agreement(told["agreement"], stacked=stacked) for stacked in (False, True)]
        parts += [Roomiest(tables), Text()]
        parts += [line for check in told["agreement"] for line in _biases(check)]
    return Group(*parts, _footer(told), Text())


def _not_random(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    """First of all, where labels are no random sample, and what comes of it."""
    if not told["not_random"]:
        return
    same: dict[str, dict[str, None]] = {}
    for one in told["not_random"]:
        where = f"{one['metric']} ({', '.join(one['group'].values()) or 'all'})"
        same.setdefault("; ".join(one["differences"]), {})[where] = None
    words = [f"{why}, p < .001: {', '.join(where)}" for why, where in same.items()]
    follows = (
        "Corrected all the same, as --assume-random says."
        if told["assume_random"]
        else "So nothing of these is corrected. ragstone sample draws what to label, with its "
        "chances; --assume-random corrects all the same."
    )
    yield Paragraph(
        Text.assemble(("The labels are no random sample: ", "bold red"), "; ".join(words))
    )
    yield Paragraph(Text(follows))
    yield Text()


def _header(told: Mapping[str, Any]) -> RenderableType:
    passport = told["passport"]
    judges = ", ".join(passport["judge"]["judges"]) or "nobody"
    labelled = counted(passport["n_examples"], "example")
    return Facts(
        [
            ("run", Text(told["run"], HEAD)),
            ("judge", Text.assemble((judges, HEAD), (f"  {passport['id']}", DIM))),
            ("people", Text(f"{labelled}, {counted(passport['annotators'], 'annotator')}")),
        ]
    )


def _estimates(
    estimates: Sequence[Mapping[str, Any]], level: float, strip: int, *, method: bool
) -> Grid:
    words = ["value", f"{percent(level)} interval", *([""] if strip else []), "labels", "worth"]
    words += ["method"] if method else []
    rows: list[Row] = [
        [cell("corrected by people", HEAD), cell(), *(cell(word, DIM) for word in words)]
    ]
    for one in estimates:
        title = folded(f"{one['metric']}\n{_group(one)}", METRIC_WIDTH).split("\n")
        scale = scale_of(one["metric"])
        for at, (word, part) in enumerate(
            (("judge", one["judge"]), ("labels", one["labels"]), ("corrected", one["corrected"]))
        ):
            name = title[at] if at < len(title) else ""
            figures = _way(word, part, scale, strip, method=method)
            rows.append([cell(name, HEAD if at == 0 else DIM), *figures])
        rows.append([])
    right = Column("right")
    columns = [Column(), Column(), right, right, *([Column()] if strip else []), right, right]
    return Grid([*columns, *([Column()] if method else [])], rows[:-1])


def _group(estimate: Mapping[str, Any]) -> str:
    return ", ".join(map(str, estimate["group"].values())) or "all"


def _way(
    word: str, part: Mapping[str, Any], scale: Range | None, strip: int, *, method: bool
) -> list[Cell]:
    style = HEAD if word == "corrected" else ""
    if part["value"] is None or (word != "judge" and part["low"] is None):
        why = str(part.get("reason") or "no score").replace("_", " ")
        value = cell("–" if part["value"] is None else number(part["value"]), style)
        return [cell(word, style), value, cell(why, "yellow", span=2 if strip else 1)]
    counts = []
    if word != "judge":
        worth = part["effective_labels"]
        counts = [
            cell(f"{part['n_labels']:,}"),
            cell("–" if worth is None or not isfinite(worth) else f"{worth:,.0f}", style),
            *([cell(method_word(part["method"]), DIM)] if method else []),
        ]
    strips = [Cell(_strip(part, scale, strip, "cyan" if word == "corrected" else DIM))]
    return [
        cell(word, style),
        cell(number(part["value"]), style),
        cell(ends(part["low"], part["high"])),
        *(strips if strip else []),
        *counts,
    ]


def _strip(part: Mapping[str, Any], scale: Range | None, width: int, style: str) -> Text:
    if scale is None or part["low"] is None or not isfinite(scale.high - scale.low):
        return Text()
    low, high = scale.low, scale.high
    letters = drawn(part["value"], part["low"], part["high"], start=low, end=high, width=width)
    return coloured(letters, style)


CHECKED = (
    ("accuracy", "agree"),
    ("sensitivity", "sens."),
    ("specificity", "spec."),
    ("kappa", "κ"),
    ("auroc", "AUROC"),
    ("spearman", "ρ"),
    ("ece", "ECE"),
)


def _agreement(checks: Sequence[Mapping[str, Any]], *, stacked: bool) -> Grid:
    """A row a label; ``stacked`` with its name and threshold on lines of their own."""
    shown = [(key, word) for key, word in CHECKED if any(one[key] is not None for one in checks)]
    words = ["n", *(word for _, word in shown), "κ interval"]
    columns = [Column(), *(Column("right") for _ in words), *([] if stacked else [Column()])]
    title, every = "judge against people", len(columns)
    rows: list[Row] = [[cell(title, HEAD, span=every)]] if stacked else []
    words += [] if stacked else ["threshold"]
    rows.append([cell("" if stacked else title, HEAD), *(cell(word, DIM) for word in words)])
    for one in checks:
        name = f"{one['kind']}.{one['column']}"
        threshold = "" if one["threshold"] is None else _threshold(one["threshold"])
        if stacked:
            rows.append([cell(name, span=every)])
        row = [
            cell("" if stacked else folded(name, METRIC_WIDTH)),
            cell(f"{one['n']:,}"),
            *(cell("–" if one[key] is None else number(one[key])) for key, _ in shown),
            cell(ends(one["kappa_low"], one["kappa_high"]), DIM),
        ]
        rows.append(row if stacked else [*row, cell(threshold, DIM)])
        if stacked and threshold:
            rows.append([cell(), cell(f"threshold {threshold}", DIM, span=every - 1)])
        if one["reason"]:
            reason = one["reason"].replace("_", " ")
            rows.append([cell(), cell(reason, "yellow", span=every - 1)])
    return Grid(columns, rows)


def _threshold(found: Mapping[str, Any]) -> str:
    """Where it lies and what it is worth on other rows, or why there is none."""
    reason = str(found["reason"]).replace("_", " ")
    if found["value"] is None:
        return reason
    worth = found["cross_validated"]
    return (
        f"≥ {number(found['value'])} "
        f"({found['criterion']} {reason if worth is None else number(worth)})"
    )


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
    for flag, about in _flagged(told["estimates"]).items():
        said = f"{FLAGS.get(flag, flag.replace('_', ' '))} ({about})"
        rows.append(("beware", Text(said, "yellow")))
    rows.append(("reading", Text("worth: how many independent labels without a judge would give an "
                                 "interval as narrow", DIM)))  # fmt: skip
    rows += [("", Text(said, DIM)) for said in _read(told["agreement"])]
    return Facts(rows)


def _read(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the figures of the agreement are, where they are not what one would think."""
    unequal = [one for one in checks if one["effective"] < one["n"] - SLACK]
    if unequal:
        worth = ", ".join(f"{one['n']:,} as {one['effective']:,.0f}" for one in unequal)
        yield (
            f"labels drawn with unequal chances: each stands for one over its own, so {worth} "
            "drawn at random"
        )
    chances = [one["ece_by_chance"] for one in checks if one["ece"] is not None]
    if chances:
        yield (
            "ECE: mean gap between the probability said and the share of yes; by chance alone "
            f"a perfectly calibrated judge would have about {', '.join(map(number, chances))} here"
        )
    if any(one["threshold"] is not None for one in checks):
        yield "threshold: what it is worth on labels that had no say in choosing it"


def _flagged(estimates: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Of which metrics, and there of which groups, a flag warns; ``all`` where of every one."""
    estimates = [one for one in estimates if one["corrected"]["low"] is not None]
    found: dict[str, dict[str, list[str]]] = {}
    for one in estimates:
        for flag in one["corrected"]["flags"]:
            found.setdefault(flag, {}).setdefault(one["metric"], []).append(_group(one))
    told = {}
    for flag, about in found.items():
        each = [f"{metric}: {', '.join(groups)}" for metric, groups in about.items()]
        every = sum(map(len, about.values())) == len(estimates) > 1
        told[flag] = "all of them" if every else "; ".join(each)
    return told
