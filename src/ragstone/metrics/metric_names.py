"""Metric names: metrics from their names or text forms, in any spelling of people and tools.

Examples are ``NDCG@10``, ``Hit Rate @ 3``, ``recall_1000``, ``context-faithfulness`` and
``BiasMetric``.
"""

import ast
import dataclasses
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from functools import cache, lru_cache
from threading import RLock
from typing import Any

from ragstone.core.errors import InputError, RagstoneError, UnknownName
from ragstone.core.messages import argument, reason

from .aliases import ALIASES, BEFORE, BEHIND, NEAREST, WORDS
from .metric import BUILT_IN, Metric
from .user_metrics import own_metrics

READABLE = re.compile(r"[\w@./: -]+", re.ASCII)
# ``ragas.metrics.`` before a name.
MODULE = re.compile(r"^(?:[a-z_]\w*\.)+(?=[a-z])", re.IGNORECASE)
# ``/v1/mean`` behind a name of MLflow.
VERSION = re.compile(r"/v\d+(?:/\w+)?$")

AT = re.compile(r"(.+?)(?: ?@ ?|[ _-]?at[ _-]?)(k|\d+)", re.IGNORECASE)
# What trec_eval writes with a number behind it, and is asked for with a dot before it.
CUT = re.compile(
    r"(P|R|recall|success|map_cut|ndcg_cut|iprec_at_recall)[_.](\d[\d.]*)", re.IGNORECASE
)
# ``Tool``, ``Call`` and ``F1`` of ``ToolCallF1``.
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def key(name: str) -> str:
    """The form in which names are compared.

    >>> key("nDCG"), key("context-recall"), key("LLMContextRecall")
    ('ndcg', 'contextrecall', 'llmcontextrecall')
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def found(name: str, known: Container[str]) -> Iterator[tuple[str, int | None]]:
    """Yield the keys that a name may mean, the likeliest first, with the k that it names.

    >>> list(found("NDCG@10", {"ndcg"})), list(found("P_5", {"p"}))
    ([('ndcg', 10)], [('p', 5)])
    >>> list(found("ContextRecallMetric", {"contextrecall"}))
    [('contextrecall', None)]
    """
    for words, k in _readings(name):
        for candidate in _bare(key(words)):
            if candidate in known:
                yield candidate, k


def _readings(name: str) -> Iterator[tuple[str, int | None]]:
    if not READABLE.fullmatch(name):
        return
    name = MODULE.sub("", VERSION.sub("", " ".join(name.split())))
    yield name, None
    if match := AT.fullmatch(name):
        head, k = match[1], None if match[2] in "kK" else int(match[2])
        yield f"{head}_at_k", k
        yield head, k
    if match := CUT.fullmatch(name):
        yield match[1], int(match[2]) if match[2].isdigit() else None


def _bare(name: str) -> Iterator[str]:
    yield name
    for word in BEHIND:
        if name.endswith(word) and name != word:
            yield from _bare(name.removesuffix(word))
    for word in BEFORE:
        if name.startswith(word) and name != word:
            yield from _bare(name.removeprefix(word))


# Python before 3.11.8 counts for all threads together how deep it is in a syntax tree, and fails
# when two make one at once: https://github.com/python/cpython/issues/106905
one_at_a_time = RLock()


def metric_types() -> dict[str, type[Metric]]:
    """Every metric that comes with Ragstone, by name."""
    return dict(BUILT_IN)


def parse_metric(text: str) -> Metric:
    """Parse a metric's name as people and other tools write it: ``mrr``, ``NDCG@10``, ``rougeL``.

    Raises:
        UnknownName: There is no such metric; says what is nearest.
        InputError: The text cannot be parsed, or a parameter is unknown or invalid.
    """
    name, parameters = split_form(text)
    if name not in BUILT_IN and (meant := _elsewhere(name)) is not None:
        name, preset, _ = meant
        parameters = preset | parameters
    return _made(name, parameters)


def read_metric(form: str) -> Metric:
    """The metric with this text form, as runs write it: ``ndcg(k=10)``.

    Raises:
        UnknownName: No loaded metric has it.
        InputError: The text cannot be parsed, or a parameter is unknown or invalid.
    """
    return _built_in(form) or _made(*split_form(form))


def loaded_metric(form: str) -> Metric | None:
    """The metric with this text form; None for a user's own that is not loaded."""
    try:
        return read_metric(form)
    except RagstoneError:
        return None


@lru_cache(1000)
def _built_in(form: str) -> Metric | None:
    """Cached, as a run's metrics are looked up often; not a user's, which may change."""
    name, parameters = split_form(form)
    return _made(name, parameters) if name in BUILT_IN else None


def alias_note(text: str) -> str | None:
    """A note on another tool's name for a metric, as a reason; None for any other name."""
    name = text.split("(")[0].strip()
    if name in BUILT_IN or (meant := _elsewhere(name)) is None or not meant[2]:
        return None
    metric, parameters, meaning = meant
    return reason("alias", alias=name, metric=str(_made(metric, parameters)), meaning=meaning)


def _elsewhere(name: str) -> tuple[str, dict[str, object], str] | None:
    """The metric, parameters and note of a name that is not ours; a mere spelling has no note."""
    if name in own_metrics():
        return None
    if name in ALIASES:
        return _alias(name, None)
    known = _explained()
    for known_name, k in found(name, known):
        meant = known[known_name]
        if meant in NEAREST:
            return None
        if meant in ALIASES:
            return _alias(meant, k)
        return meant, {} if k is None else {"k": k}, ""
    return None


@cache
def _explained() -> dict[str, str]:
    """Every name that comes with Ragstone, by its key; our own before another tool's."""
    return {key(name): name for name in (*NEAREST, *ALIASES, *BUILT_IN)}


def _alias(alias: str, k: int | None) -> tuple[str, dict[str, object], str]:
    target, meaning = ALIASES[alias]
    name, preset = split_form(target)
    return name, preset if k is None else preset | {"k": k}, meaning


def _made(name: str, parameters: Mapping[str, Any]) -> Metric:
    if name in BUILT_IN:
        kind = BUILT_IN[name]
    else:
        users = own_metrics()
        if name not in users:
            raise _unknown(name, users)
        if not parameters:
            return users[name]
        kind = type(users[name])
    names = [field.name for field in dataclasses.fields(kind)]
    unknown = sorted(parameters.keys() - names)
    if unknown:
        takes = ", ".join(names) or "none"
        raise InputError(f"{name} has no parameter {', '.join(unknown)}. It takes: {takes}.")
    return kind(**parameters)


# How the answer to a name begins of which nothing is known.
UNKNOWN = "ragstone metrics lists all metrics."


def _unknown(name: str, users: Iterable[str]) -> UnknownName:
    for known_key, _ in found(name, _explained()):
        if (absent := _explained()[known_key]) in NEAREST:
            return UnknownName("metric", name, (), hint=NEAREST[absent])
    opposite = re.sub(r"^not[-_ ]", "", name)
    for known_key, _ in found(opposite, _explained()) if opposite != name else ():
        known_name = _explained()[known_key]
        advice = NEAREST.get(known_name, f"Measure {opposite}: the less, the better.")
        return UnknownName("metric", name, (), hint=f"It is the opposite of {opposite}. {advice}")
    if typed := misspelt(name, [*BUILT_IN, *users, *ALIASES, *NEAREST]):
        return UnknownName("metric", name, typed)
    for word in WORD.findall(name):
        if word.lower() in WORDS:
            return UnknownName("metric", name, (), hint=WORDS[word.lower()])
    hint = (
        f"{UNKNOWN} An LLM can rate what you ask for: "
        'rating(definition="Is ANSWER polite?"). '
        f"{argument('metrics_from', 'FILE')} loads metrics of your own."
    )
    return UnknownName("metric", name, (), hint=hint)


def misspelt(name: str, known: Iterable[str]) -> list[str]:
    """The names that this one misspells: letters in another order, or a slip or two in long names.

    >>> misspelt("contxt_recall", ["context_recall", "recall"]), misspelt("ndgc", ["ndcg", "map"])
    (['context_recall'], ['ndcg'])
    >>> misspelt("laziness", ["faithfulness"]), misspelt("mape", ["map"])
    ([], [])
    """
    typed, by_key = key(name), {key(meant): meant for meant in reversed(list(known))}
    return [meant for known_key, meant in by_key.items() if _is_slip(typed, known_key)]


def _is_slip(typed: str, meant: str) -> bool:
    """Same first letter, and the letters reordered, or in long names a few wrong."""
    if typed[:1] != meant[:1] or abs(len(typed) - len(meant)) > 2:
        return False
    if sorted(typed) == sorted(meant):
        return True
    return len(typed) > 4 and SequenceMatcher(None, typed, meant).ratio() > 0.87


def split_form(
    text: str, what: str = "metric", such_as: str = "precision(k=5)"
) -> tuple[str, dict[str, object]]:
    """A text form's name and parameters.

    Raises:
        InputError: The text cannot be parsed, or has a parameter twice.
    """
    name, bracket, rest = text.strip().partition("(")
    if name and not bracket:
        return name, {}
    try:
        with one_at_a_time:
            call = ast.parse(f"_({rest}", mode="eval").body
        if (
            name
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Name)
            and not call.args
        ):
            parameters = [
                (str(keyword.arg), ast.literal_eval(keyword.value)) for keyword in call.keywords
            ]
            counts = Counter(parameter for parameter, _ in parameters)
            if twice := [parameter for parameter, n in counts.items() if n > 1]:
                raise InputError(f"{text!r} gives {', '.join(twice)} more than once.")
            return name.strip(), dict(parameters)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise InputError(f"{text!r} is not a {what}. Write name or name(parameter=value): {such_as}.")
