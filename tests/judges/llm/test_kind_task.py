"""The task of a kind without code of its own, where it is about propositions."""

from dataclasses import replace

from ragstone.data import Example
from ragstone.judgements import Importance, Quality
from ragstone.judges.judge import Proposition
from ragstone.judges.llm.kind_task import KindTask
from ragstone.judges.llm.prompts import load_prompts
from ragstone.judges.llm.task import Target

TASK = KindTask(Importance)
STATED = [Proposition("who", 0, 0, "Tin was mined.")]
TARGET = Target(
    Example("1", "q", "s", question="What was mined?", reference=("Tin.",)),
    {"statement": STATED, "claim": [Proposition("who", 0, 0, "Lead was mined.")]},
)


def test_propositions_are_asked_about_once_by_their_texts_in_alphabetical_order() -> None:
    stated = [Proposition("who", 0, index, text) for index, text in enumerate("ZEXADYBCEZ")]
    target = Target(TARGET.example, {"statement": stated})
    (piece,) = TASK.pieces(target, load_prompts(), 5_000)
    assert piece.texts == {f"p{place:02d}": text for place, text in enumerate("ABCDEXYZ", 1)}


def test_the_last_lines_name_details_only_where_a_kind_has_none() -> None:
    (piece,) = TASK.pieces(TARGET, load_prompts(), 5_000)
    assert piece.details == ("none", "-")
    answered = Target(replace(TARGET.example, answer="Tin."))
    (piece,) = KindTask(Quality).pieces(answered, load_prompts(), 5_000)
    assert piece.details == ()


def test_the_propositions_of_the_asks_are_among_the_facts_and_no_others() -> None:
    *_, about = TASK.facts(TARGET)
    assert about == ("statement", STATED)
