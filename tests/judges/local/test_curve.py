"""Curve: the logistic function, and the coefficients that come with the package."""

import json
import math
from importlib.resources import files

import pytest

from ragstone.judges.local.claim_support import curve, on_curve


def test_one_half_where_the_score_is_zero() -> None:
    assert on_curve((-2.0, {"a": 1.0}), {"a": 2.0}) == pytest.approx(0.5)


def test_it_is_the_logistic_function() -> None:
    assert on_curve((1.0, {"a": -3.0}), {"a": 1.0}) == pytest.approx(1 / (1 + math.e**2))


def test_extreme_scores_neither_overflow_nor_leave_the_range() -> None:
    steep = (0.0, {"a": 1e6})
    assert (on_curve(steep, {"a": -1.0}), on_curve(steep, {"a": 1.0})) == (0.0, 1.0)


@pytest.mark.parametrize("judged", ["support", "agreement", "relevance"])
def test_more_evidence_is_never_held_against_a_text(judged: str) -> None:
    good = {"window", "in_order", "aligned", "weakest", "enough", "verbatim", "together", "cosine"}
    for way in ("strings", "encoder"):
        weights = curve(f"{judged}/{way}")[1]
        assert all(weights[name] > 0 for name in good & set(weights))


def test_the_curves_say_what_they_were_fitted_on() -> None:
    text = files("ragstone.judges.local").joinpath("curves.json").read_text(encoding="utf-8")
    told = json.loads(text)
    assert all(curve(name) == tuple(fitted.values()) for name, fitted in told["curves"].items())
    assert told["encoder"] == "builtin:minilm"
    licences = ("Apache-2.0", "ODC-BY", "CC BY 4.0")
    assert all(one.endswith(licences) for one in told["fitted_on"])
    assert not any("NQ301" in one for one in told["fitted_on"])
    assert len(text) < 8_000
