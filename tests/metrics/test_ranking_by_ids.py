"""Ranking by ids: recall, hit, average precision and pooled NDCG."""

from collections.abc import Callable, Sequence
from math import log2

import pytest

from ragstone import compare, evaluate, gate
from ragstone.core.errors import InputError
from ragstone.data import Context, Example
from ragstone.metrics import Score, Undefined, parse_metric
from ragstone.report.number_format import row_names
from ragstone.report.pages.comparison_page import comparison_page
from ragstone.report.pages.release_gate_page import gate_page
from ragstone.report.render.terminal import as_text
from ragstone.testing import known_contexts, score_one

Scored = Callable[..., dict[str, list[Score]]]

GRADES, RANKS = [2, 1, 1, 0], [3, 1, None, 2]
"""Found first and third; one relevant context not found; one judged not relevant."""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall", 2 / 3),
        ("recall(k=1)", 1 / 3),
        ("recall(level=2)", 1),
        ("recall(k=2, level=2)", 0),
        ("hit(k=1)", 1),
        ("hit(k=1, level=2)", 0),
        ("map", (1 / 1 + 2 / 3) / 3),
        ("map(k=2)", 1 / 3),
        ("map(level=2)", 1 / 3),
        ("ndcg", (1 + 2 / 2) / (2 + 1 / log2(3) + 1 / 2)),
        ("ndcg(k=1)", 1 / 2),
        ('ndcg(k=1, gain="exponential")', 1 / 3),
        ('ndcg(k=1, gain="exponential", trec_eval=True)', 1 / 3),
        ("recall(trec_eval=True)", 2 / 3),
    ],
)
def test_what_was_found_of_what_is_known(name: str, expected: float) -> None:
    score = score_one(parse_metric(name), known_contexts(grade=GRADES, rank=RANKS))
    assert score == pytest.approx(expected, abs=1e-12)


def test_where_nothing_is_relevant_there_is_nothing_to_find() -> None:
    known = known_contexts(grade=[0, 1], rank=[1, 2])
    for name in ("recall(level=2)", "hit(level=2)", "map(level=2)"):
        assert score_one(parse_metric(name), known) == Undefined("nothing_known_relevant")


@pytest.mark.parametrize("grades", [[], [0], [0, 0]])
@pytest.mark.parametrize("name", ["recall{}", "hit{}", "map{}", "ndcg(k=5{})", "recall(k=2{})"])
def test_where_nothing_is_known_relevant_there_is_no_score_and_for_trec_eval_zero(
    name: str, grades: list[int]
) -> None:
    known = known_contexts(grade=grades, rank=list(range(1, len(grades) + 1)))
    assert score_one(parse_metric(name.format("")), known) == Undefined("nothing_known_relevant")
    theirs = name.format(", trec_eval=True" if "(" in name else "(trec_eval=True)")
    assert score_one(parse_metric(theirs), known) == 0


def test_nine_of_ten_known_documents_beat_the_first_alone() -> None:
    """In their own lists nine after a miss lose to the first alone."""
    ideal = sum(1 / log2(rank + 1) for rank in range(1, 11))
    nine = score_one(
        parse_metric("ndcg"), known_contexts(grade=[1] * 10, rank=[*range(2, 11), None])
    )
    first = score_one(parse_metric("ndcg"), known_contexts(grade=[1] * 10, rank=[1] + [None] * 9))
    assert nine == pytest.approx((ideal - 1) / ideal)
    assert first == pytest.approx(1 / ideal)


def test_a_cut_or_level_below_one_is_refused_by_its_name() -> None:
    for name in ("recall", "hit", "map", "precision", "mrr", "context_precision"):
        for parameter in ("k", "level"):
            with pytest.raises(InputError, match=f"^{name}: {parameter} must be a whole number"):
                parse_metric(f"{name}({parameter}=0)")


def retrieved(ids: Sequence[str] | None, known: dict[str, int] | None) -> Example:
    found = None if ids is None else tuple(Context(id, None, n) for n, id in enumerate(ids, 1))
    return Example("1", "q", "s", contexts=found, reference_contexts=known)


NAMES = ("recall", "hit", "map", "ndcg")


def test_a_system_that_does_not_retrieve_is_not_one_that_found_nothing(scored: Scored) -> None:
    without = scored(NAMES, [retrieved(None, {"a": 1})])
    assert without == {name: [Undefined("no_retrieval")] for name in NAMES}
    empty = scored(NAMES, [retrieved([], {"a": 1})])
    assert empty == {name: [0.0] for name in NAMES}
    both = scored(NAMES, [retrieved(None, {"a": 1}), retrieved(["a"], {"a": 1})])
    assert both == {name: [Undefined("no_retrieval"), 1.0] for name in NAMES}


def test_the_names_of_trec_eval_read_known_ids_whoever_judges() -> None:
    """The judge finds nothing relevant in these contexts."""
    rows = [
        {"question": "How long is the pier?", "reference_contexts": {"b": 2, "x": 1}, "id": "1"}
        | {"contexts": [{"id": id, "text": "Granite is grey."} for id in "acb"]},
        {"question": "How long is the pier?", "contexts": ["Granite is grey."], "id": "2"},
    ]
    names = {"P_2": 0.0, "P.3": 1 / 3, "set_P": 1 / 3, "recip_rank": 1 / 3, "map": 1 / 6}
    mixed = 'composite(weights="mrr map")'
    run = evaluate(rows, metrics=[*names, "P@3", "mrr", "set_F", mixed], judge="local:strings")
    found = {one.metric: one for one in run.estimate_list if not one.group}
    for name, value in names.items():
        one = found[str(parse_metric(name))]
        assert one.value == pytest.approx(value)
        assert (one.n, one.reasons) == (1, {"no_reference_contexts": 1})
    assert [found[name].value for name in ("precision(k=3)", "mrr")] == [0, 0]
    assert found[str(parse_metric("set_F"))].value == pytest.approx(2 / 5)
    texts = row_names(found.values())
    assert (texts["map"], texts["mrr"]) == ("map by ids", "mrr by local:strings")
    assert texts[mixed] == f"{mixed} by ids and a judge"
    alone = [found[str(parse_metric(name))] for name in names]
    assert row_names(alone)["map"] == "map"


def test_comparisons_and_gates_of_relevance_by_two_sources_name_them_in_each_row() -> None:
    rows = [
        {"question": f"How long is pier {place}?", "system": system, "reference_contexts": {"a": 1}}
        | {"contexts": [{"id": id, "text": f"Pier {id} is 90 m long."} for id in order]}
        for place in "uvw"
        for system, order in (("x", "ab"), ("y", "ba"), ("z", "cb"))
    ]
    run = evaluate(rows, metrics=["map", "mrr"], judge="local:strings")
    found, by = compare(run), {"map": "ids", "mrr": "local:strings"}
    assert {one["metric"]: one["relevance_by"] for one in found.to_dict()["comparisons"]} == by
    text = as_text(comparison_page(found), width=120)
    assert "map by ids" in text
    assert "mrr by local:strings" in text
    result = gate(run, ["map >= 0.1", "mrr >= 0.1"])
    assert {one["metric"]: one["relevance_by"] for one in result.to_dict()["requirements"]} == by
    assert "map >= 0.1 (by ids)" in as_text(gate_page(run, result, {}), width=120)
    assert {one.relevance_by for one in compare(run, metrics=["map"]).comparisons} == {""}
    assert {one.relevance_by for one in gate(run, "mrr >= 0.1").requirements} == {""}


def test_without_reference_ids_nothing_is_known(scored: Scored) -> None:
    names = (*NAMES, "unjudged_rate")
    scores = scored(names, [retrieved(["a"], None)])
    assert scores == {name: [Undefined("no_reference_contexts")] for name in names}


def test_an_id_that_is_not_listed_counts_as_not_relevant_and_as_unjudged(scored: Scored) -> None:
    example = retrieved(["x", "a", "b"], {"a": 1, "b": 0, "c": 2})
    names = ["precision", "mrr", "recall", "unjudged_rate", "precision(level=2)"]
    assert [scored(names, [example])[name][0] for name in names] == pytest.approx(
        [1 / 3, 1 / 2, 1 / 2, 1 / 3, 0]
    )
