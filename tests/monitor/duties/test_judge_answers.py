"""What is due is judged within the budget; nothing is paid twice, lost, or tried for ever."""

import json
from pathlib import Path

import pytest

from ragstone.models.chat import ChatFailure, ChatRequest
from ragstone.monitor.duties.draw_answers import COST, draw_answers
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.judge_answers import FOLDER, Judging, judged_run
from ragstone.monitor.duties.periodic_steps import check_answers, usual_guard
from ragstone.monitor.settings.sections import JudgingSettings, SamplingSettings
from ragstone.monitor.store.batches import (
    JudgingBatch,
    current_batch,
    keep_batch,
    next_due,
    spent,
    try_again,
)
from ragstone.monitor.store.rows import count, counted, keep
from ragstone.monitor.store.store import MonitorStore, open_store
from ragstone.run import Limits
from ragstone.testing import ScriptedModel
from ragstone.testing.fake_models import Said
from tests.clock import Clock
from tests.forked import end_of
from tests.monitor.duties.arriving import (
    FALSE,
    receive,
    receive_answers,
    rows,
    spans_of_answer,
    trace_id,
)
from tests.monitor.duties.dying import DEATH, good

DYING = Path(__file__).with_name("dying.py")
LOCAL = JudgingSettings(("faithfulness", "abstention"), ("local:strings",))
ONE = JudgingSettings(("on_topic",))
ALL = SamplingSettings(1.0)
SCORES = (
    "SELECT example, value, status, again, probability FROM scores "
    "WHERE metric = ? ORDER BY example"
)
STATES = "SELECT example, state, tries FROM draws ORDER BY example"


def follow(store: MonitorStore, clock: Clock) -> None:
    """Everything up to the draw, of which all come out."""
    Folding(store, now=clock).fold_all()
    while check_answers(store, usual_guard(), clock):
        pass
    while draw_answers(store, ALL, JudgingSettings(), clock):
        pass


def judging(store: MonitorStore, clock: Clock, model: ScriptedModel) -> Judging:
    return Judging(store, ONE, clock, model)


def folder(store: MonitorStore) -> list[Path]:
    here = store.folder / FOLDER
    return sorted(here.iterdir()) if here.is_dir() else []


def test_scores_and_judgements_are_copied_and_the_folder_goes(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    receive_answers(store, clock.at, [2], answer=FALSE)
    follow(store, clock)
    assert Judging(store, LOCAL, clock).step() == 2
    by_id = {trace_id(1): 1.0, trace_id(2): 0.0}
    assert rows(store, SCORES, "faithfulness") == [
        (id, by_id[id], "value", 0, 1.0) for id in sorted(by_id)
    ]
    ((judge, said),) = rows(
        store, "SELECT judge, judgements FROM judged WHERE example = ?", trace_id(1)
    )
    assert "local" in judge
    assert "data:" not in judge
    assert json.loads(said)["claims"][0]["text"] == "The ferry takes 90 minutes."
    assert {state for _, state, _ in rows(store, STATES)} == {"judged"}
    assert folder(store) == []
    assert Judging(store, LOCAL, clock).step() == 0


def test_what_an_answer_took_is_a_metric_as_in_files(store: MonitorStore, clock: Clock) -> None:
    counts = {"llm.token_count.prompt": 90, "llm.token_count.completion": 10}
    receive_answers(store, clock.at, [1], attributes=counts)
    follow(store, clock)
    assert Judging(store, JudgingSettings(("latency", "tokens")), clock).step() == 1
    for metric, value in (("latency", 1.5), ("tokens", 100.0)):
        assert [row[1:3] for row in rows(store, SCORES, metric)] == [(value, "value")]


def test_what_a_reference_is_needed_for_is_missing_and_not_tried_again(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    follow(store, clock)
    Judging(store, JudgingSettings(("token_f1",), ("local:strings",)), clock).step()
    ((_, value, status, *_),) = rows(store, SCORES, "token_f1")
    assert (value, status) == (None, "undefined")
    assert rows(store, STATES) == [(trace_id(1), "judged", 0)]


def test_a_chat_model_judges_and_its_cost_and_budget_are_of_the_last_hour(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, range(5))
    follow(store, clock)
    settings = JudgingSettings(("on_topic",), answers_an_hour=3)
    model = ScriptedModel(good)
    one = Judging(store, settings, clock, model)
    assert one.step() == 3
    assert one.step() == 0, "the budget of the hour is spent"
    clock.wait(3600 + 60)
    assert one.step() == 2
    with store.database.reading() as run:
        assert counted(run, 0)["judged"] == 5


def test_a_failing_judge_is_asked_again_later_and_then_the_score_is_there(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    follow(store, clock)
    broken = True

    def script(request: ChatRequest) -> Said:
        return "no JSON" if broken else good(request)

    one = judging(store, clock, ScriptedModel(script))
    one.step()
    ((_, value, status, again, _),) = rows(store, SCORES, "on_topic")
    assert (value, status, again) == (None, "missing", 0)
    ((first,),) = rows(store, "SELECT number FROM scores WHERE metric = 'on_topic'")
    assert rows(store, STATES) == [(trace_id(1), "due", 1)]
    assert one.step() == 0
    broken = False
    clock.wait(61)
    assert one.step() == 1
    ((_, value, status, again, _),) = rows(store, SCORES, "on_topic")
    assert (value, status, again) == (1.0, "value", 0)
    ((second,),) = rows(store, "SELECT number FROM scores WHERE metric = 'on_topic'")
    assert second > first, "a detector sees the value that it had not seen"


def test_an_example_at_which_the_judge_always_fails_is_set_aside_after_three_tries(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, range(4))
    receive_answers(store, clock.at, [9], question="Poison?")
    follow(store, clock)

    def script(request: ChatRequest) -> Said:
        return "no JSON" if "Poison" in request.text else good(request)

    one = judging(store, clock, ScriptedModel(script))
    for _ in range(6):
        one.step()
        clock.wait(700)
    states = {example: (state, tries) for example, state, tries in rows(store, STATES)}
    assert states.pop(trace_id(9)) == ("failed", 3)
    assert set(states.values()) == {("judged", 0)}
    missing = [row for row in rows(store, SCORES, "on_topic") if row[2] == "missing"]
    assert [row[0] for row in missing] == [trace_id(9)]
    with store.database.reading() as run:
        assert counted(run, 0)["set_aside"] == 1
    assert folder(store) == []


def test_an_example_that_breaks_the_judge_is_found_and_set_aside(
    store: MonitorStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive_answers(store, clock.at, range(9))
    receive_answers(store, clock.at, [99], question="Poison?")
    follow(store, clock)
    module = "ragstone.monitor.duties.judge_answers.judged_run"

    def breaking(data: Path, *rest: object) -> object:
        if "Poison" in data.read_text("utf-8"):
            raise ValueError("secret text")
        return judged_run(data, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(module, breaking)
    one = Judging(store, LOCAL, clock)
    for _ in range(40):
        one.step()
        clock.wait(700)
    states = {example: state for example, state, _ in rows(store, STATES)}
    assert states.pop(trace_id(99)) == "failed"
    assert set(states.values()) == {"judged"}
    assert not any("secret" in text for (text,) in rows(store, "SELECT text FROM lines"))
    ((why,),) = rows(
        store,
        "SELECT reason FROM scores WHERE example = ? AND metric = 'faithfulness'",
        trace_id(99),
    )
    assert why == "judging_failed?error=ValueError"


@pytest.mark.kill
def test_an_answer_that_ends_the_process_is_found_and_set_aside_after_three_deaths_alone(
    tmp_path: Path, clock: Clock
) -> None:
    store = open_store(tmp_path)
    receive_answers(store, clock.at, range(3))
    receive_answers(store, clock.at, [9], question="Poison?")
    follow(store, clock)
    deaths = 0
    for _ in range(20):
        code = end_of(DYING, tmp_path, clock.at)
        assert code in (0, DEATH)
        clock.wait(700)
        if code == 0:
            break
        deaths += 1
    assert deaths == 12, "of batches of four, two and two, and of the answer alone"
    states = {example: (state, tries) for example, state, tries in rows(store, STATES)}
    assert states.pop(trace_id(9)) == ("failed", 1)
    assert set(states.values()) == {("judged", 0)}
    ((why,),) = rows(
        store, "SELECT reason FROM scores WHERE example = ? AND metric = 'on_topic'", trace_id(9)
    )
    assert why == "judging_died"
    with store.database.reading() as run:
        assert counted(run, 0)["set_aside"] == 1
    store.close()


def test_a_batch_that_an_orderly_end_cuts_short_was_not_begun(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    follow(store, clock)

    def script(request: ChatRequest) -> Said:
        one.excuse()
        with store.database.reading() as run:
            batch = current_batch(run)
        tries.append(None if batch is None else batch.tries)
        return good(request)

    tries: list[int | None] = []
    one = judging(store, clock, ScriptedModel(script))
    assert one.step() == 1
    assert tries == [0]


@pytest.mark.parametrize("trouble", [ChatFailure("unreachable", "nobody there"), "no JSON"])
def test_when_all_judges_are_away_the_batch_waits_and_is_paid_for_once(
    trouble: Said, store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, range(6))
    follow(store, clock)
    away = True

    def script(request: ChatRequest) -> Said:
        return trouble if away else good(request)

    model = ScriptedModel(script)
    one = judging(store, clock, model)
    for _ in range(2):
        one.step()
        assert {(state, tries) for _, state, tries in rows(store, STATES)} == {("due", 0)}
        assert one.step() == 0, "it waits"
        clock.wait(61)
    away = False
    model.requests.clear()
    clock.wait(61)
    assert one.step() == 6
    assert {state for _, state, _ in rows(store, STATES)} == {"judged"}
    assert len(model.requests) == 1, "the same text is put once"


def test_what_waited_too_long_is_shed_counted_and_missing(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, range(3))
    follow(store, clock)
    clock.wait(86_401)
    assert Judging(store, LOCAL, clock).step() == 0
    assert {state for _, state, _ in rows(store, STATES)} == {"shed"}
    assert {row[2] for row in rows(store, SCORES, "faithfulness")} == {"missing"}
    with store.database.reading() as run:
        assert counted(run, 0)["shed"] == 3


def test_what_waited_too_long_is_shed_while_no_judge_can_be_had(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, range(3))
    follow(store, clock)

    def away(_: ChatRequest) -> Said:
        raise ChatFailure("unreachable", "nobody there")

    one = judging(store, clock, ScriptedModel(away))
    one.step()
    with store.database.reading() as run:
        assert current_batch(run) is not None
    clock.wait(86_401)
    receive_answers(store, clock.at, range(3, 5))
    follow(store, clock)
    one.step()
    assert sorted(state for _, state, _ in rows(store, STATES)) == ["due"] * 2 + ["shed"] * 3
    with store.database.reading() as run:
        assert counted(run, 0)["shed"] == 3


def test_without_metrics_nothing_is_drawn_or_judged_and_what_was_due_is_given_up(
    store: MonitorStore, clock: Clock
) -> None:
    nothing = JudgingSettings(())
    receive_answers(store, clock.at, range(3))
    follow(store, clock)
    assert Judging(store, nothing, clock).step() == 0
    assert {state for _, state, _ in rows(store, STATES)} == {"shed"}
    receive_answers(store, clock.at, range(3, 5))
    Folding(store, now=clock).fold_all()
    check_answers(store, usual_guard(), clock)
    draw_answers(store, ALL, nothing, clock)
    assert sorted(state for _, state, _ in rows(store, STATES)) == ["out"] * 2 + ["shed"] * 3
    assert Judging(store, nothing, clock).step() == 0
    assert rows(store, "SELECT count(*) FROM scores WHERE source = 'judge'") == [(0,)]


def test_a_text_that_changed_is_judged_again_and_counts_once(
    store: MonitorStore, clock: Clock
) -> None:
    root, retriever, model = spans_of_answer(1)
    receive(store, clock.at, root, model)
    follow(store, clock)
    one = Judging(store, LOCAL, clock)
    one.step()
    receive(store, clock.at, retriever)
    follow(store, clock)
    assert one.step() == 1
    found = rows(store, SCORES, "faithfulness")
    assert [(value, again) for _, value, _, again, _ in found] == [(1.0, 0)], "undefined before"
    assert [again for *_, again, _ in rows(store, SCORES, "abstention")] == [1]


def test_a_text_that_changes_while_it_is_judged_goes_on_being_due(
    store: MonitorStore, clock: Clock
) -> None:
    root, retriever, span = spans_of_answer(1)
    receive(store, clock.at, root, span)
    follow(store, clock)

    def script(request: ChatRequest) -> Said:
        receive(store, clock.at, retriever)
        follow(store, clock)
        return good(request)

    one = judging(store, clock, ScriptedModel(script))
    one.step()
    assert rows(store, SCORES, "on_topic") == []
    assert rows(store, STATES) == [(trace_id(1), "due", 0)]
    assert one.step() == 1
    assert rows(store, STATES) == [(trace_id(1), "judged", 0)]


def test_other_metrics_begin_a_half_judged_batch_anew(store: MonitorStore, clock: Clock) -> None:
    receive_answers(store, clock.at, [1, 2])
    follow(store, clock)
    broken = judging(store, clock, ScriptedModel(lambda _: ChatFailure("unreachable", "away")))
    broken.step()
    with store.database.reading() as run:
        assert current_batch(run) is not None
    Judging(store, LOCAL, clock).step()
    assert {row[2] for row in rows(store, SCORES, "faithfulness")} == {"value"}


def test_what_waited_for_just_a_day_is_judged(store: MonitorStore, clock: Clock) -> None:
    receive_answers(store, clock.at, [1])
    follow(store, clock)
    clock.wait(86_400)
    assert Judging(store, LOCAL, clock).step() == 1


def test_an_example_is_tried_again_after_a_minute_and_then_after_ten(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    follow(store, clock)
    waits = []
    with store.database.transaction() as run:
        for _ in range(2):
            assert try_again(run, clock.at, [trace_id(1)]) == 0
            ((at,),) = run("SELECT due_at FROM draws")
            waits.append(at - clock.at)
        assert try_again(run, clock.at, [trace_id(1)]) == 1
    assert waits == [60, 600]


def test_what_failed_is_judged_by_itself(store: MonitorStore, clock: Clock) -> None:
    receive_answers(store, clock.at, [1, 2])
    follow(store, clock)
    with store.database.transaction() as run:
        try_again(run, clock.at, [trace_id(1)])
        later = clock.at + 61
        assert list(next_due(run, later, 10)) == [trace_id(2)]
        run("UPDATE draws SET state = 'judged' WHERE example = ?", trace_id(2))
        assert list(next_due(run, later, 10)) == [trace_id(1)]


def test_an_example_at_which_judging_dies_three_times_is_not_begun_again(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    follow(store, clock)
    model = ScriptedModel(good)
    one = judging(store, clock, model)
    how = json.dumps([ONE.metrics, ONE.judges])
    with store.database.transaction() as run:
        keep_batch(run, JudgingBatch("b", next_due(run, clock.at, 1), 3, None, how))
    assert one.step() == 1
    assert model.requests == []
    ((reason,),) = rows(store, "SELECT reason FROM scores WHERE metric = 'on_topic'")
    assert reason == "judging_died"
    assert rows(store, STATES) == [(trace_id(1), "failed", 1)]


def test_what_the_last_hour_took_is_taken_from_the_money(
    store: MonitorStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    receive_answers(store, clock.at, range(6))
    follow(store, clock)
    with store.database.transaction() as run:
        count(run, clock.at, {"micro_usd": 500_000})
        keep(run, COST, 0.125)
    given = []

    def run_of(data: Path, _out: Path, _how: object, limits: Limits, *_: object) -> None:
        given.append((len(data.read_text("utf-8").splitlines()), limits.budget))
        raise ValueError

    monkeypatch.setattr("ragstone.monitor.duties.judge_answers.judged_run", run_of)
    Judging(store, JudgingSettings(("on_topic",), usd_an_hour=1.0), clock).step()
    assert given == [(4, 0.5)]


def test_what_failed_took_a_part_of_the_budget_too(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        count(run, 0, {"judged": 1, "retried": 2, "set_aside": 3, "due": 9, "micro_usd": 250_000})
        assert spent(run, 60) == (6, 0.25)
        assert spent(run, 3_660) == (0, 0)
