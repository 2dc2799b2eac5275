"""Preferences: people's choices or ratings of answers, and how far a composite agrees with them.

Each row of the file comes from an annotator. A preference names two examples, by their ids or by
question and systems, with a value from -2 (a is much better) to 2 (b is much better), or ``a``,
``b``, ``tie``::

    question_id,system_a,system_b,preference,annotator
    q1,bm25,dense,2,ann
    q1,bm25,dense,1,ben

A rating names an example with any number; higher is better::

    id,rating,annotator
    q1-bm25,4,ann
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.analysis.scored_run import Scored, known_metric
from ragstone.annotation.adjudication import that_count
from ragstone.annotation.read_labels import source_of
from ragstone.core.errors import DataError, Fault, InputError
from ragstone.core.messages import Reason, argument, reason
from ragstone.data.fields import squash
from ragstone.data.json_text import BadRow, Problem, finite_number, shown
from ragstone.data.sources import on_disk
from ragstone.data.text_files import Meter
from ragstone.metrics import AspectVerdict, Composite, parse_metric
from ragstone.stats import mean_interval
from ragstone.stats.distributions import ends_of
from ragstone.stats.weights_and_groups import Floats, Ints, codes_of


class Sort(StrEnum):
    """The sort of opinions in a file, by the name of their column."""

    PREFERENCE = "preference"
    RATING = "rating"


MOST = 2.0
WORDS = {"a": -MOST, "b": MOST, "tie": 0.0}
PLACES = ("id_a", "id_b", "question_id", "system_a", "system_b")


@dataclass(frozen=True, slots=True)
class Opinion:
    """The opinion of one annotator, as in the file."""

    line: int | None
    annotator: str
    value: float
    id: str | None = None
    id_a: str | None = None
    id_b: str | None = None
    question_id: str | None = None
    system_a: str | None = None
    system_b: str | None = None


@dataclass(frozen=True, slots=True)
class Opinions:
    """A file of preferences, or of ratings."""

    source: str
    sort: Sort
    rows: tuple[Opinion, ...]


# A pair of examples, a and b, as row indexes in ``Scored.facets``, several if a system answered a
# question several times; of a rated example a is empty.
Pair = tuple[tuple[int, ...], tuple[int, ...]]


def read_opinions(path: str | Path) -> Opinions:
    """Read preferences or ratings from .jsonl or .csv, each optionally .gz.

    Raises:
        DataError: Lists every fault: the file does not exist, a row is neither a preference nor a
            rating, a value is out of range, a row names no pair and no example, or one file mixes
            both.
    """
    file, name = on_disk(path), str(path)
    if not file.is_file():
        raise DataError([Fault(name, None, "", "a file of preferences", "none of this name")])
    rows: list[Opinion] = []
    faults: list[Fault] = []
    sorts: dict[Sort, int | None] = {}
    for line, record in source_of(file, name).rows(Meter(windows=None)):
        problems: list[Problem] = []
        if isinstance(record, BadRow):
            problems.append(record.problem)
        elif isinstance(record, Mapping):
            by_name = {squash(str(key)): value for key, value in record.items()}
            sort = Sort.PREFERENCE if by_name.get(Sort.RATING) is None else Sort.RATING
            row = _opinion(by_name, sort, line, problems)
            if not problems:
                sorts.setdefault(sort, line)
                rows.append(row)
        faults += [Fault(name, line, *problem) for problem in problems]
    if len(sorts) > 1:
        line = max(line or 0 for line in sorts.values())
        faults.append(Fault(name, line, "", "preferences or ratings", "both"))
    if not rows and not faults:
        faults.append(Fault(name, None, "", "a row with a preference or a rating", "no row"))
    if faults:
        raise DataError(faults)
    return Opinions(name, next(iter(sorts)), tuple(rows))


def judged_of(opinions: Opinions, scored: Scored) -> dict[Pair, float]:
    """People's opinion of each pair, or example, of a run: the mean over its annotators.

    Of adjudicators alone, if any said something. A pair that one annotator saw as a, b and another
    as b, a is one pair.
    """
    facets = scored.facets
    ids = {id: (row,) for row, id in enumerate(facets["example_id"])}
    questions = facets["question_id"].to_list()
    answers: dict[tuple[str, str], tuple[int, ...]] = {}
    for row, key in enumerate(facets.select("question_id", "system").iter_rows()):
        answers[key] = (*answers.get(key, ()), row)
    faults: list[Fault] = []
    votes_of: dict[Pair, dict[str, float]] = {}
    for opinion in opinions.rows:
        problems: list[Problem] = []
        a, b = _places(opinion, ids, answers, questions, problems)
        if not problems:
            turn = (b, a) in votes_of
            votes = votes_of.setdefault((b, a) if turn else (a, b), {})
            if opinion.annotator in votes:
                who = opinion.annotator or "an annotator without a name"
                problems.append(Problem("annotator", "one row an annotator", f"{who} twice"))
            votes[opinion.annotator] = -opinion.value if turn else opinion.value
        faults += [Fault(opinions.source, opinion.line, *problem) for problem in problems]
    if faults:
        raise DataError(faults, hint=f"The run is {scored.run.path}.")
    joint = {}
    for pair, votes in votes_of.items():
        words = ((None, None, annotator, False) for annotator in votes)
        values = list(compress(votes.values(), that_count(words)))
        joint[pair] = sum(values) / len(values)
    return joint


def _opinion(
    record: Mapping[str, Any], sort: Sort, line: int | None, problems: list[Problem]
) -> Opinion:
    value = _value(record.get(sort), sort, problems)
    texts = {
        name: _text(record.get(squash(name)), name, problems)
        for name in ("id", "annotator", *PLACES)
    }
    annotator = texts.pop("annotator") or ""
    fields = [name for name in texts if texts[name] is not None]
    if sort == Sort.RATING:
        if texts["id"] is None:
            problems.append(Problem("id", "the id of an example", "null"))
    elif not ({"id_a", "id_b"} <= set(fields) or set(PLACES[2:]) <= set(fields)):
        expected = "id_a and id_b, or question_id, system_a and system_b"
        problems.append(Problem("", expected, ", ".join(fields) or "none of them"))
    return Opinion(line, annotator, value, **texts)


def _value(value: object, sort: Sort, problems: list[Problem]) -> float:
    number = finite_number(value)
    if sort == Sort.RATING:
        if number is None:
            problems.append(Problem(sort, "a number", shown(value)))
        return number or 0.0
    if isinstance(value, str) and value.strip().lower() in WORDS:
        return WORDS[value.strip().lower()]
    if number is None or abs(number) > MOST:
        expected = "-2 (a is much better) to 2 (b is much better), or a, b or tie"
        problems.append(Problem(sort, expected, shown(value)))
    return number or 0.0


def _text(value: object, field: str, problems: list[Problem]) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    if type(value) is int:
        return str(value)
    problems.append(Problem(field, "text or a whole number", shown(value)))
    return None


def _places(
    opinion: Opinion,
    ids: Mapping[str, tuple[int, ...]],
    answers: Mapping[tuple[str, str], tuple[int, ...]],
    questions: Sequence[str],
    problems: list[Problem],
) -> Pair:
    rows_of = list(_found(opinion, ids, answers, problems))
    if not problems and len(rows_of) == 2:
        if rows_of[0] == rows_of[1]:
            problems.append(Problem("", "two answers", "one and the same"))
        elif questions[rows_of[0][0]] != questions[rows_of[1][0]]:
            texts = " and ".join(repr(questions[rows[0]]) for rows in rows_of)
            problems.append(Problem("", "two answers to one question", f"answers to {texts}"))
    if problems:
        return (), ()
    return ((), rows_of[0]) if len(rows_of) == 1 else (rows_of[0], rows_of[1])


def _found(
    opinion: Opinion,
    ids: Mapping[str, tuple[int, ...]],
    answers: Mapping[tuple[str, str], tuple[int, ...]],
    problems: list[Problem],
) -> Iterator[tuple[int, ...]]:
    if opinion.id_a is not None or opinion.system_a is None:
        both = {"id_a": opinion.id_a, "id_b": opinion.id_b}
        for field, id in ({"id": opinion.id} if opinion.id_a is None else both).items():
            if id is not None and id in ids:
                yield ids[id]
            else:
                problems.append(Problem(field, "the id of an example of the run", repr(id)))
        return
    for field, system in (("system_a", opinion.system_a), ("system_b", opinion.system_b)):
        key = (str(opinion.question_id), str(system))
        if key in answers:
            yield answers[key]
        else:
            expected = "a question and system of the run"
            problems.append(Problem(field, expected, f"{opinion.question_id!r} by {system!r}"))


# A metric is chosen by default only if it has scores for at least this share of the pairs.
FILLED = 0.9


@dataclass(frozen=True, eq=False)
class WeighingTable:
    """The pairs or ratings for which all scores exist, one row for each.

    Attributes:
        x: Shape (n, m). Scores of b minus those of a, or of the rated example; the sign is reversed
            if less is better.
        said: Shape (n,). People's mean preference or rating.
        cluster: Shape (n,). The index of the question, from 0.
    """

    x: Floats
    said: Floats
    cluster: Ints


def composite_terms(start: str) -> dict[str, float]:
    """The metrics of a composite and their weights."""
    metric = parse_metric(start)
    if not isinstance(metric, Composite) or metric.kind != "arithmetic" or metric.over_means:
        raise InputError(
            f"{argument('start', start)}: it takes equal, or a composite that is a weighted mean, "
            'such as ragas_score or composite(weights="faithfulness:2 context_recall:1").'
        )
    return {str(metric.components()[name]): weight for name, weight in metric.terms}


def weighable(
    scored: Scored,
    metrics: Sequence[str],
    begin: Mapping[str, float] | None,
    pairs: Collection[Pair],
) -> tuple[list[str], dict[str, str], int]:
    """The metrics to weight, why others are excluded, and a sign: -1 if less is better in all.

    Args:
        begin: Metrics and weights of the starting composite; None for equal weights.
    """
    names = [known_metric(scored, name) for name in dict.fromkeys([*(begin or {}), *metrics])]
    excluded: dict[str, str] = {}
    fitting = []
    for name in names or scored.metrics:
        if why := _unfit(scored, name):
            excluded[name] = why
        elif not names and (share := _filled(scored, name, pairs)) < FILLED:
            excluded[name] = reason("few_scores", share=f"{share:.2f}")
        else:
            fitting.append(name)
    better = {name: scored.scale(name).better for name in fitting}
    direction = "+" if "+" in better.values() else "-"
    for name in fitting:
        if better[name] != direction:
            excluded[name] = "less_is_better" if better[name] == "-" else "neither_is_better"
    usable = [name for name in fitting if better[name] == direction]
    if begin and (lost := [name for name in begin if name in excluded]):
        why_lost = reasons({name: excluded[name] for name in lost})
        raise InputError("The starting weights cannot be fitted.", notes=why_lost)
    if not usable:
        raise InputError("No metric is left to weight.", notes=reasons(excluded))
    return usable, excluded, 1 if direction == "+" else -1


def _unfit(scored: Scored, name: str) -> str | None:
    match scored.metric(name):
        case None:
            return "not_loaded"
        case Composite():
            return "composite_in_composite"
        case AspectVerdict():
            return "critique_in_composite"
    return None if scored.of(name)["value"].count() else "no_score_in_run"


def _filled(scored: Scored, name: str, pairs: Collection[Pair]) -> float:
    known = scored.of(name)["value"].is_not_null().to_numpy()
    full = [all(any(known[row] for row in side) for side in pair if side) for pair in pairs]
    return sum(full) / len(full) if full else 0.0


def score_table(
    scored: Scored, names: Sequence[str], pairs: Mapping[Pair, float], turn: int
) -> tuple[WeighingTable, dict[str, int], int]:
    """Return the rows with all scores, those without a score by metric, and all left out."""
    values = np.column_stack([scored.of(name)["value"].cast(float).to_numpy() for name in names])

    def mean(rows: Sequence[int]) -> Floats:
        scores = values[list(rows)]
        known = np.isfinite(scores)
        sums = np.where(known, scores, 0).sum(axis=0)
        return np.where(known.any(axis=0), sums / np.maximum(known.sum(axis=0), 1), np.nan)

    x = np.array([mean(b) - (mean(a) if a else 0.0) for a, b in pairs])
    x = turn * x.reshape(len(pairs), len(names))
    full = np.isfinite(x).all(axis=1)
    clusters = scored.facets["cluster"].to_list()
    codes = codes_of(clusters)
    table = WeighingTable(
        x[full],
        np.array(list(pairs.values()))[full],
        codes[[b[0] for _, b in pairs]][full],
    )
    lacking = {name: int(count) for name, count in
               zip(names, (~np.isfinite(x)).sum(axis=0), strict=True) if count}  # fmt: skip
    return table, lacking, int((~full).sum())


def reasons(excluded: Mapping[str, str]) -> list[str]:
    """The reasons why metrics are excluded, one for each."""
    return [str(Reason.read(why).about(name)) for name, why in excluded.items()]


# If there are more ratings, a random subset of this size is used to form pairs.
MOST_RATED = 2000


def concordance(
    sort: Sort,
    placed: Floats,
    opinions: Floats,
    cluster: Ints,
    level: float,
    rng: np.random.Generator,
) -> tuple[float | None, float | None, float | None]:
    """Share of pairs put in people's order, with its interval; the composite's ties count half.

    Args:
        placed: Shape (n,). The composite's difference for a pair, or its value for a rating.
        opinions: Shape (n,). People's preferences or ratings.
        cluster: Shape (n,). The question of each row.

    Every rating is compared with every other: a U-statistic, whose standard error is twice that of
    the mean over its rows (Hoeffding, 1948).
    """
    if sort == Sort.PREFERENCE:
        ordered = opinions != 0
        right = (np.sign(placed[ordered]) * np.sign(opinions[ordered]) + 1) / 2
        if not len(right):
            return None, None, None
        _, codes = np.unique(cluster[ordered], return_inverse=True)
        sums, squares = (np.bincount(codes, weights=values) for values in (right, right**2))
        share = mean_interval(sums, np.bincount(codes), squares, rate=False, low=0, high=1,
                              level=level)  # fmt: skip
        low, high = ends_of(share.interval).values()
        return share.value, low, high
    right, counts, of = _against_each_other(placed, opinions, cluster, rng)
    if not len(right):
        return None, None, None
    _, codes = np.unique(of, return_inverse=True)
    sums, totals = np.bincount(codes, weights=right), np.bincount(codes, weights=counts)
    share = mean_interval(sums, totals, rate=False, low=None, high=None, level=level)
    value, ends = float(right.sum() / counts.sum()), share.interval
    if ends is None:
        return value, None, None
    half = ends.high - ends.low
    return value, max(0.0, value - half), min(1.0, value + half)


def _against_each_other(
    placed: Floats, opinions: Floats, cluster: Ints, rng: np.random.Generator
) -> tuple[Floats, Floats, Ints]:
    if len(opinions) > MOST_RATED:
        rows = rng.choice(len(opinions), MOST_RATED, replace=False)
        placed, opinions, cluster = placed[rows], opinions[rows], cluster[rows]
    right, counts = np.zeros(len(opinions)), np.zeros(len(opinions))
    for row in range(len(opinions)):
        above = np.sign(opinions[row] - opinions)
        right[row] = ((np.sign(placed[row] - placed) * above + 1) / 2)[above != 0].sum()
        counts[row] = np.count_nonzero(above)
    used = counts > 0
    return right[used], counts[used], cluster[used]
