"""A judge beside people on a handful of units: what is said of it, worked out by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate
from ragstone.analysis.calibration.column_checks import JudgeCheck, check_column
from ragstone.analysis.calibration.corrected_means import LabelledScores, is_rate
from ragstone.analysis.calibration.judge_identity import (
    PARTS,
    JudgeIdentity,
    changes,
    fingerprint_of_labels,
    flip_rates,
    identity,
)
from ragstone.analysis.calibration.labelled_run import LabelledRun
from ragstone.analysis.calibration.people_scores import (
    judged_units,
    labelled_in_part,
    people_scores,
    units_of,
    weights_of,
)
from ragstone.analysis.scored_run import ValueRange
from ragstone.annotation.label_table import SCHEMA, LabelTable
from ragstone.annotation.read_labels import labels_of
from ragstone.data import Context, Example
from ragstone.judgements import KINDS
from ragstone.metrics import parse_metric
from ragstone.run import Run
from ragstone.run.folder.schemas import JudgeForm, Manifest
from ragstone.run.settings import RunSettings

RATE = ValueRange(0.0, 1.0, "+", rate=True)
SHARE = ValueRange(0.0, 1.0, "+", rate=False)


def check(
    kind: str,
    people: Sequence[str] | Sequence[float],
    judge: Sequence[str] | Sequence[float],
    probability: Sequence[float | None] | None = None,
) -> JudgeCheck:
    """Words, or numbers, of people and the judge on as many units."""
    n = len(people)
    words = {"people": [str(one) for one in people], "value": [str(one) for one in judge]}
    numbers: dict[str, Sequence[Any]] = {"people_number": people, "number": judge}
    if isinstance(people[0], str):
        numbers = {"people_number": [None] * n, "number": [None] * n}
    rows = pl.DataFrame(
        {
            **words,
            **numbers,
            "probability": probability or [None] * n,
            "unit": [None] * n,
            "cluster": [f"q{at}" for at in range(n)],
            "system": ["a"] * n,
            "length": [5] * n,
            "weight": [None] * n,
        },
        schema_overrides={"people_number": pl.Float64, "number": pl.Float64,
                          "probability": pl.Float64, "unit": pl.String, "weight": pl.Float64},
    )  # fmt: skip
    column = KINDS[kind].decides if kind in KINDS else "verdict"
    return check_column(kind, column, rows, "youden", 0.95, 0)


# What is a yes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "yes", "no"),
    [
        ("support", "supported", "absent"),
        ("support", "supported", "contradicted"),
        ("agreement", "matches", "contradicts"),
        ("agreement", "full", "partial"),
        ("response", "abstain", "refuse"),
    ],
)
def test_of_several_words_the_one_that_is_asked_for_is_a_yes(kind: str, yes: str, no: str) -> None:
    """People say yes to four, of which the judge finds three; of three noes it takes one for it."""
    people, judge = [yes] * 4 + [no] * 3, [yes] * 3 + [no] * 3 + [yes]
    found = check(kind, people, judge).to_dict()
    assert found["sensitivity"] == pytest.approx(3 / 4)
    assert found["specificity"] == pytest.approx(2 / 3)
    assert (found["n"], found["weighting"]) == (7, "nominal")


def test_words_without_a_yes_have_no_sensitivity() -> None:
    found = check("own", ["sea", "mine", "sea"], ["sea", "mine", "mine"]).to_dict()
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert (found["sensitivity"], found["specificity"], found["auroc"]) == (None, None, None)


def test_ratings_agree_by_their_distance() -> None:
    found = check("rating", [0, 0.5, 1, 0.5], [0, 0.5, 1, 1])
    assert found.weighting == "quadratic"
    # 1 - observed / expected squared distances: .25 / 4 against the mean of all pairs of rows.
    pairs = [(a - b) ** 2 for a in (0, 0.5, 1, 0.5) for b in (0, 0.5, 1, 1)]
    assert found.kappa.value == pytest.approx(1 - (0.25 / 4) / (sum(pairs) / 16))
    assert found.spearman is not None
    assert found.kendall is not None


def test_a_judge_that_says_yes_and_no_has_no_threshold_and_no_error_of_calibration() -> None:
    found = check("relevance", [1, 1, 0, 0, 1], [1, 0, 0, 0, 1])
    assert (found.threshold, found.error) == (None, None)
    assert found.auroc is not None


def test_probabilities_are_held_against_how_often_people_say_yes() -> None:
    """It says .4 of ten units, of which half are a yes: wrong by .1."""
    found = check("relevance", [1, 0] * 5, [0] * 10, [0.4] * 10)
    assert found.error is not None
    assert found.error.value == pytest.approx(0.1)
    assert found.to_dict()["ece"] == found.error.value
    assert found.threshold is not None


def test_a_verdict_is_what_the_judge_said_whatever_its_probability() -> None:
    found = check("relevance", [1, 1, 0, 0], [1, 1, 0, 0], [0.45, 0.4, 0.3, 0.2])
    assert found.yes is not None
    assert found.yes.sensitivity is not None
    assert found.yes.sensitivity.value == 1


# The correction -------------------------------------------------------------------------------


def labelled(
    judge: Sequence[float], people: Sequence[float | None], scale: ValueRange = RATE
) -> LabelledScores:
    n = len(judge)
    scores = pl.DataFrame(
        {"example_id": [str(at) for at in range(n)], "system": ["a"] * n, "value": judge,
         "label": [None] * n, "status": ["value"] * n, "reason": [None] * n,
         "people": people, "weight": [None] * n, "cluster": [f"q{at}" for at in range(n)]},
        schema_overrides={"label": pl.String, "value": pl.Float64, "people": pl.Float64,
                          "weight": pl.Float64},
    )  # fmt: skip
    return LabelledScores("hit", {}, scores, scale, scale.rate)


def test_of_a_verdict_that_nobody_labelled_no_corrected_score_is_known() -> None:
    found = labelled([0, 0, 1, 1, 1], [None, None, 1, 0, None]).example_scores()
    assert found["corrected"].to_list() == [None, None, 1.0, 0.0, 0.5]


def test_a_rate_is_corrected_by_design_unless_another_way_is_named() -> None:
    """Ten of forty are a yes: of twenty labels five are to be expected, which PPI++ takes."""
    people = [*[1.0] * 5, *[None] * 5, *[0.0] * 15, *[None] * 15]
    found = labelled([1.0] * 10 + [0.0] * 30, people).corrected().at(0.95)
    assert found.method == "ppi_plus_plus"


def test_a_quantity_has_no_doubt_of_a_draw_that_nothing_speaks_against() -> None:
    assert labelled([0, 1, 1], [0, 1, 1]).quantity().not_random is None


@pytest.mark.parametrize(
    ("people", "scale", "expected"),
    [
        ([0.0, 1.0, None], SHARE, True),
        ([1.0, None, 1.0], SHARE, True),
        ([0.0, 0.5, 1.0], SHARE, False),
        ([0.0, 0.5, 1.0], RATE, True),
        ([0.0, 1.0, 1.0], ValueRange(-1.0, 1.0, "+", rate=False), False),
    ],
)
def test_zeros_and_ones_of_people_make_a_rate(
    people: Sequence[float | None], scale: ValueRange, expected: bool
) -> None:
    assert is_rate(pl.DataFrame({"people": people}), scale) is expected


# What the judge said --------------------------------------------------------------------------


class Said:
    """A run of which only the ledger and the tables of judgements are there."""

    path = Path("run")

    def __init__(self, kind: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self.kind = kind
        schema = {"example_id": pl.String, **KINDS[kind].schema()}
        self.table = pl.DataFrame(
            [{"judge": "m", "subject": "s"} | dict(row) for row in rows], schema=schema
        )

    def ledger(self) -> pl.DataFrame:
        return self.table.select("example_id", "judge", "subject", status=pl.lit("ok"))

    def judgements(self, kind: str) -> pl.DataFrame:
        if kind == self.kind:
            return self.table
        return pl.DataFrame(schema={"example_id": pl.String, **KINDS[kind].schema()})


def said(kind: str, *rows: Mapping[str, Any]) -> Run:
    return Said(kind, rows)  # type: ignore[return-value]


def rated(*scores: float) -> Run:
    return said("rating", *({"example_id": str(at), "criterion": "tone", "score": score}
                            for at, score in enumerate(scores)))  # fmt: skip


def test_votes_that_are_even_say_nothing() -> None:
    votes = {"even": (True, False), "for": (True, True, False), "against": (False, False, True)}
    rows = [{"example_id": id, "aspect": "harm", "index": at, "verdict": vote}
            for id, several in votes.items() for at, vote in enumerate(several)]  # fmt: skip
    run = said("critique", *rows)
    found = judged_units(run).select("example_id", "value", "number")
    assert found.rows() == [("for", "true", 1.0), ("against", "false", 0.0)]


def test_people_can_name_claims_and_statements_of_the_first_reference_alone() -> None:
    """No label file has a name for gold evidence, or for what further references state."""
    places = (("claim", 0, 3), ("statement", 0, 1), ("statement", 1, 2), ("evidence", 0, 4))
    run = said("support", *({"example_id": "e", "origin": origin, "author": "m", "index": index,
                             "reference": reference, "verdict": "supported"}
                            for origin, reference, index in places))  # fmt: skip
    assert judged_units(run)["unit"].to_list() == ["claim 4", "statement 2"]


def test_what_a_person_said_is_no_word_of_a_judge() -> None:
    judges = ("human", "human:ann", "m", "hum", "humanlike")
    rows = [{"example_id": str(at), "judge": judge, "response_type": "answer"}
            for at, judge in enumerate(judges)]  # fmt: skip
    found = judged_units(said("response", *rows))
    assert found["judge"].to_list() == ["m", "hum", "humanlike"]


def test_numbers_that_differ_by_rounding_are_the_same_word() -> None:
    (found,) = flip_rates(rated(0.1, 0.5, 0.25, 1.0), rated(0.1 + 1e-12, 0.5, 0.75, 1.0))
    assert (found.what, found.value, found.n) == ("rating.tone", 0.25, 4)


def test_words_without_a_number_flip_where_they_differ() -> None:
    one, other = (
        said("response", *({"example_id": str(at), "response_type": word}
                           for at, word in enumerate(words)))
        for words in (("answer", "refuse"), ("answer", "abstain"))
    )  # fmt: skip
    (found,) = flip_rates(one, other)
    assert (found.value, found.n) == (0.5, 2)


# Who the judge is -----------------------------------------------------------------------------

SETTINGS: Mapping[str, Any] = {
    "llm": {"judges": {"m": ["m@1"]}, "prompts": {"support": "1"}, "rubrics": "r1", "plan": "lean"},
    "data": "", "definitions": {}, "cluster": "",
    "local": ["1"], "nli": ["nli:x@1"], "encoder": "e1", "cross_encoder": "c1", "bertscore": "b1",
    "citations": "numbers",
}  # fmt: skip


def judged(**changed: Any) -> Manifest:
    kinds = {"m": ["claims"], "local": ["claims"], "human:ann": ["claims"], "mute": []}
    return Manifest.model_construct(
        settings=RunSettings(**{**SETTINGS, **changed}),
        judges=[JudgeForm(name=name, about="", kinds=filled) for name, filled in kinds.items()],
    )


def llm(**changed: Any) -> Mapping[str, Any]:
    return {"llm": {**SETTINGS["llm"], **changed}}


def test_identity_has_every_model_prompt_and_setting_that_a_word_depends_on() -> None:
    assert identity(judged()).to_dict() == {
        "judges": ["local", "m"], "models": {"m": ["m@1"]}, "prompts": {"support": "1"},
        "rubrics": "r1", "plan": "lean", "local": ["1"], "nli": ["nli:x@1"], "encoder": "e1",
        "cross_encoder": "c1", "bertscore": "b1", "citations": "numbers",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (llm(plan="full"), "plan: was lean, is full"),
        (llm(rubrics="r2"), "rubrics: was r1, is r2"),
        (llm(judges={"m": ["m@2"]}), "models: m was m@1, is m@2"),
        (llm(prompts={}), "prompts: support was 1, is none"),
        ({"local": ["1", "2"]}, "local: was 1, is 1, 2"),
        ({"nli": []}, "nli: was nli:x@1, is none"),
        ({"encoder": "e2"}, "encoder: was e1, is e2"),
        ({"cross_encoder": "c2"}, "cross_encoder: was c1, is c2"),
        ({"bertscore": "b2"}, "bertscore: was b1, is b2"),
        ({"citations": "x" * 60}, f"citations: was numbers, is {'x' * 60}"),
        ({"citations": "x" * 61}, f"citations: was numbers, is {'x' * 59}…"),
    ],
)
def test_what_changed_of_a_judge_is_one_line(changed: Mapping[str, Any], line: str) -> None:
    assert changes(identity(judged()), identity(judged(**changed))) == [line]
    assert changes(identity(judged()), identity(judged())) == []


def test_a_part_that_only_a_later_version_knows_is_a_change_too() -> None:
    now = identity(judged())
    later = JudgeIdentity.model_validate(now.to_dict() | {"tools": "search"})
    assert changes(later, now) == ["tools: was search, is none"]
    assert later.id != now.id


# What people said -----------------------------------------------------------------------------


def record(id: str, **labels: Mapping[str, int]) -> dict[str, Any]:
    return {"id": id, "labels": labels}


def test_labels_are_the_same_in_whatever_order_they_stand() -> None:
    one, other = record("1", helpful={"ann": 1}), record("2", helpful={"ben": 0, "cy": 1})
    turned = record("2", helpful={"cy": 1, "ben": 0})
    first = fingerprint_of_labels(labels_of([one, other]))
    assert first == fingerprint_of_labels(labels_of([turned, one]))
    assert first != fingerprint_of_labels(labels_of([one, record("2", helpful={"ben": 0})]))


def example(**more: Any) -> Example:
    return Example(
        id="1", question_id="q", system="a", question="How long?", answer="Long.", **more
    )


EXAMPLE = example(reference=("Long.",))


def test_people_score_only_what_they_said_something_of() -> None:
    """Token F1 goes by rules and is nobody's word; a value of another metric is not asked for."""
    metrics = [parse_metric("helpfulness"), parse_metric("token_f1")]
    labels = labels_of([record("1", helpful={"ann": 1}, rouge_l={"ann": 0})])
    found = people_scores([EXAMPLE], labels, metrics)
    assert found.rows() == [("1", "helpfulness", 1.0)]


def test_a_label_of_the_whole_answer_is_no_score_of_its_claims() -> None:
    """It would give a value where nothing is unsupported, and none where something is."""
    claims = [{"text": "Long."}, {"text": "Short."}]
    answer = {"unsupported_claim_present": 0}
    labelled = example(contexts=(), labels={"claims": claims, "answer": answer})
    metrics = [parse_metric("faithfulness"), parse_metric("unsupported_claim")]
    found = people_scores([labelled], labels_of([record("1", helpful={"ann": 1})]), metrics)
    assert found.rows() == [("1", "unsupported_claim", 0.0)]


def test_a_value_that_a_person_gave_goes_before_the_rule() -> None:
    labels = labels_of([record("1", helpfulness={"ann": 0}, helpful={"ann": 1})])
    found = people_scores([EXAMPLE], labels, [parse_metric("helpfulness")])
    assert found.rows() == [("1", "helpfulness", 0.0)]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"claims": [{"support": "absent"}, {}]}, {"support/claim"}),
        ({"statements": [{"support": "absent"}, {}]}, {"support/statement"}),
        ({"statements": [{"agreement": "full"}, {}]}, {"agreement/statement"}),
        ({"claims": [{"agreement": "matches"}, {"agreement": "extra"}]}, set()),
        ({"statements": [{}, {}]}, set()),
        ({"contexts": [{"misleading": 0}]}, {"relevance"}),
        ({"contexts": [{"misleading": 0}, {"misleading": 1}]}, set()),
        ({"contexts": [{"misleading": 0}, {"topically_relevant": 1}]}, {"relevance"}),
    ],
)
def test_a_unit_left_open_beside_others_is_labelled_in_part(
    labels: Mapping[str, Any], expected: set[str]
) -> None:
    contexts = (Context("c", "One.", 1), Context("d", "Two.", 2))
    assert labelled_in_part(example(contexts=contexts, labels=labels)) == expected


def test_claims_and_statements_that_judges_found_are_counted() -> None:
    claims = said("claims", *({"example_id": "1", "index": at} for at in range(3)))
    statements = said("statements", *({"example_id": "2", "index": at} for at in range(2)))
    assert units_of(claims) == {"claim": {"1": 3}, "statement": {}}
    assert units_of(statements) == {"claim": {}, "statement": {"2": 2}}


def test_the_weight_of_an_example_is_one_over_the_chance_that_any_row_names() -> None:
    rows = [{"example_id": "1", "inclusion_probability": chance} for chance in (None, 0.25)]
    table = LabelTable("", pl.DataFrame([*rows, {"example_id": "2"}], schema=SCHEMA))
    assert sorted(weights_of(table).rows()) == [("1", 4.0), ("2", None)]


def test_each_of_two_systems_is_a_group(tmp_path: Path) -> None:
    rows = [{"id": system, "system": system, "question": "Where?", "answer": "Here.",
             "reference": "Here."} for system in "ab"]  # fmt: skip
    run = evaluate(rows, metrics=["token_f1"], out=tmp_path / "run")
    of = LabelledRun(run, labels_of([record("a", token_f1={"ann": 1})]))
    assert list(of.groups()) == [{}, {"system": "a"}, {"system": "b"}]


def test_labels_stand_beside_their_example_and_so_does_every_field_of_its_slices() -> None:
    data = [
        {"id": id, "question": f"What is {id}?", "answer": id, "reference": id, "slices": slices}
        for id, slices in (("a", {"kind": "x"}), ("b", {"kind": None}), ("c", {"kind": "x"}),
                           ("d", {}))
    ]  # fmt: skip
    run = evaluate(data, metrics=["token_f1", "exact_match"])
    asked = [record("c", token_f1={"ann": 1}), record("b", exact_match={"ann": 1})]
    rows = LabelledRun(run, labels_of(asked)).scores["token_f1"]
    assert rows["example_id"].to_list() == ["a", "b", "c", "d"]
    assert rows["people"].to_list() == [None, None, 1, None]
    assert rows["slice kind"].to_list() == ["x", None, "x", None]


def test_the_identity_takes_no_model_for_people_or_for_the_local_judge() -> None:
    names = ("human", "human:ann", "humanlike", "local_x")
    settings: Any = SimpleNamespace(llm=None, local=["local/2@abc"], **dict.fromkeys(PARTS))
    judges = [SimpleNamespace(name=name, kinds=["claims"]) for name in names]
    form: Any = SimpleNamespace(settings=settings, judges=judges)
    found = identity(form)
    assert found.judges == ["humanlike", "local_x"]
    assert found.local == []
    judges.append(SimpleNamespace(name="local:strings", kinds=["claims"]))
    assert identity(form).local == ["local/2@abc"]
