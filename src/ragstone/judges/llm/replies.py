"""Replies: the items of a model's reply, read from its text.

Items are read separately, so that a bad item does not spoil others. Scales accept only whole
numbers, not values merely equal to them.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from pydantic import BeforeValidator, ValidationError

from ragstone.models.chat.model import MalformedReply, drafts, json_objects

from .questions import Item, ReplyEntry, unescaped


@dataclass(frozen=True, slots=True)
class Outcome:
    """The final outcome of a question, after all attempts.

    Args:
        status: ``ok`` if any item is there.
        items: The items of the reply, by id.
        lacking: Ids without an item, even when asked for again, and why.
        reason: Why there is no item at all.
        requests: The keys under which the journal has the questions and replies.
        later: True if it will be asked in a batch, so that nothing is known yet.
    """

    status: Literal["ok", "failed", "blocked", "truncated"]
    items: Mapping[str, Item] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None
    requests: tuple[str, ...] = ()
    later: bool = False


# Objects around the items, such as ``{"result": {…}}``.
DEEPEST_WRAPPER = 3


# Begins the fault of an item that is about another text than its own.
ECHO = "echo: "

NO_ECHOES: Mapping[str, Callable[[Item], str]] = {}


def read_items(text: str, items: Mapping[str, type[Item]], texts: Mapping[str, str] | None = None,
               echoes: Mapping[str, Callable[[Item], str]] = NO_ECHOES) -> Outcome:  # fmt: skip
    """Read the requested items of a reply, each by itself; for any other id the fault of its item.

    An item counts only if its words are the first words of its text, so that no verdict goes to a
    neighbour; if one item has another's words, words that fit several texts are not enough. Ids may
    be written ``1``, ``p1`` or ``P01`` for ``p01``, and verdicts in another case; the list may be
    inside another object, alone in a list or a JSON text, or an object by id may replace it.

    A reply may contain words of the texts it is about. Of several objects the last counts, and only
    if all say the same except for reasons; in a leading think tag only those that hold every item
    count. A text copied with its quote marks can end an item early and leave its verdict to
    another: so an item that was not asked for is ignored, but the one before it is a fault, and if
    an id occurs twice, all are. All are too if one id was not asked for and another is missing: a
    model that counts from 0 gives each verdict to its neighbour.

    Args:
        texts: The texts of items, by id, for those whose words are checked.
        echoes: By id, what of an item is not about its text, for those that are checked.

    Raises:
        Unclosed: The reply was cut off.
        MalformedReply: It is not JSON, or holds several objects that disagree.
    """
    objects = json_objects(text)
    about = texts or {}

    def read(reply: dict[str, Any]) -> Outcome:
        return _read(reply, items, about, echoes)

    try:
        alone = len(objects) == 1
        readings = [read(reply) for reply in objects
                    if alone or {dict, list} & set(map(type, reply.values()))]  # fmt: skip
        sketched = [draft for reply in drafts(text) if not (draft := read(reply)).lacking]
        if not readings:
            return read({})
        if sketched or len(readings) > 1:
            contents = [_without_reasons(reading) for reading in (*sketched, *readings)]
            if any(content != other for content, other in pairwise(contents)):
                raise MalformedReply(f"{len(contents)} JSON objects that do not say the same")
    except RecursionError:
        raise MalformedReply("brackets within brackets, too deep to be compared") from None
    return readings[-1]


def _read(reply: dict[str, Any], items: Mapping[str, type[Item]], texts: Mapping[str, str],
          echoes: Mapping[str, Callable[[Item], str]]) -> Outcome:  # fmt: skip
    entries, doubts = _by_id(reply, items)
    good: dict[str, Item] = {}
    faults: dict[str, str] = {}
    words: dict[str, str] = {}
    slipped = False
    for name, sort in items.items():
        value = entries.get(name)
        if name in doubts:
            faults[name] = doubts[name]
        elif isinstance(value, dict):
            try:
                entry = ReplyEntry.model_validate(value)
                if not _begins(texts.get(name, ""), entry.words):
                    slipped = True
                    mark = ECHO if name in echoes else ""
                    faults[name] = f"{mark}words: not those of {name}, {_short(entry.words)}"
                    continue
                item = _item(entry, sort)
                if name in echoes and (fault := echoes[name](item)):
                    faults[name] = f"{ECHO}{fault}"
                else:
                    good[name] = item
                    words[name] = entry.words
            except ValidationError as error:
                faults[name] = _fault(error)
        elif name not in entries:
            faults[name] = "missing"
        else:
            faults[name] = f"not an object: {_short(value)}"
    for name in list(good) if slipped else ():
        if any(_begins(text, words[name]) for other, text in texts.items() if other != name):
            faults[name] = (
                f"words: those of several, {_short(words[name])}, and others have slipped"
            )
            del good[name]
    return Outcome("ok" if good or not items else "failed", good, faults)


def _without_reasons(reading: Outcome) -> dict[str, Any]:
    return {
        name: item.model_dump(exclude={"reason", "reasoning", "response_reason"})
        for name, item in reading.items.items()
    } | dict.fromkeys(reading.lacking)


# Words

# Letters and digits that the words of an item have at the least, where its text has so many.
LEAST = 6

_LOOKED_AT = 400
_SENTENCE = re.compile(r"\[?\bs\d{1,6}\]")


def _begins(text: str, words: str) -> bool:
    begun = _letters(text[:_LOOKED_AT])
    repeated = _letters(unescaped(words[:_LOOKED_AT]))
    enough = len(repeated) >= min(LEAST, len(begun))
    return enough and (begun.startswith(repeated) or repeated.startswith(begun))


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", _SENTENCE.sub(" ", text)).casefold()
    return "".join(filter(str.isalnum, plain))


# Ids

_ORDINAL = re.compile(r"\W*([a-z]*)[ _-]?0*([0-9]{1,6})\W*")


def _by_id(
    reply: dict[str, Any], items: Mapping[str, type[Item]]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The values by requested id, however the ids are written, and what makes some doubtful: a
    verdict that may belong to another item.
    """
    known = {_plain(name): name for name in items}
    prefixes = {prefix for prefix, _ in known}
    default = next(iter(prefixes)) if len(prefixes) == 1 else ""
    for _ in range(DEEPEST_WRAPPER):
        by_name: dict[str, Any] = {}
        doubts: dict[str, str] = {}
        foreign = before = None
        for key, value in _entries(reply):
            prefix, ordinal = _plain(key)
            name = known.get((prefix or (default if ordinal else ""), ordinal))
            if name in by_name:
                return {}, dict.fromkeys(items, f"{name} is given twice")
            if name is not None:
                by_name[name] = value
                before = name
            elif _like_an_entry(value) or (ordinal and prefix in ("", *prefixes)):
                foreign = foreign or key
                if before is not None and _like_an_entry(value):
                    doubts[before] = f"followed by {_short(key)}, which was not asked for"
        missing = next((name for name in items if name not in by_name), None)
        if by_name and foreign is not None and missing is not None:
            fault = f"{_short(foreign)} was not asked for and {missing} is missing"
            return {}, dict.fromkeys(items, f"{fault}: ids may be shifted")
        if by_name:
            return by_name, doubts
        inner = [wrapped for value in reply.values() if (wrapped := _inside(value)) is not None]
        if len(inner) != 1 or _like_an_entry(reply):
            break
        (reply,) = inner
    return {}, {}


def _inside(value: Any) -> dict[str, Any] | None:
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        with suppress(MalformedReply):
            objects = json_objects(value)
            return objects[0] if len(objects) == 1 else None
    return value if isinstance(value, dict) else None


def _entries(reply: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    lists = [value for value in reply.values() if isinstance(value, list)]
    if len(lists) == 1 and not any(isinstance(value, dict) for value in reply.values()):
        for entry in lists[0]:
            if isinstance(entry, dict):
                name = entry.get("id")
                yield str(name) if isinstance(name, str | int) else "", entry
    else:
        yield from reply.items()


def _like_an_entry(value: Any) -> bool:
    return isinstance(value, dict) and not ReplyEntry.model_fields.keys().isdisjoint(value)


def _plain(name: str) -> tuple[str, str]:
    """Letters and number of an id: ``("p", "1")`` for ``P01``."""
    folded = name.strip().lower()
    ordinal = _ORDINAL.fullmatch(folded)
    return (ordinal[1], ordinal[2]) if ordinal else (folded, "")


# Items


def _item(entry: ReplyEntry, sort: type[Item]) -> Item:
    written = _word(str(entry.verdict))
    verdicts = [verdict for verdict in sort.verdicts() if _word(verdict) == written]
    if len(verdicts) == 1:
        entry = entry.model_copy(update={"verdict": verdicts[0]})
    return sort.model_validate(sort.of(entry))


def _word(choice: str) -> str:
    return choice.strip(" \t\n.\"'*`").lower().replace(" ", "_").replace("-", "_")


def _fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    field_path = ".".join(map(str, fault["loc"]))
    match fault["type"]:
        case "missing":
            return f"{field_path}: missing"
        case "literal_error":
            return f"{field_path}: not one of {fault['ctx']['expected']}: {_short(fault['input'])}"
    return (
        f"{field_path}: {fault['msg'][:1].lower()}{fault['msg'][1:]}, got {_short(fault['input'])}"
    )


def _short(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=True)
    except RecursionError:
        text = "what is too deep to show"
    return text if len(text) <= 60 else f"{text[:59]}…"


def _whole(value: object) -> object:
    """``true`` equals 1 in Python, and 4.0 equals 4."""
    if type(value) is not int:
        raise ValueError(f"expected a whole number, got {value!r}")
    return value


# Beside a ``Literal`` of whole numbers: ``Annotated[Literal[1, 2, 3], WHOLE]``.
WHOLE = BeforeValidator(_whole)
