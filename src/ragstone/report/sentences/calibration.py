"""Calibration: whether a judge can be believed, in a few sentences made from the numbers."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.report.figures import counted, ends, number, percent, short_name
from ragstone.report.page import Phrase, strong

if TYPE_CHECKING:
    from ragstone.analysis import Calibration
    from ragstone.analysis.calibration.column_checks import Bias, JudgeCheck
    from ragstone.analysis.calibration.corrected_means import CorrectedEstimate
    from ragstone.annotation.annotator_agreement import ColumnAgreement
    from ragstone.stats import Interval
    from ragstone.stats.judge_quality.confusion import Confusion, ShareEstimate

Said = list[str | Phrase]


def calibration_sentences(found: "Calibration") -> Said:
    """Whether the judge's means hold, how far it agrees with people, and what to use instead."""
    whole = [one for one in found.estimates if not one.group]
    known = [one for one in whole if _ends(one) is not None and one.judge.value is not None]
    off = [one for one in known if _is_off(one)]
    return [
        *_verdict(found, known, off),
        *_agreement(found.checks),
        *_harder([bias for check in found.checks[:1] for bias in check.bias]),
        *_instead(off, known),
    ]


def people_sentences(columns: Sequence["ColumnAgreement"]) -> Said:
    """On which label people agree best and least, by Krippendorff's alpha."""
    known = [one for one in columns if one.coefficients["krippendorff_alpha"].value is not None]
    if not known:
        return []
    ranked = sorted(known, key=_alpha, reverse=True)
    best, least = ranked[0], ranked[-1]
    said: Said = [
        f"Two or more people labelled {counted(max(one.n_shared for one in columns), 'item')}. "
        "They agree ",
        strong("best" if len(ranked) > 1 else f"by α {_with_ends(best)}"),
        f" on {_name(best.name)}",
    ]
    if len(ranked) > 1:
        said += [f" (α {_with_ends(best)}) and ", strong("least"), f" on {_name(least.name)}"]
        said += [f" (α {_with_ends(least)})"]
    return [*said, ", where 0 is chance. What people are divided on, no judge can get right."]


def _alpha(one: "ColumnAgreement") -> float:
    return one.coefficients["krippendorff_alpha"].value or 0.0


def _with_ends(one: "ColumnAgreement") -> str:
    inside = one.coefficients["krippendorff_alpha"].interval
    between = "" if inside is None else f", {inside.low:.2f} – {inside.high:.2f}"
    return f"{_alpha(one):.2f}{between}".replace("-", "−")


def _ends(one: "CorrectedEstimate") -> "Interval | None":
    return None if one.corrected.value is None else one.corrected.interval


def _is_off(one: "CorrectedEstimate") -> bool:
    """Whether the judge's mean is outside the interval that people's labels give."""
    inside, value = _ends(one), one.judge.value
    return inside is not None and value is not None and not inside.low <= value <= inside.high


def _verdict(
    found: "Calibration", known: Sequence["CorrectedEstimate"], off: Sequence["CorrectedEstimate"]
) -> Iterator[str | Phrase]:
    if found.not_random and not found.assume_random:
        yield strong("Not by these labels")
        yield ": they are not a random sample of what was judged, so nothing is corrected. "
    elif off:
        yield strong("Only after correction.")
        yield " "
    elif known:
        yield strong("Nothing speaks against its means so far.")
        yield " "


def _agreement(checks: Sequence["JudgeCheck"]) -> Iterator[str | Phrase]:
    if not checks:
        return
    check = next((one for one in checks if one.yes is not None), checks[0])
    if check.yes is not None and check.yes.sensitivity is not None:
        yield from _yes_or_no(check, check.yes)
        return
    name = _name(check.column)
    yield f"On {counted(check.n, 'labelled answer' if check.kind == 'metric' else 'label')} "
    if check.kappa.value is None:
        yield f"nothing can be told of how far it agrees with people on {name}. "
        return
    weighted = "weighted " if check.weighting == "quadratic" else ""
    yield f"the judge agrees with people on {name} with a {weighted}κ of "
    yield strong(f"{check.kappa.value:.2f}")
    inside = check.kappa.interval
    yield f" ({inside.low:.2f} – {inside.high:.2f})" if inside is not None else ""
    yield ", where 0 is chance and 1 the same on all. "


def _yes_or_no(check: "JudgeCheck", yes: "Confusion") -> Iterator[str | Phrase]:
    if len(yes.counts) == 2:
        judge = yes.counts[0][1] + yes.counts[1][1]
        people = sum(yes.counts[1])
        yield (
            f"Of {counted(check.n, 'label')} of {_name(check.column)} the judge says yes to "
            f"{percent(judge / check.n, 0)}, people to {percent(people / check.n, 0)}. "
        )
    if yes.sensitivity is not None and yes.sensitivity.value is not None:
        yield "It "
        yield strong(f"finds {percent(yes.sensitivity.value, 0)}")
        yield f" of people's yes{_between(yes.sensitivity)}"
        if yes.precision is not None and yes.precision.value is not None:
            yield f" and is right in {percent(yes.precision.value, 0)} of its own"
            yield _between(yes.precision)
        yield ". "


def _between(share: "ShareEstimate") -> str:
    if share.interval is None:
        return ""
    return f" ({share.interval.low * 100:.0f} – {share.interval.high * 100:.0f})"


def _harder(biases: Sequence["Bias"]) -> Iterator[str]:
    """The system on which the judge is furthest from people, if it is shown to be."""
    shown = [
        one
        for one in biases
        if one.by == "system" and one.of.interval is not None
        and not one.of.interval.low <= 0 <= one.of.interval.high
    ]  # fmt: skip
    if shown:
        most = max(shown, key=lambda one: abs(one.of.value))
        way = "above" if most.of.value > 0 else "below"
        inside = most.of.interval
        size = sorted((abs(inside.low), abs(inside.high))) if inside is not None else None
        between = "" if size is None else f" ({ends(*size)})"
        yield (
            f"It lies furthest {way} people on {most.of.group}, by {number(abs(most.of.value))}"
            f"{between}. "
        )


def _instead(
    off: Sequence["CorrectedEstimate"], known: Sequence["CorrectedEstimate"]
) -> Iterator[str | Phrase]:
    one = next(iter([*off, *known]), None)
    inside = None if one is None else _ends(one)
    if one is None or inside is None or one.judge.value is None or one.corrected.value is None:
        return
    corrected = f"{number(one.corrected.value)} ({ends(inside.low, inside.high)})"
    if off:
        yield "Use the "
        yield strong("corrected")
        yield f" means: {_name(one.metric)} {corrected}, not {number(one.judge.value)}."
    else:
        name = _name(one.metric)
        yield f"{name[:1].upper()}{name[1:]} is {number(one.judge.value)} by the judge, "
        yield f"{corrected} corrected."


def _name(metric: str) -> str:
    return short_name(metric).replace("_", " ")
