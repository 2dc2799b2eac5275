"""Extras: an adapter without its library says what to install; without any the rest works."""

import subprocess
import sys

import pytest

ADAPTERS = {"langchain": "langchain_core", "llama_index": "llama_index", "haystack": "haystack"}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_without_its_library_names_the_extra(adapter: str) -> None:
    code = (
        f"import sys; sys.modules[{ADAPTERS[adapter]!r}] = None\n"
        "from ragstone.core.errors import MissingDependency\n"
        f"try:\n    import ragstone.guard.integrations.{adapter}\n"
        "except MissingDependency as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    extra = adapter.replace("_", "-")
    assert f"pip install 'ragstone[{extra}]'" in done.stdout, done.stderr


def test_the_middleware_and_the_decorator_load_no_library_of_these() -> None:
    known = {*ADAPTERS.values(), "starlette", "fastapi", "opentelemetry"}
    code = (
        f"import sys, ragstone.guard.integrations; print(*sorted({known!r} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
