"""How well the local judge agrees with people, beside naive and published judges.

    python benchmarks/local_judge.py [--write]

Everything is judged by ``LocalJudge`` in blocks, as a run does it: by strings alone, and by strings
and the encoder. Development figures on human-labelled sets, on most of which the curves were
fitted; benchmarks/fit_curves.py has the held-out ones. Intervals are 95 % percentile bootstraps
over whole questions or documents. ``--write`` puts the tables into benchmarks/local-judge.md.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Any, TypeVar

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
Key = TypeVar("Key", int, str)
Scores = dict[str, list[Score]]
"""Of each judge, in the order of the records."""

RESAMPLES = 1000
BLOCK = 1000
STRINGS, ENCODER = "**strings**", "**strings and encoder**"
SUPPORT_ASKS = needed_asks([parse_metric("faithfulness")])
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


def by_record(
    records: Sequence[Record], judge: LocalJudge, ask: str, *columns: str
) -> Iterator[Sequence[list[Any]]]:
    """For each record these columns of the judgements about it, each as a list."""
    asks = SUPPORT_ASKS if ask in SUPPORT_ASKS else [ask]
    for start, tables in judged(records, judge, asks):
        grouped = tables.of(ask).group_by("row", maintain_order=True).agg(columns)
        lists_of = {row: lists for row, *lists in grouped.iter_rows()}
        for row in range(min(BLOCK, len(records) - start)):
            yield lists_of.get(row, [[] for _ in columns])


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
    ratings = [fmean(record["labels"]["faithfulness"].values()) for record in records]
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
        return {f"{key}, published": [row["meta"]["auto"][key] for row in records] for key in keys}
    if name == "oracle":
        shown = [record["meta"]["judges_oracle_chunk"] for record in records]
        return {
            f"{key}, published, shown only the right sentences": [row.get(key) for row in shown]
            for key in ("t5-3b-anli", "t5-3b-anli-wice")
        }
    return {}


def evidence_figures(judges: Judges) -> Iterator[list[str]]:
    """Of claims that people and the judge call supported: are the right sentences named?"""
    records = records_of("WiCE")
    for judge, by in judges.items():
        precisions: list[Score] = []
        recalls: list[Score] = []
        titles = []
        named = by_record(records, by, "support/claim", "evidence")
        for record, (evidence,) in zip(records, named, strict=True):
            sets = [set(sentences) for sentences in record["labels"]["supporting_sets"]]
            # a context without an id is named by its position, counted from 1
            mine = {int(position) - 1 for positions in evidence for position in positions}
            if record["labels"]["faithful"] and sets and mine:
                precisions.append(len(mine & set().union(*sets)) / len(mine))
                recalls.append(max(len(mine & sentences) / len(sentences) for sentences in sets))
                titles.append(record["meta"]["title"])
        yield from bootstrapped("WiCE", "evidence precision", mean_of, {judge: precisions},
                                titles, titles)  # fmt: skip
        yield from bootstrapped("WiCE", "evidence recall, best set", mean_of, {judge: recalls},
                                titles, titles)  # fmt: skip


def levels(sets: Sets) -> Iterator[list[str]]:
    for name, (records, ours) in sets.items():
        for judge, scores in ours.items():
            rows = [n for n, value in enumerate(scores) if value is not None]
            values = np.array([scores[n] for n in rows], np.float64)
            truth = np.array([is_faithful(records[n]) for n in rows], np.float64)
            cuts = np.arange(0.05, 1, 0.05)
            kappas = [kappa_of(values >= cut, truth) for cut in cuts]
            best = int(np.argmax(kappas))
            figures = (truth.mean(), values.mean(), (values >= 0.5).mean(),
                       kappa_of(values >= 0.5, truth), kappas[best], cuts[best])  # fmt: skip
            yield [name, judge, *(f"{figure:.2f}" for figure in figures)]


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
    changed = re.sub(r"\w+$", "Harrington", name.group())
    return text[: name.start()] + changed + text[name.end() :]


def swapped_names(text: str) -> str | None:
    """The first two different names inside the sentence change places."""
    names = [match for match in _NAME.finditer(text) if match.start() > 0]
    for second in names[1:]:
        first = names[0]
        if first.group() != second.group():
            middle = text[first.end() : second.start()]
            swapped = second.group() + middle + first.group()
            return text[: first.start()] + swapped + text[second.end() :]
    return None


def reversed_words(text: str) -> str | None:
    """All words in reverse order."""
    words = text.rstrip(".!").split()
    return " ".join(reversed(words)) if len(words) > 3 else None


def _changed(text: str, changed: str) -> str | None:
    return changed if changed != text else None


WORST_FIRST = ("contradicted", "absent", "supported")
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
OPPOSED = [pair.split("/") for pair in PAIRS.split()]
OPPOSITES = {word: other for pair in OPPOSED for word, other in (pair, pair[::-1])}
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
    columns = {"change": [change for change, _, _ in versions], "id": [id for _, id, _ in versions]}
    altered = [record for *_, record in versions]
    tables = {judge: pl.DataFrame(columns | verdicts(altered, by)) for judge, by in judges.items()}
    for change, (judge, answers) in product([*ALTERATIONS, UNFAITHFUL], tables.items()):
        was = answers.filter(change=AS_IT_WAS).select("id", before="value")
        mine = answers.filter(change=change).drop_nulls("value")
        both = mine.join(was, on="id").drop_nulls("before")
        above = None
        if both.height and change != AS_IT_WAS:
            above = auroc([*both["before"], *both["value"]], np.repeat([1, 0], both.height))
        shares = [f"{(mine['verdict'] == kind).to_numpy().mean():.2f}" for kind in WORST_FIRST]
        yield [change, judge, f"{mine.height:,}", "" if above is None else f"{above:.2f}", *shares]


def verdicts(records: Sequence[Record], judge: LocalJudge) -> dict[str, list[Any]]:
    """For each record the mean probability of its claims, and the worst verdict among them."""
    means, worst = list[Score](), list[str]()
    for values, kinds in by_record(records, judge, "support/claim", "probability", "verdict"):
        means.append(float(np.mean(values)) if values else None)
        worst.append(min(kinds, key=WORST_FIRST.index, default="supported"))
    return {"value": means, "verdict": worst}


# Correctness ----------------------------------------------------------------------------------


def correctness_figures(judges: Judges) -> Iterator[list[str]]:
    evouna = records_of("EVOUNA")
    for name, records in (
        ("EVOUNA, NQ", [record for record in evouna if record["meta"]["source"] == "NQ"]),
        ("EVOUNA, TQ", [record for record in evouna if record["meta"]["source"] == "TQ"]),
        ("NQ301", records_of("NQ301")),
    ):
        verdicts: Scores = {
            judge: scored(records, by, "answer_outcome")["label"].eq_missing("correct").to_list()
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
    expected = ("answer", "abstain")
    records = [record for record in records_of("MTRAG-UN")
               if record["labels"]["expected_behaviour"] in expected]  # fmt: skip
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
    for ranks, values in by_record(records, judge, "relevance", "rank", column):
        yield dict(zip(ranks, values, strict=True))


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
    for query, _, document, grade in fields_of("qrels.txt"):
        grades[query][document] = int(grade)
    records = [record | {"question": record["answer"]} for record in records_of("WiCE")
               if record["id"] in grades]  # fmt: skip
    runs = {
        f"{judge}, by {column}": {
            record["id"]: [f"{record['id']}#{rank - 1}" for rank in ranked(values)]
            for record, values in zip(records, relevances(records, by, column), strict=True)
        }
        for judge, by in judges.items()
        for column in ("probability", "grade")
    }
    bm25: dict[str, dict[str, float]] = defaultdict(dict)
    for query, _, document, _, value, _ in fields_of("run_bm25.txt.gz"):
        bm25[query][document] = float(value)
    runs["BM25"] = {query: ranked(values) for query, values in bm25.items()}
    queries = sorted(grades)
    values: Scores = {
        judge: [ndcg(ranking[query], grades[query]) for query in queries]
        for judge, ranking in runs.items()
    }
    return bootstrapped("WiCE retrieval", "nDCG@10", mean_of, values, queries, queries)


def fields_of(name: str) -> Iterator[tuple[str, ...]]:
    """The lines of a TREC file."""
    file = DATA / "retrieval_wice" / name
    return pl.read_csv(file, separator=" ", has_header=False, infer_schema=False).iter_rows()


def ranked(values: Mapping[Key, float]) -> list[Key]:
    """By falling value, and of equal ones by their names."""
    return sorted(values, key=lambda name: (-values[name], name))


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
        for position, n in enumerate(rows):
            members[clusters[n]].append(position)
        groups = [np.array(cluster) for cluster in members.values()]
        rng, drawn = np.random.default_rng(20), []
        for _ in range(RESAMPLES):
            picked = rng.integers(len(groups), size=len(groups))
            positions = np.concatenate([groups[i] for i in picked])
            drawn.append(statistic(values[positions], truth[positions]))
        low, high = np.quantile(drawn, [0.025, 0.975])
        value = statistic(values, truth)
        yield [data, figure, judge, f"{len(values):,}", f"{value:.3f}", f"{low:.3f}–{high:.3f}"]


if __name__ == "__main__":
    run(main)
