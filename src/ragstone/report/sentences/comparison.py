"""Comparison: two systems in a few sentences, made from the numbers of their comparisons."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragstone.report.figures import counted, number, short_name
from ragstone.report.figures import signed as with_sign
from ragstone.report.page import Phrase, strong

if TYPE_CHECKING:
    from ragstone.analysis.comparison.comparison_result import Comparison

NAMED = 3
"""The metrics named of a longer list."""

LONGEST = 60
"""Characters of a system's name."""

Said = list[str | Phrase]


def comparison_sentences(ones: Sequence["Comparison"], lead: str) -> Said:
    """Whether a is better than b, on how many questions and metrics, and what would settle it.

    Args:
        ones: The comparisons of two systems over all their questions, metric by metric.
        lead: The metric whose difference is told first.
    """
    a, b = _system(ones[0].a), _system(ones[0].b)
    tested = [one for one in ones if one.verdict != "same" and one.n_pairs]
    if not tested:
        return list(_untested(ones, a, b))
    found = Counter[str](one.verdict for one in tested)
    first = next((one for one in tested if one.metric == lead), tested[0])
    if not found["better"] and not found["worse"]:
        return [*_undecided(tested, found, a, b), *_settled(first)]
    told = sorted(tested, key=lambda one: one.metric != lead)
    return [*_decided(told, found, a, b), *_rest(tested, found)]


def _untested(ones: Sequence["Comparison"], a: str, b: str) -> Iterator[str | Phrase]:
    if any(one.verdict == "same" for one in ones):
        yield f"On {_all(ones)} {a} and {b} were judged on "
        yield strong("the same inputs")
        yield ", so there is no difference to test."
    else:
        yield f"{a} and {b} have no question on which both have a score, so nothing is compared."


def _undecided(
    tested: Sequence["Comparison"], found: Counter[str], a: str, b: str
) -> Iterator[str | Phrase]:
    questions = counted(_questions(tested), "shared question")
    equal = found["equivalent"]
    if equal == len(tested):
        yield f"On {questions} {a} and {b} are "
        yield strong("equivalent")
        yield f": {_on_all(tested)} the difference is shown to be within {_margin(tested)}."
        return
    yield f"On {questions} {a} and {b} "
    yield strong("cannot be told apart")
    yield f": no difference is found on {_any(tested)}"
    yield f", {equal:,} {_are(equal)} shown to be within {_margin(tested)}." if equal else "."


def _settled(one: "Comparison") -> Iterator[str | Phrase]:
    """The difference on one metric, and how many questions would settle it."""
    if one.difference is None or one.verdict == "equivalent":
        return
    ends = ""
    if one.low is not None and one.high is not None:
        ends = f" ({signed(one.low)} to {signed(one.high)}, n {one.n_pairs:,})"
    yield f" {_capital(_name(one))} differs by {signed(one.difference)}{ends}"
    if one.n_needed is None:
        yield "."
    else:
        yield "; "
        yield strong(f"{one.n_needed:,} questions")
        yield " would settle it."


def _decided(
    tested: Sequence["Comparison"], found: Counter[str], a: str, b: str
) -> Iterator[str | Phrase]:
    better = [one for one in tested if one.verdict == "better"]
    worse = [one for one in tested if one.verdict == "worse"]
    of = counted(len(tested), "metric")
    if better:
        yield f"{a} is "
        yield strong("better")
        yield f" than {b} on {found['better']:,} of {of}: {_named(better)}"
    if worse:
        yield "; it is " if better else f"{a} is "
        yield strong("worse")
        on = f" on {found['worse']:,}" if better else f" than {b} on {found['worse']:,} of {of}"
        yield f"{on}: {_named(worse)}"
    yield "."


def _rest(tested: Sequence["Comparison"], found: Counter[str]) -> Iterator[str | Phrase]:
    equal, open_ = found["equivalent"], found["cannot_tell"]
    if equal:
        yield f" Within {_margin(tested)} on {equal:,}"
        yield f"; on {open_:,} no difference is shown." if open_ else "."
    elif open_:
        yield (
            f" On the other {open_:,} no difference is shown."
            if open_ > 1
            else (" On the other one no difference is shown.")
        )


def signed(value: float | None) -> str:
    """A difference as it stands in a sentence, with the sign of subtraction."""
    return with_sign(value).replace("-", "−")


def _named(ones: Sequence["Comparison"]) -> str:
    """The first metric with its difference, the next by name."""
    first, *others = ones
    said = f"{_name(first)} {signed(first.difference)}"
    if first.low is not None and first.high is not None:
        said += f" ({signed(first.low)} to {signed(first.high)}, n {first.n_pairs:,})"
    names = [_name(one) for one in others]
    if len(names) > NAMED:
        names[NAMED - 1 :] = [f"{len(names) - NAMED + 1} more"]
    return ", ".join([said, *names[:-1]]) + (f" and {names[-1]}" if names else "")


def _system(name: str) -> str:
    """A system on one line; a long name without its middle, for the end is what differs."""
    name = " ".join(name.split())
    return name if len(name) <= LONGEST else f"{name[:20]}…{name[-24:]}"


def _name(one: "Comparison") -> str:
    return short_name(one.metric).replace("_", " ")


def _questions(ones: Sequence["Comparison"]) -> int:
    return max(one.n_pairs + one.n_undefined + one.n_missing for one in ones)


def _margin(ones: Sequence["Comparison"]) -> str:
    return f"±{number(ones[0].margin or 0).rstrip('0')}"


def _all(ones: Sequence["Comparison"]) -> str:
    return _name(ones[0]) if len(ones) == 1 else f"all {len(ones):,} metrics"


def _on_all(ones: Sequence["Comparison"]) -> str:
    return f"on {_all(ones)}"


def _any(ones: Sequence["Comparison"]) -> str:
    return _name(ones[0]) if len(ones) == 1 else f"any of {len(ones):,} metrics"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
