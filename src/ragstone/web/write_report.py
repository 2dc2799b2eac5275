"""Write report: a run as one HTML file."""

from dataclasses import dataclass
from pathlib import Path

from ragstone.core.files import write_result
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
        MissingDependency: The extra ``ui`` is not installed.
    """
    require_ui("The report file")
    from .report_file import report_file

    file = Path(out)
    second = None if other is None else Run.of(other)
    made = report_file(Run.of(run), second, baseline=baseline, margin=margin)
    write_result(file, made.html)
    return WrittenReport(file, len(made.html.encode()), made.left_out)
