"""Fingerprints: the same data has the same 32 hex digits, on every machine."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ragstone.examples.streams import on_disk

CHUNK = 1 << 20
DIGEST_SIZE = 16


def fingerprint_files(paths: Sequence[Path]) -> str:
    """BLAKE2b-128 of the bytes on disk; of several files, of names and bytes in order of name."""
    digest = blake2b(digest_size=DIGEST_SIZE)
    paths = [on_disk(path) for path in paths]
    for path in sorted(paths, key=lambda path: path.name):
        if len(paths) > 1:
            digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as handle:
            while chunk := handle.read(CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def fingerprint_records(records: Iterable[Mapping[str, Any]]) -> str:
    """BLAKE2b-128 of the records' JSON text with sorted names, one a line."""
    digest = blake2b(digest_size=DIGEST_SIZE)
    for record in records:
        text = json.dumps(record, sort_keys=True, ensure_ascii=False, default=str)
        digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
