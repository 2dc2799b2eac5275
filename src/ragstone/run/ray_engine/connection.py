"""Ray connection: the cluster that judges a run, and the user's files that its workers need.

A worker runs each of the user's Python files once, as the run's own process did, so that its
definitions are the same. A worker reads a data file itself if its node has it at the same path,
with the same size, time of the last change and sample of the bytes.
"""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

from ragstone.core.errors import InputError, needing
from ragstone.core.files import cache_folder, private_folder
from ragstone.core.messages import argument
from ragstone.core.user_code import GIVEN, own_module
from ragstone.data.line_ranges import Lines
from ragstone.judgements import KINDS
from ragstone.judgements.guideline import guideline_file
from ragstone.metrics.user_metrics import defines_metrics, load_metrics
from ragstone.run.run_plan import KnownFile, known_file


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A Python file of the user's."""

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
    """Return the user's files in the order they were loaded; packages must be on all nodes."""
    files_found = []
    for known in GIVEN:
        module = sys.modules.get(known)
        if module is None or module.__file__ is None or not known.startswith("ragstone_own_"):
            continue
        file = Path(module.__file__)
        guidelines = [guideline_file(kind) for kind in KINDS.values() if kind.__module__ == known]
        files = [file, *(path for path in guidelines if path is not None and path.is_file())]
        beside = {path.name: path.read_bytes() for path in files}
        files_found.append(OwnFile(file.name, beside, defines_metrics(module)))
    return tuple(files_found)


def shared_file(files: Sequence[KnownFile]) -> KnownFile | None:
    """The one file of the data, by its whole path; None if they are several, or none."""
    if len(files) != 1:
        return None
    return files[0].model_copy(update={"name": str(Path(files[0].name).absolute())})


def is_here(file: KnownFile) -> bool:
    """Return whether the file is the same on this machine."""
    try:
        return known_file(Path(file.name)) == file
    except OSError:
        return False


def lines_of(file: KnownFile, lines: Lines) -> Lines | None:
    """Lines that came without their bytes, with them; None if the file is another by now."""
    as_known = (file.bytes, file.changed)
    try:
        with Path(file.name).open("rb") as content:
            before = os.fstat(content.fileno())
            content.seek(lines.start.bytes)
            text = content.read(lines.end.bytes - lines.start.bytes)
            after = os.fstat(content.fileno())
    except OSError:
        return None
    same = all((now.st_size, now.st_mtime_ns) == as_known for now in (before, after))
    return lines.with_bytes(text) if same else None


LOCAL, RAY = "local", "ray"
TOKEN, TOKEN_MODE = Path("~/.ray/auth_token"), "RAY_AUTH_MODE"
# Seconds in which a cluster that is there takes a connection.
NEAR = 3.0


def ray_address(engine: str) -> str | None:
    """The address that an engine names, empty for any; None for one process.

    >>> ray_address("ray:10.0.0.1:6379"), ray_address("ray"), ray_address("local")
    ('10.0.0.1:6379', '', None)
    """
    name, colon, address = engine.partition(":")
    if engine == LOCAL:
        return None
    if name != RAY or address.startswith("//") or (colon and not address):
        hint = ""
        if address.startswith("//"):
            hint = " Of a Ray cluster, give the address of its head, on one of its nodes."
        raise InputError(
            f"{argument('engine', engine)}: expected local, ray, or ray:HOST:PORT.{hint}"
        )
    return address


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The cluster: at an address, else that of this machine, else one that is made for the run."""
    with needing("A run on a Ray cluster", "ray"):
        import ray
    with _CONNECTION.used(ray, address):
        yield ray


class _Connection:
    """The connection of this process to a cluster, shared by all runs that go on.

    It ends with the last of them, unless the user made it. What Ray starts on this machine ends
    with the thread that started it, so that is one of its own, but for the main thread.
    """

    def __init__(self) -> None:
        self._door = threading.Lock()
        self._users = 0
        self._end = ExitStack()

    def _begin(self, ray: Any, address: str) -> None:
        with ExitStack() as end:
            end.enter_context(_untold())
            if threading.current_thread() is threading.main_thread():
                _begin(ray, address)
            else:
                keeper = end.enter_context(ThreadPoolExecutor(1))
                keeper.submit(_begin, ray, address).result()
            end.callback(ray.shutdown)
            self._end = end.pop_all()

    @contextmanager
    def used(self, ray: Any, address: str) -> Iterator[None]:
        with self._door:
            if ray.is_initialized():
                _check_same(ray.get_runtime_context().gcs_address, address)
            else:
                self._begin(ray, address)
            self._users += 1
        try:
            yield
        finally:
            with self._door:
                self._users -= 1
                if not self._users:
                    self._end.close()


_CONNECTION = _Connection()


def _begin(ray: Any, address: str) -> None:
    if address:
        _check_there(address)
    try:
        with _unheard():
            ray.init(
                address=address or None, log_to_driver=False, logging_level=logging.ERROR,
                include_dashboard=None if address else False,
            )  # fmt: skip
    except Exception as error:
        where = f"the Ray cluster at {address}" if address else "a Ray cluster of this machine"
        raise InputError(
            f"{where[0].upper()}{where[1:]} cannot be used: {_line(error)}{_token_hint(address)}"
        ) from error


@contextmanager
def _unheard() -> Iterator[None]:
    """Keep off the terminal what Ray's own code, which is not Python, notes for its log.

    What concerns the run, such as a lost worker, is told by the run in its own words. SIGTERM is
    restored: Ray takes it, and prints where it was interrupted.
    """
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    handler = signal.getsignal(signal.SIGTERM)
    terminal = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(nowhere)
        os.close(terminal)
        # Only the main thread may set one, and only one that Python knows.
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


@contextmanager
def _untold() -> Iterator[None]:
    """Keep what nodes report, such as a worker that died, off the standard output.

    Ray prints it there whatever the level of its log, among the JSON of a command, until its
    connection has ended.
    """
    from ray._private import worker

    printer = getattr(worker, "print_to_stdstream", None)
    if printer is None:
        yield
        return
    worker.print_to_stdstream = lambda *_, **__: None
    try:
        yield
    finally:
        worker.print_to_stdstream = printer


def _check_same(connected_to: str, address: str) -> None:
    if not address:
        return
    _check_there(address)
    (host, port), (wanted_host, other) = _resolved(connected_to), _resolved(address)
    # The head knows itself by one address, and is reached by others, such as that of the loop.
    if port != other or (host != wanted_host and not _is_here(wanted_host)):
        raise InputError(
            f"This process is connected to the Ray cluster at {connected_to}, not to the one at "
            f"{address}. Call ray.shutdown() first, or give {argument('engine', RAY)}."
        )


def _resolved(address: str) -> tuple[str, str]:
    host, _, port = address.rpartition(":")
    try:
        return socket.gethostbyname(host.strip("[]")), port
    except OSError:
        return host, port


def _is_here(host: str) -> bool:
    try:
        with socket.socket() as probe:
            probe.bind((host, 0))
    except OSError:
        return False
    return True


def takes_connections(address: str) -> bool:
    """Return whether anything takes connections at an address."""
    try:
        _connect(address)
    except (OSError, OverflowError):
        return False
    return True


def _connect(address: str) -> None:
    host, _, port = address.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=NEAR):
        """Somebody is there."""


def _token_hint(address: str) -> str:
    """Return a hint for a cluster that may ask for a token, which Ray does not mention.

    Where there is a token on a machine, ``ray start`` asks for it; a process that connects to an
    address sends it only if it is told to.
    """
    if not address or TOKEN_MODE in os.environ or not TOKEN.expanduser().exists():
        return ""
    return f" If it asks for the token in {TOKEN}, set {TOKEN_MODE}=token."


def _check_there(address: str) -> None:
    """Check that anything is at an address, because Ray itself looks for a minute."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        engine = argument("engine", f"{RAY}:{address}")
        raise InputError(f"{engine}: expected a host and a port, such as ray:10.0.0.1:6379.")
    try:
        _connect(address)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"There is no Ray cluster at {address}: {_line(error)}. `ray start` starts one, "
            "and `ray status` says where it is."
        ) from error


def _line(error: BaseException) -> str:
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    rest = [line.strip() for line in str(error).splitlines()[1:4] if ":" in line]
    return " ".join([first, *rest]).strip() or type(error).__name__
