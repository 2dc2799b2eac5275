"""When a server is asked nothing more, from what its replies tell of it."""

import asyncio

import pytest

from ragstone.models.chat import ChatReply
from ragstone.report.reason_words import words
from ragstone.run.calls.attempt import AttemptResult, Pace
from ragstone.run.calls.model_client import FIRST_WAIT, LONGEST_WAIT, ServerHealth, wait

REJECTED = AttemptResult(trouble="rejected", words="no such field", http=400)
GONE = AttemptResult(trouble="connection", words="it broke off")
REPLY = AttemptResult(ChatReply("{}"))


def observed(*results: AttemptResult) -> ServerHealth:
    async def observe() -> ServerHealth:
        health = ServerHealth("m", Pace(8))
        for result in results:
            health.observe(result, started=0.0)
        return health

    return asyncio.run(observe())


def test_a_server_that_rejects_its_first_eight_questions_is_asked_no_more() -> None:
    assert observed(*[REJECTED] * 7).closed is None
    closed = observed(*[REJECTED] * 8).closed
    assert closed is not None
    assert "m: the server rejected all of the first 8 questions (no such field)" in words(closed)


def test_after_one_reply_a_rejected_question_is_at_fault_itself() -> None:
    assert observed(REPLY, *[REJECTED] * 20).closed is None


def test_a_server_that_wants_a_pause_of_over_ten_minutes_is_asked_no_more() -> None:
    assert observed(AttemptResult(trouble="rate_limit", http=429, after=600)).closed is None
    closed = observed(AttemptResult(trouble="rate_limit", http=429, after=7200)).closed
    assert closed is not None
    assert "2.0 hours" in words(closed)


def test_a_server_was_reached_if_it_ever_answered_be_it_with_an_error() -> None:
    assert not observed(GONE).reached
    assert observed(GONE, REJECTED).reached
    assert observed(REPLY).reached


def test_eight_questions_given_up_in_a_row_end_it_and_an_answer_begins_the_row_anew() -> None:
    health = observed()
    for _ in range(7):
        health.gave_up(GONE)
    health.answered()
    for _ in range(7):
        health.gave_up(GONE)
    assert health.closed is None
    health.gave_up(GONE)
    assert health.closed is not None
    assert "the server stopped answering (it broke off)" in words(health.closed)


@pytest.mark.parametrize(("times", "most"), [(1, 0.5), (2, 1.0), (4, 4.0), (50, 30.0)])
def test_waits_double_up_to_the_longest_and_are_from_half_of_it_on(times: int, most: float) -> None:
    assert (FIRST_WAIT, LONGEST_WAIT) == (0.5, 30.0)
    assert all(most / 2 <= wait(times) <= most for _ in range(50))
