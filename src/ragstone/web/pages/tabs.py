"""Tabs: the pages of one run."""

from ragstone.web.asked import query, run_path


def run_tabs(run: str) -> list[tuple[str, str]]:
    """The address and the name of each page of a run."""
    return [
        (run_path(run), "Overview"),
        (f"{run_path(run)}#examples", "Examples"),
        (f"/compare{query([('runs', run)])}", "Compare"),
        (run_path(run, "judge"), "Judge"),
        (run_path(run, "report.html"), "Report"),
    ]
