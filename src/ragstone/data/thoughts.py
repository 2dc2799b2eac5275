"""Thoughts: what a reasoning model wrote in think tags before its answer is no part of it.

Known are ``<think>``, ``<thinking>``, ``<thought>``, ``<reasoning>`` and the marks of Seed,
Mistral, Kimi, Sky-T1, Cohere and gpt-oss, each at the beginning of a line and outside of code. A
tag that is never closed counts only where the answer begins with it: the model was cut off while it
thought. ``<answer>`` tags around all that is left are taken off, too.
"""

import re
from dataclasses import replace

from .example import Example, Turn

TAGS = ("think", "thinking", "thought", "reasoning", "seed:think")
_PAIRS = {f"<{tag}>": f"</{tag}>" for tag in TAGS} | {
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
_ENDS = {tag: re.compile(re.escape(end), re.IGNORECASE) for tag, end in _PAIRS.items()}
_LONGEST = max(map(len, _PAIRS.values()))
# Blanks before a tag; after more of them nothing is held back.
_MOST_SPACE = 200

_FENCES = ("```", "~~~")
_FIRST = ("", *{mark[0] for mark in (*_PAIRS, *_FENCES)})
_LONE = re.compile(r"</(?:seed:)?think>|\[/THINK\]|◁/think▷")
_OPENED = re.compile("|".join(map(re.escape, _PAIRS)), re.IGNORECASE)
_WRAPPED = re.compile(
    r"(\s*)(?:<answer>(.*)</answer>|<\|begin_of_solution\|>(.*)<\|end_of_solution\|>"
    r"|<\|START_RESPONSE\|>(.*)<\|END_RESPONSE\|>)\s*",
    re.DOTALL,
)
_SENTENCE_END = ".!?…。！？।؟\n"


class ThoughtFilter:
    """Takes thoughts off a text that comes in pieces, however it is cut.

    ``thoughts`` collects them without tags; with ``blank``, spaces take their place, so that all
    else stays where it is.
    """

    def __init__(self, *, blank: bool = False) -> None:
        self.thoughts: list[str] = []
        self._blank = blank
        self._tail = ""
        self._opening = ""
        self._closing: re.Pattern[str] | None = None
        self._thought: list[str] = []
        self._line_begins = True
        self._answer_begins = True
        self._fenced = False

    def feed(self, text: str) -> str:
        """Return the part of the answer that is known with this piece."""
        text, self._tail = self._tail + text, ""
        answer, at = list[str](), 0
        while at < len(text):
            head = text[at : at + _MOST_SPACE] if self._line_begins else ""
            mark = head.lstrip(" \t")[:1] in _FIRST if head else False
            if self._closing is not None:
                at = self._think(text, at, answer)
            elif mark and self._open(head):
                at += len(self._opening)
            elif mark and len(head) < _MOST_SPACE and _may_open(head):
                self._tail, at = text[at:], len(text)
            else:
                if mark and head.lstrip(" \t").startswith(_FENCES):
                    self._fenced = not self._fenced
                newline = text.find("\n", at)
                line = text[at : newline + 1 or None]
                self._line_begins = newline >= 0
                self._answer_begins &= not line.strip()
                answer.append(line)
                at += len(line)
        return "".join(answer)

    def close(self) -> str:
        """Return the rest of the answer when nothing more comes."""
        rest, self._tail = self._tail, ""
        if self._closing is None:
            return rest
        self._thought.append(rest)
        if not self._answer_begins:
            return self._opening + "".join(self._thought)
        return self._taken("")

    def _open(self, text: str) -> bool:
        begins = text.lstrip(" \t")
        tag = next((tag for tag in _PAIRS if _begins(begins, tag)), None)
        if tag is None or self._fenced:
            return False
        self._opening = text[: len(text) - len(begins) + len(tag)]
        self._closing = _ENDS[tag]
        return True

    def _think(self, text: str, at: int, answer: list[str]) -> int:
        assert self._closing is not None
        end = self._closing.search(text, at)
        if end is None:
            cut = max(at, len(text) - _LONGEST)
            self._thought.append(text[at:cut])
            self._tail = text[cut:]
            return len(text)
        self._thought.append(text[at : end.start()])
        answer.append(self._taken(end.group()))
        self._closing = None
        return end.end()

    def _taken(self, closing: str) -> str:
        thought = "".join(self._thought)
        self.thoughts.append(thought.strip())
        self._thought = []
        return " " * len(self._opening + thought + closing) if self._blank else ""


def _begins(text: str, tag: str) -> bool:
    head = text[: len(tag)]
    return head == tag if tag.isupper() else head.lower() == tag


def _may_open(text: str) -> bool:
    begins = text.lstrip(" \t")
    return any(
        len(begins) < len(mark) and _begins(begins, mark[: len(begins)])
        for mark in (*_PAIRS, *_FENCES)
    )


def answer_and_thoughts(text: str, *, blank: bool = False) -> tuple[str, list[str]]:
    """Split an answer from the thoughts before or in it.

    The first tag may be lacking, as chat templates write it for some models: then all before a lone
    ``</think>`` is thought, if a sentence or a line ends there.

    >>> answer_and_thoughts("<think>80 m?</think>It is 90 m long.")
    ('It is 90 m long.', ['80 m?'])
    """
    lone = _LONE.search(text)
    if lone is not None and not _ends_thoughts(text, lone):
        lone = None
    if lone is None and _OPENED.search(text) is None:
        return text, []
    filter = ThoughtFilter(blank=blank)
    before = ""
    if lone is not None:
        filter.thoughts.append(text[: lone.start()].strip())
        before, text = " " * lone.end() if blank else "", text[lone.end() :]
    answer = before + filter.feed(text) + filter.close()
    if not filter.thoughts:
        return answer, []
    if wrapped := _WRAPPED.fullmatch(answer):
        inside = wrapped.span(wrapped.lastindex or 0)
        answer = " " * inside[0] + answer[slice(*inside)] + " " * (len(answer) - inside[1])
    return answer if blank else answer.strip(), filter.thoughts


def _ends_thoughts(text: str, lone: re.Match[str]) -> bool:
    before = text[: lone.start()]
    if _OPENED.search(before) or not before.strip():
        return False
    return before.rstrip(" \t")[-1] in _SENTENCE_END or text[lone.end() : lone.end() + 1] == "\n"


# What of an example's ``meta`` has the thoughts that were taken off its answer.
THOUGHTS = "thoughts"


def without_thoughts(example: Example) -> Example:
    """Move the thoughts of the answer to ``meta``, and remove those of earlier turns.

    The same object if there are none.
    """
    answer, thoughts = answer_and_thoughts(example.answer or "")
    turns = tuple(
        Turn(turn.role, answer_and_thoughts(turn.text)[0]) if turn.role == "assistant" else turn
        for turn in example.history
    )
    if turns != example.history:
        example = replace(example, history=turns)
    if not thoughts:
        return example
    return replace(example, answer=answer, meta={**example.meta, THOUGHTS: "\n\n".join(thoughts)})
