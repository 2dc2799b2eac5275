"""The API encoder, against a scripted server on this machine."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from ragstone.core.errors import ModelError, ModelFailure
from ragstone.models import numpy_bert as bert
from ragstone.models.embedding_api import ApiEncoder, Patience, Server, openai_server
from ragstone.testing import tiny_bert

Reply = Callable[[list[str]], web.StreamResponse]
QUICK = Patience(reply=60.0, first=0.01, down=0.3, longest=0.4)


def vector(text: str) -> list[float]:
    return [len(text), text.count("a"), 1.0]


def rows(texts: Sequence[str]) -> list[dict[str, Any]]:
    return [{"index": place, "embedding": vector(text)} for place, text in enumerate(texts)]


def data(rows: object) -> web.Response:
    return web.json_response({"object": "list", "data": rows})


def good(texts: list[str]) -> web.Response:
    return data(rows(texts))


class Scripted:
    """A server that replies as it is told, else well.

    Attributes:
        replies: What it does with the next requests, each once.
        otherwise: What it does with all others.
        asked: The body of every request.
        headers: The headers of every request.
        most: Requests that were open at the same time.
    """

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.open = self.most = 0
        self.otherwise: Reply = good
        self.wait = 0.0
        self.url = ""

    async def post(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        body = await request.json()
        self.asked.append(body)
        self.open += 1
        self.most = max(self.most, self.open)
        reply = self.replies.pop(0) if self.replies else self.otherwise
        await asyncio.sleep(self.wait)
        self.open -= 1
        return reply(body["input"])

    def texts(self) -> list[str]:
        return [text for body in self.asked for text in body["input"]]


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    script = Scripted()
    started, stop = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        application = web.Application(client_max_size=1 << 26)
        application.router.add_post("/v1/embeddings", script.post)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        script.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        started.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(10)
    yield script
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()


@pytest.fixture
def encoder(scripted: Scripted) -> ApiEncoder:
    return ApiEncoder("there", Server(scripted.url, "small", None), patience=QUICK)


def test_vectors_come_in_the_order_of_the_texts(encoder: ApiEncoder, scripted: Scripted) -> None:
    scripted.replies = [lambda texts: data(rows(texts)[::-1])]
    got = encoder.embed(["a", "bb", "cca"])
    assert got.dtype == np.float32
    assert got.tolist() == [[1, 1, 1], [2, 0, 1], [3, 1, 1]]
    assert scripted.asked == [
        {"model": "small", "input": ["a", "bb", "cca"], "encoding_format": "float"}
    ]


def test_many_texts_go_in_several_requests_at_once(encoder: ApiEncoder, scripted: Scripted) -> None:
    scripted.wait = 0.05
    texts = [f"text {number}" for number in range(256 * 12 + 1)]
    got = encoder.embed(texts)
    assert got.tolist() == [vector(text) for text in texts]
    assert sorted(len(body["input"]) for body in scripted.asked) == [1, *[256] * 12]
    assert 2 <= scripted.most <= 8


def test_long_texts_go_in_smaller_requests(encoder: ApiEncoder, scripted: Scripted) -> None:
    texts = ["a" * 150_000, "b" * 40_000, "c" * 20_000, "d" * 300_000]
    assert encoder.embed(texts)[:, 0].tolist() == [150_000, 40_000, 20_000, 300_000]
    assert sorted(len(body["input"]) for body in scripted.asked) == [1, 1, 2]


def test_a_model_behind_a_server_gives_what_it_gives_here(
    encoder: ApiEncoder, scripted: Scripted, tmp_path: Path
) -> None:
    model = bert.load(tiny_bert(tmp_path / "model"), "model")
    scripted.otherwise = lambda texts: data(
        [
            {"index": place, "embedding": one.tolist()}
            for place, one in enumerate(model.embed(texts))
        ]
    )
    texts = ["the bridge opened in 1932", "", "a mine", "the old tower stands " * 20]
    assert encoder.embed(texts) == pytest.approx(model.embed(texts), abs=1e-5)


def test_no_text_asks_nobody(encoder: ApiEncoder, scripted: Scripted) -> None:
    assert encoder.embed([]).shape == (0, 0)
    assert scripted.asked == []


def test_what_a_server_cannot_read_is_sent_in_another_form(
    encoder: ApiEncoder, scripted: Scripted
) -> None:
    assert encoder.embed(["", "a\ud800b"]).shape == (2, 3)
    assert scripted.texts() == [" ", "a\ufffdb"]


def test_it_can_be_asked_where_an_event_loop_runs(encoder: ApiEncoder) -> None:
    async def notebook() -> list[list[float]]:
        return encoder.embed(["a"]).tolist()  # type: ignore[no-any-return]

    assert asyncio.run(notebook()) == [[1, 1, 1]]


def test_dimensions_are_learnt_from_a_reply(encoder: ApiEncoder, scripted: Scripted) -> None:
    assert "dimensions" not in encoder.about
    assert encoder.dimensions == 3
    assert encoder.dimensions == 3
    assert len(scripted.asked) == 1
    assert encoder.about.startswith("small at 127.0.0.1:")
    assert "3 dimensions" in encoder.about


def test_no_vectors_of_tokens_are_to_be_had(encoder: ApiEncoder) -> None:
    assert (encoder.max_tokens, encoder.longest, encoder.layers) == (0, 0, 0)
    assert encoder.lengths(["a", "b"]).tolist() == [0, 0]
    with pytest.raises(ModelError, match="builtin:minilm"):
        encoder.tokens(["a"])


def test_fingerprint_is_of_address_and_model() -> None:
    def fingerprint(url: str, model: str, key: str | None = None) -> str:
        return ApiEncoder("any", Server(url, model, key)).fingerprint

    assert fingerprint("http://a/v1", "m") == fingerprint("http://a/v1", "m", "key")
    assert len(fingerprint("http://a/v1", "m")) == 32
    three = {fingerprint(*one) for one in [("http://a/v1", "m"), ("http://b/v1", "m"),
                                           ("http://a/v1", "n")]}  # fmt: skip
    assert len(three) == 3


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_trouble_is_asked_again(
    status: int, encoder: ApiEncoder, scripted: Scripted
) -> None:
    scripted.replies = [lambda _: web.Response(status=status)] * 3
    assert encoder.embed(["a"]).tolist() == [[1, 1, 1]]
    assert len(scripted.asked) == 4


def test_a_trouble_that_does_not_pass_ends_after_four_attempts(
    encoder: ApiEncoder, scripted: Scripted
) -> None:
    scripted.replies = [lambda _: web.json_response({"error": {"message": "busy"}}, status=503)] * 9
    with pytest.raises(ModelFailure, match=r"127\.0\.0\.1:\d+ replied 503: busy, 4 times in a row"):
        encoder.embed(["a"])
    assert len(scripted.asked) == 4


def test_retry_after_is_waited_for(encoder: ApiEncoder, scripted: Scripted) -> None:
    scripted.replies = [lambda _: web.Response(status=429, headers={"Retry-After": "0.4"})]
    before = time.monotonic()
    encoder.embed(["a"])
    assert time.monotonic() - before >= 0.4


@pytest.mark.parametrize("later", ["0.5", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_long_retry_after_is_not_waited_for(
    encoder: ApiEncoder, scripted: Scripted, later: str
) -> None:
    scripted.replies = [lambda _: web.Response(status=429, headers={"Retry-After": later})]
    with pytest.raises(ModelFailure, match="asks to wait "):
        encoder.embed(["a"])


def test_a_connection_that_breaks_off_is_asked_again(
    encoder: ApiEncoder, scripted: Scripted
) -> None:
    def cut(_: list[str]) -> web.StreamResponse:
        reply = web.Response(body=b'{"data": [', headers={"Content-Length": "500"})
        reply.force_close()
        return reply

    scripted.replies = [cut]
    assert encoder.embed(["a"]).tolist() == [[1, 1, 1]]


BAD_REPLIES: dict[str, tuple[Reply, str]] = {
    "no JSON": (lambda _: web.Response(text="<html>"), "sent no embeddings: <html>"),
    "nothing": (lambda _: web.Response(), "sent no embeddings: nothing"),
    "no data": (lambda _: web.json_response({"error": "x"}), "sent no embeddings"),
    "a list": (lambda _: web.json_response([1]), "sent no embeddings"),
    "deep": (lambda _: web.Response(text="[" * 99_999), "sent no embeddings"),
    "one short": (lambda texts: data(rows(texts)[1:]), "sent 1 vectors for 2 texts"),
    "one more": (lambda texts: data(rows([*texts, "x"])), "sent 3 vectors for 2 texts"),
    "twice the same": (lambda texts: data([rows(texts)[0]] * 2), "or wrong index numbers"),
    "no numbers": (
        lambda _: data([{"index": place, "embedding": "AAAA"} for place in (0, 1)]),
        "sent no embeddings",
    ),
    "empty": (
        lambda _: data([{"index": place, "embedding": []} for place in (0, 1)]),
        "unequal lengths",
    ),
    "unequal": (
        lambda _: data([{"index": place, "embedding": [1.0] * (place + 1)} for place in (0, 1)]),
        "unequal lengths",
    ),
    "NaN": (
        lambda _: data([{"index": place, "embedding": [1.0, float("nan")]} for place in (0, 1)]),
        "not finite",
    ),
    "null": (
        lambda _: data([{"index": place, "embedding": [1.0, None]} for place in (0, 1)]),
        "not finite",
    ),
    "too large": (
        lambda _: data([{"index": place, "embedding": [1.0, 1e300]} for place in (0, 1)]),
        "not finite",
    ),
}


@pytest.mark.parametrize(("reply", "words"), BAD_REPLIES.values(), ids=BAD_REPLIES)
def test_a_reply_that_is_none_is_said_in_words(
    reply: Reply, words: str, encoder: ApiEncoder, scripted: Scripted
) -> None:
    scripted.replies = [reply]
    with pytest.raises(ModelFailure, match=words) as caught:
        encoder.embed(["a", "b"])
    assert len(scripted.asked) == 1, "asking again would not help"
    assert len(str(caught.value)) < 400
    assert encoder.embed(["a"]).shape == (1, 3), "and the next text is asked for"


def test_other_dimensions_than_before_are_refused(encoder: ApiEncoder, scripted: Scripted) -> None:
    encoder.embed(["a"])
    scripted.replies = [lambda _: data([{"index": 0, "embedding": [1.0, 2.0]}])]
    with pytest.raises(ModelFailure, match="of 2 dimensions; before, they had 3"):
        encoder.embed(["b"])


def test_a_refused_key_ends_at_once_and_is_not_shown(scripted: Scripted) -> None:
    key = "sk-secret"
    encoder = ApiEncoder("there", Server(scripted.url, "small", key), patience=QUICK)
    refusal = {"error": {"message": f"wrong key {key}"}}
    scripted.replies = [lambda _: web.json_response(refusal, status=401)]
    with pytest.raises(ModelFailure, match=r"replied 401: not allowed\. The key of OPENAI_API_KEY"):
        encoder.embed(["a"])
    with pytest.raises(ModelFailure, match="replied 401"):
        encoder.embed(["b"])
    assert len(scripted.asked) == 1, "it is not asked again with the same key"
    scripted.replies = [lambda _: web.json_response(refusal, status=400)]
    time.sleep(QUICK.down)
    with pytest.raises(ModelFailure, match="replied 400: wrong key …") as caught:
        encoder.embed(["a"])
    assert key not in str(caught.value)
    assert key not in repr(encoder._server)
    assert scripted.headers[0]["Authorization"] == f"Bearer {key}"


def test_no_header_of_a_key_is_sent_where_there_is_none(
    encoder: ApiEncoder, scripted: Scripted
) -> None:
    encoder.embed(["a"])
    assert "Authorization" not in scripted.headers[0]
    assert "Cookie" not in scripted.headers[0]


@pytest.fixture
def proxied(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The scripted server is the proxy of this system, and no other is named."""
    for name in ("http_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name.upper(), raising=False)
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", scripted.url.removesuffix("/v1"))
    return monkeypatch


@pytest.mark.parametrize("key", [None, "sk-mine"])
def test_what_netrc_holds_is_sent_to_nobody(
    key: str | None, scripted: Scripted, proxied: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine server.invalid login me password secret\n")
    netrc.chmod(0o600)
    proxied.setenv("NETRC", str(netrc))
    there = Server("http://server.invalid/v1", "small", key)
    assert ApiEncoder("there", there, patience=QUICK).embed(["a"]).shape == (1, 3)
    (headers,) = scripted.headers
    assert headers["Host"] == "server.invalid"
    assert headers.get("Authorization") == (f"Bearer {key}" if key else None)


def test_a_proxy_may_be_named_without_its_scheme(
    scripted: Scripted, proxied: pytest.MonkeyPatch
) -> None:
    proxied.setenv("http_proxy", scripted.url.removesuffix("/v1").removeprefix("http://"))
    there = Server("http://server.invalid/v1", "small", None)
    assert ApiEncoder("there", there, patience=QUICK).embed(["a"]).shape == (1, 3)


def test_no_proxy_stands_before_this_machine_or_what_is_exempt(
    encoder: ApiEncoder, scripted: Scripted, proxied: pytest.MonkeyPatch
) -> None:
    proxied.setenv("no_proxy", "server.invalid")
    there = Server("http://server.invalid/v1", "small", None)
    with pytest.raises(ModelFailure, match=r"server\.invalid"):
        ApiEncoder("there", there, patience=QUICK).embed(["a"])
    assert scripted.asked == []
    proxied.setenv("http_proxy", "http://127.0.0.1:9")
    assert encoder.embed(["a"]).shape == (1, 3)


def too_much(texts: list[str], most: int, longest: int, status: int = 422) -> web.Response:
    if len(texts) > most or max(map(len, texts)) > longest:
        return web.json_response({"error": {"message": "too much"}}, status=status)
    return good(texts)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_server_that_takes_fewer_texts_at_once_gets_fewer(
    status: int, encoder: ApiEncoder, scripted: Scripted
) -> None:
    scripted.otherwise = lambda texts: too_much(texts, most=32, longest=99, status=status)
    texts = [f"text {number}" for number in range(100)]
    assert encoder.embed(texts).tolist() == [vector(text) for text in texts]
    scripted.asked.clear()
    encoder.embed(texts)
    assert max(len(body["input"]) for body in scripted.asked) <= 32, "it has learnt that"


def test_a_text_that_is_too_long_for_the_server_is_pointed_at(
    encoder: ApiEncoder, scripted: Scripted
) -> None:
    scripted.otherwise = lambda texts: too_much(texts, most=256, longest=99)
    texts = ["a"] * 20 + ["b" * 1000] + ["c"] * 20
    with pytest.raises(ModelFailure, match=r"422: too much \(asked for a text of 1,000 char.*'bb"):
        encoder.embed(texts)
    scripted.asked.clear()
    assert encoder.embed(["a"] * 200).shape == (200, 3)
    assert len(scripted.asked) == 1, "one text too long says nothing of how many go at once"


def test_a_wrong_address_is_pointed_at(scripted: Scripted) -> None:
    encoder = ApiEncoder("there", Server(f"{scripted.url}/v2", "small", None), patience=QUICK)
    with pytest.raises(ModelFailure, match=r"replied 404.*Check the address http.*/v1/v2"):
        encoder.embed(["a"])


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (300, " replied 300: a redirect, which is not followed"),
        (399, " replied 399: a redirect, which is not followed"),
        (400, " replied 400 (asked for a text of 3 characters, 'tin')"),
        (401, " replied 401: not allowed. No key was sent"),
        (403, " replied 403: not allowed. No key was sent"),
        (404, " replied 404. Check the address {url} and the model small"),
        (405, " replied 405. Check the address {url} and the model small"),
        (413, " replied 413 (asked for a text of 3 characters, 'tin')"),
        (418, " replied 418"),
        (422, " replied 422 (asked for a text of 3 characters, 'tin')"),
    ],
)
def test_a_refusal_says_what_may_be_wrong(status: int, told: str, scripted: Scripted) -> None:
    encoder = ApiEncoder("there", Server(scripted.url, "small", None), patience=QUICK)
    scripted.otherwise = lambda _: web.Response(status=status)
    with pytest.raises(ModelFailure) as raised:
        encoder.embed(["tin"])
    host = scripted.url.removeprefix("http://").removesuffix("/v1")
    assert str(raised.value) == f"The encoder's server {host}{told.format(url=scripted.url)}"


def test_a_redirect_is_not_followed(encoder: ApiEncoder, scripted: Scripted) -> None:
    there = {"Location": f"{scripted.url}/elsewhere"}
    scripted.replies = [lambda _: web.Response(status=307, headers=there)]
    with pytest.raises(ModelFailure, match="replied 307: a redirect"):
        encoder.embed(["a"])
    assert len(scripted.asked) == 1


def test_a_server_that_is_down_is_not_asked_for_every_batch(scripted: Scripted) -> None:
    nobody = Server("http://127.0.0.1:9/v1", "small", None)
    down = ApiEncoder("down", nobody, patience=replace(QUICK, down=3600.0))
    with pytest.raises(ModelFailure, match=r"127\.0\.0\.1:9 cannot be reached: .*Is it running"):
        down.embed(["a"] * 2000)
    down._server = Server(scripted.url, "small", None)
    with pytest.raises(ModelFailure, match="cannot be reached"):
        down.embed(["b"])
    assert not scripted.asked
    back = ApiEncoder("down", nobody, patience=QUICK)
    with pytest.raises(ModelFailure, match="cannot be reached"):
        back.embed(["a"])
    back._server = Server(scripted.url, "small", None)
    time.sleep(QUICK.down)
    assert back.embed(["b"]).shape == (1, 3), "later it is asked again"


def test_a_server_that_never_replies_is_given_up(scripted: Scripted) -> None:
    scripted.wait = 2.0
    there = Server(scripted.url, "small", None)
    encoder = ApiEncoder("there", there, patience=replace(QUICK, reply=1.0))
    with pytest.raises(ModelFailure, match="did not reply within 1 s"):
        encoder.embed(["a"])


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A key is set, and no address."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("name", "url", "model", "sent"),
    [
        ("openai:small", "https://api.openai.com/v1", "small", True),
        ("https://api.openai.com#small", "https://api.openai.com/v1", "small", True),
        ("https://API.openai.com:443/v1/#small", "https://api.openai.com:443/v1", "small", True),
        ("http://api.openai.com#small", "http://api.openai.com/v1", "small", False),
        ("https://api.openai.com.evil.org#small", "https://api.openai.com.evil.org/v1", "small",
         False),
        ("http://localhost:11434#nomic:v1", "http://localhost:11434/v1", "nomic:v1", False),
        ("https://other.org/api/v3#org/m", "https://other.org/api/v3", "org/m", False),
    ],
)  # fmt: skip
def test_the_key_goes_to_openai_alone(name: str, url: str, model: str, sent: bool) -> None:
    assert openai_server(name) == Server(url, model, "sk-secret" if sent else None)


def test_the_key_goes_to_the_server_of_openai_base_url_alone(keys: pytest.MonkeyPatch) -> None:
    keys.setenv("OPENAI_BASE_URL", "https://mine.org/v1/")
    assert openai_server("openai:small") == Server("https://mine.org/v1", "small", "sk-secret")
    assert openai_server("https://mine.org/other#small").key == "sk-secret"
    assert openai_server("http://mine.org#small").key is None
    assert openai_server("https://mine.org:8443#small").key is None
    with pytest.raises(ModelError, match="needs a key"):
        openai_server("https://api.openai.com#small")


def test_openai_without_a_key_is_said_before_it_is_asked(keys: pytest.MonkeyPatch) -> None:
    keys.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelError, match="openai:small needs a key: set OPENAI_API_KEY"):
        openai_server("openai:small")
    assert openai_server("http://localhost:1#small").key is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("openai:", "names no model"),
        ("http://localhost:80", "names no model"),
        ("http://#m", "no usable address"),
        ("http://host:99999#m", "no usable address"),
        ("http://[::1#m", "no usable address"),
        ("http://a..b/v1#m", "no usable address"),
        ("https://me:pass@host#m", "must not hold a password"),
        ("https://me:pass@host:99999/#m", "must not hold a password"),
        ("https://me:pass@a..b/#m", "must not hold a password"),
        ("https://me:a#pass@host/#m", "must not hold a password"),
        ("https://me?pass@host/#m", "must not hold a password"),
        ("https://host/v1?key=1#m", "may have no"),
        ("https://host/v1#a#b", None),
    ],
)
def test_an_address_that_is_none_is_said_in_words(name: str, words: str | None) -> None:
    if words is None:
        assert openai_server(name).model == "a#b"
        return
    with pytest.raises(ModelError, match=words) as caught:
        openai_server(name)
    assert "pass@" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.2/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://localhost.evil.org/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_it_is_known_whether_texts_leave_the_machine(url: str, local: bool) -> None:
    assert Server(url, "m", None).is_local == local
