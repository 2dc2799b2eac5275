"""The middleware: no answer leaves unjudged, and nothing of the guard's breaks a request."""

import asyncio
import gzip
import json
import logging
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from ragstone.core.errors import InputError
from ragstone.guard import Checks, Guard
from ragstone.guard.integrations.asgi import GuardMiddleware
from ragstone.guard.integrations.request_guard import HELD, Assessing, tell_guard
from tests.guard.integrations.conftest import (
    DOUBTED,
    RIGHT,
    WRONG,
    App,
    Reply,
    TwoWords,
    ask,
    replying,
)

ASKED = {"question": "Is it?", "contexts": [{"id": "a", "text": "It is."}]}


def guarded(app: App, guard: Assessing | None = None, **how: Any) -> GuardMiddleware:
    places = {"question": "$.question", "contexts": "$.contexts[*]", "answer": "$.answer",
              "paths": ["*"]}  # fmt: skip
    return GuardMiddleware(app, TwoWords() if guard is None else guard, **{**places, **how})


def answered(answer: str, **how: Any) -> Reply:
    return ask(guarded(replying({"answer": answer, "n": 1}), **how), ASKED)


def test_a_right_answer_passes_byte_by_byte_and_the_header_tells() -> None:
    body = b'{ "answer" : "It is right.", "n": 1.0 }'
    reply = ask(guarded(replying(body, pieces=3)), ASKED, headers=[(b"x-request-id", b"r-1")])
    assert (reply.status, reply.body) == (200, body)
    assert reply.headers["content-length"] == str(len(body))
    assert reply.headers["ragstone-guard"] == 'ok=?1, decision=pass, action=passed, id="r-1"'


def test_a_wrong_answer_is_replaced_and_the_rest_of_the_reply_stays() -> None:
    reply = answered(WRONG)
    assert (reply.status, reply.json) == (200, {"answer": HELD, "n": 1})
    assert reply.told["ok"] == "?0"
    assert reply.told["action"] == "replaced"
    assert reply.told["issues"] == "unsupported_sentence"
    assert "wrong" not in str(reply.messages)


def test_the_guard_is_given_what_was_asked_and_what_it_rests_on() -> None:
    guard = TwoWords()
    ask(guarded(replying({"answer": RIGHT}), guard), ASKED, headers=[(b"X-Request-Id", b"r")])
    assert guard.seen == [("Is it?", RIGHT, ASKED["contexts"], None, "r")]


def test_what_is_given_instead_can_be_a_text_a_status_or_nothing() -> None:
    assert answered(WRONG, on_fail="Sorry.").json["answer"] == "Sorry."
    refused = answered(WRONG, on_fail=422)
    assert refused.status == 422
    assert refused.json == {
        "error": {"message": HELD, "type": "answer_held", "code": "unsupported_sentence"}
    }
    assert refused.told["action"] == "refused"
    marked = answered(WRONG, on_fail=None)
    assert (marked.status, marked.json["answer"]) == (200, WRONG)
    assert (marked.told["ok"], marked.told["action"]) == ("?0", "marked")


def test_what_could_not_be_judged_passes_or_is_held_back_as_the_policy_says() -> None:
    opened = answered(DOUBTED, if_not_judged="open")
    assert opened.json["answer"] == DOUBTED
    assert "ok" not in opened.told
    assert opened.told["decision"] == "ask"
    assert answered(DOUBTED, if_not_judged="closed").json["answer"] == HELD


@pytest.mark.parametrize(("hold", "given"), [(("block",), WRONG), (("ask", "block"), HELD)])
def test_who_wants_to_holds_back_only_what_the_gate_blocks(
    hold: tuple[str, ...], given: str
) -> None:
    assert answered(WRONG, hold=hold).json["answer"] == given
    assert answered(WRONG, hold=hold, guard=TwoWords(block=True)).json["answer"] == HELD


def test_a_note_of_the_answer_stands_in_the_body_where_that_is_wanted() -> None:
    for answer, ok in ((RIGHT, True), (WRONG, False)):
        body = answered(answer, body_key="guard").json
        assert body["guard"]["ok"] is ok
        assert body["guard"]["decision"] == ("pass" if ok else "ask")
        assert body["guard"]["action"] == ("passed" if ok else "replaced")
        assert body["n"] == 1


INVENTED = "The pier is 90 m long. It was built in 1822 by Napoleon."


def test_what_is_held_back_is_nowhere_in_the_reply() -> None:
    judge = Guard(Checks(citations=False))
    how: dict[str, Any] = {"extract": lambda *_: ("How long is it?", ["The pier is 90 m long."])}
    app = guarded(replying({"answer": INVENTED}), judge, body_key="guard", **how)
    reply = ask(app, ASKED)
    assert reply.json["answer"] == HELD
    assert {"new_number", "new_name"} == {one["code"] for one in reply.json["guard"]["issues"]}
    assert not any("spans" in one for one in reply.json["guard"]["issues"])
    for word in ("1822", "Napoleon", "built"):
        assert word not in str(reply.messages)


def test_an_answer_that_is_given_as_it_is_has_the_places_of_its_issues() -> None:
    judge = Guard(Checks(citations=False))
    how: dict[str, Any] = {"extract": lambda *_: ("How long is it?", ["The pier is 90 m long."])}
    app = guarded(replying({"answer": INVENTED}), judge, body_key="guard", on_fail=None, **how)
    body = ask(app, ASKED).json
    ((start, end),) = body["guard"]["issues"][0]["spans"]
    assert body["answer"][start:end] == "1822"
    assert body["guard"]["action"] == "marked"


def test_contexts_of_the_reply_and_of_the_route_are_judged_by() -> None:
    guard = TwoWords()
    told = {"answer": RIGHT, "sources": [{"text": "One."}, {"text": "Two."}]}
    how = {"contexts": None, "reply_contexts": "$.sources[*].text"}
    ask(guarded(replying(told), guard, **how), {"question": "Q"})
    ask(guarded(replying({**told, "sources": []}), guard, **how), {"question": "Q"})

    async def route(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.to_thread(tell_guard, contexts=["Three."], retrieval_scores=[0.5])
        await asyncio.create_task(told_question())
        await replying(told)(scope, receive, send)

    async def told_question() -> None:
        tell_guard(question="Q2", run_id="r9")

    ask(guarded(route, guard, **how), {"question": "Q"})
    assert [one[:4] for one in guard.seen] == [
        ("Q", RIGHT, ["One.", "Two."], None),
        ("Q", RIGHT, [], None),
        ("Q2", RIGHT, ["Three."], [0.5]),
    ]
    assert guard.seen[-1][4] == "r9"


def test_of_what_is_told_twice_the_last_counts() -> None:
    guard = TwoWords()

    async def route(scope: Any, receive: Any, send: Any) -> None:
        tell_guard(question="first", contexts=["first"])
        tell_guard(contexts=["second"])
        await replying({"answer": RIGHT})(scope, receive, send)

    ask(guarded(route, guard), ASKED)
    assert guard.seen[0][:3] == ("first", RIGHT, ["second"])


def test_telling_the_guard_outside_of_a_request_does_nothing() -> None:
    tell_guard(question="Q", contexts=["C"])
    guard = TwoWords()
    ask(guarded(replying({"answer": RIGHT}), guard), ASKED)
    assert guard.seen[0][0] == "Is it?"


def test_a_function_finds_question_and_contexts_also_an_async_one() -> None:
    guard = TwoWords()

    def extract(request: Any, body: Any) -> tuple[str, list[str]]:
        return f"{request.method} {request.path} {request.headers['x-user']} {body['q']}", ["C"]

    async def later(request: Any, body: Any) -> tuple[str, list[str]]:
        return extract(request, body)

    for one in (extract, later):
        app = guarded(replying({"answer": RIGHT}), guard, extract=one)
        ask(app, {"q": "Q"}, headers=[(b"X-User", b"ann")])
    assert [one[:3] for one in guard.seen] == [("POST /ask ann Q", RIGHT, ["C"])] * 2


def test_a_request_in_pieces_is_heard_along_and_read_by_the_app_as_ever() -> None:
    guard = TwoWords()
    body = json.dumps(ASKED).encode()
    read: list[bytes] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            read.append(message["body"])
            more = message["more_body"]
        await replying({"answer": RIGHT}, reads=False)(scope, receive, send)

    ask(guarded(app, guard), pieces=[body[:10], b"", body[10:]])
    assert read == [body[:10], b"", body[10:]]
    assert guard.seen[0][2] == ASKED["contexts"]


COMPLETION = {
    "id": "c1",
    "object": "chat.completion",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": WRONG, "refusal": None},
         "logprobs": {"content": [{"token": "wrong"}]}, "finish_reason": "stop"}
    ],
}  # fmt: skip
CHAT = {"messages": [{"role": "system", "content": "Be brief."},
                     {"role": "user", "content": [{"type": "text", "text": "Is it?"}]}],
        "contexts": ["It is."]}  # fmt: skip


def chat(reply: Any, guard: TwoWords | None = None, **how: Any) -> Reply:
    app = GuardMiddleware(replying(reply), guard or TwoWords(), paths=["/v1/*"],
                          contexts="$.contexts", **how)  # fmt: skip
    return ask(app, CHAT, path="/v1/chat/completions")


def test_a_chat_completion_is_judged_and_replaced_with_its_log_probabilities() -> None:
    guard = TwoWords()
    reply = chat(COMPLETION, guard)
    assert guard.seen[0][:3] == ("Is it?", WRONG, ["It is."])
    (choice,) = reply.json["choices"]
    assert choice == {
        "index": 0, "message": {"role": "assistant", "content": HELD, "refusal": None},
        "logprobs": None, "finish_reason": "content_filter",
    }  # fmt: skip
    assert "wrong" not in str(reply.body)


def test_of_several_choices_each_is_judged_and_the_worst_is_told() -> None:
    choices = [{"message": {"content": text}} for text in (RIGHT, WRONG, RIGHT)]
    reply = chat({"choices": choices}, body_key="guard")
    assert [one["message"]["content"] for one in reply.json["choices"]] == [RIGHT, HELD, RIGHT]
    assert reply.told["ok"] == "?0"
    assert [one["ok"] for one in reply.json["guard"]] == [True, False, True]


def test_a_completion_without_messages_is_judged_in_its_own_form() -> None:
    reply = chat({"choices": [{"index": 0, "text": WRONG, "finish_reason": "stop"}]})
    assert reply.json["choices"] == [{"index": 0, "text": HELD, "finish_reason": "content_filter"}]


@pytest.mark.parametrize("choice", [{"delta": {"content": WRONG}}, WRONG, {"message": WRONG}])
def test_a_choice_whose_text_is_not_known_is_held_back_where_the_policy_is_closed(
    choice: Any,
) -> None:
    assert "wrong" not in str(chat({"choices": [choice]}, if_not_judged="closed").body)


def test_parts_that_are_plain_texts_are_judged() -> None:
    reply = chat({"choices": [{"message": {"content": [RIGHT, " ", WRONG]}}]})
    assert reply.json["choices"][0]["message"]["content"] == HELD


@pytest.mark.parametrize("policy", ["open", "closed"])
def test_a_call_of_a_tool_passes_and_is_told_as_not_judged(policy: str) -> None:
    call = {"content": None, "tool_calls": [{"id": "t"}], "reasoning_content": "wrong?"}
    completion = {"choices": [{"message": call, "finish_reason": "tool_calls"}]}
    reply = chat(completion, if_not_judged=policy)
    assert reply.json == completion
    assert reply.told["reason"] == "no_text"
    assert reply.told["action"] == "passed"


def packed(body: bytes, encoding: str) -> bytes:
    return gzip.compress(body) if encoding == "gzip" else zlib.compress(body)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_compressed_replies_are_judged(encoding: str) -> None:
    how: Any = {"headers": [(b"content-encoding", encoding.encode()), (b"etag", b'"1"')]}
    body = packed(json.dumps({"answer": RIGHT}).encode(), encoding)
    passed = ask(guarded(replying(body, **how)), ASKED)
    assert passed.body == body
    assert passed.headers["content-encoding"] == encoding
    assert passed.headers["etag"] == '"1"'
    wrong = packed(json.dumps({"answer": WRONG}).encode(), encoding)
    replaced = ask(guarded(replying(wrong, **how)), ASKED)
    assert replaced.json == {"answer": HELD}
    assert not {"content-encoding", "etag"} & replaced.headers.keys()


def test_a_reply_that_says_twice_how_it_is_packed_is_not_judged_by_the_last() -> None:
    packs = [(b"content-encoding", b"br"), (b"content-encoding", b"gzip")]
    reply = ask(guarded(replying(gzip.compress(b'{"answer": "It is right."}'), headers=packs)))
    assert (reply.status, reply.json["error"]["code"]) == (503, "body_encoded")


def test_compressed_requests_are_read() -> None:
    guard = TwoWords()
    sent = gzip.compress(json.dumps(ASKED).encode())
    app = guarded(replying({"answer": RIGHT}), guard)
    ask(app, pieces=[sent], headers=[(b"content-encoding", b"gzip")])
    assert guard.seen[0][0] == "Is it?"


LONG = "long. " * 2000
CUT = gzip.compress(b'{"answer": "It is wrong."}')[:-9]
GOOD = gzip.compress(b'{"answer": "It is right."}')
TWO = GOOD + gzip.compress(b'{"answer": "It is wrong."}')
BOMB = gzip.compress(json.dumps({"answer": "a" * 1_000_000}).encode())


@pytest.mark.parametrize(
    ("reply", "request_body", "why"),
    [
        (replying(b"<p>It is wrong.</p>", kind="text/html"), ASKED, "not_json"),
        (replying(b'{"answer": "It is wrong."', kind="application/json"), ASKED, "broken_json"),
        (replying(b"[" * 4000), ASKED, "broken_json"),
        (replying(b"\xff\xfe\xfd"), ASKED, "broken_json"),
        (replying(b'{"answer": "It is wrong.", "answer": "It is right."}'), ASKED, "broken_json"),
        (replying(b'{"answer": "It is right.", "b": [{"c": "It is wrong.", "\\u0063": 1}]}'),
         ASKED, "broken_json"),
        (replying({"answer": WRONG}, kind="text/html, application/x+json"), ASKED, "not_json"),
        (replying({"other": WRONG}), ASKED, "nothing_at"),
        (replying([WRONG]), ASKED, "nothing_at"),
        (replying({"answer": {"said": WRONG}}), ASKED, "nothing_at"),
        (replying({"answer": [RIGHT, {"said": WRONG}]}), ASKED, "nothing_at"),
        (replying({"answer": [RIGHT, [WRONG]]}), ASKED, "nothing_at"),
        (replying({"answer": WRONG}), {"question": "Q"}, "nothing_at"),
        (replying({"answer": WRONG}), None, "nothing_at"),
        (replying({"answer": WRONG}), {**ASKED, "more": LONG}, "body_too_large"),
        (replying({"answer": LONG}), ASKED, "body_too_large"),
        (replying({"answer": LONG}, pieces=5), ASKED, "body_too_large"),
        (replying(BOMB, headers=[(b"content-encoding", b"gzip")]), ASKED, "body_too_large"),
        (replying(b"x", headers=[(b"content-encoding", b"gzip")]), ASKED, "body_encoded"),
        (replying(CUT, headers=[(b"content-encoding", b"gzip")]), ASKED, "body_encoded"),
        (replying(TWO, headers=[(b"content-encoding", b"gzip")]), ASKED, "body_encoded"),
        (replying(GOOD + b"It is wrong.", headers=[(b"content-encoding", b"gzip")]), ASKED,
         "body_encoded"),
        (replying(b"x", headers=[(b"content-encoding", b"br")]), ASKED, "body_encoded"),
        (replying({"answer": WRONG}, reads=False), ASKED, "request_not_read"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_passes_unchanged_or_is_refused(
    reply: App, request_body: Any, why: str
) -> None:
    plain = ask(reply, request_body)
    opened = ask(guarded(reply, most_bytes=5000, if_not_judged="open"), request_body)
    assert (opened.status, opened.body) == (200, plain.body)
    assert opened.headers.items() >= plain.headers.items()
    assert opened.told["reason"] == why
    assert opened.told["action"] == "passed"
    closed = ask(guarded(reply, most_bytes=5000), request_body)
    assert "wrong" not in str(closed.body)
    assert closed.told["action"] in ("refused", "replaced")
    if closed.told["action"] == "refused":
        assert closed.status == 503
        assert closed.headers["content-type"] == "application/json"
        assert closed.json["error"]["code"] == why
    else:
        assert closed.json == {"answer": HELD}


def test_a_body_that_is_not_utf8_clean_can_still_be_replaced() -> None:
    body = b'{"answer": "It is wrong.", "other": "\\ud800 gr\\u00fcn"}'
    reply = ask(guarded(replying(body)), ASKED)
    assert reply.json == {"answer": HELD, "other": "\ud800 grün"}


@pytest.mark.parametrize("status", [204, 302, 400, 404, 500])
def test_errors_and_replies_without_a_body_pass_without_a_word(status: int) -> None:
    body = b"" if status == 204 else b'{"answer": "It is wrong."}'
    reply = ask(guarded(replying(body, status=status), if_not_judged="closed"), ASKED)
    assert (reply.status, reply.body) == (status, body)
    assert "ragstone-guard" not in reply.headers


@pytest.mark.parametrize(
    ("method", "path", "is_guarded"),
    [
        ("POST", "/ask", True),
        ("GET", "/ask", True),
        ("POST", "/v1/any/thing", True),
        ("POST", "/Ask", False),
        ("POST", "/other", False),
        ("HEAD", "/ask", False),
        ("OPTIONS", "/ask", False),
    ],
)
def test_only_the_paths_that_are_named_are_guarded(
    method: str, path: str, is_guarded: bool
) -> None:
    app = guarded(replying({"answer": RIGHT}), paths=["/ask", "/v1/*"])
    reply = ask(app, ASKED, method=method, path=path)
    assert ("ragstone-guard" in reply.headers) is is_guarded


@pytest.mark.parametrize("named", ["/ask", "/api/ask"])
def test_a_path_is_guarded_below_the_root_path_too(named: str) -> None:
    app = guarded(replying({"answer": WRONG}), paths=[named])
    reply = ask(app, ASKED, path="/api/ask", root_path="/api")
    assert "wrong" not in str(reply.body)


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
def test_what_is_no_http_request_passes(kind: str) -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend((scope, receive, send))

    given: Any = ({"type": kind}, object(), object())
    asyncio.run(guarded(app)(*given))
    assert seen == list(given)


def test_an_error_of_the_app_is_the_apps() -> None:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-type", b"application/json")]})  # fmt: skip
        raise KeyError("of the app")

    with pytest.raises(KeyError, match="of the app"):
        ask(guarded(app), ASKED)


def test_a_reply_that_is_left_unfinished_is_refused_or_left_so() -> None:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-type", b"application/json")]})  # fmt: skip
        await send({"type": "http.response.body", "body": b'{"answer":', "more_body": True})

    reply = ask(guarded(app), ASKED)
    assert reply.json["error"]["code"] == reply.told["reason"] == "reply_not_complete"
    assert reply.status == 503
    left = ask(guarded(app, if_not_judged="open"), ASKED)
    assert [one["type"] for one in left.messages] == ["http.response.start", "http.response.body"]
    assert left.messages[-1] == {
        "type": "http.response.body", "body": b'{"answer":', "more_body": True
    }  # fmt: skip


@pytest.mark.parametrize("policy", ["open", "closed"])
def test_a_file_that_the_server_reads_itself_is_not_judged(policy: str) -> None:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200,
                    "headers": [(b"content-type", b"application/json")]})  # fmt: skip
        await send({"type": "http.response.pathsend", "path": "answers.json"})

    reply = ask(guarded(app, if_not_judged=policy), ASKED)
    assert reply.told["reason"] == "body_elsewhere"
    kinds = [one["type"] for one in reply.messages]
    assert ("http.response.pathsend" in kinds) is (policy == "open")


def test_early_hints_and_trailers_pass_as_they_come() -> None:
    hint = {"type": "http.response.early_hint", "links": []}
    trailers = {"type": "http.response.trailers", "headers": [], "more_trailers": False}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send(hint)
        await replying({"answer": RIGHT})(scope, receive, send)
        await send(trailers)

    reply = ask(guarded(app), ASKED)
    assert reply.messages[0] == hint
    assert reply.messages[-1] == trailers


SECRET = "sk-secret-0123456789"


def raising(*_: Any) -> Any:
    raise RuntimeError(f"{SECRET} {WRONG}")


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"guard": TwoWords(error=RuntimeError(f"{SECRET} {WRONG}"))}, "guard_failed"),
        ({"extract": raising}, "extract_failed"),
        ({"extract": lambda *_: 7}, "extract_failed"),
        ({"extract": lambda *_: ("Q", None)}, "contexts_not_told"),
    ],
)
@pytest.mark.parametrize(("policy", "given"), [("open", RIGHT), ("closed", HELD)])
def test_what_breaks_in_the_guard_never_breaks_the_request(
    how: dict[str, Any], why: str, policy: str, given: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        reply = answered(RIGHT, if_not_judged=policy, **how)
    assert (reply.status, reply.json["answer"]) == (200, given)
    assert reply.told["reason"] == why
    said = "\n".join(logging.Formatter().format(one) for one in caplog.records)
    assert why in said
    for text in (SECRET, "hidden", WRONG, RIGHT, "Is it?", "It is."):
        assert text not in said


def test_a_listener_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[Any] = []

    def listener(ruling: Any) -> None:
        heard.append(ruling)
        raise RuntimeError(SECRET)

    reply = answered(RIGHT, on_ruling=listener)
    assert reply.json["answer"] == RIGHT
    assert [one.assessment.ok for one in heard] == [True]
    assert "RuntimeError" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize(("policy", "given"), [("open", RIGHT), ("closed", HELD)])
def test_a_guard_that_takes_too_long_is_not_waited_for(policy: str, given: str) -> None:
    reply = answered(RIGHT, guard=TwoWords(seconds=0.6), timeout=0.01, if_not_judged=policy)
    assert reply.json["answer"] == given
    assert reply.told["reason"] == "guard_timed_out"


def test_a_guard_that_fails_in_a_row_is_left_alone_and_the_header_says_so() -> None:
    guard = TwoWords(error=RuntimeError())
    app = guarded(replying({"answer": RIGHT}), guard)
    whys = [ask(app, ASKED).told["reason"] for _ in range(7)]
    assert whys == ["guard_failed"] * 5 + ["circuit_open"] * 2
    assert len(guard.seen) == 5
    assert app.guard.counts == {"failed": 5, "held": 7, "not_judged": 7}


@pytest.mark.parametrize(
    "id", [b"a\r\nset-cookie: x=1", "grün".encode(), b'a", b="c\\', b"x" * 999]
)
def test_a_hostile_name_of_a_request_is_inert(id: bytes) -> None:
    guard = TwoWords()
    reply = ask(guarded(replying({"answer": RIGHT}), guard), ASKED, headers=[(b"x-request-id", id)])
    assert guard.seen[0][4].isprintable()
    assert len(guard.seen[0][4]) <= 100
    value = reply.headers["ragstone-guard"]
    assert value.isprintable()
    assert len(value) < 200
    assert value.count('"') == 2


def test_a_request_without_a_name_gets_one() -> None:
    first, second = answered(RIGHT).told["id"], answered(RIGHT).told["id"]
    assert len(first) == len(second) == 32
    assert first != second


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"on_fail": 200}, "a status is from 400 to 599"),
        ({"if_not_judged": "ajar"}, "give 'open' or 'closed'"),
        ({"timeout": 0}, "give more than 0 seconds"),
        ({"answer": "answer"}, "is not a JSON path"),
        ({"question": "question"}, "is not a JSON path"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_at_once(how: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        guarded(replying({}), **how)


DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b'{"question": "Is it?", "padding": "' + b" " * (4 << 20) + b'"}', ()),
        (b'{"question": 7}', ()),
        (b'{"question": null}', ()),
        (b'{"question": [{"type": "image_url", "image_url": {}}]}', ()),
        (b'{"question": "Is it?", "question": "Is it not?"}', ()),
        (b"{}", ()),
        (b"", ()),
        (b'{"question": ', ()),
        (b'{"question": "\xff"}', ()),
        (DEEP, ()),
        (b"Is it?", [(b"content-encoding", b"br")]),
        (gzip.compress(b'{"question": "Is it?"}') * 2, [(b"content-encoding", b"gzip")]),
    ],
)
def test_no_request_switches_the_guard_off_where_the_contexts_are_known(
    body: bytes, headers: Any
) -> None:
    async def route(scope: Any, receive: Any, send: Any) -> None:
        tell_guard(contexts=["It is."])
        await replying({"answer": WRONG})(scope, receive, send)

    guard = TwoWords()
    app = guarded(route, guard, contexts=None, if_not_judged="open")
    assert ask(app, pieces=[body], headers=headers).json == {"answer": HELD}
    assert guard.seen[0][:3] == (None, WRONG, ["It is."])


def test_the_app_does_not_see_what_would_make_its_reply_unreadable() -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.extend(scope["headers"])
        await replying({"answer": RIGHT})(scope, receive, send)

    headers = [(b"Accept-Encoding", b"br"), (b"range", b"bytes=0-9"), (b"accept", b"*/*")]
    ask(guarded(app), ASKED, headers=headers)
    assert seen == [(b"accept", b"*/*")]


def test_many_requests_at_once_keep_apart() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        number = json.loads(message["body"])["number"]
        tell_guard(question=f"Q{number}", contexts=[f"C{number}"])
        await asyncio.sleep(0.001 * (number % 3))
        await replying({"answer": f"A{number}"}, reads=False)(scope, receive, send)

    guard = TwoWords()
    one: Callable[..., Any] = guarded(app, guard)

    async def called(number: int) -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": json.dumps({"number": number}).encode()}

        async def send(_: Any) -> None:
            return

        await one({"type": "http", "method": "POST", "path": "/ask", "headers": []}, receive, send)

    async def all_of_them() -> None:
        await asyncio.gather(*(called(number) for number in range(20)))

    asyncio.run(all_of_them())
    assert sorted(one[:3] for one in guard.seen) == sorted(
        (f"Q{number}", f"A{number}", [f"C{number}"]) for number in range(20)
    )


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("$.output[*].content[*].text",
         {"output": [{"type": "reasoning", "summary": []},
                     {"type": "message", "content": [{"type": "output_text", "text": WRONG}]}]}),
        ("$.content[*].text",
         {"type": "message", "content": [{"type": "tool_use"}, {"type": "text", "text": WRONG}]}),
        ("$.message.content", {"message": {"role": "assistant", "content": WRONG}, "done": True}),
    ],
)  # fmt: skip
def test_whole_replies_of_other_apis_are_judged_at_their_places(answer: str, reply: Any) -> None:
    given = ask(guarded(replying(reply), answer=answer), ASKED)
    assert given.json == json.loads(json.dumps(reply).replace(WRONG, HELD))
