"""Worker: judges shards in a process of its own, on any node of the cluster.

It opens the judges of the run from what the user named, once, and says what they are, so that a
node with another version or model is noticed before it has judged anything.
"""

import pickle
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from threading import Lock
from typing import Any

from ragstone.core.errors import CannotGoOn, InputError, RagstoneError
from ragstone.core.python_runtime import collect_rarely
from ragstone.data import Examples
from ragstone.judges.llm.questions import Question
from ragstone.run.chat_judges import able_to_ask
from ragstone.run.forms import Manifest
from ragstone.run.request import Request
from ragstone.run.settings import RunSettings
from ragstone.run.spec import reopened

from .maker import ShardMaker
from .own_files import OwnFile
from .relay import RemoteAsking
from .shared_file import SharedFile
from .task import Brief, ShardTask, Tables

ALIKE = ("ragstone", "numpy", "polars", "pydantic", "ray")
"""Packages of which all nodes need the same version, for the same bytes come of the same code."""


@dataclass(frozen=True, slots=True)
class Node:
    """Where a worker is.

    Args:
        host: The name of its machine.
        versions: Of Python and of the packages that all nodes need alike.
        has_file: Whether the file of the data is there.
    """

    host: str
    versions: Mapping[str, str]
    has_file: bool = False


def this_node() -> Node:
    """The one on which this runs."""
    versions = {name: version(name) for name in ALIKE}
    return Node(socket.gethostname(), {"python": platform.python_version(), **versions})


@dataclass(frozen=True, slots=True)
class Assignment:
    """What all workers of a run are told.

    Args:
        own: The user's own files, which come before the request, for it may name what is in them.
        request: What the user asked for, without what belongs to the process of the run; pickled.
        settings: Of the run, which the judges that are opened must have.
        data: How records are read.
        file: Where they are, if they are in one file.
        answers: The answers of every system, by question, where judges compare them.
        held: The manifest of a finished run that is made anew, with what was added to it later.
    """

    own: tuple[OwnFile, ...]
    request: bytes
    settings: RunSettings
    data: Examples
    file: SharedFile | None
    answers: Mapping[str, Mapping[str, str]]
    held: Manifest | None = None


@dataclass(frozen=True, slots=True)
class _RelayActor:
    """The relay, as an actor of Ray."""

    actor: Any

    def ask(self, model: str, question: Question, turn: int) -> Any:
        return self.actor.ask.remote(model, question, turn)


class ShardWorker:
    """Judges shards, one after the other.

    Args:
        assignment: What it is told.
        relay: The actor that takes its questions to models; None if no judge is one.
    """

    def __init__(self, assignment: Assignment, relay: Any) -> None:
        collect_rarely()
        self._assignment, self._relay = assignment, relay
        self._maker: ShardMaker | None = None
        self._opening = Lock()

    def node(self) -> Node:
        """Where it is."""
        file = self._assignment.file
        return replace(this_node(), has_file=file is not None and file.is_here())

    def make(self, task: ShardTask) -> tuple[Brief, Tables]:
        """Read, judge and score a shard.

        Raises:
            CannotGoOn: The judges of the run cannot be opened here, or are others.
            InputError: As ``ShardMaker.make``.
        """
        try:
            with self._opening:
                if self._maker is None:
                    self._maker = self._opened()
            whole = task.read_from(self._assignment.file)
            if whole is None:
                return Brief(task.shard, 0, {}, {}, unread=True), {}
            return self._maker.make(whole)
        except RagstoneError as error:
            # What an error has besides its words does not travel between processes. Where the
            # process of the run could open the judges, it is the node that lacks something.
            goes_on = self._maker is None or isinstance(error, CannotGoOn)
            raise (CannotGoOn if goes_on else InputError)(error.text) from error

    def _opened(self) -> ShardMaker:
        given = self._assignment
        for file in given.own:
            file.run()
        request: Request = pickle.loads(given.request)
        spec = reopened(request, given.settings)
        if given.held is not None:
            spec, _ = spec.also_scoring(given.held)
        if self._relay is None:
            return ShardMaker(spec, given.data, None)
        asking = RemoteAsking(_RelayActor(self._relay))
        judges = able_to_ask(spec.judges, asking, spec.asks, given.answers)
        return ShardMaker(replace(spec, judges=judges), given.data, asking)
