"""Pair items: two systems' answers to one question, shown as A and B in random order."""

from collections.abc import Collection, Iterable
from itertools import combinations

import numpy as np

from ragstone.core.errors import InputError
from ragstone.data import Example
from ragstone.labels.queue.form import ItemPart, QueueItem
from ragstone.labels.queue.pairs import A, B


def pair_items(
    examples: Iterable[Example], *, ids: Collection[str] | None = None, seed: int = 0
) -> list[QueueItem]:
    """Every two answers of different systems to one question.

    Args:
        examples: Those without an answer are left out.
        ids: Only pairs in which one of these examples is; None: all.
        seed: Of which answer is shown first.

    Raises:
        InputError: No question has answers of two systems.
    """
    rng = np.random.default_rng(seed)
    questions: dict[str, list[Example]] = {}
    for one in examples:
        if one.answer:
            questions.setdefault(one.question_id, []).append(one)
    found: list[QueueItem] = []
    for answers in questions.values():
        for own, rival in combinations(answers, 2):
            if own.system != rival.system and (ids is None or {own.id, rival.id} & set(ids)):
                found.append(_pair(len(found), own, rival, bool(rng.integers(2))))
    if not found:
        raise InputError(
            "Which answer is better can be asked where two systems answer one question; here none "
            "has two."
        )
    return found


def _pair(number: int, own: Example, rival: Example, first: bool) -> QueueItem:
    texts = (own.answer, rival.answer) if first else (rival.answer, own.answer)
    shown = {
        "question": own.question,
        "history": [{"role": turn.role, "text": turn.text} for turn in own.history],
        "policy": own.policy,
        "answers": [{"name": name, "text": text} for name, text in zip((A, B), texts, strict=True)],
        "reference": list(own.reference),
    }
    return QueueItem(
        number,
        own.id,
        {name: text for name, text in shown.items() if text},
        (ItemPart("answer"),),
        hidden={"rival": rival.system, "first": first},
        question=own.question_id,
    )
