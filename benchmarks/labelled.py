"""No script: human-labelled sets of ``../shared/data``, and the page of the local judge."""

import gzip
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from measure import ROOT, SHARED

Record = dict[str, Any]

DATA = SHARED / "data"
FILES = {
    "MTRAG": "rag_quality_mtrag/answers.jsonl.gz",
    "MTRAG-UN": "abstention_mtrag_un/tasks.jsonl.gz",
    "BEGIN": "faithfulness_begin/pairs.jsonl.gz",
    "WiCE": "faithfulness_wice/claims.jsonl.gz",
    "EVOUNA": "answer_correctness_evouna/verdicts.jsonl.gz",
    "NQ301": "answer_correctness_nq301/verdicts.jsonl.gz",
    "CLAPNQ": "abstention_clapnq/questions.jsonl.gz",
}
_WORD = re.compile(r"\w+")
_COMMON = (
    "a an the of in on at to for and or is are was were be been it its this that with as by from"
)
COMMONEST = frozenset(_COMMON.split())


def file_of(name: str) -> Path:
    return DATA / FILES[name]


def records_of(name: str) -> list[Record]:
    """The rows of a set, by its name or its file."""
    with gzip.open(DATA / FILES.get(name, name), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def is_faithful(record: Record) -> bool | None:
    """What people say of an answer of MTRAG, BEGIN or WiCE; None if nothing."""
    labels = record["labels"]
    if "faithful" not in labels:
        return bool(labels["faithfulness_median"] >= 3)
    label: bool | None = labels["faithful"]
    return label


def document_of(record: Record) -> str:
    """What answers of MTRAG, BEGIN or WiCE share that are not independent."""
    meta = record["meta"]
    return str(meta.get("task_id") or meta.get("title") or record["contexts"][:1])


def word_share(record: Record) -> float | None:
    """The naive judge: share of the answer's words, without the commonest, in the contexts."""
    held = set(_WORD.findall(" ".join(record["contexts"]).lower()))
    words = set(_WORD.findall(record["answer"].lower())) - COMMONEST
    return len(words & held) / len(words) if words else None


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])


def write_into_page(name: str, text: str) -> None:
    """Replace what stands in benchmarks/local-judge.md between the comments with this name."""
    page = ROOT / "benchmarks" / "local-judge.md"
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, rest = page.read_text(encoding="utf-8").split(begin)
    whole = f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}"
    page.write_text(whole, encoding="utf-8")
