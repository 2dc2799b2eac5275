"""Instructions: what chat models are told, and how."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Instructions:
    """What models are told, and how.

    Args:
        plan: ``isolated``: each task by itself; ``lean``: some tasks in one question.
        prompts: A folder with prompts that replace those of the package.
        language: What replies are written in; None: the language of the texts.
        rubrics: A TOML file with criteria of the user's own.
    """

    plan: str = "isolated"
    prompts: Path | None = None
    language: str | None = None
    rubrics: Path | None = None


PLAIN = Instructions()
"""The prompts of the package, each task by itself."""
