"""What models leave open: counted, told, missing, and asked again by the same command."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.core.errors import InputError
from ragstone.metrics import SUITES
from ragstone.models.chat import CallableChat, ChatFailure, ChatRequest
from ragstone.report.reason_words import words
from ragstone.run import Limits
from ragstone.testing import ScriptedEncoder, ScriptedModel, asked, reply_to

Model = Callable[..., ScriptedModel]
Rows = list[dict[str, Any]]
Reply = dict[str, Any]


def tasks(model: ScriptedModel) -> Counter[str]:
    return Counter(request.name for request in model.requests)


def value(run: ragstone.Run, metric: str, example: str = "1") -> float | None:
    (found,) = run.scores().filter(metric=metric, example_id=example)["value"]
    return None if found is None else float(found)


def status(run: ragstone.Run, metric: str, example: str = "1") -> str:
    return str(run.scores().filter(metric=metric, example_id=example)["status"].item())


def test_what_a_limit_cut_off_in_the_middle_of_a_task_is_asked_later(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    seven = [str(one) for one in SUITES["rubric"].metrics() if one.name == "rating"]
    given: dict[str, Any] = {"metrics": seven, "out": tmp_path / "run"}
    run = ragstone.evaluate(pier[:1], judge=scripted(), limits=Limits(max_calls=4), **given)
    assert run.manifest["unheard"] == 1
    assert any("left open" in words(remark) for remark in run.manifest["remarks"])
    assert run.exit_status == 4
    more = scripted()
    run = ragstone.evaluate(pier[:1], judge=more, **given)
    assert tasks(more) == {"rating": 3}
    assert (run.manifest["unheard"], run.exit_status) == (0, 0)


def test_one_answer_that_is_too_long_costs_no_other_example(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    pier[1]["answer"] = "It is 90 m long. " * 2_000
    long = ChatFailure("too_long", "8k at the most")
    model = scripted(fails=lambda request: long if len(request.text) > 20_000 else None)
    run = ragstone.evaluate(pier, metrics=["faithfulness", "mrr"], judge=model, out=tmp_path / "r")
    assert tasks(model) == {"claims": 2, "relevance": 1, "support": 1}
    assert value(run, "faithfulness") == 1
    assert status(run, "faithfulness", "2") == "missing"
    assert run.manifest["unheard"] == 0, "asking again is of no use"


def test_a_judge_named_twice_is_refused(scripted: Model, pier: Rows) -> None:
    with pytest.raises(InputError, match="Two judges are called scripted"):
        ragstone.evaluate(pier, metrics="mrr", judge=[scripted(), scripted()])
    with pytest.raises(InputError, match="in a panel twice"):
        ragstone.evaluate(pier, metrics="mrr", judge=[[scripted(), scripted()]])


def test_a_panel_without_a_majority_is_missing_until_its_member_answers(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    def panel(**second: Any) -> list[list[ScriptedModel]]:
        return [[scripted(name="one"), scripted(name="two", **second)]]

    run = ragstone.evaluate(
        pier[:1], metrics="faithfulness", out=tmp_path / "run",
        judge=panel(fails=lambda _: ChatFailure("rejected", "no")),
    )  # fmt: skip
    assert status(run, "faithfulness") == "missing"
    assert run.manifest["unheard"] == 1
    again = panel()
    run = ragstone.evaluate(pier[:1], metrics="faithfulness", out=tmp_path / "run", judge=again)
    assert value(run, "faithfulness") == 1
    assert [len(model.requests) for model in again[0]] == [0, 1]


def test_scores_do_not_depend_on_the_blocks(pier: Rows, tmp_path: Path) -> None:
    """Two systems share contexts and reference; the model judges their questions differently."""
    pier[1]["answer"] = "Ninety metres, and green."

    def reply(request: ChatRequest) -> Reply:
        claim = "It is green." if "green" in request.text else "The pier is 90 m long."
        made: Reply = {
            "a01": {"verdict": "answer", "details": [f"s1: {claim}"]},
            "r01": {"details": ["It is 90 m long."]},
        }
        support = {"verdict": "absent" if "green" in request.text else "supported"}
        return reply_to(request, {name: made.get(name, support) for name in asked(request)})

    def run(name: str, **more: Any) -> ragstone.Run:
        return ragstone.evaluate(
            pier, metrics=["faithfulness", "context_recall"], judge=ScriptedModel(reply),
            out=tmp_path / name, **more,
        )  # fmt: skip

    whole, single = run("whole"), run("single", debug=lambda *_: None)
    assert sorted(whole.scores().rows()) == sorted(single.scores().rows())
    assert [value(whole, "context_recall", one) for one in ("1", "2")] == [1, 0]


def test_scoring_more_keeps_what_is_left_open(scripted: Model, pier: Rows, tmp_path: Path) -> None:
    model = scripted(
        fails=lambda request: ChatFailure("rejected", "no") if request.name == "relevance" else None
    )
    given: dict[str, Any] = {"metrics": ["faithfulness", "mrr"], "out": tmp_path / "run"}
    ragstone.evaluate(pier, judge=model, **given)
    scored = ragstone.rescore(tmp_path / "run", metrics="hallucination")
    assert scored.manifest["unheard"] == 1
    run = ragstone.evaluate(pier, judge=scripted(), **given)
    assert value(run, "mrr") == 1
    assert value(run, "hallucination") == 0, "what was scored later is scored still"
    assert run.manifest["unheard"] == 0


def test_what_cannot_be_asked_is_not_counted(scripted: Model, pier: Rows) -> None:
    pier[0]["question"] = None
    model = scripted()
    run = ragstone.evaluate(pier[:1], metrics="mrr", judge=model)
    assert model.requests == []
    assert status(run, "mrr") == "missing"
    assert "no_question" in run.scores()["reason"][0]
    assert run.manifest["unheard"] == 0


def test_a_finished_run_stays_readable_while_it_is_mended(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    def refuses(request: ChatRequest) -> ChatFailure | None:
        return ChatFailure("rejected", "no") if request.name == "support" else None

    given: dict[str, Any] = {"metrics": ["faithfulness", "mrr"], "out": tmp_path / "run"}
    ragstone.evaluate(pier, judge=scripted(fails=refuses), **given)
    denied = scripted(fails=lambda _: ChatFailure("not_allowed", "401", http=401))
    with pytest.raises(InputError, match="401"):
        ragstone.evaluate(pier, judge=denied, **given)
    assert value(ragstone.Run.open(tmp_path / "run"), "mrr") == 1
    assert value(ragstone.evaluate(pier, judge=scripted(), **given), "faithfulness") == 1


def test_the_next_judge_fills_what_a_model_left_out(scripted: Model, pier: Rows) -> None:
    model = scripted(lambda name, reply: None if name == "c02" else reply)
    run = ragstone.evaluate(pier[:1], metrics="precision", judge=[model, "local:strings"])
    said = {row["rank"]: row["judge"] for row in run.judgements("relevance").to_dicts()
            if row["grade"] is not None}  # fmt: skip
    assert said[2] == "local:strings"
    assert status(run, "precision") == "value"


def test_an_error_of_ones_own_function_arrives_as_it_is(pier: Rows) -> None:
    async def broken(_: ChatRequest) -> str:
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        ragstone.evaluate(pier, metrics="mrr", judge=broken)


def test_a_cancelled_evaluation_asks_nothing_more(pier: Rows, tmp_path: Path) -> None:
    asked = []

    async def slow(request: ChatRequest) -> str:
        asked.append(request.name)
        await asyncio.sleep(30)
        return ""

    async def cancelled() -> None:
        judge = CallableChat(slow, identity="slow")
        run = asyncio.create_task(
            ragstone.aevaluate(
                pier, metrics=["faithfulness", "mrr"], judge=judge, out=tmp_path / "run"
            )
        )
        while not asked:
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(asyncio.wait_for(cancelled(), 10))
    assert set(asked) <= {"claims", "relevance"}


def test_what_a_server_does_not_take_is_told(scripted: Model, pier: Rows) -> None:
    model = scripted()
    model.notes = ("temperature",)
    run = ragstone.evaluate(pier, metrics="mrr", judge=model)
    assert any("fields_left_out?fields=temperature" in remark for remark in run.manifest["remarks"])


def test_limits_without_a_model_are_told_to_change_nothing(pier: Rows) -> None:
    run = ragstone.evaluate(pier, metrics="mrr", judge="local:strings", limits=Limits(max_calls=3))
    assert any(remark == "no_model_judges" for remark in run.manifest["remarks"])


def test_what_was_added_to_a_run_later_outlives_asking_again(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    for row, topic in zip(pier, ("sea", "land"), strict=True):
        row["slices"] = {"topic": topic}

    def refuses(request: ChatRequest) -> ChatFailure | None:
        return ChatFailure("rejected", "no") if request.name == "support" else None

    given: dict[str, Any] = {"metrics": ["faithfulness", "mrr"], "out": tmp_path / "run"}
    ragstone.evaluate(pier, judge=scripted(fails=refuses), **given)
    ragstone.rescore(
        tmp_path / "run", metrics=["semantic_similarity", "hit(k=1)"], by="topic",
        embedder=ScriptedEncoder(),
    )  # fmt: skip
    run = ragstone.evaluate(pier, judge=scripted(), **given)
    assert {one.metric for one in run.estimate_list} == {"faithfulness", "mrr", "hit(k=1)"}
    assert any("semantic_similarity" in remark for remark in run.manifest["remarks"])
    assert run.manifest["by"] == ["topic"]


def test_a_member_that_a_filter_blocked_is_not_promised_to_be_asked_again(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    blocked = scripted(name="two", fails=lambda _: ChatFailure("filtered", "the filter says no"))
    panel = [scripted(name="one"), blocked, scripted(name="three")]
    run = ragstone.evaluate(pier[:1], metrics="mrr", judge=[panel], out=tmp_path / "run")
    assert value(run, "mrr") == 1
    assert run.manifest["unheard"] == 0
    assert any("the filter says no" in words(remark) for remark in run.manifest["remarks"])
