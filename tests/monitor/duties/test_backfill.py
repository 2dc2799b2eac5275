"""A past window is judged after its price was told, and its estimates stay right."""

from math import sqrt

import numpy as np
import pytest

from ragstone.core.errors import InputError
from ragstone.monitor.duties.draw_answers import (
    begin_backfill,
    draw_answers,
    is_drawn,
    plan_backfill,
)
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.judge_answers import Judging
from ragstone.monitor.duties.periodic_steps import check_answers, usual_guard
from ragstone.monitor.settings.sections import JudgingSettings, SamplingSettings
from ragstone.monitor.store.draws import (
    TurnChance,
    draw_between,
    draws_between,
    lot,
    probability_of_all,
)
from ragstone.monitor.store.store import MonitorStore
from tests.clock import Clock
from tests.monitor.duties.arriving import receive_answers, rows

LOCAL = JudgingSettings(("abstention",), ("local:strings",))
ALWAYS = 4_102_444_800.0


def test_a_plan_tells_what_a_backfill_does_and_each_answer_has_its_probability(
    store: MonitorStore,
) -> None:
    clock = Clock()
    receive_answers(store, clock.at, range(60))
    Folding(store, now=clock).fold_all()
    while check_answers(store, usual_guard(), clock):
        pass
    draw_answers(store, SamplingSettings(0.25), JudgingSettings(), clock)
    judging = Judging(store, LOCAL, clock)
    judging.step()
    ((before,),) = rows(store, "SELECT count(*) FROM draws WHERE state = 'judged'")
    plan = plan_backfill(store, LOCAL, 0, ALWAYS, 0.5)
    assert (plan.answers, plan.drawn, plan.calls, plan.usd) == (60, before, 0, 0.0)
    assert rows(store, "SELECT DISTINCT probability FROM draws") == [(0.25,)]
    assert plan_backfill(store, LOCAL, 0, ALWAYS, 0.5) == plan
    assert begin_backfill(store, plan, now=clock) == plan.to_judge > 10
    assert rows(store, "SELECT DISTINCT probability FROM draws") == [(0.625,)]
    judging.step()
    scores = dict(rows(store, "SELECT source, count(*) FROM scores WHERE metric = 'abstention' "
                       "GROUP BY source"))  # fmt: skip
    assert scores == {"sample": before, "backfill": plan.to_judge}
    assert rows(store, "SELECT DISTINCT probability FROM scores WHERE metric = 'abstention'") == [
        (0.625,)
    ]


def test_only_the_window_is_drawn_from(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        for name, at in (("a", 10.0), ("b", 20.0), ("c", 30.0)):
            run(
                "INSERT INTO examples VALUES (?, 't', '', ?, 0, 1, NULL, NULL, NULL, 's', '{}', "
                "'h', '{}')",
                name, at,
            )  # fmt: skip
            run("INSERT INTO draws VALUES (?, 0, 0.1, 'out', 0, 'h', 'sample', 0, NULL)", name)
    plan = plan_backfill(store, LOCAL, 20, 30, 1.0)
    assert (plan.answers, plan.to_judge) == (1, 1)
    begin_backfill(store, plan)
    assert rows(store, "SELECT example, state, probability FROM draws ORDER BY example") == [
        ("a", "out", 0.1), ("b", "due", 1.0), ("c", "out", 0.1),
    ]  # fmt: skip


def test_a_mean_over_both_draws_is_right_by_the_combined_probability() -> None:
    random = np.random.default_rng(3)
    n, repeats = 1_000, 200
    chance = random.choice([0.05, 0.6], n)
    score = (random.random(n) < np.where(chance > 0.5, 0.2, 0.9)).astype(float)
    both = 1 - (1 - chance) * (1 - 0.3)
    means = []
    for seed in range(repeats):
        first = np.array([lot(str(seed), str(one)) for one in range(n)]) < chance
        second = np.array(
            [is_drawn(str(seed), TurnChance(str(one), chance[one], None), 0.3) for one in range(n)]
        )
        weights = (first | second) / both
        means.append((weights * score).sum() / weights.sum())
    assert abs(np.mean(means) - score.mean()) < 4 * np.std(means) / sqrt(repeats) + 0.002


def test_the_turns_of_a_session_stay_together_when_more_of_a_window_is_drawn() -> None:
    chances, rate, n = (0.1, 0.4, 0.2), 0.3, 20_000
    complete = 0
    for session in range(n):
        own = lot("seed", str(session))
        in_window = (False, True, True)
        drawn = [
            own < chance or (here and is_drawn("seed", TurnChance("t", chance, own), rate))
            for chance, here in zip(chances, in_window, strict=True)
        ]
        complete += all(drawn)
    turns = [TurnChance("a", 0.1, 0.7), TurnChance("b", 1 - 0.6 * 0.7, 0.7)]
    turns.append(TurnChance("c", 1 - 0.8 * 0.7, 0.7))
    assert probability_of_all(turns) == 0.1
    assert complete / n == pytest.approx(0.1, abs=4 * sqrt(0.09 / n))


def test_a_probability_that_would_weigh_too_much_is_refused(store: MonitorStore) -> None:
    with pytest.raises(InputError, match=r"from 0\.05 to 1"):
        plan_backfill(store, LOCAL, 0, 1, 0.01)
    with pytest.raises(InputError, match="ends before it begins"):
        plan_backfill(store, LOCAL, 1, 1, 0.5)


def test_only_scores_by_chance_get_the_probability_of_both_draws(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        run(
            "INSERT INTO examples VALUES ('a', 't', '', 10, 0, 1, NULL, NULL, NULL, 's', '{}', "
            "'h', '{}')"
        )
        for source in ("guard", "sample", "backfill", "people"):
            run(
                "INSERT INTO scores (example, metric, at, judged_at, status, reason, judge, "
                "probability, source, again) VALUES ('a', ?, 10, 10, 'missing', '', '', 0.5, ?, 0)",
                source, source,
            )  # fmt: skip
        draw_between(run, 20, 0, 20, 0.2, lambda _: False)
        found = dict(run("SELECT source, probability FROM scores"))
    assert found == pytest.approx({"guard": 0.5, "sample": 0.6, "backfill": 0.6, "people": 0.5})


def test_an_answer_that_is_still_changing_is_not_drawn_again(store: MonitorStore) -> None:
    with store.database.transaction() as run:
        for name, settled in (("a", 0), ("b", 1)):
            run(
                "INSERT INTO examples VALUES (?, 't', '', 10, 0, ?, NULL, NULL, NULL, 's', '{}', "
                "'h', '{}')",
                name, settled,
            )  # fmt: skip
            run("INSERT INTO draws VALUES (?, 0, 0.1, 'out', 0, 'h', 'sample', 0, NULL)", name)
        assert [one.example for one in draws_between(run, 0, 20)[1]] == ["b"]
