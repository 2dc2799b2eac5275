"""Agreement: what is counted of a statement, and what is made of it, by pencil."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.aligner import Likeness
from ragstone.judges.local.answer_agreement import (
    StatementMatch,
    Wording,
    claim_agreement,
    is_open,
    is_settled,
    repaired,
    statement_agreement,
    wording,
)
from ragstone.judges.local.claim_support import curve


def counted(statement: str, answer: str, question: str | None = None) -> Wording:
    seen = wording(statement, answer, question)
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    ("statement", "question", "wanted"),
    [
        ("tin and lead", None, ("tin", "lead")),
        ("tin and lead", "Was tin found?", ("lead",)),
        ("tin and lead", "Tin, or lead?", ("tin", "lead")),
        ("tin lead tin", None, ("tin", "lead")),
        ("J R Davy", None, ("davi",)),
        ("5 R Davy", None, ("5", "davi")),
        ("X", None, ("x",)),
        ("Truro (in Cornwall)", None, ("truro",)),
        ("(Truro)", None, ("truro",)),
        ("锡矿", "锡矿", ("锡矿",)),
    ],
)
def test_wanted_are_the_words_that_the_question_does_not_give(
    statement: str, question: str | None, wanted: tuple[str, ...]
) -> None:
    assert counted(statement, "", question).stems == wanted


@pytest.mark.parametrize(
    ("statement", "answer", "lost"),
    [
        ("tin lead zinc", "Zinc and tin.", ("lead",)),
        ("tin lead", "", ("tin", "lead")),
        ("Tennyson", "Tennison", ()),
        ("colour", "color", ()),
        ("Smith", "Smyth", ("smith",)),
        ("Bath", "Bat", ("bath",)),
        ("1859", "1858", ("1859",)),
        ("railway man", "rail way man", ()),
        ("rail way", "railway", ()),
        ("air bus", "airbus", ()),
        ("air ox", "airox", ("air", "ox")),
        ("red sea 5", "redsea5", ("red", "sea", "5")),
        ("geologist", "geoloxist", ()),
        ("geologist", "geoloxisk", ("geologist",)),
        ("calculator", "calxulatxr", ()),
        ("astrologist", "astroloxisk", ()),
        ("astrologist", "axtroloxixt", ("astrologist",)),
        ("geologists", "geoloxists", ()),
        ("Poland", "Polander", ()),
        ("Polander", "Poland", ()),
        ("Malta", "Maltese", ("malta",)),
        ("Poland", "Polexxder", ("poland",)),
        ("constantinople", "constantinopolitan", ("constantinopl",)),
    ],
)
def test_lost_are_those_that_the_answer_does_not_say_in_any_spelling(
    statement: str, answer: str, lost: tuple[str, ...]
) -> None:
    assert counted(statement, answer).lost == lost


@pytest.mark.parametrize(("letters", "found"), [(5, True), (64, True), (65, False)])
def test_words_of_five_to_sixty_four_letters_may_be_spelled_a_little_differently(
    letters: int, found: bool
) -> None:
    one, other = ("x" * (letters - 2) + end for end in ("kd", "od"))
    assert (counted(one, other).lost == ()) is found


@pytest.mark.parametrize(("before", "found"), [(99, True), (100, False)])
def test_a_spelling_is_looked_for_among_the_first_hundred_words_of_its_opening(
    before: int, found: bool
) -> None:
    others = " ".join(f"ten{number:03}" for number in range(before))
    assert (counted("Tennyson", f"{others} Tennison").lost == ()) is found


@pytest.mark.parametrize(
    ("wanted", "answer", "same"),
    [
        ("2.45 tons", "2.4 tons", True),
        ("2.45 tons", "2.5 tons", True),
        ("2.45 tons", "2 tons", False),
        ("2.4 tons", "2.45 tons", True),
        ("2.45 tons", "3d tons", False),
        ("2.45 tons", "2.3 tons", False),
        ("2.45 tons", "2.6 tons", False),
        ("2.45 tons", "2.44 tons", False),
        ("1,234,567 tons", "1,230,000 tons", True),
        ("1,234,567 tons", "1.2 million tons", True),
        ("1,234,567 tons", "1,235,000 tons", True),
        ("1,234,567 tons", "1,240,000 tons", False),
        ("1,234,567 tons", "1 million tons", False),
        ("1859 tons", "1860 tons", False),
        ("99,950 tons", "99,900 tons", False),
        ("100,950 tons", "101,000 tons", True),
        ("1.2.3 tons", "1.2 tons", False),
        ("2.45 tons", "2.4.5 tons", False),
    ],
)
def test_only_decimals_and_large_numbers_may_be_given_less_finely(
    wanted: str, answer: str, same: bool
) -> None:
    assert (counted(wanted, answer).lost == ()) is same


@pytest.mark.parametrize(("characters", "same"), [(64, True), (65, False)])
def test_a_number_of_more_than_64_characters_is_given_as_it_is(characters: int, same: bool) -> None:
    long = "1.2" + "3" * (characters - 3)
    assert (counted("1.2 tons", f"{long} tons").lost == ()) is same


@pytest.mark.parametrize("digits", [308, 309, 5_000])
def test_a_number_without_an_end_is_another_number(digits: int) -> None:
    endless = "9" * digits
    assert counted("1.2345 tons", f"{endless} tons").lost == ("1.2345",)
    assert counted(f"{endless} tons", "1.2345 tons").lost == (endless,)
    assert claim_agreement(f"Grey ships took {endless} tons", "1.2345 tons")[0] == "extra"


def test_words_too_short_to_be_misspelt_take_no_place_among_the_hundred() -> None:
    letters = [chr(at) for first, last in ((0x3B1, 0x3C9), (0x430, 0x44F), (0x561, 0x586),
               (0x5D0, 0x5EA)) for at in range(first, last)]  # fmt: skip
    short = [f"ten{letter}" for letter in letters]
    assert len(short) > 100
    assert counted("Tennyson", f"{' '.join(short)} Tennison").lost == ()


@pytest.mark.parametrize(
    ("date", "answer", "lost"),
    [
        ("2 May 1859", "May 1859", ()),
        ("2 May 1859", "3 May 1859", ("2",)),
        ("31 May 1859", "May 1859", ()),
        ("32 May 1859", "May 1859", ("32",)),
        ("031 May 1859", "May 1859", ("031",)),
        ("2 May", "May", ("2",)),
        ("2 May 3859", "May 3859", ("2",)),
        ("2 May 1859", "May 1859, 40 ships", ()),
    ],
)
def test_the_day_of_a_year_may_be_left_out_where_no_other_day_is_named(
    date: str, answer: str, lost: tuple[str, ...]
) -> None:
    assert counted(date, answer).lost == lost


def test_said_counts_the_content_words_of_the_answer() -> None:
    assert counted("tin", "The tin of Geevor sank, the tin of Bath.").answer_words == 5


@pytest.mark.parametrize(
    ("answer", "question", "share"),
    [
        ("Tin, zinc.", None, 1 / 2),
        ("Tin, zinc.", "Was it zinc?", 1),
        ("Zinc.", None, 0),
        ("", None, 0),
        ("Tin, lead, zinc, gold.", "Was there gold?", 2 / 3),
    ],
)
def test_inside_is_the_share_of_the_answer_that_the_statement_has_too(
    answer: str, question: str | None, share: float
) -> None:
    assert counted("tin lead", answer, question).inside == pytest.approx(share)


@pytest.mark.parametrize(
    ("statement", "answer", "found"),
    [
        ("Tin Lead", "It is tin lead.", True),
        ("Tin Lead", "It is lead tin.", False),
        ("tin", "Tintagel", False),
        ("adenosine phosphate (ADP)", "It is ADP.", True),
        ("adenosine phosphate (adp)", "It is ADP.", False),
        ("adenosine phosphate (ADP)", "It is ATP.", False),
        ("the lead", "lead", False),
    ],
)
def test_verbatim_is_word_for_word_or_by_the_abbreviation(
    statement: str, answer: str, found: bool
) -> None:
    assert counted(statement, answer).verbatim is found


@pytest.mark.parametrize(
    ("statement", "answer", "enough"),
    [
        ("tin lead", "tin", True),
        ("tin lead zinc", "tin", False),
        ("tin 1859", "tin", False),
        ("tin 1859", "1859", True),
        ("tin lead zinc gold iron salt", "tin lead zinc", True),
        ("tin lead zinc gold iron salt clay", "tin lead zinc gold", False),
        ("tin lead zinc gold iron salt clay", "tin lead zinc gold iron", True),
        ("tin lead zinc gold iron salt clay slate coal", "tin lead zinc gold iron salt", True),
    ],
)
def test_enough_is_half_the_words_of_a_long_statement_two_thirds_and_all_numbers(
    statement: str, answer: str, enough: bool
) -> None:
    assert counted(statement, answer).enough is enough


@pytest.mark.parametrize(
    ("answer", "question", "clash"),
    [
        ("tin lead 1895", None, True),
        ("tin 1895", None, True),
        ("1895", None, False),
        ("tin lead", None, False),
        ("tin lead 1859", None, False),
        ("tin lead 1895", "What was found in 1895?", False),
    ],
)
def test_a_number_clashes_where_the_words_agree_and_another_number_is_named(
    answer: str, question: str | None, clash: bool
) -> None:
    assert counted("tin lead 1859", answer, question).number_clash is clash


@pytest.mark.parametrize(
    ("statement", "answer", "lost", "other"),
    [
        ("Humphry Davy", "It was Humphry Trevithick.", True, True),
        ("Humphry Davy", "It was Humphry.", True, False),
        ("Humphry Davy", "It was Humphry Davy.", False, False),
        ("Humphry Davy", "It was Humphry Davy Trevithick.", False, False),
        ("Humphry Davy", "It was Richard Trevithick.", True, False),
        ("grey tin", "It was Grey Lead.", False, False),
    ],
)
def test_another_name_stands_beside_the_half_that_is_said(
    statement: str, answer: str, lost: bool, other: bool
) -> None:
    seen = counted(statement, answer)
    assert (seen.lost_name, seen.other_name) == (lost, other)


def test_a_name_that_the_question_gives_is_no_other_name() -> None:
    asked = "Who was with Trevithick?"
    assert not counted("Humphry Davy", "Humphry Trevithick", asked).other_name


def test_a_half_that_the_question_gives_is_not_said_by_the_answer() -> None:
    asked = "Who was Humphry?"
    assert not counted("Humphry Davy", "Humphry Trevithick", asked).other_name
    assert counted("Humphry Davy", "Humphry Trevithick", "Who was it?").other_name


@pytest.mark.parametrize(
    ("answer", "some"), [("tin", True), ("", False), ("gold", False), ("tin lead", True)]
)
def test_some_of_it_is_a_third_of_the_words(answer: str, some: bool) -> None:
    assert counted("tin lead zinc", answer).some is some


def test_one_of_two_words_is_a_part() -> None:
    assert counted("tin lead", "tin").some
    assert statement_agreement("tin 1859", "tin and zinc and iron").verdict == "partial"


def test_a_single_word_is_never_said_in_part() -> None:
    assert not counted("tin", "tin").some


@pytest.mark.parametrize("question", [None, "Which metal?"])
def test_a_statement_without_a_content_word_has_no_wording(question: str | None) -> None:
    assert wording("the other", "the other", question) is None


def test_features_are_the_counts_and_logarithms_of_sizes() -> None:
    features = counted("tin lead 1859", "Tin, in 1895, of Geevor").features()
    assert features["share"] == pytest.approx(1 / 3)
    assert features["wanted"] == pytest.approx(math.log(4))
    assert features["said"] == pytest.approx(math.log(4))
    assert features["inside"] == pytest.approx(1 / 3)
    flags = {name: value for name, value in features.items() if value in (0, 1)}
    assert flags == {
        "enough": 0, "lost_number": 1, "number_clash": 1, "verbatim": 0, "lost_name": 0,
        "other_name": 0,
    }  # fmt: skip


LIKE = Likeness(aligned=0.9, weakest=0.5, returned=0.4, whole=0.6)


@pytest.mark.parametrize(("way", "like"), [("strings", None), ("encoder", LIKE)])
def test_a_short_statement_gets_the_probability_of_the_curve(
    way: str, like: Likeness | None
) -> None:
    fitted = curve(f"agreement/{way}")
    features = counted("Humphry Davy", "It was Davy.").features()
    features |= {"aligned": 0.9, "weakest": 0.5, "returned": 0.4, "whole": 0.6} if like else {}
    score = fitted[0] + sum(fitted[1][name] * features[name] for name in fitted[1])
    seen = statement_agreement("Humphry Davy", "It was Davy.", None, like)
    assert seen.probability == pytest.approx(1 / (1 + math.exp(-score)))
    assert ("aligned=0.90" in seen.reason) is (like is not None)


NINE = "The tin, lead, zinc, gold, iron, salt, clay, slate and coal of Cornwall were there in 1859."
"""Eleven words wanted: nine kinds of ground, Cornwall and the year."""


@pytest.mark.parametrize(
    ("answer", "probability"),
    [
        ("Tin, lead, zinc, gold, iron, salt, clay, slate, coal, Cornwall, 1859", 0.75),
        ("Tin, lead, zinc, gold, iron, salt, clay, 1859", 0.75 * 8 / 11),
        ("Tin, lead, zinc, gold, iron, salt, 1859", 0.75 * 7 / 11),
        ("Tin", 0.75 / 11),
        ("Gravel", 0),
    ],
)
def test_a_sentence_is_one_half_probable_at_two_thirds_of_its_words(
    answer: str, probability: float
) -> None:
    seen = statement_agreement(NINE, answer)
    assert seen.probability == pytest.approx(probability)
    assert (seen.verdict == "full") is (probability >= 0.5)


def test_a_sentence_without_its_number_is_less_than_one_half_probable() -> None:
    answer = "Tin, lead, zinc, gold, iron, salt, clay, slate, coal and Cornwall"
    assert 0.49 < statement_agreement(NINE, answer).probability < 0.5
    other = statement_agreement(NINE, f"{answer} in 1895")
    assert (other.verdict, other.probability < 0.5) == ("contradicted", True)


@pytest.mark.parametrize(("characters", "by_curve"), [(60, True), (61, False)])
def test_a_statement_of_up_to_sixty_characters_is_weighed_by_the_curve(
    characters: int, by_curve: bool
) -> None:
    """A sentence of which nothing is said is not probable at all, which no curve says."""
    statement = "Tin and lead and ".ljust(characters, "x")
    assert len(statement) == characters
    assert (statement_agreement(statement, "Gravel").probability > 0) is by_curve


def test_vectors_do_not_count_for_a_sentence() -> None:
    likely = Likeness(1, 1, 1, 1)
    assert statement_agreement(NINE, "Tin", None, likely).probability == pytest.approx(0.75 / 11)


@pytest.mark.parametrize(
    ("probability", "left_open"),
    [(0.34, False), (0.35, False), (0.36, True), (0.64, True), (0.65, False), (0.66, False)],
)
def test_strings_leave_it_open_between_35_and_65_in_a_hundred(
    probability: float, left_open: bool
) -> None:
    seen = StatementMatch("partial", probability, "")
    assert is_open("x" * 60, seen) is left_open
    assert not is_open("x" * 61, seen)
    assert is_settled([seen]) is (probability >= 0.65)


def test_one_open_statement_leaves_the_reference_unsettled() -> None:
    sure, unsure = (StatementMatch("full", p, "") for p in (0.9, 0.6))
    assert is_settled([sure, sure])
    assert not is_settled([sure, unsure])


@pytest.mark.parametrize(
    ("statement", "answer", "verdict", "probability"),
    [
        ("yes", "Yes, twice.", "full", 1),
        ("yes", "No.", "contradicted", 0),
        ("No", "It is so, no doubt.", "missing", 0),
        ("no", "", "missing", 0),
        ("The Who", "I saw the Who.", "full", 1),
        ("The Who", "Who is the one?", "missing", 0),
        ("?", "?", "missing", 0),
    ],
)
def test_a_statement_of_small_words_is_looked_for_word_for_word(
    statement: str, answer: str, verdict: str, probability: float
) -> None:
    seen = statement_agreement(statement, answer)
    assert (seen.verdict, seen.probability) == (verdict, probability)


@pytest.mark.parametrize(
    ("claim", "reference", "verdict"),
    [
        ("Tin and lead lay in 3 ports.", "Tin and lead lay in 4 ports near Bath.", "contradicts"),
        ("Tin and lead lay in 3 ports.", "Tin and lead lay in 3 ports near Bath.", "matches"),
        ("Tin and lead lay in ports.", "Tin and lead lay in 4 ports near Bath.", "matches"),
        ("Tin and lead lay in ports.", "Tin and lead lay in 4 ports.", "extra"),
        ("Gold and salt lay in 3 towns.", "Tin and lead lay in 4 ports near Bath.", "extra"),
        ("Tin in 3 ports.", "Tin in 4 ports.", "extra"),
        ("Tin and lead in 2.4 ports.", "Tin and lead lay in 2.45 ports near Bath.", "matches"),
        ("It was Davy.", "Humphry Davy", "matches"),
        ("It was Trevithick.", "Humphry Davy", "extra"),
        ("Davy sold coal, iron and salt.", "Humphry Davy, Penzance, Cornwall", "extra"),
        (
            "Davy of Cornwall sold coal, iron and salt.",
            "Humphry Davy, Penzance, Cornwall",
            "matches",
        ),
        ("Well, it is so.", "Humphry Davy", "extra"),
    ],
)
def test_a_claim_contradicts_by_its_numbers_alone(claim: str, reference: str, verdict: str) -> None:
    assert claim_agreement(claim, reference)[0] == verdict


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("CafÃ© in 10â€“12", "Café in 10–12"),
        ("Café", "Café"),
        ("Â", "Â"),
        ("plain", "plain"),
        ("Ã© 锡", "Ã© 锡"),
        ("Ã© é", "Ã© é"),
    ],
)
def test_only_text_that_was_read_wrongly_as_a_whole_is_repaired(text: str, plain: str) -> None:
    assert repaired(text) == plain


@given(st.text(alphabet="abéüñ–’ ", min_size=1))
def test_text_read_once_as_another_code_page_comes_back(text: str) -> None:
    garbled = text.encode("utf-8").decode("cp1252", "replace")
    if "\ufffd" not in garbled:
        assert repaired(garbled) == text


METALS = st.lists(st.sampled_from(["tin", "Lead", "zinc", "1859", "12", "the", "Bath"]), max_size=6)


@given(METALS, METALS)
def test_what_is_lost_was_wanted_and_shares_stay_in_range(one: list[str], other: list[str]) -> None:
    seen = wording(" ".join(one), " ".join(other))
    if seen is None:
        return
    assert set(seen.lost) <= set(seen.stems)
    assert 0 <= seen.share <= 1
    assert 0 <= seen.inside <= 1
    assert not (seen.lost_name and not seen.lost)
    assert not (seen.other_name and not seen.lost_name)


@given(METALS, METALS, METALS)
def test_a_longer_answer_loses_no_word_of_the_statement(
    one: list[str], other: list[str], more: list[str]
) -> None:
    words, said = " ".join(one), " ".join(other)
    if any(len(word) == 4 and word.isdigit() for word in one):
        return
    short, long = wording(words, said), wording(words, " ".join([said, *more]))
    if short is not None and long is not None:
        assert set(long.lost) <= set(short.lost)
