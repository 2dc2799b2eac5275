"""Labels that plainly are no random sample correct nothing, unless somebody says that they are."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone.analysis import calibrate
from ragstone.analysis.calibration.calibrate import Calibration
from ragstone.analysis.calibration.corrected_means import not_random
from ragstone.analysis.release_gate.release_gate import gate
from ragstone.report.pages.calibration_page import calibration_page
from ragstone.report.pages.release_gate_page import advice
from ragstone.report.reason_words import explain, words
from ragstone.report.render.terminal import as_text
from ragstone.run import Run
from ragstone.stats.correction.anytime import anytime_mean

METRIC = "unsupported_claim"
SYSTEMS = ("a", "b", "c", "d")
Write = Callable[[Sequence[Mapping[str, Any]]], Path]


def wrong(number: int, system: str) -> bool:
    return number % 4 == 0 or (system == "d" and number % 2 == 0)


def pier(number: int, system: str) -> dict[str, Any]:
    return {
        "id": f"{number}-{system}",
        "question_id": f"q{number}",
        "system": system,
        "slices": {"coast": "north" if number % 3 else "south"},
        "question": f"How long is pier {number}?",
        "contexts": [f"Pier {number} is 90 metres long."],
        "answer": f"Pier {number} is {512 if wrong(number, system) else 90} metres long.",
    }


@pytest.fixture(scope="module")
def piers(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Sixty questions to four systems, judged by the local judge."""
    out = tmp_path_factory.mktemp("piers") / "run"
    rows = [pier(number, system) for number in range(60) for system in SYSTEMS]
    return ragstone.evaluate(rows, metrics=[METRIC], judge="local", out=out)


@pytest.fixture
def labels(tmp_path: Path) -> Write:
    return partial(written, tmp_path)


def written(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    pl.DataFrame(rows, strict=False, infer_schema_length=None).write_csv(folder / "labels.csv")
    return folder / "labels.csv"


def said(number: int, system: str, **more: object) -> dict[str, Any]:
    label = {"unsupported_claim_present": int(wrong(number, system))}
    return {"id": f"{number}-{system}", "annotator": "ann", **label, **more}


def only_one_system() -> list[dict[str, Any]]:
    return [said(number, "a") for number in range(30)]


@pytest.fixture(scope="module")
def one_system(piers: Run, tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    return calibrate(piers, written(tmp_path_factory.mktemp("labels"), only_one_system()))


def by_group(found: Calibration) -> dict[str, Any]:
    return {next(iter(one.group.values()), "all"): one for one in found.estimates}


def test_a_mean_of_all_is_withheld_where_one_system_was_labelled(one_system: Calibration) -> None:
    found = one_system
    groups = by_group(found)
    assert groups["all"].corrected.value is None
    assert groups["all"].corrected.reason == "not_random"
    assert groups["all"].labels.value == pytest.approx(8 / 30)
    assert groups["a"].corrected.value is not None
    (refused,) = found.not_random
    assert refused.differences == ("only_some_labelled?values=a",)
    assert refused.p < 0.001
    assert found.to_dict()["not_random"][0]["differences"] == ["only_some_labelled?values=a"]
    corrected = found.scores["corrected"]
    assert corrected.null_count() == 210


def test_the_first_line_says_so(one_system: Calibration) -> None:
    first, then, *_ = as_text(calibration_page(one_system), 120).splitlines()
    assert first.startswith("The labels are not a random sample: only a was labelled, p < .001")
    assert "--assume-random" in then


def test_labels_chosen_by_the_verdict_are_no_random_sample(piers: Run, labels: Write) -> None:
    pairs = [(number, system) for number in range(60) for system in SYSTEMS]
    faults = [pair for pair in pairs if wrong(*pair)][:40]
    found = calibrate(piers, labels([said(*pair) for pair in faults]))
    refused = next(one for one in found.not_random if not one.group)
    assert refused.differences[0].startswith("judges_mean_differs?labelled=1&")


def test_fine_scores_that_were_labelled_from_the_top_are_no_random_sample() -> None:
    scores = pl.DataFrame(
        {"value": [at / 100 for at in range(100)], "labelled": [at >= 80 for at in range(100)],
         "cluster": [str(at) for at in range(100)], "system": ["a"] * 100}
    )  # fmt: skip
    found = not_random("mrr", {}, scores, groups=1)
    assert found is not None
    assert found.differences == ("judges_mean_differs?labelled=0.895&others=0.395",)
    every_fifth = scores.with_columns(labelled=pl.int_range(100) % 5 == 0)
    assert not_random("mrr", {}, every_fifth, groups=1) is None


def test_a_slice_that_nobody_labelled_is_named(piers: Run, labels: Write) -> None:
    south = [n for n in range(60) if n % 3 == 0]
    rows = [said(number, system) for number in south for system in SYSTEMS]
    found = calibrate(piers, labels(rows))
    refused = next(one for one in found.not_random if not one.group)
    assert "only coast south was labelled" in map(explain, refused.differences)


def test_a_random_draw_and_a_draw_of_whole_questions_correct(piers: Run, labels: Write) -> None:
    # Numbers that no system, verdict or coast goes with.
    rows = [said(n, SYSTEMS[at % 4]) for at, n in enumerate([3, 8, 13, 22, 31, 36, 41, 50, 59, 2])]
    whole = [said(number, system) for number in (0, 7, 14, 25, 39, 46) for system in SYSTEMS]
    for drawn in (rows, whole):
        found = calibrate(piers, labels(drawn))
        assert not found.not_random
        assert by_group(found)["all"].corrected.value is not None


def test_labels_with_known_chances_are_taken_by_these(piers: Run, labels: Write) -> None:
    rows = [said(number, "a", inclusion_probability=0.5) for number in range(30)]
    found = calibrate(piers, labels(rows))
    assert not found.not_random
    assert by_group(found)["all"].corrected.value is not None


def test_who_assumes_a_random_sample_gets_the_number_and_is_told(piers: Run, labels: Write) -> None:
    found = calibrate(piers, labels(only_one_system()), assume_random=True)
    assert by_group(found)["all"].corrected.value is not None
    assert found.not_random
    assert found.to_dict()["assume_random"] is True


def test_labels_left_open_are_shown_at_their_worst_and_best(piers: Run, labels: Write) -> None:
    """Of 80 answers 25 are bad, and 13 of these are left open: between 12 and 25 of 80."""
    drawn = [said(number, system) for number in range(20) for system in SYSTEMS]
    bad = [row for row in drawn if row["unsupported_claim_present"]]
    for row in bad[::2]:
        row["unsupported_claim_present"] = ""
    file = labels(drawn)
    assert (len(drawn), len(bad), len(bad[::2])) == (80, 25, 13)
    for notes in (
        calibrate(piers, file).notes,
        gate(piers, f"{METRIC} <= 0.9", labels=[file]).notes,
    ):
        (note,) = [explain(one) for one in notes if "labels_not_given" in one]
        assert "left 13 of 80 examples open" in note
        assert (
            "would be 0.312 if all of these were as bad as possible, and 0.150 if all were" in note
        )


def test_rows_that_wait_for_labels_are_not_left_open(piers: Run, labels: Write) -> None:
    rows = [said(number, "a") for number in range(60)]
    for row in rows[20:]:
        row["unsupported_claim_present"] = ""
    assert not any("labels_not_given" in one for one in calibrate(piers, labels(rows)).notes)


def test_what_all_were_asked_needs_no_draw(piers: Run, labels: Write) -> None:
    rows = [said(number, system) for number in range(60) for system in SYSTEMS]
    assert not calibrate(piers, labels(rows)).not_random


def test_a_gate_stays_open_on_labels_that_are_no_random_sample(piers: Run, labels: Write) -> None:
    rows = [said(number, "d") for number in range(60) if not wrong(number, "d")]
    file = labels(rows)
    found = gate(piers, f"{METRIC} <= 0.4", system="d", labels=[file])
    (one,) = found.requirements
    assert (found.decision, one.state, one.value) == ("cannot_tell", "open", None)
    assert words(one.reason).startswith(
        "the labels are not a random sample: unsupported_claim of d: the"
    )
    assert advice(found).startswith("The labels are not a random sample: ")
    assumed = gate(piers, f"{METRIC} <= 0.4", system="d", labels=[file], assume_random=True)
    (one,) = assumed.requirements
    assert one.value is not None
    assert any("taken for a random sample, though" in explain(note) for note in one.notes)


def test_labels_that_keep_coming_have_an_interval_for_every_look(piers: Run, labels: Write) -> None:
    drawn = [said(n, "a") for n in (59, 3, 41, 8, 22, 13, 36, 50, 2, 31, 17, 28)]
    found = by_group(calibrate(piers, labels(drawn), anytime=True))["a"]
    in_order = sorted(drawn, key=lambda row: row["unsupported_claim_present"])
    assert by_group(calibrate(piers, labels(in_order), anytime=True))["a"].labels == found.labels
    expected = anytime_mean([row["unsupported_claim_present"] for row in drawn], low=0, high=1).at(
        0.95
    )
    assert found.labels.value == expected.value
    assert found.labels.interval == expected.interval
    assert found.corrected.value is None
    assert found.corrected.reason == "corrected_only_without_anytime"
    once = calibrate(piers, labels(drawn))
    assert any("anytime=True" in explain(note) for note in once.notes)


@pytest.mark.parametrize(
    ("drawn", "reason"),
    [
        ([said(n, "a", inclusion_probability=0.1 + 0.8 * (n % 2)) for n in range(12)], "unequal"),
        ([said(n, one) for n in (0, 7, 14, 25, 39, 46) for one in SYSTEMS], "whole_questions"),
    ],
)
def test_a_design_without_such_an_interval_is_refused_with_the_reason(
    piers: Run, labels: Write, drawn: Sequence[Mapping[str, Any]], reason: str
) -> None:
    found = by_group(calibrate(piers, labels(drawn), anytime=True))["all"]
    assert found.labels.interval is None
    assert str(found.labels.reason).startswith(reason)


def test_a_gate_decides_at_every_look_by_the_labels_alone(piers: Run, labels: Write) -> None:
    rows = [said(n, "a") for n in range(60)]
    (one,) = gate(
        piers, f"{METRIC} <= 0.7", system="a", labels=[labels(rows)], anytime=True
    ).requirements
    assert one.state == "holds"
    assert one.method == "betting_sequence"
    assert one.value == pytest.approx(15 / 60)


def test_rows_without_a_field_are_a_level_of_their_own() -> None:
    scores = pl.DataFrame(
        {
            "value": [1.0] * 100,
            "labelled": [number % 4 == 0 for number in range(100)],
            "cluster": [str(number) for number in range(100)],
            "system": ["a"] * 100,
            "slice session": [None if number < 60 else "s" for number in range(100)],
        }
    )
    assert not_random("mrr", {}, scores, groups=1) is None
    only_without = scores.with_columns(labelled=pl.col("slice session").is_null())
    found = not_random("mrr", {}, only_without, groups=1)
    assert found is not None
    assert found.differences == ("share_differs?field=session&value=s&labelled=0&others=100",)
