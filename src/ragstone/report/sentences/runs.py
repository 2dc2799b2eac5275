"""Runs: what a reader of a run or of a forecast should know besides the numbers."""

from collections.abc import Mapping

from ragstone.core.messages import argument, call

from .facts import Facts, Sentence, count, counted, plain, several

FIELDS: Mapping[str, str] = {
    "schema": "the response schema field: the schema is in the prompt instead",
    "max_tokens": "max_tokens: another field is sent instead",
    "max_completion_tokens": "max_completion_tokens: another field is sent instead",
    "system": "the system message: it is put before the question instead",
}
"""What happens if a server rejects a request field; fields not listed here are left out."""


def _fields_left_out(facts: Facts) -> str:
    text = "; ".join(FIELDS.get(one, one) for one in several(facts, "fields"))
    return f"its server does not support all fields. Left out or replaced: {text}."


def _reasoning_heard(facts: Facts) -> str:
    replies = "1 reply" if facts["replies"] == "1" else f"{count(facts, 'replies')} replies"
    mean = int(facts["tokens"]) / int(facts["replies"])
    return f"{mean:,.0f} tokens of reasoning a call, as heard in {replies} so far."


def _nothing_asked(facts: Facts) -> str:
    fault = facts.get("fault")
    return "the reply holds nothing that was asked" + (f": {fault}" if fault else "")


def _part_of_the_weight(facts: Facts) -> str:
    parts = [one.partition("%=") for one in several(facts, "systems")]
    text = ", ".join(f"{share} % for {system}" for share, _, system in parts)
    said = f"{facts['metric']} is made of part of its weight: {text}."
    if facts["unequal"] != "True":
        return said
    compare = call("compare", argument("run", "RUN"))
    return f"{said} Do not rank the systems by it; {compare} uses the components that both have."


def _overruled(facts: Facts) -> str:
    people = "1 person" if facts["people"] == "1" else f"{count(facts, 'people')} people"
    return (
        f"{counted(facts, 'judgement')} overruled by {people}, which changed "
        f"{counted(facts, 'example', 'examples')}; {argument('without_overrules', True)} has the "
        "numbers of the judge alone."
    )


def _batch_to_send(facts: Facts) -> str:
    said = f"a batch of {_questions(facts)} is sent"
    if "usd" not in facts:
        return f"{said}; no price is known."
    share = float(facts["share"])
    price = "half the price" if share == 0.5 else f"{share:.0%} of the price"
    return f"{said}, expected to cost ${float(facts['usd']):,.4f} ({price} of single questions)."


def _questions(facts: Facts) -> str:
    return "1 question" if facts["n"] == "1" else f"{count(facts, 'n')} questions"


SENTENCES: Mapping[str, Sentence] = {
    "no_reply_within": lambda facts: f"no reply within {facts['seconds']} s",
    "batch_to_send": _batch_to_send,
    "priced_in_batches": plain(
        "Costs are those of batches; the first question of each stage is asked singly, at the full "
        "price."
    ),
    "asked_later": plain("it is asked in a batch"),
    "worker_ended": plain("set aside: it ended the worker that judged it"),
    "worker_out_of_memory": plain(
        "set aside: the worker that judged it was ended for want of memory"
    ),
    "examples_set_aside": lambda facts: (
        f"{counted(facts, 'example')} ended the worker that judged "
        f"{'it' if facts['n'] == '1' else 'them'}, and {'was' if facts['n'] == '1' else 'were'} "
        "set aside: the scores are missing."
    ),
    "reply_too_long": plain("the reply was longer than the model may write"),
    "reply_cut_off": plain("the reply was cut off"),
    "reply_cut_at": lambda facts: (
        f"the reply was cut at the {count(facts, 'tokens')} tokens set aside for it"
    ),
    "reply_filtered": plain("a content filter stopped the reply"),
    "reply_unreadable": lambda facts: f"the reply cannot be read: {facts['fault']}",
    "model_declined": plain("the model declined to answer"),
    "nothing_asked": _nothing_asked,
    "votes_made_odd": lambda facts: (
        f"strictness={facts['asked']} asks {facts['votes']} votes, for a tie is undefined."
    ),
    "own_rubrics": lambda facts: (
        f"Rubrics of your own stand in for the built-in ones: "
        f"{', '.join(several(facts, 'criteria'))}."
    ),
    "part_of_the_weight": _part_of_the_weight,
    "made_anew": lambda facts: f"made anew, for it was damaged: {facts['fault']}.",
    "added_later": lambda facts: (
        f"{call('rescore', argument('run', 'RUN'))} scores these again, which were added later: "
        f"{', '.join(several(facts, 'metrics'))}."
    ),
    "ids_ask_the_same": lambda facts: (
        f"All {counted(facts, 'question id')} ask the same: taken as independent, which holds only "
        "if it is an instruction on something else each time."
    ),
    "ids_share_questions": lambda facts: (
        f"{counted(facts, 'question id')} ask {counted(facts, 'question', 'questions')}: rows that "
        f"ask the same share a cluster ({argument('cluster', 'id')} takes every row as "
        "independent)."
    ),
    "overruled": _overruled,
    "overrules_left_out": lambda facts: (
        f"{counted(facts, 'judgement')} that people overruled count as the judge left them, for "
        "overrules are chosen by looking, and labels are not."
    ),
    "judge_not_opened": lambda facts: (
        f"judged the old wording, and cannot be opened here: {facts['said']}"
    ),
    "judge_is_another": plain(
        "judged the old wording, and is not here, or is another than in the run"
    ),
    "not_asked_again": lambda facts: f"the judge did not say: {facts['said']}",
    "fields_left_out": _fields_left_out,
    "no_model_judges": plain(
        "No judge is a chat model, so the options for models (plan, prompts, limits, …) had no "
        "effect."
    ),
    "replies_not_kept": lambda facts: f"Replies are not kept across runs. {facts['said']}",
    "reasoning_heard": _reasoning_heard,
    "reasoning_not_counted": plain(
        "no reasoning is counted, for the name sets no effort; a model that reasons all the same "
        "sends back more."
    ),
    "reasoning_assumed": lambda facts: (
        f"{count(facts, 'tokens')} tokens of reasoning a call are assumed for "
        f"effort={facts['effort']}, not measured; a few calls ({argument('max_calls', 'N')}) of a "
        f"run in {argument('out', 'RUN')} tell better."
    ),
}
