"""What holds for all metrics; a new one is covered by being listed."""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import FrozenInstanceError, fields
from math import isclose
from random import Random
from typing import Any, NamedTuple

import polars as pl
import pytest

from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import (
    ASKS,
    Contexts,
    KnownContexts,
    Preferences,
    References,
    View,
)
from ragstone.metrics import (
    SUITES,
    Composite,
    Metric,
    Missing,
    Score,
    Undefined,
    alias_note,
    metric_types,
    needed_asks,
    parse_metric,
    score,
)
from ragstone.metrics.ranking import ListNDCG
from ragstone.testing import Given, Rows, score_one
from tests.registries import NEED_A_PARAMETER

WITH_PARAMETERS = (
    "precision(k=2)", "precision(level=2)", 'precision(k=3, gaps="zero")',
    'precision(gaps="condense")', "precision_over_retrieved(k=2)", "sufficiency_hit(k=2)",
    'sufficiency_rate(k=2, gaps="condense")', "misleading_rate(k=1)", "mrr(k=2)", "mrr(level=2)",
    'mrr(gaps="zero")', "context_precision(k=2)", 'context_precision(gaps="condense")',
    "graded_relevance(k=2)", "graded_relevance(max_grade=2)", 'graded_relevance(gaps="zero")',
    'graded_relevance(k=2, gaps="condense")', "unjudged_rate(k=2)", "ndcg(k=2)",
    'list_ndcg(k=2, ideal="topk")', "list_ndcg(k=2)", 'list_ndcg(gain="linear")',
    'ndcg(gain="exponential")', 'list_ndcg(k=3, gaps="zero")', 'list_ndcg(gaps="condense")',
    "recall(k=2)",
    "recall(level=2)", "hit(k=2)", "hit(k=1, level=2)", "map(k=2)", "map(level=2)",
    "embedding_context_relevance(windows=True)", "embedding_hallucination(windows=True)",
    "embedding_context_sufficiency(windows=True)", "reference_similarity_max(windows=True)",
    'semantic_similarity(scale="clamped")', 'answer_relevance(scale="shifted")',
    "answer_relevance(n=1)", "answer_relevance(n=5)",
    'embedding_answer_relevance(scale="shifted")',
    "answer_relevance(n=1)", "answer_relevance(n=5)",
    "embedding_context_sufficiency(threshold=0.0)", "faithfulness(no_claims=1.0)",
    'faithfulness(unjudged="drop")', "hallucination(no_claims=1.0)",
    "stepped_faithfulness(steps=(0.25, 0.5))",
    'context_entity_recall(by="model")',
    "embedding_hallucination(threshold=0.9)",
    'noise_sensitivity(contexts="irrelevant")', 'abstention(by="phrases_8")',
    'abstention(by="phrases_12")', "answer_correctness(factual=1)",
    "nugget_score(strict=True)", 'nugget_score(kind="vital", strict=True)',
    'nugget_score(kind="weighted")',
    "answer_correctness(beta=2.0, threshold=0.5)", "factual_accuracy(letters=(0.9, 0.7, 0.5, 0.1))",
    "factual_accuracy(abstention=0.0)", "factual_accuracy_rated(abstention=0.0)",
    'contains(text="ex")', 'contains(text="EX", ignore_case=True)', 'regex(pattern="^t")',
    'tokens(only="input")', 'tokens(only="output")',
    "answer_outcome(classes=3)", 'answer_outcome(by="phrases_8")',
    'answer_outcome(classes=3, by="phrases_12")',
    'rating(criterion="clarity")', 'critique(aspect="coherence")', 'win_rate(rival="b")',
    "critique(votes=1)", 'critique(aspect="coherence", definition="ANSWER is \\"friendly\\".")',
    'composite(weights="faithfulness:0.3 precision(k=2):0.7")',
    'composite(weights="faithfulness mrr", kind="harmonic")',
    'composite(weights="rating(criterion=\\"clarity\\"):2 mrr", missing="renormalise")',
)  # fmt: skip

METRICS: list[Metric] = [
    parse_metric(name) for name in (*(n for n in metric_types() if n not in NEED_A_PARAMETER),
                                    *WITH_PARAMETERS)
]  # fmt: skip
"""Every metric, some with parameters too."""

IGNORING_GAPS = ("zero", "condense", "drop")
"""Conventions that give a value although something is not known, so by name."""

WITHOUT_ROWS: dict[str, Score] = {
    "list_ndcg": 0.0,
    "ndcg": Undefined("nothing_known_relevant"),
    "answer_correctness": Undefined("no_reference"),
    "answer_correctness(factual=1)": Undefined("no_claims_and_no_statements"),
    "answer_correctness(beta=2.0, threshold=0.5)": Undefined("no_reference"),
    "factual_accuracy": Undefined("no_claims"),
    "factual_accuracy_rated": Undefined("not_rated"),
    "factual_accuracy(abstention=0.0)": Undefined("no_answer"),
    "factual_accuracy_rated(abstention=0.0)": Undefined("no_answer"),
    "answer_outcome": Undefined("no_answer"),
    "answer_outcome(classes=3)": Undefined("no_answer"),
    'answer_outcome(by="phrases_8")': Undefined("no_answer"),
    'answer_outcome(classes=3, by="phrases_12")': Undefined("no_answer"),
}
"""For metrics of several parts, which have no one empty value."""

WORDS = {
    "criterion": ("helpfulness", "clarity"),
    "aspect": ("harmfulness", "coherence"),
    "context": ("1", "2"),
}
OF_SEVERAL_CRITERIA = (
    "ragas_harmonic", "overall_weighted", "overall_simple", "factual_accuracy_rated",
)  # fmt: skip
"""What rows drawn by chance hardly ever have together."""

USED = sorted(
    {part.over for metric in METRICS for part in metric.parts().values()},
    key=lambda view: view.__name__,
)

Example = tuple[Rows, ...]

SIZE = 150


class Drawn(NamedTuple):
    """Examples of a seed with gaps, and scores: without gaps, in another order, and with them."""

    seed: int
    open_: list[list[Rows]]
    full: list[dict[str, Score]]
    shuffled: list[dict[str, Score]]
    holed: list[dict[str, Score]]


@pytest.fixture(scope="module")
def drawn() -> list[Drawn]:
    """By a seed, and by another in each session; scored at once, for to begin takes long."""
    return [scored(seed) for seed in (0, random.randrange(2**32))]


def scored(seed: int) -> Drawn:
    chance = Random(seed)
    filled = examples(chance)
    open_ = [with_gaps(one, chance, chance.choice((0.05, 0.2, 0.5))) for one in filled]
    shuffled = [
        [rows if rows.view is Contexts else in_another_order(rows, chance) for rows in example]
        for example in filled
    ]
    others = scores([*shuffled, *open_])
    return Drawn(seed, open_, scores(filled), others[:SIZE], others[SIZE:])


def examples(chance: Random, size: int = SIZE) -> list[Example]:
    """Examples with rows in every view and no gap."""
    return [tuple(rows_of(view, chance) for view in USED) for _ in range(size)]


def rows_of(view: type[View], chance: Random) -> Rows:
    """Up to five rows of a view; some views have one."""
    size = 1 if view.alone else chance.randrange(6)
    columns = {name: [cell(view, name, chance) for _ in range(size)] for name in view.columns}
    if "reference" in columns:
        columns["reference"] = list(range(size)) if view is References else two_halves(size)
    if "index" in columns:
        columns["index"] = list(range(size))
    if view is Contexts:
        columns["rank"] = list(range(1, size + 1))
    if view is KnownContexts:
        columns["rank"] = [chance.choice((None, rank)) for rank in chance.sample(range(1, 9), size)]
    if view is Preferences:
        columns["rival"] = list("abcde"[:size])
    return Rows(view, columns)


def two_halves(size: int) -> list[int]:
    return [0] * (size - size // 2) + [1] * (size // 2)


def cell(view: type[View], column: str, chance: Random) -> Any:
    """What a judge may say in one cell."""
    dtype = view.columns[column].dtype
    if isinstance(dtype, pl.Enum):
        return chance.choice(dtype.categories.to_list())
    if column in WORDS:
        return chance.choice(WORDS[column])
    if column == "exact_match" or dtype == pl.Boolean:
        return chance.random() < 0.5
    if dtype == pl.Float64:
        low = -1 if "similarity" in column or column.startswith("bertscore") else 0
        return chance.choice((low, 0, chance.uniform(low, 1), 0.5, 1))
    if dtype == pl.List(pl.String):
        return chance.sample(["1", "2"], chance.randrange(3))
    if dtype == pl.List(pl.UInt32):
        return chance.sample([0, 1], chance.randrange(3))
    if column in ("parts", "sentences"):
        return chance.choice((2, 3))
    if dtype == pl.String:
        return "text"
    return chance.randrange(4 if column == "grade" else 3)


def scores(given: Sequence[Sequence[Rows]]) -> list[dict[str, Score]]:
    """Every metric's score of each example."""
    found: list[dict[str, Score]] = [{} for _ in given]
    for name, frame in score(Given(given), METRICS).items():
        lines = frame.select("value", "status", "reason").iter_rows()
        for line, (value, status, reason) in zip(found, lines, strict=True):
            line[name] = value if value is not None else (Undefined, Missing)[status - 1](reason)
    return found


def differing(
    these: Sequence[dict[str, Score]], those: Sequence[dict[str, Score]]
) -> Iterator[tuple[int, str, Score, Score]]:
    """Which example and metric, and both scores."""
    for number, (one, other) in enumerate(zip(these, those, strict=True)):
        for name in one:
            if not alike(one[name], other[name]):
                yield number, name, one[name], other[name]


def alike(one: Score, other: Score) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, abs_tol=1e-12)
    return one == other


def test_values_lie_within_the_metrics_range(drawn: list[Drawn]) -> None:
    for line in (line for each in drawn for line in each.full):
        for metric in METRICS:
            value = line[str(metric)]
            low, high = bounds(metric)
            assert not isinstance(value, Missing), (str(metric), value)
            if isinstance(value, float):
                assert low - 1e-9 <= value <= high + 1e-9, (str(metric), value)
                assert not metric.range.rate or value in (0, 1), (str(metric), value)


def bounds(metric: Metric) -> tuple[float, float]:
    """A composite of cosines may lie where they do."""
    parts = [parse_metric(n) for n, _ in metric.terms] if isinstance(metric, Composite) else []
    ranges = [metric.range, *(part.range for part in parts)]
    return min(one.low for one in ranges), max(one.high for one in ranges)


def test_every_metric_gives_values_to_some_examples(drawn: list[Drawn]) -> None:
    for each in drawn:
        for metric in METRICS:
            if metric.name not in OF_SEVERAL_CRITERIA:
                assert any(isinstance(line[str(metric)], float) for line in each.full), str(metric)


def test_the_order_of_rows_does_not_matter_where_the_view_has_none(drawn: list[Drawn]) -> None:
    for each in drawn:
        assert not list(differing(each.full, each.shuffled)), each.seed


def in_another_order(rows: Rows, chance: Random) -> Rows:
    order = chance.sample(range(len(rows)), len(rows))
    return Rows(rows.view, {n: [column[i] for i in order] for n, column in rows.columns.items()})


def test_the_same_rows_give_the_same_scores(drawn: list[Drawn]) -> None:
    each = drawn[-1]
    assert each.full == scores(examples(Random(each.seed))), each.seed


def test_an_example_scores_the_same_alone_and_among_others(drawn: list[Drawn]) -> None:
    for each in drawn:
        full = examples(Random(each.seed))[:2]
        alone = [scores([example])[0] for example in (*full, *each.open_[:2])]
        assert not list(differing(alone, [*each.full[:2], *each.holed[:2]])), each.seed


def test_a_gap_makes_a_score_missing_or_does_not_change_it(drawn: list[Drawn]) -> None:
    """Checked by filling: the rows without gaps are one way to fill those with gaps."""
    for each in drawn:
        for number, name, full, holed in differing(each.full, each.holed):
            if not lenient(parse_metric(name)):
                assert isinstance(holed, Missing), (name, full, holed, each.open_[number])


def with_gaps(example: Sequence[Rows], chance: Random, share: float) -> list[Rows]:
    """Some of what judges say left open."""
    return [
        Rows(
            rows.view,
            {
                name: [None if judged(rows.view, name) and chance.random() < share else value
                       for value in column]
                for name, column in rows.columns.items()
            },
        )
        for rows in example
    ]  # fmt: skip


def judged(view: type[View], column: str) -> bool:
    """A null in it is a gap."""
    return column not in NAMES_OF_UNITS and bool(view.columns[column].needs or view.made_by)


NAMES_OF_UNITS = ("index", "reference", "rival", "text", "criterion", "aspect")


def lenient(metric: Metric) -> bool:
    """It says that it drops or fills what is not known.

    By name; or as the NDCG whose ideal is of the labelled contexts of the whole list, of which
    only the top k must be.
    """
    if isinstance(metric, Composite):
        return metric.missing == "renormalise" or any(map(lenient, metric.components().values()))
    if isinstance(metric, ListNDCG):
        return metric.gaps != "strict" or (metric.k is not None and metric.ideal == "list")
    return any(
        value in IGNORING_GAPS for value in metric.parameters.values() if isinstance(value, str)
    )


def test_without_rows_a_metric_has_its_empty_value() -> None:
    [found] = scores([()])
    for metric in METRICS:
        parts = metric.parts()
        expected: Score
        if isinstance(metric, Composite):
            assert not isinstance(found[str(metric)], Missing), str(metric)
            continue
        if len(parts) == 1:
            expected = next(iter(parts.values())).empty
        else:
            expected = WITHOUT_ROWS.get(str(metric), WITHOUT_ROWS[metric.name])
        assert found[str(metric)] == expected, str(metric)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_the_text_form_reads_back(metric: Metric) -> None:
    assert parse_metric(str(metric)) == metric


@pytest.mark.parametrize("kind", metric_types().values(), ids=lambda kind: kind.name)
def test_a_metric_says_what_it_means_and_where_it_stands(kind: type[Metric]) -> None:
    own = kind.__doc__ or ""
    assert own.strip().split("\n")[0].endswith((".", ":", "mean")), own.split("\n")[0]
    assert not own.startswith(f"{kind.__name__}(")
    assert kind.family in (
        "retrieval", "grounding", "answer", "reference", "composite", "facts",
    )  # fmt: skip


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_a_metric_needs_judgements_that_can_be_asked_for(metric: Metric) -> None:
    asks = needed_asks([metric])
    assert set(asks) <= set(ASKS)
    for place, ask in enumerate(asks):
        assert set(ASKS[ask].after) <= set(asks[:place])


def test_an_old_name_takes_parameters_and_loses_to_none() -> None:
    assert str(parse_metric("precision_at_k(k=5)")) == "precision(k=5)"
    assert (
        str(parse_metric("factual_correctness(beta=2)")) == "answer_correctness(factual=1, beta=2)"
    )
    assert alias_note("precision(k=5)") is None


@pytest.mark.parametrize("suite", SUITES.values(), ids=lambda suite: suite.name)
def test_a_suite_is_a_list_of_different_metrics(suite: Any) -> None:
    metrics = suite.metrics()
    assert len({str(metric) for metric in metrics}) == len(suite.names) == len(metrics)


@pytest.mark.parametrize(
    "text",
    [
        "", "precision(", "precision(5)", "precision(k=k)", "precision(k=0)", "precision(k=-1)",
        "precision(k=1.5)", "precision(k=True)", 'precision(k="5")', "precision(k=10**9)",
        f"precision(k={10**30})", "precision(j=5)", 'precision(gaps="guess")', "mrr(level=0)",
        'mrr(level="2")', "recall(k=0)", "recall(level=0)", 'ndcg(ideal="list")',
        'list_ndcg(ideal="pool")', 'ndcg(gain=1)', 'list_ndcg(gain=1)',
        "graded_relevance(max_grade=5)", 'faithfulness(no_claims="1")', 'faithfulness(unjudged=1)',
        "answer_correctness(factual=2)", "answer_correctness(beta=0)",
        'answer_correctness(beta="x")', "answer_correctness(factual=[0.5])",
        "embedding_hallucination(threshold=1e999)", 'embedding_hallucination(threshold="high")',
        "factual_accuracy(letters=(0.9, 0.5))", "factual_accuracy(letters=(0.1, 0.2, 0.3, 0.4))",
        'win_rate(rival="")', "critique(aspect=3)", 'abstention(by="mood")', "composite",
        'composite(weights="")', 'composite(weights="faithfulness:0")', "composite(weights=3)",
        'composite(weights="faithfulness:x")', 'composite(weights="mrr:1 mrr:2")',
        "answer_correctness(beta=1e300)", "embedding_hallucination(threshold=-1e300)",
        'composite(weights="mrr", kind="geometric")', 'composite(weights="mrr:nan")',
    ],
)  # fmt: skip
def test_a_text_that_names_no_metric_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_metric(text)


@pytest.mark.parametrize("weights", ["nothing:1", "ragas_score:1", "mrr(k=0):1", "mrr(k=2"])
def test_a_composite_of_what_is_no_metric_is_refused(weights: str) -> None:
    with pytest.raises(InputError):
        score_one(parse_metric(f'composite(weights="{weights}")'))


def test_a_text_form_has_double_quotes_and_no_parameter_that_is_as_ever() -> None:
    for text, form in (
        ("precision(gaps='zero', k=5)", 'precision(k=5, gaps="zero")'),
        (
            "embedding_hallucination(windows=True, threshold=0.4)",
            "embedding_hallucination(windows=True)",
        ),
        ('critique(aspect="Größe \\"so\\"")', 'critique(aspect="Größe \\"so\\"")'),
        (
            "factual_accuracy(letters=(0.9, 0.7, 0.5, 0.1))",
            "factual_accuracy(letters=(0.9, 0.7, 0.5, 0.1))",
        ),
        ('precision(k=None, gaps="strict", level=1)', "precision"),
    ):
        assert str(parse_metric(text)) == form  # fmt: skip


def test_a_misspelt_name_gets_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="faithfulness"):
        parse_metric("faithfullness")


def test_metrics_with_different_parameters_have_different_text_forms() -> None:
    for one, other in itertools.combinations(METRICS, 2):
        assert (str(one) == str(other)) == (one == other)


@pytest.mark.parametrize("name", metric_types())
def test_no_metric_can_be_changed_for_it_is_shared(name: str) -> None:
    try:
        metric = parse_metric(name)
    except InputError:  # One that needs a parameter.
        metric = object.__new__(metric_types()[name])
    for attribute in ("name", "range", "anything", *(field.name for field in fields(metric))):
        with pytest.raises(FrozenInstanceError):
            setattr(metric, attribute, "x")
        with pytest.raises(FrozenInstanceError):
            delattr(metric, attribute)
