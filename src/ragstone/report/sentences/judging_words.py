"""Judging words: sentences on how a run was judged, on models and their replies, on intervals."""

from collections.abc import Mapping

from ragstone.core.messages import argument, call, worded
from ragstone.report.number_format import percent

from . import Facts, ReasonFact, Sentence, told

# The languages of a run that are named.
LANGUAGES = 3

# What happens if a server rejects a request field; fields not listed here are left out.
FIELDS: Mapping[str, str] = {
    "schema": "the response schema field: the schema is in the prompt instead",
    "max_tokens": "max_tokens: another field is sent instead",
    "max_completion_tokens": "max_completion_tokens: another field is sent instead",
    "system": "the system message: it is put before the question instead",
}


def _fields_left_out(facts: Facts) -> str:
    text = "; ".join(FIELDS.get(field, field) for field in facts["fields"].lines)
    return f"its server does not support all fields. Left out or replaced: {text}."


def _reasoning_heard(facts: Facts) -> str:
    n = facts["replies"]
    mean = int(facts["tokens"]) / int(n)
    return f"{mean:,.0f} tokens of reasoning a call, as heard in {n:,} {n:reply|replies} so far."


def _part_of_the_weight(facts: Facts) -> str:
    parts = [line.partition("%=") for line in facts["systems"].lines]
    text = ", ".join(f"{share} % for {system}" for share, _, system in parts)
    sentence = f"{facts['metric']} is made of part of its weight: {text}."
    if facts["unequal"] != "True":
        return sentence
    compare = call("compare", argument("run", "RUN"))
    return (
        f"{sentence} Do not rank the systems by it; {compare} uses the components that both have."
    )


def _measured_on_english(facts: Facts) -> str:
    shares = [line.partition("=") for line in facts["languages"].lines]
    parts = [(float(share), f"in {name}") for share, _, name in shares[:LANGUAGES]]
    if len(shares) > LANGUAGES:
        rest = sum(float(share) for share, *_ in shares[LANGUAGES:])
        parts.append((rest, "in other languages"))
    of = "questions" if facts["questions"] == "True" else "answers"
    (most, where), *more = [(percent(share, 0), where) for share, where in parts]
    text = ", ".join([f"{most} of these {of} are {where}", *map(" ".join, more)])
    sentence = f"The local judge was measured on English; {text}."
    if facts["by_phrases"] != "True":
        return sentence
    dont_know, unheard = (facts.get(name, ReasonFact()).lines for name in ("dont_know", "unheard"))
    plain = [name for _, _, name in shares if name not in {*dont_know, *unheard}]
    of_each = {
        "only plain ways to say “not in the documents”": plain,
        "only “I don’t know”": dont_know,
        "no way to say “not in the documents”": unheard,
    }
    ways = [(way, ", ".join(names)) for way, names in of_each.items() if names]
    if len(ways) == 1:
        return f"{sentence} In those it recognises {ways[0][0]}."
    known = "; ".join(f"{way} in {names}" for way, names in ways)
    return f"{sentence} It recognises {known}."


def _batch_to_send(facts: Facts) -> str:
    batch = f"a batch of {facts['n']:question} is sent"
    if "usd" not in facts:
        return f"{batch}; no price is known."
    share = float(facts["share"])
    price = "half the price" if share == 0.5 else f"{share:.0%} of the price"
    return f"{batch}, expected to cost ${float(facts['usd']):,.4f} ({price} of single questions)."


AGAIN = "the same command asks again"
ANOTHER = "another judge may answer it"


def _not_in_reply(facts: Facts) -> str:
    what = told("not in the reply[ ({said})]", facts)
    if facts.get("alone"):
        return what + told(", and asking for it alone failed: {alone:words}", facts)
    if facts.get("not_alone"):
        return what + told(", and it was not asked for alone: {not_alone:words}", facts)
    return f"{what}, however often it was asked; {AGAIN}" if facts.get("tries") else what


def _budget(facts: Facts) -> str:
    if calls := facts.get("max_calls"):
        all_made = f"all {calls:,} calls of {argument('max_calls')} are made"
        return f"budget: {all_made}; to continue, run it again with more"
    left = f"the next call may cost more than is left of {argument('budget', facts['usd'])}"
    return f"budget: {left}; to continue, run it again with a higher one"


def _left_alone(facts: Facts) -> str:
    seconds = float(facts["seconds"])
    pause = f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
    return f"the server asks for a pause of {pause}; after that {AGAIN}"


PAIRS: Mapping[str, str] = {
    "question_context": "of question and context",
    "reference_context": "of reference and context",
    "sentence_context": "of sentence and contexts",
    "answer_reference": "of answer and reference",
    "question_answer": "of question and answer",
    "question_probe": "of question and generated question",
}
SHOWN_MODELS = 3


def _texts_cut(facts: Facts) -> str:
    cut = [part.split(":") for part in facts["cut"].split(",")]
    text = ", ".join(
        f"{ReasonFact(n):,} of {ReasonFact(of):pair} {PAIRS[what]}" for what, n, of in cut
    )
    hint = " embedding_context_relevance(windows=True) reads long contexts in windows."
    return (
        f"{facts['model']} reads {facts['reads']} tokens of a text; a longer one was cut in "
        f"{text}.{hint if any(what.endswith('_context') for what, *_ in cut) else ''}"
    )


def _several_models(facts: Facts) -> str:
    models = [line.rpartition("=") for line in facts["models"].lines]
    parts = [f"{name} ({ReasonFact(n):,} {ReasonFact(n):reply|replies})" for name, _, n in models]
    more = f" and {len(parts) - SHOWN_MODELS:,} more" if len(parts) > SHOWN_MODELS else ""
    number = "two" if len(parts) == 2 else f"{len(parts):,}"
    return (
        f"served by {number} models: {', '.join(parts[:SHOWN_MODELS])}{more}. The numbers mix "
        f"{number} judges; name a model that is pinned to a version, and evaluate into another "
        "folder."
    )


def _quotes_unfound(facts: Facts) -> str:
    n, quotes = facts["n"], facts["quotes"]
    of = "quote does" if n == quotes == "1" else f"{n:quotes does|quotes do}"
    return f"Evidence: {n:,} of {quotes:,} {of} not stand so in the contexts."


def _answered_before(facts: Facts) -> str:
    n = int(facts["here"]) + int(facts["elsewhere"])
    return (
        f"{n:,} of {facts['answered']:,} questions had been answered before ({facts['here']:,} in "
        f"this run, {facts['elsewhere']:,} in others), and were not paid again."
    )


# What one cluster of a field is called.
CLUSTERS = {"question_id": "question", "session": "session"}


def _not_independent(facts: Facts) -> str:
    what = f"{CLUSTERS.get(facts['cluster'], 'example')}s"
    of = "" if facts["clusters"] == facts["there"] else f" of {facts['there']:,}"
    return (
        f"Intervals take {what} as independent, but {facts['clusters']:,}{of} {what} come "
        f"from {facts['values']:,} values of {facts['field']}: "
        f"{argument('cluster', facts['field'])}."
    )


WITHOUT_INTERVAL = "No interval for {metric}[ of {group}][ and {more:,} more]: "


def _no_interval(facts: Facts) -> str:
    if not facts:
        return "there is no interval"
    rows = CLUSTERS.get(facts["cluster"]) or f"value of {facts['cluster']}"
    return told(WITHOUT_INTERVAL, facts) + f"one {rows} is too few for an interval."


def _few_clusters(facts: Facts, are: str = "are rough") -> str:
    least, most, field = facts["least"], facts["most"], facts["cluster"]
    what = f"{CLUSTERS.get(field, 'value')}{'' if most == '1' else 's'}"
    what += "" if field in CLUSTERS else f" of {field}"
    counts = least if least == most else f"{least} to {most}"
    return f"Intervals of {counts} {what} {are}; from {facts['enough']} on they hold better."


def _no_value_anywhere(facts: Facts) -> str:
    how = " or ".join(word for word in ("missing", "undefined") if facts[word] != "0")
    lines = facts.get("why", ReasonFact()).lines
    why = ", ".join(f"{ReasonFact(line):words}" for line in lines if line)
    return f"{how or 'undefined'} everywhere" + (f" ({why})" if why else "")


RUN_SENTENCES: Mapping[str, Sentence] = {
    "no_reply_within": "no reply within {seconds} s",
    "batch_to_send": _batch_to_send,
    "priced_in_batches": (
        "Costs are those of batches; the first question of each stage is asked singly, at the full "
        "price."
    ),
    "no_reference_contexts": (
        "no ids of relevant contexts are known; list_ndcg does without them, and needs "
        "only judged contexts"
    ),
    "asked_later": "it is asked in a batch",
    "worker_ended": "set aside: it ended the worker that judged it",
    "worker_out_of_memory": ("set aside: the worker that judged it was ended for want of memory"),
    "examples_set_aside": (
        "{n:example} ended the worker that judged {n:it|them}, and {n:was|were} set aside: the "
        "scores are missing."
    ),
    "reply_too_long": (
        "the reply was longer than the model may write; a larger max_tokens allows a longer one"
    ),
    "reply_cut_off": "the reply was cut off",
    "reply_cut_at": "the reply was cut at the {tokens:,} tokens set aside for it",
    "reply_filtered": "a content filter stopped the reply",
    "reply_unreadable": "the reply cannot be read: {fault}",
    "model_declined": "the model declined to answer",
    "nothing_asked": "the reply holds nothing that was asked[: {fault}]",
    "not_of_the_answer": "the reply is not about the answer: {fault}",
    "votes_made_odd": "strictness={asked} asks {votes} votes, for a tie is undefined.",
    "own_rubrics": "Rubrics of your own stand in for the built-in ones: {criteria:list}.",
    "part_of_the_weight": _part_of_the_weight,
    "made_anew": "made anew, for it was damaged: {fault}.",
    "added_later": (
        f"{call('rescore', argument('run', 'RUN'))} scores these again, which were added later: "
        "{metrics:list}."
    ),
    "ids_ask_the_same": (
        "All {n:question id} ask the same: taken as independent, which holds only if it is an "
        "instruction on something else each time."
    ),
    "ids_share_questions": (
        "{n:question id} ask {questions:question}: rows that ask the same share a cluster "
        f"({argument('cluster', 'id')} takes every row as independent)."
    ),
    "measured_on_english": _measured_on_english,
    "overruled": (
        "{n:judgement} corrected by {people:,} {people:person|people}, which changed "
        f"{{examples:example}}; {argument('without_corrections', True)} has the numbers of the "
        "judge alone."
    ),
    "overrules_left_out": (
        "{n:judgement} that people corrected count as the judge left them, for corrections are "
        "chosen by looking, and labels are not."
    ),
    "judge_not_opened": "judged the old wording, and cannot be opened here: {said}",
    "judge_is_another": "judged the old wording, and is not here, or is another than in the run",
    "not_asked_again": "the judge did not say: {said}",
    "fields_left_out": _fields_left_out,
    "no_model_judges": (
        "No judge is a chat model, so the options for models (plan, prompts, limits, …) had no "
        "effect."
    ),
    "replies_not_kept": "Replies are not kept across runs. {said}",
    "replies_emptied": "Questions that were answered before are asked, and paid for, again. {said}",
    "reasoning_heard": _reasoning_heard,
    "reasoning_not_counted": (
        "no reasoning is counted, for the name sets no effort; a model that reasons all the same "
        "sends back more."
    ),
    "reasoning_assumed": (
        "{tokens:,} tokens of reasoning a call are assumed for effort={effort}, not measured; a "
        f"few calls ({argument('max_calls', 'N')}) of a run in {argument('out', 'RUN')} tell "
        "better."
    ),
    "not_in_reply": _not_in_reply,
    "no_reply": "no reply",
    "no_majority": "no verdict has more than half of the panel",
    "budget": _budget,
    "left_alone": _left_alone,
    "all_rejected": (
        "the server rejected all of the first {n} questions ({said}); if it is of the settings in "
        f"the judge's name or of the address, mend that; {AGAIN}"
    ),
    "server_gone": "the server stopped answering ({said}); " + AGAIN,
    "batch_unanswered": f"no batch of the provider answered it; {AGAIN}",
    "capped": "budget: {said}; " + AGAIN,
    "rejected": "{said}; " + AGAIN,
    "too_long": "the question was too long for the model: [{said}]",
    "filtered": "{said}; " + ANOTHER,
    "refusal": "{said}; " + ANOTHER,
    "no_encoder": "No encoder, so what rests on one is missing. {said}",
    "similarities_failed": lambda facts: (
        f"Similarities failed {times(int(facts['n']))}, and what rests on them is missing: "
        f"{call('rescore', argument('run', 'RUN'))} asks for these again."
    ),
    "strings_alone": "local judged by strings alone: {said}",
    "texts_cut": _texts_cut,
    "bertscore_cut": (
        "BERTScore: in {cut:,} of {pairs:pair}, a text was longer than {model} can read, "
        "and was cut."
    ),
    "pairs_cut": (
        "{model}: {cut:,} of {pairs:pair} did not fit into what it reads, and the rest of the "
        "text was cut."
    ),
    "threshold_of_another_model": (
        "{metrics}: the threshold was set for {set_for}, not for {model}; set your own, such as "
        "threshold=0.6."
    ),
    "evidence_unknown": (
        "Evidence: {n:,} named {n:context that was|contexts that were} not shown {n:was|were} "
        "dropped."
    ),
    "quotes_unfound": _quotes_unfound,
    "answered_in_part": (
        "{n:,} {n:question that put|questions that put} several tasks together {n:was|were} "
        "answered in part, and the rest was asked again, so the lean plan saved little or nothing "
        "there."
    ),
    "answered_before": _answered_before,
    "not_independent": _not_independent,
    "few_clusters": _few_clusters,
    "rare_scores": lambda facts: _few_clusters(
        facts,
        "can be too narrow: a sample this small may contain none of a few scores that lie far "
        "from the others",
    ),
    "clustered_by_session": (
        "Intervals are by session: the turns of a conversation are not taken as independent."
    ),
    "several_models": _several_models,
    "no_value_anywhere": _no_value_anywhere,
    "unlike": lambda facts: (
        f"{'; '.join(worded(line) for line in facts['differences'].lines)} (p < {facts['below']})"
    ),
    "no_random_sample": "the labels are not a random sample: {why:words}",
    "taken_for_random": "labels taken for a random sample, though {why:words}",
    "no_interval": _no_interval,
    "no_interval_alike": WITHOUT_INTERVAL
    + "all values are the same, and the metric has no known highest or lowest value to bound the "
    "mean.",
}


def times(n: int) -> str:
    """Return how often: once, or the number of times."""
    return "once" if n == 1 else f"{n:,} times"
