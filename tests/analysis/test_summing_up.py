"""A run summed up: who leads and how many answers look bad, from rows by hand."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ragstone
from ragstone.analysis.comparison.comparability import sets_beside_reference, systems_as_references
from ragstone.analysis.comparison.compare import compare
from ragstone.analysis.summaries.failure_stages import Faults, failures
from ragstone.analysis.summaries.run_summary import Lead, _leaders, summarise
from ragstone.core.messages import Reason
from ragstone.metrics import parse_metric

GOLD = "The pier at Hayle is ninety metres long."


def rows(**answers: list[str]) -> list[dict[str, Any]]:
    """A row a system and question; the reference of question i is ``GOLD i``."""
    return [
        {"question": f"How long is pier {at}?", "question_id": f"q{at}", "system": system,
         "answer": text, "reference": f"{GOLD} {at}"}
        for system, texts in answers.items()
        for at, text in enumerate(texts)
    ]  # fmt: skip


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
    assert systems_as_references(run) == themselves


def test_short_answers_may_equal_their_references_by_merit(tmp_path: Path) -> None:
    data = [{"question": f"{at}?", "answer": "ninety metres, four feet"[: 13 + 11 * long],
             "reference": "ninety metres, four feet"[: 13 + 11 * long]}
            for at, long in enumerate([0, 0, 1])]  # fmt: skip
    run = ragstone.evaluate(data, metrics=["token_f1"], out=tmp_path / "run")
    assert systems_as_references(run) == ()


def test_what_reads_answers_beside_references_is_what_leaves_such_a_system_out() -> None:
    compares = ["token_f1", "answer_outcome", "answer_correctness", "semantic_similarity"]
    others = ["faithfulness", "context_recall", "ragas_score"]
    found = [name for name in (*compares, *others) if sets_beside_reference(parse_metric(name))]
    assert found == compares
    assert not sets_beside_reference(None)


def test_two_systems_have_their_pair_and_faults_leave_out_who_answers_with_references(
    tmp_path: Path,
) -> None:
    run = ragstone.evaluate(rows(gold=GOOD, bad=BAD), metrics=["token_f1", "answer_outcome"],
                            judge="local:strings", out=tmp_path / "run")  # fmt: skip
    summary = summarise(run)
    assert summary.faults == Faults(12, 12, 0, None, "wrong", 12)
    assert summary.faults == failures(run).of().faults
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


def test_a_system_that_answers_the_easy_half_stands_beside_the_other_with_what_it_left_out(
    tmp_path: Path,
) -> None:
    """Either without an answer to a question or without a row; a third system answers nothing."""
    half: list[Any] = [*FAIR[:6], *[None] * 6]
    for at, others in enumerate(({"b": half}, {"b": FAIR[:6]}, {"b": half, "c": [None] * 12})):
        run = ragstone.evaluate(
            rows(a=BAD, **others), metrics=["exact_match"], out=tmp_path / str(at)
        )
        summary = summarise(run)
        assert (summary.unanswered, summary.alone) == ({"b": 6}, {"a": 6})
        assert summary.uneven == ("exact_match",)
    even = summarise(ragstone.evaluate(rows(a=BAD, b=FAIR), metrics=["exact_match"]))
    assert (even.unanswered, even.uneven) == ({}, ())


def test_two_that_answer_each_its_own_half_are_uneven_though_they_answer_as_many(
    tmp_path: Path,
) -> None:
    none: list[Any] = [None] * 4
    made = rows(a=[*BAD[:8], *none], b=[*none, *BAD[:8]])
    summary = summarise(ragstone.evaluate(made, metrics=["exact_match"], out=tmp_path / "run"))
    assert (summary.unanswered, summary.alone) == ({"a": 4, "b": 4}, {"a": 4, "b": 4})
    assert summary.uneven == ("exact_match",)


def test_of_three_systems_those_that_alone_answered_a_question_are_counted(tmp_path: Path) -> None:
    """Of twelve questions a answers all but q0, b all but q0 and q11, c only q0 and q1."""
    none: list[Any] = [None]
    a, b, c = [*none, *BAD[1:]], [*none, *BAD[2:], *none], [*BAD[:2], *none * 10]
    run = ragstone.evaluate(rows(a=a, b=b, c=c), metrics=["exact_match"], out=tmp_path / "run")
    summary = summarise(run)
    assert (summary.unanswered, summary.alone) == ({"a": 1, "b": 2, "c": 10}, {"a": 1, "c": 1})


def test_systems_that_share_no_question_are_uneven(tmp_path: Path) -> None:
    made = [row | {"question_id": f"{row['system']}{row['question_id']}"}
            for row in rows(a=BAD, b=FAIR)]  # fmt: skip
    summary = summarise(ragstone.evaluate(made, metrics=["exact_match"], out=tmp_path / "run"))
    assert (summary.apart, summary.uneven) == ((("a", "b"),), ("exact_match",))


def test_rankings_without_answers_go_by_the_questions_asked(tmp_path: Path) -> None:
    made = [{"question_id": f"q{at}", "question": f"Which {at}?", "system": system,
             "contexts": [f"Pier {at}."], "reference": f"Pier {at}."}
            for system, n in (("a", 6), ("b", 4)) for at in range(n)]  # fmt: skip
    run = ragstone.evaluate(made, metrics=["context_recall"], out=tmp_path / "run")
    assert summarise(run).unanswered == {"b": 2}
