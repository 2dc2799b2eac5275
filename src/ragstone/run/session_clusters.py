"""Session clusters: the turns of one conversation are not independent."""

from collections.abc import Iterable

from ragstone.data import Example
from ragstone.data.example import SESSION

from .repeated_questions import QUESTION

LOOKED_AT = 1_000
"""Rows at the head of the data that tell whether they are turns of sessions."""


def default_cluster(examples: Iterable[Example]) -> str:
    """What is clustered by where the user names nothing.

    ``session`` if one of the sessions holds several questions to one system, else ``question_id``.
    Sessions of one question each say less than the question does: other systems answer it in
    sessions of their own.
    """
    asked: dict[tuple[str, str], str] = {}
    for example in examples:
        session = example.session
        if session is None:
            continue
        first = asked.setdefault((example.system, session), example.question_id)
        if first != example.question_id:
            return SESSION
    return QUESTION
