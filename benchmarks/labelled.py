"""No script: human-labelled sets of ``../shared/data``, and the pages of docs that show figures."""

import gzip
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

DOCS = Path(__file__).parents[1] / "docs"
_WORD = re.compile(r"\w+")
COMMONEST = frozenset(
    _WORD.findall(
        "a an the of in on at to for and or is are was were be been it its this that with as by "
        "from"
    )
)


def records_of(path: Path) -> list[Record]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def word_share(record: Record) -> float | None:
    """The naive judge: share of the answer's words, without the commonest, in the contexts."""
    held = set(_WORD.findall(" ".join(record["contexts"]).lower()))
    words = set(_WORD.findall(record["answer"].lower())) - COMMONEST
    return len(words & held) / len(words) if words else None


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])


def write_into(page: str, name: str, text: str) -> None:
    """Replace what stands on a page of docs between the comments with this name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = (DOCS / page).read_text(encoding="utf-8").split(begin)
    whole = f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"
    (DOCS / page).write_text(whole, encoding="utf-8")
