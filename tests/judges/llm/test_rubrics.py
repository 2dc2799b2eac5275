"""Rubrics: those of the package, and what a user's file may hold."""

from pathlib import Path

import pytest

from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import Topic
from ragstone.judges.llm.rubrics import (
    FIXED,
    Point,
    Rubric,
    check_topics,
    load_rubrics,
    standing_in,
)
from ragstone.metrics import SUITES, parse_metric, wanted_topics

CLARITY = """
[clarity]
about = "How easily ANSWER is understood."
sees = ["answer", "question"]
steps = ["Mark every term that is not explained."]
points = [
  { value = 0, means = "Not at all." },
  { value = 0.5, means = "With effort." },
  { value = 1.0, means = "At once." },
]
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_every_criterion_that_a_metric_of_ours_wants_has_a_rubric() -> None:
    names = ("rating", "factual_accuracy_rated", "overall_weighted", "overall_simple")
    check_topics(wanted_topics(map(parse_metric, names)), load_rubrics())


def test_the_three_factual_criteria_have_five_steps_from_0_to_1() -> None:
    rubrics = load_rubrics()
    for name in ("factual_correctness", "factual_completeness", "factual_consistency"):
        rubric = rubrics[name]
        assert [point.value for point in rubric.points] == [0, 0.25, 0.5, 0.75, 1]
        assert rubric.steps
        assert set(rubric.sees) == {"question", "answer", "reference"}


def test_source_attribution_goes_from_none_to_explicit() -> None:
    points = load_rubrics()["source_attribution"].points
    assert (points[0].value, points[-1].value) == (0.2, 1.0)


def test_every_rubric_of_ours_rises_to_1_and_is_short() -> None:
    for rubric in load_rubrics().values():
        values = [point.value for point in rubric.points]
        assert values == sorted(set(values)), rubric.name
        assert 0 <= values[0] < values[-1] == 1
        assert len(rubric.text) <= 1_600


def test_the_criteria_of_a_file_stand_beside_ours(tmp_path: Path) -> None:
    rubrics = load_rubrics(written(tmp_path, CLARITY))
    assert set(rubrics) == {*load_rubrics(), "clarity"}
    assert rubrics["clarity"] == Rubric(
        "clarity",
        "How easily ANSWER is understood.",
        ("question", "answer"),
        (Point(0.0, "Not at all."), Point(0.5, "With effort."), Point(1.0, "At once.")),
        ("Mark every term that is not explained.",),
        "best",
    )


def test_a_rubric_is_read_by_a_model_with_its_steps_and_numbered_points(tmp_path: Path) -> None:
    text = load_rubrics(written(tmp_path, CLARITY))["clarity"].text
    assert text == (
        "## Rubric of item `rating_clarity`\n\nHow easily ANSWER is understood.\n\n"
        "Steps:\n1. Mark every term that is not explained.\n\n"
        "Points:\n- 1: Not at all.\n- 2: With effort.\n- 3: At once.\n"
    )


FAULTY = """
plain = 3

[helpfulness]
about = "Ours."
sees = ["answer"]
points = [{ value = 0, means = "No." }, { value = 1, means = "Yes." }]

["Own Name"]
sees = ["policy"]
merge = "worst"
colour = "red"
steps = "one"
points = [{ value = 1.5, means = "" }, { value = true, means = "x" }, { worth = 1 }]

[falling]
about = "A."
sees = ["answer"]
points = [{ value = 1, means = "Yes." }, { value = 0, means = "No." }]

[single]
about = "A."
sees = []
points = [{ value = 1, means = "Yes." }]
"""


def test_the_seven_of_the_rubric_suite_can_be_replaced_and_no_other(tmp_path: Path) -> None:
    seven = {topic.name for topic in wanted_topics(map(parse_metric, SUITES["rubric"].names))}
    assert set(load_rubrics()) - set(FIXED) == seven
    assert len(seven) == 7
    rubrics = load_rubrics(written(tmp_path, CLARITY.replace("clarity", "faithfulness")))
    assert rubrics["faithfulness"].about == "How easily ANSWER is understood."
    assert standing_in(sorted(rubrics), rubrics) == ["faithfulness"]
    assert standing_in(["clarity"], load_rubrics(written(tmp_path, CLARITY))) == []


def test_every_fault_of_a_file_is_listed(tmp_path: Path) -> None:
    file = written(tmp_path, FAULTY)
    with pytest.raises(InputError) as caught:
        load_rubrics(file)
    said = str(caught.value)
    assert str(file) in said
    for fault in (
        "[plain] must be a table",
        "[helpfulness] is a rubric of Ragstone's",
        "[Own Name] a name is made of",
        "[Own Name] about must say",
        "[Own Name] sees must list",
        "[Own Name] merge must be",
        "[Own Name] has no field colour",
        "[Own Name] steps must be",
        "[Own Name] point 1: value must be",
        "[Own Name] point 1: means must say",
        "[Own Name] point 2: value must be",
        "[Own Name] point 3 must have",
        "[falling] points must rise",
        "[single] sees must list",
        "[single] points must list",
    ):
        assert fault in said, fault


@pytest.mark.parametrize("text", ["", "[clarity", "# nothing"])
def test_a_file_without_rubrics_or_that_is_no_toml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"mine\.toml"):
        load_rubrics(written(tmp_path, text))


def test_a_file_that_is_not_there_or_not_utf_8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.toml"):
        load_rubrics(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes(b'[a]\nabout = "\xe9"')
    with pytest.raises(InputError, match="UTF-8"):
        load_rubrics(tmp_path / "latin.toml")


def test_a_criterion_without_a_rubric_is_unknown_and_near_names_are_given() -> None:
    with pytest.raises(UnknownName, match="source_attribution"):
        check_topics([Topic("rating", "source_atribution")], load_rubrics())
    with pytest.raises(UnknownName, match=r"rubric in a TOML file, rubrics=FILE, or"):
        check_topics([Topic("rating", "wit")], load_rubrics())


def test_aspects_are_checked_too_and_rivals_are_not() -> None:
    check_topics([Topic("preference", "any"), Topic("critique", "coherence")], load_rubrics())
    with pytest.raises(UnknownName, match="aspect"):
        check_topics([Topic("critique", "wit")], load_rubrics())


def test_a_rubric_prints_as_it_did_when_run_folders_kept_its_fingerprint() -> None:
    rubric = Rubric("tone", "How kind it is.", ("answer",), (Point(0.5, "Half."),), (), "mean")
    assert repr(rubric) == (
        "Rubric(name='tone', about='How kind it is.', sees=('answer',), "
        "points=(Point(value=0.5, means='Half.'),), steps=(), merge='mean')"
    )
