"""Contradiction: the same sentence with one thing changed, and all that is not that."""

import pytest

from ragstone.judges.local.contradiction import LOOKED_THROUGH, ContradictingSentence, contradiction
from ragstone.judges.local.evidence import gather
from ragstone.judges.local.passages import Passages
from ragstone.report.words import explain


def found(claim: str, *contexts: str) -> ContradictingSentence | None:
    passages = Passages(contexts)
    seen = gather(claim, passages)
    assert seen is not None
    return contradiction(seen, passages)


def says(claim: str, *contexts: str) -> str | None:
    told = found(claim, *contexts)
    return None if told is None else explain(told.says)


PORT = "The port of Truro opened in 1859 with 40 ships."


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("The port of Truro opened in 1895 with 40 ships.", "the context says 1859"),
        ("The port of Truro opened in 1859 with 50 ships.", "the context says 40"),
        ("The port of Truro opened in 1859 with 1895 ships.", None),
        ("The port of Truro opened in 50 with 40 ships.", None),
        ("The port of Truro opened in 1859.", None),
        ("In 1895 gold was found.", None),
    ],
)
def test_another_number_stands_in_the_same_place_years_for_years(
    claim: str, other: str | None
) -> None:
    assert says(claim, PORT) == other


def test_a_number_between_other_words_is_not_in_the_same_place() -> None:
    text = "The port of Truro had 40 ships. Tin came by road in carts, 12 each week."
    assert says("The port of Truro had 13 ships", text) == "the context says 40"
    assert says("The port of Truro sank 12 ships and 13 whales", text) is None


@pytest.mark.parametrize(
    ("between", "told"), [("", True), ("of the very ", True), ("of the very own ", False)]
)
def test_a_number_is_known_by_a_word_at_most_four_words_behind_it(between: str, told: bool) -> None:
    """Before it the two have different words: sold and bought."""
    claim = f"Old grey miners in Truro sold 13 {between}ships"
    context = f"Old grey miners in Truro bought 12 {between}ships"
    assert says(claim, context) == ("the context says 12" if told else None)


@pytest.mark.parametrize(
    ("between", "told"), [("", True), ("of the very ", True), ("of the very own ", False)]
)
def test_a_number_is_known_by_a_word_at_most_four_words_before_it(between: str, told: bool) -> None:
    """Behind it the two have different words: sold and bought."""
    claim = f"Old grey miners in Truro ships {between}13 sold"
    context = f"Old grey miners in Truro ships {between}12 bought"
    assert says(claim, context) == ("the context says 12" if told else None)


def test_a_number_is_known_by_the_first_word_of_the_text() -> None:
    claim, context = "Truro 13 sold ships there, grey", "Truro 12 bought ships there, grey"
    assert says(claim, context) == "the context says 12"


def test_a_number_is_looked_for_where_most_of_the_words_stand() -> None:
    """Four words beside the number: 3 of them are seven in ten of them, 2 are not."""
    claim = "Grey Truro port ships 50"
    assert says(claim, "Truro port ships 40") == "the context says 40"
    assert says(claim, "Port ships 40") is None


def test_a_number_beside_a_number_is_passed_over() -> None:
    context = "The port of Truro opened on 5 May 1859."
    assert says("The port of Truro opened on 5 May 1895.", context) == "the context says 1859"


def test_the_number_one_is_a_word() -> None:
    assert says("The port of Truro had one ship.", "The port of Truro had 40 ship.") is None


@pytest.mark.parametrize(
    ("claim", "context", "denied"),
    [
        ("Tin ships never left Truro port.", "Tin ships left Truro port.", True),
        ("Tin ships left Truro port.", "Tin ships never left Truro port.", True),
        ("Tin ships never left Truro port.", "Tin ships never left Truro port.", False),
        ("Tin ships left Truro port.", "Tin ships left Truro port, not Bath.", False),
        ("Ships never left Truro.", "Ships left Truro.", False),
        ("Tin ships never left Truro port.", "Tin ships left.", False),
    ],
)
def test_one_side_alone_denies_a_word_that_both_hold(
    claim: str, context: str, denied: bool
) -> None:
    assert says(claim, context) == ("only one of the two denies" if denied else None)


def test_the_fullest_sentence_is_the_one_that_denies() -> None:
    rain = "It did not rain."
    told = found("Tin ships left Truro port.", rain, "Tin ships never left Truro port.")
    assert told is not None
    assert told.sentence == 1


@pytest.mark.parametrize(
    ("claim", "context", "other"),
    [
        ("Tin lay north of Truro.", "Tin lay south of Truro.", "the context says south"),
        ("Tin exports rose there.", "Tin exports fell there.", None),
        ("Tin exports increased.", "Tin exports decreased.", "the context says decreased"),
        ("Tin lay north of Truro.", "Tin lay west of Truro.", None),
        ("Tin lay north of Truro.", "Tin lay south of Truro, lead north of it.", None),
        ("Tin lay north and south of Truro.", "Tin lay south of Truro.", None),
        ("Tin lay north of Truro.", "Gold ships sail south of Bath.", None),
        ("Tin lay north of Truro.", "Ships lay south, with tin.", None),
    ],
)
def test_an_opposite_stands_for_a_word_that_no_context_has(
    claim: str, context: str, other: str | None
) -> None:
    assert says(claim, context) == other


def test_an_opposite_elsewhere_in_the_sentence_is_none() -> None:
    """South stands between other words than north does."""
    context = "Tin lay in Truro, and grey ships with salt and clay sail south."
    assert says("Tin lay in Truro, north.", context) is None


BRIDGE = "The grey bridge over the Tamar was designed by Brunel."


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("The grey bridge over the Tamar was designed by Telford.", "the context says Brunel"),
        ("The grey bridge over the Fal was designed by Brunel.", "the context says Tamar"),
        ("The grey bridge over the Fal was designed by Telford.", None),
        ("The grey bridge over the Tamar was designed by nobody.", None),
        ("The Tamar was designed by Telford.", None),
        ("The grey bridge by Telford over the Tamar was designed by Telford.", None),
    ],
)
def test_another_name_stands_between_the_same_neighbours(claim: str, other: str | None) -> None:
    assert says(claim, BRIDGE) == other


@pytest.mark.parametrize(
    ("claim", "context", "told"),
    [
        ("Old grey bridge by Telford", "Old grey bridge by Brunel", True),
        ("Grey bridge by Telford", "Grey bridge by Brunel", False),
        ("Old grey bridge by Telford", "Old bridge by Brunel", False),
    ],
)
def test_another_name_is_looked_for_in_a_claim_of_four_words_or_more(
    claim: str, context: str, told: bool
) -> None:
    assert says(claim, context) == ("the context says Brunel" if told else None)


def test_another_word_that_is_no_name_is_no_other_name() -> None:
    assert says(BRIDGE.replace("Brunel", "Telford"), BRIDGE.replace("Brunel", "engineers")) is None


def test_a_number_is_told_before_a_denial() -> None:
    claim = "The port of Truro never opened in 1895 with 40 ships."
    assert says(claim, PORT) == "the context says 1859"


def test_nothing_of_the_claim_in_the_contexts_is_no_contradiction() -> None:
    assert says("Gold was never found.", PORT) is None
    assert says("Gold was never found.") is None


@pytest.mark.parametrize(("before", "told"), [(0, True), (99, True), (100, False)])
def test_the_first_hundred_sentences_are_looked_through(before: int, told: bool) -> None:
    assert LOOKED_THROUGH == 100
    same = ["Tin ships sail from Truro port."] * before
    last = "Tin ships sail from Truro port in 1859."
    seen = found("Tin ships sail from Truro port in 1895.", *same, last)
    assert seen == (ContradictingSentence("context_says?word=1859", before) if told else None)


@pytest.mark.parametrize("place", [0, 1, 5])
def test_the_sentence_that_says_otherwise_is_named(place: int) -> None:
    contexts = ["It rained.", "Snow fell.", "Wind blew.", "Dogs barked.", "Cats slept."]
    told = found(PORT.replace("1859", "1895"), *contexts[:place], PORT, *contexts[place:])
    assert told is not None
    assert told.sentence == place
