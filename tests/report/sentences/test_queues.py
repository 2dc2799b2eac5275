"""How far a queue is, in a sentence."""

from dataclasses import replace
from typing import Any

import pytest

from ragstone.annotation.queue.form import LABEL, AskedLabel, QueueForm
from ragstone.annotation.queue.work_progress import PersonWork, QueueWork
from ragstone.report.page import Phrase
from ragstone.report.sentences.judge_words import (
    Said,
    item_noun,
    lacking_sentence,
    order_in_words,
    people_in_words,
    queue_sentence,
    queues_sentence,
)

FORM = QueueForm("q", (AskedLabel("helpful", "answer"),))
WORK = QueueWork(FORM, "2026-11-23T10:00:00+00:00", 300, 0, 0, 300, 0, 0, (), (0, 0, 0))


def person(name: str, saved: int = 0, left: int = 100, pace: float | None = None) -> PersonWork:
    return PersonWork(name, "annotator", None, saved, 0, 0, left, 0, pace, "")


def plain(said: Said) -> str:
    return "".join(one.text if isinstance(one, Phrase) else one for one in said)


def of(*people: PersonWork, **changed: Any) -> str:
    return plain(queue_sentence(replace(WORK, people=people, **changed)))


def test_a_queue_without_people_waits() -> None:
    assert of() == "Nobody has a link yet: 300 answers wait."
    out = replace(person("Ann"), revoked="2026-11-23T10:00:00+00:00")
    assert of(out) == "Nobody has a link yet: 300 answers wait."


def test_a_queue_that_nobody_began_names_who_could() -> None:
    said = of(person("Ann"), person("Ben"))
    assert said == "Nothing is labelled yet: 300 answers wait for Ann and Ben."


def test_a_queue_says_who_labelled_how_much() -> None:
    one = of(person("Ann", 120), labelled=120, finished=120, given=120)
    assert one == "Ann has labelled 120 of 300 answers."
    people = [person(name, 30) for name in ("Ann", "Ben", "Cem", "Dan")]
    four = of(*people, labelled=120, finished=120, given=120)
    assert four == "Ann, Ben and 2 others have labelled 120 of 300 answers."


def test_where_several_label_an_item_it_says_how_many_are_done() -> None:
    people = (person("Ann", 60), person("Ben", 60))
    said = of(*people, labelled=80, finished=40, wanted=600, given=120)
    assert said == ("Ann and Ben have labelled 80 of 300 answers, 40 of them as often as wanted.")


@pytest.mark.parametrize(
    ("pace", "time"),
    [
        (90, "about 2 hours"),
        (180, "about 60 minutes"),
        (1080, "about 10 minutes"),
        (3600, "about 3 minutes"),
        (36_000, "a minute"),
        (7.2, "about 25 hours"),
        (48, "about 4 hours"),
        (51, "about 3.5 hours"),
    ],
)
def test_the_rest_is_told_at_the_pace_of_those_at_work(pace: float, time: str) -> None:
    said = of(person("Ann", 120, 180, pace), labelled=120, finished=120, given=120)
    assert said == f"Ann has labelled 120 of 300 answers; at this pace the rest takes {time}."


def test_a_finished_queue_says_by_whom() -> None:
    people = (person("Ann", 200, 0), person("Ben", 100, 0))
    done = of(*people, labelled=300, finished=300, given=300)
    assert done == "All 300 answers are labelled by Ann and Ben."
    twice = of(*people, labelled=300, finished=300, wanted=600, given=600)
    assert twice == "All 300 answers are labelled by Ann and Ben, each by as many people as wanted."


def test_people_who_lack_are_told() -> None:
    assert lacking_sentence(WORK) == ""
    assert lacking_sentence(replace(WORK, lacking=1)).startswith("1 more label is wanted than")
    assert lacking_sentence(replace(WORK, lacking=30)).startswith("30 more labels are wanted than")


def test_several_queues_are_told_together() -> None:
    done = replace(WORK, given=300)
    half = replace(WORK, given=299)
    assert queues_sentence([]) == []
    assert plain(queues_sentence([WORK])) == "Nobody has a link yet: 300 answers wait."
    assert plain(queues_sentence([done, half])) == "1 of 2 queues waits for 1 more label."
    assert plain(queues_sentence([half, half])) == "2 of 2 queues wait for 2 more labels."
    assert plain(queues_sentence([done, done])) == "All 2 queues are finished."


@pytest.mark.parametrize(
    ("asked", "together", "noun"),
    [
        ((AskedLabel("helpful", "answer"),), True, "answer"),
        ((AskedLabel("misleading", "context"),), False, "passage"),
        ((AskedLabel("misleading", "context"),), True, "example"),
        ((AskedLabel("support", "claim"),), False, "claim"),
        ((AskedLabel("support", "claim"), AskedLabel("helpful", "answer")), False, "item"),
        ((AskedLabel(LABEL, "answer"),), False, "pair"),
    ],
)
def test_what_is_labelled_has_its_name(
    asked: tuple[AskedLabel, ...], together: bool, noun: str
) -> None:
    assert item_noun(replace(FORM, asked=asked, together=together)) == noun


def test_the_form_of_a_queue_is_told() -> None:
    assert people_in_words(FORM) == "1 person each"
    assert people_in_words(replace(FORM, per_item=3)) == "3 people each"
    assert order_in_words(FORM) == "all, in random order"
    doubt = replace(FORM, route="doubt", most=60)
    assert order_in_words(doubt) == "60 examples, likelier where the judge is in doubt"
    assert order_in_words(replace(FORM, order="risk")) == "all, the worst scores first"
