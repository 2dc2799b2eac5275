"""A run summed up: who leads, which answers fell short and at which stage, from rows by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import ragstone
from ragstone.decisions.comparing.compare import compare
from ragstone.decisions.comparing.self_reference import SelfReference
from ragstone.decisions.summing_up.stages import stages
from ragstone.decisions.summing_up.summary import Faults, Lead, _leaders, summarise
from ragstone.metrics import parse_metric
from ragstone.reason import Reason

GOLD = "The pier at Hayle is ninety metres long."


def rows(**answers: list[str]) -> list[dict[str, Any]]:
    """A row a system and question; the reference of question i is ``GOLD i``."""
    return [
        {"question": f"How long is pier {at}?", "question_id": f"q{at}", "system": system,
         "answer": text, "reference": f"{GOLD} {at}"}
        for system, texts in answers.items()
        for at, text in enumerate(texts)
    ]  # fmt: skip


def judged(*scores: dict[str, float | str], contexts: tuple[int, ...] = ()) -> Any:
    """A run of which stages read the scores; a word is the label of an outcome."""
    counts = contexts or (1,) * len(scores)
    frame = pl.DataFrame(
        {
            "id": [f"e{at}" for at in range(len(scores))],
            "system": ["s"] * len(scores),
            "contexts": [[{"id": "c"}] * count for count in counts],
        },
        schema_overrides={"contexts": pl.List(pl.Struct({"id": pl.String}))},
    )
    said = [
        (f"e{at}", metric, None if isinstance(score, str) else score,
         score if isinstance(score, str) else None, "value")
        for at, of in enumerate(scores)
        for metric, score in of.items()
    ]  # fmt: skip
    table = pl.DataFrame(said, {"example_id": pl.String, "metric": pl.String, "value": pl.Float64,
                                "label": pl.String, "status": pl.String}, orient="row")  # fmt: skip
    metrics = [SimpleNamespace(metric=name) for name in table["metric"].unique()]
    return SimpleNamespace(examples=frame.select, scores=lambda: table, estimate_list=metrics)


def test_an_answer_counts_at_its_first_stage() -> None:
    wrong: dict[str, float | str] = {"answer_outcome": "wrong"}
    found = stages(
        judged(
            wrong | {"context_recall": 0.0},
            wrong | {"context_recall": 0.4, "mrr": 0.5},
            wrong | {"context_recall": 0.5, "mrr": 0.5, "contradiction": 1.0},
            wrong | {"mrr": 1.0, "context_utilization": 0.0, "contradiction": 1.0},
            wrong | {"context_utilization": 0.5, "contradiction": 1.0, "faithfulness": 0.0},
            wrong | {"contradiction": 0.0, "faithfulness": 0.4, "answer_coverage": 0.0},
            wrong | {"faithfulness": 0.5, "answer_coverage": 0.4},
            wrong | {"faithfulness": 0.5, "answer_coverage": 0.5},
            contexts=(0, 1, 1, 1, 1, 1, 1, 1),
        )
    )
    assert found["stage"].to_list() == [
        "nothing_retrieved", "not_retrieved", "retrieved_too_low", "not_used", "contradicted",
        "unsupported", "incomplete", "other",
    ]  # fmt: skip
    assert found.columns == ["example_id", "system", "stage"]


@pytest.mark.parametrize(
    ("scores", "stage"),
    [
        ({"answer_outcome": "correct", "mrr": 0.5}, "no_fault"),
        ({"answer_outcome": "partial", "mrr": 0.5}, "retrieved_too_low"),
        ({"faithfulness": 0.5, "mrr": 0.5}, "no_fault"),
        ({"faithfulness": 0.49}, "unsupported"),
        ({"answer_coverage": 0.49, "faithfulness": 1.0}, "incomplete"),
        ({"answer_coverage": 0.5}, "no_fault"),
        ({"mrr": 0.0}, None),
    ],
)
def test_only_where_it_fell_short(scores: dict[str, float | str], stage: str | None) -> None:
    assert stages(judged(scores))["stage"].to_list() == [stage]


def test_without_any_context_nothing_is_known_of_retrieval() -> None:
    wrong: dict[str, float | str] = {"answer_outcome": "wrong"}
    found = stages(judged(wrong, wrong, contexts=(0, 0)))
    assert found["stage"].to_list() == ["other", "other"]


def duel(a: str, b: str, verdict: str) -> Any:
    return SimpleNamespace(a=a, b=b, verdict=verdict)


@pytest.mark.parametrize(
    ("duels", "leaders", "others"),
    [
        ((duel("a", "b", "better"),), ("a",), ("b",)),
        ((duel("a", "b", "worse"),), ("b",), ("a",)),
        ((duel("a", "b", "cannot_tell"),), (), ()),
        ((duel("a", "b", "better"), duel("a", "c", "cannot_tell"), duel("b", "c", "same")), (), ()),
        ((duel("a", "b", "same"), duel("a", "c", "better"), duel("b", "c", "better")), ("a", "b"),
         ("c",)),
        ((duel("a", "b", "better"), duel("a", "c", "better"), duel("b", "c", "better")), ("a",),
         ("b", "c")),
        ((duel("a", "b", "better"), duel("a", "c", "worse"), duel("b", "c", "better")), (), ()),
    ],
)  # fmt: skip
def test_leaders_are_better_than_everybody_else(
    duels: tuple[Any, ...], leaders: Any, others: Any
) -> None:
    assert _leaders(duels) == (leaders, others)


GOOD = [f"{GOLD} {at}" for at in range(12)]
BAD = ["I went to the beach and saw gulls."] * 12
FAIR = [f"The pier is ninety metres long {at}" for at in range(12)]


def test_a_system_that_answers_with_the_references_is_compared_by_nothing_that_reads_them(
    tmp_path: Path,
) -> None:
    run = ragstone.evaluate(rows(gold=GOOD, bad=BAD, fair=FAIR), metrics=["token_f1", "abstention"],
                            judge="local:strings", out=tmp_path / "run")  # fmt: skip
    found = compare(run)
    assert {(one.a, one.b) for one in found.comparisons if one.metric == "token_f1"} == {
        ("bad", "fair")
    }
    assert len([one for one in found.comparisons if one.metric == "abstention"]) == 3
    (note,) = [Reason.read(one) for one in found.notes if "answers_are_references" in one]
    assert note.facts == {"system": "gold", "metrics": "token_f1"}
    summary = summarise(run)
    assert dict(summary.themselves) == {"gold": ("token_f1",)}
    assert summary.leads == (Lead(("fair",), ("bad",), ("token_f1",)),)
    assert summary.leaders("token_f1") == ("fair",)
    assert summary.leaders("abstention") == ()
    assert (summary.systems, summary.examples, summary.questions) == (
        ("gold", "bad", "fair"),
        36,
        12,
    )


@pytest.mark.parametrize(
    ("answers", "themselves"),
    [
        (GOOD, ("s",)),
        ([*GOOD[:11], "Another answer of as many words."], ()),
        ([f"  {one}\n" for one in GOOD], ("s",)),
        ([one.lower() for one in GOOD], ()),
    ],
)
def test_every_answer_must_be_its_reference(
    answers: list[str], themselves: Any, tmp_path: Path
) -> None:
    run = ragstone.evaluate(rows(s=answers), metrics=["token_f1"], out=tmp_path / "run")
    assert SelfReference(run).systems == themselves


def test_short_answers_may_equal_their_references_by_merit(tmp_path: Path) -> None:
    data = [{"question": f"{at}?", "answer": "ninety metres, four feet"[: 13 + 11 * long],
             "reference": "ninety metres, four feet"[: 13 + 11 * long]}
            for at, long in enumerate([0, 0, 1])]  # fmt: skip
    run = ragstone.evaluate(data, metrics=["token_f1"], out=tmp_path / "run")
    assert SelfReference(run).systems == ()


def test_what_reads_answers_beside_references_is_what_leaves_such_a_system_out() -> None:
    own: Any = SelfReference(SimpleNamespace())  # type: ignore[arg-type]
    own.__dict__["systems"] = ("gold",)
    compares = ["token_f1", "answer_outcome", "answer_correctness", "semantic_similarity"]
    others = ["faithfulness", "context_recall", "ragas_score"]
    found = [name for name in (*compares, *others) if own.on(parse_metric(name))]
    assert found == compares
    assert own.on(None) == ()


def test_two_systems_have_their_pair_and_faults_leave_out_who_answers_with_references(
    tmp_path: Path,
) -> None:
    run = ragstone.evaluate(rows(gold=GOOD, bad=BAD), metrics=["token_f1", "answer_coverage"],
                            judge="local:strings", out=tmp_path / "run")  # fmt: skip
    summary = summarise(run)
    assert summary.faults == Faults(12, 12, 12, "incomplete", 12)
    assert summary.tested == ()
    assert summary.leads == ()
    assert summary.pair == ()
    other = ragstone.evaluate(rows(fair=FAIR, bad=BAD), metrics=["token_f1"], out=tmp_path / "two")
    assert [one.verdict for one in summarise(other).pair] == ["better"]
    assert summarise(other).alike == ()


def test_systems_that_share_no_question_are_not_compared(tmp_path: Path) -> None:
    data = [{"question": f"{at}?", "system": "ab"[at % 2], "answer": "Yes.", "reference": "Yes."}
            for at in range(4)]  # fmt: skip
    run = ragstone.evaluate(data, metrics=["token_f1"], out=tmp_path / "run")
    summary = summarise(run)
    assert summary.tested == ()
    assert summary.alike == ()
    assert summary.same == ()
    assert summary.apart == (("a", "b"),)
    assert summary.metrics == 1


def test_a_system_is_better_than_those_it_shares_questions_with(tmp_path: Path) -> None:
    apart = [one | {"question_id": f"far {one['question_id']}"} for one in rows(far=BAD)]
    run = ragstone.evaluate([*rows(fair=FAIR, bad=BAD), *apart], metrics=["token_f1"],
                            out=tmp_path / "run")  # fmt: skip
    summary = summarise(run)
    assert summary.leads == ()
    assert summary.wins == (Lead(("fair",), ("bad",), ("token_f1",)),)
    assert summary.apart == (("fair", "far"), ("bad", "far"))
    assert summary.shared == (12, 12)
    assert summary.alike == ()


def test_what_systems_share_is_the_same(tmp_path: Path) -> None:
    data = [one | {"contexts": ["The pier is ninety metres long."]}
            for one in rows(a=BAD, b=FAIR)]  # fmt: skip
    run = ragstone.evaluate(data, metrics=["context_recall", "token_f1"], judge="local:strings",
                            out=tmp_path / "run")  # fmt: skip
    assert summarise(run).same == ("context_recall",)
