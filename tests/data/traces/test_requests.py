"""Which examples are read from a trace with several requests, or with calls beside the answer."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any

import pytest

from ragstone.data.traces import fold
from ragstone.data.traces.otlp import read_traces
from tests.data.traces.sending import TRACE, span, traces

Q, A = "How deep is the lake?", "It is 254 m deep."
LAKE = "Lake Constance is 254 m deep at its deepest point, which is called the Tiefer Schweb."
Q2, A2 = "Wo fließt der Rhein hinaus?", "Er verlässt den See bei Stein am Rhein."
RHINE = "Der Rhein durchfließt den Bodensee und verlässt ihn im Westen bei Stein am Rhein."
Q3, A3 = "Danke dir!", "Gern geschehen."
REQUESTS = [(Q, A, (LAKE,)), (Q2, A2, (RHINE,))]

Read = tuple[str | None, str | None, tuple[str | None, ...]]
Kind = Callable[..., dict[str, Any]]


def read_of(*spans: Any) -> list[Read]:
    """Question, answer and passages of each example."""
    parts = read_traces(traces(*spans)).parts
    return [
        (one.example.question, one.example.answer,
         tuple(each.text for each in one.example.contexts or ()))
        for one in fold(parts).examples
    ]  # fmt: skip


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def openinference(kind: str, asked: str, said: str, passages: Sequence[str]) -> dict[str, Any]:
    found = {f"retrieval.documents.{at}.document.content": text for at, text in enumerate(passages)}
    return {
        "turn": {"openinference.span.kind": "CHAIN", "input.value": asked, "output.value": said},
        "retrieval": {"openinference.span.kind": "RETRIEVER", "input.value": asked, **found},
        "call": {"openinference.span.kind": "LLM",
                 "llm.input_messages.0.message.role": "user",
                 "llm.input_messages.0.message.content": asked,
                 "llm.output_messages.0.message.role": "assistant",
                 "llm.output_messages.0.message.content": said},
    }[kind]  # fmt: skip


def genai(kind: str, asked: str, said: str, passages: Sequence[str]) -> dict[str, Any]:
    """A turn is an HTTP request, which says nothing."""
    parts = [[{"role": role, "parts": [{"type": "text", "content": text}]}]
             for role, text in (("user", asked), ("assistant", said))]  # fmt: skip
    return {
        "turn": {"http.route": "/ask"},
        "retrieval": {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": asked,
                      "gen_ai.retrieval.documents": dumps([{"content": one} for one in passages])},
        "call": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": dumps(parts[0]),
                 "gen_ai.output.messages": dumps(parts[1])},
    }[kind]  # fmt: skip


def langfuse(kind: str, asked: str, said: str, passages: Sequence[str]) -> dict[str, Any]:
    prompt = user("\n".join([*passages, f"Question: {asked}"]))
    return {
        "turn": {"langfuse.observation.type": "span", "langfuse.observation.input": asked,
                 "langfuse.observation.output": said},
        "retrieval": {"langfuse.observation.type": "retriever", "langfuse.observation.input": asked,
                      "langfuse.observation.output": dumps(list(passages))},
        "call": {"langfuse.observation.type": "generation",
                 "langfuse.observation.input": dumps(prompt),
                 "langfuse.observation.output": dumps({"role": "assistant", "content": said})},
    }[kind]  # fmt: skip


def mlflow(kind: str, asked: str, said: str, passages: Sequence[str]) -> dict[str, Any]:
    return {
        "turn": {"mlflow.spanType": '"CHAIN"', "mlflow.spanInputs": dumps({"question": asked}),
                 "mlflow.spanOutputs": dumps({"answer": said})},
        "retrieval": {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanInputs": dumps(asked),
                      "mlflow.spanOutputs": dumps([{"page_content": one} for one in passages])},
        "call": {"mlflow.spanType": '"CHAT_MODEL"',
                 "mlflow.spanInputs": dumps({"messages": user(asked)}),
                 "mlflow.spanOutputs": dumps({"choices": [{"message": {
                     "role": "assistant", "content": said}}]})},
    }[kind]  # fmt: skip


def langchain(kind: str, asked: str, said: str, passages: Sequence[str]) -> dict[str, Any]:
    def dumped(role: str, text: str) -> dict[str, Any]:
        return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", role],
                "kwargs": {"content": text}}  # fmt: skip

    prompt = "\n".join(["Use these passages:", *passages, f"Question: {asked}"])
    found = [{"page_content": one, "metadata": {}, "type": "Document"} for one in passages]
    return {
        "turn": {"openinference.span.kind": "CHAIN", "input.value": dumps({"question": asked}),
                 "output.value": dumps({"answer": said, "context": found})},
        "retrieval": {"openinference.span.kind": "RETRIEVER", "input.value": asked,
                      "output.value": dumps({"documents": found})},
        "call": {"openinference.span.kind": "LLM",
                 "input.value": dumps({"messages": [[dumped("HumanMessage", prompt)]]}),
                 "output.value": dumps({"generations": [[{
                     "text": said, "message": dumped("AIMessage", said)}]]})},
    }[kind]  # fmt: skip


CONVENTIONS: Mapping[str, Kind] = {
    one.__name__: one for one in (openinference, genai, langfuse, mlflow, langchain)
}
every_convention = pytest.mark.parametrize("say", CONVENTIONS.values(), ids=CONVENTIONS)


def turn(
    say: Kind, id: int, parent: int, start: float, at: int, *, mute: bool = False
) -> list[Any]:
    """A request with its retrieval and its call."""
    asked, said, passages = REQUESTS[at]
    said_of = {} if mute else say("turn", asked, said, ())
    return [
        span(id, parent, said_of, start=start, end=start + 3),
        *steps(say, id + 1, id, start, at),
        span(id + 2, id, say("call", asked, said, passages), start=start + 1, end=start + 2),
    ]


def steps(say: Kind, id: int, parent: int, start: float, at: int) -> list[Any]:
    """Its retrieval alone."""
    asked, _, passages = REQUESTS[at]
    return [span(id, parent, say("retrieval", asked, "", passages), start=start, end=start + 1)]


def flat(say: Kind, parent: int) -> list[Any]:
    return [
        one
        for at, id in ((0, 10), (1, 20))
        for one in (*steps(say, id, parent, id, at),
                    span(id + 1, parent, say("call", *REQUESTS[at]), start=id + 1, end=id + 2))
    ]  # fmt: skip


@every_convention
@pytest.mark.parametrize("mute", [False, True], ids=["turns that speak", "mute turns"])
@pytest.mark.parametrize(
    "parents",
    [(0, 0), (98, 99), (1, 1), (1, 99), (99, 99)],
    ids=["two roots", "two orphans", "a mute root", "a mute root and an orphan", "one parent lost"],
)
def test_several_requests_are_several_examples(
    say: Kind, mute: bool, parents: tuple[int, int]
) -> None:
    spans = [
        *([span(1, 0, {"session.id": "s"}, end=99)] if 1 in parents else []),
        *turn(say, 10, parents[0], 0, 0, mute=mute),
        *turn(say, 20, parents[1], 10, 1, mute=mute),
    ]
    assert read_of(*spans) == read_of(*reversed(spans)) == REQUESTS


@every_convention
def test_steps_whose_parents_are_lost_stay_with_their_own_parent(say: Kind) -> None:
    lost = [one for id, at in ((10, 0), (20, 1)) for one in turn(say, id, 0, id, at)[1:]]
    assert read_of(*lost) == REQUESTS
    found = fold(read_traces(traces(*lost)).parts)
    assert [one.id for one in found.examples] == [f"{TRACE}:{id:016x}" for id in (10, 20)]
    assert [one.latency for one in found.examples] == [None, None]


@every_convention
def test_an_orphan_that_begins_after_a_root_is_a_request_of_its_own(say: Kind) -> None:
    spans = [*turn(say, 10, 0, 0, 0), *turn(say, 20, 99, 10, 1)]
    assert read_of(*spans) == REQUESTS
    within = [*turn(say, 10, 0, 0, 0), *steps(say, 20, 99, 1, 1)]
    assert read_of(*within) == [(Q, A, (LAKE, RHINE))]


@every_convention
def test_retrievals_and_calls_in_turn_are_requests(say: Kind) -> None:
    assert read_of(span(1, 0, end=99), *flat(say, 1)) == REQUESTS
    assert read_of(*flat(say, 99)) == REQUESTS
    assert read_of(*flat(say, 0)) == REQUESTS


@every_convention
def test_a_request_without_a_retrieval_is_one_if_it_says_so_itself(say: Kind) -> None:
    thanks = span(30, 1, say("turn", Q3, A3, ()), start=20, end=22)
    call = span(31, 30, say("call", Q3, A3, ()), start=20, end=21)
    spans = [span(1, 0, end=99), *turn(say, 10, 1, 0, 0), thanks, call]
    assert read_of(*spans) == [REQUESTS[0], (Q3, A3, ())]


def titling(say: Kind, id: int, parent: int, prompt: str, name: str = "step") -> list[Any]:
    """A call that ends after the answer."""
    return [span(id, parent, say("call", prompt, "Tiefe des Sees", ()), start=3, end=9, name=name)]


TITLES = [
    f"Write a title for this chat: {Q}",
    f"Gib dem Gespräch einen Titel.\nNutzer: {Q}\nAntwort: {A}",
    f"Donne un titre court à cette conversation : {Q}",
    f"为这段对话写一个标题：{Q}",
    f"In three words, what is this about? {Q} {A}",
    f"Suggest two more questions after: {Q}",
]


@every_convention
@pytest.mark.parametrize("prompt", TITLES)
@pytest.mark.parametrize("where", ["beside the turn", "beside the call", "a root", "in a chain"])
def test_a_call_that_writes_a_title_is_not_the_answer(say: Kind, prompt: str, where: str) -> None:
    root = span(1, 0, end=99)
    request = turn(say, 10, 1, 0, 0)
    mute = turn(say, 10, 0, 0, 0, mute=True)
    chain = span(40, 1, say("turn", prompt, "Tiefe des Sees", ()), start=3, end=9)
    spans = {
        "beside the turn": [root, *request, *titling(say, 30, 1, prompt)],
        "beside the call": [*mute, *titling(say, 30, 10, prompt)],
        "a root": [*turn(say, 10, 0, 0, 0), *titling(say, 30, 0, prompt)],
        "in a chain": [root, *request, chain, *titling(say, 30, 40, prompt)],
    }[where]
    assert read_of(*spans) == REQUESTS[:1]


@every_convention
def test_a_call_is_known_to_write_a_title_by_its_name(say: Kind) -> None:
    chats = [
        span(1, 0, end=99),
        span(2, 1, say("call", Q, A, ()), end=2),
        span(3, 1, say("call", Q, "Depth", ()), start=2, end=3, name="generateTitle"),
    ]
    assert [answer for _, answer, _ in read_of(*chats)] == [A]


@pytest.mark.parametrize(
    "told",
    [
        {"gen_ai.system_instructions": dumps([{"type": "text", "content": "Titel, bitte."}])},
        {"gen_ai.input.messages": dumps(
            [{"role": "system", "content": "Escribe un título."}, *user(Q)])},
    ],
)  # fmt: skip
def test_a_call_is_known_to_write_a_title_by_what_it_is_told(told: dict[str, str]) -> None:
    spans = turn(genai, 10, 0, 0, 0, mute=True)
    titled = {**genai("call", Q, "Tiefe des Sees", ()), **told}
    assert read_of(*spans, span(30, 10, titled, start=3, end=9)) == REQUESTS[:1]


@pytest.mark.parametrize(
    ("prompt", "said"),
    [(f"Make it friendlier: {A}", f"Of course! {A}"), (Q, "It is 254 m deep, I looked it up.")],
    ids=["a rewritten answer", "the same question again"],
)
@every_convention
def test_the_last_call_that_answers_is_the_answer(say: Kind, prompt: str, said: str) -> None:
    spans = [*turn(say, 10, 0, 0, 0, mute=True),
             span(30, 10, say("call", prompt, said, [LAKE]), start=3, end=9)]  # fmt: skip
    assert read_of(*spans) == [(Q, said, (LAKE,))]


@every_convention
def test_a_question_about_a_title_is_no_title(say: Kind) -> None:
    asked, said = "Who holds the title to the lake?", "The three states hold it together."
    spans = [
        span(1, 0, end=9),
        span(2, 1, say("retrieval", asked, "", [LAKE]), end=1),
        span(3, 1, say("call", asked, said, [LAKE]), start=1, end=2),
    ]
    assert read_of(*spans) == [(asked, said, (LAKE,))]


def test_a_request_that_failed_is_an_example_with_an_empty_answer() -> None:
    asked = {"openinference.span.kind": "CHAIN", "input.value": Q2}
    failed = [span(20, 1, asked, start=10, end=12, error="timeout"),
              *steps(openinference, 21, 20, 10, 1)]  # fmt: skip
    spans = [span(1, 0, end=99), *turn(openinference, 10, 1, 0, 0), *failed]
    assert read_of(*spans) == [REQUESTS[0], (Q2, "", (RHINE,))]


@every_convention
def test_steps_of_one_request_that_all_retrieve_are_one_example(say: Kind) -> None:
    def step(id: int, said: str, passage: str) -> list[Any]:
        return [
            span(id, 1, start=id, end=id + 3),
            span(id + 1, id, say("retrieval", Q, "", [passage]), start=id, end=id + 1),
            span(id + 2, id, say("call", Q, said, [passage]), start=id + 1, end=id + 2),
        ]

    spans = [span(1, 0, end=99), *step(10, "Not known yet.", RHINE), *step(20, A, LAKE)]
    assert read_of(*spans) == [(Q, A, (RHINE, LAKE))]


@every_convention
def test_the_order_in_which_parts_come_does_not_matter(say: Kind) -> None:
    bodies = [traces(*turn(say, 10, 0, 0, 0)), traces(*turn(say, 20, 99, 10, 1)),
              traces(*titling(say, 30, 0, TITLES[0]))]  # fmt: skip
    several = [read_traces(body).parts for body in bodies]
    found = {
        repr(fold([part for parts in order for part in parts])) for order in permutations(several)
    }
    assert len(found) == 1


@every_convention
def test_a_question_asked_twice_in_a_session_is_asked_twice(say: Kind) -> None:
    spans = [span(1, 0, end=99)]
    for id, at in ((10, 0), (20, 1), (30, 0)):
        spans += turn(say, id, 1, id, at, mute=True)
    assert read_of(*spans) == [*REQUESTS, REQUESTS[0]]


def test_a_call_with_the_passages_goes_before_one_that_was_only_asked_the_same() -> None:
    named = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": "Depth of a lake",
             "gen_ai.input.messages": dumps([{"role": "system", "content": "Name the chat."},
                                             *user(Q)])}  # fmt: skip
    spans = turn(langfuse, 10, 0, 0, 0, mute=True)
    assert read_of(*spans, span(30, 10, named, start=5, end=9)) == REQUESTS[:1]


def test_calls_under_a_parent_that_is_lost_are_steps_of_one_request() -> None:
    plan = span(2, 99, genai("call", "Plan the work.", "First search.", ()), start=2, end=3)
    answer = span(3, 99, genai("call", Q, A, ()), start=3, end=4)
    assert read_of(plan, answer) == [(Q, A, ())]


def test_an_orphan_that_begins_before_its_root_ends_belongs_to_it() -> None:
    spans = [*turn(openinference, 10, 0, 0, 0), *turn(openinference, 20, 99, 1, 1)]
    assert read_of(*spans) == [(Q, A, (LAKE, RHINE))]


@pytest.mark.parametrize("where", ["a call", "a chain"])
def test_what_names_a_chat_beside_a_request_is_none(where: str) -> None:
    asked = "Three words, please."
    beside = {
        "a call": [span(30, 1, openinference("call", asked, "Deep lake", ()), start=4)],
        "a chain": [span(30, 1, openinference("turn", asked, "Deep lake", ()), start=4,
                         name="TitleChain")],
    }[where]  # fmt: skip
    spans = [span(1, 0, end=99), *turn(openinference, 10, 1, 0, 0), *beside]
    assert read_of(*spans) == REQUESTS[:1]
