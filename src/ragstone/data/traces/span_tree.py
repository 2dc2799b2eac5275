"""Span tree: the spans of a trace in their places, under one root."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .spans import TraceSpan

# What is said inside such a span is not said to the user.
HIDDEN = frozenset(("tool", "retriever", "reranker", "embedding", "aside"))


@dataclass(frozen=True, slots=True)
class Placed:
    """A span in its place."""

    span: TraceSpan
    depth: int
    within: frozenset[str]
    parent: TraceSpan | None = None

    @property
    def hidden(self) -> bool:
        """Tell whether the user does not see what comes out of it."""
        return bool(self.within & HIDDEN) or self.span.role in HIDDEN


@dataclass(slots=True)
class Tree:
    """The spans of a trace under one root, which is made up where there is none."""

    root: TraceSpan
    rooted: bool
    children: dict[int, list[TraceSpan]] = field(default_factory=dict)

    def placed(self, root: TraceSpan) -> list[Placed]:
        """Return a span and all inside it, by when they began."""
        placed, stack = [], [Placed(root, 0, frozenset())]
        while stack:
            node = stack.pop()
            placed.append(node)
            role = node.span.role
            within = node.within if role is None else node.within | {role}
            inside = self.children.get(id(node.span), ())
            stack.extend(Placed(span, node.depth + 1, within, node.span) for span in inside)
        return sorted(placed, key=lambda item: (item.span.start, item.depth, item.span.id))


def tree_of(spans: Sequence[TraceSpan]) -> Tree | None:
    """Return the tree of spans that are in order; None if there are none.

    Spans whose parent is not there are taken to be right under the root. Those of several missing
    parents stay apart: each such parent is made up again.
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
    tops = _under_missing_parents(tops, by_id, children)
    roots = [span for span in tops if span.there and not span.parent]
    if len(roots) == 1:
        root = roots[0]
    elif len(tops) == 1:
        root = tops[0]
    else:
        parents = {span.parent for span in tops}
        root = made_up(parents.pop() if len(parents) == 1 else "", tops)
    beside = [span for span in tops if span is not root]
    if beside:
        children[id(root)] = sorted(
            [*children.get(id(root), ()), *beside], key=lambda item: (item.start, item.id)
        )
    return Tree(root, bool(roots), children)


def made_up(id: str, children: Sequence[TraceSpan]) -> TraceSpan:
    """Return a span that was not sent, as long as what is inside it."""
    start, end = min(child.start for child in children), max(child.end for child in children)
    return TraceSpan(id, "", "", start, end, {}, {}, there=False)


def _under_missing_parents(
    tops: Sequence[TraceSpan], by_id: Mapping[str, TraceSpan], children: dict[int, list[TraceSpan]]
) -> list[TraceSpan]:
    """Return the tops of a tree, with the children of each missing parent under a made-up one."""
    families: dict[str, list[TraceSpan]] = {}
    for span in tops:
        families.setdefault("" if span.parent in by_id else span.parent, []).append(span)
    if len(families) == 1:
        return list(tops)
    grouped = families.pop("", [])
    for parent, family in families.items():
        if len(family) > 1:
            holder = made_up(parent, family)
            children[id(holder)] = family
            family = [holder]
        grouped += family
    return sorted(grouped, key=lambda span: (span.start, span.id))


def _in_circles(
    spans: Sequence[TraceSpan], tops: Sequence[TraceSpan], children: dict[int, list[TraceSpan]]
) -> list[TraceSpan]:
    """Take the first of spans that are inside each other out of its parent."""
    reached: set[int] = set()

    def reach(span: TraceSpan) -> None:
        stack = [span]
        while stack:
            inner = stack.pop()
            if id(inner) not in reached:
                reached.add(id(inner))
                stack.extend(children.get(id(inner), ()))

    for span in tops:
        reach(span)
    if len(reached) == len(spans):
        return []
    circles = []
    parents = {id(child): parent for parent, inside in children.items() for child in inside}
    for span in spans:
        if id(span) not in reached:
            inside = children[parents[id(span)]]
            inside[:] = [branch for branch in inside if branch is not span]
            circles.append(span)
            reach(span)
    return circles
