"""Answer checks: each check of an answer's form, or of its claims against the contexts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Protocol

from ragstone.core.messages import reason
from ragstone.judges.judge import STRINGS
from ragstone.judges.local.claim_support import SupportVerdict
from ragstone.judges.local.claims_and_evidence import LocatedClaim
from ragstone.judges.local.text_terms import as_written, stem_or_none, terms, tokens

from .assessment import (
    CONTRADICTED_SENTENCE,
    DANGLING_CITATION,
    EMPTY_ANSWER,
    FALLBACK_PHRASE,
    LOW_RETRIEVAL_SCORE,
    MISSING_CITATIONS,
    MISSING_LIST_STRUCTURE,
    NEW_NAME,
    NEW_NUMBER,
    NO_CONTEXT,
    UNSUPPORTED_SENTENCE,
    AnswerSpan,
    CheckResult,
    CheckStatus,
    Issue,
    JudgedClaim,
)
from .guard_input import LONGEST_SENTENCE, MOST_BRACKETS, Answered, asks_for_a_list, is_share

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


CONTRADICTED = "contradicted"

MOST_PLACES = 100
"""New numbers or names that are shown where they stand; the others are only counted."""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """What a judge says to one claim.

    Attributes:
        verdict: ``supported``, ``contradicted`` or ``absent``; None if it could not say.
        probability: That the contexts support it; None if the judge gives only verdicts.
        reason: Why.
        evidence: Ids of the contexts it rests on.
        quote: A sentence of the first of them.
    """

    verdict: str | None
    probability: float | None
    reason: str
    evidence: tuple[str, ...] = ()
    quote: str | None = None


class ClaimsJudge(Protocol):
    """Judges the claims of one answer in time, or not at all."""

    @property
    def name(self) -> str:
        """Written to every claim that it judged."""

    @property
    def parts(self) -> Sequence[str]:
        """Versions of what its numbers depend on."""

    def verdicts(
        self, one: Answered, claims: Sequence[LocatedClaim]
    ) -> "Sequence[ClaimVerdict] | str":
        """A verdict for each claim; or, as a reason, why there are none."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """The claims of an answer, judged.

    Attributes:
        claims: In the order of the answer.
        seen: For each what the local judge counted; None where it counted nothing.
        fault: Why not all of the answer's are there or judged; None if they are.
        unseen: Why the local judge did not see all of them; None if it did.
        late: Why the judge that was wanted did not judge; None if it did, or none was wanted.
        judge: Who judged.
    """

    claims: tuple[JudgedClaim, ...] = ()
    seen: tuple[SupportVerdict | None, ...] = ()
    fault: str | None = None
    unseen: str | None = None
    late: str | None = None
    judge: str = STRINGS

    @property
    def confidence(self) -> float | None:
        """The lowest probability of support; None without claims or if one is not judged."""
        known = [_probability(claim) for claim in self.claims]
        said = [one for one in known if one is not None]
        return min(said) if said and len(said) == len(known) and self.fault is None else None


def ground(one: Answered, judge: ClaimsJudge | None = None) -> Grounded:
    """Judge the claims of an answer until its deadline.

    The local judge goes first, for it takes milliseconds and answers in the place of another one
    that is too late or gone. An answer that says nothing makes no claims.
    """
    if one.empty or one.failure or one.silent:
        return Grounded()
    if one.grounds.unread is not None or not one.grounds.given:
        return Grounded(fault=one.grounds.unread, unseen=one.grounds.unread)
    located, seen, unseen = _judged_in_time(one)
    fault = unseen
    verdicts, name, late = [told(verdict, one) for verdict in seen], STRINGS, None
    if judge is not None and located:
        answered = judge.verdicts(one, located)
        if isinstance(answered, str):
            late = answered
        else:
            verdicts, name = list(answered), judge.name
            lost = next((said.reason for said in verdicts if said.verdict is None), None)
            fault = unseen if lost is None else reason("claims_left_open", said=lost)
    claims = tuple(
        JudgedClaim(
            one.span(claim.start, claim.end),
            said.verdict,
            said.probability,
            said.reason,
            said.evidence,
            said.quote,
            name,
        )
        for claim, said in zip(located, verdicts, strict=True)
    )
    return Grounded(claims, tuple(seen), fault, unseen, late, name)


def of_groundedness(one: Answered, found: Grounded) -> CheckResult:
    """The contexts support every claim."""
    name, least = "groundedness", one.checks.least_support
    assert least is not None
    if (why := _nothing_to_ground(one, found)) is not None:
        return result(name, "not_applicable", why, threshold=least)
    against = [claim for claim in found.claims if claim.verdict == CONTRADICTED]
    without = [
        claim
        for claim in found.claims
        if claim.verdict != CONTRADICTED and not is_supported(claim, least)
    ]
    issues = tuple(
        Issue(
            code,
            name,
            reason(why, n=len(claims), of_n=len(found.claims)),
            tuple(claim.span for claim in claims),
        )
        for code, why, claims in (
            (UNSUPPORTED_SENTENCE, "unsupported_sentences", without),
            (CONTRADICTED_SENTENCE, "contradicted_sentences", against),
        )
        if claims
    )
    value = found.confidence
    if issues:
        bad = sorted((*without, *against), key=lambda claim: claim.span.start)
        spans = tuple(claim.span for claim in bad)
        failing = result(
            name, "failed", issues[0].reason, value=value, threshold=least, spans=spans
        )
        return replace(failing, issues=issues)
    if found.fault is not None:
        return result(name, "not_judged", found.fault, value=value, threshold=least)
    why = reason("all_supported", n=len(found.claims))
    return result(name, "passed", why, value=value, threshold=least)


def of_numbers(one: Answered, found: Grounded) -> CheckResult:
    """Every number of a claim stands in a context or in the question."""
    return _of_new(one, found, "numbers", NEW_NUMBER)


def of_names(one: Answered, found: Grounded) -> CheckResult:
    """Every name of a claim stands in a context or in the question."""
    return _of_new(one, found, "names", NEW_NAME)


def is_supported(claim: JudgedClaim, least: float) -> bool:
    """Whether a claim passes, or is not judged and so cannot fail."""
    probability = _probability(claim)
    return probability is None or (claim.verdict != CONTRADICTED and probability >= least)


def _probability(claim: JudgedClaim) -> float | None:
    """The probability of support; of a judge that gives only verdicts 1 or 0."""
    if claim.verdict is None or claim.probability is not None:
        return claim.probability
    return float(claim.verdict == "supported")


def _judged_in_time(
    one: Answered,
) -> tuple[list[LocatedClaim], list[SupportVerdict | None], str | None]:
    """The claims that could be judged before the deadline, and why these are not all."""
    located: list[LocatedClaim] = []
    seen: list[SupportVerdict | None] = []
    bare: list[tuple[LocatedClaim, SupportVerdict]] = []
    with_content = False
    fault = None
    for number, claim in enumerate(one.each_claim()):
        if one.deadline.passed:
            return located, seen, reason("sentences_not_judged_in_time", n=number)
        if claim is None:
            continue
        if not claim.factual:
            with_content = with_content or bool(terms(claim.text))
            continue
        if len(claim.text) > LONGEST_SENTENCE:
            fault = reason("sentence_too_long", most=LONGEST_SENTENCE)
            located.append(claim)
            seen.append(None)
            continue
        verdict = one.grounds.judge(claim.text, one.question or None)
        if verdict.seen is None and not terms(claim.text):
            bare.append((claim, verdict))
            continue
        located.append(claim)
        seen.append(verdict)
    if not located and not with_content:
        # As for the metrics: a bare `Yes.` is a claim only where there is no other.
        located, seen = [claim for claim, _ in bare], [verdict for _, verdict in bare]
    return located, seen, fault


def told(verdict: SupportVerdict | None, one: Answered) -> ClaimVerdict:
    """What the local judge says to a claim; None if it was not asked."""
    if verdict is None:
        return ClaimVerdict(None, None, reason("sentence_too_long", most=LONGEST_SENTENCE))
    ids = tuple(one.grounds.contexts[place].id for place in verdict.evidence)
    return ClaimVerdict(verdict.verdict, verdict.probability, verdict.reason, ids, verdict.quote)


def _nothing_to_ground(one: Answered, found: Grounded) -> str | None:
    if one.empty:
        return reason("answer_is_empty")
    if one.failure:
        return reason("is_a_failure")
    if one.silent:
        kind, why = one.response
        return reason("response_is", kind=kind, said=why)
    if found.fault is not None or found.claims:
        return None
    return reason("no_claims_made") if one.grounds.given else reason("no_contexts_given")


def _of_new(one: Answered, found: Grounded, name: str, code: str) -> CheckResult:
    if (why := _nothing_to_ground(one, found)) is not None:
        return result(name, "not_applicable", why)
    asked = set(tokens(one.question[:LONGEST_SENTENCE]))
    asked |= {stem for token in asked if (stem := stem_or_none(token))}
    new = [
        (word, claim.span)
        for claim, verdict in zip(found.claims, found.seen, strict=True)
        if verdict is not None and verdict.seen is not None
        for word in (verdict.seen.new_numbers if code == NEW_NUMBER else verdict.seen.new_names)
        if word not in asked
    ]
    if new:
        spans = tuple(_span(word, within, one) for word, within in new[:MOST_PLACES])
        words = ", ".join(span.text for span in spans[:5])
        why = reason("new_in_answer", what=name, n=len(new), words=words)
        return failed(name, code, why, value=float(len(new)), spans=spans)
    if found.unseen is not None:
        return result(name, "not_judged", found.unseen)
    return result(name, "passed", reason("nothing_new", what=name), value=0.0)


def _span(word: str, within: AnswerSpan, one: Answered) -> AnswerSpan:
    """Where a folded word first stands in a claim; the whole claim if that cannot be told."""
    written = as_written([word], within.text)
    at = within.text.find(written)
    if at < 0:
        return within
    return one.span(within.start + at, within.start + at + len(written))
