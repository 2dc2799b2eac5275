"""Summary: a run in one to three sentences, made from its numbers."""

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import TYPE_CHECKING

from ragstone.report.figures import counted, ends, number

if TYPE_CHECKING:
    # Deciding takes a quarter of a second to import; who shows a page has decided already.
    from ragstone.decisions.comparing.compared import Comparison
    from ragstone.decisions.summing_up.summary import Lead, Summary

STAGES: Mapping[str, str] = {
    "nothing_retrieved": "nothing was retrieved",
    "not_retrieved": "less than half of the reference is in the contexts",
    "retrieved_too_low": "the first context is not relevant",
    "not_used": "no supported claim rests on a relevant context",
    "contradicted": "a claim contradicts a context",
    "unsupported": "less than half of the claims are supported",
    "incomplete": "less than half of the reference is in the answer",
}
"""Why an answer fell short, by stage."""

NAMED = 4
"""The metrics named of a longer list."""


def summary_sentences(summary: "Summary") -> list[str]:
    """What was measured, which system is better, and what fails most and is missing."""
    return [" ".join(one) for one in (_measured(summary), _better(summary), _fails(summary)) if one]


def _measured(summary: "Summary") -> list[str]:
    questions = counted(summary.questions, "question")
    answers = counted(summary.examples, "answer" if summary.answered else "ranking")
    metrics = counted(summary.metrics, "metric")
    if len(summary.systems) < 2:
        return [f"{answers} to {questions}, {metrics}."]
    said = [f"{answers} by {len(summary.systems)} systems to {questions}, {metrics}."]
    said += [
        f"{system} answers with the references, so metrics that compare the two leave it out."
        for system in summary.themselves
    ]
    return said


def _better(summary: "Summary") -> list[str]:
    if not summary.tested:
        return []
    if summary.pair:
        return [_between(summary.pair)]
    metrics = counted(len(summary.tested), "metric")
    if len(summary.alike) == comb(len(summary.systems), 2):
        return [
            f"With {counted(summary.questions, 'question')}, no system is shown to be better than "
            f"another on any of {metrics}."
        ]
    parts = [_lead(one, len(summary.systems)) for one in summary.leads]
    if len(summary.alike) > 1:
        parts.append(f"{len(summary.alike):,} pairs cannot be told apart on any metric")
    else:
        parts += [f"{a} and {b} cannot be told apart on any metric" for a, b in summary.alike]
    if not summary.leads:
        parts.insert(0, f"no system is better than all others on any of {metrics}")
    said = "; ".join(parts)
    return [f"{said[0].upper() if not summary.leads else said[0]}{said[1:]}."]


def _lead(lead: "Lead", systems: int) -> str:
    are = "is" if len(lead.systems) == 1 else "are each"
    others = systems - len(lead.systems)
    whom = "the other" if others == 1 else "both others" if others == 2 else "all others"
    return f"{_named(lead.systems)} {are} better than {whom} on {_named(lead.metrics)}"


def _between(ones: Sequence["Comparison"]) -> str:
    a, b = ones[0].a, ones[0].b
    won = {verdict: [one for one in ones if one.verdict == verdict] for verdict in VERDICTS}
    parts = []
    if won["better"]:
        parts.append(f"{a} is better than {b} on {_of(won['better'], len(ones))}")
    if won["worse"]:
        parts.append(
            f"worse on {_of(won['worse'], len(ones))}" if parts
            else f"{b} is better than {a} on {_of(won['worse'], len(ones))}"
        )  # fmt: skip
    if won["equivalent"]:
        same = f"equivalent on {_named([one.metric for one in won['equivalent']])}"
        parts.append(same if parts else f"{a} and {b} are {same}")
    if not parts:
        pairs = counted(max(one.n_pairs for one in ones), "question")
        return (
            f"With {pairs}, {a} and {b} cannot be told apart on any of "
            f"{counted(len(ones), 'metric')}."
        )
    if won["cannot_tell"]:
        parts.append(f"not to be told apart on {len(won['cannot_tell']):,}")
    return f"{', '.join(parts[:-1])} and {parts[-1]}." if len(parts) > 1 else f"{parts[0]}."


VERDICTS = ("better", "worse", "equivalent", "cannot_tell")


def _of(ones: Sequence["Comparison"], metrics: int) -> str:
    """How many metrics, and the first with its difference over the questions of both systems."""
    first, *others = ones
    shown = first.metric
    if first.difference is not None:
        sign = 1 if first.difference > 0 else -1
        found = [sign * end for end in (first.low, first.high) if end is not None]
        inside = f"{ends(*sorted(found))}, " if found else ""
        pairs = counted(first.n_pairs, "question")
        shown += f" by {number(sign * first.difference)} ({inside}{pairs})"
    if metrics == 1:
        return shown
    more = f"; {_named([one.metric for one in others])}" if others else ""
    return f"{len(ones):,} of {counted(metrics, 'metric')} ({shown}{more})"


def _fails(summary: "Summary") -> list[str]:
    return list(_faults(summary)) + list(_missing(summary))


def _faults(summary: "Summary") -> Iterator[str]:
    found = summary.faults
    if found is None:
        return
    of = counted(found.judged, "answer")
    if not found.short:
        yield f"None of {of} falls short."
        return
    fall = "falls" if found.short == 1 else "fall"
    why = ""
    if found.stage:
        why = f", {'' if found.at_stage == found.short else 'most often '}because "
        why += f"{STAGES[found.stage]} ({found.at_stage:,})"
    yield f"{found.short:,} of {of} {fall} short{why}."


def _missing(summary: "Summary") -> Iterator[str]:
    if summary.missing:
        are = "is" if summary.missing == 1 else "are"
        yield f"{summary.missing:,} of {summary.possible:,} scores {are} missing."


def _named(names: Sequence[str]) -> str:
    """The names, or the first few with the number of the others."""
    if len(names) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
