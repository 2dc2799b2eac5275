"""Workers that do not begin are not begun for ever, and what ends the run is said."""

from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.errors import CannotGoOn
from ragstone.run.cluster import pool as pool_file
from ragstone.run.cluster.pool import TRIES, HeadAway, Pool
from ragstone.run.cluster.worker import Node, this_node


class RayError(Exception):
    """As Ray's."""


class RayTaskError(RayError):
    """As Ray's."""


class Ref:
    """To what comes back, or is raised."""

    def __init__(self, outcome: Node | Exception) -> None:
        self.outcome = outcome


class Ray:
    """A cluster of two processors whose workers begin as ``begins`` says."""

    exceptions = SimpleNamespace(
        RayError=RayError, RayTaskError=RayTaskError, OutOfMemoryError=MemoryError
    )

    def __init__(self, *begins: Node | Exception) -> None:
        self.begins, self.begun = list(begins), 0

    def get_runtime_context(self) -> Any:
        return SimpleNamespace(gcs_address="head:6379")

    def put(self, value: Any) -> Any:
        return value

    def remote(self, made: type) -> Any:  # noqa: ARG002
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self.begin))

    def begin(self, *_: Any) -> Any:
        self.begun += 1
        outcome = self.begins.pop(0) if len(self.begins) > 1 else self.begins[0]
        node = SimpleNamespace(remote=lambda: Ref(outcome))
        return SimpleNamespace(node=node)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def wait(self, refs: list[Any], **_: Any) -> Any:
        return refs, []

    def get(self, ref: Ref) -> Node:
        if isinstance(ref.outcome, Exception):
            raise ref.outcome
        return ref.outcome

    def kill(self, handle: Any) -> None:
        """Nothing runs."""


@pytest.fixture(autouse=True)
def _head_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_file, "takes_connections", lambda _: True)


def pool_of(ray: Ray) -> Pool:
    assignment: Any = "what they are told"
    return Pool(ray, assignment, None, rest=0)


def begin(pool: Pool, times: int) -> None:
    for _ in range(times):
        pool.fill()
        list(pool.events(0))


def test_workers_that_never_begin_end_the_run_with_the_reason() -> None:
    ray = Ray(RayError("The actor died:\n  File worker.py\nImportError: no shared library."))
    with pytest.raises(CannotGoOn, match=rf"tried {TRIES} times: ImportError: no shared library\."):
        begin(pool_of(ray), 100)
    assert ray.begun <= 2 * TRIES


def test_a_worker_that_begins_is_what_counts() -> None:
    died = RayError("The node was taken away.")
    pool = pool_of(Ray(*[died] * (TRIES - 1), this_node()))
    begin(pool, 10)
    assert len(pool) == 2
    pool = pool_of(Ray(this_node(), died))
    begin(pool, 10 * TRIES)
    assert len(pool) == 1


def test_what_does_not_begin_is_not_tried_again_at_once() -> None:
    ray, assignment = Ray(RayError("x")), "what they are told"
    pool = Pool(ray, assignment, None, rest=100)  # type: ignore[arg-type]
    begin(pool, 10)
    assert ray.begun == 2


def test_a_head_that_does_not_answer_any_more_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = pool_of(Ray(this_node()))
    monkeypatch.setattr(pool_file, "LOOK", 0)
    begin(pool, 2)
    monkeypatch.setattr(pool_file, "takes_connections", lambda _: False)
    begin(pool, 2)
    assert len(pool) == 2, "it may come back"
    monkeypatch.setattr(pool_file, "AWAY", 0)
    with pytest.raises(HeadAway, match="does not answer any more"):
        begin(pool, 1)


def test_a_node_without_a_package_or_with_another_version_is_named() -> None:
    lacking = RayError("…\nModuleNotFoundError: No module named 'ragstone'\nmore")
    with pytest.raises(CannotGoOn, match="cannot run this: No module named 'ragstone'"):
        begin(pool_of(Ray(lacking)), 1)
    here = this_node()
    other = Node("far", {**here.versions, "polars": "0.1"})
    with pytest.raises(CannotGoOn, match=r"The node far has polars 0\.1, here"):
        begin(pool_of(Ray(other)), 1)
