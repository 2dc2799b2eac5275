"""Response: what kind of reply, by rules; and the two phrase conventions."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.judges.local import response_type as response
from ragstone.judges.local.languages import abstentions_known, language_of
from ragstone.judges.local.response_type import (
    PHRASES_8,
    PHRASES_12,
    abstains_by_phrases,
    response_type,
    says_unable,
)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("", "abstain"),
        ("...", "abstain"),
        ("None", "abstain"),
        ("I don't know.", "abstain"),
        ("I don’t know.", "abstain"),
        ("Je ne sais pas.", "abstain"),
        ("No lo sé.", "abstain"),
        ("Ich weiß es nicht.", "abstain"),
        ("Não sei.", "abstain"),
        ("Nie wiem.", "abstain"),
        ("Я не знаю.", "abstain"),
        ("我不知道。", "abstain"),
        ("わかりません。", "abstain"),
        ("잘 모르겠습니다.", "abstain"),
        ("मुझे नहीं पता।", "abstain"),
        ("لا أعرف.", "abstain"),
        ("The passage does not mention the year.", "abstain"),
        ("The answer cannot be found in the text.", "abstain"),
        ("I'm not sure.", "abstain"),
        ("I'm not sure, but it is Baron Alphonse.", "answer"),
        ("Nonetheless", "answer"),
        ("No", "answer"),
        ("The Tomb of the Unknown Soldier was dedicated in 1921.", "answer"),
        ("Unfortunately, he died in 1932.", "answer"),
        ('"I Can\'t Help Falling in Love" was sung by Elvis Presley.', "answer"),
        ("There is no evidence that he lied.", "answer"),
        ("Nothing in the passages mentions the price.", "abstain"),
        ("The documents lack that information.", "abstain"),
        ("There isn't anything about that in the documents.", "abstain"),
        ("That is not stated.", "abstain"),
        ("The text doesn't contain any errors.", "answer"),
        ("The documents do not have signatures.", "answer"),
        ("No information was given to the passengers before the crash.", "answer"),
        ("No information about prices is shown on the menu of the inn.", "answer"),
        ("No information about prices is given in the context.", "abstain"),
        ("No information was given on this topic.", "abstain"),
        ("The author had nothing to say about the book in the article.", "answer"),
        ("Nothing in the report is false.", "answer"),
        ("As an AI language model, I have no feelings. Truro is the county town.", "answer"),
        ("I do not know who built it. It was opened in 1859.", "partial"),
        ("The text does not name her, but it says she was born in Truro in 1902.", "partial"),
        ("I'm sorry, but I can't assist with that request.", "refuse"),
        ("I won't help with that.", "refuse"),
        ("Which bridge do you mean?", "clarify"),
        ("Could you clarify which of the two mines you mean?", "clarify"),
    ],
)
def test_replies_are_told_apart(answer: str, expected: str) -> None:
    assert response_type(answer)[0] == expected


def sentences_of(path: Path) -> list[tuple[bool, str]]:
    """Whether each sentence says that something is not in the documents."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(line["abstains"] == "1", line["text"]) for line in lines]


OWN = Path(__file__).parent / "abstentions.tsv"


@pytest.mark.parametrize(("abstains", "sentence"), sentences_of(OWN))
def test_not_in_the_documents_is_heard_in_each_language(abstains: bool, sentence: str) -> None:
    assert response_type(sentence)[0] == ("abstain" if abstains else "answer")
    assert says_unable(sentence) == abstains


def test_sentences_of_others_are_told_apart_too(shared: Path) -> None:
    known = sentences_of(shared / "tables" / "abstentions.tsv")
    heard = [(abstains, response_type(text)[0] == "abstain") for abstains, text in known]
    assert heard.count((True, True)) >= 26
    assert heard.count((False, True)) == 0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Es tut mir leid. Das steht nicht im Text. Bitte fragen Sie das Museum.", "abstain"),
        ("Im Text steht nichts dazu. Der Steg wurde 1905 gebaut.", "partial"),
        ("Dazu steht nichts im Text, aber der Steg wurde 1905 gebaut.", "partial"),
        ("Dazu steht nichts im Text, aber ich kann es nicht sagen.", "abstain"),
        ("文档中没有提到建造时间，但码头长90米。", "partial"),
        ("文書には建設年が記載されていませんが、桟橋の長さは90メートルです。", "partial"),
        ("문서에는 건설 연도가 나와 있지 않지만 부두의 길이는 90미터입니다.", "partial"),
        ("Auf dem Schild steht „Ich kann die Frage nicht beantworten“.", "answer"),
        ("Sur la porte : « Je ne sais pas ».", "answer"),
        ("“I do not know the year.”", "abstain"),
        ("لَا يَذْكُرُ النَّصُّ السَّنَة.", "abstain"),
        ("Der Text ist lang. Der Vertrag wird nicht erwähnt.", "answer"),
        ("Jag har inga barn.", "answer"),
        ("I do not know. Sorry everyone, sorry again.", "abstain"),
    ],
)
def test_other_languages_turn_are_polite_and_quote_as_english_does(
    answer: str, expected: str
) -> None:
    assert response_type(answer)[0] == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The pier was built in 1905.", "English"),
        ("Der Steg wurde 1905 gebaut und nie erneuert.", "German"),
        ("Пірс збудували у 1905 році, але його не відновлювали.", "Ukrainian"),
        ("Москва", "Russian"),
        ("اسکله در سال ۱۹۰۵ ساخته شد و از آن است", "Persian"),
        ("यह प्रकाशस्तंभ सर्दियों में नहीं खुलता है।", "Hindi"),
        ("สะพานยาว 250 เมตร", "Thai"),
        ("საქართველო", "Georgian"),
        ("码头长90米。", "Chinese"),
        ("Tamar Bridge 在文档中没有提到", "Chinese"),
        ("桟橋の長さは90メートルです。", "Japanese"),
        ("東京都庁舎の展望室は無料公開", "Japanese"),
        ("这家名为和の家的餐厅位于市中心每天开放周一休息。", "Chinese"),
        ("東京大学 is a university that was opened in the year 1877.", "English"),
        ("1905", None),
        ("Isambard Kingdom Brunel", None),
        ("Leonardo Da Vinci", None),
        ("Jean Dupont, maire de Lyon", None),
        ("São Tomé e Príncipe", None),
        ("Ludwig van Beethoven und Wien", None),
        ("Aix-en-Provence", None),
        ("crème de la crème", None),
        ("La tour de la ville est au bord de la mer", "French"),
        ("Das ist der Steg.", "German"),
        ("Daraja hili lilijengwa mwaka huo na wakazi wa mji kwa ajili yao", "another language"),
        ("El pont es va obrir el 1932 i encara l'utilitzen els trens.", "Catalan"),
        ("Most je otvoren i još ga koriste vlakovi.", "Croatian, Serbian or Bosnian"),
        ("Povedala, že sa vráti do dediny.", "Slovak"),
        ("Большинство людей в долине живёт за счёт вина.", "Russian"),
        ("Мостът е открит през 1932 година.", "Bulgarian"),
        ("Hún sagði að hún myndi snúa aftur.", "Icelandic"),
        ("Mae pris yr ystafell yn cynnwys brecwast.", "Welsh"),
        ("Zubia 1932an ireki zen eta trenek erabiltzen dute.", "Basque"),
        ("Tiltas buvo atidarytas 1932 metais.", "Lithuanian"),
        ("Je to najstarší kostol v krajine.", "another language"),
        ("copper, silver, gold, zinc", None),
        ("Brunel, Stephenson, Telford, Smeaton, Rennie, Locke, Fox, Barlow", None),
        ("हा पूल नव्वद मीटर लांब आहे", "Marathi"),
    ],
)
def test_a_language_is_told_by_script_else_by_small_words(text: str, language: str | None) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("language", "known"),
    [
        ("Thai", "plain"),
        ("Tamil", "plain"),
        ("Finnish", "dont_know"),
        ("Amharic", "none"),
        ("Georgian", "none"),
        ("another language", "none"),
    ],
)
def test_how_much_is_known_of_a_language_is_told(language: str, known: str) -> None:
    assert abstentions_known(language) == known


def test_a_language_is_told_by_the_first_400_characters() -> None:
    german = "Das ist der Steg und nicht die Tür. "
    assert language_of(german * 12 + "It is the pier of the town. " * 40) == "German"


def golden(shared: Path) -> list[dict[str, Any]]:
    vectors = json.loads((shared / "golden" / "seed_vectors.json").read_text())["vectors"]
    return [vector for vector in vectors if vector["metric"] == "abstention"]


def test_golden_abstentions_come_out_right(shared: Path) -> None:
    cases = golden(shared)
    assert len(cases) == 13
    for case in cases:
        answer, expected = case["input"]["answer"], case["expected"]["abstained"]
        assert (response_type(answer)[0] == "abstain") == expected, answer


def test_phrase_conventions_give_the_published_values(shared: Path) -> None:
    for case in golden(shared):
        answer, published = case["input"]["answer"], case["source_value"]
        assert abstains_by_phrases(answer, PHRASES_8) == published["phrases8"], answer
        assert abstains_by_phrases(answer, PHRASES_12) == published["phrases12"], answer


def test_the_lists_hold_eight_and_twelve_phrases() -> None:
    assert len(set(PHRASES_8)) == 8
    assert len(set(PHRASES_12)) == 12


@given(st.text())
def test_every_text_is_some_reply_for_a_reason(text: str) -> None:
    kind, reason = response_type(text)
    assert kind in ("answer", "partial", "abstain", "refuse", "clarify")
    assert reason


@given(st.from_regex(response._INABILITY) | st.from_regex(response._HEDGE))
def test_what_says_that_it_cannot_tell_has_a_sign_of_it(text: str) -> None:
    found = response._INABILITY.search(text) or response._HEDGE.search(text)
    assert found is not None
    assert response._SIGN.search(found.group())


def test_the_kind_of_a_reply_is_told_by_its_first_50_000_characters() -> None:
    unknown, known = "I do not know. ", "The mine was opened in 1859."
    assert response_type(unknown * 3_000 + known)[0] == "partial"
    assert response_type(unknown * 4_000 + known)[0] == "abstain"
    assert response_type("." * 60_000 + known)[0] == "answer"


@pytest.mark.parametrize("answer", ["ʼ", "’", "_", "…", " \n"])
def test_marks_alone_are_no_answer(answer: str) -> None:
    assert response_type(answer) == ("abstain", "answer_is_empty")
