"""Request: the arguments of ``evaluate``, ``aevaluate`` and ``forecast``, listed once for all."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from ragstone.core.errors import InputError
from ragstone.judges import MARKERS
from ragstone.metrics import Metric
from ragstone.models import Encoder
from ragstone.models.cross_encoder import CrossEncoder

from .arguments import check_arguments
from .instructions import PLAIN, Instructions
from .limits import USUAL, Limits
from .live import Debug
from .named_models import Named
from .progress import Report

P = ParamSpec("P")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Request:
    """What a caller asks for, as given; ``evaluate`` says what each argument means.

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
    """Give a function the parameters of a form, for type checkers, editors and ``help``."""

    def decorate(function: Callable[..., Result]) -> Callable[P, Result]:
        shown = inspect.signature(function)
        parameters = list(inspect.signature(form).parameters.values())
        function.__signature__ = shown.replace(parameters=parameters)  # type: ignore[attr-defined]
        return cast(Callable[P, Result], function)

    return decorate
