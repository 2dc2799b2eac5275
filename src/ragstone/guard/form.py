"""Form: the checks that need no look at what the contexts say."""

import re
from math import fsum

from ragstone.core.messages import reason

from .answered import MOST_BRACKETS, Answered
from .assessment import (
    DANGLING_CITATION,
    EMPTY_ANSWER,
    FALLBACK_PHRASE,
    LOW_RETRIEVAL_SCORE,
    MISSING_CITATIONS,
    MISSING_LIST_STRUCTURE,
    NO_CONTEXT,
    AnswerSpan,
    CheckResult,
    CheckStatus,
    Issue,
)
from .checks import is_share
from .phrases import asks_for_a_list

_ORDERED = (
    r"(?i:step|schritt|étape|paso|passo|stap|fase|phase) \d{1,2}\b"
    r"|第?[一二三四五六七八九十]{1,2}[、.)]|ステップ ?\d{1,2}|步骤 ?\d{1,2}|[①-⑳]"
)
_LISTED = re.compile(
    r"^[ \t]*(?:(?:[-*+•·▪◦‣–—]|\(?\d{1,2}[.)、]|\(?[a-z]\))[ \t]*\S|\|[^\n|]*\||<li\b"
    rf"|[#* \t]{{0,8}}(?:{_ORDERED}))",
    re.MULTILINE,
)


def of_answer(one: Answered) -> CheckResult:
    """There is an answer: at least one letter or digit."""
    if one.empty:
        return failed("answer", EMPTY_ANSWER, reason("answer_is_empty"))
    return result("answer", "passed", reason("answer_given"))


def of_contexts(one: Answered) -> CheckResult:
    """There is a context that is not blank."""
    n = len(one.grounds.contexts)
    if one.grounds.fault is not None and not one.grounds.given:
        return result("contexts", "not_judged", one.grounds.fault)
    if not one.grounds.given:
        return failed("contexts", NO_CONTEXT, reason("no_contexts_given"), value=0.0)
    return result("contexts", "passed", reason("contexts_given", n=n), value=float(n))


def of_citations(one: Answered) -> CheckResult:
    """It cites; an answer that says nothing has nothing to cite."""
    n = len(one.markers)
    if n:
        spans = tuple(dict.fromkeys(one.span(*at) for at in _places(one)))
        return result("cites", "passed", reason("cites", n=n), value=float(n), spans=spans)
    if (why := _says_nothing(one)) is not None:
        return result("cites", "not_applicable", why)
    return failed("cites", MISSING_CITATIONS, reason("cites_nothing"), value=0.0)


def of_cited_contexts(one: Answered) -> CheckResult:
    """Every citation mark names a context."""
    if not one.markers:
        return result("cited_contexts", "not_applicable", reason("cites_nothing"))
    lost = [at for at, marker in zip(_places(one), one.markers, strict=True) if not marker.context]
    if lost and not one.grounds.whole:
        return result("cited_contexts", "not_judged", one.grounds.fault or "")
    if not lost and one.marks_cut:
        why = reason("marks_not_all_read", n=MOST_BRACKETS)
        return result("cited_contexts", "not_judged", why)
    if not lost:
        return result("cited_contexts", "passed", reason("all_cited_are_there"), value=0.0)
    spans = tuple(dict.fromkeys(one.span(*at) for at in lost))
    why = reason("cited_not_there", n=len(lost), marks=" ".join(span.text for span in spans[:5]))
    return failed("cited_contexts", DANGLING_CITATION, why, value=float(len(lost)), spans=spans)


def of_failure_phrases(one: Answered) -> CheckResult:
    """The whole answer is not just a failure message."""
    if one.empty:
        return result("failure_phrases", "not_applicable", reason("answer_is_empty"))
    if one.failure:
        whole = (one.span(0, len(one.answer)),)
        return failed("failure_phrases", FALLBACK_PHRASE, reason("is_a_failure"), spans=whole)
    return result("failure_phrases", "passed", reason("no_failure_message"))


def of_abstention(one: Answered) -> CheckResult:
    """It does not merely say that it does not know or will not tell."""
    if one.empty or one.failure:
        why = reason("answer_is_empty") if one.empty else reason("is_a_failure")
        return result("abstention", "not_applicable", why)
    kind, why = one.response
    if not one.silent:
        return result("abstention", "passed", reason("response_is", kind=kind, said=why))
    if one.abstain_ok:
        return result("abstention", "not_applicable", reason("may_abstain", said=why))
    return failed("abstention", FALLBACK_PHRASE, reason("response_is", kind=kind, said=why))


def of_retrieval_scores(one: Answered) -> CheckResult:
    """The mean retrieval score is high enough; scores on another scale say nothing."""
    least, name = one.checks.least_retrieval_score, "retrieval_scores"
    shares = [float(score) for score in one.scores or () if is_share(score)]
    if least is None or not shares or len(shares) < len(one.scores or ()):
        code = "no_retrieval_scores" if not one.scores else "scores_not_shares"
        return result(name, "not_applicable", reason(code), threshold=least)
    mean = fsum(shares) / len(shares)
    why = reason("mean_score", mean=f"{mean:.3g}", n=len(shares), least=f"{least:g}")
    if mean < least:
        return failed(name, LOW_RETRIEVAL_SCORE, why, value=mean, threshold=least)
    return result(name, "passed", why, value=mean, threshold=least)


def of_list_structure(one: Answered) -> CheckResult:
    """A question for a list is answered with one: bullets, numbers, or rows of a table."""
    if (why := _says_nothing(one)) is not None:
        return result("list_structure", "not_applicable", why)
    if not asks_for_a_list(one.question, one.checks.languages):
        return result("list_structure", "not_applicable", reason("no_list_asked"))
    lines = len(_LISTED.findall(one.answer))
    if lines:
        why = reason("list_lines", n=lines)
        return result("list_structure", "passed", why, value=float(lines))
    return failed("list_structure", MISSING_LIST_STRUCTURE, reason("no_list_lines"), value=0.0)


def result(
    check: str,
    status: CheckStatus,
    why: str,
    *,
    value: float | None = None,
    threshold: float | None = None,
    spans: tuple[AnswerSpan, ...] = (),
    issues: tuple[Issue, ...] = (),
) -> CheckResult:
    """What came of a check."""
    return CheckResult(check, status, value, threshold, why, spans, issues)


def failed(
    check: str,
    code: str,
    why: str,
    *,
    value: float | None = None,
    threshold: float | None = None,
    spans: tuple[AnswerSpan, ...] = (),
) -> CheckResult:
    """A check that failed for one reason."""
    issue = Issue(code, check, why, spans)
    return CheckResult(check, "failed", value, threshold, why, spans, (issue,))


def _says_nothing(one: Answered) -> str | None:
    """Why there is nothing to cite or to list."""
    if one.empty:
        return reason("answer_is_empty")
    if one.failure:
        return reason("is_a_failure")
    kind, why = one.response
    if one.silent or kind == "clarify":
        return reason("response_is", kind=kind, said=why)
    return None


def _places(one: Answered) -> list[tuple[int, int]]:
    return [(marker.place, marker.place + len(marker.text)) for marker in one.markers]
