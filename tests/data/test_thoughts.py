"""Thoughts in think tags are taken off answers, however they come, and nothing else is."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import evaluate
from ragstone.data import Turn, read
from ragstone.data.thoughts import ThoughtFilter, answer_and_thoughts
from ragstone.report.reason_words import explain

ANSWER = "The pier is 90 m long."

THINKING = (
    f"<think>Maybe 80 m.</think>{ANSWER}",
    f"\n <THINK>\nMaybe\n\n80 m.\n</Think>\n\n{ANSWER}\n",
    f"<thinking>80?</thinking> <reasoning>90!</reasoning> {ANSWER}",
    f"[THINK]Vielleicht 80 m.[/THINK]{ANSWER}",
    f"<seed:think>多分80メートル。</seed:think>{ANSWER}",
    f"◁think▷Peut-être 80 m.◁/think▷{ANSWER}",
    f"Maybe 80 m.</think>{ANSWER}",
    f"Okay, 80 m\n</think>\n\n{ANSWER}",
    f"可能是80米。</think>{ANSWER}",
    f"<think></think>\n\n{ANSWER}",
    f"<|begin_of_thought|>\n80 m?\n<|end_of_thought|>\n\n{ANSWER}",
    f"<|START_THINKING|>80 m?<|END_THINKING|>{ANSWER}",
    "<|channel|>analysis<|message|>80 m?<|end|><|start|>assistant"
    f"<|channel|>final<|message|>{ANSWER}",
    f"<think>80 m?</think>\n<answer>\n{ANSWER}\n</answer>\n",
    f"<|begin_of_thought|>80?<|end_of_thought|><|begin_of_solution|>{ANSWER}<|end_of_solution|>",
)


@pytest.mark.parametrize("text", THINKING)
def test_an_answer_is_what_comes_after_its_thoughts(text: str) -> None:
    assert answer_and_thoughts(text)[0] == ANSWER
    blanked, _ = answer_and_thoughts(text, blank=True)
    assert len(blanked) == len(text)
    assert blanked.strip() == ANSWER
    assert text.index(ANSWER) == blanked.index(ANSWER)


def test_a_thought_between_lines_is_taken_off_and_one_that_never_ends_is_all() -> None:
    assert answer_and_thoughts("A.\n<think>b</think>\nC.") == ("A.\n\nC.", ["b"])
    assert answer_and_thoughts("<think>Let me see") == ("", ["Let me see"])


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        "Write <think> and </think> around it.",
        "Models end it with </think> and go on.",
        "`</think>` ends it.",
        "```\n<think>\nso\n</think>\n```",
        "A.\n<reasoning> is a tag that is not closed here",
        "<thinker>Rodin</thinker> stands in Paris.",
        "[think]so[/think]",
        "[1] <b>so</b>",
        "<answer>so</answer>",
        "",
    ],
)
def test_what_only_speaks_of_tags_stays(text: str) -> None:
    assert answer_and_thoughts(text) == (text, [])


PIECES = st.lists(
    st.sampled_from(
        ("<think>", "</think>", "<thi", "nk>", "\n", " ", "so", "```", "[THINK]", "[/THINK]", "<")
    )
)


@given(PIECES)
def test_pieces_of_an_answer_are_filtered_as_the_whole_is(pieces: list[str]) -> None:
    one, other = ThoughtFilter(), ThoughtFilter()
    whole = one.feed("".join(pieces)) + one.close()
    assert "".join([*map(other.feed, pieces), other.close()]) == whole
    assert one.thoughts == other.thoughts


RECORD = {
    "question": "How long is the pier?",
    "contexts": [ANSWER],
    "answer": THINKING[0],
    "reference": ANSWER,
    "history": ["Is there a pier?", "<think>Is there?</think>Yes."],
}


def test_every_door_reads_answers_without_their_thoughts(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(RECORD))
    kept = list(read([RECORD], keep_thoughts=True))
    assert kept[0].answer == THINKING[0]
    for door in ([RECORD], tmp_path / "a.jsonl", kept):
        examples = read(door)
        (example,) = examples
        assert (example.answer, example.meta["thoughts"]) == (ANSWER, "Maybe 80 m.")
        assert example.history[1] == Turn("assistant", "Yes.")
        assert [explain(note)[:27] for note in examples.notes] == ["1 answer had thoughts in th"]


def test_an_evaluation_judges_them_only_if_asked_to(tmp_path: Path) -> None:
    metrics = ["faithfulness", "exact_match"]
    (tmp_path / "a.jsonl").write_text(json.dumps(RECORD))
    for data in ([RECORD], tmp_path / "a.jsonl"):
        run = evaluate(data, metrics=metrics, judge="local:strings")
        assert run.scores()["value"].to_list() == [1, 1]
        assert "thoughts_taken_off?n=1" in run.form.remarks
    run = evaluate([RECORD], metrics=metrics, judge="local:strings", keep_thoughts=True)
    assert run.scores()["value"].to_list() == [0, 0]
