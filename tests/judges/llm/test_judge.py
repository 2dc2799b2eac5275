"""The LLM judge: questions of several tasks, and what their outcomes come to, without asking."""

from dataclasses import replace

from ragstone.data import Context, Example
from ragstone.judges.llm.llm_judge import (
    LEAN,
    LLMJudge,
    all_tasks,
    retrieved_nothing,
    task_replies,
    too_long,
)
from ragstone.judges.llm.prompts import load_prompts
from ragstone.judges.llm.questions import Item, Question
from ragstone.judges.llm.replies import Outcome
from ragstone.judges.llm.task import Target, TaskReply
from ragstone.testing import ScriptedModel

TASKS = all_tasks()
CLAIMS, RELEVANCE, QUALITY = (TASKS[name] for name in ("claims", "relevance", "quality"))
EXAMPLE = Example("1", "q", "s", question="How long?", answer="90 m.", contexts=(
    Context("c", "It is 90 m long.", 1),
))  # fmt: skip
TARGET = Target(EXAMPLE)
SAID = Item()


def judge(*names: str) -> LLMJudge:
    models = tuple(ScriptedModel([], name=name) for name in names or ("a",))
    return LLMJudge(models, prompts=load_prompts(), plan=LEAN)


def question(one: LLMJudge) -> tuple[Question, dict[str, list[str]]]:
    tasks = [CLAIMS, QUALITY]
    pieces = {task.name: one.pieces(task, TARGET, one.room) for task in tasks}
    (made,) = one.questions(one.models[0], pieces, EXAMPLE)
    return made, {name: [id_ for piece in them for id_ in piece.items]
                  for name, them in pieces.items()}  # fmt: skip


def test_what_one_reply_says_to_two_tasks_goes_to_each_of_them() -> None:
    made, ids = question(judge())
    assert ids == {"claims": ["a01"], "quality": ["q01"]}
    outcome = Outcome("ok", {"a01": SAID}, {"q01": "cut off"}, None, ("key",))
    by_task = {piece.task: [piece] for piece in made.pieces}
    replies = task_replies(by_task, [made], [outcome], 5_000)
    assert replies["claims"] == TaskReply({"a01": [SAID]}, {}, 5_000, (outcome,))
    assert replies["quality"] == TaskReply({}, {"q01": "cut off"}, 5_000, (outcome,))


def test_an_item_that_no_outcome_speaks_of_has_no_reply() -> None:
    made, _ = question(judge())
    by_task = {piece.task: [piece] for piece in made.pieces}
    silent = task_replies(by_task, [made], [Outcome("ok", {"a01": SAID})], 5_000)
    assert silent["quality"].lacking == {"q01": "no_reply"}
    failed = task_replies(by_task, [made], [Outcome("failed", reason="timeout")], 5_000)
    assert failed["quality"].lacking == {"q01": "timeout"}


def test_what_no_reply_was_read_for_is_said_not_to_be_in_the_reply() -> None:
    (row,) = QUALITY.rows("quality", TARGET, TaskReply({}))
    assert row["reason"] == "not_in_reply"


def test_what_was_made_in_part_has_failed_for_what_is_lacking() -> None:
    half = TaskReply({"r01": [SAID]}, {"r02": "cut off"}, outcomes=(Outcome("ok"),))
    assert judge().status(TASKS["statements"], TARGET, {"a": half}) == ("failed", "cut off")
    blocked = replace(half, outcomes=(Outcome("ok"), Outcome("blocked", reason="filter")))
    assert judge().status(TASKS["statements"], TARGET, {"a": blocked}) == ("blocked", "filter")


def test_the_smallest_window_sets_the_room_which_is_never_under_2000_characters() -> None:
    def room(*windows: int) -> int:
        models = tuple(ScriptedModel([], window=window) for window in windows)
        return LLMJudge(models, prompts=load_prompts()).room

    assert room(15_000) == room(15_000, 90_000) == 30_000
    assert room(5_600) == room(1_000) == 2_000


def test_contexts_without_a_text_are_lacking_to_tasks_about_contexts_alone() -> None:
    unread = Example("1", "q", "s", question="q?", answer="a", contexts=(Context("c", None, 1),))
    lacking = {name for name, task in TASKS.items() if task.lacks(unread)}
    assert lacking == {"relevance", "support", "conversation_support", "entities"}
    assert RELEVANCE.lacks(unread) == "no_context_text"


def test_a_task_that_the_example_has_nothing_for_is_not_asked_and_says_why() -> None:
    target = Target(Example("1", "q", "s", question=" ", contexts=EXAMPLE.contexts))
    assert judge().pieces(RELEVANCE, target, 5_000) == []
    assert judge().status(RELEVANCE, target, {}) == ("failed", "a: no_question")


def test_made_units_count_only_where_none_is_lacking_and_judged_ones_always() -> None:
    half = {"a": TaskReply({"a01": [SAID]}, {"a02": "cut off"})}
    assert judge().counted(CLAIMS, half) == {}
    assert judge().status(CLAIMS, TARGET, half) == ("failed", "cut off")
    assert judge().counted(RELEVANCE, half) == half
    assert judge().status(RELEVANCE, TARGET, half) == ("ok", "1 of 2 left open: cut off")


def test_one_model_speaks_for_itself_and_a_panel_says_how_many_vote() -> None:
    assert judge("a").about == "a, replies of a test"
    panel = "a panel of 2 that votes: a, replies of a test; b, replies of a test"
    assert judge("a", "b").about == panel


def test_nothing_to_ask_is_no_failure_and_a_reply_that_holds_nothing_is() -> None:
    assert judge().status(CLAIMS, TARGET, {}) == ("ok", None)
    assert judge().status(CLAIMS, TARGET, {"a": TaskReply({})}) == ("failed", "no_reply")


def test_only_contexts_that_are_too_long_can_be_split() -> None:
    assert too_long(RELEVANCE, "too_long")
    assert not too_long(CLAIMS, "too_long")
    assert not too_long(RELEVANCE, "timeout")
    assert not too_long(RELEVANCE, None)


def test_nothing_is_asked_about_contexts_where_none_were_retrieved() -> None:
    bare = replace(EXAMPLE, contexts=())
    assert retrieved_nothing(RELEVANCE, bare)
    assert not retrieved_nothing(RELEVANCE, EXAMPLE)
    assert not retrieved_nothing(CLAIMS, bare)


def test_a_panel_is_ok_if_any_member_said_anything_and_else_fails_as_its_first_member_did() -> None:
    silent = TaskReply({}, {"c01": "x"}, outcomes=(Outcome("blocked", reason="declined"),))
    late = TaskReply({}, {"c01": "x"}, outcomes=(Outcome("failed", reason="too late"),))
    spoke = TaskReply({"c01": [SAID]})
    panel = judge("a", "b")
    assert panel.status(RELEVANCE, TARGET, {"a": silent, "b": late}) == ("blocked", "declined")
    assert panel.status(RELEVANCE, TARGET, {"a": silent, "b": spoke}) == ("ok", None)
    assert panel.voters(RELEVANCE) == ["a", "b"]
    assert panel.voters(CLAIMS) == judge().voters(RELEVANCE) == []
