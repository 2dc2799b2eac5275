import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

import ragstone
from ragstone.analysis.comparison.compare import compare
from ragstone.analysis.sample_sizes.label_sizes import Accuracy, known_of_run, label_size
from ragstone.analysis.sample_sizes.question_sizes import (
    NO_VARIATION,
    TOO_FEW,
    differences,
    mean_sizes,
    paired_sizes,
    rate_size,
)
from ragstone.analysis.scored_run import Scored
from ragstone.annotation.read_labels import labels_of
from ragstone.core.errors import InputError, UnknownName
from ragstone.report.reason_words import explain
from ragstone.stats.planning.mcnemar_power import (
    doubt_of_deviation,
    doubt_of_share,
    inflation,
    mcnemar_inflation,
    mcnemar_power,
    mcnemar_sample_size,
)
from ragstone.stats.planning.sample_size import rate_sample_size

WORDS = ("pier", "mole", "adit", "cove", "reef", "quay")


def row(question: int, system: str, right: int) -> dict[str, Any]:
    reference = " ".join(WORDS[(question + step) % 6] for step in range(4))
    answer = " ".join([*reference.split()[:right], *["sand"] * (4 - right)])
    return {
        "id": f"{question}-{system}", "question_id": f"q{question}", "system": system,
        "question": "Which?", "answer": answer, "reference": reference,
        "topic": f"t{question // 10}",
    }  # fmt: skip


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """60 questions, three systems; c never varies."""
    draw = random.Random(1)
    rows = [
        row(question, system, min(4, draw.choice(rights)))
        for question in range(60)
        for system, rights in (("a", [1, 2, 3, 4, 4]), ("b", [0, 1, 2, 3, 4]), ("c", [2]))
    ]
    out = tmp_path_factory.mktemp("sizes") / "run"
    return Scored(ragstone.evaluate(rows, metrics=["token_f1", "exact_match"], out=out))


def test_a_rate_comes_with_what_other_numbers_of_rows_give() -> None:
    found = rate_size(0.8, 0.03)
    assert found.rows == rate_sample_size(0.8, 0.03) == 682
    assert 682 in [rows for rows, _ in found.steps]
    halves = [half for _, half in found.steps]
    assert halves == sorted(halves, reverse=True)
    assert found.to_dict()["steps"][0]["rows"] < 682


def test_a_wider_interval_than_half_a_rate_is_no_step() -> None:
    assert len(rate_size(0.5, 0.3).steps) == 4


def test_a_mean_needs_more_where_it_varies_more(scored: Scored) -> None:
    found = {(one.metric, one.system): one for one in mean_sizes(scored, [], 0.02)}
    rate, score = found["exact_match", "a"], found["token_f1", "a"]
    assert rate.rows is not None
    assert score.rows is not None
    assert rate.rows > score.rows > score.rows_now == 60
    assert score.design_effect == pytest.approx(1)
    assert rate.rows == rate_sample_size(rate.value or 0, 0.02)


def test_scores_that_do_not_vary_are_planned_by_their_range(scored: Scored) -> None:
    (found,) = mean_sizes(scored, ["token_f1"], 0.05, systems=["c"])
    assert found.design_effect is None
    assert found.rows is not None
    assert found.reason is None


def test_pairs_are_those_of_statsmodels(scored: Scored) -> None:
    found = paired_sizes(scored, ["token_f1"], difference=0.05, single=True)[0]
    assert (found.a, found.b, found.pairs_now) == ("a", "b", 60)
    spread, _ = differences(scored, "token_f1", "a", "b")
    effect = 0.05 / spread["difference"].to_numpy().std(ddof=1)
    expected = TTestPower().solve_power(effect_size=effect, alpha=0.05, power=0.8)
    doubt = inflation(doubt_of_deviation(60))
    assert found.pairs == np.ceil(np.ceil(expected) * doubt)
    assert found.power_now == pytest.approx(TTestPower().power(effect, 60, 0.05), abs=1e-6)


@pytest.mark.parametrize("baseline", [None, "b"])
def test_pairs_and_signs_are_those_of_a_comparison(scored: Scored, baseline: str | None) -> None:
    planned = paired_sizes(scored, ["token_f1"], baseline=baseline)
    compared = compare(scored.run, metrics=["token_f1"], baseline=baseline).comparisons
    assert [(one.a, one.b) for one in planned] == [(one.a, one.b) for one in compared]
    assert [one.difference_now for one in planned] == pytest.approx(
        [one.difference for one in compared]
    )


def test_each_test_has_its_part_of_the_level_unless_it_stands_alone(scored: Scored) -> None:
    # Two metrics and three pairs of systems; where no question differs there is no test.
    tests = sum(one.p is not None for one in compare(scored.run).comparisons)
    together = paired_sizes(scored, ["token_f1"], difference=0.05)[0]
    assert together.family == tests
    effect = 0.05 / (together.deviation or 0)
    expected = TTestPower().solve_power(effect_size=effect, alpha=0.05 / tests, power=0.8)
    doubt = inflation(doubt_of_deviation(60), level=1 - 0.05 / tests)
    assert together.pairs == np.ceil(np.ceil(expected) * doubt)
    assert paired_sizes(scored, ["token_f1"], difference=0.05, single=True)[0].family == 1


def test_rates_are_planned_for_mcnemars_exact_test(scored: Scored) -> None:
    found = paired_sizes(scored, ["exact_match"], difference=0.1, single=True)[0]
    assert found.test == "mcnemar_exact"
    compared = compare(scored.run, metrics=["exact_match"]).comparisons[0]
    assert compared.test == found.test
    differing = (compared.wins + compared.losses) / compared.n_pairs
    doubt = doubt_of_share(round(60 * differing), 60, least=0.1)
    factor = mcnemar_inflation(0.1, max(0.1, differing), doubt)
    assert found.pairs == np.ceil(mcnemar_sample_size(0.1, max(0.1, differing)) * factor)
    assert found.power_now == mcnemar_power(0.1, max(0.1, differing), 60)
    with pytest.raises(InputError, match="by 1 at most"):
        paired_sizes(scored, ["exact_match"], difference=1.5)


def test_a_permutation_cannot_show_a_difference_in_fewer_questions_than_its_p_needs(
    tmp_path: Path,
) -> None:
    # Student's t would take three questions; two signs to each of six give p = 2^(1 - 6).
    rows = [row(question, system, right) for question in range(8)
            for system, right in (("a", 3 + question % 2), ("b", 0))]  # fmt: skip
    clear = Scored(ragstone.evaluate(rows, metrics="token_f1", out=tmp_path / "run"))
    (found,) = paired_sizes(clear, [], difference=0.9)
    assert found.pairs == 6
    (few,) = paired_sizes(clear, [], n=5)
    assert few.detectable is None
    assert few.reason == "too_few_for_any?n=5"


def test_the_margin_of_equivalence_shrinks_with_the_questions_and_grows_with_the_family(
    scored: Scored,
) -> None:
    def margin(n: int, *, single: bool) -> float:
        one = paired_sizes(scored, ["token_f1"], n=n, baseline="b", single=single)[0]
        assert one.margin is not None
        return one.margin

    assert margin(400, single=True) < margin(100, single=True) < margin(100, single=False)


def test_what_so_many_questions_find_needs_so_many_questions(scored: Scored) -> None:
    (found,) = paired_sizes(scored, ["token_f1"], n=300, baseline="b")[:1]
    assert found.at == 300
    assert found.detectable is not None
    again = paired_sizes(
        scored, ["token_f1"], difference=found.detectable * (1 + 1e-9), baseline="b"
    )
    assert again[0].pairs == 300


def test_two_systems_that_never_differ_cannot_be_planned(tmp_path: Path) -> None:
    rows = [row(question, system, 2) for question in range(5) for system in "ab"]
    same = Scored(ragstone.evaluate(rows, metrics="token_f1", out=tmp_path / "run"))
    (found,) = paired_sizes(same, [], difference=0.1)
    assert found.reason == NO_VARIATION
    assert found.pairs is None


@pytest.mark.parametrize("questions", [1, 2])
def test_a_pilot_of_one_or_two_questions(questions: int, tmp_path: Path) -> None:
    rows = [row(question, system, question + 1) for question in range(questions) for system in "a"]
    tiny = Scored(ragstone.evaluate(rows, metrics="token_f1", out=tmp_path / "run"))
    (found,) = mean_sizes(tiny, [], 0.1)
    assert (found.reason == TOO_FEW) == (questions == 1)
    assert (found.rows is None) == (questions == 1)


def test_a_coarser_cluster_needs_more_questions(scored: Scored) -> None:
    rows = [row(question, system, min(4, question // 10 + step)) for question in range(60)
            for step, system in enumerate("ab")]  # fmt: skip
    run = ragstone.evaluate(rows, metrics="token_f1", out=scored.run.path.parent / "topics")
    alone, topics = (
        mean_sizes(Scored(run, cluster=field), [], 0.05, systems=["a"])[0]
        for field in ("question_id", "topic")
    )
    assert topics.design_effect is not None
    assert topics.design_effect > 5
    assert topics.rows is not None
    assert alone.rows is not None
    assert topics.rows > 5 * alone.rows


def test_unknown_names_and_one_system_are_refused(scored: Scored, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="There are"):
        mean_sizes(scored, ["faithfulness"], 0.1)
    with pytest.raises(UnknownName, match="system"):
        mean_sizes(scored, [], 0.1, systems=["d"])
    with pytest.raises(UnknownName, match="system"):
        paired_sizes(scored, [], baseline="d")
    with pytest.raises(InputError, match="half-width"):
        mean_sizes(scored, [], 0)
    with pytest.raises(InputError, match="two questions"):
        paired_sizes(scored, [], n=1)
    alone = ragstone.evaluate([row(0, "a", 1)], metrics="token_f1", out=tmp_path / "run")
    with pytest.raises(InputError, match="one system"):
        paired_sizes(Scored(alone), [])


def test_labels_by_given_numbers() -> None:
    found = label_size(Accuracy(2000, 0.3, 0.9, 0.85), 0.05)
    assert found.labels is not None
    assert found.labels < found.labels_only == 320
    assert found.questions is None
    assert found.to_dict()["saved"] == pytest.approx(1 - found.labels / 320)


def test_labels_of_whole_questions() -> None:
    known = Accuracy(9000, 0.3, 0.9, 0.85, design_effect=2.0, rows_per_question=3.0)
    found = label_size(known, 0.05)
    assert found.labels is not None
    assert found.questions == -(-found.labels // 3)
    # Twice the 320 of independent rows, and Student's t for 213 questions: 1.971 for 1.960.
    assert found.labels_only == pytest.approx(640 * (1.971 / 1.96) ** 2, rel=0.005)


def test_assured_labels_come_with_those_of_the_average() -> None:
    known = Accuracy(2000, 0.3, 0.9, 0.85)
    average, sure = label_size(known, 0.05), label_size(known, 0.05, assurance=0.9)
    assert average.assurance is average.on_average is average.only_on_average is None
    assert (sure.on_average, sure.only_on_average) == (average.labels, average.labels_only)
    assert sure.labels is not None
    assert average.labels is not None
    assert sure.labels > average.labels
    assert sure.method == average.method == "ppi_plus_plus"
    with pytest.raises(InputError, match="assurance"):
        label_size(known, 0.05, assurance=1.5)


def test_no_number_of_labels_has_a_reason() -> None:
    few = label_size(Accuracy(200, 0.3, 0.9, 0.85), 0.05)
    assert few.labels is None
    assert few.reason is not None
    assert explain(few.reason).startswith("all 200 judged rows give ±0.0")
    sure = label_size(Accuracy(200, deviation=0.3, correlation=0.5), 0.03, assurance=0.9)
    assert sure.to_dict()["labels"] is None
    assert "in 90 % of draws: judge more" in explain(sure.to_dict()["reason"])
    assert label_size(Accuracy(2000, 0.3, 0.9, 0.85), 0.05).reason is None


def test_labels_of_a_run_say_what_each_verdict_is_worth(scored: Scored) -> None:
    """The judge of 180 answers is labelled on 60; people reverse each third of its verdicts."""
    exact = list(scored.of("exact_match").select("example_id", "value").iter_rows())
    records = [
        {"id": id, "labels": {"exact_match": {"ann": int(value) if at % 9 else 1 - int(value)}}}
        for at, (id, value) in enumerate(exact)
        if at % 3 == 0
    ]
    known = known_of_run(scored, "exact_match", labels=labels_of(records))
    said = np.array([value for at, (_, value) in enumerate(exact) if at % 3 == 0])
    people = np.array([one["labels"]["exact_match"]["ann"] for one in records])
    assert [one.score for one in known.verdicts] == [0, 1]
    for one in known.verdicts:
        own = said == one.score
        assert one.share == pytest.approx(np.mean([value == one.score for _, value in exact]))
        assert one.rate == pytest.approx(people[own].mean())
        assert one.labels == pytest.approx(own.sum() / known.design_effect)
    assert known.rate == pytest.approx(sum(one.share * one.rate for one in known.verdicts))
    given = known_of_run(scored, "exact_match", labels=labels_of(records), sensitivity=0.9)
    assert given.verdicts == ()
    assert given.sensitivity == 0.9
    assert given.specificity == known.specificity


def test_what_is_not_known_is_named() -> None:
    with pytest.raises(InputError, match="specificity=P"):
        label_size(Accuracy(2000, 0.3, 0.9), 0.05)
    with pytest.raises(InputError, match="labels=FILE"):
        label_size(Accuracy(2000), 0.05)


def test_a_run_and_labels_tell_how_good_the_judge_is(scored: Scored) -> None:
    """People call the first 30 questions right where the judge does, and the others too."""
    exact = scored.of("exact_match")
    records = [
        {"id": id, "labels": {"exact_match": {"ann": int(value) if at % 3 else 1 - int(value)}}}
        for at, (id, value) in enumerate(exact.select("example_id", "value").iter_rows())
    ]
    people = [record["labels"]["exact_match"]["ann"] for record in records]
    judge = exact["value"].to_numpy()
    truth = np.array(people) == 1
    known = known_of_run(scored, "exact_match", labels=labels_of(records))
    assert known.labels == known.judged == 180
    assert known.sensitivity == pytest.approx(judge[truth].mean())
    assert known.specificity == pytest.approx(1 - judge[~truth].mean())
    assert known.rows_per_question == 3


def test_a_mean_goes_by_the_correlation_with_people(scored: Scored) -> None:
    records = [
        {"id": id, "labels": {"token_f1": {"ann": round(0.5 * value + 0.1 * (at % 4), 3)}}}
        for at, (id, value) in enumerate(
            scored.of("token_f1").select("example_id", "value").iter_rows()
        )
    ]
    people = np.array([one["labels"]["token_f1"]["ann"] for one in records])
    judge = scored.of("token_f1")["value"].to_numpy()
    known = known_of_run(scored, "token_f1", labels=labels_of(records))
    assert known.correlation == pytest.approx(np.corrcoef(judge, people)[0, 1])
    assert known.deviation == pytest.approx(people.std(ddof=1))
    assert known.rate is None


def test_the_true_rate_is_the_judges_own_corrected(scored: Scored) -> None:
    judged = scored.of("exact_match")["value"].mean()
    known = known_of_run(scored, "exact_match", sensitivity=0.9, specificity=0.95)
    assert known.rate == pytest.approx((judged - 0.05) / 0.85)  # type: ignore[operator]


def test_too_few_labels_are_refused(scored: Scored) -> None:
    few = labels_of([{"id": "0-a", "labels": {"exact_match": {"ann": 1}}}])
    with pytest.raises(InputError, match="10 at least"):
        known_of_run(scored, "exact_match", labels=few)


def test_a_metric_is_meant_however_it_is_written(scored: Scored) -> None:
    (size,) = mean_sizes(scored, [" token_f1 "], 0.1, systems=["a"])
    assert size.metric == "token_f1"
