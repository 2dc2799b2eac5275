"""Chat judges: the LLM judges of a run, their settings and their asker."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core.errors import InputError
from ragstone.core.messages import reason
from ragstone.judgements import Rating, Topic
from ragstone.judges import Judge, fingerprint
from ragstone.models.chat import ChatModel

from .instructions import PLAIN, Instructions
from .limits import USUAL, Limits
from .named_models import Named, open_named
from .settings import ChatSettings

if TYPE_CHECKING:
    from ragstone.judges.llm.llm_judge import LLMJudge
    from ragstone.judges.llm.replies import Asker
    from ragstone.judges.llm.rubrics import Rubric
    from ragstone.models.chat.http_transport import Connections

    from .calls.asking import Asking
    from .calls.batched import BatchedReplies
    from .chat_judge import ChatJudge


@dataclass(frozen=True)
class ChatJudges:
    """The LLM judges of a run, by name.

    Attributes:
        names: All judges as the user wrote them, including those without a model.
        judges: Those that are chat models.
        pool: The connections that they share.
    """

    names: tuple[str, ...]
    judges: "Mapping[str, ChatJudge]"
    pool: "Connections | None" = None

    def settings(self) -> ChatSettings | None:
        """The settings that a resumed run must share; None without chat models."""
        if not self.judges:
            return None
        first = next(iter(self.judges.values())).judge
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
            rubrics=fingerprint(*_rubrics(first)),
        )

    def asking(
        self,
        folder: Path,
        limits: Limits,
        note: Callable[[str], None],
        batched: "BatchedReplies | None" = None,
    ) -> "Asking":
        """The asker, with its journal in the folder.

        Raises:
            InputError: The journal cannot be written; prices cannot be read, or are required and
                missing; the cache is at a URL that cannot be read.
        """
        from .calls.asking import Asking
        from .calls.budget import Budget
        from .calls.entries import FILE
        from .calls.journal import Journal
        from .calls.prices import load_prices
        from .calls.shared_replies import open_replies

        prices = load_prices(limits.prices)
        journal = Journal.open(folder / FILE)
        try:
            cache = open_replies(limits.cache, note) if limits.cached else None
        except InputError:
            journal.close()
            raise
        before = journal.before
        budget = Budget(
            limits.budget, limits.max_calls, spent=before.usd or 0.0, calls=before.calls
        )
        asking = Asking(
            journal,
            limits=limits.of_a_model,
            prices=prices,
            budget=budget,
            cache=cache,
            pool=self.pool,
            batched=batched,
        )
        try:
            for model in self.models:
                asking.expect(model)
        except InputError:
            asking.close()
            raise
        return asking

    def server_notes(self) -> list[str]:
        """Notes on request fields that servers do not support."""
        return [
            reason("fields_left_out", of=model.name, fields="\n".join(model.notes))
            for model in self.models
            if model.notes
        ]

    def rubric_notes(self) -> list[str]:
        """A note on rubrics of the user's that stand in for built-in ones."""
        if not self.judges:
            return []
        from ragstone.judges.llm.rubrics import standing_in

        replaced = standing_in(*_criteria(next(iter(self.judges.values())).judge))
        return [reason("own_rubrics", criteria="\n".join(replaced))] if replaced else []

    def idle(self, instructions: Instructions, limits: Limits) -> list[str]:
        """A note if options for models were given and no judge is a chat model."""
        if self.judges or (instructions == PLAIN and limits == USUAL):
            return []
        return ["no_model_judges"]

    @property
    def models(self) -> list[ChatModel]:
        """Every model that may be asked."""
        return [model for name in self.judges for model in self.models_of(name)]

    def models_of(self, name: str) -> Sequence[ChatModel]:
        """The models of a judge that is one, or a panel of them."""
        return self.judges[name].judge.models


def able_to_ask(
    judges: Sequence[Judge],
    asker: "Asker",
    wanted: Sequence[str],
    answers: Mapping[str, Mapping[str, str]],
) -> tuple[Judge, ...]:
    """The same judges, with an asker for those that are chat models.

    Args:
        judges: In the order they are asked.
        asker: Sends the questions.
        wanted: The asks of the run; others are not asked.
        answers: The answers of every system, by question.
    """
    from .chat_judge import ChatJudge

    return tuple(
        judge.able_to_ask(asker, wanted, answers) if isinstance(judge, ChatJudge) else judge
        for judge in judges
    )


def chat_judges(
    judge: Named | Sequence[Named],
    instructions: Instructions,
    topics: Sequence[Topic],
    citations: str,
    *,
    offline: bool,
    to_ask: bool = True,
) -> ChatJudges:
    """The judges that are chat models. Models separated by commas form a panel that votes.

    Args:
        judge: As the user gave it.
        instructions: Instructions to the models.
        topics: Criteria, aspects and rivals that the metrics name.
        citations: Regular expression for citations in an answer.
        offline: Use no server except on this machine.
        to_ask: False opens models without a key, because nothing will be sent.

    Raises:
        InputError: A model that cannot be used; invalid prompts, rubrics or plan. Only if a
            chat model is named.
    """
    named = open_named(judge, offline=offline, to_ask=to_ask)
    if not named.models:
        return ChatJudges(named.names, {})
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
                models,
                prompts=prompts,
                plan=plan,
                tasks=all_tasks(ClaimsTask(citations), RatingTask(rubrics)),
                topics=tuple(topics),
            )
        )
        for name, models in named.models.items()
    }
    return ChatJudges(named.names, judges, named.pool)


def _rubrics(judge: "LLMJudge") -> list[str]:
    """The rubrics of the criteria that the metrics name."""
    criteria, rubrics = _criteria(judge)
    return [repr(rubrics[name]) for name in criteria]


def _criteria(judge: "LLMJudge") -> "tuple[list[str], Mapping[str, Rubric]]":
    """The criteria that the metrics name, and every rubric."""
    from ragstone.judges.llm.answer_tasks import RatingTask

    task = judge.tasks[Rating.name]
    if not isinstance(task, RatingTask):
        return [], {}
    return sorted({topic.name for topic in judge.topics if topic.ask == task.name}), task.rubrics
