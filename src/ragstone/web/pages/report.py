"""Report: the file to send, as a page of the app."""

from ragstone.core.errors import InputError
from ragstone.web.asked import Asked
from ragstone.web.report_file import report_file
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import WebFile

PATIENCE = 600
"""Seconds; a file cannot show itself a little later, as a page can."""


def report_page(place: RunsFolder, asked: Asked) -> WebFile:
    """The report on a run; with ``?download=1`` the browser keeps the file instead of showing it.

    Raises:
        NotThere: No run is called so.
        InputError: It is not finished, damaged, or far too large.
    """
    name = asked.names["run"]
    run = place.run(name)
    key = ("report", place.stamp(name))
    made = place.later.get(key, lambda: report_file(run), PATIENCE)
    if made is None:
        raise InputError(f"The report takes longer than {PATIENCE:,} s: ragstone report writes it.")
    headers = {"content-security-policy": f"{made.policy}; frame-ancestors 'none'"}
    if asked.one("download"):
        headers["content-disposition"] = 'attachment; filename="report.html"'
    return WebFile(made.html, "text/html", headers)
