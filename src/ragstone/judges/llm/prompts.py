"""Prompts: the instructions of each task, and contexts and other texts as a model sees them.

A prompt is made from the guideline of its kind and identified by the hash of its text. Long
contexts are split, and nothing is left out. Each text stands between boundary lines of its own,
and everything between them is data, whatever it says. Equal texts give equal bytes in every run.
Every block ends with an empty line::

    ANSWER
    ==== 5f0c…
    [s1] The bridge opened in 1859. [s2] It is still in use.
    ==== 5f0c… end
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib import resources
from pathlib import Path

from ragstone.core.errors import InputError
from ragstone.core.messages import argument
from ragstone.data import Context, Example, Turn
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
from ragstone.judges.local.sentences import sentences
from ragstone.models.chat import ITEMS

from .questions import between, escaped, listing

# The id of an answer whose sentences are numbered.
ANSWER = "a01"

# ``system.md`` stands before every prompt.
SYSTEM = "system"


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
        """The instructions of a task, with its hard cases, followed by a blank line."""
        return f"{self.texts[task].rstrip()}\n\n"

    def versions(self) -> dict[str, str]:
        """BLAKE2b of every text in 8 hex digits, and the language if one is set."""
        versions = {name: blake2b(text.encode(), digest_size=4).hexdigest()
                    for name, text in self.texts.items()}  # fmt: skip
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
    return [name for name, kind in KINDS.items()
            if not kind.asked_with and any(ask.name in answered for ask in kind.asks)]  # fmt: skip


def prompt(kind: type[Kind], guideline: Guideline) -> str:
    if not guideline.title:
        return filled(guideline.definition, kind)
    title = f"# Task {kind.name}: {guideline.title.partition(': ')[2] or guideline.title}"
    hard_cases = f"Hard cases\n{guideline.hard_cases}" if guideline.hard_cases else ""
    parts = [filled(title, kind), filled(guideline.definition, kind),
             filled(guideline.for_models, kind) or _form(kind),
             filled(hard_cases, kind)]  # fmt: skip
    return "\n\n".join(filter(None, parts)) + "\n"


def _form(kind: type[Kind]) -> str:
    column = kind.columns[kind.decides]
    lines = [f"`verdict`:\n{meaning(kind, column.name)}" if column.values else
             f"`verdict`: `yes` if {column.doc}; else `no`."]  # fmt: skip
    others = [other for other in kind.columns.values() if other is not column
              and other.role in ("verdict", "grade", "number")
              and (other.values or other.label)]  # fmt: skip
    if others:
        lines.append(f"`details`, as `{others[0].reply or others[0].name}: …`:")
        lines += [f"- `{other.reply or other.name}`: {_meant(kind, other)}" for other in others]
    return "\n".join(lines)


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
        option = argument("prompts", folder)
        raise InputError(f"{option}: {'; '.join(faults)}. Prompts are: {names}.")
    return texts


# Context lists that several tasks may still ask for.
_KEPT = 1_024

# Contexts that other examples may have too.
_KEPT_TEXTS = 2048

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_WORD = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A context as shown to a model, or a part of a long one.

    Args:
        id: ``c01``, ``c02``, …: its place among all passages of the example.
        context: Id of the context in the data.
        rank: Its rank.
        text: As in the data.
        first: Number of its first sentence within the context, from 0.
        starts: Where in ``text`` each of its sentences begins. A part that begins
            within a sentence begins with that sentence, whose number then is in both parts.
    """

    id: str
    context: str
    rank: int
    text: str
    first: int = 0
    starts: tuple[int, ...] = ()

    @property
    def sentences(self) -> int:
        """The number of sentences, including one that it begins inside of."""
        return len(self.starts)


@lru_cache(_KEPT)
def passages(
    contexts: tuple[Context, ...], room: int, at_once: int = ITEMS
) -> tuple[tuple[Passage, ...], ...]:
    """The passages of contexts, in groups that each fit into one question; nearly always one.

    A context longer than the room is split at the end of a paragraph, else of a sentence or a word,
    else anywhere; its parts joined are its text. A context without text is left out.

    Args:
        room: The most characters of text in a group, at least 1.
    """
    if room < 1 or at_once < 1:
        raise ValueError(f"room and at_once are at least 1, got {room} and {at_once}")
    groups: list[list[Passage]] = []
    used = number = 0
    for context in contexts:
        if context.text is None:
            continue
        for text, first, starts in _parts(context.text, room):
            if not groups or len(groups[-1]) == at_once or used + len(text) > room:
                groups.append([])
                used = 0
            number += 1
            name = f"c{number:02d}"
            groups[-1].append(Passage(name, context.id, context.rank, text, first, starts))
            used += len(text)
    return tuple(map(tuple, groups))


@lru_cache(_KEPT_TEXTS)
def _parts(text: str, room: int) -> list[tuple[str, int, tuple[int, ...]]]:
    """Each part, the number of its first sentence, and where in it its sentences begin."""
    in_text = sentences(text)
    starts = [sentence.start for sentence in in_text]
    parts: list[tuple[str, int, tuple[int, ...]]] = []
    start = 0
    while not parts or start < len(text):
        end = len(text) if len(text) - start <= room else _cut(text, start, start + room, starts)
        first, after = bisect_left(starts, start), bisect_left(starts, end)
        mine = [position - start for position in starts[first:after]]
        if first and in_text[first - 1].end > start:
            first -= 1
            mine.insert(0, 0)
        parts.append((text[start:end], first, tuple(mine)))
        start = end
    return parts


def _cut(text: str, start: int, limit: int, starts: Sequence[int]) -> int:
    """The end is at ``limit`` at the latest, past the half if it can be."""
    half = (start + limit + 1) // 2
    paragraphs = [match.end() for match in _PARAGRAPH.finditer(text, start, limit)]
    if paragraphs and paragraphs[-1] >= half:
        return paragraphs[-1]
    after = bisect_left(starts, limit + 1)
    if after and starts[after - 1] >= half:
        return starts[after - 1]
    words = [match.end() for match in _WORD.finditer(text, half, limit)]
    return words[-1] if words else limit


@lru_cache(_KEPT)
def contexts_block(group: tuple[Passage, ...]) -> str:
    """The passages of a question, each after its id, with the sentences of each context numbered.

    ``[s1]`` is the first sentence of a context; further parts of it continue the numbers.
    """
    texts = {
        passage.id: _numbered(passage.text, passage.starts, passage.first) for passage in group
    }
    return between("CONTEXTS", texts, tuple(passage.text for passage in group))


def block(title: str, text: str) -> str:
    """One text: ``QUESTION``, ``ANSWER``, ``REFERENCE``, ``POLICY``."""
    return between(title, {"": escaped(text)}, (text,))


def sentences_block(title: str, text: str, name: str) -> str:
    """One text behind its id, with its sentences numbered from ``[s1]``."""
    starts = [sentence.start for sentence in sentences(text)]
    return between(title, {name: _numbered(text, starts)}, (text,))


def turns_block(history: Sequence[Turn]) -> str:
    """The earlier turns of a conversation, each with its role, after ``t01``, ``t02``, …"""
    turns = {f"t{n:02d}": f"{turn.role}: {turn.text}" for n, turn in enumerate(history, 1)}
    return listing("EARLIER TURNS", turns)


def _numbered(text: str, starts: Sequence[int], first: int = 0) -> str:
    if not starts:
        return escaped(text)
    parts = [escaped(text[: starts[0]])]
    for number, start, end in zip(
        range(first + 1, first + 1 + len(starts)), starts, (*starts[1:], len(text)), strict=True
    ):
        parts += (f"[s{number}] ", escaped(text[start:end]))
    return "".join(parts)


# What a rubric may see.
TEXTS = ("question", "contexts", "answer", "reference")


def has(example: Example, text: str) -> bool:
    """True if an example has one of ``TEXTS``; contexts with only an id do not count.

    An empty answer counts as an answer; a blank question does not count.
    """
    if text == "contexts":
        return any(context.text is not None for context in example.contexts or ())
    if text == "question":
        return bool((example.question or "").strip())
    if text == "reference":
        return len(example.reference) > 0
    return getattr(example, text) is not None


def shown(example: Example, *texts: str) -> tuple[str, ...]:
    """The blocks of these texts, as far as the example has them, without contexts.

    The question includes the earlier turns of the conversation. ``sentences`` is the answer with
    its sentences numbered, as it is shown to the task of claims, so that the two share a block.
    """
    return tuple(block for text in texts for block in _blocks(example, text))


def _blocks(example: Example, text: str) -> Iterator[str]:
    if text == "sentences":
        if example.answer is not None:
            yield sentences_block("ANSWER", example.answer, ANSWER)
    elif text == "contexts" or not has(example, text):
        return
    elif text == "question":
        if example.history:
            yield turns_block(example.history)
        yield block("QUESTION", example.question or "")
    elif text == "reference" and len(example.reference) > 1:
        numbered = {f"r{number:02}": text for number, text in enumerate(example.reference, 1)}
        yield listing("REFERENCE, of which any one counts", numbered)
    else:
        only = example.reference[0] if text == "reference" else getattr(example, text)
        yield block(text.upper(), only)


def facts_of(example: Example, *texts: str) -> tuple[object, ...]:
    """The content of these texts, for a fingerprint."""
    facts: list[object] = []
    for text in texts:
        if text == "question":
            facts.append([(turn.role, turn.text) for turn in example.history])
            facts.append(example.question)
        elif text == "contexts":
            facts.append([(context.id, context.text) for context in example.contexts or ()])
        else:
            facts.append(getattr(example, text))
    return tuple(facts)
