"""Guideline: the instructions for a kind, some shared by people and models, some for one of them.

They are in a Markdown file with the kind's name, next to its module:

    # Support: do the passages say so?

    What is judged, and how.

    ## For models
    How a reply is to be written.

    ## For people
    What only annotators need to know.

    ## Hard cases
    - One a line.

``{verdict}`` is replaced by the values of that column and their meanings, ``{claim.verdict}`` by
those of one part of the kind, ``{response.response_type}`` by those of another kind. Without such a
file, the docstring of the module is the guideline.

``support.german.md`` is what people read in German: a Markdown file without places for values, in
which a paragraph that begins with a label's name, such as `` `support`: ``, says what it means.
"""

import re
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from .kind import KINDS, Kind

ENGLISH = "English"
FOR_MODELS, FOR_PEOPLE, HARD_CASES = "For models", "For people", "Hard cases"
_SECTION = re.compile(rf"^## ({FOR_MODELS}|{FOR_PEOPLE}|{HARD_CASES})[^\S\n]*$", re.MULTILINE)
_PLACE = re.compile(r"\{(?:(\w+)\.)?(\w+)\}")


@dataclass(frozen=True, slots=True)
class Guideline:
    """The sections of a guideline; all but the title, which is the question that is answered, may
    be empty.
    """

    title: str
    definition: str = ""
    for_models: str = ""
    for_people: str = ""
    hard_cases: str = ""

    @classmethod
    def read(cls, text: str) -> "Guideline":
        """Split a text into its sections; without a title, all of it is the definition."""
        if not text.startswith("# "):
            return cls("", text.strip())
        head, *sections = _SECTION.split(text)
        title, _, definition = head[2:].partition("\n")
        texts = dict(zip(sections[::2], sections[1::2], strict=True))
        return cls(title.strip(), definition.strip(),
                   *(texts.get(name, "").strip()
                     for name in (FOR_MODELS, FOR_PEOPLE, HARD_CASES)))  # fmt: skip


def guideline_of(kind: type[Kind]) -> Guideline:
    file = guideline_file(kind)
    if file is not None and file.is_file():
        return Guideline.read(file.read_text(encoding="utf-8"))
    return Guideline.read(f"# {(sys.modules[kind.__module__].__doc__ or kind.name).strip()}")


def guideline_file(kind: type[Kind]) -> Path | None:
    """Return the file of a guideline; None if its module is in no file, as in a notebook."""
    module = getattr(sys.modules[kind.__module__], "__file__", None)
    return None if module is None else Path(module).with_name(f"{kind.name}.md")


def languages(folder: Path | None = None) -> tuple[str, ...]:
    """Return the languages in which people can read at least one kind's guideline, English first.

    The folder has translations of the user's own, called as those of Ragstone.
    """
    files = [file for kind in KINDS.values() if (file := guideline_file(kind)) is not None]
    files += [] if folder is None else [folder / f"{name}.md" for name in KINDS]
    others = (other for file in files for other in file.parent.glob(f"{file.stem}.*.md"))
    names = {other.suffixes[0].removeprefix(".").capitalize() for other in others}
    return (ENGLISH, *sorted(names - {ENGLISH}))


def is_in(kind: type[Kind], language: str, folder: Path | None = None) -> bool:
    """True if people can read the kind's guideline in this language."""
    return language == ENGLISH or _file_in(kind, language, folder) is not None


def _file_in(kind: type[Kind], language: str, folder: Path | None) -> Path | None:
    users = None if folder is None else folder / f"{kind.name}.md"
    for file in (users, guideline_file(kind)):
        translation = None if file is None else file.with_suffix(f".{language.lower()}.md")
        if translation is not None and translation.is_file():
            return translation
    return None


def places(text: str) -> list[str]:
    """The places in a guideline that are kept for the meaning of values."""
    return list(dict.fromkeys(match[0] for match in _PLACE.finditer(text)))


def filled(text: str, kind: type[Kind]) -> str:
    """A section of a guideline, its placeholders replaced by the meanings of values.

    Raises:
        KeyError: A placeholder names a kind, part or column that does not exist.
    """
    return _PLACE.sub(lambda match: meaning(kind, match[2], match[1] or ""), text)


def instructions_for_people(kind: type[Kind], columns: Collection[str] = (),
                            language: str = ENGLISH,
                            folder: Path | None = None) -> str:  # fmt: skip
    """Return the guideline for people, in Markdown, without the section for models.

    ``columns`` are those to be labelled; empty: all that people label. It is in English if there is
    none in the language, neither in the user's folder nor in Ragstone.
    """
    labelled = [name for name in kind.labels() if name in (columns or kind.labels())]
    file = _file_in(kind, language, folder)
    if file is not None:
        others = tuple(
            f"`{label}`:" for name, label in kind.labels().items() if name not in labelled
        )
        blocks = file.read_text(encoding="utf-8").strip().split("\n\n")
        return "\n\n".join(block for block in blocks if not block.startswith(others)) + "\n"
    guideline = guideline_of(kind)
    hard = f"## {HARD_CASES}\n\n{guideline.hard_cases}" if guideline.hard_cases else ""
    parts = [filled(f"# {guideline.title}", kind), filled(guideline.definition, kind),
             *(f"`{kind.columns[name].label}`{_in_words(kind, name)}" for name in labelled),
             filled(guideline.for_people, kind), filled(hard, kind)]  # fmt: skip
    return "\n\n".join(filter(None, parts)) + "\n"


def _in_words(kind: type[Kind], name: str) -> str:
    if kind.columns[name].values:
        return f":\n{meaning(kind, name)}"
    return f": yes if {meaning(kind, name)}; else no."


def meaning(kind: type[Kind], name: str, of: str = "") -> str:
    """Return the meaning of a column: a line for each value, or the condition under which it is
    true.

    ``of`` is a part of the kind that has its own values, or the name of another kind.
    """
    parts = {ask.part: ask.values for ask in kind.asks}
    if of and of not in parts:
        kind = KINDS[of]
    column = kind.columns[name]
    if not column.values:
        return column.doc
    if column.role == "number":
        return ", ".join(f"{value} {means}" for value, means in column.values.items())
    values = (parts.get(of) if of else None) or tuple(map(str, column.values))
    meanings = {str(value): means for value, means in column.values.items()}
    words = column.role != "grade"
    return "\n".join(f"- {f'`{value}`' if words else value}: {meanings[value]}" for value in values)
