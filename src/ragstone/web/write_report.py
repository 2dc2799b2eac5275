"""Write report: a run as one HTML file."""

from dataclasses import dataclass
from pathlib import Path

from ragstone.result_file import write_result
from ragstone.run import Run

from .extra import require_ui


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report that was written.

    Attributes:
        path: The file.
        size: Its bytes.
        left_out: What the run has and the file has not, a sentence each.
    """

    path: Path
    size: int
    left_out: tuple[str, ...]


def write_report(run: Run | str | Path, out: str | Path) -> WrittenReport:
    """Write what a run found as one HTML file to mail or attach.

    The file loads nothing, so it opens anywhere; it has its own filters, prints well, and is at
    most 1.5 MB. What it leaves out for that it says.

    Args:
        run: A finished run, or its folder.
        out: The file; its folder is made if it is missing.

    Raises:
        InputError: There is no such run.
        MissingDependency: The extra ``ui`` is not installed.
    """
    require_ui("The report file")
    from .report_file import report_file

    file = Path(out)
    made = report_file(Run.of(run))
    write_result(file, made.html)
    return WrittenReport(file, len(made.html.encode()), made.left_out)
