"""Number format: values, intervals, counts and differences as shown, and groups of estimates."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, isclose, log10
from typing import TYPE_CHECKING

from ragstone.core.errors import RagstoneError
from ragstone.core.grouping import grouped
from ragstone.judgements import name_for
from ragstone.metrics import (
    SUITES,
    AspectVerdict,
    Range,
    RubricScore,
    Suite,
    read_metric,
    suite_named,
)
from ragstone.run import Estimate
from ragstone.run.estimates.cautions import relevance_by
from ragstone.stats import Interval

from .page import Count, IntervalCell, Mark, Note, Phrase, Scale, Tone, strong

if TYPE_CHECKING:
    from ragstone.analysis.comparison.comparison_result import Comparison
    from ragstone.analysis.summaries.session_figures import ConversationFigure


# The longest name, in characters, of a metric that is called by the sentence that defines it.
LONGEST_NAME = 30

# The arrow that shows in which direction a metric is better.
ARROWS = {"+": "↑", "-": "↓", "0": "·"}

BETTER = {"+": "more is better", "-": "less is better", "0": "neither end is better"}

# Interval methods: the word in the table, and what it is.
METHODS = {
    "wilson": ("Wilson", "a rate, one row per question"),
    "clopper_pearson": ("exact", "a rate, one row per question: Clopper-Pearson"),
    "cluster_clopper_pearson": ("cl. exact", "a rate, clustered by question: Clopper-Pearson on "
                                "the effective number of rows"),
    "cluster_wilson": ("cl. Wilson", "a rate, clustered by question: Wilson on the effective "
                       "number of rows"),
    "t": ("t", "a mean of an unbounded metric, one row per question"),
    "cluster_t": ("cluster t", "a mean of an unbounded metric, clustered by question"),
    "bounded_wilson": ("b. Wilson", "a mean of a bounded metric: Wilson on the effective number of "
                       "rows"),
    "cluster_bootstrap": ("bootstrap", "a function of means, resampling whole questions"),
    "multinomial_bootstrap": ("bootstrap", "a mean, resampling how often each value occurs"),
    "ratio_delta": ("ratio", "a ratio of two sums, by the delta method"),
    "newcombe": ("Newcombe", "a difference of two rates on the same questions"),
    "square_and_add": ("square and add", "a difference of two means of different answers"),
    "poststratified_wilson": ("ps. Wilson", "corrected: Wilson, post-stratified by the judge's "
                              "verdict"),
    "ppi_plus_plus": ("PPI++", "corrected: prediction-powered, the judge as control variate"),
    "rogan_gladen": ("R.–Gladen", "corrected by the judge's sensitivity and specificity"),
    "betting_sequence": ("betting", "valid however often you look while labels come in"),
    "asymptotic_sequence": ("sequence", "valid, for many labels, however often you look while they "
                            "come in"),
    "item_bootstrap": ("bootstrap", "agreement, resampling items"),
    "linearised_wilson": ("lin. Wilson", "κ: Wilson on the effective number of rows"),
    "basic_bootstrap": ("basic", "bootstrap, reflected about the estimate"),
    "delong": ("DeLong", "AUROC: Wilson on the effective number of pairs, from DeLong's variance"),
    "bradley_terry": ("B.–Terry", "strength estimated from wins, clustered by question"),
}  # fmt: skip


def number(value: float, *, percent: bool = False) -> str:
    """A number with three decimals, a percentage with one; large numbers have none.

    >>> number(2 / 3), number(-0.0001), number(2 / 3, percent=True), number(12345.6)
    ('0.667', '0.000', '66.7', '12,346')
    """
    if percent:
        value *= 100
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    places = 1 if percent else 3
    return f"{round(value, places) + 0.0:.{places}f}"


def spoken(code: str) -> str:
    """A class, or the name of a metric, as it is said.

    >>> spoken("dont_know"), spoken("answer_outcome")
    ("don't know", 'answer outcome')
    """
    return code.replace("dont_know", "don't know").replace("_", " ")


def capital(text: str) -> str:
    """A sentence with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def with_and(names: Sequence[str]) -> str:
    """Names as in a sentence: with commas, and an "and" before the last.

    >>> with_and(["a", "b", "c"]), with_and(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def ends(low: float | None, high: float | None, *, percent: bool = False) -> str:
    """Both ends of an interval; a dash if there is none."""
    both = [number(end, percent=percent) for end in (low, high) if end is not None]
    return " – ".join(both) if len(both) == 2 else "–"


def interval_of(estimate: Estimate, *, percent: bool = False) -> str:
    """Both ends of the interval of an estimate, or why it has none."""
    if estimate.low is None or estimate.high is None:
        return "too few" if estimate.clusters < 2 else "no spread"
    return ends(estimate.low, estimate.high, percent=percent)


def tight(value: float, places: int = 3, *, percent: bool = False) -> str:
    """A number for a narrow column: without the zero before the point.

    >>> tight(2 / 3), tight(-0.05, 2), tight(1.0), tight(2 / 3, percent=True), tight(12345.6)
    ('.667', '-.05', '1.000', '66.7', '12,346')
    """
    if percent or abs(value) >= 1000:
        return number(value, percent=percent)
    written = f"{round(value, places) + 0.0:.{places}f}"
    return written.replace("0.", ".", 1) if abs(round(value, places)) < 1 else written


def signed(value: float | None) -> str:
    """A value with its sign; a dash if there is none.

    >>> signed(0.1234), signed(-2.0), signed(0.0), signed(None)
    ('+0.123', '-2.000', '0.000', '–')
    """
    if value is None:
        return "–"
    written = number(value)
    return f"+{written}" if value > 0 and float(written.replace(",", "")) else written


def percent(share: float, places: int = 6) -> str:
    """A share in percent, with as many decimals as it needs but no more than ``places``.

    >>> percent(0.95), percent(0.975), percent(1 / 3, 0)
    ('95 %', '97.5 %', '33 %')
    """
    return f"{round(share * 100, places):g} %"


def p_word(p: float | None) -> str:
    """A p-value as text; empty if there is none.

    >>> p_word(0.0031), p_word(1e-9), p_word(1.0), p_word(None)
    ('0.003', '<0.001', '1.000', '')
    """
    return "" if p is None else "<0.001" if p < 0.001 else number(p)


PLURALS = {"criterion": "criteria"}


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the singular or plural.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "criterion")
    ('1 row', '1,200 rows', '2 criteria')
    """
    return f"{count:,} {noun if count == 1 else PLURALS.get(noun, f'{noun}s')}"


def scale_of(metric: str) -> Range | None:
    """The range of a metric; None for a user-defined metric that is not loaded."""
    try:
        return read_metric(metric).range
    except RagstoneError:
        return None


def short_name(metric: str) -> str:
    """Return the name of a metric in a table; ratings and critiques go by criterion or aspect.

    >>> short_name('rating(criterion="faithfulness")'), short_name("ndcg(k=5)")
    ('faithfulness rated', 'ndcg(k=5)')
    >>> short_name("critique"), short_name('critique(aspect="coherence", votes=3)')
    ('harmfulness', 'coherence, 3 votes')

    One defined by a sentence without Latin letters is called by its sentence, not by a hash.

    >>> short_name('rating(definition="友好吗？")')
    '友好吗？ rated'
    """
    try:
        built = read_metric(metric)
    except RagstoneError:
        return metric
    match built:
        case RubricScore():
            return f"{_called(built.criterion, built.definition)} rated"
        case AspectVerdict():
            votes = "" if built.votes is None else f", {built.votes} votes"
            return f"{_called(built.aspect, built.definition)}{votes}"
    return metric


def row_names(estimates: Iterable[Estimate]) -> dict[str, str]:
    """The short names of metrics; with who said what is relevant where not all heard the same."""
    return {metric: row_name(metric, who) for metric, who in relevance_by(estimates).items()}


def row_name(metric: str, by: str) -> str:
    """The short name of a metric, with who says what is relevant if that has to be told."""
    return f"{short_name(metric)} by {by}" if by else short_name(metric)


def _called(topic: str, definition: str) -> str:
    named_by_hash = definition and topic == name_for(definition) and topic.startswith("own_")
    return shortened(definition, LONGEST_NAME) if named_by_hash else topic


def method_word(method: str | None) -> str:
    """The short word of an interval method."""
    return METHODS.get(method or "", (method or "",))[0]


def band(estimate: Estimate, suites: Sequence[str]) -> str:
    """The word that a suite has for the value, or that it is beyond a limit of the suite's."""
    if estimate.value is None:
        return ""
    value, metric = estimate.value, estimate.metric
    for suite in known_suites(suites):
        for words in (band.words for band in suite.bands if band.metric == metric):
            return next((word for least, word in words if round(value, 4) >= least), "")
        for limit in (limit for limit in suite.limits if limit.metric == metric):
            return f"{limit.side} limit" if limit.exceeded(value) else ""
    return ""


def bands_of(suite: Suite) -> Iterator[str]:
    """Yield a line for each of a suite's bands and limits."""
    scale = 100 if suite.percent else 1
    for band in suite.bands:
        text = ", ".join(f"{word} from {least * scale:g}" for least, word in band.words[:-1])
        note = f"; {band.note}" if band.note else ""
        yield f"{band.metric}: {text}, else {band.words[-1][1]}{note}"
    for limit in suite.limits:
        yield f"{limit.metric} {limit.side} {limit.bound * scale:g}: {limit.advice}"


def in_percent(suites: Sequence[str]) -> bool:
    """Tell whether every requested suite shows its values in percent."""
    known = known_suites(suites)
    return bool(suites) and len(known) == len(suites) and all(suite.percent for suite in known)


def known_suites(names: Sequence[str]) -> list[Suite]:
    """The suites with these text forms; ``quick`` is not a suite and is skipped."""
    return [suite_named(name) for name in names if name.split("(")[0] in SUITES]


def shortened(text: str | None, length: int) -> str:
    """One line of at most ``length`` characters; a dash if there is no text."""
    if text is None:
        return "–"
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def interval_cell(
    value: float | None,
    interval: Interval | None,
    scale: Scale | None = None,
    *,
    tone: Tone = "",
    stands_out: bool = True,
) -> IntervalCell:
    """A cell with a value and its interval, drawn if there is a scale."""
    low, high = (None, None) if interval is None else (interval.low, interval.high)
    return IntervalCell(value, low, high, scale, tone=tone, strong=stands_out)


def scale_for(metric: str) -> Scale | None:
    """A scale over the whole range of a metric; None for a metric that is not known here."""
    ends = scale_of(metric)
    return None if ends is None else Scale(ends.low, ends.high)


def method_notes(
    methods: Iterable[str | None], instead: Mapping[str, str] | None = None
) -> Iterator[Note]:
    """A note on each interval method, once for each."""
    for method in dict.fromkeys(filter(None, methods)):
        word, about = METHODS.get(method, (method, ""))
        yield Note("intervals", (strong(word), f"  {(instead or {}).get(method, about)}"))


def count_cells(figure: "Estimate | ConversationFigure") -> tuple[Count, Count, Count]:
    """The cells of n, of what is undefined and of what is missing."""
    undefined = Count(figure.n_undefined, "undefined")
    return Count(figure.n), undefined, Count(figure.n_missing, "missing")


def worst_to_best(
    figure: "Estimate | ConversationFigure", *, percent: bool = False
) -> tuple[Phrase, ...]:
    """The ends between which the mean would lie if the missing scores were known, if any is."""
    if not figure.n_missing or figure.worst is None or figure.best is None:
        return ()
    low, high = sorted((figure.worst, figure.best))
    return (Phrase(f"{ends(low, high, percent=percent)} worst–best", "missing"),)


# The words and the tone of each verdict; the interval of a difference takes the same tone.
VERDICTS: dict[str, tuple[str, Tone]] = {
    "better": ("better", "good"),
    "worse": ("worse", "bad"),
    "equivalent": ("equivalent", "equal"),
    "same": ("same", "quiet"),
    "cannot_tell": ("cannot tell", "quiet"),
}

# What pairs are needed for, as a table names it, and what the number means.
NEEDED: dict[str, tuple[str, str]] = {
    "difference": (
        "pairs to show this difference",
        "estimate: with so many, p would be small enough after correction if the values stay as "
        "they are",
    ),
    "equivalence": (
        "pairs for equivalence",
        "estimate: with so many, half the interval would be as wide as the margin",
    ),
}


def needed_pairs(comparison: "Comparison") -> str:
    """Return how many pairs would settle a comparison, and for what; empty if unknown."""
    n = comparison.n_needed
    return "" if n is None else f"{n:,} {NEEDED[comparison.needed_for][0]}"


def needed_kinds(ones: Iterable["Comparison"]) -> list[str]:
    """Return the uses of the numbers of pairs that are shown."""
    listed = {pair.needed_for for pair in ones if pair.n_needed is not None}
    return [kind for kind in NEEDED if kind in listed]


def needed_notes(ones: Iterable["Comparison"]) -> list[str]:
    """Return a sentence on the meaning of each kind of number of pairs that is shown."""
    return [": ".join(NEEDED[kind]) for kind in needed_kinds(ones)]


# Larger values are not drawn: next to them, shares and cosines would shrink to a point.
FAR = 2


def difference_cell(pair: "Comparison", reach: float) -> IntervalCell:
    """The difference with its interval, and inside it the one that equivalence is read from."""
    low, high = pair.equivalence_low, pair.equivalence_high
    core = None if low is None or high is None else (low, high)
    scale = difference_scale(reach, pair.margin) if reach and _is_drawn(pair) else None
    tone = VERDICTS[pair.verdict][1]
    return IntervalCell(pair.difference, pair.low, pair.high, scale, core, signed=True, tone=tone)


def difference_scale(reach: float, margin: float | None) -> Scale:
    """A scale from -reach to reach, marked with the margin if it lies within."""
    within = margin is not None and margin <= reach
    ends = (Mark(-margin, "margin"), Mark(margin, "margin")) if margin and within else ()
    return Scale(-reach, reach, (Mark(0, "zero"), *ends))


def reach_of(ones: Iterable["Comparison"]) -> float:
    """One, two or five times a power of ten that covers all drawn values; 0 if there are none."""
    largest = 0.0
    for pair in filter(_is_drawn, ones):
        ends = (pair.difference, pair.low, pair.high, pair.margin)
        largest = max(largest, *(abs(end) for end in ends if end is not None))
    if largest == 0:
        return 0.0
    power = 10.0 ** floor(log10(largest))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= largest * (1 - 1e-9))


def _is_drawn(pair: "Comparison") -> bool:
    ends = [abs(end) for end in (pair.difference, pair.low, pair.high) if end is not None]
    return pair.difference is not None and max(ends) <= FAR


# The sections of a report, in order; user-defined families follow after them.
FAMILIES = {
    "retrieval": "Retrieval",
    "grounding": "Grounding",
    "answer": "Answer",
    "reference": "Against the reference",
    "composite": "Composite",
    "facts": "Facts",
    "own": "Your own",
}

SYSTEM = "system"


@dataclass(frozen=True)
class Groups:
    """The estimates of a run, for whole systems or for slices of them."""

    estimates: Sequence[Estimate]

    def _by(self, *fields: str) -> list[Estimate]:
        return [estimate for estimate in self.estimates if set(estimate.group) == {*fields}]

    @property
    def systems(self) -> list[str]:
        """The systems, in the order of the data."""
        groups = (estimate.group for estimate in self.estimates)
        return list(dict.fromkeys(group[SYSTEM] for group in groups if SYSTEM in group))

    @property
    def whole(self) -> list[Estimate]:
        """One estimate for each metric and system, or over all rows if no system has a name."""
        return self._by(SYSTEM) if self.systems else self._by()

    @property
    def whole_and_all(self) -> list[Estimate]:
        """``whole``, and with several systems the estimates over the rows of all of them."""
        return [*self.whole, *(self._by() if len(self.systems) > 1 else [])]

    @property
    def fields(self) -> list[str]:
        """The fields by which the data was sliced, other than the system."""
        fields = dict.fromkeys(field for estimate in self.estimates for field in estimate.group)
        return [field for field in fields if field != SYSTEM]

    def sliced(self, field: str) -> list[Estimate]:
        """One estimate for each metric, system and value of the field.

        A single system has no slices of its own: those of all rows are its.
        """
        return self._by(SYSTEM, field) or self._by(field)


def by_family(estimates: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    """The estimates by title of their section."""
    by_name = grouped((estimate.family, estimate) for estimate in estimates)
    by_name = {family: [] for family in FAMILIES} | by_name
    return {FAMILIES.get(name, name.capitalize()): ones for name, ones in by_name.items() if ones}


def by_metric(estimates: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    """The estimates by text form of their metric, in their order."""
    return grouped((estimate.metric, estimate) for estimate in estimates)


def same_mean(first: Estimate, estimate: Estimate) -> bool:
    """Tell whether two means are over as many rows and equal but for the order of adding."""
    known = first.value is not None and estimate.value is not None and first.n == estimate.n
    return known and isclose(first.value or 0, estimate.value or 0, abs_tol=1e-9)


def as_one(ones: Sequence[Estimate]) -> Estimate | None:
    """All systems in one where none has a value, for the same reasons; otherwise None."""
    valued = any(estimate.value is not None for estimate in ones)
    if len(ones) < 2 or valued or len({frozenset(item.reasons) for item in ones}) > 1:
        return None
    systems = [estimate for estimate in ones if SYSTEM in estimate.group] or ones
    reasons = Counter[str]()
    for system in systems:
        reasons.update(system.reasons)
    undefined = sum(system.n_undefined for system in systems)
    missing = sum(system.n_missing for system in systems)
    return replace(ones[0], reasons=dict(reasons), n_undefined=undefined, n_missing=missing)
