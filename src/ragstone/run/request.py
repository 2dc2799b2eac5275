"""Request: the arguments of ``evaluate``, ``aevaluate`` and ``forecast``, listed and checked.

Limits on the rate and cost of model calls do not change what is measured.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial, wraps
from inspect import signature
from itertools import chain
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from ragstone.core.errors import InputError, each
from ragstone.core.user_code import source
from ragstone.data.json_text import shown
from ragstone.judges import MARKERS, fingerprint
from ragstone.metrics import QUICK, Metric, metric_types, parse_metric, register, suite_named
from ragstone.models import Encoder
from ragstone.models.cross_encoder import CrossEncoder

from .folder.run_list import Report
from .judging.judge_blocks import Debug
from .judging.run_models import Named
from .run_spec import Requested, each_once
from .settings import PLAIN, USUAL, Instructions, Limits

P = ParamSpec("P")
Result = TypeVar("Result")

WORDS: Mapping[object, str] = {
    str: "text", int: "a whole number", float: "a number", bool: "True or False",
    NoneType: "None", Path: "a path",
}  # fmt: skip
ABSTRACT: Mapping[object, type] = {int: Integral, float: Real, Path: os.PathLike}


def checked(function: Callable[P, Result]) -> Callable[P, Result]:
    """The function, refusing arguments that its annotations do not allow before it is called."""
    form = signature(function)

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> Result:
        check_arguments(function, form.bind(*args, **options).arguments)
        return function(*args, **options)

    return run


def check_arguments(form: Callable[..., object], arguments: Mapping[str, object]) -> None:
    """Raise ``InputError`` with every argument that the annotations of a function do not allow."""
    hints = get_type_hints(form)
    faults = [fault for name in arguments for fault in _faults(name, arguments[name], hints[name])]
    if faults:
        noun = "argument of a wrong type" if len(faults) == 1 else "arguments of a wrong type"
        raise InputError("\n  ".join([f"{len(faults)} {noun}:", *faults]))


def _faults(name: str, value: object, hint: Any) -> Iterator[str]:
    choices = _choices(hint)
    if any(_fits(value, choice) for choice in choices):
        return
    for choice in reversed(choices):
        if inside := list(_inside(name, value, choice)):
            yield from inside
            return
    yield f"{name}: expected {_in_words(choices)}, got {shown(value)}"


def _inside(name: str, value: object, hint: Any) -> Iterator[str]:
    if _takes_several(hint) and isinstance(value, list | tuple | set | frozenset):
        (each,) = get_args(hint)
        for at, entry in enumerate(value):
            yield from _faults(f"{name}[{at}]", entry, each)
    elif get_origin(hint) is Mapping and isinstance(value, Mapping):
        keys, values = get_args(hint)
        for key, entry in value.items():
            yield from _faults(f"a name in {name}", key, keys)
            yield from _faults(f"{name}[{key!r}]", entry, values)


def _choices(hint: Any) -> list[Any]:
    if isinstance(hint, UnionType) or get_origin(hint) is Union:
        return [choice for part in get_args(hint) for choice in _choices(part)]
    return [hint]


def _takes_several(hint: Any) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Iterable) and len(get_args(hint)) == 1


def _fits(value: object, hint: Any) -> bool:
    """Return whether the value can be used, as far as its type tells."""
    origin = get_origin(hint)
    if origin is Literal:
        return isinstance(value, str)
    if origin is Callable:
        return callable(value)
    if _takes_several(hint):
        # An iterator is empty when it is read again.
        several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Iterator)
        return several and not any(_inside("", value, hint))
    if origin is Mapping:
        return isinstance(value, Mapping) and not any(_inside("", value, hint))
    if hint is bool:
        return value is not None and hasattr(value, "__bool__")
    if hint is Any or origin is not None or not isinstance(hint, type):
        return True
    if getattr(hint, "_is_protocol", False):
        members = {name for name in vars(hint) if not name.startswith("_")}
        return hasattr(type(value), "__getattr__") or members <= set(dir(value))
    return isinstance(value, ABSTRACT.get(hint, hint))


def _in_words(choices: Sequence[Any]) -> str:
    """Describe the accepted types: ``text, a Metric or a list of these``."""
    several = [choice for choice in choices if _takes_several(choice)]
    words = [_word(choice) for choice in choices if choice not in several]
    if several:
        inside = _choices(get_args(several[0])[0])
        these = set(map(_word, inside)) <= set(words)
        words.append("a list of these" if these else f"a list of {_in_words(inside)}")
    words = list(dict.fromkeys(words))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _word(hint: Any) -> str:
    origin = get_origin(hint)
    if origin is Callable:
        return "a function"
    if origin is Mapping:
        return "a mapping"
    name = getattr(hint, "__name__", str(hint))
    return WORDS.get(hint, f"{'an' if name[0] in 'AEIO' else 'a'} {name}")


# Text that Polars writes for a Python function in an expression, whatever the function.
CALLS_PYTHON = "python_udf("


def several(names: str | Sequence[str]) -> Sequence[str]:
    """A list; a single name becomes a list of one."""
    return [names] if isinstance(names, str) else names


def requested(
    metrics: str | Metric | Sequence[str | Metric], suites: str | Sequence[str], *,
    else_quick: bool, cross_encoder: bool = False,
) -> Requested:  # fmt: skip
    """Look up the names; a user's own metrics are registered by name."""
    built_in = metric_types()
    listed = [metrics] if isinstance(metrics, (str, Metric)) else metrics
    for candidate in listed:
        if isinstance(candidate, Metric) and candidate.name not in built_in:
            register(candidate)
    names = tuple(dict.fromkeys(several(suites)))
    if else_quick and not names and not listed:
        names = (QUICK,)

    def looked_up(metric: str | Metric) -> Sequence[Metric]:
        return [metric if isinstance(metric, Metric) else parse_metric(metric)]

    def of_suite(name: str) -> Sequence[Metric]:
        return suite_named(name).metrics(cross_encoder=cross_encoder)

    work = [partial(looked_up, name) for name in listed]
    work += [partial(of_suite, name) for name in names if name != QUICK]
    return Requested(tuple(each_once(*chain.from_iterable(each(work)))), names)


def own_definitions(metrics: Sequence[Metric]) -> dict[str, str]:
    """A fingerprint of each user's own metric, because its name does not identify it."""
    built_in = metric_types()
    return {
        str(metric): fingerprint(_definition(metric))
        for metric in metrics
        if metric.name not in built_in
    }


def _definition(metric: Metric) -> object:
    """Return a metric's identity: by default its expressions, or the source of the function in
    them.
    """
    if metric.identity:
        return metric.identity
    parts = [(name, str(part.rule), part.empty) for name, part in metric.parts().items()]
    combined = str(metric.combine())
    if not any(CALLS_PYTHON in rule for rule in (combined, *(rule for _, rule, _ in parts))):
        return parts, combined
    made_by = getattr(type(metric), "made_by", type(metric))
    return source(made_by, instead=f'identity="1" for the metric {metric.name}')


@dataclass(frozen=True)
class Request:
    """What is to be evaluated: the arguments of ``evaluate``, and the options of its command.

    Args:
        data: A path, an iterable of mappings or examples, or a pandas, Polars or
            Arrow table; see ``ragstone.read``.
        metrics: One or more metrics, or names such as ``precision(k=5)``.
        suites: Names of suites of metrics. If neither metrics nor suites are given:
            ``quick``, every metric that the data and the judges allow.
        judge: Who judges: ``local``, ``human``, ``human:FILE``, ``nli:NAME``, ``openai:MODEL``,
            ``anthropic:MODEL``, ``gemini:MODEL`` or ``http://HOST/v1#MODEL``. Several models
            separated by commas form a panel that votes. Of several judges, each judges what the
            previous ones left unjudged. Default: the labels in the data, then ``local``. In Python
            also a model object, or an async function that answers a ``ChatRequest``.
        by: Also report results for each value of this field, such as ``question_type``. Results by
            system are always reported.
        cluster: Field that groups dependent rows: intervals treat rows with the same value as
            not independent. Default: ``session`` where sessions hold several questions, else
            ``question_id``.
        out: Run folder, or its URL, such as ``s3://bucket/runs/NAME``. If it already holds a run
            with the same data and settings, that run is resumed. In Python the default is a
            temporary folder.
        columns: Maps Ragstone's field names to the data's column names.
        qrels: Relevance judgements (qrels) for a TREC run.
        skip_bad: Skip invalid rows. They are written to ``rejected.jsonl`` in the run folder.
        keep_thoughts: Also judge what a reasoning model wrote in ``<think>`` tags, as part of its
            answer.
        limit: How many rows to evaluate, from the first. Default: all.
        citations: Regular expression that finds citations in an answer, if they are not like [1]
            or [doc-7]; its first group is the context's id or rank.
        embedder: Embedding model: ``builtin:minilm``, a folder, ``org/name`` on the Hugging Face
            Hub, ``openai:MODEL`` or ``http://HOST/v1#MODEL``. Default: ``builtin:minilm``,
            downloaded once, if a metric you name needs embeddings; if it cannot be had, scores that
            need it are missing. In Python also an encoder.
        cross_encoder: Cross-encoder that scores answer and reference together: a folder, or
            ``org/name`` on the Hugging Face Hub. In Python also an object.
        bertscore: BERTScore settings, separated by commas: ``model=NAME`` for an encoder of its own
            beside the embedder, ``layer=9``, ``idf`` (over the data's references), ``rescale`` or
            ``rescale=FILE``.
        offline: Download no model, and send no text to another machine.
        instructions: Plan, prompts, language and rubrics for chat models.
        limits: Limits on the rate and cost of model calls.
        engine: What judges: ``local``, this process; ``ray``, the Ray cluster of this machine, made
            if there is none; ``ray:HOST:PORT``, another. The numbers are the same.
        max_poison: Examples that end the worker which judges them are set aside, so many at most;
            their scores are missing.
        batch: Ask models in batches, usually at half the price. OpenAI, Anthropic, Gemini and
            servers with /v1/batches answer within a day; the same command goes on then. In Python
            this raises ``BatchesWaiting`` until then.
        batch_wait: Wait so many seconds for batches.
        batch_rest: How what a batch could not answer is asked again: ``batch``, in the next
            one, or ``alone``, at once and at the full price.
        debug: Called with each example as soon as it is judged; with chat models,
            before its whole block is.
        progress: Called after each block, and periodically while models are asked.

    Raises:
        InputError: Arguments of a wrong type, or a limit below 1.
    """

    data: Any
    _: KW_ONLY
    metrics: str | Metric | Sequence[str | Metric] = ()
    suites: str | Sequence[str] = ()
    judge: Named | Sequence[Named] = ()
    by: str | Sequence[str] = ()
    cluster: str | None = None
    out: str | Path | None = None
    columns: Mapping[str, str] | None = None
    qrels: str | Path | None = None
    skip_bad: bool = False
    keep_thoughts: bool = False
    limit: int | None = None
    citations: str = MARKERS
    embedder: str | Encoder | None = None
    cross_encoder: str | CrossEncoder | None = None
    bertscore: str = ""
    offline: bool = False
    instructions: Instructions = PLAIN
    limits: Limits = USUAL
    engine: str = "local"
    max_poison: int = 10
    batch: bool = False
    batch_wait: float = 0.0
    batch_rest: str = "batch"
    debug: Debug | None = None
    progress: Report | None = None

    def __post_init__(self) -> None:
        check_arguments(Request, vars(self))
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit must be 1 or more, not {self.limit}.")
        if self.max_poison < 0:
            raise InputError(f"max_poison must be 0 or more, not {self.max_poison}.")


def with_arguments_of(
    form: Callable[P, object],
) -> Callable[[Callable[..., Result]], Callable[P, Result]]:
    """Give a function the parameters of a form, and what its docstring says of them."""

    def decorate(function: Callable[..., Result]) -> Callable[P, Result]:
        form_signature = inspect.signature(function)
        parameters = list(inspect.signature(form).parameters.values())
        function.__signature__ = form_signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        listed = (inspect.getdoc(form) or "").partition("Args:\n")[2].partition("\n\nRaises:")[0]
        about, raises, errors = (inspect.getdoc(function) or "").partition("\n\nRaises:")
        function.__doc__ = f"{about}\n\nArgs:\n{listed}{raises}{errors}"
        return cast(Callable[P, Result], function)

    return decorate
