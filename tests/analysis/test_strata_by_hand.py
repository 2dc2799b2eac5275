"""Who is drawn from where, who labels what, and what is no random draw, worked out by hand."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.analysis.calibration.corrected_means import not_random
from ragstone.analysis.label_sampling.asked_labels import shared_out
from ragstone.analysis.label_sampling.sample_designs import (
    between_runs,
    check_threshold,
    stratum_names,
    verdicts,
)
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError, UnknownName
from ragstone.report.reason_words import explain
from tests.analysis.conftest import MISSING, MadeRun, Make, Score, Scores


@pytest.mark.parametrize(
    ("metric", "threshold", "scores", "words"),
    [
        ("hit", 0.5, [1.0, 0.0, None, MISSING], ["1", "0", "undefined", "missing"]),
        ("mrr", 0.5, [1.0, 0.0, None, MISSING], ["1", "0", "undefined", "missing"]),
        ("mrr", 0.5, [0.5, 0.49, 1.0, None], ["≥0.5", "<0.5", "≥0.5", "undefined"]),
        ("mrr", 0.25, [0.5, 0.2, MISSING, 0.25], ["≥0.25", "<0.25", "missing", "≥0.25"]),
        ("mrr", 0.5, [None, MISSING, None, None], ["undefined", "missing", *["undefined"] * 2]),
    ],
)
def test_a_verdict_is_a_side_of_the_threshold_unless_all_scores_are_0_or_1(
    run: Make, metric: str, threshold: float, scores: Sequence[Score], words: list[str]
) -> None:
    found = verdicts(Scored(run(**{metric: scores})), metric, threshold)
    assert found.to_list() == words


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_threshold_beyond_the_range_is_refused_where_it_is_needed(
    run: Make, threshold: float
) -> None:
    graded, plain = Scored(run(mrr=[0.5, 1.0])), Scored(run(mrr=[0.0, 1.0]))
    with pytest.raises(InputError, match="lie from 0 to 1"):
        check_threshold(graded, "mrr", threshold)
    with pytest.raises(InputError, match="lie from 0 to 1"):
        verdicts(graded, "mrr", threshold)
    assert verdicts(plain, "mrr", threshold).to_list() == ["0", "1"]


@pytest.mark.parametrize("threshold", [0, 0.5, 1])
def test_a_threshold_may_lie_on_an_end_of_the_range(run: Make, threshold: float) -> None:
    scored = Scored(run(mrr=[0.5]))
    check_threshold(scored, "mrr", threshold)
    assert scored.scale("mrr").low == 0


def test_a_stratum_is_named_by_its_fields_in_the_order_given(tmp_path: Path) -> None:
    scores: dict[str, Scores] = {"a": {"hit": [1.0, 0.0]}, "b": {"hit": [1.0, None]}}
    scored = Scored(MadeRun(tmp_path, scores))
    assert stratum_names(scored, "hit", 0.5, ["system", "verdict"]) == [
        "system=a, verdict=1", "system=a, verdict=0",
        "system=b, verdict=1", "system=b, verdict=undefined",
    ]  # fmt: skip
    assert stratum_names(scored, "hit", 0.5, ["verdict", "system", "verdict"])[0] == (
        "verdict=1, system=a"
    )


# Disagreement ----------------------------------------------------------------------------------


def scored(folder: Path, scores: Sequence[Score], metric: str = "mrr") -> Scored:
    return Scored(MadeRun(folder, {"a": {metric: scores}}))


def test_runs_disagree_by_the_greatest_less_the_least_score(tmp_path: Path) -> None:
    runs = [scored(tmp_path, scores) for scores in ([0.1, 0.5, None], [0.4, 0.5, 0.2], [0.2, 1, 0])]
    assert between_runs(runs[0], runs[1:], "mrr").to_list() == pytest.approx([0.3, 0.5, 0.2])


def test_one_score_of_an_example_disagrees_with_none(tmp_path: Path) -> None:
    one, other = scored(tmp_path, [0.1, MISSING, None]), scored(tmp_path, [None, 0.5])
    assert between_runs(one, [other], "mrr").to_list() == [None, None, None]


def test_a_run_without_the_metric_or_the_examples_is_refused(tmp_path: Path) -> None:
    one = scored(tmp_path, [0.1])
    with pytest.raises(UnknownName, match="mrr"):
        between_runs(one, [scored(tmp_path, [0.1], "hit")], "mrr")
    elsewhere = Scored(MadeRun(tmp_path, {"z": {"mrr": [0.1]}}))
    with pytest.raises(InputError, match="none of the examples"):
        between_runs(one, [elsewhere], "mrr")


# Annotators ------------------------------------------------------------------------------------

PEOPLE = st.lists(st.sampled_from("abcdef"), min_size=2, max_size=5, unique=True)


@given(st.integers(0, 60), PEOPLE, st.floats(0, 1), st.integers(0, 99))
def test_each_unit_is_everybodys_or_one_persons_and_shares_are_even(
    units: int, people: list[str], overlap: float, seed: int
) -> None:
    found = shared_out(units, people, overlap, np.random.default_rng(seed))
    assert len(found) == units
    everybody = [who for who in found if len(who) > 1]
    assert all(who == tuple(people) for who in everybody)
    assert len(everybody) == (min(units, max(1, round(overlap * units))) if overlap else 0)
    own = Counter(dict.fromkeys(people, 0)) + Counter(who[0] for who in found if len(who) == 1)
    counts = [own[name] for name in people]
    assert max(counts) - min(counts) <= 1
    assert found == shared_out(units, people, overlap, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("people", "overlap", "words"),
    [
        (["a", "b"], -0.1, "share in"),
        (["a", "b"], 1.1, "share in"),
        (["a"], 0.5, "several annotators"),
        ([], 0.5, "several annotators"),
        (["a", " "], 0, "needs a name"),
        (["b", "a", "b", "a"], 0, "a, b occurs twice"),
    ],
)
def test_what_cannot_be_shared_out_is_told(people: list[str], overlap: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        shared_out(3, people, overlap, np.random.default_rng(0))


def test_every_fault_of_sharing_out_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        shared_out(3, [""], 2, np.random.default_rng(0))
    told = str(caught.value)
    assert all(words in told for words in ("share in", "several annotators", "needs a name"))


# Random draws ----------------------------------------------------------------------------------

N = 200


def rows(
    labelled: Sequence[bool], values: Sequence[float], systems: Sequence[str] | None = None
) -> pl.DataFrame:
    return pl.DataFrame({
        "value": values, "labelled": labelled, "cluster": [str(at) for at in range(len(values))],
        "system": systems or ["a"] * len(values),
    })  # fmt: skip


EVERY_OTHER = [at % 2 == 0 for at in range(N)]


def test_a_draw_that_has_as_much_of_everything_speaks_for_itself() -> None:
    values = [float(at % 4 < 2) for at in range(N)]
    systems = ["a" if at % 8 < 4 else "b" for at in range(N)]
    assert not_random("hit", {}, rows(EVERY_OTHER, values, systems), groups=1) is None


def test_labels_of_yes_alone_are_told_by_the_judges_mean() -> None:
    found = not_random("hit", {}, rows(EVERY_OTHER, [float(one) for one in EVERY_OTHER]), groups=1)
    assert found is not None
    assert found.differences == ("judges_mean_differs?labelled=1&others=0",)
    told = "hit: the judge's mean is 1 where people labelled, 0 elsewhere (p < 0.001)"
    assert explain(found.reason) == told
    assert found.p < 0.001


def test_a_system_that_alone_was_labelled_is_named() -> None:
    systems = ["a" if one else "b" for one in EVERY_OTHER]
    values = [float(at % 4 < 2) for at in range(N)]
    found = not_random("hit", {"topic": "mine"}, rows(EVERY_OTHER, values, systems), groups=1)
    assert found is not None
    assert found.differences == ("only_some_labelled?values=a",)
    assert explain(found.reason) == "hit of mine: only a was labelled (p < 0.001)"


def test_two_systems_that_alone_were_labelled_are_named() -> None:
    systems = ["ab"[at // 2 % 2] if one else "c" for at, one in enumerate(EVERY_OTHER)]
    values = [float(at % 8 < 4) for at in range(N)]
    found = not_random("hit", {}, rows(EVERY_OTHER, values, systems), groups=1)
    assert found is not None
    assert [*map(explain, found.differences)] == ["only a and b were labelled"]


def test_a_system_of_which_more_was_labelled_is_told_in_percent() -> None:
    """Of 100 labelled rows 90 are of a, of the others 10; b and c share the rest."""
    systems = [
        "a" if at % 20 == 1 or (labelled and at % 20) else "bc"[at // (20 if labelled else 2) % 2]
        for at, labelled in enumerate(EVERY_OTHER)
    ]
    values = [float(at % 4 < 2) for at in range(N)]
    found = not_random("hit", {}, rows(EVERY_OTHER, values, systems), groups=1)
    assert found is not None
    (told,) = map(explain, found.differences)
    assert told == "a makes up 90 % of the labelled rows, but 10 % of the others"


def test_a_field_that_names_each_row_is_no_kind_of_row() -> None:
    values = [float(at % 4 < 2) for at in range(N)]
    names = rows(EVERY_OTHER, values).with_columns(pl.Series("by id", range(N)).cast(pl.String))
    assert not_random("hit", {}, names, groups=1) is None


def test_many_groups_need_more_to_speak_against_a_draw() -> None:
    """Ten of ten labelled rows are yes and of ten others none: p is about 1 in 92,378 draws."""
    labelled = [at < 10 for at in range(20)]
    frame = rows(labelled, [float(one) for one in labelled])
    assert not_random("hit", {}, frame, groups=1) is not None
    assert not_random("hit", {}, frame, groups=10_000) is None
