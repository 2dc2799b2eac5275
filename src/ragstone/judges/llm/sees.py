"""Sees: the texts of an example that a task shows to a model, each in its block."""

from ragstone.data import Example

from .blocks import block, listing, sentences_block, turns_block
from .prompts import Prompts

TEXTS = ("question", "contexts", "answer", "reference")
"""What a rubric may see."""


def has(example: Example, text: str) -> bool:
    """Whether an example has one of ``TEXTS``; contexts with only an id do not count.

    An empty answer counts as an answer; a blank question does not count.
    """
    if text == "contexts":
        return any(context.text is not None for context in example.contexts or ())
    if text == "question":
        return bool((example.question or "").strip())
    if text == "reference":
        return len(example.reference) > 0
    return getattr(example, text) is not None


def shown(example: Example, *texts: str) -> tuple[str, ...]:
    """The blocks of these texts, as far as the example has them, without contexts.

    The question includes the earlier turns of the conversation. ``sentences`` is the answer with
    its sentences numbered, as it is shown to the task of claims, so that the two share a block.
    """
    return tuple(one for text in texts for one in _blocks(example, text))


def _blocks(example: Example, text: str) -> tuple[str, ...]:
    if text == "sentences":
        return () if example.answer is None else (sentences_block("ANSWER", example.answer),)
    if not has(example, text):
        return ()
    if text == "question":
        turns = (turns_block(example.history),) if example.history else ()
        return (*turns, block("QUESTION", example.question or ""))
    if text == "policy":
        return (block("POLICY", example.policy or ""),)
    if text == "answer":
        return (block("ANSWER", example.answer or ""),)
    if text == "reference":
        return (_reference(example.reference),)
    return ()


def _reference(reference: tuple[str, ...]) -> str:
    if len(reference) == 1:
        return block("REFERENCE", reference[0])
    numbered = {f"r{number:02}": text for number, text in enumerate(reference, 1)}
    return listing("REFERENCE, of which any one counts", numbered)


def facts_of(example: Example, *texts: str) -> tuple[object, ...]:
    """The content of these texts, for a fingerprint."""
    facts: list[object] = []
    for text in texts:
        if text == "question":
            facts.append([(turn.role, turn.text) for turn in example.history])
            facts.append(example.question)
        elif text == "contexts":
            facts.append([(one.id, one.text) for one in example.contexts or ()])
        else:
            facts.append(getattr(example, text))
    return tuple(facts)


def instructions_for(prompts: Prompts, task: str) -> str:
    """The instructions of a task, followed by a blank line."""
    return f"{prompts.instructions(task).rstrip()}\n\n"
