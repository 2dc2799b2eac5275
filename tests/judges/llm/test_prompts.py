"""The prompts of the package, and those a user puts in their place."""

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import pytest

from ragstone.core.errors import InputError
from ragstone.judgements import RESPONSE_TYPES, STATEMENT_VERDICTS, SUPPORT_VERDICTS
from ragstone.judges.llm.answer_tasks import ProbesMade
from ragstone.judges.llm.claim_tasks import (
    AnswerClaims,
    ClaimAgreement,
    ReferenceStatements,
    StatementAgreement,
)
from ragstone.judges.llm.context_tasks import PassageRelevance, PropositionSupport
from ragstone.judges.llm.prompts import asked_kinds, load_prompts
from ragstone.judges.llm.questions import SCHEMA, Item, Piece, Question, listing
from ragstone.judges.llm.questions import WORDS as REPEATED
from ragstone.judges.llm.replies import read_items
from tests.project import ROOT

OWN = load_prompts()
HARD_CASES = json.loads(Path(__file__).with_name("hard_cases.json").read_text("utf-8"))
CORE = ("claims", "statements", "relevance", "support", "agreement")
SORTS: dict[str, tuple[type[Item], ...]] = {
    "claims": (AnswerClaims,),
    "statements": (ReferenceStatements,),
    "relevance": (PassageRelevance,),
    "support": (PropositionSupport,),
    "agreement": (ClaimAgreement, StatementAgreement),
}
WORDS = {
    "claims": RESPONSE_TYPES,
    "statements": (),
    "support": SUPPORT_VERDICTS,
    "agreement": STATEMENT_VERDICTS,
    "relevance": ("misleading",),
}
LONGEST = 2_200


def test_every_task_has_a_prompt() -> None:
    assert set(OWN.texts) == {"system", *asked_kinds()}
    assert all(text.strip() for text in OWN.texts.values())


@pytest.mark.parametrize("task", CORE)
def test_prompt_is_short(task: str) -> None:
    assert len(OWN.texts[task]) <= LONGEST


@pytest.mark.parametrize("task", CORE)
def test_prompt_says_what_each_verdict_of_the_guideline_means(task: str) -> None:
    said = set(re.findall(r"`([^`]+)`", OWN.texts[task]))
    assert said >= set(WORDS[task])


def test_prompt_of_relevance_says_what_each_grade_means() -> None:
    assert re.findall(r"^- (\d):", OWN.texts["relevance"], re.MULTILINE) == [*"0123"]


@pytest.mark.parametrize("task", CORE)
def test_prompt_explains_what_a_reply_to_it_holds(task: str) -> None:
    said = set(re.findall(r"`([^`]+)`", OWN.texts[task]))
    shown = any(sort.example for sort in SORTS[task])
    assert said >= {"verdict", *(["details"] if shown else [])}


def test_the_system_prompt_explains_every_field_of_a_reply() -> None:
    fields = SCHEMA["properties"]["items"]["items"]["properties"]
    assert set(re.findall(r"^- `(\w+)`", OWN.system, re.MULTILINE)) == set(fields)


def test_the_schema_is_one_that_strict_servers_take() -> None:
    """Every object names its fields, requires all and has no others."""

    def check(schema: dict[str, Any]) -> None:
        match schema:
            case {"type": "object", "properties": fields, "additionalProperties": False}:
                assert [*fields] == schema["required"]
                for field in fields.values():
                    check(field)
            case {"type": "array", "items": items}:
                check(items)
            case _:
                assert schema == {"type": "string"}

    check(SCHEMA)


@pytest.mark.parametrize("sort", [*chain.from_iterable(SORTS.values()), ProbesMade])
def test_a_worked_reply_reads(sort: type[Item]) -> None:
    piece = Piece("t", "", (), {"p01": sort})
    example = Question((piece,), "S").request().example
    assert '"p99"' in example
    assert read_items(example, {"p99": sort}).lacking == {}


def test_the_system_prompt_and_the_worked_reply_repeat_as_many_words_as_tests_do() -> None:
    piece = Piece("t", "", (), {"p01": PropositionSupport})
    (worked,) = json.loads(Question((piece,), "S").request().example)["items"]
    assert len(worked["words"].split()) == REPEATED == 5
    assert "the first five words of the text" in OWN.system


def test_a_worked_reply_shows_words_of_other_languages_as_they_are() -> None:
    class Fitting(Item):
        verdict: Literal["gültig", "nichtig"]

    piece = Piece("t", "", (), {"p01": Fitting})
    assert '"verdict": "gültig"' in Question((piece,), "S").request().example


@pytest.mark.parametrize("task", CORE)
def test_prompt_has_four_to_ten_hard_cases(task: str) -> None:
    cases = OWN.texts[task].partition("Hard cases")[2]
    assert 4 <= len(re.findall(r"^- ", cases, re.MULTILINE)) <= 10


@pytest.mark.parametrize(("task", "cases"), HARD_CASES.items())
def test_no_hard_case_of_the_first_prompts_is_lost(task: str, cases: list[str]) -> None:
    """As they stood when prompts were files of their own, before people were told them too."""
    told = OWN.texts[task].splitlines()
    assert [case for case in cases if case not in told] == []


def test_a_file_may_leave_the_meaning_of_values_to_the_kind(tmp_path: Path) -> None:
    text = "# Support: is it so?\n\nBe strict.\n\n## For models\n\n{verdict}\n"
    (tmp_path / "support.md").write_text(text, encoding="utf-8")
    told = load_prompts(tmp_path).instructions("support")
    assert told.startswith("# Task support: is it so?\n\nBe strict.\n\n- `supported`: a careful")


def test_file_of_a_folder_stands_in_for_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "support.md").write_text("Be strict.", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no prompt", encoding="utf-8")
    replaced = load_prompts(tmp_path)
    assert replaced.texts["support"] == "Be strict."
    assert replaced.texts["claims"] == OWN.texts["claims"]


def test_version_is_that_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "support.md").write_text("Be strict.", encoding="utf-8")
    replaced = load_prompts(tmp_path)
    changed = {
        name for name, version in replaced.versions().items() if version != OWN.versions()[name]
    }
    assert changed == {"support"}
    assert all(re.fullmatch("[0-9a-f]{8}", version) for version in OWN.versions().values())


def test_a_question_is_named_after_its_tasks_in_letters_that_servers_take() -> None:
    pieces = [
        Piece(task, "", (), {name: PropositionSupport})
        for task, name in (("relevance", "c01"), ("support", "p01"))
    ]
    assert Question(tuple(pieces), "S").request().name == "relevance_and_support"


def test_language_is_asked_for_and_part_of_the_version() -> None:
    german = load_prompts(language="German")
    assert "German" in german.system
    assert german.versions() == OWN.versions() | {"language": "German"}
    assert "language of the texts" in OWN.system


def test_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        load_prompts(tmp_path / "gone")


def test_folder_without_prompts_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"^prompts=.*holds no prompt.*Prompts are: system\.md, claims\.md"
    ):
        load_prompts(tmp_path)


def test_every_fault_of_a_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "suport.md").write_text("Be strict.", encoding="utf-8")
    (tmp_path / "claims.md").write_text(" \n", encoding="utf-8")
    (tmp_path / "quality.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "rating.md").write_text("Use {scale}.", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_prompts(tmp_path)
    for fault in (
        "suport.md is the prompt of no task",
        "claims.md is empty",
        "quality.md is not UTF-8",
        "rating.md names 'scale', which no kind has",
    ):
        assert fault in str(caught.value)


def test_faults_of_a_folder_are_listed_by_the_names_of_files(tmp_path: Path) -> None:
    for name in "gcbhadfe":
        (tmp_path / f"{name}.md").write_text("Be strict.", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_prompts(tmp_path)
    assert re.findall(r"(\w)\.md is", str(caught.value)) == [*"abcdefgh"]


def test_the_documentation_shows_a_block_as_models_see_it() -> None:
    page = (ROOT / "docs" / "own-questions.md").read_text("utf-8")
    assert listing("PROPOSITIONS", {"p01": "The bridge opened in 1859."}).rstrip() in page


def test_a_rubric_may_ask_about_the_tone_that_ratings_leave_out_otherwise() -> None:
    assert "unless the rubric asks about it, length, tone" in OWN.texts["rating"]
