"""``ragstone formats``: what can be read, each with a two-line example."""

from . import options
from .output import print_page


def formats(
    json: options.Json = False,
) -> None:
    """List the file formats and record layouts that can be read, each with an example."""
    from dataclasses import asdict

    from ragstone.data import formats as known
    from ragstone.report.page import Page, Section, Verbatim, quiet, strong

    sections = []
    for one in known():
        endings = f"  {' '.join(one.extensions)}" if one.extensions else ""
        title = (strong(one.name), f"  {one.what}", quiet(endings))
        sections.append(Section((Verbatim(tuple(one.example)),), title))
    page = Page("formats", "", tuple(sections), record=lambda: [asdict(one) for one in known()])
    print_page(page, json=json)
