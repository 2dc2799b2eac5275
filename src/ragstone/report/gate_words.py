"""Gate words: how a gate's decisions are said, the same on a page, in Markdown and in XML."""

from collections import Counter
from collections.abc import Iterator

from ragstone.decisions.gating.gate import GRAVEST_FIRST, Decided, Decision, GateResult

from .failing import FailingExample
from .figures import counted, ends, number, percent
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
    """What to do next, in one sentence; nothing where it passes."""
    match result.decision:
        case "pass":
            return ""
        case "fail":
            return "At least one requirement is shown not to be met: look at its worst examples."
        case "missing":
            return (
                "Scores are missing that could change this: the same evaluate command asks again."
            )
        case "cannot_tell":
            return f"Too little data to say. {_most_needed(result)}"


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
    if one.value is None:
        return "–"
    if one.low is None:
        return number(one.value)
    return f"{number(one.value)} ({percent(one.level)} interval {ends(one.low, one.high)})"


def needs(one: Decided) -> str:
    """How many examples would decide it: ``needs 268 examples, has 83``; else nothing."""
    if one.n_needed is None:
        return ""
    has = one.n if one.counted == "labels" else one.n + one.n_undefined
    return f"needs {one.n_needed:,} {one.counted}, has {has:,}"


def example_lines(one: FailingExample) -> Iterator[str]:
    """An example as lines of plain text: its score, question, answer, what is held against it."""
    yield f"{number(one.value)}  {one.example_id}"
    yield f"  Q  {shortened(one.question, QUESTION)}"
    yield f"  A  {shortened(one.answer, ANSWER)}"
    yield from (f"  -  {reason}" for reason in one.reasons)
