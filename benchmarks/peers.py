"""No script: environments of the tools that we are measured beside, made once in .venv/peers."""

import subprocess
import sys
from pathlib import Path


def peer_python(name: str) -> str:
    """The interpreter of an environment with what peers-NAME.txt lists."""
    folder = Path(".venv/peers").absolute() / name
    python, done = folder / "bin" / "python", folder / ".installed"
    if not done.is_file():
        print(f"Making {folder} …", file=sys.stderr)
        wanted = Path(__file__).with_name(f"peers-{name}.txt")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", wanted], check=True)
        done.touch()
    return str(python)
