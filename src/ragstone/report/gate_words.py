"""Gate words: how a gate's decisions are said, the same on a page, in Markdown and in XML."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil, log, log1p

from ragstone.decisions.gating.gate import (
    GRAVEST_FIRST,
    NO_RANDOM_SAMPLE,
    Decided,
    Decision,
    GateResult,
)

from .failing import FailingExample
from .figures import counted, ends, number, percent, signed
from .worst import ANSWER, QUESTION, shortened

VERDICTS: dict[Decision, str] = {
    "pass": "PASS",
    "fail": "FAIL",
    "cannot_tell": "CANNOT TELL",
    "missing": "MISSING",
}
WORDS: dict[Decision, str] = {
    "pass": "holds",
    "fail": "broken",
    "cannot_tell": "open",
    "missing": "missing",
}
"""What is said of a single requirement."""


def headline(result: GateResult) -> str:
    """How many came out how, the gravest first, and of what: one sentence."""
    counts = Counter(one.decision for one in result.requirements)
    words = WORDS | ({"pass": "hold"} if counts["pass"] > 1 else {})
    told = ", ".join(f"{counts[one]} {words[one]}" for one in GRAVEST_FIRST if counts[one])
    texts = len({one.text for one in result.requirements})
    systems = len({one.group["system"] for one in result.requirements})
    return f"{told} – {counted(texts, 'requirement')} on {counted(systems, 'system')}"


def advice(result: GateResult) -> str:
    """What to do next; nothing where it passes."""
    refused = [one.reason for one in result.requirements
               if one.reason.startswith(NO_RANDOM_SAMPLE)]  # fmt: skip
    if refused and result.decision == "cannot_tell":
        return f"{refused[0][0].upper()}{refused[0][1:]}. {TO_DRAW}"
    match result.decision:
        case "pass":
            return ""
        case "fail" if result.on == "point":
            return "At least one value does not meet its bar: look at its worst examples."
        case "fail":
            return "At least one requirement is shown not to be met: look at its worst examples."
        case "missing":
            return f"{_what_is_missing(result)} {TO_FILL}"
        case "cannot_tell":
            return f"Too little data to say. {_most_needed(result)}"


TO_DRAW = (
    "ragstone sample draws what to label; --assume-random decides by these labels all the same."
)
TO_FILL = (
    "Where a model failed, the same evaluate command asks it again; where people judged, label the "
    "rest."
)


def _what_is_missing(result: GateResult) -> str:
    """Whether missing scores could change what comes of it, or are only too many."""
    if any(one.decision == "missing" and "could turn it" in one.reason
           for one in result.requirements):  # fmt: skip
        return "Scores are missing that could change this."
    return f"More than {percent(result.max_missing)} of the scores of a requirement are missing."


def is_gain(one: Decided) -> bool:
    """Whether the value is how much better a system is than its baseline."""
    return one.counted == "pairs"


GAIN = "gain: how much better than the baseline, whichever way the metric points; below 0 is worse"


def gain_head(requirements: Sequence[Decided]) -> str:
    """The head of the column of values: what all are, or both."""
    return " or ".join(dict.fromkeys(sorted(map(value_word, requirements), reverse=True)))


def tested(result: GateResult) -> int:
    """How many p are adjusted together; none where all inputs are the same."""
    return sum(one.p is not None for one in result.requirements)


RARE = 0.01
"""A bar as small as requirements on rare events have it."""


def tails(result: GateResult) -> Iterator[tuple[str, str]]:
    """How sure a decision is, each with the sort of quantity it is said of."""
    if result.on == "point":
        return
    exact = {one.method in EXACT for one in result.requirements if one.method}
    if True in exact:
        rows = ceil(log(result.level) / log1p(-RARE))
        yield (
            "rates",
            f"exact binomial tails, which err in at most {percent(result.level)} of cases; no "
            f"event shows a rate below {RARE:g} from {rows:,} rows on",
        )
    if False in exact:
        yield (
            "means",
            "with differences and corrected estimates: by their intervals, right on average",
        )


EXACT = ("clopper_pearson", "cluster_clopper_pearson")
"""The intervals that are made of exact tails."""


def value_word(one: Decided) -> str:
    """What the value is, in a word."""
    return "gain" if is_gain(one) else "value"


def value_figure(one: Decided) -> str:
    """The value, a gain with its sign; a dash where there is none."""
    if one.value is None:
        return "–"
    return signed(one.value) if is_gain(one) else number(one.value)


def _most_needed(result: GateResult) -> str:
    """How much data would decide all that is open."""
    open_ones = [one for one in result.requirements if one.decision == "cannot_tell"]
    needed = [(one.n_needed, one.counted) for one in open_ones if one.n_needed is not None]
    if not needed:
        return "No number of examples is known to decide it."
    most, of = max(needed)
    some = "" if len(needed) == len(open_ones) else " what can be decided of"
    return f"If the values stay, {most:,} {of} a system decide{some} it."


def estimate(one: Decided) -> str:
    """``0.836 (90 % interval 0.792 – 0.872)``; a dash where there is no value."""
    if one.low is None:
        return value_figure(one)
    return f"{value_figure(one)} ({percent(one.level)} interval {ends(one.low, one.high)})"


def needs(one: Decided) -> str:
    """How many examples would decide it: ``needs 268 examples, has 83``; else nothing."""
    if one.n_needed is None:
        return ""
    has = one.n if one.counted == "labels" else one.n + one.n_undefined
    return f"needs {one.n_needed:,} {one.counted}, has {has:,}"


def none_needed(one: Decided) -> list[str]:
    """Why no number of examples is known to decide an open one that has a value."""
    if one.decision != "cannot_tell" or one.value is None or one.n_needed_reason is None:
        return []
    return [f"no number of {one.counted} is known to decide it: {one.n_needed_reason}"]


def example_lines(one: FailingExample) -> Iterator[str]:
    """An example as lines of plain text: its score, question, answer, what is held against it."""
    yield f"{number(one.value)}  {one.example_id}"
    yield f"  Q  {shortened(one.question, QUESTION)}"
    yield f"  A  {shortened(one.answer, ANSWER)}"
    yield from (f"  -  {reason}" for reason in one.reasons)
