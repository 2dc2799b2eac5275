"""Instructions: how chat models are instructed."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Instructions:
    """Instructions to chat models.

    Args:
        plan: ``isolated``: each task in its own call. ``lean``: some tasks share a call.
        prompts: Folder of custom prompts, which replace the built-in ones.
        language: Language of the replies; None: the language of the texts.
        rubrics: TOML file with your own criteria.
    """

    plan: str = "isolated"
    prompts: Path | None = None
    language: str | None = None
    rubrics: Path | None = None


PLAIN = Instructions()
"""The prompts of the package, each task by itself."""
