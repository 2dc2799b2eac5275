"""How well the local judge agrees with people, beside naive and published judges.

    python benchmarks/local_judge.py [--write]

Everything is judged by ``LocalJudge`` in blocks, as a run does it: by strings alone, and by strings
and the encoder. Development figures on human-labelled sets, on most of which the curves were
fitted; benchmarks/fit_curves.py has the held-out ones. Intervals are 95 % percentile bootstraps
over whole questions or documents. ``--write`` puts the tables into docs/local-judge.md.
"""

import gzip
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from labelled import (
    DATA,
    Record,
    document_of,
    is_faithful,
    records_of,
    table,
    word_share,
    write_into_page,
)
from measure import run
from numpy.typing import NDArray
from scipy.stats import spearmanr

from ragstone import read
from ragstone.judgements import Tables
from ragstone.judges.local.local_judge import LocalJudge
from ragstone.judges.local.response_type import PHRASES_8, PHRASES_12, abstains_by_phrases
from ragstone.judges.local.text_terms import NEGATIONS, terms, tokens
from ragstone.metrics import needed_asks, parse_metric, score
from ragstone.models import open_encoder
from ragstone.run.judging.judge_blocks import judge_block
from ragstone.stats import auroc

Floats = NDArray[np.float64]
Statistic = Callable[[Floats, NDArray[Any]], float]
Score = float | None
Scores = dict[str, list[Score]]
"""Of each judge, in the order of the records."""

RESAMPLES = 1000
BLOCK = 1000
STRINGS, ENCODER = "**strings**", "**strings and encoder**"
Judges = Mapping[str, LocalJudge]
Sets = Mapping[str, tuple[list[Record], Scores]]
"""Answers that people called faithful or not, and what our judges make of them."""


def main(write: bool = False) -> None:
    judges = {STRINGS: LocalJudge(), ENCODER: LocalJudge(open_encoder("builtin:minilm"))}
    sets = dict(faithfulness_sets(judges))
    figures = [
        *faithfulness_figures(sets),
        *rating_figures(*sets["MTRAG"]),
        *evidence_figures(judges),
        *correctness_figures(judges),
        *abstention_figures(),
        *answerable_figures(judges),
        *ranking_figures(judges),
    ]
    text = "\n\n".join(
        [
            table(FIGURES_HEAD, figures),
            "How far the level moves from set to set, at the threshold .5 of the probability:",
            table(LEVELS_HEAD, levels(sets)),
            "What one change to a faithful answer does (BEGIN and WiCE): how often it ranks below "
            "the answer as it was, and the verdict, `contradicted` if any claim is, `absent` if "
            "any is and none is contradicted:",
            table(ALTERATIONS_HEAD, alterations(sets, judges)),
        ]
    )
    print(text)
    if write:
        write_into_page("figures", text)


FIGURES_HEAD = ["data set", "figure", "judge", "rows", "value", "95 % interval"]
LEVELS_HEAD = ["data set", "judge", "answers people call faithful", "mean probability",
               "answers above .5", "κ at .5", "best κ", "at"]  # fmt: skip
ALTERATIONS_HEAD = ["change", "judge", "answers", "AUROC", "contradicted", "absent",
                    "supported"]  # fmt: skip


def judged(
    records: Sequence[Record], judge: LocalJudge, asks: Sequence[str]
) -> Iterator[tuple[int, Tables]]:
    """The judgements block by block, and where the block begins."""
    names = ("id", "question", "contexts", "answer", "reference")
    for start in range(0, len(records), BLOCK):
        rows = [{name: record.get(name) for name in names}
                for record in records[start : start + BLOCK]]  # fmt: skip
        yield start, judge_block(list(read(rows)), [judge], asks).tables


def scored(records: Sequence[Record], judge: LocalJudge, name: str) -> pl.DataFrame:
    """Value and label of a metric for each record, in their order."""
    metric = parse_metric(name)
    blocks = judged(records, judge, needed_asks([metric]))
    return pl.concat([score(tables, [metric])[name] for _, tables in blocks])


# Faithfulness ---------------------------------------------------------------------------------


def faithfulness_sets(judges: Judges) -> Iterator[tuple[str, tuple[list[Record], Scores]]]:
    for name in ("MTRAG", "BEGIN", "WiCE"):
        records = [record for record in records_of(name) if is_faithful(record) is not None]
        yield name, (records, {
            judge: scored(records, by, "expected_faithfulness")["value"].to_list()
            for judge, by in judges.items()
        })  # fmt: skip


def faithfulness_figures(sets: Sets) -> Iterator[list[str]]:
    """Every judge on the rows that hold claims."""
    for name, (records, ours) in sets.items():
        labels = [bool(is_faithful(record)) for record in records]
        documents = [document_of(record) for record in records]
        scores = every_judge(name, records, ours)
        yield from bootstrapped(name, "AUROC of faithful", auroc_of, scores, labels, documents)
    shown = [bool(record["meta"]["judges_oracle_chunk"]) for record in records]
    scores = where(shown, with_claims(ours | published("oracle", records)))
    yield from bootstrapped("WiCE, 100 claims", "AUROC of faithful", auroc_of, scores, labels,
                            documents)  # fmt: skip


def rating_figures(records: list[Record], ours: Scores) -> Iterator[list[str]]:
    """Do answers that people rate higher score higher?"""
    ratings = [
        float(np.mean(list(record["labels"]["faithfulness"].values()))) for record in records
    ]
    scores, documents = every_judge("MTRAG", records, ours), map(document_of, records)
    return bootstrapped("MTRAG", "ρ with the mean rating", spearman_of, scores, ratings,
                        documents)  # fmt: skip


def every_judge(name: str, records: Sequence[Record], ours: Scores) -> Scores:
    naive: Scores = {"share of words": [word_share(record) for record in records]}
    return with_claims(ours | published(name, records) | naive)


def with_claims(scores: Scores) -> Scores:
    """Scores of the answers that make claims."""
    return where([value is not None for value in scores[STRINGS]], scores)


def where(mask: Sequence[bool], scores: Scores) -> Scores:
    return {
        judge: [value if shown else None for value, shown in zip(values, mask, strict=True)]
        for judge, values in scores.items()
    }


def published(name: str, records: Sequence[Record]) -> Scores:
    """Scores that came with the set."""
    if name == "MTRAG":
        keys = ["ragas_faithfulness", "bert_kprecision", "rouge_l"]
        return {f"{key}, published": [one["meta"]["auto"][key] for one in records] for key in keys}
    if name == "oracle":
        return {
            f"{key}, published, shown only the right sentences": [
                one["meta"]["judges_oracle_chunk"].get(key) for one in records
            ]
            for key in ("t5-3b-anli", "t5-3b-anli-wice")
        }
    return {}


def evidence_figures(judges: Judges) -> Iterator[list[str]]:
    """Of claims that people and the judge call supported: are the right sentences named?"""
    records = records_of("WiCE")
    for judge, by in judges.items():
        named: dict[int, set[int]] = defaultdict(set)
        for start, tables in judged(records, by, SUPPORT_ASKS):
            for row, places in tables.of("support/claim").select("row", "evidence").iter_rows():
                # a context without an id is named by its position, counted from 1
                named[start + row].update(int(place) - 1 for place in places)
        precisions: list[Score] = []
        recalls: list[Score] = []
        titles = []
        for number, record in enumerate(records):
            sets = [set(places) for places in record["labels"]["supporting_sets"]]
            mine = named[number]
            if record["labels"]["faithful"] and sets and mine:
                precisions.append(len(mine & set().union(*sets)) / len(mine))
                recalls.append(max(len(mine & places) / len(places) for places in sets))
                titles.append(record["meta"]["title"])
        yield from bootstrapped("WiCE", "evidence precision", mean_of, {judge: precisions},
                                titles, titles)  # fmt: skip
        yield from bootstrapped("WiCE", "evidence recall, best set", mean_of, {judge: recalls},
                                titles, titles)  # fmt: skip


SUPPORT_ASKS = needed_asks([parse_metric("faithfulness")])


def levels(sets: Sets) -> Iterator[list[str]]:
    for name, (records, ours) in sets.items():
        for judge, scores in ours.items():
            rows = [n for n, value in enumerate(scores) if value is not None]
            values = np.array([scores[n] for n in rows], np.float64)
            truth = np.array([is_faithful(records[n]) for n in rows], np.float64)
            cuts = np.arange(0.05, 1, 0.05)
            kappas = [kappa_of(values >= cut, truth) for cut in cuts]
            best = int(np.argmax(kappas))
            yield [
                name,
                judge,
                f"{truth.mean():.2f}",
                f"{values.mean():.2f}",
                f"{(values >= 0.5).mean():.2f}",
                f"{kappa_of(values >= 0.5, truth):.2f}",
                f"{kappas[best]:.2f}",
                f"{cuts[best]:.2f}",
            ]


# Alterations ----------------------------------------------------------------------------------


def other_number(text: str) -> str | None:
    """The first number of two to four digits, three higher."""
    return _changed(text, _NUMBER.sub(lambda match: str(int(match.group()) + 3), text, count=1))


def denial(text: str) -> str | None:
    """`not` after the first auxiliary verb of a text that denies nothing."""
    if not NEGATIONS.isdisjoint(tokens(text)) or "n't" in text or "n’t" in text:
        return None
    return _changed(text, _VERB.sub(r"\1 not", text, count=1))


def opposite_word(text: str) -> str | None:
    """The first word of a list of common ones becomes its opposite."""
    return _changed(text, _OPPOSED.sub(lambda match: OPPOSITES[match.group()], text, count=1))


def other_name(text: str) -> str | None:
    """The last word of the first name inside the sentence becomes Harrington."""
    name = next((match for match in _NAME.finditer(text) if match.start() > 0), None)
    if name is None:
        return None
    kept = name.group().split(" ")[:-1]
    return text[: name.start()] + " ".join([*kept, "Harrington"]) + text[name.end() :]


def swapped_names(text: str) -> str | None:
    """The first two different names inside the sentence change places."""
    found = [match for match in _NAME.finditer(text) if match.start() > 0]
    for second in found[1:]:
        first = found[0]
        if first.group() != second.group():
            middle = text[first.end() : second.start()]
            tail = first.group() + text[second.end() :]
            return text[: first.start()] + second.group() + middle + tail
    return None


def reversed_words(text: str) -> str | None:
    """All words in reverse order."""
    words = text.rstrip(".!").split()
    return " ".join(reversed(words)) if len(words) > 3 else None


def _changed(text: str, changed: str) -> str | None:
    return changed if changed != text else None


AS_IT_WAS = "as it was"
UNFAITHFUL = "none, but people call it unfaithful"
ALTERATIONS: dict[str, Callable[[str], str | None]] = {
    AS_IT_WAS: lambda text: text,
    "another number": other_number,
    "`not` after the verb": denial,
    "an opposite word": opposite_word,
    "another name": other_name,
    "two names change places": swapped_names,
    "the words in reverse order": reversed_words,
}
PAIRS = (
    "first/last before/after more/less most/least early/late earlier/later north/south east/west "
    "northern/southern eastern/western old/new large/small largest/smallest high/low higher/lower "
    "long/short best/worst began/ended started/ended won/lost increased/decreased born/died "
    "opened/closed many/few male/female father/mother son/daughter brother/sister husband/wife "
    "he/she his/her good/bad successful/unsuccessful modern/ancient private/public top/bottom "
    "left/right inside/outside same/different"
)
OPPOSITES = {
    word: other
    for one, _, two in (pair.partition("/") for pair in PAIRS.split())
    for word, other in ((one, two), (two, one))
}
_NUMBER = re.compile(r"\b\d{2,4}\b")
_VERB = re.compile(r"\b(is|are|was|were|has|have|had|can|will)\b")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*\b")
_OPPOSED = re.compile(rf"\b(?:{'|'.join(OPPOSITES)})\b")


def alterations(sets: Sets, judges: Judges) -> Iterator[list[str]]:
    """All versions of an answer stand together, so that its contexts are encoded once."""
    versions: list[tuple[str, str, Record]] = []
    for record in [*sets["BEGIN"][0], *sets["WiCE"][0]]:
        changed: dict[str, str | None] = {UNFAITHFUL: record["answer"]}
        if is_faithful(record):
            changed = {name: alter(record["answer"]) for name, alter in ALTERATIONS.items()}
        for name, answer in changed.items():
            if answer is not None:
                own = {"id": f"{record['id']} {name}", "answer": answer}
                versions.append((name, record["id"], record | own))
    verdicts_by = {
        judge: list(verdicts([record for *_, record in versions], by))
        for judge, by in judges.items()
    }
    for name in [*ALTERATIONS, UNFAITHFUL]:
        for judge, judged_versions in verdicts_by.items():
            both = list(zip(versions, judged_versions, strict=True))
            before = {of: value for (change, of, _), (value, _) in both if change == AS_IT_WAS}
            mine = [
                (before.get(of), value, verdict)
                for (change, of, _), (value, verdict) in both
                if change == name and value is not None
            ]
            old = [was for was, _, _ in mine if was is not None]
            new = [value for was, value, _ in mine if was is not None]
            changes = bool(old) and name != AS_IT_WAS
            above = auroc([*old, *new], [1] * len(old) + [0] * len(new)) if changes else None
            yield [
                name,
                judge,
                f"{len(mine):,}",
                "" if above is None else f"{above:.2f}",
                *(
                    f"{np.mean([verdict == kind for *_, verdict in mine]):.2f}"
                    for kind in ("contradicted", "absent", "supported")
                ),
            ]


def verdicts(records: Sequence[Record], judge: LocalJudge) -> Iterator[tuple[Score, str]]:
    """For each record the mean probability of its claims, and the worst verdict among them."""
    for start, tables in judged(records, judge, SUPPORT_ASKS):
        claims = tables.of("support/claim").group_by("row").agg("probability", "verdict")
        said = {row: (values, kinds) for row, values, kinds in claims.iter_rows()}
        for row in range(min(BLOCK, len(records) - start)):
            values, kinds = said.get(row, ([], []))
            worst = next((one for one in ("contradicted", "absent") if one in kinds), "supported")
            yield float(np.mean(values)) if values else None, worst


# Correctness ----------------------------------------------------------------------------------


def correctness_figures(judges: Judges) -> Iterator[list[str]]:
    evouna = records_of("EVOUNA")
    for name, records in (
        ("EVOUNA, NQ", [record for record in evouna if record["meta"]["source"] == "NQ"]),
        ("EVOUNA, TQ", [record for record in evouna if record["meta"]["source"] == "TQ"]),
        ("NQ301", records_of("NQ301")),
    ):
        verdicts: Scores = {
            judge: [
                outcome == "correct" for outcome in scored(records, by, "answer_outcome")["label"]
            ]
            for judge, by in judges.items()
        }
        verdicts["containment"] = [contained(record) for record in records]
        if name == "NQ301":
            verdicts |= {
                f"{judge}, published": [record["meta"]["judges"][judge] for record in records]
                for judge in ("bem", "text-davinci-003", "gpt-4")
            }
        labels = [record["labels"]["correct"] for record in records]
        questions = [record["question"] for record in records]
        yield from bootstrapped(name, "κ of correct", kappa_of, verdicts, labels, questions)


def contained(record: Record) -> bool:
    """The naive judge: some reference stands word for word in the answer."""
    said = normalised(record["answer"])
    return any(normal in said for one in record["reference"] if (normal := normalised(one)))


def normalised(text: str) -> str:
    text = re.sub(r"[^\w\s]", "", text.lower())
    return " ".join(word for word in text.split() if word not in ("a", "an", "the"))


# Abstention and relevance ---------------------------------------------------------------------


def abstention_figures() -> Iterator[list[str]]:
    """Patterns alone: the encoder has no say."""
    records = [
        one
        for one in records_of("MTRAG-UN")
        if one["labels"]["expected_behaviour"] in ("answer", "abstain")
    ]
    verdicts: Scores = {
        STRINGS: scored(records, LocalJudge(), "abstention")["value"].to_list(),
        "8 phrases": [abstains_by_phrases(record["answer"], PHRASES_8) for record in records],
        "12 phrases": [abstains_by_phrases(record["answer"], PHRASES_12) for record in records],
    }
    labels = [record["labels"]["expected_behaviour"] == "abstain" for record in records]
    conversations = [record["id"].split("<")[0] for record in records]
    return bootstrapped("MTRAG-UN", "F1 of abstaining", f1_of, verdicts, labels, conversations)


def relevances(
    records: Sequence[Record], judge: LocalJudge, column: str
) -> Iterator[dict[int, float]]:
    """For each record the column of the table of relevance, by rank from 1."""
    for start, tables in judged(records, judge, ["relevance"]):
        found: dict[int, dict[int, float]] = defaultdict(dict)
        for row, rank, value in tables.of("relevance").select("row", "rank", column).iter_rows():
            found[row][rank] = value
        yield from (found[row] for row in range(min(BLOCK, len(records) - start)))


def answerable_figures(judges: Judges) -> Iterator[list[str]]:
    records = records_of("CLAPNQ")
    scores: Scores = {
        judge: [by_rank[1] for by_rank in relevances(records, by, "probability")]
        for judge, by in judges.items()
    }
    scores["share of question words"] = [question_word_share(record) for record in records]
    labels = [record["labels"]["answerable"] for record in records]
    ids = [record["id"] for record in records]
    return bootstrapped("CLAPNQ", "AUROC of answerable", auroc_of, scores, labels, ids)


def question_word_share(record: Record) -> float:
    held, asked = set(terms(record["contexts"][0])), terms(record["question"])
    return sum(word in held for word in asked) / len(asked) if asked else 0.0


def ranking_figures(judges: Judges) -> Iterator[list[str]]:
    """nDCG@10 with linear gains over the sentences of WiCE's pages, the claim as the question."""
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (DATA / "retrieval_wice/qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        grades[query][document] = int(grade)
    records = [
        one | {"question": one["answer"]} for one in records_of("WiCE") if one["id"] in grades
    ]
    runs = {
        f"{judge}, by {column}": {
            record["id"]: [
                f"{record['id']}#{rank - 1}" for rank in sorted(one, key=lambda n: (-one[n], n))
            ]
            for record, one in zip(records, relevances(records, by, column), strict=True)
        }
        for judge, by in judges.items()
        for column in ("probability", "grade")
    }
    runs["BM25"] = run_of(DATA / "retrieval_wice/run_bm25.txt.gz")
    queries = sorted(grades)
    values: Scores = {
        judge: [ndcg(ranking[query], grades[query]) for query in queries]
        for judge, ranking in runs.items()
    }
    return bootstrapped("WiCE retrieval", "nDCG@10", mean_of, values, queries, queries)


def run_of(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            query, _, document, _, value, _ = line.split()
            found[query].append((-float(value), document))
    return {query: [document for _, document in sorted(one)] for query, one in found.items()}


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    discount = 1 / np.log2(np.arange(2, k + 2))
    gains = np.array([grades.get(document, 0) for document in ranking[:k]])
    ideal = np.array(sorted(grades.values(), reverse=True)[:k])
    return float(gains @ discount[: len(gains)] / (ideal @ discount[: len(ideal)]))


# Figures and their intervals ------------------------------------------------------------------


def auroc_of(said: Floats, truth: NDArray[Any]) -> float:
    return auroc(said, truth) or 0.0


def kappa_of(said: NDArray[Any], truth: NDArray[Any]) -> float:
    observed = float((said == truth).mean())
    chance = float(said.mean() * truth.mean() + (1 - said.mean()) * (1 - truth.mean()))
    return (observed - chance) / (1 - chance)


def f1_of(said: Floats, truth: NDArray[Any]) -> float:
    return float(2 * (said * truth).sum() / (said.sum() + truth.sum()))


def spearman_of(said: Floats, truth: NDArray[Any]) -> float:
    return float(spearmanr(said, truth)[0])


def mean_of(values: Floats, _: object) -> float:
    return float(values.mean())


def bootstrapped(
    data: str,
    figure: str,
    statistic: Statistic,
    scores: Mapping[str, Sequence[Score]],
    truths: Iterable[Any],
    clusters: Iterable[str],
) -> Iterator[list[str]]:
    """The figure of each judge over the rows that it scores.

    Its interval is by drawing whole clusters with replacement.
    """
    truths, clusters = list(truths), list(clusters)
    for judge, some in scores.items():
        rows = [n for n, value in enumerate(some) if value is not None]
        values = np.array([some[n] for n in rows], np.float64)
        truth = np.array([truths[n] for n in rows])
        members: dict[str, list[int]] = defaultdict(list)
        for place, n in enumerate(rows):
            members[clusters[n]].append(place)
        groups = [np.array(cluster) for cluster in members.values()]
        rng = np.random.default_rng(20)
        drawn = []
        for _ in range(RESAMPLES):
            picked = rng.integers(len(groups), size=len(groups))
            places = np.concatenate([groups[i] for i in picked])
            drawn.append(statistic(values[places], truth[places]))
        low, high = np.quantile(drawn, [0.025, 0.975])
        value = statistic(values, truth)
        yield [data, figure, judge, f"{len(values):,}", f"{value:.3f}", f"{low:.3f}–{high:.3f}"]


if __name__ == "__main__":
    run(main)
