"""How often `contradicted` is right: labelled claims that the rules once called contradicted.

    python benchmarks/contradictions.py [--data ../shared/data] [--write]

All claims in tests/judges/local/contradictions were called contradicted by version 1 of the rules
and labelled by hand after the guideline there. ``labelled.jsonl`` names rows of the human-labelled
sets by id and fingerprint and holds none of their text; ``own.jsonl`` are claims of our own, true
ones of every kind among them. Precision before is the share of true ones; after, their share among
those that are still called contradicted. Intervals are Clopper-Pearson. ``--write`` puts the tables
into docs/local-judge.md.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import labelled as labelled_sets
from scipy.stats import binomtest

from ragstone.judges.local.claim_support import support
from ragstone.judges.local.claims_and_evidence import Passages, claims
from ragstone.judges.local.sentences import sentences

Row = dict[str, Any]

CLAIMS = Path(__file__).parents[1] / "tests" / "judges" / "local" / "contradictions"
PAGE = "local-judge.md"
HEAD = ["claims", "n", "true", "precision before", "still called", "of them true",
        "precision after", "true ones lost"]  # fmt: skip
SOURCES = {
    "own": "answers and their contexts",
    "other turns": "answers and contexts of other turns",
    "article": "claims and the article around them",
    "answers": "two answers to one question",
    "document": "a sentence and the rest of its document",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--write", action="store_true", help=f"rewrite the table in {PAGE}")
    arguments = parser.parse_args()
    text = labelled_sets.table(HEAD, table(arguments.data))
    print(text)
    if arguments.write:
        labelled_sets.write_into(PAGE, "contradicted", text)


def table(data: Path) -> Iterator[list[str]]:
    judged = list(zip(labelled(), called(data), strict=True))
    yield line("labelled, all", judged)
    for half, shown in (("seen", "seen while the rules were made"), ("aside", "kept aside")):
        yield line(f"labelled, {shown}", [one for one in judged if one[0]["half"] == half])
    for source, shown in SOURCES.items():
        yield line(f"labelled, {shown}", [one for one in judged if one[0]["source"] == source])


def line(name: str, judged: Sequence[tuple[Row, bool]]) -> list[str]:
    true = [said for row, said in judged if row["contradicts"]]
    still = sum(said for _, said in judged)
    return [
        name,
        str(len(judged)),
        str(len(true)),
        share(len(true), len(judged)),
        str(still),
        str(sum(true)),
        share(sum(true), still),
        str(len(true) - sum(true)),
    ]


def share(part: int, whole: int) -> str:
    if not whole:
        return ""
    interval = binomtest(part, whole).proportion_ci(0.95, method="exact")
    return f"{part / whole:.2f} ({interval.low:.2f}–{interval.high:.2f})"


def labelled(name: str = "labelled") -> list[Row]:
    lines = (CLAIMS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def called_own() -> list[bool]:
    """Whether each claim of our own is called contradicted."""
    return [contradicted(row["claim"], [row["context"]]) for row in labelled("own")]


def called(data: Path) -> list[bool]:
    """Whether each labelled claim is called contradicted."""
    return [contradicted(*held_against(row, data)) for row in labelled()]


def contradicted(claim: str, contexts: Sequence[str]) -> bool:
    return support(claim, Passages(contexts)).verdict == "contradicted"


def held_against(row: Row, data: Path) -> tuple[str, list[str]]:
    """The claim and what it is held against, found by its fingerprint."""
    record = records(data / row["file"])[row["id"].partition("/")[0]]
    if row["source"] == "document":
        text = (
            " ".join(record["contexts"])
            if row["against"] is None
            else record["contexts"][row["against"]]
        )
        all_of_them = [one.text for one in sentences(text)]
        claim = the_one(row, all_of_them)
        place = all_of_them.index(claim)
        return claim, all_of_them[:place] + all_of_them[place + 1 :]
    if row["source"] == "answers":
        other = records(data / row["file"])[row["against"].partition("/")[0]]
        claim = the_one(row, [one.text for one in claims(answer(record, row["id"]))])
        return claim, [answer(other, row["against"])]
    texts = [record["answer"], *record["reference"]]
    whole = [
        part
        for text in texts
        if text
        for part in (*(one.text for one in claims(text)), *(one.text for one in sentences(text)))
    ]
    claim = the_one(row, whole)
    if row["source"] == "article":
        return claim, [record["meta"]["claim_context"]]
    if row["source"] == "other turns":
        return claim, other_turns(record, data / row["file"])
    return claim, record["contexts"]


def the_one(row: Row, texts: Iterable[str]) -> str:
    """The text with the fingerprint: of 16 hexadecimal digits, so there is no other."""
    return next(text for text in texts if fingerprint(text) == row["claim"])


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def answer(record: Row, name: str) -> str:
    text: str = record[name.partition("/")[2] or "answer"]
    return text


def other_turns(record: Row, path: Path) -> list[str]:
    """The contexts of the other turns of a conversation, without those of this one."""
    own, talk = set(record["contexts"]), conversation(record)
    turns = [one for one in records(path).values() if conversation(one) == talk]
    found = dict.fromkeys(context for turn in turns for context in turn["contexts"])
    return [context for context in found if context not in own]


def conversation(record: Row) -> str:
    name: str = record["meta"].get("task_id") or record["id"]
    return name.partition("<")[0]


@cache
def records(path: Path) -> dict[str, Row]:
    return {record["id"]: record for record in labelled_sets.records_of(path)}


if __name__ == "__main__":
    main()
