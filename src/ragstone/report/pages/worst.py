"""Worst page: the worst examples of each metric; what ``ragstone show RUN`` prints."""

from collections.abc import Sequence
from dataclasses import asdict

from ragstone.report.command import command
from ragstone.report.figures import ARROWS
from ragstone.report.groups import Groups, by_metric
from ragstone.report.page import (
    Outline,
    OutlineItem,
    Page,
    Paragraphs,
    Section,
    quiet,
    section,
    strong,
)
from ragstone.report.stored import StoredRun
from ragstone.report.worst import SHOWN, example_item, worst
from ragstone.run.estimate import Estimate

from .run import header


def worst_page(run: StoredRun, *, metrics: Sequence[str] = (), limit: int = SHOWN) -> Page:
    """The header of the run, then the worst examples of each metric with question and answer."""
    found = worst(run, metrics=metrics, limit=limit)
    estimates = by_metric(run.estimate_list)
    sections = [section(header(run, Groups(run.estimate_list)))]
    for name, rows in found.items():
        items = tuple(example_item(one, label=one.label, system=one.system) for one in rows)
        items = items or (OutlineItem(quiet(_none_listed(estimates[name]))),)
        arrow = ARROWS[estimates[name][0].better]
        sections.append(Section((Outline(items),), (strong(name), quiet(f" {arrow}"))))
    if run.path is not None:
        more = f"One of them in full: {command('show', run.path, 'EXAMPLE')}"
        sections.append(section(Paragraphs((quiet(more),))))
    return Page(
        "show", str(run.path or ""), tuple(sections),
        record=lambda: {
            "run": str(run.path),
            "signature": run.signature,
            "data": run.form.data.to_dict(),
            "judges": [judge.to_dict() for judge in run.form.judges],
            "estimates": [one.to_dict() for one in run.estimate_list],
            "worst": {name: [asdict(one) for one in rows] for name, rows in found.items()},
        },
    )  # fmt: skip


def _none_listed(estimates: Sequence[Estimate]) -> str:
    """Why no example is listed: all that have a score are as good as can be, or none has one."""
    whole = max(estimates, key=lambda one: one.n + one.n_undefined + one.n_missing)
    said = "no example could be better" if whole.n else "no example has a score"
    counts = {"undefined": 0 if whole.n else whole.n_undefined, "missing": whole.n_missing}
    lacking = " and ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)
    return f"{said} ({lacking})" if lacking else said
