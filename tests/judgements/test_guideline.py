"""Guidelines: what people and models are told of a kind, and what only one of them is."""

import re
import sys
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

from ragstone.judgements import (
    ASKS,
    KINDS,
    Agreement,
    Ask,
    Column,
    Guideline,
    Kind,
    Quality,
    Relevance,
    Support,
    answered_by,
    filled,
    guideline_of,
    instructions_for_people,
    is_in,
    kind_of,
    languages,
    meaning,
)
from ragstone.judgements.guideline import places

TEXT = """# Tone: how does it sound?

How ANSWER speaks.

Two paragraphs.

## For models

Say it.

## For people

Take your time.

## Hard cases

- Slang: casual.
"""


def test_a_guideline_has_a_title_and_says_who_is_told_what() -> None:
    assert Guideline.read(TEXT) == Guideline(
        "Tone: how does it sound?",
        "How ANSWER speaks.\n\nTwo paragraphs.",
        "Say it.",
        "Take your time.",
        "- Slang: casual.",
    )


def test_sections_may_be_absent_and_stand_in_any_order() -> None:
    text = "# Tone\n## Hard cases\n- One.\n## For models\nSay it.\n"
    assert Guideline.read(text) == Guideline("Tone", "", "Say it.", "", "- One.")
    assert Guideline.read("# Tone") == Guideline("Tone")


def test_a_text_without_a_title_is_all_definition() -> None:
    text = "Be strict.\n\n## Hard cases\n- One."
    assert Guideline.read(text) == Guideline("", text)


def test_another_heading_stays_where_it_stands() -> None:
    found = Guideline.read("# Tone\n\nSee.\n\n## For me\n\nThis.\n\n## Hard cases\n- One.")
    assert (found.definition, found.hard_cases) == ("See.\n\n## For me\n\nThis.", "- One.")


def test_a_place_is_filled_with_what_values_mean() -> None:
    told = filled("It is:\n{verdict}", Support)
    assert [line.partition(":")[0] for line in told.splitlines()] == [
        "It is",
        "- `supported`",
        "- `contradicted`",
        "- `absent`",
    ]
    assert meaning(Relevance, "grade").startswith("- 0: it does not help.\n- 1: ")
    assert meaning(Quality, "focus").startswith("4 nothing beyond the question, 3 ")
    assert meaning(Quality, "incomplete") == "something asked for is not there"


def test_a_place_may_name_a_part_of_the_kind_or_another_kind() -> None:
    assert filled("{claim.verdict}", Agreement).count("\n- ") == 2
    assert filled("{statement.verdict}", Agreement).count("\n- ") == 3
    assert filled("{agreement.verdict}", Support).count("\n- ") == 6


@pytest.mark.parametrize("place", ["{nothing}", "{nobody.verdict}", "{claim.nothing}"])
def test_a_place_for_what_no_kind_has_is_an_error(place: str) -> None:
    with pytest.raises(KeyError):
        filled(place, Agreement)


def test_braces_of_another_sort_are_text() -> None:
    assert filled('{"items": []} {} {a b}', Support) == '{"items": []} {} {a b}'


@pytest.mark.parametrize(
    "kind",
    sorted({kind_of(ask).name for ask in answered_by("people") | answered_by("model")}
           | {kind.name for kind in KINDS.values() if kind.labels()}),
)  # fmt: skip
def test_whoever_is_asked_is_told_what_and_what_is_hard(kind: str) -> None:
    guideline = guideline_of(KINDS[kind])
    assert guideline.title.endswith("?") or kind == "critique"
    assert guideline.definition
    assert guideline.hard_cases.startswith(("- ", '"'))
    assert "{" not in filled(guideline.for_models, KINDS[kind])


def test_a_kind_without_a_file_is_explained_by_its_module(tmp_path: Path) -> None:
    module = ModuleType("kind_of_a_test", "Mood: is it glad?\n\nHow ANSWER feels.")
    module.__file__ = str(tmp_path / "kind_of_a_test.py")
    sys.modules[module.__name__] = module
    try:
        columns = {"glad": Column(pl.Boolean, "it is", role="verdict")}
        given = {"name": "mood", "asks": (Ask(),), "__module__": module.__name__, **columns}
        kind = type("Mood", (Kind,), given)
        assert guideline_of(kind) == Guideline("Mood: is it glad?", "How ANSWER feels.")
        (tmp_path / "mood.md").write_text("# Mood: is it sad?\n\nLook.", encoding="utf-8")
        assert guideline_of(kind) == Guideline("Mood: is it sad?", "Look.")
    finally:
        KINDS.pop("mood", None)
        ASKS.pop("mood", None)
        del sys.modules[module.__name__]


LABELLED = sorted(
    name for name, kind in KINDS.items() if kind.labels() or kind.having("topic")
)  # fmt: skip


@pytest.mark.parametrize("kind", [KINDS[name] for name in LABELLED])
def test_a_guideline_in_german_names_every_label_value_and_hard_case(kind: type[Kind]) -> None:
    english, german = (instructions_for_people(kind, language=one) for one in languages())
    names = re.compile(r"^`\w+`|^- (?:`\w+`|\d)(?=:)", re.MULTILINE)
    assert names.findall(german) == names.findall(english)
    cases = [text.rpartition("\n## ")[2].splitlines() for text in (english, german)]
    assert [line[:2] == "- " for line in cases[0]] == [line[:2] == "- " for line in cases[1]]
    assert german.count("\n\n") == english.count("\n\n")
    assert not places(german)


def test_a_guideline_in_german_is_cut_to_the_labels_that_are_asked() -> None:
    told = instructions_for_people(KINDS["quality"], ["helpful"], "German")
    assert "`helpful`: ja, wenn " in told
    assert "`incomplete`" not in told
    assert "## Schwierige Fälle" in told
    assert languages() == ("English", "German")


def test_a_guideline_without_a_translation_is_read_in_english() -> None:
    assert is_in(Support, "German")
    assert not is_in(Support, "Klingon")
    assert instructions_for_people(Support, language="Klingon") == instructions_for_people(Support)
