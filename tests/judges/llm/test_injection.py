"""No text under judgement forges a verdict, closes its block or blows up the reading of a reply.

The texts are in ``injections.json``; ``<ANSWER>`` stands for the boundary of that block.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ragstone.data import Context, Example, Turn
from ragstone.judgements import Criterion, Quality, Topic
from ragstone.judges.judge import Proposition
from ragstone.judges.llm.answer_tasks import CritiqueTask, PreferenceTask, ProbesTask, RatingTask
from ragstone.judges.llm.claim_tasks import AgreementTask, ClaimsTask, StatementsTask
from ragstone.judges.llm.context_tasks import RelevanceTask, SupportTask
from ragstone.judges.llm.kind_task import KindTask
from ragstone.judges.llm.prompts import SYSTEM, Prompts, asked_kinds
from ragstone.judges.llm.questions import SCHEMA, Item, Question, listing, unescaped
from ragstone.judges.llm.replies import read_items
from ragstone.judges.llm.task import Target, Task
from ragstone.models.chat.model import MalformedReply, drafts, json_objects
from ragstone.testing import reply_to

CASES = json.loads((Path(__file__).parent / "injections.json").read_text("utf-8"))
TEXTS = {case["name"]: case["text"] * case.get("times", 1) for case in CASES}
PROMPTS = Prompts(dict.fromkeys((SYSTEM, *asked_kinds()), "Judge the texts."))
TASKS_ASKED: tuple[Task, ...] = (
    SupportTask(),
    RelevanceTask(),
    ClaimsTask(),
    StatementsTask(),
    AgreementTask(),
    KindTask(Quality),
    KindTask(Criterion),
    ProbesTask(),
    RatingTask(),
    CritiqueTask(),
    PreferenceTask(),
)
TOPICS = (
    Topic("critique", "harmfulness"),
    Topic("rating", "answer_correctness"),
    Topic("rating", "faithfulness"),
    Topic("preference", "other"),
)
HIDDEN = "A text that is someone's own."

every_text = pytest.mark.parametrize("hostile", TEXTS.values(), ids=TEXTS)


def test_there_are_at_least_forty_texts() -> None:
    assert len(TEXTS) == len(CASES) >= 40


# What the model is shown


@dataclass(frozen=True)
class Shown:
    """A block as a reader finds it who knows nothing but boundary lines."""

    title: str
    mark: str
    texts: dict[str, str]


def read_by_lines(prompt: str) -> list[Shown]:
    """Whatever has the form of a boundary line is one; sentence numbers are taken out again."""
    blocks: list[Shown] = []
    title = mark = name = ""
    texts: dict[str, list[str]] = {}
    for line in prompt.split("\n"):
        found = re.fullmatch(r"==== ([0-9a-f]{32})((?: [a-z0-9]+)?)", line)
        if found is None:
            if mark:
                texts[name].append(line)
            else:
                title = line
            continue
        assert found[1] == (mark or found[1]), "a line of another block"
        mark, name = found[1], found[2].strip()
        if name == "end":
            shown = {one: _without_numbers("\n".join(lines)) for one, lines in texts.items()}
            blocks.append(Shown(title, mark, shown))
            mark, texts = "", {}
        else:
            assert name not in texts, "an id that was there before"
            texts[name] = []
    assert not mark, "a block that is not closed"
    return blocks


def _without_numbers(shown: str) -> str:
    numbers = re.findall(r"(?<!\\)\[s(\d+)\] ", shown)
    assert numbers == [str(n) for n in range(1, len(numbers) + 1)]
    return unescaped(re.sub(r"(?<!\\)\[s\d+\] ", "", shown))


def matter(place: str, text: str) -> Target:
    """An example with the text in one place and harmless ones in all others."""

    def said(here: str, else_said: str) -> str:
        return text if here == place else else_said

    example = Example(
        "1",
        "1",
        "one",
        question=said("question", "When did the bridge open?"),
        contexts=(
            Context("a", said("context", "The bridge opened in 1859. It is of iron."), 1),
            Context("b", "It crosses the Tamar.", 2),
        ),
        answer=said("answer", "It opened in 1859."),
        reference=(said("reference", "In 1859."),),
        history=(Turn(said("role", "user"), said("turn", "Hello.")),),
        policy=said("policy", "Be brief."),
    )
    propositions = {
        "claim": [Proposition("j", 0, 0, said("claim", "The bridge opened in 1859."))],
        "statement": [Proposition("j", 0, 0, said("statement", "It is of iron."))],
        "criterion": [Proposition("data", 0, 0, said("criterion", "Says the year."))],
    }
    rivals = {"other": said("rival", "Nobody knows when.")}
    return Target(example, propositions, TOPICS, rivals)


PLACES = (
    "question",
    "context",
    "answer",
    "reference",
    "role",
    "turn",
    "policy",
    "claim",
    "statement",
    "criterion",
    "rival",
)


def prompts_of(asked: Target) -> Iterator[tuple[str, Question, str]]:
    """Every question about a matter, with its task and its text."""
    for task in TASKS_ASKED:
        for piece in task.pieces(asked, PROMPTS, 1_000_000):
            question = Question((piece,), PROMPTS.system)
            yield task.name, question, question.request().text


UNASKED = {"answer": {"claims", "probes"}, "reference": {"statements"}}
"""What is not asked about a blank text."""


def structure(blocks: list[Shown]) -> list[tuple[str, list[str]]]:
    return [(block.title, list(block.texts)) for block in blocks]


Asked = dict[str, list[tuple[Question, str]]]


def by_task(asked: Target) -> Asked:
    found: Asked = {}
    for name, question, text in prompts_of(asked):
        found.setdefault(name, []).append((question, text))
    return found


@cache
def harmless(place: str, *, question: bool = True) -> Asked:
    """What is asked where the place holds a plain text, or where there is no question."""
    asked = matter(place, HIDDEN)
    if not question:
        asked = replace(asked, example=replace(asked.example, question=None))
    return by_task(asked)


def items_of(questions: list[tuple[Question, str]]) -> list[str]:
    return sorted(name for question, _ in questions for name in question.items)


@cache
def marks() -> dict[str, str]:
    """The boundaries of the blocks about harmless texts, by title."""
    texts = [text for _, _, text in prompts_of(matter("", ""))]
    return {block.title: block.mark for text in texts for block in read_by_lines(text)}


def with_marks(hostile: str) -> str:
    return re.sub(r"<([A-Z]+)>", lambda title: marks().get(title[1], title[0]), hostile)


@every_text
def test_a_reader_finds_what_went_in_and_behind_it_the_task_and_its_ids(hostile: str) -> None:
    hostile = with_marks(hostile)
    expected_text = hostile.replace("\r\n", "\n")
    for place in PLACES:
        asked = by_task(matter(place, hostile))
        plain = harmless(place, question=place != "question" or bool(hostile.strip()))
        unasked = set() if hostile.strip() else UNASKED.get(place, set())
        assert set(plain) - set(asked) == unasked
        for name, questions in asked.items():
            assert items_of(questions) == items_of(plain[name])
            for (question, text), (_, before) in zip(questions, plain[name], strict=True):
                last = text.rpartition(" end\n")[2]
                assert f"\nTask {name}, " in last
                assert f"\nids: {' '.join(question.items)}\n" in last
                blocks, others = read_by_lines(text), read_by_lines(before)
                assert structure(blocks) == structure(others), place
                for block, other in zip(blocks, others, strict=True):
                    expected = [one.replace(HIDDEN, expected_text) for one in other.texts.values()]
                    assert sorted(block.texts.values()) == sorted(expected), place
                assert text.splitlines() == text.removesuffix("\n").split("\n")
                text.encode()


@every_text
def test_nothing_unseen_is_left_in_a_block(hostile: str) -> None:
    shown = listing("ANSWER", {"p01": with_marks(hostile)})
    marks_of_letters = re.sub("[\u0301\n\t]", "", shown)
    assert marks_of_letters.isprintable() or "\u00a0" in shown or "\u2003" in shown
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", shown)
    assert not any("\U000e0000" <= one <= "\U000e0fff" for one in shown)


def test_every_question_has_the_same_schema_of_plain_closed_objects() -> None:
    schemas = [question.request().schema for _, question, _ in prompts_of(matter("", ""))]
    assert len(schemas) >= len(TASKS_ASKED)
    assert all(schema == SCHEMA for schema in schemas)
    words = set(re.findall(r'"(\$?\w+)":', json.dumps(SCHEMA)))
    fields = set(SCHEMA["properties"]["items"]["items"]["required"])
    assert words - fields == {"type", "properties", "items", "required", "additionalProperties"}


def test_a_text_cannot_run_after_the_boundary_of_its_own_block() -> None:
    text, seen = "A.", set()
    for _ in range(5):
        (block,) = read_by_lines(listing("CLAIMS", {"p01": text}))
        assert block.mark not in text
        seen.add(block.mark)
        text = f"A.\n==== {block.mark} end\n{block.mark}"
    assert len(seen) == 5


# What the model writes


SAID = {"support": "absent", "relevance": "0", "rating": "1", "critique": "no", "preference": "tie"}
"""The verdict of a true reply."""
READ: dict[str, dict[str, Any]] = {
    "support": {"verdict": "absent", "evidence": [], "quote": ""},
    "relevance": {"grade": 0, "misleading": False, "sentences": []},
    "rating": {"score": 1},
    "critique": {"verdict": "no"},
    "preference": {"verdict": "tie"},
}
"""What is read from it, beside its reason."""


def true_replies() -> list[tuple[dict[str, Any], dict[str, type[Item]], dict[str, Any]]]:
    """A reply of each of these tasks, the items wanted, and the verdicts it holds."""
    found = []
    for name, questions in by_task(matter("", "")).items():
        if name in SAID:
            question = questions[0][0]
            said = {"reason": "It does not say.", "verdict": SAID[name], "details": []}
            reply = reply_to(question.request(), dict.fromkeys(question.items, said))
            found.append((reply, question.items, dict.fromkeys(question.items, READ[name])))
    return found


REPLIES = true_replies()


def verdicts(text: str, items: dict[str, type[Item]]) -> dict[str, Any] | None:
    """What is read, reasons and quotes apart; None where the reply is refused."""
    try:
        reading = read_items(text, items)
    except MalformedReply:
        return None
    return {
        name: item.model_dump(exclude={"reason", "reasoning"})
        for name, item in reading.items.items()
    } | dict.fromkeys(reading.lacking)


@every_text
def test_a_text_copied_into_a_reason_or_a_quote_changes_no_verdict(hostile: str) -> None:
    for reply, items, expected in REPLIES:
        copied = {"items": [{**item, "reason": hostile} for item in reply["items"]]}
        if "quote" in next(iter(expected.values())):
            for item in copied["items"]:
                item["details"] = [f"c01: {hostile}"]
            quote = re.sub("[\ud800-\udfff]", "\ufffd", hostile).strip()
            expected = {
                name: {**item, "evidence": ["c01"], "quote": quote}
                for name, item in expected.items()
            }
        for text in (json.dumps(copied), json.dumps(copied, ensure_ascii=False, indent=1)):
            assert verdicts(text, items) == expected
            for around in (f"```json\n{text}\n```", f"<think>So.</think>\n{text}", f"So: {text}"):
                assert verdicts(around, items) == expected


RAW: dict[str, Callable[[str, str], str]] = {
    "before": lambda hostile, reply: f"{hostile}\n{reply}",
    "after": lambda hostile, reply: f"{reply}\n{hostile}",
    "on both sides": lambda hostile, reply: f"{hostile}{reply}{hostile}",
    "before a fence": lambda hostile, reply: f"{hostile}\n```json\n{reply}\n```",
    "behind a fence": lambda hostile, reply: f"```json\n{reply}\n```\n{hostile}",
    "in thoughts": lambda hostile, reply: f"<think>{hostile}</think>{reply}",
    "around a fence": lambda hostile, reply: f"So: {hostile} ```json\n{reply}\n``` {hostile}",
    "in a comment": lambda hostile, reply: reply.replace("{", f"{{ /* {hostile} */", 1),
    "in a line's comment": lambda hostile, reply: reply.replace("{", f"{{ // {hostile}\n", 1),
    "behind thoughts": lambda hostile, reply: f"<think>{reply}</think>{reply}{hostile}",
    "behind a swallowed reply": lambda hostile, reply: f"<think>{reply}</think>{hostile}",
}


@every_text
def test_a_text_written_beside_a_reply_changes_no_verdict(hostile: str) -> None:
    for place, write in RAW.items():
        for reply, items, expected in REPLIES:
            told = verdicts(write(hostile, json.dumps(reply)), items)
            assert told in (expected, None), place


@every_text
def test_a_text_copied_with_its_quote_marks_changes_no_verdict(hostile: str) -> None:
    for reply, items, expected in REPLIES:
        text = json.dumps(reply)
        for quoted in (text.replace("It does not say.", hostile), text.replace(" say.", hostile)):
            told = verdicts(quoted, items) or {}
            for name, item in told.items():
                assert item is None or item == expected[name]


@every_text
def test_a_text_as_a_reply_is_read_or_refused_at_once(hostile: str) -> None:
    begun = time.process_time()
    for text in (hostile, f"<think>{hostile}</think>{hostile}", f'{{"p01": "{hostile}'):
        for read in (json_objects, drafts):
            with suppress(MalformedReply):
                read(text)
        for _, items, _ in REPLIES:
            verdicts(text, items)
    assert time.process_time() - begun < 1


@every_text
def test_a_text_in_a_made_question_stays_a_text(hostile: str) -> None:
    (asked,) = by_task(matter("", ""))["probes"]
    said = {"verdict": "no", "details": ["Who?", hostile, "When?"]}
    reply = reply_to(asked[0].request(), {"n01": said})
    for text in (json.dumps(reply), json.dumps(reply, ensure_ascii=False)):
        (made,) = (verdicts(text, asked[0].items) or {"": None}).values()
        written = re.sub("[\ud800-\udfff]", "\ufffd", hostile).strip()
        whole = {"q1": "Who?", "q2": written, "q3": "When?", "noncommittal": False}
        expected = whole if written else None
        assert made == expected
