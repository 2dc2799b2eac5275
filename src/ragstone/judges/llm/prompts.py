"""Prompts: what a model is told to do, one file a task, known by the hash of its text."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from importlib import resources
from pathlib import Path

from ragstone.errors import InputError

SYSTEM = "system"
TASKS = (
    "claims",
    "statements",
    "relevance",
    "support",
    "agreement",
    "quality",
    "probes",
    "rating",
    "critique",
    "preference",
)
"""Each a file ``TASK.md``; ``system.md`` stands before them all."""


@dataclass(frozen=True)
class Prompts:
    """The texts of all tasks, and the language that replies are written in.

    Args:
        texts: By name: ``system`` and each task.
        language: Such as ``German``; None: that of the texts under judgement.
    """

    texts: Mapping[str, str]
    language: str | None = None

    @property
    def system(self) -> str:
        """What stands before every question; the same for all, so that prefixes are shared."""
        language = self.language or "the language of the texts"
        return f"{self.texts[SYSTEM].rstrip()}\n\nWrite in {language}.\n"

    def instructions(self, task: str) -> str:
        """What a task is about, with its hard cases."""
        return self.texts[task]

    def version(self, task: str) -> str:
        """BLAKE2b of the text of a task, 8 hex digits."""
        return blake2b(self.texts[task].encode(), digest_size=4).hexdigest()

    def versions(self) -> dict[str, str]:
        """The version of every text, and of the language where one is set."""
        versions = {name: self.version(name) for name in (SYSTEM, *TASKS)}
        return versions | ({"language": self.language} if self.language else {})


def load_prompts(folder: Path | None = None, language: str | None = None) -> Prompts:
    """The prompts of the package; a file ``TASK.md`` of the folder stands in for one of them.

    Raises:
        InputError: The folder is not there, or holds a file that is no prompt's, is empty or is
            not UTF-8; says all of them.
    """
    own = resources.files("ragstone.judges.llm") / "prompts"
    texts = {name: (own / f"{name}.md").read_text(encoding="utf-8") for name in (SYSTEM, *TASKS)}
    return Prompts(texts | _replaced(folder), language)


def _replaced(folder: Path | None) -> dict[str, str]:
    if folder is None:
        return {}
    if not folder.is_dir():
        raise InputError(f"--prompts {folder}: there is no such folder.")
    texts: dict[str, str] = {}
    faults: list[str] = []
    for file in sorted(folder.glob("*.md")):
        if file.stem not in (SYSTEM, *TASKS):
            faults.append(f"{file.name} is the prompt of no task")
            continue
        try:
            texts[file.stem] = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            faults.append(f"{file.name} is not UTF-8")
            continue
        if not texts[file.stem].strip():
            faults.append(f"{file.name} is empty")
    if not texts and not faults:
        faults.append("it holds no prompt")
    if faults:
        known = ", ".join(f"{name}.md" for name in (SYSTEM, *TASKS))
        raise InputError(f"--prompts {folder}: {'; '.join(faults)}. Prompts are: {known}.")
    return texts
