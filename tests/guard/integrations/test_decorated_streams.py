"""The decorator on functions that answer piece by piece."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from ragstone.guard import Checks, Guard, NotJudged
from ragstone.guard.integrations.decorator import guarded
from ragstone.guard.integrations.request_guard import HELD, Ruling, tell_guard

PIER = ["The pier at Penmarrow is 90 metres long. It is made of granite."]
TRUE, GRANITE = "The pier at Penmarrow is 90 metres long.", "It is made of granite."
FALSE = "Napoleon paid 1822 crowns for it."
MIXED = f"{TRUE} {FALSE} {GRANITE}"
GUARD = Guard(Checks(citations=False))


def words(text: str) -> list[str]:
    first, *others = text.split(" ")
    return [first, *(f" {one}" for one in others)]


def streamed(text: str = MIXED, contexts: Any = PIER, **how: Any) -> list[Any]:
    @guarded(how.pop("guard", GUARD), **how)
    def answer(question: str, contexts: Any) -> Iterator[Any]:
        assert question or contexts
        yield from words(text)

    return list(answer("How long is the pier?", contexts))


def astreamed(text: str = MIXED, contexts: Any = PIER, **how: Any) -> list[Any]:
    @guarded(how.pop("guard", GUARD), **how)
    async def answer(question: str, contexts: Any) -> AsyncIterator[Any]:
        assert question or contexts
        for one in words(text):
            yield one

    async def called() -> list[Any]:
        return [one async for one in answer("How long is the pier?", contexts)]

    return asyncio.run(called())


BOTH = pytest.mark.parametrize("stream", [streamed, astreamed])


@BOTH
def test_sentences_leave_as_far_as_they_are_supported(stream: Any) -> None:
    rulings: list[Ruling] = []
    assert "".join(stream(on_ruling=rulings.append)) == f"{TRUE} {HELD} {GRANITE}"
    assert [(one.held, one.assessment.ok) for one in rulings] == [(True, False)]
    assert "".join(stream(f"{TRUE} {GRANITE}")) == f"{TRUE} {GRANITE}"


@BOTH
@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"policy": "hold_all"}, HELD),
        ({"stop_early": True, "on_fail": "…"}, f"{TRUE} …"),
        ({"policy": "flag_after"}, MIXED),
        ({"on_fail": None}, MIXED),
        ({"on_fail": lambda ruling: f" [{ruling.assessment.decision}]"}, f"{TRUE} {GRANITE} [ask]"),
        ({"on_fail": lambda _: None}, f"{TRUE} {GRANITE}"),
    ],
)
def test_each_policy_lets_leave_what_it_says(stream: Any, how: dict[str, Any], text: str) -> None:
    assert "".join(stream(**how)) == text


@BOTH
def test_a_function_may_raise_at_the_end_of_a_stream_that_was_held(stream: Any) -> None:
    def raising(ruling: Ruling) -> None:
        raise PermissionError(ruling.assessment.issues[0].code)

    with pytest.raises(PermissionError, match="new_number"):
        stream(on_fail=raising)


@BOTH
@pytest.mark.parametrize(("policy", "text"), [("open", MIXED), ("closed", HELD)])
def test_what_cannot_be_judged_is_by_the_policy(stream: Any, policy: str, text: str) -> None:
    rulings: list[Ruling] = []
    how = {"if_not_judged": policy, "on_ruling": rulings.append}
    assert "".join(stream(contexts=None, **how)) == text
    assert "".join(stream(contexts=PIER, question=lambda _: 1 / 0, **how)) == text
    assert [one.unjudged for one in rulings] == ["contexts_not_told", "extract_failed"]


def test_the_first_sentence_leaves_before_the_second_is_written() -> None:
    written: list[str] = []

    @guarded(GUARD)
    def answer(question: str, contexts: Any) -> Iterator[str]:
        for one in (f"{TRUE} It ", "is made of granite."):
            written.append(f"{question and contexts and one}")
            yield one

    stream = answer("How long is the pier?", PIER)
    assert next(stream) == TRUE
    assert len(written) == 1
    assert "".join(stream) == " It is made of granite."


def test_a_generator_can_tell_the_guard_before_it_answers() -> None:
    @guarded(GUARD)
    def answer(question: str) -> Iterator[str]:
        assert question
        tell_guard(contexts=PIER)
        yield from words(MIXED)

    assert "".join(answer("How long is the pier?")) == f"{TRUE} {HELD} {GRANITE}"


def test_what_is_not_part_of_the_answer_passes_and_says_so() -> None:
    call = {"tool_calls": [{"name": "look"}]}
    thought = NotJudged("reasoning", "Was it Napoleon?")

    @guarded(GUARD)
    def answer(question: str, contexts: Any) -> Iterator[Any]:
        yield from (call, thought, {"content": f"{TRUE}"}, question and contexts and b" It is")
        yield b" made of granite."

    found = list(answer("How long is the pier?", PIER))
    assert [one.kind for one in found[:2]] == ["tool_call", "reasoning"]
    assert found[1] is thought
    assert "".join(found[2:]) == f"{TRUE} {GRANITE}"


@pytest.mark.parametrize("policy", ["open", "closed"])
def test_a_piece_of_which_nothing_is_known_is_by_the_policy(policy: Any) -> None:
    odd = object()

    @guarded(GUARD, if_not_judged=policy)
    def answer(question: str, contexts: Any) -> Iterator[Any]:
        yield from (question and contexts and f"{TRUE} It", odd, " is made of granite.")

    found = list(answer("How long is the pier?", PIER))
    assert (odd in found) is (policy == "open")
    assert "".join(one for one in found if isinstance(one, str)) == f"{TRUE} {GRANITE}"


@BOTH
def test_a_stream_without_a_word_is_not_judged(stream: Any) -> None:
    rulings: list[Ruling] = []
    assert "".join(stream("", if_not_judged="closed", on_ruling=rulings.append)) == ""
    assert [one.unjudged for one in rulings] == ["no_text"]


def test_an_error_of_the_source_is_raised_and_what_was_held_does_not_leave() -> None:
    rulings: list[Ruling] = []
    found: list[str] = []

    def source(question: str, contexts: Any) -> Iterator[str]:
        assert question
        assert contexts
        yield f"{TRUE} Napoleon paid"
        raise TimeoutError("of the model")

    how: Any = {"if_not_judged": "closed", "on_ruling": rulings.append}
    stream = guarded(GUARD, **how)(source)("How long is the pier?", PIER)
    with pytest.raises(TimeoutError, match="of the model"):
        found.extend(stream)
    assert TRUE in found
    assert "Napoleon" not in str(found)
    assert len(rulings) == 1


def test_who_stops_reading_closes_the_source_and_is_counted() -> None:
    rulings: list[Ruling] = []
    closed: list[str] = []

    @guarded(GUARD, on_ruling=rulings.append)
    def answer(question: str, contexts: Any) -> Iterator[str]:
        try:
            yield f"{TRUE} It"
            yield f" is made of {question}{contexts}"
        finally:
            closed.append("closed")

    stream: Any = answer("How long is the pier?", PIER)
    assert next(stream) == TRUE
    stream.close()
    assert closed == ["closed"]
    assert len(rulings) == 1


def test_who_stops_reading_an_async_stream_closes_its_source() -> None:
    rulings: list[Ruling] = []
    closed: list[str] = []

    @guarded(GUARD, on_ruling=rulings.append)
    async def answer(question: str, contexts: Any) -> AsyncIterator[str]:
        try:
            yield f"{TRUE} It"
            yield f" is made of {question}{contexts}"
        finally:
            closed.append("closed")

    async def called() -> None:
        stream: Any = answer("How long is the pier?", PIER)
        assert await anext(stream) == TRUE
        await stream.aclose()
        assert closed == ["closed"]

    asyncio.run(called())
    assert len(rulings) == 1


def test_the_source_is_closed_before_what_was_read_is_judged() -> None:
    done: list[str] = []

    @guarded(GUARD, on_ruling=lambda _: done.append("judged"))
    def answer(question: str, contexts: Any) -> Iterator[str]:
        try:
            yield f"{TRUE} It"
            yield f" is made of {question}{contexts}"
        finally:
            done.append("closed")

    stream: Any = answer("How long is the pier?", PIER)
    assert next(stream) == TRUE
    stream.close()
    assert done == ["closed", "judged"]


class ProviderLines:
    """A provider's stream: no generator, and its connection stays open until it is closed."""

    def __init__(self) -> None:
        self.lines = iter([f"{TRUE} It", " is made of granite."])
        self.closed = 0

    def __iter__(self) -> "ProviderLines":
        return self

    def __next__(self) -> str:
        return next(self.lines)

    def close(self) -> None:
        self.closed += 1


class ProviderAsyncLines(ProviderLines):
    def __aiter__(self) -> "ProviderAsyncLines":
        return self

    async def __anext__(self) -> str:
        return next(self.lines)

    async def aclose(self) -> None:
        self.closed += 1


def test_who_stops_reading_closes_a_providers_stream() -> None:
    rulings: list[Ruling] = []

    @guarded(GUARD, on_ruling=rulings.append)
    def answer(question: str, contexts: Any) -> Iterator[str]:
        assert question
        assert contexts
        return lines

    lines = ProviderLines()
    stream: Any = answer("How long is the pier?", PIER)
    assert next(stream) == TRUE
    stream.close()
    assert (lines.closed, list(lines)) == (1, [" is made of granite."])

    async def called() -> None:
        stream: Any = answer("How long is the pier?", PIER)
        assert await anext(stream) == TRUE
        await stream.aclose()

    lines = ProviderAsyncLines()
    asyncio.run(called())
    assert (lines.closed, list(lines)) == (1, [" is made of granite."])
    assert len(rulings) == 2


def test_a_function_that_returns_an_iterator_is_a_stream() -> None:
    @guarded(GUARD)
    def answer(question: str, contexts: Any) -> Iterator[str]:
        assert question
        assert contexts
        return iter(words(MIXED))

    assert "".join(answer("How long is the pier?", PIER)) == f"{TRUE} {HELD} {GRANITE}"

    @guarded(GUARD)
    async def later(question: str, contexts: Any) -> Iterator[str]:
        assert question
        assert contexts
        return iter(words(MIXED))

    assert "".join(asyncio.run(later("How?", PIER))) == f"{TRUE} {HELD} {GRANITE}"
