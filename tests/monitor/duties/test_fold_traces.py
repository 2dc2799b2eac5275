"""What came is folded into examples: late, split, doubled, and none twice."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from ragstone.core.errors import MissingDependency
from ragstone.data import Context, Example, Turn
from ragstone.data.traces import Corpus, FoldedTrace, TracePart, fold
from ragstone.monitor.duties.fold_traces import Folding, text_hash
from ragstone.monitor.store.incoming import erase_traces, erased, unfolded
from ragstone.monitor.store.rows import counted
from ragstone.monitor.store.store import MonitorStore
from tests.clock import Clock
from tests.monitor.duties.arriving import (
    FALSE,
    QUESTION,
    TRUE,
    receive,
    receive_answers,
    receive_examples,
    rows,
    spans_of_answer,
    trace_id,
)

SETTLED = "SELECT example, settled FROM examples ORDER BY example"
MODULE = "ragstone.monitor.duties.fold_traces.fold"
WAITING = "SELECT example, step FROM to_do ORDER BY example, step"


@pytest.fixture
def folding(store: MonitorStore, clock: Clock) -> Folding:
    return Folding(store, now=clock)


def test_a_trace_becomes_an_example_with_what_it_can_be_sliced_by(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    about = {"session.id": "s1", "user.id": "u1"}
    spans = spans_of_answer(1, attributes=about)
    receive(
        store, clock.at, *spans, **{"service.version": "7", "deployment.environment.name": "live"}
    )
    folding.step()
    ((example, trace, session, person, version, system, record, facts),) = rows(
        store,
        "SELECT example, trace, session, person, version, system, record, facts FROM examples",
    )
    assert (example, trace) == (trace_id(1), trace_id(1))
    assert (session, person, version, system) == ("s1", "u1", "7", "shop")
    assert json.loads(record)["answer"] == TRUE
    assert json.loads(record)["question"] == QUESTION
    assert json.loads(facts)["latency"] == 1.5
    assert dict(rows(store, "SELECT name, value FROM facets")) == {
        "system": "shop",
        "version": "7",
        "model": "m-1",
        "environment": "live",
    }
    assert rows(store, "SELECT version FROM versions") == [("7",)]


def test_a_trace_is_settled_after_its_root_and_ten_seconds_of_silence(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    folding.step()
    clock.wait(9.9)
    folding.step()
    assert rows(store, SETTLED) == [(trace_id(1), 0)]
    assert rows(store, WAITING) == []
    clock.wait(0.2)
    folding.step()
    assert rows(store, SETTLED) == [(trace_id(1), 1)]
    assert rows(store, WAITING) == [(trace_id(1), "assess")]


def test_a_trace_without_a_root_is_settled_after_two_minutes(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    _, retriever, model = spans_of_answer(1)
    receive(store, clock.at, retriever, model)
    folding.step()
    clock.wait(119)
    folding.step()
    assert {settled for _, settled in rows(store, SETTLED)} == {0}
    clock.wait(2)
    folding.step()
    assert {settled for _, settled in rows(store, SETTLED)} == {1}


def test_spans_that_come_apart_and_in_any_order_give_the_same_example(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    for number, order in enumerate(permutations(range(3))):
        spans = spans_of_answer(number)
        for place in order:
            receive(store, clock.at, spans[place])
            folding.step()
    hashes = rows(store, "SELECT DISTINCT text_hash FROM examples")
    assert len(hashes) == 1
    assert rows(store, "SELECT count(*) FROM examples") == [(6,)]


def test_what_comes_twice_is_one_example_and_is_not_looked_at_again(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    folding.fold_all()
    with store.database.transaction() as run:
        run("DELETE FROM to_do")
    receive_answers(store, clock.at, [1])
    folding.fold_all()
    assert rows(store, SETTLED) == [(trace_id(1), 1)]
    assert rows(store, WAITING) == []


def test_a_late_part_makes_the_example_new_where_its_text_changes(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    root, retriever, model = spans_of_answer(1)
    receive(store, clock.at, root, model)
    folding.fold_all()
    ((before,),) = rows(store, "SELECT text_hash FROM examples")
    with store.database.transaction() as run:
        run("DELETE FROM to_do")
    clock.wait(600)
    receive(store, clock.at, retriever)
    folding.step()
    assert rows(store, SETTLED) == [(trace_id(1), 0)]
    clock.wait(11)
    folding.step()
    assert rows(store, WAITING) == [(trace_id(1), "assess")]
    ((after,),) = rows(store, "SELECT text_hash FROM examples")
    assert before != after


def test_an_example_that_its_trace_no_longer_has_is_gone_with_its_scores(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    trace = trace_id(1)
    body = b'{"trace": "%s", "id": "%s", "answer": "a"}'
    receive_examples(store, clock.at, body % (trace.encode(), b"x"))
    folding.fold_all()
    assert [example for example, _ in rows(store, SETTLED)] == [trace]
    with store.database.transaction() as run:
        run(
            "INSERT INTO scores (example, metric, at, judged_at, status, reason, judge, "
            "probability, source, again) VALUES (?, 'm', 0, 0, 'missing', '', '', 1, 'guard', 0)",
            trace,
        )
    receive_examples(store, clock.at, body % (trace.encode(), b"y"))
    folding.fold_all()
    assert rows(store, SETTLED) == [(f"{trace}:x", 1), (f"{trace}:y", 1)]
    assert rows(store, "SELECT count(*) FROM scores") == [(0,)]


def test_everything_is_folded_at_once_where_that_is_asked_for(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    receive_answers(store, clock.at, range(450))
    assert folding.fold_all() == 900, "each folded once and settled once"
    assert rows(store, "SELECT count(*) FROM examples WHERE settled = 1") == [(450,)]
    with store.database.reading() as run:
        assert unfolded(run) == (0, None)
        assert counted(run, 0) == {
            "folded": 450, "answers": 450, "settled": 450, "content_there": 450,
        }  # fmt: skip


def test_two_who_fold_at_once_count_nothing_twice(
    store: MonitorStore, folding: Folding, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive_answers(store, clock.at, range(5))
    other = Folding(store, now=clock)

    def meanwhile(parts: Sequence[TracePart], corpus: Corpus | None) -> FoldedTrace:
        monkeypatch.setattr(MODULE, fold)
        other.fold_all()
        return fold(parts, corpus)

    monkeypatch.setattr(MODULE, meanwhile)
    folding.fold_all()
    with store.database.reading() as run:
        assert counted(run, 0)["folded"] == 5


def test_a_trace_that_cannot_be_folded_is_told_and_holds_up_nobody(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    with store.database.transaction() as run:
        run(
            "INSERT INTO received (trace, kind, at, body) VALUES ('bad', 'example', ?, ?)",
            clock.at, b"not json",
        )  # fmt: skip
    receive_answers(store, clock.at, [1], answer=FALSE)
    folding.fold_all()
    assert [example for example, _ in rows(store, SETTLED)] == [trace_id(1)]
    with store.database.reading() as run:
        assert counted(run, 0)["unfoldable"] == 1
        ((text,),) = run("SELECT text FROM lines")
    assert "bad" in text


def test_traces_wait_until_what_reads_them_is_installed(
    store: MonitorStore, folding: Folding, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive_answers(store, clock.at, [1], answer=FALSE)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
        with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[otlp\]'"):
            folding.fold_all()
    folding.fold_all()
    assert [example for example, _ in rows(store, SETTLED)] == [trace_id(1)]


def test_spans_without_content_are_counted_as_such(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    root, retriever, model = spans_of_answer(1)
    for one in (root, retriever, model):
        kept = [each for each in one.attributes if "kind" in each.key or "model" in each.key]
        del one.attributes[:]
        one.attributes.extend(kept)
    receive(store, clock.at, root, retriever, model)
    folding.fold_all()
    assert rows(store, SETTLED) == []
    with store.database.reading() as run:
        assert counted(run, 0)["content_none"] == 1


def test_a_trace_without_a_root_to_which_spans_come_is_settled_two_minutes_after_its_first(
    store: MonitorStore, folding: Folding, clock: Clock
) -> None:
    _, retriever, model = spans_of_answer(1)
    receive(store, clock.at, retriever)
    folding.step()
    clock.wait(100)
    receive(store, clock.at, model)
    folding.step()
    clock.wait(19)
    folding.step()
    assert {settled for _, settled in rows(store, SETTLED)} == {0}
    clock.wait(2)
    folding.step()
    assert {settled for _, settled in rows(store, SETTLED)} == {1}


def test_what_is_erased_while_it_is_folded_does_not_come_back(
    store: MonitorStore, folding: Folding, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive_answers(store, clock.at, [1, 2])

    def meanwhile(parts: Sequence[TracePart], corpus: Corpus | None) -> FoldedTrace:
        monkeypatch.setattr(MODULE, fold)
        with store.database.transaction() as run:
            erase_traces(run, [trace_id(1)])
            erased(run)
        return fold(parts, corpus)

    monkeypatch.setattr(MODULE, meanwhile)
    folding.fold_all()
    assert rows(store, SETTLED) == [(trace_id(2), 1)]


ASKED = Example(
    "a", "q", "rag", "How deep?", (Context("c1", "It is 254 m deep.", 1),), "254 m",
    history=(Turn("user", "Which lake?"),),
)  # fmt: skip


@pytest.mark.parametrize(
    "changed",
    [
        {"question": "How wide?"},
        {"answer": "255 m"},
        {"contexts": None},
        {"contexts": (Context("c2", "It is 254 m deep.", 1),)},
        {"contexts": (Context("c1", "It is 255 m deep.", 1),)},
        {"history": (Turn("user", "Which river?"),)},
        {"reference": ("254 m",)},
    ],
)
def test_an_example_is_another_text_where_something_changes_that_is_judged(
    changed: dict[str, Any],
) -> None:
    assert text_hash(replace(ASKED, **changed)) != text_hash(ASKED)


def test_what_is_not_judged_makes_no_other_text() -> None:
    about = replace(ASKED, id="b", system="other", slices={"language": "de"}, meta={"at": 1})
    assert text_hash(about) == text_hash(ASKED)
