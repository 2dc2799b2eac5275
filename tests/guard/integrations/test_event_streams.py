"""Streams of events through the middleware: no sentence leaves before it is judged."""

import asyncio
import gzip
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.guard import Checks, Guard
from ragstone.guard.assessment import Assessment
from ragstone.guard.integrations import event_reader as server_events
from ragstone.guard.integrations.asgi import GuardMiddleware
from ragstone.guard.integrations.event_reader import EventReader
from ragstone.guard.integrations.request_guard import HELD, Ruling
from tests.guard.integrations.conftest import App, Reply, TwoWords, ask

QUESTION = "How long is the pier?"
PIER = ["The pier at Penmarrow is 90 metres long. It is made of granite."]
TRUE, GRANITE = "The pier at Penmarrow is 90 metres long.", "It is made of granite."
FALSE = "Napoleon paid 1822 crowns for it."
MIXED = f"{TRUE} {FALSE} {GRANITE}"
INVENTED = ("Napoleon", "1822", "crowns", "paid")
CHAT = {"messages": [{"role": "user", "content": QUESTION}], "contexts": PIER, "stream": True}


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, **more}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def sse(*values: Any) -> bytes:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in values]
    return b"".join(f"data: {one}\n\n".encode() for one in texts)


def completion(answer: str) -> bytes:
    """A streamed completion, word by word."""
    words = [f"{word} " for word in answer.split(" ")]
    words[-1] = words[-1][:-1]
    chunks = [chunk({"content": word}) for word in words]
    return sse(chunk({"role": "assistant", "content": ""}), *chunks, chunk({}, "stop"), "[DONE]")


def streaming(
    *pieces: bytes, kind: str = "text/event-stream", headers: Sequence[tuple[bytes, bytes]] = ()
) -> App:
    async def app(_: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-type", kind.encode()), *headers]})  # fmt: skip
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    return app


GUARD = Guard(Checks(citations=False))


def guarded(app: App, **how: Any) -> GuardMiddleware:
    return GuardMiddleware(
        app, how.pop("guard", GUARD), **{"paths": ["*"], "contexts": "$.contexts", **how}
    )


def streamed(*pieces: bytes, body: Any = CHAT, **how: Any) -> Reply:
    return ask(guarded(streaming(*pieces), **how), body)


def data_of(reply: Reply) -> list[Any]:
    """The data of each event, as JSON where it is that."""
    reader = EventReader()
    events = [*reader.feed(reply.body), *reader.close()]
    return [
        json.loads(one.data) if one.data.startswith("{") else one.data
        for one in events
        if one.data is not None
    ]


def text_of(reply: Reply, choice: int = 0) -> str:
    found = [one for data in data_of(reply) if isinstance(data, dict) for one in data["choices"]]
    return "".join(
        one["delta"].get("content", "") for one in found if one.get("index", 0) == choice
    )


def end_of(reply: Reply, choice: int = 0) -> tuple[str, dict[str, Any]]:
    """How a choice ended, and the note of its answer."""
    (found,) = [
        (one["finish_reason"], data["ragstone_guard"])
        for data in data_of(reply) if isinstance(data, dict)
        for one in data["choices"]
        if one.get("index", 0) == choice and one["finish_reason"]
    ]  # fmt: skip
    return found


def words_of(reply: Reply) -> str:
    # The digits of a random id may be those that are looked for.
    return re.sub("[0-9a-f]{32}", "", str(reply.messages))


def test_what_is_right_leaves_as_it_was_written() -> None:
    reply = streamed(completion(f"{TRUE} {GRANITE}"))
    assert text_of(reply) == f"{TRUE} {GRANITE}"
    finish, note = end_of(reply)
    assert finish == "stop"
    assert (note["ok"], note["action"], note["decision"]) == (True, "passed", "pass")
    assert data_of(reply)[-1] == "[DONE]"
    assert reply.headers["content-type"] == "text/event-stream"
    header = reply.headers["ragstone-guard"]
    assert header.startswith("action=streamed, policy=hold_sentence, id=")
    assert note["id"] in header


def test_a_sentence_that_fails_is_replaced_and_the_others_leave() -> None:
    reply = streamed(completion(MIXED))
    assert text_of(reply) == f"{TRUE} {HELD} {GRANITE}"
    finish, note = end_of(reply)
    assert finish == "content_filter"
    assert (note["ok"], note["action"]) == (False, "replaced")
    assert {one["code"] for one in note["issues"]} == {"new_number"}
    assert not [word for word in INVENTED if word in words_of(reply)]


@given(st.lists(st.integers(0, len(completion(MIXED))), max_size=12))
def test_it_does_not_matter_how_the_bytes_are_cut(cuts: list[int]) -> None:
    body = completion(MIXED)
    ends = [0, *sorted(cuts), len(body)]
    pieces = [body[a:b] for a, b in pairwise(ends)]
    reply = streamed(*pieces)
    assert text_of(reply) == f"{TRUE} {HELD} {GRANITE}"
    assert not [word for word in INVENTED if word in words_of(reply)]


def test_text_leaves_while_the_model_still_writes() -> None:
    sent_before_the_end: list[str] = []

    async def app(_: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-type", b"text/event-stream; a=b")]})  # fmt: skip
        for words in (TRUE, " It is"):
            body = sse(chunk({"content": words}))
            await send({"type": "http.response.body", "body": body, "more_body": True})
        sent_before_the_end.append(str(seen))
        body = sse(chunk({"content": " made of granite."}), chunk({}, "stop"))
        await send({"type": "http.response.body", "body": body, "more_body": False})

    seen: list[Any] = []
    one = guarded(app)

    async def called() -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": json.dumps(CHAT).encode()}

        async def send(message: Any) -> None:
            seen.append(message)

        await one({"type": "http", "method": "POST", "path": "/", "headers": []}, receive, send)

    asyncio.run(called())
    assert TRUE in sent_before_the_end[0]
    assert "It is" not in sent_before_the_end[0]
    assert seen[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


@pytest.mark.parametrize(
    ("how", "text", "action"),
    [
        ({"policy": "hold_all"}, HELD, "replaced"),
        ({"policy": "hold_sentence", "on_fail": "[left out]"},
         f"{TRUE} [left out] {GRANITE}", "replaced"),
        ({"stop_early": True}, f"{TRUE} {HELD}", "replaced"),
        ({"on_fail": 422}, f"{TRUE} {GRANITE}", "replaced"),
        ({"policy": "flag_after"}, MIXED, "marked"),
        ({"on_fail": None}, MIXED, "marked"),
    ],
)  # fmt: skip
def test_each_policy_lets_leave_what_it_says(how: dict[str, Any], text: str, action: str) -> None:
    reply = streamed(completion(MIXED), **how)
    assert text_of(reply) == text
    finish, note = end_of(reply)
    assert finish == ("stop" if action == "marked" else "content_filter")
    assert (note["action"], note["ok"]) == (action, False)


def test_calls_of_tools_and_reasoning_pass_at_once_and_are_told_as_not_judged() -> None:
    reasoning = chunk({"reasoning_content": "Was it Napoleon?"})
    call = chunk({"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": "{}"}}]})
    reply = streamed(sse(reasoning, chunk({"content": TRUE}), call, chunk({}, "stop"), "[DONE]"))
    assert data_of(reply)[:2] == [reasoning, call]
    assert text_of(reply) == TRUE
    assert end_of(reply)[1]["beside"] == ["reasoning", "tool_calls"]


@pytest.mark.parametrize("policy", ["open", "closed"])
@pytest.mark.parametrize("contexts", ["$.contexts", None])
def test_a_reply_that_only_calls_tools_has_nothing_to_judge(
    policy: str, contexts: str | None
) -> None:
    call = chunk({"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": "{}"}}]})
    reply = streamed(sse(call, chunk({}, "tool_calls"), "[DONE]"), if_not_judged=policy,
                     contexts=contexts)  # fmt: skip
    assert data_of(reply)[0] == call
    finish, note = end_of(reply)
    assert finish == "tool_calls"
    assert (note["not_judged"], note["action"]) == ("no_text", "passed")


def test_log_probabilities_do_not_spell_out_what_is_held() -> None:
    said = [chunk({"content": word, "role": "assistant"}, logprobs={"content": [{"token": word}]})
            for word in ("Napoleon ", "paid ", "for it.")]  # fmt: skip
    reply = streamed(sse(*said, chunk({}, "stop", logprobs={"content": [{"token": "paid"}]})))
    assert text_of(reply) == HELD
    assert not [word for word in INVENTED if word in words_of(reply)]


def test_text_in_the_chunk_that_ends_a_choice_is_judged_too() -> None:
    reply = streamed(sse(chunk({"content": TRUE}), chunk({"content": f" {FALSE}"}, "stop")))
    assert text_of(reply) == f"{TRUE} {HELD}"
    assert end_of(reply)[0] == "content_filter"


def test_what_is_cut_off_without_an_end_is_judged_and_ended() -> None:
    for body in (sse(chunk({"content": MIXED}), "[DONE]"), sse(chunk({"content": MIXED}))):
        reply = streamed(body)
        assert text_of(reply) == f"{TRUE} {HELD} {GRANITE}"
        assert end_of(reply)[0] == "content_filter"


def test_chunks_without_choices_pass_where_they_stand() -> None:
    filters = {"id": "c1", "choices": [], "prompt_filter_results": []}
    usage = {"id": "c1", "choices": [], "usage": {"total_tokens": 9}}
    reply = streamed(sse(filters, chunk({"content": TRUE}), chunk({}, "stop"), usage, "[DONE]"))
    told = data_of(reply)
    assert told[0] == filters
    assert told[-2:] == [usage, "[DONE]"]


def test_several_choices_are_judged_apart() -> None:
    def of(number: int, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"choices": [{"index": number, "delta": delta, "finish_reason": finish}]}

    reply = streamed(
        sse(of(0, {"content": "The pier at"}), of(1, {"content": FALSE[:12]}),
            of(0, {"content": " Penmarrow is 90 metres long."}), of(1, {"content": FALSE[12:]}),
            of(1, {}, "stop"), of(0, {}, "stop"), "[DONE]")
    )  # fmt: skip
    assert (text_of(reply, 0), text_of(reply, 1)) == (TRUE, HELD)
    assert (end_of(reply, 0)[0], end_of(reply, 1)[0]) == ("stop", "content_filter")


def plain(*words: str) -> bytes:
    return b"".join(server_events.written_event(one) for one in words)


def test_events_of_plain_text_are_judged() -> None:
    ping = b": ping\n\n"
    sources = server_events.written_event('["a"]', "sources")
    body = sources + plain("The pier at ", "Penmarrow is 90 metres") + ping
    body += plain(" long. Napoleon", " paid 1822 crowns for it.")
    reply = streamed(body, body={"q": QUESTION, "contexts": PIER}, question="$.q", answer="$.a")
    reader = EventReader()
    found = [*reader.feed(reply.body), *reader.close()]
    assert found[0].raw == sources
    assert ping in [one.raw for one in found]
    text = "".join(one.data or "" for one in found if not one.name)
    assert text == f"{TRUE} {HELD}"
    assert found[-1].name == "ragstone-guard"
    note = json.loads(found[-1].data or "")
    assert (note["ok"], note["action"]) == (False, "replaced")
    assert not [word for word in INVENTED if word in words_of(reply)]


def test_text_at_a_path_is_judged_by_contexts_of_an_event_before_it() -> None:
    first = {"contexts": [{"id": "p", "text": PIER[0]}]}
    other = {"contexts": [{"id": "o", "text": "Gulls are loud."}]}
    rest = [{"delta": {"text": word}, "n": 1} for word in (TRUE, " ", FALSE, " ", GRANITE)]
    rulings: list[Ruling] = []
    reply = streamed(
        sse(first, other, *rest, "[DONE]"), body={"q": QUESTION}, question="$.q", contexts=None,
        answer="$.answer", event_text="$.delta.text", reply_contexts="$.contexts[*]",
        on_ruling=rulings.append,
    )  # fmt: skip
    told = data_of(reply)
    assert told[:2] == [first, other]
    assert told[-1] == "[DONE]"
    assert all(one["n"] == 1 for one in told[2:-2])
    assert "".join(one["delta"]["text"] for one in told[2:-2]) == f"{TRUE} {HELD} {GRANITE}"
    assert told[-2]["action"] == "replaced"
    (ruling,) = rulings
    assert ruling.held
    assert ruling.assessment.judged[0].evidence == ("p",)


@pytest.mark.parametrize(("policy", "text"), [("open", MIXED), ("closed", HELD)])
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"contexts": None}, "contexts_not_told"),
        ({"contexts": "$.nowhere"}, "nothing_at"),
        ({"extract": lambda *_: 1 / 0}, "extract_failed"),
        ({"guard": TwoWords()}, "guard_of_whole_answers"),
    ],
)
def test_what_cannot_be_judged_passes_or_is_held_as_the_policy_says(
    how: dict[str, Any], why: str, policy: str, text: str
) -> None:
    reply = streamed(completion(MIXED), if_not_judged=policy, **how)
    assert text_of(reply) == text
    finish, note = end_of(reply)
    assert note["not_judged"] == why
    assert (finish, note["action"]) == (
        ("stop", "passed") if policy == "open" else ("content_filter", "replaced")
    )


class Broken(Guard):
    """A guard in which something breaks once there is a claim."""

    def ground(self, one: Any) -> Any:
        raise MemoryError(str(one))


@pytest.mark.parametrize(("policy", "text"), [("open", MIXED), ("closed", HELD)])
def test_what_breaks_in_the_guard_never_breaks_the_stream(policy: str, text: str) -> None:
    guard = Broken(Checks(citations=False))
    reply = streamed(completion(MIXED), guard=guard, if_not_judged=policy)
    assert text_of(reply) == text
    assert end_of(reply)[1]["ok"] is None


@pytest.mark.parametrize("policy", ["open", "closed"])
def test_compressed_streams_are_not_judged(policy: str) -> None:
    body = gzip.compress(completion(MIXED))
    app = streaming(body, headers=[(b"content-encoding", b"gzip")])
    reply = ask(guarded(app, if_not_judged=policy), CHAT)
    assert reply.told["reason"] == "body_encoded"
    assert (reply.body == body) is (policy == "open")


@pytest.mark.parametrize("policy", ["open", "closed"])
def test_an_event_without_an_end_is_not_held_for_ever(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_events, "MOST_BYTES", 500)
    body = sse(chunk({"content": TRUE})) + b"data: " + b"a" * 600
    reply = streamed(body, b" and more", if_not_judged=policy)
    assert (reply.body.endswith(b"data: " + b"a" * 600 + b" and more")) is (policy == "open")
    assert TRUE in reply.body.decode()
    assert (b"a" * 12 in reply.body) is (policy == "open")


def test_an_error_of_the_model_is_the_apps_and_what_was_held_does_not_leave() -> None:
    sent: list[Any] = []
    rulings: list[Ruling] = []

    async def app(_: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-type", b"text/event-stream")]})  # fmt: skip
        body = sse(chunk({"content": f"{TRUE} Napoleon paid"}))
        await send({"type": "http.response.body", "body": body, "more_body": True})
        raise TimeoutError("of the model")

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": json.dumps(CHAT).encode()}

    one = guarded(app, on_ruling=rulings.append)
    scope: Any = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with pytest.raises(TimeoutError, match="of the model"):
        asyncio.run(one(scope, receive, send))
    assert TRUE in str(sent)
    assert "Napoleon" not in str(sent)
    (ruling,) = rulings
    assert ruling.assessment.ok is None
    assert any("stream_failed" in one for one in ruling.assessment.notes)


def test_a_client_that_goes_away_ends_the_stream_and_is_counted() -> None:
    async def receive() -> Any:
        return {"type": "http.request", "body": json.dumps(CHAT).encode()}

    async def send(message: Any) -> None:
        if TRUE in str(message):
            raise ConnectionResetError("gone")

    one = guarded(streaming(completion(MIXED)))
    scope: Any = {"type": "http", "method": "POST", "path": "/", "headers": []}
    with pytest.raises(ConnectionResetError, match="gone"):
        asyncio.run(one(scope, receive, send))
    assert sum(one.guard.counts[name] for name in ("passed", "held") if name in one.guard.counts)


def test_streams_are_counted_and_open_the_circuit_like_other_answers() -> None:
    class Failing(Guard):
        def conclude(self, *_: Any, **__: Any) -> Assessment:
            raise MemoryError

    one = guarded(streaming(completion(TRUE)), guard=Failing(Checks(citations=False)))
    whys = [end_of(ask(one, CHAT))[1]["not_judged"] for _ in range(6)]
    assert whys == ["guard_failed"] * 5 + ["circuit_open"]
    assert one.guard.counts["failed"] == 5


def test_a_length_that_no_longer_holds_is_left_out() -> None:
    body = completion(TRUE)
    app = streaming(body, headers=[(b"Content-Length", str(len(body)).encode())])
    assert "Content-Length" not in ask(guarded(app), CHAT).headers


@pytest.mark.parametrize(
    "pieces",
    [
        [chunk({"content": [{"type": "text", "text": one}]}) for one in MIXED.split(" ")],
        [
            {"choices": [{"index": 0, "text": one, "finish_reason": None}]}
            for one in MIXED.split(" ")
        ],
        [chunk({"role": "assistant", "content": MIXED}, message={"content": MIXED})],
        [chunk({}, logprobs={"content": [{"token": FALSE}]}), chunk({"content": MIXED})],
    ],
    ids=["parts", "older completions", "the message again", "log-probabilities alone"],
)
def test_text_in_other_places_of_a_chunk_is_judged_or_does_not_leave(pieces: list[Any]) -> None:
    reply = streamed(sse(*pieces, chunk({}, "stop"), "[DONE]"))
    assert not [word for word in INVENTED if word in words_of(reply)]
    assert HELD in words_of(reply)


def test_a_completion_without_messages_is_answered_in_its_own_form() -> None:
    words = [{"index": 0, "text": f"{one} ", "finish_reason": None} for one in MIXED.split(" ")]
    end = {"index": 0, "text": "", "finish_reason": "stop"}
    reply = streamed(sse(*({"choices": [one]} for one in [*words, end]), "[DONE]"))
    choices = [data["choices"][0] for data in data_of(reply) if isinstance(data, dict)]
    assert "".join(one["text"] for one in choices) == f"{TRUE} {HELD} {GRANITE} "
    assert choices[-1]["finish_reason"] == "content_filter"


EVENTS_OF_TEXT = [
    (sse(*(json.dumps(chunk({"content": FALSE}))[:-1],)), {}),
    (sse({"choices": {"0": {"delta": {"content": FALSE}}}}), {}),
    (FALSE.encode() + b"\n\n", {}),
    (b" " + sse(chunk({"content": FALSE})), {}),
    (b"event: token\ndata: " + FALSE.encode() + b"\n\n", {"answer": "$.answer"}),
    (sse(FALSE), {"answer": "$.answer", "event_text": "$.text"}),
    (sse({"text": [{"text": FALSE}]}), {"answer": "$.answer", "event_text": "$.text"}),
]


@pytest.mark.parametrize(("body", "how"), EVENTS_OF_TEXT)
def test_what_may_be_text_and_is_not_known_leaves_only_where_the_policy_is_open(
    body: bytes, how: dict[str, Any]
) -> None:
    assert b"Napoleon" not in streamed(body, if_not_judged="closed", **how).body
    given = streamed(body, if_not_judged="open", **how)
    assert b"Napoleon" in given.body


def test_the_note_tells_of_an_event_that_could_not_be_read() -> None:
    broken = sse(chunk({"content": TRUE})) + b"data: {broken Napoleon\n\n"
    reply = streamed(broken, sse(chunk({}, "stop"), "[DONE]"), if_not_judged="closed")
    assert b"Napoleon" not in reply.body
    assert end_of(reply)[1]["beside"] == ["unread"]


def named(*values: dict[str, Any]) -> bytes:
    """Events whose name is their type, as OpenAI's Responses and Anthropic send them."""
    return b"".join(server_events.written_event(json.dumps(one), one["type"]) for one in values)


def responses(answer: str, **more: Any) -> bytes:
    """A stream of OpenAI's Responses; the last three events repeat the text."""
    place = {"item_id": "m1", "output_index": 1, "content_index": 0}
    part = {"type": "output_text", "text": answer, "annotations": [], "logprobs": [answer]}
    item = {"id": "m1", "type": "message", "role": "assistant", "content": [part]}
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    whole = {"id": "r1", "output": [thought, item], "usage": {"output_tokens": 9}}
    words = [f" {word}" for word in answer.split(" ")]
    words[0] = words[0][1:]
    return named(
        {"type": "response.created", "response": {"id": "r1", "output": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm."},
        {"type": "response.content_part.added", **place, "part": {"type": "output_text"}},
        *({"type": "response.output_text.delta", **place, "delta": one, "logprobs": [one]}
          for one in words),
        {"type": "response.output_text.done", **place, "text": answer, **more},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 1, "item": item},
        {"type": "response.completed", "response": whole},
    )  # fmt: skip


def messages(answer: str) -> bytes:
    """A stream of Anthropic's messages, with thoughts before the text and a tool behind it."""
    words = [f"{word} " for word in answer.split(" ")]
    words[-1] = words[-1][:-1]
    deltas = [{"type": "text_delta", "text": one} for one in words[1:]]
    return named(
        {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
        {"type": "content_block_delta", "index": 0,
         "delta": {"type": "thinking_delta", "thinking": "Hm."}},
        {"type": "content_block_stop", "index": 0},
        {"type": "ping"},
        {"type": "content_block_start", "index": 1,
         "content_block": {"type": "text", "text": words[0]}},
        *({"type": "content_block_delta", "index": 1, "delta": one} for one in deltas),
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use"}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    )  # fmt: skip


def ollama(answer: str, **more: Any) -> bytes:
    """A stream of Ollama's chat, or of its generate where ``more`` has tokens."""
    words = [f"{word} " for word in answer.split(" ")]
    words[-1] = words[-1][:-1]
    end = {"done": True, "done_reason": "stop", "eval_count": 9, **more}
    said: list[dict[str, Any]] = [{"model": "m", "done": False} for _ in words] + [end]
    for line, word in zip(said, [*words, ""], strict=True):
        if more:
            line["response"] = word
        else:
            line["message"] = {"role": "assistant", "content": word}
    return b"".join(json.dumps(one).encode() + b"\n" for one in said)


def text_of_api(value: dict[str, Any]) -> str:
    """The text that a client adds up, from an event of one of these APIs."""
    if "done" in value:
        return str(value["message"]["content"] if "message" in value else value["response"])
    if value["type"] == "response.output_text.delta":
        return str(value["delta"])
    block = value.get("content_block", value.get("delta"))
    return str(block.get("text", "")) if isinstance(block, dict) else ""


APIS = [
    (responses(MIXED), "text/event-stream"),
    (messages(MIXED), "text/event-stream"),
    (ollama(MIXED), "application/x-ndjson"),
    (ollama(MIXED, context=[1, 2, 1822]), "application/x-ndjson"),
]
NAMES = ["responses", "messages", "ollama chat", "ollama generate"]


@pytest.mark.parametrize(("body", "kind"), APIS, ids=NAMES)
def test_the_streams_of_other_apis_are_judged(body: bytes, kind: str) -> None:
    reply = ask(guarded(streaming(body[:700], body[700:], kind=kind)), CHAT)
    lines = [line.removeprefix(b"data: ") for line in reply.body.splitlines() if b"{" in line]
    told = [json.loads(line) for line in lines]
    assert "".join(map(text_of_api, told)) == f"{TRUE} {HELD} {GRANITE}"
    assert not [word for word in INVENTED if word in words_of(reply)]
    (note,) = [one["ragstone_guard"] for one in told if "ragstone_guard" in one]
    assert (note["ok"], note["action"]) == (False, "replaced")
    if told[-1].get("type") == "response.completed":
        response = told[-1]["response"]
        assert response["output"][0]["summary"][0]["text"] == "Hm."
        assert response["output"][1]["content"][0]["text"] == f"{TRUE} {HELD} {GRANITE}"
        assert response["usage"] == {"output_tokens": 9}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (named({"type": "response.completed", "response": {"output": [
            {"type": "message", "content": [{"type": "output_text", "text": FALSE}]}]}}), ""),
        (named({"type": "response.output_item.done", "output_index": 0,
                "item": {"content": [{"type": "text", "text": FALSE}]}}), ""),
        (named({"type": "response.new_text.delta", "delta": FALSE}), ""),
        (named({"type": "message_start", "message": {"content": [{"text": FALSE}]}}), ""),
        (named({"type": "content_block_delta", "index": 0,
                "delta": {"type": "new_delta", "text": FALSE}}), ""),
        (sse({"say": FALSE}, {"say": FALSE}, "[DONE]"), ""),
        (sse({"say": FALSE}), ""),
        (sse([FALSE]), ""),
        (b'data: {"choices": [{"delta": {"content": "Napoleon"}}], "choices": []}\n\n', ""),
        (b"".join(json.dumps({"say": FALSE}).encode() + b"\n" for _ in range(3)), "x-ndjson"),
        (FALSE.encode() + b"\n", "x-ndjson"),
        (json.dumps({"response": {"say": FALSE}, "done": True}).encode(), "x-ndjson"),
        (json.dumps({"message": FALSE, "done": True}).encode(), "x-ndjson"),
        (json.dumps({"message": {"content": TRUE}, "response": FALSE, "done": False}).encode(),
         "x-ndjson"),
    ],
)  # fmt: skip
def test_a_stream_whose_text_is_not_known_is_held_unless_the_policy_is_open(
    body: bytes, kind: str
) -> None:
    kind = f"application/{kind}" if kind else "text/event-stream"
    reply = ask(guarded(streaming(body, kind=kind)), CHAT)
    assert not [word for word in INVENTED if word in words_of(reply)]
    assert b"ragstone" in reply.body
    opened = ask(guarded(streaming(body, kind=kind), on_fail=None), CHAT)
    assert b"Napoleon" in opened.body or b"Napoleon" not in body


def test_what_comes_before_the_first_text_is_held_until_then_and_no_longer() -> None:
    sources = {"contexts": [{"id": "p", "text": PIER[0]}]}
    how: Any = {"answer": "$.a", "event_text": "$.t", "contexts": None,
                "reply_contexts": "$.contexts[*]"}  # fmt: skip
    reply = streamed(sse(sources, {"t": TRUE}, {"usage": 9}), **how)
    assert {sorted(one)[0] for one in data_of(reply)[:3]} == {"contexts", "t", "usage"}
    assert data_of(reply)[0] == sources
    nothing = streamed(sse(sources, {"usage": 9}, "[DONE]"), **how)
    first, done = data_of(nothing)
    assert (first, done["not_judged"], done["action"]) == ("[DONE]", "nothing_at", "replaced")


def test_lines_with_text_at_a_path_are_judged() -> None:
    body = b"".join(json.dumps({"t": f"{one} "}).encode() + b"\n" for one in MIXED.split(" "))
    how: Any = {"answer": "$.a", "event_text": "$.t"}
    reply = ask(guarded(streaming(body, kind="application/x-ndjson"), **how), CHAT)
    told = [json.loads(line) for line in reply.body.splitlines()]
    assert "".join(one.get("t", "") for one in told) == f"{TRUE} {HELD} {GRANITE} "
    assert told[-1]["ragstone-guard"]["action"] == "replaced"


def test_what_repeats_an_answer_says_what_left_of_it() -> None:
    for body in (responses(TRUE, text=FALSE),
                 responses(TRUE).replace(b'"text": "The pier', b'"text": "Napoleon')):  # fmt: skip
        reply = streamed(body)
        assert not [word for word in INVENTED if word in words_of(reply)]
        assert json.dumps(TRUE).encode() in reply.body


def test_an_error_of_a_model_server_passes() -> None:
    error = {"error": {"message": "overloaded"}}
    assert data_of(streamed(sse(error))) == [error]
