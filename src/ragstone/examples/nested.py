"""Nested: records of tools that keep their fields inside objects, laid flat."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragstone.examples.haystack import flat_haystack, is_haystack
from ragstone.examples.llama_index import flat_llama_index, is_llama_index
from ragstone.examples.mlflow import is_mlflow, unfold_mlflow
from ragstone.examples.phoenix import flat_phoenix, is_phoenix
from ragstone.examples.promptfoo import flat_promptfoo, is_promptfoo

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Nested:
    """A layout: its name, whether a record is in it, and how its fields come side by side."""

    name: str
    fits: Callable[[Record], bool]
    flat: Callable[[Record], dict[str, Any]]


NESTED = (
    Nested("mlflow", is_mlflow, unfold_mlflow),
    Nested("promptfoo", is_promptfoo, flat_promptfoo),
    Nested("phoenix", is_phoenix, flat_phoenix),
    Nested("llamaindex", is_llama_index, flat_llama_index),
    Nested("haystack", is_haystack, flat_haystack),
)


def nested_layout(record: Record) -> Nested | None:
    """The nested layout that a record is in, if any."""
    return next((one for one in NESTED if one.fits(record)), None)


def laid_flat(record: Record) -> Record:
    """The record with its fields side by side, whatever its layout."""
    nested = nested_layout(record)
    return record if nested is None else nested.flat(record)
