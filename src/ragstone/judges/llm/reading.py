"""Reading: the items in a reply, each by itself, so that one bad item costs no other."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ragstone.models.chat.json_reply import Malformed, drafts, json_objects

from .question import Item

DEEPEST_WRAPPER = 3
"""Objects around the items, such as ``{"result": {…}}``."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply holds.

    Args:
        items: By id, those that are as they should be.
        faults: Every other id that was asked for, and what is wrong with its item.
    """

    items: dict[str, Item]
    faults: dict[str, str]


def read_items(text: str, items: Mapping[str, type[Item]]) -> Reading:
    """Read what was asked for, each item by itself.

    Ids may be written ``1``, ``p1`` or ``P01`` for ``p01``; words of a choice in another case; the
    items as a list with an ``id`` in each, or within another object. No value is read from one of
    another type.

    A reply may hold words of the texts it is about. Of several objects the last counts, and only
    where all say the same but for reasons; in a leading think tag only those that hold every item
    are looked at. An item that was not asked for is ignored, but the one before it is a fault: a
    text copied with its quote marks can end an item early and leave its verdict to another id.
    Where one that was asked for is missing too, all are faults: a model that counts from 0 or
    slips by one gives each verdict to its neighbour.

    Args:
        text: What the model wrote.
        items: The sort of item by id.

    Raises:
        Unclosed: The reply was cut off.
        Malformed: It is not JSON, or holds several objects that do not say the same.
    """
    objects = json_objects(text)
    try:
        readings = [_read(made, items) for made in objects if len(objects) == 1 or _nested(made)]
        sketched = [draft for made in drafts(text) if not (draft := _read(made, items)).faults]
        if not readings:
            return _read({}, items)
        if sketched or len(readings) > 1:
            said = [_without_reasons(reading) for reading in (*sketched, *readings)]
            if any(one != said[-1] for one in said):
                raise Malformed(f"{len(said)} JSON objects that do not say the same")
    except RecursionError:
        raise Malformed("brackets within brackets, too deep to be compared") from None
    return readings[-1]


def _read(made: dict[str, Any], items: Mapping[str, type[Item]]) -> Reading:
    if not made.keys() >= items.keys() or len(made) > len(items):
        made = _by_id(made, items)
    good: dict[str, Item] = {}
    faults: dict[str, str] = {}
    for name, sort in items.items():
        value = made.get(name)
        if isinstance(value, dict):
            try:
                item = _item(value, sort)
            except ValidationError as error:
                faults[name] = _fault(error)
            else:
                if field := _flag_for_number(value, item):
                    faults[name] = f"{field}: not a number but {_short(value[field])}"
                else:
                    good[name] = item
        elif name not in made:
            faults[name] = "missing"
        elif isinstance(value, _Doubtful):
            faults[name] = value.why
        else:
            faults[name] = f"not an object: {_short(value)}"
    return Reading(good, faults)


def _nested(made: dict[str, Any]) -> bool:
    return any(isinstance(value, (dict, list)) for value in made.values())


def _without_reasons(reading: Reading) -> dict[str, Any]:
    return {
        name: item.model_dump(exclude={"reason", "reasoning", "response_reason"})
        for name, item in reading.items.items()
    } | dict.fromkeys(reading.faults)


# Ids

_ORDINAL = re.compile(r"\W*([a-z]*)[ _-]?0*([0-9]{1,6})\W*")


@dataclass(frozen=True, slots=True)
class _Doubtful:
    """An item whose verdict may be another's."""

    why: str


def _by_id(made: dict[str, Any], items: Mapping[str, type[Item]]) -> dict[str, Any]:
    """The values by the ids that were asked for, however these are written."""
    known = {_plain(name): name for name in items}
    prefixes = {prefix for prefix, _ in known}
    own = next(iter(prefixes)) if len(prefixes) == 1 else ""
    for _ in range(DEEPEST_WRAPPER):
        found: dict[str, Any] = {}
        foreign = before = None
        for key, value in _entries(made):
            prefix, ordinal = _plain(key)
            name = known.get((prefix or (own if ordinal else ""), ordinal))
            if name is not None:
                twice = name in found and found[name] != value
                found[name] = _Doubtful("given twice, not the same") if twice else value
                before = name
            elif (ordinal and prefix in ("", *prefixes)) or _like_any(value, items):
                foreign = foreign or key
                if before is not None and _like(value, items[before]):
                    found[before] = _Doubtful(f"followed by {_short(key)}, which was not asked for")
        missing = next((name for name in items if name not in found), None)
        if found and foreign is not None and missing is not None:
            there = f"{_short(foreign)} was not asked for and {missing} is missing"
            return dict.fromkeys(items, _Doubtful(f"{there}: ids may be shifted"))
        if found:
            return found
        inner = [value for value in made.values() if isinstance(value, dict)]
        if len(inner) != 1:
            break
        made = inner[0]
    return {}


def _entries(made: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keys with values; of a list of objects, which is all there is, their ids with them."""
    lists = [value for value in made.values() if isinstance(value, list)]
    if len(lists) == 1 and not any(isinstance(value, dict) for value in made.values()):
        for one in lists[0]:
            if isinstance(one, dict) and isinstance(one.get("id"), str | int):
                yield str(one["id"]), one
    else:
        yield from made.items()


def _like(value: Any, sort: type[Item]) -> bool:
    """Whether a value has fields of an item."""
    return isinstance(value, dict) and not sort.model_fields.keys().isdisjoint(value)


def _like_any(value: Any, items: Mapping[str, type[Item]]) -> bool:
    return any(_like(value, sort) for sort in set(items.values()))


def _plain(name: str) -> tuple[str, str]:
    """Letters and number of an id: ``("p", "1")`` for ``P01``."""
    folded = name.strip().lower()
    ordinal = _ORDINAL.fullmatch(folded)
    return (ordinal[1], ordinal[2]) if ordinal else (folded, "")


# Items


def _item(value: dict[str, Any], sort: type[Item]) -> Item:
    try:
        return sort.model_validate(value)
    except ValidationError as error:
        if not _choices_mended(value, error):
            raise
    return sort.model_validate(value)


def _flag_for_number(value: dict[str, Any], item: Item) -> str | None:
    """A field where true was taken for 1: to pydantic they are the same choice."""
    for field, given in value.items():
        if (given is True or given is False) and type(item.__dict__.get(field, given)) is not bool:
            return field
    return None


def _choices_mended(value: dict[str, Any], error: ValidationError) -> bool:
    """Write the words of choices as they should be; whether any was written otherwise."""
    mended = False
    for fault in error.errors(include_url=False, include_context=True):
        word = fault["input"]
        if fault["type"] not in ("literal_error", "enum") or not isinstance(word, str):
            continue
        choices = re.findall(r"'([^']*)'", fault["ctx"]["expected"])
        meant = [choice for choice in choices if _word(choice) == _word(word)]
        if len(meant) == 1:
            mended |= _put(value, fault["loc"], meant[0])
    return mended


def _word(choice: str) -> str:
    return choice.strip(" \t\n.\"'*`").lower().replace(" ", "_").replace("-", "_")


def _put(value: Any, place: tuple[int | str, ...], word: str) -> bool:
    """Whether there is such a place; a union's names of its branches are none."""
    *steps, last = place
    for step in steps:
        if not _has(value, step):
            return False
        value = value[step]
    if not _has(value, last):
        return False
    value[last] = word
    return True


def _has(value: Any, step: int | str) -> bool:
    return (isinstance(value, dict) and step in value) or (
        isinstance(value, list) and isinstance(step, int) and step < len(value)
    )


def _fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    place = ".".join(map(str, fault["loc"]))
    match fault["type"]:
        case "missing":
            return f"{place}: missing"
        case "literal_error" | "enum":
            return f"{place}: not one of {fault['ctx']['expected']}: {_short(fault['input'])}"
    return f"{place}: {fault['msg'][:1].lower()}{fault['msg'][1:]}, got {_short(fault['input'])}"


def _short(value: object) -> str:
    try:
        shown = json.dumps(value, ensure_ascii=True)
    except RecursionError:
        shown = "what is too deep to show"
    return shown if len(shown) <= 60 else f"{shown[:59]}…"
