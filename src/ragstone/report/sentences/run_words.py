"""Run words: sentences on a run, the run in a few of them, and the failure waterfall's stages."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.report.number_format import counted, ends, number, percent, short_name, with_and

from .analysis_words import judges_checked

if TYPE_CHECKING:
    from ragstone.analysis.calibration.checked_run import CheckedRun, CorrectedMean
    from ragstone.analysis.comparison.comparison_result import Comparison
    from ragstone.analysis.summaries.failure_stages import FailureGroups, Faults, GroupFailures
    from ragstone.analysis.summaries.run_summary import Lead, Summary


LOOKS_BAD = (
    "An answer looks bad if it says nothing of the reference, gives no answer where the reference "
    "has one, or if the mean probability that its n claims are supported is below .4 + .2/n."
)
COUNTED = (
    "It counts once, at the first stage that failed, from top to bottom. A stage whose metric has "
    "no value for an answer does not count as failed. An answer that only says part of the "
    "reference does not look bad for that."
)

# The name of each stage, and of what is at none.
NAMES: Mapping[str, str] = {
    "not_in_corpus": "not in the corpus",
    "nothing_retrieved": "nothing retrieved",
    "not_retrieved": "not retrieved",
    "retrieved_too_low": "retrieved too low",
    "no_answer": "no answer",
    "not_used": "not used",
    "contradicted": "contradicted",
    "unsupported": "unsupported",
    "bad_reference": "bad reference",
    "wrong": "wrong",
    "partial": "part of it",
    "no_fault": "no fault",
}

# What is wrong with an answer, by the stage that fails first.
BECAUSE: Mapping[str, str] = {
    "not_in_corpus": "none of the contexts judged for the question is relevant",
    "nothing_retrieved": "nothing was retrieved",
    "not_retrieved": "less than half of the reference is in the contexts",
    "retrieved_too_low": "the first context is not relevant",
    "no_answer": "the answer says it does not know, though the reference does",
    "not_used": "no supported claim rests on a relevant context",
    "contradicted": "a claim contradicts a context",
    "unsupported": "the claims are probably not supported",
    "bad_reference": "the contexts support every claim and contradict the reference",
    "wrong": "nothing the reference says is in the answer",
}


def look_bad(group: "GroupFailures") -> str:
    """Return how many answers of a group look bad."""
    look = "looks" if group.bad.n == 1 else "look"
    return f"{group.bad.n:,} of {counted(group.judged, 'answer')} {look} bad"


def judged_by(failures: "FailureGroups") -> str:
    """By whom it was judged which answers look bad, and whether labels checked them."""
    judges = judges_checked(failures.checked)
    return f"By {judges}." if judges else ""


def faults_sentence(faults: "Faults", checked: "CheckedRun", *, others: bool = False) -> str:
    """Return how many answers look bad, to whom and why; ``others`` leaves out the references."""
    of = counted(faults.judged, "other answer" if others else "answer")
    judges = judges_checked(checked)
    to = f" to {judges}" if judges else ""
    if faults.bad:
        text = f"{faults.bad:,} of {of} {'looks' if faults.bad == 1 else 'look'} bad{to}"
        most = "" if faults.at_stage == faults.bad else "most often "
        fault = f"{BECAUSE[faults.stage]} ({faults.at_stage:,})"
        text += f". What goes wrong first is {most}that {fault}"
    else:
        text = f"None of {of} looks bad{to}"
    more = []
    if faults.partial:
        say = "says" if faults.partial == 1 else "say"
        more.append(f"{faults.partial:,} of the {faults.judged:,} {say} only part of the reference")
    mean = None if others else checked.corrected(UNSUPPORTED_CLAIM, {})
    if faults.unsupported or mean:
        has = "has" if faults.unsupported == 1 else "have"
        of = "" if more else f" of the {faults.judged:,}"
        said_of = f"{faults.unsupported:,}{of} {has} at least one unsupported claim"
        more.append(f"{said_of}; {_corrected_share(mean, faults.judged)}" if mean else said_of)
    if not more:
        return f"{text}."
    by = "By the same judgements, " if judges else ""
    return f"{text}. {by}{' and '.join(more)}."


UNSUPPORTED_CLAIM = "unsupported_claim"


def _corrected_share(mean: "CorrectedMean", judged: int) -> str:
    inside = f"{mean.low * 100:.0f} to {percent(mean.high, 0)}"
    labels = counted(mean.n_labels, "label")
    puts = "puts" if mean.n_labels == 1 else "put"
    among = f" among the {mean.n_judged:,} judged for it" if mean.n_judged < judged else ""
    return f"{labels} by people {puts} their share{among} at {percent(mean.value, 0)} ({inside})"


# The most systems of which each has its own count of questions.
MOST_COUNTED = 3

# The metrics named of a longer list.
NAMED = 4


def summary_sentences(summary: "Summary") -> list[str]:
    """Return what was measured, which system is better, and what fails most and is missing."""
    better = [*_better(summary), *_unanswered(summary)]
    fails = [_faults(summary)]
    if summary.missing:
        are = "is" if summary.missing == 1 else "are"
        fails.append(f"{summary.missing:,} of {summary.possible:,} scores {are} missing.")
    paragraphs = (_measured(summary), better, fails)
    return [text for item in paragraphs if (text := " ".join(filter(None, item)))]


def _measured(summary: "Summary") -> list[str]:
    questions = counted(summary.questions, "question")
    n = summary.answered or summary.examples
    answers = counted(n, "answer" if summary.answered else "ranking")
    metrics = counted(summary.metrics, "metric")
    null = f"{counted(summary.null, 'answer')} {'is' if summary.null == 1 else 'are'} missing."
    owed = [null] if summary.null else []
    itself = list(summary.themselves)
    if len(summary.systems) < 2:
        tell = "The answers are the references, so metrics that compare the two tell nothing."
        return [f"{answers} to {questions}, {metrics}.", *owed, *([tell] if itself else [])]
    systems = len(summary.systems)
    sentences = [f"{answers} by {systems} systems to {questions}, {metrics}.", *owed]
    if itself:
        answer, out = ("answers", "it") if len(itself) == 1 else ("answer", "them")
        sentences.append(
            f"{_named(itself)} {answer} with the references, so metrics that compare the two "
            f"leave {out} out."
        )
    return sentences


def _better(summary: "Summary") -> list[str]:
    apart = _of_pairs(summary.apart, "share no question")
    if not summary.tested:
        if summary.same:
            return ["On every metric that compares them, the systems have the same inputs."]
        return [f"{apart[0]}, so they are not compared."] if apart else []
    if summary.pair:
        return [between_two(summary.pair)]
    metrics = _any_of(summary.tested)
    parts = [_lead(item, len(summary.systems)) for item in (*summary.leads, *summary.wins)]
    if len(parts) > NAMED + 1:
        parts[NAMED:] = [f"{len(parts) - NAMED} more differences"]
    if not parts:
        fewest, most = (f"{item:,}" for item in summary.shared)
        pairs = counted(summary.shared[1], "question")
        pairs = pairs if fewest == most else f"{fewest} to {most} questions a pair"
        parts = [f"with {pairs}, no system is shown to be better than another on {metrics}"]
    else:
        if not summary.leads:
            parts.insert(0, f"no system is better than all others on {metrics}")
        parts += _of_pairs(summary.alike, "cannot be told apart on any metric")
    text = "; ".join([*parts, *apart])
    return [f"{text if summary.leads else text[0].upper() + text[1:]}."]


def _of_pairs(pairs: Sequence[tuple[str, str]], what: str) -> list[str]:
    if len(pairs) > 1:
        return [f"{len(pairs):,} pairs {what}"]
    return [f"{_named(pair)} {what}" for pair in pairs]


def _unanswered(summary: "Summary") -> Iterator[str]:
    if summary.unanswered:
        many = len(summary.systems) > MOST_COUNTED
        clauses = "; ".join((_of_many if many else _of_each)(summary))
        yield f"{clauses}, so the means are over different questions."


def _of_each(summary: "Summary") -> Iterator[str]:
    of = f" of {counted(summary.questions, 'question')}"
    for counts, how, joined in (
        (summary.alone, "answered by {} alone", with_and),
        (summary.unanswered if len(summary.systems) > 2 else {}, "not answered by {}", _named),
    ):
        most = sorted(counts.items(), key=lambda item: -item[1])
        if most:
            (first, what), *others = [(n, how.format(_named([name]))) for name, n in most]
            text = f"{first:,}{of} {'was' if first == 1 else 'were'} {what}"
            yield joined([text, *(f"{n:,} {what}" for n, what in others)])
            of = ""


def _of_many(summary: "Summary") -> Iterator[str]:
    of = f" of {counted(summary.questions, 'question')}"
    left = max(summary.unanswered.values())
    if not summary.alone:
        yield f"Each system left at most {left:,}{of} unanswered"
        return
    (name, most), *others = sorted(summary.alone.items(), key=lambda item: -item[1])
    text = f"{most:,}{of} {'was' if most == 1 else 'were'} answered by {_named([name])} alone"
    more = sum(n for _, n in others)
    yield f"{text} and {more:,} by one of the others alone" if more else text
    yield f"each system left at most {left:,} unanswered"


def _lead(lead: "Lead", systems: int) -> str:
    are = "is" if len(lead.systems) == 1 else "are each"
    whom = _named(lead.over)
    if len(lead.systems) == 1 and len(lead.over) == systems - 1 > 1:
        whom = "both others" if systems == 3 else "all others"
    return f"{_named(lead.systems)} {are} better than {whom} on {_metrics(lead.metrics)}"


def between_two(ones: Sequence["Comparison"]) -> str:
    """Say on which metrics one of two systems is better than the other, from all pairs of them."""
    a, b = _named([ones[0].a]), _named([ones[0].b])
    won = {verdict: [pair for pair in ones if pair.verdict == verdict] for verdict in VERDICTS}
    parts = []
    if won["better"]:
        parts.append(f"{a} is better than {b} on {_of(won['better'], len(ones))}")
    if won["worse"]:
        on = _of(won["worse"], len(ones))
        parts.append(f"worse on {on}" if parts else f"{b} is better than {a} on {on}")
    if won["equivalent"]:
        same = f"equivalent on {_metrics([item.metric for item in won['equivalent']])}"
        parts.append(same if parts else f"{a} and {b} are {same}")
    if not parts:
        pairs = counted(max(pair.n_pairs for pair in ones), "question")
        metrics = _any_of([pair.metric for pair in ones])
        return f"With {pairs}, {a} and {b} cannot be told apart on {metrics}."
    if won["cannot_tell"]:
        parts.append(f"undecided on {len(won['cannot_tell']):,}")
    return f"{with_and(parts)}."


VERDICTS = ("better", "worse", "equivalent", "cannot_tell")


def _of(ones: Sequence["Comparison"], metrics: int) -> str:
    first, *others = ones
    listed = short_name(first.metric)
    if first.difference is not None:
        sign = 1 if first.difference > 0 else -1
        interval = [sign * end for end in (first.low, first.high) if end is not None]
        inside = f"{ends(*sorted(interval))}, " if interval else ""
        pairs = counted(first.n_pairs, "question")
        listed += f" by {number(sign * first.difference)} ({inside}{pairs})"
    if metrics == 1:
        return listed
    more = f"; {_metrics([other.metric for other in others])}" if others else ""
    return f"{len(ones):,} of {counted(metrics, 'metric')} ({listed}{more})"


def _faults(summary: "Summary") -> str:
    if summary.faults is None:
        judges = judges_checked(summary.checked)
        return f"Judged by {judges}." if judges else ""
    others = bool(summary.themselves)
    return faults_sentence(summary.faults, summary.checked_faults, others=others)


def _metrics(metrics: Sequence[str]) -> str:
    return _named([short_name(metric) for metric in metrics])


def _any_of(metrics: Sequence[str]) -> str:
    """No count: it leaves out metrics without a better direction, and would mislead."""
    return _metrics(metrics) if len(metrics) == 1 else "any metric"


def _named(names: Sequence[str]) -> str:
    names = [" ".join(name.split()) for name in names]
    if len(names) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return with_and(names)
