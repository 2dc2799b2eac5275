"""Guard input: question, answer, contexts, checks, deadline, and the phrases of each language."""

import re
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from itertools import islice
from math import isfinite
from numbers import Real
from typing import Any, TypeGuard
from uuid import UUID

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.data import Context
from ragstone.data.contexts import ranked_contexts
from ragstone.data.json_text import Problem
from ragstone.data.pictures import without_picture
from ragstone.data.thoughts import answer_and_thoughts
from ragstone.judges import MARKERS
from ragstone.judges.local.claim_support import SUPPORTED
from ragstone.judges.local.claims_and_evidence import NO_CLAIMS, LocatedClaim, Passages, each_claim
from ragstone.judges.local.response_type import response_type
from ragstone.judges.local.sentences import sentences
from ragstone.judges.markers import Marker, each_marker, places

from .addresses import Place
from .assessment import AnswerSpan
from .new_facts import AnswerSoFar, KnownText
from .visible_text import WrittenText, as_read, as_read_context, as_text

FILE = "phrases.toml"
# A longer answer is more than a failure message.
LONGEST_MESSAGE = 400
# Characters of a question that are looked through for a request.
LONGEST_QUESTION = 4_000

_PLAIN = str.maketrans("’‘ʼ＇´“”\u00a0", "'''''\"\" ")
_ENDS = " \t.!?…。！？,;:'\")]"
_MARKED = re.compile(r"[\[［][^\[\]［］\n]{1,60}[\]］]|【[^【】\n]{1,60}】|<sup>\d{1,3}</sup>")
_DIGITS = r"[2-9]|[1-9]\d"
# After a number that counts nothing that could be listed: `50 %`, `24/7`, `two-factor`.
_NO_COUNT = (
    r"(?!\d|[-/%:.,]\S| ?(?:%|k\b|(?:minutes?|seconds?|hours?|days?|weeks?|months?|years?|percent"
    r"|dollars?|euros?)\b))"
)

_TABLES = tomllib.loads(files(__package__).joinpath(FILE).read_text(encoding="utf-8"))

# The languages that are known, by their two letters.
LANGUAGES: tuple[str, ...] = tuple(_TABLES)

_FAILURES = {
    language: tuple(re.compile(rf"\A(?:{pattern})\Z") for pattern in table["failure"])
    for language, table in _TABLES.items()
}
_LISTS = {
    language: tuple(
        re.compile(
            rf"\A(?:{pattern})".replace("NUMBER", f"(?:{table['number']}|{_DIGITS}){_NO_COUNT}")
        )
        for pattern in table["list"]
    )
    for language, table in _TABLES.items()
}
_LIST_FORMS = {
    language: tuple(map(re.compile, table["list_form"])) for language, table in _TABLES.items()
}


def asks_for_a_list(question: str, languages: Sequence[str] | None = None) -> bool:
    """Tell whether a question asks for its answer as a list.

    >>> asks_for_a_list("List the top 3 films"), asks_for_a_list("What is the list price?")
    (True, False)
    """
    text = _plain(question[:LONGEST_QUESTION])
    starts = [part.text for part in sentences(text)]
    return any(
        any(pattern.match(start) for start in starts for pattern in _LISTS[language])
        or any(form.search(text) for form in _LIST_FORMS[language])
        for language in languages or LANGUAGES
    )


def _plain(text: str) -> str:
    return " ".join(text.translate(_PLAIN).lower().split(" "))


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of an answer, and the values from which on it passes.

    That there is an answer and a context is always checked.

    Args:
        citations: Whether the answer must cite its contexts; None: it need not, but it is told
            whether it does. Marks that name no context are found whatever this is.
        citation_pattern: Regular expression that finds citation marks.
        failure_phrases: Further regular expressions for answers that are nothing but a failure
            message. The whole answer must match, without regard to case.
        languages: Languages whose built-in failure messages and list questions are known; None:
            all there are.
        least_retrieval_score: The least mean of the retrieval scores, from 0 to 1; None: it is
            not checked.
        lists: Whether a question for a list must be answered with one.
        least_support: The least probability, from 0 to 1, that the contexts support the claim of
            an answer that makes one. Of n claims the mean must be at least .7 + .3/n of it. None:
            groundedness is not checked.
        numbers: Whether numbers that neither contexts nor question have are named.
        names: The same for names.
        links: The same for addresses, and for HTML that runs by itself.
        keep_thoughts: Whether thoughts in think tags are part of the answer.

    Raises:
        InputError: Lists every value that cannot be used.
    """

    citations: bool | None = None
    citation_pattern: str = MARKERS
    failure_phrases: Sequence[str] = ()
    languages: Sequence[str] | None = None
    least_retrieval_score: float | None = 0.25
    lists: bool = True
    least_support: float | None = SUPPORTED
    numbers: bool = True
    names: bool = True
    links: bool = True
    keep_thoughts: bool = False

    def __post_init__(self) -> None:
        for name in ("failure_phrases", "languages"):
            texts = getattr(self, name)
            if isinstance(texts, str):
                object.__setattr__(self, name, (texts,))
            elif isinstance(texts, Iterable):
                object.__setattr__(self, name, tuple(texts))
            elif texts is not None:
                raise InputError(f"Checks: {name} is {texts!r}; it must be a list of texts.")
        faults = []
        patterns = [("citation_pattern", self.citation_pattern)]
        patterns += [("failure_phrases", phrase) for phrase in self.failure_phrases]
        for name, pattern in patterns:
            try:
                re.compile(pattern)
            except (re.error, TypeError) as error:
                faults.append(f"{name} {pattern!r} is no regular expression: {error}.")
        for name in ("least_retrieval_score", "least_support"):
            value = getattr(self, name)
            if value is not None and not is_share(value):
                expected = "it must be from 0 to 1, or None to leave it out"
                faults.append(f"{name} is {value!r}; {expected}.")
        for language in self.languages or ():
            if language not in LANGUAGES:
                known = f"there are {', '.join(LANGUAGES)}"
                faults.append(f"languages: {language!r} is not known; {known}.")
        if faults:
            raise InputError("Checks: " + " ".join(faults))


def is_share(value: object) -> TypeGuard[Real]:
    """Tell whether a value is a number from 0 to 1, also one of numpy."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return _is_finite(value) and 0 <= float(value) <= 1


def _is_finite(value: Real) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


class Deadline:
    """A moment after which nothing new is begun. Whoever works in a loop asks it once a turn.

    Args:
        seconds: From now.
        clock: Gives seconds; another one for tests.
    """

    __slots__ = ("_clock", "_end")

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    @property
    def passed(self) -> bool:
        """``True`` if it is over."""
        return self._clock() >= self._end

    @property
    def left(self) -> float:
        """The seconds that are left; 0 if it is over."""
        return max(0.0, self._end - self._clock())


# Contexts of one answer; no judge could read more of them while somebody waits.
MOST_CONTEXTS = 20_000

INCOMPLETE = ("contexts_not_listed", "contexts_unreadable")

# Characters; a longer one is not judged, for nothing can interrupt the work on one sentence.
LONGEST_SENTENCE = 20_000


@dataclass(frozen=True)
class ReadContexts:
    """Contexts that were read once, for all answers that are to be judged by them.

    Attributes:
        contexts: In rank order.
        passages: Their sentences and words, as far as they were read.
        fault: Why they could not be read at all, or only in part; None if all is well.
    """

    contexts: tuple[Context, ...]
    passages: Passages
    fault: str | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The text of each context; empty where it has none."""
        return tuple(context.text or "" for context in self.contexts)

    @cached_property
    def source(self) -> KnownText:
        """The names, numbers and addresses of the contexts."""
        return KnownText(self.texts, self.passages, [context.id for context in self.contexts])

    @property
    def given(self) -> bool:
        """``True`` if any context is not blank."""
        return any(context.text is None or context.text.strip() for context in self.contexts)

    @property
    def whole(self) -> bool:
        """``True`` if every context is there, be it read or not."""
        return self.fault is None or self.fault.partition("?")[0] not in INCOMPLETE

    @property
    def unread(self) -> str | None:
        """The reason that nothing can be judged by them, although there are some."""
        if self.fault is not None:
            return self.fault
        if self.contexts and all(context.text is None for context in self.contexts):
            return reason("no_context_text")
        return None


def read_contexts(raw: object, deadline: Deadline) -> ReadContexts:
    """Read contexts; those that cannot be read, or not in time, are told by ``fault``.

    ``raw`` are texts, mappings with ``text`` and ``id``, or ``Context``s; one of them alone; or
    contexts that were read already. None: there are none.
    """
    if isinstance(raw, ReadContexts):
        return raw
    contexts, fault = _contexts(raw, deadline)
    contexts = tuple(as_read_context(without_picture(context)) for context in contexts)
    passages = Passages(())
    for position, context in enumerate(contexts):
        for _ in passages.reading(position, context.text or ""):
            if deadline.passed:
                fault = reason("contexts_not_read_in_time", n=position, of_n=len(contexts))
                return ReadContexts(contexts, passages, fault)
    return ReadContexts(contexts, passages, fault)


def _contexts(raw: object, deadline: Deadline) -> tuple[tuple[Context, ...], str | None]:
    if raw is None:
        return (), None
    if isinstance(raw, str | bytes | bytearray | Mapping | Context):
        raw = [raw]
    if not isinstance(raw, Iterable):
        return (), reason("contexts_unreadable", said=type(raw).__name__)
    listed, fault = list[object](), None
    for item in raw:
        # It may be a generator that is slow, or has no end.
        if len(listed) == MOST_CONTEXTS or deadline.passed:
            fault = reason("contexts_not_listed", n=len(listed))
            break
        listed.append(item)
    whole = tuple(item for item in listed if isinstance(item, Context))
    if len(whole) == len(listed):
        return whole, fault
    plain = list(map(_plain_context, listed))
    problems: list[Problem] = []
    contexts, order = ranked_contexts(plain, None, problems, graded=False)
    if any(isinstance(item, dict) for item in plain) and len(contexts) == len(plain):
        contexts = _with_own_ids(contexts, plain if order is None else [plain[i] for i in order])
        # Here several contexts may have one id, as the chunks of one document have.
        problems = [p for p in problems if "that no other context" not in p.expected]
    if fault is None and problems:
        fault = reason("contexts_unreadable", said=problems[0].expected)
    return contexts, fault


def _with_own_ids(contexts: Sequence[Context], items: Sequence[Any]) -> tuple[Context, ...]:
    """Return the contexts with the ids that they came with, by which an answer may cite them."""
    renamed = []
    for context, item in zip(contexts, items, strict=True):
        alone, _ = ranked_contexts([item], None, [], graded=False)
        has_id = isinstance(item, dict) and alone and alone[0].id != "1"
        renamed.append(replace(context, id=alone[0].id) if has_id else context)
    return tuple(renamed)


def _plain_context(item: object) -> Any:
    """Make an item what the reader takes: a missing one blank, a score that is none None."""
    if item is None:
        return ""
    if isinstance(item, bytes | bytearray):
        return as_text(item)
    if isinstance(item, Context):
        return {"id": item.id, "text": item.text, "score": item.score}
    if isinstance(item, str):
        return str(item)
    if not isinstance(item, Mapping):
        return item
    plain = {name: str(it) if isinstance(it, UUID) else it for name, it in item.items()}
    if "score" in plain:
        score = plain["score"]
        known = isinstance(score, Real) and not isinstance(score, bool) and _is_finite(score)
        plain["score"] = float(score) if known else None
    return plain


# Of an answer that are looked at for citations, so that no answer takes long.
MOST_BRACKETS = 5_000

_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Answered:
    """One question with its answer and contexts, and the settings by which it is checked.

    Attributes:
        answer: As a reader sees it, with spaces for its thoughts; empty if there is none.
        written: The same as it is going to be given.
        thoughts: Whether it had thoughts in think tags.
        grounds: The contexts.
        so_far: What is known of the answer up to its end.
        plain, addresses, cut: The answer as ``so_far`` read it.
        stated: For each sentence the claim, None if it makes none, if this is a part of an answer,
            which does not tell whether the answer as a whole says anything; else None.
    """

    question: str
    answer: str
    written: WrittenText
    thoughts: bool
    grounds: ReadContexts
    scores: Sequence[object] | None
    checks: Checks
    deadline: Deadline
    abstain_ok: bool
    so_far: AnswerSoFar
    plain: str
    addresses: tuple[tuple[Place, str], ...]
    cut: bool
    stated: tuple[LocatedClaim | None, ...] | None = None

    @classmethod
    def of(
        cls,
        question: object,
        answer: object,
        contexts: object,
        scores: object,
        checks: Checks,
        deadline: Deadline,
        *,
        abstain_ok: bool,
        so_far: AnswerSoFar | None = None,
    ) -> "Answered":
        """Take what a request brings, whatever that is; ``so_far`` comes before this part of it."""
        grounds = read_contexts(contexts, deadline)
        listed = _listed(scores)
        if listed is None and any(context.score is not None for context in grounds.contexts):
            listed = [context.score for context in grounds.contexts]
        text, thoughts, so_far = as_text(answer), list[str](), so_far or AnswerSoFar()
        if not checks.keep_thoughts:
            text, thoughts = answer_and_thoughts(text, blank=True)
        written = WrittenText(text)
        return cls(
            as_read(as_text(question)), written.plain, written, bool(thoughts), grounds, listed,
            checks, deadline, abstain_ok, so_far, *so_far.read(written.plain),
        )  # fmt: skip

    @cached_property
    def empty(self) -> bool:
        """``True`` if there is no answer."""
        return _WORD.search(self.answer) is None

    @cached_property
    def response(self) -> tuple[str, str]:
        """The kind of reply, and why it is that; see ``response_type``."""
        return response_type(self.answer)

    @property
    def silent(self) -> bool:
        """``True`` if it says that it does not know or will not tell."""
        return self.stated is None and self.response[0] in NO_CLAIMS

    @cached_property
    def failure(self) -> bool:
        """``True`` if it is nothing but a failure message; citation marks do not count.

        Each of its sentences must be one, as in `Sorry. Something went wrong. Please try again.`
        """
        if self.stated is not None:
            return False
        text = _MARKED.sub("", _plain(self.answer[: 2 * LONGEST_MESSAGE])).strip()
        is_short = bool(text) and len(self.answer) <= LONGEST_MESSAGE
        whole = text if is_short else self.answer.strip()
        if any(
            re.fullmatch(phrase, whole, re.IGNORECASE | re.DOTALL)
            for phrase in self.checks.failure_phrases
        ):
            return True
        parts = [part.text.strip(_ENDS) for part in sentences(text)] if is_short else []
        return bool(parts) and any(
            all(any(pattern.fullmatch(part) for pattern in patterns) for part in parts)
            for patterns in (_FAILURES[name] for name in self.checks.languages or LANGUAGES)
        )

    @cached_property
    def markers(self) -> list[Marker]:
        """The citation marks among the first brackets."""
        pattern, contexts = self.checks.citation_pattern, self.grounds.contexts
        return list(each_marker(self.answer, contexts, pattern, MOST_BRACKETS))

    @cached_property
    def marks_cut(self) -> bool:
        """``True`` if it has more brackets than were looked at."""
        brackets = places(self.answer, self.checks.citation_pattern)
        return next(islice(brackets, MOST_BRACKETS, None), None) is not None

    @cached_property
    def sources(self) -> tuple[KnownText, KnownText]:
        """The texts that may have its names, numbers and addresses: contexts and question."""
        return self.grounds.source, KnownText.of(self.question[:LONGEST_SENTENCE])

    def each_claim(self) -> Iterator[LocatedClaim | None]:
        """Yield for each of its sentences the claim, None if it makes none."""
        return each_claim(self.answer) if self.stated is None else iter(self.stated)

    def span(self, start: int, end: int) -> AnswerSpan:
        """Return a part of the answer as it is written."""
        return self.written.part(start, end)


def _listed(scores: object) -> Sequence[object] | None:
    if scores is None:
        return None
    if isinstance(scores, str | bytes | Mapping) or not isinstance(scores, Iterable):
        return [scores]
    return list(scores)
