"""Spelling: finds a known name in the ways that people and tools write it.

``NDCG@10``, ``Hit Rate @ 3``, ``recall_1000``, ``context-faithfulness``, ``BiasMetric``.
"""

import re
from collections.abc import Container, Iterator

READABLE = re.compile(r"[\w@./ -]+", re.ASCII)
MODULE = re.compile(r"^(?:[a-z_]\w*\.)+(?=[a-z])", re.IGNORECASE)
"""``ragas.metrics.`` before a name."""
VERSION = re.compile(r"/v\d+(?:/\w+)?$")
"""``/v1/mean`` behind a name of MLflow."""
AT = re.compile(r"(.+?)(?: ?@ ?|[ _-]?at[ _-]?)(k|\d+)", re.IGNORECASE)
CUT = re.compile(
    r"(P|R|recall|success|map_cut|ndcg_cut|iprec_at_recall)[_.](\d[\d.]*)", re.IGNORECASE
)
"""What trec_eval writes with a number behind it, and is asked for with a dot before it."""
BEHIND = ("metric", "evaluator", "scorer", "score", "rate", "withcotreasons", "eval")
"""Words behind a name that do not change it."""


def key(name: str) -> str:
    """The form in which names are compared.

    >>> key("nDCG"), key("context-recall"), key("LLMContextRecall")
    ('ndcg', 'contextrecall', 'llmcontextrecall')
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def found(name: str, known: Container[str]) -> Iterator[tuple[str, int | None]]:
    """The keys among ``known`` that a name may mean, the likeliest first, with the k it names.

    >>> list(found("NDCG@10", {"ndcg"})), list(found("P_5", {"p"}))
    ([('ndcg', 10)], [('p', 5)])
    >>> list(found("ContextRecallMetric", {"contextrecall"}))
    [('contextrecall', None)]
    """
    for words, k in _readings(name):
        for one in _bare(key(words)):
            if one in known:
                yield one, k


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
    """The key, and the key without the words around it that do not change it."""
    yield name
    for word in BEHIND:
        if name.endswith(word) and name != word:
            yield from _bare(name.removesuffix(word))
    if name.startswith("llm"):
        yield name.removeprefix("llm")
