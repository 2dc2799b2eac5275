"""The decorator: callers get no answer that was not judged; and what was retrieved is assessed."""

import asyncio
import logging
from collections import UserDict, namedtuple
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict

from ragstone.core.errors import InputError
from ragstone.guard.integrations.decorator import guarded
from ragstone.guard.integrations.request_guard import HELD, Ruling, tell_guard
from tests.guard.integrations.conftest import DOUBTED, RIGHT, WRONG, TwoWords, saying


def test_a_text_is_judged_by_the_arguments_of_its_names() -> None:
    guard = TwoWords()

    @guarded(guard)
    def answer(question: str, contexts: list[str], *, says: str = RIGHT) -> str:
        """It answers."""
        return says if (question, contexts) else ""

    assert answer("Q?", ["C"]) == RIGHT
    assert answer(contexts=["C"], question="Q?", says=WRONG) == HELD
    assert [one[:3] for one in guard.seen] == [("Q?", RIGHT, ["C"]), ("Q?", WRONG, ["C"])]
    assert (answer.__name__, answer.__doc__) == ("answer", "It answers.")


def test_defaults_count_as_arguments() -> None:
    guard = TwoWords()

    @guarded(guard)
    def answer(question: str = "Q?", contexts: tuple[str, ...] = ("C",)) -> str:
        return RIGHT if question and contexts else ""

    answer()
    assert guard.seen[0][:3] == ("Q?", RIGHT, ("C",))


Pair = namedtuple("Pair", ["answer", "contexts"])


class Typed(NamedTuple):
    answer: str
    contexts: list[str]


@dataclass(frozen=True, slots=True)
class Frozen:
    answer: str
    contexts: list[str]


class Model(BaseModel):
    model_config = ConfigDict(frozen=True)
    answer: str
    contexts: list[str]


@pytest.mark.parametrize(
    "made",
    [
        lambda text: {"answer": text, "contexts": ["C"]},
        lambda text: UserDict(answer=text, contexts=["C"]),
        lambda text: MappingProxyType({"answer": text, "contexts": ["C"]}),
        lambda text: SimpleNamespace(answer=text, contexts=["C"]),
        lambda text: Frozen(text, ["C"]),
        lambda text: Model(answer=text, contexts=["C"]),
    ],
)
def test_keys_and_attributes_of_what_is_returned_are_read_and_replaced(made: Any) -> None:
    guard = TwoWords()

    def echo(question: str) -> Any:
        return made(question)

    ask = guarded(guard)(echo)
    assert ask(RIGHT) == made(RIGHT)
    before = made(WRONG)
    given = guarded(guard, contexts=lambda call: call.returned and ["C"])(saying(before))("Q", [])
    assert given == made(HELD)
    assert type(given) is type(made("")) or isinstance(before, MappingProxyType)
    assert before == made(WRONG)
    assert guard.seen[1][:3] == ("Q", WRONG, ["C"])


@pytest.mark.parametrize(
    "made",
    [
        lambda text: (text, ["C"]),
        lambda text: [text, ["C"]],
        lambda text: Pair(text, ["C"]),
        lambda text: Typed(text, ["C"]),
    ],
)
def test_elements_of_a_tuple_are_read_and_replaced(made: Any) -> None:
    guard = TwoWords()

    @guarded(guard, answer=0, contexts=1)
    def ask(question: str) -> Any:
        return made(question)

    assert ask(RIGHT) == made(RIGHT)
    given = ask(WRONG)
    assert given == made(HELD)
    assert type(given) is type(made(""))
    assert guard.seen[0][2] == ["C"]


def test_functions_find_what_has_no_name() -> None:
    guard = TwoWords()

    @guarded(
        guard,
        question=lambda call: call.arguments["message"]["text"],
        contexts=lambda call: [one["page"] for one in call.returned["found"]],
        retrieval_scores=lambda call: [one["score"] for one in call.returned["found"]],
    )
    def ask(message: dict[str, str]) -> dict[str, Any]:
        return {"answer": RIGHT, "found": [{"page": "C", "score": 0.5}], **message}

    assert ask({"text": "Q?"})["answer"] == RIGHT
    assert guard.seen[0][:4] == ("Q?", RIGHT, ["C"], [0.5])


def test_a_function_can_tell_the_guard() -> None:
    guard = TwoWords()

    @guarded(guard)
    def ask(question: str) -> str:
        tell_guard(contexts=["told"], run_id=f"run of {question}")
        return RIGHT

    ask("Q")
    ask("R")
    assert [one[2:] for one in guard.seen] == [(["told"], None, "run of Q"),
                                               (["told"], None, "run of R")]  # fmt: skip


def test_async_functions_are_guarded_too() -> None:
    guard = TwoWords()

    @guarded(guard, contexts="sources")
    async def ask(question: str, says: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        tell_guard(run_id="r")
        return {"answer": says, "sources": [question]}

    assert asyncio.iscoroutinefunction(ask)
    assert asyncio.run(ask("Q", RIGHT)) == {"answer": RIGHT, "sources": ["Q"]}
    assert asyncio.run(ask("Q", WRONG)) == {"answer": HELD, "sources": ["Q"]}
    assert guard.seen[0] == ("Q", RIGHT, ["Q"], None, "r")

    async def called() -> str:
        found: str = await guarded(guard)(saying(asyncio.sleep(0, WRONG)))("Q", ["C"])
        return found

    assert asyncio.run(called()) == HELD


@pytest.mark.parametrize(("policy", "given"), [("open", DOUBTED), ("closed", HELD)])
def test_what_could_not_be_judged_is_by_the_policy(policy: Any, given: str) -> None:
    ask = guarded(TwoWords(), if_not_judged=policy)(saying(DOUBTED))
    assert ask("Q", ["C"]) == given


@pytest.mark.parametrize(("policy", "given"), [("open", RIGHT), ("closed", HELD)])
def test_an_async_function_is_not_kept_waiting(policy: Any, given: str) -> None:
    @guarded(TwoWords(seconds=0.6), timeout=0.01, if_not_judged=policy)
    async def ask(question: str, contexts: list[str]) -> str:
        return RIGHT if (question, contexts) else ""

    assert asyncio.run(ask("Q", [])) == given


def test_something_else_can_be_done_than_to_replace_the_answer() -> None:
    def raising(ruling: Ruling) -> Any:
        raise PermissionError(ruling.assessment.issues[0].code)

    rulings: list[Ruling] = []
    with pytest.raises(PermissionError, match="unsupported_sentence"):
        guarded(TwoWords(), on_fail=raising)(saying(WRONG))("Q", [])
    other = guarded(TwoWords(), on_fail=lambda _: {"held": True})(saying(WRONG))
    assert other("Q", []) == {"held": True}
    told = guarded(TwoWords(), on_fail=None, on_ruling=rulings.append)(saying(WRONG))
    assert told("Q", []) == WRONG
    assert [(one.held, one.assessment.ok) for one in rulings] == [(True, False)]


SECRET = "sk-secret-0123456789"


def failing(*_: Any) -> Any:
    raise RuntimeError(SECRET)


@pytest.mark.parametrize(
    ("how", "guard", "why"),
    [
        ({"contexts": failing}, TwoWords(), "extract_failed"),
        ({"question": failing}, TwoWords(), "extract_failed"),
        ({"contexts": 7}, TwoWords(), "extract_failed"),
        ({"contexts": "nowhere"}, TwoWords(), "contexts_not_told"),
        ({}, TwoWords(error=RuntimeError(SECRET)), "guard_failed"),
    ],
)
@pytest.mark.parametrize(("policy", "given"), [("open", RIGHT), ("closed", HELD)])
def test_what_breaks_in_the_guard_never_breaks_the_call(
    how: dict[str, Any], guard: TwoWords, why: str, policy: Any, given: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    rulings: list[Ruling] = []
    with caplog.at_level(logging.DEBUG):
        ask = guarded(guard, if_not_judged=policy, on_ruling=rulings.append, **how)(saying(RIGHT))
        assert ask("Q", ["C"]) == given
    assert [one.unjudged for one in rulings] == [why]
    assert why in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("returned", [None, 7, {"other": WRONG}, {"answer": None}, b"bytes"])
def test_what_holds_no_text_is_told_as_not_judged(returned: Any) -> None:
    rulings: list[Ruling] = []
    ask = guarded(TwoWords(), if_not_judged="open", on_ruling=rulings.append)(saying(returned))
    assert ask("Q", ["C"]) == returned
    assert [one.unjudged for one in rulings] == ["no_text"]
    assert HELD in str(guarded(TwoWords())(saying(returned))("Q", ["C"]))


def test_an_answer_that_cannot_be_replaced_does_not_get_out() -> None:
    class Computed:
        contexts = ("C",)

        @property
        def answer(self) -> str:
            return WRONG

    ask = guarded(TwoWords())(saying(Computed()))
    assert ask("Q", ["C"]) == HELD


def test_what_the_function_raises_is_raised() -> None:
    @guarded(TwoWords(), if_not_judged="closed")
    def ask(question: str, contexts: list[str]) -> str:
        raise LookupError(f"the function's own {question} {contexts}")

    with pytest.raises(LookupError, match="the function's own"):
        ask("Q", [])
    with pytest.raises(TypeError, match="question"):
        ask(contexts=[])  # type: ignore[call-arg]


def test_settings_that_cannot_be_used_are_refused_at_once() -> None:
    with pytest.raises(InputError, match="with parentheses"):
        guarded(failing)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="answer= is a function"):
        guarded(TwoWords(), answer=lambda call: call.returned)
