"""Release gate page: the verdict, a line for each requirement and system, failing examples."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import ceil, log, log1p
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ragstone.analysis.release_gate.release_gate import (
    GRAVEST_FIRST,
    JUDGE_MORE,
    NO_RANDOM_SAMPLE,
    TURNS,
    Decided,
    Decision,
    GateResult,
)
from ragstone.core.grouping import grouped
from ragstone.core.messages import Reason, argument, call
from ragstone.report import page as ui
from ragstone.report.console import command
from ragstone.report.number_format import capital, counted, percent, short_name
from ragstone.report.reason_words import words
from ragstone.report.sentences.analysis_words import corrected, judges_named, numbers_of
from ragstone.report.worst_examples import Failing, example_item
from ragstone.run import Run
from ragstone.run.folder.remote_folder import named

if TYPE_CHECKING:
    from ragstone.analysis.calibration.checked_run import CorrectedMean

# For each decision: the word for the gate, the word for a rule, and the tone.
VERDICTS: dict[Decision, tuple[str, str, ui.Tone]] = {
    "pass": ("PASS", "holds", "good"),
    "fail": ("FAIL", "broken", "bad"),
    "cannot_tell": ("CANNOT TELL", "open", "caution"),
    "missing": ("MISSING", "missing", "missing"),
}

# The rate in the small print's example of how many rows without an event are needed.
RARE = 0.01

# The interval methods with exact tail probabilities.
EXACT = ("clopper_pearson", "cluster_clopper_pearson")

TO_DRAW = (
    f"{call('draw_sample')} draws what to label; {argument('assume_random', True)} decides by "
    "these labels anyway."
)
COULD_CHANGE = "Scores are missing that could change this."
TO_FILL = (
    "Where a model failed, the same evaluate command asks it again; where people judge, label the "
    "rest; where an answer is missing, ask the system again."
)


def gate_page(run: Run, result: GateResult, examples: Failing) -> ui.Page:
    """The result of a gate."""
    word, _, tone = VERDICTS[result.decision]
    if result.judged.metrics and result.decision in ("pass", "fail"):
        names = judges_named(result.judged.judges)
        word += f" by the numbers of {names}" if " and " in names else f" by {names}'s numbers"
    lines = [headline(result), _without_corrections(result), advice(result)]
    facts = [ui.Note("run", (ui.strong(named(run.path)), ui.quiet(f"  {run.form.data.source}"))),
             ui.Note("numbers", _whose(result))]  # fmt: skip
    if any(_corrected(result, rule) for rule in result.requirements):
        decides = f"{argument('people', 'FILE')} decides on the corrected values"
        facts.append(ui.Note("corrected", decides))
    rules = _table(result, examples)
    return ui.Page(
        name="gate",
        title=named(run.path),
        said=f"{word}: {lines[0]}",
        sections=(
            ui.section(ui.Banner(word, tone, tuple(filter(None, lines)))),
            ui.section(ui.Facts((*facts, *_to_label(run, result)))),
            ui.section(rules, ui.Paragraphs((*_undecidable(result), *_same(result)))),
            ui.small_print(_small_print(result)),
        ),
        notes=result.notes,
        record=lambda: _record(result, examples),
    )


def _whose(result: GateResult) -> str:
    parts = [numbers_of(result.judged)] if result.judged.judges or not result.corrected else []
    for metric in result.corrected:
        judges = judges_named(result.checked.on([metric]).judges) or "people"
        rules = (rule for rule in result.requirements if rule.metric == metric)
        labels = sum({rule.group["system"]: rule.n for rule in rules}.values())
        corrected_by = f"corrected by {counted(labels, 'label')} of people"
        parts.append(f"{judges}, {short_name(metric)} {corrected_by}")
    return "; ".join(parts)


def _corrected(result: GateResult, rule: Decided) -> "CorrectedMean | None":
    if rule.metric in result.corrected or rule.counted != "examples":
        return None
    return result.checked.corrected(rule.metric, rule.group)


def _to_label(run: Run, result: GateResult) -> Iterator[ui.Note]:
    for rule in () if run.is_temporary else result.requirements:
        if rule.decision == "fail" and rule.counted != "pairs" and rule.worst:
            wrong = f"..{rule.bar:g}" if rule.op.startswith(">") else f"{rule.bar:g}.."
            only = f"where={rule.metric}:{wrong}&{urlencode({'system': rule.group['system']})}"
            options = ("--metric", rule.metric, "--filter", only)
            annotate = command("annotate", named(run.path), *options)
            yield ui.Note("let people look", (ui.quiet(annotate),))
            return


def headline(result: GateResult) -> str:
    """The number of requirements with each decision, the worst first, in one sentence."""
    rules = result.requirements
    counts = Counter(rule.decision for rule in rules)
    words = {item: word for item, (_, word, _) in VERDICTS.items()}
    words |= {"pass": "hold"} if counts["pass"] > 1 else {}
    text = ", ".join(f"{counts[item]} {words[item]}" for item in GRAVEST_FIRST if counts[item])
    texts = len({rule.text for rule in rules})
    systems = len({rule.group["system"] for rule in rules})
    return f"{text} – {counted(texts, 'requirement')} on {counted(systems, 'system')}"


def _without_corrections(result: GateResult) -> str:
    alone = result.without_corrections
    word = alone and VERDICTS[alone.decision][0]
    return f"Without what people corrected: {word}, {headline(alone)}." if alone else ""


def advice(result: GateResult) -> str:
    """Return what to do next; empty if the gate passes."""
    codes = {rule.reason: Reason.read(rule.reason).code for rule in result.requirements}
    refused = [reason for reason, code in codes.items() if code == NO_RANDOM_SAMPLE]
    if refused and result.decision == "cannot_tell":
        return f"{capital(words(refused[0]))}. {TO_DRAW}"
    match result.decision:
        case "pass":
            return ""
        case "fail":
            misses = "At least one requirement is shown not to be met"
            misses = "At least one value misses its bar" if result.on == "point" else misses
            return f"{misses}: look at its worst examples."
        case "missing":
            turned = any(rule.decision == "missing" and codes[rule.reason] == TURNS
                         for rule in result.requirements)  # fmt: skip
            most = percent(result.max_missing)
            more = f"More than {most} of the scores of a requirement are missing."
            return f"{COULD_CHANGE if turned else more} {TO_FILL}"
        case "cannot_tell":
            return f"Too little data to say. {_most_needed(result)}"


def _most_needed(result: GateResult) -> str:
    rules = [rule for rule in result.requirements if rule.decision == "cannot_tell"]
    needed = [(rule.n_needed, rule.counted) for rule in rules if rule.n_needed is not None]
    if any(_asks_for_more(rule.n_needed_reason) for rule in rules):
        return "To decide it, more examples have to be judged."
    if not needed:
        return "It is not known how many examples would decide it."
    most, of = max(needed)
    some = "it" if len(needed) == len(rules) else "what can be decided of it"
    return f"If the values stay as they are, {most:,} {of} per system decide {some}."


def _table(result: GateResult, examples: Failing) -> ui.Table:
    rules = result.requirements
    gains = {rule.counted == "pairs" for rule in rules}
    title = " or ".join(["value"] * (False in gains) + ["gain"] * (True in gains))
    optional = {
        "missing": any(rule.n_missing for rule in rules),
        "p broken": any(rule.p_adjusted is not None for rule in rules),
        "needs": any(rule.n_needed for rule in rules),
    }
    heads = {head for head, has in optional.items() if has}
    columns = (
        ui.Heading("requirement", key=True), ui.Heading("system", several=True), ui.Heading(),
        ui.Heading(title, level=rules[0].level), ui.Heading("n"),
        *(ui.Heading(head, drop=int(head == "p broken")) for head in optional if head in heads),
    )  # fmt: skip
    rows: dict[bool, list[ui.Row]] = {False: [], True: []}
    alike = _without_number(result)
    for index, rule in enumerate(rules):
        mean = corrected(_corrected(result, rule))
        alone = len(alike.get((rule.counted, rule.n_needed_reason), ())) < 2
        below = (*filter(None, [mean]), *_below(rule, alone=alone))
        worst = tuple(map(example_item, examples.get(index, ())))
        row = ui.Row(tuple(_cells(rule, heads)), below, words(rule.reason), worst)
        rows[rule.same].append(row)
    groups = (ui.Group(tuple(rows[False])),) if rows[False] else ()
    return ui.Table(columns, groups, "Worst examples", tuple(rows[True]))


# The open requirements by what is counted and why no number of that decides them.
Undecidable = Mapping[tuple[str, str | None], Sequence[Decided]]


def _without_number(result: GateResult) -> Undecidable:
    by_reason: defaultdict[tuple[str, str | None], list[Decided]] = defaultdict(list)
    for rule in result.requirements:
        why = rule.n_needed_reason
        if rule.decision == "cannot_tell" and rule.value is not None and not _asks_for_more(why):
            by_reason[rule.counted, rule.n_needed_reason].append(rule)
    return by_reason


def _asks_for_more(why: str | None) -> bool:
    return why is not None and Reason.read(why).code == JUDGE_MORE


def _undecidable(result: GateResult) -> Iterator[str]:
    for (of, why), rules in _without_number(result).items():
        if why and len(rules) > 1:
            names = ", ".join(
                f"{short_name(rule.metric)} ({rule.group['system']})" for rule in rules
            )
            number = f"It is not known how many {of} would decide {counted(len(rules), 'row')}"
            yield f"{number}, because {words(why)}: {names}"


def _same(result: GateResult) -> tuple[str, ...]:
    metrics = grouped(
        ((rule.text.removeprefix(rule.metric).strip(), rule.group["system"]), rule.metric)
        for rule in result.requirements
        if rule.same
    )
    systems = grouped(((text, tuple(names)), system) for (text, system), names in metrics.items())
    return tuple(
        f"Met because the inputs are the same, {counted(len(names) * len(of), 'row')}: "
        f"{', '.join(map(short_name, names))} {text} ({', '.join(of)})"
        for (text, names), of in systems.items()
    )


def _cells(rule: Decided, heads: set[str]) -> Iterator[ui.Cell]:
    _, word, tone = VERDICTS[rule.decision]
    relevance_by = f" (by {rule.relevance_by})" if rule.relevance_by else ""
    ends = [value for value in (rule.low, rule.value, rule.high) if value is not None]
    reach = max((abs(value - rule.bar) for value in ends), default=0.0) or 1.0
    scale = ui.Scale(rule.bar - reach, rule.bar + reach, (ui.Mark(rule.bar, "bar"),))
    gain = rule.counted == "pairs"
    yield ui.RowName(f"{rule.text}{relevance_by}", strong=True)
    yield ui.RowName(rule.group["system"])
    yield ui.Verdict(rule.decision, word, tone)
    yield ui.IntervalCell(rule.value, rule.low, rule.high, scale, signed=gain, tone=tone)
    yield ui.Count(rule.n)
    if "missing" in heads:
        yield ui.Count(rule.n_missing, "missing")
    if "p broken" in heads:
        yield ui.P(rule.p_adjusted)
    if "needs" in heads:
        of = "" if rule.counted == "examples" else rule.counted
        yield ui.Count(rule.n_needed, "caution", of) if rule.n_needed else ""


def _below(rule: Decided, *, alone: bool) -> Iterator[str]:
    if rule.decision == "pass":
        return
    explained = rule.n_needed is not None or bool(rule.notes)
    if rule.decision == "missing" or (rule.decision == "cannot_tell" and not explained):
        yield words(rule.reason)
    if rule.decision == "cannot_tell" and rule.value is not None and rule.n_needed_reason and alone:
        no = f"it is not known how many {rule.counted} would decide it: "
        yield f"{'' if _asks_for_more(rule.n_needed_reason) else no}{words(rule.n_needed_reason)}"
    yield from map(words, rule.notes)


def _small_print(result: GateResult) -> Iterator[ui.Note]:
    most, alpha = percent(result.max_missing), f"{result.level:g}"
    if result.on == "point":
        yield ui.Note("decided", "on the values alone: another sample could change it")
    else:
        clears = f"the whole {percent(1 - 2 * result.level)} interval clears the bar"
        level = f"(one-sided level {alpha}, not adjusted, because all must hold)"
        yield ui.Note("holds", f"{clears} {level}")
        if tested := sum(rule.p is not None for rule in result.requirements):
            over = f"after Holm over {counted(tested, 'test')}"
            yield ui.Note("broken", f"shown not to be met, at one-sided {alpha} {over}")
            p = "p-value of such scores if the bar were met, after Holm: small means broken"
            yield ui.Note("p broken", p, needs="p broken")
        needs = "how many examples of a system in all would decide, if its value stays as it is"
        yield ui.Note("open", f"neither; needs: {needs}")
        exact = {rule.method in EXACT for rule in result.requirements if rule.method}
        if True in exact:
            wrong = f"exact binomial tests, wrong in at most {percent(result.level)} of cases"
            rows = f"no event in {ceil(log(result.level) / log1p(-RARE)):,} rows or more"
            yield ui.Note("rates", f"{wrong}; {rows} shows a rate below {RARE:g}")
        if False in exact:
            wrong = f"by their intervals, wrong in about {percent(result.level)} of cases"
            means = f"like differences and corrected estimates, {wrong}"
            yield ui.Note("means", means)
    turning = "at their worst or best could change the decision"
    yield ui.Note("missing", f"more than {most} of the scores, or fewer that {turning}")
    if any(rule.counted == "pairs" for rule in result.requirements):
        gain = "improvement over the baseline, whichever way the metric points; below 0 is worse"
        yield ui.Note("gain", gain)
    if any(rule.counted == "labels" for rule in result.requirements):
        yield ui.Note("n", "human labels that correct the estimate")


# What the record has of a failing example, besides its reasons.
EXAMPLE = ("example_id", "value", "question", "answer")


def _record(result: GateResult, examples: Failing) -> dict[str, Any]:
    record = result.to_dict()
    for index, rule in enumerate(result.requirements):
        item = record["requirements"][index]
        if mean := _corrected(result, rule):
            item["corrected"] = asdict(mean)
        item["worst"] = [
            {name: getattr(example, name) for name in EXAMPLE} | {"reasons": list(example.reasons)}
            for example in examples.get(index, ())
        ]
    return record
