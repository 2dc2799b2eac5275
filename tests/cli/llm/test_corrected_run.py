"""A reworded claim is put to the models of the run, and nothing is lost where they are gone."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate, explain
from ragstone.run import Run
from ragstone.testing import ScriptedModel


@pytest.fixture(autouse=True)
def _cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGSTONE_CACHE", str(tmp_path / "cache"))


SAID: dict[str, Any] = {"unit": 1, "author": "Ann", "reason": "A typo."}
METRICS = ["faithfulness", "factual_accuracy"]


def support(run: Run, example: str) -> list[dict[str, Any]]:
    rows = run.judgements("support").filter(
        (pl.col("example_id") == example) & (pl.col("origin") == "claim")
    )
    return rows.to_dicts()


def test_the_model_of_the_run_says_what_it_thinks_of_the_new_wording(
    server: Any, data: Path, tmp_path: Path
) -> None:
    evaluate(data, metrics=METRICS, judge=server.judge, out=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    before = len(server.asked)
    done = run.correct("pier-a", "claims", {"text": "The pier is 91 metres long."}, **SAID)
    assert server.asked[before:] == ["support", "agreement"]
    assert done.unasked == {}
    (row,) = support(run, "pier-a")[:1]
    assert row["judge"] == server.judge
    run.scores()
    assert len(server.asked) == before + 2, "reading asks nobody"
    assert len(run.calls("pier-a")) >= 3
    run.undo_correction("pier-a", "claims", unit=1, author="Ann")
    assert run.estimate_list == run.without_corrections().estimate_list


def test_where_the_server_is_gone_verdicts_are_missing_and_the_wording_is_kept(
    server: Any, data: Path, tmp_path: Path
) -> None:
    evaluate(data, metrics=METRICS, judge=server.judge, out=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    with run.folder.locked():
        done = run.correct("pier-a", "claims", {"text": "The pier is 91 metres long."}, **SAID)
    assert done.unasked.keys() == {"support/claim", "agreement/claim"}
    assert "Another run is writing" in explain(done.unasked["support/claim"])
    mine = (pl.col("example_id") == "pier-a") & (pl.col("metric") == "faithfulness")
    assert run.scores().filter(mine)["status"].to_list() == ["missing"]
    texts = run.judgements("claims").filter(pl.col("example_id") == "pier-a")["text"]
    assert texts[0] == "The pier is 91 metres long."
    run.correct("pier-a", "support/claim", {"verdict": "supported"}, **SAID)
    assert support(run, "pier-a")[0]["judge"] == "person:Ann"


def test_a_model_that_was_given_as_an_object_cannot_be_asked_again(
    data: Path, tmp_path: Path
) -> None:
    from .conftest import reply

    model = ScriptedModel(lambda request: reply("\n".join(request.parts)), name="mine")
    run = evaluate(data, metrics=METRICS, judge=model, out=tmp_path / "run")
    done = run.correct("pier-a", "claims", {"text": "The pier is 91 metres long."}, **SAID)
    assert "mine: judged the old wording, and is not here" in explain(done.unasked["support/claim"])
