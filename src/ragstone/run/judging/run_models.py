"""Run models: opens the encoder, cross-encoder and chat models that a run names."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragstone.core.errors import InputError, MissingDependency, ModelError, ModelFailure
from ragstone.core.files import RunEntry
from ragstone.core.messages import reason
from ragstone.judgements import (
    ASKS,
    Agreement,
    ConversationSupport,
    Rating,
    Relevance,
    Support,
    Topic,
)
from ragstone.judges import Judge, fingerprint
from ragstone.judges.judge import LOCAL
from ragstone.judges.similarity import BertscoreOptions, BertscoreSettings
from ragstone.judges.text_counts import TEXT_VERSION
from ragstone.metrics import needed_asks
from ragstone.models import BUILTIN, Encoder, open_encoder
from ragstone.models.chat import ChatModel
from ragstone.models.cross_encoder import CrossEncoder, open_cross_encoder
from ragstone.models.model_store import find
from ragstone.run.run_spec import Requested
from ragstone.run.settings import (
    BERTSCORE_ASKS,
    PLAIN,
    USUAL,
    ChatSettings,
    Instructions,
    Limits,
    ModelNames,
)

if TYPE_CHECKING:
    from ragstone.judges.judge_names import Panel
    from ragstone.judges.llm.llm_judge import Asker, LLMJudge
    from ragstone.judges.llm.rubrics import Rubric
    from ragstone.models.chat.http_transport import Connections
    from ragstone.run.calls.asker import Asking
    from ragstone.run.calls.attempt import BatchedReplies

    from .chat_judge import ChatJudge


# A model as a Python caller may give it: its name, itself, or an async function.
Model = str | ChatModel | Callable[..., Any]

# A judge: a model, a judge without one by its name, or several models, which vote.
Named = Model | Sequence[Model]


def _open_named(
    judge: Named | Sequence[Named], *, offline: bool, to_ask: bool = True
) -> "tuple[tuple[str, ...], dict[str, tuple[ChatModel, ...]], Connections | None]":
    """Open the chat models among the judges. Models separated by commas form a panel that votes."""
    from ragstone.models.chat.chat_names import is_chat

    judges = cast(Sequence[Named], judge if isinstance(judge, list | tuple) else [judge])
    by_name: dict[str, tuple[ChatModel, ...]] = {}
    names: list[str] = []
    pool = None
    for judge_given in judges:
        if isinstance(judge_given, str) and not any(map(is_chat, judge_given.split(","))):
            names.append(judge_given)
            continue
        if pool is None:
            from ragstone.models.chat.http_transport import Connections

            pool = Connections()
        models = _opened(judge_given, pool, offline=offline, to_ask=to_ask)
        _check_panel(models)
        joined = ",".join(model.name for model in models)
        name = judge_given if isinstance(judge_given, str) else joined
        if name in by_name:
            raise InputError(
                f"Two judges are called {name}. Names must be unique; your own function gets a "
                "name by CallableChat(function, name=…)."
            )
        names.append(name)
        by_name[name] = models
    return tuple(names), by_name, pool


def _opened(
    judge: Named, connections: "Connections", *, offline: bool, to_ask: bool
) -> tuple[ChatModel, ...]:
    if isinstance(judge, str):
        from ragstone.judges.judge_names import panel_models
        from ragstone.models.chat.chat_names import open_chat

        return tuple(
            open_chat(name, connections, offline=offline, to_ask=to_ask)
            for name in panel_models(judge)
        )
    if isinstance(judge, list | tuple):
        opened = [_opened(part, connections, offline=offline, to_ask=to_ask) for part in judge]
        return tuple(chain.from_iterable(opened))
    if callable(judge):
        from ragstone.models.chat.library_clients import CallableChat

        return (CallableChat(judge),)
    assert not isinstance(judge, Sequence)
    return (judge,)


def _check_panel(models: Sequence[ChatModel]) -> None:
    """Check that no member has another judge's name, and no two would give the same replies."""
    from ragstone.judges.judge_names import is_without_model

    for model in models:
        if is_without_model(model.name):
            raise InputError(
                f"A model cannot be called {model.name}: that is another judge. Give it another "
                "name; a function of your own gets one by CallableChat(function, name=…)."
            )
    for what in ("name", "identity"):
        known = [getattr(model, what) for model in models]
        twice = next((value for value in known if known.count(value) > 1), None)
        if twice is not None:
            raise InputError(
                f"{twice} is in a panel twice. Its members vote: name each once, or tell them "
                "apart by a setting such as ?seed=2."
            )


@dataclass(frozen=True, slots=True)
class Models:
    """The opened models of a run; see ``ModelNames``."""

    encoder: Encoder | None = None
    bertscore: BertscoreSettings | None = None
    cross_encoder: CrossEncoder | None = None
    lacking: str | None = None

    @property
    def opened(self) -> ModelNames:
        encoder, settings, second = self.encoder, self.bertscore, self.cross_encoder
        return ModelNames(
            encoder=None if encoder is None else identity(encoder),
            reads=0 if encoder is None else encoder.max_tokens,
            bertscore=None if encoder is None or settings is None else settings.about(encoder),
            cross_encoder=None if second is None else identity(second),
            lacking=self.lacking, text=TEXT_VERSION,
        )  # fmt: skip


def open_models(
    asks: Collection[str], fillable: Collection[str], references: Iterable[str], *,
    embedder: str | Encoder | None = None, cross_encoder: str | CrossEncoder | None = None,
    bertscore: BertscoreOptions | None = None, offline: bool = False,
) -> Models:  # fmt: skip
    """Open the named models, and the default encoder if a metric needs one."""
    options = bertscore or BertscoreOptions()
    with_bertscore = not BERTSCORE_ASKS.isdisjoint(asks)
    bertscore_encoder = (
        open_encoder(options.model, offline=offline) if options.model and with_bertscore else None
    )
    others = (
        asks if bertscore_encoder is None else [ask for ask in asks if ask not in BERTSCORE_ASKS]
    )
    encoder, lacking = encoder_for(others, fillable, embedder, offline=offline)
    if encoder is None and lacking is None:
        encoder = bertscore_encoder
    if isinstance(cross_encoder, str):
        cross_encoder = open_cross_encoder(cross_encoder, offline=offline)
    settings = None
    if encoder is not None and with_bertscore and (encoder.layers or options != BertscoreOptions()):
        settings = options.settle(encoder, references, bertscore_encoder)
    return Models(encoder, settings, cross_encoder, lacking)


def with_models(
    panel: "Callable[..., Panel]", first: "Panel", requested: Requested,
    references: Iterable[str], *,
    embedder: str | Encoder | None, cross_encoder: str | CrossEncoder | None,
    bertscore: BertscoreOptions | None = None, offline: bool,
) -> "tuple[Panel, ModelNames]":  # fmt: skip
    """The judges with the models that they need, which follow from what they can be asked.

    Args:
        panel: Makes the judges, of the models as ``parse_judges`` takes them.
        first: These without models.
    """
    models = open_models(
        needed_asks(requested.metrics), askable(first.judges), references, embedder=embedder,
        cross_encoder=cross_encoder, bertscore=bertscore, offline=offline,
    )  # fmt: skip
    aligner, strings = local_encoder(first.judges, needed_asks(requested.scored), models.encoder)
    whole = panel(
        local=aligner, encoder=models.encoder, cross_encoder=models.cross_encoder,
        bertscore=models.bertscore,
    )  # fmt: skip
    return whole, replace(models.opened, strings=strings)


def encoder_for(
    asks: Collection[str], fillable: Collection[str], embedder: str | Encoder | None, *,
    offline: bool,
) -> tuple[Encoder | None, str | None]:  # fmt: skip
    """The encoder, or why the required default one is not available."""
    if embedder is not None and not isinstance(embedder, str):
        return embedder, None
    if embedder is not None:
        return open_encoder(embedder, offline=offline), None
    if not any(needs_encoder(ask, fillable) for ask in asks):
        return None, None
    try:
        return open_encoder(BUILTIN, offline=offline), None
    except (ModelError, ModelFailure, MissingDependency) as error:
        return None, " ".join(error.text.split())


def local_encoder(
    judges: Iterable[Judge], asks: Collection[str], had: Encoder | None
) -> tuple[Encoder | None, str | None]:
    """The encoder of the local judge: the built-in one, if it is on this machine.

    Or why the stored one cannot be used; None if none is stored.
    """
    if ALIGNED_ASKS.isdisjoint(asks) or all(judge.name != LOCAL for judge in judges):
        return None, None
    if had is not None and had.name == BUILTIN:
        return had, None
    if find(BUILTIN) is None:
        return None, None
    try:
        return open_encoder(BUILTIN, offline=True), None
    except (ModelError, MissingDependency) as error:
        return None, " ".join(error.text.split())


def askable(judges: Iterable[Judge]) -> frozenset[str]:
    """The asks that one of these judges can answer."""
    return frozenset[str]().union(*map(attrgetter("asks"), judges))


# Asks that the local judge answers better with an encoder.
ALIGNED_ASKS = frozenset(
    ask.name
    for ask in (
        *Relevance.asks, *Support.asks, *ConversationSupport.asks, Agreement.ask("statement"),
    )
)  # fmt: skip


def identity(model: Encoder | CrossEncoder) -> str:
    """The model's name and fingerprint."""
    return f"{model.name}@{model.fingerprint}"


def needs_encoder(ask: str, fillable: Collection[str]) -> bool:
    """Return whether an ask compares texts that are in the data, or that a judge can make."""
    return "encoder" in ASKS[ask].by and all(earlier in fillable for earlier in ASKS[ask].after)


@dataclass(frozen=True)
class ChatJudges:
    """The LLM judges of a run, by name.

    Attributes:
        names: All judges as the user wrote them, including those without a model.
    """

    names: tuple[str, ...]
    judges: "Mapping[str, ChatJudge]"
    pool: "Connections | None" = None

    def settings(self) -> ChatSettings | None:
        """The settings that a resumed run must share; None without chat models."""
        if not self.judges:
            return None
        first = next(iter(self.judges.values())).judge
        criteria, rubrics = _criteria(first)
        return ChatSettings(
            judges={
                name: [
                    f"{model.identity}|window={model.window}|items={model.items}"
                    for model in judge.judge.models
                ]
                for name, judge in self.judges.items()
            },
            plan=first.plan.name,
            prompts=first.prompts.versions(),
            rubrics=fingerprint(*(repr(rubrics[name]) for name in criteria)),
        )

    def asking(
        self, folder: Path, limits: Limits, note: Callable[[str], None],
        batched: "BatchedReplies | None" = None,
    ) -> "Asking":  # fmt: skip
        from ragstone.run.calls.asker import Asking
        from ragstone.run.calls.budget import Budget, load_prices
        from ragstone.run.calls.journal import Journal
        from ragstone.run.calls.model_client import CallLimits
        from ragstone.run.calls.reply_cache import open_replies

        prices = load_prices(limits.prices)
        journal = Journal.open(folder / RunEntry.JOURNAL)
        try:
            cache = open_replies(limits.cache, note) if limits.cached else None
        except InputError:
            journal.close()
            raise
        before = journal.before
        asking = Asking(
            journal,
            limits=CallLimits.of(limits), prices=prices,
            budget=Budget(limits.budget, limits.max_calls, spent=before.usd or 0.0,
                          calls=before.calls),
            cache=cache, pool=self.pool, batched=batched,
        )  # fmt: skip
        try:
            for model in self.models:
                asking.expect(model)
        except InputError:
            asking.close()
            raise
        return asking

    def notes(self, instructions: Instructions, limits: Limits) -> list[str]:
        """Return remarks on unsupported request fields, own rubrics and unused options."""
        if not self.judges:
            unused = instructions != PLAIN or limits != USUAL
            return ["no_model_judges"] if unused else []
        from ragstone.judges.llm.rubrics import standing_in

        replaced = standing_in(*_criteria(next(iter(self.judges.values())).judge))
        notes = [
            reason("fields_left_out", of=model.name, fields="\n".join(model.notes))
            for model in self.models
            if model.notes
        ]
        return [*notes, reason("own_rubrics", criteria="\n".join(replaced))] if replaced else notes

    @property
    def models(self) -> list[ChatModel]:
        """Every model that may be asked."""
        return [model for name in self.judges for model in self.models_of(name)]

    def models_of(self, name: str) -> Sequence[ChatModel]:
        return self.judges[name].judge.models


def able_to_ask(
    judges: Sequence[Judge], asker: "Asker", asks: Sequence[str],
    answers: Mapping[str, Mapping[str, str]],
) -> tuple[Judge, ...]:  # fmt: skip
    from .chat_judge import ChatJudge

    return tuple(
        judge.able_to_ask(asker, asks, answers) if isinstance(judge, ChatJudge) else judge
        for judge in judges
    )


def chat_judges(
    judge: Named | Sequence[Named], instructions: Instructions, topics: Sequence[Topic],
    citations: str, *, offline: bool, to_ask: bool = True,
) -> ChatJudges:  # fmt: skip
    """The judges that are chat models. Models separated by commas form a panel that votes."""
    names, models_by_name, pool = _open_named(judge, offline=offline, to_ask=to_ask)
    if not models_by_name:
        return ChatJudges(names, {})
    from ragstone.judges.llm.answer_tasks import RatingTask
    from ragstone.judges.llm.claim_tasks import ClaimsTask
    from ragstone.judges.llm.llm_judge import LLMJudge, all_tasks, plan_named
    from ragstone.judges.llm.prompts import load_prompts
    from ragstone.judges.llm.rubrics import check_topics, defined_rubrics, load_rubrics

    from .chat_judge import ChatJudge

    prompts = load_prompts(instructions.prompts, instructions.language)
    rubrics = load_rubrics(instructions.rubrics)
    rubrics |= defined_rubrics(topics, rubrics)
    check_topics(topics, rubrics)
    plan = plan_named(instructions.plan)
    judges = {
        name: ChatJudge(
            LLMJudge(
                models, prompts=prompts, plan=plan,
                tasks=all_tasks(ClaimsTask(citations), RatingTask(rubrics)), topics=tuple(topics),
            )
        )
        for name, models in models_by_name.items()
    }  # fmt: skip
    return ChatJudges(names, judges, pool)


def _criteria(judge: "LLMJudge") -> "tuple[list[str], Mapping[str, Rubric]]":
    from ragstone.judges.llm.answer_tasks import RatingTask

    task = judge.tasks[Rating.name]
    if not isinstance(task, RatingTask):
        return [], {}
    return sorted({topic.name for topic in judge.topics if topic.ask == task.name}), task.rubrics
