"""Gate text: a gate's decisions as plain text, such as a failing test prints."""

from collections.abc import Iterator

from ragstone.decisions.gating.gate import Decided, GateResult

from .failing import Failing
from .figures import p_word
from .gate_words import (
    VERDICTS,
    WORDS,
    advice,
    estimate,
    example_lines,
    headline,
    needs,
    none_needed,
    value_word,
)


def gate_text(run: str, result: GateResult, examples: Failing) -> str:
    """Verdict, then a line each, the gravest first, with the worst examples below what is not met.

    Args:
        run: What was decided on.
        result: What came of it.
        examples: The worst examples, as ``failing`` finds them.
    """
    lines = [f"{VERDICTS[result.decision]}: {headline(result)}", f"  run {run}"]
    lines += [f"  {said}" for said in (advice(result), *result.notes) if said]
    order = {"fail": 0, "missing": 1, "cannot_tell": 2, "pass": 3}
    places = sorted(
        range(len(result.requirements)), key=lambda at: order[result.requirements[at].decision]
    )
    for place in places:
        one = result.requirements[place]
        lines += ["", *_one(one)]
        for example in examples.get(place, ()):
            lines += [f"    {line}" for line in example_lines(example)]
    return "\n".join(lines)


def _one(one: Decided) -> Iterator[str]:
    yield f"{WORDS[one.decision].upper():8}{one.text}  [{one.group['system']}]"
    value = "no value" if one.value is None else f"{value_word(one)} {estimate(one)}"
    p = p_word(one.p_adjusted)
    shown = [value, f"n {one.n:,}", f"p broken {p}" if p else "", needs(one)]
    yield f"        {', '.join(filter(None, shown))}"
    if one.decision != "pass":
        for line in (one.reason, *none_needed(one), *one.notes):
            yield f"        {line}"
