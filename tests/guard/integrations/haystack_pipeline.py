"""A pipeline of Haystack, which imports torch where it is installed."""

from typing import Any

from haystack import Document, Pipeline, component
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.telemetry import _telemetry as telemetry

from ragstone.guard.integrations.haystack import AnswerGuard

__all__ = [
    "ASKED",
    "PIER",
    "AnswerGuard",
    "ChatMessage",
    "Document",
    "Pipeline",
    "Says",
    "ToolCall",
    "piped",
    "telemetry",
]

PIER = [Document(id="p", content="The pier is 90 m long.", score=0.9)]
QUESTION = "How long is the pier?"


@component
class Says:
    """A generator that says the same whatever it is asked."""

    def __init__(self, texts: list[str]) -> None:
        self.texts = texts

    @component.output_types(replies=list[str])
    def run(self, query: str) -> dict[str, Any]:
        return {"replies": self.texts if query else []}


def piped(texts: list[str], guard: AnswerGuard) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("llm", Says(texts))
    pipeline.add_component("guard", guard)
    pipeline.connect("llm.replies", "guard.replies")
    return pipeline


ASKED = {"llm": {"query": QUESTION}, "guard": {"query": QUESTION, "documents": PIER}}
