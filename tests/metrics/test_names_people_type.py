"""A list of names that users of other tools type: each is a metric or leads to one."""

import re
from pathlib import Path

import pytest

from ragstone.core.errors import InputError, UnknownName
from ragstone.judgements import Claims, Topic
from ragstone.judges.llm.rubrics import ASPECTS, load_rubrics
from ragstone.metrics import (
    ALIASES,
    EVERYDAY,
    NEAREST,
    Range,
    alias_note,
    metric,
    metric_types,
    parse_metric,
    read_metric,
    register,
)
from ragstone.metrics import user_metrics as loading
from ragstone.metrics.metric_names import key
from ragstone.report.reason_words import explain

LIST = Path(__file__).with_name("names_people_type.txt")
LINES = [
    re.split(r"\s{2,}", line)
    for line in LIST.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
MEANT = {name: meant[2:] for _, name, meant in LINES if meant[0] in "=~"}
NOTED = [name for _, name, meant in LINES if meant[0] == "~"]
ABSENT = {name: meant[2:].split() for _, name, meant in LINES if meant[0] == "?"}


def test_the_list_holds_every_name_that_we_explain() -> None:
    assert len(LINES) == len(MEANT) + len(ABSENT) > 250
    assert not {*ALIASES, *NEAREST} & set(metric_types())
    assert {key(name) for name in ALIASES} <= {key(name) for name in NOTED}
    missing = {key(name) for name in NEAREST} - {key(name) for name in ABSENT}
    assert {one for one in missing if not any(one in key(name) for name in ABSENT)} == set()


@pytest.mark.parametrize("name", MEANT)
def test_a_name_people_type_is_the_metric_that_they_mean(name: str) -> None:
    made = parse_metric(name)
    assert str(made) == MEANT[name]
    assert read_metric(str(made)) == made
    said = explain(alias_note(name) or "")
    assert said.startswith(f"{name} is {MEANT[name]} here: ") if name in NOTED else said == ""


@pytest.mark.parametrize("name", ABSENT)
def test_a_name_that_no_metric_stands_for_leads_to_the_nearest(name: str) -> None:
    with pytest.raises(UnknownName) as caught:
        parse_metric(name)
    said = str(caught.value).removeprefix(f"No metric is called {name!r}. ")
    assert said != str(caught.value)
    for form in ABSENT[name]:
        assert form in said
    assert ABSENT[name] or "own-metric.md" in said or "Ragstone measures answers" in said
    for form in re.findall(r"\w+\([^()]*\)", said):
        parse_metric(form)


def test_what_an_llm_is_asked_for_such_a_name_has_its_rubric_or_aspect() -> None:
    forms = [*MEANT.values(), *(form for said in NEAREST.values() for form in re.findall(
        r"\w+\([^()]*\)", said))]  # fmt: skip
    for topic in {topic for form in forms for topic in parse_metric(form).topics}:
        assert isinstance(topic, Topic)
        if topic.ask == "rating":
            assert (topic.name in load_rubrics()) != bool(topic.definition)
        elif topic.ask == "critique":
            assert (topic.name in ASPECTS) != bool(topic.definition)


def test_names_that_differ_only_in_spelling_mean_the_same() -> None:
    by_key: dict[str, set[str]] = {}
    for alias, (target, _) in ALIASES.items():
        by_key.setdefault(key(alias), set()).add(target)
    for name in metric_types():
        by_key.setdefault(key(name), set()).add(name)
    assert [targets for targets in by_key.values() if len(targets) > 1] == []
    assert not {key(name) for name in NEAREST} & set(by_key)


def test_parameters_stand_behind_any_spelling_and_win() -> None:
    form = 'precision(k=5, gaps="zero", trec_eval=True)'
    assert str(parse_metric('P_5(gaps="zero")')) == form
    assert str(parse_metric("NDCG@10(k=3)")) == "ndcg(k=3)"
    with pytest.raises(InputError, match="faithfulness has no parameter k"):
        parse_metric("Faithfulness@5")


def test_a_run_reads_only_the_forms_that_runs_write() -> None:
    for text in ("NDCG@10", "answer_relevancy", "Faithfulness"):
        with pytest.raises(UnknownName):
            read_metric(text)


def test_a_metric_of_the_users_own_may_have_an_everyday_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "_OWN", {})

    def completeness(rows: list[dict[str, object]]) -> float:
        return float(len(rows))

    assert "completeness" in EVERYDAY
    assert alias_note("completeness")
    made = metric(over=Claims, columns=("index",), range=Range(0, float("inf")))(completeness)
    register(made)
    assert parse_metric("completeness") == made
    assert alias_note("completeness") is None
