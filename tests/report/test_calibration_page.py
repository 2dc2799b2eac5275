import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from ragstone.report.calibration_page import calibration_page
from ragstone.report.passport_page import passport_markdown

Print = Callable[..., str]
METRIC = "unsupported_claim"
PASSPORT: Mapping[str, Any] = {
    "id": "42cf72b93952",
    "date": "2025-01-02",
    "source": "cornwall.jsonl",
    "data": "e7342ba47bb8",
    "labels": "75ab73f80330",
    "judge": {"judges": ["local"], "models": {}, "prompts": {}, "plan": "", "local": []},
    "n_examples": 1,
    "annotators": 1,
    "agreement": [],
    "estimates": [],
    "flips": [],
    "order": None,
    "injection": [],
}


@dataclass
class Found:
    """As much of a calibration as the page reads."""

    estimates: list[dict[str, Any]]
    agreement: list[dict[str, Any]]
    level: float = 0.975
    id: str = "42cf72b93952"

    def to_dict(self) -> dict[str, Any]:
        """Both parts, and a passport."""
        parts = {"run": "run", "estimates": self.estimates, "agreement": self.agreement}
        random = {"not_random": [], "assume_random": False}
        return {**PASSPORT, **parts, **random, "passport": PASSPORT}


def estimate(system: str, *flags: str) -> dict[str, Any]:
    part = {"value": 0.3, "low": 0.1, "high": 0.6}
    labelled = part | {"n_labels": 14, "effective_labels": 10.2, "method": "ppi_plus_plus"}
    ways = {"judge": part, "labels": labelled, "corrected": labelled | {"flags": list(flags)}}
    return {"metric": METRIC, "group": {"system": system}, **ways}


CHECK: dict[str, Any] = {
    "kind": "grounding",
    "column": "unsupported_claim_present",
    "n": 14,
    "effective": 14.0,
    **{
        f"{name}{end}": value
        for name in ("accuracy", "sensitivity", "specificity", "kappa", "auroc", "spearman", "ece")
        for end, value in (("", 0.8), ("_low", 0.27), ("_high", 1.0))
    },
    "ece_by_chance": 0.12,
    "threshold": {"value": 0.5, "criterion": "youden", "cross_validated": 0.7, "reason": None},
    "reason": None,
    "bias": [],
}


@pytest.fixture
def found() -> Any:
    return Found([estimate("one", "few_labels"), estimate("two")], [CHECK])


@pytest.mark.parametrize("width", [80, 100, 120])
def test_the_page_fits_the_console_and_keeps_every_figure(
    width: int, found: Any, text: Print
) -> None:
    printed = text(calibration_page(found), width)
    assert max(map(len, printed.splitlines())) <= width
    assert printed.count("0.100 – 0.600") == 6
    assert "0.270 – 1.000" in printed
    assert "youden 0.700" in printed


def test_strips_have_ends(found: Any, text: Print) -> None:
    assert re.search("├─+●─+┤", text(calibration_page(found), 120))


def test_a_level_is_not_rounded_in_the_head(found: Any, text: Print) -> None:
    assert "97.5 % interval" in text(calibration_page(found), 120)


def test_a_warning_says_what_it_is_about(found: Any, text: Print) -> None:
    assert f"rough ({METRIC}: one)" in text(calibration_page(found), 120)
    found.estimates = [estimate("one", "few_labels"), estimate("two", "few_labels")]
    assert "rough (all of them)" in text(calibration_page(found), 120)


def test_one_example_of_one_annotator_is_not_several(found: Any, text: Print) -> None:
    assert "1 example, 1 annotator\n" in text(calibration_page(found), 120)
    assert "1 example, 1 annotator," in passport_markdown(found)


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        ({"value": None, "cross_validated": None, "reason": "no_positives"}, "no positives"),
        ({"value": 0.5, "cross_validated": None, "reason": "too_few"}, "0.500 (youden too few)"),
    ],
)
def test_a_threshold_that_cannot_be_told_says_why(
    threshold: dict[str, Any], said: str, found: Any, text: Print
) -> None:
    found.agreement = [CHECK | {"threshold": {"criterion": "youden", **threshold}}]
    assert said in text(calibration_page(found), 120)


def test_the_page_says_what_its_figures_are(found: Any, text: Print) -> None:
    printed = " ".join(text(calibration_page(found), 120).split())
    assert "perfectly calibrated judge would have about 0.120 here" in printed
    assert "on labels that had no say in choosing it" in printed
    assert "unequal chances" not in printed
    found.agreement = [CHECK | {"effective": 9.4}]
    assert "so 14 as 9 drawn at random" in " ".join(text(calibration_page(found), 120).split())


def test_the_passport_has_an_interval_of_every_figure() -> None:
    found: Any = Found([], [CHECK | {"effective": 9.4}])
    page = passport_markdown(found)
    assert page.count("0.800 [0.270 – 1.000]") == 6
    assert "| 14 | 9 |" in page
