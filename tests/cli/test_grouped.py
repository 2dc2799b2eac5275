"""The list of commands in the help: by what they are for, whole at any width, without Rich."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from ragstone.cli import PANELS, app


def listed(width: int) -> str:
    result = CliRunner(env={"COLUMNS": str(width), "TERMINAL_WIDTH": ""}).invoke(app, ["--help"])
    assert result.exit_code == 0
    return result.stdout


def test_every_command_stands_below_its_panel() -> None:
    panel, found = "", {}
    for line in listed(100).splitlines():
        if line.endswith(":") and not line.startswith(" "):
            panel = line[:-1]
        elif panel in PANELS and line.startswith("  ") and line[2] != " ":
            found[line.split()[0]] = panel
    expected = {one.__name__: panel for panel, commands in PANELS.items() for one in commands}
    assert found == expected | {"plan": "Decide"}


@pytest.mark.parametrize("width", [80, 100])
def test_no_line_is_cut_and_none_is_wider_than_the_terminal(width: int) -> None:
    shown = listed(width)
    assert "..." not in shown.replace("[ARGS]...", "")
    assert max(map(len, shown.splitlines())) <= width


def test_help_is_drawn_without_rich() -> None:
    code = (
        "import sys, contextlib, io, ragstone.cli as cli\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    cli.app(['gate', '--help'])\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('rich', 'polars')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
