"""Inputs and outputs: records that keep what went in, what came out and what was expected apart.

So do MLflow, LangSmith, Langfuse, Opik, OpenAI's evals and most logs of chat models. A part is an
object with fields, the request or the reply of a chat model, or either of these as JSON text.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ragstone.data.chat_api import facts_of, reply_messages, reply_passages, request_messages
from ragstone.data.conversation import USER, answered_in, read_conversation
from ragstone.data.documents import contexts_of, documents_in
from ragstone.data.fields import NAMES, squash
from ragstone.data.json_text import first_value, object_or_empty, opened
from ragstone.data.printed_lists import opened_or_printed

ASKED = (
    *("inputs", "input", "request", "item", "dataset_item_data", "messages", "prompt"),
    *("kwargs", "body", "conversation", "request_body", "full_request", "retrievalQuery"),
)
ANSWERED = (
    *("outputs", "output", "response", "sample", "evaluation_task_output", "completion"),
    *("response_body", "full_response", "reply", "result", "answer"),
)
# An object under these names is a part only if it has an answer.
OWN_ANSWERS = ("reply", "result", "answer")
# Likewise a part only if it has the messages of a chat.
CHATS = ("kwargs", "body", "prompt", "conversation")
EXPECTED = (
    *("expectations", "reference_outputs", "expected", "expected_output", "expectedOutput"),
    *("ideal", "reference", "ground_truth"),
)
# Parts that are texts, and what these are.
PLAIN = {
    "inputs": "question",
    "outputs": "response",
    "expectations": "expected_response",
    "reference_outputs": "reference",
}
# Fields of the request and of the reply, in a record that holds both.
REQUESTS = ("messages", "contents", "conversations", "chat_messages", "message", "chat_history")
REPLIES = ("choices", "candidates", "message", "response", "reply", "completion", "usageMetadata")
# Columns such as ``inputs.question`` and ``outputs/answer`` each hold one field of a part.
SPREAD = ("inputs", "input", "outputs", "output", "reference", "reference_outputs", "expectations")
# Objects inside of a part that hold its fields.
INSIDE = ("inputs", "input", "kwargs", "data", "body", "request", "payload", "outputs", "output")

QUESTIONS = (
    *(*NAMES["question"], "prompt", "user_query", "user_message", "utterance"),
    *("text", "content", "value"),
)
ANSWERS = (
    *(*NAMES["answer"], "output_text", "final_answer", "result", "completion", "generation"),
    *("reply", "text", "content", "value", "label"),
)
CONTEXTS = frozenset(map(squash, (*NAMES["contexts"], "context")))
REFERENCES = frozenset(map(squash, NAMES["reference"]))
# What a record says in its parts; its other columns are its own.
OF_PARTS = CONTEXTS | frozenset(map(squash, ("question", "response", "messages")))
Record = Mapping[str, Any]


def has_parts(record: Record) -> bool:
    """Return True if question or answer stand in a part that is an object or a chat."""
    asked, answered = _part(record, ASKED), _part(record, ANSWERED)
    if asked is None and answered is None:
        return False
    texts = {name for name, value in record.items() if isinstance(value, (str, int, float))}
    texts -= {asked, answered}
    return (asked is not None and not _column(texts, QUESTIONS)) or (
        answered is not None and not _column(texts, (*NAMES["answer"], "actual_output"))
    )


def is_spread(record: Record) -> bool:
    """Return True if question or answer stand in a column named after a part and a field."""
    gathered = _gathered(record)
    return gathered.keys() != record.keys() and has_parts(gathered)


def flat_spread(record: Record) -> dict[str, Any]:
    """Put the columns of each part together, then the fields of all parts side by side."""
    return flat_parts(_gathered(record))


def _gathered(record: Record) -> dict[str, Any]:
    parts: dict[str, dict[str, Any]] = {}
    for name, value in record.items():
        part, _, field = name.replace("/", ".", 1).partition(".")
        if field and part in SPREAD and part not in record:
            parts.setdefault(part, {})[field] = value
    names = {"inputs": QUESTIONS, "input": QUESTIONS, "outputs": ANSWERS, "output": ANSWERS}
    # Scores alone are no answer; counts alone are no question.
    parts = {
        part: fields
        for part, fields in parts.items()
        if part not in names or _column(fields, names[part])
    }
    rest = {
        name: value
        for name, value in record.items()
        if name.replace("/", ".", 1).partition(".")[0] not in parts
    }
    return {**rest, **parts}


def is_chat(record: Record) -> bool:
    """Return True if the record itself is a request of a chat model, with or without the reply."""
    return bool(_request(record)) and not record.keys() & {"question", "answer"}


def flat_chat(record: Record) -> dict[str, Any]:
    """Put what was asked and replied into one conversation, and the other columns beside it."""
    request = _request(record)
    reply = {name: record[name] for name in REPLIES if name in record}
    beside = {name: value for name, value in record.items() if name not in (*request, *reply)}
    if not reply:
        messages = request_messages(request)
        passages = _passages_beside(messages, request)
        found = {} if passages is None else {"contexts": _as_contexts(passages)}
        return {**found, **beside, "messages": messages}
    return flat_parts({**beside, "request": request, "response": {**facts_of(record), **reply}})


def _request(record: Record) -> dict[str, Any]:
    request = {name: opened_or_printed(record[name]) for name in REQUESTS if name in record}
    if not isinstance(record.get("message"), str):
        request.pop("message", None)
    return request if request and request_messages(request) else {}


def flat_parts(record: Record) -> dict[str, Any]:
    """Put the fields of all parts side by side, and the messages of both into one conversation."""
    asked, answered, expected = (_part(record, names) for names in (ASKED, ANSWERED, EXPECTED))
    if expected is None and answered == "outputs" and "dataset_id" in record:
        # In LangSmith's data sets, outputs are what is expected.
        answered, expected = None, answered
    flat = {
        name: value for name, value in record.items() if name not in (asked, answered, expected)
    }
    facts: dict[str, Any] = {}
    messages: list[Any] = []
    passages: Any = None
    if asked is not None:
        value = opened_or_printed(record[asked])
        messages = request_messages(value)
        facts |= facts_of(value)
        fields = _beside(value) if messages else _fields(value, QUESTIONS, "question")
        flat = _joined(asked, fields, flat, OF_PARTS)
        flat |= {"messages": messages} if messages else {}
        passages = _passages_beside(messages, value)
    if answered is not None:
        value = opened_or_printed(record[answered])
        facts |= facts_of(value)
        question = _column(flat, QUESTIONS)
        if not messages and question is not None:
            messages = request_messages(flat[question])
            if not messages and isinstance(flat[question], str):
                messages = [{"role": USER, "content": flat[question]}]
        if messages and (reply := reply_messages(value)):
            if question is not None:
                del flat[question]
            # A graph's state repeats the question.
            whole = read_conversation(reply, "", [])[0] is not None
            flat["messages"] = reply if whole else [*messages, *reply]
        else:
            answer = answered_in(reply_messages(value))
            output = {"response": answer} if answer else _fields(value, ANSWERS, "response")
            flat = _joined(answered, output, flat, CONTEXTS | {"response"})
        passages = reply_passages(value) or passages
    leave_out_state(flat)
    if (passages := passages or reply_passages(record)) is not None:
        flat.setdefault("contexts", _as_contexts(passages))
    if expected is not None:
        flat = _joined(expected, _expected(opened_or_printed(record[expected])), flat, REFERENCES)
    for name, field in PLAIN.items():
        if name in flat and isinstance(record[name], (str, list)):
            flat[field] = flat.pop(name)
    if "messages" in flat:
        facts = facts_of(record) | facts
    model = facts.pop("model", None)
    if model and not _column(flat, NAMES["system"]):
        flat["system"] = model
    if facts:
        about = opened(flat.get("metadata"))
        if isinstance(about, dict):
            del flat["metadata"]
        flat["meta"] = {**object_or_empty(about), **object_or_empty(flat.get("meta")), **facts}
    return flat


def _joined(part: str, fields: Record, flat: Record, come_first: Collection[str]) -> dict[str, Any]:
    """Return the record's own columns with the fields of a part.

    Fields with these names take the place of the record's own; others that it has too are put
    beside them, under the name of their part.
    """
    joined = dict(flat)
    for name, value in fields.items():
        own = name in flat and squash(name) not in come_first
        joined[f"{part}.{name}" if own else name] = value
    return joined


def _expected(value: Any) -> dict[str, Any]:
    """Return what is expected: a reference, and what else is known of the question."""
    if (messages := reply_messages(value)) or not isinstance(value, dict):
        return {"reference": answered_in(messages) if messages else value}
    fields = _fields(value, ANSWERS, "reference") if _column(value, ANSWERS) else value
    # Question and contexts that are expected are not those of the answer.
    return {f"expected.{name}" if squash(name) in OF_PARTS else name: item
            for name, item in fields.items()}  # fmt: skip


def leave_out_state(flat: dict[str, Any]) -> None:
    """Leave out the state of a conversation that Ollama calls context: it is a list of tokens."""
    if isinstance(tokens := flat.get("context"), list) and set(map(type, tokens)) == {int}:
        del flat["context"]


def _passages_beside(messages: Sequence[Any], request: Any) -> Any:
    """Return the passages in the last message, or in the request beside its messages."""
    last = object_or_empty(messages[-1]) if messages else {}
    around = object_or_empty(request) if messages else {}
    inside = first_value(around, INSIDE, dict)
    around = around if inside is None else inside
    beside = [last.get("context")]
    beside += [passages for name, passages in around.items() if squash(name) in CONTEXTS]
    return reply_passages(last) or next(filter(None, beside), None)


def _as_contexts(passages: Any) -> Any:
    """Return passages with ids of their own, as chunks of several files may share numbers."""
    documents = documents_in(passages)
    if not documents or any(document.text is None for document in documents):
        return passages
    return [
        {"id": context.id, "text": context.text, "score": context.score}
        for context in contexts_of(documents)
    ]


def _part(record: Record, names: Sequence[str]) -> str | None:
    """Return the column of a part that is an object or a chat, also one written as JSON text."""
    for name in names:
        if name not in record or not is_spelled(record[name]):
            continue
        value = opened_or_printed(record[name])
        if name in OWN_ANSWERS and not (_column(value, ANSWERS) or reply_messages(value)):
            continue
        if name in CHATS and not request_messages(value):
            continue
        if isinstance(value, dict) or (isinstance(value, list) and request_messages(value)):
            return name
    return None


def is_spelled(value: Any) -> bool:
    """Return True for an object, a list, or a text that may spell one."""
    return isinstance(value, (dict, list)) or (
        isinstance(value, str) and value.lstrip()[:1] in ("{", "[")
    )


def _beside(request: Any) -> dict[str, Any]:
    """Return the references that stand in a request beside its messages."""
    fields = object_or_empty(request).items()
    return {name: value for name, value in fields if squash(name) in REFERENCES}


def _fields(part: Any, names: Sequence[str], field: str) -> dict[str, Any]:
    """Return a part's fields, the first named one as ``field``; if none, the whole part."""
    if not isinstance(part, dict):
        return {field: part}
    column = _column(part, names)
    if column is None:
        inner = (opened(part[name]) for name in INSIDE if name in part)
        inside = next((value for value in inner if isinstance(value, dict)), None)
        if inside is not None:
            return _fields(inside, names, field)
        return {field: part if field == "question" else json.dumps(part, ensure_ascii=False)}
    fields = {name: value for name, value in part.items() if name != column}
    for value in part.values():
        if isinstance(value, dict) and not any(squash(name) in CONTEXTS for name in fields):
            fields |= {name: item for name, item in value.items() if squash(name) in CONTEXTS}
    value = opened(part[column])
    if isinstance(value, dict) and _column(value, names) is not None:
        return {**fields, **_fields(value, names, field)}
    return {**fields, field: value}


def _column(record: Any, names: Sequence[str]) -> str | None:
    """Return the first column with one of these names; None if there is none."""
    if not isinstance(record, (Mapping, set)):
        return None
    columns = {squash(name): name for name in record if isinstance(name, str)}
    return next((columns[key] for name in names if (key := squash(name)) in columns), None)
