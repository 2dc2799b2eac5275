"""The golden cases that want a judge: shown to the right task, and met by a careful judge's words.

A scripted model says what a careful judge would. That the prompts lead a real one there is
measured elsewhere; here it is held that they treat these cases.
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.judges.llm.prompts import load_prompts
from ragstone.judges.llm.rubrics import load_rubrics
from ragstone.models.chat import ChatRequest
from ragstone.run import Limits
from ragstone.testing import ScriptedModel, reply_to
from ragstone.testing import asked as ids

Vector = dict[str, Any]
Item = dict[str, Any]

RELEVANCE = {
    "anchor.01": {"directness": 4, "focus": 4, "parts": [True]},
    "anchor.02": {"directness": 4, "focus": 3, "parts": [True]},
    "anchor.03": {"directness": 1, "focus": 1, "parts": [False]},
}
"""The steps that ``quality`` gives: to the point, with an extra, it circles the subject."""
FILM = {"anchor.08": 1, "anchor.09": 4, "anchor.10": 6}
"""Of kind, year, director, cast, story and reception, how many the answer gives."""
OUTCOMES = {"correct": "full", "wrong": "contradicted"}
RATED = {
    "answer_relevance_judged": "answer_relevance",
    "answer_correctness_rubric": "answer_correctness",
    "response_completeness": "response_completeness",
}
"""The rubrics that the anchors belong to."""


@pytest.fixture(scope="module")
def targets(shared: Path) -> list[Vector]:
    """The vectors that are for a judge with a model."""
    vectors = json.loads((shared / "golden" / "seed_vectors.json").read_text("utf-8"))["vectors"]
    return [vector for vector in vectors if vector["status"] == "judge_target"]


def scored(
    metric: str, vector: Vector, items: dict[str, Item]
) -> tuple[float | None, str | None, list[ChatRequest]]:
    """Value and label of the one example, with what a model was asked that says these items."""

    def say(request: ChatRequest) -> dict[str, Item]:
        return reply_to(request, {name: items[name] for name in ids(request)})

    model = ScriptedModel(say)
    given = {name: text for name, text in vector["input"].items() if text is not None}
    run = ragstone.evaluate(
        [{"id": "1", **given}], metrics=metric, judge=model, limits=Limits(cached=False)
    )
    (row,) = run.scores().iter_rows(named=True)
    return row["value"], row["label"], model.requests


def asked(requests: list[ChatRequest], task: str, *texts: str) -> bool:
    """Whether this task, and it alone, was shown these texts behind its own instructions."""
    told = load_prompts().instructions(task).rstrip()
    (request,) = [one for one in requests if one.name == task]
    _, found, shown = request.text.partition(told)
    return bool(found) and all(text in shown for text in texts)


def meets(vector: Vector, value: float | None) -> bool:
    return value == pytest.approx(vector["expected"]["score"], abs=vector["tolerance"] + 1e-9)


def quality(directness: int, focus: int, parts: list[bool]) -> Item:
    said = [f"{'answered' if one else 'open'}: part {n}" for n, one in enumerate(parts)]
    said += [f"directness: {directness}", f"focus: {focus}", "consistency: 4", "on_topic: yes"]
    said += ["proper_action: yes", f"incomplete: {'no' if all(parts) else 'yes'}"]
    return {
        "reason": "As the steps say.",
        "verdict": "yes" if any(parts) else "no",
        "details": [*said, "unsafe_content: no"],
    }


def claims(answer: str, kind: str) -> Item:
    made = [f"s1: {answer}"] if kind == "answer" else []
    return {"reason": "So it reads.", "verdict": kind, "details": made}


def test_every_vector_for_a_judge_is_one_of_those_below(targets: list[Vector]) -> None:
    metrics = [vector["metric"] for vector in targets]
    known = {"abstention": 13, "answer_outcome": 3, "answer_relevance_judged": 4}
    known |= {"answer_correctness_rubric": 4, "response_completeness": 3}
    assert {name: metrics.count(name) for name in metrics} == known


def test_abstentions_are_told_by_the_type_of_the_reply(targets: list[Vector]) -> None:
    for vector in (one for one in targets if one["metric"] == "abstention"):
        answer, abstained = vector["input"]["answer"], vector["expected"]["abstained"]
        kind = "abstain" if abstained else "answer"
        value, _, requests = scored("abstention", vector, {"a01": claims(answer, kind)})
        assert asked(requests, "claims", f"[s1] {answer}"), vector["id"]
        assert value == float(abstained), vector["id"]


def test_judged_relevance_meets_its_anchors_in_their_order(targets: list[Vector]) -> None:
    values = {}
    for vector in targets:
        if vector["id"] in RELEVANCE:
            item = {"q01": quality(**RELEVANCE[vector["id"]])}  # type: ignore[arg-type]
            value, _, requests = scored("answer_relevance_rated", vector, item)
            case = vector["input"]
            assert asked(requests, "quality", case["question"], f"[s1] {case['answer']}")
            assert meets(vector, value), vector["id"]
            values[vector["id"]] = value or 0.0
    (order,) = [vector for vector in targets if vector["kind"] == "property"]
    assert order["expected"]["order"] == "strictly decreasing"
    held = [values[name] for name in order["input"]["anchors"]]
    assert len(held) == 3
    assert all(first > second for first, second in pairwise(held))


def test_completeness_by_parts_meets_its_anchors(targets: list[Vector]) -> None:
    for vector in targets:
        if vector["metric"] == "response_completeness":
            parts = [number < FILM[vector["id"]] for number in range(6)]
            item = {"q01": quality(4, 4, parts)}
            value, _, requests = scored("response_completeness", vector, item)
            case = vector["input"]
            assert asked(requests, "quality", case["question"], f"[s1] {case['answer'][:20]}")
            assert meets(vector, value), vector["id"]


def test_ratings_meet_every_anchor(targets: list[Vector]) -> None:
    for vector in targets:
        if vector["kind"] != "judge_anchor" or vector["metric"] not in RATED:
            continue
        rubric = load_rubrics()[RATED[vector["metric"]]]
        case = vector["input"]
        (step,) = [
            number
            for number, point in enumerate(rubric.points, 1)
            if point.value == vector["expected"]["score"]
        ]
        item = {f"rating_{rubric.name}": {"reason": "By the points.", "verdict": str(step)}}
        value, _, requests = scored(f'rating(criterion="{rubric.name}")', vector, item)
        texts = (case["question"], case["answer"], case["reference"] or "")
        assert asked(requests, "rating", rubric.text, *texts), vector["id"]
        assert meets(vector, value), vector["id"]


def test_outcomes_follow_from_agreement(targets: list[Vector]) -> None:
    for vector in (one for one in targets if one["metric"] == "answer_outcome"):
        case, outcome = vector["input"], vector["expected"]["outcome"]
        said = OUTCOMES[outcome]
        items = {
            "a01": claims(case["answer"], "answer"),
            "r01": {"details": [case["reference"]]},
            "k01": {"reason": "Held against the reference.", "verdict": said},
            "k02": {"reason": "Held against the answer.", "verdict": said},
        }
        _, label, requests = scored("answer_outcome", vector, items)
        assert asked(requests, "agreement", case["question"], case["reference"], case["answer"])
        assert asked(requests, "statements", case["question"], case["reference"])
        shown = next(one.text for one in requests if one.name == "statements")
        assert case["answer"] == case["reference"] or case["answer"] not in shown
        assert label == outcome, vector["id"]


TREATED = [
    ("claims", "No lo sé", "abstain", ("abstention.01", "abstention.02", "abstention.10")),
    ("claims", "The passages don't say", "abstain", ("abstention.05", "abstention.06")),
    ("claims", '"None" for a name', "abstain", ("abstention.08",)),
    ("claims", "Unknown Soldier", "answer", ("abstention.03",)),
    ("claims", "before 1928", "answer", ("abstention.12",)),
    ("claims", "Baron Alphonse", "answer", ("abstention.11",)),
    ("quality", '"Christopher Nolan":', "directness 4, focus 4", ("anchor.01",)),
    ("quality", "in 2010 with Leonardo DiCaprio", "4, 3", ("anchor.02",)),
    ("quality", "science fiction film about dreams", "0 of 1, 1, 1", ("anchor.03",)),
    ("quality", '"A sci-fi film"', "1 of 6", ("anchor.08",)),
    ("quality", "sci-fi thriller directed by Christopher Nolan", "4 of 6", ("anchor.09",)),
    ("quality", "with its star and its critics", "6 of 6", ("anchor.10",)),
    ("agreement", '"July 2010", reference "2010"', "full", ("anchor.05",)),
    ("agreement", '"2009"', "contradicted", ("anchor.06",)),
    ("agreement", '"early 2010s"', "partial", ("anchor.07",)),
    ("agreement", "Another name", "contradicted", ("anchor.outcome.3",)),
]
"""Task, what its prompt says of a case, what is right there, and the vectors it is about."""


@pytest.mark.parametrize(("task", "words", "right", "about"), TREATED)
def test_a_prompt_says_what_is_right_in_its_hard_cases(
    task: str, words: str, right: str, about: tuple[str, ...]
) -> None:
    lines = load_prompts().instructions(task).splitlines()
    (line,) = [line for line in lines if words in line]
    assert right in line.partition(words)[2], about
