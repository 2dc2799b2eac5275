"""Logged: scores as lines of the logger ``ragstone``; who wants to see them sets its level."""

from collections.abc import Mapping
from logging import DEBUG, INFO, getLogger

from ragstone.core.escape import on_one_line

from .run import Run

LOGGER = getLogger("ragstone")


def log_run(run: Run) -> None:
    """Log a finished run at INFO: name, number of examples, the means by system."""
    if not LOGGER.isEnabledFor(INFO):
        return
    means: dict[str, list[str]] = {}
    for one in run.estimate_list:
        if one.group.keys() == {"system"}:
            means.setdefault(one.metric, []).append(f"{one.group['system']}={_shown(one.value)}")
    said = "; ".join(f"{metric}: {', '.join(values)}" for metric, values in means.items())
    LOGGER.info("%s", on_one_line(f"{run.path.name}: {run.form.data.examples} examples; {said}"))


def log_one(scores: Mapping[str, float | None]) -> None:
    """Log the scores of a single example at DEBUG."""
    if LOGGER.isEnabledFor(DEBUG):
        said = "; ".join(f"{metric}: {_shown(value)}" for metric, value in scores.items())
        LOGGER.debug("%s", on_one_line(f"evaluate_one: {said}"))


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.4g}"
