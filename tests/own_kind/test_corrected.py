"""A verdict of a user's own kind is corrected like ours, over a judge and over a panel."""

from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone import Run
from ragstone.core.errors import InputError
from ragstone.judgements import Kind
from ragstone.metrics import load_metrics
from ragstone.metrics import user_metrics as loading
from ragstone.models.chat import ChatRequest
from ragstone.testing import ScriptedModel, asked, reply_to

from .conftest import HERE

ROWS = [
    {"id": f"{number}", "question": f"How long is pier {number}?", "answer": "It is 90 m long."}
    for number in range(4)
]
SAID: dict[str, Any] = {"author": "Ann", "reason": "I hear no slang."}


def model(name: str, verdict: str) -> ScriptedModel:
    """A model that always says the same."""

    def reply(request: ChatRequest) -> dict[str, Any]:
        (id,) = asked(request)
        return reply_to(request, {id: {"verdict": verdict, "reason": "By ear."}})

    return ScriptedModel(reply, name=name)


def run_of(*judges: Any) -> Run:
    (metric,) = [one for one in load_metrics(HERE / "tone_metrics.py") if str(one) == "casual"]
    return ragstone.evaluate(ROWS, metrics=[metric], judge=list(judges))


def mean(run: Run) -> float | None:
    return next(one.value for one in run.estimate_list if not one.group)


@pytest.mark.usefixtures("tone")
def test_the_word_of_a_person_counts_and_its_values_are_those_of_the_kind() -> None:
    run = run_of(model("ear", "casual"))
    assert mean(run) == 1.0
    done = run.correct("0", "tone", {"tone": "neutral"}, **SAID)
    assert mean(run) == 0.75
    assert done.examples == ("0",)
    with pytest.raises(InputError, match="expected one of formal, neutral, casual"):
        run.correct("1", "tone", {"tone": "rude"}, **SAID)


@pytest.mark.usefixtures("tone")
def test_a_person_corrects_a_panel_whose_votes_stay_as_they_were_cast(tone: type[Kind]) -> None:
    run = run_of([model("a", "casual"), model("b", "casual"), model("c", "neutral")])
    rows = run.judgements(tone.name).filter(pl.col("example_id") == "0")
    run.correct("0", tone.name, {"tone": "formal"}, **SAID)
    now = run.judgements(tone.name).filter(pl.col("example_id") == "0")
    assert dict(now.select("judge", "tone").iter_rows()) == {
        "person:Ann": "formal", "a": "casual", "b": "casual", "c": "neutral",
    }  # fmt: skip
    assert rows.height == now.height
    assert mean(run) == 0.75


@pytest.mark.usefixtures("tone")
def test_a_run_whose_metric_is_not_loaded_says_how_to_load_it() -> None:
    run = run_of(model("ear", "casual"))
    run.correct("0", "tone", {"tone": "neutral"}, **SAID)
    loading._OWN.clear()
    with pytest.raises(InputError, match="casual is a metric of your own"):
        Run.open(run.path).scores()
    assert mean(Run.open(run.path).without_corrections()) == 1.0
