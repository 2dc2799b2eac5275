"""OTLP as JSON: reads JSON bodies, and puts every text of a message through a function.

Ids are hexadecimal, whole numbers of 64 bits are texts, and unknown fields are ignored.
Attributes, which are most of a body, are read here, and the rest by protobuf's own reader.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseDict, ParseError
from pydantic_core import from_json

from ragstone.data.json_text import Change, whole_texts

from .spans import SpanLimits, UnreadableBody, too_many


def change_texts(message: Any, change: Change) -> None:
    """Put ``change(text)`` in place of every text in a message, at any depth; ids are no texts."""
    for descriptor, value in message.ListFields():
        name = descriptor.name
        if name == "attributes":
            _change_attributes(value, change)
        elif descriptor.type == FieldDescriptor.TYPE_MESSAGE:
            for item in (value,) if hasattr(value, "ListFields") else value:
                change_texts(item, change)
        elif descriptor.type == FieldDescriptor.TYPE_STRING:
            _change_strings(message, name, value, change)
        elif name == "bytes_value":
            _change_bytes(message, value, change)


def _change_attributes(attributes: Iterable[Any], change: Change) -> None:
    """Do the same in less time for what most attributes are."""
    for attribute in attributes:
        _change_strings(attribute, "key", attribute.key, change)
        value = attribute.value
        kind = value.WhichOneof("value")
        if kind == "string_value":
            _change_strings(value, kind, value.string_value, change)
        elif kind in ("array_value", "kvlist_value", "bytes_value"):
            change_texts(value, change)


def _change_strings(message: Any, name: str, value: Any, change: Change) -> None:
    if isinstance(value, str):
        if (changed := change(value)) is not value:
            setattr(message, name, changed)
        return
    for index, item in enumerate(value):
        value[index] = change(item)


def _change_bytes(value: Any, raw: bytes, change: Change) -> None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return
    if (changed := change(text)) is not text:
        value.bytes_value = changed.encode()


# Levels to which a value of an attribute may be nested.
DEEPEST = 32

# Characters of a text: with more, its span is put aside, however much it has.
_LONGEST = SpanLimits().span_length + 1

_FAULTS = (ParseError, ValueError, TypeError, AttributeError, KeyError, RecursionError)
_IDS = ("traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_span_id")


def read_json(
    body: bytes, message: Any, names: tuple[str, str, str], limits: SpanLimits
) -> list[str]:
    """Fill a message with a body of JSON; return the JSON of items that could not be read.

    ``names`` are those of the lists in the message, each in an item of the one before.

    Raises:
        UnreadableBody: It is no JSON, not laid out as OTLP is, or has too many items.
    """
    try:
        # It makes no text of the whole body, of which one emoji would make four times as much.
        document = from_json(body)
    except ValueError:
        document = _loaded(body)
    if b"\\ud" in body or b"\\uD" in body:
        document = whole_texts(document)
    groups, scopes, items = names
    faulty = list[str]()
    left = limits.spans

    def counted(items: list[Any]) -> list[Any]:
        nonlocal left
        left -= len(items)
        if left < 0:
            raise too_many(limits.spans, "items")
        return items

    for group in counted(_listed(document, groups)):
        into = getattr(message, groups).add()
        _fill(into.resource, _get(group, "resource"))
        for scope in counted(_listed(group, scopes)):
            within = getattr(into, scopes).add()
            _fill(within.scope, _get(scope, "scope"))
            read = getattr(within, items)
            sent = counted(_listed(scope, items))
            # Each is let go once it is read, for its texts may be large.
            sent.reverse()
            while sent:
                item = sent.pop()
                for name in ("events", "links"):
                    if isinstance(inner := _get(item, name), list):
                        counted(inner)
                if not _fill(read.add(), item):
                    del read[-1]
                    faulty.append(json.dumps(item, ensure_ascii=False))
                del item
    return faulty


def _loaded(body: bytes) -> Any:
    """Return the value of JSON that may have half a surrogate pair, which pydantic refuses."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UnreadableBody("The body is no JSON.", "body_not_json") from None


def _listed(container: Any, name: str) -> list[Any]:
    """Return the list under a name."""
    if isinstance(container, dict):
        items = _get(container, name)
        if items is None or isinstance(items, list):
            return items or []
    raise UnreadableBody(
        f"The body is no OTLP as JSON: an object with a list of {_in_camel_case(name)} is "
        "expected.",
        "not_otlp",
    )


def _get(container: Any, name: str) -> Any:
    if not isinstance(container, dict):
        return None
    value = container.get(_in_camel_case(name))
    return container.get(name) if value is None else value


@cache
def _in_camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _fill(message: Any, item: Any) -> bool:
    if item is None:
        return True
    try:
        _fill_whole(message, item)
    except _FAULTS:
        return False
    return True


def _fill_whole(message: Any, container: Mapping[str, Any]) -> None:
    attributes, events, links, body = (container.get(item) for item in _SEPARATE)
    rest = {name: value for name, value in container.items() if name not in _SEPARATE}
    for name in _IDS:
        if rest.get(name):
            rest[name] = b64encode(_id(rest[name])).decode()
    ParseDict(rest, message, ignore_unknown_fields=True)
    _fill_attributes(message.attributes, attributes or (), DEEPEST)
    for event in events or ():
        _fill_whole(message.events.add(), event)
    for link in links or ():
        _fill_whole(message.links.add(), link)
    if body is not None:
        _fill_value(message.body, body, DEEPEST)


_SEPARATE = ("attributes", "events", "links", "body")


def _id(text: Any) -> bytes:
    """Return the bytes of an id; those of a text that is no hex are of no id, told later."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b"?"


def _fill_attributes(attributes: Any, items: Iterable[Any], deeper: int) -> None:
    for item in items:
        attribute = attributes.add()
        attribute.key = item["key"]
        value = item.get("value")
        if value is not None:
            _fill_value(attribute.value, value, deeper)


def _fill_value(message: Any, container: Mapping[str, Any], deeper: int) -> None:
    if not deeper:
        raise ValueError("nested too deep")
    for name, value in container.items():
        if value is None:
            continue
        match name:
            case "stringValue" | "string_value":
                message.string_value = value[:_LONGEST]
            case "intValue" | "int_value":
                message.int_value = int(value)
            case "doubleValue" | "double_value":
                message.double_value = float(value)
            case "boolValue" | "bool_value":
                message.bool_value = value
            case "bytesValue" | "bytes_value":
                message.bytes_value = b64decode(value)
            case "arrayValue" | "array_value":
                message.array_value.SetInParent()
                for item in value.get("values") or ():
                    _fill_value(message.array_value.values.add(), item, deeper - 1)
            case "kvlistValue" | "kvlist_value":
                message.kvlist_value.SetInParent()
                _fill_attributes(message.kvlist_value.values, value.get("values") or (), deeper - 1)
