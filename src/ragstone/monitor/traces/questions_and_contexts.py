"""Questions and contexts: the question, history and passages of an answer, from its spans."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ragstone.data import Context, Turn

from .attribute_names import (
    ANSWERED,
    ASKED,
    DOCUMENTS,
    INPUT,
    INPUT_MESSAGES,
    OUTPUT,
    QUERY,
    RERANKED,
)
from .retrieved_documents import Corpus, Document, documents_in
from .span_tree import Placed
from .spans import (
    TraceSpan,
    calls_model,
    own_answer,
    own_question,
)
from .trace_texts import ASSISTANT, USER, Message, asked_in, history_in, messages_in, opened

_SNIPPET, _SHORTEST_SNIPPET = 60, 25
_SHORTEST_DRAFT = 10
_MOST = 100
"""Passages and queries that a message is held against."""

_AROUND = 80
"""Characters that a message may have around what was searched for, and still be the question."""

_LABELS = ("user question:", "question:", "user query:", "query:")


def question_of(
    placed: Sequence[Placed], calls: Sequence[TraceSpan], documents: Sequence[Document]
) -> str | None:
    """Return the user's question: the first of its sources that is not a prompt with what was
    found.
    """
    said = next((text for one in placed if (text := asked_in(one.span.says(ASKED)))), None)
    if said is not None:
        return said
    snippets = beginnings(documents)
    # What an earlier call wrote is handed to a call that rewrites it.
    snippets += [
        _even(text) for one in calls[:-1] if len(text := own_answer(one) or "") >= _SHORTEST_DRAFT
    ]
    queries = [text for one in placed if (text := asked_in(one.span.says(QUERY)))]
    queries += [
        text
        for one in placed
        if one.span.role == "retriever" and (text := asked_in(one.span.says(INPUT)))
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
    from_top = sorted(placed, key=lambda one: one.depth)
    for one in from_top:
        seen = not one.hidden and not calls_model(one.span)
        if seen and (text := own_question(one.span)) is not None:
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
    for fact in (ASKED, INPUT):
        if earlier := history_in(root.says(fact)):
            return _turns(_without(earlier, question))
    for span in (root, *reversed(calls)):
        for fact in (ASKED, INPUT_MESSAGES, INPUT):
            if turns := _before(messages_in(span.says(fact)), question):
                return turns
    return ()


def _before(said: Sequence[Message], question: str | None) -> tuple[Turn, ...]:
    asked = [index for index, one in enumerate(said) if one.role == USER and one.text.strip()]
    if not asked or (question is not None and question.strip() not in said[asked[-1]].text):
        return ()
    return _turns(said[: asked[-1]])


def _without(said: list[Message], question: str | None) -> list[Message]:
    return said[:-1] if said and said[-1].role == USER and said[-1].text == question else said


def _turns(said: Sequence[Message]) -> tuple[Turn, ...]:
    return tuple(
        Turn(one.role, one.text)
        for one in said
        if one.role in (USER, ASSISTANT) and one.text.strip()
    )


def found_in(placed: Sequence[Placed]) -> list[Document] | None:
    """Return what was retrieved, in order: by rerankers if there are any, else by all retrievals.

    None if nothing was retrieved at all, or content is missing.
    """
    reranked = [_reranked(one.span) for one in placed]
    if any(found is not None for found in reranked):
        return _together(reranked)
    giving: set[int] = set()
    retrieved = []
    for one in sorted(placed, key=lambda one: one.depth):
        found = _retrieved(one.span)
        inside = one.parent is not None and id(one.parent) in giving
        if inside or (found and one.span.role == "retriever"):
            giving.add(id(one.span))
        # A retriever that asks others gives what it made of theirs.
        if found is not None and not inside:
            retrieved.append((one.span.start, one.span.id, found))
    if retrieved:
        return _together([found for *_, found in sorted(retrieved, key=lambda one: one[:2])])
    root = min(placed, key=lambda one: one.depth).span
    return next(
        (found for fact in (OUTPUT, ANSWERED, INPUT, ASKED) if (found := _beside(root.says(fact)))),
        None,
    )


def _retrieved(span: TraceSpan) -> list[Document] | None:
    found = documents_in(span.says(DOCUMENTS))
    if found is not None and not (found and found[0].id is None):
        return found
    if span.role != "retriever":
        return found
    output = span.says(OUTPUT)
    if found is not None:
        return _named(found, documents_in(output) or ())
    found = documents_in(output)
    if found is None and isinstance(output, str) and output.strip():
        said = opened(output)
        found = [Document(text=said)] if isinstance(said, str) else []
    if found is None and (span.says(QUERY) is not None or span.says(INPUT) is not None):
        # It says what it looked for, so that it would say what it found.
        found = []
    return found


def _named(found: Sequence[Document], again: Sequence[Document]) -> list[Document]:
    if [one.text for one in found] != [one.text for one in again]:
        return list(found)
    return [replace(one, id=one.id or other.id) for one, other in zip(found, again, strict=True)]


def _reranked(span: TraceSpan) -> list[Document] | None:
    found = documents_in(span.says(RERANKED))
    if found is None and span.role == "reranker":
        found = documents_in(span.says(DOCUMENTS)) or documents_in(span.says(OUTPUT))
    return found


def _beside(value: object) -> list[Document] | None:
    value = opened(value)
    if not isinstance(value, dict):
        return None
    for name in ("source_documents", "source_nodes", "context", "contexts", "documents", "docs"):
        found = documents_in(value.get(name))
        if found:
            return found
    return None


def _together(lists: Iterable[list[Document] | None]) -> list[Document]:
    once: dict[tuple[str | None, ...], Document] = {}
    with_text: set[str] = set()
    for document in (document for found in lists for document in found or ()):
        if document.text is None and document.id in with_text:
            continue
        if document.text is not None and document.id is not None:
            with_text.add(document.id)
            bare = once.pop((document.id, None, document.source), None)
            if bare is not None and document.score is None:
                document = replace(document, score=bare.score)
        once.setdefault((document.id, document.text, document.source), document)
    return list(once.values())


def contexts_of(documents: Sequence[Document], corpus: Corpus | None) -> tuple[Context, ...]:
    """Return the passages as contexts, each with an id of its own; the corpus fills in missing
    texts.
    """
    contexts = []
    taken: set[str] = set()
    for rank, document in enumerate(documents, 1):
        text = document.text
        if text is None and corpus is not None:
            names = filter(None, (document.id, document.source))
            text = next((found for one in names if (found := corpus.text(one)) is not None), None)
        id = name = document.id or document.source or str(rank)
        again = 1
        while id in taken:
            again += 1
            id = f"{name}#{again}"
        taken.add(id)
        contexts.append(Context(id, text, rank, document.score))
    return tuple(contexts)
