"""Response: whether a text answers, answers in part, abstains, refuses or asks for clarification.

The rules read the whole answer and its beginning, with typographic apostrophes normalised.
A hedge that goes on to name something is an answer. English is covered widely; of other
languages only plain forms of "I don't know" and "no information" are recognised.
"""

import re

from ragstone.core.messages import reason

from .sentences import sentences

RESPONSE_VERSION = "ragstone-response/3"

PHRASES_8 = (
    "i don't know",
    "i do not know",
    "unknown",
    "not sure",
    "cannot determine",
    "no information",
    "insufficient data",
    "unable to answer",
)
PHRASES_12 = (
    *PHRASES_8,
    "cannot answer",
    "don't have enough information",
    "not available",
    "no data",
)
SHORT_NON_ANSWERS = ("unknown", "n/a", "none", "null")


def response_type(answer: str) -> tuple[str, str]:
    """The type of an answer, and why.

    Returns:
        One of ``answer``, ``partial`` (says what it cannot tell, then gives information),
        ``abstain`` (does not know; also an empty text), ``refuse`` (will not) and ``clarify``
        (asks back), and the reason in a few words.
    """
    if not _WORD.search(answer):
        return "abstain", "answer_is_empty"
    answer = answer[:READ]
    text = _plain(answer)
    if _WHOLE.fullmatch(text):
        return "abstain", reason("whole_answer", words=_as_written(text[:60], answer))
    text = _QUOTED.sub('""', text)
    opening = text[:OPENING]
    refusal = _REFUSAL.search(opening)
    if refusal:
        return "refuse", reason("it_says", words=_as_written(refusal.group(), answer))
    inability = _first_inability(opening)
    if inability is not None:
        return _abstain_or_partial(text, inability, answer)
    asked = _asks_back(text)
    if asked:
        return "clarify", reason("it_asks", words=_as_written(asked[:60], answer))
    return "answer", "no_sign_of_inability"


def abstains_by_phrases(answer: str, phrases: tuple[str, ...]) -> bool:
    """Whether an answer counts as "don't know" in GraphRAG evaluation reports.

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
    """Whether a sentence says that something is not known or not in the sources."""
    return _first_inability(_plain(sentence)) is not None


OPENING = 250
READ = 50_000
"""Characters of an answer that are read for what kind of reply it is."""

SUBSTANCE = 3
LONGEST_QUESTION = 700

_WORD = re.compile(r"[^\W_ʼ]")
_PLAIN = str.maketrans("’‘ʼ＇´“”\u00a0", "'''''\"\" ")


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
_SOURCE = (
    r"(?:contexts?|passages?|documents?|documentation|texts?|sources?|excerpts?|articles?"
    r"|information|data|(?:search )?results?|materials?|paragraphs?|references?|snippets?"
    r"|content|question|knowledge base|book|story|report)"
)
_TELL = (
    r"(?:contain|mention|say|state|provide|specify|include|give|indicate|tell|address|discuss"
    r"|cover|have|list|identify|reveal|name|describe|explain|disclose|answer|offer|present"
    r"|clarify|show|report|elaborate)"
)
_FACT = (
    r"(?:information|info|data|details?|mention|answers?|context|records?|indication"
    r"|references?|knowledge|documents?|documentation)"
)
_AFTER_FACT = (
    r"(?= (?:about|on|regarding|for|of|in|to|that|as|whether|from|available|provided|is|was|has"
    r"|can|given|concerning|here)\b|[.,;!]|\Z)"
)
_INABILITY = re.compile(
    _either(
        rf"{_I}{_ADVERB} (?:{_DO_NOT}|{_CANNOT}){_ADVERB} {_KNOW}\b",
        rf"{_I} ?{_ABLE}{_ADVERB} {_KNOW}\b",
        rf"{_I}(?: am|'m| are|'re){_ADVERB}"
        r" (?:not (?:aware|familiar|able)|unable|unaware|unfamiliar)\b",
        rf"{_I}(?: have| had|'ve)? (?:(?:got )?no|lack|lacked|could find no|found no|see no)"
        rf"(?: \w+)? (?:idea|clue|way|{_FACT})\b",
        rf"\b{_SOURCE}\b[^.?!]{{0,60}} (?:{_DO_NOT}|never|fails? to){_ADVERB} {_TELL}\b",
        r"(?:\b(?:no|not enough|not sufficient|insufficient|not any)|n't (?:any|enough))"
        rf"(?: [\w-]+){{0,2}} {_FACT}\b{_AFTER_FACT}",
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
_SIGN = re.compile(r"no[t ]|n't|un[acfks]|never|fail|lack|insufficient|impossible")
"""What every inability and hedge has in it; found in a tenth of the time that they take."""

_PREFACE = re.compile(
    r"(?:unfortunately, |i'm sorry, (?:but )?)?as an? (?:ai|artificial|large|language)\b"
)
_TURN = re.compile(r"\b(?:but|however|although|though|nevertheless|still|yet)\b[, ]*")
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
_FILLER = re.compile(
    r"^(?:i(?:'m| am)? (?:very |so |really )?(?:sorry|apologi[sz]e)|sorry|apologies|please"
    r"|let me know|feel free|if you|is there|would you|could you|can you|do you|for more|thank"
    r"|you (?:may|might|can|could|should) (?:want|need|try|check|contact|consult|refer|visit"
    r"|find|wish)|i (?:suggest|recommend|would (?:suggest|recommend)|hope|can help)"
    r"|it (?:is|would be) (?:best|advisable|recommended))\b"
)
_ELSEWHERE = re.compile(
    "^(?:"
    + "|".join(
        (
            r"(?:(?:je suis )?désolée?,? (?:mais )?)?(?:je ne sais (?:pas|rien)|je l'ignore"
            r"|je n'ai (?:pas|aucune)|aucune information|le (?:texte|contexte|document) ne)",
            r"(?:lo siento,? (?:pero )?)?(?:no lo s[eé]|no s[eé]\b"
            r"|no tengo (?:\w+ )?(?:informaci[oó]n|datos|idea)|no hay (?:\w+ )?informaci[oó]n"
            r"|el (?:texto|contexto|documento) no)",
            r"(?:(?:es )?tut mir leid,? (?:aber )?)?(?:(?:das )?wei(?:ß|ss) ich nicht"
            r"|ich wei(?:ß|ss) (?:es |das )?(?:leider )?nicht"
            r"|(?:ich habe )?(?:dazu )?keine (?:informationen|angaben|ahnung)"
            r"|der (?:text|kontext) (?:\w+ )?nicht)",
            r"(?:mi dispiace,? (?:ma )?)?(?:non (?:lo )?so\b|non ho (?:informazioni|idea)"
            r"|il (?:testo|contesto) non)",
            r"(?:desculpe,? (?:mas )?)?(?:(?:eu )?n[ãa]o sei|n[ãa]o tenho (?:\w+ )?informa"
            r"|o (?:texto|contexto) n[ãa]o)",
            r"(?:sorry,? (?:maar )?)?(?:ik weet (?:het )?niet|(?:dat )?weet ik niet|geen idee)",
            r"nie wiem|nevím|neviem|nu (?:știu|stiu)|nem tudom|en tiedä|jag vet (?:inte|ej)",
            r"jeg (?:ved|vet) ikke|bilmiyorum|saya tidak tahu|tôi không biết|δεν (?:ξέρω|γνωρίζω)",
            r"(?:извините,? (?:но )?)?(?:я )?не (?:знаю|могу ответить)|нет (?:информации|данных)",
            r"(?:抱歉|对不起|很抱歉)?[，, ]?(?:但)?我?(?:不知道|不清楚|无法(?:回答|确定)"
            r"|没有(?:相关|足够)?的?信息)|文中(?:没有|未)",
            r"(?:申し訳(?:ありません|ございません)が?|すみませんが?)?[、,]?"
            r"(?:それは)?"
            r"(?:わかりません|分かりません|知りません|わからない|分からない)",
            r"情報がありません",
            r"(?:죄송(?:하지만|합니다만?))?[, .]*(?:저는 )?잘? ?"
            r"(?:모르겠|모릅니다|몰라요|알 수 없)",
            r"(?:क्षमा करें,? )?(?:मुझे (?:नहीं पता|नहीं मालूम|पता नहीं|मालूम नहीं)|मैं नहीं जानत)",
            r"(?:عذرا[ً]?[،,]? )?(?:أنا )?(?:لا أعرف|لا أعلم|لا أدري|لا توجد معلومات)",
            r"(?:אני )?לא יודע|(?:ขออภัย)?(?:ฉัน|ผม|ดิฉัน)?ไม่(?:รู้|ทราบ)",
        )
    )
    + ")"
)


def _plain(text: str) -> str:
    return " ".join(text.translate(_PLAIN).lower().split())


_QUOTED = re.compile(r'"[^"]{1,200}"')


def _first_inability(text: str) -> re.Match[str] | None:
    english = _SIGN.search(text) and (_INABILITY.search(text) or _HEDGE.search(text))
    return english or _ELSEWHERE.search(text)


def _as_written(words: str, answer: str) -> str:
    """Words of the plain text as the answer writes them."""
    plain, written = _plain(answer), " ".join(answer.split())
    place = plain.find(words)
    known = place >= 0 and len(plain) == len(written)
    return written[place : place + len(words)] if known else words


def _abstain_or_partial(text: str, inability: re.Match[str], answer: str) -> tuple[str, str]:
    words = _as_written(inability.group(), answer)
    hedge = inability.re is _HEDGE
    least = 2 if hedge else SUBSTANCE
    informative = sum(_informative(sentence.text, least) for sentence in sentences(text))
    if hedge:
        if informative:
            return "answer", reason("says_and_commits", words=words)
        return "abstain", reason("says_and_names_nothing", words=words)
    if informative >= SUBSTANCE and _PREFACE.match(text):
        return "answer", "preface_then_answer"
    if informative >= SUBSTANCE:
        return "partial", reason("says_and_tells_more", words=words)
    return "abstain", reason("it_says", words=words)


def _informative(sentence: str, least: int) -> int:
    """The number of words in a sentence that give information, beyond saying that it cannot."""
    inability = _first_inability(sentence)
    if sentence.endswith("?"):
        return 0
    if inability is None:
        return 0 if _FILLER.search(sentence) else len(sentence.split())
    turn = _TURN.search(sentence, inability.end())
    if turn is None:
        return 0
    rest = sentence[turn.end() :]
    if _first_inability(rest) or _FILLER.search(rest):
        return 0
    count = len(rest.split())
    return count if count >= least else 0


def _asks_back(text: str) -> str | None:
    """The clarifying question, if the reply is a short text that ends with one."""
    if len(text) > LONGEST_QUESTION or not _MAY_ASK.search(text):
        return None
    parts = [part.text for part in sentences(text)]
    if not parts or not _CLARIFY.search(parts[-1]):
        return None
    if not (parts[-1].endswith(("?", "？", "؟")) or "please" in parts[-1]):
        return None
    others = sum(len(part.split()) for part in parts[:-1] if not _FILLER.search(part))
    return parts[-1] if len(parts) <= 3 or others <= 30 else None
