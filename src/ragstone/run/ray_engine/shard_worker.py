"""Shard worker: reads, judges and scores shards in its own process, on any node of a cluster.

It opens the run's judges once, from what the user named, and reports what they are, so that a
node with another version or model is noticed before it has judged anything.
"""

import pickle
import platform
import socket
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ragstone.core.errors import CannotGoOn, InputError, RagstoneError, room_for
from ragstone.core.python_runtime import relax_garbage_collector
from ragstone.data import Example, Examples, from_frame
from ragstone.data.line_ranges import Lines
from ragstone.data.read_facts import IdBlock, ReadFacts, SeenIds
from ragstone.run.folder.checksums import File
from ragstone.run.folder.run_tally import RunTally, Violations
from ragstone.run.folder.schemas import AlikeScores, Manifest
from ragstone.run.folder.shards import write_table
from ragstone.run.judging.prefetch import Worker, judged_blocks
from ragstone.run.judging.run_models import able_to_ask
from ragstone.run.judging.scoring import (
    UnfitFields,
    block_tables,
    parted,
    set_aside_tables,
    shard_tables,
)
from ragstone.run.judging.sharding import OF_A_SHARD
from ragstone.run.request import Request
from ragstone.run.run_plan import KnownFile, reopened
from ragstone.run.run_spec import RunSpec
from ragstone.run.settings import RunSettings

from .connection import OwnFile, is_here, lines_of
from .model_relay import RemoteAsking

# The place of the first example, and the one after the last: lines of a file, or rows of a table;
# at some there may be no example.
PLACES = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A shard to judge.

    Args:
        check: Whether it may be the first with examples, on which fields to group by are checked.
        part: What to try, of which nothing is kept; None: the whole shard.
    """

    shard: int
    data: Lines | pl.DataFrame
    check: bool = False
    only_read: bool = False
    refused: Mapping[int, int] = field(default_factory=dict)
    aside: Mapping[int, str] = field(default_factory=dict)
    part: PLACES | None = None

    @property
    def may_be_read(self) -> bool:
        """True if a worker that has the file can read the lines itself."""
        return isinstance(self.data, Lines) and self.data.plain and bool(self.data.text)

    def without_bytes(self) -> Self:
        """For a worker that reads its lines itself."""
        assert isinstance(self.data, Lines)
        return replace(self, data=self.data.without_bytes())

    def read_from(self, file: KnownFile | None) -> Self | None:
        """The task with the bytes of its lines; None if they cannot be had."""
        lines = self.data
        if not isinstance(lines, Lines) or lines.text or lines.end.bytes == lines.start.bytes:
            return self
        whole = None if file is None else lines_of(file, lines)
        return None if whole is None else replace(self, data=whole)

    @property
    def places(self) -> PLACES:
        """The places of the task's examples."""
        if self.part is not None:
            return self.part
        if isinstance(self.data, pl.DataFrame):
            return 0, self.data.height
        return self.data.start.lines + 1, self.data.end.lines + 1

    def named(self, position: int) -> str:
        """The example at a place, as messages name it: by its line, else by its id."""
        if isinstance(self.data, pl.DataFrame):
            return str(self.data["id"][position])
        return f"{self.data.name}:{position}"


@dataclass(frozen=True, slots=True)
class Brief:
    """The facts of a shard that was read or judged.

    Args:
        unfit: Why the data cannot be grouped as asked, should this be the first shard; then it was
            not judged.
    """

    shard: int
    examples: int
    counted: Mapping[str, Any]
    files: Mapping[str, File]
    facts: ReadFacts = field(default_factory=ReadFacts)
    ids: IdBlock | None = None
    violations: str = ""
    rules: Counter[str] = field(default_factory=Counter)
    alike: tuple[AlikeScores, ...] = ()
    unfit: str = ""
    unread: bool = False


# The content of a shard's files, by table; arrays travel between processes without a copy.
Tables = dict[str, NDArray[np.uint8]]


def made_shard(
    spec: RunSpec, data: Examples, asking: Worker | None, task: ShardTask
) -> tuple[Brief, Tables]:
    """Read, judge and score a shard; of a part that is only tried, or read, nothing is kept."""
    brief, placed = _read(data, task)
    if task.only_read or not placed:
        return brief, {}
    start, end = task.places
    examples = [
        example for at, example in placed.items() if start <= at < end and at not in task.aside
    ]
    shards = [(task.shard, iter(examples))] if examples else []
    check, first = task.check and task.part is None, task.shard * OF_A_SHARD
    try:
        blocks = [
            block_tables(spec, *block)
            for block in judged_blocks(spec, shards, asking, first, check=check)
        ]
    except UnfitFields as unfit:
        return replace(brief, unfit=unfit.text), {}
    if task.part is not None:
        return brief, {}
    blocks += [
        set_aside_tables(spec, task.shard, placed[at], why)
        for at, why in sorted(task.aside.items())
        if at in placed
    ]
    tables = shard_tables(blocks)
    tables["scores"], alike = parted(spec, tables["scores"])
    tally = RunTally.of_shard(brief.examples, tables)
    files, content = {}, {}
    with TemporaryDirectory() as folder, room_for(folder):
        for name in sorted(tables):
            file = Path(folder) / f"{name}.parquet"
            files[name] = write_table(name, tables[name], file)
            content[name] = np.fromfile(file, np.uint8)
    return replace(brief, alike=tuple(alike), counted=tally.counted, files=files), content


def _read(data: Examples, task: ShardTask) -> tuple[Brief, dict[int, Example]]:
    facts, ids, violations = ReadFacts(), SeenIds(), Violations()
    if isinstance(task.data, pl.DataFrame):
        placed = dict(enumerate(from_frame(task.data)))
    else:
        placed = dict(data.read_part(task.data, ids, facts, task.refused))
    for _ in violations.watch(placed.values()):
        """All pass by."""
    facts.label_violations = []  # They are in the lines of ``violations``.
    new_ids = None if isinstance(task.data, pl.DataFrame) else ids.all()
    lines = "".join(violations.lines)
    return Brief(task.shard, len(placed), {}, {}, facts, new_ids, lines, violations.rules), placed


# Packages that need one version on all nodes, because only the same code writes the same bytes.
ALIKE = ("ragstone", "numpy", "polars", "pydantic", "ray")


@dataclass(frozen=True, slots=True)
class Node:
    """The machine of a worker."""

    host: str
    versions: Mapping[str, str]
    has_file: bool = False


def this_node() -> Node:
    versions = {name: version(name) for name in ALIKE}
    return Node(socket.gethostname(), {"python": platform.python_version(), **versions})


@dataclass(frozen=True, slots=True)
class Assignment:
    """The task that all workers of a run share.

    Args:
        own: The user's own files, which come before the request, for it may name what is in them.
        request: What the user asked for, without what belongs to the process of the run; pickled.
        held: The manifest of a finished run that is made anew, with what was added to it later.
    """

    own: tuple[OwnFile, ...]
    request: bytes
    settings: RunSettings
    data: Examples
    file: KnownFile | None
    answers: Mapping[str, Mapping[str, str]]
    held: Manifest | None = None


class ShardWorker:
    """Judges shards, one after the other."""

    def __init__(self, assignment: Assignment, relay: Any) -> None:
        relax_garbage_collector()
        self._assignment, self._relay = assignment, relay
        self._opened: tuple[RunSpec, RemoteAsking | None] | None = None
        self._opening = Lock()

    def node(self) -> Node:
        file = self._assignment.file
        return replace(this_node(), has_file=file is not None and is_here(file))

    def make(self, task: ShardTask) -> tuple[Brief, Tables]:
        try:
            with self._opening:
                if self._opened is None:
                    self._opened = self._open()
            spec, asking = self._opened
            whole = task.read_from(self._assignment.file)
            if whole is None:
                return Brief(task.shard, 0, {}, {}, unread=True), {}
            return made_shard(spec, self._assignment.data, asking, whole)
        except RagstoneError as error:
            # What an error has besides its words does not travel between processes. Where the
            # process of the run could open the judges, it is the node that lacks something.
            goes_on = self._opened is None or isinstance(error, CannotGoOn)
            raise (CannotGoOn if goes_on else InputError)(error.text) from error

    def _open(self) -> tuple[RunSpec, RemoteAsking | None]:
        assignment = self._assignment
        for file in assignment.own:
            file.run()
        request: Request = pickle.loads(assignment.request)
        spec = reopened(request, assignment.settings)
        if assignment.held is not None:
            spec, _ = spec.also_scoring(assignment.held)
        if self._relay is None:
            return spec, None
        asking = RemoteAsking(self._relay.ask.remote)
        judges = able_to_ask(spec.judges, asking, spec.asks, assignment.answers)
        return replace(spec, judges=judges), asking
