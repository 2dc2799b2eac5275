"""Watches a system in production: its traces, how good its answers are, and when they get worse.

traces     makes examples of what arrives
intake     takes it
store      everything that is kept, in SQLite or PostgreSQL, and all SQL
following  folds, judges and keeps house, in a process of its own
numbers    how good the answers are over time
alarms     when they got worse, and who is told
settings   the one TOML file that says how all this is done

Names are loaded when they are first used: ``record`` stands in apps that have nothing else of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .duties.draw_answers import BackfillPlan, begin_backfill, plan_backfill
    from .duties.erasure import Forgotten, forget
    from .duties.worker_status import MonitorStatus, monitor_status
    from .export import export
    from .intake.recorder import Recorder, record, start_recorder
    from .settings import MonitorSettings, read_settings
    from .store.store import MonitorStore, open_store

_ROOMS = {
    "BackfillPlan": "duties.draw_answers",
    "Forgotten": "duties.erasure",
    "MonitorSettings": "settings",
    "MonitorStatus": "duties.worker_status",
    "MonitorStore": "store.store",
    "Recorder": "intake.recorder",
    "begin_backfill": "duties.draw_answers",
    "export": "export",
    "forget": "duties.erasure",
    "monitor_status": "duties.worker_status",
    "open_store": "store.store",
    "plan_backfill": "duties.draw_answers",
    "read_settings": "settings",
    "record": "intake.recorder",
    "start_recorder": "intake.recorder",
}

__all__ = [
    "BackfillPlan",
    "Forgotten",
    "MonitorSettings",
    "MonitorStatus",
    "MonitorStore",
    "Recorder",
    "begin_backfill",
    "export",
    "forget",
    "monitor_status",
    "open_store",
    "plan_backfill",
    "read_settings",
    "record",
    "start_recorder",
]


if not TYPE_CHECKING:  # or a type checker would believe that every name is there

    def __getattr__(name):
        if name not in _ROOMS:
            raise AttributeError(f"module 'ragstone.monitor' has no attribute {name!r}")
        found = getattr(import_module(f".{_ROOMS[name]}", __name__), name)
        # Looked up once, as an app records on every request.
        globals()[name] = found
        return found
