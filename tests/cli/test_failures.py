import gc
import io
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import ragstone
from ragstone.cli.app import main
from ragstone.cli.evaluate import run_name
from ragstone.cli.output import guarded, print_json
from ragstone.core.errors import InputError, MissingDependency

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
    assert "KeyError in test_failures.py" in said
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


def test_json_on_a_stream_without_an_encoding_is_unescaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
        "sys.exit(any(name in sys.modules for name in ('polars', 'numpy', 'pandas')))"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


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
