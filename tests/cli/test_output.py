"""What commands print: failures and their exit status, the progress bar, and the help."""

import gc
import io
import os
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import ragstone
from ragstone.cli.app import PANELS, app, main
from ragstone.cli.evaluate import run_name
from ragstone.cli.output import bar, guarded, print_json
from ragstone.core.errors import InputError, MissingDependency
from ragstone.run import Counts, Progress

COMMAND = [sys.executable, "-c", "from ragstone.cli.app import main; main()"]


def ending(failure: BaseException) -> tuple[int, str]:
    """Status and standard error of a command that fails so."""

    def fails() -> None:
        raise failure

    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(guarded(fails))
    result = CliRunner().invoke(app)
    return result.exit_code, result.stderr


def test_bad_input_ends_with_2() -> None:
    assert ending(InputError("No such thing.")) == (2, "No such thing.\n")


def test_a_missing_extra_says_what_to_install() -> None:
    status, said = ending(MissingDependency("A pandas table", "pandas"))
    assert status == 2
    assert "ragstone[pandas]" in said


def test_a_file_that_cannot_be_written_ends_with_2() -> None:
    assert ending(PermissionError(13, "Permission denied", "runs/x")) == (
        2,
        "runs/x: Permission denied. Name another one, or change its permissions.\n",
    )


def test_a_fault_of_no_file_is_told_by_its_reason() -> None:
    assert ending(OSError(28, "No space left on device")) == (2, "No space left on device\n")


def test_an_interrupted_command_says_that_it_can_go_on() -> None:
    status, said = ending(KeyboardInterrupt())
    assert status == 130
    assert "run the same command again" in said


def test_a_bug_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGSTONE_DEBUG", raising=False)
    status, said = ending(KeyError("row"))
    assert status == 70
    assert said.count("\n") == 1
    assert "KeyError in test_output.py" in said
    assert "RAGSTONE_DEBUG=1" in said


def test_a_bug_shows_its_traceback_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_DEBUG", "1")

    def fails() -> None:
        raise KeyError("row")

    with pytest.raises(KeyError):
        guarded(fails)()


def test_a_closed_pipe_is_quiet() -> None:
    listing = subprocess.Popen(
        [*COMMAND, "metrics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert listing.stdout is not None
    listing.stdout.close()
    _, said = listing.communicate(timeout=60)
    assert said == b""


def test_output_that_the_terminal_cannot_encode_does_not_fail() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    result = subprocess.run(
        [*COMMAND, "metrics", "faithfulness"], capture_output=True, env=environment, check=False
    )
    assert result.returncode == 0


def test_a_sign_that_standard_output_has_not_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    collecting = gc.get_threshold()
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr(sys, "argv", ["ragstone", "metrics", "precision"])
    with pytest.raises(SystemExit) as ended:
        main()
    gc.set_threshold(*collecting)
    assert ended.value.code == 0
    assert b"\\u2026" in written.getvalue() or b"\\x" in written.getvalue()


@pytest.mark.parametrize(
    ("encoding", "written"),
    [("utf-8", '"é"'), ("UTF-16", '"é"'), ("latin-1", '"\\u00e9"'), ("ascii", '"\\u00e9"')],
)
def test_json_is_readable_in_every_encoding(
    encoding: str, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    print_json("é")
    sys.stdout.flush()
    assert raw.getvalue().decode(encoding) == f"{written}\n"


def test_json_on_a_stream_without_an_encoding_is_unescaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    print_json("é")
    assert isinstance(sys.stdout, io.StringIO)
    assert sys.stdout.getvalue() == '"é"\n'


def test_json_has_no_number_that_is_none() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json(float("nan"))


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    """The bound is generous: a busy machine takes longer than the 0.3 s that are promised."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*COMMAND, "--help"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.9
    check = (
        "import sys, ragstone.cli.app; "
        "sys.exit(any(name in sys.modules for name in ('polars', 'numpy', 'pandas', 'logging')))"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


@pytest.mark.parametrize(
    ("command", "most"),
    [
        (("--help",), 27),
        (("metrics", "faithfulness"), 124),
        (("judges",), 168),
        (("runs", "{folder}"), 193),
        (("show", "{run}"), 210),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_command_imports_what_it_needs(command: Sequence[str], most: int, demo: Path) -> None:
    """Imports are most of the time of a short command; every module takes a millisecond or two."""
    words = [word.format(run=demo, folder=demo.parent) for word in command]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "ragstone", *words],
        capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    assert len(re.findall(r"\| +ragstone\b", done.stderr)) <= most


def test_every_command_has_help() -> None:
    from ragstone.cli.app import app

    for command in ("evaluate", "score", "show", "export", "metrics", "judges", "formats",
                    "doctor"):  # fmt: skip
        result = CliRunner().invoke(app, [command, "--help"])
        assert result.exit_code == 0
        assert "Usage" in result.stdout


def test_version_is_told() -> None:
    from ragstone.cli.app import app

    result = CliRunner().invoke(app, ["--version"])
    assert result.stdout == f"ragstone {ragstone.__version__}\n"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("sets/answers.jsonl.gz", "answers"),
        ("sets/nq/", "nq"),
        ("run.v2.trec", "run.v2"),
        (".", Path.cwd().name),
        (".hidden", "hidden"),
        ("-", "stdin"),
        ("/", "run"),
    ],
)
def test_a_run_is_named_after_its_data(data: str, name: str) -> None:
    assert run_name(data) == name


GONE = "\x1b[1A\x1b[2K"
"""Up a line, and that line wiped."""


class Screen(io.StringIO):
    """A terminal in memory."""

    def isatty(self) -> bool:
        return True


def drawn(*steps: Progress) -> str:
    """All that a terminal is sent for these steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "160")
        patch.setenv("TERM", "xterm")
        patch.setattr(sys, "stderr", screen := Screen())
        with bar() as step:
            assert step is not None
            for one in steps:
                step(one)
    return screen.getvalue()


def last(*steps: Progress) -> str:
    """The bar after these steps, without the line that is drawn and its colours."""
    shown = drawn(*steps).rpartition("\n")[0].rpartition("\x1b[2K")[2]
    return " ".join(re.sub(r"\x1b\[[0-9;]*m|[━╸╺]", "", shown).split())


def test_a_pipe_has_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with bar() as step:
        assert step is None
    assert capsys.readouterr() == ("", "")


def test_before_anything_is_known_data_are_read() -> None:
    assert last() == "reading 0 rows 0:00:00 left"


def test_a_stage_is_shown_with_its_share_and_rows() -> None:
    assert last(Progress("judging", 1200, 0.25)) == ("judging 25% 1,200 rows 0:00:00 left -:--:--")


def test_of_what_has_no_known_end_no_share_is_shown() -> None:
    assert last(Progress("judging", 3, None)) == "judging 3 rows 0:00:00 left"


def test_the_time_left_goes_by_the_steps_of_one_stage() -> None:
    first, second = Progress("judging", 1, 0.25), Progress("judging", 2, 0.5)
    assert last(first, second).endswith("left 0:00:01")
    assert last(first, Progress("scoring", 2, 0.5)).endswith("left -:--:--")


def test_the_bar_is_wiped_in_the_end() -> None:
    assert drawn(Progress("judging", 1, 1.0)).endswith(GONE)


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (Counts(calls=1200, in_flight=8), "1,200 calls, 8 in flight"),
        (Counts(calls=3, from_journal=4, from_cache=4), "3 calls, 0 in flight, 8 known"),
        (Counts(calls=3, rate_limits=2, failed=1), "3 calls, 0 in flight, 2 × 429, 1 failed"),
        (Counts(calls=3, usd=0.02), "3 calls, 0 in flight, $0.0200"),
        (Counts(calls=3, usd=1.0), "3 calls, 0 in flight, $1.00"),
        (Counts(calls=3, usd=1234.5), "3 calls, 0 in flight, $1,234.50"),
    ],
)
def test_what_is_asked_of_models_is_counted(counts: Counts, told: str) -> None:
    assert f"7 rows, {told} 0:00" in last(Progress("judging", 7, 0.5, counts))


def test_the_workers_of_a_cluster_are_counted() -> None:
    assert "3 rows, 1 worker 0:00:00" in last(Progress("judging", 3, None, workers=1))
    assert "3 rows, 12 workers, 5 calls" in last(
        Progress("judging", 3, None, Counts(calls=5), workers=12)
    )


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
        elif panel and line.startswith("  ") and line[2] != " ":
            found[line.split()[0]] = panel
    expected = {one.__name__: panel for panel, commands in PANELS.items() for one in commands}
    assert found == expected | {
        "annotate": "Human labels", "plan": "Look up", "monitor": "Production",
        "guard": "Production",
    }  # fmt: skip


def test_the_plans_are_listed_as_commands() -> None:
    lines = listed(100, "plan", "--help").splitlines()
    found = lines[lines.index("Commands:") + 1 :]
    assert [line.split()[0] for line in found if line[:2] == "  " and line[2:3].strip()] == [
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


def test_the_usual_help_fits_a_screen_and_the_whole_one_has_all_options() -> None:
    usual, whole = listed(80, "evaluate", "--help"), listed(80, "evaluate", "--help-all")
    assert len(listed(80, "--help").splitlines()) <= 40
    assert len(usual.splitlines()) <= 45
    every = set(re.findall(r"--[a-z-]+", whole))
    assert {"--judge", "--concurrency", "--batch-wait", "--kinds", "--no-cache"} <= every
    assert "--concurrency" not in usual
    for panel in ("Data", "Judge", "Metrics", "Cost", "Output"):
        assert f"\n{panel}:\n" in usual


def test_an_option_of_evaluate_is_described_as_in_python() -> None:
    whole = " ".join(listed(80, "evaluate", "--help-all").split())
    assert "Field that groups dependent rows: intervals treat rows with the same value" in whole
    assert "In Python" not in whole
    assert "``" not in whole
