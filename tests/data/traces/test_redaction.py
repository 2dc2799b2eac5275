"""What is taken out of texts, what is left, and that nothing gets past it into what is kept."""

import json
import pickle
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from ragstone.core.errors import InputError, UnknownName
from ragstone.data.traces import Redaction, read_examples
from ragstone.data.traces.otlp import read_logs, read_traces

from .sending import as_json, logs, record, span, traces

KEY = "sk-proj-abcdefghijklmnop1234567890"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Mail ann.o'neil+news@mail.example.co.uk today.", "Mail [email] today."),
        ("ann@example.org,bob@example.org", "[email],[email]"),
        ("<ann@example.org>", "<[email]>"),
        ("O’Neil’s: ann.o’neil@example.org", "O’Neil’s: [email]"),
        ("ann&bob@example.org", "[email]"),
        ("'ann@example.org', o'@example.org", "'[email]', o'@example.org"),
        ("?to='ann@example.org'&cc=bob@example.org", "?to='[email]'&cc=[email]"),
        ("grüße an jürgen@bücher.example.", "grüße an [email]."),
        ("Call (555) 123-4567 now", "Call [phone] now"),
        ("Call 555-123-4567, or +49 30 1234567.", "Call [phone], or [phone]."),
        ("+1 (415) 555-2671", "[phone]"),
        ("Tel. 030/1234567", "Tel. [phone]"),
        ("0171 2345678", "[phone]"),
        ("01 23 45 67 89", "[phone]"),
        ("020 7946 0958", "[phone]"),
        ("4111 1111 1111 1111", "[card]"),
        ("card 4111-1111-1111-1111.", "card [card]."),
        ("5500000000000004 and 340000000000009", "[card] and [card]"),
        ("3782 822463 10005", "[card]"),
        ("in 2026 4111 1111 1111 1111", "in 2026 [card]"),
        (f"key={KEY};", "key=[key];"),
        ("AKIAIOSFODNN7EXAMPLE", "[key]"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "[key]"),
        ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: [key]"),
        (f"token {JWT}", "token [key]"),
        (f"a\n{PEM}\nb", "a\n[key]\nb"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEow", "[key]"),
        ("ASIAIOSFODNN7EXAMPLE", "[key]"),
        ("glpat-0123456789abcdefghij", "[key]"),
        ("hf_0123456789abcdefghij", "[key]"),
        ("30569309025904", "[card]"),
        ("2223003122003222", "[card]"),
        ("a%b@example.org", "[email]"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstu", "[key]"),
    ],
)
def test_what_is_taken_out(text: str, redacted: str) -> None:
    assert Redaction().redact(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "On 2026-11-23 18:57:47 +0000 it was 3.14159265 or 1,234,567.89.",
        "4111 1111 1111 1112 has a wrong check digit",
        "550e8400-e29b-41d4-a716-446655440000",
        "ISBN 978-3-16-148410-0",
        "1732389200123456789",
        "192.168.100.200:8080",
        "the risk-averse sk-learn-compatible-estimators",
        "bearer of responsibilities-and-more",
        "@app.route and user@localhost and pkg@1.2.3",
        "In 1998, 1999, 2000, 2001, 2002 and 2003",
        "05.11.2026 14:30",
        "Room 030 12345",
        '{"a": 4155552671}',
    ],
)
def test_what_is_left(text: str) -> None:
    assert Redaction().redact(text) is text


def test_a_text_that_is_json_is_redacted_inside_and_stays_json() -> None:
    inner = json.dumps({"q": "line\nann@example.org", "ann@example.org": [1, None, KEY]})
    text = json.dumps({"inner": inner, "n": 1.5})
    assert json.loads(json.loads(Redaction().redact(text))["inner"]) == {
        "q": "line\n[email]", "[email]": [1, None, "[key]"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        '{"q": "ann\\u0040example.org"}',
        '{"q": "ann\\u0040example.org", "half": "\\ud800"}',
        '{"q": "ann\\u0040example.org',
        "{'q': 'ann@example.org'}",
        f"Documents: {json.dumps(['x', KEY])}",
        f"Documents:\\n{KEY}",
    ],
)
def test_a_secret_is_found_however_json_spells_it(text: str) -> None:
    redacted = Redaction().redact(text)
    assert "[email]" in redacted or "[key]" in redacted
    assert "example.org" not in redacted
    assert KEY not in redacted


def test_patterns_of_the_user_come_with_the_built_in_ones() -> None:
    redaction = Redaction(built_in=("email",), patterns={"ticket": r"T-\d+", "empty": "(?=T)"})
    assert redaction.redact("T-17 of ann@example.org, 555-123-4567") == (
        "[ticket] of [email], 555-123-4567"
    )


@pytest.mark.parametrize("patterns", [{"Ticket": "a"}, {"a": "("}, {"a": "x*"}])
def test_a_pattern_that_cannot_be_used_is_refused(patterns: dict[str, str]) -> None:
    with pytest.raises(InputError):
        Redaction(patterns=patterns)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean email"):
        Redaction(built_in=("emial",))


SECRETS = {"ann@example.org", KEY, "(555) 123-4567", "4111 1111 1111 1111"}


def everywhere(secret: str) -> dict[str, Any]:
    """Attributes that hold a secret in every way in which they can."""
    return {
        "plain": f"see {secret}.",
        "list": ["a", secret, {"k": [secret]}],
        "object": {"k": {"deeper": secret}, secret: 1},
        "json": json.dumps({"k": secret, "again": json.dumps([secret])}),
        f"name {secret}": 1,
    }


@pytest.mark.parametrize("secret", sorted(SECRETS))
@pytest.mark.parametrize("padding", [0, 5_000])
@pytest.mark.parametrize("json", [False, True])
def test_no_text_of_a_span_is_kept_with_a_secret(secret: str, padding: int, json: bool) -> None:
    one = span(
        1,
        attributes={**everywhere(secret), "padding": "x" * padding},
        name=f"GET {secret}",
        error=f"no {secret}",
        events=[(secret, everywhere(secret))],
    )
    one.trace_state = f"a={secret}"
    one.links.add(trace_id=bytes(16), span_id=bytes(8), trace_state=secret)
    faulty = span(2, attributes=everywhere(secret))
    faulty.start_time_unix_nano = 5
    body = traces(one, faulty, resource={"service.name": "shop", **everywhere(secret)})
    read = read_traces(as_json(body) if json else body, json=json, redaction=Redaction())
    assert len(read.malformed) == len(read.parts) == 1
    for kept in (read.parts[0].body, read.malformed[0][1]):
        assert secret.encode() not in kept
    data = TracesData.FromString(read.parts[0].body).resource_spans[0]
    assert data.scope_spans[0].spans[0].trace_id == one.trace_id
    assert data.scope_spans[0].spans[0].start_time_unix_nano == one.start_time_unix_nano


def test_no_text_of_a_log_record_is_kept_with_a_secret() -> None:
    for secret in SECRETS:
        body = logs(record(1, "gen_ai.choice", everywhere(secret), body=everywhere(secret)))
        for sent, is_json in ((body, False), (as_json(body, LogsData), True)):
            read = read_logs(sent, json=is_json, redaction=Redaction())
            assert len(read.parts) == 1
            assert secret.encode() not in read.parts[0].body


def test_no_text_of_an_example_is_kept_with_a_secret() -> None:
    for secret in SECRETS:
        given = {"question": f"Who is {secret}?", "answer": secret, "contexts": [secret],
                 "session": "s", "user": secret, "more": everywhere(secret)}  # fmt: skip
        faulty = {"question": secret, "answer": [secret]}
        read = read_examples(json.dumps([given, faulty]).encode(), redaction=Redaction())
        assert len(read.parts) == len(read.malformed) == 1
        assert secret.encode() not in read.parts[0].body + read.malformed[0][1]


def test_an_id_that_holds_a_secret_becomes_one_without_it() -> None:
    given = [{"id": f"{name}@example.org", "answer": "a", "span": KEY} for name in ("ann", "bob")]
    read = read_examples(json.dumps(given).encode(), redaction=Redaction())
    assert len({part.trace for part in read.parts}) == 2
    for part in read.parts:
        assert "@" not in part.trace
        assert b"@" not in part.body
        assert KEY.encode() not in part.body


def test_a_secret_that_is_cut_by_a_limit_is_taken_out_before() -> None:
    text = "x" * 4_090 + KEY
    faulty = span(1, attributes={"a": text})
    faulty.start_time_unix_nano = 0
    (aside,) = read_traces(traces(faulty), redaction=Redaction()).malformed
    assert b"sk-" not in aside[1]


@settings(deadline=None)
@given(st.text(alphabet='abc1 4.@-+()[]{}"\\n:_skeyJAKIA\n', max_size=300))
def test_what_is_redacted_once_is_redacted_for_good(text: str) -> None:
    once = Redaction().redact(text)
    assert Redaction().redact(once) == once


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*sorted(SECRETS), "word", "1999", "a-b", " ", "\n"]), max_size=8),
    st.integers(0, 3_000),
)
def test_the_quick_search_misses_nothing(parts: list[str], padding: int) -> None:
    text = " ".join(parts)
    redaction = Redaction()
    body = b"\x12" * padding + text.encode() + b"\x35" * padding
    if redaction.redact(text) != text:
        assert redaction.screen(body)(text.encode())


def test_a_megabyte_of_anything_is_redacted_in_linear_time() -> None:
    for pump in ("a@", "4 ", "4111 ", "+1 ", "eyJ", "-----BEGIN PRIVATE KEY-----", "sk-", "0", "["):
        short, long = pump * (50_000 // len(pump)), pump * (500_000 // len(pump))
        times = []
        for text in (short, long):
            start = time.thread_time()
            Redaction().redact(text)
            times.append(time.thread_time() - start)
        assert times[1] < 40 * times[0] + 0.5


def test_a_redaction_can_be_sent_to_another_process() -> None:
    redaction = Redaction(patterns={"order": "A-[0-9]+"})
    sent = pickle.loads(pickle.dumps(redaction))
    assert sent == redaction
    assert sent.redact("A-17 by ada@example.com") == "[order] by [email]"
