"""The estimates of a run in shards and buckets, beside the same from one whole table."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragstone.core.errors import DamagedRun
from ragstone.judgements import MISSING, UNDEFINED, VALUE
from ragstone.metrics import parse_metric
from ragstone.run.estimates import sums as buckets
from ragstone.run.estimates.estimates import (
    BUCKETS,
    Estimated,
    estimate_metric,
    estimate_run,
    provenance,
)
from ragstone.run.estimates.groups import NO_SCORES, by_column
from ragstone.run.folder.run_tally import RunTally
from ragstone.run.folder.schemas import STATUS_CODES, Counted, Estimate, ShardForm
from ragstone.run.folder.shards import Shards
from ragstone.run.run_spec import Requested, RunSpec
from ragstone.run.settings import NO_MODELS, RunSettings
from ragstone.stats import t_quantile, wilson
from ragstone.stats.cluster_moments import NO_CLUSTERS
from ragstone.stats.distributions import wilson_ends

MEANS = 'ragas_harmonic(weights="mrr:1 hit:1")'
RENORMALISED = 'composite(weights="mrr:1 hit:1", missing="renormalise")'
METRICS = ("mrr", "hit", RENORMALISED, MEANS)
"""A score from 0 to 1, a rate, a composite of scores, and one of means."""

BLOCK = 7
"""Examples of a block of a shard, each of which has all scores of a metric together."""

Score = tuple[float | None, str, str | None, str | None]
"""Value, status, reason, label."""


@dataclass(frozen=True)
class Row:
    """An example with its scores."""

    question: int
    text: int | None
    system: str
    topic: str
    mrr: Score
    hit: Score


def spec(*metrics: str) -> RunSpec:
    asked = Requested(tuple(map(parse_metric, metrics or METRICS)), ())
    of = RunSettings(
        data="data", definitions={}, local=[], nli=[], citations="", cluster="question_id"
    )
    return RunSpec(of, asked, (), ("topic",), NO_MODELS)


def hashed(values: Sequence[int | None]) -> pl.Series:
    return (
        pl.Series(values, dtype=pl.Int64)
        .hash(seed=0)
        .zip_with(
            pl.Series(values, dtype=pl.Int64).is_not_null(), pl.Series([None], dtype=pl.UInt64)
        )
    )


def composed(row: Row) -> Score:
    there = [value for value, *_ in (row.mrr, row.hit) if value is not None]
    if not there:
        return None, "undefined", "no_component_defined", None
    part = None if len(there) == 2 else "components=1/2,weight_coverage=0.5"
    return sum(there) / len(there), "value", part, None


def frames(rows: Sequence[Row], start: int = 0) -> dict[str, pl.DataFrame]:
    """The tables of a shard that estimates are made of."""
    of: dict[str, list[Score]] = {
        "mrr": [row.mrr for row in rows],
        "hit": [row.hit for row in rows],
        RENORMALISED: [composed(row) for row in rows],
        MEANS: [(None, "undefined", "over_data_set_means", None)] * len(rows),
    }
    numbers = range(start, start + len(rows))
    scores = [
        {
            "example_id": f"e{number}", "question_id": f"q{row.question}", "system": row.system,
            "metric": metric, "value": value, "label": label, "status": status, "reason": reason,
            "shard": 0,
        }
        for metric in METRICS
        for number, row, (value, status, reason, label) in zip(
            numbers, rows, of[metric], strict=True
        )
    ]  # fmt: skip
    facets: dict[str, Any] = {
        "system": [row.system for row in rows],
        "question": hashed([row.question for row in rows]),
        "asked": hashed([row.text for row in rows]),
        "cluster": hashed([row.question for row in rows]),
        "contexts": [5] * len(rows),
        by_column("topic"): [row.topic for row in rows],
    }
    for name in ("mrr", "hit"):
        facets[f"value {name}"] = pl.Series([one[0] for one in of[name]], dtype=pl.Float64)
        facets[f"status {name}"] = pl.Series(
            [STATUS_CODES[one[1]] for one in of[name]], dtype=pl.UInt8
        )
    words = dict.fromkeys(("label", "reason"), pl.String())
    types = {"value": pl.Float64(), **words, "shard": pl.UInt32()}
    return {"scores": pl.DataFrame(scores, schema_overrides=types), "facets": pl.DataFrame(facets)}


def written(folder: Path, rows: Sequence[Row], size: int, block: int = BLOCK) -> Shards:
    folder.mkdir(exist_ok=True)
    shards = Shards(folder)
    for number, start in enumerate(range(0, len(rows), size)):
        own = rows[start : start + size]
        form = ShardForm(shard=number, examples=len(own), files={}, counted=Counted(judged=[]))
        blocks = [frames(own[at : at + block], start + at) for at in range(0, len(own), block)]
        tables = {name: pl.concat(one[name] for one in blocks) for name in ("scores", "facets")}
        shards.add(form, tables)
    return shards


def estimated(
    rows: Sequence[Row], *, shard: int = 5_000, bucket: int = 50_000, block: int = BLOCK
) -> Estimated:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(buckets, "EXAMPLES", bucket)
        place = Path(folder)
        shards = written(place, rows, shard, block)
        found = estimate_run(shards, spec(), RunTally(examples=len(rows)))
        assert not (place / BUCKETS).exists()
    return found


def clusters_of(rows: Sequence[Row]) -> list[int]:
    """The first question with the same first text."""
    texts: dict[int, int] = {}
    for row in rows:
        if row.text is not None:
            texts.setdefault(row.question, row.text)
    first: dict[int, int] = {}
    for question, text in texts.items():
        first.setdefault(text, question)
    if len(first) == 1:
        return [row.question for row in rows]
    return [first[texts[row.question]] if row.question in texts else row.question for row in rows]


def plain_interval(
    scores: NDArray[np.float64], clusters: Sequence[int], *, rate: bool
) -> tuple[float | None, float | None]:
    """Wilson's interval on the effective sample size, from all rows at once."""
    names = sorted(set(clusters))
    sums = np.array([scores[np.array(clusters) == one].sum() for one in names])
    counts = np.array([clusters.count(one) for one in names])
    n, c, mean = len(scores), len(names), scores.mean()
    if rate and counts.max() == 1:
        found = wilson(float(scores.sum()), n)
        return (None, None) if found is None else (found.low, found.high)
    if c < 2:
        return None, None
    kish = counts.sum() ** 2 / (counts**2).sum()
    variance = max(0.0, (scores**2).mean() - mean**2)
    if variance <= 1e-12 or not 0 < mean < 1:
        size = kish
    else:
        shape = min(1.0, variance / (mean * (1 - mean)))
        between = c / (c - 1) * ((sums - mean * counts) ** 2).sum()
        half = 0.5 * n / c * shape
        alone = n / max(1.0, (between + half * n / c) / (n * variance + half))
        distant = 0.5 * (2 * mean - 1) ** 2
        size = alone * (alone + distant) / (alone * shape + distant)
    return wilson_ends(min(1.0, max(0.0, mean)), size, t_quantile(0.975, max(1.0, kish - 1)))


def plain(rows: Sequence[Row], metric: str, group: dict[str, str]) -> dict[str, Any]:
    """One estimate, from a table of everything."""
    clusters = clusters_of(rows)
    own = [
        (cluster, row)
        for cluster, row in zip(clusters, rows, strict=True)
        if all(getattr(row, name) == value for name, value in group.items())
    ]
    scores = [composed(row) if metric == RENORMALISED else getattr(row, metric) for _, row in own]
    there = [(cluster, score[0]) for (cluster, _), score in zip(own, scores, strict=True)
             if score[0] is not None]  # fmt: skip
    statuses = Counter(status for _, status, *_ in scores)
    values = np.array([value for _, value in there], dtype=np.float64)
    low, high, worst, best = None, None, None, None
    if there:
        low, high = plain_interval(values, [one for one, _ in there], rate=metric == "hit")
    if there or statuses["missing"]:
        rest = len(values) + statuses["missing"]
        worst, best = values.sum() / rest, (values.sum() + statuses["missing"]) / rest
    flags: Counter[str] = Counter()
    for said, count in _ordered(reason for _, status, reason, _ in scores if status == "value"):
        for flag in said.split(","):
            if not flag.startswith(("components=", "weight_coverage=", "best_reference=")):
                flags[flag] += count
    return {
        "value": values.mean() if there else None,
        "low": low, "high": high, "worst": worst, "best": best,
        "n": statuses["value"], "n_undefined": statuses["undefined"],
        "n_missing": statuses["missing"], "clusters": len({one for one, _ in there}),
        "labels": dict(sorted(Counter(label for *_, label in scores if label).items())),
        "flags": dict(flags),
        "reasons": dict(_ordered(reason for _, status, reason, _ in scores if status != "value")),
    }  # fmt: skip


def _ordered(words: Any) -> list[tuple[str, int]]:
    counts = Counter(word for word in words if word is not None)
    return sorted(counts.items(), key=lambda one: (one[1], one[0]), reverse=True)


def same(one: float | None, other: float | None, near: float = 1e-12) -> bool:
    if one is None or other is None:
        return one is other
    return bool(one == pytest.approx(other, rel=near, abs=near))


def check(found: Estimate, expected: dict[str, Any]) -> None:
    for name in ("n", "n_undefined", "n_missing", "clusters", "labels", "flags", "reasons"):
        assert getattr(found, name) == expected[name], name
    for name in ("flags", "reasons", "labels"):
        assert list(getattr(found, name)) == list(expected[name]), "also their order"
    for name in ("value", "worst", "best"):
        assert same(getattr(found, name), expected[name]), name
    for name in ("low", "high"):
        # The squares of equal scores cancel, so of their variance rounding leaves a few digits.
        assert same(getattr(found, name), expected[name], near=1e-9), name


def of(found: Estimated, metric: str, **group: str) -> Estimate:
    return next(one for one in found.estimates if one.metric == metric and one.group == group)


absent = st.sampled_from(
    [(None, "undefined", "no_x", None), (None, "undefined", "no_y", None),
     (None, "missing", "late", None), (None, "missing", None, None)]
)  # fmt: skip
flags = st.sampled_from([None, None, "tie", "empty_retrieval,tie", "best_reference=2,tie"])
words = st.sampled_from([None, "right", "wrong"])


def scored(values: st.SearchStrategy[float]) -> st.SearchStrategy[Score]:
    return st.one_of(absent, st.tuples(values, st.just("value"), flags, words))


tables = st.lists(
    st.builds(
        Row,
        st.integers(0, 12),
        st.one_of(st.none(), st.integers(0, 7)),
        st.sampled_from("ba"),
        st.sampled_from(["z", "y", "(none)"]),
        scored(st.integers(0, 8).map(lambda eighths: eighths / 8 + 0.001 * (eighths < 8))),
        scored(st.sampled_from([0.0, 1.0])),
    ),
    min_size=1,
    max_size=60,
)


@settings(max_examples=30, deadline=None)
@given(tables, st.integers(4, 30), st.integers(1, 30))
def test_estimates_are_those_of_a_whole_table(rows: list[Row], shard: int, bucket: int) -> None:
    """Buckets change nothing but the last digit."""
    found = estimated(rows, shard=shard, bucket=bucket)
    whole = estimated(rows)
    assert whole.remarks == found.remarks
    for first, second in zip(whole.estimates, found.estimates, strict=True):
        a, b = first.to_dict(), second.to_dict()
        for name in ("value", "low", "high", "worst", "best"):
            assert same(a.pop(name), b.pop(name), near=1e-9), name
        assert json.dumps(a) == json.dumps(b)
    systems = list(dict.fromkeys(row.system for row in rows))
    topics = sorted({row.topic for row in rows})
    groups: list[dict[str, str]] = [{}, *({"system": one} for one in systems)]
    groups += [{"topic": one} for one in topics]
    if len(systems) > 1:
        groups += [{"system": one, "topic": topic} for one in systems for topic in topics]
    assert [one.group for one in found.estimates] == groups * len(METRICS)
    assert found.fields == ["topic"]
    for metric in ("mrr", "hit", RENORMALISED):
        for group in groups:
            check(of(found, metric, **group), plain(rows, metric, group))
    questions = len({row.question for row in rows})
    assert found.counts == {
        "examples": len(rows), "questions": questions, "systems": len(systems),
    }  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(tables, st.integers(4, 60), st.integers(4, 60))
def test_where_shards_end_changes_no_bit(rows: list[Row], one: int, other: int) -> None:
    first, second = (estimated(rows, shard=size, bucket=20) for size in (one, other))
    assert first.estimates == second.estimates


@settings(max_examples=20, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_a_composite_of_means_does_not_depend_on_the_order_of_the_rows(
    rows: list[Row], draw: Any
) -> None:
    rows = [Row(**{**vars(row), "text": row.question}) for row in rows]
    shuffled = draw.sample(rows, len(rows))
    one, other = of(estimated(rows), MEANS), of(estimated(shuffled, shard=7, bucket=9), MEANS)
    for name in ("value", "low", "high"):
        assert same(getattr(one, name), getattr(other, name)), name
    assert (one.n, one.clusters, one.n_missing) == (other.n, other.clusters, other.n_missing)


def row(number: int, mrr: float, hit: float) -> Row:
    return Row(
        number // 2, number // 2, "a", "y", (mrr, "value", None, None), (hit, "value", None, None)
    )


def many(examples: int) -> list[Row]:
    draw = np.random.default_rng(0)
    return [row(at, float(draw.random()), float(draw.random() < 0.4)) for at in range(examples)]


def test_a_composite_of_means_of_many_questions_is_of_joined_ones_in_any_order() -> None:
    rows = many(6_000)
    one = of(estimated(rows, block=1_000), MEANS)
    other = of(estimated(rows[::-1], bucket=1_250, block=1_000), MEANS)
    assert one.clusters == other.clusters == 3_000
    assert (one.value, one.low, one.high) == pytest.approx(
        (other.value, other.low, other.high), rel=1e-12
    )
    means = [np.mean([getattr(row, name)[0] for row in rows]) for name in ("mrr", "hit")]
    assert one.value is not None
    assert one.value == pytest.approx(2 / sum(1 / mean for mean in means))
    error = sqrt(sum((2 * one.value**2 / 4 / mean**2) ** 2 * var / 6_000 for mean, var in
                     zip(means, (1 / 12, 0.24), strict=True)))  # fmt: skip
    assert one.low is not None
    assert one.high is not None
    assert one.high - one.low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_a_whole_table_in_memory_gives_the_same_bits_as_shards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(buckets, "EXAMPLES", 50)
    rows = many(400)
    tables = frames(rows)
    facets = tables["facets"]
    scores = tables["scores"].with_columns(
        pl.col("status").replace_strict(STATUS_CODES, return_dtype=pl.UInt8)
    )
    made = provenance("data", RunTally(), "question_id", NO_MODELS, None)
    run = estimated(rows, shard=90, bucket=50)
    for name in ("mrr", MEANS):
        parts = {
            one: facets.select(value=f"value {one}", status=f"status {one}")
            for one in (("mrr", "hit") if name == MEANS else ())
        }
        found = estimate_metric(
            parse_metric(name), scores.filter(pl.col("metric") == name), facets, ["topic"], made,
            components=parts,
        )  # fmt: skip
        assert found == [one for one in run.estimates if one.metric == name]


def test_a_remark_tells_what_composites_are_made_of_system_by_system() -> None:
    nothing: Score = (None, "undefined", "no_x", None)
    half = Row(1, 1, "b", "y", (0.5, "value", None, None), nothing)
    rows = [row(0, 1, 1), half, Row(2, 2, "b", "y", nothing, nothing), row(6, 1, 1)]
    [remark] = [one for one in estimated(rows, shard=1, bucket=1).remarks if "weight" in one]
    assert "100" in remark
    assert "50" in remark
    assert estimated([row(0, 1, 1)]).remarks == []


def test_a_field_of_a_suite_groups_where_some_example_has_it(tmp_path: Path) -> None:
    rows = [row(0, 1, 1), replace(row(2, 1, 1), topic="(none)")]
    asked = replace(spec(), by=())
    asked.__dict__["fields"] = ["topic"]
    some = estimate_run(written(tmp_path / "some", rows, 2), asked, RunTally(examples=2))
    none = estimate_run(written(tmp_path / "none", rows[1:], 2), asked, RunTally(examples=1))
    assert (some.fields, none.fields) == (["topic"], [])
    assert {"topic": "(none)"} in [one.group for one in some.estimates]
    assert [one.group for one in none.estimates[:2]] == [{}, {"system": "a"}]


def test_what_was_put_aside_is_gone_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "EXAMPLES", 10)
    shards = written(tmp_path, many(60), 20)
    shards.file("scores", 2).write_bytes(b"not a table")
    with pytest.raises(DamagedRun):
        estimate_run(shards, spec(), RunTally(examples=60))
    assert not (tmp_path / BUCKETS).exists()


def test_what_a_killed_run_put_aside_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "EXAMPLES", 10)
    rows = many(60)
    shards = written(tmp_path, rows, 20)
    (tmp_path / BUCKETS).mkdir()
    (tmp_path / BUCKETS / "000000").write_bytes(b"\0" * 4_000)
    found = estimate_run(shards, spec(), RunTally(examples=60))
    assert found.estimates == estimated(rows, shard=20, bucket=10).estimates


def test_statuses_are_numbered_as_they_are_named() -> None:
    assert STATUS_CODES == {"value": VALUE, "undefined": UNDEFINED, "missing": MISSING}


def test_looking_at_a_group_without_scores_changes_nothing() -> None:
    nothing = buckets.Summed({}, {}, pl.DataFrame(), {})
    assert nothing.counts_of(3, 0) == NO_SCORES
    assert nothing.moments_of(3, 0) == NO_CLUSTERS
    assert not nothing.counts
    assert not nothing.moments
