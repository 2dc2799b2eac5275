"""Watches a system in production: its traces, how good its answers are, and when they get worse.

worker          the process that does all duties, one by one
duties          fold traces, check, draw and judge answers, sum scores up, erase
intake          takes in what arrives, over HTTP, from files and from the recorder
alarms          when answers got worse, and the notifications about it
exports         a window of answers as a data set, and scores as OTLP logs
send_to_people  answers that people are to label
series          how good the answers are over time, and beside a baseline
settings        the one TOML file that says how all this is done
store           everything that is kept, in SQLite or PostgreSQL, and all SQL
traces          makes examples of traces

Each imports those below it, never those above. Names are loaded when they are first used:
``record`` stands in apps that have nothing else of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ragstone.core.messages import warn_renamed

if TYPE_CHECKING:
    from .duties.draw_answers import BackfillPlan, begin_backfill, plan_backfill
    from .duties.erasure import Erasure, erase
    from .duties.worker_status import MonitorStatus, monitor_status
    from .exports import export
    from .intake.recorder import Recorder, record, start_recorder
    from .settings import MonitorSettings, read_settings
    from .store.store import MonitorStore, open_store

_MODULES = {
    "duties.draw_answers": ("BackfillPlan", "begin_backfill", "plan_backfill"),
    "duties.erasure": ("Erasure", "erase"),
    "duties.worker_status": ("MonitorStatus", "monitor_status"),
    "exports": ("export",),
    "intake.recorder": ("Recorder", "record", "start_recorder"),
    "settings": ("MonitorSettings", "read_settings"),
    "store.store": ("MonitorStore", "open_store"),
}
_ROOMS = {name: module for module, names in _MODULES.items() for name in names}

_RENAMED = {"Forgotten": "Erasure", "forget": "erase"}

__all__ = [
    "BackfillPlan", "Erasure", "MonitorSettings", "MonitorStatus", "MonitorStore", "Recorder",
    "begin_backfill", "erase", "export", "monitor_status", "open_store", "plan_backfill",
    "read_settings", "record", "start_recorder",
]  # fmt: skip


if not TYPE_CHECKING:  # or a type checker would believe that every name is there

    def __getattr__(name):
        if name in _RENAMED:
            warn_renamed(f"ragstone.monitor.{name}", f"ragstone.monitor.{_RENAMED[name]}")
            return __getattr__(_RENAMED[name])
        if name not in _ROOMS:
            raise AttributeError(f"module 'ragstone.monitor' has no attribute {name!r}")
        value = getattr(import_module(f".{_ROOMS[name]}", __name__), name)
        # Looked up once, as an app records on every request.
        globals()[name] = value
        return value
