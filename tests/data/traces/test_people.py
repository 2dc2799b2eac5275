"""Ids of users and sessions that hold what is taken out stay apart, and are kept by no one."""

import json

import pytest

from ragstone.data.traces import Redaction, fold, read_examples
from ragstone.data.traces.otlp import read_traces
from ragstone.data.traces.redaction import hashed_id

from .sending import span, traces


def asked(**ids: str) -> bytes:
    names = {"user": "user.id", "session": "session.id"}
    told = {names[name]: id for name, id in ids.items()}
    one = span(1, attributes={"input.value": "How long?", "output.value": "90 m.", **told})
    return traces(one)


@pytest.mark.parametrize("name", ["user", "session"])
def test_an_address_as_an_id_becomes_a_hash_of_its_own(name: str) -> None:
    found = []
    for id in ("ann@example.org", "ben@example.org", "ann@example.org"):
        read = read_traces(asked(**{name: id}), json=False, redaction=Redaction())
        assert b"example.org" not in read.parts[0].body
        (example,) = fold(read.parts).examples
        found.append(getattr(example, name))
    ann, ben, again = found
    assert ann == again == hashed_id("ann@example.org")
    assert ben == hashed_id("ben@example.org") != ann


def test_an_id_without_one_stays() -> None:
    read = read_traces(asked(user="u-17"), json=False, redaction=Redaction())
    (example,) = fold(read.parts).examples
    assert example.user == "u-17"


def test_it_is_the_same_for_answers_that_are_sent_as_such() -> None:
    body = json.dumps({"question": "q", "answer": "a", "user": "ann@example.org", "session": "s"})
    read = read_examples(body.encode(), redaction=Redaction(), now=0.0)
    (example,) = fold(read.parts).examples
    assert (example.user, example.session) == (hashed_id("ann@example.org"), "s")
    assert b"example.org" not in read.parts[0].body
