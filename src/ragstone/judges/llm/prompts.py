"""Prompts: the instructions of each task, identified by the hash of their text.

A prompt is made from the guideline of its kind: the part for people and models,
and the part for models only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from importlib import resources
from pathlib import Path

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.judgements import (
    KINDS,
    Column,
    Guideline,
    Kind,
    answered_by,
    filled,
    guideline_of,
    meaning,
)

SYSTEM = "system"
"""``system.md`` stands before every prompt."""


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
        """The system message; the same for all questions, so that they share a prefix."""
        language = self.language or "the language of the texts"
        return f"{self.texts[SYSTEM].rstrip()}\n\nWrite in {language}.\n"

    def instructions(self, task: str) -> str:
        """The instructions of a task, with its hard cases."""
        return self.texts[task]

    def version(self, task: str) -> str:
        """BLAKE2b of the text of a task, 8 hex digits."""
        return blake2b(self.texts[task].encode(), digest_size=4).hexdigest()

    def versions(self) -> dict[str, str]:
        """The version of every text, and the language if one is set."""
        versions = {name: self.version(name) for name in self.texts}
        return versions | ({"language": self.language} if self.language else {})


def load_prompts(folder: Path | None = None, language: str | None = None) -> Prompts:
    """Load the prompts of all kinds; a file ``KIND.md`` in the folder replaces a guideline.

    Raises:
        InputError: The folder is not there, or holds a file that is no prompt's, is empty, is
            not UTF-8 or names a column that there is not; says all of them.
    """
    system = resources.files("ragstone.judges.llm") / f"{SYSTEM}.md"
    texts = {SYSTEM: system.read_text(encoding="utf-8")}
    texts |= {name: prompt(KINDS[name], guideline_of(KINDS[name])) for name in asked_kinds()}
    return Prompts(texts | _replaced(folder, list(texts)), language)


def asked_kinds() -> list[str]:
    """The kinds with a prompt for models."""
    answered = answered_by("model")
    return [
        name
        for name, kind in KINDS.items()
        if not kind.asked_with and any(ask.name in answered for ask in kind.asks)
    ]


def prompt(kind: type[Kind], guideline: Guideline) -> str:
    """The prompt of a kind."""
    if not guideline.title:
        return filled(guideline.definition, kind)
    title = f"# Task {kind.name}: {guideline.title.partition(': ')[2] or guideline.title}"
    hard_cases = f"Hard cases\n{guideline.hard_cases}" if guideline.hard_cases else ""
    parts = [
        filled(title, kind),
        filled(guideline.definition, kind),
        filled(guideline.for_models, kind) or _form(kind),
        filled(hard_cases, kind),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _form(kind: type[Kind]) -> str:
    """The format of replies, if the guideline does not specify it."""
    column = kind.columns[kind.decides]
    lines = [f"`verdict`:\n{meaning(kind, column.name)}" if column.values else
             f"`verdict`: `yes` if {column.doc}; else `no`."]  # fmt: skip
    others = [one for one in kind.columns.values() if one is not column and _is_written(one)]
    if others:
        lines.append(f"`details`, as `{others[0].reply or others[0].name}: …`:")
        lines += [f"- `{one.reply or one.name}`: {_meant(kind, one)}" for one in others]
    return "\n".join(lines)


def _is_written(column: Column) -> bool:
    return column.role in ("verdict", "grade", "number") and bool(column.values or column.label)


def _meant(kind: type[Kind], column: Column) -> str:
    if column.values:
        return ", ".join(f"{value} {means}" for value, means in column.values.items())
    return f"yes if {meaning(kind, column.name)}, else no"


def _replaced(folder: Path | None, known: list[str]) -> dict[str, str]:
    if folder is None:
        return {}
    if not folder.is_dir():
        raise InputError(f"{argument('prompts', folder)}: there is no such folder.")
    texts: dict[str, str] = {}
    faults: list[str] = []
    for file in sorted(folder.glob("*.md")):
        if file.stem not in known:
            faults.append(f"{file.name} is the prompt of no task")
            continue
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            faults.append(f"{file.name} is not UTF-8")
            continue
        if not text.strip():
            faults.append(f"{file.name} is empty")
            continue
        try:
            kind = KINDS.get(file.stem)
            texts[file.stem] = text if kind is None else prompt(kind, Guideline.read(text))
        except KeyError as error:
            faults.append(f"{file.name} names {error}, which no kind has")
    if not texts and not faults:
        faults.append("it holds no prompt")
    if faults:
        names = ", ".join(f"{name}.md" for name in known)
        given = argument("prompts", folder)
        raise InputError(f"{given}: {'; '.join(faults)}. Prompts are: {names}.")
    return texts
