"""Names, numbers and dates of a reference by hand, and which of them contexts hold."""

from collections.abc import Sequence

import pytest

from ragstone.data import Context, Example
from ragstone.judges.local.text_terms import tokens
from ragstone.judges.rules import RulesJudge
from ragstone.judges.text_counts import entities, holds
from ragstone.metrics import parse_metric, score
from ragstone.run.judging.judge_blocks import judge_block


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Eiffel Tower is located in Paris.", ["The Eiffel Tower", "Paris"]),
        ("Charlotte Cooper", ["Charlotte Cooper"]),
        ("Paris", ["Paris"]),
        ("Lighthouses are tall.", []),
        ("Tin was mined there, and copper.", []),
        ("It opened on 19 April 1859.", ["19 April 1859"]),
        ("It cost £1,200,000 in 1859.", ["1,200,000", "1859"]),
        ("Twenty-one men came in March.", ["Twenty-one", "March"]),
        ("No one knows.", []),
        ("", []),
    ],
)
def test_entities_are_names_numbers_and_dates(text: str, expected: list[str]) -> None:
    assert [*entities(text).values()] == expected


def test_an_entity_counts_once() -> None:
    assert len(entities("In Agra, and in Agra again, 1631 and 1631.")) == 2


@pytest.mark.parametrize(
    ("passage", "wanted", "expected"),
    [
        ("Built by SHAH JAHAN.", "Shah Jahan", True),
        ("Jahan came after another shah.", "Shah Jahan", False),
        ("On April 19th, 1859.", "19 April 1859", True),
        ("In April 1860; 19 died in 1859.", "19 April 1859", False),
        ("It cost 1200000 pounds.", "1,200,000", True),
        ("It cost 12 pounds.", "1,200,000", False),
        ("", "Paris", False),
    ],
)
def test_a_passage_holds_an_entity_in_full_and_close_together(
    passage: str, wanted: str, expected: bool
) -> None:
    assert holds(tokens(passage), tuple(tokens(wanted))) is expected


TAJ = (
    "The Taj Mahal is an ivory-white marble mausoleum on the right bank of the river Yamuna in the "
    "Indian city of Agra. It was commissioned in 1631 by the Mughal emperor Shah Jahan to house "
    "the tomb of his favorite wife, Mumtaz Mahal."
)
MUCH = (
    "The Taj Mahal is a symbol of love and architectural marvel located in Agra, India. It was "
    "built by the Mughal emperor Shah Jahan in memory of his beloved wife, Mumtaz Mahal."
)
LITTLE = "The Taj Mahal is an iconic monument in India, known for its white marble."
"""The example in the documentation of Ragas, whose LLM names six entities of the reference: the
eight here without Indian and Mughal."""


def recall(reference: tuple[str, ...], contexts: Sequence[str | None] | None) -> float | str:
    given = Example(
        "1",
        "1",
        "",
        reference=reference,
        contexts=None
        if contexts is None
        else tuple(Context(str(rank), text, rank) for rank, text in enumerate(contexts, 1)),
    )
    tables = judge_block([given], [RulesJudge()], ["entities/rule"]).tables
    (frame,) = score(tables, [parse_metric("context_entity_recall")]).values()
    value, reason = frame.select("value", "reason").row(0)
    return str(reason) if value is None else float(value)


def test_the_share_of_the_references_entities_in_the_contexts() -> None:
    # Taj Mahal, Agra, Mughal, Shah Jahan, Mumtaz Mahal; not Yamuna, Indian, 1631.
    assert recall((TAJ,), [MUCH]) == pytest.approx(5 / 8)
    assert recall((TAJ,), [LITTLE]) == pytest.approx(1 / 8)
    assert recall((TAJ,), [LITTLE, MUCH, "The Yamuna in 1631."]) == pytest.approx(7 / 8)


def test_the_best_of_several_references_counts_and_nothing_retrieved_is_0() -> None:
    assert recall((TAJ, "Agra"), [MUCH]) == 1
    assert recall((TAJ,), []) == 0


def test_a_context_without_its_text_may_hold_what_the_others_do_not() -> None:
    assert recall(("In Agra.",), [MUCH, None]) == 1
    assert recall(("In Paris.",), [MUCH, None]) == "incomplete_judgement"


def test_without_entities_reference_or_retrieval_there_is_no_recall() -> None:
    assert recall(("It is tall.",), [MUCH]) == "no_entities"
    assert recall((), [MUCH]) == "no_reference"
    assert recall((TAJ,), None) == "no_retrieval"
