"""Every settled example is assessed by the guard's checks, and its results are scores."""

import json
from dataclasses import replace

from ragstone.guard import Assessment, CheckResult
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.periodic_steps import check_answers, guard_scores, usual_guard
from ragstone.monitor.store.rows import waiting_for
from ragstone.monitor.store.scores import NewScore, ScoredExample, write_scores
from ragstone.monitor.store.store import MonitorStore
from tests.clock import Clock
from tests.monitor.duties.arriving import (
    FALSE,
    receive,
    receive_answers,
    rows,
    spans_of_answer,
    trace_id,
)

SCORE = (
    "SELECT value, status, reason, probability, source, again, version FROM scores "
    "WHERE example = ? AND metric = ?"
)


def test_supported_and_unsupported_answers_get_the_guards_scores(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    receive_answers(store, clock.at, [2], answer=FALSE)
    Folding(store, now=clock).fold_all()
    assert check_answers(store, usual_guard(), clock) == 2
    assert rows(store, SCORE, trace_id(1), "guard_ok") == [
        (1.0, "value", "", 1.0, "guard", 0, None)
    ]
    assert rows(store, SCORE, trace_id(2), "guard_ok") == [
        (0.0, "value", "", 1.0, "guard", 0, None)
    ]
    ((high, *_),) = rows(store, SCORE, trace_id(1), "guard_confidence")
    ((low, *_),) = rows(store, SCORE, trace_id(2), "guard_confidence")
    assert high > 0.5 > low
    ((kept,),) = rows(store, "SELECT assessment FROM assessed WHERE example = ?", trace_id(2))
    issues = json.loads(kept)["issues"]
    assert {issue["check"] for issue in issues} >= {"groundedness", "numbers"}
    assert rows(store, "SELECT example, step FROM to_do ORDER BY example") == sorted(
        (trace_id(number), "draw") for number in (1, 2)
    )


def test_a_check_that_does_not_apply_is_undefined_and_one_that_was_not_made_is_missing() -> None:
    checks = (
        CheckResult("answer", "passed"),
        CheckResult("list_structure", "not_applicable", reason="no_list_asked"),
        CheckResult("groundedness", "not_judged", reason="late"),
        CheckResult("numbers", "failed", value=1.0),
    )
    found = Assessment(False, "ask", checks, (), (), None, None, "local")
    said = {one.metric: (one.value, one.status, one.reason) for one in guard_scores("a", found)}
    assert said == {
        "guard_ok": (0.0, "value", ""),
        "guard_confidence": (None, "missing", "late"),
        "guard_answer": (1.0, "value", ""),
        "guard_list_structure": (None, "undefined", "no_list_asked"),
        "guard_groundedness": (None, "missing", "late"),
        "guard_numbers": (0.0, "value", ""),
    }
    open_still = replace(found, ok=None)
    assert next(guard_scores("a", open_still))[2:5] == (None, "missing", "late")
    silent = replace(found, checks=checks[:1])
    assert [one.status for one in guard_scores("a", silent)] == ["value", "undefined", "value"]


def test_what_changed_is_assessed_again_and_says_so(store: MonitorStore, clock: Clock) -> None:
    root, retriever, model = spans_of_answer(1)
    folding, guard = Folding(store, now=clock), usual_guard()
    receive(store, clock.at, root, model)
    folding.fold_all()
    check_answers(store, guard, clock)
    ((first,),) = rows(store, "SELECT max(number) FROM scores")
    receive(store, clock.at, retriever)
    folding.fold_all()
    check_answers(store, guard, clock)
    numbers = rows(
        store, "SELECT number, again FROM scores WHERE metric = 'guard_ok' ORDER BY number"
    )
    assert [again for _, again in numbers] == [1]
    assert numbers[0][0] > first, "who reads scores by their numbers sees it"
    assert rows(store, "SELECT count(*) FROM assessed") == [(1,)]


def test_the_lag_is_since_the_longest_waiting_was_settled(
    store: MonitorStore, clock: Clock
) -> None:
    folding, guard = Folding(store, now=clock), usual_guard()
    receive_answers(store, clock.at, [1])
    folding.fold_all()
    first = clock.at
    clock.wait(30)
    receive_answers(store, clock.at, [2])
    folding.fold_all()
    with store.database.reading() as run:
        assert waiting_for(run, "assess") == (2, first)
    assert check_answers(store, guard, clock, most=1) == 1
    with store.database.reading() as run:
        assert waiting_for(run, "assess") == (1, clock.at)
    assert check_answers(store, guard, clock) == 1
    assert check_answers(store, guard, clock) == 0
    with store.database.reading() as run:
        assert waiting_for(run, "assess") == (0, None)


def test_what_is_judged_again_after_it_had_no_value_counts_once_more_and_then_no_more(
    store: MonitorStore,
) -> None:
    examples: dict[str, ScoredExample] = {"e": (10.0, None, 1.0)}
    given = []
    with store.database.transaction() as run:
        for value in (None, 1.0, None, 0.0):
            status = "missing" if value is None else "value"
            score = NewScore("e", "m", value, status, "", None, "j")
            write_scores(run, 20.0, "guard", [score], examples, ("guard",))
            given += [again for (again,) in run("SELECT again FROM scores")]
    assert given == [0, 0, 1, 1]
