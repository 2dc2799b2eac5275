"""Writes docs/dependencies.md: what Ragstone rests on, under which licences, and why.

python docs/dependencies.py
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

APACHE, BSD, MIT = "Apache-2.0", "BSD-3-Clause", "MIT"
TORCH = (
    "Apache-2.0 AND Apache-2.0 WITH LLVM-exception AND BSD-2-Clause AND BSD-3-Clause AND BSL-1.0 "
    "AND MIT"
)

DIRECT = {
    "adlfs": (BSD, "data and runs in Azure"),
    "aiohttp": ("Apache-2.0 AND MIT", "asks chat models and embedding servers, many at once"),
    "aiosmtpd": (APACHE, "a mail server to which alarms are sent"),
    "axe-playwright-python": (MIT, "finds what keeps people from using a page"),
    "botocore": (APACHE, "signs requests to Bedrock, and finds AWS credentials"),
    "cryptography": ("Apache-2.0 OR BSD-3-Clause", "makes the certificate of a test"),
    "cyclonedx-python-lib": (APACHE, "writes the bill of materials of a wheel"),
    "duckdb": (MIT, "reads run folders, as their users do"),
    "fastapi": (MIT, "an app that is guarded"),
    "fsspec": (BSD, "opens what lies at a URL"),
    "gcsfs": (BSD, "data and runs in Google Cloud"),
    "genai-prices": (MIT, "prices of models"),
    "h11": (MIT, "reads HTTP for the local app, within bounds"),
    "haystack-ai": (APACHE, "a pipeline that is guarded"),
    "httpx2": (BSD, "asks the pages in tests, for Starlette's client"),
    "huggingface-hub": (APACHE, "downloads models"),
    "hypothesis": ("MPL-2.0", "makes up inputs that break what must always hold"),
    "import-linter": ("BSD-2-Clause", "holds the rooms to the order of their imports"),
    "jinja2": (BSD, "templates of pages, which it escapes"),
    "krippendorff": ("GPL-3.0-or-later", "another computation of agreement, to compare with"),
    "langchain-core": (MIT, "a chain that is guarded"),
    "litellm": (MIT, "asks models that we do not ask ourselves"),
    "llama-index-core": (MIT, "a query engine that is guarded"),
    "mapie": (BSD, "another computation of conformal thresholds, to compare with"),
    "markdown-it-py": (MIT, "shows answers that are written in Markdown"),
    "markupsafe": (BSD, "escapes texts for pages"),
    "moto": (APACHE, "a server that speaks S3"),
    "mypy": (MIT, "checks types"),
    "numpy": ("BSD-3-Clause AND 0BSD AND MIT AND Zlib AND CC0-1.0", "statistics and encoders"),
    "onnx": (APACHE, "makes tiny models for tests"),
    "onnxruntime": (MIT, "runs encoders in ONNX"),
    "openai": (APACHE, "a client whose traces are read"),
    "openinference-instrumentation-langchain": (APACHE, "traces of LangChain, to read"),
    "openinference-instrumentation-llama-index": (APACHE, "traces of LlamaIndex, to read"),
    "opentelemetry-api": (APACHE, "writes the guard's verdict into the span of the app"),
    "opentelemetry-exporter-otlp-proto-http": (APACHE, "sends traces to the monitor"),
    "opentelemetry-instrumentation-openai-v2": (APACHE, "traces of OpenAI's client, to read"),
    "opentelemetry-proto": (APACHE, "the form in which traces come"),
    "opentelemetry-sdk": (APACHE, "lets Ray start beside opentelemetry-proto"),
    "opentelemetry-util-genai": (APACHE, "pins what an instrumentation imports"),
    "pandas": (BSD, "data frames from and for its users"),
    "playwright": (APACHE, "drives a browser"),
    "polars": (MIT, "tables, and the expressions that metrics are"),
    "ppi-python": (MIT, "another computation of corrected means, to compare with"),
    "protobuf": (BSD, "reads traces"),
    "psycopg": ("LGPL-3.0-only", "labels and the monitor's store in PostgreSQL"),
    "pyarrow": (APACHE, "gives tables to pandas"),
    "pydantic": (MIT, "checks what models reply and files say"),
    "pydantic-ai-slim": (MIT, "asks models by their names in Pydantic AI"),
    "pydantic-core": (MIT, "the errors of pydantic, to say where a fault lies"),
    "pytest": (MIT, "runs tests"),
    "pytest-randomly": (MIT, "runs tests in another order each time"),
    "pytest-xdist": (MIT, "runs tests on all processors"),
    "python-multipart": (APACHE, "reads the forms of pages"),
    "pytrec-eval-terrier": (MIT, "another computation of ranking metrics, to compare with"),
    "ray": (APACHE, "judges on a cluster"),
    "resvg-py": (MIT, "turns charts into PNG"),
    "rich": (MIT, "tables and progress in the terminal"),
    "rouge-score": (APACHE, "another computation of ROUGE, to compare with"),
    "ruff": (MIT, "checks style"),
    "s3fs": (BSD, "data and runs in S3"),
    "safetensors": (APACHE, "reads weights of models, without running code"),
    "scikit-learn": (BSD, "another computation of calibration, to compare with"),
    "sentence-transformers": (APACHE, "encoders that need torch"),
    "starlette": (BSD, "routes and replies of the local app"),
    "statsmodels": (BSD, "another computation of intervals and tests, to compare with"),
    "threadpoolctl": (BSD, "keeps numpy's threads from getting in each other's way"),
    "tokenizers": (APACHE, "splits texts as a model was trained to"),
    "torch": (TORCH, "runs encoders on a GPU"),
    "typer": (MIT, "the command line"),
    "uvicorn": (BSD, "serves the local app and the monitor"),
    "zensical": (MIT, "builds the site of the documentation"),
}
"""The licence of each direct dependency as it says itself, in SPDX, and why it is there."""

CARRIED = {
    "htmx 2": ("0BSD", "changes parts of a page", "web/static/htmx.min.js"),
    "Inter": ("OFL-1.1", "letters of pages and charts", "web/static/fonts, report/render"),
    "Literata": ("OFL-1.1", "letters of passages and answers", "web/static/fonts"),
}
"""What lies in the package itself: its licence, why, and where."""


HEAD = """\
# What Ragstone rests on

`python docs/dependencies.py` writes this page. These are the direct dependencies; what
they need in turn, with versions and hashes, is in `requirements.lock`, and in the bill
of materials beside each wheel (`make wheel`).

## Always
"""
EXTRAS = """
## In extras

`pip install 'ragstone[local]'` installs those of `local`, and so on.
"""
DEVELOPERS = """
## For those who change Ragstone

`make test`, `make check` and `make docs` install them; no user gets them.
"""


def declared() -> dict[str, list[str]]:
    """The places in which each direct dependency is named: extras, and ``""`` for the base."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        settings = tomllib.load(file)
    project, groups = settings["project"], settings["dependency-groups"]
    developers = [*groups["dev"], *groups["docs"]]
    places: dict[str, list[str]] = {}
    extras = {"": project["dependencies"], **project["optional-dependencies"], "dev": developers}
    for place, requirements in extras.items():
        for requirement in requirements:
            name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower()
            places.setdefault(name, []).append(place)
    return places


def page() -> str:
    """The whole page.

    Raises:
        KeyError: A dependency has no licence and reason here.
    """
    places = declared()
    extras = {name: [one for one in where if one != "dev"] for name, where in places.items()}
    carried = [f"| {name} | {' | '.join(facts)} |" for name, facts in CARRIED.items()]
    return "\n".join(
        [
            HEAD,
            *_table({name: "" for name, where in places.items() if "" in where}),
            EXTRAS,
            *_table({name: ", ".join(where) for name, where in extras.items()
                     if where and "" not in where}),
            "\n## In the package itself\n",
            "| what | licence | why | where |\n|---|---|---|---|",
            *carried,
            DEVELOPERS,
            *_table({name: "" for name, where in places.items() if where == ["dev"]}),
            "",
        ]
    )  # fmt: skip


def _table(extras: dict[str, str]) -> Iterator[str]:
    shows = any(extras.values())
    yield f"| package | licence | why |{' extra |' if shows else ''}"
    yield f"|---|---|---|{'---|' if shows else ''}"
    for name in sorted(extras):
        licence, why = DIRECT[name]
        yield f"| {name} | {licence} | {why} |{f' {extras[name]} |' if shows else ''}"


if __name__ == "__main__":
    (ROOT / "docs" / "dependencies.md").write_text(page(), encoding="utf-8")
