"""Fits the curves of the local judge on human-labelled data, and says how well they hold.

    python benchmarks/fit_curves.py [--write]

Only on sets whose licence allows it: MTRAG, EVOUNA and CLAPNQ (Apache-2.0), WiCE (annotations
ODC-BY), BEGIN without its Topical-Chat part (CC BY 4.0). Prints how each curve does in five folds
by question or document, and carried over to a set it has not seen. ``--write`` puts the
coefficients into src/ragstone/judges/local/curves.json and the figures into
benchmarks/local-judge.md, with the reliability diagrams of its picture, benchmarks/reliability.svg.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from labelled import document_of, is_faithful, records_of, table, write_into_page
from local_judge import auroc_of, kappa_of
from measure import ROOT, run
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import spearmanr

from ragstone.judges.local import answer_agreement as agreement
from ragstone.judges.local import context_relevance as relevance
from ragstone.judges.local.aligner import Aligner, AlignmentInput, behind, likeness
from ragstone.judges.local.claims_and_evidence import Passages, claims, gather, statements
from ragstone.judges.local.response_type import response_type
from ragstone.models import Encoder, open_encoder
from ragstone.report import page as ui
from ragstone.report.chart_files import alone
from ragstone.stats import wilson

Features = dict[str, float]
Floats = NDArray[np.float64]

CURVES = ROOT / "src/ragstone/judges/local/curves.json"
PICTURE = ROOT / "benchmarks/reliability.svg"
FOLDS = 5
RIDGE = 0.015
FITTED_ON = [
    "MTRAG, Katsis et al. (2025), Apache-2.0",
    "WiCE, Kamoi et al. (2023), annotations ODC-BY",
    "BEGIN, Dziri et al. (2022), its Wizard-of-Wikipedia and CMU-DoG parts, CC BY 4.0",
    "EVOUNA, Wang et al. (2023), Apache-2.0",
    "CLAPNQ, Rosenthal et al. (2025), Apache-2.0",
]

SUPPORT = ["window", "in_order", "new_small_words", "new_numbers", "new_names", "first_person",
           "framed", "opinion"]  # fmt: skip
ALIGNED = ["aligned", "weakest", "unheld"]
AGREEMENT = ["enough", "wanted", "said", "lost_number", "number_clash", "verbatim", "lost_name",
             "other_name"]  # fmt: skip
LIKENESS = ["aligned", "weakest", "returned", "whole"]
RELEVANCE = ["share", "together", "beside_best"]
COSINES = ["cosine", "under_best"]


@dataclass(frozen=True)
class Row:
    """A labelled thing: the features of its parts, the label, and what it hangs together with."""

    data: str
    group: str
    label: bool
    parts: list[Features]
    fitted: bool = True
    rating: float | None = None

    @property
    def fold(self) -> int:
        return int(hashlib.sha256(self.group.encode()).hexdigest(), 16) % FOLDS


def main(write: bool = False) -> None:
    encoder = open_encoder("builtin:minilm")
    supported = list(support_rows(encoder))
    agreed = list(agreement_rows(encoder))
    relevant = list(relevance_rows(encoder))
    inside = [*AGREEMENT, "inside"]
    by_size = partial(fitted, power=0.5)  # Of sets of 38,330, 1,224 and 371 the larger count more.
    curves: dict[str, Any] = {}
    seen: dict[str, list[Judged]] = {}
    for name, rows, columns, fit, judge in (
        ("support/strings", supported, SUPPORT, fitted, Fit.__call__),
        ("support/encoder", supported, SUPPORT + ALIGNED, fitted, Fit.__call__),
        ("agreement/strings", agreed, inside, fitted_to_the_best, best_of_parts),
        ("agreement/encoder", agreed, AGREEMENT + LIKENESS, fitted_to_the_best, best_of_parts),
        ("relevance/strings", relevant, RELEVANCE, by_size, Fit.__call__),
        ("relevance/encoder", relevant, RELEVANCE + COSINES, by_size, Fit.__call__),
    ):
        curves[name] = fit(rows, columns).coefficients(columns)
        seen.setdefault(name.partition("/")[0], []).append(
            {how: held_out(rows, columns, part, fit, judge) for how, part in HELD_OUT.items()}
        )
    text = "\n\n".join(
        [
            "Support, over answers; the score is the mean probability of the claims:",
            table(SUPPORT_HEAD, support_lines(supported, seen["support"])),
            "Agreement, over answers; the score is that of the best reference, 0 for an answer "
            "that abstains:",
            table(AGREEMENT_HEAD, lines(agreed, AGREED, seen["agreement"], [kappa, auroc_of, ece])),
            "Relevance, over sentences and over whole passages:",
            table(
                RELEVANCE_HEAD,
                lines(relevant, names_of(relevant), seen["relevance"], [auroc_of, ece]),
            ),
            "What the grades of relevance mean, in five folds with the encoder: the share that "
            "people call relevant, and of how many:",
            table(GRADES_HEAD, grade_lines(relevant, seen["relevance"][1]["five folds"])),
        ]
    )
    print(text)
    if write:
        fits = {"encoder": encoder.name, "fitted_on": FITTED_ON, "curves": curves}
        CURVES.write_text(json.dumps(fits, indent=1) + "\n", encoding="utf-8")
        write_into_page("held out", text)
        panels = [
            panel
            for kind, rows, names in (("support", supported, RATED), ("agreement", agreed, AGREED))
            for panel in reliability(kind, rows, names, seen[kind][1]["five folds"])
        ]
        PICTURE.write_text(picture(panels), encoding="utf-8")


# Rows -----------------------------------------------------------------------------------------


def support_rows(encoder: Encoder) -> Iterator[Row]:
    """Answers of MTRAG, BEGIN and WiCE that make claims, a part for each claim."""
    aligner = Aligner(encoder)
    for name in ("MTRAG", "BEGIN", "WiCE"):
        labelled = (record for record in records_of(name) if is_faithful(record) is not None)
        for _, records in groupby(labelled, lambda record: record["contexts"]):
            mine = list(records)
            made = [claims_of(record["answer"]) for record in mine]
            contexts = tuple(mine[0]["contexts"])
            passages = Passages(contexts)
            aligned = aligner.align(
                [AlignmentInput(contexts, passages, tuple(texts)) for texts in made]
            )
            for record, texts, matches in zip(mine, made, aligned, strict=True):
                parts = [
                    seen.features() | match._asdict()
                    for text, match in zip(texts, matches, strict=True)
                    if match is not None and (seen := gather(text, passages)) is not None
                ]
                if texts:
                    ratings = record["labels"]["faithfulness"] if name == "MTRAG" else {}
                    yield Row(
                        name,
                        document_of(record),
                        bool(is_faithful(record)),
                        parts,
                        fitted=record["meta"].get("source") != "tc",
                        rating=float(np.mean(list(ratings.values()))) if ratings else None,
                    )


def claims_of(answer: str) -> list[str]:
    if response_type(answer)[0] in ("abstain", "refuse"):
        return []
    return [claim.text for claim in claims(answer) if claim.factual]


def agreement_rows(encoder: Encoder) -> Iterator[Row]:
    """Answers of EVOUNA and NQ301 (never fitted on) that give one, a part for each reference."""
    records = [*records_of("EVOUNA"), *records_of("NQ301")]
    for start in range(0, len(records), 500):
        block = records[start : start + 500]
        pairs = [
            (record, statement)
            for record in block
            for reference in record["reference"]
            for statement in statements(reference)
        ]
        texts = dict.fromkeys(behind(one["question"], one["answer"]) for one in block)
        texts |= dict.fromkeys(behind(one["question"], statement) for one, statement in pairs)
        vectors = dict(zip(texts, encoder.tokens(list(texts)), strict=True))
        for record in block:
            question, answer = record["question"], record["answer"]
            silent = response_type(answer)[0] in ("abstain", "refuse", "clarify")
            parts = []
            for other, statement in pairs:
                seen = agreement.wording(statement, answer, question) if other is record else None
                if seen is None:
                    continue
                both = [vectors[behind(question, text)] for text in (answer, statement)]
                match = likeness(question, statement, answer, *both)
                if match is not None:
                    parts.append(seen.features() | match._asdict())
            yield Row(
                "EVOUNA, " + record["meta"]["source"] if "source" in record["meta"] else "NQ301",
                question,
                record["labels"]["correct"],
                [] if silent else parts,
                fitted="source" in record["meta"],
            )


def relevance_rows(encoder: Encoder) -> Iterator[Row]:
    """Sentences of WiCE's pages and of CLAPNQ's passages, a part for each."""
    lists: list[tuple[str, str, str, list[str], list[bool]]] = []
    for record in records_of("WiCE"):
        sets = record["labels"]["supporting_sets"]
        if any(sets):
            picked = set().union(*sets)
            texts = record["contexts"]
            labels = [number in picked for number in range(len(texts))]
            lists.append(("WiCE", record["meta"]["title"], record["answer"], texts, labels))
    for record in records_of("CLAPNQ"):
        picked = set().union(*record["labels"]["selected_sentences"] or [])
        texts = record["meta"]["sentences"]
        if picked:
            labels = [number in picked for number in range(len(texts))]
            lists.append(("CLAPNQ", record["question"], record["question"], texts, labels))
        whole = [" ".join(record["contexts"])]
        answerable = [bool(record["labels"]["answerable"])]
        lists.append(("CLAPNQ passages", record["question"], record["question"], whole, answerable))
    for name, group, question, texts, labels in lists:
        counted = relevance.wanted(question, texts)
        vectors = encoder.embed([question, *texts])
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = relevance.cosine_features((vectors[1:] @ vectors[0]).tolist())
        for seen, cosine, label in zip(counted, cosines, labels, strict=True):
            yield Row(name, group, label, [seen.features() | cosine])


# Fits -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """A logistic curve over features; the mean over a row's parts is its probability."""

    intercept: float
    weights: Floats

    def __call__(self, rows: Sequence[Row], columns: Sequence[str]) -> Floats:
        values, of_row, n = design(rows, columns)
        odds = expit(values @ self.weights + self.intercept)
        return np.asarray(np.bincount(of_row, odds, len(rows)) / np.maximum(n, 1))

    def coefficients(self, columns: Sequence[str]) -> dict[str, Any]:
        weights = dict(zip(columns, (round(float(w), 3) for w in self.weights), strict=True))
        return {"intercept": round(self.intercept, 3), "weights": weights}


def design(rows: Sequence[Row], columns: Sequence[str]) -> tuple[Floats, NDArray[np.int64], Floats]:
    parts = [(number, part) for number, row in enumerate(rows) for part in row.parts]
    values = np.array([[part[name] for name in columns] for _, part in parts], np.float64)
    of_row = np.array([number for number, _ in parts], np.int64)
    return values.reshape(-1, len(columns)), of_row, np.array([len(row.parts) for row in rows])


def fitted(rows: Sequence[Row], columns: Sequence[str], power: float = 0.0) -> Fit:
    """Least log loss of the mean over the parts, a set's weight its size to that power.

    First the direction, each label of a set the same weight, so that a set's share of positives
    says nothing; then, on the natural shares, how steep the curve is and where it crosses one half.
    """
    rows = [row for row in rows if row.fitted and row.parts]
    values, of_row, n = design(rows, columns)
    middle, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    values = (values - middle) / spread
    label = np.array([row.label for row in rows], np.float64)
    name = np.array([row.data for row in rows])

    def solve(design: Floats, weight: Floats, ridge: float, start: Floats) -> Floats:
        def loss(theta: Floats) -> tuple[float, Floats]:
            odds = expit(design @ theta[1:] + theta[0])
            mean = np.clip(np.bincount(of_row, odds, len(rows)) / n, 1e-4, 1 - 1e-4)
            value = -(weight * (label * np.log(mean) + (1 - label) * np.log1p(-mean))).sum()
            slope = (-weight * (label / mean - (1 - label) / (1 - mean)) / n)[of_row]
            slope = slope * odds * (1 - odds)
            gradient = np.concatenate([[slope.sum()], design.T @ slope])
            gradient[1:] += 2 * ridge * theta[1:]
            return float(value + ridge * (theta[1:] ** 2).sum()), gradient

        return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)

    balanced = shares([f"{a} {b}" for a, b in zip(name, label, strict=True)], power)
    direction = solve(values, balanced, RIDGE, np.zeros(len(columns) + 1))
    line = values @ direction[1:] + direction[0]
    level = solve(line[:, None], shares(name, power), 0.0, np.array([0.0, 1.0]))
    weights = level[1] * direction[1:] / spread
    return Fit(float(level[0] + level[1] * direction[0] - weights @ middle), weights)


def fitted_to_the_best(rows: Sequence[Row], columns: Sequence[str]) -> Fit:
    """As ``fitted``, to each row's likeliest part alone: any reference counts."""

    def likeliest(part: Features) -> tuple[float, ...]:
        return part["enough"], part["verbatim"], part["share"], part["aligned"]

    best = [replace(row, parts=[max(row.parts, key=likeliest)]) for row in rows if row.parts]
    return fitted(best, columns)


def shares(groups: Iterable[str], power: float = 0.0) -> Floats:
    """Weights that sum to 1; those of a group sum to a share that grows with its size."""
    _, group, counts = np.unique(list(groups), return_inverse=True, return_counts=True)
    share = counts**power / (counts**power).sum()
    return np.asarray((share / counts)[group])


def held_out(
    rows: Sequence[Row],
    columns: Sequence[str],
    part_of: Callable[[Row], object],
    fit: Callable[[Sequence[Row], Sequence[str]], Fit],
    judge: Callable[[Fit, Sequence[Row], Sequence[str]], Floats],
) -> Floats:
    """The probability of each row by a curve fitted on the rows of other parts."""
    found = np.zeros(len(rows))
    parts = [part_of(row) for row in rows]
    for part in set(parts):
        mine = [number for number, other in enumerate(parts) if other == part]
        others = [row for row, other in zip(rows, parts, strict=True) if other != part]
        found[mine] = judge(fit(others, columns), [rows[number] for number in mine], columns)
    return found


def best_of_parts(fit: Fit, rows: Sequence[Row], columns: Sequence[str]) -> Floats:
    """Of several references the best counts; a row without parts is 0."""
    alone = [replace(row, parts=[part]) for row in rows for part in row.parts]
    of_row = [number for number, row in enumerate(rows) for _ in row.parts]
    found = np.zeros(len(rows))
    np.maximum.at(found, of_row, fit(alone, columns))
    return found


HELD_OUT: dict[str, Callable[[Row], object]] = {
    "five folds": attrgetter("fold"),
    # Passages and their sentences are one set.
    "carried over": lambda row: row.data.removesuffix(" passages"),
}
Judged = dict[str, Floats]
"""By how it was held out, the probability of each row."""


# Reports --------------------------------------------------------------------------------------

RATED = ("BEGIN", "WiCE", "MTRAG")
AGREED = ("EVOUNA, NQ", "EVOUNA, TQ", "NQ301")
SUPPORT_HEAD = ["data set", "answers", "held out", "AUROC, strings", "with encoder",
                "ECE, strings", "with encoder"]  # fmt: skip
AGREEMENT_HEAD = ["data set", "answers", "held out", "κ at .5, strings", "with encoder",
                  "AUROC, strings", "with encoder", "ECE, strings", "with encoder"]  # fmt: skip
RELEVANCE_HEAD = ["data set", "texts", *SUPPORT_HEAD[2:]]
GRADES_HEAD = ["data set", "grade 0", "grade 1", "grade 2", "grade 3"]


def support_lines(rows: Sequence[Row], judges: Sequence[Judged]) -> Iterator[list[str]]:
    yield from lines(rows, RATED, judges, [auroc_of, ece])
    name, label = sets_and_labels(rows)
    rated = [number for number, row in enumerate(rows) if row.rating is not None]
    ratings = [rows[number].rating for number in rated]
    for how in HELD_OUT:
        errors = [f"{ece(judged[how], label, shares(name)):.3f}" for judged in judges]
        yield ["all, each set the same weight", f"{len(rows):,}", how, "", "", *errors]
    for how in HELD_OUT:
        rho = [f"ρ {spearmanr(judged[how][rated], ratings)[0]:.3f}" for judged in judges]
        yield ["MTRAG, with the mean rating", f"{len(rated):,}", how, *rho, "", ""]


def sets_and_labels(rows: Sequence[Row]) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    return np.array([row.data for row in rows]), np.array([row.label for row in rows])


def names_of(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.data for row in rows))


def lines(
    rows: Sequence[Row],
    sets: Iterable[str],
    judges: Sequence[Judged],
    figures: Sequence[Callable[[Floats, NDArray[np.bool_]], float]],
) -> Iterator[list[str]]:
    """For each set and way of holding out each figure, by strings and with the encoder."""
    name, label = sets_and_labels(rows)
    for data in sets:
        mine = name == data
        for how in list(HELD_OUT) if rows[int(mine.argmax())].fitted else ["five folds"]:
            cells = [
                f"{figure(judged[how][mine], label[mine]):.3f}"
                for figure in figures
                for judged in judges
            ]
            yield [data, f"{mine.sum():,}", how, *cells]


def grade_lines(rows: Sequence[Row], score: Floats) -> Iterator[list[str]]:
    name, label = sets_and_labels(rows)
    grade = np.digitize(score, [relevance.RELATED, relevance.RELEVANT, relevance.SUFFICIENT])
    for data in names_of(rows):
        graded = [(name == data) & (grade == number) for number in range(4)]
        yield [data, *(f"{label[mine].mean():.2f} of {mine.sum():,}" for mine in graded)]


def kappa(score: Floats, label: NDArray[np.bool_]) -> float:
    return kappa_of(score >= agreement.FULL, label.astype(np.float64))


def bins(score: Floats) -> Iterator[NDArray[np.bool_]]:
    """Ten of equal numbers; equal scores stay together, so there may be fewer."""
    edges = np.quantile(score, np.linspace(0, 1, 11))
    places = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, 9)
    for place in np.unique(places):
        yield places == place


def ece(score: Floats, label: NDArray[np.bool_], weight: Floats | None = None) -> float:
    """Expected calibration error over these bins."""
    weight = np.ones(len(score)) if weight is None else weight
    gap = weight * (score - label)
    return float(sum(abs(gap[mine].sum()) for mine in bins(score)) / weight.sum())


def reliability(
    kind: str, rows: Sequence[Row], sets: Iterable[str], score: Floats
) -> Iterator[ui.Reliability]:
    """What is to be drawn of each set."""
    name, label = sets_and_labels(rows)
    for data in sets:
        mine = name == data
        probability, yes = score[mine], label[mine]
        points = []
        for inside in bins(probability):
            n, mean = int(inside.sum()), float(probability[inside].mean())
            interval = wilson(int(yes[inside].sum()), n)
            if interval is not None:
                ends = interval.low, interval.high
                points.append(ui.Bin(mean, float(yes[inside].mean()), *ends, n))
        title = f"{kind.capitalize()} · {data.removeprefix('EVOUNA, ')}, {len(yes):,} answers"
        yield ui.Reliability(tuple(points), title)


def picture(panels: Sequence[ui.Reliability]) -> str:
    """Three in a row; what is right of a diagram lies below the next one."""
    wide, tall, head = 340, 360, '<svg xmlns="http://www.w3.org/2000/svg" '
    inside = "".join(
        alone(panel).replace(head, f'<svg x="{number % 3 * wide}" y="{number // 3 * tall}" ', 1)
        for number, panel in enumerate(panels)
    )
    return f'{head}viewBox="0 0 {3 * wide} {len(panels) // 3 * tall}">\n{inside}</svg>\n'


if __name__ == "__main__":
    run(main)
