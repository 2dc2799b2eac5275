"""``python -m ragstone.report RUN FILE``: the page of a run as picture (.svg) or Markdown (.md)."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ragstone.core.errors import InputError, RagstoneError
from ragstone.core.escape import visible
from ragstone.core.files import write_result
from ragstone.core.messages import in_shell
from ragstone.judgements import load_kinds
from ragstone.run import Run

from .console import picture
from .notebook import page_of
from .render.documents import as_markdown

ENDINGS = (".svg", ".md")
BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file; by default as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m ragstone.report", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("file", type=Path, help=f"ends in {', '.join(ENDINGS)}")
    parser.add_argument("--width", type=int, default=116, help="of a picture, in characters")
    parser.add_argument(
        "--kinds",
        metavar="MODULE",
        action="append",
        default=[],
        help="Python file or module that defines judgement kinds to add",
    )
    values = parser.parse_args(arguments)
    file: Path = values.file
    try:
        if file.suffix not in ENDINGS:
            raise InputError(
                f"{file}: a page is written as {', '.join(ENDINGS)}; `ragstone report RUN` writes "
                "HTML."
            )
        for name in values.kinds:
            load_kinds(name)
        page = page_of(Run.open(values.run))
        markdown = file.suffix == ".md"
        write_result(file, as_markdown(page) if markdown else picture(page, width=values.width))
    except RagstoneError as error:
        parser.exit(BAD_INPUT, f"{visible(in_shell(error.text))}\n")
    except OSError as error:
        parser.exit(BAD_INPUT, visible(f"{error.filename or file}: {error.strerror}\n"))


if __name__ == "__main__":
    main()
