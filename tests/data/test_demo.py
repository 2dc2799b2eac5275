"""The demo's records: as many as they say, readable, with faults where they are planted."""

from collections import Counter

import pytest

from ragstone import read
from ragstone.data.demo import CHANGED, DOUBTFUL, SYSTEMS, UNSUPPORTED, demo_records


def test_thirty_questions_are_answered_by_three_systems_and_by_a_second_version_of_one() -> None:
    first, second = list(demo_records()), list(demo_records(2))
    assert Counter(record["system"] for record in first) == dict.fromkeys(SYSTEMS, 30)
    assert Counter(record["system"] for record in second) == {CHANGED: 30}
    assert {record["question_id"] for record in first} == {row["question_id"] for row in second}
    assert Counter(record["language"] for record in second) == {"English": 27, "German": 3}


@pytest.mark.parametrize("version", [1, 2])
def test_they_are_read_without_a_fault_or_a_note(version: int) -> None:
    records = list(demo_records(version))  # type: ignore[arg-type]
    examples = read(records)
    answers = [example.answer for example in examples]
    assert len(answers) == len(records)
    assert not examples.faults
    assert not any(mark in (answer or "") for answer in answers for mark in (UNSUPPORTED, DOUBTFUL))


def test_a_turn_has_the_turns_before_it_and_its_own_system_said_them() -> None:
    turns = [row for row in demo_records() if row.get("session") == "mount-local_search"]
    assert [len(turn["history"]) for turn in turns] == [0, 2, 4]
    assert turns[2]["history"][1]["content"] == turns[0]["answer"]
