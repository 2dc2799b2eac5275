"""``python -m ragstone.report RUN FILE.svg``: the page of a run as a picture."""

import argparse
from pathlib import Path

from ragstone.run import Run

from .picture import picture


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--width", type=int, default=116)
    given = parser.parse_args()
    given.file.write_text(picture(Run.open(given.run), width=given.width), encoding="utf-8")


if __name__ == "__main__":
    main()
