"""A kind of a user's own, which comes along for a test and is gone after it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ragstone.examples.labels import LABELS, RULES
from ragstone.judgements import ASKS, KINDS, VIEWS, Kind, load_kinds
from ragstone.metrics import loading

HERE = Path(__file__).parent


@contextmanager
def forgotten_after() -> Iterator[None]:
    """What is made known inside is forgotten after it."""
    known: list[dict[Any, Any]] = [KINDS, ASKS, RULES, *LABELS.values(), loading._OWN]
    known += [part for view in VIEWS.values() for part in (view.columns, view.taken)]
    before = [(one, dict(one)) for one in known]
    modules = set(sys.modules)
    yield
    for one, was in before:
        one.clear()
        one.update(was)
    for name in set(sys.modules) - modules:
        if name.startswith("ragstone_own_"):
            del sys.modules[name]


@pytest.fixture
def nothing_stays() -> Iterator[None]:
    """What a test makes known is forgotten after it."""
    with forgotten_after():
        yield


@pytest.fixture
def tone(nothing_stays: None) -> type[Kind]:  # noqa: ARG001
    """The kind of ``tone.py``."""
    (kind,) = load_kinds(HERE / "tone.py")
    return kind


@pytest.fixture(scope="module")
def kind(request: pytest.FixtureRequest) -> Iterator[type[Kind]]:
    """Each of our kinds, and that of a user's own."""
    with forgotten_after():
        if request.param not in KINDS:
            load_kinds(HERE / f"{request.param}.py")
            loading.load_metrics(HERE / f"{request.param}_metrics.py")
        yield KINDS[request.param]
