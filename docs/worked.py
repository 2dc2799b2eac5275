"""The worked examples of the pages below, played: each command with what it prints.

    python docs/worked.py

Writes the pages' outputs anew. Commands stand in ``sh`` blocks, each with its output in the
``text`` block behind it, that of the last one where there are several; a ``csv NAME`` block is a
file that the commands find. The demo's answers are there as ``demo.jsonl``. A ``text`` block whose
last line is ``…`` shows as many lines of the output as it has before it.
"""

import json
import os
import re
import shlex
import tempfile
from contextlib import chdir
from pathlib import Path

from typer.testing import CliRunner

from ragstone.cli.app import app
from ragstone.data.demo import demo_records

PAGES = [
    Path(__file__).with_name(name)
    for name in ("quick-start.md", "compare.md", "gate.md", "calibrate.md", "promise.md")
]
WIDTH = "100"

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def played(page: str) -> str:
    """The page with the output of every command as it is now."""
    found = []
    last, at = "", 0
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        answers = "".join(f"{json.dumps(record)}\n" for record in demo_records())
        Path("demo.jsonl").write_text(answers, encoding="utf-8")
        for block in BLOCK.finditer(page):
            kind, name, text = block.groups()
            found.append(page[at : block.start()])
            at = block.end()
            if kind == "sh":
                last = [output(line) for line in commands(text)][-1]
            elif kind == "csv" and name:
                Path(name).write_text(text, encoding="utf-8")
            shown = as_long_as(text, last) if kind == "text" else text
            found.append(f"```{kind}{f' {name}' if name else ''}\n{shown}```\n")
    return "".join([*found, page[at:]])


def as_long_as(shown: str, output: str) -> str:
    """The output, or its first lines where those shown end with ``…``."""
    *lines, end = shown.splitlines() or [""]
    if end != "…":
        return output
    return "".join(f"{line}\n" for line in [*output.splitlines()[: len(lines)], end])


def commands(text: str) -> list[str]:
    """The commands of a block, one a line; a line that ends in a backslash goes on."""
    return text.replace("\\\n", " ").splitlines()


def output(command: str) -> str:
    """What a command prints, on a terminal of 100 columns without colours."""
    words = shlex.split(command, comments=True)
    if words[:1] != ["ragstone"]:
        raise ValueError(f"{command!r} is no command of ragstone")
    environment = {**os.environ, "COLUMNS": WIDTH, "NO_COLOR": "1", "GITHUB_STEP_SUMMARY": ""}
    result = CliRunner().invoke(app, words[1:], env=environment)
    if result.exit_code not in (0, 1, 3, 4):
        raise ValueError(f"{command!r} failed: {result.stderr}")
    lines = [line.rstrip() for line in result.stdout.strip("\n").splitlines()]
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(played(page.read_text(encoding="utf-8")), encoding="utf-8")
