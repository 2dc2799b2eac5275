"""Guard words: sentences on guarded answers and on the requests that bring them."""

from collections.abc import Mapping

from . import Facts, Sentence, count, counted, plain

KINDS: Mapping[str, str] = {
    "answer": "it answers",
    "partial": "it answers in part",
    "abstain": "it says that it does not know",
    "refuse": "it refuses",
    "clarify": "it asks back",
}


def _of(facts: Facts, noun: str, said: str) -> str:
    """How many of how many.

    >>> _of({"n": "1", "of_n": "3"}, "sentence", "not supported by the contexts")
    '1 of 3 sentences is not supported by the contexts'
    """
    verb = "is" if facts["n"] == "1" else "are"
    return f"{count(facts)} of {counted(facts, noun, 'of_n')} {verb} {said}"


GUARD_SENTENCES: Mapping[str, Sentence] = {
    "answer_given": plain("there is an answer"),
    "characters_not_text": lambda facts: (
        f"it has characters that no check can read as text, such as {facts['character']}"
    ),
    "no_contexts_given": plain("there is no context"),
    "contexts_given": lambda facts: f"there {_are(facts)} {counted(facts, 'context')}",
    "contexts_unreadable": lambda facts: (
        f"the contexts cannot be read: they must be texts or objects with a text ({facts['said']})"
    ),
    "contexts_not_listed": lambda facts: (
        f"there are more contexts than can be taken in time: time was up, or room, after "
        f"{counted(facts, 'context')}"
    ),
    "marks_not_all_read": lambda facts: (
        f"it has more brackets than are looked at for citations, which is {count(facts)}"
    ),
    "contexts_not_read_in_time": lambda facts: (
        f"time was up after {count(facts)} of {counted(facts, 'context', 'of_n')}"
    ),
    "cites": lambda facts: f"it has {counted(facts, 'citation')}",
    "cites_nothing": plain("it cites nothing"),
    "all_cited_are_there": plain("every citation names a context"),
    "cited_not_there": lambda facts: (
        f"{counted(facts, 'citation')} {_name(facts)} no context: {facts['marks']}"
    ),
    "is_a_failure": plain("it is nothing but a failure message"),
    "no_failure_message": plain("it is no failure message"),
    "response_is": lambda facts: f"{KINDS[facts['kind']]}: {facts['said']}",
    "may_abstain": lambda facts: f"it may say that it does not know: {facts['said']}",
    "no_retrieval_scores": plain("there are no retrieval scores"),
    "scores_not_shares": plain("not every retrieval score is a number from 0 to 1"),
    "mean_score": lambda facts: (
        f"the mean of {counted(facts, 'retrieval score')} is {facts['mean']}; "
        f"{facts['least']} is the least that passes"
    ),
    "no_list_asked": plain("the question does not ask for a list"),
    "list_lines": lambda facts: f"it has {counted(facts, 'line')} of a list or table",
    "no_list_lines": plain("the question asks for a list, and the answer has none"),
    "no_claims_made": plain("it makes no claim"),
    "mean_support": lambda facts: (
        f"the mean probability that the contexts support its {counted(facts, 'sentence')} is "
        f"{facts['mean']}; {facts['least']} is the least that passes"
    ),
    "contradicted_sentences": lambda facts: _of(facts, "sentence", "contradicted by the contexts"),
    "new_in_answer": lambda facts: (
        f"{facts['what']} that neither the contexts nor the question have: {facts['words']}"
    ),
    "nothing_new": lambda facts: f"the contexts or the question have all its {facts['what']}",
    "no_links": plain("it has no address"),
    "answer_too_long": lambda facts: f"only its first {count(facts, 'most')} characters are read",
    "sentence_too_long": lambda facts: (
        f"a sentence is longer than {count(facts, 'most')} characters"
    ),
    "sentences_not_judged_in_time": lambda facts: f"time was up after {counted(facts, 'sentence')}",
    "claims_left_open": lambda facts: (
        f"a sentence was not judged: {facts['said']}"
        if "said" in facts
        else "a sentence was not judged"
    ),
    "gate_of_another_judge": lambda facts: (
        f"the gate was calibrated with another judge: {facts['was']} ({facts['was_id']}), not "
        f"{facts['now']} ({facts['now_id']})"
    ),
    "scores_drifted": lambda facts: (
        f"the scores of {counted(facts, 'answer')} are not distributed as those of the labels were "
        f"(distance {facts['distance']}, p {facts['p']})"
    ),
    "too_much_for_encoder": lambda facts: (
        f"the contexts have more than {count(facts, 'most')} characters, too many for the encoder "
        "in a request; the local judge answered by strings"
    ),
    "too_late": plain("no reply before the deadline"),
    "judge_too_late": lambda facts: (
        f"{facts['judge']} was too late; the local judge answered by strings"
    ),
    "judge_failed": lambda facts: (
        f"{facts['judge']} failed ({facts['error']}); the local judge answered by strings"
    ),
    "generator_failed": lambda facts: f"the model failed ({facts['error']})",
    "generator_too_late": lambda facts: f"the model gave no answer within {facts['seconds']} s",
    "generator_empty": plain("the model gave an empty answer"),
    "generator_no_text": lambda facts: f"the model gave no text but {facts['said']}",
    "generator_same": plain("the model gave the same answer again"),
    "stream_failed": lambda facts: (
        f"the stream broke off ({facts['error']}); what was read of it is assessed"
    ),
    "stream_left": plain("nobody read on; what was read of the stream is assessed"),
    "stream_stopped": plain("reading stopped at the first part that failed"),
    "unit_cut": plain("the stream ended before this part was complete"),
    "guard_failed": lambda facts: f"the guard itself failed ({facts['error']}); the log has where",
}


def _are(facts: Facts) -> str:
    return "is" if facts["n"] == "1" else "are"


def _name(facts: Facts) -> str:
    return "names" if facts["n"] == "1" else "name"


MEANWHILE: Mapping[str, str] = {
    "open": "answers pass unjudged",
    "closed": "answers are held back",
    "local": "the local judge answers",
}


def _circuit_open(facts: Facts) -> str:
    return (
        f"{facts['judge']} failed {counted(facts, 'time')} in a row and is not asked for a while; "
        f"meanwhile {MEANWHILE[facts['meanwhile']]}"
    )


REQUEST_SENTENCES: Mapping[str, Sentence] = {
    "circuit_open": _circuit_open,
    "guard_timed_out": lambda facts: f"the guard took longer than {facts['seconds']} s",
    "contexts_not_told": plain("nobody said what the answer rests on; tell_guard does"),
    "extract_failed": lambda facts: (
        f"the function that finds question and contexts failed ({facts['error']})"
    ),
    "nothing_at": lambda facts: f"the {facts['part']} has nothing at {facts['path']}",
    "guard_of_whole_answers": plain("this guard judges whole answers alone, and it is a stream"),
    "no_text": plain("it has no text, such as a message that only calls tools"),
    "not_json": lambda facts: f"the reply is {facts.get('kind', 'of no known kind')}, not JSON",
    "broken_json": lambda facts: f"the JSON of the {facts['part']} cannot be read",
    "body_encoded": lambda facts: f"its compression ({facts['encoding']}) cannot be undone",
    "body_too_large": lambda facts: f"it has more than {count(facts, 'most')} bytes",
    "body_elsewhere": plain("the server sends it from elsewhere, such as a file"),
    "request_not_read": plain("the app answered before it had read the request"),
    "reply_not_complete": plain("the app left its reply unfinished"),
}
