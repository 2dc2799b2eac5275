"""What tests need besides the package: where it is absent they skip, and on CI they fail."""

import os
from typing import Any, NoReturn

import pytest

ON_CI = os.environ.get("RAGSTONE_CI") == "1"
PEERS = frozenset({"bert_score", "sacrebleu", "sentence_transformers", "torch", "transformers"})
"""What `make peers` installs; RAGSTONE_PEERS=none says that it could not."""


def unavailable(reason: str) -> NoReturn:
    """Skip the test, or fail it on continuous integration, which has all that tests need."""
    if ON_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def import_or_skip(name: str, reason: str = "") -> Any:
    """Import a module of the development environment."""
    try:
        return pytest.importorskip(name, reason=reason or f"needs {name}")
    except pytest.skip.Exception as skipped:
        peer = name.partition(".")[0] in PEERS
        if peer and os.environ.get("RAGSTONE_PEERS") == "none":
            raise
        unavailable(str(skipped))


class Lazily:
    """A module that is imported at first use, for each worker collects every test.

    Only what takes seconds, as torch does and what imports it.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # Which pytest asks every name, to find fixtures.
            raise AttributeError(attribute)
        return getattr(import_or_skip(self._name), attribute)
