"""``python -m ragstone.report RUN FILE``: the page of a run as a picture (.svg) or HTML (.html)."""

import argparse
from pathlib import Path

from ragstone.run import Run

from .pages.run import run_page
from .picture import picture
from .render.html import as_document


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(prog="python -m ragstone.report", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--width", type=int, default=116, help="of a picture, in characters")
    given = parser.parse_args()
    run = Run.open(given.run)
    html = given.file.suffix == ".html"
    shown = as_document(run_page(run)) if html else picture(run, width=given.width)
    given.file.write_text(shown, encoding="utf-8")


if __name__ == "__main__":
    main()
