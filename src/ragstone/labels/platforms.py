"""Platforms: exports of Argilla and Label Studio as rows of a label file, and the other way.

The id of the example, its system and the unit that a task is about stand where the task was
created: in Argilla's ``metadata`` or ``fields``, in Label Studio's ``data``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.data.fields import squash

from .given import PARTS

Record = Mapping[str, Any]

PART_OF = {word: part for part, words in PARTS.items() if part != "annotator" for word in words}
"""What a task says of the example, the system and the unit it is about, by its names."""

VALUES = ("choices", "rating", "number", "text", "labels", "taxonomy")
"""Where Label Studio keeps the value of a result, by the type of its control."""

ABOUT = ("id", "context", "claim", "statement", "inclusion_probability")
"""What rows say of the task that they belong to."""

FLAT = ".responses"
"""Behind a question's name in the columns of an Argilla dataset."""


def rows_of_platform(record: Record) -> list[Record] | None:
    """The rows of a label file that a record of a platform stands for; None for other records."""
    annotations, responses = record.get("annotations"), record.get("responses")
    if isinstance(annotations, list) and isinstance(record.get("data"), Mapping):
        return list(_of_label_studio(record, annotations))
    if isinstance(responses, (list, Mapping)) and isinstance(record.get("fields"), Mapping):
        return list(_of_argilla(record, _by_user(responses)))
    flat = [str(name) for name in record if str(name).endswith(FLAT)]
    if flat and any(f"{name}.users" in record for name in flat):
        said = {name.removesuffix(FLAT): _answers(record, name) for name in flat}
        return list(_of_argilla(record, _by_user(said)))
    return None


def tasks_of_label_studio(rows: Iterable[Record]) -> list[Record]:
    """Label Studio's JSON for the rows of a label file: a task a unit, an annotation a row."""
    return [
        {
            "data": about,
            "annotations": [
                {
                    "completed_by": row.get("annotator"),
                    "was_cancelled": bool(row.get("discard")),
                    "result": [_result(name, value) for name, value in _labels(row).items()],
                }
                for row in several
            ],
        }
        for about, several in _by_unit(rows)
    ]


def records_of_argilla(rows: Iterable[Record]) -> list[Record]:
    """Argilla's records for the rows of a label file: a record a unit, a response a label."""
    return [
        {
            "id": " ".join(map(str, about.values())),
            "fields": {},
            "metadata": about,
            "responses": _responses(several),
        }
        for about, several in _by_unit(rows)
    ]


def _responses(rows: Sequence[Record]) -> dict[str, list[Record]]:
    """Each user's answers to each question; who discards a record may answer none."""
    found: dict[str, list[Record]] = {}
    for row in rows:
        status = "discarded" if row.get("discard") else "submitted"
        for name, value in (_labels(row) or {"note": row.get("note")}).items():
            said = {"value": value, "user_id": row.get("annotator"), "status": status}
            found.setdefault(name, []).append(said)
    return found


def _by_unit(rows: Iterable[Record]) -> list[tuple[dict[str, Any], list[Record]]]:
    """The rows of each example, unit and probability of its draw."""
    found: dict[tuple[Any, ...], tuple[dict[str, Any], list[Record]]] = {}
    for row in rows:
        about = {name: row[name] for name in ABOUT if row.get(name) is not None}
        found.setdefault(tuple(about.items()), (about, []))[1].append(row)
    return list(found.values())


def _labels(row: Record) -> dict[str, Any]:
    """The labels of a row, and its note."""
    rest = (*ABOUT, "annotator", "discard")
    return {name: cell for name, cell in row.items() if name not in rest and cell is not None}


def _result(name: str, value: object) -> Record:
    """A label as the control that gives it: a number, a choice or a text."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"from_name": name, "type": "number", "value": {"number": value}}
    word = str(value).lower() if isinstance(value, bool) else value
    if name == "note":
        return {"from_name": name, "type": "textarea", "value": {"text": [word]}}
    return {"from_name": name, "type": "choices", "value": {"choices": [word]}}


def _of_label_studio(record: Record, annotations: Sequence[Any]) -> Iterator[Record]:
    about = {"id": record.get("id")} | _named(record["data"])
    for one in annotations:
        if not isinstance(one, Mapping):
            continue
        labels = {
            str(result["from_name"]): _value(result.get("value"))
            for result in one.get("result") or ()
            if isinstance(result, Mapping) and "from_name" in result
        }
        cancelled = {"discard": True} if one.get("was_cancelled") else {}
        yield about | labels | cancelled | {"annotator": _user(one.get("completed_by"))}


def _value(value: object) -> object:
    """The one value of a result; several choices are joined."""
    if not isinstance(value, Mapping):
        return value
    found = next((value[name] for name in VALUES if name in value), None)
    if isinstance(found, list):
        return found[0] if len(found) == 1 else ", ".join(map(str, found)) or None
    return found


def _user(user: object) -> str | None:
    """A user, by the name that people know them by."""
    if isinstance(user, Mapping):
        names = (user.get(name) for name in ("username", "email", "id"))
        user = next((name for name in names if name not in (None, "")), None)
    return None if user is None else str(user)


def _of_argilla(record: Record, by_user: Mapping[str, dict[str, Any]]) -> Iterator[Record]:
    about: dict[str, Any] = {}
    for place in (record, record.get("fields"), record.get("metadata")):
        about |= _named(place) if isinstance(place, Mapping) else {}
    about = about or {"id": record.get("external_id", record.get("_server_id"))}
    for user, labels in by_user.items():
        yield about | labels | {"annotator": user}


def _by_user(responses: object) -> dict[str, dict[str, Any]]:
    """Each user's answers, by question; no drafts, and what was discarded is marked."""
    found: dict[str, dict[str, Any]] = {}

    def say(user: object, answers: Mapping[str, Any], status: object) -> None:
        if status != "draft":
            row = found.setdefault(str(user), {})
            row.update(answers)
            if status == "discarded":
                row["discard"] = True

    if isinstance(responses, Mapping):
        for question, given in responses.items():
            for one in given if isinstance(given, list) else ():
                say(one.get("user_id"), {str(question): one.get("value")}, one.get("status"))
        return found
    for one in responses if isinstance(responses, list) else ():
        values = one.get("values") or {}
        answers = {str(name): said.get("value") for name, said in values.items()}
        say(one.get("user_id"), answers, one.get("status"))
    return found


def _answers(record: Record, name: str) -> list[Record]:
    """The answers to a question in the columns of a dataset: values, users and statuses."""
    values, users = record.get(name) or [], record.get(f"{name}.users") or []
    statuses = record.get(f"{name}.status") or [None] * len(values)
    return [
        {"value": value, "user_id": user, "status": status}
        for value, user, status in zip(values, users, statuses, strict=False)
    ]


def _named(place: Record) -> dict[str, Any]:
    """What a place says of the example, the system and the unit, by the names of label files."""
    cells = ((PART_OF.get(squash(str(name))), cell) for name, cell in place.items())
    return {part: cell for part, cell in cells if part is not None}
