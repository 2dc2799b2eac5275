"""Worst page: the worst examples of a run, or of each metric; what ``ragstone show RUN`` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ragstone.report.command import command
from ragstone.report.dossier import dossiers
from ragstone.report.figures import ARROWS, number
from ragstone.report.groups import Groups, by_metric
from ragstone.report.page import (
    Note,
    Outline,
    OutlineItem,
    Page,
    Paragraphs,
    Phrase,
    Section,
    quiet,
    section,
    small_print,
    strong,
)
from ragstone.report.ranked import RULE, RankedExample, ranked
from ragstone.report.stored import StoredRun
from ragstone.report.why import why
from ragstone.report.worst import example_item, texts_of, worst
from ragstone.run.estimates.estimate import Estimate
from ragstone.run.folder.remote_folder import named

from .run_in_full import header


def worst_page(run: StoredRun, *, metrics: Sequence[str] = (), limit: int | None = None) -> Page:
    """The worst examples over all metrics together, or those of each metric that is named.

    Args:
        run: The run.
        metrics: Show the worst examples of each of these; if empty, those of the whole run.
        limit: The largest number of examples, or of examples for each metric.
    """
    some = {} if limit is None else {"limit": limit}
    return _by_metric(run, metrics, some) if metrics else _of_run(run, some)


def _of_run(run: StoredRun, some: Mapping[str, int]) -> Page:
    found = ranked(run, **some)
    examples = [_ranked_item(at, one) for at, one in enumerate(found.examples, 1)]
    none = "no example could be better" if found.metrics else "no metric says which are worse"
    items = tuple(examples) or (OutlineItem(quiet(none)),)
    ranking = (Note("ranked", RULE), Note("metrics", ", ".join(found.metrics) or "–"))
    known = {"ranked_by": {"rule": RULE, "metrics": list(found.metrics)},
             "worst": [asdict(one) for one in found.examples]}  # fmt: skip
    listed = Section((Outline(items),), (strong("Worst examples"),))
    return _page(run, [listed, small_print(ranking)], known)


def _by_metric(run: StoredRun, metrics: Sequence[str], some: Mapping[str, int]) -> Page:
    found = worst(run, metrics=metrics, **some)
    estimates = by_metric(run.estimate_list)
    dossiers_of = dossiers(run, {one.example_id for rows in found.values() for one in rows})
    reasons = {
        name: [why(dossiers_of[one.example_id], name) for one in rows]
        for name, rows in found.items()
    }
    sections = []
    for name, rows in found.items():
        items = tuple(
            example_item(one, label=one.label, system=one.system, reasons=why_low)
            for one, why_low in zip(rows, reasons[name], strict=True)
        )
        items = items or (OutlineItem(quiet(_none_listed(estimates[name]))),)
        arrow = ARROWS[estimates[name][0].better]
        sections.append(Section((Outline(items),), (strong(name), quiet(f" {arrow}"))))
    listed = {
        name: [
            asdict(one) | {"reasons": said} for one, said in zip(rows, reasons[name], strict=True)
        ]
        for name, rows in found.items()
    }
    return _page(run, sections, {"worst_by_metric": listed})


def _page(run: StoredRun, sections: Sequence[Section], known: Mapping[str, Any]) -> Page:
    shown = [section(header(run, Groups(run.estimate_list), "EXAMPLE")), *sections]
    if run.path is not None:
        more = (
            f"One of them in full: {command('show', named(run.path), 'EXAMPLE')}",
            f"The worst of a metric: {command('show', named(run.path), '--metric', 'METRIC')}",
        )
        shown.append(section(Paragraphs(tuple(map(quiet, more)))))
    return Page(
        "show", str(run.path or ""), tuple(shown),
        record=lambda: {
            "run": named(run.path),
            "signature": run.signature,
            "data": run.form.data.to_dict(),
            "judges": [judge.to_dict() for judge in run.form.judges],
            "estimates": [one.to_dict() for one in run.estimate_list],
            **known,
        },
    )  # fmt: skip


def _ranked_item(place: int, one: RankedExample) -> OutlineItem:
    """The example with its shortfall, the scores that are low, its texts and the reasons."""
    low = ", ".join(
        f"{score.metric} {number(score.value)}" + (f" {score.label}" if score.label else "")
        for score in one.low
    )
    head = (
        Phrase(one.example_id, "name", strong=True),
        quiet(f"  {one.system}"),
        f"  {number(one.shortfall)} below the best",
        quiet(f": {low}" if low else ""),
    )
    return OutlineItem(head, texts_of(one, one.reasons), lead=f"{place:>2}")


def _none_listed(estimates: Sequence[Estimate]) -> str:
    """Why no example is listed: all that have a score are as good as can be, or none has one."""
    whole = max(estimates, key=lambda one: one.n + one.n_undefined + one.n_missing)
    said = "no example could be better" if whole.n else "no example has a score"
    counts = {"undefined": 0 if whole.n else whole.n_undefined, "missing": whole.n_missing}
    lacking = " and ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)
    return f"{said} ({lacking})" if lacking else said
