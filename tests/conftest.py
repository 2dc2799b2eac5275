"""Fixtures that several test files share."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from hypothesis import HealthCheck, settings
from hypothesis.internal import charmap
from hypothesis.internal.intervalsets import IntervalSet
from typer.main import get_command

from ragstone.core.errors import MissingDependency, ModelError
from ragstone.core.python_runtime import relax_garbage_collector
from ragstone.models.download import PLACE, fetch_builtin, to_stderr
from ragstone.models.model_store import checked
from tests.availability import import_or_skip, unavailable
from tests.programs.postgres import NoPostgres, PostgresServer, server_of_its_own
from tests.project import ROOT
from tests.registries import registered, registries_restored

settings.register_profile(
    "any machine", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")
"""A busy machine is slow now and then, which says nothing about the code."""

CHARACTERS = (IntervalSet([(0, 0xD7FF), (0xE000, sys.maxunicode)]), IntervalSet([]))
tried = charmap.intervals_from_codec
encodable = lambda codec: CHARACTERS if codec == "utf-8" else tried(codec)  # noqa: E731
charmap.intervals_from_codec = encodable  # type: ignore[assignment]
"""What UTF-8 encodes is known; to try a million characters takes each worker seconds."""

USERS_CACHE = os.environ.get("RAGSTONE_CACHE")
MARKS = {
    "browser": ("chromium",),
    "postgres": ("postgres", "own_postgres"),
    "ray": ("ray_cluster",),
    "shared": ("shared",),
}
"""Marks, and the fixtures that a test with the mark uses."""

STARTED = {"chromium", "ray_cluster", "s3_address", "minilm"}
"""Fixtures that every worker would have to start for itself, which takes seconds."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they use, or by a parameter that names it.

    Files with tests that use one of ``STARTED``, or torch, come first, so one worker gets them.
    """
    started = set()
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        used = {*item.fixturenames, *(name for name in parameters if isinstance(name, str))}
        for mark, fixtures in MARKS.items():
            if used.intersection(fixtures):
                item.add_marker(mark)
        if used.intersection(STARTED) or item.get_closest_marker("torch"):
            started.add(item.path)
    items.sort(key=lambda item: item.path not in started)


def pytest_collection_finish() -> None:
    """Exempt all tests from garbage collection, which takes a second for 21,000 of them."""
    gc.freeze()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name packed bytes by their parameter: gzip holds the time, which each worker reads anew."""
    return argname if isinstance(val, bytes) and not val.isascii() else None


relax_garbage_collector()
typer.testing._get_command = cache(get_command)  # type: ignore[attr-defined]
"""What takes long in every test: to look over all of 19,000, and to make 60 commands anew."""


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden vectors and human-labelled data beside the project.

    RAGSTONE_SHARED names another folder, or with "none" leaves out what needs one.
    """
    folder = Path(os.environ.get("RAGSTONE_SHARED") or ROOT.parent / "shared")
    if not (folder / "data").is_dir():
        pytest.skip("needs the human-labelled data in ../shared, which is not part of the project")
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache_of_these_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test touches the user's cache: models and embeddings of tests have one of their own."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGSTONE_CACHE", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def no_registry_changes() -> Iterator[None]:
    """Fail a test after which a later one would find other kinds, metrics or files of a user."""
    before = registered()
    with registries_restored():
        yield
        after = registered()[: len(before)]
    assert after == before, "it registers kinds or metrics: let it use the fixture `registries`"


@pytest.fixture
def registries() -> Iterator[None]:
    """A test may register kinds and metrics, which are taken back after it."""
    with registries_restored():
        yield


@contextmanager
def postgres_server(*, synced: bool) -> Iterator[PostgresServer]:
    """A PostgreSQL server of one's own."""
    import_or_skip("psycopg")
    try:
        with server_of_its_own(synced=synced) as server:
            yield server
    except NoPostgres as error:
        unavailable(str(error))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server that tests share, each with a database of its own; it does not wait for the disk."""
    with postgres_server(synced=False) as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that other tests do not need, for it is killed."""
    with postgres_server(synced=True) as server:
        yield server


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of builtin:minilm in the user's cache, fetched once where it is not there."""
    with pytest.MonkeyPatch.context() as patch:
        if USERS_CACHE is None:
            patch.delenv("RAGSTONE_CACHE")
        else:
            patch.setenv("RAGSTONE_CACHE", USERS_CACHE)
        try:
            return checked(fetch_builtin(note=to_stderr)).folder
        except (ModelError, MissingDependency) as error:
            unavailable(f"needs builtin:minilm, which could not be fetched: {error}")


@pytest.fixture
def minilm_by_name(minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own in which builtin:minilm is there; its folder."""
    cache = tmp_path / "cache"
    (cache / "models").mkdir(parents=True)
    (cache / "models" / PLACE).symlink_to(minilm, target_is_directory=True)
    monkeypatch.setenv("RAGSTONE_CACHE", str(cache))
    return cache
