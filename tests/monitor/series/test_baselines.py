"""The bar of a rule with a margin is counted from a run or from the first answers."""

from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import pytest

import ragstone
from ragstone.core.errors import InputError
from ragstone.data import cornwall
from ragstone.monitor.series.baselines import bar_beforehand, bar_of_first, bar_of_run
from ragstone.monitor.settings import AlarmRule, BaselineSettings
from ragstone.monitor.store.watched_scores import WatchedScore

PLAIN = AlarmRule("a", "faithfulness", bar=0.8)
BY_LANGUAGE = AlarmRule("b", "faithfulness", "language", bar=0.8)
LESS = AlarmRule("c", "contradiction", bar=0.1, better="-")


def score(value: float, probability: float = 1.0) -> WatchedScore:
    return WatchedScore(1, "e", 0.0, 0.0, value, probability, None, "local")


def test_the_bar_of_first_answers_is_their_lower_limit_less_the_margin() -> None:
    rule = replace(PLAIN, bar=None, margin=0.05)
    bar = bar_of_first(rule, [score(1.0)] * 450 + [score(0.0)] * 50)
    # Wilson's lower end for 450 of 500 at z = 1.645, where the half row changes it in the third
    # decimal.
    z = NormalDist().inv_cdf(0.95)
    n, p = 500, 0.9
    low = (p + z * z / (2 * n) - z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5) / (
        1 + z * z / n
    )
    assert bar.mean == pytest.approx(0.9)
    assert bar.limit == pytest.approx(low, abs=0.002)
    assert bar.value == pytest.approx(bar.limit - 0.05)  # type: ignore[operator]
    assert (bar.source, bar.n) == ("first_answers", 500)


def test_the_bar_of_a_metric_that_is_better_if_less_lies_above_the_first_answers() -> None:
    rule = replace(LESS, bar=None, margin=0.05)
    bar = bar_of_first(rule, [score(0.0)] * 450 + [score(1.0)] * 50)
    assert bar.mean == pytest.approx(0.1)
    assert bar.value > 0.16


def test_first_answers_are_weighted_by_their_probabilities() -> None:
    rule = replace(PLAIN, bar=None, margin=0.0)
    scores = [score(1.0, 0.1)] * 100 + [score(0.0, 0.5)] * 100
    assert bar_of_first(rule, scores).mean == pytest.approx(1_000 / 1_200)


def test_before_any_answer_came_85_of_100_are_taken_to_be_right_in_either_direction() -> None:
    more, less = (replace(one, bar=None, margin=0.05) for one in (PLAIN, LESS))
    right, wrong = (bar_beforehand(one, BaselineSettings(answers=500)) for one in (more, less))
    assert (right.mean, wrong.mean) == pytest.approx((0.85, 0.15))
    assert wrong.value == pytest.approx(1 - right.value)
    assert 0.2 < wrong.value < 0.25


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "base"
    ragstone.evaluate(cornwall(), metrics=["faithfulness"], judge="local:strings", out=out)
    return out


def test_the_bar_of_a_run_is_its_lower_limit_less_the_margin(run_folder: Path) -> None:
    rule = replace(PLAIN, bar=None, margin=0.05)
    estimate = next(
        one for one in ragstone.Run.open(run_folder).estimate_list if "system" in one.group
    )
    bar = bar_of_run(rule, run_folder, estimate.group["system"], "")
    assert bar.mean == pytest.approx(estimate.value)
    assert bar.source == "run"
    assert bar.limit is not None
    assert estimate.low is not None
    assert estimate.value is not None
    assert estimate.low <= bar.limit < estimate.value
    assert bar.value == pytest.approx(bar.limit - 0.05)


def test_a_slice_that_the_run_does_not_have_is_compared_with_all_of_it(run_folder: Path) -> None:
    rule = replace(BY_LANGUAGE, bar=None, margin=0.05)
    assert bar_of_run(rule, run_folder, None, "language=de").source == "run"


def test_a_slice_of_the_run_counts_by_itself_where_it_has_thirty_answers(tmp_path: Path) -> None:
    examples = [
        {
            "id": f"{language}{number}",
            "question": f"How high is hill {number} of {language}?",
            "contexts": [{"id": "c", "text": "The hill is 420 metres high."}],
            "answer": f"The hill is {420 if number % 2 else 999} metres high.",
            "slices": {"language": language},
        }
        for language, n in (("de", 30), ("en", 29))
        for number in range(n)
    ]
    out = tmp_path / "base"
    ragstone.evaluate(examples, metrics=["faithfulness"], judge="local:strings", out=out)
    rule = replace(BY_LANGUAGE, bar=None, margin=0.05)
    german, english = (bar_of_run(rule, out, None, f"language={one}") for one in ("de", "en"))
    assert (german.source, german.n) == ("slice_of_run", 30)
    assert (english.source, english.n) == ("run", 59)


def test_a_run_without_the_metric_is_refused(run_folder: Path) -> None:
    rule = AlarmRule("x", "mrr", margin=0.1)
    with pytest.raises(InputError, match="mrr"):
        bar_of_run(rule, run_folder, None, "")


def test_a_rule_of_sessions_counts_from_the_mean_of_each_session_of_the_run(tmp_path: Path) -> None:
    answers = {"right": "Rome is in Italy.", "none": "I do not know."}
    turns = ["right", "none", "none"]
    data = [
        {
            "id": f"{session}-{turn}",
            "question": f"Where is Rome {session}-{turn}?", "session": f"s{session}",
            "contexts": ["Rome is in Italy."], "answer": answers[turns[turn]],
        }
        for session in range(40)
        for turn in range(1 if session < 20 else 3)
    ]  # fmt: skip
    folder = tmp_path / "run"
    ragstone.evaluate(data, metrics=["abstention"], judge="local:strings", out=folder)
    rule = AlarmRule("x", "abstention", margin=0.05, better="-")
    by_answers = bar_of_run(rule, folder, None, "")
    assert by_answers.n == 80
    assert by_answers.mean == pytest.approx(0.5)
    by_sessions = bar_of_run(replace(rule, of="sessions"), folder, None, "")
    assert by_sessions.n == 40
    assert by_sessions.mean == pytest.approx((20 * 0 + 20 * 2 / 3) / 40)
