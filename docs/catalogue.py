"""Writes docs/metrics.md from what the metrics, suites and views say of themselves.

python docs/catalogue.py
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from ragstone.judgements import ASKS, REQUIREMENTS, VIEWS
from ragstone.judges import who_fills
from ragstone.metrics import (
    ALIASES,
    QUICK_METRICS,
    SUITES,
    Composite,
    Metric,
    Undefined,
    metric_types,
    parse_metric,
)
from ragstone.report.catalogue import MetricEntry, entry
from ragstone.report.figures import ARROWS
from ragstone.report.groups import FAMILIES

PAGE = Path(__file__).with_name("metrics.md")

PEOPLE_ONLY = {"misleading"}
"""Columns that the local judge leaves open."""

MODELS = ("encoder", "cross-encoder")
"""What fills similarities."""

NOBODY_YET = {"parts", "parts_answered", "directness", "focus", "consistency"}
"""Columns that no judge of this version fills, though people's labels fill others beside them."""

HEAD = """\
# Metrics

Every metric of this version, written by `python docs/catalogue.py` from the code that computes it.
`ragstone metrics` prints the same list, `ragstone metrics NAME` one of them in full.

**↑** more is better, **↓** less is better, **·** neither. A *rate* is 0 or 1 for each answer.
A metric gives each example a value, or it is *undefined* there (the definition gives none, with the
reason), or *missing* (a judgement that it needs is not there, with what is lacking). Neither of the
two counts as zero. A *flag* stands beside a value that rests on a convention.

`k` cuts a list; without it the cut is the length of the list the system returned. A parameter is
part of the name: `precision(k=5)`. Reports show the full name.

**Needs** names the tables of judgements; [judges.md](judges.md) says who fills them. *People* marks
what only people's labels fill, *encoder* and *cross-encoder* what only such a model fills, *later*
what nobody fills in this version: such a metric is missing, and says what it waits for. To write
your own metric, see [own-metric.md](own-metric.md).
"""


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page."""
    blocks = [HEAD, overview(), *families(), suites(), aliases(), views()]
    return "\n".join(block.strip() + "\n" for block in blocks)


def overview() -> str:
    """One line a metric."""
    lines = ["| metric | | range | what it is | needs |", "|---|---|---|---|---|"]
    for one in entries():
        lines.append(
            f"| [`{one.name}`](#{one.name}) | {ARROWS[one.better]} | {span(one)} "
            f"| {one.about} | {needs(one)} |"
        )
    return "\n".join(lines)


def families() -> Iterator[str]:
    """Every metric in full, by family and by the file it is defined in."""
    for family, title in FAMILIES.items():
        kinds = [kind for kind in metric_types().values() if kind.family == family]
        if not kinds:
            continue
        yield f"## {title}" if " " in title else f"## {title} metrics"
        for module, members in groupby(kinds, key=lambda kind: kind.__module__):
            about = inspect.cleandoc(sys.modules[module].__doc__ or "")
            head, _, body = about.partition("\n\n")
            yield f"### {' '.join(head.split()).rstrip('.')}\n\n{markdown(body)}".strip()
            yield from (in_full(kind) for kind in members)


def in_full(kind: type[Metric]) -> str:
    """One metric: its definition, and what follows from the code."""
    one = entry(kind)
    parts = [f"#### {one.name}", markdown(one.docstring)]
    better = {"+": "more is better", "-": "less is better", "0": "neither end is better"}
    facts = [f"Range: {span(one)}, {better[one.better]}"]
    if needs(one):
        facts.append(f"Needs: {needs(one)}")
    if not issubclass(kind, Composite):
        facts += [f"Undefined: {', '.join(f'`{why}`' for why in undefined(kind))}"]
        facts += [f"Without rows: {value}" for value in without_rows(kind)]
    else:
        facts.append(f"Components: {components(kind)}")
    if one.parameters:
        given = ", ".join(f"`{name}={value!r}`" for name, value in one.parameters.items()
                          if not (name == "weights" and value))  # fmt: skip
        facts.append(f"Parameters: {given}")
    if one.aliases:
        facts.append(f"Also called: {', '.join(f'`{alias}`' for alias in one.aliases)}")
    return "\n\n".join([*parts, "\n".join(f"- {fact}" for fact in facts)])


def entries() -> list[MetricEntry]:
    """What every metric says of itself, in the order of a report."""
    order = list(FAMILIES)
    kinds = sorted(metric_types().values(), key=lambda kind: order.index(kind.family))
    return [entry(kind) for kind in kinds]


def span(one: MetricEntry) -> str:
    """The range in words."""
    low, high = one.range
    return f"{low:g} or {high:g}, a rate" if one.rate else f"{low:g} to {high:g}"


def needs(one: MetricEntry) -> str:
    """The tables of judgements, each with who alone can fill it, where that is not a judge here."""
    kind = metric_types()[one.name]
    if issubclass(kind, Composite):
        return "its components"
    made = kind()
    columns = frozenset[str]().union(*(part.columns for part in made.parts().values()))
    names: dict[str, str] = {}
    for ask in sorted(made.asks, key=list(ASKS).index):
        judges = who_fills(ask)
        about = {name for view in VIEWS.values() for name, fact in view.columns.items()
                 if ask in fact.needs} & columns  # fmt: skip
        if not judges or about & NOBODY_YET:
            mark = " (later)"
        elif judges[0] in MODELS:
            mark = f" ({judges[0]})"
        else:
            mark = " (people)" if judges == ["human"] or about & PEOPLE_ONLY else ""
        names[ASKS[ask].kind] = mark
    words = [name + mark for name, mark in names.items()]
    if "known_contexts" in made.requires:
        words.append("reference ids")
    return ", ".join(words)


def undefined(kind: type[Metric]) -> list[str]:
    """The reasons it can give, in the order in which they are looked for."""
    made = kind()
    required = dict.fromkeys(made.requires)
    for ask in sorted(made.asks, key=list(ASKS).index):
        required.update(dict.fromkeys(ASKS[ask].requires))
    reasons = [REQUIREMENTS[name].reason for name in required]
    reasons += [part.empty.reason for part in made.parts().values()
                if isinstance(part.empty, Undefined)]  # fmt: skip
    if kind.undefined != Metric.undefined:
        reasons.append(kind.undefined)
    return list(dict.fromkeys(reasons))


def without_rows(kind: type[Metric]) -> list[str]:
    """The value where there is nothing to count, where that is a value."""
    values = {
        f"{part.empty:g}" + (f", flagged `{part.empty_flag}`" if part.empty_flag else "")
        for name, part in kind().parts().items()
        if not isinstance(part.empty, Undefined) and name == "value"
    }
    return sorted(values)


def components(kind: type[Composite]) -> str:
    """What it is made of, where its name says so."""
    if kind is Composite:
        return "those that `weights` names"
    return ", ".join(f"`{name}` {weight:g}" for name, weight in kind().terms)


def suites() -> str:
    """Every suite with its metrics and conventions."""
    parts = ["## Suites", "A suite is a list of metrics with its conventions: `--suite graphrag`."]
    quick = ", ".join(f"`{name}`" for name in QUICK_METRICS)
    parts += [
        "### Suite `quick`",
        "The default: what the data and the judges allow, chosen on the first block of examples "
        f"from {quick}. A metric stays out if no example has a value, or if over a tenth of them "
        "lack a judgement that nobody there can give.",
    ]
    for suite in SUITES.values():
        parts.append(f"### Suite `{suite.name}`")
        parts.append(f"{suite.about[0].upper()}{suite.about[1:]}.")
        parts.append(", ".join(f"`{name}`" for name in suite.names))
        said = [suite.conventions] if suite.conventions else []
        said += [f"grouped by {', '.join(f'`{field}`' for field in suite.by)}"] if suite.by else []
        if suite.bands:
            words = ", ".join(f"{word} from {least:g}" for least, word in suite.bands[:-1])
            said.append(f"bands: {words}, else {suite.bands[-1][1]}")
        if said:
            parts.append(f"Conventions: {'; '.join(said)}.")
    return "\n\n".join(parts)


def aliases() -> str:
    """Names of other tools, and what they are here."""
    parts = ["## Names of other tools",
             "Accepted everywhere; a note says what they mean here.", ""]  # fmt: skip
    parts += ["| name | here | meaning |", "|---|---|---|"]
    parts += [f"| `{alias}` | [`{target}`](#{parse_metric(target).name}) | {meaning} |"
              for alias, (target, meaning) in ALIASES.items()]  # fmt: skip
    return "\n".join(parts)


def views() -> str:
    """What a rule of your own can name."""
    parts = ["## Views", "What a rule sees: one row a unit of an example, with these columns."]
    for view in VIEWS.values():
        about = " ".join(inspect.cleandoc(view.__doc__ or "").split()).rstrip(".")
        parts.append(f"### View `{view.__name__}`\n\n{about}.")
        rows = ["| column | type | what it says |", "|---|---|---|"]
        rows += [f"| `{name}` | {plain(str(fact.dtype))} | {fact.doc} |"
                 for name, fact in view.columns.items()]  # fmt: skip
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def plain(dtype: str) -> str:
    """``Enum(categories=['a', 'b'])`` to ``a, b``."""
    words = re.findall(r"'([^']+)'", dtype)
    return ", ".join(words) if dtype.startswith("Enum") else dtype


def markdown(docstring: str) -> str:
    """A docstring as Markdown: its formulas as code, its double backticks as single ones."""
    return "\n\n".join(_paragraphs(docstring.replace("``", "`").split("\n\n"))).strip()


def _paragraphs(paragraphs: Iterable[str]) -> Iterator[str]:
    for paragraph in paragraphs:
        lines = paragraph.split("\n")
        if re.match(r"\w+(\(\w+\))? += ", lines[0]):
            lines = [f"    {line}" for line in lines]
        if lines[0].startswith("    "):
            body = inspect.cleandoc("\n".join(["", *lines]))
            yield f"```text\n{body}\n```"
        else:
            yield " ".join(line.strip() for line in lines)


if __name__ == "__main__":
    main()
