"""How wide a design's interval of the mean will be, before people label; and the one that gains."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ragstone
from ragstone.analysis.label_sampling.asked_labels import expected_errors, expected_width
from ragstone.analysis.label_sampling.draw_sample import draw_sample
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError
from ragstone.report.reason_words import explain

Z = 1.959963984540054


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """A hundred answers; the first fifty are found right word for word."""
    rows: list[dict[str, Any]] = [
        {"id": str(n), "question": f"Where is {n}?", "reference": "At the pier.",
         "answer": "At the pier." if n < 50 else "Gulls."}
        for n in range(100)
    ]  # fmt: skip
    out = tmp_path_factory.mktemp("widths") / "run"
    return Scored(ragstone.evaluate(rows, metrics=["exact_match", "token_f1"], out=out))


def said(*people: tuple[int, float]) -> pl.DataFrame:
    """People's scores of some examples."""
    return pl.DataFrame(
        [{"example_id": str(n), "people": score, "weight": None} for n, score in people],
        schema={"example_id": pl.String, "people": pl.Float64, "weight": pl.Float64},
    )


NEVER_WRONG_HIGH = said(*[(n, 1.0) for n in range(10)], *[(n, float(n % 2)) for n in range(50, 60)])
"""What the judge calls right is right; of the others half are."""


def test_width_of_a_random_draw_is_that_of_the_mean() -> None:
    assert expected_width(np.full(400, 0.5), np.full(400, 25 / 400)) == pytest.approx(2 * Z * 0.1)


def test_unequal_chances_widen_where_the_judge_errs_everywhere_alike() -> None:
    chances = np.repeat([0.05, 0.2], 200)
    width = expected_width(np.full(400, 0.5), chances)
    assert width == pytest.approx(2 * Z * 0.5 * np.sqrt(200 / 0.05 + 200 / 0.2) / 400)


def test_errors_are_those_of_people_among_what_the_judge_calls_alike(scored: Scored) -> None:
    errors = expected_errors(scored, "exact_match", NEVER_WRONG_HIGH)
    # Of all labels 15 of 20 are 1; a stratum's variance is moved to theirs as by one label more.
    overall = 0.75 * 0.25
    assert errors[0] == pytest.approx(np.sqrt(overall / 11))
    assert errors[99] == pytest.approx(np.sqrt((10 * 0.25 + overall) / 11))


def test_without_labels_the_judge_errs_alike_everywhere(scored: Scored) -> None:
    assert expected_errors(scored, "exact_match", None) == pytest.approx(np.full(100, 0.5))
    found = draw_sample(scored, 20, metric="exact_match")
    assert set(found.widths) == {"random", "near-threshold"}
    assert found.widths["random"] == pytest.approx(2 * Z * 0.5 / np.sqrt(20))
    assert any(note == "errors_not_known" for note in found.notes)
    assert not any("narrower" in note for note in found.notes)


def test_drawn_by_error_the_chance_goes_with_the_error(scored: Scored) -> None:
    found = draw_sample(scored, 20, by="error", metric="exact_match", people=NEVER_WRONG_HIGH)
    errors = expected_errors(scored, "exact_match", NEVER_WRONG_HIGH)
    chance = dict(found.rows.select("example_id", "inclusion_probability").iter_rows())
    for id, own in chance.items():
        assert own == pytest.approx(20 * errors[int(id)] / errors.sum())
    assert next(iter(found.widths)) == "error"
    # By the errors alone 2 z · mean / sqrt(n); as Kish counts unequal weights, more.
    by_weights = np.sqrt((errors**2).mean() * (1 / errors).mean() * errors.mean() / 20)
    width = found.widths["error"]
    assert 2 * Z * errors.mean() / np.sqrt(20) < width == pytest.approx(2 * Z * by_weights)


def test_what_would_be_no_narrower_is_not_offered(scored: Scored) -> None:
    found = draw_sample(scored, 20, metric="exact_match", people=NEVER_WRONG_HIGH)
    assert list(found.widths) == ["random", "near-threshold", "error"]
    assert not any("narrower" in note for note in found.notes)
    taken = draw_sample(scored, 20, by="error", metric="exact_match", people=NEVER_WRONG_HIGH)
    assert any('by="random" is expected to be' in explain(note) for note in taken.notes)


def test_near_the_threshold_is_told_to_be_wider_for_a_mean(tmp_path: Path) -> None:
    answers = ("At the old pier.", "At the pier.", "At the pier near sand.", "Gulls.")
    rows = [{"id": str(n), "question": "Where?", "reference": "At the old pier.",
             "answer": answers[n % 4]} for n in range(40)]  # fmt: skip
    own = Scored(ragstone.evaluate(rows, metrics=["token_f1"], out=tmp_path / "run"))
    found = draw_sample(own, 10, by="near-threshold", metric="token_f1")
    assert found.widths["near-threshold"] > 1.1 * found.widths["random"]
    assert any('by="random" is expected to be' in explain(note) for note in found.notes)


def test_by_error_needs_labels(scored: Scored) -> None:
    with pytest.raises(InputError, match="people=FILE"):
        draw_sample(scored, 20, by="error", metric="exact_match")


def test_drawn_by_error_means_of_known_errors_scatter_less(scored: Scored) -> None:
    """A hundred and fifty draws, where the judge never errs in one half and the labels knew it."""
    own = scored.without_corrections()
    own.__dict__["without_corrections"] = lambda: own
    rng = np.random.default_rng(1)
    truth = np.where(np.arange(100) < 50, 1.0, rng.random(100) < 0.5)
    judge = np.where(np.arange(100) < 50, 1.0, 0.5)
    spread = {}
    for by in ("random", "error"):
        means = []
        for seed in range(150):
            found = draw_sample(
                own, 20, by=by, metric="exact_match", people=NEVER_WRONG_HIGH, seed=seed
            )  # fmt: skip
            rows = found.rows["example_id"].cast(pl.Int64).to_numpy()
            weights = 1 / found.rows["inclusion_probability"].to_numpy()
            means.append(judge.mean() + weights @ (truth - judge)[rows] / 100)
        spread[by] = float(np.std(means))
    assert spread["error"] < 0.9 * spread["random"]
