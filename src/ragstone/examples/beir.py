"""BEIR folders: a corpus, queries, qrels, and optionally runs.

Only the texts of documents that some run retrieved are kept; the corpus is
streamed once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.examples.example import Context, Example
from ragstone.examples.files import Meter
from ragstone.examples.jsonlines import JsonLines
from ragstone.examples.problem import BadRow, Problem, shown
from ragstone.examples.source import Row
from ragstone.examples.trec import Faults, example, read_qrels, read_runs

RETRIEVES_NOT = "default"


@dataclass(frozen=True)
class Beir:
    """A folder in the layout of BEIR. Without a run, its questions have relevance grades only."""

    name: str
    corpus: Path
    queries: Path
    qrels: Path
    runs: tuple[Path, ...]
    format: str | None = "beir"
    unit: str = "line"

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.corpus, self.queries, self.qrels, *self.runs)

    def rows(self, meter: Meter) -> Iterator[Row]:
        faults: Faults = []
        qrels = read_qrels(self.qrels, meter, faults)
        rankings = read_runs(self.runs, meter, faults)
        asked = set(qrels.topics)
        retrieved: set[str] = set()
        for ranking in rankings:
            asked.update(ranking.frame["topic"].unique().to_list())
            retrieved.update(ranking.frame["document"].unique().to_list())
        questions = _texts(self.queries, asked, meter, faults)
        texts = _texts(self.corpus, retrieved, meter, faults) if retrieved else {}
        for ranking in rankings:
            for topic, found in ranking.lists(qrels):
                contexts = tuple(
                    Context(one.id, texts.get(one.id), one.rank, one.score) for one in found
                )
                yield None, example(ranking, topic, contexts, qrels, questions.get(topic))
        if not rankings:
            for topic in qrels.topics:
                yield (
                    None,
                    Example(
                        topic,
                        topic,
                        RETRIEVES_NOT,
                        questions.get(topic),
                        reference_contexts=qrels.grades(topic),
                    ),
                )
        yield from faults


def find_beir(folder: Path) -> tuple[Path, Path, list[Path]] | None:
    """Corpus, queries and qrels files of the folder, if it is laid out as BEIR's."""
    corpus = _either(folder, "corpus.jsonl")
    queries = _either(folder, "queries.jsonl")
    if corpus is None or queries is None or not (folder / "qrels").is_dir():
        return None
    qrels = sorted(
        path for path in (folder / "qrels").iterdir() if path.name.endswith((".tsv", ".tsv.gz"))
    )
    return corpus, queries, qrels


def _either(folder: Path, name: str) -> Path | None:
    return next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)


def _texts(path: Path, wanted: set[str], meter: Meter, faults: Faults) -> dict[str, str]:
    """Title and text of the wanted documents, by id."""
    texts = {}
    for line, record in JsonLines(path, str(path)).rows(meter):
        if isinstance(record, BadRow):
            faults.append((line, record._replace(file=str(path))))
            continue
        assert isinstance(record, dict)
        id = record.get("_id")
        id = str(id) if type(id) is int else id
        text = record.get("text")
        if not isinstance(id, str) or not isinstance(text, str):
            faults.append((line, BadRow("", (_no_text(id, text),), str(path))))
        elif id in wanted:
            title = record.get("title")
            texts[id] = f"{title}\n{text}" if isinstance(title, str) and title else text
    return texts


def _no_text(id: Any, text: Any) -> Problem:
    if not isinstance(id, str):
        return Problem("_id", "text", shown(id))
    return Problem("text", "text", shown(text))
