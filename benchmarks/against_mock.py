"""No script: the mock judge in a process of its own, which counts what it is sent."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any


class Mock:
    """The mock, which answers chats and embeddings on the loopback interface."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.url: str = server.base_url

    def counts(self) -> dict[str, Any]:
        """Of all that it was sent so far."""
        counts: dict[str, Any] = self.server.stats()
        return counts

    def pin(self, core: int) -> None:
        os.sched_setaffinity(self.server.proc.pid, {core})


@contextmanager
def mock(bench: Path, **settings: float) -> Iterator[Mock]:
    """A fresh mock, its counts at nothing."""
    with loaded(bench / "mock_llm.py").MockServer(python=sys.executable, **settings) as server:
        yield Mock(server)


def loaded(file: Path) -> ModuleType:
    """The module in a file, wherever that lies."""
    if not file.is_file():
        raise SystemExit(f"No {file}. Name the folder of the mock with --bench.")
    spec = importlib.util.spec_from_file_location(file.stem, file.resolve())
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is no Python module.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
