"""Names: from a metric's text form to the metric, old names included."""

import ast
import dataclasses
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ragstone.errors import InputError, UnknownName

from . import (
    answer_rates,
    answer_relevance,
    by_ids,
    citing,
    composite,
    correctness,
    critique,
    embedding,
    faithfulness,
    grades,
    ndcg,
    overlap,
    ranking,
    rating,
    retrieval,
    sufficiency,
    win_rate,
)
from .core import Metric

_MODULES = (
    ranking,
    sufficiency,
    grades,
    ndcg,
    by_ids,
    retrieval,
    faithfulness,
    citing,
    answer_rates,
    answer_relevance,
    correctness,
    overlap,
    embedding,
    rating,
    critique,
    win_rate,
    composite,
)

ALIASES: dict[str, tuple[str, str]] = {
    "ragas_faithfulness": ("faithfulness", "supported claims over claims"),
    "hallucination_rate": ("hallucination", "1 - faithfulness, undefined without claims"),
    "context_relevancy": ("sentence_relevance", "relevant sentences over all of them"),
    "context_relevance": ("graded_relevance", "mean grade of the contexts"),
    "context_sentence_relevancy": ("sentence_relevance", "relevant sentences over all of them"),
    "answer_relevancy": ("answer_relevance", "cosine with questions generated from the answer"),
    "response_relevancy": ("answer_relevance", "cosine with questions generated from the answer"),
    "contextual_precision": ("context_precision", "average precision over the retriever's order"),
    "contextual_recall": ("context_recall", "reference statements that the contexts support"),
    "contextual_relevancy": ("sentence_relevance", "relevant sentences over all of them"),
    "answer_similarity": ("semantic_similarity", "cosine with the reference"),
    "topical_precision": ("precision", "relevant contexts in the top k over k"),
    "topical_precision_at_k": ("precision", "relevant contexts in the top k over k"),
    "precision_at_k": ("precision", "relevant contexts in the top k over k"),
    "recall_at_k": ("recall", "known relevant contexts in the top k"),
    "hit_rate": ("hit", "whether the top k hold a known relevant context"),
    "ndcg_at_k": ("ndcg", "exponential gain, ideal of the labelled list"),
    "mrr_at_k": ("mrr", "one over the first relevant rank"),
    "map_at_k": ("map", "average precision over all known relevant contexts"),
    "sufficiency_hit_at_k": ("sufficiency_hit", "any sufficient context in the top k"),
    "sufficiency_rate_at_k": ("sufficiency_rate", "sufficient contexts in the top k over k"),
    "misleading_context_rate": ("misleading_rate", "misleading contexts in the top k over k"),
    "misleading_context_rate_at_k": ("misleading_rate", "misleading contexts in the top k over k"),
    "support_present": ("grounding_presence", "answers with a supported claim"),
    "unsupported_claim_present": ("unsupported_claim", "answers with an unsupported claim"),
    "contradicted_claim_present": ("contradiction", "answers with a contradicted claim"),
    "source_cited": ("citation_presence", "answers that name a source"),
    "conditional_fabrication_rate": ("citation_fabrication", "of the answers that cite"),
    "fabricated_source": ("citation_fabrication", "of the answers that cite"),
    "response_on_topic": ("on_topic", "answers that are about what was asked"),
    "helpful": ("helpfulness", "answers that leave the user better off"),
    "incomplete": ("incompleteness", "answers in which something is not there"),
    "factual_accuracy_grade": ("factual_accuracy", "the letter stands beside the score"),
    "factual_accuracy_percentage": ("factual_accuracy", "from 0 to 1 here"),
    "correct_count": ("answer_outcome", "its label correct, counted"),
    "wrong_count": ("answer_outcome", "its label wrong, counted"),
    "dont_know_count": ("answer_outcome", "its label dont_know, counted"),
    "factual_correctness": ("answer_correctness(factual=1)", "F1 of claims and statements"),
    "bert_score_f1": ("bertscore_f1", "greedy token matching"),
    "rouge_1": ("token_f1", "the same number"),
    "rouge1": ("token_f1", "the same number"),
    "rouge2": ("rouge_2", "F1 over the bigrams"),
    "rougeL": ("rouge_l", "F1 of the longest common subsequence"),
    "em": ("exact_match", "after SQuAD normalisation"),
    "f1": ("token_f1", "over rouge-score's tokens"),
    "aspect_critique": ("critique", "majority of the votes on an aspect"),
}
"""Names that other tools use, what they are here, and what that means."""

LARGEST = 1e300
"""A parameter that is a number stays below it, so NaN and infinity are none."""

_OWN: dict[str, Metric] = {}


def metric_types() -> dict[str, type[Metric]]:
    """Every metric that comes with Ragstone, by name, in the order of the catalogue."""
    return dict(_TYPES)


def own_metrics() -> dict[str, Metric]:
    """Users' own metrics: from entry points, and from files read so far."""
    for point in entry_points(group="ragstone.metrics"):
        if point.name not in _OWN:
            try:
                _register(point.load())
            except InputError:
                raise
            except Exception as error:
                raise InputError(
                    f"The metric {point.name} of {point.value} cannot be loaded: "
                    f"{type(error).__name__}: {error}"
                ) from error
    return dict(_OWN)


def load_metrics(path: Path) -> list[Metric]:
    """Read the metrics that a Python file defines with ``@metric`` or as classes.

    Raises:
        InputError: The file is not there, does not run, defines no metric, or
            one whose name is taken.
    """
    if not path.is_file():
        raise InputError(f"--metrics-from {path}: there is no such file.")
    spec = importlib.util.spec_from_file_location(f"ragstone_own_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"--metrics-from {path}: not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            f"--metrics-from {path}: {type(error).__name__} while it ran: {error}"
        ) from error
    found = [_register(value) for value in _defined(module)]
    if not found:
        raise InputError(
            f"--metrics-from {path}: no metric in it. Put @metric(over=Claims) before a function."
        )
    return found


def parse_metric(text: str) -> Metric:
    """The metric a text form names: ``faithfulness``, ``ndcg(k=10)``, ``answer_relevancy``.

    Raises:
        UnknownName: No metric is called that.
        InputError: The text cannot be read, or a parameter is unknown or wrong.
    """
    name, given = _split(text)
    if name in ALIASES and name not in _TYPES:
        target, _ = ALIASES[name]
        name, preset = _split(target)
        given = preset | given
    if name in _TYPES:
        kind = _TYPES[name]
    else:
        own = own_metrics()
        if name not in own:
            known = [*_TYPES, *own, *ALIASES]
            raise UnknownName(
                "metric",
                name,
                known,
                hint="ragstone metrics lists them; your own come with --metrics-from FILE.",
            )
        if not given:
            return own[name]
        kind = type(own[name])
    fields = {field.name: field for field in dataclasses.fields(kind)}
    unknown = sorted(set(given) - set(fields))
    if unknown:
        takes = ", ".join(fields) or "none"
        raise InputError(f"{name} has no parameter {', '.join(unknown)}. It takes: {takes}.")
    _check_types(kind, given)
    return kind(**given)


def alias_note(text: str) -> str | None:
    """What an old name means here; None for a name of our own."""
    name = text.split("(")[0].strip()
    if name not in ALIASES or name in _TYPES:
        return None
    target, meaning = ALIASES[name]
    return f"{name} is {target} here: {meaning}."


def _split(text: str) -> tuple[str, dict[str, object]]:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if isinstance(tree, ast.Name):
            return tree.id, {}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
            return tree.func.id, {
                str(keyword.arg): ast.literal_eval(keyword.value) for keyword in tree.keywords
            }
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    raise InputError(f"{text!r} is no metric. Write name or name(parameter=value): precision(k=5).")


def _register(value: object) -> Metric:
    made = _made(value) if isinstance(value, type) and issubclass(value, Metric) else value
    if not isinstance(made, Metric):
        raise InputError(f"{value!r} is no metric.")
    if made.name in _TYPES or made.name in ALIASES:
        raise InputError(f"A metric called {made.name} comes with Ragstone. Choose another name.")
    _OWN[made.name] = made
    return made


def _made(kind: type[Metric]) -> Metric:
    try:
        return kind()
    except TypeError as error:
        raise InputError(
            f"{kind.__name__}: every parameter of a metric has a default. {error}"
        ) from error


def _check_types(kind: type[Metric], given: Mapping[str, object]) -> None:
    """Refuse values that a parameter cannot have, before they meet a rule."""
    hints = get_type_hints(kind)
    wrong = [
        f"{name} must be {_in_words(hints[name])}, not {value!r}"
        for name, value in given.items()
        if not _fits(value, hints[name])
    ]
    if wrong:
        raise InputError(f"{kind.name}: {'; '.join(wrong)}.")


def _fits(value: object, hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if get_origin(hint) is tuple:
        return (
            isinstance(value, tuple)
            and len(value) == len(get_args(hint))
            and all(map(_fits, value, get_args(hint)))
        )
    if hint is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return abs(value) < LARGEST
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def _in_words(hint: Any) -> str:
    if isinstance(hint, UnionType):
        return " or ".join(map(_in_words, get_args(hint)))
    if get_origin(hint) is Literal:
        return " or ".join(get_args(hint))
    if get_origin(hint) is tuple:
        return f"({', '.join(map(_in_words, get_args(hint)))})"
    words = {int: "a whole number", float: "a number", str: "text", type(None): "None"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))


def _defined(module: ModuleType) -> Iterator[object]:
    for value in vars(module).values():
        if isinstance(value, Metric) or (_is_metric(value) and value.__module__ == module.__name__):
            yield value


def _is_metric(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Metric) and "name" in vars(value)


_TYPES: dict[str, type[Metric]] = {
    value.name: value
    for module in _MODULES
    for value in vars(module).values()
    if _is_metric(value) and value.__module__ == module.__name__ and value.name != "composite"
} | {"composite": composite.Composite}
