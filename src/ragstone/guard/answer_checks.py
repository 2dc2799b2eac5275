"""Answer checks: each check of an answer's form, or of its claims against the contexts."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from math import fsum
from typing import Any, NamedTuple

from ragstone.core.messages import reason
from ragstone.judges.judge import STRINGS
from ragstone.judges.local.claim_support import SupportVerdict, support
from ragstone.judges.local.claims_and_evidence import LocatedClaim
from ragstone.judges.local.text_terms import terms

from .addresses import Place
from .assessment import AnswerSpan, CheckResult, CheckStatus, Issue, JudgedClaim
from .guard_input import LONGEST_SENTENCE, MOST_BRACKETS, Answered, asks_for_a_list, is_share
from .new_facts import LONGEST, new_names, new_numbers, new_numbers_of_headings
from .visible_text import unreadable

_ORDERED = (
    r"(?i:step|schritt|étape|paso|passo|stap|fase|phase) \d{1,2}\b"
    r"|第?[一二三四五六七八九十]{1,2}[、.)]|ステップ ?\d{1,2}|步骤 ?\d{1,2}|[①-⑳]"
)
_LISTED = re.compile(
    r"^[ \t]*(?:(?:[-*+•·▪◦‣–—]|\(?\d{1,2}[.)、]|\(?[a-z]\))[ \t]*\S|\|[^\n|]*\||<li\b"
    rf"|[#* \t]{{0,8}}(?:{_ORDERED}))",
    re.MULTILINE,
)


def of_answer(answered: Answered) -> CheckResult:
    """There is an answer: at least one letter or digit, and nothing beside text."""
    if (strange := unreadable(answered.written.text)) is not None:
        character = f"U+{ord(strange):04X}"
        return result("answer", "not_judged", reason("characters_not_text", character=character))
    if answered.empty:
        return failed("answer", "empty_answer", reason("answer_is_empty"))
    return result("answer", "passed", reason("answer_given"))


def of_contexts(answered: Answered) -> CheckResult:
    """There is a context that is not blank."""
    n = len(answered.grounds.contexts)
    if answered.grounds.fault is not None and not answered.grounds.given:
        return result("contexts", "not_judged", answered.grounds.fault)
    if not answered.grounds.given:
        return failed("contexts", "no_context", reason("no_contexts_given"), value=0.0)
    return result("contexts", "passed", reason("contexts_given", n=n), value=float(n))


def of_citations(answered: Answered) -> CheckResult:
    """It cites, if it has to; an answer that says nothing has nothing to cite."""
    n = len(answered.markers)
    if n:
        spans = tuple(dict.fromkeys(answered.span(*at) for at in _places(answered)))
        return result("cites", "passed", reason("cites", n=n), value=float(n), spans=spans)
    if (why := _says_nothing(answered)) is not None:
        return result("cites", "not_applicable", why)
    if not answered.checks.citations:
        return result("cites", "not_applicable", reason("cites_nothing"))
    return failed("cites", "missing_citations", reason("cites_nothing"), value=0.0)


def of_cited_contexts(answered: Answered) -> CheckResult:
    """Every citation mark names a context."""
    if not answered.markers:
        return result("cited_contexts", "not_applicable", reason("cites_nothing"))
    marked = zip(_places(answered), answered.markers, strict=True)
    lost = [at for at, marker in marked if not marker.context]
    if lost and not answered.grounds.whole:
        return result("cited_contexts", "not_judged", answered.grounds.fault or "")
    if not lost and answered.marks_cut:
        why = reason("marks_not_all_read", n=MOST_BRACKETS)
        return result("cited_contexts", "not_judged", why)
    if not lost:
        return result("cited_contexts", "passed", reason("all_cited_are_there"), value=0.0)
    spans = tuple(dict.fromkeys(answered.span(*at) for at in lost))
    why = reason("cited_not_there", n=len(lost), marks=" ".join(span.text for span in spans[:5]))
    return failed("cited_contexts", "dangling_citation", why, value=float(len(lost)), spans=spans)


def of_failure_phrases(answered: Answered) -> CheckResult:
    """The whole answer is not just a failure message."""
    if answered.empty:
        return result("failure_phrases", "not_applicable", reason("answer_is_empty"))
    if answered.failure:
        whole = (answered.span(0, len(answered.answer)),)
        return failed("failure_phrases", "fallback_phrase", reason("is_a_failure"), spans=whole)
    return result("failure_phrases", "passed", reason("no_failure_message"))


def of_abstention(answered: Answered) -> CheckResult:
    """It does not merely say that it does not know or will not tell."""
    if answered.empty or answered.failure:
        why = reason("answer_is_empty") if answered.empty else reason("is_a_failure")
        return result("abstention", "not_applicable", why)
    kind, why = answered.response
    if not answered.silent:
        return result("abstention", "passed", reason("response_is", kind=kind, said=why))
    if answered.abstain_ok:
        return result("abstention", "not_applicable", reason("may_abstain", said=why))
    return failed("abstention", "fallback_phrase", reason("response_is", kind=kind, said=why))


def of_retrieval_scores(answered: Answered) -> CheckResult:
    """The mean retrieval score is high enough; scores on another scale say nothing."""
    least, name = answered.checks.least_retrieval_score, "retrieval_scores"
    shares = [float(score) for score in answered.scores or () if is_share(score)]
    if least is None or not shares or len(shares) < len(answered.scores or ()):
        code = "no_retrieval_scores" if not answered.scores else "scores_not_shares"
        return result(name, "not_applicable", reason(code), threshold=least)
    mean = fsum(shares) / len(shares)
    why = reason("mean_score", mean=f"{mean:.3g}", n=len(shares), least=f"{least:g}")
    if mean < least:
        return failed(name, "low_retrieval_score", why, value=mean, threshold=least)
    return result(name, "passed", why, value=mean, threshold=least)


def of_list_structure(answered: Answered) -> CheckResult:
    """A question for a list is answered with one: bullets, numbers, or rows of a table."""
    if (why := _says_nothing(answered)) is not None:
        return result("list_structure", "not_applicable", why)
    if not asks_for_a_list(answered.question, answered.checks.languages):
        return result("list_structure", "not_applicable", reason("no_list_asked"))
    lines = len(_LISTED.findall(answered.answer))
    if lines:
        why = reason("list_lines", n=lines)
        return result("list_structure", "passed", why, value=float(lines))
    return failed("list_structure", "missing_list_structure", reason("no_list_lines"), value=0.0)


def result(check: str, status: CheckStatus, why: str, **more: Any) -> CheckResult:
    """Return what came of a check; ``more`` are fields of ``CheckResult``."""
    return CheckResult(check, status, reason=why, **more)


def failed(check: str, code: str, why: str, **more: Any) -> CheckResult:
    """Return what came of a check that failed for one reason."""
    issue = Issue(code, check, why, more.get("spans", ()))
    return CheckResult(check, "failed", reason=why, issues=(issue,), **more)


def _says_nothing(answered: Answered) -> str | None:
    """Return why there is nothing to cite, to list or, but for a question back, to judge."""
    if answered.empty:
        return reason("answer_is_empty")
    if answered.failure:
        return reason("is_a_failure")
    kind, why = answered.response
    if answered.silent or kind == "clarify":
        return reason("response_is", kind=kind, said=why)
    return None


def _places(answered: Answered) -> list[tuple[int, int]]:
    return [(marker.place, marker.place + len(marker.text)) for marker in answered.markers]


# The factor on the least support for the mean of very many claims, which varies less than one.
OF_MANY = 0.7

# At most this many new numbers, names or addresses are shown in their places, and counted.
MOST_PLACES, MOST_COUNTED = 100, 1_000


class ClaimVerdict(NamedTuple):
    """A judge's word on one claim; see ``JudgedClaim`` for what its fields mean."""

    verdict: str | None
    probability: float | None
    reason: str
    evidence: tuple[str, ...] = ()
    quote: str | None = None


# A verdict for each claim; or, as a reason, why there are none.
ClaimVerdicts = Sequence[ClaimVerdict] | str


@dataclass(frozen=True)
class ClaimsJudge:
    """Judges the claims of one answer.

    Attributes:
        name: Written to every claim that it judged.
        parts: Versions of what its numbers depend on.
        verdicts: Judges claims of the answer.
    """

    name: str
    parts: Sequence[str]
    verdicts: Callable[[Answered, Sequence[LocatedClaim]], ClaimVerdicts]


@dataclass(frozen=True, slots=True)
class Grounded:
    """The claims of an answer, judged, in its order.

    Attributes:
        seen: For each claim what the local judge counted; None where it counted nothing.
        fault: Why not all of the answer's are there or judged; None if they are.
        unseen: Why the local judge did not see all of them; None if it did.
        late: Why the judge that was wanted did not judge; None if it did, or none was wanted.
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
        if self.fault is not None:
            return None
        return min(map(probability_of, self.claims), default=None)


def ground(answered: Answered, judge: ClaimsJudge | None = None) -> Grounded:
    """Judge the claims of an answer until its deadline.

    The local judge goes first, for it takes milliseconds and answers in the place of another one
    that is too late or gone. An answer that says nothing makes no claims.
    """
    if (nothing := nothing_grounded(answered)) is not None:
        return nothing
    located, seen, unseen = _judged_in_time(answered)
    fault = unseen
    verdicts, name, late = [local_verdict(verdict, answered) for verdict in seen], STRINGS, None
    if judge is not None and located:
        judged = judge.verdicts(answered, located)
        if isinstance(judged, str):
            late = judged
        else:
            verdicts, name = list(judged), judge.name
            lost = next((word.reason for word in verdicts if word.verdict is None), None)
            fault = unseen if lost is None else reason("claims_left_open", said=lost)
    claims = tuple(
        JudgedClaim(answered.span(claim.start, claim.end), *word, name)
        for claim, word in zip(located, verdicts, strict=True)
    )
    return Grounded(claims, tuple(seen), fault, unseen, late, name)


def nothing_grounded(answered: Answered) -> Grounded | None:
    """Return the judged claims of an answer that makes none or has nothing to be judged by."""
    if answered.empty or answered.failure or answered.silent:
        return Grounded()
    grounds = answered.grounds
    if grounds.unread is not None or not grounds.given:
        return Grounded(fault=grounds.unread, unseen=grounds.unread)
    return None


def of_groundedness(answered: Answered, grounded: Grounded) -> CheckResult:
    """The contexts support the claims, with a mean probability that is high enough."""
    name, least = "groundedness", answered.checks.least_support
    assert least is not None
    if (why := _nothing_to_ground(answered, grounded)) is not None:
        return result(name, "not_applicable", why, threshold=least)
    if grounded.fault is not None:
        return result(name, "not_judged", grounded.fault, threshold=least)
    n = answered.so_far.n_claims + len(grounded.claims)
    mean = fsum((answered.so_far.support, *map(probability_of, grounded.claims))) / n
    least *= OF_MANY + (1 - OF_MANY) / n
    worst = min(grounded.claims, key=probability_of)
    why = reason("mean_support", n=n, mean=f"{mean:.3f}", least=f"{least:.3f}")
    passed = result(name, "passed", why, value=mean, threshold=least, spans=(worst.span,))
    if mean >= least:
        return passed
    code = "contradicted_sentence" if worst.verdict == "contradicted" else "unsupported_sentence"
    return replace(passed, status="failed", issues=(Issue(code, name, why, passed.spans),))


def of_numbers(answered: Answered, grounded: Grounded) -> CheckResult:
    """Every number of a claim or a heading stands in a context or in the question."""
    known = answered.grounds.unread is None
    heads = new_numbers_of_headings(answered.plain, answered.sources) if known else ()
    find = partial(new_numbers, sources=answered.sources)
    return _of_new(answered, grounded, "numbers", "new_number", find, heads)


def of_names(answered: Answered, grounded: Grounded) -> CheckResult:
    """Every name of a claim stands in a context or in the question."""
    find = partial(new_names, sources=answered.sources, small=answered.so_far.small)
    return _of_new(answered, grounded, "names", "new_name", find)


def of_links(answered: Answered) -> CheckResult:
    """Every address stands in a context or in the question."""
    if not answered.addresses and not answered.cut:
        return result("links", "not_applicable", reason("no_links"))
    new = (
        answered.span(*span)
        for span, key in answered.addresses
        if not any(source.has_address(key) for source in answered.sources)
    )
    return _new("links", "new_link", new, answered, answered.grounds.unread)


def probability_of(claim: JudgedClaim) -> float:
    """Return the probability of support; of a judge that gives only verdicts 1 or 0."""
    return float(claim.verdict == "supported") if claim.probability is None else claim.probability


def _judged_in_time(
    answered: Answered,
) -> tuple[list[LocatedClaim], list[SupportVerdict | None], str | None]:
    """Judge claims until the deadline, and say why these are not all."""
    located: list[LocatedClaim] = []
    seen: list[SupportVerdict | None] = []
    bare: list[tuple[LocatedClaim, SupportVerdict]] = []
    with_content = False
    fault = None
    for number, claim in enumerate(answered.each_claim()):
        if answered.deadline.passed:
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
        verdict = support(claim.text, answered.grounds.passages, answered.question or None)
        if verdict.seen is None and not terms(claim.text):
            bare.append((claim, verdict))
            continue
        located.append(claim)
        seen.append(verdict)
    if not located and not with_content:
        # As for the metrics: a bare `Yes.` is a claim only where there is no other.
        located, seen = [claim for claim, _ in bare], [verdict for _, verdict in bare]
    return located, seen, fault


def local_verdict(verdict: SupportVerdict | None, answered: Answered) -> ClaimVerdict:
    """Return the local judge's word on a claim, as one of any judge; None if it was not asked."""
    if verdict is None:
        return ClaimVerdict(None, None, reason("sentence_too_long", most=LONGEST_SENTENCE))
    ids = tuple(answered.grounds.contexts[position].id for position in verdict.evidence)
    return ClaimVerdict(verdict.verdict, verdict.probability, verdict.reason, ids, verdict.quote)


def _nothing_to_ground(answered: Answered, grounded: Grounded) -> str | None:
    if answered.empty or answered.failure or answered.silent:
        return _says_nothing(answered)
    if grounded.fault is not None or grounded.claims:
        return None
    return reason("no_claims_made") if answered.grounds.given else reason("no_contexts_given")


def _of_new(
    answered: Answered,
    grounded: Grounded,
    name: str,
    code: str,
    new: Callable[[str], Iterable[Place]],
    beside: Iterable[Place] = (),
) -> CheckResult:
    """Check each claim, and ``beside`` them, for new facts."""
    why = _nothing_to_ground(answered, grounded)
    others = list(islice(beside, MOST_COUNTED)) if why in (None, reason("no_claims_made")) else []
    if why is not None and not others:
        return result(name, "not_applicable", why)
    claims = (
        (answered.written.place(claim.span.start), answered.written.place(claim.span.end))
        for claim, verdict in zip(grounded.claims, grounded.seen, strict=True)
        if verdict is not None
    )
    in_claims = (
        (first + start, first + end)
        for first, last in claims
        for start, end in new(answered.plain[first:last])
    )
    places = (answered.span(*span) for span in chain(others, in_claims))
    return _new(name, code, places, answered, None, grounded.unseen)


def _new(
    name: str,
    code: str,
    new: Iterable[AnswerSpan],
    answered: Answered,
    unknown: str | None,
    unseen: str | None = None,
) -> CheckResult:
    """Return what came of a check for new facts.

    ``unknown`` is why what seems new may be known all the same, None if it is new; ``unseen`` why
    not all of the answer was looked through, None if all was.
    """
    if spans := tuple(islice(new, MOST_COUNTED)):
        if unknown is not None:
            return result(name, "not_judged", unknown)
        words = ", ".join(span.text for span in spans[:5])
        why = reason("new_in_answer", what=name, n=len(spans), words=words)
        return failed(name, code, why, value=float(len(spans)), spans=spans[:MOST_PLACES])
    if answered.cut:
        unseen = unseen or reason("answer_too_long", most=LONGEST)
    if unseen is not None:
        return result(name, "not_judged", unseen)
    return result(name, "passed", reason("nothing_new", what=name), value=0.0)
