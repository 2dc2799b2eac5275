"""Each example does what its README says, command by command, in a folder that has nothing else."""

import re
import shlex
import shutil
import socket
import subprocess
import time
import tomllib
from contextlib import closing
from itertools import chain
from pathlib import Path

import pytest

from ragstone.data import cornwall
from tests.availability import unavailable
from tests.forked import COMMAND, Forked
from tests.project import ROOT

READMES = sorted(ROOT.glob("examples/*/README.md"))
SCRIPT = "import runpy, sys; sys.argv[:1] = []; runpy.run_path(sys.argv[0], run_name='__main__')"
UVICORN = "import sys; sys.argv[0] = 'uvicorn'; from uvicorn.main import main; main()"
PATIENCE = 120
"""Seconds; a busy machine is far below it."""


def commands_in(readme: Path) -> list[list[str]]:
    """The commands of its blocks, in order, as a shell splits them."""
    text = readme.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if line]


def installs(arguments: list[str]) -> None:
    """Nothing is installed here, so what is asked for has to be among what the project names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, developers = settings["project"], settings["dependency-groups"]["dev"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *developers, *chain.from_iterable(extras.values())]
    known = re.findall(r"[\w.-]+", " ".join(named).lower())
    for name in arguments:
        place, _, extra = name.rstrip("]").partition("[")
        assert extra in extras if extra else place == "." or name in known, name


def free_port() -> int:
    with closing(socket.socket()) as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


def wait_for(server: Forked, port: int) -> None:
    """Until the server takes connections."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with closing(socket.socket()) as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.returncode is None, server.communicate()
        time.sleep(0.05)
    raise AssertionError("The server does not answer.")


@pytest.mark.parametrize("readme", READMES, ids=lambda path: path.parent.name)
def test_the_commands_of_an_example_work_in_their_order(readme: Path, tmp_path: Path) -> None:
    """As they stand, but for the port, since that of the README may be taken, and fewer answers."""
    nothing_made = shutil.ignore_patterns("__pycache__", "corpus.jsonl")
    shutil.copytree(readme.parent, tmp_path / readme.parent.relative_to(ROOT), ignore=nothing_made)
    data = tmp_path / "src" / "ragstone" / "data"
    data.mkdir(parents=True)
    shutil.copy(cornwall(), data)
    if shutil.which("curl") is None:
        unavailable("needs curl")
    port = free_port()
    here = f"http://127.0.0.1:{port}"
    servers = []
    try:
        for program, *arguments in commands_in(readme):
            if program == "pip":
                installs(arguments[1:])
            elif program in ("ragstone", "uvicorn"):
                source = COMMAND if program == "ragstone" else UVICORN
                server = Forked(source, *arguments, "--port", port, cwd=tmp_path)
                servers.append(server)
                wait_for(server, port)
            elif program == "python":
                to = ("--to", here, "--n", 100) if servers else ()
                process = Forked(SCRIPT, *arguments, *to, cwd=tmp_path)
                printed = process.communicate()
                assert process.returncode == 0, printed
            else:
                assert program == "curl"
                asked = [re.sub(r"^localhost:\d+", here, argument) for argument in arguments]
                answer = subprocess.run(
                    ["curl", "--fail", *asked], capture_output=True, text=True, timeout=PATIENCE
                )
                assert answer.returncode == 0, answer.stderr
                assert "ragstone_guard" in answer.stdout
    finally:
        for server in servers:
            server.kill()
