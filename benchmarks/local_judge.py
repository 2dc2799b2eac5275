"""How well the local judge agrees with people, beside naive and published judges.

    python benchmarks/local_judge.py [--data ../shared/data] [--write]

Development figures on human-labelled sets. Intervals are 95 % percentile bootstraps over whole
questions or documents. ``--write`` puts the tables into docs/local-judge.md. The weights of
support were fitted on three of these sets; benchmarks/fit_support.py prints their held-out AUROC.
"""

import argparse
import gzip
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragstone.judges.local.agreement import claim_agreement, statement_agreement
from ragstone.judges.local.claims import claims, statements
from ragstone.judges.local.relevance import relevance
from ragstone.judges.local.response import (
    PHRASES_8,
    PHRASES_12,
    abstains_by_phrases,
    response_type,
)
from ragstone.judges.local.sentences import sentences
from ragstone.judges.local.support import Passages, support
from ragstone.judges.local.words import NEGATIONS, terms, tokens
from ragstone.stats.auroc import auroc

Record = dict[str, Any]
Statistic = Callable[[NDArray[np.float64], NDArray[np.bool_]], float]

PAGE = Path(__file__).parents[1] / "docs" / "local-judge.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
RESAMPLES = 1000
OURS = "**string evidence**"


@dataclass(frozen=True, slots=True)
class Figure:
    """One judge on one set: the figure, its interval, and on how many rows."""

    data: str
    figure: str
    judge: str
    rows: int
    value: float
    low: float
    high: float

    def cells(self) -> list[str]:
        interval = f"{self.low:.3f}–{self.high:.3f}"
        return [
            self.data,
            self.figure,
            self.judge,
            f"{self.rows:,}",
            f"{self.value:.3f}",
            interval,
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--write", action="store_true", help=f"rewrite the tables in {PAGE.name}")
    arguments = parser.parse_args()
    data: Path = arguments.data
    figures = [
        *faithfulness_figures(data),
        *evidence_figures(data),
        *correctness_figures(data),
        *abstention_figures(data),
        *relevance_figures(data),
    ]
    text = "\n\n".join(
        [
            table(
                ["data set", "figure", "judge", "rows", "value", "95 % interval"],
                [figure.cells() for figure in figures],
            ),
            "How far the level moves from set to set, at the threshold .5 of the probability:",
            table(
                [
                    "data set",
                    "answers people call faithful",
                    "mean probability",
                    "answers above .5",
                    "κ at .5",
                    "best κ",
                    "at",
                ],
                levels(data),
            ),
            "What one change to a faithful answer does to its probability (BEGIN and WiCE):",
            table(
                ["change", "answers", "AUROC, as it was above as changed", "called contradicted"],
                list(alterations(data)),
            ),
        ]
    )
    print(text)
    print()
    for line in speeds(data):
        print(line)
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        after = rest.split(END)[1]
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def read(path: Path) -> list[Record]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


# Faithfulness ---------------------------------------------------------------------------------


def faithfulness_sets(data: Path) -> Iterator[tuple[str, list[Record], Callable[[Record], Any]]]:
    """Name, rows with a label, and the label of a row."""
    mtrag = read(data / "rag_quality_mtrag" / "answers.jsonl.gz")
    yield "MTRAG", mtrag, lambda row: row["labels"]["faithfulness_median"] >= 3
    begin = read(data / "faithfulness_begin" / "pairs.jsonl.gz")
    labelled = [row for row in begin if row["labels"]["faithful"] is not None]
    yield "BEGIN", labelled, lambda row: row["labels"]["faithful"]
    wice = read(data / "faithfulness_wice" / "claims.jsonl.gz")
    yield "WiCE", wice, lambda row: row["labels"]["faithful"]


def expected_faithfulness(row: Record, answer: str | None = None) -> float | None:
    """Mean probability over the claims; None for an answer without claims."""
    answer = row["answer"] if answer is None else answer
    if response_type(answer)[0] in ("abstain", "refuse"):
        return None
    passages = Passages(row["contexts"])
    found = [
        support(claim.text, passages, row["question"]).probability
        for claim in claims(answer)
        if claim.factual
    ]
    return sum(found) / len(found) if found else None


def word_share(row: Record) -> float | None:
    """The naive judge: share of the answer's words, without the commonest, in the contexts."""
    held = set(_WORD.findall(" ".join(row["contexts"]).lower()))
    words = set(_WORD.findall(row["answer"].lower())) - COMMONEST
    return len(words & held) / len(words) if words else None


_WORD = re.compile(r"\w+")
COMMONEST = frozenset(
    _WORD.findall(
        "a an the of in on at to for and or is are was were be been it its this that with as by "
        "from"
    )
)


def cluster_of(name: str, row: Record) -> str:
    if name == "MTRAG":
        return str(row["meta"]["task_id"])
    return str(row["contexts"][:1]) if name == "BEGIN" else str(row["meta"]["title"])


def faithfulness_figures(data: Path) -> Iterator[Figure]:
    """Every judge on the rows that hold claims, and the others on all rows too."""
    for name, rows, label in faithfulness_sets(data):
        judges = published(name) | {"share of words": word_share}
        with_claims = [row for row in rows if expected_faithfulness(row) is not None]
        shown = name if len(with_claims) == len(rows) else f"{name}, answers with claims"
        yield scored(shown, with_claims, label, OURS, expected_faithfulness, name)
        for judge, score in judges.items():
            yield scored(shown, with_claims, label, judge, score, name)
        if len(with_claims) < len(rows):
            for judge, score in judges.items():
                yield scored(f"{name}, all answers", rows, label, judge, score, name)
    oracle = [row for row in rows if row["meta"]["judges_oracle_chunk"]]
    for judge, score in ({OURS: expected_faithfulness} | published("oracle")).items():
        yield scored("WiCE, 100 claims", oracle, label, judge, score, name)


def published(name: str) -> dict[str, Callable[[Record], float | None]]:
    """Scores that came with the set."""
    if name == "MTRAG":
        keys = ["ragas_faithfulness", "bert_kprecision", "rouge_l"]
        return {f"{key}, published": _reader("auto", key) for key in keys}
    if name == "oracle":
        return {
            f"{key}, published, shown only the right sentences": _reader("judges_oracle_chunk", key)
            for key in ["t5-3b-anli", "t5-3b-anli-wice"]
        }
    return {}


def _reader(place: str, key: str) -> Callable[[Record], float | None]:
    return lambda row: row["meta"][place].get(key)


def scored(
    shown: str,
    rows: list[Record],
    label: Callable[[Record], Any],
    judge: str,
    score: Callable[[Record], float | None],
    name: str,
) -> Figure:
    scores = [score(row) for row in rows]
    kept = [i for i, value in enumerate(scores) if value is not None]
    return bootstrapped(
        shown,
        "AUROC of faithful",
        judge,
        [float(scores[i] or 0) for i in kept],
        [bool(label(rows[i])) for i in kept],
        [cluster_of(name, rows[i]) for i in kept],
        auroc_of,
    )


def evidence_figures(data: Path) -> Iterator[Figure]:
    """Of claims that people and the judge call supported: are the right sentences named?"""
    named: list[tuple[float, float]] = []
    titles: list[str] = []
    for row in read(data / "faithfulness_wice" / "claims.jsonl.gz"):
        sets = [set(one) for one in row["labels"]["supporting_sets"]]
        passages = Passages(row["contexts"])
        found = {
            place
            for claim in claims(row["answer"])
            for place in support(claim.text, passages).evidence
        }
        if row["labels"]["faithful"] and sets and found:
            right = len(found & set().union(*sets)) / len(found)
            covered = max(len(found & one) / len(one) for one in sets)
            named.append((right, covered))
            titles.append(row["meta"]["title"])
    for figure, position in (("evidence precision", 0), ("evidence recall, best set", 1)):
        values = [float(one[position]) for one in named]
        yield bootstrapped("WiCE", figure, OURS, values, [True] * len(named), titles, mean_of)


def levels(data: Path) -> Iterator[list[str]]:
    for name, rows, label in faithfulness_sets(data):
        scores = [(expected_faithfulness(row), bool(label(row))) for row in rows]
        kept = [(score, truth) for score, truth in scores if score is not None]
        values = np.array([score for score, _ in kept])
        truth = np.array([truth for _, truth in kept])
        cuts = np.arange(0.05, 1, 0.05)
        kappas = [kappa_of(values >= cut, truth) for cut in cuts]
        best = int(np.argmax(kappas))
        yield [
            name,
            f"{truth.mean():.2f}",
            f"{values.mean():.2f}",
            f"{(values >= 0.5).mean():.2f}",
            f"{kappa_of(values >= 0.5, truth):.2f}",
            f"{kappas[best]:.2f}",
            f"{cuts[best]:.2f}",
        ]


_NUMBER = re.compile(r"\b\d{2,4}\b")
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|can|will)\b")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*\b")


def other_number(text: str) -> str | None:
    """The first number of two to four digits, three higher."""
    changed = _NUMBER.sub(lambda match: str(int(match.group()) + 3), text, count=1)
    return changed if changed != text else None


def denial(text: str) -> str | None:
    """`not` after the first auxiliary verb of a text that denies nothing."""
    if not NEGATIONS.isdisjoint(tokens(text)) or "n't" in text or "n’t" in text:
        return None
    changed = _VERB.sub(r"\1 not", text, count=1)
    return changed if changed != text else None


def swapped_names(text: str) -> str | None:
    """The first two different names inside the sentence change places."""
    found = [match for match in _NAME.finditer(text) if match.start() > 0]
    for second in found[1:]:
        first = found[0]
        if first.group() != second.group():
            middle = text[first.end() : second.start()]
            return (
                text[: first.start()]
                + second.group()
                + middle
                + first.group()
                + text[second.end() :]
            )
    return None


def reversed_words(text: str) -> str | None:
    """All words in reverse order."""
    words = text.rstrip(".!").split()
    return " ".join(reversed(words)) if len(words) > 3 else None


def alterations(data: Path) -> Iterator[list[str]]:
    rows = [
        row
        for name, labelled, label in faithfulness_sets(data)
        if name != "MTRAG"
        for row in labelled
        if label(row)
    ]
    changes: dict[str, Callable[[str], str | None]] = {
        "another number": other_number,
        "`not` after the verb": denial,
        "two names change places": swapped_names,
        "the words in reverse order": reversed_words,
    }
    for change, apply in changes.items():
        pairs = [(row, apply(row["answer"])) for row in rows]
        scores = [
            (expected_faithfulness(row), expected_faithfulness(row, changed), row, changed)
            for row, changed in pairs
            if changed is not None
        ]
        kept = [one for one in scores if one[0] is not None and one[1] is not None]
        before = [float(one[0] or 0) for one in kept]
        after = [float(one[1] or 0) for one in kept]
        value = auroc(before + after, [1] * len(before) + [0] * len(after))
        contradicted = sum(
            any(
                support(claim.text, Passages(row["contexts"])).verdict == "contradicted"
                for claim in claims(changed or "")
            )
            for _, _, row, changed in kept
        )
        yield [change, f"{len(kept)}", f"{value:.2f}", f"{contradicted / len(kept):.2f}"]


# Correctness ----------------------------------------------------------------------------------


def outcome(row: Record) -> str:
    """dont_know, correct, partial or wrong, by the best reference."""
    answer, question = row["answer"], row["question"]
    if response_type(answer)[0] in ("abstain", "refuse", "clarify"):
        return "dont_know"
    made = [claim.text for claim in claims(answer) if claim.factual]
    best = 0
    for reference in row["reference"]:
        said = [statement_agreement(s, answer, question).verdict for s in statements(reference)]
        clash = any(
            claim_agreement(claim, reference, question).verdict == "contradicts" for claim in made
        )
        if said and set(said) == {"full"} and not clash:
            return "correct"
        if "full" in said or "partial" in said:
            best = 1
    return ("wrong", "partial")[best]


def contained(row: Record) -> bool:
    """The naive judge: some reference stands word for word in the answer."""
    said = normalised(row["answer"])
    return any(normal in said for one in row["reference"] if (normal := normalised(one)))


def normalised(text: str) -> str:
    text = re.sub(r"[^\w\s]", "", text.lower())
    return " ".join(word for word in text.split() if word not in ("a", "an", "the"))


def correctness_figures(data: Path) -> Iterator[Figure]:
    evouna = read(data / "answer_correctness_evouna" / "verdicts.jsonl.gz")
    nq301 = read(data / "answer_correctness_nq301" / "verdicts.jsonl.gz")
    sets = {
        "EVOUNA, NQ": [row for row in evouna if row["meta"]["source"] == "NQ"],
        "EVOUNA, TQ": [row for row in evouna if row["meta"]["source"] == "TQ"],
        "NQ301": nq301,
    }
    for name, rows in sets.items():
        judges: dict[str, Callable[[Record], bool | None]] = {
            OURS: lambda row: outcome(row) == "correct",
            "containment": contained,
        }
        if name == "NQ301":
            for judge in ("bem", "text-davinci-003", "gpt-4"):
                judges[f"{judge}, published"] = _verdict(judge)
        for judge, verdict in judges.items():
            said = [verdict(row) for row in rows]
            kept = [i for i, value in enumerate(said) if value is not None]
            yield bootstrapped(
                name,
                "κ of correct",
                judge,
                [float(bool(said[i])) for i in kept],
                [bool(rows[i]["labels"]["correct"]) for i in kept],
                [str(rows[i]["question"]) for i in kept],
                kappa_of,
            )


def _verdict(judge: str) -> Callable[[Record], bool | None]:
    return lambda row: row["meta"]["judges"][judge]


# Abstention and relevance ---------------------------------------------------------------------


def abstention_figures(data: Path) -> Iterator[Figure]:
    rows = [
        row
        for row in read(data / "abstention_mtrag_un" / "tasks.jsonl.gz")
        if row["labels"]["expected_behaviour"] in ("answer", "abstain")
    ]
    judges: dict[str, Callable[[str], bool]] = {
        OURS: lambda answer: response_type(answer)[0] == "abstain",
        "8 phrases": lambda answer: abstains_by_phrases(answer, PHRASES_8),
        "12 phrases": lambda answer: abstains_by_phrases(answer, PHRASES_12),
    }
    for judge, abstains in judges.items():
        yield bootstrapped(
            "MTRAG-UN",
            "F1 of abstaining",
            judge,
            [float(abstains(row["answer"])) for row in rows],
            [row["labels"]["expected_behaviour"] == "abstain" for row in rows],
            [row["id"].split("<")[0] for row in rows],
            f1_of,
        )


def relevance_figures(data: Path) -> Iterator[Figure]:
    rows = read(data / "abstention_clapnq" / "questions.jsonl.gz")
    judges: dict[str, Callable[[Record], float]] = {
        OURS: lambda row: relevance(row["question"], row["contexts"])[0].score,
        "share of question words": question_word_share,
    }
    for judge, score in judges.items():
        yield bootstrapped(
            "CLAPNQ",
            "AUROC of answerable",
            judge,
            [score(row) for row in rows],
            [row["labels"]["answerable"] for row in rows],
            [row["id"] for row in rows],
            auroc_of,
        )
    yield from ranking_figures(data)


def question_word_share(row: Record) -> float:
    held, asked = set(terms(row["contexts"][0])), terms(row["question"])
    return sum(word in held for word in asked) / len(asked) if asked else 0.0


def ranking_figures(data: Path) -> Iterator[Figure]:
    """nDCG@10 with linear gains over the sentences of WiCE's pages, the claim as the question."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (data / "retrieval_wice" / "qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        grades[query][document] = int(grade)
    ours = {}
    for row in read(data / "faithfulness_wice" / "claims.jsonl.gz"):
        if row["id"] in grades:
            seen = relevance(row["answer"], row["contexts"])
            order = sorted(range(len(seen)), key=lambda i: (-seen[i].score, i))
            ours[row["id"]] = [f"{row['id']}#{place}" for place in order]
    for judge, ranked in ((OURS, ours), ("BM25", read_run(data, "bm25"))):
        queries = sorted(grades)
        values = [ndcg(ranked[query], grades[query]) for query in queries]
        yield bootstrapped(
            "WiCE retrieval",
            "nDCG@10",
            judge,
            values,
            [True] * len(values),
            queries,
            mean_of,
        )


def read_run(data: Path, name: str) -> dict[str, list[str]]:
    ranked: dict[str, list[tuple[float, str]]] = defaultdict(list)
    path = data / "retrieval_wice" / f"run_{name}.txt.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, document, _, score, _ = line.split()
            ranked[query].append((-float(score), document))
    return {query: [document for _, document in sorted(found)] for query, found in ranked.items()}


def ndcg(ranked: list[str], grades: dict[str, int], k: int = 10) -> float:
    discount = 1 / np.log2(np.arange(2, k + 2))
    gains = np.array([grades.get(document, 0) for document in ranked[:k]])
    ideal = np.array(sorted(grades.values(), reverse=True)[:k])
    return float(gains @ discount[: len(gains)] / (ideal @ discount[: len(ideal)]))


# Figures and their intervals ------------------------------------------------------------------


def auroc_of(score: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    return auroc(score, truth) or 0.0


def kappa_of(verdict: NDArray[Any], truth: NDArray[np.bool_]) -> float:
    said = verdict.astype(bool)
    observed = float((said == truth).mean())
    chance = float(said.mean() * truth.mean() + (1 - said.mean()) * (1 - truth.mean()))
    return (observed - chance) / (1 - chance)


def f1_of(verdict: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    said = verdict.astype(bool)
    return float(2 * (said & truth).sum() / (said.sum() + truth.sum()))


def mean_of(score: NDArray[np.float64], truth: NDArray[np.bool_]) -> float:
    return float(score[truth].mean())


def bootstrapped(
    data: str,
    figure: str,
    judge: str,
    scores: Sequence[float],
    truths: Sequence[bool],
    clusters: Sequence[str],
    statistic: Statistic,
) -> Figure:
    """The figure, and its interval by drawing whole clusters with replacement."""
    score, truth = np.array(scores, dtype=np.float64), np.array(truths, dtype=np.bool_)
    members: dict[str, list[int]] = defaultdict(list)
    for position, cluster in enumerate(clusters):
        members[cluster].append(position)
    groups = [np.array(positions) for positions in members.values()]
    rng = np.random.default_rng(20)
    values = []
    for _ in range(RESAMPLES):
        drawn = np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))])
        values.append(statistic(score[drawn], truth[drawn]))
    low, high = np.quantile(values, [0.025, 0.975])
    value = statistic(score, truth)
    return Figure(data, figure, judge, len(score), value, float(low), float(high))


def speeds(data: Path) -> Iterator[str]:
    rows = read(data / "answer_correctness_evouna" / "verdicts.jsonl.gz")
    start = time.process_time()
    for row in rows:
        outcome(row)
    yield f"{len(rows):,} short answers judged in {time.process_time() - start:.1f} s of one core"
    rows = read(data / "rag_quality_mtrag" / "answers.jsonl.gz")
    start = time.process_time()
    for row in rows:
        expected_faithfulness(row)
    spent = (time.process_time() - start) / len(rows) * 1000
    yield f"expected faithfulness of an MTRAG answer in {spent:.1f} ms"
    text = "\n\n".join(context for row in rows for context in row["contexts"])
    start = time.process_time()
    sentences(text)
    speed = len(text) / (time.process_time() - start) / 1e6
    yield f"{speed:.0f} million characters split into sentences a second"


if __name__ == "__main__":
    main()
