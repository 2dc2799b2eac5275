"""Chat APIs: the messages of requests and replies, their model, and the tokens they took.

The APIs are those of OpenAI (both), Anthropic, Gemini, Bedrock, Cohere, Mistral and Ollama, also as
LangChain and LangSmith write them down, and in logs that put either into an envelope.
"""

from collections.abc import Mapping
from typing import Any

from .conversation import ASSISTANT, USER, messages_in
from .json_text import first_value, list_or_empty, objects_in, opened

# Names of envelopes around a request or a reply.
ENVELOPES = (
    *("request", "response", "body", "requestBody", "responseBody", "inputBodyJson"),
    *("outputBodyJson", "kwargs", "invocation_params", "json", "data", "payload", "params"),
)
_LISTS = ("messages", "contents", "conversations", "chat_messages")
_DEEPEST = 4


def request_messages(value: Any, deep: int = _DEEPEST) -> list[Any]:
    """Return the messages of a request; none for anything else."""
    value = opened(value)
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):
            value = value[0]
        return value if messages_in(value) else []
    if not isinstance(value, dict) or not deep:
        return []
    for name in (*_LISTS, "input"):
        if messages := request_messages(value[name], 0) if name in value else []:
            return messages
    if isinstance(value.get("message"), str) and isinstance(value.get("chat_history"), list):
        return [*value["chat_history"], {"role": USER, "content": value["message"]}]
    inner = (request_messages(value[name], deep - 1) for name in ENVELOPES if name in value)
    return next(filter(None, inner), [])


def reply_messages(value: Any, deep: int = _DEEPEST) -> list[Any]:
    """Return the messages of a model's reply, calls and results of tools among them."""
    value = opened(value)
    if isinstance(value, list):
        if value and isinstance(value[0], list):
            return reply_messages(value[0], deep)
        return value if messages_in(value) else []
    if not isinstance(value, dict) or not deep:
        return []
    for name in ("choices", "candidates", "generations"):
        if isinstance(alternatives := value.get(name), list) and alternatives:
            return _alternative(alternatives[0])
    output = value.get("output")
    if isinstance(output, list) and value.get("object", "response") == "response":
        return output
    if isinstance(output, dict) and isinstance(output.get("message"), dict):
        return [output["message"]]
    if isinstance(value.get("messages"), list) and messages_in(value["messages"]):
        return list(value["messages"])
    if isinstance(value.get("message"), dict) and messages_in(value["message"]):
        return [value["message"]]
    if messages_in(value) and not value.keys() & {"messages", "question", "query", "input"}:
        return [value]
    inner = (reply_messages(value[name], deep - 1) for name in ENVELOPES if name in value)
    return next(filter(None, inner), [])


def _alternative(choice: Any) -> list[Any]:
    if isinstance(choice, list):
        return _alternative(choice[0]) if choice else []
    if not isinstance(choice, dict):
        return []
    for name in ("message", "content"):
        if isinstance(choice.get(name), dict):
            return [{"role": ASSISTANT, **choice[name]}]
    text = choice.get("text")
    return [{"role": ASSISTANT, "content": text}] if isinstance(text, str) else []


def reply_passages(value: Any) -> list[Any] | None:
    """Return the passages that a reply carries beside its text; None if it has no such place.

    These are Gemini's grounding, Azure's and Bedrock's citations, and Cohere's documents.
    """
    value = opened(value)
    if isinstance(value, list):
        lists = [passages for item in value if (passages := reply_passages(item)) is not None]
        return [passage for passages in lists for passage in passages] if lists else None
    if not isinstance(value, dict):
        return None
    if isinstance(chunks := value.get("groundingChunks", value.get("grounding_chunks")), list):
        return objects_in(chunks)
    for name in ("retrievedReferences", "retrievalResults", "search_results"):
        if isinstance(references := value.get(name), list):
            return references
    citations = list_or_empty(value.get("citations"))
    if any(isinstance(item.get("content"), str) for item in objects_in(citations)):
        return citations
    holders = (
        *("choices", "candidates", "message", "context", "groundingMetadata", "citations"),
        *("grounding_metadata", "output", *ENVELOPES),
    )
    inner = (reply_passages(value[name]) for name in holders if name in value)
    return next((passages for passages in inner if passages is not None), None)


def facts_of(value: Any, deep: int = _DEEPEST) -> dict[str, Any]:
    """Return the model and the tokens that a reply names, under the names of Ragstone's facts."""
    value = opened(value)
    if not isinstance(value, dict) or not deep:
        return {}
    facts: dict[str, Any] = {}
    usage = first_value(value, _USAGES, dict) or {}
    for fact, names in _TOKENS.items():
        tokens = next((usage[name] for name in names if type(usage.get(name)) is int), None)
        if tokens is not None:
            facts[fact] = tokens
    if model := first_value(value, _MODELS, str):
        facts["model"] = model
    for name in (*ENVELOPES, "llm_output", "response_metadata", "message"):
        if isinstance(value.get(name), (dict, str)):
            facts = {**facts_of(value[name], deep - 1), **facts}
    return facts


_USAGES = ("usage", "usageMetadata", "usage_metadata", "token_usage", "tokenUsage")
_MODELS = ("model", "modelVersion", "model_version", "modelId", "model_name", "modelIdentifier")
_TOKENS: Mapping[str, tuple[str, ...]] = {
    "input_tokens": (
        *("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "promptTokenCount"),
        *("prompt_token_count",),
    ),
    "output_tokens": (
        *("output_tokens", "completion_tokens", "outputTokens", "completionTokens"),
        *("candidatesTokenCount", "candidates_token_count"),
    ),
}
