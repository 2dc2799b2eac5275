"""Improve: the best of all answers, and never a worse one."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.guard import Checks, Guard, Revision, aimprove, improve
from ragstone.report.reason_words import SENTENCES

PIER = "The pier at Clevedon is 312 m long. It was opened in 1869 by Sir Arthur Elton."
QUESTION = "How long is the pier?"
GOOD = "The pier at Clevedon is 312 m long [1]."
BAD = "The pier has a café with excellent fish and chips every morning [1]."
WORSE = "Parisian elephants dance [9]. Purple ministers sing 77 songs."


def scripted(*replies: object) -> Callable[[str], str]:
    """A model that gives these replies in order; exceptions are raised."""
    left = list(replies)

    def generate(_: str) -> str:
        reply = left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply  # type: ignore[return-value]

    return generate


def test_a_better_answer_takes_the_place_of_the_old_one() -> None:
    found = improve(QUESTION, BAD, [PIER], generate=scripted(GOOD), run_id="r")
    assert (found.answer, found.improved, found.fault) == (GOOD, True, None)
    assert found.assessment.ok
    assert found.assessment.run_id == "r"
    assert [one.answer for one in found.trail] == [BAD, GOOD]


def test_a_worse_answer_is_never_returned_but_kept_in_the_trail() -> None:
    found = improve(QUESTION, BAD, [PIER], generate=scripted(WORSE))
    assert (found.answer, found.improved) == (BAD, False)
    assert [one.answer for one in found.trail] == [BAD, WORSE]


def test_the_best_of_several_passes_is_returned_and_the_next_pass_starts_from_it() -> None:
    asked: list[str] = []
    replies = scripted(WORSE, GOOD)

    def generate(prompt: str) -> str:
        asked.append(prompt)
        return replies(prompt)

    found = improve(QUESTION, BAD, [PIER], generate=generate, max_passes=3)
    assert found.answer == GOOD
    assert len(asked) == 2, "an answer that is ok is not improved"
    assert all(BAD in prompt and WORSE not in prompt for prompt in asked)


def test_an_answer_that_is_ok_is_not_touched() -> None:
    found = improve(QUESTION, GOOD, [PIER], generate=scripted())
    assert (found.answer, found.improved, len(found.trail)) == (GOOD, False, 1)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (RuntimeError("key sk-1"), "generator_failed"),
        ("", "generator_empty"),
        (" \n", "generator_empty"),
        (None, "generator_no_text"),
        (BAD, "generator_same"),
    ],
)
def test_without_a_new_answer_the_old_one_comes_back_marked(reply: object, code: str) -> None:
    found = improve(QUESTION, BAD, [PIER], generate=scripted(reply, GOOD), max_passes=2)
    assert (found.answer, found.improved) == (BAD, False)
    assert found.fault is not None
    assert found.fault.partition("?")[0] == code
    assert code in SENTENCES
    assert "sk-1" not in found.fault
    assert found.trail[-1].fault == found.fault


def test_a_model_that_is_too_late_leaves_the_old_answer() -> None:
    gate = threading.Event()

    def slow(_: str) -> str:
        gate.wait(60)
        return GOOD

    found = improve(QUESTION, BAD, [PIER], generate=slow, timeout=0.05)
    gate.set()
    assert (found.answer, found.fault) == (BAD, "generator_too_late?seconds=0.05")


def test_the_prompt_names_question_passages_answer_and_faults() -> None:
    asked: list[str] = []

    def generate(prompt: str) -> str:
        asked.append(prompt)
        return GOOD

    improve(QUESTION, BAD, [PIER, "Another."], generate=generate)
    [prompt] = asked
    for part in (QUESTION, f"[1] {PIER}", "[2] Another.", BAD,
                 "support its 1 sentence is 0.044; 0.500 is the least that passes"):  # fmt: skip
        assert part in prompt


def test_a_prompt_of_ones_own_gets_the_revision() -> None:
    seen: list[Revision] = []

    def prompt(revision: Revision) -> str:
        seen.append(revision)
        return "mine"

    def generate(asked: str) -> str:
        return GOOD if asked == "mine" else BAD

    assert improve(QUESTION, BAD, [PIER], generate=generate, prompt=prompt).answer == GOOD
    [revision] = seen
    assert (revision.question, revision.answer, revision.contexts) == (QUESTION, BAD, (PIER,))
    assert revision.assessment.ok is False


def test_a_prompt_that_fails_leaves_the_old_answer() -> None:
    def prompt(_: Revision) -> str:
        raise KeyError("x")

    found = improve(QUESTION, BAD, [PIER], generate=scripted(GOOD), prompt=prompt)
    assert (found.answer, found.fault) == (BAD, "generator_failed?error=KeyError")


def test_every_candidate_is_assessed_by_the_same_guard() -> None:
    guard = Guard(Checks(citations=False))
    found = improve(QUESTION, BAD, [PIER], generate=scripted("The pier is 312 m long."),
                    guard=guard)  # fmt: skip
    assert found.assessment.ok
    checks = [[check.check for check in one.assessment.checks] for one in found.trail
              if one.assessment]  # fmt: skip
    assert checks[0] == checks[1]
    assert "cites" not in checks[0]


def test_no_pass_means_no_call() -> None:
    assert improve(QUESTION, BAD, [PIER], generate=scripted(), max_passes=0).answer == BAD


@pytest.mark.parametrize(
    ("name", "value"), [("max_passes", -1), ("max_passes", 1.5), ("timeout", 0), ("timeout", "1")]
)
def test_settings_are_checked(name: str, value: object) -> None:
    with pytest.raises(InputError, match=name):
        improve(QUESTION, BAD, [PIER], generate=scripted(), **{name: value})  # type: ignore[arg-type]


def test_an_async_model_belongs_to_the_async_twin() -> None:
    async def generate(_: str) -> str:
        return GOOD

    with pytest.raises(InputError, match="aimprove"):
        improve(QUESTION, BAD, [PIER], generate=generate)  # type: ignore[arg-type]
    found = asyncio.run(aimprove(QUESTION, BAD, [PIER], generate=generate))
    assert (found.answer, found.improved) == (GOOD, True)


def test_the_async_twin_takes_models_that_are_not_async_too() -> None:
    found = asyncio.run(aimprove(QUESTION, BAD, [PIER], generate=scripted(GOOD)))
    assert found.answer == GOOD


def test_the_async_twin_gives_up_a_model_that_is_too_late() -> None:
    async def slow(_: str) -> str:
        await asyncio.sleep(60)
        return GOOD

    found = asyncio.run(aimprove(QUESTION, BAD, [PIER], generate=slow, timeout=0.05))
    assert (found.answer, found.fault) == (BAD, "generator_too_late?seconds=0.05")


def test_a_plain_model_that_hangs_holds_up_no_event_loop() -> None:
    gate, ended = threading.Event(), threading.Event()

    def slow(_: str) -> str:
        gate.wait(60)
        ended.set()
        return GOOD

    found = asyncio.run(aimprove(QUESTION, BAD, [PIER], generate=slow, timeout=0.05))
    assert not ended.is_set()
    gate.set()
    assert (found.answer, found.fault) == (BAD, "generator_too_late?seconds=0.05")


def test_what_cancels_the_request_cancels_the_model() -> None:
    async def cancelled() -> None:
        async def forever(_: str) -> str:
            await asyncio.sleep(600)
            return GOOD

        work = asyncio.create_task(aimprove(QUESTION, BAD, [PIER], generate=forever))
        await asyncio.sleep(0.05)
        work.cancel()
        await work

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_an_improvement_is_printed_with_all_that_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = str(improve(QUESTION, BAD, [PIER], generate=scripted(WORSE, GOOD), max_passes=2))
    assert shown.index(GOOD) < shown.index(BAD)
    assert WORSE.split(".")[0] in shown


@pytest.mark.parametrize("nothing", ["\0", "…", "Sorry, something went wrong."])
def test_a_candidate_that_says_nothing_never_takes_the_place_of_an_answer(nothing: str) -> None:
    context = "The pier at Clevedon is 312 m long."
    answer = (
        "The pier at Clevedon is 500 m long."  # Three checks fail: cites, groundedness, numbers.
    )
    found = improve("How long?", answer, [context], generate=lambda _: nothing)
    assert (found.answer, found.improved) == (answer, False)


def test_an_answer_in_bytes_is_read_as_text() -> None:
    answer: Any = b"The pier is 312 m long [1]."
    found = improve("How long?", answer, ["The pier is 312 m long."], generate=lambda _: "")
    assert (found.answer, found.assessment.ok) == (answer.decode(), True)
