"""Each text that people read of an item has a name."""

from ragstone.annotation.queue.form import ItemPart, QueueItem, outline_of, texts_of

SHOWN = {
    "question": "How long?",
    "history": [{"role": "user", "text": "Hello."}, {"role": "assistant", "text": "Yes?"}],
    "answer": "90 m.",
    "contexts": [{"name": "1", "text": "The pier is 90 m long."}, {"name": "3", "text": "Gulls."}],
    "reference": ["90 m", "ninety metres"],
}


def test_texts_have_the_names_of_what_is_shown() -> None:
    assert texts_of(QueueItem(1, "e", SHOWN, (ItemPart("answer"),))) == {
        "question": "How long?",
        "history/1": "Hello.",
        "history/2": "Yes?",
        "answer": "90 m.",
        "contexts/1": "The pier is 90 m long.",
        "contexts/3": "Gulls.",
        "reference/1": "90 m",
        "reference/2": "ninety metres",
    }


def test_the_text_of_a_part_is_named_after_it_unless_it_is_shown_anyway() -> None:
    parts = (ItemPart("context", "3", "Gulls."), ItemPart("claim", "2", "It is long."))
    assert texts_of(QueueItem(1, "e", {"contexts": SHOWN["contexts"]}, parts)) == {
        "contexts/1": "The pier is 90 m long.",
        "contexts/3": "Gulls.",
        "claims/2": "It is long.",
    }
    assert texts_of(QueueItem(1, "e", {}, parts)) == {
        "contexts/3": "Gulls.",
        "claims/2": "It is long.",
    }


def test_people_know_an_item_by_its_question_or_by_what_they_label_never_by_its_id() -> None:
    parts = (ItemPart("answer"), ItemPart("claim", "2", "It is long."))
    assert outline_of(SHOWN, parts) == "How long?"
    assert outline_of({}, parts) == "It is long."
    assert outline_of({}, parts[:1]) == ""
