"""No script: the tools that we are compared with, and the mock judge that all ask.

The environments of the tools are made once, in .venv/peers.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

from measure import SHARED, defined_in


def mock(**settings: float) -> Any:
    """A fresh mock judge in a process of its own, which counts what it is sent; a context."""
    return defined_in(SHARED / "bench" / "mock_llm.py", "MockServer")(**settings)


def peer_python(name: str) -> str:
    """The interpreter of an environment with what peers-NAME.txt lists."""
    folder = Path(".venv/peers").absolute() / name
    python, done = folder / "bin" / "python", folder / ".installed"
    if not done.is_file():
        print(f"Making {folder} …", file=sys.stderr)
        requirements = Path(__file__).with_name(f"peers-{name}.txt")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", requirements], check=True)
        done.touch()
    return str(python)
