"""Agreement and means while labels come: with intervals that hold at every look, or a caution."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.annotation.annotator_agreement import agreement_of
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.read_labels import labels_of, read_label_table
from ragstone.annotation.running_agreement import FigureSoFar, LabelSoFar, labels_so_far
from ragstone.core.errors import UnknownName
from ragstone.core.messages import Reason
from ragstone.report.reason_words import explain
from ragstone.stats.correction.anytime import mean_sequence
from ragstone.stats.distributions import wilson
from tests.stats.coefficients import cohen_kappa, fleiss_kappa


def said(n: int, people: str = "ab", seed: int = 0, choices: Any = (True, False)) -> LabelTable:
    """People who see the truth in four of five cases."""
    rng = np.random.default_rng(seed)
    rows = []
    for at in range(n):
        truth = rng.integers(len(choices))
        votes = {
            who: choices[truth if rng.random() < 0.8 else rng.integers(len(choices))]
            for who in people
        }
        rows.append({"id": f"e{at}", "labels": {"fluent": votes}})
    return labels_of(rows)


def table_of(rows: list[dict[str, Any]], folder: Path) -> LabelTable:
    file = folder / "labels.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return read_label_table(file)


def only(found: tuple[LabelSoFar, ...]) -> LabelSoFar:
    (one,) = found
    return one


def code_of(figure: FigureSoFar) -> str:
    assert figure.caution is not None
    return Reason.read(figure.caution).code


def test_figures_are_those_of_the_agreement_of_the_labels() -> None:
    for people, name, kappa in (("ab", "cohen_kappa", cohen_kappa), ("abc", "fleiss_kappa", None)):
        table = said(80, people)
        one, plain = only(labels_so_far(table)), agreement_of(table)[0]
        assert (one.label, one.n_items, one.n_shared) == ("fluent", 80, 80)
        assert one.kappa_name == name
        votes = [table.used.filter(annotator=who)["value"].to_list() for who in people]
        assert one.kappa.value == (fleiss_kappa(votes) if kappa is None else kappa(*votes)).value
        assert one.percent.value == plain.coefficients["percent"].value
        assert one.alpha.value == plain.coefficients["krippendorff_alpha"].value
        assert one.annotators == plain.annotators


def test_from_fifty_items_on_intervals_hold_at_every_look() -> None:
    one = only(labels_so_far(said(120)))
    mean = one.means["true"]
    for figure in (one.percent, one.kappa, one.alpha, mean):
        assert figure.interval is not None
        assert figure.interval.method == "asymptotic_sequence"
        assert figure.caution is None
        assert figure.interval.low < (figure.value or 0) < figure.interval.high


def test_before_the_interval_is_for_one_look_with_a_caution() -> None:
    table = said(49)
    one, plain = only(labels_so_far(table)), agreement_of(table, resamples=1000)[0]
    assert one.kappa.interval == plain.coefficients["cohen_kappa"].interval
    assert code_of(one.kappa) == "looked_at_again"
    assert "from 50 labels on (49 so far)" in explain(one.kappa.caution or "")


def test_where_nearly_all_is_the_same_the_interval_is_for_one_look() -> None:
    rows = [{"id": f"e{at}", "labels": {"fluent": {"a": True, "b": at > 1}}} for at in range(90)]
    one = only(labels_so_far(labels_of(rows)))
    assert code_of(one.alpha) == "alike_so_far"
    assert one.alpha.interval is not None
    assert one.alpha.interval.method == "item_bootstrap"


def test_the_mean_is_that_of_the_labels_on_which_people_are_not_split() -> None:
    rows = [
        {"id": f"e{at}", "labels": {"fluent": {"a": at < 30, "b": at < 40}}} for at in range(100)
    ]
    one = only(labels_so_far(labels_of(rows)))
    yes = [1.0] * 30 + [0.0] * 60
    assert one.means["true"].value == pytest.approx(30 / 90)
    assert one.means["true"].interval == mean_sequence(yes, low=0, high=1)
    assert one.means["false"].value == pytest.approx(60 / 90)


def test_numbers_have_one_mean_on_the_scale_that_is_given() -> None:
    table = said(120, choices=(1, 2, 3, 4, 5))
    one = only(labels_so_far(table, ends={"fluent": (1, 5)}))
    numbers = table.adjudicated().filter(~table.adjudicated()["tie"])["number"]
    assert one.scale == "ordinal"
    assert one.means[""].value == pytest.approx(numbers.mean())
    assert one.means[""].interval == mean_sequence(numbers, low=1, high=5)


def test_each_label_counts_by_its_chance_to_be_labelled(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": f"e{at}", "annotator": "a", "fluent": at < 30, "inclusion_probability": chance}
        for at in range(100)
        for chance in [0.5 if at < 30 else 0.1]
    ]
    one = only(labels_so_far(table_of(rows, tmp_path)))
    # 30 yes count 2 each, 70 no count 10 each.
    assert one.means["true"].value == pytest.approx(60 / 760)
    assert one.percent == FigureSoFar(None, "no_pairs", 0, None, None)
    del rows[0]["inclusion_probability"]
    part = only(labels_so_far(table_of(rows, tmp_path))).means["true"]
    assert (part.value, part.why) == (None, "chances_known_in_part")


def test_agreement_on_what_was_likelier_to_be_labelled_says_so(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": f"e{at}",
            "annotator": who,
            "fluent": (at + (who == "a")) % 3 > 0,
            "inclusion_probability": 0.5 if at < 90 else 0.1,
        }
        for at in range(300)
        for who in "ab"
    ]
    one = only(labels_so_far(table_of(rows, tmp_path)))
    assert one.kappa.interval is not None
    assert one.kappa.interval.method == "asymptotic_sequence"
    assert code_of(one.kappa) == code_of(one.percent) == "of_the_likelier"
    assert one.means["true"].caution is None
    done = only(labels_so_far(table_of(rows, tmp_path), coming="no_more"))
    assert code_of(done.alpha) == "of_the_likelier"


def test_answers_to_one_question_count_together() -> None:
    table = said(120)
    alone = only(labels_so_far(table))
    by_question = {f"e{at}": at // 2 for at in range(120)}
    one = only(labels_so_far(table, clusters=by_question))
    assert (one.kappa.n, alone.kappa.n) == (60, 120)
    assert one.means["true"].n < 60 < alone.means["true"].n
    assert one.kappa.value == alone.kappa.value
    assert one.kappa.interval != alone.kappa.interval
    few = only(labels_so_far(table, clusters={f"e{at}": at // 3 for at in range(120)}))
    assert code_of(few.kappa) == code_of(few.means["true"]) == "looked_at_again"


def test_where_the_riskiest_come_first_nothing_stands_for_all_until_all_are_labelled() -> None:
    table = said(70)
    first = only(labels_so_far(table, coming="riskiest_first"))
    assert first.kappa.interval is first.means["true"].interval is None
    assert code_of(first.kappa) == code_of(first.means["true"]) == "riskiest_first"
    done = only(labels_so_far(table, coming="no_more"))
    combined = table.adjudicated()["value"].drop_nulls()
    yes = int((combined == "true").sum())
    assert done.means["true"].interval == wilson(yes, len(combined))
    assert done.kappa.caution is None


def test_people_who_are_split_on_all_have_no_mean() -> None:
    rows = [{"id": f"e{at}", "labels": {"tone": {"a": 3, "b": 4 + at % 2}}} for at in range(9)]
    mean = only(labels_so_far(labels_of(rows))).means[""]
    assert (mean.value, mean.why, mean.n) == (None, "all_split", 0)


def test_no_label_has_no_figures_and_one_that_is_not_there_is_named() -> None:
    table = said(5)
    assert len(labels_so_far(table, columns=["fluent"])) == 1
    with pytest.raises(UnknownName):
        labels_so_far(table, columns=["tone"])


def test_figures_are_plain_data() -> None:
    record = only(labels_so_far(said(60))).to_dict()
    assert record["label"] == "fluent"
    assert set(record["cohen_kappa"]) == {
        "value", "why", "n", "low", "high", "level", "method", "caution",
    }  # fmt: skip
    assert [one["annotator"] for one in record["annotators"]] == ["a", "b"]
    assert set(record["means"]) == {"true", "false"}
