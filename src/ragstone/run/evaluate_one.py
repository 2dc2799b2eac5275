"""Evaluate one: the scores of a single example, at once and without a run folder."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from inspect import signature
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, TypeGuard, cast

from ragstone.core.errors import DataError, Fault, InputError, UnknownName
from ragstone.core.messages import argument
from ragstone.data import Example, read, to_frame
from ragstone.data.fields import NAMES, squash
from ragstone.data.record_labels import unread_labels
from ragstone.judgements import REQUIREMENTS, VALUE, Relevance
from ragstone.judges import MARKERS, Judge
from ragstone.judges.judge_names import parse_judges
from ragstone.metrics import QUICK, Composite, Metric, needed_asks, needed_fields, score
from ragstone.models import Encoder
from ragstone.models.cross_encoder import CrossEncoder

from .evaluate import LOGGER, evaluate, log_one
from .folder.schemas import STATUS_NAMES
from .judging.judge_blocks import JudgedBlock, judge_block
from .judging.run_models import Named, able_to_ask, askable, with_models
from .request import Request, requested, several
from .run_spec import Requested
from .settings import CITED, DataFacts, worth_it

EMBEDDING = "embedding"


class ScoresOfOne(dict[str, float | None]):
    """The value of each metric by its text form, None if it has none.

    Attributes:
        status: For each metric ``value``, ``undefined`` or ``missing``.
        reasons: Why there is no value, or the flags of a value; ``ragstone.explain`` puts them
            into words.
        labels: The words of values that have one, such as ``partial`` for ``answer_outcome``.
        judged: The judgements behind them.
    """

    def __init__(self, judged: JudgedBlock) -> None:
        super().__init__()
        self.judged = judged
        self.status: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.labels: dict[str, str] = {}


def evaluate_one(
    *, question: str | None = None, answer: str | None = None,
    contexts: str | Sequence[Any] | None = None, reference: str | Sequence[str] | None = None,
    metrics: str | Metric | Sequence[str | Metric] = (), suite: str | Sequence[str] = (),
    thresholds: Sequence[float] | None = None, judge: Named | Sequence[Named] = (),
    citations: str = MARKERS, embedder: str | Encoder | None = None,
    cross_encoder: str | CrossEncoder | None = None, offline: bool = False,
    keep_thoughts: bool = False, **fields: Any,
) -> ScoresOfOne:  # fmt: skip
    """Score a single answer, without a run folder; the numbers are those of ``evaluate``.

        evaluate_one(question="How long is the pier?", contexts=["The pier is 90 m long."],
                     answer="It is 90 m long.", metrics="faithfulness")["faithfulness"]

    The first call opens the judges, and calls with the same arguments reuse them, unless a chat
    model is among them. Can be called from several threads. For many answers ``evaluate`` is faster
    by far, has intervals, and limits what chat models may cost.

    Args:
        question: What was asked.
        answer: What was answered.
        contexts: What was retrieved, in rank order: texts, or mappings with ``id`` and ``text``.
            An empty list: nothing was found. None: the system does not retrieve.
        reference: One or several correct answers.
        metrics: One or more metrics, or names such as ``precision(k=5)``.
        suite: Names of suites of metrics. If neither metrics nor suites are given: ``quick``,
            every metric that has a value here.
        thresholds: Those of the suite ``embedding``, for sufficiency and hallucination.
        judge: One or more judges, as in ``evaluate``. Chat models are asked at once, and their
            replies are cached. Default: the labels in the fields, then ``local``.
        citations: Regular expression that finds citations in an answer.
        embedder: As of ``evaluate``.
        cross_encoder: As of ``evaluate``.
        offline: Download no model.
        keep_thoughts: As of ``evaluate``.
        fields: Other fields of an example: ``evidence``, ``history``, ``labels``, …

    Returns:
        The value of each metric, by its text form; see ``ScoresOfOne`` for why one has none.

    Raises:
        DataError: The example cannot be read, or a label of the answer is neither yes nor no.
        InputError: An unknown metric, suite or judge; an object that is no judge; a field that has
            nearly the name of an argument, or that of one of ``evaluate``.
    """
    texts = {"question": question, "answer": answer, "contexts": contexts, "reference": reference}
    record = {name: value for name, value in (texts | fields).items() if value is not None}
    chosen = [metrics] if isinstance(metrics, str | Metric) else metrics
    suites = _with_thresholds(several(suite), thresholds)
    _check_names(fields)
    (example,) = read([record], keep_thoughts=keep_thoughts)
    if unread := unread_labels(example.labels):
        # Here nobody has the notes of a run, nor the labels of several people.
        raise DataError([Fault("the example", None, *problem) for problem in unread])
    if _needs_no_model(judge):
        with _OPENING:
            request, opened = judges_for(
                tuple(chosen), suites, tuple(several(judge)), citations=citations,
                embedder=cast(Any, embedder), cross_encoder=cast(Any, cross_encoder),
                offline=offline,
            )  # fmt: skip
        scores = scores_of(example, request, opened)
    else:
        scores = _scores_by_models(
            example,
            Request(
                [record], metrics=chosen, suites=suites, judge=judge, citations=citations,
                embedder=embedder, cross_encoder=cross_encoder, offline=offline,
                keep_thoughts=keep_thoughts,
            ),
        )  # fmt: skip
    log_one(scores)
    return scores


def _needs_no_model(judge: Named | Sequence[Named]) -> TypeGuard[str | Sequence[str]]:
    from ragstone.models.chat.chat_names import is_chat

    names = [judge] if isinstance(judge, str) else judge
    return isinstance(names, list | tuple) and all(
        isinstance(name, str) and not any(map(is_chat, name.split(","))) for name in names
    )


def _scores_by_models(example: Example, request: Request) -> ScoresOfOne:
    """Ask chat models about one example; their replies are cached like those of runs."""
    from .run_plan import prepare

    prepared = prepare(request)
    _refuse_label_files(prepared.label_files, request.judge)
    with (
        TemporaryDirectory(prefix="ragstone-") as folder,
        prepared.chat.asking(Path(folder), request.limits, LOGGER.warning) as asking,
    ):
        spec = prepared.spec
        judges = able_to_ask(spec.judges, asking, spec.asks, prepared.answers)
        return scores_of(example, spec.requested, judges)


def _refuse_label_files(files: object, judge: object) -> None:
    if files:
        raise InputError(
            f"{argument('judge', judge)}: a label file is for many examples. Give the labels of "
            "this one as fields, such as labels={…}."
        )


def scores_of(example: Example, request: Requested, judges: Sequence[Judge]) -> ScoresOfOne:
    """The scores of one example, by metrics that are looked up and judges that are open."""
    requested_names = {str(metric) for metric in request.metrics}
    every = request.scored
    if QUICK in request.suites:
        holds = {
            name: requirement.holds.fill_null(value=False)
            for name, requirement in REQUIREMENTS.items()
        }
        (row,) = to_frame([example]).select(**holds).rows(named=True)
        has = frozenset(name for name, fulfilled in row.items() if fulfilled)
        fillable = askable(judges)
        every = [
            metric
            for metric in every
            if str(metric) in requested_names or _can_be(metric, has, fillable)
        ]
    judged = judge_block([example], judges, needed_asks(every))
    frames = score(judged.tables, every)
    facts = _facts(example, judged, frames)
    result = ScoresOfOne(judged)
    for metric in every:
        name = str(metric)
        value, label, status, reason = frames[name].row(0)
        if name not in requested_names and (status != VALUE or not worth_it(metric, facts)):
            continue
        result[name] = value
        result.status[name] = STATUS_NAMES[status]
        if reason is not None:
            result.reasons[name] = reason
        if label is not None:
            result.labels[name] = label
    return result


def _facts(example: Example, judged: JudgedBlock, frames: Mapping[str, Any]) -> DataFacts:
    columns = (judged.ledger[name].to_list() for name in ("ask", "judge", "status"))
    outcomes = set(zip(*columns, strict=True))
    asks = [ask.name for ask in Relevance.asks]
    labelled, by_ids = (
        any((ask, judge, "ok") in outcomes for ask in asks) for judge in ("human", "ids")
    )
    cited = CITED in frames and (frames[CITED]["value"][0] or 0) > 0
    return DataFacts(bool(example.contexts), labelled, by_ids, cited)


# Two threads do not open the same model.
_OPENING = Lock()


@lru_cache(maxsize=32)
def judges_for(
    metrics: tuple[str | Metric, ...] = (), suites: tuple[str, ...] = (),
    judges: tuple[str, ...] = (), *, citations: str = MARKERS,
    embedder: str | Encoder | None = None, cross_encoder: str | CrossEncoder | None = None,
    offline: bool = False,
) -> tuple[Requested, tuple[Judge, ...]]:  # fmt: skip
    """The metrics and judges for these arguments of ``evaluate_one``, kept for the same ones."""
    request = requested(metrics, suites, else_quick=True, cross_encoder=cross_encoder is not None)

    panel = partial(parse_judges, judges, citations, offline=offline)
    first = panel()
    _refuse_label_files(first.label_files, judges)
    whole, _ = with_models(
        panel, first, request, (), embedder=embedder, cross_encoder=cross_encoder, offline=offline
    )
    return request, whole.judges


def _with_thresholds(suites: Sequence[str], thresholds: Sequence[float] | None) -> tuple[str, ...]:
    if thresholds is None:
        return tuple(suites)
    if EMBEDDING not in suites:
        raise InputError(
            f"thresholds are those of the suite {EMBEDDING}: evaluate_one(…, "
            f'suite="{EMBEDDING}", thresholds=(0.5, 0.4)). A metric has its own, such as '
            "embedding_hallucination(threshold=0.4)."
        )
    values = tuple(thresholds) if isinstance(thresholds, Sequence) else thresholds
    form = f"{EMBEDDING}(thresholds={values!r})"
    return tuple(form if name == EMBEDDING else name for name in suites)


def _check_names(fields: Iterable[str]) -> None:
    """Refuse a field that was meant for an argument."""
    known = {squash(known_name) for names in NAMES.values() for known_name in names}
    unknown = [name for name in fields if squash(name) not in known]
    if not unknown:
        return
    arguments = [name for name in signature(evaluate_one).parameters if name != "fields"]
    for name in unknown:
        if get_close_matches(name, arguments, n=1, cutoff=0.8):
            raise UnknownName("argument of evaluate_one", name, arguments)
        if name in signature(evaluate).parameters:
            raise InputError(
                f"{name} is an argument of evaluate, not of evaluate_one, which scores one answer "
                f"without a run. As a field of the example it needs another name."
            )


def _can_be(metric: Metric, has: frozenset[str], fillable: frozenset[str]) -> bool:
    if isinstance(metric, Composite) or type(metric).decided != Metric.decided:
        return True
    return has.issuperset(needed_fields(metric)) and metric.asks <= fillable
