"""How far annotators agree, column by column, and what divides them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.annotation.annotator_agreement import (
    ColumnAgreement,
    agreement_of,
    clusters_of,
    coincidences,
)
from ragstone.annotation.label_names import SCALES
from ragstone.annotation.label_table import LabelTable
from ragstone.annotation.read_labels import labels_of, read_label_table
from ragstone.core.errors import InputError, UnknownName
from ragstone.stats.agreement.coefficients import COEFFICIENTS
from ragstone.stats.agreement.ratings import read_ratings
from ragstone.stats.distributions import wilson

KRIPPENDORFF = {"A": "123321412...", "B": "1233224125.3", "C": ".3332342251.", "D": "12332441251."}
"""Four observers of twelve units, from Krippendorff (2011), "Computing Krippendorff's
Alpha-Reliability"."""


def table(*labels: dict[str, Any]) -> LabelTable:
    return labels_of({"id": f"q{at}", "labels": one} for at, one in enumerate(labels))


def only(found: tuple[ColumnAgreement, ...]) -> ColumnAgreement:
    (one,) = found
    return one


THREE = table(
    {"right": {"ann": 1, "ben": 1, "cem": 1}},
    {"right": {"ann": 0, "ben": 0, "cem": 1}},
    {"right": {"ann": 1, "ben": 0, "cem": 1}},
    {"right": {"ann": 0, "ben": 0}},
    {"right": {"ann": 1}},
)


def krippendorffs(letters: bool = False) -> LabelTable:
    """His example, with its numbers as they are or as letters."""
    return table(
        *(
            {
                "code": {
                    who: "_abcde"[int(codes[unit])] if letters else int(codes[unit])
                    for who, codes in KRIPPENDORFF.items()
                    if codes[unit] != "."
                }
            }
            for unit in range(12)
        )
    )


def test_a_column_by_hand() -> None:
    one = only(agreement_of(THREE))
    assert (one.kind, one.column, one.scale) == ("own", "right", "nominal")
    assert (one.n_items, one.n_shared, one.n_annotators, one.n_divided) == (5, 4, 3, 2)
    assert one.coefficients["percent"].value == pytest.approx((1 + 1 / 3 + 1 / 3 + 1) / 4)


def test_each_annotator_is_held_against_the_majority_of_the_others() -> None:
    # ann: q0 yes; q1 the others are split; q2 split; q3 ben alone says no.
    ann, ben, cem = only(agreement_of(THREE)).annotators
    assert (ann.n, ann.agreement, ann.n_labels) == (2, 1, 5)
    # ben: q0 yes; q1 split; q2 both others say 1, he says 0; q3 no.
    assert ben.n == 3
    assert ben.agreement == pytest.approx(2 / 3)
    # cem: q0 yes; q1 both say 0, he says 1; q2 split.
    assert (cem.n, cem.agreement) == (2, 1 / 2)
    interval = wilson(2, 3)
    assert interval is not None
    assert ben.interval is not None
    assert ben.interval.low < interval.low
    assert ben.difference is None


def test_an_annotator_who_is_strict_differs_from_the_others() -> None:
    rated = table({"tone": {"ann": 4, "ben": 2, "cem": 5}}, {"tone": {"ann": 3, "ben": 3}})
    ann, ben, cem = only(agreement_of(rated)).annotators
    assert ann.difference == pytest.approx(((4 - 3.5) + 0) / 2)
    assert ben.difference == pytest.approx(((2 - 4.5) + 0) / 2)
    assert cem.difference == pytest.approx(5 - 3)


def test_each_label_says_what_others_said_instead() -> None:
    yes_no = table(*({"ok": {"a": x, "b": y}} for x, y in ((1, 1), (1, 1), (1, 0), (0, 0))))
    no, yes = only(agreement_of(yes_no)).uses
    # Labels of items: yes 5 of which 4 are met by yes; no 3 of which 2 are met by no.
    assert (yes.value, yes.n) == ("1", 5)
    assert yes.agreement == pytest.approx(4 / 5)
    assert (no.value, no.n) == ("0", 3)
    assert no.agreement == pytest.approx(2 / 3)
    assert yes.instead == {"0": pytest.approx(1 / 5)}


def test_krippendorffs_example_has_the_alphas_that_he_gives() -> None:
    for scale, alpha in zip(SCALES, (0.743, 0.815, 0.849), strict=True):
        one = only(agreement_of(krippendorffs(), scales={"code": scale}, resamples=20))
        assert (one.scale, one.n_items, one.n_shared) == (scale, 12, 11)
        assert one.coefficients["krippendorff_alpha"].value == pytest.approx(alpha, abs=5e-4)
    words = only(agreement_of(krippendorffs(letters=True), resamples=20))
    assert words.coefficients["krippendorff_alpha"].value == pytest.approx(0.743, abs=5e-4)


def test_krippendorffs_example_has_the_coincidences_that_he_gives() -> None:
    codes = [
        [None if code == "." else int(code) for code in said] for said in KRIPPENDORFF.values()
    ]
    assert coincidences(read_ratings(codes).shared) == pytest.approx(
        np.array(
            [
                [7, 4 / 3, 1 / 3, 1 / 3, 0],
                [4 / 3, 10, 4 / 3, 1 / 3, 0],
                [1 / 3, 4 / 3, 8, 1 / 3, 0],
                [1 / 3, 1 / 3, 1 / 3, 4, 0],
                [0, 0, 0, 0, 3],
            ]
        )
    )


def test_labels_of_several_annotators_meet_as_krippendorff_counts_them() -> None:
    one = only(agreement_of(krippendorffs(letters=True), resamples=20))
    assert [(use.value, use.n) for use in one.uses] == [
        ("a", 9), ("b", 13), ("c", 10), ("d", 5), ("e", 3),
    ]  # fmt: skip
    agreeing = [use.agreement for use in one.uses]
    assert agreeing == pytest.approx([7 / 9, 10 / 13, 8 / 10, 4 / 5, 1])
    assert one.uses[0].instead == pytest.approx({"b": 4 / 27, "c": 1 / 27, "d": 1 / 27})
    assert next(iter(one.uses[0].instead)) == "b"


def test_the_spread_is_the_share_of_pairs_that_differ_and_of_numbers_their_mean_square() -> None:
    # In q5 all four differ; in q1 and q7 three agree and one says the next code.
    words = only(agreement_of(krippendorffs(letters=True), resamples=20)).dividing
    assert {item.example_id: item.spread for item in words} == {"q5": 1, "q1": 0.5, "q7": 0.5}
    numbers = only(agreement_of(krippendorffs(), resamples=20)).dividing
    assert [item.example_id for item in numbers] == ["q5", "q1", "q7"]
    assert [item.spread for item in numbers] == pytest.approx([20 / 6, 1 / 2, 1 / 2])


@pytest.mark.parametrize(("n", "shown"), [(20, 20), (21, 0)])
def test_of_more_than_twenty_labels_no_uses_are_shown(n: int, shown: int) -> None:
    numbers = table(*({"weight": [at, at]} for at in range(n)))
    assert len(only(agreement_of(numbers, resamples=20)).uses) == shown


def test_the_items_that_divide_most_come_first_with_their_notes(tmp_path: Path) -> None:
    rows = [
        {"id": "near", "annotator": "ann", "tone": 3},
        {"id": "near", "annotator": "ben", "tone": 4},
        {"id": "far", "annotator": "ann", "tone": 1, "note": "sarcasm?"},
        {"id": "far", "annotator": "ben", "tone": 5},
        {"id": "same", "annotator": "ann", "tone": 2},
        {"id": "same", "annotator": "ben", "tone": 2},
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    one = only(agreement_of(read_label_table(path)))
    assert [item.example_id for item in one.dividing] == ["far", "near"]
    assert one.dividing[0].labels == {"ann": "1", "ben": "5"}
    assert one.dividing[0].notes == {"ann": "sarcasm?"}
    assert len(only(agreement_of(read_label_table(path), limit=1)).dividing) == 1
    assert len(only(agreement_of(read_label_table(path), limit=None)).dividing) == 2


def test_of_items_that_divide_alike_the_one_with_more_annotators_comes_first() -> None:
    two, three = {"word": ["a", "b"]}, {"word": ["a", "b", "c"]}
    one = only(agreement_of(table(two, three, two), resamples=20))
    assert [item.spread for item in one.dividing] == [1, 1, 1]
    assert [item.example_id for item in one.dividing] == ["q1", "q0", "q2"]


def test_ties_are_counted() -> None:
    found = only(agreement_of(table({"ok": [1, 0]}, {"ok": [1, 1]}, {"ok": [0, 0]})))
    assert [tie.example_id for tie in found.ties] == ["q0"]
    assert found.to_dict()["n_ties"] == 1
    assert found.to_dict()["ties"][0]["labels"] == {"1": 1, "2": 0}


def test_the_parts_of_an_example_share_its_fate() -> None:
    contexts = [{"misleading": 1}, {"misleading": 0}, {"misleading": 1}]
    one = only(agreement_of(labels_of({"id": f"q{n}", "labels": {"contexts": contexts}}
                                      for n in range(4))))  # fmt: skip
    assert (one.name, one.n_items, one.n_shared) == ("misleading", 12, 0)
    rows = [{"id": f"q{n}", "ok": 1} for n in range(4)]
    assert only(agreement_of(table(*({"ok": [1, 0]} for _ in rows)))).n_clusters == 4
    together = agreement_of(table(*({"ok": [1, 0]} for _ in rows)), clusters={"q0": "a", "q1": "a"})
    assert only(together).n_clusters == 3


def test_what_programs_read() -> None:
    told = json.loads(json.dumps(only(agreement_of(THREE, seed=3)).to_dict()))
    assert list(told)[:4] == ["kind", "column", "n_items", "n_annotators"]
    for name in COEFFICIENTS:
        assert set(told[name]) == {"value", "low", "high", "reason"}
    assert told["weighted_kappa"]["reason"] == "nominal_scale"
    assert told["seed"] == 3
    assert told["annotators"][1]["annotator"] == "ben"
    assert told["methods"]["percent"] == "item_bootstrap"


def test_programs_read_a_whole_column() -> None:
    rated = table({"tone": {"ann": 1, "ben": 2}}, {"tone": {"ann": 3, "ben": 3}},
                  {"tone": {"ann": 2}})  # fmt: skip
    told = only(agreement_of(rated)).to_dict()
    ends = {"low": 0, "high": 1}
    for name in COEFFICIENTS:
        del told[name]
    for one in told["annotators"]:
        assert 0 < one["low"] < 1 / 2 < one["high"] < 1
        one |= ends
    assert set(told.pop("methods")) == set(COEFFICIENTS)
    assert told == {
        "kind": "own", "column": "tone", "scale": "ordinal",
        "n_items": 3, "n_shared": 2, "n_clusters": 2, "n_annotators": 2,
        "annotators": [
            {"annotator": "ann", "n_labels": 3, "n": 2, "agreement": 1 / 2, "difference": -1 / 2,
             **ends},
            {"annotator": "ben", "n_labels": 2, "n": 2, "agreement": 1 / 2, "difference": 1 / 2,
             **ends},
        ],
        "values": [
            {"value": "1", "n": 1, "agreement": 0, "instead": {"2": 1}},
            {"value": "2", "n": 1, "agreement": 0, "instead": {"1": 1}},
            {"value": "3", "n": 2, "agreement": 1, "instead": {}},
        ],
        "n_divided": 1,
        "dividing": [
            {"example_id": "q0", "unit": None, "labels": {"ann": "1", "ben": "2"}, "notes": {},
             "spread": 1, "decided": None},
        ],
        "n_ties": 1,
        "ties": [{"example_id": "q0", "unit": None, "labels": {"ann": 1, "ben": 2}}],
        "seed": 0, "resamples": 2000, "level": 0.95,
    }  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 40])
def test_constant_columns_are_undefined_and_the_rest_is_computed(n: int) -> None:
    same = [{"same": [1, 1], "ok": [at % 2, at % 3 % 2]} for at in range(n)]
    found = {one.column: one for one in agreement_of(table(*same))}
    assert found["same"].coefficients["krippendorff_alpha"].reason == "no_variation"
    assert found["same"].coefficients["percent"].value == 1
    assert found["same"].uses[0].agreement == 1
    assert found["ok"].coefficients["percent"].value is not None


def test_no_labels_and_one_annotator_have_nothing_to_compare() -> None:
    alone = only(agreement_of(table({"tone": 3}, {"tone": 4})))
    assert {one.reason for one in alone.coefficients.values()} == {"no_pairs"}
    assert alone.annotators[0].agreement is None
    empty = LabelTable("", THREE.frame.clear())
    assert agreement_of(empty) == ()


def test_columns_and_scales_are_chosen_by_name() -> None:
    labels = table({"tone": [1, 2], "word": ["a", "b"]}, {"tone": [3, 3], "word": ["a", "a"]})
    assert only(agreement_of(labels, columns=["word"])).column == "word"
    assert only(agreement_of(labels, columns=["own.tone"])).scale == "ordinal"
    scaled = only(agreement_of(labels, columns=["tone"], scales={"tone": "interval"}))
    assert scaled.scale == "interval"
    with pytest.raises(UnknownName, match="tone"):
        agreement_of(labels, columns=["tome"])
    with pytest.raises(UnknownName, match="ordinal"):
        agreement_of(labels, scales={"tone": "ordnal"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="are not numbers"):
        agreement_of(labels, scales={"word": "ordinal"})


def test_answers_to_one_question_are_a_cluster(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    rows = [
        {"id": f"{q}{s}", "question": q, "answer": s, "meta": {"topic": "x"}, "labels": {"ok": [1]}}
        for q in "ab"
        for s in "xy"
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = clusters_of([data])
    assert found["ax"] == found["ay"] != found["bx"]
    assert set(clusters_of([data], "topic").values()) == {"x"}
    with pytest.raises(InputError, match="planet"):
        clusters_of([data], "planet")
    sheet = tmp_path / "labels.csv"
    sheet.write_text("id,question_id,ok\n1,q,1\n2,q,0\n3,,0\n")
    assert clusters_of([sheet]) == {"1": "q", "2": "q"}


@pytest.mark.parametrize("place", ["top", "slices", "meta", "labels"])
def test_a_cluster_is_named_at_the_top_or_in_a_place_of_a_record(
    tmp_path: Path, place: str
) -> None:
    record: dict[str, Any] = {"id": "q1", "labels": {"ok": [1, 0]}}
    (record if place == "top" else record.setdefault(place, {}))["topic"] = "rivers"
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(record) + "\n")
    assert clusters_of([path], "topic") == {"q1": "rivers"}


def test_records_without_an_id_are_known_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    record = {"question": "Why?", "answer": "So.", "labels": {"ok": [1, 0]}}
    path.write_text(f"{json.dumps(record)}\n" * 2)
    assert read_label_table(path).frame["example_id"].unique().sort().to_list() == ["1", "2"]
    assert set(clusters_of([path])) == {"1", "2"}


def test_answers_of_systems_are_in_their_questions_cluster(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,system,topic,ok\nq1,a,rivers,1\nq1,b,rivers,0\nq2,a,,1\n")
    rivers = dict.fromkeys(("q1", "q1/a", "q1/b"), "rivers")
    assert clusters_of([path], "topic") == rivers
    assert clusters_of([path]) == {"q1/a": "q1", "q1/b": "q1", "q2/a": "q2"}


def test_annotators_of_mtrag_agree_as_published(shared: Path) -> None:
    """Exactly in 59 % of pairs."""
    labels = read_label_table(shared / "data/rag_quality_mtrag/answers.jsonl.gz")
    one = only(agreement_of(labels, columns=["faithfulness"], resamples=200))
    assert one.coefficients["percent"].value == pytest.approx(0.59, abs=0.005)
    assert one.n_annotators == 7
