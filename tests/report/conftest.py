"""Estimates and runs made by hand, for what shows them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragstone.metrics import parse_metric
from ragstone.report.page import Block, Page, Section
from ragstone.report.render.terminal import as_text
from ragstone.run.estimate import Estimate


@dataclass
class HandMadeRun:
    """What a page needs of a run."""

    estimate_list: tuple[Estimate, ...]
    manifest: dict[str, Any] = field(default_factory=dict)
    path: Path | None = Path("runs/cornwall")
    signature: str = "ragstone 0.1.0 · judge local/1 · data 4f1c22"
    exit_status: int = 0


def make_estimate(metric: str, value: float | None = None, **known: Any) -> Estimate:
    """An estimate of which only what matters is said."""
    made = parse_metric(metric)
    facts: dict[str, Any] = {
        "metric": metric,
        "family": made.family,
        "group": {},
        "value": value,
        "low": None,
        "high": None,
        "level": 0.95,
        "method": None,
        "n": 0 if value is None else 83,
        "n_undefined": 0,
        "n_missing": 0,
        "worst": None,
        "best": None,
        "better": made.range.better,
        "clusters": 83,
        "labels": {},
        "flags": {},
        "reasons": {},
        "signature": f"{metric} · local/1",
    }
    return Estimate(**(facts | known))


@pytest.fixture
def page_of() -> Callable[..., Page]:
    """A page of these blocks, under no heading."""

    def made(*blocks: Block, **known: Any) -> Page:
        facts: dict[str, Any] = {"name": "test", "title": "runs/a"} | known
        return Page(sections=tuple(Section((block,)) for block in blocks), **facts)

    return made


@pytest.fixture
def estimate() -> Callable[..., Estimate]:
    return make_estimate


@pytest.fixture
def made_run() -> Callable[..., HandMadeRun]:
    return HandMadeRun


@pytest.fixture
def text() -> Callable[..., str]:
    """What is printed at a width, without colours."""

    return lambda page, width=120: as_text(page, width)
