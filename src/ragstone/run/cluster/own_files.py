"""Own files: the user's Python files with metrics or kinds, taken along to the workers.

A worker runs each once, as the process of the run did, so that what is defined in it is the same.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

from ragstone.core.files import cache_folder, private_folder
from ragstone.core.user_code import GIVEN, own_module
from ragstone.judgements import KINDS
from ragstone.judgements.guideline import guideline_file
from ragstone.metrics.user_metrics import defines_metrics, load_metrics


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A Python file of the user's.

    Args:
        name: Of the file.
        beside: It and the guidelines of its kinds, by the name of the file.
        metrics: Whether it defines metrics.
    """

    name: str
    beside: Mapping[str, bytes]
    metrics: bool

    def run(self) -> None:
        """Run it, in another process than the one it was loaded in."""
        whole = blake2b(digest_size=16)
        for name, content in sorted(self.beside.items()):
            whole.update(f"{name}\0{len(content)}\0".encode() + content)
        # In one place, whichever worker comes first: guidelines are read when they are needed.
        folder = cache_folder() / "own" / whole.hexdigest()
        private_folder(folder)
        for name, content in self.beside.items():
            unfinished = folder / f"{name}.{uuid4().hex}"
            unfinished.write_bytes(content)
            unfinished.replace(folder / name)
        if self.metrics:
            load_metrics(folder / self.name)
        else:
            own_module(folder / self.name)


def own_files() -> tuple[OwnFile, ...]:
    """Those that were loaded, in their order; packages have to be installed on all nodes."""
    found = []
    for known in GIVEN:
        module = sys.modules.get(known)
        if module is None or module.__file__ is None or not known.startswith("ragstone_own_"):
            continue
        file = Path(module.__file__)
        guidelines = [guideline_file(kind) for kind in KINDS.values() if kind.__module__ == known]
        files = [file, *(path for path in guidelines if path is not None and path.is_file())]
        beside = {path.name: path.read_bytes() for path in files}
        found.append(OwnFile(file.name, beside, defines_metrics(module)))
    return tuple(found)
