"""Tasks: everything a model can be asked to do, each after the tasks it depends on."""

from ragstone.judgements import KINDS

from .agreement import AgreementTask
from .claims import ClaimsTask
from .conversation_support import ConversationSupportTask
from .critique import CritiqueTask
from .entities import EntitiesTask
from .kind_task import KindTask
from .preference import PreferenceTask
from .probes import ProbesTask
from .prompts import asked_kinds
from .rating import RatingTask
from .relevance import RelevanceTask
from .statements import StatementsTask
from .support import SupportTask
from .task import Task

OWN: tuple[Task, ...] = (
    ClaimsTask(),
    StatementsTask(),
    EntitiesTask(),
    RelevanceTask(),
    SupportTask(),
    ConversationSupportTask(),
    AgreementTask(),
    ProbesTask(),
    RatingTask(),
    CritiqueTask(),
    PreferenceTask(),
)
"""Those whose replies are read or merged in a way of their own."""


def all_tasks(*instead: Task) -> dict[str, Task]:
    """Every task by name, which is its kind's; kinds without a task file get a ``KindTask``.

    Args:
        instead: Tasks that replace those with the same name.
    """
    own = {task.name: task for task in (*OWN, *instead)}
    return {name: own.get(name) or KindTask(KINDS[name]) for name in asked_kinds()}
