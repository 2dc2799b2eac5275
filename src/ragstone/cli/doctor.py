"""``ragstone doctor``: what is installed here, and what is not."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from . import options
from .output import print_page

BASE = ("aiohttp", "numpy", "polars", "pydantic", "pydantic-core", "rich", "typer")
EXTRAS = {
    "az": ("adlfs", "fsspec"),
    "bedrock": ("botocore",),
    "gs": ("fsspec", "gcsfs"),
    "haystack": ("haystack-ai",),
    "langchain": ("langchain-core",),
    "litellm": ("litellm",),
    "llama-index": ("llama-index-core",),
    "local": ("huggingface-hub", "safetensors", "threadpoolctl", "tokenizers"),
    "onnx": ("huggingface-hub", "onnxruntime", "tokenizers"),
    "opentelemetry": ("opentelemetry-api",),
    "pandas": ("pandas", "pyarrow"),
    "png": ("resvg-py",),
    "postgres": ("psycopg",),
    "prices": ("genai-prices",),
    "pydantic-ai": ("pydantic-ai-slim",),
    "ray": ("ray",),
    "s3": ("fsspec", "s3fs"),
    "torch": ("sentence-transformers", "torch"),
    "ui": (
        "h11",
        "jinja2",
        "markdown-it-py",
        "markupsafe",
        "opentelemetry-proto",
        "opentelemetry-sdk",
        "protobuf",
        "python-multipart",
        "starlette",
        "uvicorn",
    ),
}
KEYS = (
    "OPENAI_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
)
"""Of the environment, by which judges are asked; told are their names alone."""


@dataclass(frozen=True, slots=True)
class Extra:
    """What only some users need: its packages with the versions that are here."""

    name: str
    packages: dict[str, str | None]
    installed: bool
    install: str


@dataclass(frozen=True, slots=True)
class BuiltinEncoder:
    """The encoder that comes by default."""

    name: str
    state: str
    cache: str


@dataclass(frozen=True, slots=True)
class Screen:
    """What is printed to."""

    width: int
    encoding: str
    colours: bool


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """Where runs would be written."""

    path: str
    writable: bool


@dataclass(frozen=True, slots=True)
class Examination:
    """Versions, extras, terminal and folder, in the order in which ``--json`` has them."""

    ragstone: str
    python: str
    base: dict[str, str | None]
    extras: list[Extra]
    encoder: BuiltinEncoder
    keys: list[str]
    own_metrics: list[str]
    terminal: Screen
    folder: WorkFolder
    network: str


def doctor(
    json: options.Json = False,
) -> None:
    """Show what is installed, which extras are missing, and whether runs can be written here."""
    from ragstone.report.page import Facts, Note, Page, section

    found = examination()
    facts = Facts(tuple(Note(name, words) for name, words in _rows(found)))
    print_page(Page("doctor", "", (section(facts),), record=lambda: asdict(found)), json=json)


def _rows(found: Examination) -> Iterator[tuple[str, str]]:
    yield from (("ragstone", found.ragstone), ("python", found.python))
    yield from ((name, version or "not installed") for name, version in found.base.items())
    for extra in found.extras:
        words = "installed" if extra.installed else f"not installed: {extra.install}"
        yield f"extra {extra.name}", f"{words}  ({', '.join(extra.packages)})"
    screen, folder = found.terminal, found.folder
    colours = "colours" if screen.colours else "no colours"
    yield "encoder", f"{found.encoder.name}, {found.encoder.state}"
    yield "keys", ", ".join(found.keys) or f"none set of {', '.join(KEYS)}"
    yield "own metrics", ", ".join(found.own_metrics) or "none installed"
    yield "terminal", f"{screen.width} columns, {screen.encoding}, {colours}"
    yield "folder", f"{folder.path}, {'writable' if folder.writable else 'NOT writable'}"
    yield (
        "network",
        f"{found.network}, but to fetch a model and to ask judges and encoders behind a server",
    )


def examination() -> Examination:
    """Look at what is here."""
    import os
    import platform
    from importlib.metadata import entry_points
    from pathlib import Path

    import ragstone
    from ragstone.models import BUILTIN, cache_folder
    from ragstone.report import terminal

    console = terminal()
    here = Path.cwd()
    return Examination(
        ragstone=ragstone.__version__,
        python=f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        base={name: _version(name) for name in BASE},
        extras=[_extra(name, packages) for name, packages in EXTRAS.items()],
        encoder=BuiltinEncoder(BUILTIN, _state_of_builtin(), str(cache_folder())),
        keys=[name for name in KEYS if os.environ.get(name)],
        own_metrics=sorted(point.name for point in entry_points(group="ragstone.metrics")),
        terminal=Screen(console.width, console.encoding, console.color_system is not None),
        folder=WorkFolder(str(here), os.access(here, os.W_OK)),
        network="not needed",
    )


def _extra(name: str, packages: Sequence[str]) -> Extra:
    versions = {package: _version(package) for package in packages}
    return Extra(name, versions, all(versions.values()), f"pip install 'ragstone[{name}]'")


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
