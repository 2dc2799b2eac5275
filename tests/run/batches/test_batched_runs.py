"""Runs in batches: nothing is asked twice, nothing is lost, and the numbers are the same."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragstone import InputError, Limits, Run, aevaluate, evaluate, forecast
from ragstone import batches as listed
from ragstone.core.errors import BatchesWaiting, ModelError
from ragstone.core.files import RunEntry
from ragstone.core.messages import Reason
from ragstone.models.chat import ChatReply, ChatRequest
from ragstone.models.chat.provider_batches import OpenAiBatches
from ragstone.run.batches import batch_follower as following
from ragstone.run.batches import batch_loop as passes
from ragstone.run.batches.batch_follower import ListedBatches
from ragstone.run.batches.batch_journal import BatchJournal, KeptBatch
from ragstone.run.calls.journal_reader import totals
from ragstone.run.folder.run_list import Progress
from tests.batch_provider import BatchProvider, long_ago

from .conftest import METRICS, files

Batched = Callable[..., Run]
ALONE = Limits(cached=False)


def kept(run: Path) -> list[KeptBatch]:
    journal = BatchJournal.open(run / RunEntry.BATCHES, to_read=True)
    try:
        return journal.batches
    finally:
        journal.close()


Single = tuple[set[str], dict[str, bytes]]
"""The questions of a run without batches, and what it says."""


@pytest.fixture(scope="module")
def singles() -> dict[str, Single]:
    """Of each format that was asked for so far."""
    return {}


@pytest.fixture
def same_as_single(
    answers: list[dict[str, Any]], tmp_path: Path, singles: dict[str, Single]
) -> Callable[..., None]:
    """That a run says what the same run without batches says."""

    def check(run: Run, provider: BatchProvider) -> None:
        questions = set(provider.paid)
        if provider.speaks not in singles:
            provider.paid.clear()
            single = evaluate(
                answers, metrics=METRICS, judge=provider.judge, out=tmp_path / "single",
                limits=ALONE,
            )  # fmt: skip
            singles[provider.speaks] = set(provider.paid), files(single.path)
        assert singles[provider.speaks] == (questions, files(run.path)), "the same questions too"

    return check


@pytest.fixture
def prices(tmp_path: Path) -> Callable[..., Path]:
    """A file with the price of a judge."""

    def written(judge: str, more: str = "") -> Path:
        file = tmp_path / "prices.toml"
        file.write_text(f'["{judge}"]\ninput = 10\noutput = 100\n{more}\n')
        return file

    return written


def test_a_run_in_batches_says_what_the_run_without_them_says(
    any_provider: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    run = batched(any_provider)
    assert set(any_provider.paid.values()) == {1}, "nothing is asked twice"
    assert len(any_provider.made) == 2, "one batch for each stage"
    assert any_provider.single == 2, "the first question of each stage goes ahead"
    assert totals(run.path / RunEntry.JOURNAL).calls == len(any_provider.paid)
    assert not any(one.startswith("answered_before") for one in run.form.remarks)
    same_as_single(run, any_provider)


def test_a_run_waits_for_its_batches_and_goes_on_when_they_are_there(
    any_provider: BatchProvider, batched: Batched, same_as_single: Callable[..., None],
    tmp_path: Path,
) -> None:  # fmt: skip
    any_provider.ready = False
    for _ in range(3):
        with pytest.raises(BatchesWaiting, match="waits for 1 batch with") as waiting:
            batched(any_provider)
        assert waiting.value.batches == tuple(any_provider.made)
        assert any_provider.creations == 1

    async def in_a_loop() -> ListedBatches:
        return listed(tmp_path / "run")

    found = asyncio.run(in_a_loop())
    assert found.waits
    assert [one.state for one in found.batches] == ["sent"]
    any_provider.ready = True
    assert listed(tmp_path / "run").batches[0].answered == kept(tmp_path / "run")[0].requests
    run = batched(any_provider)
    assert any_provider.creations == 2
    assert set(any_provider.paid.values()) == {1}
    assert not list((run.path / "batches").iterdir()), "no file of requests is left"
    assert [one.state for one in kept(run.path)] == ["taken", "taken"]
    same_as_single(run, any_provider)
    assert batched(any_provider).path == run.path
    assert any_provider.creations == 2, "a finished run asks nothing"


def test_what_a_batch_did_not_answer_is_in_the_next(
    any_provider: BatchProvider, batched: Batched
) -> None:
    fates = ["expired", "canceled", "errored", "lost", "twice", "malformed"]
    any_provider.does = lambda number, place: fates[place % 6] if number == 0 else "ok"
    run = batched(any_provider)
    assert len(any_provider.made) == 3, "what was left is asked in one more batch, with stage two"
    malformed = sum(place % 6 == 5 for place in range(len(first_of(any_provider).requests)))
    twice = sum(place % 6 == 4 for place in range(len(first_of(any_provider).requests)))
    assert twice
    assert sum(any_provider.paid.values()) == len(any_provider.paid) + malformed
    assert totals(run.path / RunEntry.JOURNAL).troubles["malformed"] == malformed
    any_provider.paid.clear()
    any_provider.does = lambda _number, _place: "ok"
    assert batched(any_provider).path == run.path
    assert not any_provider.paid


def first_of(provider: BatchProvider) -> Any:
    return next(iter(provider.made.values()))


def test_what_a_batch_did_not_answer_is_asked_alone_if_so_told(
    any_provider: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    fates = ["expired", "ok", "errored", "lost"]
    any_provider.does = lambda _, place: fates[place % 4]
    run = batched(any_provider, batch_rest="alone")
    assert len(any_provider.made) == 2
    assert set(any_provider.paid.values()) == {1}
    asked = sum(len(one.requests) for one in any_provider.made.values())
    assert 2 < any_provider.single < asked
    same_as_single(run, any_provider)


def test_a_question_that_no_batch_answers_is_given_up_and_asked_again_by_the_same_command(
    any_provider: BatchProvider, batched: Batched
) -> None:
    any_provider.does = lambda _number, _place: "expired"
    run = batched(any_provider)
    keys = Counter(
        custom.split("-")[0] for one in any_provider.made.values() for custom, _ in one.requests
    )
    assert max(keys.values()) == 3, "in as many batches a question is asked"
    before = len(any_provider.made)
    assert run.manifest["unheard"]
    assert any("batch_unanswered" in (one or "") for one in run.scores()["reason"])
    any_provider.does = lambda _number, _place: "ok"
    again = batched(any_provider)
    assert not again.manifest["unheard"]
    assert set(any_provider.paid.values()) == {1}
    assert len(any_provider.made) <= before + 2


@pytest.mark.parametrize("ends", ["expired", "cancelled"])
def test_a_batch_that_ends_early_is_taken_as_far_as_it_came(
    ends: str, openai: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    fate = {"expired": "expired", "cancelled": "canceled"}[ends]
    openai.ends = ends
    openai.does = lambda number, place: fate if number == 0 and place > 3 else "ok"
    run = batched(openai)
    assert set(openai.paid.values()) == {1}
    same_as_single(run, openai)


def test_a_run_that_may_wait_waits(openai: BatchProvider, batched: Batched) -> None:
    looks = 0

    def late() -> None:
        nonlocal looks
        looks += 1
        openai.ready = looks > 3

    openai.ready = False
    openai.before_look = late
    assert batched(openai, batch_wait=600.0).form.finished
    assert looks > 3


def test_a_wait_that_is_cancelled_ends_at_once(
    openai: BatchProvider, answers: list[dict[str, Any]], batched: Batched, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(passes, "FIRST_POLL", 10_000.0)
    openai.ready, looked = False, threading.Event()
    openai.before_look = looked.set

    async def cancelled() -> None:
        run = asyncio.create_task(
            aevaluate(
                answers, metrics=METRICS, judge=openai.judge, out=tmp_path / "run", batch=True,
                batch_wait=20_000.0,
            )
        )  # fmt: skip
        await asyncio.to_thread(looked.wait)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancelled())  # which waits for its threads
    openai.ready = True
    assert batched(openai).form.finished
    assert set(openai.paid.values()) == {1}


def test_files_keep_to_the_limits_of_the_provider(
    openai: BatchProvider, batched: Batched, monkeypatch: pytest.MonkeyPatch,
    same_as_single: Callable[..., None],
) -> None:  # fmt: skip
    monkeypatch.setattr(OpenAiBatches, "most_requests", 5)
    run = batched(openai)
    sizes = [len(one.requests) for one in openai.made.values()]
    assert max(sizes) == 5
    assert len(sizes) > 4
    monkeypatch.setattr(OpenAiBatches, "most_requests", 50_000)
    same_as_single(run, openai)
    assert all(one.bytes <= 200 * 10**6 for one in kept(run.path))


def test_a_file_keeps_to_the_bytes_of_the_provider(
    openai: BatchProvider, batched: Batched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAiBatches, "most_bytes", 20_000)
    run = batched(openai)
    assert len(kept(run.path)) > 2
    assert all(one.bytes <= 20_000 for one in kept(run.path))
    assert set(openai.paid.values()) == {1}


def test_a_batch_costs_half_and_what_the_price_file_says(
    openai: BatchProvider, batched: Batched, prices: Callable[..., Path], tmp_path: Path
) -> None:
    each = (1_000 * 10 + 100 * 100) / 1e6
    run = batched(openai, limits=Limits(prices=prices(openai.judge), cached=False))
    asked = totals(run.path / RunEntry.JOURNAL)
    single = openai.single * each
    assert asked.usd == pytest.approx(single + (asked.calls - openai.single) * each / 2)
    dear = Limits(prices=prices(openai.judge, "batch = 0.8"), cached=False)
    openai.single = 0
    other = batched(openai, limits=dear, out=tmp_path / "other")
    asked = totals(other.path / RunEntry.JOURNAL)
    single = openai.single * each
    assert asked.usd == pytest.approx(single + (asked.calls - openai.single) * each * 0.8)


def test_what_exceeds_the_budget_is_not_sent(
    any_provider: BatchProvider, batched: Batched, prices: Callable[..., Path],
    same_as_single: Callable[..., None],
) -> None:  # fmt: skip
    file = prices(any_provider.judge)
    with pytest.raises(InputError, match=r"expected to cost \$.* None was sent"):
        batched(any_provider, limits=Limits(prices=file, budget=0.06))
    assert not any_provider.made
    assert not any_provider.files
    run = batched(any_provider, limits=Limits(prices=file, budget=50.0))
    assert set(any_provider.paid.values()) == {1}
    same_as_single(run, any_provider)


def test_a_batch_of_more_than_the_calls_that_are_left_is_not_sent(
    openai: BatchProvider, batched: Batched
) -> None:
    with pytest.raises(InputError, match="None was sent"):
        batched(openai, limits=Limits(max_calls=4))
    assert not openai.made
    assert openai.single == 1


def test_the_price_is_told_before_anything_is_uploaded(
    openai: BatchProvider, batched: Batched, prices: Callable[..., Path]
) -> None:
    told: list[tuple[str, int]] = []

    def report(one: Progress) -> None:
        if one.note:
            told.append((one.note, len(openai.files)))

    batched(openai, progress=report, limits=Limits(prices=prices(openai.judge)))
    assert [files for _, files in told] == [0, 1]
    facts = [Reason.read(note).facts for note, _ in told]
    assert all(float(one["usd"]) > 0 and one["share"] == "0.5" for one in facts)
    assert [int(one["n"]) for one in facts] == [len(one.requests) for one in openai.made.values()]


def test_a_forecast_in_batches_costs_half(
    openai: BatchProvider, answers: list[dict[str, Any]], prices: Callable[..., Path]
) -> None:
    limits = Limits(prices=prices(openai.judge))
    whole, half = (
        forecast(answers, metrics=METRICS, judge=openai.judge, limits=limits, batch=batch)
        for batch in (False, True)
    )
    assert whole.total.usd
    assert half.total.usd == pytest.approx(whole.total.usd / 2)
    assert "priced_in_batches" in half.notes
    assert "priced_in_batches" not in whole.notes


def test_without_the_option_a_run_does_not_ask_what_its_batches_answer(
    openai: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    openai.ready = False
    with pytest.raises(BatchesWaiting):
        batched(openai)
    with pytest.raises(InputError, match="Run the same command with batch=True"):
        batched(openai, batch=False)
    assert openai.single == 1
    openai.ready = True
    same_as_single(batched(openai), openai)


def test_a_batch_of_another_account_is_one_clear_line(
    any_provider: BatchProvider, batched: Batched, tmp_path: Path
) -> None:
    any_provider.ready = False
    with pytest.raises(BatchesWaiting):
        batched(any_provider)
    for status in (401, 403, 404):
        any_provider.refuse_known = status
        with pytest.raises(ModelError, match="cannot be read with this key") as failure:
            batched(any_provider)
        assert "Set the key of the account that sent it" in str(failure.value)
        assert listed(tmp_path / "run").faults
    any_provider.refuse_known = None
    any_provider.ready = True
    batched(any_provider)
    assert set(any_provider.paid.values()) == {1}


def test_a_server_without_batches_is_one_clear_line(
    openai: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    openai.refuse = (404, "Not Found")
    with pytest.raises(ModelError, match="seems to have no batches: leave out batch=True"):
        batched(openai)
    run = batched(openai, batch=False)
    assert set(openai.paid.values()) == {1}
    same_as_single(run, openai)


async def says_nothing(request: ChatRequest) -> ChatReply:
    raise AssertionError(request)


def test_a_judge_without_batches_is_refused_before_anything_is_asked(
    answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"no batches there\. Leave out batch=True"):
        evaluate(answers, metrics=METRICS, judge=says_nothing, batch=True, out=tmp_path / "run")
    with pytest.raises(InputError, match="needs a judge that is a model"):
        evaluate(answers, metrics="precision(k=2)", batch=True, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("out", "fault"), [(None, "needs a folder in which"), ("s3://bucket/run", "folder on the disk")]
)
def test_a_run_that_would_not_be_found_again_is_refused(
    out: str | None, fault: str, openai: BatchProvider, batched: Batched
) -> None:
    with pytest.raises(InputError, match=fault):
        batched(openai, out=out)
    assert not openai.calls


@pytest.mark.parametrize(
    ("option", "fault"),
    [({"batch_rest": "later"}, "batch or alone"), ({"batch_wait": -1.0}, "0 or more")],
)
def test_a_wrong_option_is_refused(
    option: dict[str, Any], fault: str, openai: BatchProvider, batched: Batched
) -> None:
    with pytest.raises(InputError, match=fault):
        batched(openai, **option)
    assert not openai.calls


def test_a_batch_that_the_provider_refuses_is_sent_anew_by_the_same_command(
    openai: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    openai.ends = "failed"
    openai.does = lambda _number, _place: "lost"
    with pytest.raises(ModelError, match="refused batch b-1"):
        batched(openai)
    openai.ends = "completed"
    openai.does = lambda _number, _place: "ok"
    run = batched(openai)
    assert set(openai.paid.values()) == {1}
    same_as_single(run, openai)


def test_no_key_is_kept(
    any_provider: BatchProvider, batched: Batched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = {"openai": "OPENAI", "anthropic": "ANTHROPIC", "gemini": "GEMINI"}
    key = "sk-secret-0123456789abcdef"
    monkeypatch.setenv(f"{names[any_provider.speaks]}_API_KEY", key)
    any_provider.ready = False
    with pytest.raises(BatchesWaiting) as waiting:
        batched(any_provider)
    assert key not in str(waiting.value)
    assert any(key in sent for sent in any_provider.keys)
    for file in (tmp_path / "run").rglob("*"):
        assert file.is_dir() or key.encode() not in file.read_bytes()


def test_a_second_judge_is_asked_only_of_what_the_first_left_open(
    openai: BatchProvider, answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    judges = ["local", openai.judge]
    metrics = (*METRICS, "helpfulness", "abstention")
    run = evaluate(answers, metrics=metrics, judge=judges, batch=True, out=tmp_path / "run")
    in_batches = set(openai.paid)
    assert set(openai.paid.values()) == {1}
    single = evaluate(answers, metrics=metrics, judge=judges, out=tmp_path / "one", limits=ALONE)
    assert set(openai.paid) == in_batches
    assert files(run.path) == files(single.path)


def test_the_lean_plan_and_panels_work_in_batches(
    openai: BatchProvider, answers: list[dict[str, Any]], tmp_path: Path
) -> None:
    from ragstone import Instructions

    panel = f"{openai.judge},{openai.judge}?seed=2,{openai.judge}?seed=3"
    options: dict[str, Any] = {"judge": panel, "instructions": Instructions(plan="lean")}
    run = evaluate(answers, metrics=METRICS, batch=True, out=tmp_path / "run", **options)
    asked = dict(openai.paid)
    single = evaluate(answers, metrics=METRICS, out=tmp_path / "one", limits=ALONE, **options)
    assert {prompt: times / 2 for prompt, times in openai.paid.items()} == asked
    assert files(run.path) == files(single.path)


def test_a_lost_reply_to_the_creation_is_looked_for_and_not_repeated(
    any_provider: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    any_provider.broken = 1
    any_provider.ready = any_provider.speaks != "anthropic"
    try:
        run = batched(any_provider)
    except BatchesWaiting:
        any_provider.ready = True
        run = batched(any_provider)
    assert any_provider.creations == 2
    assert set(any_provider.paid.values()) == {1}
    same_as_single(run, any_provider)


def test_a_batch_that_was_not_created_is_sent_after_a_while(
    any_provider: BatchProvider, batched: Batched, same_as_single: Callable[..., None],
    tmp_path: Path,
) -> None:  # fmt: skip
    any_provider.broken, any_provider.creates = 1, False
    with pytest.raises(BatchesWaiting, match="was being sent"):
        batched(any_provider)
    with pytest.raises(BatchesWaiting, match="was being sent"):
        batched(any_provider)
    any_provider.creates = True
    long_ago(tmp_path / "run")
    run = batched(any_provider)
    assert set(any_provider.paid.values()) == {1}
    same_as_single(run, any_provider)


def test_a_batch_that_is_listed_late_is_not_sent_twice(
    any_provider: BatchProvider, batched: Batched, same_as_single: Callable[..., None],
    tmp_path: Path,
) -> None:  # fmt: skip
    any_provider.broken, any_provider.overlooks = 1, True
    with pytest.raises(BatchesWaiting, match="was being sent"):
        batched(any_provider)
    long_ago(tmp_path / "run", following.LEAST_TIME + following.GRACE / 2)
    with pytest.raises(BatchesWaiting, match="was being sent"):
        batched(any_provider)
    assert any_provider.creations == 1, "its server may still be at work on the request"
    any_provider.overlooks = False
    while True:
        try:
            run = batched(any_provider)
            break
        except BatchesWaiting:
            continue
    assert any_provider.creations == 2
    assert set(any_provider.paid.values()) == {1}
    same_as_single(run, any_provider)


HOSTILE: list[dict[str, Any]] = [
    {},
    {"custom_id": 7, "key": 7},
    {"custom_id": "\ud800-x", "key": "\ud800-x", "metadata": {"key": "\ud800"}},
    {"custom_id": "k-" + "0" * 12, "key": "k-" + "0" * 12, "result": {"type": "succeeded"},
     "response": {"status_code": 200, "body": {}}},
]  # fmt: skip


def test_results_that_were_not_asked_for_prove_nothing_and_are_passed_over(
    any_provider: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    any_provider.garbage = HOSTILE
    any_provider.broken = 1
    while True:
        try:
            run = batched(any_provider)
            break
        except BatchesWaiting:
            continue
    assert any_provider.creations == 2
    assert set(any_provider.paid.values()) == {1}
    same_as_single(run, any_provider)


def test_a_status_that_no_file_can_keep_is_no_reply(
    openai: BatchProvider, batched: Batched, same_as_single: Callable[..., None]
) -> None:
    line = openai._openai_line

    def odd(custom: str, body: dict[str, Any], what: str) -> dict[str, Any]:
        made = line(custom, body, what)
        if len(openai.made) == 1:
            made["response"]["status_code"] = 10**30
        return made

    openai._openai_line = odd  # type: ignore[method-assign]
    run = batched(openai)
    assert len(openai.made) == 3
    same_as_single(run, openai)


def test_a_word_for_a_state_that_cannot_be_encoded_is_shown(
    openai: BatchProvider, batched: Batched, tmp_path: Path
) -> None:
    openai.ends = "odd\ud800"
    with pytest.raises(BatchesWaiting, match=r"odd\?"):
        batched(openai)
    assert kept(tmp_path / "run")[0].said.lower() == "odd?"


def test_what_was_not_created_does_not_wait_for_other_batches(
    openai: BatchProvider, batched: Batched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(OpenAiBatches, "most_requests", 8)
    openai.broken, openai.creates, openai.ready = 1, False, False
    with pytest.raises(BatchesWaiting):
        batched(openai)
    there = len(openai.made)
    long_ago(tmp_path / "run")
    with pytest.raises(BatchesWaiting):
        batched(openai)
    assert len(openai.made) > there
    openai.ready = True
    batched(openai)
    assert set(openai.paid.values()) == {1}


def test_a_server_that_asks_for_a_long_pause_is_not_waited_for(
    openai: BatchProvider, batched: Batched
) -> None:
    openai.ready = False
    with pytest.raises(BatchesWaiting):
        batched(openai)
    openai.refuse, openai.pause = (429, "Slow down"), 86_400
    with pytest.raises(ModelError, match="cannot be read"):
        batched(openai)


def test_one_batch_that_cannot_be_read_does_not_keep_others_from_being_taken(
    openai: BatchProvider, batched: Batched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(OpenAiBatches, "most_requests", 8)
    openai.ready = False
    with pytest.raises(BatchesWaiting):
        batched(openai)
    first = openai.made.pop("b-1")
    openai.ready = True
    with pytest.raises(ModelError, match="b-1 cannot be read with this key"):
        batched(openai)
    states = {one.id: one.state for one in kept(tmp_path / "run")}
    assert states.pop("b-1") == "sent"
    assert set(states.values()) == {"taken"}
    with pytest.raises(InputError, match="waits for no batch b-2"):
        listed(tmp_path / "run", forget="b-2")
    found = listed(tmp_path / "run", forget="b-1")
    assert not found.waits
    batched(openai)
    assert set(openai.paid.values()) == {1}, "what was taken is not asked again"
    assert {openai._prompt(body) for _, body in first.requests} <= set(openai.paid)
