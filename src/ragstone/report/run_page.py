"""Page: what a run found, on one page: who judged, every estimate, the small print."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from rich.console import Group, RenderableType
from rich.text import Text

from ragstone.run.estimate import Estimate

from .calls import took
from .distribution import distributions
from .facts import DIM, HEAD, Facts
from .figures import METHODS, counted, in_percent, known_suites, plain_reason
from .groups import Groups, by_metric
from .slices import SliceTable
from .table import EstimateTable


class Reported(Protocol):
    """What a page needs of a run."""

    @property
    def path(self) -> Path | None: ...
    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def estimate_list(self) -> Sequence[Estimate]: ...
    @property
    def signature(self) -> str: ...


def run_page(run: Reported) -> RenderableType:
    """Header, a table for the systems, one for each field, distributions, small print."""
    groups = Groups(run.estimate_list)
    suites = tuple(run.manifest.get("suites", ()))
    parts: list[RenderableType] = [header(run, groups)]
    if groups.whole:
        parts.append(EstimateTable(groups.whole_and_all, suites))
        parts += distributions(groups.whole)
    else:
        parts.append(Text("No metric was asked for that this data allows."))
    for field in groups.fields:
        parts.append(SliceTable(field, groups.sliced(field), suites))
    parts.append(footer(run, groups))
    return Group(*_spaced(parts))


def header(run: Reported, groups: Groups) -> RenderableType:
    """What was evaluated, who judged, where it lies and how to look on."""
    manifest = run.manifest
    data = manifest.get("data", {})
    counts = [counted(data.get("examples", 0), "row")]
    if "questions" in data:
        counts.append(counted(data["questions"], "question"))
    if groups.systems:
        one = len(groups.systems) == 1
        counts.append(f"system {groups.systems[0]}" if one else f"{len(groups.systems)} systems")
    what = Text.assemble((str(data.get("source", "")), HEAD), f"  {' · '.join(counts)}")
    rows: list[tuple[str, Text]] = [("evaluated", what)]
    for judge in manifest.get("judges", ()):
        kinds = ", ".join(judge["kinds"])
        if kinds:
            said = Text.assemble((str(judge["name"]), HEAD), f"  {judge['about']}")
            rows.append(("judged by", said.append(f"  ({kinds})", DIM)))
    if manifest.get("calls"):
        rows.append(("asked", Text(took(manifest["calls"]))))
    if run.path is not None:
        look = (f"  look on: ragstone show {run.path}", DIM)
        rows.append(("run", Text.assemble((str(run.path), HEAD), look)))
    return Facts(rows)


def footer(run: Reported, groups: Groups) -> RenderableType:
    """How the intervals were made, what was flagged, and the signature."""
    rows: list[tuple[str, Text]] = []
    used = dict.fromkeys(one.method for one in groups.whole_and_all if one.method)
    for method in used:
        word, about = METHODS.get(method, (method, ""))
        rows.append(("intervals", Text.assemble((word, HEAD), f"  {about}")))
    rows += [("reading", Text(line)) for line in _reading(run, groups)]
    needs = {
        plain_reason(reason).split(": ")[-1]: None
        for one in run.estimate_list
        for reason in one.reasons
        if " needs " in reason
    }
    rows += [("missing", Text(need)) for need in needs]
    flags = _flagged(groups)
    if flags:
        told = " · ".join(f"{name} {counted(count, 'row')}" for name, count in flags.items())
        rows.append(("flags", Text(f"{told}  (their scores stand on a convention)")))
    data = run.manifest.get("data", {})
    broken = data.get("label_violations") or {}
    if broken:
        told = " · ".join(f"{name} {count:,}" for name, count in broken.items())
        rows.append(("labels", Text(f"{told}  (rules that labels of people break)")))
    if data.get("rejected"):
        rows.append(("rejected", Text(f"{counted(data['rejected'], 'row')} could not be read")))
    rows.append(("signature", Text(run.signature)))
    return Facts([(name, _dimmed(shown)) for name, shown in rows])


def _reading(run: Reported, groups: Groups) -> list[str]:
    suites = run.manifest.get("suites", ())
    lines = ["↑ more is better, ↓ less is better, · neither"]
    if in_percent(suites):
        lines[0] += "; values in percent"
    for suite in known_suites(suites):
        if suite.conventions:
            lines.append(f"{suite.name}: {suite.conventions}")
        if suite.bands:
            told = ", ".join(f"{word} from {least:g}" for least, word in suite.bands[:-1])
            lines.append(f"{suite.name}: {told}, else {suite.bands[-1][1]}; 1 - value where ↓")
    if any(one.n_missing and one.value is not None for one in groups.whole):
        lines.append("worst–best: what the mean could be if the missing scores were known")
    return lines


def _dimmed(shown: Text) -> Text:
    shown.stylize_before(DIM)
    return shown


def _flagged(groups: Groups) -> dict[str, int]:
    """How many rows a flag stands at, in the metric that has it most."""
    most: Counter[str] = Counter()
    for ones in by_metric(groups.whole).values():
        flags = Counter[str]()
        for one in ones:
            flags.update(one.flags)
        most |= flags
    return dict(sorted(most.items()))


def _spaced(parts: Iterable[RenderableType]) -> list[RenderableType]:
    return [line for part in parts for line in (part, Text())]
