"""Monitor: what is said of what arrives from production, and of what came of it."""

from collections.abc import Mapping

from .facts import Sentence, plain

SENTENCES: Mapping[str, Sentence] = {
    "body_not_json": plain("it is no JSON"),
    "not_otlp": plain("it is not what OTLP sends"),
    "bad_trace_id": plain("the trace's id is not 16 bytes, or all of them are zero"),
    "bad_span_id": plain("a span's id is not 8 bytes, or all of them are zero"),
    "absurd_time": plain("its times are not from 2000 to 2100, or it ends before it begins"),
    "too_many_attributes": plain("it has more attributes than are taken in"),
    "span_too_long": plain("it is longer than what is taken in"),
    "too_many_in_body": plain("the request has more of them than are taken in at once"),
    "name_too_long": plain("the name of its trace is longer than what is taken in"),
    "unreadable_line": plain("the line cannot be read"),
    "log_without_trace": plain("the log record does not say to which trace it belongs"),
    "faulty_example": lambda facts: (
        f"{facts.get('field') or 'the record'}: expected {facts.get('expected', '')}, "
        f"got {facts.get('got', '')}"
    ),
    "judging_shed": lambda facts: (
        f"it waited {facts['hours']} hours for its turn to be judged, and was given up"
    ),
    "judging_failed": lambda facts: f"judging it failed ({facts['error']})",
    "judging_died": plain("the process ended each time that it was judged"),
    "no_bounds": plain("its values have no least and no greatest, which a band needs"),
    "too_few_to_compare": lambda facts: (
        f"too few answers to compare: {facts.get('now', '0')} now and {facts.get('before', '0')} "
        "before"
    ),
    "example_not_readable": plain("what is kept of it cannot be read"),
    "rule_changed": plain("the rule has another metric, direction or bar now"),
    "rule_gone": plain("the rule, or its slice, is watched no more"),
    "judge_changed": lambda facts: (
        f"the judge was {facts.get('before', '')} and is {facts.get('after', '')} now"
    ),
}
"""By code."""
