"""Gate Markdown: a gate's decisions as a summary for a pull request or a build."""

from collections.abc import Iterator

from ragstone.decisions.gating.gate import Decided, Decision, GateResult
from ragstone.inert import html, markdown, on_one_line

from .failing import Failing, FailingExample
from .figures import ends, number, p_word, percent
from .gate_words import (
    GAIN,
    VERDICTS,
    WORDS,
    advice,
    gain_head,
    headline,
    is_gain,
    none_needed,
    tails,
    tested,
    value_figure,
)
from .worst import ANSWER, QUESTION, shortened

MARKS: dict[Decision, str] = {"pass": "✅", "fail": "❌", "cannot_tell": "❔", "missing": "⚠️"}
MOST_SHOWN = 10
"""Requirements whose worst examples are listed."""


def gate_markdown(run: str, result: GateResult, examples: Failing) -> str:
    """Verdict, table, then the worst examples of what does not pass, folded up.

    Args:
        run: What was decided on.
        result: What came of it.
        examples: The worst examples, as ``failing`` finds them.
    """
    lines = [f"## {MARKS[result.decision]} {VERDICTS[result.decision]}: {markdown(run)}", ""]
    lines += [f"**{headline(result)}.** {advice(result)}".rstrip(), "", *_table(result), ""]
    lines += _worst(result, examples)
    lines += [f"- {markdown(note)}" for note in result.notes]
    return "\n".join(lines).rstrip() + f"\n\n<sub>{_small_print(result)}</sub>\n"


def _table(result: GateResult) -> Iterator[str]:
    level = percent(result.requirements[0].level)
    value = gain_head(result.requirements)
    yield (
        f"| | requirement | system | {value} | {level} interval | n | p broken | examples needed |"
    )
    yield "|---|---|---|--:|:-:|--:|--:|--:|"
    for one in result.requirements:
        cells = [
            f"{MARKS[one.decision]} {WORDS[one.decision]}",
            markdown(one.text),
            markdown(one.group["system"]),
            "–" if one.value is None else f"**{value_figure(one)}**",
            ends(one.low, one.high),
            f"{one.n:,}" + (f" ({one.n_missing:,} missing)" if one.n_missing else ""),
            p_word(one.p_adjusted).replace("<", "&lt;"),
            "; ".join(none_needed(one)) if one.n_needed is None else f"{one.n_needed:,}",
        ]
        yield f"| {' | '.join(cells)} |"


def _worst(result: GateResult, examples: Failing) -> Iterator[str]:
    places = [place for place, _ in enumerate(result.requirements) if examples.get(place)]
    places.sort(key=lambda place: result.requirements[place].decision != "fail")
    for place in places[:MOST_SHOWN]:
        one = result.requirements[place]
        opened = " open" if one.decision == "fail" else ""
        yield f"<details{opened}><summary>{_title(one)}</summary>"
        yield ""
        for example in examples[place]:
            yield from _example(example)
        yield ""
        yield "</details>"
        yield ""
    if len(places) > MOST_SHOWN:
        yield f"And of {len(places) - MOST_SHOWN} more requirements, which `--json` has."
        yield ""


def _title(one: Decided) -> str:
    text, system = html(on_one_line(one.text)), html(on_one_line(one.group["system"]))
    return f"{MARKS[one.decision]} Worst examples of <b>{text}</b>, {system}"


def _example(one: FailingExample) -> Iterator[str]:
    yield f"- **{number(one.value)}** {markdown(one.example_id)}"
    yield f"  - Q: {markdown(shortened(one.question, QUESTION))}"
    yield f"  - A: {markdown(shortened(one.answer, ANSWER))}"
    yield from (f"  - {markdown(reason)}" for reason in one.reasons)


def _small_print(result: GateResult) -> str:
    gains = f"{GAIN[0].upper()}{GAIN[1:]}. " if any(map(is_gain, result.requirements)) else ""
    if result.on == "point":
        return f"Decided on the values alone; another sample could turn them. {gains}".rstrip()
    level = percent(1 - 2 * result.level)
    sure = "".join(f"{what.capitalize()}: {said}. " for what, said in tails(result))
    broken = (
        f"Broken: the opposite is shown at one-sided {result.level:g}, by Holm over the "
        f"{tested(result):,} rows. "
    )
    return (
        f"Holds: the whole {level} interval clears the bar. {broken if tested(result) else ''}"
        f"Examples needed: in all, if the value stays. {sure}{gains}".rstrip()
    )
