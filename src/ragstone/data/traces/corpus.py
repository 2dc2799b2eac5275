"""Corpus: passages by their ids, for spans that carry only those."""

import json
from functools import lru_cache
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.core.errors import DataError, Fault, InputError
from ragstone.data.example import id_text
from ragstone.data.json_text import first_value

ID_FIELDS = ("_id", "id", "doc_id", "document_id")
TEXT_FIELDS = ("text", "contents", "content", "page_content")
SHOWN = 20
# Passages whose texts are kept, for the same ones are found again and again.
REMEMBERED = 512


class Corpus:
    """Passages in a file of JSON lines with ``_id`` or ``id``, ``title`` and ``text``, as BEIR has
    them.

    In memory are 16 bytes a passage, which say where it lies; its text is read when it is asked
    for. A file that is replaced meanwhile has to be opened anew; until then no wrong text is given.

    Raises:
        InputError: It cannot be opened.
        DataError: Lines have no id or no text; with the first of them.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        try:
            with self.path.open("rb") as file:
                self._keys, self._starts = _index(file, self.path)
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}.") from None
        self._remembered = lru_cache(REMEMBERED)(self._read)

    def __len__(self) -> int:
        return len(self._keys)

    def text(self, id: str) -> str | None:
        """Title and text of the passage with this id; None if there is none."""
        return self._remembered(id)

    def _read(self, id: str) -> str | None:
        key = _key(id)
        first, behind = np.searchsorted(self._keys, key), np.searchsorted(self._keys, key, "right")
        if first == behind:
            return None
        try:
            with self.path.open("rb") as file:
                for start in self._starts[first:behind]:
                    file.seek(int(start))
                    passage = _passage(file.readline())
                    if passage is not None and passage[0] == id:
                        return passage[1]
        except OSError:
            return None
        return None


def _index(file: Any, path: Path) -> tuple[np.ndarray, np.ndarray]:
    keys, starts, faults, at = [], [], [], 0
    for number, line in enumerate(file, 1):
        if line.strip():
            passage = _passage(line)
            if passage is None:
                expected = "an object with _id or id, and text"
                faults.append(Fault(str(path), number, "", expected, repr(line[:60])))
                if len(faults) > SHOWN:
                    break
            else:
                keys.append(_key(passage[0]))
                starts.append(at)
        at += len(line)
    if faults:
        raise DataError(faults, hint="A corpus is a file of JSON lines, one passage each.")
    order = np.argsort(np.array(keys, np.uint64), kind="stable")
    return np.array(keys, np.uint64)[order], np.array(starts, np.uint64)[order]


def _key(id: str) -> int:
    return int.from_bytes(blake2b(id.encode("utf-8", "replace"), digest_size=8).digest())


def _passage(line: bytes) -> tuple[str, str] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    ids = (id_text(record.get(name)) for name in ID_FIELDS)
    id = next((id for id in ids if id is not None), None)
    text = first_value(record, TEXT_FIELDS, str)
    if text is None or id is None:
        return None
    title = record.get("title")
    return id, f"{title}\n{text}" if isinstance(title, str) and title else text
