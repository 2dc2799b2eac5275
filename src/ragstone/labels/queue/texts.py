"""Texts: what people read of an item, by name, so that words of it can be pointed to."""

from collections.abc import Iterator, Mapping, Sequence

from ragstone.data.record_labels import FIELDS

from .form import ItemPart, QueueItem


def texts_of(item: QueueItem) -> dict[str, str]:
    """Every text of an item by its name: ``answer``, ``contexts/2``, ``history/1``, ``claims/3``.

    Those that the item shows come first; a part's own text has the name of a shown one where both
    are the same thing, such as a context.
    """
    found = {name: text for key, shown in item.shown.items() for name, text in _texts(key, shown)}
    own = {name_of(part): part.text for part in item.parts if part.text}
    return (
        {**own, **found} if not found else {**found, **{k: own[k] for k in own if k not in found}}
    )


def name_of(part: ItemPart) -> str:
    """The name of the text that a part is about.

    >>> name_of(ItemPart("context", "2")), name_of(ItemPart("answer"))
    ('contexts/2', 'answer')
    """
    field = FIELDS.get(part.unit, part.unit)
    return f"{field}/{part.name}" if part.name else field


def _texts(key: str, shown: object) -> Iterator[tuple[str, str]]:
    match shown:
        case str():
            yield key, shown
        case Sequence():
            for place, one in enumerate(shown, 1):
                match one:
                    case str():
                        yield f"{key}/{place}", one
                    case Mapping():
                        yield f"{key}/{one.get('name') or place}", str(one.get("text") or "")
