"""Comparisons of systems: pairs, verdicts, what is refused and what is left out."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from ragstone import evaluate
from ragstone.analysis.comparison.comparability import other_texts
from ragstone.analysis.comparison.compare import compare
from ragstone.analysis.comparison.compared_systems import differences
from ragstone.analysis.comparison.comparison_result import (
    NARROW,
    Comparison,
    Comparisons,
    Verdict,
    verdict_of,
)
from ragstone.analysis.scored_run import Scored
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import reason
from ragstone.data import Context, Example, cornwall, to_frame
from ragstone.metrics import parse_metric
from ragstone.report.reason_words import explain, words
from ragstone.run import Estimate, Run
from ragstone.run.folder.folder import Folder
from ragstone.run.folder.run_tally import RunTally, manifest
from ragstone.run.folder.schemas import Counted, ShardForm
from ragstone.run.judging.sharding import FinishedJudge
from ragstone.run.settings import ModelNames, RunSettings
from ragstone.stats.comparison.differences import (
    benjamini_hochberg,
    holm,
    mcnemar_exact,
    newcombe_paired,
    relative_change,
)

Score = float | str
"""A value, or ``undefined`` or ``missing``."""

Row = tuple[str, str, Mapping[str, Score]]
"""System, question, and the score of each metric."""


def run_of(
    folder: Path,
    rows: Sequence[Row],
    *,
    slices: Sequence[Mapping[str, str]] = (),
    judge: str = "local",
    answers: Sequence[str] = (),
    contexts: Sequence[str] = (),
    **settings: Any,
) -> Path:
    """A finished run of these scores."""
    folder.mkdir(parents=True)
    examples = [
        Example(
            id=f"r{number}",
            question_id=question,
            system=system,
            question=f"What of {question}?",
            answer=answers[number] if answers else f"This, by {system} in row {number}.",
            contexts=(Context("c", contexts[number] if contexts else f"For row {number}.", 1),),
            slices=slices[number] if slices else {},
        )
        for number, (system, question, _) in enumerate(rows)
    ]
    shard = pl.lit(0, pl.UInt32).alias("shard")
    tables = {"examples": to_frame(examples).with_columns(shard)}
    metrics = list(dict.fromkeys(name for *_, scores in rows for name in scores))
    scored = [
        {
            "example_id": f"r{number}",
            "question_id": question,
            "system": system,
            "metric": metric,
            "value": None if isinstance(scores[metric], str) else float(scores[metric]),
            "label": None,
            "status": scores[metric] if isinstance(scores[metric], str) else "value",
            "reason": "why" if isinstance(scores[metric], str) else None,
        }
        for metric in metrics
        for number, (system, question, scores) in enumerate(rows)
    ]
    schema = {"value": pl.Float64, "label": pl.String, "reason": pl.String}
    frame = pl.DataFrame(scored, schema_overrides=schema, infer_schema_length=None)
    tables["scores"] = frame.with_columns(shard)
    estimate: dict[str, Any] = {
        "group": {}, "value": None, "low": None, "high": None, "level": 0.95, "method": None,
        "n": 0, "n_undefined": 0, "n_missing": 0, "worst": None, "best": None, "better": "+",
        "family": "own", "clusters": 0, "labels": {}, "flags": {}, "reasons": {},
    }  # fmt: skip
    estimates = [
        estimate | {"metric": name, "signature": f"{name}|judge:{judge} 80%|data:1|ragstone:1"}
        for name in metrics
    ]
    asks = ["response", "claims", "support/claim", "statements", "agreement/claim", "lexical"]
    content = manifest(
        RunSettings.model_validate(
            {"data": "1", "definitions": {}, "local": ["1"], "nli": [], "citations": ""}
            | {"cluster": "question_id"}
            | settings
        ),
        RunTally(outcomes=Counter(dict.fromkeys(((ask, judge, "ok") for ask in asks), len(rows)))),
        [FinishedJudge(judge, "", frozenset(["claims"]))],
        ModelNames(),
        finished=True,
        **{name: [] for name in ("added", "suites", "by")},
        metrics=metrics,
        cluster="question_id",
        data=data_of(examples),
    )
    here = Folder(folder)
    form = ShardForm(shard=0, examples=len(rows), files={}, counted=Counted(judged=[]))
    here.parts.path.mkdir()
    parts = here.parts
    parts.add(form, tables)
    here.finish(parts, content, [Estimate(**one) for one in estimates])
    return folder


def data_of(examples: Sequence[Example]) -> dict[str, Any]:
    """What a run says of data that were read without a fault."""
    systems, questions = (
        {getattr(one, name) for one in examples} for name in ("system", "question_id")
    )
    return {
        "source": "by hand",
        "examples": len(examples),
        "questions": len(questions),
        "systems": len(systems),
        **dict.fromkeys(("rejected", "label_ties"), 0),
        **{name: [] for name in ("rejected_for", "labels_of_nothing")},
        "label_violations": {},
    }


def change(run: Path, table: str, **columns: pl.Expr) -> None:
    """Other values in a table of a run."""
    folder = Folder(run)
    content, estimates, shards = folder.manifest, folder.estimates(), folder.shards
    (form,) = shards.ledger
    tables = {name: pl.read_parquet(shards.file(name, 0)) for name in form.files}
    tables[table] = tables[table].with_columns(**columns)
    folder.begin_again()
    parts = folder.parts
    parts.add(form.model_copy(update={"files": {}}), tables)
    folder.finish(parts, content, estimates)


def two(a: Sequence[Score], b: Sequence[Score], metric: str = "faithfulness") -> list[Row]:
    """Systems a and b on as many questions."""
    return [
        (system, f"q{number}", {metric: score})
        for system, scores in (("a", a), ("b", b))
        for number, score in enumerate(scores)
    ]


def said(one: Comparison) -> str:
    """All that cannot be told of it, in words."""
    return "; ".join(map(words, one.reasons))


def only(found: Comparisons) -> Comparison:
    assert len(found.comparisons) == 1
    return found.comparisons[0]


def drawn(n: int, shift: float = 0.0, seed: int = 0) -> tuple[list[float], list[float]]:
    """Scores of two systems on n questions, from 0 to 1."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.2, 0.6, n)
    a = np.clip(base + shift + rng.normal(0, 0.1, n), 0, 1)
    return a.tolist(), np.clip(base + rng.normal(0, 0.1, n), 0, 1).tolist()


def test_a_mean_is_compared_by_the_paired_t_interval_and_sign_flips(tmp_path: Path) -> None:
    a, b = drawn(60, 0.08)
    one = only(compare(run_of(tmp_path / "run", two(a, b))))
    plain = stats.ttest_rel(a, b).confidence_interval(0.95)
    t = stats.t.ppf(0.975, 59)
    half = t * np.hypot((plain.high - plain.low) / 2 / t, 1 / 60)
    middle = np.mean(a) - np.mean(b)
    assert (one.a, one.b, one.slice) == ("a", "b", None)
    assert one.difference == pytest.approx(np.mean(a) - np.mean(b))
    assert (one.low, one.high) == pytest.approx((middle - half, middle + half))
    assert (one.value_a, one.value_b) == pytest.approx((np.mean(a), np.mean(b)))
    assert one.relative_change == pytest.approx(100 * (np.mean(a) / np.mean(b) - 1))
    assert (one.test, one.method, one.verdict) == ("sign_flip", "t", "better")
    assert one.p is not None
    assert one.p <= 0.001
    assert one.wins + one.ties + one.losses == one.n_pairs == 60
    assert one.win_rate is not None
    assert one.win_rate.value == (one.wins + one.ties / 2) / 60


def test_a_rate_is_compared_by_newcombes_interval_and_mcnemars_test(tmp_path: Path) -> None:
    counts = (30, 12, 2, 9)
    a, b = (np.repeat(succeeds, counts).tolist() for succeeds in ([1, 1, 0, 0], [1, 0, 1, 0]))
    one = only(compare(run_of(tmp_path / "run", two(a, b, "exact_match"))))
    expected = newcombe_paired(*counts)
    assert expected is not None
    assert (one.low, one.high) == (expected.low, expected.high)
    assert one.p == mcnemar_exact(12, 2)
    assert (one.test, one.wins, one.ties, one.losses) == ("mcnemar_exact", 12, 39, 2)


def test_less_is_better_where_the_metric_says_so(tmp_path: Path) -> None:
    a, b = drawn(60, 0.2)
    one = only(compare(run_of(tmp_path / "run", two(a, b, "hallucination"))))
    assert one.difference is not None
    assert one.difference > 0
    assert one.verdict == "worse"
    assert one.wins < one.losses


def test_a_metric_that_points_nowhere_is_neither_better_nor_worse(tmp_path: Path) -> None:
    a, b = [1.0] * 40, [0.0] * 40
    one = only(compare(run_of(tmp_path / "run", two(a, b, "abstention"))))
    assert one.p is not None
    assert one.p < 0.001
    assert one.verdict == "cannot_tell"
    assert "neither end" in said(one)


CASES: dict[str, tuple[float | None, float | None, Verdict]] = {
    "inside the margin": (0.02, 0.8, "equivalent"),
    "inside the margin and significant": (0.05, 0.001, "equivalent"),
    "across the margin and significant": (0.06, 0.001, "better"),
    "no margin and significant": (None, 0.001, "better"),
    "neither": (0.3, 0.4, "cannot_tell"),
    "no interval": (None, 0.5, "cannot_tell"),
    "no test": (0.4, None, "cannot_tell"),
}


@pytest.mark.parametrize("case", CASES)
def test_equivalent_comes_first_then_better_or_worse(case: str) -> None:
    within, p, expected = CASES[case]
    found = verdict_of(0.03, p_equivalence=within, p=p, better="+")
    assert found == expected
    if expected == "better":
        turned = verdict_of(0.03, p_equivalence=within, p=p, better="-")
        assert turned == "worse"


def test_the_margin_decides_what_is_equivalent_and_how_many_pairs_are_needed(
    tmp_path: Path,
) -> None:
    run = run_of(tmp_path / "run", two(*drawn(50)))
    unsaid, wide, narrow = (only(compare(run, margin=x)) for x in (None, 0.1, 0.001))
    assert (unsaid.verdict, unsaid.n_needed) == ("cannot_tell", None)
    assert (wide.verdict, wide.n_needed) == ("equivalent", None)
    assert narrow.verdict == "cannot_tell"
    assert narrow.n_needed is not None
    assert narrow.n_needed > 50
    assert [one.n_needed_reason for one in (unsaid, wide, narrow)] == [
        "no_margin", "decided", None,
    ]  # fmt: skip
    assert wide.low is not None
    assert wide.equivalence_low is not None
    assert wide.low < wide.equivalence_low


def test_p_of_equivalence_is_the_greater_of_two_one_sided_t_tests(tmp_path: Path) -> None:
    """By SciPy, of a metric without a range, whose interval is the ordinary t's."""
    a, b = drawn(40, shift=0.02)
    one = only(compare(run_of(tmp_path / "run", two(a, b, "own")), margin=0.05))
    d = np.array(a) - np.array(b)
    tests = (
        stats.ttest_1samp(d, -0.05, alternative="greater").pvalue,
        stats.ttest_1samp(d, 0.05, alternative="less").pvalue,
    )
    assert one.p_equivalence == pytest.approx(max(tests), rel=1e-5)
    assert one.p_equivalence_adjusted == one.p_equivalence


def test_equivalence_is_adjusted_in_one_family_with_differences(tmp_path: Path) -> None:
    """Of metrics whose true difference is the margin some look equivalent taken alone."""
    rng = np.random.default_rng(4)
    rows: list[Row] = [
        (system, f"q{number}", {f"own{place}": float(value) for place, value in enumerate(scores)})
        for system, at in (("a", 0.55), ("b", 0.5))
        for number, scores in enumerate(at + rng.normal(0, 0.05, (30, 20)))
    ]
    found = compare(run_of(tmp_path / "run", rows), margin=0.05)
    alone = [one.p_equivalence for one in found.comparisons]
    assert found.family == 20
    assert min(p for p in alone if p is not None) <= 0.05
    ps = [one.p for one in found.comparisons] + alone
    assert [one.p_adjusted for one in found.comparisons] + [
        one.p_equivalence_adjusted for one in found.comparisons
    ] == list(holm(ps, [*range(20)] * 2))
    assert not any(one.verdict == "equivalent" for one in found.comparisons)


def test_an_interval_that_leaves_zero_out_beside_an_open_verdict_is_explained(
    tmp_path: Path,
) -> None:
    rows = [
        (system, question, {"own": score, **{f"own{at}": (at + number * (system == "a")) % 7 / 7
                                             for at in range(12)}})
        for system, question, scores in two(*drawn(30, shift=0.06, seed=3))
        for number, score in [(int(question[1:]), scores["faithfulness"])]
    ]  # fmt: skip
    one = compare(run_of(tmp_path / "run", rows)).comparisons[0]
    assert one.low is not None
    assert one.p is not None
    assert one.p_adjusted is not None
    assert one.low > 0
    assert one.p <= 0.05 < one.p_adjusted
    assert "after correction" in said(one)
    alone = only(compare(tmp_path / "run", metrics=["own"]))
    assert alone.verdict == "better"
    assert "after correction" not in said(alone)


# The same inputs ---------------------------------------------------------------------------


def test_an_open_comparison_as_narrow_as_the_margin_says_so(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", two(*drawn(400, 0.008)))
    alone = only(compare(run))
    assert alone.low is not None
    assert alone.high is not None
    one = only(compare(run, margin=0.55 * (alone.high - alone.low)))
    assert (one.verdict, one.n_needed) == ("cannot_tell", None)
    assert one.n_needed_reason == NARROW


def test_questions_on_which_only_one_has_a_score_are_counted_everywhere_and_in_each_slice(
    tmp_path: Path,
) -> None:
    """Of q0 to q4 a has all but q3, b all but q0 and q1; b was not asked q4."""

    def scored(system: str, *values: Score) -> list[Row]:
        return [(system, f"q{at}", {"hit": value}) for at, value in enumerate(values)]

    rows = scored("a", 1, 1, 0, "undefined", 1) + scored("b", "missing", "undefined", 0, 1)
    topics = [{"topic": "x" if at in (0, 4) else "y"} for at in (0, 1, 2, 3, 4, 0, 1, 2, 3)]
    found = compare(run_of(tmp_path / "run", rows, slices=topics), by="topic").comparisons
    assert [(one.slice, one.n_pairs, one.n_only_a, one.n_only_b) for one in found] == [
        (None, 1, 3, 1), ({"topic": "x"}, 0, 1, 0), ({"topic": "y"}, 1, 1, 1),
    ]  # fmt: skip


def test_one_question_needs_more_for_a_reason(tmp_path: Path) -> None:
    one = only(compare(run_of(tmp_path / "run", two([0.5], [0.4])), margin=0.1))
    assert (one.verdict, one.n_needed) == ("cannot_tell", None)
    assert one.n_needed_reason == "fewer_than_two?noun=pair"


def test_a_run_against_itself_is_the_same_in_every_metric(tmp_path: Path) -> None:
    rows: list[Row] = [
        (system, f"q{number}", {"faithfulness": number / 9, "own": 3.0, "hit": "missing"})
        for system in "ab"
        for number in range(9)
    ]
    run = run_of(tmp_path / "run", rows)
    found = compare(run, run, margin=0.1, by=())
    assert [one.verdict for one in found.comparisons] == ["same"] * 6
    assert found.family == 0
    one = found.comparisons[0]
    assert (one.value_a, one.difference) == (one.value_b, 0)
    assert (one.low, one.high, one.p, one.n_needed, one.caution) == (None,) * 5
    assert one.n_needed_reason == "nothing_is_estimated"
    assert one.to_dict()["verdict"] == "same"


def test_equal_values_of_different_answers_are_not_the_same(tmp_path: Path) -> None:
    same = [0.1, 0.5, 1.0, 0.0, 0.3] * 4
    one = only(compare(run_of(tmp_path / "run", two(same, same))))
    assert one.verdict == "cannot_tell"
    assert one.low is not None


def test_what_reads_contexts_alone_is_the_same_where_only_answers_differ(tmp_path: Path) -> None:
    rows: list[Row] = [
        (system, f"q{number}", {"context_precision": 0.5, "faithfulness": 0.5, "token_f1": 0.5})
        for system in "ab"
        for number in range(5)
    ]
    texts = [f"About {number}." for _ in "ab" for number in range(5)]
    of_answers = compare(run_of(tmp_path / "answers", rows, contexts=texts))
    assert {one.metric: one.verdict for one in of_answers.comparisons} == {
        "context_precision": "same", "faithfulness": "cannot_tell", "token_f1": "cannot_tell",
    }  # fmt: skip
    of_contexts = compare(run_of(tmp_path / "contexts", rows, answers=texts))
    assert {one.metric: one.verdict for one in of_contexts.comparisons} == {
        "context_precision": "cannot_tell", "faithfulness": "cannot_tell", "token_f1": "same",
    }  # fmt: skip


def test_one_pair_of_other_inputs_is_enough_to_be_no_longer_the_same(tmp_path: Path) -> None:
    texts = [f"About {number}." for _ in "ab" for number in range(6)]
    rows = two([0.5] * 6, [0.5] * 6, "token_f1")
    other = [*texts[:-1], "Another."]
    slices = [{"half": "first" if number < 3 else "last"} for _ in "ab" for number in range(6)]
    run = run_of(tmp_path / "run", rows, answers=other, slices=slices)
    found = compare(run, by="half").comparisons
    assert [one.verdict for one in found] == ["cannot_tell", "same", "cannot_tell"]
    whole = compare(run_of(tmp_path / "same", rows, answers=texts, slices=slices), by="half")
    assert [(one.verdict, one.slice) for one in whole.comparisons] == [("same", None)]


@pytest.mark.parametrize(
    ("a", "b", "verdict", "differing"),
    [
        ([0.5] * 5, [0.5] * 5, "same", 0),
        ([0.5] * 5, [0.5, 0.5, 0.5, 0.9, 0.1], "cannot_tell", 2),
        ([1] * 30, [0] * 28 + [1] * 2, "better", 28),
        ([0.5, "missing"], [0.5, "missing"], "same", 0),
        ([0.5, 0.5], [0.5, "missing"], "cannot_tell", 0),
        (["undefined"] * 3, [0.5] * 3, "cannot_tell", 0),
    ],
)
def test_judgements_of_the_same_inputs_that_differ_are_decided_by_their_numbers(
    a: list[float | str], b: list[float | str], verdict: str, differing: int, tmp_path: Path
) -> None:
    texts = [f"About {number}." for _ in "ab" for number in range(len(a))]
    one = only(compare(run_of(tmp_path / "run", two(a, b), answers=texts, contexts=texts)))
    assert one.verdict == verdict
    assert (one.low is None) is (verdict == "same" or one.n_pairs < 2)
    otherwise = f"{differing} of {one.n_pairs} pairs have different scores, so these are compared"
    assert (otherwise in said(one)) is bool(differing)


def test_in_one_run_only_the_metrics_that_read_what_differs_have_other_inputs(
    tmp_path: Path,
) -> None:
    names = ("token_f1", "context_precision", "rouge_l")
    rows: list[Row] = [
        (system, f"q{number}", dict.fromkeys(names, 0.5)) for system in "ab" for number in range(4)
    ]
    answers = [f"About {number}." for number in range(8)]
    found = compare(run_of(tmp_path / "run", rows, answers=answers, contexts=["c"] * 8))
    verdicts = {one.metric: one.verdict for one in found.comparisons}
    assert verdicts == dict(zip(names, ("cannot_tell", "same", "cannot_tell"), strict=True))


def test_the_same_inputs_judged_by_another_are_not_the_same(tmp_path: Path) -> None:
    rows = [row for row in two([0.5] * 5, []) if row[0] == "a"]
    first = run_of(tmp_path / "one", rows)
    second = run_of(tmp_path / "two", rows, judge="human")
    assert only(compare(first, second, force=True)).verdict == "cannot_tell"


def test_rows_of_a_question_may_come_in_another_order(tmp_path: Path) -> None:
    rows: list[Row] = [(system, "q", {"token_f1": 0.5}) for system in ("a", "a", "b", "b")]
    texts = ["One.", "Two.", "Two.", "One."]
    assert only(compare(run_of(tmp_path / "run", rows, answers=texts))).verdict == "same"
    twice = ["One.", "Two.", "One.", "One."]
    assert only(compare(run_of(tmp_path / "not", rows, answers=twice))).verdict == "cannot_tell"


def test_rivals_may_stand_in_another_order(tmp_path: Path) -> None:
    """Each system is compared with the others' answers, wherever these stand in the data."""
    rows: list[Row] = [(system, "q0", {"win_rate": 0.5}) for system in "abc"]
    first = run_of(tmp_path / "new", rows, answers=["A.", "B.", "C."], contexts=["c"] * 3)
    order = [0, 2, 1]
    turned = run_of(
        tmp_path / "old", [rows[at] for at in order], answers=["A.", "C.", "B."], contexts=["c"] * 3
    )
    assert {one.verdict for one in compare(first, turned).comparisons} == {"same"}
    other = run_of(tmp_path / "other", rows, answers=["A.", "B.", "D."], contexts=["c"] * 3)
    found = {one.a: one.verdict for one in compare(first, other).comparisons}
    assert found["new/a"] == "cannot_tell"


def test_p_values_are_adjusted_for_all_that_is_returned(tmp_path: Path) -> None:
    rows = []
    for system, seed in (("a", 1), ("b", 2), ("c", 3)):
        rng = np.random.default_rng(seed)
        for number in range(40):
            scores = {m: float(rng.random()) for m in ("faithfulness", "token_f1")}
            rows.append((system, f"q{number}", scores))
    run = run_of(tmp_path / "run", rows)
    for adjust, expected in (("holm", holm), ("bh", benjamini_hochberg)):
        found = compare(run, adjust=adjust)  # type: ignore[arg-type]
        assert found.family == len(found.comparisons) == 6
        assert [one.p_adjusted for one in found.comparisons] == pytest.approx(
            expected([one.p for one in found.comparisons])
        )
    assert [(one.a, one.b) for one in found.comparisons[::2]] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]


def test_against_a_baseline_every_other_system_is_a(tmp_path: Path) -> None:
    rows: list[Row] = [
        (system, f"q{number}", {"token_f1": (number + place) / 9})
        for place, system in enumerate("abc")
        for number in range(6)
    ]
    found = compare(run_of(tmp_path / "run", rows), baseline="b")
    assert [(one.a, one.b) for one in found.comparisons] == [("a", "b"), ("c", "b")]
    assert not found.ranking
    with pytest.raises(UnknownName, match="It has a, b, c"):
        compare(tmp_path / "run", baseline="d")


def test_systems_that_never_differ_have_no_test_of_a_difference(tmp_path: Path) -> None:
    same = [0.1, 0.5, 1.0, 0.0, 0.3] * 20
    one = only(found := compare(run_of(tmp_path / "run", two(same, same)), margin=0.05))
    assert (one.p, one.p_adjusted, one.test, found.family) == (None, None, None, 1)
    assert one.low is not None
    assert one.high is not None
    assert -0.05 < one.low < 0 < one.high < 0.05
    assert one.verdict == "equivalent"
    assert "no pair differs" in said(one)


@pytest.mark.parametrize(
    ("n", "value", "interval", "p", "reason"),
    [
        (0, None, False, None, "no pair has both values"),
        (1, 0.5, False, 1.0, "one pair is too few for an interval"),
        (2, 0.5, True, 0.5, "2 pairs differ, which is too few to reach a p below 0.5"),
        (5, 0.5, True, 2 / 32, "5 pairs differ, which is too few to reach a p below 0.062"),
        (6, 0.5, True, 2 / 64, None),
    ],
)
def test_few_pairs_say_what_they_cannot_tell(
    n: int, value: float | None, interval: bool, p: float | None, reason: str | None, tmp_path: Path
) -> None:
    lost: list[Score] = ["undefined", "missing"]
    one = only(compare(run_of(tmp_path / "run", two([*[0.9] * n, *lost], [*[0.4] * n, 0.1, 0.1]))))
    assert one.difference == (None if value is None else pytest.approx(value))
    assert (one.low is not None) == interval
    assert one.p == (None if p is None else pytest.approx(p))
    assert (one.n_pairs, one.n_undefined, one.n_missing) == (n, 1, 1)
    assert not one.reasons if reason is None else reason in said(one)
    json.dumps(one.to_dict(), allow_nan=False)


def test_several_rows_of_a_system_on_a_question_are_averaged_first(tmp_path: Path) -> None:
    rows: list[Row] = [
        ("a", "q0", {"exact_match": 1}),
        ("a", "q0", {"exact_match": 0}),
        ("a", "q0", {"exact_match": "missing"}),
        ("a", "q1", {"exact_match": 1}),
        ("b", "q0", {"exact_match": 0}),
        ("b", "q1", {"exact_match": "missing"}),
        ("b", "q1", {"exact_match": 1}),
    ]
    one = only(compare(run_of(tmp_path / "run", rows)))
    assert (one.n_pairs, one.difference) == (2, 0.25)
    assert one.test == "sign_flip_exact"


def test_pairs_that_share_a_cluster_are_not_independent(tmp_path: Path) -> None:
    rows, slices = [], []
    rng = np.random.default_rng(5)
    fate = rng.normal(0, 0.2, 12)
    for system in ("a", "b"):
        for number in range(60):
            score = 0.5 + (fate[number // 5] if system == "a" else 0)
            rows.append((system, f"q{number}", {"token_f1": float(np.clip(score, 0, 1))}))
            slices.append({"document": f"d{number // 5}"})
    run = run_of(tmp_path / "run", rows, slices=slices)
    by_question, by_document = only(compare(run)), only(compare(run, cluster="document"))
    assert (by_document.clusters, by_document.n_pairs) == (12, 60)
    assert by_document.method == "cluster_t"
    assert by_question.low is not None
    assert by_document.low is not None
    assert by_question.difference == pytest.approx(by_document.difference)
    assert by_document.low < by_question.low
    with pytest.raises(InputError, match="no_such"):
        compare(run, cluster="no_such")


def test_questions_that_stand_in_several_clusters_are_counted(tmp_path: Path) -> None:
    """Of the first question both documents are known, of the third none."""
    documents = [{"doc": "d0"}, {"doc": "d0"}, {}, {"doc": "d1"}, {"doc": "d0"}, {}]
    run = run_of(tmp_path / "run", two([0.1, 0.2, 0.3], [0.2, 0.3, 0.1]), slices=documents)
    notes = compare(run, cluster="doc").notes
    told = "1 question is in several clusters of doc and counts in its first."
    assert told in map(explain, notes)


def test_slices_are_compared_value_by_value(tmp_path: Path) -> None:
    a, b = drawn(40, 0.3)
    kinds = [{"kind": "odd" if number % 2 else "even"} for number in range(40)]
    kinds_of_b = [*kinds[:39], {"kind": "even"}]
    run = run_of(tmp_path / "run", two(a, b), slices=[*kinds, *kinds_of_b])
    found = compare(run, by="kind")
    assert [one.slice for one in found.comparisons] == [None, {"kind": "even"}, {"kind": "odd"}]
    assert [one.n_pairs for one in found.comparisons] == [40, 20, 19]
    assert found.family == 3
    assert "1 pair of a and b has two values of kind" in " ".join(map(explain, found.notes))


def test_two_runs_are_compared_system_by_system(tmp_path: Path) -> None:
    first = run_of(tmp_path / "new", [*two([1, 1, 1], [0, 0, 1]), ("c", "q0", {"faithfulness": 1})])
    second = run_of(tmp_path / "old", two([0.5, 1, 0], [0, 0, 1]))
    found = compare(first, second)
    assert [(one.a, one.b) for one in found.comparisons] == [("new/a", "old/a"), ("new/b", "old/b")]
    assert found.comparisons[0].difference == pytest.approx(0.5)
    assert any("only in new" in note and "system c" in note for note in map(explain, found.notes))
    with pytest.raises(InputError, match="one run"):
        compare(first, second, baseline="a")


def test_the_only_system_of_two_runs_is_compared_whatever_its_name(tmp_path: Path) -> None:
    first = run_of(tmp_path / "x" / "run", [("a", "q0", {"faithfulness": 1})])
    second = run_of(tmp_path / "y" / "run", [("b", "q0", {"faithfulness": 0})])
    one = only(compare(first, second))
    assert (one.a, one.b) == (f"{first}/a", f"{second}/b")


def test_runs_without_a_system_of_one_name_are_refused(tmp_path: Path) -> None:
    first = run_of(tmp_path / "new", two([1], [1]))
    second = run_of(tmp_path / "old", [("c", "q0", {"faithfulness": 1})])
    with pytest.raises(InputError, match="no system of the same name"):
        compare(first, second)


def test_questions_of_one_run_alone_are_named(tmp_path: Path) -> None:
    first = run_of(tmp_path / "new", [("a", f"q{n}", {"token_f1": 0.5}) for n in range(9)])
    second = run_of(tmp_path / "old", [("a", f"q{n}", {"token_f1": 0.4}) for n in (0, 1, 9)])
    found = compare(first, second)
    assert only(found).n_pairs == 2
    assert tuple(map(explain, found.notes)) == (
        "only in new/a, so not paired: 7 questions, q2, q3, q4, q5, q6 and 2 more.",
        "only in old/a, so not paired: 1 question, q9.",
    )


def test_runs_without_a_shared_question_are_refused(tmp_path: Path) -> None:
    first = run_of(tmp_path / "new", [("a", "q1", {"token_f1": 0.5})])
    second = run_of(tmp_path / "old", [("a", "q2", {"token_f1": 0.4})])
    with pytest.raises(InputError, match=r"share no question(.|\n)*q1(.|\n)*q2"):
        compare(first, second)


def test_one_system_alone_is_refused(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", [("a", "q1", {"token_f1": 0.5})])
    with pytest.raises(InputError, match="holds one system, a"):
        compare(run)


def test_metrics_are_chosen_by_name_and_old_name(tmp_path: Path) -> None:
    rows: list[Row] = [(s, "q0", {"faithfulness": 1, "token_f1": 0.1}) for s in "ab"]
    run = run_of(tmp_path / "run", rows)
    assert only(compare(run, metrics=["token_f1"])).metric == "token_f1"
    assert only(compare(run, metrics=["ragas_faithfulness"])).metric == "faithfulness"
    with pytest.raises(UnknownName, match="There are faithfulness, token_f1"):
        compare(run, metrics=["mrr"])


def test_a_metric_that_one_run_lacks_is_noted(tmp_path: Path) -> None:
    first = run_of(tmp_path / "new", [("a", "q0", {"token_f1": 1, "rouge_l": 1})])
    second = run_of(tmp_path / "old", [("a", "q0", {"token_f1": 0})])
    found = compare(first, second)
    assert only(found).metric == "token_f1"
    assert any(str(first) in one and "rouge_l" in one for one in map(explain, found.notes))
    third = run_of(tmp_path / "other", [("a", "q0", {"mrr": 0})])
    with pytest.raises(InputError, match="no metric in common"):
        compare(second, third)


def test_what_was_judged_otherwise_is_refused_unless_forced_and_listed(tmp_path: Path) -> None:
    rows: list[Row] = [("a", "q0", {"faithfulness": 1, "my_own": 0.1, "token_f1": 1})]
    first = run_of(tmp_path / "new", rows)
    second = run_of(tmp_path / "old", rows, judge="openai:some")
    with pytest.raises(InputError) as raised:
        compare(first, second)
    told = str(raised.value)
    assert "3 metrics were measured otherwise" in told
    judges = "judged by local in new, by openai:some in old"
    assert f"faithfulness: claims, response, support/claim {judges}" in told
    assert f"my_own: {judges}" in told
    assert "force=True" in told
    forced = compare(first, second, force=True)
    assert len(forced.comparisons) == 3
    assert sum("compared_all_the_same" in note for note in forced.notes) == 3


def test_other_rules_models_prompts_and_definitions_are_told_too(tmp_path: Path) -> None:
    rows: list[Row] = [("a", "q0", {"faithfulness": 1, "my_own": 0.1})]
    plain = run_of(tmp_path / "plain", rows)
    for name, settings, expected in (
        ("rules", {"local": ["2"]}, "faithfulness: rules of the local judge"),
        ("own", {"definitions": {"my_own": "2"}}, "my_own: definition 1 in own-1, 2 in own-2"),
    ):
        before = run_of(tmp_path / f"{name}-1", rows, definitions={"my_own": "1"})
        other = run_of(
            tmp_path / f"{name}-2", rows, **({"definitions": {"my_own": "1"}} | settings)
        )
        with pytest.raises(InputError, match=expected):
            compare(before, other)
    told = {
        "judges": {"m": ["m@1"]},
        "prompts": {"claims": "1", "support": "1"},
        "plan": "lean",
        "rubrics": "",
    }
    asked = run_of(tmp_path / "asked", rows, judge="m", llm=told)
    changed = told | {"judges": {"m": ["m@2"]}, "prompts": {"claims": "2", "support": "1"}}
    again = run_of(tmp_path / "again", rows, judge="m", llm=changed)
    with pytest.raises(InputError, match=r"prompt claims.* 1 in .*, 2 in "):
        compare(asked, again, metrics=["faithfulness"])
    assert compare(plain, run_of(tmp_path / "same", rows)).notes == ()


def test_ids_that_stand_for_other_questions_are_noted(tmp_path: Path) -> None:
    first = run_of(tmp_path / "new", [("a", "q0", {"token_f1": 1}), ("a", "q1", {"token_f1": 1})])
    second = run_of(tmp_path / "old", [("a", "q0", {"token_f1": 1}), ("a", "q1", {"token_f1": 1})])
    change(second, "examples", question=pl.lit("What of q0?"))
    told = map(explain, compare(first, second).notes)
    assert any(one.startswith("1 shared question id has") and "q1" in one for one in told)


def test_a_question_without_a_text_is_no_other_question(tmp_path: Path) -> None:
    rows: list[Row] = [("a", f"q{at}", {"token_f1": 1}) for at in range(3)]
    first, second = run_of(tmp_path / "new", rows), run_of(tmp_path / "old", rows)
    assert not compare(first, second).notes
    text = pl.when(pl.col("question_id") != "q0").then(pl.lit("What of it?"))
    change(second, "examples", question=text)
    said = reason("other_questions", n=2, run=second, first="q1")
    assert other_texts(Scored(Run.open(first)), Scored(Run.open(second))) == [said]


@pytest.mark.parametrize(
    "options",
    [{"margin": 0}, {"margin": -1}, {"margin": float("nan")}, {"adjust": "none"}, {"level": 1}],
)
def test_options_out_of_range_are_refused(options: Mapping[str, Any], tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", two([1], [0]))
    with pytest.raises(InputError):
        compare(run, **options)


COMPOSITE = 'composite(weights="faithfulness:3 token_f1:1", missing="renormalise")'


def test_composites_are_compared_over_the_components_that_both_have(tmp_path: Path) -> None:
    rows: list[Row] = [
        ("a", "q0", {"faithfulness": "undefined", "token_f1": 0.5}),
        ("b", "q0", {"faithfulness": 1.0, "token_f1": 0.3}),
        ("a", "q1", {"faithfulness": 0.5, "token_f1": 0.1}),
        ("b", "q1", {"faithfulness": 0.5, "token_f1": 0.5}),
        ("a", "q2", {"faithfulness": 0.4, "token_f1": "undefined"}),
        ("b", "q2", {"faithfulness": "undefined", "token_f1": 0.4}),
    ]
    name = str(parse_metric(COMPOSITE))
    composed = {0: 0.5, 1: 0.825, 2: 0.4, 3: 0.5, 4: 0.4, 5: 0.4}
    whole = [
        (system, question, {**scores, name: composed[number]})
        for number, (system, question, scores) in enumerate(rows)
    ]
    run = run_of(tmp_path / "run", whole)
    partial = pl.when(pl.col("metric") == name).then(pl.lit("components=1/2,weight_coverage=0.25"))
    change(run, "scores", reason=partial)
    found = compare(run, metrics=[name])
    one = only(found)
    assert one.n_pairs == 2
    assert one.n_undefined == 1
    assert one.difference == pytest.approx(((0.5 - 0.3) + (0.4 - 0.5)) / 2)
    assert "on 1 of 2 pairs" in " ".join(map(explain, found.notes))


def test_components_that_a_run_did_not_keep_are_scored_from_its_judgements(tmp_path: Path) -> None:
    suite = ["ragas_score"]
    alone = evaluate(cornwall(), metrics=suite, out=tmp_path / "alone")
    parts = [str(one) for one in parse_metric("ragas_score").components().values()]  # type: ignore[attr-defined]
    kept = evaluate(cornwall(), metrics=[*suite, *parts], out=tmp_path / "kept")
    found, expected = compare(alone), compare(kept, metrics=suite)
    assert found.comparisons == expected.comparisons
    assert found.notes == expected.notes
    assert not {one.metric for one in found.comparisons} - {"ragas_score"}
    assert found.comparisons[0].n_pairs > 0


def test_a_composite_of_means_is_left_out_and_noted() -> None:
    run = evaluate(cornwall(), metrics=["ragas_harmonic", "token_f1"])
    found = compare(run)
    assert {one.metric for one in found.comparisons} == {"token_f1"}
    assert any("data-set means" in explain(note) for note in found.notes)


def test_more_than_two_systems_are_ranked(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    rows: list[Row] = [
        (system, f"q{number}", {"token_f1": rng.uniform(0, level), "abstention": 0})
        for system, level in (("a", 0.6), ("b", 0.9), ("c", 0.75))
        for number in range(80)
    ]
    ranked = compare(run_of(tmp_path / "run", rows)).ranking
    assert [one.system for one in ranked] == ["b", "c", "a"]
    assert {one.metric for one in ranked} == {"token_f1"}
    for one in ranked:
        assert one.low is not None
        assert one.strength is not None
        assert one.high is not None
        assert one.low < one.strength < one.high
        assert one.n == 160


def test_a_system_that_always_wins_has_a_share_but_no_strength(tmp_path: Path) -> None:
    rows: list[Row] = [
        (system, f"q{number}", {"token_f1": score})
        for system, score in (("a", 0.2), ("b", 0.9), ("c", 0.2))
        for number in range(10)
    ]
    first, *_ = compare(run_of(tmp_path / "run", rows)).ranking
    assert (first.system, first.strength, first.win_share) == ("b", None, 1)
    assert "never lost" in words(first.reason or "")


def test_a_comparison_turns_round_with_its_systems(tmp_path: Path) -> None:
    a, b = drawn(30, 0.05)
    one = only(compare(run_of(tmp_path / "one", two(a, b)), margin=0.02))
    other = only(compare(run_of(tmp_path / "other", two(b, a)), margin=0.02))
    assert one.difference == pytest.approx(-(other.difference or 0))
    assert (one.low, one.high) == pytest.approx((-(other.high or 0), -(other.low or 0)))
    assert (one.p, one.n_needed) == (other.p, other.n_needed)
    assert (one.wins, one.losses) == (other.losses, other.wins)


def test_json_has_what_programs_read(tmp_path: Path) -> None:
    found = compare(run_of(tmp_path / "run", two(*drawn(20))), margin=0.05).to_dict()
    json.dumps(found, allow_nan=False)
    assert set(found["comparisons"][0]) >= {
        "metric", "a", "b", "slice", "difference", "low", "high", "p", "p_adjusted", "test",
        "verdict", "margin", "n_pairs", "wins", "ties", "losses", "n_needed",
    }  # fmt: skip
    assert {"seed", "family", "adjust", "notes", "ranking"} <= set(found)


def test_an_open_run_may_be_given(tmp_path: Path) -> None:
    path = run_of(tmp_path / "run", two(*drawn(20)))
    assert compare(Run.open(path)) == compare(path)


def vectors(shared: Path, *ids: str) -> list[Mapping[str, Any]]:
    every = json.loads((shared / "golden" / "seed_vectors.json").read_text())["vectors"]
    return [one for one in every if one["id"] in ids]


def test_the_golden_vectors_of_comparing(shared: Path) -> None:
    change, tie = vectors(shared, "compare.relative_improvement_pct", "compare.winner_tie")
    a, b = change["input"]["a"], change["input"]["b"]
    for name, expected in change["expected"].items():
        assert relative_change(a[name], b[name]) == pytest.approx(expected, abs=change["tolerance"])
    assert tie["expected"]["winner"] == "tie"
    assert differences(*(np.array([tie["input"][name]]) for name in "ab")) == 0


def test_questions_without_an_id_are_named_by_their_words(tmp_path: Path) -> None:
    rows = [{"id": str(at), "question": f"How long is pier {at}?", "answer": "Long.",
             "reference": "Long.", "system": "a"} for at in range(3)]  # fmt: skip
    runs = [
        evaluate(some, metrics=["token_f1"], out=tmp_path / name)
        for name, some in (("old", rows[:2]), ("new", rows[1:]))
    ]
    notes = [*map(explain, compare(*runs).notes)]
    assert "only in old/a, so not paired: 1 question, “How long is pier 0?”." in notes
