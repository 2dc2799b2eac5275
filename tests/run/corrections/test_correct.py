"""What people correct counts everywhere, as if the judge had said so from the start."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

import polars as pl
import pytest

from ragstone import evaluate, rescore
from ragstone.core import errors
from ragstone.core.errors import CorrectionConflict, DamagedRun, InputError, UnknownName
from ragstone.run import Run
from ragstone.run.corrections import correct as correcting
from ragstone.run.corrections.correct import NOT_ASKED, AskedAgain
from ragstone.run.corrections.correction import Correction, Stamp, Store

METRICS = (
    "faithfulness",
    "hallucination",
    "context_recall",
    "factual_accuracy",
    "precision",
    "list_ndcg(k=2)",
    "answer_outcome",
    'composite(weights="faithfulness:2 precision:1")',
    'composite(weights="faithfulness:1 context_recall:1", missing="renormalise")',
)
Data = list[dict[str, Any]]


def labelled() -> Data:
    """Three questions answered by two systems, judged by people alone."""
    verdicts = [("supported", "absent"), ("contradicted", "supported"), ("supported", "supported")]
    return [
        {
            "id": f"q{number}-{system}",
            "question_id": f"q{number}",
            "system": system,
            "question": f"How long is pier {number}?",
            "answer": "It is 90 m long. It is white.",
            "reference": ["It is 90 m long."],
            "contexts": [
                {"id": "d1", "text": "The pier is 90 m long."},
                {"id": "d2", "text": "The pier is black."},
            ],
            "slices": {"place": "Kent" if number else "Essex"},
            "labels": {
                "response_type": "answer",
                "claims": [
                    {"text": "It is 90 m long.", "support": first, "agreement": "matches"},
                    {"text": "It is white.", "support": second, "agreement": "extra"},
                ],
                "statements": [
                    {"text": "It is 90 m long.", "support": "supported", "agreement": "full"}
                ],
                "contexts": [
                    {"topically_relevant": 1, "evidence_sufficient": 0, "misleading": 0},
                    {"topically_relevant": 0, "evidence_sufficient": 0, "misleading": 0},
                ],
            },
        }
        for number, (first, second) in enumerate(verdicts)
        for system in ("old", "new")
    ]


def judged(data: Data, out: Path | None = None) -> Run:
    return evaluate(data, metrics=METRICS, judge="human", by="place", out=out)


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return judged(labelled(), tmp_path_factory.mktemp("once") / "run")


@pytest.fixture
def run(judged_once: Run, tmp_path: Path) -> Run:
    """A run of ``labelled`` of this test's own."""
    return Run.open(copytree(judged_once.path, tmp_path / "run"))


def numbers(run: Run) -> dict[Any, Any]:
    return {
        (one.metric, *one.group.items()): {
            name: value for name, value in one.to_dict().items() if name != "signature"
        }
        for one in run.estimate_list
    }


def scores(run: Run) -> list[tuple[object, ...]]:
    return run.scores().rows()


def relabelled(change: Callable[[dict[str, Any]], None]) -> Data:
    """The data whose first answer was labelled otherwise from the start."""
    data = deepcopy(labelled())
    change(data[0]["labels"])
    return data


@cache
def judged_with(change: Callable[[dict[str, Any]], None]) -> Run:
    return judged(relabelled(change))


def say_supported(labels: dict[str, Any]) -> None:
    labels["claims"][1]["support"] = "supported"


def say_contradicted(labels: dict[str, Any]) -> None:
    labels["claims"][0]["agreement"] = "contradicts"


def say_missing(labels: dict[str, Any]) -> None:
    labels["statements"][0]["agreement"] = "missing"


def say_relevant(labels: dict[str, Any]) -> None:
    labels["contexts"][1]["topically_relevant"] = 1


def say_abstains(labels: dict[str, Any]) -> None:
    labels["response_type"] = "abstain"


def drop_the_second(labels: dict[str, Any]) -> None:
    del labels["claims"][1]


@pytest.mark.parametrize(
    ("kind", "unit", "values", "change"),
    [
        ("support/claim", 2, {"verdict": "supported"}, say_supported),
        ("support", "claim 2", {"support": "supported"}, say_supported),
        ("agreement/claim", "1", {"verdict": "contradicts"}, say_contradicted),
        ("agreement/statement", 1, {"verdict": "missing"}, say_missing),
        ("relevance", "d2", {"relevant": True}, say_relevant),
        ("relevance", 2, {"topically_relevant": "yes"}, say_relevant),
        ("response", None, {"response_type": "abstain"}, say_abstains),
        ("claims", 2, {"dropped": True}, drop_the_second),
    ],
)
def test_every_number_is_that_of_a_run_whose_judge_had_said_so(
    run: Run, kind: str, unit: object, values: Mapping[str, object], change: Callable[..., None]
) -> None:
    before, other = numbers(run), judged_with(change)
    assert before != numbers(other)
    done = run.correct("q0-old", kind, values, unit=unit, author="Ann", reason="I looked.")
    assert done.examples == ("q0-old",)
    assert scores(run) == scores(other)
    assert numbers(run) == numbers(other)
    run.undo_correction("q0-old", kind, unit=unit, author="Ann")
    assert numbers(run) == before


def test_what_a_rule_derives_follows_the_word_of_a_person() -> None:
    metrics = ["unsupported_claim_rate", "faithfulness"]
    data = labelled()
    for one in data:
        for claim in one["labels"]["claims"]:
            claim["support"] = "supported"
    run = evaluate(data, metrics=metrics, judge="human")
    (before,) = run.judgements("grounding").filter(pl.col("example_id") == "q0-old").to_dicts()
    assert before["unsupported_claim_present"] is False
    run.correct(
        "q0-old", "support", {"verdict": "absent"}, unit="claim 1", author="Ann", reason="No."
    )
    (after,) = run.judgements("grounding").filter(pl.col("example_id") == "q0-old").to_dicts()
    assert after["unsupported_claim_present"] is True
    assert {one.value for one in run.estimate_list if one.group == {"system": "new"}} == {0, 1}


def test_a_persons_word_on_the_whole_answer_decides_its_claims_until_it_is_taken_back() -> None:
    data: Data = [one | {"labels": {}} for one in labelled()]
    metrics = ["faithfulness", "grounding_presence", "unsupported_claim"]
    run = evaluate(data, metrics=metrics, judge="local:strings")

    def said() -> list[Any]:
        rows = run.judgements("support").filter(
            pl.col("example_id") == "q0-old", pl.col("origin").cast(pl.String) == "claim"
        )
        values = run.scores().filter(pl.col("example_id") == "q0-old")["value"].to_list()
        return [*rows.select("verdict", "judge").rows(), *values]

    def say(kind: str, values: Mapping[str, object], unit: object = None) -> None:
        run.correct("q0-old", kind, values, unit=unit, author="Ann", reason="I looked.")

    by_judge = [("supported", "local:strings"), ("absent", "local:strings"), 0.5, 1, 1]
    assert said() == by_judge
    say("grounding/support", {"unsupported_claim_present": False})
    assert said() == [("supported", "person:Ann"), ("supported", "person:Ann"), 1, 1, 0]
    say("support/claim", {"verdict": "absent"}, 1)
    assert said() == [("absent", "person:Ann"), ("supported", "person:Ann"), 0.5, 1, 0]
    run.undo_correction("q0-old", "support/claim", unit=1, author="Ann")
    run.undo_correction("q0-old", "grounding/support", author="Ann")
    assert said() == by_judge
    say("grounding/support", {"support_present": False})
    assert said() == [("absent", "person:Ann"), ("absent", "local:strings"), 0, 0, 1]


def test_labels_of_the_whole_that_nobody_corrects_follow_from_the_correction() -> None:
    """Of two claims the first is supported and the second absent."""
    data = labelled()
    data[0]["labels"]["answer"] = {"support_present": 1}
    names = ["unsupported_claim", "contradiction"]
    run = evaluate(data, metrics=names, judge="human")

    def values(example: str) -> list[float]:
        mine = run.scores().filter(pl.col("example_id") == example)
        return [mine.filter(pl.col("metric") == name)["value"].item() for name in names]

    said: dict[str, Any] = {"author": "Ann", "reason": "Looked."}
    for example in ("q0-old", "q0-new"):
        assert values(example) == [1, 0]
        run.correct(example, "support/claim", {"verdict": "supported"}, unit=2, **said)
        assert values(example) == [0, 0]
        run.correct(example, "grounding/support", {"contradicted_claim_present": True}, **said)
        assert values(example) == [1, 1]
        run.undo_correction(example, "grounding/support", author="Ann")
        assert values(example) == [0, 0]


def test_a_label_of_the_whole_that_is_corrected_decides_no_claim_any_more() -> None:
    data: Data = [one | {"labels": {"answer": {"unsupported_claim_present": 0}}}
                  for one in labelled()]  # fmt: skip
    metrics = ["faithfulness", "unsupported_claim"]
    run = evaluate(data, metrics=metrics, judge=["human", "local:strings"])

    def said() -> list[Any]:
        scores = run.scores().filter(pl.col("example_id") == "q0-old")
        return scores.select("value", "status").rows()

    assert said() == [(1, "value"), (0, "value")]
    corrected = {"unsupported_claim_present": True}
    run.correct("q0-old", "grounding/support", corrected, unit=None, author="Ann", reason="No.")
    assert said() == [(None, "missing"), (1, "value")]


def test_a_judgement_that_answers_share_is_changed_for_all_of_them(tmp_path: Path) -> None:
    data = [{**one, "labels": {}} for one in labelled()]
    run = evaluate(data, metrics=["precision", "context_recall"], out=tmp_path / "run")
    done = run.correct(
        "q1-new", "relevance", {"grade": 3}, unit="d2", author="Ann", reason="It helps."
    )
    assert done.examples == ("q1-old", "q1-new")
    rows = run.judgements("relevance").filter(pl.col("judge") == "person:Ann")
    assert rows["example_id"].to_list() == ["q1-old", "q1-new"]
    assert rows["relevant"].to_list() == rows["sufficient"].to_list() == [True, True]
    (shown,) = [one for one in run.correctable("q1-old") if one.correction is not None]
    assert (shown.ask, shown.unit, shown.examples) == ("relevance", "2", done.examples)
    assert shown.version == done.version


def test_columns_of_scores_have_what_people_corrected(run: Run) -> None:
    before = run.scores(METRICS[:1], ["example_id", "value"])
    run.correct(
        "q0-old", "support/claim", {"verdict": "supported"}, unit=2, author="Ann", reason="It is."
    )
    after = run.scores(METRICS[:1], ["example_id", "value"])
    assert not after.equals(before)
    assert after.equals(run.scores(METRICS[:1]).select("example_id", "value"))


def test_a_missing_judgement_can_be_given(judged_once: Run) -> None:
    data = labelled()
    data[0]["labels"]["claims"][1]["support"] = None
    run = judged(data)
    missing = pl.col("metric").is_in(["faithfulness"]) & (pl.col("example_id") == "q0-old")
    assert run.scores().filter(missing)["status"].to_list() == ["missing"]
    run.correct(
        "q0-old", "support/claim", {"verdict": "absent"}, unit=2, author="Ann", reason="Looked."
    )
    assert numbers(run) == numbers(judged_once)


def test_a_composite_of_means_is_estimated_again() -> None:
    metrics = [
        "faithfulness",
        "context_precision",
        'ragas_harmonic(weights="faithfulness:1 precision:1")',
    ]
    run = evaluate(labelled(), metrics=metrics, judge="human", by="place")
    other = evaluate(relabelled(say_supported), metrics=metrics, judge="human", by="place")
    run.correct("q0-old", "support/claim", {"verdict": "supported"}, unit=2, author="A", reason="b")
    assert numbers(run) == numbers(other)


def test_the_files_of_the_judges_stay_as_they_were_and_a_rescore_keeps_the_corrections(
    run: Run,
) -> None:
    alone = numbers(run)
    files = {
        path: path.read_bytes()
        for path in run.path.rglob("*")
        if path.suffix in (".parquet", ".json")
    }
    run.correct("q0-old", "support/claim", {"verdict": "supported"}, unit=2, author="A", reason="b")
    corrected = numbers(run)
    assert all(path.read_bytes() == content for path, content in files.items())
    assert not run.folder.damage()
    assert numbers(run.without_corrections()) == alone != corrected
    again = rescore(run.path, metrics="mrr")
    assert {key: one for key, one in numbers(again).items() if key[0] != "mrr"} == corrected
    assert numbers(Run.open(run.path).without_corrections()).items() >= alone.items()


def test_signatures_and_remarks_say_that_people_corrected(run: Run) -> None:
    said: dict[str, Any] = {"unit": 2, "author": "Ann", "reason": "Looked."}
    run.correct("q0-old", "support/claim", {"verdict": "supported"}, **said)
    run.correct("q0-old", "support/claim", {"verdict": "contradicted"}, **said)
    run.correct("q1-old", "support/claim", {"verdict": "absent"}, **said | {"author": "Bo"})
    assert run.signature == f"{run.without_corrections().signature}|overruled:2"
    assert run.form.remarks[-1] == "overruled?n=2&people=2&examples=2"
    tagged = {one.metric for one in run.estimate_list if one.signature.endswith("|overruled:2")}
    assert tagged == {
        "faithfulness", "hallucination", 'composite(weights="faithfulness:2 precision:1")',
        'composite(weights="faithfulness:1 context_recall:1", missing="renormalise")',
    }  # fmt: skip
    assert not any("overruled" in one.signature for one in run.without_corrections().estimate_list)


def test_every_fault_is_said_at_once(run: Run) -> None:
    with pytest.raises(InputError) as error:
        run.correct(
            "q0-old",
            "support/claim",
            {"verdict": "sported", "evidence": "d1,d9", "quote": "x"},
            unit=1,
            author="Ann",
            reason="Looked.",
        )
    assert "verdict: expected one of supported, contradicted, absent" in str(error.value)
    assert "quote: support/claim has no such column" in str(error.value)
    with pytest.raises(InputError, match=r"nobody is named.*no reason"):
        run.correct("q0-old", "support", {"verdict": "absent"}, unit=1, author=" ", reason="")
    assert run.corrections() == ()


@pytest.mark.parametrize(
    ("kind", "unit", "values", "says"),
    [
        ("suport", 1, {"verdict": "absent"}, "no kind of judgement"),
        ("lexical", 1, {"token_f1": 1}, "counted or computed"),
        ("support/claim", 9, {"verdict": "absent"}, r"no unit '9' here. Name one of: .*#1, .*#2"),
        ("support/claim", None, {"verdict": "absent"}, r"several|no unit"),
        ("support", 1, {"verdict": "absent"}, r"may be support/claim#1 or support/statement#1"),
        ("support/claim", 1, {"verdict": "supported"}, "says so already"),
        ("support/claim", 1, {"evidence": ["d9"]}, "no context 'd9'"),
        ("support/claim", 1, {}, "nothing is said"),
        ("relevance", 2, {"sufficient": True}, "evidence_requires_relevance"),
        ("relevance", 2, {"grade": 4}, "expected one of 0, 1, 2, 3"),
        ("claims", 1, {"text": " "}, "expected a text"),
        ("claims", 1, {"text": "It is.", "dropped": True}, "can say nothing else"),
        ("claims", 1, {"dropped": False}, "comes back with"),
        ("quality", None, {"helpful": True}, "nothing of quality"),
    ],
)
def test_what_cannot_be_is_refused_with_the_next_step(
    run: Run, kind: str, unit: object, values: Mapping[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        run.correct("q0-old", kind, values, unit=unit, author="Ann", reason="Looked.")
    assert not (run.path / "overrules.sqlite").exists()


def test_an_example_that_is_not_there_is_refused(run: Run) -> None:
    with pytest.raises(UnknownName, match="q0-old"):
        run.correct(
            "q0-ol", "support", {"verdict": "absent"}, unit=1, author="Ann", reason="Looked."
        )


def test_whoever_is_later_is_told_who_was_quicker_and_what_they_said(run: Run) -> None:
    ann, bo = run, Run.open(run.path)
    seen = {one.unit: one.version for one in bo.correctable("q0-old") if one.ask == "support/claim"}
    ann.correct(
        "q0-old", "support/claim", {"verdict": "supported"}, unit=2, author="Ann", reason="Yes.",
        seen=seen["2"],
    )  # fmt: skip
    said: dict[str, Any] = {"author": "Bo", "reason": "No.", "unit": 2}
    with pytest.raises(CorrectionConflict, match=r"Ann said verdict=supported") as error:
        bo.correct("q0-old", "support/claim", {"verdict": "contradicted"}, **said, seen=seen["2"])
    assert (error.value.author, error.value.said) == ("Ann", {"verdict": "supported"})
    bo.correct(
        "q0-old", "support/claim", {"verdict": "contradicted"}, **said, seen=error.value.version
    )
    assert [(one.author, one.was["verdict"]) for one in ann.corrections()] == [
        ("Bo", "supported"), ("Ann", "absent"),
    ]  # fmt: skip
    ann.undo_correction("q0-old", "support/claim", unit=2, author="Ann")
    with pytest.raises(CorrectionConflict, match="Ann took a correction of it back"):
        bo.undo_correction(
            "q0-old", "support/claim", unit=2, author="Bo", seen=error.value.version + "0"
        )
    (row,) = [one for one in bo.correctable("q0-old")
              if (one.ask, one.unit) == ("support/claim", "2")]  # fmt: skip
    assert (row.values["verdict"], row.judge) == ("supported", "person:Ann")


def test_nothing_is_taken_back_where_nothing_was_corrected(run: Run) -> None:
    with pytest.raises(InputError, match="nothing to take back"):
        run.undo_correction("q0-old", "support/claim", unit=1, author="Ann")


def test_a_dropped_claim_is_shown_as_dropped_and_keeps_the_numbers_of_the_others(run: Run) -> None:
    run.correct("q0-old", "claims", {"dropped": True}, unit=1, author="Ann", reason="No claim.")
    there = {one.unit: one.values for one in run.correctable("q0-old") if one.ask == "claims"}
    assert there == {
        "2": {"text": "It is white."},
        "1": {"text": "It is 90 m long.", "dropped": True},
    }
    support = run.judgements("support").filter(pl.col("example_id") == "q0-old")
    assert support.filter(pl.col("origin") == "claim")["index"].to_list() == [1]


def test_a_reworded_claim_is_judged_at_once_by_the_judges_of_the_run() -> None:
    def worded(text: str) -> Data:
        data = labelled()
        for one in data:
            one["labels"] = {"claims": [{"text": text}, {"text": "It is white."}]}
        return data

    metrics = ["faithfulness", "factual_accuracy"]
    judges = ["human", "local"]
    run = evaluate(worded("The pier is 20 m long."), metrics=metrics, judge=judges)
    other = evaluate(worded("The pier is 90 m long."), metrics=metrics, judge=judges)
    done = run.correct(
        "q0-old", "claims", {"text": "The pier is 90 m long."}, unit=1, author="Ann", reason="Typo."
    )
    assert done.unasked == {}
    mine = pl.col("example_id") == "q0-old"
    for kind in ("claims", "support", "agreement"):
        columns = ["index", "text"] if kind == "claims" else ["index", "verdict", "probability"]
        assert (
            run.judgements(kind)
            .filter(mine)[columns]
            .equals(other.judgements(kind).filter(mine)[columns])
        )
    assert run.scores().filter(mine).equals(other.scores().filter(mine))


def test_a_verdict_on_an_old_wording_says_nothing_of_the_new_one() -> None:
    data = labelled()
    run = evaluate(data, metrics=["faithfulness"], judge=["human", "local"])
    said: dict[str, Any] = {"author": "Ann", "reason": "Looked.", "unit": 2}
    run.correct("q0-old", "support/claim", {"verdict": "supported"}, **said)
    run.correct("q0-old", "claims", {"text": "The pier is purple."}, **said)
    (row,) = [
        one for one in run.correctable("q0-old")
        if one.ask == "support/claim" and one.unit == "2"
    ]  # fmt: skip
    assert row.judge != "person:Ann"
    run.undo_correction("q0-old", "claims", unit=2, author="Ann")
    (row,) = [
        one for one in run.correctable("q0-old")
        if one.ask == "support/claim" and one.unit == "2"
    ]  # fmt: skip
    assert row.judge == "person:Ann"


def test_a_hard_rule_holds_between_what_is_said_and_what_stands() -> None:
    data = labelled()
    for one in data:
        one["labels"]["answer"] = {"unsupported_claim_present": 0, "contradicted_claim_present": 0}
    run = evaluate(data, metrics="unsupported_claim", judge="human")
    said: dict[str, Any] = {"author": "Ann", "reason": "Looked."}
    with pytest.raises(InputError, match="contradiction_requires_unsupported"):
        run.correct("q0-old", "grounding", {"contradicted_claim_present": True}, **said)
    both = {"contradicted_claim_present": True, "unsupported_claim_present": True}
    run.correct("q0-old", "grounding", both, **said)
    assert {one.value for one in run.estimate_list if not one.group} == {1 / 6}


def test_each_undo_takes_back_the_latest_that_stands(run: Run) -> None:

    def say(verdict: str, author: str, seen: str | None = None) -> str:
        done = run.correct(
            "q0-old", "support/claim", {"verdict": verdict}, unit=1, author=author,
            reason="Looked.", seen=seen,
        )  # fmt: skip
        return done.version

    def undone(author: str) -> str:
        run.undo_correction("q0-old", "support/claim", unit=1, author=author)
        rows = run.correctable("q0-old")
        (now,) = [one for one in rows if (one.ask, one.unit) == ("support/claim", "1")]
        return str(now.values["verdict"])

    say("contradicted", "Ann")
    seen = say("absent", "Bo")
    assert undone("Ann") == "contradicted"
    assert undone("Bo") == "supported"
    with pytest.raises(CorrectionConflict, match="Bo took a correction of it back"):
        say("absent", "Cy", seen)
    with pytest.raises(InputError, match="nothing to take back"):
        undone("Ann")


def test_nothing_can_be_said_of_a_claim_that_was_dropped(run: Run) -> None:
    said: dict[str, Any] = {"unit": 2, "author": "Ann", "reason": "No claim."}
    run.correct("q0-old", "claims", {"dropped": True}, **said)
    with pytest.raises(InputError, match="no unit '2'"):
        run.correct("q0-old", "support/claim", {"verdict": "absent"}, **said)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"author": "x" * 201}, "201 letters of at most 200"),
        ({"author": None}, "nobody is named"),
        ({"reason": "x" * 10_001}, "10,001 letters of at most 10,000"),
        ({"reason": None}, "no reason is given"),
        ({"values": {"text": "x" * 10_001}}, "a text of at most 10,000 letters"),
    ],
)
def test_names_reasons_and_wordings_have_limits(
    run: Run, change: dict[str, Any], says: str
) -> None:
    said: dict[str, Any] = {"author": "x" * 200, "reason": "x" * 10_000, "unit": 2}
    with pytest.raises(InputError, match=says):
        run.correct("q0-old", "claims", **{"values": {"text": "It is red."}, **said, **change})
    run.correct("q0-old", "claims", {"dropped": True}, **said)
    with pytest.raises(InputError, match="nobody is named"):
        run.undo_correction("q0-old", "claims", unit=2, author=" ")


def test_judges_are_asked_once_of_a_new_wording_though_somebody_was_quicker(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    quicker = [False]

    def ask(*given: Any) -> AskedAgain:
        asked.append(given[2])
        return NOT_ASKED

    def add(store: Store, seen: Stamp, one: Correction) -> bool:
        return quicker.pop() if quicker else kept(store, seen, one)

    kept = Store.add
    monkeypatch.setattr(correcting, "ask_again", ask)
    monkeypatch.setattr(Store, "add", add)
    run.correct("q0-old", "claims", {"text": "It is red."}, unit=2, author="A", reason="b")
    assert asked == ["It is red."]
    assert len(run.corrections()) == 1


def test_corrections_outlive_a_damaged_run_that_is_made_anew(tmp_path: Path) -> None:
    data, out = labelled(), tmp_path / "run"
    before = judged(data, out)
    before.correct("q0-old", "response", {"response_type": "refuse"}, author="Ann", reason="So.")
    after = numbers(Run.open(out))
    (out / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(DamagedRun, match=r"Move all but journal.sqlite and overrules.sqlite out"):
        Run.open(out)
    for one in out.iterdir():
        if not one.name.startswith(("journal.sqlite", "overrules.sqlite")):
            rmtree(one) if one.is_dir() else one.unlink()
    again = judged(data, out)
    assert [one.author for one in again.corrections()] == ["Ann"]
    assert numbers(Run.open(out)) == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("overrule", "correct"),
        ("undo_overrule", "undo_correction"),
        ("overrules", "corrections"),
        ("can_be_overruled", "correctable"),
        ("overruled_examples", "corrected_examples"),
        ("n_overruled", "n_corrected"),
        ("sees_overrules", "sees_corrections"),
        ("without_overrules", "without_corrections"),
    ],
)
def test_an_old_name_of_a_run_works_and_says_the_new_one(run: Run, old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"^Run.{old} is now called Run.{new}.$") as warned:
        assert getattr(run, old) == getattr(run, new)
    assert warned[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=new):
        assert getattr(Run, old) is getattr(Run, new)


def test_old_names_of_results_and_of_the_error_work_and_say_the_new_ones(run: Run) -> None:
    done = run.correct("q0-old", "claims", {"dropped": True}, unit=1, author="A", reason="b")
    with pytest.warns(DeprecationWarning, match=r"^CorrectionResult.overrule is now called "):
        assert done.overrule == done.correction
    with pytest.warns(DeprecationWarning, match=r"^Judgement.overrule is now called "):
        assert [one.overrule for one in run.correctable("q0-old") if one.correction] == [
            done.correction
        ]
    with pytest.warns(DeprecationWarning, match=r"^OverruleConflict is now called Correct"):
        assert errors.OverruleConflict is CorrectionConflict  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="no attribute 'Overruling'"):
        errors.Overruling  # type: ignore[attr-defined]  # noqa: B018
