"""Guard words: sentences on guarded answers and on the requests that bring them."""

from collections.abc import Mapping

from . import Sentence

KINDS: Mapping[str, str] = {
    "answer": "it answers",
    "partial": "it answers in part",
    "abstain": "it says that it does not know",
    "refuse": "it refuses",
    "clarify": "it asks back",
}

GUARD_SENTENCES: Mapping[str, Sentence] = {
    "answer_given": "there is an answer",
    "characters_not_text": "it has characters that no check can read as text, such as {character}",
    "no_contexts_given": "there is no context",
    "contexts_given": "there {n:is|are} {n:context}",
    "contexts_unreadable": (
        "the contexts cannot be read: they must be texts or objects with a text ({said})"
    ),
    "contexts_not_listed": (
        "there are more contexts than can be taken in time: time was up, or room, after {n:context}"
    ),
    "marks_not_all_read": "it has more brackets than are looked at for citations, which is {n:,}",
    "contexts_not_read_in_time": "time was up after {n:,} of {of_n:context}",
    "cites": "it has {n:citation}",
    "cites_nothing": "it cites nothing",
    "all_cited_are_there": "every citation names a context",
    "cited_not_there": "{n:citation} {n:names|name} no context: {marks}",
    "is_a_failure": "it is nothing but a failure message",
    "no_failure_message": "it is no failure message",
    "response_is": lambda facts: f"{KINDS[facts['kind']]}: {facts['said']}",
    "may_abstain": "it may say that it does not know: {said}",
    "no_retrieval_scores": "there are no retrieval scores",
    "scores_not_shares": "not every retrieval score is a number from 0 to 1",
    "mean_score": "the mean of {n:retrieval score} is {mean}; {least} is the least that passes",
    "no_list_asked": "the question does not ask for a list",
    "list_lines": "it has {n:line} of a list or table",
    "no_list_lines": "the question asks for a list, and the answer has none",
    "no_claims_made": "it makes no claim",
    "mean_support": (
        "the mean probability that the contexts support its {n:sentence} is {mean}; {least} is the "
        "least that passes"
    ),
    "contradicted_sentences": ("{n:,} of {of_n:sentence} {n:is|are} contradicted by the contexts"),
    "new_in_answer": "{what} that neither the contexts nor the question have: {words}",
    "nothing_new": "the contexts or the question have all its {what}",
    "no_links": "it has no address",
    "answer_too_long": "only its first {most:,} characters are read",
    "sentence_too_long": "a sentence is longer than {most:,} characters",
    "sentences_not_judged_in_time": "time was up after {n:sentence}",
    "claims_left_open": "a sentence was not judged[: {said}]",
    "gate_of_another_judge": (
        "the gate was calibrated with another judge: {was} ({was_id}), not {now} ({now_id})"
    ),
    "scores_drifted": (
        "the scores of {n:answer} are not distributed as those of the labels were (distance "
        "{distance}, p {p})"
    ),
    "too_much_for_encoder": (
        "the contexts have more than {most:,} characters, too many for the encoder in a request; "
        "the local judge answered by strings"
    ),
    "too_late": "no reply before the deadline",
    "judge_too_late": "{judge} was too late; the local judge answered by strings",
    "judge_failed": "{judge} failed ({error}); the local judge answered by strings",
    "generator_failed": "the model failed ({error})",
    "generator_too_late": "the model gave no answer within {seconds} s",
    "generator_empty": "the model gave an empty answer",
    "generator_no_text": "the model gave no text but {said}",
    "generator_same": "the model gave the same answer again",
    "stream_failed": "the stream broke off ({error}); what was read of it is assessed",
    "stream_left": "nobody read on; what was read of the stream is assessed",
    "stream_stopped": "reading stopped at the first part that failed",
    "unit_cut": "the stream ended before this part was complete",
    "guard_failed": "the guard itself failed ({error}); the log has where",
}

MEANWHILE: Mapping[str, str] = {
    "open": "answers pass unjudged",
    "closed": "answers are held back",
    "local": "the local judge answers",
}

REQUEST_SENTENCES: Mapping[str, Sentence] = {
    "circuit_open": lambda facts: (
        f"{facts['judge']} failed {facts['n']:time} in a row and is not asked for a while; "
        f"meanwhile {MEANWHILE[facts['meanwhile']]}"
    ),
    "guard_timed_out": "the guard took longer than {seconds} s",
    "contexts_not_told": "nobody said what the answer rests on; tell_guard does",
    "extract_failed": "the function that finds question and contexts failed ({error})",
    "nothing_at": "the {part} has nothing at {path}",
    "guard_of_whole_answers": "this guard judges whole answers alone, and it is a stream",
    "no_text": "it has no text, such as a message that only calls tools",
    "not_json": lambda facts: f"the reply is {facts.get('kind', 'of no known kind')}, not JSON",
    "broken_json": "the JSON of the {part} cannot be read",
    "body_encoded": "its compression ({encoding}) cannot be undone",
    "body_too_large": "it has more than {most:,} bytes",
    "body_elsewhere": "the server sends it from elsewhere, such as a file",
    "request_not_read": "the app answered before it had read the request",
    "reply_not_complete": "the app left its reply unfinished",
}
