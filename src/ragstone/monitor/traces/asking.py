"""Asking: what the user asked, and what was said before, told from what else went into a model."""

from collections.abc import Iterator, Sequence

from ragstone.data import Turn

from .documents import Document
from .names import ASKED, INPUT, INPUT_MESSAGES, QUERY
from .spans import TraceSpan
from .texts import ASSISTANT, USER, Message, asked_in, history_in, messages_in
from .tree import Placed, calls_model, own_question

_SNIPPET, _SHORTEST_SNIPPET = 60, 25
_MOST = 100
"""Passages and queries that a message is held against."""

_AROUND = 80
"""Characters that a message may have around what was searched for, and still be the question."""

_LABELS = ("user question:", "question:", "user query:", "query:")


def question_of(
    placed: Sequence[Placed], calls: Sequence[TraceSpan], documents: Sequence[Document]
) -> str | None:
    """The user's question: the first of its sources that is not a prompt with what was found.

    Args:
        placed: The spans of the answer, its root first in depth.
        calls: Those that call a model, the one that wrote the answer last.
        documents: What was found.
    """
    said = next((text for one in placed if (text := asked_in(one.span.says(ASKED)))), None)
    if said is not None:
        return said
    snippets = _snippets(documents)
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
    """What may be the question, the likeliest first, and whether it went into a model."""
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


def _snippets(documents: Sequence[Document]) -> list[str]:
    """The beginnings of what was found, by which a text that holds it is known."""
    texts = [document.text for document in documents if document.text][:_MOST]
    starts = (_even(text[: 4 * _SNIPPET])[:_SNIPPET] for text in texts)
    return [start for start in starts if len(start) >= _SHORTEST_SNIPPET]


def _is_prompt(text: str, snippets: Sequence[str], queries: Sequence[str]) -> bool:
    even = _even(text)
    return any(snippet in even for snippet in snippets) or any(
        len(text) > len(query) + _AROUND and query.strip() in text for query in queries[:_MOST]
    )


def _peeled(prompt: str) -> str | None:
    """The question at the end of a prompt, behind the last label that names it."""
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
    """The turns before the question, from the root's input or the messages to the model."""
    for fact in (ASKED, INPUT):
        if earlier := history_in(root.says(fact)):
            return _turns(_without(earlier, question))
    for span in (root, *reversed(calls)):
        for fact in (ASKED, INPUT_MESSAGES, INPUT):
            if turns := _before(messages_in(span.says(fact)), question):
                return turns
    return ()


def _before(said: Sequence[Message], question: str | None) -> tuple[Turn, ...]:
    """The turns before the user's last message, if the question is in that."""
    asked = [index for index, one in enumerate(said) if one.role == USER and one.text.strip()]
    if not asked or (question is not None and question.strip() not in said[asked[-1]].text):
        return ()
    return _turns(said[: asked[-1]])


def _without(said: list[Message], question: str | None) -> list[Message]:
    """The messages without the question, where it is among them already."""
    return said[:-1] if said and said[-1].role == USER and said[-1].text == question else said


def _turns(said: Sequence[Message]) -> tuple[Turn, ...]:
    return tuple(
        Turn(one.role, one.text)
        for one in said
        if one.role in (USER, ASSISTANT) and one.text.strip()
    )
