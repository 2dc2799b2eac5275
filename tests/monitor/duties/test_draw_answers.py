"""Examples are drawn by chances that are known, and the chances keep to the budget."""

from collections.abc import Callable, Sequence
from functools import partial
from math import sqrt

import numpy as np
import pytest

from ragstone.monitor.duties.draw_answers import SamplingLoad, affordable, draw_answers, probability
from ragstone.monitor.duties.fold_traces import Folding
from ragstone.monitor.duties.periodic_steps import check_answers, usual_guard
from ragstone.monitor.settings.sections import GuardStep, JudgingSettings, SamplingSettings
from ragstone.monitor.store.draws import TurnChance, lot, probability_of_all
from ragstone.monitor.store.rows import keep
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

DRAWS = "SELECT example, probability, state FROM draws ORDER BY example"


def put_to_draw(
    store: MonitorStore, at: float, numbers: range, confidence: float | None = None
) -> None:
    """Examples that are assessed."""
    names = [f"e{number}" for number in numbers]
    with store.database.transaction() as run:
        run.many(
            "INSERT INTO examples VALUES (?, 't', '', ?, ?, 1, NULL, NULL, NULL, 's', '{}', 'h', "
            "'{}')",
            [(name, at, at) for name in names],
        )
        run.many(
            "INSERT INTO assessed VALUES (?, ?, 'h', 1, ?, '{}')",
            [(name, at, confidence) for name in names],
        )
        run.many("INSERT INTO to_do VALUES (?, 'draw', ?)", [(name, at) for name in names])


def all_of(draw: Callable[[], int]) -> None:
    while draw():
        pass


def drawing(
    store: MonitorStore,
    clock: Clock,
    settings: SamplingSettings,
    judging: JudgingSettings = JudgingSettings(),  # noqa: B008
) -> Callable[[], int]:
    return partial(draw_answers, store, settings, judging, clock)


def test_the_same_examples_of_a_store_are_drawn_however_they_come(
    store: MonitorStore, clock: Clock
) -> None:
    put_to_draw(store, clock.at, range(1000))
    sampling = drawing(store, clock, SamplingSettings(0.2))
    all_of(sampling)
    drawn = rows(store, "SELECT example FROM draws WHERE state = 'due' ORDER BY example")
    assert 200 - 4 * sqrt(160) < len(drawn) < 200 + 4 * sqrt(160)
    assert {chance for _, chance, _ in rows(store, DRAWS)} == {0.2}
    with store.database.transaction() as run:
        run("DELETE FROM draws")
        run.many(
            "INSERT INTO to_do VALUES (?, 'draw', ?)",
            [(f"e{number}", -float(number)) for number in range(1000)],
        )
    all_of(sampling)
    assert rows(store, "SELECT example FROM draws WHERE state = 'due' ORDER BY example") == drawn


def test_lots_are_spread_evenly() -> None:
    lots = np.array([lot("seed", f"trace-{number}") for number in range(20_000)])
    counts, _ = np.histogram(lots, bins=20, range=(0, 1))
    assert abs(counts - 1000).max() < 5 * sqrt(1000)
    others = np.array([lot("other", f"trace-{number}") for number in range(20_000)])
    assert abs(np.corrcoef(lots, others)[0, 1]) < 0.03


def test_a_slice_and_a_doubtful_answer_are_likelier_to_be_drawn(
    store: MonitorStore, clock: Clock
) -> None:
    receive_answers(store, clock.at, [1])
    receive_answers(store, clock.at, [2], answer=FALSE)
    receive(store, clock.at, *spans_of_answer(3), **{"deployment.environment.name": "beta"})
    Folding(store, now=clock).fold_all()
    check_answers(store, usual_guard(), clock)
    settings = SamplingSettings(0.1, {"environment": {"beta": 0.4}}, (GuardStep(0.5, 0.8),))
    draw_answers(store, settings, JudgingSettings(), clock)
    chances = {example: chance for example, chance, _ in rows(store, DRAWS)}
    assert chances == {trace_id(1): 0.1, trace_id(2): 0.8, trace_id(3): 0.4}


def test_a_mean_weighted_by_the_kept_chances_is_right_under_sampling_by_doubt() -> None:
    random = np.random.default_rng(7)
    n, repeats = 2_000, 300
    confidence = random.random(n)
    score = (random.random(n) < 0.3 + 0.6 * confidence).astype(float)
    settings = SamplingSettings(0.1, {}, (GuardStep(0.3, 0.9), GuardStep(0.6, 0.4)))
    chances = np.array([probability(settings.probability({}, c), 0.5) for c in confidence])
    assert set(chances) == {0.45, 0.2, 0.05}
    means, plain = [], []
    for seed in range(repeats):
        drawn = np.array([lot(str(seed), str(one)) for one in range(n)]) < chances
        weights = drawn / chances
        means.append((weights * score).sum() / weights.sum())
        plain.append(score[drawn].mean())
    off = np.std(means) / sqrt(repeats)
    assert abs(np.mean(means) - score.mean()) < 4 * off + 0.002
    assert score.mean() - np.mean(plain) > 0.05, "without weights the mean would be wrong"


def test_the_least_chance_bounds_every_weight() -> None:
    assert probability(0.1, 0.01) == 0.05
    assert probability(1.0, 1.0) == 1.0
    assert probability(0.0, 1.0) == 0.0


def test_the_load_is_what_a_steady_stream_wants_in_an_hour() -> None:
    load = SamplingLoad(0.0, 0.0, 0.0)
    for second in range(0, 7200, 10):
        load = load.then(float(second), 2.0)
        if second >= 600:
            assert load.an_hour(float(second)) == pytest.approx(720, rel=0.05)
    assert load.an_hour(7200 + 4 * 3600) < 1


def test_a_budget_an_hour_lowers_the_chances_before_the_draw(
    store: MonitorStore, clock: Clock
) -> None:
    budget = JudgingSettings(answers_an_hour=90)
    sampling = drawing(store, clock, SamplingSettings(0.5), budget)
    judged = []
    for minute in range(240):
        clock.wait(60)
        put_to_draw(store, clock.at, range(10 * minute, 10 * minute + 10))
        all_of(sampling)
        if minute % 60 == 59:
            # What is due is judged, as far as the budget goes.
            with store.database.transaction() as run:
                done = run(
                    "UPDATE draws SET state = 'judged' WHERE example IN (SELECT example FROM draws "
                    "WHERE state = 'due' ORDER BY due_at LIMIT 90) RETURNING example"
                )
            judged.append(len(done))
    ((waiting,),) = rows(store, "SELECT count(*) FROM draws WHERE state = 'due'")
    ((least,),) = rows(store, "SELECT min(probability) FROM draws")
    assert least >= 0.05
    assert judged[-1] > 45, "the budget is used"
    assert waiting < 90, "and little is left over"


def test_money_is_a_budget_as_soon_as_the_price_of_an_answer_is_known() -> None:
    assert affordable(JudgingSettings(usd_an_hour=3.0), None) is None
    assert affordable(JudgingSettings(usd_an_hour=3.0), 0.01) == pytest.approx(300)
    both = JudgingSettings(answers_an_hour=100, usd_an_hour=3.0)
    assert affordable(both, 0.01) == 100
    assert affordable(both, 0.1) == pytest.approx(30)


def test_a_judged_example_is_due_again_where_its_text_changed_and_one_passed_over_is_not(
    store: MonitorStore, clock: Clock
) -> None:
    put_to_draw(store, clock.at, range(40))
    sampling = drawing(store, clock, SamplingSettings(0.5))
    all_of(sampling)
    before = rows(store, DRAWS)
    with store.database.transaction() as run:
        run("UPDATE draws SET state = 'judged' WHERE state = 'due'")
        run("UPDATE examples SET text_hash = 'other'")
        run("INSERT INTO to_do SELECT example, 'draw', 0 FROM examples")
    all_of(sampling)
    assert rows(store, DRAWS) == before
    assert rows(store, "SELECT DISTINCT text_hash FROM draws") == [("other",)]


def put_turns(
    store: MonitorStore, at: float, session: str, confidences: Sequence[float | None]
) -> None:
    """The turns of a session, each assessed, to be drawn."""
    with store.database.transaction() as run:
        for k, confidence in enumerate(confidences):
            name = f"{session}-{k}"
            run(
                "INSERT INTO examples VALUES (?, 't', '', ?, ?, 1, ?, NULL, NULL, 's', '{}', 'h', "
                "'{}')",
                name, at + k, at + k, session,
            )  # fmt: skip
            run("INSERT INTO assessed VALUES (?, ?, 'h', 1, ?, '{}')", name, at, confidence)
            run("INSERT INTO to_do VALUES (?, 'draw', ?)", name, at)


def test_the_turns_of_a_session_are_drawn_together_each_with_its_own_probability(
    store: MonitorStore, clock: Clock
) -> None:
    for session in range(300):
        put_turns(store, clock.at, f"s{session}", [0.9] * 4 + [0.1])
    settings = SamplingSettings(0.1, {}, (GuardStep(0.5, 0.6),))
    all_of(drawing(store, clock, settings))
    drawn: dict[tuple[bool, ...], int] = {}
    for session in range(300):
        found = rows(
            store, "SELECT probability, state FROM draws WHERE example LIKE ? ORDER BY example",
            f"s{session}-%",
        )  # fmt: skip
        assert [chance for chance, _ in found] == [0.1] * 4 + [0.6]
        which = tuple(state == "due" for _, state in found)
        drawn[which] = drawn.get(which, 0) + 1
    complete, none, last = (True,) * 5, (False,) * 5, (*(False,) * 4, True)
    assert set(drawn) == {complete, last, none}
    assert drawn[complete] == pytest.approx(30, abs=4 * sqrt(300 * 0.09))
    assert drawn[last] == pytest.approx(150, abs=4 * sqrt(75))


def test_the_weighted_mean_of_complete_sessions_is_that_of_all() -> None:
    random = np.random.default_rng(8)
    n, repeats = 400, 300
    # Of sessions that go wrong the guard doubts turns more often, and each has its own length.
    rates = random.beta(2, 1, n)
    lengths = random.integers(1, 9, n)
    turns = [
        [TurnChance("", 0.1 if random.random() < rate else 0.6, None) for _ in range(length)]
        for rate, length in zip(rates, lengths, strict=True)
    ]
    figure = random.binomial(lengths, rates) / lengths
    means = []
    for seed in range(repeats):
        weights = np.zeros(n)
        for session, drawn in enumerate(turns):
            own = lot(str(seed), str(session))
            if all(own < one.probability for one in drawn):
                weights[session] = 1 / probability_of_all(one._replace(lot=own) for one in drawn)
        means.append((weights * figure).sum() / n)
    assert np.mean(means) == pytest.approx(figure.mean(), abs=4 * np.std(means) / sqrt(repeats))


def test_what_a_session_has_due_takes_nothing_from_the_chance_of_its_next_turn(
    store: MonitorStore, clock: Clock
) -> None:
    """Else its probability would follow from the lot with which it is compared."""
    sampling = drawing(store, clock, SamplingSettings(1.0), JudgingSettings(answers_an_hour=10))
    put_turns(store, clock.at, "first", [None])
    all_of(sampling)
    chances = {}
    for state in ("due", "out"):
        with store.database.transaction() as run:
            run("UPDATE draws SET state = ? WHERE example = 'first-0'", state)
            run("DELETE FROM examples WHERE session = 'first' AND example <> 'first-0'")
            run("DELETE FROM draws WHERE example <> 'first-0'")
            kept = run("SELECT value FROM kept WHERE name = 'sampling_load'")
            run(
                "INSERT INTO examples VALUES ('first-1', 't', '', ?, ?, 1, 'first', NULL, NULL, "
                "'s', '{}', 'h', '{}')",
                clock.at, clock.at,
            )  # fmt: skip
            run("INSERT INTO to_do VALUES ('first-1', 'draw', ?)", clock.at)
        all_of(sampling)
        with store.database.transaction() as run:
            run("UPDATE kept SET value = ? WHERE name = 'sampling_load'", kept[0][0])
        ((chances[state],),) = rows(
            store, "SELECT probability FROM draws WHERE example = 'first-1'"
        )
    assert chances["due"] == chances["out"] < 1


def test_at_the_beginning_a_minute_of_traffic_is_taken_for_seen() -> None:
    # Six that are wanted in the first minute are 360 an hour.
    assert SamplingLoad(0, 0, 6.0).an_hour(0) == pytest.approx(360, rel=0.02)


def test_what_is_due_already_is_taken_from_the_budget(store: MonitorStore, clock: Clock) -> None:
    with store.database.transaction() as run:
        # For hours as much came as makes 1,000 an hour.
        load = {"began": clock.at - 36_000, "at": clock.at, "wanted": 500.0}
        keep(run, "sampling_load", load)
        run.many(
            "INSERT INTO draws VALUES (?, ?, 0.5, 'due', ?, 'h', 'sample', 0, NULL)",
            [(f"d{number}", clock.at, clock.at) for number in range(40)],
        )
    put_to_draw(store, clock.at, range(3))
    draw_answers(store, SamplingSettings(1.0), JudgingSettings(answers_an_hour=290), clock)
    chances = rows(store, "SELECT DISTINCT probability FROM draws WHERE example >= 'e'")
    assert chances == [(pytest.approx((290 - 40) / 1_000, rel=1e-6),)]
