"""Answers rated on rubrics: what is asked, and what is read."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ragstone.data import Context, Example, Turn
from ragstone.judgements import Topic
from ragstone.judges.llm.answer_tasks import RatingItem, RatingTask, rating_item
from ragstone.judges.llm.prompts import Prompts, load_prompts
from ragstone.judges.llm.questions import Question
from ragstone.judges.llm.rubrics import Point, Rubric, load_rubrics
from ragstone.judges.llm.task import UNSPLIT, Target, TaskReply

PROMPTS = Prompts({"system": "Judge.", "rating": "Rate it."})
ROOM = 100_000
SCALE = (Point(0.2, "Poor."), Point(0.5, "Middling."), Point(1.0, "Good."))
RUBRICS = {
    rubric.name: rubric
    for rubric in (
        Rubric("plain", "How plain ANSWER is.", ("question", "answer"), SCALE, ("Read it.",)),
        Rubric("backed", "How ANSWER is backed.", ("contexts", "answer"), SCALE),
        Rubric("useful", "How useful CONTEXTS are.", ("contexts",), SCALE, (), "mean"),
        Rubric("right", "How right ANSWER is.", ("answer", "reference"), SCALE),
    )
}
TASK = RatingTask(RUBRICS)
CONTEXTS = (Context("x", "Tin was mined.", 1), Context("y", "Lead was not.", 2))


def matter(*criteria: str, **fields: Any) -> Target:
    given = {"question": "What?", "answer": "Tin.", "reference": ("Tin ore.",)}
    topics = tuple(Topic("rating", name) for name in criteria)
    return Target(Example("1", "q", "s", **({**given, "contexts": CONTEXTS} | fields)), {}, topics)


def texts(given: Target, room: int = ROOM) -> list[str]:
    return [Question((piece,), "S").request().text for piece in TASK.pieces(given, PROMPTS, room)]


def said(*scores: int) -> list[RatingItem]:
    item = rating_item(3)
    return [item.model_validate({"reasoning": f"R{one}.", "score": one}) for one in scores]


def test_each_criterion_is_a_question_of_its_own() -> None:
    pieces = TASK.pieces(matter("plain", "backed"), PROMPTS, ROOM)
    assert [list(piece.items) for piece in pieces] == [["rating_backed"], ["rating_plain"]]


def test_a_rubric_shows_what_it_sees_and_nothing_else() -> None:
    (plain,) = texts(matter("plain", history=(Turn("user", "Hello!"),)))
    assert "Tin was mined." not in plain
    assert "Tin ore." not in plain
    wanted = ("Rate it.", "How plain", "Read it.", "Poor.", "Good.", "Hello!", "What?", "Tin.")
    places = [plain.index(one) for one in wanted]
    assert places == sorted(places)
    (right,) = texts(matter("right"))
    assert "What?" not in right


def test_contexts_stand_before_everything_else() -> None:
    (backed,) = texts(matter("backed"))
    places = [backed.index(one) for one in ("Tin was mined.", "Lead was not.", "Rate it.")]
    assert places == sorted(places)


def test_the_same_matter_is_asked_about_in_the_same_bytes() -> None:
    assert texts(matter("plain", "backed")) == texts(matter("backed", "plain", "plain"))


def test_several_references_are_all_shown() -> None:
    (text,) = texts(matter("right", reference=("Tin ore.", "Cassiterite.")))
    assert "Tin ore." in text
    assert "Cassiterite." in text


@pytest.mark.parametrize(
    ("criterion", "lacks"),
    [
        ("plain", {"question": None}),
        ("plain", {"question": " \n"}),
        ("plain", {"answer": None}),
        ("right", {"reference": ()}),
        ("backed", {"contexts": None}),
        ("backed", {"contexts": ()}),
        ("backed", {"contexts": (Context("x", None, 1),)}),
    ],
)
def test_a_criterion_whose_text_is_lacking_is_not_rated(criterion: str, lacks: Any) -> None:
    given = matter(criterion, **lacks)
    assert TASK.pieces(given, PROMPTS, ROOM) == []
    assert TASK.rows("rating", given, TaskReply({})) == []


def test_the_points_of_a_scale_are_numbered_from_1() -> None:
    assert rating_item(3).verdicts() == ("1", "2", "3")


def test_a_score_is_worth_what_its_point_is_worth() -> None:
    told = TaskReply({"rating_plain": said(1), "rating_right": said(3)})
    assert TASK.rows("rating", matter("right", "plain"), told) == [
        {"criterion": "plain", "score": 0.2, "reason": "R1."},
        {"criterion": "right", "score": 1.0, "reason": "R3."},
    ]


def test_a_rating_that_is_lacking_is_a_row_without_a_score() -> None:
    told = TaskReply({"rating_plain": said(2)}, {"rating_right": "cut off"})
    rows = TASK.rows("rating", matter("plain", "right"), told)
    assert [(row["score"], row["reason"]) for row in rows] == [(0.5, "R2."), (None, "cut off")]


@pytest.mark.parametrize("score", [0, 4, True, 2.0, "2", None])
def test_a_score_that_is_no_point_of_the_scale_is_not_read(score: Any) -> None:
    with pytest.raises(ValidationError):
        rating_item(3).model_validate_json(json.dumps({"reasoning": "R.", "score": score}))


def test_the_reasoning_stands_before_the_score() -> None:
    assert list(rating_item(5).model_fields) == ["reasoning", "score"]


LONG = tuple(Context(name, f"{name} " * 400, rank) for rank, name in enumerate("vwxyz", 1))


def test_contexts_that_do_not_fit_are_rated_in_parts_under_one_id() -> None:
    given = matter("backed", "useful", contexts=LONG)
    pieces = TASK.pieces(given, PROMPTS, 2_500)
    parts = [piece.contexts for piece in pieces if "rating_backed" in piece.items]
    assert len(parts) == len(pieces) / 2 > 1
    shown = "".join(str(part) for part in parts)
    assert all(f"{name} {name} " in shown for name in "vwxyz")


def test_of_parts_the_best_counts_or_their_mean_by_passages() -> None:
    room = 2_500
    given = matter("backed", "useful", contexts=LONG)
    parts = len(TASK.pieces(given, PROMPTS, room)) // 2
    scores = [1] * (parts - 1) + [3]
    told = TaskReply({"rating_backed": said(*scores), "rating_useful": said(*scores)}, {}, room)
    backed, useful = TASK.rows("rating", given, told)
    assert backed["score"] == 1.0
    assert "R3." in backed["reason"]
    # Five contexts of 800 characters, two to a part of 1,875: the last stands alone.
    assert parts == 3
    assert useful["score"] == pytest.approx((4 * 0.2 + 1 * 1.0) / 5)


def test_of_parts_one_that_is_lacking_leaves_no_score() -> None:
    told = TaskReply({"rating_backed": said(3)}, {"rating_backed": "cut off"}, UNSPLIT)
    (row,) = TASK.rows("rating", matter("backed"), told)
    assert (row["score"], row["reason"]) == (None, "cut off")


def test_a_quarter_of_the_room_is_for_what_is_not_contexts() -> None:
    def shown(*lengths: int) -> int:
        contexts = tuple(Context(f"{n}", "x" * length, n) for n, length in enumerate(lengths))
        return len(texts(matter("backed", contexts=contexts), 103))

    assert [shown(40, 38), shown(40, 39)] == [1, 2]
    assert [shown(*[0] * 1_000), shown(*[0] * 1_001)] == [1, 2]


def test_facts_hold_the_texts_that_rubrics_see_in_alphabetical_order() -> None:
    answer, contexts, history, question, reference, _ = TASK.facts(
        matter("right", "plain", "backed")
    )
    assert (answer, history, question, reference) == ("Tin.", [], "What?", ("Tin ore.",))
    assert contexts == [("x", "Tin was mined."), ("y", "Lead was not.")]


def test_the_rubric_and_what_it_sees_are_among_the_facts() -> None:
    base = list(TASK.facts(matter("plain")))
    for given in (matter("plain", answer="Lead."), matter("plain", "right"), matter("right")):
        assert list(TASK.facts(given)) != base
    reworded = {**RUBRICS, "plain": Rubric("plain", "Other words.", ("answer",), SCALE)}
    assert list(RatingTask(reworded).facts(matter("plain"))) != base
    assert list(TASK.facts(matter("plain", reference=()))) == base


def test_the_prompt_is_short() -> None:
    assert len(load_prompts().instructions("rating")) <= 2_200


def test_the_examples_of_the_rubrics_meet_the_anchors(shared: Path) -> None:
    golden = (shared / "golden" / "seed_vectors.json").read_text(encoding="utf-8")
    vectors = json.loads(golden)["vectors"]
    criteria = {
        "answer_relevance_judged": "answer_relevance",
        "answer_correctness_rubric": "answer_correctness",
        "response_completeness": "response_completeness",
    }
    rubrics = load_rubrics()
    anchors = [one for one in vectors
               if one["kind"] == "judge_anchor" and one["metric"] in criteria]  # fmt: skip
    assert len(anchors) == 10
    for anchor in anchors:
        quoted = f"'{anchor['input']['answer']}'"
        points = rubrics[criteria[anchor["metric"]]].points
        (value,) = (one.value for one in points if one.means.split(" where ")[0].count(quoted))
        assert abs(value - anchor["expected"]["score"]) <= anchor["tolerance"], quoted
