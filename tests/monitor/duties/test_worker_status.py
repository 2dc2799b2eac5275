"""The status says whether all that follows from what came is done."""

import pytest

from ragstone.monitor.duties.draw_answers import draw_answers
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.judge_answers import Judging
from ragstone.monitor.duties.periodic_steps import check_answers, usual_guard
from ragstone.monitor.duties.worker_status import monitor_status
from ragstone.monitor.settings.sections import JudgingSettings, SamplingSettings
from ragstone.monitor.store.rows import HEARTBEAT, count, keep
from ragstone.monitor.store.store import MonitorStore
from tests.clock import Clock
from tests.monitor.duties.arriving import receive_answers


def test_everything_is_told_as_it_goes_on(store: MonitorStore) -> None:
    clock = Clock()
    with store.database.reading() as run:
        empty = monitor_status(run, clock.at)
    assert (empty.lag, empty.last_trace_at, empty.usual_gap, empty.worker) == (
        0, None, None, "not_begun",
    )  # fmt: skip
    assert (empty.content, empty.set_variable) == ({}, "")

    for number in range(4):
        receive_answers(store, clock.at, [number])
        clock.wait(20)
    with store.database.transaction() as run:
        count(run, clock.at, {"received": 14, "kept": 12, "malformed": 2})
        keep(run, HEARTBEAT, {"at": clock.at - 30, "pid": 1})
    with store.database.reading() as run:
        first = monitor_status(run, clock.at)
    assert (first.received, first.kept, first.malformed) == (14, 12, 2)
    assert (first.waiting_to_fold, first.lag, first.last_trace_at) == (4, 80, clock.at - 20)
    assert first.worker == "alive"

    Folding(store, now=clock).fold_all()
    clock.wait(5)
    with store.database.reading() as run:
        second = monitor_status(run, clock.at)
    assert (second.folded, second.answers, second.waiting_to_assess, second.lag) == (4, 4, 4, 5)
    assert second.usual_gap == pytest.approx(20)
    assert second.content == {"there": 1.0, "ids_only": 0.0, "none": 0.0}

    check_answers(store, usual_guard(), clock)
    draw_answers(store, SamplingSettings(1.0), JudgingSettings(), clock)
    with store.database.reading() as run:
        third = monitor_status(run, clock.at)
    assert (third.assessed, third.due, third.due_last_hour, third.waiting_to_be_judged) == (
        4, 4, 4, 4,
    )  # fmt: skip
    Judging(store, JudgingSettings(("abstention",), ("local:strings",)), clock).step()
    clock.wait(120)
    with store.database.reading() as run:
        last = monitor_status(run, clock.at)
    assert (last.judged, last.judged_last_hour, last.waiting_to_be_judged) == (4, 4, 0)
    assert last.last_judged_at == clock.at - 120
    assert last.worker == "silent"
    assert last.to_dict()["judged"] == 4


def test_traces_without_texts_say_which_variable_brings_them(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        count(run, 1000, {"content_none": 6, "content_ids_only": 3, "content_there": 1})
    with store.database.reading() as run:
        found = monitor_status(run, 1000)
    assert found.content == {"there": 0.1, "ids_only": 0.3, "none": 0.6}
    assert found.set_variable.startswith("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=")


def test_where_most_traces_have_texts_no_variable_is_named(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        count(run, 1000, {"content_none": 4, "content_there": 6})
    with store.database.reading() as run:
        assert monitor_status(run, 1000).set_variable == ""
