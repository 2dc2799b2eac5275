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

from .run import header


def worst_page(run: StoredRun, *, metrics: Sequence[str] = (), limit: int = SHOWN) -> Page:
    """The header of the run, then the worst examples of each metric with question and answer."""
    found = worst(run, metrics=metrics, limit=limit)
    arrows = {name: ARROWS[ones[0].better] for name, ones in by_metric(run.estimate_list).items()}
    sections = [section(header(run, Groups(run.estimate_list)))]
    for name, rows in found.items():
        items = tuple(example_item(one, label=one.label, system=one.system) for one in rows)
        items = items or (OutlineItem(quiet("no example could be better")),)
        sections.append(Section((Outline(items),), (strong(name), quiet(f" {arrows[name]}"))))
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
