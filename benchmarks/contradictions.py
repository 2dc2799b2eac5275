"""How often `contradicted` is right: labelled claims that the rules once called contradicted.

    python benchmarks/contradictions.py [--write]

All claims in tests/judges/local/contradictions were called contradicted by version 1 of the rules
and labelled by hand after the guideline there. ``labelled.jsonl`` names rows of the human-labelled
sets by id and fingerprint and holds none of their text; ``own.jsonl`` are claims of our own, true
ones of every kind among them. Precision before is the share of true ones; after, their share among
those that are still called contradicted. Intervals are Clopper-Pearson. ``--write`` puts the tables
into benchmarks/local-judge.md.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from labelled import records_of, write_into_page
from labelled import table as markdown
from measure import ROOT, run

from ragstone.judges.local.claim_support import support
from ragstone.judges.local.claims_and_evidence import Passages, claims
from ragstone.judges.local.sentences import sentences
from ragstone.stats import clopper_pearson

Row = dict[str, Any]

CLAIMS = ROOT / "tests" / "judges" / "local" / "contradictions"
HEAD = ["claims", "n", "true", "precision before", "still called", "of them true",
        "precision after", "true ones lost"]  # fmt: skip
SOURCES = {
    "own": "answers and their contexts",
    "other turns": "answers and contexts of other turns",
    "article": "claims and the article around them",
    "answers": "two answers to one question",
    "document": "a sentence and the rest of its document",
}


def main(write: bool = False) -> None:
    text = markdown(HEAD, table())
    print(text)
    if write:
        write_into_page("contradicted", text)


def table() -> Iterator[list[str]]:
    judged = list(zip(labelled(), called(), strict=True))
    yield line("labelled, all", judged)
    for half, shown in (("seen", "seen while the rules were made"), ("aside", "kept aside")):
        yield line(f"labelled, {shown}", [pair for pair in judged if pair[0]["half"] == half])
    for source, shown in SOURCES.items():
        yield line(f"labelled, {shown}", [pair for pair in judged if pair[0]["source"] == source])


def line(name: str, judged: Sequence[tuple[Row, bool]]) -> list[str]:
    true = [said for row, said in judged if row["contradicts"]]
    still = sum(said for _, said in judged)
    before, after = share(len(true), len(judged)), share(sum(true), still)
    cells = (len(judged), len(true), before, still, sum(true), after, len(true) - sum(true))
    return [name, *map(str, cells)]


def share(part: int, whole: int) -> str:
    interval = clopper_pearson(part, whole)
    if interval is None:
        return ""
    return f"{part / whole:.2f} ({interval.low:.2f}–{interval.high:.2f})"


def labelled(name: str = "labelled") -> list[Row]:
    lines = (CLAIMS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def called_own() -> list[bool]:
    """Whether each claim of our own is called contradicted."""
    return [contradicted(row["claim"], [row["context"]]) for row in labelled("own")]


def called() -> list[bool]:
    """Whether each labelled claim is called contradicted."""
    return [contradicted(*held_against(row)) for row in labelled()]


def contradicted(claim: str, contexts: Sequence[str]) -> bool:
    return support(claim, Passages(contexts)).verdict == "contradicted"


def held_against(row: Row) -> tuple[str, list[str]]:
    """The claim and what it is held against, found by its fingerprint."""
    record = records(row["file"])[row["id"].partition("/")[0]]
    if row["source"] == "document":
        contexts = record["contexts"]
        text = " ".join(contexts) if row["against"] is None else contexts[row["against"]]
        rest = [sentence.text for sentence in sentences(text)]
        claim = the_one(row, rest)
        rest.remove(claim)
        return claim, rest
    if row["source"] == "answers":
        other = records(row["file"])[row["against"].partition("/")[0]]
        claim = the_one(row, [one.text for one in claims(answer(record, row["id"]))])
        return claim, [answer(other, row["against"])]
    texts = [text for text in (record["answer"], *record["reference"]) if text]
    parts = [claim.text for text in texts for claim in claims(text)]
    parts += [sentence.text for text in texts for sentence in sentences(text)]
    claim = the_one(row, parts)
    if row["source"] == "article":
        return claim, [record["meta"]["claim_context"]]
    if row["source"] == "other turns":
        return claim, other_turns(record, row["file"])
    return claim, record["contexts"]


def the_one(row: Row, texts: Iterable[str]) -> str:
    """The text with the fingerprint: of 16 hexadecimal digits, so there is no other."""
    return next(text for text in texts if fingerprint(text) == row["claim"])


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def answer(record: Row, name: str) -> str:
    text: str = record[name.partition("/")[2] or "answer"]
    return text


def other_turns(record: Row, file: str) -> list[str]:
    """The contexts of the other turns of a conversation, without those of this one."""
    own, talk = set(record["contexts"]), conversation(record)
    turns = [turn for turn in records(file).values() if conversation(turn) == talk]
    found = dict.fromkeys(context for turn in turns for context in turn["contexts"])
    return [context for context in found if context not in own]


def conversation(record: Row) -> str:
    name: str = record["meta"].get("task_id") or record["id"]
    return name.partition("<")[0]


@cache
def records(file: str) -> dict[str, Row]:
    return {record["id"]: record for record in records_of(file)}


if __name__ == "__main__":
    run(main)
