"""Gate record: what came of a gate as plain data, with its worst examples."""

from typing import Any

from ragstone.decisions.gating.gate import GateResult

from .failing import Failing


def gate_record(result: GateResult, examples: Failing) -> dict[str, Any]:
    """What ``ragstone gate --json`` prints: the result, its worst examples with reasons."""
    record = result.to_dict()
    for place, one in enumerate(record["requirements"]):
        one["worst"] = [
            {
                "example_id": example.example_id,
                "value": example.value,
                "question": example.question,
                "answer": example.answer,
                "reasons": list(example.reasons),
            }
            for example in examples.get(place, ())
        ]
    return record
