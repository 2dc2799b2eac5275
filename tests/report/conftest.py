"""Estimates and runs made by hand, for what shows them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import Context, Example, Turn
from ragstone.data.record_labels import Unit
from ragstone.judgements import KINDS
from ragstone.metrics import parse_metric
from ragstone.report.page import Block, Page, Section
from ragstone.report.render.terminal import as_text
from ragstone.report.run_contents import (
    PLACES,
    Dossier,
    ExampleScore,
    JudgedPart,
    JudgementRow,
    asks_about,
)
from ragstone.run.folder.schemas import NO_DATA, Estimate, JudgeForm, Manifest


@dataclass
class HandMadeRun:
    """What a page needs of a run."""

    estimate_list: tuple[Estimate, ...]
    manifest: dict[str, Any] = field(default_factory=dict)
    """Of its manifest what matters."""
    path: Path = Path("runs/cornwall")
    signature: str = "ragstone 0.1.0 · judge local/1 · data 4f1c22"
    exit_status: int = 0
    is_temporary: bool = False

    @property
    def form(self) -> Manifest:
        said = self.manifest
        return Manifest.model_construct(
            suites=said.get("suites", []),
            judges=[JudgeForm(**judge) for judge in said.get("judges", ())],
            data=NO_DATA.model_copy(update=said.get("data", {})),
            calls=said.get("calls"),
        )


def dossier_of(**known: Any) -> Dossier:
    """A dossier of which only what matters is given, in the words of its JSON."""

    def row(kind: str, values: dict[str, Any]) -> JudgementRow:
        return JudgementRow(KINDS[kind], {"reason": None, "judge": "m", **values})

    def rows(kind: str, said: Any) -> tuple[JudgementRow, ...]:
        found = said if isinstance(said, list) else [said] if said else []
        return tuple(row(kind, one) for one in found)

    def part(unit: Unit, one: dict[str, Any]) -> JudgedPart:
        said = {ask.kind: rows(ask.kind, one.get(ask.kind)) for ask in asks_about(unit)}
        several = [kind for kind in said if isinstance(one.get(kind), list)]
        own = {name: value for name, value in one.items() if name not in said}
        at = one.get("rank", one.get("index", 0))
        return JudgedPart(at, one.get("text"), own, said, several, one.get("reference", 0))

    contexts = known.get("contexts", [])
    return Dossier(
        Example(
            id=known.get("id", "q1"),
            question_id="q1",
            system="a",
            question="How long?",
            contexts=None
            if contexts is None
            else tuple(
                Context(one.get("id", ""), one.get("text"), one["rank"], one.get("score"))
                for one in contexts
            ),
            answer=known.get("answer", "90 m."),
            reference=tuple(known.get("reference", ())),
            history=tuple(Turn(**turn) for turn in known.get("history", ())),
            policy=known.get("policy"),
            slices=known.get("slices", {}),
            labels=known.get("labels", {}),
        ),
        {
            unit: tuple(part(unit, one) for one in known.get(place) or ())
            for unit, place in PLACES.items()
        },
        {
            kind: tuple(row(kind, one) for one in found)
            for kind, found in known.get("judgements", {}).items()
        },
        tuple(ExampleScore(**score) for score in known.get("scores", ())),
        tuple(known.get("calls", ())),
    )


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
def found() -> Callable[..., Dossier]:
    return dossier_of


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
