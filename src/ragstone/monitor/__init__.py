"""Watches a system in production: its traces, how good its answers are, and when they get worse.

traces     makes examples of what arrives
intake     takes it
store      everything that is kept, in SQLite or PostgreSQL, and all SQL
following  folds, judges and keeps house, in a process of its own
numbers    how good the answers are over time
alarms     when they got worse, and who is told
settings   the one TOML file that says how all this is done
"""

from .export import export
from .settings import MonitorSettings, read_settings
from .store.store import MonitorStore, open_store

__all__ = ["MonitorSettings", "MonitorStore", "export", "open_store", "read_settings"]
