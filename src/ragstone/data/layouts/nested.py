"""Nested layouts: records of other tools whose fields are not side by side, laid flat."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from .bedrock import flat_bedrock, is_bedrock
from .crag import flat_crag
from .haystack import flat_haystack, is_haystack
from .inputs_and_outputs import (
    ANSWERED,
    ASKED,
    REQUESTS,
    SPREAD,
    flat_chat,
    flat_parts,
    flat_spread,
    has_parts,
    is_chat,
    is_spread,
)
from .llamaindex import flat_llama_index, is_llama_index
from .other_names import OTHER_NAMES, having, in_layout, renamed
from .phoenix import SPAN, TRACE, flat_phoenix, is_phoenix
from .promptfoo import flat_promptfoo, is_promptfoo
from .trulens_records import flat_trulens, is_trulens

Record = Mapping[str, Any]


def is_mlflow(record: Record) -> bool:
    """Return True if the record keeps its fields apart as inputs, outputs and expectations."""
    return "inputs" in record and ("outputs" in record or "expectations" in record)


class NestedLayout(NamedTuple):
    """A layout whose records are nested; ``fits`` says that a record is in it.

    A record has one of the columns ``marks``; where there are none, one of its values is an object.
    """

    name: str
    marks: frozenset[str]
    fits: Callable[[Record], bool]
    laid_flat: Callable[[Record], dict[str, Any]]


NESTED = tuple(
    NestedLayout(name, frozenset(marks), fits, flat)
    for name, marks, fits, flat in (
        ("langsmith", ("reference_outputs",), having("inputs", "reference_outputs"), flat_parts),
        ("mlflow", ("inputs",), is_mlflow, flat_parts),
        ("promptfoo", ("provider",), is_promptfoo, flat_promptfoo),
        ("phoenix", ("attributes", SPAN, TRACE), is_phoenix, flat_phoenix),
        ("llamaindex", ("source_nodes", "response"), is_llama_index, flat_llama_index),
        ("haystack", ("replies", "answers", "data"), is_haystack, flat_haystack),
        ("haystack", (), is_haystack, flat_haystack),
        ("bedrock", ("conversationTurns",), is_bedrock, flat_bedrock),
        ("crag", ("alt_ans",), having("query", "answer", "alt_ans"), flat_crag),
        ("trulens-records", ("record_json", "cost_json"), is_trulens, flat_trulens),
        ("chat", REQUESTS, is_chat, flat_chat),
        ("inputs-and-outputs", (*ASKED, *ANSWERED), has_parts, flat_parts),
        ("inputs-and-outputs", SPREAD, is_spread, flat_spread),
        *(
            (name, tuple(names), in_layout(name), renamed(name))
            for name, names in OTHER_NAMES.items()
        ),
    )
)


@lru_cache(maxsize=256)
def _possible(columns: tuple[str, ...]) -> tuple[NestedLayout, ...]:
    names = {*columns, *(name.replace("/", ".", 1).partition(".")[0] for name in columns)}
    return tuple(
        layout for layout in NESTED if not layout.marks or not layout.marks.isdisjoint(names)
    )


def nested_layout(record: Record) -> NestedLayout | None:
    """Return the nested layout that a record is in, if any."""
    has_objects = dict in map(type, record.values())
    for layout in _possible(tuple(record)):
        if (layout.marks or has_objects) and layout.fits(record):
            return layout
    return None


def laid_flat(record: Record) -> Record:
    """Return the record with its fields side by side, whatever its layout."""
    nested = nested_layout(record)
    return record if nested is None else nested.laid_flat(record)
