"""Scripts of ``benchmarks/``, of which tests run a short part."""

import importlib
import sys
from types import ModuleType

from tests.project import ROOT

FOLDER = ROOT / "benchmarks"


def script(name: str) -> ModuleType:
    """A script, which finds those that it imports beside it."""
    if str(FOLDER) not in sys.path:
        # Behind all others: a script may have the name of something that is installed.
        sys.path.append(str(FOLDER))
    return importlib.import_module(name)
