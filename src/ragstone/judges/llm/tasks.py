"""Tasks: all that a model can be asked to do, each behind what it is about."""

from .agreement import AgreementTask
from .claims import ClaimsTask
from .critique import CritiqueTask
from .preference import PreferenceTask
from .probes import ProbesTask
from .quality import QualityTask
from .rating import RatingTask
from .relevance import RelevanceTask
from .statements import StatementsTask
from .support import SupportTask
from .task import Task

_ALL: tuple[Task, ...] = (
    ClaimsTask(),
    StatementsTask(),
    RelevanceTask(),
    SupportTask(),
    AgreementTask(),
    QualityTask(),
    ProbesTask(),
    RatingTask(),
    CritiqueTask(),
    PreferenceTask(),
)

TASKS: dict[str, Task] = {task.name: task for task in _ALL}
"""By name, which is that of the prompt too."""
