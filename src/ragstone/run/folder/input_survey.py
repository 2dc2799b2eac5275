"""Input survey: reads all data before models are asked, and recognises files of a resumed run.

Faults in the data therefore cost nothing. Files are recognised by name, size, time of the last
change and a sample of their bytes; their fingerprint and number of examples then still hold.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ragstone.core.errors import CannotGoOn, InputError
from ragstone.core.files import RunEntry
from ragstone.core.messages import argument
from ragstone.data import Example, Examples
from ragstone.data.json_text import ascii_safe
from ragstone.judgements import Preference
from ragstone.metrics import Metric, wanted_topics

from .checksums import write_json


@dataclass(frozen=True, slots=True)
class Survey:
    """Facts about the data before anything is asked."""

    examples: int
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def look_through(
    examples: Iterable[Example], metrics: Sequence[Metric], *, known: int | None = None
) -> Survey:
    """Read all examples.

    Args:
        known: How many examples there are, if these were looked through before; they are then
            read again only for what metrics compare.
    """
    compared = any(topic.ask == Preference.name for topic in wanted_topics(metrics))
    if known is not None and not compared:
        return Survey(known)
    answers: dict[str, dict[str, str]] = {}
    count = 0
    for example in examples:
        count += 1
        if compared and example.answer is not None:
            answers.setdefault(example.question_id, {})[example.system] = example.answer
    return Survey(count, answers)


def partly_answered(examples: Iterable[Example]) -> list[str]:
    """The systems that give some answers and no answer, not even an empty text, elsewhere."""
    pairs = {(example.system, example.answer is None) for example in examples}
    return sorted(system for system, is_null in pairs if is_null and (system, False) in pairs)


FILE = "input.json"
PIECE, PIECES = 4096, 64
"""Bytes of a piece of a sample, and how many pieces it has."""


class KnownFile(BaseModel):
    """The facts by which a file is recognised."""

    model_config = ConfigDict(frozen=True)

    name: str
    bytes: int
    changed: int
    """Nanoseconds since 1970."""
    sample: str


class KnownInput(BaseModel):
    """The files of a run, and what was found out about them.

    Attributes:
        examples: How many there are; None if they were not counted.
        over_systems: Whether ids are those of questions of several systems; None if that is not
            known yet.
    """

    model_config = ConfigDict(frozen=True)

    files: list[KnownFile]
    fingerprint: str
    examples: int | None = None
    over_systems: bool | None = None


def write_known_input(parts: Path, data: Examples, known: KnownInput) -> None:
    """Write the facts of the data's files, if it has any, to a run's unfinished tables."""
    if known.files:
        facts = known.model_copy(update={"over_systems": data.over_systems})
        write_json(parts / FILE, facts.model_dump())


def check_unchanged(data: Examples, known: KnownInput) -> None:
    """Check that the files are still those that the run began with.

    Raises:
        CannotGoOn: One cannot be read any more, so nobody knows.
        InputError: One was changed while the run read it.
    """
    try:
        changed = [file.name for file in known.files if file != known_file(Path(file.name))]
        # The time alone changes where a file is copied over itself.
        same = not changed or data.fingerprint() == known.fingerprint
    except OSError as error:
        raise CannotGoOn(
            f"{error.filename} cannot be read any more ({error.strerror}), so it is not known "
            "whether it changed while the run was reading it. Put it back as it was; then run "
            "the same command again, which judges nothing again."
        ) from error
    if not same:
        raise InputError(
            f"{', '.join(changed)} changed while the run was reading it, so its shards may "
            "come of two versions. Run it again with "
            f"{argument('out', 'ANOTHER_FOLDER')}, or delete its folder."
        )


def known_input(folder: Path, files: Sequence[KnownFile]) -> KnownInput | None:
    """Read what an unfinished run knows of these files; None if they are not its files."""
    try:
        known = KnownInput.model_validate_json((folder / RunEntry.PARTS / FILE).read_bytes())
        same = bool(files) and known.files == list(files)
    except (OSError, ValidationError):
        return None
    return known if same else None


def known_file(file: Path) -> KnownFile:
    try:
        str(file).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{ascii_safe(str(file))}: the name of this file is not UTF-8. Rename it."
        ) from error
    digest = blake2b(digest_size=16)
    with file.open("rb") as handle:
        status = os.fstat(handle.fileno())
        last = max(0, status.st_size - PIECE)
        for number in range(PIECES):
            handle.seek(last * number // (PIECES - 1))
            digest.update(handle.read(PIECE))
    return KnownFile(
        name=str(file), bytes=status.st_size, changed=status.st_mtime_ns, sample=digest.hexdigest()
    )
