"""OTLP's JSON as OpenTelemetry's own exporter for JavaScript (2.x) writes it.

``official_json.json`` has the two bodies that it sent of a trace whose chat is told in logs alone.
"""

import json
from itertools import permutations
from pathlib import Path

from ragstone.data.traces import SpanLimits, TracePart, fold
from ragstone.data.traces.otlp import read_logs, read_traces

SENT = json.loads(Path(__file__).with_name("official_json.json").read_text(encoding="utf-8"))


def parts() -> list[TracePart]:
    found: list[TracePart] = []
    for one in SENT:
        read = read_traces if one["path"] == "/v1/traces" else read_logs
        body = read(one["body"].encode(), json=True, redaction=None, limits=SpanLimits())
        assert body.malformed == ()
        found += body.parts
    return found


def test_spans_and_logs_of_the_exporter_are_one_answer_in_either_order() -> None:
    for order in permutations(parts()):
        folded = fold(order)
        (found,) = folded.examples
        example = found.example
        assert folded.rooted
        assert (example.question, example.answer) == ("How long is the pier?", "It is 90 m long.")
        assert example.contexts is not None
        told = [(one.id, one.text, one.score) for one in example.contexts]
        assert told[0] == ("d1", "The pier is 90 m long.", 0.5)
        assert told[1][1:] == ("Tea grows in Assam.", None)
        assert (found.model, found.session, found.version) == ("tiny-1", "s1", "v41")
        assert (found.system, found.input_tokens, found.output_tokens) == ("penmarrow-chat", 12, 7)
