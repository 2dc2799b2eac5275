"""What is asked, retrieved and answered is compared with what it was, day by day."""

import json
from pathlib import Path

import pytest

from ragstone.data import Example, as_record
from ragstone.data.example import Context
from ragstone.monitor.series.drift import FEATURES, compared, drift
from ragstone.monitor.store.store import MonitorStore
from ragstone.run import Run
from ragstone.stats.risk_control import two_samples

DAY = 86_400.0


def give(
    store: MonitorStore, day: int, n: int, *, question: str, score: float = 0.5,
    confidence: float = 0.9, session: str | None = None,
) -> None:  # fmt: skip
    """So many answers of a day, whose questions differ in length a little."""
    with store.database.transaction() as run:
        for k in range(n):
            id = f"{day}-{k}-{session}"
            contexts = (Context("c", "text", 1, score + k / 10_000),) if score else ()
            one = Example(id, id, "rag", question + "?" * (k % 7), contexts, "It is.")
            run(
                "INSERT INTO examples (example, trace, span, at, folded_at, settled, session, "
                "person, version, system, record, text_hash, facts) "
                "VALUES (?, ?, '', ?, 0, 1, ?, NULL, NULL, 'rag', ?, ?, '{}')",
                id, id, day * DAY + k, session, json.dumps(as_record(one)), f"{k * 7919 % 1000}",
            )  # fmt: skip
            run("INSERT INTO assessed VALUES (?, 0, '', 1, ?, '{}')", id, confidence + k / 10_000)


def moved(store: MonitorStore, now: float, baseline: Run | None = None) -> set[str]:
    return {one.feature for one in drift(store, now, baseline=baseline)[2] if one.moved}


def test_features_by_hand() -> None:
    one = Example("a", "a", "rag", "Wo ist Ärger?", (Context("c", "t", 1, 0.25),
                  Context("d", "u", 2, 0.75), Context("e", "v", 3)), "Da.")  # fmt: skip
    assert {name: feature(one) for name, feature in FEATURES.items()} == {
        "question_length": 13, "question_non_ascii": 0.1, "contexts": 3, "without_contexts": 0,
        "top_retrieval_score": 0.75, "answer_length": 3,
    }  # fmt: skip
    bare = Example("a", "a", "rag")
    assert {name: feature(bare) for name, feature in FEATURES.items()} == {
        "question_length": None, "question_non_ascii": None, "contexts": None,
        "without_contexts": 1, "top_retrieval_score": None, "answer_length": None,
    }  # fmt: skip


def test_what_moved_is_said_and_by_how_much(store: MonitorStore) -> None:
    give(store, 0, 200, question="Where is it")
    give(store, 1, 200, question="Where is it, and since when", score=0.5, confidence=0.5)
    since, looks, features = drift(store, 2 * DAY + 5)
    assert (since, looks) == (DAY, 2)
    assert {one.feature for one in features if one.moved} == {
        "question_length", "guard_confidence",
    }  # fmt: skip
    length = next(one for one in features if one.feature == "question_length")
    assert length.now - length.before == pytest.approx(16, abs=0.1)
    assert (length.n_before, length.n_now) == (200, 200)


def test_nothing_moved_where_all_is_as_before(store: MonitorStore) -> None:
    for day in range(3):
        give(store, day, 150, question="Where is it")
    assert moved(store, 3 * DAY) == set()


def test_it_does_not_change_within_a_day(store: MonitorStore) -> None:
    give(store, 0, 50, question="Where is it")
    give(store, 1, 50, question="Where is it, and since when")
    before = drift(store, 2 * DAY + 1)
    give(store, 2, 50, question="What")
    assert drift(store, 3 * DAY - 1) == before


def test_answers_of_a_session_count_once(store: MonitorStore) -> None:
    give(store, 0, 100, question="Where is it")
    give(store, 1, 100, question="Where is it, and since when", session="one")
    _, _, features = drift(store, 2 * DAY)
    assert {one.n_now for one in features} == {1}


def test_p_is_adjusted_for_all_features_and_for_each_day() -> None:
    old = {"a": [float(k) for k in range(30)], "b": [0.0] * 30}
    new = {"a": [k + 15.0 for k in range(30)], "b": [0.0] * 30}
    test = two_samples(old["a"], new["a"])
    assert test is not None
    first, later = compared(old, new, 1), compared(old, new, 9)
    assert first[0].p == test.p
    assert first[0].p_adjusted == pytest.approx(2 * 2 * test.p)
    assert first[0].moved
    assert later[0].p_adjusted == pytest.approx(min(1, 2 * 90 * test.p))
    assert first[1].p_adjusted == 1


def test_a_run_can_be_what_it_was(store: MonitorStore, baseline: Path) -> None:
    give(store, 0, 60, question="x")
    _, _, features = drift(store, DAY, baseline=Run.open(baseline))
    assert max(one.n_before for one in features) == 8, "one answer of each question"
    assert "question_length" in {one.feature for one in features if one.moved}


def test_an_empty_store_has_nothing_that_moved(store: MonitorStore) -> None:
    assert drift(store, DAY)[2] == ()
