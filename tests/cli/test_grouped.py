"""The list of commands in the help: by what they are for, whole at any width, without Rich."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from ragstone.cli.app import PANELS, app


def listed(width: int, *arguments: str, status: int = 0) -> str:
    environment = {"COLUMNS": str(width), "TERMINAL_WIDTH": ""}
    result = CliRunner(env=environment).invoke(app, arguments)
    assert result.exit_code == status
    return result.output


def test_every_command_stands_below_its_panel() -> None:
    panel, found = "", {}
    for line in listed(100, "--help").splitlines():
        if line.endswith(":") and not line.startswith(" "):
            panel = line[:-1]
        elif panel in PANELS and line.startswith("  ") and line[2] != " ":
            found[line.split()[0]] = panel
    expected = {one.__name__: panel for panel, commands in PANELS.items() for one in commands}
    assert found == expected | {
        "plan": "Decide", "guard": "Decide", "annotate": "Use human labels", "monitor": "Inspect"
    }  # fmt: skip


def test_the_plans_are_listed_as_commands() -> None:
    lines = listed(100, "plan", "--help").splitlines()
    found = lines[lines.index("Commands:") + 1 :]
    assert [line.split()[0] for line in found if line[2:3].strip()] == [
        "rate", "mean", "paired", "labels",
    ]  # fmt: skip


@pytest.mark.parametrize("above", [[], ["plan"], ["annotate"], ["guard"], ["monitor"]])
@pytest.mark.parametrize("width", [80, 100])
def test_no_line_is_cut_and_none_is_wider_than_the_terminal(width: int, above: list[str]) -> None:
    shown = listed(width, *above, "--help")
    assert "..." not in shown.replace("[ARGS]...", "")
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("command", [[], ["plan"], ["evaluate"], ["plan", "rate"]])
def test_help_is_one_letter_away(command: list[str]) -> None:
    shown = listed(100, *command, "-h")
    assert shown.startswith(f"Usage: {' '.join(['ragstone', *command])} ")
    assert shown == listed(100, *command, "--help")


@pytest.mark.parametrize("group", [[], ["plan"]])
def test_a_group_without_a_command_shows_its_help(group: list[str]) -> None:
    assert listed(100, *group, status=2) == listed(100, *group, "--help")


def test_lines_of_help_are_short_on_a_wide_screen() -> None:
    for command in ([], ["plan"], ["evaluate"], ["plan", "labels"]):
        assert max(map(len, listed(250, *command, "-h").splitlines())) <= 100


def test_help_is_drawn_without_rich() -> None:
    code = (
        "import sys, contextlib, io, ragstone.cli.app as cli\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "    cli.app(['gate', '--help'])\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('rich', 'polars')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
