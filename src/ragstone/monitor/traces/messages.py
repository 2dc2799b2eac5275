"""Messages: every text in a message of OTLP, put through a function."""

from collections.abc import Callable, Iterable
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

Change = Callable[[str], str]
"""Gives the same object where nothing changes."""


def change_texts(message: Any, change: Change) -> None:
    """Put ``change(text)`` in place of every text in a message, at any depth; ids are no texts."""
    for descriptor, value in message.ListFields():
        name = descriptor.name
        if name == "attributes":
            _change_attributes(value, change)
        elif descriptor.type == FieldDescriptor.TYPE_MESSAGE:
            for one in (value,) if hasattr(value, "ListFields") else value:
                change_texts(one, change)
        elif descriptor.type == FieldDescriptor.TYPE_STRING:
            _change_strings(message, name, value, change)
        elif name == "bytes_value":
            _change_bytes(message, value, change)


def _change_attributes(attributes: Iterable[Any], change: Change) -> None:
    """The same, in less time for what most attributes are."""
    for attribute in attributes:
        _change_strings(attribute, "key", attribute.key, change)
        value = attribute.value
        kind = value.WhichOneof("value")
        if kind == "string_value":
            _change_strings(value, kind, value.string_value, change)
        elif kind in ("array_value", "kvlist_value", "bytes_value"):
            change_texts(value, change)


def _change_strings(message: Any, name: str, given: Any, change: Change) -> None:
    if isinstance(given, str):
        if (changed := change(given)) is not given:
            setattr(message, name, changed)
        return
    for index, one in enumerate(given):
        given[index] = change(one)


def _change_bytes(value: Any, raw: bytes, change: Change) -> None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return
    if (changed := change(text)) is not text:
        value.bytes_value = changed.encode()
