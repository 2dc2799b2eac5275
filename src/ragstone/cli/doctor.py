"""``ragstone doctor``: what is installed here, and what is not."""

from typing import Annotated, Any

import typer

from .output import print_page

BASE = ("aiohttp", "numpy", "polars", "pydantic", "typer")
EXTRAS = {
    "bedrock": ("botocore",),
    "litellm": ("litellm",),
    "local": ("huggingface-hub", "safetensors", "threadpoolctl", "tokenizers"),
    "onnx": ("huggingface-hub", "onnxruntime", "tokenizers"),
    "pandas": ("pandas", "pyarrow"),
    "prices": ("genai-prices",),
    "pydantic-ai": ("pydantic-ai-slim",),
    "torch": ("sentence-transformers", "torch"),
}
KEYS = (
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
)
"""Of the environment, by which judges are asked; told are their names alone."""


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show what is installed, which extras are missing, and whether runs can be written here."""
    from ragstone.report.page import Facts, Note, Page, section

    found = examination()
    rows = [("ragstone", found["ragstone"]), ("python", found["python"])]
    rows += [(name, version or "not installed") for name, version in found["base"].items()]
    for extra in found["extras"]:
        words = "installed" if extra["installed"] else f"not installed: {extra['install']}"
        rows.append((f"extra {extra['name']}", f"{words}  ({', '.join(extra['packages'])})"))
    screen, encoder, folder = found["terminal"], found["encoder"], found["folder"]
    colours = "colours" if screen["colours"] else "no colours"
    rows += [
        ("encoder", f"{encoder['name']}, {encoder['state']}"),
        ("keys", ", ".join(found["keys"]) or f"none set of {', '.join(KEYS)}"),
        ("own metrics", ", ".join(found["own_metrics"]) or "none installed"),
        ("terminal", f"{screen['width']} columns, {screen['encoding']}, {colours}"),
        ("folder", f"{folder['path']}, {'writable' if folder['writable'] else 'NOT writable'}"),
        ("network", f"{found['network']}, but to fetch a model and to ask judges and encoders "
                    "behind a server"),
    ]  # fmt: skip
    facts = Facts(tuple(Note(name, words) for name, words in rows))
    print_page(Page("doctor", "", (section(facts),), record=lambda: found), json=json)


def examination() -> dict[str, Any]:
    """Versions, extras, terminal and folder, as plain data."""
    import os
    import platform
    from importlib.metadata import entry_points
    from pathlib import Path

    import ragstone
    from ragstone.models import BUILTIN, cache_folder
    from ragstone.report import terminal

    console = terminal()
    here = Path.cwd()
    return {
        "ragstone": ragstone.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "base": {name: _version(name) for name in BASE},
        "extras": [
            {
                "name": extra,
                "packages": {name: _version(name) for name in packages},
                "installed": all(_version(name) for name in packages),
                "install": f"pip install 'ragstone[{extra}]'",
            }
            for extra, packages in EXTRAS.items()
        ],
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


def _state_of_builtin() -> str:
    from ragstone.models import BUILTIN, available, stored

    if all(one.origin.name != BUILTIN for one in stored()):
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
