"""What a pilot of a handful of questions says of sizes, worked out by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ragstone import evaluate
from ragstone.analysis.sample_sizes.label_sizes import Accuracy, accuracy, known_of_run, label_size
from ragstone.analysis.sample_sizes.question_sizes import (
    differences,
    mean_sizes,
    paired_sizes,
    rate_size,
)
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.read_labels import labels_of
from ragstone.core.errors import InputError
from ragstone.report.pages.sample_sizes_page import mean_page
from ragstone.report.render.terminal import as_text
from ragstone.stats.planning.labels_needed import labels_for_mean
from ragstone.stats.planning.sample_size import equivalence_margin, rate_sample_size
from tests.analysis.conftest import MISSING, Make, Score


def test_wider_and_narrower_intervals_have_their_rows() -> None:
    found = rate_size(0.8, 0.03)
    rows = sorted(rate_sample_size(0.8, half) for half in (0.06, 0.045, 0.03, 0.0225, 0.015))
    assert [step["rows"] for step in found.to_dict()["steps"]] == rows
    halves = [step["half_width"] for step in found.to_dict()["steps"]]
    assert halves == pytest.approx([0.06, 0.045, 0.03, 0.0225, 0.015], rel=0.02)


@pytest.mark.parametrize(("questions", "told"), [(2, True), (19, True), (20, False)])
def test_a_pilot_of_fewer_than_twenty_questions_is_a_guess(
    questions: int, told: bool, run: Make
) -> None:
    scores = [float(at % 2) for at in range(questions)]
    sizes = mean_sizes(Scored(run(hit=scores)), ["hit"], 0.1)
    words = f"A pilot of {questions} gives only a guess: run at least 20"
    assert (words in as_text(mean_page("run", sizes), 120)) is told


# Two systems ----------------------------------------------------------------------------------


def test_questions_that_one_system_alone_has_a_score_of_are_left_out(run: Make) -> None:
    a: list[Score] = [0.5, 0.25, None, 1.0, MISSING]
    b: list[Score] = [0.25, 0.25, 0.5, MISSING, None]
    pairs, left_out = differences(Scored(run({"a": {"mrr": a}, "b": {"mrr": b}})), "mrr", "a", "b")
    assert (pairs["difference"].to_list(), left_out) == ([0.25, 0.0], 3)


@pytest.fixture
def rates(run: Make) -> Scored:
    """Of sixty questions a alone gets fifteen right, b alone five."""
    a, b = [1.0] * 15 + [0.0] * 5 + [1.0] * 40, [0.0] * 15 + [1.0] * 45
    return Scored(run({"a": {"exact_match": a}, "b": {"exact_match": b}}))


def test_what_the_pilots_pairs_find_needs_about_as_many_pairs(rates: Scored) -> None:
    (found,) = paired_sizes(rates, ["exact_match"], single=True)
    assert found.detectable is not None
    assert 10 / 60 < found.detectable < 20 / 60
    (back,) = paired_sizes(rates, ["exact_match"], difference=found.detectable, single=True)
    assert back.pairs == pytest.approx(60, abs=2)


def test_of_zeros_and_ones_nothing_unseen_widens_the_margin_of_equivalence(rates: Scored) -> None:
    (found,) = paired_sizes(rates, ["exact_match"], single=True)
    spread = float(np.std([1.0] * 15 + [-1.0] * 5 + [0.0] * 40, ddof=1))
    assert found.deviation == pytest.approx(spread)
    assert found.margin == pytest.approx(equivalence_margin(spread, 60, power=0.8, level=0.95))


# Labels beside a judge ------------------------------------------------------------------------


def test_rows_without_a_score_are_not_judged_and_one_half_is_a_yes(run: Make) -> None:
    scored = Scored(run(hit=[0.5, 0.4, 0.9, MISSING, None]))
    known = known_of_run(scored, "hit", sensitivity=1, specificity=1)
    assert known.judged == 3
    assert known.rate == pytest.approx(2 / 3)
    assert (known.sensitivity, known.specificity) == (1, 1)


def test_a_judge_of_one_question_tells_nothing_of_others(run: Make) -> None:
    """However many systems answered it."""
    scored = Scored(run({"a": {"hit": [1.0]}, "b": {"hit": [0.0]}}))
    with pytest.raises(InputError, match="fewer than two questions"):
        known_of_run(scored, "hit", sensitivity=1, specificity=1)


def test_only_the_rows_of_the_system_count(run: Make) -> None:
    made = run({"a": {"hit": [1.0, 0.0, 1.0, 1.0]}, "b": {"hit": [0.0, 0.0]}})
    known = known_of_run(Scored(made), "hit", system="a", sensitivity=1, specificity=1)
    assert (known.judged, known.rate, known.rows_per_question) == (4, 0.75, 1)
    assert known.design_effect == 1


def test_rows_of_a_question_that_are_alike_tell_as_much_as_one(run: Make) -> None:
    alike = [float(at % 2) for at in range(400)]
    known = known_of_run(
        Scored(run({"a": {"hit": alike}, "b": {"hit": alike}})), "hit", sensitivity=1, specificity=1
    )
    assert known.rows_per_question == 2
    assert known.design_effect == pytest.approx(2, rel=0.01)
    apart = known_of_run(
        Scored(run({"a": {"hit": alike}, "b": {"hit": [1 - one for one in alike]}})), "hit",
        sensitivity=1, specificity=1,
    )  # fmt: skip
    assert apart.design_effect == 1


def test_a_mean_is_planned_by_deviation_and_correlation() -> None:
    found = label_size(Accuracy(2000, deviation=0.3, correlation=0.8), 0.03)
    expected = labels_for_mean(0.3, 0.8, 0.03, judged=2000)
    assert (found.labels, found.labels_only) == (expected.labels, expected.labels_only)
    # 1.96² · .3² / .03² is 385, and 1 - .8² of it where the judge says nearly all.
    assert found.labels_only == pytest.approx(385, abs=5)
    assert found.labels is not None
    assert found.labels < 0.6 * found.labels_only


def test_kurtosis_is_that_of_what_the_judge_leaves_open() -> None:
    """One of sixteen errs: (1 - 3 p q) / (p q), wherever scores lie and whatever the judge adds.

    Errors up and down alike have a kurtosis of 1, which few labels are not believed.
    """
    judge = np.repeat([0.5, 0.25, 0.75], [8, 4, 4])
    rare, even = np.eye(16)[0], np.tile([0.1, -0.1], 8)
    pq = 15 / 256
    for said, base in ((np.full(16, 0.5), 2), (judge, 3 + judge)):
        for error, expected in ((rare, (1 - 3 * pq) / pq), (even, 3)):
            both = pl.DataFrame({"judge": said, "people": base + error, "weight": np.ones(16)})
            found = accuracy(said, np.arange(16), both, of_a_rate=False)
            assert found.kurtosis == pytest.approx(expected)


def labelled(out: Path, people: Any, metric: str) -> Accuracy:
    """Twelve answers, of which people say this."""
    rows = [
        {"id": str(at), "question": f"How long is pier {at}?", "reference": "It is long.",
         "answer": "It is long." if at % 3 else "Gulls."}
        for at in range(12)
    ]  # fmt: skip
    run = evaluate(rows, metrics=[metric], judge="local", out=out / "run")
    records = [{"id": str(at), "labels": labels} for at, labels in enumerate(people)]
    return known_of_run(Scored(run), metric, labels=labels_of(records))


def test_people_who_judged_tell_as_much_as_people_who_gave_the_value(tmp_path: Path) -> None:
    """They say of two in three that the answer refuses, wherever the judge says no such thing."""
    people = [{"response_type": "abstain" if at % 3 else "answer"} for at in range(12)]
    known = labelled(tmp_path, people, "abstention")
    assert known.labels == 12
    assert known.sensitivity == 0
    assert known.specificity == 1


def test_people_who_say_the_very_opposite_correlate_by_minus_one(tmp_path: Path) -> None:
    judge = [1.0 if at % 3 else 0.0 for at in range(12)]
    people = [{"token_f1": {"ann": 0.3 + 0.4 * (1 - one)}} for one in judge]
    known = labelled(tmp_path, people, "token_f1")
    assert known.correlation == pytest.approx(-1)
    assert known.correlation is not None
    assert known.correlation >= -1
