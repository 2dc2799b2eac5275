"""A kind of a user's own, which comes along for a test and is gone after it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.judgements import KINDS, Kind, load_kinds
from ragstone.metrics import user_metrics as loading
from tests.registries import registries_restored

HERE = Path(__file__).parent


@pytest.fixture
def tone(registries: None) -> type[Kind]:  # noqa: ARG001
    """The kind of ``tone.py``."""
    (kind,) = load_kinds(HERE / "tone.py")
    return kind


@pytest.fixture(scope="module")
def kind(request: pytest.FixtureRequest) -> Iterator[type[Kind]]:
    """Each of our kinds, and that of a user's own."""
    with registries_restored():
        if request.param not in KINDS:
            load_kinds(HERE / f"{request.param}.py")
            loading.load_metrics(HERE / f"{request.param}_metrics.py")
        yield KINDS[request.param]
