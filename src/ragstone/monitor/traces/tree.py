"""Tree: which spans of a trace are inside which, and which of them tell of one answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .names import DOCUMENTS, INPUT, INPUT_MESSAGES, OUTPUT, OUTPUT_MESSAGES
from .spans import TraceSpan
from .texts import answered_in, asked_in

HIDDEN = frozenset(("tool", "retriever", "reranker", "embedding", "aside"))
"""What is said inside such a span is not said to the user."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A span in its place.

    Attributes:
        span: The span.
        depth: How many spans it is inside of.
        within: What these do.
        parent: The inmost of them.
    """

    span: TraceSpan
    depth: int
    within: frozenset[str]
    parent: TraceSpan | None = None

    @property
    def hidden(self) -> bool:
        """Whether the user does not see what comes out of it."""
        return bool(self.within & HIDDEN) or self.span.role in HIDDEN


@dataclass(slots=True)
class Tree:
    """The spans of a trace under one root, which is made up where there is none.

    Attributes:
        root: The root.
        rooted: Whether it is a span that was sent, and has no parent.
        children: By the place of a span in memory, those inside it.
    """

    root: TraceSpan
    rooted: bool
    children: dict[int, list[TraceSpan]] = field(default_factory=dict)

    def placed(self, root: TraceSpan) -> list[Placed]:
        """A span and all inside it, by when they began."""
        found, stack = [], [Placed(root, 0, frozenset())]
        while stack:
            one = stack.pop()
            found.append(one)
            role = one.span.role
            within = one.within if role is None else one.within | {role}
            inside = self.children.get(id(one.span), ())
            stack.extend(Placed(span, one.depth + 1, within, one.span) for span in inside)
        return sorted(found, key=lambda one: (one.span.start, one.depth, one.span.id))


def tree_of(spans: Sequence[TraceSpan]) -> Tree | None:
    """The tree of spans that are in order; None if there are none.

    A span whose parent is not there is taken to be right under the root.
    """
    if not spans:
        return None
    by_id = {span.id: span for span in spans if span.id}
    children: dict[int, list[TraceSpan]] = {}
    tops = []
    for span in spans:
        parent = by_id.get(span.parent)
        if parent is None or parent is span:
            tops.append(span)
        else:
            children.setdefault(id(parent), []).append(span)
    tops += _in_circles(spans, tops, children)
    roots = [span for span in tops if span.told and not span.parent]
    if len(roots) == 1:
        root = roots[0]
    elif len(tops) == 1:
        root = tops[0]
    else:
        root = TraceSpan(
            "", "", "", tops[0].start, max(one.end for one in tops), {}, {}, told=False
        )
    beside = [span for span in tops if span is not root]
    if beside:
        children[id(root)] = sorted(
            [*children.get(id(root), ()), *beside], key=lambda one: (one.start, one.id)
        )
    return Tree(root, bool(roots), children)


def _in_circles(
    spans: Sequence[TraceSpan], tops: Sequence[TraceSpan], children: dict[int, list[TraceSpan]]
) -> list[TraceSpan]:
    """Of spans that are inside each other the first; it is taken out of its parent."""
    reached: set[int] = set()

    def reach(span: TraceSpan) -> None:
        stack = [span]
        while stack:
            one = stack.pop()
            if id(one) not in reached:
                reached.add(id(one))
                stack.extend(children.get(id(one), ()))

    for span in tops:
        reach(span)
    if len(reached) == len(spans):
        return []
    found = []
    parents = {id(child): parent for parent, inside in children.items() for child in inside}
    for span in spans:
        if id(span) not in reached:
            inside = children[parents[id(span)]]
            inside[:] = [one for one in inside if one is not span]
            found.append(span)
            reach(span)
    return found


def turns_of(tree: Tree) -> list[TraceSpan]:
    """The roots of the answers in a trace: mostly its own root.

    Where that says nothing itself, and several spans right under it each have a question, an
    answer, and both a retrieval and a call of a model inside, each of them is one. The steps of
    one pipeline do not look so: one retrieves, another writes.
    """
    if own_question(tree.root) is not None or own_answer(tree.root) is not None:
        return [tree.root]
    turns = [
        span
        for span in tree.children.get(id(tree.root), ())
        if span.role in (None, "agent", "chain")
        and own_question(span) is not None
        and own_answer(span) is not None
        and _is_whole(tree, span)
    ]
    return turns if len(turns) > 1 else [tree.root]


def _is_whole(tree: Tree, span: TraceSpan) -> bool:
    inside = tree.placed(span)
    return any(calls_model(one.span) for one in inside) and any(
        one.span.role == "retriever" or one.span.says(DOCUMENTS) is not None for one in inside
    )


def calls_model(span: TraceSpan) -> bool:
    """Whether a span is a call of a model that writes."""
    if span.role is None:
        return span.says(INPUT_MESSAGES) is not None or span.says(OUTPUT_MESSAGES) is not None
    return span.role == "call"


def own_question(span: TraceSpan) -> str | None:
    """What the input of a span asks."""
    facts = (INPUT_MESSAGES, INPUT) if calls_model(span) else (INPUT, INPUT_MESSAGES)
    return next((text for fact in facts if (text := asked_in(span.says(fact)))), None)


def own_answer(span: TraceSpan) -> str | None:
    """What the output of a span answers."""
    facts = (OUTPUT_MESSAGES, OUTPUT) if calls_model(span) else (OUTPUT, OUTPUT_MESSAGES)
    return next((text for fact in facts if (text := answered_in(span.says(fact)))), None)
