"""TREC runs and qrels: ranked document ids, and relevance grades of documents.

The order is trec_eval's: by score, compared as 32-bit floats, highest first;
ties by document id in descending order. The rank column and the order of the
lines are ignored.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import polars as pl

from ragstone.data.example import Context, Example
from ragstone.data.json_text import BadRow, Problem, shown
from ragstone.data.sources import Row, Source
from ragstone.data.text_files import Meter, first_text, text_lines

LINES_AT_ONCE = 100_000
ROWS_AT_ONCE = 20_000

Faults = list[tuple[int | None, BadRow]]


# Grade of each judged document, by topic. Negative grades mean unjudged and are left out.
Qrels = dict[str, dict[str, int]]


def trec_runs(name: str, runs: tuple[Path, ...], qrels: Path | None) -> Source:
    """Return one or several runs, each a system, judged by the same qrels."""
    files = runs if qrels is None else (*runs, qrels)
    return Source(name, partial(_rows, runs, qrels), files, "trec", "line")


def _rows(runs: tuple[Path, ...], qrels_file: Path | None, meter: Meter) -> Iterator[Row]:
    faults: Faults = []
    qrels = {} if qrels_file is None else read_qrels(qrels_file, meter, faults)
    for ranking in read_runs(runs, meter, faults):
        for topic, contexts in ranking.lists(qrels):
            yield None, example(ranking, topic, contexts, qrels)
    yield from faults


@dataclass(frozen=True)
class Ranking:
    """One system's run in order."""

    system: str
    alone: bool
    frame: pl.DataFrame

    def lists(self, qrels: Qrels) -> Iterator[tuple[str, tuple[Context, ...]]]:
        """Yield the ranked documents of each topic; judged topics without any come last, empty."""
        rows = (row for part in self.frame.iter_slices(ROWS_AT_ONCE) for row in part.iter_rows())
        seen = set()
        for topic, ranked in groupby(rows, itemgetter(0)):
            seen.add(topic)
            yield (
                topic,
                tuple(
                    Context(document, None, rank, score)
                    for rank, (_, document, score) in enumerate(ranked, 1)
                ),
            )
        for name in qrels:
            if name not in seen:
                yield name, ()


def example(
    ranking: Ranking, topic: str, contexts: tuple[Context, ...], qrels: Qrels,
    question: str | None = None,
) -> Example:  # fmt: skip
    """Make an example of what one system retrieved for one topic."""
    return Example(
        id=topic if ranking.alone else f"{topic}/{ranking.system}",
        question_id=topic,
        system=ranking.system,
        question=question,
        contexts=contexts,
        reference_contexts=qrels.get(topic),
    )


def looks_like_run(path: Path) -> bool:
    """Return True if the first line has a run's columns."""
    words = first_text(path).partition("\n")[0].split()
    return len(words) >= 5 and words[1].upper() == "Q0" and _number(words[4]) is not None


def looks_like_qrels(path: Path) -> bool:
    """Return True if the first line has the columns of qrels."""
    head = first_text(path).partition("\n")[0].split()
    if len(head) == 3 and head[0].lower() in ("query-id", "query_id"):
        return True
    return len(head) == 4 and _whole_number(head[3]) is not None


def read_runs(paths: Sequence[Path], meter: Meter, faults: Faults) -> list[Ranking]:
    """Read runs in trec_eval's order, named by their tags, or by their files where tags repeat."""
    read = [_read_run(path, meter, faults) for path in paths]
    tags = [tag for _, tag in read]
    by_tag = all(tags) and len(set(tags)) == len(tags)
    return [
        Ranking((tag if by_tag else "") or _stem(path), len(paths) == 1, frame)
        for path, (frame, tag) in zip(paths, read, strict=True)
    ]


def read_qrels(path: Path, meter: Meter, faults: Faults) -> Qrels:
    """Read qrels of four columns, or BEIR's of three with a header."""
    qrels: Qrels = {}
    beir = False
    for line, text, words in _lines(path, meter, faults):
        if line == 1 and words[0].lower() in ("query-id", "query_id"):
            beir = True
            continue
        if beir and len(words) == 3:
            words = [words[0], "0", words[1], words[2]]
        grade = _whole_number(words[3]) if len(words) == 4 else None
        if grade is None:
            if len(words) == 4:
                problem = Problem("grade", "a whole number", shown(words[3]))
            else:
                expected = "topic, iteration, document, grade"
                problem = Problem("", expected, f"{len(words)} columns")
            faults.append((line, BadRow(text.strip(), problem, str(path))))
            continue
        judged = qrels.setdefault(words[0], {})
        if judged.setdefault(words[2], grade) != grade:
            problem = Problem("document", "one grade", f"{words[2]} judged twice")
            faults.append((line, BadRow(text.strip(), problem, str(path))))
    return {topic: {id: grade for id, grade in judged.items() if grade >= 0}
            for topic, judged in qrels.items()}  # fmt: skip


def _read_run(path: Path, meter: Meter, faults: Faults) -> tuple[pl.DataFrame, str | None]:
    parts: list[pl.DataFrame] = []
    tag: str | None = None
    rows: list[tuple[int, str, str, float]] = []

    def keep() -> None:
        parts.append(pl.DataFrame(rows, schema=_SCHEMA, orient="row"))
        rows.clear()

    for line, text, words in _lines(path, meter, faults):
        score = _number(words[4]) if len(words) >= 5 else None
        if score is None or not math.isfinite(score):
            faults.append((line, BadRow(text.strip(), _run_problem(words), str(path))))
            continue
        if tag is None and len(words) >= 6:
            tag = words[5]
        rows.append((line or 0, words[0], words[2], score))
        if len(rows) >= LINES_AT_ONCE:
            keep()
    keep()
    frame = pl.concat(parts)
    again = frame.filter(~pl.struct("topic", "document").is_first_distinct())
    for line, topic, document in again.select("line", "topic", "document").iter_rows():
        problem = Problem("document", "each document once a topic", f"{document} again")
        row = BadRow(f"{topic} {document}", problem, str(path))
        faults.append((line, row))
    ordered = (
        frame.unique(["topic", "document"], keep="first", maintain_order=True)
        .with_columns(
            pl.col("line").min().over("topic").alias("first"),
            pl.col("score").cast(pl.Float32).alias("as_trec_eval"),
        )
        .sort(["first", "as_trec_eval", "document"], descending=[False, True, True])
    )
    return ordered.select("topic", "document", "score"), tag


_SCHEMA = {"line": pl.Int64, "topic": pl.String, "document": pl.String, "score": pl.Float64}


def _lines(path: Path, meter: Meter, faults: Faults) -> Iterator[tuple[int | None, str, list[str]]]:
    for line, text in text_lines(path, meter):
        if isinstance(text, BadRow):
            faults.append((line, text._replace(file=str(path))))
        elif words := text.split():
            yield line, text, words


def _run_problem(words: Sequence[str]) -> Problem:
    if len(words) < 5:
        return Problem("", "topic, Q0, document, rank, score, tag", f"{len(words)} columns")
    return Problem("score", "a finite number", shown(words[4]))


def _number(word: str) -> float | None:
    try:
        return float(word) if "_" not in word else None
    except ValueError:
        return None


def _whole_number(word: str) -> int | None:
    try:
        return int(word) if "_" not in word and len(word) < 10 else None
    except ValueError:
        return None


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz")
    return name.rsplit(".", 1)[0] if name.endswith((".txt", ".run", ".trec", ".tsv")) else name
