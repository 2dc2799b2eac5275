"""Every fault of a model has its answer, and none costs a reply that came."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragstone.core.errors import InputError, ModelError
from ragstone.core.files import RunEntry
from ragstone.core.messages import in_shell
from ragstone.judges.llm.questions import Question
from ragstone.judges.llm.replies import Outcome
from ragstone.models.chat import ChatFailure, ChatModel, ChatReply, ChatRequest, Usage
from ragstone.report.reason_words import words
from ragstone.run.calls.asker import REMEMBERED, Asking, Remembered
from ragstone.run.calls.budget import Budget, Price, Prices
from ragstone.run.calls.journal_reader import entries, totals
from ragstone.run.calls.model_client import CallLimits
from ragstone.run.calls.reply_cache import ReplyCache
from ragstone.testing import ScriptedModel
from ragstone.testing import asked as ids
from ragstone.testing.fake_models import Said
from tests.run.calls.conftest import Verdict

Make = Callable[..., Question]
Open = Callable[..., Asking]

PRICES = Prices({"scripted": Price(1.0, 0.1, 10.0)})


def yes(*names: str) -> dict[str, Any]:
    return {name: {"reason": "so", "verdict": "yes"} for name in names or ("p01",)}


def reply(*names: str, usage: Usage = Usage(1_000, 100)) -> ChatReply:  # noqa: B008
    return ChatReply(json.dumps(yes(*names)), usage=usage)


def all_of_it(request: ChatRequest) -> dict[str, Any]:
    return yes(*wanted(request))


def put(asking: Asking, model: ChatModel, *questions: Question) -> list[Outcome]:
    async def work() -> list[Outcome]:
        return await asyncio.gather(
            *(asking.ask(model, one, turn) for turn, one in enumerate(questions))
        )

    return asking.wait(work())


def wanted(request: ChatRequest) -> list[str]:
    return list(ids(request))


def troubles(folder: Path, outcome: Outcome) -> list[str | None]:
    (entry,) = entries(folder / RunEntry.JOURNAL, outcome.requests[:1])
    return [attempt.trouble for attempt in entry.attempts]


class Real(ScriptedModel):
    """Kept across runs, as what real models say."""

    kept = True


RATE_LIMIT = ChatFailure("rate_limit", "too many requests", http=429)
FAILURE = ChatFailure("server_error", "500", http=500)
BROKEN_OFF = ChatFailure("connection", "reset")
CUT_OFF = '{"p01": {"reason": "so", "verd'
REJECTED = ChatFailure("rejected", "400: no such field", http=400)
IN_VAIN = "however often it was asked; the same command asks again"
NO = {"p01": {"reason": "so", "verdict": "no"}}
ECHOED = Verdict(reason="so", verdict="no")
WRONG = {"p01": {"reason": "so", "verdict": 1}}


def test_a_reply_is_kept_with_its_question(
    open_asking: Open, question: Make, tmp_path: Path
) -> None:
    model = ScriptedModel([reply("p01")])
    (outcome,) = put(open_asking(prices=PRICES), model, question())
    assert outcome.status == "ok"
    assert outcome.items["p01"].model_dump() == {"reason": "so", "verdict": "yes"}
    (entry,) = entries(tmp_path / RunEntry.JOURNAL, outcome.requests)
    assert (entry.judge, entry.task, entry.example) == ("scripted", "support", "e1")
    *parts, last = entry.parts
    assert (entry.system, parts) == ("System.", ["Contexts.", "Say yes or no.", "Text."])
    assert last.endswith("ids: p01\nverdict: yes | no\ndetails: none | -\n")
    assert json.loads(entry.schema) == model.requests[0].schema
    (attempt,) = entry.attempts
    assert attempt.reply == json.dumps(yes())
    assert attempt.usd == pytest.approx(0.001 + 0.001)


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        (RATE_LIMIT, "rate_limit"),
        (FAILURE, "server_error"),
        (BROKEN_OFF, "connection"),
        (ChatFailure("bad_reply", "no JSON"), "bad_reply"),
        (CUT_OFF, "truncated"),
        ("Sorry, I only write prose.", "malformed"),
        ({"p02": yes()["p01"]}, "incomplete"),
        (WRONG, "incomplete"),
        (ChatReply("", "refusal"), "refusal"),
    ],
)
def test_a_passing_trouble_is_asked_again(
    fault: Any, trouble: str, open_asking: Open, question: Make, tmp_path: Path
) -> None:
    model = ScriptedModel([fault, yes()])
    asking = open_asking()
    (outcome,) = put(asking, model, question())
    assert outcome.status == "ok"
    assert troubles(tmp_path, outcome) == [trouble, None]
    assert asking.counts().retries == 1
    assert asking.counts().troubles == {trouble: 1}


@pytest.mark.parametrize("count", [2**64 - 5, 2**63, 2**32 - 5, -1, float("nan"), 1e3, True, "9"])
def test_a_count_of_tokens_that_no_call_can_have_is_not_known(
    count: Any, open_asking: Open, question: Make, tmp_path: Path
) -> None:
    model = ScriptedModel([reply("p01", usage=Usage(count, 100, count, count))])
    (outcome,) = put(open_asking(prices=PRICES), model, question())
    assert outcome.status == "ok"
    found = totals(tmp_path / RunEntry.JOURNAL)
    assert (found.prompt, found.completion, found.unpriced, found.usd) == (0, 100, 1, None)


@pytest.mark.parametrize("fault", [FAILURE, BROKEN_OFF, CUT_OFF, WRONG])
def test_a_trouble_that_stays_is_given_up_after_six_attempts(
    fault: Any, open_asking: Open, question: Make
) -> None:
    model = ScriptedModel([fault] * 6)
    (outcome,) = put(open_asking(), model, question())
    assert outcome.status == ("truncated" if fault is CUT_OFF else "failed")
    assert outcome.reason is not None
    assert outcome.reason.startswith("scripted: ")
    assert in_shell(words(outcome.reason)).endswith(
        ", however often it was asked; the same command asks again"
    )


def test_a_question_without_a_reply_is_asked_again_when_its_time_is_over(
    open_asking: Open, question: Make, tmp_path: Path
) -> None:
    hangs = iter([True, False])

    async def say(_: ChatRequest) -> dict[str, Any]:
        if next(hangs):
            await asyncio.sleep(3600)
        return yes()

    (outcome,) = put(open_asking(limits=CallLimits(timeout=30)), ScriptedModel(say), question())
    assert outcome.status == "ok"
    assert troubles(tmp_path, outcome) == ["timeout", None]


def test_a_server_that_says_for_how_long_is_left_alone_by_all(
    open_asking: Open, question: Make
) -> None:
    asked_at: list[float] = []

    async def say(_: ChatRequest) -> Any:
        asked_at.append(asyncio.get_running_loop().time())
        return ChatFailure("rate_limit", "busy", after=20) if len(asked_at) == 1 else yes()

    asking = open_asking(limits=CallLimits(concurrency=1))
    outcomes = put(asking, ScriptedModel(say), question("one"), question("two"))
    assert [one.status for one in outcomes] == ["ok", "ok"]
    assert 20 <= asked_at[1] - asked_at[0] <= 23
    assert asked_at[2] - asked_at[1] < 1


def test_a_server_that_asks_for_a_pause_of_hours_is_asked_no_more(
    open_asking: Open, question: Make
) -> None:
    model = ScriptedModel([ChatFailure("rate_limit", "quota", after=7200)])
    asking = open_asking(limits=CallLimits(concurrency=1))
    outcomes = put(asking, model, question("one"), question("two"))
    assert {in_shell(words(one.reason or "")) for one in outcomes} == {
        "scripted: the server asks for a pause of 2.0 hours; after that the same command asks again"
    }


def test_429_is_borne_longer_than_other_troubles_but_not_for_ever(
    open_asking: Open, question: Make
) -> None:
    model = ScriptedModel([*[RATE_LIMIT] * 12, yes()])
    assert put(open_asking(), model, question())[0].status == "ok"
    model = ScriptedModel(lambda _: RATE_LIMIT, name="busy")
    (outcome,) = put(open_asking(limits=CallLimits(patience=60)), model, question())
    assert outcome.status == "failed"
    assert 6 < len(model.requests) < 20


def test_what_a_reply_lacks_is_asked_for_alone(open_asking: Open, question: Make) -> None:
    model = ScriptedModel([yes("p01"), yes("p02", "p03")])
    (outcome,) = put(open_asking(), model, question("Text.", "p01", "p02", "p03"))
    assert wanted(model.requests[1]) == ["p02", "p03"]
    assert list(outcome.items) == ["p01", "p02", "p03"]
    assert outcome.lacking == {}
    assert len(outcome.requests) == 2


SIX_TIMES = (
    [yes("p01"), *[WRONG] * 5],
    [yes("p01"), *[yes("p02")] * 5],
    [yes("p01"), WRONG, WRONG, yes("p02"), WRONG, WRONG],
    [WRONG, WRONG, WRONG, WRONG, WRONG, yes("p01", "p02")],
    [yes("p01"), {}, "{", FAILURE, {}, yes("p02")],
)
"""Replies to a question about p01, p02 and p03 in which p03 never is."""


@pytest.mark.parametrize("said", SIX_TIMES)
def test_what_replies_lack_is_asked_for_as_often_as_a_reply_that_cannot_be_read(
    said: list[Said], open_asking: Open, question: Make
) -> None:
    model = ScriptedModel(said)
    (outcome,) = put(open_asking(), model, question("Text.", "p01", "p02", "p03"))
    assert outcome.status == "ok"
    assert in_shell(words(outcome.lacking["p03"])).endswith(IN_VAIN)
    assert len(model.requests) == 6
    unread = ScriptedModel(lambda _: "no JSON", name="unread")
    put(open_asking(), unread, question())
    assert len(unread.requests) == 6


def test_what_comes_at_the_last_try_is_not_lacking(open_asking: Open, question: Make) -> None:
    model = ScriptedModel([yes("p01"), *[WRONG] * 4, yes("p02")])
    (outcome,) = put(open_asking(), model, question("Text.", "p01", "p02"))
    assert set(outcome.items) == {"p01", "p02"}
    assert outcome.lacking == {}


@pytest.mark.parametrize("alone", [WRONG, yes("p02")])
def test_what_is_asked_for_in_vain_is_asked_for_again_each_time_the_run_goes_on(
    alone: Any, open_asking: Open, question: Make
) -> None:
    asked = question("Text.", "p01", "p02", "p03")
    first = open_asking()
    model = ScriptedModel([yes("p01"), *[alone] * 5])
    (outcome,) = put(first, model, asked)
    assert in_shell(words(outcome.lacking["p03"])).endswith(IN_VAIN)
    others = [question(f"{n}") for n in range(REMEMBERED + 2)]
    put(first, ScriptedModel(all_of_it, name="other"), *others)
    (the_same,) = put(first, model, asked)
    assert the_same.items == outcome.items
    assert the_same.lacking == outcome.lacking
    first.close()
    second = open_asking()
    (still,) = put(second, ScriptedModel(lambda _: WRONG), asked)
    assert set(still.lacking) == set(outcome.lacking)
    assert 4 <= second.counts().calls <= 5
    second.close()
    (at_last,) = put(open_asking(), ScriptedModel(all_of_it), asked)
    assert set(at_last.items) == {"p01", "p02", "p03"}
    assert at_last.lacking == {}


def test_what_is_lacking_says_that_asking_for_it_alone_failed(
    open_asking: Open, question: Make
) -> None:
    model = ScriptedModel([yes("p01"), *[FAILURE] * 5])
    (outcome,) = put(open_asking(), model, question("Text.", "p01", "p02"))
    assert {name: in_shell(words(why)) for name, why in outcome.lacking.items()} == {
        "p02": "scripted: not in the reply (missing), and asking for it alone failed: 500, "
        "however often it was asked; the same command asks again"
    }


def test_what_is_lacking_says_that_it_was_not_asked_for_alone(
    open_asking: Open, question: Make
) -> None:
    asking = open_asking(budget=Budget(max_calls=1))
    (outcome,) = put(asking, ScriptedModel(lambda _: yes()), question("Text.", "p01", "p02"))
    assert {name: in_shell(words(why)) for name, why in outcome.lacking.items()} == {
        "p02": "scripted: not in the reply (missing), and it was not asked for alone: "
        "budget: all 1 calls of --max-calls are made; to continue, run it again with more"
    }


def test_an_item_of_the_wrong_type_is_asked_for_alone(open_asking: Open, question: Make) -> None:
    model = ScriptedModel([yes("p02") | WRONG, yes("p01")])
    (outcome,) = put(open_asking(), model, question("Text.", "p01", "p02"))
    assert wanted(model.requests[1]) == ["p01"]
    assert set(outcome.items) == {"p01", "p02"}


def test_a_reply_that_is_too_long_to_write_is_asked_for_in_halves(
    open_asking: Open, question: Make
) -> None:
    def say(request: ChatRequest) -> Any:
        names = wanted(request)
        return ChatReply("{", "length") if len(names) > 2 else yes(*names)

    model = ScriptedModel(say)
    (outcome,) = put(open_asking(), model, question("Text.", *(f"p0{i}" for i in range(1, 6))))
    assert sorted(outcome.items) == ["p01", "p02", "p03", "p04", "p05"]
    assert sorted(len(wanted(one)) for one in model.requests) == [1, 2, 2, 3, 5]


def test_a_reply_for_one_item_that_is_too_long_is_asked_for_once_a_run(
    open_asking: Open, question: Make
) -> None:
    model = ScriptedModel(lambda _: ChatReply("{", "length"))
    asking = open_asking()
    (outcome,) = put(asking, model, question())
    asking.close()
    assert (outcome.status, len(model.requests)) == ("truncated", 1)
    (outcome,) = put(open_asking(), ScriptedModel([yes()]), question())
    assert outcome.status == "ok"


@pytest.mark.parametrize(
    ("replies", "names", "answered", "lacking"),
    [
        ([NO, yes()], ["p01"], ["p01"], []),
        ([NO, NO], ["p01"], [], []),
        ([{**NO, **yes("p02")}, NO], ["p01", "p02"], ["p02"], ["p01"]),
    ],
)
def test_a_reply_about_another_text_is_asked_for_once_more(
    replies: list[Any],
    names: list[str],
    answered: list[str],
    lacking: list[str],
    open_asking: Open,
    question: Make,
) -> None:
    (piece,) = question("Text.", *names).pieces
    checked = replace(piece, echo=lambda item: "claim" if item == ECHOED else "")
    model = ScriptedModel(replies)
    (outcome,) = put(open_asking(), model, Question((checked,), "S"))
    assert (list(outcome.items), list(outcome.lacking)) == (answered, lacking)
    assert len(model.requests) == 2
    if not answered:
        assert words(outcome.reason or "") == "scripted: the reply is not about the answer: claim"


@pytest.mark.parametrize(
    ("said", "calls", "status", "reason"),
    [
        (
            ChatReply("", "refusal"),
            2,
            "blocked",
            "scripted: the model declined to answer; another judge may answer it",
        ),
        (
            ChatReply("", "filter"),
            1,
            "blocked",
            "scripted: a content filter stopped the reply; another judge may answer it",
        ),
        (
            ChatFailure("filtered", "hate: high"),
            1,
            "blocked",
            "scripted: hate: high; another judge may answer it",
        ),
        (
            ChatFailure("too_long", "8,193 of 8,192 tokens"),
            1,
            "failed",
            "scripted: the question was too long for the model: 8,193 of 8,192 tokens",
        ),
        (
            ChatFailure("rejected", "schema too deep"),
            1,
            "failed",
            "scripted: schema too deep; the same command asks again",
        ),
    ],
)
def test_what_no_attempt_will_mend_is_not_asked_again(
    said: Any, calls: int, status: str, reason: str, open_asking: Open, question: Make
) -> None:
    model = ScriptedModel(lambda _: said)
    (outcome,) = put(open_asking(), model, question())
    assert (outcome.status, in_shell(words(outcome.reason or ""))) == (status, reason)
    assert len(model.requests) == calls


def test_a_wrong_key_stops_the_run_at_once(open_asking: Open, question: Make) -> None:
    async def say(_: ChatRequest) -> Any:
        if len(model.requests) == 3:
            return ChatFailure("not_allowed", "401: no such key", http=401)
        await asyncio.sleep(10)
        return yes()

    model = ScriptedModel(say)
    asking = open_asking(limits=CallLimits(concurrency=4))
    with pytest.raises(ModelError, match=r"scripted: 401: no such key\. Check the key"):
        put(asking, model, *(question(f"{n}") for n in range(50)))
    assert len(model.requests) == 4
    with pytest.raises(ModelError, match="no such key"):
        put(asking, model, question("51"))


def test_a_server_that_was_never_reached_stops_the_run(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: ChatFailure("unreachable", "cannot be reached. Is it running?"))
    asking = open_asking(limits=CallLimits(concurrency=4))
    with pytest.raises(ModelError, match=r"Is it running\? Then run the same command again"):
        put(asking, model, *(question(f"{n}") for n in range(50)))
    assert len(model.requests) < 20


def test_a_server_that_goes_away_later_does_not(open_asking: Open, question: Make) -> None:
    gone: list[Said] = [yes(), *[ChatFailure("unreachable", "gone")] * 4, yes()]
    outcomes = put(
        open_asking(limits=CallLimits(concurrency=1)), ScriptedModel(gone), *map(question, "ab")
    )
    assert [one.status for one in outcomes] == ["ok", "ok"]


def test_a_dead_server_does_not_cost_hours(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: BROKEN_OFF)
    asking = open_asking(limits=CallLimits(concurrency=8))
    outcomes = put(asking, model, *(question(f"{n}") for n in range(100)))
    assert {one.status for one in outcomes} == {"failed"}
    assert in_shell(words(outcomes[-1].reason or "")) == (
        "scripted: the server stopped answering (reset); the same command asks again"
    )
    assert len(model.requests) < 8 * 6 * 3


def test_a_server_that_rejects_everything_is_asked_no_more(
    open_asking: Open, question: Make
) -> None:
    model = ScriptedModel(lambda _: REJECTED)
    asking = open_asking(limits=CallLimits(concurrency=2))
    outcomes = put(asking, model, *(question(f"{n}") for n in range(100)))
    assert 8 <= len(model.requests) <= 9
    assert (
        in_shell(words(outcomes[0].reason or ""))
        == "scripted: 400: no such field; the same command asks again"
    )
    assert in_shell(words(outcomes[-1].reason or "")) == (
        "scripted: the server rejected all of the first 8 questions (400: no such field); if it is "
        "of the settings in the judge's name or of the address, mend that; "
        "the same command asks again"
    )


def test_odd_questions_among_good_ones_close_nothing(open_asking: Open, question: Make) -> None:
    said: list[Said] = [*[REJECTED] * 7, yes(), *[REJECTED] * 20, yes()]
    asking = open_asking(limits=CallLimits(concurrency=1))
    outcomes = put(asking, ScriptedModel(said), *(question(f"{n}") for n in range(29)))
    assert [one.status for one in outcomes].count("ok") == 2
    assert outcomes[-1].status == "ok"


def test_no_call_is_made_beyond_the_limit(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: yes())
    asking = open_asking(budget=Budget(max_calls=5))
    outcomes = put(asking, model, *(question(f"{n}") for n in range(9)))
    assert [one.status for one in outcomes] == ["ok"] * 5 + ["failed"] * 4
    assert in_shell(words(outcomes[-1].reason or "")) == (
        "scripted: budget: all 5 calls of --max-calls are made; to continue, run it again with more"
    )
    assert len(model.requests) == 5


def test_no_more_is_spent_than_the_budget(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: reply("p01", usage=Usage(1_000, 400)))
    asking = open_asking(prices=PRICES, budget=Budget(usd=0.0205), limits=CallLimits(concurrency=1))
    outcomes = put(asking, model, *(question(f"{n}") for n in range(9)))
    assert [one.status for one in outcomes].count("ok") == 4
    assert outcomes[-1].reason is not None
    assert in_shell(words(outcomes[-1].reason)).startswith("scripted: budget:")
    assert asking.counts().usd == pytest.approx(4 * 0.005)


@pytest.mark.parametrize("at_once", [4, 64])
def test_short_replies_use_the_budget_up(at_once: int, open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: reply("p01", usage=Usage(100, 20)), delay=1)
    asking = open_asking(
        prices=PRICES, budget=Budget(usd=0.1), limits=CallLimits(concurrency=at_once)
    )
    outcomes = put(asking, model, *(question(f"{n}") for n in range(400)))
    usd = asking.counts().usd
    assert usd is not None
    assert 0.1 - 2 * 0.0003 <= usd <= 0.1
    assert outcomes[-1].status == "failed"
    assert [one.status for one in outcomes] == sorted((o.status for o in outcomes), reverse=True)


def test_a_budget_that_is_large_enough_stops_nothing(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: reply("p01", usage=Usage(100, 20)), delay=1)
    asking = open_asking(prices=PRICES, budget=Budget(usd=0.05))
    outcomes = put(asking, model, *(question(f"{n}") for n in range(150)))
    assert {one.status for one in outcomes} == {"ok"}


def written(request: ChatRequest, tokens: int) -> ChatReply:
    """A reply of so many tokens, cut where it may have no more."""
    if request.limit is not None and tokens > request.limit:
        return ChatReply("{", "length", Usage(5, request.limit))
    return reply(*wanted(request), usage=Usage(5, tokens))


@pytest.mark.parametrize("at_once", [1, 64])
@pytest.mark.parametrize("tokens", [3_900, 5_000, 12_000, 90_000])
def test_long_replies_never_pass_the_budget(
    tokens: int, at_once: int, open_asking: Open, question: Make
) -> None:
    model = ScriptedModel(lambda request: written(request, tokens), delay=1)
    asking = open_asking(
        prices=PRICES, budget=Budget(usd=0.5), limits=CallLimits(concurrency=at_once)
    )
    outcomes = put(asking, model, *(question(f"{n}") for n in range(100)))
    usd = asking.counts().usd
    assert usd is not None
    assert 0.4 < usd <= 0.5
    assert all(request.limit is not None for request in model.requests)
    if tokens < 4_000:
        assert [one.status for one in outcomes].count("ok") == int(0.5 / (tokens * 1e-5 + 5e-6))


def test_a_reply_that_the_budget_cut_is_told_and_not_split(
    open_asking: Open, question: Make, tmp_path: Path
) -> None:
    first = open_asking(prices=PRICES, budget=Budget(usd=0.1))
    model = ScriptedModel(lambda request: written(request, 9_000))
    (outcome,) = put(first, model, question("t", "p01", "p02"))
    assert (outcome.status, in_shell(words(outcome.reason or ""))) == (
        "truncated",
        "scripted: budget: the reply was cut at the 8,000 tokens set aside for it; "
        "the same command asks again",
    )
    assert [request.limit for request in model.requests] == [8_000]
    assert troubles(tmp_path, outcome) == ["capped"]
    first.close()
    again = open_asking(prices=PRICES, budget=Budget(usd=0.3))
    (short,) = put(again, ScriptedModel(lambda one: written(one, 60)), question("t", "p01", "p02"))
    assert short.status == "ok"


def test_room_for_thoughts_is_set_aside_by_the_effort_before_the_first_reply(
    open_asking: Open, question: Make
) -> None:
    """8,000 tokens, and the 1,024 that Google allows for low effort."""
    model = ScriptedModel(lambda request: written(request, 9_000), name="scripted?effort=low")
    asking = open_asking(prices=PRICES, budget=Budget(usd=0.5))
    (outcome,) = put(asking, model, question())
    assert outcome.status == "ok"
    assert [request.limit for request in model.requests] == [9_024]


def test_a_reply_that_the_model_itself_cut_is_split_also_with_a_budget(
    open_asking: Open, question: Make
) -> None:
    def say(request: ChatRequest) -> ChatReply:
        if len(wanted(request)) > 1:
            return ChatReply("{", "length", Usage(5, 512))
        return written(request, 60)

    asking = open_asking(prices=PRICES, budget=Budget(usd=0.5))
    (outcome,) = put(asking, ScriptedModel(say), question("t", "p01", "p02"))
    assert (outcome.status, list(outcome.items)) == ("ok", ["p01", "p02"])


def test_without_a_budget_replies_may_be_of_any_length(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda request: written(request, 90_000))
    (outcome,) = put(open_asking(prices=PRICES), model, question())
    assert outcome.status == "ok"
    assert model.requests[0].limit is None


def test_who_waits_for_a_budget_is_served_by_turn(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: reply("p01", usage=Usage(100, 3_000)), delay=1)
    asking = open_asking(prices=PRICES, budget=Budget(usd=0.1))

    async def work() -> None:
        turns = (3, 2, 5, 1, 4)
        await asyncio.gather(*(asking.ask(model, question(f"{turn}"), turn) for turn in turns))

    asking.wait(work())
    assert [one.parts[-2] for one in model.requests] == ["3", "1", "2"]


def test_a_budget_needs_a_price(open_asking: Open, question: Make) -> None:
    asking = open_asking(budget=Budget(usd=1))
    model = ScriptedModel([])
    with pytest.raises(InputError, match=r"prices=FILE\n\[\"scripted\"\]"):
        asking.expect(model)
    with pytest.raises(InputError, match="must be known what scripted costs"):
        put(asking, model, question())


def test_the_same_run_sends_nothing_twice(
    open_asking: Open, question: Make, tmp_path: Path
) -> None:
    def say(request: ChatRequest) -> Any:
        if request.parts[-2] == "filtered":
            return ChatReply("", "filter")
        if request.parts[-2] == "wide" and len(wanted(request)) > 1:
            return ChatReply("{", "length")
        return yes("p01")

    questions = [
        question("one"),
        question("filtered"),
        question("wide", "p01", "p02"),
        question("lacking", "p01", "p02"),
    ]
    first = open_asking()
    before = put(first, ScriptedModel(say), *questions)
    first.close()
    model = ScriptedModel(say)
    again = open_asking()
    after = put(again, model, *questions)
    assert after[0] == before[0]
    assert after[1] == before[1]
    assert after[2].items == before[2].items
    assert after[3].items == before[3].items
    assert {tuple(wanted(one)) for one in model.requests} == {("p02",)}
    assert again.counts().from_journal == 3
    assert totals(tmp_path / RunEntry.JOURNAL).calls == first.counts().calls + again.counts().calls


def test_what_failed_is_asked_again_by_the_same_command(
    open_asking: Open, question: Make, tmp_path: Path
) -> None:
    first = open_asking()
    (failed,) = put(first, ScriptedModel(lambda _: FAILURE), question())
    first.close()
    (outcome,) = put(open_asking(), ScriptedModel([yes()]), question())
    assert (failed.status, outcome.status) == ("failed", "ok")
    assert troubles(tmp_path, outcome) == ["server_error"] * 6 + [None]


def test_another_run_takes_replies_from_the_cache(
    open_asking: Open, question: Make, tmp_path: Path
) -> None:
    notes: list[str] = []
    folders = [tmp_path / "one", tmp_path / "two"]
    outcomes = []
    for folder, said in zip(folders, ([reply("p01")], []), strict=True):
        folder.mkdir()
        cache = ReplyCache(tmp_path / "cache", notes.append)
        asking = open_asking(folder, cache=cache, prices=PRICES)
        outcomes += put(asking, Real(said), question())
        asking.close()
    assert outcomes[0] == outcomes[1]
    taken = totals(folders[1] / RunEntry.JOURNAL)
    assert (taken.calls, taken.from_cache, taken.usd) == (0, 1, 0.0)
    assert notes == []


def test_another_vote_is_another_question(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: yes())
    put(open_asking(), model, question("t"), question("t", vote=1))
    assert len(model.requests) == 2


def test_who_asks_the_same_shares_the_reply(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: yes(), delay=1)
    asking = open_asking()
    outcomes = put(asking, model, *(question("same") for _ in range(5)))
    assert outcomes == [outcomes[0]] * 5
    put(asking, model, question("same"))
    assert len(model.requests) == 1


def test_lower_turns_are_served_first(open_asking: Open, question: Make) -> None:
    model = ScriptedModel(lambda _: yes(), delay=1)
    asking = open_asking(limits=CallLimits(concurrency=1))

    async def work() -> None:
        await asyncio.gather(
            *(asking.ask(model, question(f"{turn}"), turn) for turn in (5, 3, 9, 1, 7))
        )

    asking.wait(work())
    assert [one.parts[-2] for one in model.requests] == ["5", "1", "3", "7", "9"]


def test_a_call_is_in_flight_until_it_is_kept(
    open_asking: Open, question: Make, tmp_path: Path
) -> None:
    kept: list[int] = []

    def say(_: ChatRequest) -> dict[str, Any]:
        kept.append(totals(tmp_path / RunEntry.JOURNAL).calls)
        return yes()

    asking = open_asking(limits=CallLimits(concurrency=1))
    put(asking, ScriptedModel(say), *(question(f"{n}") for n in range(5)))
    assert kept == [0, 1, 2, 3, 4]


def test_counts_say_what_is_not_known(open_asking: Open, question: Make) -> None:
    asking = open_asking()
    put(asking, ScriptedModel([reply(usage=Usage(100, 10, 40))]), question())
    counts = asking.counts()
    assert (counts.prompt, counts.cached, counts.completion, counts.usd) == (100, 40, 10, None)
    assert (counts.answered, counts.calls, counts.in_flight, counts.waiting) == (1, 1, 0, 0)


def test_models_are_closed_with_the_asker(open_asking: Open, question: Make) -> None:
    asking, model = open_asking(), ScriptedModel([yes()])
    put(asking, model, question())
    asking.close()
    assert model.closed


def test_an_error_of_the_work_itself_is_raised(open_asking: Open, question: Make) -> None:
    with pytest.raises(AssertionError, match="was asked for one more"):
        put(open_asking(), ScriptedModel([]), question())


def test_only_the_last_outcomes_are_remembered() -> None:
    remembered = Remembered(3)
    for name in "abcd":
        remembered.put(name, Outcome("ok"))
        remembered.get("a")
    assert len(remembered) == 3
    assert [name for name in "abcd" if remembered.get(name)] == ["a", "c", "d"]


@pytest.mark.parametrize("usage", [Usage(0, 0), Usage(1, 1), Usage(0, 0, 0, 0)])
def test_a_server_that_counts_nothing_is_stopped_by_the_budget(
    usage: Usage, open_asking: Open, question: Make
) -> None:
    long = json.dumps({"p01": {"reason": "so " * 1_000, "verdict": "yes"}})
    model = ScriptedModel(lambda _: ChatReply(long, usage=usage))
    asking = open_asking(prices=PRICES, budget=Budget(usd=0.1), limits=CallLimits(concurrency=4))
    outcomes = put(asking, model, *(question(f"{n}") for n in range(60)))
    sent = sum(len(one.system) + len(one.text) for one in model.requests) / 4
    true = (sent * 1.0 + len(model.requests) * len(long) / 4 * 10.0) / 1e6
    assert outcomes[-1].status == "failed"
    assert 0.08 < true <= 0.1
    assert asking.counts().usd == pytest.approx(true, rel=0.01)


def test_only_so_much_is_kept_of_a_reply(open_asking: Open, question: Make, tmp_path: Path) -> None:
    text = json.dumps({**yes("p01"), "more": "x" * 5_000_000})
    model = ScriptedModel(lambda _: ChatReply(text, model="m" * 5_000_000))
    (outcome,) = put(open_asking(), model, question("one"))
    assert outcome.status in ("truncated", "failed")
    assert sum(one.stat().st_size for one in tmp_path.rglob("*") if one.is_file()) < 5_000_000
