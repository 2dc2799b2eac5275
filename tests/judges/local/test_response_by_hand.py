"""Response: patterns, openings and turns, beside those that only look like them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local.response_type import (
    PHRASES_8,
    PHRASES_12,
    abstains_by_phrases,
    response_type,
    says_unable,
    told_from,
)
from ragstone.report.reason_words import explain

TOLD = "The bridge was opened in 1859 by Prince Albert."


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot find it.",
        "We could not determine the year.",
        "I’m unable to answer that.",
        "I am not aware of any such mine.",
        "I have no information on this.",
        "I lack the details.",
        "The documents never mention a bridge.",
        "The provided passages do not explicitly state who built it.",
        "There is no information about the owner.",
        "The year is not mentioned in the text.",
        "This cannot be determined.",
        "It is impossible to tell.",
        "It's unclear.",
        "It remains unknown who built it.",
        "Unfortunately, the book has no details.",
        "Don't know.",
        "Insufficient information",
        "no answer found",
        "“Unknown”",
        "N/A.",
        "Not sure who.",
        "I'm not entirely sure.",
        "Ik weet het niet.",
        "Bilmiyorum.",
    ],
)
def test_an_answer_that_only_says_what_it_cannot_abstains(answer: str) -> None:
    assert response_type(answer)[0] == "abstain"
    assert response_type(answer.upper())[0] == "abstain"


@pytest.mark.parametrize(
    "answer",
    [
        "There isn't enough context to tell.",
        "There aren’t any details about the owner.",
        "The year isn't mentioned in the text.",
        "The owner wasn't specified in the passages.",
    ],
)
def test_a_verb_with_its_not_written_short_says_what_the_long_one_says(answer: str) -> None:
    long = answer.replace("’", "'").replace("n't", " not")
    assert response_type(answer)[0] == response_type(long)[0] == "abstain"


@pytest.mark.parametrize(
    "answer",
    [
        "None of the ships returned.",
        "Unknown Pleasures is an album.",
        "It is known that no mine closed.",
        "There is no bridge in the town.",
        "The documents mention a bridge.",
        "He could not find his hat.",
        "It was impossible to cross the river.",
        "Not Brunel but Telford built it.",
        "The policy was against our king.",
        "He said that he knew nothing.",
        "The bridge wasn't named in his honour.",
        "It isn't any mine of theirs.",
        'She wrote "I do not know" in 1902.',
    ],
)
def test_an_answer_that_speaks_of_others_inability_is_an_answer(answer: str) -> None:
    assert response_type(answer)[0] == "answer"


@pytest.mark.parametrize(
    "answer",
    [
        "I will not do that.",
        "I must decline.",
        "I'm not allowed to say.",
        "I cannot help you with that request.",
        "I can't comply.",
        "That is against our usage policy.",
        "It violates my guidelines.",
    ],
)
def test_a_reply_that_will_not_refuses(answer: str) -> None:
    assert response_type(answer)[0] == "refuse"


@pytest.mark.parametrize(
    "answer",
    [
        "Do you mean the Tamar bridge?",
        "Please specify the year.",
        "Can you tell me more about it?",
        "I see. Are you referring to Truro?",
        "What year are you interested in?",
        "Do you mean the Tamar bridge？",
        "Do you mean the Tamar bridge؟",
        f"{TOLD[:-1]}, {'of all ' * 20}it was. {TOLD} Which one do you mean?",
    ],
)
def test_a_reply_that_asks_to_be_clearer_asks_back(answer: str) -> None:
    assert response_type(answer)[0] == "clarify"


@pytest.mark.parametrize(
    "answer",
    [
        f"Do you mean the Tamar bridge? {TOLD}",
        f"{TOLD * 4} The town had twelve mines and a port. Would you like to specify more?",
        "Who built it? Brunel did.",
        "Do you mean the Tamar bridge.",
        "You are looking at a bridge.",
    ],
)
def test_a_reply_that_goes_on_to_tell_something_does_not_ask_back(answer: str) -> None:
    assert response_type(answer)[0] == "answer"


@pytest.mark.parametrize(("words", "kind"), [(30, "clarify"), (31, "answer")])
def test_thirty_words_may_stand_before_a_question_back(words: int, kind: str) -> None:
    parts = ["Tin sank."] * 14 + ["Tin " * (words - 29) + "sank."]
    assert sum(len(part.split()) for part in parts) == words
    assert response_type(" ".join([*parts, "Which one do you mean?"]))[0] == kind


@pytest.mark.parametrize(("characters", "kind"), [(700, "clarify"), (701, "answer")])
def test_a_question_back_stands_in_a_text_of_seven_hundred_characters(
    characters: int, kind: str
) -> None:
    asked = " Which one do you mean?"
    answer = "Tin " + "x" * (characters - len(asked) - 5) + "." + asked
    assert len(answer) == characters
    assert response_type(answer)[0] == kind


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (f"I do not know the year. {TOLD}", "partial"),
        ("I do not know the year. It rained there.", "partial"),
        ("I do not know the year. It rained.", "abstain"),
        ("I do not know the year, but it was in May.", "partial"),
        ("I do not know the year, but in May.", "abstain"),
        ("I do not know the year, but I cannot say more.", "abstain"),
        ("I do not know the year. Would you like to know more?", "abstain"),
        ("I do not know the year. Was it in May of 1859?", "abstain"),
        ("I do not know. Please ask the town's own library.", "abstain"),
        ("I'm not sure, but in May.", "answer"),
        ("I'm not sure, but May.", "abstain"),
        ("I'm not sure. It was May.", "answer"),
    ],
)
def test_three_words_of_substance_make_it_partial_and_two_answer_behind_a_hedge(
    answer: str, kind: str
) -> None:
    assert response_type(answer)[0] == kind


@pytest.mark.parametrize(
    ("before", "kind"), [(200, "partial"), (230, "partial"), (250, "answer"), (400, "answer")]
)
def test_inability_counts_in_the_first_250_characters(before: int, kind: str) -> None:
    told = "Tin sank. " * (before // 10)
    assert response_type(f"{told}I do not know.")[0] == kind


def test_a_language_models_preface_does_not_make_an_answer_partial() -> None:
    assert response_type(f"As an AI model, I cannot know. {TOLD}")[0] == "answer"
    assert response_type("As an AI model, I cannot know.")[0] == "abstain"


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        ("", "abstain", "the answer is empty"),
        ("?!", "abstain", "the answer is empty"),
        ("N/A.", "abstain", "the whole answer is “N/A.”"),
        ("I will not do that.", "refuse", "it says “I will not”"),
        ("I do not know it.", "abstain", "it says “I do not know”"),
        (f"I do not know it. {TOLD}", "partial",
         "it says “I do not know” and tells something else"),
        ("I'm not sure.", "abstain", "it says “I'm not sure” and names nothing"),
        (f"I'm not sure. {TOLD}", "answer",
         "it says “I'm not sure” and then commits to an answer"),
        (f"As an AI model, I cannot know. {TOLD}", "answer",
         "a preface about being a language model, then an answer"),
        ("Do you mean Truro?", "clarify", "it asks “Do you mean Truro?”"),
        (TOLD, "answer", "no sign of inability, refusal or a question back"),
    ],
)  # fmt: skip
def test_the_reason_names_the_words_that_it_goes_by(answer: str, kind: str, reason: str) -> None:
    found, why = response_type(answer)
    assert (found, explain(why)) == (kind, reason)


@pytest.mark.parametrize("more", [0, 1, 30])
def test_a_reason_shows_sixty_characters_at_the_most(more: int) -> None:
    asked = "Do you mean ".ljust(59 + more, "x") + "?"
    _, reason = response_type(asked)
    assert explain(reason) == f"it asks “{asked[:60]}”"


@pytest.mark.parametrize(
    ("sentence", "unable"),
    [
        ("The text does not name the owner.", True),
        ("The TEXT does NOT name the owner.", True),
        ("I'm not certain.", True),
        ('She wrote "I do not know" in 1902.', False),
        ('"I do not know."', True),
        ("The text names the owner.", False),
        ("", False),
    ],
)
def test_a_sentence_says_that_something_is_not_known(sentence: str, unable: bool) -> None:
    assert says_unable(sentence) is unable


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("I could not find the date, but the mill is made of stone.", "the mill is made of stone."),
        ("It is unknown; however, It IS a mill.", "It IS a mill."),
        ("I'm not sure, but in May.", "in May."),
        ("I do not know who is still there.", None),
        ("I do not know the buttons of old ships there.", None),
        ("I do not know the year, BUT the mill is old.", "the mill is old."),
        ("I am not aware of it, yet, but he built it.", "he built it."),
        ("I cannot tell the year, but in May.", None),
        ("I cannot tell the year, but I do not know the day.", None),
        ("I cannot tell the year, but please ask the town.", None),
        ("Sorry, but I cannot find it.", None),
        ("The mill is made of stone, but not of slate.", None),
        ("Das steht nicht im Text, aber die Mühle ist aus Stein.", "die Mühle ist aus Stein."),
    ],
)
def test_what_a_sentence_tells_begins_behind_its_turn(sentence: str, told: str | None) -> None:
    start = told_from(sentence)
    assert (None if start is None else sentence[start:]) == told


@pytest.mark.parametrize(
    ("answer", "eight", "twelve"),
    [
        ("I DON'T KNOW", True, True),
        ("The Unknown Soldier", True, True),
        ("I don’t know", False, False),
        ("It is not available.", False, True),
        ("I cannot answer.", False, True),
        ("  null  ", False, True),
        ("none", False, True),
        ("none here.", False, False),
        ("none here", False, True),
        ("a bridge", False, False),
    ],
)
def test_phrases_are_looked_for_in_lower_case_and_short_ones_in_nine_characters(
    answer: str, eight: bool, twelve: bool
) -> None:
    assert abstains_by_phrases(answer, PHRASES_8) is eight
    assert abstains_by_phrases(answer, PHRASES_12) is twelve


@given(st.text())
def test_case_and_white_space_change_no_reply(text: str) -> None:
    if text.isascii():
        kind = response_type(text)[0]
        assert response_type(f"  {text.upper()}\n")[0] == response_type(f"{text.upper()}")[0]
        assert response_type(text.lower())[0] == kind
