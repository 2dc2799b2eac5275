"""Questions and contexts: the question, history and passages of an answer, from its spans."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from ragstone.data.conversation import (
    ASSISTANT,
    USER,
    asked_in,
    history_in,
    messages_in,
)
from ragstone.data.documents import Document, documents_in
from ragstone.data.example import Turn
from ragstone.data.json_text import opened
from ragstone.data.tool_results import SEARCHES, tool_documents

from . import attribute_names as names
from .span_tree import Placed
from .spans import TraceSpan, calls_model, own_answer, own_question

_SNIPPET, _SHORTEST_SNIPPET = 60, 25
_SHORTEST_DRAFT = 10
# Passages and queries that a message is held against.
_MOST = 100

# Characters that a message may have around what was searched for, and still be the question.
_AROUND = 80

_LABELS = ("user question:", "question:", "user query:", "query:")


def question_of(
    placed: Sequence[Placed], calls: Sequence[TraceSpan], documents: Sequence[Document]
) -> str | None:
    """Return the question: the first of its sources that is not a prompt with passages."""
    for node in placed:
        if question := asked_in(node.span.says(names.ASKED)):
            return question
    snippets = beginnings(documents)
    # What an earlier call wrote is handed to a call that rewrites it.
    snippets += [
        _even(draft)
        for call in calls[:-1]
        if len(draft := own_answer(call) or "") >= _SHORTEST_DRAFT
    ]
    queries = [text for node in placed if (text := asked_in(node.span.says(names.QUERY)))]
    queries += [
        text
        for node in placed
        if node.span.role == "retriever" and (text := asked_in(node.span.says(names.INPUT)))
    ]
    prompts = []
    for text, in_prompt in _sources(placed, calls, queries):
        if not _is_prompt(text, snippets, queries if in_prompt else ()):
            return text
        prompts.append(text)
    peeled = (_peeled(text) for text in prompts)
    return next((text for text in peeled if text), min(prompts, key=len, default=None))


def _sources(
    placed: Sequence[Placed], calls: Sequence[TraceSpan], queries: Sequence[str]
) -> Iterator[tuple[str, bool]]:
    from_top = sorted(placed, key=lambda item: item.depth)
    for item in from_top:
        seen = not item.hidden and not calls_model(item.span)
        if seen and (text := own_question(item.span)) is not None:
            yield text, False
    for span in reversed(calls):
        if (text := own_question(span)) is not None:
            yield text, True
            break
    for text in queries[:1]:
        yield text, False
    for span in calls[:-1]:
        if (text := own_question(span)) is not None:
            yield text, True


def beginnings(documents: Sequence[Document]) -> list[str]:
    """Return the beginnings of passages, by which a text that holds them is known."""
    texts = [document.text for document in documents if document.text][:_MOST]
    starts = (_even(text[: 4 * _SNIPPET])[:_SNIPPET] for text in texts)
    return [start for start in starts if len(start) >= _SHORTEST_SNIPPET]


def holds_passages(text: str, starts: Sequence[str]) -> bool:
    """Tell whether a text holds one of the passages that begin like this."""
    even = _even(text)
    return any(start in even for start in starts)


def _is_prompt(text: str, snippets: Sequence[str], queries: Sequence[str]) -> bool:
    return holds_passages(text, snippets) or any(
        len(text) > len(query) + _AROUND and query.strip() in text for query in queries[:_MOST]
    )


def _peeled(prompt: str) -> str | None:
    """Return the question at the end of a prompt, behind the last label that names it."""
    low = prompt.lower()
    if len(low) != len(prompt):
        return None
    at, length = max((low.rfind(label), len(label)) for label in _LABELS)
    if at < 0:
        return None
    lines = prompt[at + length :].strip().splitlines()
    return lines[0].strip() or None if lines else None


def _even(text: str) -> str:
    return " ".join(text.split())


def history_of(
    root: TraceSpan, calls: Sequence[TraceSpan], question: str | None
) -> tuple[Turn, ...]:
    """Return the turns before the question, from the root's input or the messages to the model."""
    for fact in (names.ASKED, names.INPUT):
        if earlier := history_in(root.says(fact)):
            is_question = earlier[-1] == Turn(USER, question or "")
            return _turns(earlier[:-1] if is_question else earlier)
    for span in (root, *reversed(calls)):
        for fact in (names.ASKED, names.INPUT_MESSAGES, names.INPUT):
            if turns := _before(messages_in(span.says(fact)), question):
                return turns
    return ()


def _before(messages: Sequence[Turn], question: str | None) -> tuple[Turn, ...]:
    turns = [at for at, item in enumerate(messages) if item.role == USER and item.text.strip()]
    if not turns or (question is not None and question.strip() not in messages[turns[-1]].text):
        return ()
    return _turns(messages[: turns[-1]])


def _turns(messages: Sequence[Turn]) -> tuple[Turn, ...]:
    return tuple(
        Turn(item.role, item.text)
        for item in messages
        if item.role in (USER, ASSISTANT) and item.text.strip()
    )


def found_in(placed: Sequence[Placed]) -> list[Document] | None:
    """Return what was retrieved, in order: by rerankers if there are any, else by all retrievals.

    None if nothing was retrieved at all, or content is missing.
    """
    reranked = [_reranked(node.span) for node in placed]
    if any(documents is not None for documents in reranked):
        return _together(reranked)
    giving: set[int] = set()
    retrieved = []
    for item in sorted(placed, key=lambda item: item.depth):
        documents = _retrieved(item.span)
        inside = item.parent is not None and id(item.parent) in giving
        if inside or (documents and item.span.role == "retriever"):
            giving.add(id(item.span))
        # A retriever that asks others gives what it made of theirs.
        if documents is not None and not inside:
            retrieved.append((item.span.start, item.span.id, documents))
    if retrieved:
        in_order = sorted(retrieved, key=lambda item: item[:2])
        return _together([documents for *_, documents in in_order])
    root = min(placed, key=lambda item: item.depth).span
    facts = (names.OUTPUT, names.ANSWERED, names.INPUT, names.ASKED)
    beside = (_beside(root.says(fact)) for fact in facts)
    searched = [documents for node in placed if (documents := _searched(node.span))]
    if searched:
        return _together(searched)
    messages = (opened(node.span.says(names.INPUT_MESSAGES)) for node in reversed(placed))
    results = (tool_documents(item).documents for item in messages if isinstance(item, list))
    return next((documents for documents in chain(beside, results) if documents), None)


def _retrieved(span: TraceSpan) -> list[Document] | None:
    documents = documents_in(span.says(names.DOCUMENTS))
    if documents is not None and not (documents and documents[0].id is None):
        return documents
    if span.role != "retriever":
        return documents
    output = span.says(names.OUTPUT)
    if documents is not None:
        return _named(documents, documents_in(output) or ())
    documents = documents_in(output)
    if documents is None and isinstance(output, str) and output.strip():
        text = opened(output)
        documents = [Document(text=text)] if isinstance(text, str) else []
    if documents is None and (span.says(names.QUERY), span.says(names.INPUT)) != (None, None):
        # It says what it looked for, so that it would say what it found.
        documents = []
    return documents


def _searched(span: TraceSpan) -> list[Document] | None:
    """Return the passages that a tool or a task gave back, if its name says that it searches."""
    if not span.parent or span.role not in ("tool", "chain") or not SEARCHES.search(span.name):
        return None
    documents = documents_in(span.says(names.OUTPUT))
    return documents if documents and all(document.text for document in documents) else None


def _named(documents: Sequence[Document], again: Sequence[Document]) -> list[Document]:
    if [item.text for item in documents] != [item.text for item in again]:
        return list(documents)
    return [
        replace(item, id=item.id or other.id) for item, other in zip(documents, again, strict=True)
    ]


def _reranked(span: TraceSpan) -> list[Document] | None:
    documents = documents_in(span.says(names.RERANKED))
    if documents is None and span.role == "reranker":
        output = span.says(names.OUTPUT)
        documents = documents_in(span.says(names.DOCUMENTS)) or documents_in(output)
    return documents


def _beside(value: object) -> list[Document] | None:
    value = opened(value)
    if not isinstance(value, dict):
        return None
    for name in ("source_documents", "source_nodes", "context", "contexts", "documents", "docs"):
        documents = documents_in(value.get(name))
        if documents:
            return documents
    return None


def _together(lists: Iterable[list[Document] | None]) -> list[Document]:
    once: dict[tuple[str | None, ...], Document] = {}
    with_text: set[str] = set()
    for document in (document for documents in lists for document in documents or ()):
        if document.text is None and document.id in with_text:
            continue
        if document.text is not None and document.id is not None:
            with_text.add(document.id)
            bare = once.pop((document.id, None, document.source), None)
            if bare is not None and document.score is None:
                document = replace(document, score=bare.score)
        once.setdefault((document.id, document.text, document.source), document)
    return list(once.values())
