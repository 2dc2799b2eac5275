"""Entry points: serves the app over a folder of runs, or writes a run as a single HTML file."""

import os
import sys
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

from ragstone.core.errors import InputError
from ragstone.core.files import write_result
from ragstone.core.messages import argument
from ragstone.run import Run

from .security import Served, ServerAddress, listen

PORT = 8421
HERE = ServerAddress(PORT)


def check_address(at: ServerAddress) -> None:
    """See that the app can be served here."""
    listen(at)[0].close()


def view(
    folder: str | Path = "runs",
    *,
    labels: str = "",
    at: ServerAddress = HERE,
    browser: bool = True,
    told: Callable[[Served], None] = print,
    start: str = "/",
) -> None:
    """Show the runs of a folder in the browser, until the process is stopped.

    Args:
        folder: With runs in it, or a run folder.
        labels: The store of human labels, a file or an address ``postgresql://…``; empty for
            ``labels.sqlite`` in the folder.
        at: Where it listens, and what it asks of who comes.
        browser: Open it.
        told: Called as soon as the port is taken.
        start: The path of the page that is opened first.

    Raises:
        InputError: There is no such folder or store, or the port is taken.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}: `ragstone evaluate DATA` makes a run.")
    if labels and "://" not in labels and not Path(labels).exists():
        raise InputError(f"There is no store of labels {argument('labels', labels)}.")
    port, served, access = listen(at, start)
    told(served)
    if browser:
        Timer(0.3, webbrowser.open, [served.browser]).start()
    lean()
    # Only now, for it takes most of a second: a browser that comes earlier waits on the socket.
    from .runs_folder import RunsFolder, prepare_soon
    from .server import serve
    from .web_app import make_app

    runs_folder = RunsFolder(folder, labels)
    prepare_soon(runs_folder)
    serve(make_app(runs_folder, access), port, at.tls)


def lean() -> None:
    """Keep memory small, and pages quick while something is computed beside them.

    Polars' allocator, jemalloc, keeps freed memory in many places for ten seconds: on 50,000
    answers the peak is 476 MB with that, and 350 to 400 MB with one place for a fifth of a second.
    To keep none would be 335 MB, and pages would take half as long again. A page calls Polars some
    250 times, and after each call it waits for its turn behind Python code of other threads, by
    default for 5 ms.
    """
    os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:1,dirty_decay_ms:200,muzzy_decay_ms:0")
    sys.setswitchinterval(0.0005)


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report that was written: its file, its bytes, and a sentence for what it leaves out."""

    path: Path
    size: int
    left_out: tuple[str, ...]


def write_report(
    run: Run | str | Path,
    out: str | Path,
    other: Run | str | Path | None = None,
    *,
    baseline: str | None = None,
    margin: float | None = None,
) -> WrittenReport:
    """Write what a run found as one HTML file to mail or attach.

    The file loads nothing, so it opens anywhere; it has its own filters, prints well, and is at
    most 1.5 MB. What it leaves out for that it says.

    Args:
        run: A finished run, or its folder.
        out: The file; its folder is made if it is missing.
        other: A second run, which this one is compared with.
        baseline: A system of the run that the others are compared with.
        margin: Differences up to this size are too small to matter.

    Raises:
        InputError: There is no such run or system, or the two runs cannot be compared.
    """
    from .html_report import report_file

    file = Path(out)
    second = None if other is None else Run.of(other)
    html, _, left_out = report_file(Run.of(run), second, baseline=baseline, margin=margin)
    write_result(file, html)
    return WrittenReport(file, len(html.encode()), left_out)
