"""Response: whether a text answers, answers in part, abstains, refuses or asks for clarification.

The rules read the whole answer and its beginning, with typographic apostrophes normalised.
A hedge that goes on to name something is an answer. English is covered widely; of the other
languages in languages.toml only the plain forms are recognised.
"""

import re

from ragstone.core.messages import reason

from .languages import LATIN, Language, all_languages, languages_of
from .sentences import sentences
from .text_terms import tokens

RESPONSE_VERSION = "ragstone-response/5"

PHRASES_8 = ("i don't know", "i do not know", "unknown", "not sure", "cannot determine",
             "no information", "insufficient data", "unable to answer")  # fmt: skip
PHRASES_12 = (*PHRASES_8, "cannot answer", "don't have enough information", "not available",
              "no data")  # fmt: skip
SHORT_NON_ANSWERS = ("unknown", "n/a", "none", "null")


def response_type(answer: str) -> tuple[str, str]:
    """Return the type of an answer, and the reason.

    ``partial`` says what it cannot tell, then gives information; ``abstain`` does not know, as does
    an empty text; ``refuse`` will not; ``clarify`` asks back; anything else is an ``answer``.
    """
    if not _WORD.search(answer):
        return "abstain", "answer_is_empty"
    answer = answer[:READ]
    text = _plain(answer)
    if _WHOLE.fullmatch(text):
        return "abstain", reason("whole_answer", words=_as_written(text[:60], answer))
    text = _unquoted(text)
    opening = text[:OPENING]
    refusal = _REFUSAL.search(opening)
    if refusal:
        return "refuse", reason("it_says", words=_as_written(refusal.group(), answer))
    inability = _first_inability(opening)
    if inability is not None:
        return _abstain_or_partial(text, inability, answer)
    question = _asks_back(text)
    if question:
        return "clarify", reason("it_asks", words=_as_written(question[:60], answer))
    return "answer", "no_sign_of_inability"


def abstains_by_phrases(answer: str, phrases: tuple[str, ...]) -> bool:
    """True if an answer counts as "don't know" in GraphRAG evaluation reports.

    Those reports call an answer "don't know" if it contains, in lower case, any phrase of a fixed
    list, before anybody judges whether it is correct: `The Tomb of the Unknown Soldier` then
    abstains, and `I don’t know` with a typographic apostrophe does not. ``PHRASES_8`` is the list
    by which such reports count correct and wrong answers, ``PHRASES_12`` the longer one by which
    they count the "don't know" answers. With the longer list an answer of fewer than ten
    characters that contains one of ``SHORT_NON_ANSWERS`` abstains too. Kept for comparison with
    published counts; ``response_type`` is the better rule.

    Source: the metrics documentation that goes with a public GraphRAG evaluation report over the
    travel book `An Unsentimental Journey through Cornwall`, sections on correct and on "don't
    know" answers.
    """
    text = answer.lower().strip()
    if any(phrase in text for phrase in phrases):
        return True
    short = phrases == PHRASES_12 and len(text) < 10
    return short and any(word in text for word in SHORT_NON_ANSWERS)


def says_unable(sentence: str) -> bool:
    """True if a sentence says that something is not known or not in the sources."""
    return _first_inability(_unquoted(_plain(sentence))) is not None


def told_from(sentence: str) -> int | None:
    """Return where a sentence that says what it cannot tell goes on to tell something, if it does.

    >>> sentence = "I could not find the date, but the mill is made of stone."
    >>> sentence[told_from(sentence) :]
    'the mill is made of stone.'
    """
    for language in _spoken(sentence):
        for turn in language.turn.finditer(sentence):
            inability = _first_inability(_plain(sentence[: turn.start()]))
            if inability:
                rest = _plain(sentence[turn.end() :])
                least = HEDGED if inability.re is _HEDGE else SUBSTANCE
                tells = not (_first_inability(rest) or _is_polite(rest))
                return turn.end() if tells and _length(rest) >= least else None
    return None


OPENING = 250
# Characters of an answer that are read for what kind of reply it is.
READ = 50_000

# Words that tell something, and behind a hedge.
SUBSTANCE, HEDGED = 3, 2

LONGEST_QUESTION = 700
# Characters of a text that may hold no small word of its language.
SHORT = 60

_WORD = re.compile(r"[^\W_ʼ]")
ARABIC_VOWELS = "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652\u0640"
_PLAIN = str.maketrans("’‘ʼ＇´“”„«»「」『』\u00a0", '\'\'\'\'\'""""""""" ', ARABIC_VOWELS)


def _either(*patterns: str) -> str:
    return "|".join(patterns)


_I = r"\b(?:i|we)"
_CANNOT = r"(?:cannot|can't|can not|could not|couldn't)"
_DO_NOT = r"(?:do not|does not|don't|doesn't|did not|didn't)"
_ABLE = r"(?:am|'m|are|was|were) (?:unable|not able) to"
_ADVERB = (
    r"(?: (?:really|just|simply|currently|honestly|actually|yet|also|even|exactly|specifically"
    r"|explicitly|directly|clearly|definitively|reliably|fully|accurately|still|either)){0,2}"
)
_KNOW = (
    r"(?:have|know|see|possess|find|answer|confirm|determine|tell|say|provide|locate|verify"
    r"|explain|give|recommend|advise|access|offer|identify|help|assist|do that|be sure"
    r"|be certain|infer|conclude|establish|specify|share|comment|speak|suggest|predict)"
)
_SOURCE = (r"(?:contexts?|passages?|documents?|documentation|texts?|sources?|excerpts?|articles?"
           r"|information|data|(?:search )?results?|materials?|paragraphs?|references?|snippets?"
           r"|content|question|knowledge base|book|story|report)")  # fmt: skip
_SAY = (r"(?:mention|say|state|specify|indicate|tell|address|discuss|cover|identify|reveal|name"
        r"|describe|explain|disclose|answer|clarify|elaborate|provide|offer)")  # fmt: skip
_HOLD = r"(?:contain|include|give|have|list|present|show|report)"
_FACT = (r"(?:information|info|data|details?|mention|answers?|context|records?|indication"
         r"|references?|knowledge|documents?|documentation)")  # fmt: skip
_AFTER_FACT = (
    r"(?= (?:about|on|regarding|for|of|in|to|that|as|whether|from|available|provided|is|was|has"
    r"|can|given|concerning|here)\b|[.,;!]|\Z)"
)
# What others were not told is a fact.
_TO_OTHERS = (
    r"(?: [^.?!]{0,60})? (?:was|were|is|are|has been|had been) (?:\w+ )?(?:given|shown|sent"
    r"|released|passed|shared|leaked|lost|displayed|printed|handed|offered|revealed|stored|exchanged)"
    r" (?:to|on|at|by|with|between|during)(?! (?:me|us|it|this|that|how|what|who|when|where|why|the"
    rf" (?:question|topic|subject|matter))\b)(?! (?:\w+ ){{0,3}}{_SOURCE}\b)"
)

_ABOUT = r"(?: \w+){0,2} (?:about|on|regarding|concerning|of (?:this|that|it)|related|relevant)\b"
_NOTHING = r"\b(?:nothing(?! to)|no(?:t (?:a|one))? (?:word|thing)|(?:not|isn't|wasn't) anything)"
_THESE = r"(?:the|this|these|those|any|my|your|our)(?: \w+){0,2}"
_WHAT = (
    rf"(?=(?: (?:an?|any|enough|sufficient|much|\w+ly))?(?: \w+)?(?: {_FACT}\b| (?:the|this|that|it"
    r"|these|those|what|who|when|where|how|why|which|whether|anything|enough|specific)\b)"
    r"|[.,;!]|\Z)"
)
_INABILITY = re.compile(
    _either(
        rf"{_I}{_ADVERB} (?:{_DO_NOT}|{_CANNOT}){_ADVERB} {_KNOW}\b",
        rf"{_I} ?{_ABLE}{_ADVERB} {_KNOW}\b",
        rf"{_I}(?: am|'m| are|'re){_ADVERB}"
        r" (?:not (?:aware|familiar|able)|unable|unaware|unfamiliar)\b",
        rf"{_I}(?: have| had|'ve)? (?:(?:got )?no|lack|lacked|could find no|found no|see no)"
        rf"(?: \w+)? (?:idea|clue|way|{_FACT})\b",
        rf"\b{_SOURCE}\b[^.?!]{{0,60}} (?:{_DO_NOT}|never|fails? to){_ADVERB}"
        rf" (?:{_SAY}\b|{_HOLD}\b{_WHAT})",
        rf"\b{_SOURCE}\b[^.?!]{{0,60}} (?:{_SAY}s?|{_HOLD}s?|said|has) nothing\b{_ABOUT}",
        rf"\b{_SOURCE}\b[^.?!]{{0,60}} (?:(?:is|are|remains?) silent\b|lacks?(?: \w+){{0,2}}"
        rf" {_FACT}\b)",
        rf"{_NOTHING}{_ABOUT}[^.?!]{{0,60}} (?:in|within|from) {_THESE} {_SOURCE}\b",
        rf"{_NOTHING} in {_THESE} {_SOURCE}(?: {_SAY}s?\b|{_ABOUT})",
        rf"{_I}(?: have| can| could)? (?:find|found|see|saw|know) nothing\b{_ABOUT}",
        rf"\b(?:none|neither) of {_THESE} {_SOURCE} (?:{_SAY}(?:e?[sd])?\b|{_HOLD}s?\b{_WHAT})",
        rf"\bno {_SOURCE} {_SAY}s?\b",
        rf"\b(?:that|this|it|answer|information)(?: is|'s|was)?(?: not|n't){_ADVERB} in {_THESE}"
        r" (?:context|passage|document|text|source|excerpt|material)s?\b",
        r"^(?:that|this|it)(?: is|'s)(?: not|n't) (?:mentioned|stated|specified|given|covered"
        r"|addressed|discussed|answered|indicated|explained)(?=[.,;!]|\Z)",
        r"(?:\b(?:no|not enough|not sufficient|insufficient|not any)|n't (?:any|enough))"
        rf"(?: [\w-]+){{0,2}} {_FACT}\b{_AFTER_FACT}(?!{_TO_OTHERS})",
        rf"(?:\bnot|n't){_ADVERB} (?:mentioned|specified|stated|provided|given|included|disclosed"
        r"|indicated|discussed|addressed|covered|described|found|available|present|listed)"
        r"(?: anywhere)? (?:in|by|within|from|here|on)"
        r" (?:the|this|these|those|any|my|your|our|provided|given|available)\b",
        rf"\b{_CANNOT} be (?:answered|determined|confirmed|established|found|inferred|verified"
        r"|identified|known|concluded)\b",
        r"\b(?:unable|impossible|not possible|not able) to (?:\w+ly )?(?:answer|determine|confirm"
        r"|tell|say|find|provide|establish|verify|infer|know|identify|assist|help)\b",
        r"^(?:sorry|unfortunately|i'm sorry|i am sorry|i apologi[sz]e)\b[^.?!]{0,60}"
        rf" (?:{_CANNOT}|unable|no (?:\w+ )?(?:information|data|details))\b",
        rf"^(?:sorry[, ]+(?:but )?)?(?:{_CANNOT}|unable to|don't|do not)"
        r" (?:answer|determine|say|tell|confirm|find|know|have)\b",
        r"\bit(?:'s| is| was| remains) (?:unknown|unclear"
        r"|not (?:known|clear|stated|specified|mentioned|possible to))\b",
    )
)
_HEDGE = re.compile(
    _either(
        rf"{_I}(?: am|'m| are|'re){_ADVERB} (?:not (?:\w+ )?(?:sure|certain)|unsure|uncertain)\b",
        r"^(?:not sure|unsure|no idea|no clue)\b",
    )
)
# What every inability and hedge has in it; found in a tenth of the time that they take.
_SIGN = re.compile(r"no[tn ]|n't|un[acfks]|never|neither|fail|lack|silent|insufficient|impossible")

_PREFACE = re.compile(
    r"(?:unfortunately, |i'm sorry, (?:but )?)?as an? (?:ai|artificial|large|language)\b"
)
_WHOLE = re.compile(
    r"[\W_]*(?:none|n/a|na|null|nil|unknown|unanswerable|idk|dunno|no idea|no clue|no comment"
    r"|not (?:available|known|sure|found|stated|specified|mentioned|provided|given|applicable"
    r"|enough information)|insufficient (?:information|data|context)"
    r"|no (?:answer|information|data)(?: (?:found|available|provided))?"
    r"|information not (?:available|found|provided)"
    r"|unclear|undetermined|cannot say|can't say)[\W_]*"
)
_REFUSAL = re.compile(
    _either(
        rf"{_I} (?:will not|won't|must decline|have to decline|refuse to|decline to)\b",
        rf"{_I}(?: am|'m| are|'re) not (?:allowed|permitted) to\b",
        rf"\b(?:{_CANNOT}|unable to|not able to) (?:assist|help|comply|engage)(?: you)? (?:with|in)"
        r" (?:that|this|your|such|creating|writing|illegal|any)(?: \w+)?"
        r" ?(?:request|harmful|illegal|kind|type)\b",
        rf"\b(?:{_CANNOT}|unable to) (?:comply|fulfil|fulfill)\b",
        r"\b(?:against|violates?) (?:my|our) (?:\w+ )?(?:policy|policies|guidelines|programming"
        r"|principles)\b",
    )
)
_CLARIFY = re.compile(
    _either(
        r"\b(?:do|did|are|were) you (?:mean|asking|referring|talking|looking|interested|thinking"
        r"|want|have)\b",
        r"\b(?:could|can|would|will) you (?:please |kindly )?(?:\w+ )?(?:clarify|specify|provide"
        r"|tell|explain|be more|elaborate|rephrase|give|share|let)\b",
        r"\bplease (?:clarify|specify|rephrase|provide more|tell me (?:which|what|more))\b",
        r"\b(?:you|you're|you are) (?:could be |might be |may be )?(?:referring|talking|asking"
        r"|interested|looking)\b",
        r"^(?:which|what|who|where|when) [^.!]{0,120}\b(?:you|your)\b[^.!]{0,60}\?",
    )
)
_MAY_ASK = re.compile("[?？؟]|please")


def _plain(text: str) -> str:
    return " ".join(text.translate(_PLAIN).lower().split())


_QUOTED = re.compile(r'"[^"]{1,200}"')


def _unquoted(text: str) -> str:
    """Without what others say, unless that is all of it."""
    return text if _QUOTED.fullmatch(text.rstrip(".!?")) else _QUOTED.sub('""', text)


def _first_inability(text: str) -> re.Match[str] | None:
    english = _SIGN.search(text) and (_INABILITY.search(text) or _HEDGE.search(text))
    if english:
        return english
    languages = languages_of(text) or (all_languages()[LATIN] if len(text) < SHORT else ())
    matches = (language.unable(text) for language in languages)
    return next(filter(None, matches), None)


def _is_polite(sentence: str) -> bool:
    return any(language.opening.match(sentence) for language in _spoken(sentence))


def _spoken(text: str) -> tuple[Language, ...]:
    """Return its languages, or English, which is not told by the words of a short text."""
    return languages_of(text) or all_languages()[LATIN][:1]


def _as_written(words: str, answer: str) -> str:
    plain, written = _plain(answer), " ".join(answer.split())
    position = plain.find(words)
    known = position >= 0 and len(plain) == len(written)
    return written[position : position + len(words)] if known else words


def _abstain_or_partial(text: str, inability: re.Match[str], answer: str) -> tuple[str, str]:
    words = _as_written(inability.group(), answer)
    hedge = inability.re is _HEDGE
    informative = sum(_informative(sentence.text) for sentence in sentences(text))
    if hedge:
        if informative:
            return "answer", reason("says_and_commits", words=words)
        return "abstain", reason("says_and_names_nothing", words=words)
    if informative >= SUBSTANCE and _PREFACE.match(text):
        return "answer", "preface_then_answer"
    if informative >= SUBSTANCE:
        return "partial", reason("says_and_tells_more", words=words)
    return "abstain", reason("it_says", words=words)


def _informative(sentence: str) -> int:
    if sentence.endswith(("?", "？", "؟")):
        return 0
    if not says_unable(sentence):
        return 0 if _is_polite(sentence) else _length(sentence)
    start = told_from(sentence)
    return 0 if start is None else _length(sentence[start:])


def _length(text: str) -> int:
    return len(text.split() if text.isascii() else tokens(text))


def _asks_back(text: str) -> str | None:
    if len(text) > LONGEST_QUESTION or not _MAY_ASK.search(text):
        return None
    parts = [part.text for part in sentences(text)]
    if not parts or not _CLARIFY.search(parts[-1]):
        return None
    if not (parts[-1].endswith(("?", "？", "؟")) or "please" in parts[-1]):
        return None
    others = sum(len(part.split()) for part in parts[:-1] if not _is_polite(part))
    return parts[-1] if len(parts) <= 3 or others <= 30 else None
