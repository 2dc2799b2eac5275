"""Where the project lies, for tests that read its documents, scripts and settings."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
