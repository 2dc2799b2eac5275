"""Answer places: where answers stand in the JSON of a reply, and how one is replaced."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .json_path import JsonPath

BESIDE = {
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "reasoning_content": "reasoning",
    "reasoning": "reasoning",
    "refusal": "refusal",
    "audio": "audio",
}
"""Keys of what a chat model says beside its answer, and what that is; it is not judged."""

SPELLED = ("logprobs", "message", "text")
"""Keys of a streamed choice that spell its text out beside its delta."""


class AnswerPlaces(Protocol):
    """Where answers stand in the JSON of a reply."""

    def answers(self, body: Any) -> list[str | None] | None:
        """Each answer; None for one without text, such as a tool call, or if there is no place."""

    def replaced(self, body: Any, texts: Sequence[str | None]) -> Any:
        """A copy of the body with other answers; None leaves one as it is."""

    def beside(self, body: Any) -> frozenset[str]:
        """What the reply has beside answers that is not judged."""


@dataclass(frozen=True, slots=True)
class AtPath:
    """The answers that stand at a JSON path."""

    path: JsonPath

    def answers(self, body: Any) -> list[str | None] | None:
        """Each answer; None for one that is empty, or if what stands there is no text."""
        found = self.path.values(body)
        return None if any(_is_mixed(one) for one in found or ()) else _texts(found)

    def replaced(self, body: Any, texts: Sequence[str | None]) -> Any:
        """A copy of the body with other answers; None leaves one as it is."""
        left = iter(texts)

        def change(old: Any) -> Any:
            new = next(left)
            return old if new is None else new

        return self.path.changed(body, change)

    def beside(self, body: Any) -> frozenset[str]:  # noqa: ARG002
        """Nothing is known of that."""
        return frozenset()

    def __str__(self) -> str:
        return str(self.path)


class ChatCompletions:
    """The answers of a chat completion in the form of OpenAI's API.

    A message that only calls tools has no answer. What a model reasons is no answer either. Where
    an answer is replaced its log-probabilities go too, for they spell it out, and its choice ends
    with ``content_filter``, which is what that form calls an answer that was held back.
    """

    def answers(self, body: Any) -> list[str | None] | None:
        """The content of each choice's message; None for one that has none."""
        choices = body.get("choices") if isinstance(body, Mapping) else None
        if not isinstance(choices, list):
            return None
        return _texts([_content(one) for one in choices])

    def replaced(self, body: Any, texts: Sequence[str | None]) -> Any:
        """A copy of the body with other contents; None leaves one as it is."""
        choices = [
            choice if text is None else _held(choice, text)
            for choice, text in zip(body["choices"], texts, strict=True)
        ]
        return {**body, "choices": choices}

    def beside(self, body: Any) -> frozenset[str]:
        """Whether a message calls tools or tells what the model reasoned."""
        return beside(_message(one) for one in body["choices"])

    def __str__(self) -> str:
        return "$.choices[*].message.content"


def beside(messages: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """What messages of a chat model have beside their text."""
    return frozenset(said for one in messages for key, said in BESIDE.items() if one.get(key))


def text_of(value: Any) -> str | None:
    """The text of a content: itself, or that of its parts; None if it has none."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [one for one in value if isinstance(one, str | Mapping)]
        texts = [one if isinstance(one, str) else one.get("text") for one in parts]
        said = [one for one in texts if isinstance(one, str)]
        return "".join(said) if said else None
    return None


def _texts(found: Sequence[Any] | None) -> list[str | None] | None:
    """The text of each value; None if one of them may say something, and is no text."""
    texts = [(one, text_of(one)) for one in found or ()]
    if found is None or any(one and text is None for one, text in texts):
        return None
    return [text for _, text in texts]


def _is_mixed(value: Any) -> bool:
    """Whether it is a list of which not every part is known to be text."""
    return isinstance(value, list) and any(text_of([one]) is None for one in value)


def _content(choice: Any) -> Any:
    """What a choice says, also of a completion in the older form, without messages."""
    if isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping):
        return _message(choice).get("content")
    if isinstance(choice, Mapping) and "text" in choice:
        return choice["text"]
    return choice


def _message(choice: Any) -> Mapping[str, Any]:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    return message if isinstance(message, Mapping) else {}


def _held(choice: Mapping[str, Any], text: str) -> dict[str, Any]:
    if isinstance(choice.get("message"), Mapping):
        held = {**choice, "message": {**_message(choice), "content": text}}
    else:
        held = {**choice, "text": text}
    held["finish_reason"] = "content_filter"
    if "logprobs" in held:
        held["logprobs"] = None
    return held
