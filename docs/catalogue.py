"""Writes docs/metrics.md from what the metrics, suites and views say of themselves.

python docs/catalogue.py
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from ragstone.analysis.summaries.failure_stages import STAGES
from ragstone.judgements import ASKS, REQUIREMENTS, VIEWS
from ragstone.judges.judge_names import who_fills
from ragstone.metrics import (
    ALIASES,
    NEAREST,
    QUICK_METRICS,
    SUITES,
    Composite,
    Metric,
    Undefined,
    metric_types,
    parse_metric,
)
from ragstone.report.number_format import ARROWS, FAMILIES, bands_of
from ragstone.report.pages.catalogue_page import MetricEntry, entry, range_in_words
from ragstone.report.sentences.run_words import BECAUSE, COUNTED, LOOKS_BAD, NAMES

PAGE = Path(__file__).with_name("metrics.md")

PEOPLE_ONLY = {"misleading"}
"""Columns that the local judge leaves open."""

MODELS = ("encoder", "cross-encoder")
"""What fills similarities."""

NOBODY_YET = {"parts", "parts_answered", "directness", "focus", "consistency"}
"""Columns that no judge of this version fills, though people's labels fill others beside them."""

NEEDED: Mapping[str, Mapping[str, str]] = {
    "contains": {"text": "Paris"}, "regex": {"pattern": "^Yes"},
}  # fmt: skip
"""Parameters without which a metric cannot be made."""

HEAD = """\
# Metrics

All metrics, written by `python docs/catalogue.py` from the code. `ragstone metrics` lists them too.

**↑** higher is better, **↓** lower is better, **·** neither. A *rate* is 0 or 1 for each answer.
For each example a metric has a value, or is *undefined* (its definition gives none), or *missing*
(a judgement it needs is not there). Neither counts as zero. A *flag* marks a value that rests on a
convention.

`k` cuts a list. Parameters are part of the name: `precision(k=5)`.

**Needs** names the tables of judgements; who fills them: [Who judges](judges.md). Some are
filled only by *people*, an *encoder* or a *cross-encoder*; *later* means by nobody in this version,
so the metric is missing. To choose, see [Which metric?](which-metric.md); to define your own,
[Your own metric](own-metric.md).
"""


def main() -> None:
    """Rewrite the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page."""
    blocks = [HEAD, overview(), *families(), failures(), suites(), aliases(), views()]
    return "\n".join(block.strip() + "\n" for block in blocks)


def overview() -> str:
    """The names, by family."""
    lines = []
    for family, members in groupby(entries(), key=lambda metric: metric.family):
        names = " ".join(
            f"[`{metric.name}`](#{metric.name}) {ARROWS[metric.better]}" for metric in members
        )
        lines.append(f"- {FAMILIES[family]}: {names}")
    return "\n".join(lines)


def families() -> Iterator[str]:
    """Every metric in full, by family and by the file it is defined in."""
    said: set[str] = set()
    for family, title in FAMILIES.items():
        kinds = [kind for kind in metric_types().values() if kind.family == family]
        if not kinds:
            continue
        yield f"## {title}" if " " in title else f"## {title} metrics"
        for module, members in groupby(kinds, key=lambda kind: kind.__module__):
            about = inspect.cleandoc(sys.modules[module].__doc__ or "")
            head, _, body = about.partition("\n\n")
            body = "" if module in said else body
            said.add(module)
            yield f"### {' '.join(head.split()).rstrip('.')}\n\n{markdown(body)}".strip()
            yield from (in_full(kind) for kind in members)


def in_full(kind: type[Metric]) -> str:
    """One metric: its definition, and what follows from the code."""
    metric = entry(kind)
    parts = [f"#### {metric.name}", markdown(metric.docstring)]
    facts = [f"{span(metric)} {ARROWS[metric.better]}"]
    if not issubclass(kind, Composite):
        facts[0] += f" · needs {needs(metric) or 'no judgements'}"
        facts += [f"Undefined: {', '.join(f'`{why}`' for why in undefined(kind))}"]
        facts += [f"Without rows: {value}" for value in without_rows(kind)]
    else:
        facts.append(f"Components: {components(kind)}")
    if metric.parameters:
        parameters = ", ".join(f"`{name}={value!r}`" for name, value in metric.parameters.items()
                          if not (name == "weights" and value))  # fmt: skip
        facts.append(f"Parameters: {parameters}")
    return "\n\n".join([*parts, "\n".join(f"- {fact}" for fact in facts)])


def entries() -> list[MetricEntry]:
    """What every metric says of itself, in the order of a report."""
    order = list(FAMILIES)
    kinds = sorted(metric_types().values(), key=lambda kind: order.index(kind.family))
    return [entry(kind) for kind in kinds]


def span(metric: MetricEntry) -> str:
    """The range in words."""
    return f"{range_in_words(metric)}{' (rate)' * metric.rate}"


def example_of(kind: type[Metric]) -> Metric:
    """The metric, with a parameter that it needs."""
    return kind(**NEEDED.get(kind.name, {}))


def needs(metric: MetricEntry) -> str:
    """The tables of judgements, each with who alone can fill it, where that is not a judge here."""
    kind = metric_types()[metric.name]
    made = example_of(kind)
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
    made = example_of(kind)
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
        for name, part in example_of(kind).parts().items()
        if not isinstance(part.empty, Undefined) and name == "value"
    }
    return sorted(values)


def components(kind: type[Composite]) -> str:
    """What it is made of, where its name says so."""
    if kind is Composite:
        return "those that `weights` names"
    return ", ".join(f"`{name}` {weight:g}" for name, weight in kind().terms)


def failures() -> str:
    """The stages of the failure waterfall, with their rules."""
    parts = [
        "## Where answers fail",
        "`ragstone show RUN --failures`, in Python `ragstone.analysis.failures(run)`, says at "
        "which stage of the pipeline answers first went wrong. "
        f"{LOOKS_BAD} {COUNTED} What does not "
        "look bad is *part of it* or *no fault*; beside it stand the faults of retrieval "
        "that these answers survived. Answers of a system that answers with the references are "
        "left out of all others. A stage that cannot be known is named with its reason, never "
        "counted as 0.",
    ]
    rows = ["| stage | an answer fails here where | told by |", "|---|---|---|"]
    for one in STAGES:
        told = ", ".join(f"[`{name}`](#{name})" for name in one.metrics) or "the example"
        rows.append(f"| {NAMES[one.code]} | {BECAUSE[one.code]} | {told} |")
    return "\n\n".join([*parts, "\n".join(rows)])


def suites() -> str:
    """Every suite with its metrics and conventions."""
    parts = ["## Suites", "Lists of metrics with their conventions: `--suite graphrag`."]
    quick = ", ".join(f"`{name}`" for name in QUICK_METRICS)
    parts += [
        "### Suite `quick`",
        "The default: every metric that the first block of examples and the judges allow, of "
        f"{quick}. A metric is left out if no example has a value, or if over a tenth of the "
        "examples lack a judgement that no judge can give.",
    ]
    for suite in SUITES.values():
        parts.append(f"### Suite `{suite.name}`")
        parts.append(f"{suite.about[0].upper()}{suite.about[1:]}.")
        parts.append(", ".join(f"`{name}`" for name in suite.names))
        said = [suite.conventions] if suite.conventions else []
        said += [f"grouped by {', '.join(f'`{field}`' for field in suite.by)}"] if suite.by else []
        if said:
            parts.append(f"Conventions: {'; '.join(said)}.")
        if read := [f"- {line}" for line in bands_of(suite)]:
            parts += ["How values are read:", "\n".join(read)]
    return "\n\n".join(parts)


def aliases() -> str:
    """Names of other tools, and what they are here."""
    parts = [
        "## Names of other tools",
        "Accepted everywhere, in any spelling: `NDCG@10`, `P_5`, `Hit Rate @ 3`, `RougeScore`, "
        "`context-recall`. A note says what they mean here.",
    ]
    meant: dict[tuple[str, str], list[str]] = {}
    for alias, said in ALIASES.items():
        meant.setdefault(said, []).append(f"`{alias}`")
    parts.append("\n".join(
        f"- {', '.join(names)}: [`{target}`](#{parse_metric(target).name}), {meaning}"
        for (target, meaning), names in meant.items()
    ))  # fmt: skip
    parts.append("No metric stands for these; the message says what is nearest.")
    absent: dict[str, list[str]] = {}
    for name, sentence in NEAREST.items():
        absent.setdefault(sentence, []).append(f"`{name}`")
    parts.append("\n".join(f"- {', '.join(names)}: {said}" for said, names in absent.items()))
    return "\n\n".join(parts)


def views() -> str:
    """What a rule of your own can name."""
    parts = ["## Views", "What a rule sees: one row per unit of an example, with these columns."]
    for view in VIEWS.values():
        about = " ".join(inspect.cleandoc(view.__doc__ or "").split()).rstrip(".")
        columns = "\n".join(f"- `{name}` {plain(str(fact.dtype))}: {fact.doc}"
                            for name, fact in view.columns.items())  # fmt: skip
        parts.append(f"### View `{view.__name__}`\n\n{about}.\n\n{columns}")
    return "\n\n".join(parts)


def plain(dtype: str) -> str:
    """``Enum(categories=['a', 'b'])`` to ``(a, b)``."""
    words = re.findall(r"'([^']+)'", dtype)
    return f"({', '.join(words)})" if dtype.startswith("Enum") else dtype


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
