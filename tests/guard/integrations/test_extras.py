"""Extras: the middleware and the decorator need nothing but Ragstone."""

import subprocess
import sys


def test_the_middleware_and_the_decorator_load_no_library_of_these() -> None:
    known = {"langchain_core", "llama_index", "haystack", "starlette", "fastapi", "opentelemetry"}
    code = (
        f"import sys, ragstone.guard.integrations; print(*sorted({known!r} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
