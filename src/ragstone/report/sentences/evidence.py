"""Evidence: what judges by rules go by, such as the words that two texts share."""

from collections.abc import Mapping

from ragstone.core.messages import Reason

from .facts import Facts, Sentence, counted, plain


def _of_words(facts: Facts, what: str) -> str:
    """How many of the words were found, which were not, and how well the vectors match."""
    parts = [f"{facts['n']} of {facts['words']} {what}"]
    parts += [f"not {facts['lost']}"] if facts.get("lost") else []
    parts += [f"aligned {facts['aligned']}"] if facts.get("aligned") else []
    parts += [f"{facts['other_number']} is not its number"] if facts.get("other_number") else []
    return "; ".join(parts)


def _words_in_contexts(facts: Facts) -> str:
    places = [
        f"{noun if len(numbers) == 1 else f'{noun}s'} {' and '.join(numbers)}"
        for noun, given in (("context", facts.get("contexts")), ("turn", facts.get("turns")))
        if (numbers := (given or "").split(",")) != [""]
    ]
    parts = [f"{facts['n']} of {facts['words']} content words in {' and '.join(places)}"]
    if not places:
        one = facts["words"] == "1"
        none = "its one content word is not" if one else f"none of {facts['words']} content words"
        parts = [f"{none} in the contexts"]
    for name, word in (("aligned", "aligned"), ("numbers", "new number"), ("names", "new name")):
        parts += [f"{word} {facts[name]}"] if facts.get(name) else []
    if against := facts.get("against"):
        why = Reason.read(against)
        parts.append(SENTENCES[why.code](why.facts))
    return "; ".join(parts)


def _entailed(facts: Facts) -> str:
    windows = counted(facts, "window", "windows")
    entailment = f"entailment {facts['entailment']} at best in {windows}"
    denied = facts.get("contradiction")
    return f"contradiction {denied}, {entailment}" if denied else entailment


SENTENCES: Mapping[str, Sentence] = {
    "words_in_contexts": _words_in_contexts,
    "no_contexts_to_read": plain("no contexts"),
    "no_words_to_look_for": plain("no content words to look for"),
    "context_says": lambda facts: f"the context says {facts['word']}",
    "only_one_denies": plain("only one of the two denies"),
    "words_of_reference": lambda facts: _of_words(facts, "words of the reference"),
    "words_in_reference": lambda facts: _of_words(facts, "words in the reference"),
    "nothing_beyond_question": plain("nothing beyond the question"),
    "reference_without_words": plain("the reference holds no words"),
    "opens_alike": plain("the answer opens with the same word"),
    "opens_otherwise": plain("the answer opens with the other word"),
    "does_not_open_with": lambda facts: f"the answer does not open with {facts['word']}",
    "word_for_word": plain("word for word"),
    "not_word_for_word": plain("not word for word"),
    "question_words": lambda facts: _of_words(facts, "question words"),
    "question_without_words": plain("the question has no content words"),
    "answer_is_empty": plain("the answer is empty"),
    "whole_answer": lambda facts: f"the whole answer is “{facts['words']}”",
    "it_says": lambda facts: f"it says “{facts['words']}”",
    "it_asks": lambda facts: f"it asks “{facts['words']}”",
    "no_sign_of_inability": plain("no sign of inability, refusal or a question back"),
    "says_and_commits": lambda facts: f"it says “{facts['words']}” and then commits to an answer",
    "says_and_names_nothing": lambda facts: f"it says “{facts['words']}” and names nothing",
    "says_and_tells_more": lambda facts: f"it says “{facts['words']}” and tells something else",
    "preface_then_answer": plain("a preface about being a language model, then an answer"),
    "entailed": _entailed,
    "nothing_to_read": plain("nothing to read"),
    "nothing_retrieved": plain("nothing was retrieved"),
    "empty_text": plain("an empty text resembles nothing"),
    "follows_from": lambda facts: f"follows from {facts['ask']}",
}
