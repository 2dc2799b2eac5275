"""Settings: a run's settings as in ``run.json``, limits on model calls, and the quick suite.

The quick suite is settled when all examples are scored. A metric is left out if no example has a
value, if over a tenth of the examples that could have a value lack a judgement that no judge of
the run can give, or if its condition does not hold. A metric stays if a judge tried and failed
at it, because failures are reported, not hidden.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict, FailFast

from ragstone.core.errors import InputError
from ragstone.judgements import (
    ASKS,
    BERTSCORES,
    MISSING,
    VALUE,
    Lexical,
    Ngrams,
    Similarity,
    SquadWords,
)
from ragstone.metrics import QUICK_METRICS, Metric, needed_asks, parse_metric

T = TypeVar("T")
# A list in which only the first fault is reported: with millions, each would take a kilobyte.
Several = Annotated[list[T], FailFast()]

MOST_UNJUDGED = 0.1
# How the reason of a missing score begins if no judge of the run can give the judgement.
BY_NOBODY = ("not_judged", "local: no_")

# The metric that tells whether any answer names a source.
CITED = "citation_presence"


@dataclass(frozen=True, slots=True)
class DataFacts:
    """Facts about the data after judging."""

    # Some example has a context.
    retrieved: bool
    # People labelled contexts.
    labelled: bool
    # Ids say what is relevant.
    by_ids: bool
    # Some answer names a source.
    cited: bool


# Conditions under which a metric is worth its line, where a value alone does not say so.
CONDITIONS: dict[str, Callable[[DataFacts], bool]] = {
    "list_ndcg": lambda facts: not facts.by_ids,
    "graded_relevance": lambda facts: not facts.by_ids,
    "sufficiency_hit": lambda facts: facts.labelled,
    "sufficiency_rate": lambda facts: facts.labelled,
    "misleading_rate": lambda facts: facts.labelled,
    CITED: lambda facts: facts.cited,
    "citation_precision": lambda facts: facts.cited,
    "citation_recall": lambda facts: facts.cited,
}


@cache
def candidates() -> tuple[Metric, ...]:
    """The metrics that the suite chooses from."""
    return tuple(map(parse_metric, QUICK_METRICS))


def choose(offered: Sequence[Metric], counts: pl.DataFrame, facts: DataFacts) -> list[Metric]:
    """The metrics that the data and the judges allow, by how often each outcome came (``len``)."""
    gaps = {str(metric): metric.gap for metric in offered}
    valued, unjudged = Counter[str](), Counter[str]()
    outcomes = counts.select("metric", "status", "reason", "len").iter_rows()
    for name, status, reason, times in outcomes:
        by_nobody = reason == gaps.get(name) or (reason or "").startswith(BY_NOBODY)
        if status == VALUE:
            valued[name] += times
        elif status == MISSING and by_nobody:
            unjudged[name] += times

    def is_judged(name: str) -> bool:
        most = MOST_UNJUDGED * (valued[name] + unjudged[name])
        return valued[name] > 0 and unjudged[name] <= most

    return [metric for metric in offered if worth_it(metric, facts) and is_judged(str(metric))]


def worth_it(metric: Metric, facts: DataFacts) -> bool:
    """Return whether a metric with values is worth its line."""
    condition = CONDITIONS.get(str(metric))
    return (facts.retrieved or not _needs_contexts(metric)) and (
        condition is None or condition(facts)
    )


@lru_cache(maxsize=256)
def _needs_contexts(metric: Metric) -> bool:
    required = {name for ask in needed_asks([metric]) for name in ASKS[ask].requires}
    return "contexts" in required | set(metric.requires)


BERTSCORE_ASKS = frozenset(Similarity.ask(measure).name for measure in BERTSCORES)
# Asks that count the words and letters of two texts.
TEXT_ASKS = frozenset({Lexical.name, SquadWords.name, Ngrams.name})


@dataclass(frozen=True, slots=True)
class ModelNames:
    """The models and rules that compared the texts of a run, as in its manifest.

    Args:
        encoder: Name and fingerprint; None if none is needed or none could be opened.
        reads: The encoder's token limit; 0 if unknown.
        bertscore: The settings of BERTScore; None if it is not computed.
        cross_encoder: Name and fingerprint; None if none was named.
        lacking: Why a required encoder is not available.
        strings: Why the local judge does not use the stored encoder.
        text: The version of the rules that count words and letters.
    """

    encoder: str | None = None
    reads: int = 0
    bertscore: str | None = None
    cross_encoder: str | None = None
    lacking: str | None = None
    strings: str | None = None
    text: str = "ascii"

    def settings(self) -> dict[str, str | None]:
        """The settings that a resumed run must share."""
        return {
            "encoder": self.encoder,
            "bertscore": self.bertscore,
            "cross_encoder": self.cross_encoder,
        }

    def signature(self, asks: Collection[str]) -> list[str]:
        """The part of a signature for numbers that depend on these asks."""
        by = {filler for ask in asks for filler in ASKS[ask].by}
        words = []
        if self.encoder and "encoder" in by:
            words.append(f"encoder:{_short(self.encoder)}")
        if self.bertscore and not BERTSCORE_ASKS.isdisjoint(asks):
            words.append(f"bertscore:{self.bertscore}")
        if self.cross_encoder and "cross_encoder" in by:
            words.append(f"cross_encoder:{_short(self.cross_encoder)}")
        if not TEXT_ASKS.isdisjoint(asks):
            words.append(f"text:{self.text}")
        return words


NO_MODELS = ModelNames()


def _short(identity: str) -> str:
    name, _, fingerprint = identity.rpartition("@")
    return f"{name}@{fingerprint[:12]}"


class ChatSettings(BaseModel):
    """The judges that are chat models, and their instructions."""

    judges: dict[str, Several[str]]
    plan: str
    prompts: dict[str, str]
    rubrics: str


class RunSettings(BaseModel):
    """The settings of a run, in the order of ``run.json``.

    Other content, from a later version or added by hand, is kept unchanged. Fields with a
    default are written and compared, and read by nothing else.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    ragstone: str = ""
    # Fingerprint of the examples.
    data: str
    # Fingerprints of the label files.
    labels: Any = ()
    metrics: Any = ()
    # Fingerprints of the user's own metrics.
    definitions: dict[str, str]
    suites: Any = ()
    judges: Any = ()
    local: Several[str]
    # The models of its NLI judges, each as ``NAME@FINGERPRINT``.
    nli: Several[str]
    # Absent where no judge is a chat model.
    llm: ChatSettings | None = None
    encoder: Any = None
    bertscore: Any = None
    cross_encoder: Any = None
    citations: str
    by: Any = ()
    cluster: str
    columns: Any = None
    limit: Any = None
    skip_bad: Any = None
    # Absent where thoughts are taken off answers, as they usually are.
    keep_thoughts: Any = None
    # The systems of which some answers are null and others are not, so that a null answer is
    # missing; absent where there are none.
    partly_answered: Several[str] = []

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``run.json``."""
        return self.model_dump(exclude_unset=True)


@dataclass(frozen=True, slots=True)
class Instructions:
    """Instructions to chat models.

    Args:
        plan: ``isolated``: each task in its own call. ``lean``: fewer calls, because some tasks
            share one and may influence each other.
        prompts: Folder of custom prompts: files such as ``support.md``, which replace the
            built-in ones.
        language: Language in which models write claims and reasons, such as German. Default: the
            language of the texts.
        rubrics: TOML file that defines your own criteria.
    """

    plan: str = "isolated"
    prompts: Path | None = None
    language: str | None = None
    rubrics: Path | None = None


PLAIN = Instructions()


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on calls to models.

    Args:
        timeout: Time limit for one reply in seconds, counted from when the request is sent.
        concurrency: Maximum concurrent calls per model; adapts to the server's limit.
        rpm: Maximum calls per minute to each model. Default: no known limit.
        tpm: Maximum tokens per minute to each model. Default: no known limit.
        max_calls: Maximum calls in the whole run; what is then not judged is missing.
        budget: Maximum cost of the whole run in US dollars. What is then not judged is missing,
            and the same run with a larger budget goes on. Needs prices.
        prices: TOML file with prices per million tokens. Default: the prices in the ``prices``
            extra.
        cache: Folder that caches replies across runs, or its URL, such as ``s3://bucket/cache``,
            for several machines. Default: Ragstone's cache folder.
        cached: Whether to use replies cached by earlier runs and to cache new ones.

    Raises:
        InputError: A value out of range.
    """

    timeout: float = 120.0
    concurrency: int = 64
    rpm: int | None = None
    tpm: int | None = None
    max_calls: int | None = None
    budget: float | None = None
    prices: Path | None = None
    cache: str | Path | None = None
    cached: bool = True

    def __post_init__(self) -> None:
        faults = []
        for name in ("timeout", "concurrency", "rpm", "tpm", "max_calls", "budget"):
            value, may_be_0 = getattr(self, name), name in ("max_calls", "budget")
            if value is not None and not (value > 0 or (may_be_0 and value == 0)):
                least = "0 or more" if may_be_0 else "above 0"
                faults.append(f"{name} must be {least}, not {value:g}")
        if faults:
            raise InputError(f"{'; '.join(faults)}.")


USUAL = Limits()
