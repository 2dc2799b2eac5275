"""Requests: the spans of a trace that examples are read from, and which span has the answer.

An example is read from one span and what lies below it. Of siblings it is the one with the
retrieval: a call beside it that writes a title or the next questions does not answer the user.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from ragstone.data.conversation import SYSTEM, answered_in, asked_in, messages_in, text_in
from ragstone.data.documents import Document
from ragstone.data.json_text import opened

from .attribute_names import ANSWERED, ASKED, DOCUMENTS, INPUT, INPUT_MESSAGES, INSTRUCTIONS, QUERY
from .questions_and_contexts import beginnings, holds_passages
from .span_tree import HIDDEN, Placed, Tree, made_up
from .spans import TraceSpan, calls_model, own_answer, own_question, structured_answer

# Characters of an answer that a later question holds because it works on it, and not by chance.
_SHORTEST_ANSWER = 20

# Spans without a word of their own that requests are looked for in, one inside the other.
_DEEPEST = 5

_TITLE = re.compile(
    r"\b(?:titles?|titling|titel|titre|t[ií]tulo|titolo|tytuł|заголовок|název|başlık|otsikko|"
    r"rubrik|τίτλος?)\b|标题|標題|タイトル|제목|عنوان|शीर्षक",
    re.IGNORECASE,
)
_NAME_PARTS = re.compile(r"[_.:/-]|(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"\w+")


def requests_of(tree: Tree) -> list[TraceSpan]:
    """Return the spans that examples are read from, by when they began; mostly the root alone.

    Below a root that says nothing itself, each span with a retrieval and an answer inside is a
    request, and so is one without a retrieval that asks about something else.
    """
    strangers = _strangers(tree)
    spans = [*_split(tree, tree.root), *strangers]
    return sorted(spans, key=lambda span: (span.start, span.id))


class _Branch:
    def __init__(self, tree: Tree, span: TraceSpan) -> None:
        self.span, self._placed = span, tree.placed(span)
        self._seen = [node.span for node in self._placed if not node.hidden]

    @cached_property
    def retrieves(self) -> bool:
        return any(retrieves_documents(node.span) for node in self._placed)

    @cached_property
    def questions(self) -> set[str]:
        texts = (_asks(span) for span in self._seen)
        queries = (_query(node.span) for node in self._placed)
        return {text.strip() for text in (*texts, *queries) if text}

    @cached_property
    def answers(self) -> set[str]:
        texts = (_answers(span) for span in self._seen)
        return {text.strip() for text in texts if text}

    @cached_property
    def titled(self) -> bool:
        questions = [text for node in self._seen if not calls_model(node) and (text := _asks(node))]
        return any(_titled(span, questions) for span in self._seen)

    @cached_property
    def failed(self) -> bool:
        asks = self.span.role not in (*HIDDEN, "retriever") and bool(_asks(self.span))
        return self.span.error is not None and asks and self.retrieves and not self.answers

    def about(self, other: "_Branch") -> bool:
        texts = other.questions | {text for text in other.answers if len(text) >= _SHORTEST_ANSWER}
        return any(text in question for question in self.questions for text in texts)


def _asks(span: TraceSpan) -> str | None:
    return asked_in(span.says(ASKED)) or own_question(span)


def _answers(span: TraceSpan) -> str | None:
    return answered_in(span.says(ANSWERED)) or own_answer(span) or structured_answer(span)


def _speaks(span: TraceSpan) -> bool:
    return any((_asks(span), answered_in(span.says(ANSWERED)), own_answer(span)))


def retrieves_documents(span: TraceSpan) -> bool:
    """Tell whether a span searches, or says what was found."""
    return span.role == "retriever" or span.says(DOCUMENTS) is not None


def _query(span: TraceSpan) -> str | None:
    text = asked_in(span.says(QUERY))
    return text if text or span.role != "retriever" else asked_in(span.says(INPUT))


def _split(tree: Tree, span: TraceSpan, deep: int = _DEEPEST) -> list[TraceSpan]:
    if not deep or span.role in HIDDEN or _speaks(span):
        return [span]
    inside = [_Branch(tree, child) for child in tree.children.get(id(span), ())]
    answering = [branch for branch in inside if branch.span.role not in HIDDEN and branch.answers]
    answering += [branch for branch in inside if branch.failed and answering]
    whole = [branch for branch in answering if branch.retrieves]
    calls = any(calls_model(branch.span) and not branch.titled for branch in answering)
    if any(branch.retrieves for branch in inside if branch not in whole) and (calls or not whole):
        return _in_turn(tree, inside) or [span]
    several_roots = not span.id
    beside = [
        branch
        for branch in answering
        # Bare calls are the steps of an agent, or write a title; with no parent they may be more.
        if not (calls_model(branch.span) and (whole or not several_roots))
        and not (branch.retrieves or branch.titled)
        and branch.questions
        and not any(branch.about(other) for other in whole)
    ]
    heads = sorted([*whole, *beside], key=lambda item: (item.span.start, item.span.id))
    if not several_roots and _are_steps(heads) and not all(map(_is_complete, whole or heads)):
        return [span]
    below = [head for branch in heads for head in _split(tree, branch.span, deep - 1)]
    return [span] if not below or len(answering) == len(below) == 1 else below


def _are_steps(branches: Sequence[_Branch]) -> bool:
    return len(branches) > 1 and all(
        item.about(two) or two.about(item) for item, two in pairwise(branches)
    )


def _is_complete(branch: _Branch) -> bool:
    span = branch.span
    return branch.retrieves and bool(_asks(span)) and bool(_answers(span))


def _strangers(tree: Tree) -> list[TraceSpan]:
    """Requests that are under a root only because their parent is missing; taken out of it.

    They have a retrieval, and begin after the root has ended.
    """
    inside = tree.children.get(id(tree.root), [])
    strangers = [
        span
        for span in inside
        if span.parent != tree.root.id
        and span.start >= tree.root.end
        and (branch := _Branch(tree, span)).retrieves
        and branch.answers
    ]
    inside[:] = [span for span in inside if span not in strangers]
    return strangers


def _in_turn(tree: Tree, inside: Sequence[_Branch]) -> list[TraceSpan]:
    """Requests whose retrievals and calls stand side by side, each under a span that is made up.

    None where they may be the steps of one: each call has to ask what was searched for before it,
    and something else than the other calls.
    """
    turns: list[list[_Branch]] = [[]]
    for item in sorted(inside, key=lambda item: (item.span.start, item.span.id)):
        turns[-1].append(item)
        if item.answers and any(each.retrieves for each in turns[-1]):
            turns.append([])
    behind = turns.pop()
    if len(turns) < 2 or any(branch.answers and not branch.titled for branch in behind):
        return []
    questions = []
    for turn in turns:
        queries = {text for branch in turn if branch.retrieves for text in branch.questions}
        questions.append(
            {text for text in queries if any(text in question for question in turn[-1].questions)}
        )
    if not all(questions) or any(
        ask & two for at, ask in enumerate(questions) for two in questions[:at]
    ):
        return []
    holders = []
    for turn in turns:
        spans = [branch.span for branch in turn]
        holder = made_up(spans[-1].id, spans)
        tree.children[id(holder)] = spans
        holders.append(holder)
    return holders


def likeliest_answers(placed: Sequence[Placed], documents: Sequence[Document]) -> list[TraceSpan]:
    """Return the spans whose output the user sees, the likeliest answer first.

    What rests on the passages goes before what does not, the outer before the inner, the later
    before the earlier.
    """
    seen = [node for node in placed if not node.hidden]
    levels = _levels(placed, seen, documents)
    ranked = sorted(
        seen, key=lambda item: (levels[id(item.span)], item.depth, -item.span.end, item.span.id)
    )
    return [item.span for item in ranked]


def _levels(
    placed: Sequence[Placed], seen: Sequence[Placed], documents: Sequence[Document]
) -> dict[int, int]:
    """Return by the place of a span in memory: 0 if it may answer, 1 if another rests on the
    passages and it does not, 2 if it writes a title.
    """
    parents = {id(node.span): node.parent for node in placed}
    begun = min((node.span.start for node in placed if retrieves_documents(node.span)), default=0)
    queries = {text.strip() for node in placed if (text := _query(node.span))}
    questions = [text for node in seen if not calls_model(node.span) and (text := _asks(node.span))]
    starts = beginnings(documents)
    titled = {id(node.span) for node in seen if _titled(node.span, [*questions, *queries], starts)}
    calls = [node.span for node in placed if calls_model(node.span)]
    on_passages = [call for call in calls if holds_passages(_prompt(call), starts)] or [
        call
        for call in calls
        if call.start >= begun and (own_question(call) or "").strip() in queries
    ]
    answering = {id(call) for call in on_passages} - titled
    resting = set[int]()
    for node in placed:
        span: TraceSpan | None = node.span
        if retrieves_documents(node.span) or id(node.span) in answering:
            while span is not None and id(span) not in resting:
                resting.add(id(span))
                span = parents.get(id(span))
    drafts = [text for node in seen if id(node.span) in resting and (text := own_answer(node.span))]
    levels = {}
    for node in seen:
        rests = not drafts or id(node.span) in resting or _rewrites(node.span, drafts)
        levels[id(node.span)] = 2 if id(node.span) in titled else 0 if rests else 1
    return levels


def _prompt(span: TraceSpan) -> str:
    messages = messages_in(span.says(INPUT_MESSAGES)) or messages_in(span.says(INPUT))
    return "\n".join([*(message.text for message in messages), own_question(span) or ""])


def _rewrites(span: TraceSpan, drafts: Iterable[str]) -> bool:
    prompt, answer = _prompt(span).strip(), own_answer(span) or ""
    words = set(_WORD.findall(answer.casefold()))
    for draft in drafts:
        drafted = set(_WORD.findall(draft.casefold()))
        if draft in prompt and 2 * len(drafted & words) >= len(drafted):
            return True
    return not prompt


def _titled(span: TraceSpan, questions: Sequence[str], starts: Sequence[str] = ()) -> bool:
    texts = [_NAME_PARTS.sub(" ", span.name)]
    if calls_model(span) and not any(_TITLE.search(text) for text in questions):
        instructions = [text_in(opened(span.says(INSTRUCTIONS))), own_question(span) or ""]
        instructions += [
            item.text for item in messages_in(span.says(INPUT_MESSAGES)) if item.role == SYSTEM
        ]
        texts += [] if holds_passages("\n".join(instructions), starts) else instructions
    return any(_TITLE.search(text) for text in texts)
