"""A dry run sends nothing, needs no key and leaves what is kept as it is."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.data import Example
from ragstone.judges.llm.questions import Item, Piece, Question
from ragstone.models.chat import ChatReply, Usage
from ragstone.report.reason_words import explain
from ragstone.run import Limits
from ragstone.run.calls.budget import Price
from ragstone.run.forecast import Forecast, TaskForecast, _Counting, _Known, _tokens, forecast
from ragstone.testing import ScriptedModel

Model = Callable[..., ScriptedModel]
Rows = list[dict[str, Any]]


@pytest.mark.parametrize("name", ["openai:m", "anthropic:m", "gemini:m"])
def test_no_key_is_needed(name: str, pier: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE"):
        monkeypatch.delenv(f"{variable}_API_KEY", raising=False)
    found = forecast(pier, metrics="faithfulness", judge=name, limits=Limits(cached=False))
    assert found.total.calls == 4


def test_the_cache_is_read_and_let_go(scripted: Model, pier: Rows, tmp_path: Path) -> None:
    limits = Limits(cache=tmp_path / "kept")
    ragstone.evaluate(pier, metrics="faithfulness", judge=scripted(real=True), limits=limits)
    file = tmp_path / "kept" / "replies.sqlite"
    before = file.read_bytes()
    threads = set(threading.enumerate())
    found = forecast(pier, metrics="faithfulness", judge=scripted(real=True), limits=limits)
    assert found.total.known >= 2
    assert set(threading.enumerate()) <= threads
    assert file.read_bytes() == before


def test_what_real_models_said_answers_no_test(scripted: Model, pier: Rows, tmp_path: Path) -> None:
    limits = Limits(cache=tmp_path / "kept")
    ragstone.evaluate(pier, metrics="faithfulness", judge=scripted(real=True), limits=limits)
    found = forecast(pier, metrics="faithfulness", judge=scripted(), limits=limits)
    assert (found.total.calls, found.total.known) == (4, 0)


def test_a_cache_that_is_none_of_ours_holds_nothing(
    scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    (tmp_path / "replies.sqlite").write_text("These are notes of somebody's own.\n" * 50)
    found = forecast(pier, metrics="faithfulness", judge=scripted(), limits=Limits(cache=tmp_path))
    assert (found.total.calls, found.total.known) == (4, 0)


def test_reasoning_is_counted_by_the_effort_until_a_reply_was_heard(pier: Rows) -> None:
    """Google allows Gemini 2.5 1,024 tokens of thought at low effort."""
    given: dict[str, Any] = {"metrics": "faithfulness", "limits": Limits(cached=False)}
    plain = forecast(pier, judge="openai:m", **given)
    thinking = forecast(pier, judge="openai:m?effort=low", **given)
    assert (plain.total.calls, plain.total.reasoning) == (4, 0)
    assert thinking.total.reasoning == 4 * 1024
    assert thinking.total.completion == plain.total.completion + 4 * 1024
    assert plain.notes[0] == "openai:m: reasoning_not_counted"
    assert "1,024 tokens of reasoning a call are assumed for effort=low" in explain(
        thinking.notes[0]
    )
    assert thinking.to_dict()["notes"] == list(thinking.notes)


@pytest.mark.parametrize("effort", ["", "?effort=high"])
def test_reasoning_that_was_heard_in_the_run_is_expected_of_the_rest(
    effort: str, scripted: Model, pier: Rows, tmp_path: Path
) -> None:
    model = scripted(name=f"scripted{effort}")
    replies = model.reply

    async def reply(request: Any) -> ChatReply:
        return replace(await replies(request), usage=Usage(100, 900, 0, 700))

    model.reply = reply  # type: ignore[method-assign]
    given: dict[str, Any] = {"metrics": "faithfulness", "out": tmp_path / "run"}
    ragstone.evaluate(pier, judge=model, limits=Limits(max_calls=1), **given)
    found = forecast(pier, judge=model, **given)
    assert found.total.calls == 3
    assert found.total.reasoning == 3 * 700, "one task was heard, and stands for the other too"
    assert tuple(map(explain, found.notes)) == (
        f"scripted{effort}: 700 tokens of reasoning a call, as heard in 1 reply so far.",
    )


class Words(Item):
    verdict: str


def counted(*texts: str, price: Price | None = None) -> Forecast:
    """What is counted of questions with these instructions, each about one item."""

    def asked(text: str) -> Question:
        piece = Piece(
            task="support", instructions=text, blocks=("x",), items={"p01": Words},
            contexts="", vote=0,
        )  # fmt: skip
        return Question((piece,), "", example="e1")

    model = ScriptedModel(lambda _: {}, name="m")
    with closing(_Known(None, Limits(cached=False))) as known:
        counting = _Counting({"m": price}, known)
        counting.see([Example("e1", "q1", "a")])
        for text in texts:
            asyncio.run(counting.ask(model, asked(text)))
    return Forecast(1, counting.tasks)


def test_tokens_sent_are_four_characters_each_and_a_part_counts_whole() -> None:
    """One more character is never less than a token in all, and four are one."""
    sizes = [counted("x" * length).total.prompt for length in range(200, 209)]
    steps = [after - before for before, after in pairwise(sizes)]
    assert sorted(steps) == [0, 0, 0, 0, 0, 0, 1, 1]
    bare = counted("x" * 200).total.prompt
    assert counted("x" * 4200).total.prompt == bare + 1000


def test_a_reply_has_a_token_for_four_characters_and_twenty_beside() -> None:
    """``{"verdict":"xx"}`` has 16 characters."""
    sizes = [_tokens(Words(verdict="x" * more)) for more in (2, 5, 6)]
    assert sizes == [24, 24, 25]
    assert {type(one) for one in sizes} == {int}


def test_questions_that_are_put_twice_are_counted_once() -> None:
    assert counted("a", "b", "a").total.calls == 2
    assert counted("a", "b").total.prompt == 2 * counted("a").total.prompt


def test_costs_of_questions_add_up() -> None:
    """A dollar per million tokens, sent and back."""
    priced = counted("a", "b", price=Price(1.0, 0.1, 1.0)).total
    assert priced.usd == pytest.approx((priced.prompt + priced.completion) / 1e6)
    assert counted("a").total.usd is None


def test_all_tasks_together_cost_what_each_costs_if_that_is_known() -> None:
    first, second = TaskForecast(2, 1, 30, 4, 3, 0.5), TaskForecast(1, 0, 10, 2, 0, 0.25)
    both = Forecast(9, {("m", "claims"): first, ("n", "support"): second}, ("a note",))
    assert both.total == TaskForecast(3, 1, 40, 6, 3, 0.75)
    record = both.to_dict()
    assert (record["examples"], record["total"]["calls"], record["notes"]) == (9, 3, ["a note"])
    assert [(one["judge"], one["task"], one["usd"]) for one in record["tasks"]] == [
        ("m", "claims", 0.5), ("n", "support", 0.25),
    ]  # fmt: skip
    unknown = Forecast(9, {("m", "claims"): first, ("n", "support"): TaskForecast(calls=1)})
    assert unknown.total.usd is None
    known_before = Forecast(9, {("m", "claims"): first, ("n", "support"): TaskForecast(known=4)})
    assert known_before.total.usd == 0.5, "what is not asked costs nothing"
