"""Calibration: a judge beside people, the numbers they correct, and the judge's passport."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone.analysis import calibrate, corrected_quantities, read_passport
from ragstone.analysis.calibration.checked_run import CheckedRun, checked_against_people
from ragstone.analysis.calibration.corrected_means import LabelledScores
from ragstone.analysis.calibration.judge_identity import order_sensitivity
from ragstone.analysis.scored_run import ValueRange
from ragstone.core.errors import InputError, UnknownName
from ragstone.report.reason_words import explain
from ragstone.run import Run
from ragstone.stats.correction.poststratified import poststratify
from ragstone.testing import ScriptedModel, asked, reply_to

METRIC = "unsupported_claim"
WRONG = range(0, 40, 4)
"""Piers whose answer the contexts do not bear out, so that the local judge finds fault."""


def pier(number: int) -> dict[str, Any]:
    length = 512 if number in WRONG else 90
    return {
        "id": f"pier-{number}",
        "question_id": f"q{number}",
        "system": "a",
        "meta": {"half": "first" if number < 20 else "second"},
        "question": f"How long is pier {number}?",
        "contexts": [f"Pier {number} is 90 metres long.", "Gulls are loud."],
        "answer": f"Pier {number} is {length} metres long.",
    }


@pytest.fixture(scope="module")
def piers(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Forty answers, ten of them wrong, judged by the local judge."""
    out = tmp_path_factory.mktemp("piers") / "run"
    rows = [pier(number) for number in range(40)]
    return ragstone.evaluate(rows, metrics=[METRIC, "precision"], judge="local", out=out)


Write = Callable[[Sequence[Mapping[str, Any]]], Path]


@pytest.fixture
def labels(tmp_path: Path) -> Write:
    def written(rows: Sequence[Mapping[str, Any]]) -> Path:
        file = tmp_path / "labels.csv"
        with file.open("w", newline="", encoding="utf-8") as handle:
            writer = csv.DictWriter(
                handle, list(dict.fromkeys(name for row in rows for name in row))
            )
            writer.writeheader()
            writer.writerows(rows)
        return file

    return written


def said(number: int, fault: bool, **more: object) -> dict[str, Any]:
    """What a person says of a pier's answer."""
    label = {"unsupported_claim_present": int(fault)}
    return {"id": f"pier-{number}", "annotator": "ann", **label, **more}


def people_who_err_twice() -> list[dict[str, Any]]:
    """Labels of the first twenty; people see no fault in pier 4, and one in pier 5."""
    return [said(n, fault=(n in WRONG and n != 4) or n == 5) for n in range(20)]


def test_ratings_of_people_correct_a_mean(piers: Run, labels: Write) -> None:
    rows = [{"id": f"pier-{n}", "annotator": "ann", "precision": 1 + n % 4} for n in range(20)]
    found = calibrate(piers, labels(rows), metrics=["precision"], scales={"precision": (1, 5)})
    (one,) = found.estimates
    assert one.labels is not None
    assert one.labels.value == pytest.approx((0 + 1 / 4 + 2 / 4 + 3 / 4) / 4)
    guessed = calibrate(piers, labels(rows), metrics=["precision"])
    assert guessed.estimates[0].labels is not None
    assert guessed.estimates[0].labels.value == pytest.approx((0 + 1 / 3 + 2 / 3 + 1) / 4)
    assert any("taken for ratings from 1 to 4" in explain(note) for note in guessed.notes)


def test_rate_is_corrected_by_what_people_say_of_each_verdict(piers: Run, labels: Write) -> None:
    file = labels(people_who_err_twice())
    found = calibrate(piers, file, metrics=[METRIC], method="poststratified")
    (one,) = found.estimates
    verdicts = [int(n in WRONG) for n in range(40)]
    people = [row["unsupported_claim_present"] for row in people_who_err_twice()]
    by_hand = poststratify(verdicts, range(20), people).at(0.95)
    assert one.judge.value == pytest.approx(10 / 40)
    assert one.labels.value == pytest.approx(5 / 20)
    assert one.corrected.value == pytest.approx(10 / 40 * 4 / 5 + 30 / 40 * 1 / 15)
    assert one.corrected.interval == by_hand.interval
    assert one.corrected.effective_labels == by_hand.effective_labels


def test_judge_is_held_against_people_unit_by_unit(piers: Run, labels: Write) -> None:
    found = calibrate(piers, labels(people_who_err_twice()))
    (check,) = found.to_dict()["agreement"]
    assert (check["kind"], check["column"], check["n"]) == (
        "grounding", "unsupported_claim_present", 20,
    )  # fmt: skip
    assert check["sensitivity"] == pytest.approx(4 / 5)
    assert check["specificity"] == pytest.approx(14 / 15)
    assert check["kappa"] == pytest.approx(1 - (2 / 20) / (2 * 5 * 15 / 400))
    assert check["confusion"]["people_by_judge"] == [[14, 1], [1, 4]]
    # A quarter of all 40 words is yes. Of two drawn, 10 · 30 · 2 of 40 · 39 differ.
    assert check["krippendorff_alpha"] == pytest.approx(1 - (2 / 20) / (600 / 1560))
    assert check["gwet_ac1"] == pytest.approx((18 / 20 - 3 / 8) / (1 - 3 / 8))
    assert check["gwet_ac1_low"] < check["gwet_ac1"] < check["gwet_ac1_high"]


def test_units_tell_which_answers_are_in_each_cell(piers: Run, labels: Write) -> None:
    found = calibrate(piers, labels(people_who_err_twice()))
    units = found.units["grounding.unsupported_claim_present"]
    apart = units.filter(units["people"] != units["judge"]).select("example_id", "people", "judge")
    assert apart.rows() == [("pier-4", "no", "yes"), ("pier-5", "yes", "no")]
    assert apart["example_id"].to_list() == units["example_id"].to_list()[:2]
    counts = units.group_by("people", "judge").len().sort("people", "judge")["len"]
    assert counts.to_list() == [14, 1, 1, 4]


def test_a_tie_between_annotators_is_held_against_nobody(piers: Run, labels: Write) -> None:
    rows = [*people_who_err_twice(), said(0, fault=False) | {"annotator": "ben"}]
    (check,) = calibrate(piers, labels(rows)).checks
    assert check.n == 19


def test_contexts_are_held_against_people_by_rank(piers: Run, labels: Write) -> None:
    rows = [
        {"id": f"pier-{n}", "annotator": "ann", "context": context, "topically_relevant": relevant}
        for n in range(6)
        for context, relevant in ((1, 1), (2, 0))
    ]
    found = calibrate(piers, labels(rows), metrics=["precision"]).to_dict()
    check = next(one for one in found["agreement"] if one["column"] == "relevant")
    assert check["n"] == 12
    assert check["accuracy"] == 1
    assert check["auroc"] == 1
    (estimate,) = found["estimates"]
    assert estimate["labels"]["value"] == pytest.approx(1 / 2)
    assert estimate["corrected"]["method"] in ("ppi_plus_plus", "bounded_wilson")


def test_labels_of_the_metric_itself_are_named_by_map(piers: Run, labels: Write) -> None:
    rows = [{"id": f"pier-{n}", "annotator": "ann", "bad": n in WRONG} for n in range(20)]
    found = calibrate(piers, labels(rows), columns={METRIC: "bad"})
    (one,) = found.estimates
    assert one.corrected.value == pytest.approx(1 / 4)
    (check,) = found.checks
    assert (check.kind, check.column) == ("metric", METRIC)


def test_each_field_and_system_has_an_estimate_of_its_own(piers: Run, labels: Write) -> None:
    found = calibrate(piers, labels(people_who_err_twice()), metrics=[METRIC], by=["half"])
    groups = [dict(one.group) for one in found.estimates]
    assert groups == [{}, {"half": "first"}, {"half": "second"}]
    groups = [one["group"] for one in found.passport.estimates]
    assert groups == [{}, {"half": "first"}, {"half": "second"}]
    unlabelled = found.estimates[2]
    assert unlabelled.corrected.value is None
    assert unlabelled.corrected.reason == "no_labels"


def test_unequal_chances_of_being_drawn_are_weighed(piers: Run, labels: Write) -> None:
    rows = [
        said(n, fault=n in WRONG, inclusion_probability=1.0 if n in WRONG else 0.2)
        for n in range(20)
    ]
    (one,) = calibrate(piers, labels(rows), metrics=[METRIC]).estimates
    assert one.labels.value == pytest.approx(5 / (5 + 15 / 0.2))


def test_chances_count_in_everything_that_is_said_of_the_judge(piers: Run, labels: Write) -> None:
    """Pier 4 is a false alarm and pier 5 is missed; each stands for one over its chance."""
    chances = {n: 1.0 if n in WRONG else 0.2 for n in range(20)}
    rows = [row | {"inclusion_probability": chances[n]}
            for n, row in enumerate(people_who_err_twice())]  # fmt: skip
    found = calibrate(piers, labels(rows))
    (check,) = found.to_dict()["agreement"]
    assert check["sensitivity"] == pytest.approx(4 / (4 + 5))
    assert check["specificity"] == pytest.approx(14 * 5 / (14 * 5 + 1))
    agree, yes, meant = (4 + 14 * 5) / 80, 5 / 80, (4 + 5) / 80
    by_chance = yes * meant + (1 - yes) * (1 - meant)
    assert check["kappa"] == pytest.approx((agree - by_chance) / (1 - by_chance))
    assert check["auroc"] == pytest.approx((4 / 9 + 70 / 71) / 2)
    assert check["effective"] == pytest.approx(80**2 / (5 + 15 * 25))
    assert check["confusion"]["people_by_judge"] == [[14, 1], [1, 4]]
    assert (check["krippendorff_alpha"], check["gwet_ac1"]) == (None, None)
    assert found.passport.agreement[0]["sensitivity"] == check["sensitivity"]


def test_chance_known_of_some_labels_only_is_refused(piers: Run, labels: Write) -> None:
    rows = [said(0, fault=True, inclusion_probability=0.5), said(1, fault=False)]
    with pytest.raises(InputError, match="1 of 2 labelled examples have no inclusion_probability"):
        calibrate(piers, labels(rows), metrics=[METRIC])


def test_score_of_each_example_is_corrected(piers: Run, labels: Write) -> None:
    scores = calibrate(piers, labels(people_who_err_twice()), metrics=[METRIC]).scores
    corrected = dict(scores.select("example_id", "corrected").iter_rows())
    assert corrected["pier-4"] == 0
    assert corrected["pier-36"] == pytest.approx(4 / 5)
    assert corrected["pier-37"] == pytest.approx(1 / 15)


def test_method_is_chosen_by_what_the_judge_leads_to_expect(piers: Run, labels: Write) -> None:
    """A quarter of the piers are found wrong: of 20 labels five, of 16 four."""
    chosen = []
    for n in (20, 16):
        file = labels(people_who_err_twice()[:n])
        (one,) = calibrate(piers, file, metrics=[METRIC]).estimates
        chosen.append(one.corrected.method)
    assert chosen == ["ppi_plus_plus", "poststratified"]


@pytest.mark.parametrize("method", ["poststratified", "ppi_plus_plus", "rogan_gladen"])
def test_every_method_gives_an_interval_inside_the_range(
    method: str, piers: Run, labels: Write
) -> None:
    file = labels(people_who_err_twice())
    (one,) = calibrate(piers, file, metrics=[METRIC], method=method).estimates
    assert one.corrected.method == method
    assert one.corrected.interval is not None
    assert 0 <= one.corrected.interval.low < one.corrected.interval.high <= 1


def test_unknown_method_is_named(piers: Run, labels: Write) -> None:
    with pytest.raises(UnknownName, match="poststratified"):
        calibrate(piers, labels(people_who_err_twice()), method="magic")


def test_labels_of_unknown_examples_are_noted(piers: Run, labels: Write) -> None:
    rows = [*people_who_err_twice(), {**said(0, fault=True), "id": "mole-1"}]
    assert any("mole-1" in explain(note) for note in calibrate(piers, labels(rows)).notes)


def test_labels_of_nothing_in_the_run_are_refused(piers: Run, labels: Write) -> None:
    with pytest.raises(InputError, match="mole-1"):
        calibrate(piers, labels([{**said(0, fault=True), "id": "mole-1"}]))


def test_two_labels_of_one_annotator_on_one_answer_count_for_nobody(
    piers: Run, labels: Write
) -> None:
    rows = [*people_who_err_twice(), said(0, fault=False)]
    found = calibrate(piers, labels(rows), metrics=[METRIC])
    assert found.estimates[0].labels.n_labels == 19
    assert any("two labels by one annotator" in explain(note) for note in found.notes)


def test_labels_that_no_metric_answers_say_how_to_map_them(piers: Run, labels: Write) -> None:
    rows = [{"id": f"pier-{n}", "annotator": "ann", "taste": n % 3} for n in range(9)]
    with pytest.raises(InputError, match=r"columns={METRIC: COLUMN}\."):
        calibrate(piers, labels(rows))


def test_one_two_and_equal_labels_give_no_zero_width(piers: Run, labels: Write) -> None:
    for n in (1, 2):
        rows = [said(k, fault=False) for k in range(1, n + 1)]
        found = calibrate(piers, labels(rows), metrics=[METRIC])
        interval = found.estimates[0].corrected.interval
        assert interval is None or interval.low < interval.high
        assert found.checks[0].kappa.value is None
        assert found.checks[0].kappa.reason == "no_variation"
    assert "unlabelled_stratum" in found.estimates[0].corrected.flags


def test_examples_that_people_judged_in_the_run_tell_nothing(tmp_path: Path) -> None:
    labelled = {"answer": {"unsupported_claim_present": True}}
    rows = [{**pier(n), "labels": labelled} for n in range(3)] + [pier(3), pier(4)]
    run = ragstone.evaluate(rows, metrics=[METRIC], out=tmp_path / "run")
    with pytest.raises(InputError):
        calibrate(run)


def test_labels_in_the_data_are_used_where_no_file_is_named(tmp_path: Path) -> None:
    rows = [
        {**pier(n), "labels": {"answer": {"unsupported_claim_present": n in WRONG}}}
        for n in range(12)
    ]
    run = ragstone.evaluate(rows, metrics=[METRIC], judge="local", out=tmp_path / "run")
    (one,) = calibrate(run).estimates
    assert one.labels.n_labels == 12


def test_data_without_labels_say_how_to_get_some(piers: Run) -> None:
    with pytest.raises(InputError, match=r"labels=FILE\. draw_sample\(scored="):
        calibrate(piers)


def test_corrected_quantity_has_an_interval_at_every_level(piers: Run, labels: Write) -> None:
    of = corrected_quantities(piers, [labels(people_who_err_twice())])
    quantity = of(METRIC, "a")
    assert quantity is not None
    assert quantity.counted == "labels"
    wide, narrow = quantity.at(0.99), quantity.at(0.5)
    assert wide is not None
    assert narrow is not None
    assert wide.low < narrow.low < narrow.high < wide.high
    assert of("precision", "a") is None


def test_passport_holds_until_the_judge_changes(piers: Run, labels: Write, tmp_path: Path) -> None:
    found = calibrate(piers, labels(people_who_err_twice()))
    file = found.passport.write(tmp_path)
    passport = read_passport(file)
    assert passport.void_for(piers) == []
    assert passport.to_dict() == json.loads(json.dumps(found.passport.to_dict()))
    other = ragstone.evaluate([pier(0)], metrics=["precision"], judge="rules", out=tmp_path / "b")
    assert any(line.startswith("judges:") for line in passport.void_for(other))


@pytest.fixture
def checked(piers: Run, labels: Write, tmp_path: Path) -> Callable[..., CheckedRun]:
    """What a passport made of these labels, with changes, shows about the judge of the piers."""

    def shown(rows: Sequence[Mapping[str, Any]], **changed: object) -> CheckedRun:
        passport = calibrate(piers, labels(rows)).passport.to_dict() | changed
        (tmp_path / "judge_passport.json").write_text(json.dumps(passport), encoding="utf-8")
        return checked_against_people(tmp_path, piers.form)

    return shown


def test_a_metric_is_checked_by_enough_labels_that_agree_beyond_chance(
    checked: Callable[..., CheckedRun],
) -> None:
    found = checked(people_who_err_twice())
    assert (found.earned, found.lacks) == ((METRIC,), None)
    one = found.metrics[METRIC]
    # Of 20 answers judge and people say yes to 4 both and no to 14: κ = (.9 - .62) / (1 - .62).
    assert (one.labels, one.judges) == (20, ("local",))
    assert one.kappa == pytest.approx((0.9 - (5 * 5 + 15 * 15) / 400) / (1 - 250 / 400))
    mean = found.corrected(METRIC, {})
    assert mean is not None
    assert mean.low < mean.value < mean.high
    # The run has one system, whose mean is that of all answers.
    assert found.corrected(METRIC, {"system": "a"}) == mean
    assert replace(found, systems=2).corrected(METRIC, {"system": "a"}) is None
    assert found.corrected(METRIC, {"half": "first"}) is None
    assert found.corrected("precision", {}) is None
    assert explain(found.metrics["precision"].lacks or "") == "no label has checked it"


def test_a_judges_score_beside_yes_or_no_is_a_yes_from_the_middle_on() -> None:
    rows = pl.DataFrame({
        "value": [0.9, 0.5, 0.4, 0.1], "people": [1.0, 1.0, 0.0, 0.0], "status": ["value"] * 4,
        "cluster": list("abcd"), "weight": pl.Series([None] * 4, dtype=pl.Float64),
    })  # fmt: skip
    scale = ValueRange(0, 1, "+", rate=False)
    assert LabelledScores("faithfulness", {}, rows, scale, rate=True).agreement(0.95).value == 1
    graded = LabelledScores("faithfulness", {}, rows, scale, rate=False).agreement(0.95)
    # Squared distances .01, .25, .16 and .01; of all sixteen pairs, as by chance, 5.32 in all.
    assert graded.value == pytest.approx(1 - (0.43 / 4) / (5.32 / 16))


CLAIMS: dict[str, Any] = {"claims": [{"text": "It is long.", "support": "supported"}]}
FAULT: dict[str, Any] = {"answer": {"unsupported_claim_present": 1}}


@pytest.mark.parametrize(
    ("labels", "judge", "people", "judges"),
    [
        ([FAULT] * 3, ["human"], [METRIC], []),
        ([FAULT] * 3, ["local"], [], [METRIC, "faithfulness"]),
        ([CLAIMS] * 3, ["human", "local"], [METRIC, "faithfulness"], []),
        ([CLAIMS, CLAIMS, {}], ["human", "local"], [METRIC, "faithfulness"],
         [METRIC, "faithfulness"]),
        # What kind of reply it is decides nothing about its claims.
        ([{"response_type": "answer"}] * 3, ["human", "local"], [], [METRIC, "faithfulness"]),
        # Nothing but an answer that makes no claim was left to the judge.
        ([CLAIMS, CLAIMS, None], ["human", "local"], [METRIC, "faithfulness"], []),
    ],
)  # fmt: skip
def test_who_judged_is_people_or_judges_or_both(
    labels: list[dict[str, Any] | None],
    judge: list[str],
    people: list[str],
    judges: list[str],
    tmp_path: Path,
) -> None:
    rows = [
        pier(n) | ({"answer": "I do not know."} if label is None else {"labels": label})
        for n, label in enumerate(labels)
    ]
    metrics = [METRIC, "faithfulness", "citation_presence"]
    run = ragstone.evaluate(rows, metrics=metrics, judge=judge, out=tmp_path / "run")
    found = checked_against_people(run.path, run.form)
    assert (list(found.people), list(found.metrics)) == (people, judges)
    assert found.judges == (*["human"] * bool(people), *["local"] * bool(judges))
    assert found.on(["citation_presence"]).judges == ()


def test_damaged_judgements_do_not_keep_a_run_from_being_listed(tmp_path: Path) -> None:
    rows = [pier(0) | {"labels": CLAIMS}, pier(1)]
    run = ragstone.evaluate(
        rows, metrics=["faithfulness"], judge=["human", "local"], out=tmp_path / "run"
    )
    for file in run.path.glob("judgements/*/*.parquet"):
        file.write_bytes(b"no table")
    assert checked_against_people(run.path, run.form).judges == ("human", "local")


def test_what_is_made_of_the_same_judgements_is_checked_by_the_same_labels(
    labels: Write, tmp_path: Path
) -> None:
    metrics = [METRIC, "faithfulness", "contradiction", "precision"]
    rows = [pier(n) for n in range(40)]
    run = ragstone.evaluate(rows, metrics=metrics, judge="local", out=tmp_path / "run")
    calibrate(run, labels(people_who_err_twice()), metrics=[METRIC]).passport.write(run.path)
    found = checked_against_people(run.path, run.form)
    assert found.on(["faithfulness"]).lacks == "no_label_checked"
    resting = found.resting_on(["faithfulness", METRIC])
    assert (resting.lacks, resting.earned) == (None, (METRIC,))
    assert list(resting.metrics) == [METRIC, "faithfulness", "contradiction"]


def test_labels_given_at_random_check_no_judge(checked: Callable[..., CheckedRun]) -> None:
    random = [said(n, fault=n % 3 == 0) for n in range(24)]
    few, more = checked(random[:6]), checked(random)
    assert (few.earned, more.earned) == ((), ())
    assert explain(few.lacks or "") == "6 labels; about 60 are needed"
    assert few.corrected(METRIC, {}) is None
    # Enough to correct the mean, however bad the judge is, and too few to show that it is good.
    assert explain(more.lacks or "") == "24 labels; about 60 are needed"
    assert more.corrected(METRIC, {}) is not None


def test_labels_that_are_not_random_check_no_judge(checked: Callable[..., CheckedRun]) -> None:
    rows = [said(n, fault=False) for n in range(40) if n not in WRONG]
    lacks = "30 labels, from which no mean can be corrected: not random"
    assert explain(checked(rows).lacks or "") == lacks


def test_a_passport_of_another_judge_or_data_or_version_checks_no_judge(
    checked: Callable[..., CheckedRun],
) -> None:
    rows = people_who_err_twice()
    void = "its judge_passport.json is for another judge or other data: calibrate again"
    for changed in ({"data": "other"}, {"judge": {"judges": ["nli"]}}):
        assert explain(checked(rows, **changed).lacks or "") == void
    broken = checked(rows, estimates=3)
    assert explain(broken.lacks or "") == "judge_passport.json cannot be read: calibrate again"


@pytest.mark.parametrize(
    ("part", "lacks"),
    [
        ({"kappa": None}, "its passport is of an older version: calibrate again"),
        ({"kappa": {"value": None, "low": None, "high": None}},
         "80 labels, from which agreement beyond chance cannot be told"),
        ({"kappa": {"value": 0.125, "low": 0, "high": 0.25}},
         "κ 0.12 (0.00 to 0.25) on 80 labels does not show more than chance"),
        ({"flags": ["few_clusters"]},
         "80 labels from fewer than 20 questions; more questions are needed"),
        ({"flags": ["unlabelled_stratum"]}, ""),
    ],
)  # fmt: skip
def test_what_a_check_lacks_is_named(
    part: dict[str, Any], lacks: str, checked: Callable[..., CheckedRun]
) -> None:
    whole = {
        "metric": METRIC, "group": {}, "kappa": {"value": 0.5, "low": 0.25, "high": 0.75},
        "corrected": {"value": 0.5, "low": 0.4, "high": 0.6, "n_labels": 80, "reason": None,
                      "flags": part.get("flags", [])},
        "judge": {"n": 90},
    } | {name: value for name, value in part.items() if name == "kappa"}  # fmt: skip
    if whole["kappa"] is None:
        del whole["kappa"]
    found = checked(people_who_err_twice(), estimates=[whole], n_examples=80)
    assert explain(found.metrics[METRIC].lacks or "") == lacks


def test_broken_passport_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "passport.json"
    file.write_text('{"judge": {}}', encoding="utf-8")
    with pytest.raises(InputError, match="no passport"):
        read_passport(file)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("judge", "local"),
        ("judge", ["local"]),
        ("date", 5),
        ("agreement", {}),
        ("order", "b first"),
    ],
)
def test_a_passport_says_which_of_its_fields_is_of_another_type(
    field: str, value: object, piers: Run, labels: Write, tmp_path: Path
) -> None:
    file = calibrate(piers, labels(people_who_err_twice())).passport.write(tmp_path)
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {field: value}), "utf-8")
    with pytest.raises(InputError, match=rf"no passport(.|\n)*  {field}  expected "):
        read_passport(file)


def test_judge_that_says_the_same_again_never_flips(
    piers: Run, labels: Write, tmp_path: Path
) -> None:
    found = calibrate(piers, labels(people_who_err_twice()), repeats=[piers])
    assert found.passport.flips
    assert read_passport(found.passport.write(tmp_path)).flips == found.passport.flips
    assert {one.value for one in found.passport.flips} == {0}


def test_share_of_words_that_changed_is_counted(piers: Run, labels: Write, tmp_path: Path) -> None:
    wrong = {"answer": pier(0)["answer"].replace("Pier 0", "The pier")}
    turned = [{**pier(n), **(wrong if n < 4 else {})} for n in range(40)]
    moved = ragstone.evaluate(turned, metrics=[METRIC], judge="local", out=tmp_path / "run")
    found = calibrate(piers, labels(people_who_err_twice()), injected=moved)
    rates = {one.what: one for one in found.passport.injection}
    assert rates["grounding.unsupported_claim_present"].value == pytest.approx(3 / 40)
    assert found.passport.flips == ()


def test_order_that_decides_a_preference_is_counted(tmp_path: Path) -> None:
    """A model that always likes the first answer best changes its verdict with the order."""
    model = ScriptedModel(
        lambda request: reply_to(
            request,
            {name: {"reason": "The first says more.", "verdict": "A"} for name in asked(request)},
        )
    )
    rows = [
        {**pier(n), "system": system, "id": f"{n}{system}"} for n in range(3) for system in "ab"
    ]
    rows = [{**row, "answer": f"{row['answer']} So {row['system']} says."} for row in rows]
    run = ragstone.evaluate(rows, metrics="win_rate", judge=model, out=tmp_path / "run")
    rate = order_sensitivity(run)
    assert rate is not None
    assert (rate.value, rate.n) == (1, 6)


def test_order_is_not_measured_without_preferences(piers: Run) -> None:
    assert order_sensitivity(piers) is None


def test_repeats_of_other_data_or_judges_are_refused(
    piers: Run, labels: Write, tmp_path: Path
) -> None:
    file = labels(people_who_err_twice())
    other = ragstone.evaluate([pier(0)], metrics=[METRIC], judge="local", out=tmp_path / "other")
    with pytest.raises(InputError, match="has different data"):
        calibrate(piers, file, repeats=[other])
    ruled = ragstone.evaluate([pier(0)], metrics=["precision"], judge="rules", out=tmp_path / "b")
    with pytest.raises(InputError, match="judged differently"):
        calibrate(piers, file, injected=ruled)


def wordy(number: int) -> dict[str, Any]:
    """An answer of two claims, of which the second is wrong in every fourth."""
    row = pier(number)
    first = f"Pier {number} is 90 metres long."
    return {**row, "answer": f"{first} Gulls are {'silent' if number in WRONG else 'loud'}."}


def test_examples_labelled_in_part_are_left_out_whatever_is_known_of_them(
    labels: Write, tmp_path: Path
) -> None:
    """One bad claim settles a fault, but its absence takes all claims: both must be there."""
    rows = [wordy(number) for number in range(12)]
    run = ragstone.evaluate(rows, metrics=[METRIC], judge="local", out=tmp_path / "run")
    claims = run.judgements("claims").group_by("example_id").len()
    assert set(claims["len"]) == {2}
    said_of = [
        {"id": f"pier-{n}", "annotator": "ann", "claim": claim, "support": support}
        for n in range(12)
        for claim, support in ((1, "supported"), (2, "absent" if n in WRONG else "supported"))
    ]
    whole = calibrate(run, labels(said_of), metrics=[METRIC])
    assert (whole.estimates[0].labels.value, whole.estimates[0].labels.n_labels) == (0.25, 12)
    in_part = [row for row in said_of if row["claim"] == 2 or row["id"] not in ("pier-0", "pier-1")]
    partly = calibrate(run, labels(in_part), metrics=[METRIC])
    assert partly.estimates[0].labels.n_labels == 10
    assert any(
        explain(note).startswith("Labelled in part: 2 of 12 examples.") for note in partly.notes
    )


def test_strata_are_named_by_the_words_of_the_metric(labels: Write, tmp_path: Path) -> None:
    rows = [
        {**pier(n), "reference": f"Pier {n} is {512 if n in WRONG else 90} metres long."}
        for n in range(8)
    ]
    rows[1]["answer"] = "I don't know."
    run = ragstone.evaluate(rows, metrics=["answer_outcome"], judge="local", out=tmp_path / "run")
    right = [{"id": f"pier-{n}", "annotator": "ann", "answer_outcome": n != 1} for n in range(8)]
    (one,) = calibrate(run, labels(right)).estimates
    assert [stratum.verdict for stratum in one.corrected.strata] == ["correct", "dont_know"]
