"""Batches in the formats of three providers, against servers that speak them."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragstone.models.chat import ChatFailure, ChatModel, ChatRequest, open_chat, provider_batches
from ragstone.models.chat import batch_server as listing
from ragstone.models.chat.batch_server import BatchResult, ChatBatches
from ragstone.models.chat.http_chat import AskingChat
from tests.batch_provider import BatchProvider, provider

FORMATS = ("openai", "anthropic", "gemini")
PROMPT = (
    "PROPOSITIONS\np01: The pier is 90 m long.\nThe texts end here\nids: p01 {0}\n"
    "verdict: yes | no\n"
)


@pytest.fixture(params=FORMATS)
def there(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BatchProvider]:
    with provider(request.param) as made:
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        yield made


def opened(there: BatchProvider) -> tuple[ChatModel, ChatBatches]:
    model = open_chat(there.judge)
    assert isinstance(model, AskingChat)
    assert model.batches is not None
    return model, model.batches


def within(there: BatchProvider, work: Callable[[ChatBatches], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        model, batches = opened(there)
        try:
            return await work(batches)
        finally:
            await model.close()

    return asyncio.run(run())


def file_of(batches: ChatBatches, question: ChatRequest, folder: Path, count: int = 3) -> Path:
    file = folder / "requests.jsonl"
    asked = (replace(question, parts=(PROMPT.format(number),)) for number in range(count))
    file.write_bytes(b"".join(batches.line(f"k{n}-tag", one) for n, one in enumerate(asked)))
    return file


async def sent(batches: ChatBatches, file: Path) -> str:
    uploaded = await batches.upload(file, "tag")
    return await batches.create(file, uploaded, "tag")


async def ended(batches: ChatBatches, batch: str) -> list[BatchResult]:
    found = await batches.status(batch)
    assert found.state == "ended"
    return [one async for one in batches.results(found)]


def test_a_batch_goes_round(there: BatchProvider, question: ChatRequest, tmp_path: Path) -> None:
    async def round_trip(batches: ChatBatches) -> None:
        batch = await sent(batches, file_of(batches, question, tmp_path))
        there.ready = False
        open_ = await batches.status(batch)
        assert (open_.state, open_.requests, open_.answered) == ("open", 3, 0)
        there.ready = True
        results = await ended(batches, batch)
        assert sorted(one.custom for one in results) == ["k0-tag", "k1-tag", "k2-tag"]
        read = [batches.read(one.status or 0, one.body) for one in results]
        assert {one.model for one in read} == {"m-1"}
        assert all(json.loads(one.text)["items"][0]["id"] == "p01" for one in read)
        assert {(one.usage.prompt, one.usage.completion) for one in read} == {(1_000, 100)}

    within(there, round_trip)
    assert sum(there.paid.values()) == 3


def test_what_was_not_answered_is_told_from_what_failed(
    there: BatchProvider, question: ChatRequest, tmp_path: Path
) -> None:
    fates = ["ok", "expired", "canceled", "errored", "lost", "twice"]
    there.does = lambda _, place: fates[place]

    async def look(batches: ChatBatches) -> None:
        batch = await sent(batches, file_of(batches, question, tmp_path, 6))
        found = await batches.status(batch)
        assert found.answered == 2
        results = [one async for one in batches.results(found)]
        by_place = {place: [one.status for one in results if one.custom == f"k{place}-tag"]
                    for place in range(6)}  # fmt: skip
        assert by_place == {0: [200], 1: [None], 2: [None], 3: [500], 4: [], 5: [200, 200]}
        failed = next(one for one in results if one.status == 500)
        with pytest.raises(ChatFailure) as failure:
            batches.read(500, failed.body)
        assert failure.value.trouble == "server_error"

    within(there, look)


def test_a_batch_is_found_again_among_others_over_pages(
    there: BatchProvider, question: ChatRequest, tmp_path: Path
) -> None:
    async def look(batches: ChatBatches) -> None:
        file = file_of(batches, question, tmp_path)
        mine = await sent(batches, file)
        for number in range(5):
            uploaded = await batches.upload(file, f"other-{number}")
            await batches.create(file, uploaded, f"other-{number}")
        found = await batches.find("tag", time.time(), 3)
        if batches.by_name:
            assert found == [mine]
            assert await batches.find("none", time.time(), 3) == []
        else:
            assert mine in found, "count and time are all that is known before the results"
            assert len(found) == 6
        assert await batches.find("none", time.time() + 86_400, 4) == []

    within(there, look)


def test_without_metadata_the_name_of_the_file_tells(question: ChatRequest, tmp_path: Path) -> None:
    async def look(batches: ChatBatches) -> None:
        file = file_of(batches, question, tmp_path)
        mine = await sent(batches, file)
        uploaded = await batches.upload(file, "other")
        await batches.create(file, uploaded, "other")
        assert await batches.find("tag", time.time(), 3) == [mine]

    with provider("openai") as there:
        there.labelled = False
        within(there, look)


def test_a_list_that_begins_with_the_oldest_is_read_to_its_end(
    there: BatchProvider, question: ChatRequest, tmp_path: Path
) -> None:
    async def look(batches: ChatBatches) -> None:
        file = file_of(batches, question, tmp_path)
        there.oldest_first, there.behind = True, 1e7
        for number in range(5):
            await batches.create(file, await batches.upload(file, f"old-{number}"), f"old-{number}")
        there.behind = 0.0
        mine = await sent(batches, file)
        assert await batches.find("tag", time.time(), 3) == [mine]

    within(there, look)


def test_a_batch_is_found_by_a_clock_that_is_hours_behind(
    there: BatchProvider, question: ChatRequest, tmp_path: Path
) -> None:
    async def look(batches: ChatBatches) -> None:
        there.behind = 8 * 3_600
        mine = await sent(batches, file_of(batches, question, tmp_path))
        assert await batches.find("tag", time.time(), 3) == [mine]

    within(there, look)


def test_a_list_that_does_not_end_is_no_list_without_the_batch(
    there: BatchProvider, question: ChatRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGES", 2)

    async def look(batches: ChatBatches) -> None:
        file = file_of(batches, question, tmp_path)
        for number in range(7):
            await batches.create(file, await batches.upload(file, f"o-{number}"), f"o-{number}")
        with pytest.raises(ChatFailure, match="list of batches does not end"):
            await batches.find("tag", time.time(), 4)

    within(there, look)


def test_what_a_list_has_that_is_no_batch_of_ours_is_passed_over(
    there: BatchProvider, question: ChatRequest, tmp_path: Path
) -> None:
    there.labelled = False
    there.strangers = [
        {"id": "s1", "created_at": 2**40, "input_file_id": "file-deleted", "metadata": None},
        {"id": "s2", "created_at": "2999-01-01T00:00:00Z", "request_counts": 5, "metadata": "x"},
        {"id": "s3", "metadata": {"displayName": ["tag"]}, "request_counts": {"succeeded": True}},
        {"id": "s4"},
    ]

    async def look(batches: ChatBatches) -> None:
        mine = await sent(batches, file_of(batches, question, tmp_path))
        assert await batches.find("tag", time.time(), 3) == [mine]

    within(there, look)


def test_a_large_batch_for_gemini_is_a_file(
    question: ChatRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider_batches, "INLINE", 10)
    monkeypatch.setenv("GEMINI_API_KEY", "AIza-of-mine-0123456789")

    async def look(batches: ChatBatches) -> None:
        results = await ended(batches, await sent(batches, file_of(batches, question, tmp_path)))
        assert sorted(one.custom for one in results) == ["k0-tag", "k1-tag", "k2-tag"]

    with provider("gemini") as there:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", there.url)
        within(there, look)
        assert list(there.files) == ["files/f1"]
        assert there.keys == {"AIza-of-mine-0123456789"}


def test_a_refusal_names_host_and_variable_and_no_key(
    there: BatchProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY",
                 "gemini": "GEMINI_API_KEY"}  # fmt: skip
    key = "sk-secret-0123456789abcdef"
    monkeypatch.setenv(variables[there.speaks], key)
    there.refuse = (401, f"Wrong key {key}")

    async def look(batches: ChatBatches) -> None:
        with pytest.raises(ChatFailure) as failure:
            await batches.status("batches/1")
        assert failure.value.trouble == "not_allowed"
        assert f"The key of {variables[there.speaks]} was sent" in str(failure.value)
        assert key not in str(failure.value) + failure.value.body

    within(there, look)


def test_a_failed_batch_says_why(question: ChatRequest, tmp_path: Path) -> None:
    async def look(batches: ChatBatches) -> None:
        batch = await sent(batches, file_of(batches, question, tmp_path))
        assert (await batches.status(batch)).state == "failed"

    with provider("openai") as there:
        there.ends = "failed"
        within(there, look)


def test_a_batch_that_is_done_has_ended_whatever_its_state_is_called(
    question: ChatRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look(batches: ChatBatches) -> None:
        batch = await sent(batches, file_of(batches, question, tmp_path))
        assert len(await ended(batches, batch)) == 3

    with provider("gemini") as there:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", there.url)
        there.ends = "partially_succeeded"
        within(there, look)


def test_ids_of_servers_stay_in_their_path(there: BatchProvider) -> None:
    async def look(batches: ChatBatches) -> None:
        with pytest.raises(ChatFailure):
            await batches.status("../../files")

    within(there, look)
    assert not any("/../" in path or path.endswith("/files") for _, path in there.calls)
