"""Report: the file to send, as a page of the app."""

from ragstone.web.asked import Asked
from ragstone.web.report_file import report_file
from ragstone.web.runs_folder import RunsFolder
from ragstone.web.web_page import WebFile


def report_page(place: RunsFolder, asked: Asked) -> WebFile:
    """The report on a run; with ``?download`` the browser keeps the file instead of showing it."""
    run = place.run(asked.names["run"])
    made = report_file(run)
    headers = {"content-security-policy": f"{made.policy}; frame-ancestors 'none'"}
    if any(name == "download" for name, _ in asked.query):
        headers["content-disposition"] = 'attachment; filename="report.html"'
    return WebFile(made.html, "text/html", headers)
