"""A Ray cluster of several nodes on this machine, whose parts can be killed.

No script, but what tests run: it is in a process of its own, and each node has its
own raylet and one logical processor.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

HEARTBEAT = {"health_check_period_ms": 500, "health_check_failure_threshold": 3,
             "health_check_timeout_ms": 500, "health_check_initial_delay_ms": 500}  # fmt: skip
"""A node that is silent for two seconds is taken for dead; by Ray's own settings it is later."""
HEAD = {"num_cpus": 1, "include_dashboard": False, "no_monitor": True, "include_log_monitor": False}
"""A head without the parts that only inform people or enlarge the cluster."""


class RayNodes:
    """The cluster at an address, run by a process that takes commands."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = self._reply()

    def add(self) -> None:
        """Add a node."""
        self._say("add")

    def remove(self) -> None:
        """Kill the youngest node and all its processes."""
        self._say("remove")

    def silence(self) -> None:
        """Stop the raylet of the youngest node, without ending it."""
        self._say("silence")

    def _say(self, command: str) -> None:
        print(command, file=self._process.stdin, flush=True)
        self._reply()

    def _reply(self) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("told "):
                return line.split()[1]
        raise RuntimeError("The cluster ended.")


@contextmanager
def ray_nodes(nodes: int) -> Iterator[RayNodes]:
    """A cluster with so many nodes, ended at the end."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(nodes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            yield RayNodes(process)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def processes(title: str, address: str) -> list[int]:
    """The processes of a cluster whose title begins so, such as ``ray::RagstoneWorker``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                named = (entry / "cmdline").read_bytes().startswith(title.encode())
                parent = (entry / "stat").read_text().rpartition(") ")[2].split()[1]
                begun_by = Path(f"/proc/{parent}/cmdline").read_bytes() if named else b""
            except OSError:
                continue
            if address.encode() in begun_by:
                found.append(int(entry.name))
    return sorted(found)


def kill(pid: int) -> None:
    """End a process at once, if it is there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def main() -> None:
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True,
        head_node_args=HEAD | {"_system_config": HEARTBEAT},
    )
    nodes: list[Any] = [cluster.add_node(num_cpus=1) for _ in range(int(sys.argv[1]) - 1)]
    print("told", cluster.address, flush=True)
    for line in sys.stdin:
        command = line.strip()
        if command == "add":
            nodes.append(cluster.add_node(num_cpus=1))
        elif command == "remove":
            cluster.remove_node(nodes.pop(), allow_graceful=False)
        elif command == "silence":
            raylet = nodes[-1].all_processes["raylet"][0].process
            os.kill(raylet.pid, signal.SIGSTOP)
        print("told", command, flush=True)
    for node in nodes:
        for raylet in node.all_processes.get("raylet", ()):
            os.kill(raylet.process.pid, signal.SIGCONT)
    cluster.shutdown()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
