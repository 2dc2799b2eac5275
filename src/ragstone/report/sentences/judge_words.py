"""Judge words: calibrations, comparisons and annotation queues in a few sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from ragstone.annotation.queue.form import LABEL
from ragstone.report import number_format as fmt
from ragstone.report.page import Phrase, strong

if TYPE_CHECKING:
    from ragstone.analysis import Calibration
    from ragstone.analysis.calibration.column_checks import Bias, JudgeCheck
    from ragstone.analysis.calibration.corrected_means import CorrectedEstimate
    from ragstone.analysis.comparison.comparison_result import Comparison
    from ragstone.annotation.annotator_agreement import ColumnAgreement
    from ragstone.annotation.queue.form import QueueForm
    from ragstone.annotation.queue.work_progress import QueueWork
    from ragstone.stats import Interval
    from ragstone.stats.judge_quality.confusion import Confusion
    from ragstone.stats.judge_quality.rank_measures import JudgeMeasure


Said = list[str | Phrase]


def calibration_sentences(calibration: "Calibration") -> Said:
    """Return how far the judge's means hold and agree with people, and what to use instead."""
    whole = [estimate for estimate in calibration.estimates if not estimate.group]
    known = [item for item in whole if _ends(item) and item.judge.value is not None]
    off = [estimate for estimate in known if _is_off(estimate)]
    verdict: Said = []
    if calibration.not_random and not calibration.assume_random:
        why = ": they are not a random sample of what was judged, so nothing is corrected. "
        verdict = [strong("Not by these labels"), why]
    elif off:
        verdict = [strong("Only after correction."), " "]
    elif known:
        verdict = [strong("Its means agree with people's so far."), " "]
    return [
        *verdict,
        *_agreement(calibration.checks),
        *_harder([bias for check in calibration.checks[:1] for bias in check.bias]),
        *_instead(off, known),
    ]


def people_sentences(columns: Sequence["ColumnAgreement"]) -> Said:
    """On which label people agree best and least, by Krippendorff's alpha."""
    alphas = [(column.name, column.coefficients["krippendorff_alpha"]) for column in columns]
    known = [(name, alpha.value, alpha.interval) for name, alpha in alphas
             if alpha.value is not None]  # fmt: skip
    if not known:
        return []
    written = []
    for name, value, inside in sorted(known, key=lambda item: item[1], reverse=True):
        between = "" if inside is None else f", {inside.low:.2f} – {inside.high:.2f}"
        written.append((fmt.spoken(name), f"{value:.2f}{between}".replace("-", "−")))
    (best, best_alpha), (least, least_alpha) = written[0], written[-1]
    several = len(written) > 1
    items = fmt.counted(max(column.n_shared for column in columns), "item")
    sentence: Said = [
        f"Two or more people labelled {items}. They agree ",
        strong("best" if several else f"by α {best_alpha}"),
        f" on {best}",
    ]
    if several:
        sentence += [f" (α {best_alpha}) and ", strong("least"), f" on {least}"]
        sentence += [f" (α {least_alpha})"]
    return [*sentence, ", where 0 is chance. What people are divided on, no judge can get right."]


def _ends(estimate: "CorrectedEstimate") -> "Interval | None":
    return None if estimate.corrected.value is None else estimate.corrected.interval


def _is_off(estimate: "CorrectedEstimate") -> bool:
    inside, value = _ends(estimate), estimate.judge.value
    return inside is not None and value is not None and not inside.low <= value <= inside.high


def _agreement(checks: Sequence["JudgeCheck"]) -> Said:
    if not checks:
        return []
    check = next((check for check in checks if check.yes is not None), checks[0])
    if check.yes is not None and check.yes.sensitivity is not None:
        return list(_yes_or_no(check, check.yes))
    name, kappa = _name_of(check), check.kappa
    on = f"On {fmt.counted(check.n, 'labelled answer' if check.kind == 'metric' else 'label')} "
    if kappa.value is None:
        return [on, f"nothing can be told of how far it agrees with people on {name}. "]
    weighted = "weighted " if check.weighting == "quadratic" else ""
    inside = kappa.interval
    between = f" ({inside.low:.2f} – {inside.high:.2f})" if inside is not None else ""
    agrees = f"the judge agrees with people on {name} with a {weighted}κ of "
    chance = ", where 0 is chance and 1 the same on all. "
    return [on, agrees, strong(f"{kappa.value:.2f}"), between, chance]


def _name_of(check: "JudgeCheck") -> str:
    if check.kind == "metric":
        return fmt.short_name(check.column)
    return fmt.spoken(check.kind if check.column == "verdict" else check.column)


def _yes_or_no(check: "JudgeCheck", yes: "Confusion") -> Iterator[str | Phrase]:
    if len(yes.counts) == 2:
        judge, people = yes.counts[0][1] + yes.counts[1][1], sum(yes.counts[1])
        yield (
            f"On {fmt.counted(check.n, 'label')} of {_name_of(check)}, the judge says yes to "
            f"{fmt.percent(judge / check.n, 0)}, people to {fmt.percent(people / check.n, 0)}. "
        )
    if yes.sensitivity is not None and yes.sensitivity.value is not None:
        yield from ("The judge's recall is ", strong(fmt.percent(yes.sensitivity.value, 0)))
        yield _between(yes.sensitivity)
        if yes.precision is not None and yes.precision.value is not None:
            yield f" and its precision {fmt.percent(yes.precision.value, 0)}"
            yield _between(yes.precision)
        yield ". "


def _between(share: "JudgeMeasure") -> str:
    if share.interval is None:
        return ""
    return f" ({share.interval.low * 100:.0f} to {share.interval.high * 100:.0f} %)"


def _harder(biases: Sequence["Bias"]) -> Iterator[str]:
    listed = [
        (bias, bias.interval) for by, bias in biases
        if by == "system" and bias.interval is not None
        and not bias.interval.low <= 0 <= bias.interval.high
    ]  # fmt: skip
    if listed:
        most, inside = max(listed, key=lambda item: abs(item[0].value))
        way = "above" if most.value > 0 else "below"
        between = fmt.ends(*sorted((abs(inside.low), abs(inside.high))))
        size = f"{fmt.number(abs(most.value))} ({between})"
        yield f"The judge is furthest {way} people on {most.group}, by {size}. "


def _instead(
    off: Sequence["CorrectedEstimate"], known: Sequence["CorrectedEstimate"]
) -> Iterator[str | Phrase]:
    item = next(iter([*off, *known]), None)
    inside = None if item is None else _ends(item)
    if item is None or inside is None or item.judge.value is None or item.corrected.value is None:
        return
    name, judge = fmt.short_name(item.metric), fmt.number(item.judge.value)
    corrected = f"{fmt.number(item.corrected.value)} ({fmt.ends(inside.low, inside.high)})"
    if off:
        yield from ("Use the ", strong("corrected"), f" means: {name} {corrected}, not {judge}.")
    else:
        yield f"{name} is {judge} by the judge, {corrected} corrected."


# The metrics named of a longer list.
NAMED = 3

# Characters of a system's name.
LONGEST = 60


def comparison_sentences(ones: Sequence["Comparison"], lead: str) -> Said:
    """Return which of two systems is better, the metric ``lead`` first, or what would settle it."""
    a, b = _system(ones[0].a), _system(ones[0].b)
    tested = [pair for pair in ones if pair.verdict != "same" and pair.n_pairs]
    if not tested:
        return list(_untested(ones, a, b))
    verdicts = Counter[str](pair.verdict for pair in tested)
    first = next((pair for pair in tested if pair.metric == lead), tested[0])
    if not verdicts["better"] and not verdicts["worse"]:
        return [*_undecided(tested, verdicts, a, b), *_settled(first)]
    ordered = sorted(tested, key=lambda pair: pair.metric != lead)
    return [*_decided(ordered, a, b), *_rest(tested, verdicts)]


def not_paired(ones: Sequence["Comparison"]) -> str:
    """On how many questions only one of two systems has a score; empty if there are none."""
    pairs: tuple[tuple[str, dict[str, int]], ...] = (
        (ones[0].a, {pair.metric: pair.n_only_a for pair in ones if pair.slice is None}),
        (ones[0].b, {pair.metric: pair.n_only_b for pair in ones if pair.slice is None}),
    )
    parts = []
    for name, counts in pairs:
        if most := max(counts.values(), default=0):
            names = _some([fmt.short_name(metric) for metric, n in counts.items() if n == most])
            fewer = sum(0 < n < most for n in counts.values())
            more = f"; fewer for {fmt.counted(fewer, 'more metric')}" if fewer else ""
            on = f"{fmt.counted(most, 'question')} on which only {_system(name)} has a score"
            parts.append(f"{on} (for {', '.join(names)}{more})")
    return f"Not compared: {' and '.join(parts)}." if parts else ""


def _untested(ones: Sequence["Comparison"], a: str, b: str) -> Said:
    if all(pair.verdict != "same" for pair in ones):
        return [f"{a} and {b} have no question on which both have a score, so nothing is compared."]
    on = f"On {_all(ones)} {a} and {b} were judged on "
    return [on, strong("the same inputs"), ", so there is no difference to test."]


def _undecided(tested: Sequence["Comparison"], verdicts: Counter[str], a: str, b: str) -> Said:
    questions = max(pair.n_pairs + pair.n_undefined + pair.n_missing for pair in tested)
    on = f"On {fmt.counted(questions, 'shared question')} {a} and {b} "
    equal = verdicts["equivalent"]
    if equal == len(tested):
        within = f": on {_all(tested)} the difference is shown to be within {_margin(tested)}."
        return [f"{on}are ", strong("equivalent"), within]
    none = f": no difference is found on {_all(tested).replace('all', 'any of', 1)}"
    are = "is" if equal == 1 else "are"
    rest = f", {equal:,} {are} shown to be within {_margin(tested)}." if equal else "."
    return [on, strong("cannot be told apart"), none, rest]


def _settled(pair: "Comparison") -> Said:
    if pair.difference is None or pair.verdict == "equivalent":
        return []
    differs = f" {fmt.short_name(pair.metric)} differs by {_difference(pair)}"
    if pair.n_needed is None:
        return [differs, "."]
    needed = strong(f"{pair.n_needed:,} {fmt.NEEDED[pair.needed_for][0]}")
    return [differs, "; what would settle it: ", needed, "."]


def _difference(pair: "Comparison") -> str:
    text = _with_sign(pair.difference)
    if pair.low is None or pair.high is None:
        return text
    return f"{text} ({_with_sign(pair.low)} to {_with_sign(pair.high)}, n {pair.n_pairs:,})"


def _decided(tested: Sequence["Comparison"], a: str, b: str) -> Said:
    better = [pair for pair in tested if pair.verdict == "better"]
    worse = [pair for pair in tested if pair.verdict == "worse"]
    of = fmt.counted(len(tested), "metric")
    parts: Said = []
    if better:
        on = f" than {b} on {len(better):,} of {of}: {_named(better)}"
        parts += [f"{a} is ", strong("better"), on]
    if worse:
        on = f" on {len(worse):,}" if better else f" than {b} on {len(worse):,} of {of}"
        parts += ["; it is " if better else f"{a} is ", strong("worse"), f"{on}: {_named(worse)}"]
    return [*parts, "."]


def _rest(tested: Sequence["Comparison"], verdicts: Counter[str]) -> Iterator[str | Phrase]:
    equal, open_ = verdicts["equivalent"], verdicts["cannot_tell"]
    if equal:
        yield f" Within {_margin(tested)} on {equal:,}"
        yield f"; on {open_:,} no difference is shown." if open_ else "."
    elif open_:
        yield f" On the other {open_ if open_ > 1 else 'one'} no difference is shown."


def _with_sign(value: float | None) -> str:
    return fmt.signed(value).replace("-", "−")


def _named(ones: Sequence["Comparison"]) -> str:
    first, *others = ones
    names = _some([fmt.short_name(other.metric) for other in others])
    return fmt.with_and([f"{fmt.short_name(first.metric)} {_difference(first)}", *names])


def _some(names: list[str]) -> list[str]:
    more = len(names) - NAMED + 1
    return names if more < 2 else [*names[: NAMED - 1], f"{more} more"]


def _system(name: str) -> str:
    """A system on one line; a long name without its middle, for the end is what differs."""
    name = " ".join(name.split())
    return name if len(name) <= LONGEST else f"{name[:20]}…{name[-24:]}"


def _margin(ones: Sequence["Comparison"]) -> str:
    return f"±{fmt.number(ones[0].margin or 0).rstrip('0')}"


def _all(ones: Sequence["Comparison"]) -> str:
    return fmt.short_name(ones[0].metric) if len(ones) == 1 else f"all {len(ones):,} metrics"


NOUNS: Mapping[str, str] = {"context": "passage"}

# What the log of a queue calls each change.
EVENTS: Mapping[str, str] = {
    "made": "made the queue",
    "extended": "added items",
    "limited": "set how many examples are labelled",
    "routed": "changed the routing",
    "asked": "asked for another label",
    "invited": "gave a link",
    "revoked": "took a link back",
    "opened": "opened who said what",
    "skipped": "skipped",
    "undone": "took back what they said",
    "decided": "decided",
    "undecided": "took a decision back",
    "taken over": "took labels over",
}


def queue_sentence(work: "QueueWork") -> Said:
    """Return how far a queue is, by whom, and how long the rest takes."""
    every = fmt.counted(work.items, item_noun(work.form))
    busy = [person.name for person in work.people if person.saved]
    able = [item.name for item in work.people if item.role == "annotator" and not item.revoked]
    several = work.wanted > work.items
    if not busy and not able:
        return [strong("Nobody has a link yet"), f": {every} wait."]
    if not busy:
        return [strong("Nothing is labelled yet"), f": {every} wait for ", *_listed(able), "."]
    if work.finished == work.items:
        as_wanted = ", each by as many people as wanted" if several else ""
        return [strong(f"All {every} are labelled"), " by ", *_listed(busy), f"{as_wanted}."]
    has = "has" if len(busy) == 1 else "have"
    sentence = [*_listed(busy), f" {has} labelled ", strong(f"{work.labelled:,} of {every}")]
    sentence += [f", {work.finished:,} of them as often as wanted"] if several else []
    if work.hours is not None:
        sentence += [f"; at this pace the rest takes {_time(work.hours)}"]
    return [*sentence, "."]


def queues_sentence(works: Sequence["QueueWork"]) -> Said:
    """Return how many queues still want labels; of one alone, how far it is."""
    if len(works) < 2:
        return [item for work in works for item in queue_sentence(work)]
    wanting = [work for work in works if work.given < work.wanted]
    if not wanting:
        return [strong(f"All {len(works)} queues are finished"), "."]
    labels = sum(item.wanted - item.given for item in wanting)
    return [
        strong(f"{len(wanting)} of {len(works)} queues"),
        f" {'waits' if len(wanting) == 1 else 'wait'} for {fmt.counted(labels, 'more label')}.",
    ]


def lacking_sentence(work: "QueueWork") -> str:
    """Return that people are wanted who are not there; empty if none are."""
    if not work.lacking:
        return ""
    return (
        f"{fmt.counted(work.lacking, 'more label')} {'is' if work.lacking == 1 else 'are'} wanted "
        "than the people in the queue can give, for nobody labels an item twice. Invite somebody."
    )


def item_noun(form: "QueueForm") -> str:
    """Return the noun for what people label one of on a screen."""
    units = {label.unit for label in form.asked}
    if any(label.label == LABEL for label in form.asked):
        return "pair"
    several = len({label.task for label in form.asked}) > 1
    if form.together and not several and units != {"answer"}:
        return "example"
    return "item" if several or len(units) > 1 else NOUNS.get(unit := next(iter(units)), unit)


def asked_in_words(form: "QueueForm") -> str:
    """Return the labels that a queue asks for.

    >>> from ragstone.annotation.queue.form import AskedLabel, QueueForm
    >>> asked_in_words(QueueForm("q", (AskedLabel("source_cited", "answer"),)))
    'source cited'
    """
    return ", ".join(dict.fromkeys(fmt.spoken(label.label) for label in form.asked))


def people_in_words(form: "QueueForm") -> str:
    """Return how many people label an item.

    >>> from ragstone.annotation.queue.form import QueueForm
    >>> people_in_words(QueueForm("q", (), per_item=2, overlap=0.2))
    '2 people on 20 %, else 1'
    """
    people = "1 person" if form.per_item == 1 else f"{form.per_item} people"
    if form.per_item == 1 or form.overlap >= 1:
        return f"{people} each"
    return f"{people} on {form.overlap * 100:.0f} %, else 1"


def order_in_words(form: "QueueForm") -> str:
    """In which order a queue gives its items out, and how many."""
    most = "all" if form.most is None else fmt.counted(form.most, "example")
    if form.order == "risk":
        return f"{most}, the worst scores first"
    routed = form.route == "doubt"
    return f"{most}, {'likelier where the judge is in doubt' if routed else 'in random order'}"


def _listed(names: Sequence[str]) -> Said:
    """Names as in a sentence, each apart, for they may be written in any direction."""
    listed = list(names) if len(names) <= NAMED else list(names[: NAMED - 1])
    parts: Said = [Phrase(name, "name") for name in listed]
    parts += [f"{len(names) - len(listed)} others"] if len(names) > len(listed) else []
    joints = [", "] * (len(parts) - 2) + [" and "] * (len(parts) > 1)
    return [word for pair in zip_longest(parts, joints) for word in pair if word is not None]


def _time(hours: float) -> str:
    """A time to come, as far as a pace can tell it.

    >>> [_time(one) for one in (0.01, 0.4, 1.3, 2.6, 31)]
    ['a minute', 'about 25 minutes', 'about 80 minutes', 'about 2.5 hours', 'about 31 hours']
    """
    minutes = hours * 60
    if minutes < 90:
        rounded = round(minutes) if minutes < 10 else 5 * round(minutes / 5)
        return "a minute" if rounded <= 1 else f"about {rounded} minutes"
    return f"about {round(hours * 2) / 2 if hours < 10 else round(hours):g} hours"
