"""Workers that do not begin are not begun for ever, and what ends the run is said."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.core.errors import CannotGoOn
from ragstone.data.line_ranges import START, LinePlace, Lines
from ragstone.run.ray_engine import pool as pool_file
from ragstone.run.ray_engine.pool import TRIES, Made, Pool
from ragstone.run.ray_engine.shard_worker import Brief, Node, ShardTask, this_node


class RayError(Exception):
    """As Ray's."""


class RayTaskError(RayError):
    """As Ray's."""


class Ref:
    """To what comes back, or is raised."""

    def __init__(self, outcome: Node | Brief | Exception) -> None:
        self.outcome = outcome


class Ray:
    """A cluster of two processors whose workers begin as ``begins`` says."""

    exceptions = SimpleNamespace(
        RayError=RayError, RayTaskError=RayTaskError, OutOfMemoryError=MemoryError
    )

    def __init__(self, *begins: Node | Exception) -> None:
        self.begins, self.begun = list(begins), 0
        self.made: list[ShardTask] = []

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
        made = SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self.make))
        return SimpleNamespace(node=node, make=made)

    def make(self, task: ShardTask) -> tuple[Ref, Ref]:
        self.made.append(task)
        brief = Brief(
            task.shard, 1, {}, {}, unread=isinstance(task.data, Lines) and not task.data.text
        )
        return Ref(brief), Ref(brief)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def wait(self, refs: list[Any], **_: Any) -> Any:
        return refs, []

    def get(self, ref: Ref) -> Node | Brief:
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


def test_a_head_that_does_not_answer_any_more_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of(Ray(this_node()))
    monkeypatch.setattr(pool_file, "LOOK", 0)
    begin(pool, 2)
    monkeypatch.setattr(pool_file, "takes_connections", lambda _: False)
    begin(pool, 2)
    assert len(pool) == 2, "it may come back"
    monkeypatch.setattr(pool_file, "AWAY", 0)
    with pytest.raises(CannotGoOn, match="does not answer any more"):
        begin(pool, 1)


def test_a_node_without_a_package_or_with_another_version_is_named() -> None:
    lacking = RayError("…\nModuleNotFoundError: No module named 'ragstone'\nmore")
    with pytest.raises(CannotGoOn, match="cannot run this: No module named 'ragstone'"):
        begin(pool_of(Ray(lacking)), 1)
    here = this_node()
    other = Node("far", {**here.versions, "polars": "0.1"})
    with pytest.raises(CannotGoOn, match=r"The node far has polars 0\.1, here"):
        begin(pool_of(Ray(other)), 1)


def test_lines_are_sent_to_a_node_that_lacks_their_file_or_finds_another() -> None:
    plain = Lines("rows.jsonl", b"{}\n", START, LinePlace(1, 1, 3), plain=True)
    tasks = [ShardTask(0, plain), ShardTask(1, replace(plain, plain=False))]

    def sent(node: Node) -> list[list[bytes]]:
        ray = Ray(node)
        ray.cluster_resources = lambda: {"CPU": 1.0}  # type: ignore[method-assign]
        pool = pool_of(ray)
        begin(pool, 1)
        found = []
        for _ in range(2):
            for task in tasks:
                pool.give(task)
            told = list(pool.events(0))
            assert [one.task for one in told if isinstance(one, Made)] == tasks
            found.append([task.data.text for task in ray.made if isinstance(task.data, Lines)])
            ray.made.clear()
        return found

    assert sent(this_node()) == [[b"{}\n", b"{}\n"]] * 2
    assert sent(replace(this_node(), has_file=True)) == [[b"", b"{}\n"], [b"{}\n", b"{}\n"]]
