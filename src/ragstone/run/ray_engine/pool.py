"""Pool: the workers of a run on a Ray cluster, one for each processor of its nodes.

A worker that is lost is begun again where there is room. What it was judging is told to have died
with it; what only waited for it goes to another.
"""

import os
import pickle
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ragstone.core.errors import CannotGoOn
from ragstone.core.messages import reason

from .connection import takes_connections
from .shard_worker import Assignment, Brief, Node, ShardTask, Tables, this_node

# Seconds for which the head of a cluster may not answer.
AWAY = 20.0
# Seconds between two looks at how large the cluster is.
LOOK = 2.0
# Attempts to begin a worker, while there is none, before the run ends.
TRIES = 5
# The longest wait before others are begun, as a multiple of ``rest``.
LONGEST_REST = 64
# Shards of a worker: one that it judges, and one so that it need not wait for the next.
IN_HAND = 2


@dataclass(frozen=True, slots=True)
class Made:
    """A shard was made; its tables are fetched when they are wanted."""

    task: ShardTask
    brief: Brief
    tables: Any


@dataclass(frozen=True, slots=True)
class Died:
    """A worker died."""

    judging: list[ShardTask]
    waiting: list[ShardTask]
    why: str


@dataclass(slots=True, eq=False)
class _Worker:
    handle: Any
    ready: Any
    node: Node | None = None
    # References to what comes back, in the order in which it was asked for.
    tasks: "deque[tuple[Any, Any, ShardTask]]" = field(default_factory=deque)


class Pool:
    """The workers."""

    def __init__(self, ray: Any, assignment: Assignment, relay: Any, rest: float = 0.5) -> None:
        self._ray = ray
        self._assignment = ray.put(pickle.dumps(assignment))
        self._relay = relay
        # What asks models waits most of the time, so two shards go on beside each other.
        self._at_once = 1 if relay is None else IN_HAND
        self._class = ray.remote(_process_of_a_worker())
        self._workers: list[_Worker] = []
        self._rest = rest
        self._failed, self._rest_until = 0, 0.0
        self._look_at = 0.0
        self._away_since: float | None = None

    def __len__(self) -> int:
        return sum(worker.node is not None for worker in self._workers)

    def fill(self) -> None:
        """Begin workers until there is one for each processor of the cluster."""
        now = time.monotonic()
        if now < max(self._look_at, self._rest_until):
            return
        self._look_at = now + LOOK
        if not self._answers(now):
            return
        processors = int(self._ray.cluster_resources().get("CPU", 0))
        for _ in range(max(1, processors) - len(self._workers)):
            handle = self._class.options(
                num_cpus=1, max_restarts=0, max_concurrency=self._at_once
            ).remote(self._assignment, self._relay)
            self._workers.append(_Worker(handle, handle.node.remote()))

    def _answers(self, now: float) -> bool:
        if takes_connections(self._ray.get_runtime_context().gcs_address):
            self._away_since = None
            return True
        self._away_since = now if self._away_since is None else self._away_since
        if now - self._away_since >= AWAY:
            raise CannotGoOn(
                "The head of the Ray cluster does not answer any more. What is judged is kept: "
                "start the cluster again; then run the same command again."
            )
        return False

    def free(self) -> int:
        ready = (worker for worker in self._workers if worker.node is not None)
        return sum(IN_HAND - len(worker.tasks) for worker in ready)

    def give(self, task: ShardTask) -> None:
        """Give a shard to the worker with the least to do."""
        ready = [worker for worker in self._workers if worker.node is not None]
        worker = min(ready, key=lambda candidate: len(candidate.tasks))
        reads = worker.node is not None and worker.node.has_file and task.may_be_read
        sent = task.without_bytes() if reads else task
        brief, tables = worker.handle.make.options(num_returns=2).remote(sent)
        worker.tasks.append((brief, tables, task))

    def events(self, seconds: float) -> "Iterator[Made | Died]":
        """Wait for events for so many seconds, and return them."""
        waited = {worker.ready: worker for worker in self._workers if worker.node is None}
        waited |= {task[0]: worker for worker in self._workers for task in worker.tasks}
        refs, wait = list(waited), partial(self._ray.wait, fetch_local=False)
        done = wait(refs, timeout=seconds)[0] if refs else []
        if done:
            done, _ = wait(refs, num_returns=len(refs), timeout=0)
        for ref in done:
            worker = waited[ref]
            if worker in self._workers:
                yield from self._told(worker, ref)

    def fetched(self, tables: Any) -> Tables | None:
        """The tables of a shard; None if they were lost with their node."""
        try:
            content: Tables = self._ray.get(tables)
        except self._ray.exceptions.RayError:
            return None
        return content

    def close(self) -> None:
        for worker in self._workers:
            self._ray.kill(worker.handle)
        self._workers = []

    def _told(self, worker: _Worker, ref: Any) -> "Iterator[Made | Died]":
        try:
            result = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            raise (error.cause if isinstance(error.cause, BaseException) else error) from error
        except self._ray.exceptions.RayError as error:
            yield self._lost(worker, error)
            return
        if isinstance(result, Node):
            worker.node = result
            _check_alike(result)
            self._failed = 0
            return
        at = next(number for number, entry in enumerate(worker.tasks) if entry[0] == ref)
        _, tables, task = worker.tasks[at]
        del worker.tasks[at]
        if result.unread and worker.node is not None:
            worker.node = replace(worker.node, has_file=False)
        yield Made(task, result, tables)

    def _lost(self, worker: _Worker, error: Exception) -> Died:
        self._workers.remove(worker)
        self._look_at = 0.0
        if worker.node is None:
            self._did_not_begin(error)
        memory = isinstance(error, self._ray.exceptions.OutOfMemoryError)
        why = reason("worker_out_of_memory" if memory else "worker_ended")
        tasks = [task for _, _, task in worker.tasks]
        return Died(tasks[: self._at_once], tasks[self._at_once :], why)

    def _did_not_begin(self, error: Exception) -> None:
        """Wait longer and longer before others are begun, and give up if none ever begins."""
        if "ModuleNotFoundError" in str(error):
            missing = str(error).rpartition("ModuleNotFoundError: ")[2].splitlines()[0]
            raise CannotGoOn(
                f"A node of the cluster cannot run this: {missing}. Install the same packages on "
                "all nodes."
            )
        if time.monotonic() < self._rest_until:
            return  # Of those that were begun together, the first counted.
        self._failed += 1
        self._rest_until = time.monotonic() + min(2**self._failed, LONGEST_REST) * self._rest
        if self._failed >= TRIES and not len(self):
            last = str(error).strip().splitlines()[-1].strip()
            raise CannotGoOn(
                f"No worker begins on the cluster, though it was tried {TRIES} times: {last} Look "
                "at its nodes; then run the same command again."
            )


def _process_of_a_worker() -> type:
    """Return the class of a worker's process, which begins before anything of Ragstone is imported
    there.

    Defined in here, it is pickled as it stands. So Polars is told in time how many threads it has;
    a process with an environment of its own would take a second longer to begin.
    """

    class RagstoneWorker:
        def __init__(self, assignment: bytes, relay: Any) -> None:
            os.environ["POLARS_MAX_THREADS"] = "1"
            from .shard_worker import ShardWorker

            self._worker = ShardWorker(pickle.loads(assignment), relay)

        def node(self) -> Any:
            return self._worker.node()

        def make(self, task: Any) -> Any:
            return self._worker.make(task)

    return RagstoneWorker


def _check_alike(node: Node) -> None:
    on_node, here = node.versions, this_node().versions
    unlike = [name for name in here if on_node.get(name) != here[name]]
    if unlike:
        listed = "; ".join(f"{name} {on_node.get(name)}, here {here[name]}" for name in unlike)
        raise CannotGoOn(
            f"The node {node.host} has {listed}. Install the same versions on all nodes."
        )
