"""Contradiction: the same sentence with one thing changed, and all that is not that."""

import pytest

from ragstone.judges.local.claims_and_evidence import LOOKED_THROUGH, Passages, gather
from ragstone.judges.local.contradiction import LONGEST_SENTENCE, Contradiction, contradiction
from ragstone.report.reason_words import explain


def found(claim: str, *contexts: str) -> Contradiction | None:
    passages = Passages(contexts)
    seen = gather(claim, passages)
    assert seen is not None
    return contradiction(claim, seen, passages)


def says(claim: str, *contexts: str) -> str | None:
    told = found(claim, *contexts)
    return None if told is None else explain(told[0])


PORT = "The port of Truro opened in 1859 with 40 ships."


@pytest.mark.parametrize(
    ("claim", "other"),
    [
        ("The port of Truro opened in 1895 with 40 ships.", "the context says 1859"),
        ("The port of Truro opened in 1859 with 50 ships.", "the context says 40"),
        ("The port of Truro opened in 1859 with 1895 ships.", "the context says 40"),
        ("The port of Truro opened in 1859 with 50 whales.", None),
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
    ("claim", "context", "other"),
    [
        ("Old grey miners sold 13 ships.", "Old grey miners bought 12 ships.", "12"),
        ("Old grey miners sold 13 fine ships.", "Old grey miners sold 12 ships.", "12"),
        ("Old grey miners sold 13 ships.", "Old grey miners bought 12 fine old ships.", "12"),
        ("Old grey miners sold 13 ships.", "Old grey miners bought 12 loads and ships.", "12"),
        ("Old grey miners sold 13 ships.", "Old grey miners bought 12, and ships.", None),
        ("Old grey ships sold for 13 dollars.", "Old grey ships sold for 12 years.", None),
        ("Old grey ships sold for 13 dollars.", "Old grey ships sold for $ 12.", "$ 12"),
        ("Old grey ships sold for 13 dollars.", "Old grey ships sold for £ 12.", None),
        ("Old grey ships lost 13 percent.", "Old grey ships lost 12 %.", "12 %"),
        ("Old grey ships lost 13 percent.", "Old grey ships lost 12 men.", None),
        ("Old grey ships took the 13th pier.", "Old grey ships took the 12th pier.", "12th"),
        ("Old grey ships took the 13th pier.", "Old grey ships took 12 of each pier.", None),
        ("Old grey ships are in book 13.", "Old grey ships are in book 12.", "12"),
        ("Old grey ships are in book 13.", "Old grey ships are in 12 book.", None),
    ],
)
def test_another_number_counts_the_same(claim: str, context: str, other: str | None) -> None:
    assert says(claim, context) == (None if other is None else f"the context says {other}")


@pytest.mark.parametrize(
    ("claim", "context", "other"),
    [
        ("Truro sold over 40 ships.", "Truro sold 52 ships.", None),
        ("Truro sold over 40 ships.", "Truro sold 30 ships.", "30"),
        ("Truro sold under 40 ships.", "Truro sold 30 ships.", None),
        ("Truro sold 52 ships.", "Truro sold at least 40 ships.", None),
        ("Truro sold 32 ships.", "Truro sold 40 or more ships.", "40"),
        ("Truro sold over 60 ships.", "Truro sold over 40 ships.", "40"),
        ("Truro sold about 40 ships.", "Truro sold 43 ships.", None),
        ("Truro sold about 40 ships.", "Truro sold 53 ships.", "53"),
        ("Truro sold 2.45 tons.", "Truro sold 2.4 tons.", None),
        ("Truro sold 2.45 tons.", "Truro sold 2.6 tons.", "2.6 tons"),
    ],
)
def test_a_number_that_can_be_true_as_well_is_none(
    claim: str, context: str, other: str | None
) -> None:
    assert says(claim, context) == (None if other is None else f"the context says {other}")


@pytest.mark.parametrize(
    ("claim", "context", "other"),
    [
        ("The port opened on 5 May 1895.", "The port opened on 5 May 1859.", "1859"),
        ("The port opened on 6 May 1859.", "The port opened on 5 May 1859.", "5"),
        ("The port opened on June 6, 1859.", "The port opened on 5 May 1859.", "May 5"),
        ("The port opened in June 1859.", "The port opened on May 5, 1859.", "May"),
        ("The port opened in May 1859.", "The port opened in 1859.", None),
        ("The port opened in 1895.", "In May 1859, the port opened.", "1859"),
        ("The port opened in 1895.", "The port burned in 1859, then opened.", None),
        ("The port opened in 1895.", "The port opened and burned in 1859.", None),
        ("The port opened in 1895.", "As of 1859, the port has opened.", None),
        ("The port opened in 1895.", "The port opened with 1859 ships.", None),
        ("The port opened in June 1859.", "In May of 1859 the port opened again.", "May"),
    ],
)
def test_dates_are_compared_part_by_part_beside_the_same_word(
    claim: str, context: str, other: str | None
) -> None:
    assert says(claim, context) == (None if other is None else f"the context says {other}")


@pytest.mark.parametrize(
    ("claim", "context"),
    [
        ("In 1922 Truro sold 13 ships.", "In 1923 Truro sold 12 ships."),
        ("The port of Bath sold 13 ships.", "The port of Truro sold 12 ships."),
        ("Old grey miners in Truro sold 13 ships.", "Miners in Truro bought 12 ships."),
        ("Truro sold 13 ships.", "Has Truro sold 12 ships?"),
        ("Truro 13.", "Truro 12."),
    ],
)
def test_a_number_of_another_subject_is_no_other_number(claim: str, context: str) -> None:
    assert says(claim, context) is None


def test_the_subject_of_a_pronoun_is_in_the_sentence_before() -> None:
    port = "The port of Truro is old."
    assert says("The port of Truro opened in 1895.", port, "It opened in 1859.") is not None
    assert says("The port of Truro opened in 1895.", port, "Bath opened in 1859.") is None


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("Old grey ships for 13 miners", False),
        ("Old grey ships for 13 miners.", True),
        ("Old grey ships are for 13 miners", True),
        ("Old grey ships landed for 13 miners", True),
    ],
)
def test_a_heading_says_nothing(claim: str, told: bool) -> None:
    context = "Old grey ships are landed for 12 miners."
    assert (says(claim, context) is not None) is told


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("Truro has 13 ships: one from Bath and 4 from Looe.", True),
        ("Truro has 13 ships (4 of them from Looe).", True),
        ("Truro has 13 ships, 4 of them from Looe.", False),
        ("Ships of Truro: 13 ships, 4 of them from Looe.", False),
    ],
)
def test_what_a_colon_or_brackets_explain_need_not_be_said_too(claim: str, told: bool) -> None:
    assert (says(claim, "Truro has 12 ships.") is not None) is told


@pytest.mark.parametrize(
    "context",
    [
        "If it rains, Truro sold 12 ships.",
        "When it rains, Truro sold 12 ships.",
        "Truro sold 8-12 ships.",
        "Truro sold 8 to 12 ships.",
    ],
)
def test_a_case_and_a_range_say_no_other_number(context: str) -> None:
    assert says("Truro sold 13 ships.", context) is None


def test_the_last_word_of_each_name_is_said_too() -> None:
    context = "In Truro, Humphry Davy of Penzance sold 12 old ships."
    assert says("In Truro, Sir Humphry Davy sold 13 old ships.", context) is not None
    assert says("In Truro, Humphry Trevithick sold 13 old ships.", context) is None


def test_an_abbreviation_is_no_other_name() -> None:
    context = "The old airport was built in Illinois by miners."
    assert says("The old airport was built in Kansas by miners.", context) is not None
    assert says("The old airport was built in USA by miners.", context) is None


def test_a_date_since_when_is_none_of_when() -> None:
    assert says("The port is open since 1895.", "The port is open since 1859.") is not None
    assert says("The port is open since 1895.", "The port was open in 1959.") is None


def test_sentences_that_differ_among_themselves_are_a_list() -> None:
    claim = "The library of Truro county has 13 rooms."
    one, other = claim.replace("13", "12"), claim.replace("13", "11")
    assert says(claim, one) == says(claim, one, one) == "the context says 12"
    assert says(claim, one, other) is None


@pytest.mark.parametrize(("more", "told"), [(0, True), (1, False)])
def test_a_page_without_full_stops_is_no_sentence(more: int, told: bool) -> None:
    context = "Old Truro has 12 ships"
    context += " " + "x" * (LONGEST_SENTENCE - len(context) - 1 + more)
    assert (says("Old Truro has 13 ships", context) is not None) is told
    assert (says(context.replace("12", "13"), "Old Truro has 12 ships") is not None) is told


def test_a_number_is_looked_for_where_most_of_the_words_stand() -> None:
    """Four words beside the number: 3 of them are three in four, 2 are not."""
    claim = "Grey Truro port ships 50."
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
        ("Ships never left Truro.", "Ships left Truro.", True),
        ("Ships have not left Truro.", "Tin has left Truro by ships.", False),
        ("Ships did not leave Truro.", "Ships may leave Truro if it rains.", False),
        ("Ships did not leave Truro if it rained.", "Ships did leave Truro.", False),
        ("Ships leave Truro.", "If ships do not leave Truro, tin stays.", False),
        ("Some ships leave Truro.", "Ships do not leave Truro.", False),
        ("Ships not only left Truro.", "Ships left Truro.", False),
        ("The tin (which is not grey) left Truro.", "The tin left Truro.", False),
        ('The tin of "Never Grey" left Truro.', "The tin left Truro.", False),
        ("There is no ship in Truro.", "The ship in Truro is grey.", True),
        ("There is no ship in Truro port.", "The ship in Truro is grey.", False),
        ("It never left Truro port.", "The tin has left Truro port.", True),
        ("The grey tin did not leave Truro port.", "The tin did leave Truro port, grey.", True),
        ("Old tin ships did not leave Truro port.", "Tin ships did leave Truro port.", False),
        ("Tin that did not burn left Truro port.", "Tin did burn, and left Truro port.", False),
        ("Truro port never left.", "Left of it lies Truro port.", False),
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
    assert told[1] == 1


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


def test_an_opposite_has_the_same_words_on_both_sides() -> None:
    context = "Tin lay grey south of Truro."
    assert says("Tin lay grey north of Truro.", context) == "the context says south"
    assert says("Tin lay north of Truro grey.", context) is None


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
        ("Old grey bridge by Telford.", "Old grey bridge by Brunel", True),
        ("Grey bridge by Telford.", "Grey bridge by Brunel", False),
        ("Old grey bridge by Telford.", "Old bridge by Brunel", False),
    ],
)
def test_another_name_is_looked_for_in_a_claim_of_four_words_or_more(
    claim: str, context: str, told: bool
) -> None:
    assert says(claim, context) == ("the context says Brunel" if told else None)


@pytest.mark.parametrize(
    ("claim", "context"),
    [
        ("Old grey bridge by Bob.", "Old grey bridge by Bobbie"),
        ("Old grey bridge by Montezuma.", "Old grey bridge by Moctezuma"),
        ("Old grey bridges include Telford.", "Old grey bridges include Brunel"),
        ("Old grey bridge by Telford.", "Old grey bridge by Brunel1"),
        ("Old grey bridge by Telford.", "Old grey bridge by Brunel, a brunel bridge by name"),
        ("Old grey bridge in Telford.", "Old grey bridge in July"),
        ("Royal Albert Bridge, Telford.", "Royal Albert Bridge, Brunel"),
    ],
)
def test_another_form_of_a_name_and_one_of_several_are_no_other_name(
    claim: str, context: str
) -> None:
    assert says(claim, context) is None


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
    assert seen == (("context_says?word=1859", before) if told else None)


@pytest.mark.parametrize("place", [0, 1, 5])
def test_the_sentence_that_says_otherwise_is_named(place: int) -> None:
    contexts = ["It rained.", "Snow fell.", "Wind blew.", "Dogs barked.", "Cats slept."]
    told = found(PORT.replace("1859", "1895"), *contexts[:place], PORT, *contexts[place:])
    assert told is not None
    assert told[1] == place
