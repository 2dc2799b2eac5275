"""What is said of two systems on a handful of pairs, worked out by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from scipy import stats

from ragstone.analysis.comparison.comparability import measured_by
from ragstone.analysis.comparison.compare import _judged
from ragstone.analysis.comparison.compared_systems import Values
from ragstone.analysis.comparison.comparison_result import NO_PAIR_DIFFERS, Comparison
from ragstone.analysis.comparison.paired_scores import (
    ComparisonSettings,
    Pairs,
    compare_pairs,
    same_pairs,
)
from ragstone.analysis.scored_run import Scored, ValueRange
from ragstone.run import Estimate
from ragstone.run.folder.schemas import Manifest
from ragstone.run.settings import ModelNames, RunSettings
from ragstone.stats.comparison.differences import mcnemar_exact
from tests.analysis.conftest import MadeRun

SHARE = ValueRange(0.0, 1.0, "+", rate=False)
RATE = replace(SHARE, rate=True)
ABOUT = {"metric": "mrr", "family": "own", "a": "a", "b": "b", "slice": None}
ASKED = ComparisonSettings(0.95, 0.05, 0, 100)


def pairs(a: Sequence[float], b: Sequence[float]) -> Pairs:
    return Pairs(np.array(a), np.array(b), np.arange(len(a)), 0, 0)


def values(value: Sequence[float], valued: Sequence[int], owed: Sequence[int]) -> Values:
    there, owing = np.array(valued, dtype=bool), np.array(owed, dtype=np.float64)
    return Values(np.array(value), there, (owing > 0) & ~there, owing, there + owing)


def test_pairs_count_what_one_side_lacks_owes_or_owes_in_part() -> None:
    """Of six questions b has five; of two pairs a side owes a part, of another all."""
    a = values([0.1, 0.2, 0.3, 0.4, 0.0, 0.6], [1, 1, 1, 1, 0, 1], [1, 0, 0, 0, 1, 0])
    b = values([0.5, 0.5, 0.5, 0.0, 0.5, 0.0], [1, 1, 1, 0, 1, 0], [0, 2, 0, 0, 0, 0])
    both = np.array([1, 1, 1, 1, 1, 0], dtype=bool)
    found = Pairs.of(a, b, both, np.arange(6))
    assert (found.a.tolist(), found.b.tolist()) == ([0.1, 0.2, 0.3], [0.5] * 3)
    assert (found.partly, found.missing, found.undefined) == (2, 1, 1)


def test_of_the_same_inputs_the_values_alone_are_told() -> None:
    """Nothing was sampled: no interval, no test, no effect, and no number of pairs to take."""
    found = same_pairs(ABOUT, pairs([0.1, 0.4, 0.6], [0.1, 0.4, 0.6]), SHARE, ASKED)
    nothing = (
        "low", "high", "method", "equivalence_low", "equivalence_high", "p_equivalence", "p",
        "p_adjusted", "test", "win_rate", "effect_size", "n_needed",
    )  # fmt: skip
    assert [name for name in nothing if getattr(found, name) is not None] == []
    assert (found.verdict, found.n_pairs, found.margin) == ("same", 3, 0.05)
    assert (found.wins, found.ties, found.losses) == (0, 3, 0)
    assert found.reasons == ("same_inputs?differing=0&pairs=3",)


def test_values_are_equal_up_to_rounding_or_where_neither_has_one() -> None:
    a = values([0.1, 0.1 + 0.2, 0.5, 0.0, 0.0], [1, 1, 1, 0, 0], [0] * 5)
    b = values([0.2, 0.3, 0.0, 0.0, 0.5], [1, 1, 0, 0, 0], [0] * 5)
    assert a.equals(b).tolist() == [False, True, False, True, True]


def open_one(
    family: int, a: Sequence[float], b: Sequence[float], better: Literal["+", "-", "0"] = "+"
) -> Comparison:
    """The comparison of rates in a family whose other tests show nothing."""
    scale = replace(RATE, better=better)
    one = compare_pairs(ABOUT, pairs(a, b), scale, replace(ASKED, margin=0.02))
    others = [replace(one, p=1.0, low=-1.0, high=1.0)] * (family - 1)
    return _judged([one, *others], "holm", ASKED)[0]


def rates(only_a: int, only_b: int, both: int, neither: int) -> tuple[list[float], list[float]]:
    a = [1.0] * only_a + [0.0] * only_b + [1.0] * both + [0.0] * neither
    b = [0.0] * only_a + [1.0] * only_b + [1.0] * both + [0.0] * neither
    return a, b


def test_a_difference_that_only_the_correction_hides_needs_the_pairs_that_show_it() -> None:
    """McNemar's p is that of 5 heads in 25; z of p / 2 has to become z of .05 / 25 / 2."""
    one = open_one(25, *rates(5, 20, 12, 23))
    assert one.low == pytest.approx(-0.391, abs=5e-4)
    assert one.high == pytest.approx(-0.091, abs=5e-4)
    p = stats.binomtest(5, 25).pvalue
    by_hand = 60 * (stats.norm.isf(0.05 / 25 / 2) / stats.norm.isf(p / 2)) ** 2
    assert (one.verdict, one.needed_for, one.n_needed) == ("cannot_tell", "difference", 70)
    assert one.n_needed == ceil(by_hand)
    assert one.to_dict()["needed_for"] == "difference"
    assert one.n_needed_reason is None


def test_of_samples_with_the_pairs_needed_about_half_show_the_difference() -> None:
    one = open_one(25, *rates(5, 20, 12, 23))
    drawn = np.random.default_rng(0).multinomial(
        one.n_needed or 0, [5 / 60, 20 / 60, 35 / 60], 4000
    )
    shown = [mcnemar_exact(ahead, behind) <= 0.05 / 25 for ahead, behind, _ in drawn.tolist()]
    assert 0.4 < np.mean(shown) < 0.65


def test_where_the_interval_leaves_zero_out_the_pairs_show_the_difference_though_p_does_not() -> (
    None
):
    """Five of eight pairs differ alike: p is 2 / 2^5 in a family of one."""
    one = open_one(1, *rates(5, 0, 3, 0))
    assert one.p == pytest.approx(2 / 2**5)
    assert (one.verdict, one.leaves_zero_out) == ("cannot_tell", True)
    assert (one.needed_for, one.n_needed) == ("difference", 9)


def test_where_p_alone_is_small_before_correction_the_pairs_show_the_difference() -> None:
    one = replace(open_one(1, *rates(6, 5, 20, 29)), low=-0.1, high=0.2)
    assert [replace(one, p=p).needed_for for p in (0.05, 0.051)] == ["difference", "equivalence"]


def test_where_nothing_hints_at_a_difference_the_pairs_are_for_equivalence() -> None:
    one = open_one(1, *rates(6, 5, 20, 29))
    assert (one.needed_for, one.to_dict()["needed_for"]) == ("equivalence", "equivalence")
    assert one.n_needed is not None
    assert one.n_needed > 1000


def test_a_difference_that_is_shown_needs_no_pairs_where_neither_end_is_better() -> None:
    one = open_one(1, *rates(5, 20, 12, 23), better="0")
    assert (one.verdict, one.n_needed, one.n_needed_reason) == ("cannot_tell", None, "no_direction")
    assert one.to_dict()["needed_for"] is None
    assert open_one(25, *rates(5, 20, 12, 23), better="0").n_needed == 70


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0])
def test_no_pairs_are_asked_for_where_none_differs(value: float) -> None:
    one = open_one(1, [value] * 20, [value] * 20)
    assert (one.verdict, one.n_needed, one.n_needed_reason) == (
        "cannot_tell",
        None,
        NO_PAIR_DIFFERS,
    )


def better(n: int) -> Comparison:
    one = compare_pairs(ABOUT, pairs([0.9] * n, [0.1] * n), SHARE, ASKED)
    record = {name: getattr(one, name) for name in one.__slots__}
    return Comparison(**{**record, "verdict": "better"})


def test_a_verdict_from_fewer_than_ten_pairs_is_rough() -> None:
    assert better(1).caution == "few_pairs?n=1"
    assert better(9).caution == "few_pairs?n=9"
    assert better(10).caution is None
    assert compare_pairs(ABOUT, pairs([0.9], [0.1]), SHARE, ASKED).caution is None


def test_the_share_of_wins_stands_with_its_ends() -> None:
    one = compare_pairs(ABOUT, pairs([0.9, 0.5, 0.2, 0.8], [0.1, 0.5, 0.6, 0.1]), SHARE, ASKED)
    rate = one.win_rate
    assert rate is not None
    assert rate.value == 2.5 / 4
    assert one.to_dict()["win_rate"] == {"value": rate.value, "low": rate.low, "high": rate.high}
    assert rate.low is not None
    assert rate.high is not None
    assert 0 < rate.low < rate.value < rate.high <= 1


# Whether both were measured alike -------------------------------------------------------------


NOTHING: Mapping[str, Any] = {
    "data": "", "definitions": {}, "local": [], "nli": [], "citations": "", "cluster": "",
}  # fmt: skip
"""The settings of a run that has no judges."""


class Judged(MadeRun):
    """A run of which settings, judges and the signature of its numbers are given."""

    def __init__(
        self, metric: str, settings: Mapping[str, Any] | None = None,
        judged: Sequence[Sequence[Any]] = (), signature: str = "",
    ) -> None:  # fmt: skip
        super().__init__(Path("run"), {"a": {metric: [1.0]}})
        self.given, self.judged, self.signed = settings or {}, judged, signature

    @property
    def form(self) -> Manifest:
        settings = RunSettings(**{**NOTHING, **self.given})
        return super().form.model_copy(
            update={"settings": settings, "judged": self.judged, "models": ModelNames()}
        )

    @property
    def estimate_list(self) -> tuple[Estimate, ...]:
        (one,) = super().estimate_list
        record = {name: getattr(one, name) for name in Estimate.__dataclass_fields__}
        return (Estimate(**{**record, "signature": self.signed}),)


def said(metric: str, **given: Any) -> dict[str, str]:
    return measured_by(Scored(Judged(metric, **given)), metric)


def test_a_local_model_is_part_of_what_a_metric_rests_on() -> None:
    judged = [["support/claim", "nli", "ok", 3], ["claims", "rules", "ok", 3],
              ["claims", "nli", "failed", 1]]  # fmt: skip
    found = said("faithfulness", settings={"nli": ["nli@0123"]}, judged=judged)
    assert found == {
        "ragstone": "0", "judge of support/claim": "nli", "judge of claims": "rules",
        "model of nli": "nli@0123",
    }  # fmt: skip


@pytest.mark.parametrize(
    "part", ["prompts", "plan", "encoder", "bertscore", "cross_encoder", "judge"]
)
def test_of_a_metric_that_is_not_loaded_the_signature_tells_what_it_rests_on(part: str) -> None:
    found = said("my_own", signature=f"my_own|{part}:some one 80%|data:1|ragstone:1")
    assert found == {"ragstone": "0", part: "some one"}
