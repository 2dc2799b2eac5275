"""Stages: what the stages of the failure waterfall are called, and when an answer fails at one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragstone.report.figures import counted

if TYPE_CHECKING:
    # Deciding takes a quarter of a second to import; who shows a page has decided already.
    from ragstone.analysis.summaries.failure_stages import Faults

FELL_SHORT = (
    "An answer fell short where its outcome is not correct, or its faithfulness or its coverage of "
    "the reference is below .5."
)
COUNTED = (
    "It counts once, at the first stage that holds, from top to bottom. A stage whose metric has "
    "no value for an answer does not hold there."
)

NAMES: Mapping[str, str] = {
    "not_in_corpus": "not in the corpus",
    "nothing_retrieved": "nothing retrieved",
    "not_retrieved": "not retrieved",
    "retrieved_too_low": "retrieved too low",
    "not_used": "not used",
    "contradicted": "contradicted",
    "unsupported": "unsupported",
    "incomplete": "incomplete",
    "bad_reference": "bad reference",
    "other": "other",
    "no_fault": "no fault",
}
"""The name of each stage, and of what is at none."""

BECAUSE: Mapping[str, str] = {
    "not_in_corpus": "none of the contexts judged for the question is relevant",
    "nothing_retrieved": "nothing was retrieved",
    "not_retrieved": "less than half of the reference is in the contexts",
    "retrieved_too_low": "the first context is not relevant",
    "not_used": "no supported claim rests on a relevant context",
    "contradicted": "a claim contradicts a context",
    "unsupported": "less than half of the claims are supported",
    "incomplete": "less than half of the reference is in the answer",
    "bad_reference": "the contexts support every claim and contradict the reference",
}
"""Why an answer fell short, by stage."""


def faults_sentence(found: "Faults", *, others: bool = False) -> str:
    """How many answers fell short, and most often why.

    Args:
        found: The numbers.
        others: Whether answers that are the references are left out.
    """
    of = counted(found.judged, "other answer" if others else "answer")
    if not found.short:
        return f"None of {of} falls short."
    fall = "falls" if found.short == 1 else "fall"
    why = ""
    if found.stage:
        most = "" if found.at_stage == found.short else "most often "
        why = f", {most}because {BECAUSE[found.stage]} ({found.at_stage:,})"
    if found.stage and found.at_stage < found.short - found.staged:
        why = f"; a cause is found for {found.staged:,}"
        most = "" if found.at_stage == found.staged else "most often "
        why += f", {most}that {BECAUSE[found.stage]} ({found.at_stage:,})"
    return f"{found.short:,} of {of} {fall} short{why}."
