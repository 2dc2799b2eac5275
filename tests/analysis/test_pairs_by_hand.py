"""What is said of two systems on a handful of pairs, worked out by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragstone.analysis.comparison.comparability import measured_by
from ragstone.analysis.comparison.compared_systems import Values
from ragstone.analysis.comparison.comparison_result import Comparison
from ragstone.analysis.comparison.paired_scores import (
    About,
    ComparisonSettings,
    Pairs,
    compare_pairs,
    same_pairs,
)
from ragstone.analysis.scored_run import Scored, ValueRange
from ragstone.run import Estimate
from ragstone.run.folder.schemas import Manifest
from ragstone.run.settings import ModelNames, RunSettings
from tests.analysis.conftest import MadeRun

SHARE = ValueRange(0.0, 1.0, "+", rate=False)
ABOUT = About("mrr", "own", "a", "b", None)
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
    found = same_pairs(ABOUT, pairs([0.1, 0.4, 0.6], [0.2, 0.4, 0.6]), SHARE, ASKED)
    nothing = (
        "low", "high", "method", "equivalence_low", "equivalence_high", "p_equivalence", "p",
        "p_adjusted", "test", "win_rate", "effect_size", "n_needed",
    )  # fmt: skip
    assert [name for name in nothing if getattr(found, name) is not None] == []
    assert (found.verdict, found.n_pairs, found.margin) == ("same", 3, 0.05)
    assert (found.wins, found.ties, found.losses) == (0, 2, 1)
    assert found.reasons == ("same_inputs?differing=1&pairs=3",)


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
