"""Fold: the parts of a trace as the answers that were given in it.

The same spans give the same examples, in whatever order they came, and however often.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, Literal

from ragstone.data.conversation import answered_in, leaves_of, messages_in, structured_in
from ragstone.data.documents import contexts_of, documents_in, no_text
from ragstone.data.example import SESSION as SESSION_SLICE
from ragstone.data.example import Example
from ragstone.data.json_text import object_or_empty, opened
from ragstone.data.records import question_hash

from . import attribute_names as names
from .corpus import Corpus
from .posted_examples import FACTS, TracedExample, sent_examples
from .questions_and_contexts import found_in, history_of, question_of
from .requests import likeliest_answers, requests_of, retrieves_documents
from .span_tree import HIDDEN, Tree, tree_of
from .spans import (
    TracePart,
    TraceSpan,
    calls_model,
    own_answer,
    seconds,
    spans_of,
    structured_answer,
)

Content = Literal["there", "ids_only", "none"]

DEFAULT_SYSTEM = "default"
_NAMELESS = "unknown_service"
_LONGEST_NAME = 300
_MOST_SLICES, _LONGEST_SLICE = 32, 200


@dataclass(frozen=True, slots=True)
class FoldedTrace:
    """All that is known of a trace.

    Attributes:
        examples: The answers in it; none where nobody was answered, or content is missing.
        content: Whether texts are there, ids of contexts without their texts, or neither.
        calls: Those of them that call a model or retrieve: 0 means that the trace is not about
            answers, and that nothing is missing.
    """

    rooted: bool
    examples: tuple[TracedExample, ...]
    content: Content
    spans: int
    calls: int


def fold(parts: Sequence[TracePart], corpus: Corpus | None = None) -> FoldedTrace:
    """Put together what is known of one trace."""
    spans = spans_of(parts)
    tree = tree_of(spans)
    trace = next((part.trace for part in parts if part.kind != "example"), "")
    traced = [] if tree is None else answers_in(tree, trace, corpus)
    sent = sent_examples(parts)
    if sent:
        traced = _completed(sent, traced)
    calls = sum(calls_model(span) or retrieves_documents(span) for span in spans)
    return FoldedTrace(
        rooted=bool(sent) or (tree is not None and tree.rooted),
        examples=tuple(traced),
        content=_content(traced, calls, spans),
        spans=sum(span.there for span in spans),
        calls=calls,
    )


def answers_in(tree: Tree, trace: str, corpus: Corpus | None = None) -> list[TracedExample]:
    """Return the answers that were given in a trace of this id."""
    roots = requests_of(tree)
    ids = [trace if len(roots) == 1 else f"{trace}:{root.id}" for root in roots]
    pairs = zip(roots, ids, strict=True)
    answers = (_Answer(tree, root, corpus).example(id, trace) for root, id in pairs)
    return [answer for answer in answers if answer is not None]


def _completed(
    sent: Sequence[TracedExample], traced: Sequence[TracedExample]
) -> list[TracedExample]:
    """Examples that were sent as such stand for the answers of their trace; spans add facts."""
    if len(sent) > 1 or len(traced) != 1:
        return list(sent)
    posted, facts = sent[0], traced[0]
    example = posted.example
    if example.contexts is None:
        example = replace(example, contexts=facts.example.contexts)
    if not example.history:
        example = replace(example, history=facts.example.history)
    known = {name: getattr(facts, name) for name in FACTS if getattr(posted, name) is None}
    if posted.system in (None, DEFAULT_SYSTEM):
        known["system"] = facts.system
        example = replace(example, system=facts.system or DEFAULT_SYSTEM)
    return [replace(posted, example=example, span=posted.span or facts.span, **known)]


def _content(examples: Sequence[TracedExample], calls: int, spans: Sequence[TraceSpan]) -> Content:
    if not examples:
        return "none" if calls else "there"
    if any(example.example.answer is None for example in examples) and any(map(_puts_out, spans)):
        return "none"
    contexts = [context for example in examples for context in example.example.contexts or ()]
    if contexts and all(context.text is None for context in contexts):
        return "ids_only"
    return "there"


def _puts_out(span: TraceSpan) -> bool:
    output = span.says(names.OUTPUT)
    return output is not None and span.role not in HIDDEN and documents_in(output) is None


class _Answer:
    def __init__(self, tree: Tree, root: TraceSpan, corpus: Corpus | None) -> None:
        self._tree = tree
        self._root = root
        self._text_of = no_text if corpus is None else corpus.text
        self._placed = tree.placed(root)
        self._spans = [root, *(node.span for node in self._placed if node.span is not root)]
        self._documents = found_in(self._placed)
        self._seen = likeliest_answers(self._placed, self._documents or ())
        self._calls = [span for span in reversed(self._seen) if calls_model(span)]

    def example(self, id: str, trace: str) -> TracedExample | None:
        documents = self._documents
        question = question_of(self._placed, self._calls, documents or ())
        answer = self._answer()
        error = self._root.error
        if answer is None:
            error = error or next((span.error for span in self._spans if span.error), None)
            # A failure is an answer too, and so is nothing: that is what the user got.
            nothing = error is not None or self._says_nothing()
            retrieved_only = documents and not self._calls
            if question is None or not (nothing or retrieved_only):
                return None
            answer = "" if nothing else None
        history = history_of(self._root, self._calls, question)
        contexts = None if documents is None else contexts_of(documents, self._text_of)
        root, end = self._root, max(span.end for span in self._spans)
        at, ended = seconds(root.start), seconds(root.end if root.there else end)
        latency = ended - at if root.there else None
        session, user = self._name(names.SESSION), self._name(names.USER)
        system, version, model = self._name(names.SYSTEM), self._name(names.VERSION), self._model()
        tokens_in = self._tokens(names.INPUT_TOKENS, "input input_tokens prompt_tokens")
        tokens_out = self._tokens(names.OUTPUT_TOKENS, "output output_tokens completion_tokens")
        origin = {"trace": trace, "span": root.id or None, "version": version, "model": model}
        example = Example(
            id, id if question is None else question_hash(question, history),
            system=system or DEFAULT_SYSTEM, question=question, contexts=contexts, answer=answer,
            reference=self._reference(), history=history, slices=self._slices(session),
            meta=self._meta(origin),
        )  # fmt: skip
        return TracedExample(
            id, trace, root.id, at, ended, example, session, user, version, system, model,
            tokens_in, tokens_out, latency, error,
        )  # fmt: skip

    def _answer(self) -> str | None:
        for span in self._spans:
            answer = span.says(names.ANSWERED)
            if (text := answered_in(answer) or structured_in(answer)) is not None:
                return text
        if (text := own_answer(self._root)) is not None:
            return text
        texts = (
            own_answer(node) or (structured_answer(node) if calls_model(node) else None)
            for node in self._seen
        )
        text = next((text for text in texts if text), None)
        record = next((json for node in self._seen if (json := structured_answer(node))), None)
        root = structured_answer(self._root)
        if root is not None and any(leaf in (text or root) for leaf in leaves_of(root)):
            return root
        return text or record

    def _says_nothing(self) -> bool:
        if any(self._root.attributes.get(name) in ("", '""') for name in names.OUTPUT.names):
            return True
        output = opened(self._calls[-1].says(names.OUTPUT_MESSAGES)) if self._calls else None
        messages = messages_in(output)
        has_text = any(message.text.strip() for message in messages)
        return bool(messages) and not has_text and "tool_call" not in str(output)

    def _name(self, fact: names.TraceFact) -> str | None:
        values = (value for span in (*self._spans, self._tree.root) for value in span.tells(fact))
        return next((name for value in values if (name := _named(value)) is not None), None)

    def _model(self) -> str | None:
        spans = (*reversed(self._calls), *self._spans)
        values = [
            *(span.says(names.MODEL) for span in spans),
            *(
                object_or_empty(opened(call.says(names.METADATA))).get(_MODEL)
                for call in self._calls
            ),
        ]
        return next((name for value in values if (name := _named(value)) is not None), None)

    def _tokens(self, fact: names.TraceFact, in_usage: str) -> int | None:
        """Add the tokens of all calls; a call made by way of another is in that one's."""
        total, is_known, counted = 0, False, set[int]()
        for item in sorted(self._placed, key=lambda item: item.depth):
            if item.parent is not None and id(item.parent) in counted:
                counted.add(id(item.span))
                continue
            tokens = _tokens(item.span, fact, in_usage) if calls_model(item.span) else None
            if tokens is not None:
                counted.add(id(item.span))
                total, is_known = total + tokens, True
        return total if is_known else _tokens(self._root, fact, in_usage)

    def _reference(self) -> tuple[str, ...]:
        references = (answered_in(span.says(names.REFERENCE)) for span in self._spans)
        return tuple(text for text in references if text is not None)[:1]

    def _slices(self, session: str | None) -> dict[str, Any]:
        slices: dict[str, Any] = {} if session is None else {SESSION_SLICE: session}
        environment = self._name(names.ENVIRONMENT)
        if environment is not None:
            slices["environment"] = environment
        for span in (self._root, self._tree.root):
            fields = dict(object_or_empty(opened(span.says(names.METADATA))))
            for name, value in span.attributes.items():
                if name.startswith(_METADATA):
                    fields.setdefault(name.removeprefix(_METADATA), value)
            for name, value in sorted(fields.items(), key=lambda item: str(item[0])):
                if len(slices) < _MOST_SLICES and _is_plain(value) and name not in _NOT_SLICES:
                    value = value.replace("\0", "") if isinstance(value, str) else value
                    slices.setdefault(name.replace("\0", ""), value)
        return slices

    def _meta(self, origin: dict[str, Any]) -> dict[str, Any]:
        tags = (span.says(names.TAGS) for span in self._spans)
        first_tags = opened(next((value for value in tags if value is not None), None))
        numbers = (span.says(names.TOP_K) for span in self._spans)
        finish = next((call.says(names.FINISH) for call in reversed(self._calls)), None)
        meta = {
            **origin,
            "top_k": next((number for number in numbers if type(number) is int), None),
            "finish_reasons": _listed(finish),
            "cache_read_tokens": self._tokens(names.CACHE_READ, ""),
            "cache_write_tokens": self._tokens(names.CACHE_WRITE, ""),
            "tags": _listed(first_tags),
        }
        return {name: value for name, value in meta.items() if value is not None}


# What is told elsewhere.
_NOT_SLICES = frozenset(
    (
        *("session_id", "thread_id", "conversation_id", "user_id", "langfuse_session_id"),
        *("session", "system", "version", "model", "environment"),
    )
)

_METADATA = names.METADATA.names[1] + "."


def _named(value: Any) -> str | None:
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        return None
    text = str(value).replace("\0", "").strip().strip('"')[:_LONGEST_NAME]
    return text if text and not text.startswith(_NAMELESS) else None


# What LangChain calls the model, in the metadata of a span.
_MODEL = "ls_model_name"


def _is_plain(value: Any) -> bool:
    if isinstance(value, float) and not isfinite(value):
        return False
    return isinstance(value, (str, int, float)) and len(str(value)) <= _LONGEST_SLICE


def _tokens(span: TraceSpan, fact: names.TraceFact, in_usage: str) -> int | None:
    value = span.says(fact)
    if value is None:
        usage = object_or_empty(opened(span.says(names.USAGE)))
        value = next((usage[name] for name in in_usage.split() if name in usage), None)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value < _MOST else None


_MOST = 10**12


def _listed(value: Any) -> list[str] | None:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        return None
    return [text[:_LONGEST_NAME] for text in texts if isinstance(text, str)][:_MOST_SLICES] or None
