"""Requests: why a guard that stands in a request did not judge an answer."""

from collections.abc import Mapping

from .facts import Facts, Sentence, count, counted, plain

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


SENTENCES: Mapping[str, Sentence] = {
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
