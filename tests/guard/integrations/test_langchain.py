"""LangChain: the guard stands in a chain of the real library."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from ragstone.core.errors import InputError
from ragstone.guard import Checks, Guard
from ragstone.guard.integrations.langchain import GuardRunnable
from ragstone.guard.integrations.request_guard import HELD, RequestGuard
from tests.guard.integrations.conftest import DOUBTED, RIGHT, WRONG, TwoWords

PIER = [Document("The pier is 90 m long.", id="p"), Document("Gulls are loud.")]


def chain(answer: str, guard: Any) -> Any:
    """Retrieves, fills a prompt, asks a model, and is guarded."""
    model = GenericFakeChatModel(messages=iter([AIMessage(answer)] * 9))
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    retrieve = RunnablePassthrough.assign(context=RunnableLambda(lambda _: PIER))
    return retrieve | RunnablePassthrough.assign(answer=prompt | model) | GuardRunnable(guard)


def test_a_chain_gives_what_its_documents_support_and_nothing_else() -> None:
    guard = Guard(Checks(citations=False))
    right = chain("The pier is 90 m long.", guard).invoke({"question": "How long is the pier?"})
    assert right["answer"].content == "The pier is 90 m long."
    assert right["assessment"]["ok"] is True
    wrong = chain("It was built in 1822.", guard).invoke({"question": "How long is the pier?"})
    assert wrong["answer"].content == HELD
    assert isinstance(wrong["answer"], AIMessage)
    assert "unsupported_sentence" in [one["code"] for one in wrong["assessment"]["issues"]]
    assert wrong["context"] == PIER


def test_documents_are_contexts_with_their_ids() -> None:
    guard = TwoWords()
    chain(RIGHT, guard).invoke({"question": "Q?"})
    assert guard.seen[0][:3] == (
        "Q?", RIGHT, [{"id": "p", "text": PIER[0].page_content}, {"text": "Gulls are loud."}]
    )  # fmt: skip


def test_it_runs_async_and_in_batches() -> None:
    async def called() -> list[dict[str, Any]]:
        one = chain(WRONG, TwoWords())
        return [await one.ainvoke({"question": "Q?"}), *await one.abatch([{"question": "Q?"}] * 2)]

    assert [one["answer"].content for one in asyncio.run(called())] == [HELD] * 3
    batch = chain(RIGHT, TwoWords()).batch([{"question": "Q?"}] * 2)
    assert [one["answer"].content for one in batch] == [RIGHT] * 2


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ({"question": "Q?", "context": ["C"], "answer": WRONG}, ("Q?", WRONG, ["C"])),
        ({"question": "Q?", "context": "C", "answer": WRONG}, ("Q?", WRONG, "C")),
        ({"question": HumanMessage("Q?"), "context": PIER[1], "answer": WRONG},
         ("Q?", WRONG, [{"text": "Gulls are loud."}])),
    ],
)  # fmt: skip
def test_texts_and_messages_are_understood(given: dict[str, Any], seen: tuple[Any, ...]) -> None:
    guard = TwoWords()
    assert GuardRunnable(guard).invoke(given)["answer"] == HELD
    assert guard.seen[0][:3] == seen


def test_keys_can_have_other_names() -> None:
    names: Any = {
        "question": "input",
        "contexts": "docs",
        "answer": "output",
        "assessment": "guard",
    }
    told = GuardRunnable(TwoWords(), on_fail="Sorry.", **names).invoke(
        {"input": "Q?", "docs": ["C"], "output": WRONG, "other": 1}
    )
    assert told.pop("guard")["ok"] is False
    assert told == {"input": "Q?", "docs": ["C"], "output": "Sorry.", "other": 1}


def test_only_the_assessment_tells_where_nothing_is_given_instead() -> None:
    given = {"question": "Q?", "context": [], "answer": WRONG}
    told = GuardRunnable(TwoWords(), on_fail=None).invoke(given)
    assert (told["answer"], told["assessment"]["ok"]) == (WRONG, False)


def test_a_message_that_calls_a_tool_passes_and_is_told_as_not_judged() -> None:
    call = {"name": "search", "args": {"q": "wrong"}, "id": "1"}
    message = AIMessage("", tool_calls=[call])
    policy = RequestGuard(TwoWords(), if_not_judged="closed")
    told = GuardRunnable(policy).invoke({"question": "Q?", "context": [], "answer": message})
    assert told["answer"] is message
    assert told["assessment"]["ok"] is None
    assert told["assessment"]["checks"][0]["reason"] == "no_text"


def test_a_replaced_message_does_not_spell_out_what_was_held_back() -> None:
    message = AIMessage(WRONG, response_metadata={"logprobs": {"content": [WRONG]}, "model": "m"})
    told = GuardRunnable(TwoWords()).invoke({"question": "Q?", "context": [], "answer": message})
    assert "wrong" not in repr(told["answer"])
    assert told["answer"].response_metadata == {"model": "m"}


@pytest.mark.parametrize(("policy", "given"), [("open", DOUBTED), ("closed", HELD)])
def test_the_policy_decides_over_what_could_not_be_judged(policy: Any, given: str) -> None:
    guard = RequestGuard(TwoWords(), if_not_judged=policy)
    told = GuardRunnable(guard).invoke({"question": "Q?", "context": [], "answer": DOUBTED})
    assert told["answer"] == given


def test_a_guard_that_breaks_does_not_break_the_chain() -> None:
    told = chain(RIGHT, TwoWords(error=RuntimeError("secret"))).invoke({"question": "Q?"})
    assert told["answer"].content == HELD
    assert told["assessment"]["ok"] is None


def test_a_chain_that_is_wired_wrongly_is_told_so() -> None:
    with pytest.raises(InputError, match=r"takes a dict with 'question', 'context' and 'answer'"):
        GuardRunnable(TwoWords()).invoke(WRONG)  # type: ignore[arg-type]


STREAMED = "The pier is 90 m long. Emperor Napoleon paid for it. Gulls are loud."
JUDGED = f"The pier is 90 m long. {HELD} Gulls are loud."


def gathered(found: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
    """The text of the answer and what the other keys hold."""
    text, others = "", dict[str, Any]()
    for one in found:
        for key, value in one.items():
            if key == "answer":
                text += value if isinstance(value, str) else value.text
            else:
                others[key] = value
    return text, others


def test_a_streamed_chain_gives_sentence_by_sentence_what_is_supported() -> None:
    judge = Guard(Checks(citations=False))
    found = list(chain(STREAMED, judge).stream({"question": "How long is the pier?"}))
    text, others = gathered(found)
    assert text == JUDGED
    assert others["context"] == PIER
    assert others["assessment"]["ok"] is False
    assert list(found[-1]) == ["assessment"]
    assert sum("answer" in one for one in found) > 2
    assert "Napoleon" not in str(found[:-1])


def test_calls_of_tools_in_a_streamed_message_pass_beside_its_text() -> None:
    call = {"name": "look", "args": {}, "id": "1"}
    message = AIMessage("Napoleon paid for it.", tool_calls=[call])
    one = GuardRunnable(Guard(Checks(citations=False)))
    found = list(one.stream({"question": "Q?", "context": PIER, "answer": message}))
    answers = [part["answer"] for part in found if "answer" in part]
    assert [one["name"] for one in answers[0].tool_calls] == ["look"]
    assert answers[0].text == ""
    assert gathered(found)[0] == HELD


def test_who_leaves_a_streamed_chain_is_counted() -> None:
    guard = RequestGuard(Guard(Checks(citations=False)))
    given = {"question": "Q?", "context": PIER, "answer": STREAMED}
    stream: Any = GuardRunnable(guard).stream(given)
    while "answer" not in next(stream):
        pass
    stream.close()
    assert sum(guard.counts[one] for one in ("passed", "held") if one in guard.counts) == 1


def test_a_chain_is_streamed_async_too() -> None:
    async def called() -> list[dict[str, Any]]:
        one = chain(STREAMED, Guard(Checks(citations=False)))
        return [part async for part in one.astream({"question": "How long is the pier?"})]

    text, others = gathered(asyncio.run(called()))
    assert text == JUDGED
    assert others["assessment"]["ok"] is False


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"policy": "hold_all"}, HELD),
        ({"stop_early": True, "on_fail": "…"}, "The pier is 90 m long. …"),
        ({"on_fail": None}, STREAMED),
    ],
)
def test_a_stream_of_texts_leaves_by_the_policy(how: dict[str, Any], text: str) -> None:
    one = GuardRunnable(Guard(Checks(citations=False)), **how)
    given = {"question": "How long is the pier?", "context": PIER, "answer": STREAMED}
    assert gathered(list(one.stream(given)))[0] == text


@pytest.mark.parametrize(("policy", "text"), [("open", STREAMED), ("closed", HELD)])
def test_an_answer_that_comes_before_its_documents_is_not_judged(policy: Any, text: str) -> None:
    one = GuardRunnable(RequestGuard(Guard(), if_not_judged=policy))
    found = list(one.transform(iter([{"answer": STREAMED}, {"question": "Q?", "context": PIER}])))
    said, others = gathered(found)
    assert said == text
    assert others["assessment"]["ok"] is None
    assert others["assessment"]["checks"][0]["reason"] == "contexts_not_told"
