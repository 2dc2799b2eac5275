"""Finding: the passages that an answer was given, of all that its trace retrieved."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragstone.data import Context

from .corpus import Corpus
from .documents import Document, documents_in
from .names import ANSWERED, ASKED, DOCUMENTS, INPUT, OUTPUT, QUERY, RERANKED
from .spans import TraceSpan
from .texts import opened
from .tree import Placed


def found_in(placed: Sequence[Placed]) -> list[Document] | None:
    """What was retrieved, in order: by rerankers if there are any, else by all retrievals.

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
    """Documents with the ids that the output gives them, where it holds the same ones."""
    if [one.text for one in found] != [one.text for one in again]:
        return list(found)
    return [replace(one, id=one.id or other.id) for one, other in zip(found, again, strict=True)]


def _reranked(span: TraceSpan) -> list[Document] | None:
    found = documents_in(span.says(RERANKED))
    if found is None and span.role == "reranker":
        found = documents_in(span.says(DOCUMENTS)) or documents_in(span.says(OUTPUT))
    return found


def _beside(value: object) -> list[Document] | None:
    """Passages that are handed on beside the question or the answer."""
    value = opened(value)
    if not isinstance(value, dict):
        return None
    for name in ("source_documents", "source_nodes", "context", "contexts", "documents", "docs"):
        found = documents_in(value.get(name))
        if found:
            return found
    return None


def _together(lists: Iterable[list[Document] | None]) -> list[Document]:
    """All of them, each once, with what any of them says about it."""
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
    """The passages as contexts, each with an id of its own; the corpus fills in missing texts."""
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
