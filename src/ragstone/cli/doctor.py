"""``ragstone doctor``: what is installed here, and what is not."""

from collections.abc import Iterator, Sequence
from typing import Any

from .output import print_page

# Environment variables with the keys of judges; only their names are shown, never their values.
KEYS = (
    "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
)  # fmt: skip


def doctor(*, json: bool = False) -> None:
    """Show what is installed, and whether runs can be written here."""
    from ragstone.report.page import Facts, Note, Page, section

    examined = examination()
    facts = Facts(tuple(Note(name, words) for name, words in _rows(examined)))
    print_page(Page("doctor", "", (section(facts),), record=lambda: examined), json=json)


def _rows(examined: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((name, examined[name]) for name in ("ragstone", "python"))
    yield from ((name, version or "not installed") for name, version in examined["base"].items())
    for extra in examined["extras"]:
        words = "installed" if extra["installed"] else f"not installed: {extra['install']}"
        yield f"extra {extra['name']}", f"{words}  ({', '.join(extra['packages'])})"
    encoder, screen, folder = examined["encoder"], examined["terminal"], examined["folder"]
    colours = "colours" if screen["colours"] else "no colours"
    yield "encoder", f"{encoder['name']}, {encoder['state']}"
    yield "keys", ", ".join(examined["keys"]) or f"none set of {', '.join(KEYS)}"
    yield "own metrics", ", ".join(examined["own_metrics"]) or "none installed"
    yield "terminal", f"{screen['width']} columns, {screen['encoding']}, {colours}"
    yield "folder", f"{folder['path']}, {'writable' if folder['writable'] else 'NOT writable'}"
    needed_for = "to fetch a model and to ask judges and encoders on a server"
    yield "network", f"{examined['network']}, except {needed_for}"


def examination() -> dict[str, Any]:
    """Return versions, extras, terminal and folder, in the order in which ``--json`` has them."""
    import os
    import platform
    from importlib.metadata import entry_points
    from pathlib import Path

    import ragstone
    from ragstone.models import BUILTIN, cache_folder
    from ragstone.report import terminal

    console = terminal()
    here = Path.cwd()
    extras = _needed()
    return {
        "ragstone": ragstone.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "base": {name: _version(name) for name in extras.pop("")},
        "extras": [_extra(name, packages) for name, packages in extras.items()],
        "encoder": {"name": BUILTIN, "state": _state_of_builtin(), "cache": str(cache_folder())},
        "keys": [name for name in KEYS if os.environ.get(name)],
        "own_metrics": sorted(point.name for point in entry_points(group="ragstone.metrics")),
        "terminal": {
            "width": console.width,
            "encoding": console.encoding,
            "colours": console.color_system is not None,
        },
        "folder": {"path": str(here), "writable": os.access(here, os.W_OK)},
        "network": "not needed",
    }


def _needed() -> dict[str, list[str]]:
    """Return the packages of each extra, and of the base under an empty name."""
    import re
    from importlib.metadata import requires

    packages: dict[str, list[str]] = {}
    for requirement in requires("ragstone") or ():
        if line := re.match(r"""([\w.-]+)[^;]*(?:;.*extra == ['"]([\w-]+))?""", requirement):
            packages.setdefault(line[2] or "", []).append(line[1])
    return packages


def _extra(name: str, packages: Sequence[str]) -> dict[str, Any]:
    versions = {package: _version(package) for package in packages}
    return {
        "name": name,
        "packages": versions,
        "installed": all(versions.values()),
        "install": f"pip install 'ragstone[{name}]'",
    }


def _state_of_builtin() -> str:
    from ragstone.models import BUILTIN, available, stored

    if all(model.origin.name != BUILTIN for model in stored()):
        return "not fetched: ragstone models pull"
    if not available(BUILTIN):
        return "fetched, but cannot be opened: ragstone models verify, and see the extra local"
    return "fetched"


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
