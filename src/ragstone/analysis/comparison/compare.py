"""Comparison: is system a better than system b, worse, equivalent, or undecided?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from ragstone.analysis.calibration.checked_run import checked_against_people
from ragstone.analysis.scored_run import Scored, metric_among
from ragstone.core.errors import InputError, UnknownName
from ragstone.core.messages import reason
from ragstone.run import Run
from ragstone.run.estimates.cautions import relevance_by
from ragstone.run.estimates.groups import NO_VALUE
from ragstone.run.request import checked
from ragstone.stats.comparison.differences import benjamini_hochberg, holm
from ragstone.stats.planning.sample_size import needed_n
from ragstone.stats.weights_and_groups import Bools

from . import comparability
from .compared_systems import (
    NO_PLACE,
    Match,
    matches_between,
    matches_within,
    runs_of,
    unpaired,
    values_of,
)
from .comparison_result import Adjust, Comparison, Comparisons, Games, Ranked, ranking, verdict_of
from .paired_scores import ComparisonSettings, Pairs, compare_pairs, outcomes, same_pairs

SEED = 20_240_601
RESAMPLES = 10_000
# For each test of the family, so that its adjusted p can be far below .05.
RESAMPLES_A_TEST = 100

MOST_SLICES = 200

Slice = Mapping[str, str] | None


@checked
def compare(
    run: str | Path | Run,
    other: str | Path | Run | None = None,
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    cluster: str | None = None,
    margin: float | None = None,
    adjust: Adjust = "holm",
    level: float = 0.95,
    force: bool = False,
    seed: int = SEED,
) -> Comparisons:
    """Compare the systems of a run, or of two runs, on the questions both answered.

    Rows of one system on one question are averaged first. Each comparison has a difference with an
    interval (Newcombe's for values 0 and 1, otherwise Student's t by cluster), the p-value of a
    distribution-free test (McNemar's exact test, or sign flips by cluster), adjusted for all
    p-values returned, and a verdict; see ``Comparison`` and ``verdict_of``. If both were judged on
    the same inputs by the same judge, and alike, nothing is tested: ``same``.

    Composites that leave out components without a value are compared over the components that both
    sides of a pair have. A composite of dataset means is left out. A system whose answers are the
    references is not compared by metrics that set answers beside references.

    Args:
        other: A second run: its systems are b, those of ``run`` are a. None: compare the systems of
            ``run``.
        baseline: Within one run, the only system to be b; None: every pair.
        metrics: None: all, or with two runs all that both have.
        by: Fields to compare by, value by value, in addition to the whole.
        margin: Differences up to this size are too small to matter, in the metric's unit, above 0.
        adjust: ``holm`` keeps the chance of any false finding, of a difference or of equivalence,
            at 5 %; ``bh`` keeps the expected share of false findings at 5 %.
        level: Confidence level of the intervals, in (.5, 1). ``better`` and ``worse`` need an
            adjusted p-value of at most 1 - level, and so does ``equivalent``, in two one-sided
            tests.
        force: Also compare metrics that the two runs judged or defined differently.

    Raises:
        InputError: A run is not finished, there is nothing to pair, a metric differs between the
            runs, or an option is out of range.
    """
    _check(margin, adjust, level, other, baseline)
    fields = [by] if isinstance(by, str) else list(by)
    first = Scored(Run.of(run), cluster=cluster, by=fields)
    second = None
    notes: list[str] = []
    if other is None:
        matches = matches_within(first, baseline)
        chosen = _chosen(metrics, first.metrics, first)
    else:
        second = Scored(Run.of(other), cluster="question_id", by=fields)
        matches, notes = matches_between(first, second)
        shared = [name for name in first.metrics if name in second.metrics]
        chosen = _chosen(metrics, shared, first)
        notes += [] if metrics else comparability.only_one_has(first, second)
        notes += comparability.check_same(first, second, chosen, force=force)
        notes += comparability.version_note(first, second)
        notes += comparability.other_texts(first, second)
    notes += unpaired(matches)
    questions = matches[0][0].questions
    if questions.several:
        notes.append(reason("in_several_clusters", n=questions.several, cluster=first.cluster))
    return _compared(first, matches, chosen, adjust, margin, level, seed, notes)


def _compared(
    first: Scored, matches: Sequence[Match], metrics: Sequence[str], adjust: Adjust,
    margin: float | None, level: float, seed: int, notes: list[str],
) -> Comparisons:  # fmt: skip
    later: list[str] = []
    slices = [list(_slices(match, first.by, later)) for match in matches]
    tests = len(metrics) * sum(map(len, slices))
    resamples = max(RESAMPLES, RESAMPLES_A_TEST * tests)
    settings = ComparisonSettings(level, margin, seed, resamples)
    side_of = {side.name: side for match in matches for side in match}
    everyone = len(matches) == len(side_of) * (len(side_of) - 1) / 2
    themselves = cache(comparability.systems_as_references)
    left_out: dict[str, list[str]] = {}
    numbered: list[tuple[int, Comparison]] = []
    ranked: list[Ranked] = []
    same = comparability.SameInputs()
    sources = relevance_by(row for row in first.run.estimate_list if row.metric in metrics)
    for metric in metrics:
        scale = first.scale(metric)
        beside = comparability.sets_beside_reference(first.metric(metric))
        family = next(row.family for row in first.run.estimate_list if row.metric == metric)
        games: Games = {}
        for at, (match, values) in enumerate(values_of(matches, metric, later)):
            a, b = match
            itself = [
                side.name for side in match if beside and side.system in themselves(side.scored.run)
            ]
            for name in itself:
                left_out.setdefault(name, []).append(metric)
            if itself:
                continue
            clusters = a.questions.clusters
            alike = same.where(match, metric)
            for group, where in slices[at]:
                pairs = Pairs.of(*values, where, clusters)
                about = {"metric": metric, "family": family, "a": a.name, "b": b.name,
                         "slice": group}  # fmt: skip
                identical = bool(where.any()) and bool(alike[where].all())
                equal = identical and bool(values[0].equals(values[1])[where].all())
                pair = (same_pairs if equal else compare_pairs)(about, pairs, scale, settings)
                if identical and pair.wins + pair.losses:
                    differ = comparability.same_inputs_reason(pair.wins + pair.losses, pair.n_pairs)
                    pair = replace(pair, reasons=(*pair.reasons, differ))
                of_a, of_b = (side.valued & where if group else side.valued for side in values)
                pair = replace(
                    pair, n_only_a=int((of_a & ~of_b).sum()), n_only_b=int((of_b & ~of_a).sum()),
                    relevance_by=sources.get(metric, ""),
                )  # fmt: skip
                numbered.append((at, pair))
                if group is None:
                    games[a.name, b.name] = outcomes(pairs, scale), pairs.cluster
                if equal and group is None:
                    break
        rivals = {name for pair in games for name in pair}
        if everyone and len(rivals) > 2 and scale.better != "0":
            ranked += ranking(metric, games, level=level)
    numbered.sort(key=lambda item: item[0])
    comparisons = _judged([pair for _, pair in numbered], adjust, settings)
    notes += [
        reason(ANSWERS_ARE_REFERENCES, system=name, metrics="\n".join(dict.fromkeys(metrics)))
        for name, metrics in left_out.items()
    ]
    runs = dict.fromkeys(str(side.scored.run.path) for match in matches for side in match)
    checked = {
        id(scored): checked_against_people(scored.run.path, scored.run.form).on(metrics)
        for scored in runs_of(matches)
    }
    return Comparisons(
        tuple(comparisons), tuple(ranked), tuple(dict.fromkeys([*first.remarks, *notes, *later])),
        tuple(runs), first.cluster, adjust, _tested(comparisons), level, margin, seed, resamples,
        {name: checked[id(side.scored)].of_system(side.system) for name, side in side_of.items()},
    )  # fmt: skip


def _judged(
    comparisons: Sequence[Comparison], adjust: Adjust, settings: ComparisonSettings
) -> list[Comparison]:
    """The comparisons with adjusted p-values and verdicts.

    Differences and equivalence are one family. Of a pair only one of the two null hypotheses can be
    true, no difference or one beyond the margin, and Holm's needs no more.
    """
    ps = [pair.p for pair in comparisons] + [pair.p_equivalence for pair in comparisons]
    if adjust == "holm":
        both, family = holm(ps, [*range(len(comparisons))] * 2), _tested(comparisons)
    else:
        both, family = benjamini_hochberg(ps), sum(p is not None for p in ps)
    return [
        pair if pair.verdict == "same" else _with_verdict(pair, p, inside, settings, family)
        for pair, p, inside in zip(comparisons, both, both[len(comparisons) :], strict=False)
    ]


def _tested(comparisons: Sequence[Comparison]) -> int:
    return sum(pair.p is not None or pair.p_equivalence is not None for pair in comparisons)


def _with_verdict(
    pair: Comparison, p: float | None, p_equivalence: float | None, settings: ComparisonSettings,
    family: int,
) -> Comparison:  # fmt: skip
    verdict = verdict_of(
        pair.difference, p_equivalence=p_equivalence, p=p, better=pair.better, alpha=settings.alpha
    )
    open_ = verdict == "cannot_tell"
    reasons = list(pair.reasons)
    if open_ and pair.leaves_zero_out and pair.p is not None and pair.better != "0":
        reasons.append(AFTER if pair.p <= settings.alpha else STRICTER)
    needed: tuple[int | None, str | None] = None, "decided"
    if open_ and pair.needed_for == "difference":
        needed = _to_show(pair, p, settings.alpha, family)
    elif open_:
        needed = pair.n_needed, pair.n_needed_reason
    return replace(
        pair, p_adjusted=p, p_equivalence_adjusted=p_equivalence, verdict=verdict,
        n_needed=needed[0], n_needed_reason=needed[1], reasons=tuple(reasons),
    )  # fmt: skip


def _to_show(
    pair: Comparison, p_adjusted: float | None, alpha: float, family: int
) -> tuple[int | None, str | None]:
    """The number of pairs that show the difference if it stays, or why there is none.

    With so many the p-value reaches alpha over the size of the family, which suffices for Holm, and
    for Benjamini and Hochberg, whatever the others do.
    """
    if pair.p is None or p_adjusted is None or p_adjusted <= alpha:
        return None, "no_direction"
    return needed_n(pair.n_pairs, pair.p / 2, level=alpha / family / 2), None


AFTER = "not_after_correction"
STRICTER = "test_is_stricter"
# The code of the note on a system that metrics would compare with itself.
ANSWERS_ARE_REFERENCES = "answers_are_references"


def _slices(match: Match, by: Sequence[str], notes: list[str]) -> Iterator[tuple[Slice, Bools]]:
    a, b = match
    both = a.there & b.there
    yield None, both
    for name in by:
        known: dict[str, int] = {}
        of_a, of_b = a.slices(name, known), b.slices(name, known)
        same = both & (of_a == of_b) & (of_a != NO_PLACE)
        apart = int(np.count_nonzero(both & ~same))
        if apart:
            notes.append(reason("in_no_slice", n=apart, a=a.name, b=b.name, field=name))
        if len(known) > MOST_SLICES:
            raise InputError(
                f"{name}: {len(known)} values are too many to compare by. Choose a field with "
                f"at most {MOST_SLICES}."
            )
        for value in sorted(known, key=lambda value: (value == NO_VALUE, value)):
            yield {name: value}, same & (of_a == known[value])


def check_margin(margin: float) -> None:
    """Refuse what is no margin."""
    if not 0 < margin < float("inf"):
        raise InputError(f"A margin is a number above 0 in the metric's unit, got {margin}.")


def _check(
    margin: float | None, adjust: str, level: float, other: object, baseline: str | None
) -> None:
    if margin is not None:
        check_margin(margin)
    if adjust not in ("holm", "bh"):
        raise UnknownName("adjustment", adjust, ["holm", "bh"], hint="There are holm and bh.")
    if not 0.5 < level < 1:
        raise InputError(f"The level of a comparison must lie between .5 and 1, got {level}.")
    if other is not None and baseline is not None:
        raise InputError(
            "A baseline can only be used with one run; with two, systems of the same name are "
            "compared."
        )


def _chosen(metrics: Sequence[str] | None, known: Sequence[str], first: Scored) -> list[str]:
    if not known:
        raise InputError("The runs have no metric in common.")
    if not metrics:
        return list(known)
    noun, run = "metric of these runs", first.run.path
    return list(dict.fromkeys(metric_among(text, known, noun, run=run) for text in metrics))
