"""Which questions are put before their block is judged, when, and in which order."""

import asyncio
from collections.abc import Collection, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from ragstone.data import Context, Example
from ragstone.judges import Judge
from ragstone.judges.judge import HumanJudge
from ragstone.judges.llm.llm_judge import LEAN, LLMJudge
from ragstone.judges.llm.prompts import load_prompts
from ragstone.run.judging.chat_judge import ChatJudge
from ragstone.run.judging.prefetch import Prefetch
from ragstone.run.judging.sharding import shards_of
from ragstone.testing import ScriptedModel

Asked = dict[str, tuple[int, set[str]]]


class Recording(ChatJudge):
    """Writes down what it is asked about whom, and at which turn; fails where told."""

    def __init__(self, asked: Asked, fails: str = "") -> None:
        model = ScriptedModel(lambda _: {}, name="m")
        super().__init__(LLMJudge((model,), prompts=load_prompts(), plan=LEAN))
        self.asked = asked
        self.fails = fails

    def for_block(self) -> "Recording":
        return Recording(self.asked, self.fails)

    async def ask_about(self, example: Example, asks: Collection[str], turn: int) -> None:
        if example.id == self.fails:
            raise ValueError(example.id)
        self.asked[example.id] = (turn, set(asks))


class Worker:
    """Runs what is begun at once; what is watched is settled after some looks."""

    def __init__(self, looks: int = 0) -> None:
        self.looks = looks
        self.seen = 0

    def submit(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
        done: Future[None] = Future()
        try:
            done.set_result(asyncio.run(work))
        except ValueError as error:
            done.set_exception(error)
        return done

    def settled(self, work: "Future[Any]", seconds: float) -> bool:  # noqa: ARG002
        self.seen += 1
        return self.seen > self.looks


def examples(count: int) -> Iterator[Example]:
    for at in range(count):
        yield Example(f"e{at}", f"q{at}", "a", question="Who?", answer="Smeaton.",
                      contexts=(Context("c", "Smeaton.", 1),))  # fmt: skip


def prefetch(
    asked: Asked, *before: Judge, asks: tuple[str, ...] = ("response", "claims"), **known: Any
) -> Prefetch:
    return Prefetch([*before, Recording(asked)], asks, Worker(), **known)


def nothing(*_: object) -> None:
    """Neither checks nor tells."""


def test_blocks_hold_250_examples_each_in_their_order() -> None:
    found = list(prefetch({}).blocks(shards_of(examples(620)), nothing, nothing))
    assert [len(block.examples) for block in found] == [250, 250, 120]
    assert found[1].examples[0].id == "e250"
    assert [block.tables.examples.height for block in found] == [250, 250, 120]


def test_questions_of_two_further_blocks_are_out_while_one_is_judged() -> None:
    asked: Asked = {}
    begun: list[int] = []
    for _ in prefetch(asked).blocks(shards_of(examples(1100)), nothing, nothing):
        begun.append(len(asked))
    assert begun == [750, 1000, 1100, 1100, 1100]


def test_earlier_examples_are_served_first_over_all_blocks() -> None:
    asked: Asked = {}
    list(prefetch(asked).blocks(shards_of(examples(501)), nothing, nothing))
    assert [asked[f"e{at}"][0] for at in (0, 249, 250, 500)] == [0, 249, 250, 500]


def test_a_run_that_goes_on_counts_from_its_first_open_example() -> None:
    asked: Asked = {}
    going_on = prefetch(asked, first=1000)
    list(going_on.blocks(shards_of(examples(3)), nothing, nothing))
    assert [asked[f"e{at}"][0] for at in range(3)] == [1000, 1001, 1002]
    assert going_on.examples == 1003


def test_a_block_is_checked_before_anything_is_asked_about_it() -> None:
    asked: Asked = {}

    def refuse(block: list[Example]) -> None:
        if block[0].id == "e250":
            raise KeyError("bad")

    with pytest.raises(KeyError):
        list(prefetch(asked).blocks(shards_of(examples(300)), refuse, nothing))
    assert len(asked) == 250


def test_progress_is_told_until_a_block_is_answered() -> None:
    told: list[tuple[int, int]] = []
    slow = prefetch({})
    slow.asking = Worker(looks=2)
    found = slow.blocks(
        shards_of(examples(5)), nothing, lambda block, n: told.append((len(block.answered), n))
    )
    assert len(list(found)) == 1
    assert told == [(5, 5), (5, 5)]


def test_what_people_said_is_not_asked_and_what_they_left_open_is() -> None:
    """People called the reply of the second an answer; its claims nobody labelled."""
    asked: Asked = {}
    first, second = examples(2)
    labelled = Example(
        second.id, second.question_id, second.system, question=second.question,
        answer=second.answer, contexts=second.contexts, labels={"response_type": "answer"},
    )  # fmt: skip
    list(prefetch(asked, HumanJudge()).blocks(shards_of(iter([first, labelled])), nothing, nothing))
    assert asked["e0"][1] == {"response", "claims"}
    assert asked["e1"][1] == {"claims"}


def test_nothing_is_asked_where_nothing_is_open() -> None:
    asked: Asked = {}
    found = prefetch(asked, asks=("lexical",))
    (block,) = found.blocks(shards_of(examples(2)), nothing, nothing)
    assert asked == {}
    assert (block.answered, found.examples) == ({0, 1}, 2)
    assert list(prefetch({}).blocks(shards_of(examples(0)), nothing, nothing)) == []


def test_a_fault_of_the_users_own_function_arrives_as_it_is() -> None:
    failing = Prefetch([Recording({}, fails="e1")], ("response",), Worker())
    (block,) = failing.blocks(shards_of(examples(3)), nothing, nothing)
    with pytest.raises(ValueError, match="e1"):
        block.done.result()


def test_each_block_has_judges_of_its_own() -> None:
    """So that the replies to a block are let go with it."""
    people = HumanJudge()
    first, second = prefetch({}, people).blocks(shards_of(examples(251)), nothing, nothing)
    assert first.judges[0] is second.judges[0] is people
    assert first.judges[1] is not second.judges[1]
