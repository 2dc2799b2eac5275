"""Figures: how a value, an interval, a count and a reason are written."""

from collections.abc import Mapping, Sequence

from ragstone.errors import RagstoneError
from ragstone.metrics import SUITES, Range, Suite, read_metric
from ragstone.run.estimate import Estimate

from .words import short_words

ARROWS = {"+": "↑", "-": "↓", "0": "·"}
"""The arrow that shows in which direction a metric is better."""

METHODS = {
    "wilson": ("Wilson", "a rate, one row per question"),
    "clopper_pearson": ("exact", "a rate, one row per question: Clopper-Pearson"),
    "cluster_clopper_pearson": (
        "cl. exact",
        "a rate, clustered by question: Clopper-Pearson on the effective number of rows",
    ),
    "cluster_wilson": (
        "cl. Wilson",
        "a rate, clustered by question: Wilson on the effective number of rows",
    ),
    "t": ("t", "a mean of an unbounded metric, one row per question"),
    "cluster_t": ("cluster t", "a mean of an unbounded metric, clustered by question"),
    "bounded_wilson": (
        "b. Wilson",
        "a mean of a bounded metric: Wilson on the effective number of rows",
    ),
    "cluster_bootstrap": ("bootstrap", "a function of means, resampling whole questions"),
    "multinomial_bootstrap": ("bootstrap", "a mean, resampling how often each value occurs"),
    "ratio_delta": ("ratio", "a ratio of two sums, by the delta method"),
    "newcombe": ("Newcombe", "a difference of two rates on the same questions"),
    "poststratified_wilson": (
        "ps. Wilson",
        "corrected: Wilson, post-stratified by the judge's verdict",
    ),
    "ppi_plus_plus": (
        "PPI++",
        "corrected: prediction-powered, the judge as control variate",
    ),
    "rogan_gladen": ("R.–Gladen", "corrected by the judge's sensitivity and specificity"),
    "betting_sequence": ("betting", "valid however often you look while labels come in"),
    "item_bootstrap": ("bootstrap", "agreement, resampling items"),
    "linearised_wilson": ("lin. Wilson", "κ: Wilson on the effective number of rows"),
    "basic_bootstrap": ("basic", "bootstrap, reflected about the estimate"),
    "delong": ("DeLong", "AUROC: Wilson on the effective number of pairs, from DeLong's variance"),
    "bradley_terry": ("B.–Terry", "strength estimated from wins, clustered by question"),
}
"""Interval methods: the word in the table, and what it is."""


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


def ends(low: float | None, high: float | None, *, percent: bool = False) -> str:
    """Both ends of an interval; a dash if there is none."""
    if low is None or high is None:
        return "–"
    return f"{number(low, percent=percent)} – {number(high, percent=percent)}"


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
    if p is None:
        return ""
    return "<0.001" if p < 0.001 else number(p)


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the singular or plural.

    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def scale_of(metric: str) -> Range | None:
    """The range of a metric; None for a user-defined metric that is not loaded."""
    try:
        return read_metric(metric).range
    except RagstoneError:
        return None


def method_word(method: str | None) -> str:
    """The short word of an interval method."""
    if method is None:
        return ""
    return METHODS[method][0] if method in METHODS else method


def why_no_value(estimate: Estimate) -> str:
    """``undefined (no_retrieval)`` or ``missing (...)``, for an estimate without any value."""
    outcomes = []
    if estimate.n_undefined:
        outcomes.append("undefined")
    if estimate.n_missing:
        outcomes.append("missing")
    words = " and ".join(outcomes) or "no examples"
    return f"{words} ({most_frequent(estimate.reasons)})" if estimate.reasons else words


def most_frequent(reasons: Mapping[str, int], shown: int = 2) -> str:
    """The most frequent reasons in short form, and the number of further ones."""
    ranked = sorted(reasons, key=lambda reason: -reasons[reason])
    more = f" and {len(ranked) - shown} more" if len(ranked) > shown else ""
    return "; ".join(short_words(reason) for reason in ranked[:shown]) + more


def band(estimate: Estimate, suites: Sequence[str]) -> str:
    """The word that a suite has for the value; empty if none of the suites has one.

    If lower values of the metric are better, a lower value gets a better word.
    """
    if estimate.value is None or estimate.better == "0":
        return ""
    for suite in known_suites(suites):
        if suite.bands and estimate.metric in {str(metric) for metric in suite.metrics()}:
            value = 1 - estimate.value if estimate.better == "-" else estimate.value
            return next((word for least, word in suite.bands if value >= least), "")
    return ""


def in_percent(suites: Sequence[str]) -> bool:
    """Whether values are shown in percent: only if every requested suite does so."""
    return bool(suites) and all(name in SUITES and SUITES[name].percent for name in suites)


def known_suites(names: Sequence[str]) -> list[Suite]:
    """The suites with these names; ``quick`` is not a suite and is skipped."""
    return [SUITES[name] for name in names if name in SUITES]


def shortened(text: str | None, length: int) -> str:
    """One line of at most ``length`` characters; a dash if there is no text."""
    if text is None:
        return "–"
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"
